/* What float/main.c measures, made up: a frequency that wanders by π/120 from one experiment to the next. */
#include "rejfilt.h"
#include "run.h"

int measure(float time, float reference);

int measure(float time, float reference)
{
    static float truth;
    const uint32_t experiment = run_asked(rf32_bits(time), rf32_bits(reference));
    const rf_words word = rf_draw(1, experiment, 0, 0, RF_FOR_TRUTH), luck = rf_draw(1, experiment, 0, 0, RF_FOR_OUTCOME);
    float step, other;
    rf32_normal_pair(word.word[0], word.word[1], &step, &other);
    truth = experiment == 0 ? 1.5707964f * rf32_uniform(word.word[2]) : truth + 0.02617994f * step;
    const int outcome = rf32_uniform(luck.word[0]) <= 0.5f + 0.5f * rf32_cos((truth - reference) * time);
    run_answered();
    return outcome;
}
