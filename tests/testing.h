/* Shared by all tests. */
#ifndef REJFILT_TESTING_H
#define REJFILT_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PI 3.14159265358979323846

/* cmocka jumps out after a failure, so these print the compared values before they fail. */
#define check_below(value, limit)                                                                                      \
    do {                                                                                                               \
        double value_ = (double)(value), limit_ = (double)(limit);                                                     \
        if (!(value_ <= limit_))                                                                                       \
            fail_msg("%s = %.9g exceeds %s = %.9g", #value, value_, #limit, limit_);                                   \
    } while (0)

#define check_within(value, expected, tolerance)                                                                       \
    do {                                                                                                               \
        double value_ = (double)(value), expected_ = (double)(expected), tolerance_ = (double)(tolerance);             \
        double off_ = value_ - expected_;                                                                              \
        if (!(off_ <= tolerance_ && off_ >= -tolerance_))                                                              \
            fail_msg("%s = %.12g, expected %.12g within %.3g", #value, value_, expected_, tolerance_);                 \
    } while (0)

/* A separate small generator for test inputs (splitmix64), independent of the one under test. */
static inline uint64_t test_word(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline double test_uniform(uint64_t *state, double low, double high)
{
    return low + (high - low) * (double)(test_word(state) >> 11) * 0x1p-53;
}

static inline void test_bytes(uint8_t *bytes, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++)
        bytes[i] = (uint8_t)(test_word(&seed) >> 33);
}

/* For tests that are compiled per precision. */
#ifdef RF_PRECISION
#include "per_precision.h"

/* The settings that the particle guess heuristic chooses next: a draw for the guess, 1 / standard deviation for the
   time. */
static inline void choose_settings(const RF(filter) *filter, const RF(model) *model, const rf_description *description, rf_real setting[])
{
    const uint32_t number = RF(filter_updates)(filter);
    rf_real guess[RF_DESCRIBED_MAX];
    RF(filter_draw)(filter, model, number * 128u, RF_FOR_DESIGN, guess);
    for (unsigned i = 0; i < description->settings; i++) {
        const rf_setting *s = &description->setting[i];
        const double u = rf64_uniform(rf_draw(filter->seed, number, i, 0xffffffffu, RF_FOR_DESIGN).word[0]);
        double value = s->low;
        if (s->role == RF_SETTING_RANGE)
            value = s->low + (s->high - s->low) * u;
        else if (s->role == RF_SETTING_LOGRANGE)
            value = s->low * rf64_exp(u * rf64_log(s->high / s->low));
        else if (s->role == RF_SETTING_TIME)
            value = rf64_min(rf64_max(1 / (double)RF(filter_sd)(filter, s->parameter), s->low), s->high);
        else if (s->role == RF_SETTING_GUESS)
            value = (double)guess[s->parameter];
        setting[i] = (rf_real)(s->is_integer ? rf64_floor(value + 0.5) : value);
    }
}

/* The prior of the model's description: each parameter at random in its range. */
static inline void set_prior_of(RF(filter) *filter, const RF(model) *model, const rf_description *description)
{
    rf_real low[RF_DESCRIBED_MAX], high[RF_DESCRIBED_MAX];
    for (unsigned i = 0; i < model->dim; i++)
        low[i] = (rf_real)description->parameter[i].low, high[i] = (rf_real)description->parameter[i].high;
    assert_int_equal(RF(prior_box)(filter, model, low, high), RF_OK);
}
#endif

#endif
