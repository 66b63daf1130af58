/* Fingerprints of runs: of their configuration and of the records so far. */
#include "session_state.h"

#include <math.h>
#include <string.h>

uint64_t rf_hash(uint64_t hash, const void *bytes, size_t count)
{
    RF_UNROLL(8)
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u; /* FNV-1a */
    return hash;
}

static uint64_t add_text(uint64_t hash, const char *text) { return rf_hash(hash, text, strlen(text) + 1); }

static uint64_t add_numbers(uint64_t hash, const double *numbers, size_t count)
{
    return rf_hash(hash, numbers, count * sizeof *numbers);
}

uint64_t rf_config_fingerprint(const rf_config *config, uint32_t batch)
{
    const rf_description *d = &config->description;
    const rf64_design *design = config->design ? rf64_design_find(config->design, d, config->model->f64->design) : NULL;
    const uint32_t accepted = config->accepted_min > 0 ? config->accepted_min : rf64_options_default().accepted_min;
    const double numbers[] = {d->dim,
                              d->settings,
                              config->attempts,
                              accepted,
                              config->sampler,
                              config->strict != 0,
                              config->kappa,
                              config->recovery,
                              config->shrink,
                              config->on_lost,
                              (double)config->anchor_every,
                              config->is_float != 0,
                              config->learns_drift != 0,
                              batch};
    uint64_t hash = add_text(0xcbf29ce484222325u, d->name);
    hash = add_text(hash, config->own ? config->own->name : rf_config_belief(config));
    hash = add_text(hash, design ? design->name : "given");
    hash = rf_hash(hash, &config->seed, sizeof config->seed);
    hash = rf_hash(hash, &config->trial, sizeof config->trial);
    hash = add_numbers(hash, numbers, sizeof numbers / sizeof *numbers);
    for (unsigned i = 0; i < d->dim; i++) {
        const rf_parameter *p = &d->parameter[i];
        const rf_prior *prior = &config->prior[i];
        const int has_range = p->chart == RF_BOUNDED || p->chart == RF_PERIODIC;
        const rf_motion *m = &config->motion[i];
        const double about[] = {p->chart,     has_range ? p->low : 0, has_range ? p->high : 0, prior->is_gaussian != 0,
                                prior->first, prior->second,          config->drift[i],        m->kind,
                                m->centre,    m->sd,                  m->time,                 m->level[0],
                                m->level[1],  m->dwell[0],            m->dwell[1]};
        hash = add_numbers(add_text(hash, p->name), about, sizeof about / sizeof *about);
    }
    for (unsigned i = 0; i < d->settings; i++) {
        const rf_setting *s = &d->setting[i];
        const double about[] = {s->role, s->low, s->high, s->cost};
        hash = add_numbers(add_text(hash, s->name), about, sizeof about / sizeof *about);
    }
    return hash;
}

uint64_t rf_record_hash(uint64_t hash, const rf_record *r, unsigned settings)
{
    double values[RF_DESCRIBED_MAX + 2];
    values[0] = isnan(r->outcome) ? 0.5 : r->outcome;
    values[1] = isnan(r->time) ? 0 : r->time;
    for (unsigned i = 0; i < settings; i++)
        values[2 + i] = isnan(r->setting[i]) ? 0.25 : r->setting[i];
    return add_numbers(hash, values, 2 + settings);
}
