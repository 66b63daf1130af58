/* The integer filter of a lifetime: its tables, waits over the whole range, one update compared with the exact one,
   tracking. */
#include "testing.h"

#include <math.h>

#include "decay.c"

#include "rejfilt/rejfilt.h"

static void survival_is_rounded(void **state)
{
    (void)state;
    for (int angle = -128; angle < 128; angle++) {
        const double exact = 255 * exp(-1.25 * exp2(-angle / 32.0));
        check_within(survival[(uint8_t)angle], exact, 0.5 + 1e-9);
        assert_int_equal(decay(NULL, 0, (uint8_t)angle, 0) + decay(NULL, 0, (uint8_t)angle, 1), 255);
    }
}

/* A table entry covers 1/256 octave: an error of 0.14 % on each side, plus its own rounding, plus whole ticks. */
static void waits_are_those_of_the_estimate(void **state)
{
    (void)state;
    rfi_filter f;
    rfi_decay_init(&f, 0, 10000, 1);
    for (int32_t mean = 0; mean < 31 * 32768; mean += 7) {
        f.mean = mean;
        const double exact = 1.25 * exp2(mean / 32768.0);
        check_within(rfi_decay_time(&f), exact, 0.0014 * exact + 1);
    }
    f.mean = -1;
    assert_int_equal(rfi_decay_time(&f), 1);
    f.mean = INT32_MIN;
    assert_int_equal(rfi_decay_time(&f), 1);
    f.mean = 31 * 32768;
    assert_true(rfi_decay_time(&f) == UINT32_MAX);
    f.mean = INT32_MAX;
    assert_true(rfi_decay_time(&f) == UINT32_MAX);
}

static void slopes_are_right_on_average(void **state)
{
    (void)state;
    static const uint16_t widths[] = {RFI_SD_LEAST, 300, 1000, 12345, RFI_SD_MAX};
    for (unsigned k = 0; k < 5; k++) {
        rfi_filter f;
        rfi_decay_init(&f, 0, widths[k], 1);
        double sum = 0;
        for (unsigned n = 0; n < 65536; n++) {
            rfi_decay_ask(&f);
            assert_int_equal(f.phase, 0);
            sum += f.slope;
        }
        check_within(sum / 65536, widths[k] / 256.0,
                     0.003); /* every random number once: of a half, at most 255/512/256 is missing */
    }
}

/* Average over all random states, compared with an integral. The slices' lighter tail, probabilities in 1/255 and
   the shrinkage of the prior, with weight 1/(N + 1) and N from 25 on, cause an error of 4 % of the sd. */
static void updates_are_the_exact_ones(void **state)
{
    (void)state;
    static const uint16_t widths[] = {2000, 8000, 16384, 40000};
    for (unsigned k = 0; k < 4; k++)
        for (uint8_t outcome = 0; outcome < 2; outcome++) {
            double p = 0, x1 = 0, x2 = 0, mean = 0, variance = 0;
            for (double z = -6; z <= 6; z += 0.01) {
                const double one = exp(-1.25 * exp2(-z * widths[k] / 32768)),
                             w = exp(-z * z / 2) * (outcome ? one : 1 - one);
                p += w, x1 += w * z, x2 += w * z * z;
            }
            for (unsigned seed = 0; seed < 65536; seed += 16) {
                rfi_filter f;
                rfi_decay_init(&f, 0, widths[k], (uint16_t)seed);
                f.widest = RFI_SD_MAX;
                rfi_decay_ask(&f);
                rfi_decay_learn(&f, outcome);
                mean += f.mean / (double)widths[k] / 4096;
                variance += (double)f.sd * f.sd / ((double)widths[k] * widths[k]) / 4096;
            }
            check_within(mean, x1 / p, 0.04);
            check_within(sqrt(variance), sqrt(x2 / p - (x1 / p) * (x1 / p)), 0.04);
        }
}

static void nothing_breaks_it(void **state)
{
    (void)state;
    uint64_t source = 1;
    rfi_filter f;
    rfi_decay_init(&f, 327680, RFI_SD_LEAST, 0);
    f.widest = RFI_SD_MAX;
    for (unsigned k = 0; k < 200000; k++) {
        const uint64_t word = test_word(&source);
        if (word % 7 == 0)
            rfi_decay_diffuse(&f, (uint32_t)(word >> 33) >> (word % 31));
        rfi_decay_ask(&f);
        assert_in_range(f.slope, 1, 182);
        const uint8_t outcome = (uint8_t)(k / 1000 % 3 == 0 ? 0 : k / 1000 % 3 == 1 ? 1 : word >> 60 & 1);
        assert_true(rfi_decay_learn(&f, outcome) <= 119);
        assert_in_range(f.sd, RFI_SD_LEAST, RFI_SD_MAX);
    }
}

/* A lifetime that walks by 1, 2, 5 and 14 % per experiment, 200 trials each: how often the 95 % intervals hold it.
   Errors are correlated over about ten experiments, so 40,000 of them are worth about 4,000, ± 0.35 %; the bounds
   are 93 and 97. */
static void its_intervals_hold(void **state)
{
    (void)state;
    enum { TRIALS = 200, STEPS = 300, BURN_IN = 100 };
    static const double drifts[] = {0.015, 0.03, 0.07, 0.2}; /* octaves */
    for (unsigned k = 0; k < 4; k++) {
        unsigned held = 0;
        for (uint32_t trial = 0; trial < TRIALS; trial++) {
            rfi_filter f;
            double truth = 0;
            rfi_decay_init(&f, 10 * 32768, 16384, (uint16_t)trial);
            for (uint32_t step = 0; step < STEPS; step++) {
                const rf_words words = rf_draw(1, trial, step, k, RF_FOR_TRUTH);
                double z, other;
                rf64_normal_pair(words.word[0], words.word[1], &z, &other);
                truth = step ? truth + drifts[k] * z : 10 + 0.5 * z;
                if (step)
                    rfi_decay_diffuse(&f, (uint32_t)(drifts[k] * drifts[k] * 0x1p30 + 0.5));
                rfi_decay_ask(&f);
                rfi_decay_learn(&f, rf64_uniform(words.word[2]) <= exp(-(double)rfi_decay_time(&f) * exp2(-truth)));
                held += step >= BURN_IN && fabs(f.mean / 32768.0 - truth) < 1.96 * f.sd / 32768.0;
            }
        }
        check_within(100.0 * held / (TRIALS * (STEPS - BURN_IN)), 95, 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(survival_is_rounded),         cmocka_unit_test(waits_are_those_of_the_estimate),
        cmocka_unit_test(slopes_are_right_on_average), cmocka_unit_test(updates_are_the_exact_ones),
        cmocka_unit_test(nothing_breaks_it),           cmocka_unit_test(its_intervals_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
