/* Shared by the tests of beliefs: a built-in model's problem, its belief, and updates that must succeed. */
#ifndef REJFILT_TEST_BELIEVING_H
#define REJFILT_TEST_BELIEVING_H

#include "baselines.h"

#include "rejfilt/belief.h"

static inline rf_problem problem_of(const char *name)
{
    rf_problem problem = {.model = rf_model_find(name)};
    problem.description = *problem.model->f64->description;
    for (unsigned i = 0; i < problem.description.dim; i++)
        problem.prior[i] = (rf_prior){0, problem.description.parameter[i].low, problem.description.parameter[i].high};
    rf_problem_settle(&problem);
    return problem;
}

static inline rf_belief *open_or_fail(const char *name, const rf_problem *problem)
{
    char error[200];
    rf_belief *belief = rf_belief_open(name, problem, 11, 0, error, sizeof error);
    if (!belief)
        fail_msg("%s", error);
    return belief;
}

static inline rf64_report report_of(rf_belief *belief, const double *records, uint32_t count)
{
    const rf64_options options = rf64_options_default();
    rf64_report report;
    assert_true(belief->kind->update(belief, records, count, &options, NULL, &report) >= 0);
    assert_true(report.attempts > 0 && report.acceptance > 0 && report.acceptance <= 1);
    return report;
}

static inline double learn(rf_belief *belief, const double *records, uint32_t count)
{
    return report_of(belief, records, count).log_evidence;
}

#endif
