/* What a description adds to a likelihood: charts, and outcomes to simulate. Compiled per precision. */
#include "rejfilt/host.h"

void RF(described_charts)(const rf_description *about, RF(chart) charts[])
{
    for (unsigned i = 0; i < about->dim && i < RF_NAMES_MAX; i++) {
        const rf_parameter *p = &about->parameter[i];
        RF(chart) chart = {p->chart, (rf_real)p->low, (rf_real)p->high};
        charts[i] = chart;
    }
}

RF(model) RF(instance_model)(const RF(instance) *instance, RF(chart) charts[])
{
    const rf_description *about = instance->about;
    RF(described_charts)(about, charts);
    RF(model) model = {instance->likelihood,      instance->bound,         charts,           (uint16_t)about->dim,
                       (uint16_t)about->settings, (uint16_t)about->is_log, instance->kernels};
    return model;
}

rf_real RF(instance_outcome)(const RF(instance) *instance, const rf_real x[], const rf_real setting[], uint64_t seed,
                             uint32_t index)
{
    rf_words w = rf_draw(seed, index, 0, 0, RF_FOR_OUTCOME);
    if (instance->about->outcomes == 0) {
        rf_real normal, other;
        RF(normal_pair)(w.word[0], w.word[1], &normal, &other);
        return instance->simulate(x, setting, normal);
    }
    rf_real left = RF(uniform)(w.word[0]);
    unsigned last = instance->about->outcomes - 1, outcome = 0;
    for (; outcome < last; outcome++) {
        rf_real p = instance->likelihood(x, setting, (rf_real)outcome);
        left -= instance->about->is_log ? RF(exp)(p) : p;
        if (left <= 0)
            break;
    }
    return (rf_real)outcome;
}
