/* Filters to measure. */
#include "bench.h"

#include <stdlib.h>

int subject_open(subject *s, int bits, const rf_model *model, const rf_engine *engine, rf_sampler sampler)
{
    const rf_description *description = model->f64->description;
    unsigned dim = description->dim, settings = description->settings;
    static rf32_chart none32[RF_DESCRIBED_MAX];
    static rf64_chart none64[RF_DESCRIBED_MAX];
    s->bits = bits;
    s->model = model;
    s->engine = engine;
    s->sampler = sampler;
    s->m32 = rf32_instance_model(model->f32, none32);
    s->m64 = rf64_instance_model(model->f64, none64);
    s->m32.charts = NULL; /* all parameters have the chart `real` */
    s->m64.charts = NULL;
    size_t bytes = bits == 32 ? rf32_filter_bytes(dim) : rf64_filter_bytes(dim);
    s->memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
    /* precession: t = 2, reference 0.3, outcome 1; linear: small weights, noise 1, outcome 0.2 */
    int is_linear = description->outcomes == 0;
    for (unsigned i = 0; i <= settings; i++) {
        double value = is_linear ? (i < dim ? 0.1 : i == dim ? 1 : 0.2) : (i == 0 ? 2 : i == 1 ? 0.3 : 1);
        s->record32[i] = (float)value;
        s->record64[i] = value;
    }
    if (!s->memory)
        return -1;
    return bits == 32 ? rf32_filter_init(&s->f32, s->memory, bytes, dim, 1) : rf64_filter_init(&s->f64, s->memory, bytes, dim, 1);
}

void subject_close(subject *s) { free(s->memory); }

void subject_update(void *context, uint32_t amount)
{
    subject *s = context;
    if (s->bits == 32) {
        rf32_options o = rf32_options_default();
        rf32_report report;
        o.attempts = amount;
        o.batches_max = 1;
        o.sampler = s->sampler;
        float *factor = (float *)(uintptr_t)rf32_filter_factor(s->f32), *mean = (float *)(uintptr_t)rf32_filter_mean(s->f32);
        for (unsigned i = 0; i < s->m32.dim; i++) {
            mean[i] = 0;
            for (unsigned j = 0; j <= i; j++)
                factor[RF_TRIANGLE(i) + j] = i == j;
        }
        rf32_update(s->f32, &s->m32, s->record32, 1, &o, rf_engine_f32(s->engine), &report);
    } else {
        rf64_options o = rf64_options_default();
        rf64_report report;
        o.attempts = amount;
        o.batches_max = 1;
        o.sampler = s->sampler;
        double *factor = (double *)(uintptr_t)rf64_filter_factor(s->f64), *mean = (double *)(uintptr_t)rf64_filter_mean(s->f64);
        for (unsigned i = 0; i < s->m64.dim; i++) {
            mean[i] = 0;
            for (unsigned j = 0; j <= i; j++)
                factor[RF_TRIANGLE(i) + j] = i == j;
        }
        rf64_update(s->f64, &s->m64, s->record64, 1, &o, rf_engine_f64(s->engine), &report);
    }
}

void subject_attempts(void *context, uint32_t amount)
{
    subject *s = context;
    if (s->bits == 32) {
        const rf32_engine *engine = rf_engine_f32(s->engine);
        rf32_task task = {.model = &s->m32, .mean = rf32_filter_mean(s->f32), .factor = rf32_filter_factor(s->f32), .records = s->record32,
                          .seed = 1, .count = 1, .sampler = s->sampler, .kappa = 1};
        rf32_tally_clear(&s->f32->tally, s->m32.dim, 0);
        engine->run(engine->self, &task, 0, amount, &s->f32->tally);
    } else {
        const rf64_engine *engine = rf_engine_f64(s->engine);
        rf64_task task = {.model = &s->m64, .mean = rf64_filter_mean(s->f64), .factor = rf64_filter_factor(s->f64), .records = s->record64,
                          .seed = 1, .count = 1, .sampler = s->sampler, .kappa = 1};
        rf64_tally_clear(&s->f64->tally, s->m64.dim, 0);
        engine->run(engine->self, &task, 0, amount, &s->f64->tally);
    }
}

double subject_acceptance(const subject *s, uint32_t amount)
{
    return (double)(s->bits == 32 ? s->f32->tally.count.accepted : s->f64->tally.count.accepted) / amount;
}
