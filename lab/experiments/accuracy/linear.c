/* Weighted sums of drifting parameters with Gaussian noise: the filter compared with the Kalman filter, which is
   exact here, on the same records. Each measurement is along a random unit vector h. */
#include "tracking.h"

#include <stdio.h>

#include "kalman.h"

extern const rf64_instance rf64_model_tracking4;

enum { BURN_IN = 100, STEPS = 1100, TRIALS = 200, DIM_MAX = 4 };

#define DRIFT 0.1 /* standard deviation of a parameter's step */

typedef struct problem {
    unsigned dim;
    const rf64_instance *instance;
    double noise; /* standard deviation of a measurement */
    rf64_options options;
} problem;

/* Draws dim normals for a trial's seed. */
static void draw(uint64_t seed, uint32_t step, uint32_t use, unsigned dim, double z[])
{
    for (unsigned i = 0; i < dim; i += 2) {
        rf_words w = rf_draw(seed, step, i, use, RF_FOR_USER);
        rf64_normal_pair(w.word[0], w.word[1], &z[i], &z[i + 1]);
    }
}

static void unit(unsigned dim, double h[])
{
    double square = 0;
    for (unsigned i = 0; i < dim; i++)
        square += h[i] * h[i];
    for (unsigned i = 0; i < dim; i++)
        h[i] /= sqrt(square);
}

static double distance(unsigned dim, const double a[], const double b[])
{
    double square = 0;
    for (unsigned i = 0; i < dim; i++)
        square += (a[i] - b[i]) * (a[i] - b[i]);
    return square;
}

typedef struct sums {
    double filter, kalman, attempts, reduction; /* reduction: the fraction by which the Kalman filter's update
                                                   reduces the variance along h */
} sums;

static void run_trial(const problem *p, uint64_t seed, sums *s)
{
    RF_ALIGNED unsigned char memory[RF64_FILTER_BYTES(DIM_MAX)];
    rf64_chart charts[RF_DESCRIBED_MAX];
    const rf64_model model = rf64_instance_model(p->instance, charts);
    const rf_simulation run = ordinary_run("linear", STEPS);
    rf64_filter *filter;
    kalman exact;
    double truth[DIM_MAX], zero[DIM_MAX] = {0}, one[DIM_MAX * DIM_MAX] = {0}, q[DIM_MAX * DIM_MAX] = {0}, z[DIM_MAX];
    for (unsigned i = 0; i < p->dim; i++) {
        one[i * p->dim + i] = 1;
        q[i * p->dim + i] = DRIFT * DRIFT;
    }
    if (rf64_filter_init(&filter, memory, sizeof memory, p->dim, seed) < 0 || kalman_init(&exact, p->dim, zero, one) != 0)
        fail("the linear model was refused");
    draw(seed, 0, 0, p->dim, truth); /* prior N(0, 1) */
    for (uint32_t step = 0; step < STEPS; step++) {
        double record[DIM_MAX + 2], before = 0, after = 0, noise[2];
        draw(seed, step, 1, p->dim, z);
        for (unsigned i = 0; i < p->dim; i++)
            truth[i] += DRIFT * z[i];
        draw(seed, step, 2, p->dim, record);
        unit(p->dim, record);
        draw(seed, step, 3, 2, noise);
        record[p->dim] = p->noise;
        record[p->dim + 1] = p->instance->simulate(truth, record, noise[0]);

        rf64_report report;
        if (rf64_diffuse(filter, DRIFT * DRIFT, 1) < 0 ||
            rf64_update(filter, &model, record, 1, &p->options, rf_engine_f64(run.config.engine), &report) < 0)
            fail("the linear model was refused");
        kalman_predict(&exact, NULL, q);
        for (unsigned i = 0; i < p->dim; i++)
            for (unsigned j = 0; j < p->dim; j++)
                before += record[i] * record[j] * kalman_covariance(&exact, i, j);
        kalman_update(&exact, record, p->noise * p->noise, record[p->dim + 1]);
        for (unsigned i = 0; i < p->dim; i++)
            for (unsigned j = 0; j < p->dim; j++)
                after += record[i] * record[j] * kalman_covariance(&exact, i, j);
        if (step < BURN_IN)
            continue;
        s->filter += distance(p->dim, rf64_filter_mean(filter), truth);
        s->kalman += distance(p->dim, exact.mean, truth);
        s->attempts += report.attempts;
        s->reduction += 1 - after / before;
    }
}

static sums run_trials(const char *what, const problem *p)
{
    const rf_simulation run = ordinary_run("linear", STEPS);
    const double measurements = (double)TRIALS * (STEPS - BURN_IN);
    sums s = {0};
    for (uint32_t trial = 0; trial < TRIALS; trial++) {
        progress(what, trial, TRIALS);
        run_trial(p, runs_seed(&run, trial), &s);
    }
    progress(what, TRIALS, TRIALS);
    s.attempts /= measurements;
    s.reduction /= measurements;
    return s;
}

/* Measures both numbers of a problem; a target may be infinite. */
static void measure(const char *name, const problem *p, double error_most, double attempts_most)
{
    char text[64];
    const sums s = run_trials(name, p);
    snprintf(text, sizeof text, "%s: MSE / Kalman", name);
    row(text, s.filter / s.kalman, -INFINITY, error_most);
    snprintf(text, sizeof text, "%s: attempts", name);
    row(text, s.attempts, -INFINITY, attempts_most);
    if (isfinite(error_most)) {
        snprintf(text, sizeof text, "%s: variance along h falls by", name);
        row(text, s.reduction, -INFINITY, INFINITY);
    }
}

void linear_rows(void)
{
    problem two = {2, rf_model_find("linear")->f64, 2 * DRIFT, rf64_options_default()};
    problem four = {4, &rf64_model_tracking4, 2 * DRIFT, rf64_options_default()};
    four.options.attempts = 200;
    measure("linear 2, 20 accepted", &two, INFINITY, INFINITY);
    measure("linear 4, 20 accepted", &four, INFINITY, INFINITY);
    two.options.accepted_min = four.options.accepted_min = 10;
    measure("linear 2, 10 accepted", &two, 1.12, 120);
    measure("linear 4, 10 accepted", &four, 1.2, 300);
    two.options.sampler = four.options.sampler = RF_LATTICE;
    measure("linear 2, 10 accepted, lattice", &two, INFINITY, INFINITY);
    measure("linear 4, 10 accepted, lattice", &four, INFINITY, INFINITY);
    two.options.sampler = four.options.sampler = RF_REJECT;
    two.noise = four.noise = 5 * DRIFT;
    measure("linear 2, 10 accepted, noise 0.5", &two, INFINITY, INFINITY);
    measure("linear 4, 10 accepted, noise 0.5", &four, INFINITY, INFINITY);
}
