/* What the tests share. */
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

/* cmocka's longjmp target is gone after a failure, so say what was compared before failing. */
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

/* A small generator of its own for test inputs (splitmix64), independent of the one under test. */
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

RF(designer) RF(design_pgh); /* of src/design/, which the library keeps to itself */

/* The settings that the particle guess heuristic chooses next. */
static inline void choose_settings(const RF(filter) *filter, const RF(model) *model, const rf_description *about, rf_real setting[])
{
    rf_real mean[RF_NAMES_MAX], sd[RF_NAMES_MAX];
    for (unsigned i = 0; i < model->dim; i++) {
        mean[i] = RF(filter_mean)(filter)[i];
        sd[i] = RF(filter_sd)(filter, i);
    }
    const RF(situation) situation = {filter, model, NULL, about, mean, sd, RF(filter_updates)(filter), 0};
    RF(design_pgh)(&situation, setting);
}

/* The prior that the model's description gives: each parameter somewhere in its range. */
static inline void set_prior_of(RF(filter) *filter, const RF(model) *model, const rf_description *about)
{
    rf_real low[RF_NAMES_MAX], high[RF_NAMES_MAX];
    for (unsigned i = 0; i < model->dim; i++)
        low[i] = (rf_real)about->parameter[i].low, high[i] = (rf_real)about->parameter[i].high;
    assert_int_equal(RF(prior_box)(filter, model, low, high), RF_OK);
}
#endif

#endif
