/* Shared by the tests of the baselines: models in double, and normal random numbers. */
#ifndef REJFILT_TEST_BASELINES_H
#define REJFILT_TEST_BASELINES_H

#include "testing.h"

#include <math.h>

#include "rejfilt/host.h"

extern const rf64_instance rf64_model_linear1, rf64_model_linear2; /* linear.h for 1 and 2 parameters */

typedef struct model { /* with room for its charts */
    rf64_chart charts[RF_DESCRIBED_MAX];
    rf64_model is;
} model;

static inline void find(model *m, const char *name) { m->is = rf64_instance_model(rf_model_find(name)->f64, m->charts); }

/* The linear models used in tests have no description of their parameters, so their charts are real. */
static inline void take_linear(model *m, const rf64_instance *instance)
{
    m->is = rf64_instance_model(instance, m->charts);
    m->is.charts = NULL;
}

static inline double normal(uint64_t *state)
{
    double u = test_uniform(state, 0x1p-54, 1), v = test_uniform(state, 0, 1);
    return sqrt(-2 * log(u)) * cos(2 * PI * v);
}

#endif
