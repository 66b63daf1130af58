/* The integer filter of a lifetime (fixed/decay.h) compared with filters in double: same truths and same random
   numbers for outcomes; each waits 1.25 times its own estimate. The logarithm of the lifetime walks; errors are in
   units of its steps. */
#include "tracking.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "decay.h"
#include "rejfilt/rejfilt.h"

enum { STEPS = 300, BURN_IN = 100, TRIALS = 500, ERRORS = TRIALS * (STEPS - BURN_IN) };

#define WAIT 1.25
#define UNIT 0x1p-15 /* octaves */

static double likelihood(const double x[], const double setting[], double outcome)
{
    const double one = rf64_exp(-setting[0] * rf64_exp(-x[0] * 0.6931471805599453));
    return outcome != 0 ? one : 1 - one;
}

static const rf64_model model = {.likelihood = likelihood, .dim = 1, .settings = 1};

typedef struct errors {
    double *square;
    uint32_t count, held;
} errors;

static void take(errors *e, double error, double sd, double drift)
{
    e->square[e->count++] = error * error / (drift * drift);
    e->held += fabs(error) < 1.96 * sd;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(errors *e)
{
    qsort(e->square, e->count, sizeof *e->square, ascending);
    return e->square[e->count / 2];
}

static void in_integers(double drift, errors *e)
{
    for (uint32_t trial = 0; trial < TRIALS; trial++) {
        rfi_filter f;
        double truth = 0;
        rfi_decay_init(&f, 10 * 32768, 16384, (uint16_t)trial);
        for (uint32_t step = 0; step < STEPS; step++) {
            const rf_words words = rf_draw(1, trial, step, 0, RF_FOR_TRUTH);
            double z, other;
            rf64_normal_pair(words.word[0], words.word[1], &z, &other);
            truth = step ? truth + drift * z : 10 + 0.5 * z;
            if (step)
                rfi_decay_diffuse(&f, (uint32_t)lround(drift * drift / (UNIT * UNIT)));
            rfi_decay_ask(&f);
            rfi_decay_learn(&f, rf64_uniform(words.word[2]) <= exp(-(double)rfi_decay_time(&f) * exp2(-truth)));
            if (step >= BURN_IN)
                take(e, f.mean * UNIT - truth, f.sd * UNIT, drift);
        }
    }
}

static void in_double(double drift, rf_sampler sampler, errors *e)
{
    static RF_ALIGNED unsigned char memory[RF64_FILTER_BYTES(1)];
    rf64_options options = RF64_OPTIONS_DEFAULT;
    options.sampler = sampler;
    for (uint32_t trial = 0; trial < TRIALS; trial++) {
        rf64_filter *f;
        const double mean = 10, sd = 0.5;
        double truth = 0;
        if (rf64_filter_init(&f, memory, sizeof memory, 1, trial) < 0 || rf64_prior_gaussian(f, &model, &mean, &sd) < 0)
            fail("the prior was refused");
        for (uint32_t step = 0; step < STEPS; step++) {
            const rf_words words = rf_draw(1, trial, step, 0, RF_FOR_TRUTH);
            double z, other;
            rf64_normal_pair(words.word[0], words.word[1], &z, &other);
            truth = step ? truth + drift * z : 10 + 0.5 * z;
            if (step)
                rf64_diffuse(f, drift * drift, 1);
            double record[] = {WAIT * exp2(rf64_filter_mean(f)[0]), 0};
            record[1] = rf64_uniform(words.word[2]) <= exp(-record[0] * exp2(-truth));
            if (rf64_update(f, &model, record, 1, &options, NULL, NULL) < 0)
                fail("an update was refused");
            if (step >= BURN_IN)
                take(e, rf64_filter_mean(f)[0] - truth, rf64_filter_sd(f, 0), drift);
        }
    }
}

void decay_rows(void)
{
    static const double drifts[] = {0.015, 0.03, 0.07}; /* octaves: 1, 2 and 5 % */
    static const char *const names[] = {"1 %", "2 %", "5 %"};
    for (unsigned k = 0; k < 3; k++) {
        errors e[3] = {{NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}};
        char name[64];
        for (unsigned i = 0; i < 3; i++) {
            progress("lifetime", 3 * k + i, 9);
            e[i].square = malloc(ERRORS * sizeof *e[i].square);
            if (!e[i].square)
                fail("not enough memory");
            if (i == 0)
                in_integers(drifts[k], &e[i]);
            else
                in_double(drifts[k], i == 1 ? RF_REJECT : RF_LATTICE, &e[i]);
        }
        const double integers = median(&e[0]), reject = median(&e[1]), lattice = median(&e[2]);
        snprintf(name, sizeof name, "lifetime, %s: 95 %% interval covers %%", names[k]);
        row(name, 100.0 * e[0].held / ERRORS, 93, 97);
        snprintf(name, sizeof name, "lifetime, %s: in double (reject), covers %%", names[k]);
        row(name, 100.0 * e[1].held / ERRORS, -INFINITY, INFINITY);
        snprintf(name, sizeof name, "lifetime, %s: integers / double (reject)", names[k]);
        row(name, integers / reject, -INFINITY, 1.1);
        snprintf(name, sizeof name, "lifetime, %s: integers / double (lattice)", names[k]);
        row(name, integers / lattice, -INFINITY, INFINITY);
        for (unsigned i = 0; i < 3; i++)
            free(e[i].square);
    }
    progress("lifetime", 9, 9);
}
