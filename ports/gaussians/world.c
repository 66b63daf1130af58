/* Simulates what gaussians/main.c measures: a spin with precession frequency 2.1. */
#include "rejfilt_gaussians.h"
#include "run.h"

int measure(float time);
void show(float low, float high, float loss);

static uint32_t shown[3];

void show(float low, float high, float loss)
{
    shown[0] = rf32_bits(low);
    shown[1] = rf32_bits(high);
    shown[2] = rf32_bits(loss);
}

int measure(float time)
{
    static uint32_t experiment;
    run_asked(shown[0], shown[1], shown[2]);
    const rf_words word = rf_draw(1, experiment++, 0, 0, RF_FOR_TRUTH);
    const int outcome = rf32_uniform(word.word[0]) <= 0.5f + 0.5f * rf32_cos(2.1f * time);
    run_answered();
    return outcome;
}
