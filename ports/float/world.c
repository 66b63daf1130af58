/* Simulates what float/main.c measures: a frequency that walks by π/120 per experiment. */
#include "rejfilt.h"
#include "run.h"

int measure(float time, float reference);

int measure(float time, float reference)
{
    static uint32_t experiment;
    static float truth = 0.9f;
    run_asked(rf32_bits(time), rf32_bits(reference), rf32_bits(truth));
    const rf_words word = rf_draw(1, experiment++, 0, 0, RF_FOR_TRUTH);
    const int outcome = rf32_uniform(word.word[2]) <= 0.5f + 0.5f * rf32_cos((truth - reference) * time);
    float step, other;
    rf32_normal_pair(word.word[0], word.word[1], &step, &other);
    truth += 0.02617994f * step;
    run_answered();
    return outcome;
}
