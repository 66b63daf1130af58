/* Criteria for judging trials, and quantiles of their errors. */
#include <math.h>

#include "session_state.h"
#include "trials.h"

void rf_judging_begin(rf_judging *j, const rf_simulation *simulation)
{
    const rf_config *config = &simulation->config;
    const rf_judging begin = {.steps = simulation->steps,
                              .first = simulation->steps > RF_BURN_IN ? RF_BURN_IN : simulation->steps - 1,
                              .batch = simulation->batch,
                              .dim = config->description.dim};
    rf_problem problem;
    unsigned drifting = 0;
    *j = begin;
    rf_session_settle(&problem, config);
    for (unsigned i = 0; i < j->dim; i++)
        drifting += config->drift[i] > 0;
    for (unsigned i = 0; i < j->dim; i++) {
        double mean, variance = 0;
        const double q = config->drift[i] * config->drift[i];
        rf_problem_prior(&problem, i, &mean, &variance);
        j->prior_sd[i] = sqrt(variance);
        j->threshold[i] = config->drift[i] > 0 ? RF_BACK_STEPS * config->drift[i] : RF_BACK_WIDTHS * j->prior_sd[i];
        j->unit[i] = drifting ? q * drifting : j->dim;
        j->is_final[1 + i] = rf_motion_is_still(config, i);
    }
    for (unsigned kind = 0; kind <= j->dim; kind++)
        j->row[kind + 1] = j->row[kind] + (j->is_final[kind] ? 1 : j->steps - j->first);
}

int rf_digits_select(rf_digits *digits, void *self, uint64_t rank, float *number)
{
    uint32_t bits = 0;
    for (unsigned from = 32, width; from > 0; from -= width) {
        uint64_t counts[RF_DIGITS];
        uint32_t digit = 0;
        width = from < RF_DIGIT ? from : RF_DIGIT;
        const rf_digit which = {from - width, width, from < 32 ? bits >> from : 0};
        if (digits(self, which, counts) < 0)
            return -1;
        for (; digit + 1 < UINT32_C(1) << width && rank >= counts[digit]; digit++)
            rank -= counts[digit];
        bits |= digit << which.shift;
    }
    *number = rf32_from_bits(bits);
    return 0;
}
