/* Simulates what t1/main.c measures: a lifetime that walks by 2 % per experiment. */
#include "rejfilt_gaussians.h"
#include "run.h"

int measure(float wait);

int measure(float wait)
{
    static uint32_t experiment;
    static float truth = 4.4f; /* ln T1 */
    run_asked(rf32_bits(wait), 0, rf32_bits(truth));
    const rf_words word = rf_draw(1, experiment++, 0, 0, RF_FOR_TRUTH);
    const int outcome = rf32_uniform(word.word[2]) <= rf32_exp(-wait * rf32_exp(-truth));
    float step, other;
    rf32_normal_pair(word.word[0], word.word[1], &step, &other);
    truth += 0.02f * step;
    run_answered();
    return outcome;
}
