#include "integers.h"

#include <math.h>

#define UNIT 0x1p-15 /* rad */
#define TURN 6.283185307179586

static void open_filter(rfi_filter *f, const rf_simulation *run, uint64_t seed)
{
    const rf_prior prior = run->config.prior[0];
    const double mean = (prior.first + prior.second) / 2, sd = (prior.second - prior.first) / sqrt(12);
    rfi_init(f, (int32_t)lround(mean / UNIT), (uint16_t)lround(sd / UNIT), (uint16_t)seed);
}

/* The outcome of the filter's own experiment. During an outage the outcome does not depend on the experiment. */
static double outcome_of(const rfi_filter *f, const rf_simulation *run, uint64_t seed, const rf_step *step)
{
    const double record[] = {rfi_time(f) * 0x1p-26 * TURN / UNIT, rfi_reference(f) * UNIT};
    if (step->events & RF_EVENT_OUT)
        return step->outcome;
    return rf64_instance_outcome(run->config.model->f64, step->truth, record, seed, (uint32_t)step->step);
}

void integers_step(rfi_filter *f, const rf_simulation *run, uint64_t seed, const rf_step *step, rf_step *own)
{
    const double drift = run->config.drift[0] / UNIT;
    uint8_t accepted = 0;
    if (step->step == 0)
        open_filter(f, run, seed);
    else
        rfi_diffuse(f, (uint32_t)lround(drift * drift));
    rfi_ask(f, RFI_QUADRATURE);
    const uint8_t due = f->due; /* a failed test sets it to 0 */
    const double outcome = outcome_of(f, run, seed, step);
    if (!isnan(outcome))
        accepted = rfi_learn(f, outcome != 0);
    const rf_step now = {.step = step->step,
                         .dim = 1,
                         .error = {f->mean * UNIT - step->truth[0]},
                         .chart_error = {f->mean * UNIT - step->truth[0]},
                         .sd = {f->sd * UNIT},
                         .chart_sd = {f->sd * UNIT},
                         .report.attempts = 100,
                         .events = step->events,
                         .health = accepted == RFI_STUCK ? RF_FAULT
                                   : f->due != due       ? RF_RECOVERING
                                                         : RF_TRACKING};
    *own = now;
}
