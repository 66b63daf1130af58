/* Simulates, in integers, what fixed/main.c measures: a frequency that walks by π/120 per experiment. */
#include "rejfilt_fixed.h"
#include "run.h"

uint8_t measure(uint16_t time, int32_t reference);

static uint32_t random_word(void) /* Marsaglia's xorshift */
{
    static uint32_t state = 1;
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

/* 128·(1 + cos) of an angle in 1/256 turns, with an error of at most 0.2: Bhaskara's formula. */
static uint32_t raised_cosine(uint8_t angle)
{
    const uint32_t after = (angle + 64u) & 127, product = after * (128 - after);
    const uint32_t size = 128 * 16 * product / (5 * 128 * 128 - 4 * product);
    return (angle + 64u) & 128 ? 128 - size : 128 + size;
}

uint8_t measure(uint16_t time, int32_t reference)
{
    static int32_t truth = 70000;
    run_asked(time, (uint32_t)reference, (uint32_t)truth);
    const uint32_t turned = time * (uint32_t)(truth - reference);
    const uint8_t outcome = (random_word() >> 24) < raised_cosine((uint8_t)(turned >> 18));
    int32_t sum = 0; /* sum of four uniform numbers of width 37,837: nearly normal */
    for (int i = 0; i < 4; i++)
        sum += (int32_t)(random_word() >> 16) - 32768;
    truth += sum * 1486 / 32768;
    run_answered();
    return outcome;
}
