/* A filter, its design and its health, from one experiment to the next. Compiled per precision. */
#include "rejfilt/host.h"

#include "health.h"

void RF(track_open)(RF(tracker) *t, RF(filter) *filter, const RF(instance) *instance, const rf_description *about,
                    const RF(design) *design)
{
    const RF(tracker) fresh = {.filter = filter, .instance = instance, .about = about, .design = design, .options = RF(options_default)()};
    *t = fresh;
    t->model = RF(instance_model)(instance, t->charts);
    RF(described_charts)(about, t->charts);
    t->anchor_every = t->health.next_anchor = design && about->outcomes > 0 ? design->anchor_every : 0;
    for (unsigned i = 0; i < t->model.dim; i++) {
        t->prior_mean[i] = RF(filter_mean)(filter)[i];
        t->prior_sd[i] = RF(filter_sd)(filter, i);
        t->drift[i] = (rf_real)about->parameter[i].drift;
    }
}

rf_status RF(track_pass)(RF(tracker) *t, rf_real elapsed)
{
    const unsigned dim = t->model.dim;
    rf_real f[RF_NAMES_MAX * RF_NAMES_MAX], q[RF_NAMES_MAX * RF_NAMES_MAX] = {0};
    int any = 0;
    t->model.charts = t->charts;
    if (t->instance->dynamics) {
        t->instance->dynamics(elapsed, f, q);
        return RF(evolve)(t->filter, f, q);
    }
    for (unsigned i = 0; i < dim; i++) {
        q[i * dim + i] = t->drift[i] * t->drift[i];
        any |= t->drift[i] > 0;
    }
    return any && elapsed > 0 ? RF(diffuse_covariance)(t->filter, q, elapsed) : RF_OK;
}

void RF(track_ask)(RF(tracker) *t, rf_real setting[])
{
    rf_real mean[RF_NAMES_MAX], sd[RF_NAMES_MAX];
    t->model.charts = t->charts;
    for (unsigned i = 0; i < t->model.dim; i++) {
        mean[i] = RF(chart_natural)(&t->charts[i], RF(filter_mean)(t->filter)[i]);
        sd[i] = RF(filter_sd)(t->filter, i);
    }
    const int is_anchor = RF(health_wants_anchor)(t);
    const RF(situation) situation = {t->filter, &t->model, t->instance, t->about, mean, sd, t->experiments, is_anchor};
    t->design->choose(&situation, setting);
    t->anchors |= (uint32_t)(is_anchor && t->asked < 32) << (t->asked % 32);
    t->asked++;
    t->experiments++;
}

void RF(track_skip)(RF(tracker) *t, uint32_t index)
{
    if (index >= t->asked || index >= 32)
        return;
    const uint32_t below = (1u << index) - 1u;
    t->anchors = (t->anchors & below) | ((t->anchors >> 1) & ~below);
    t->asked--;
}

void RF(track_before)(RF(tracker) *t, const rf_real records[], uint32_t count)
{
    t->model.charts = t->charts;
    if (t->asked == 0)
        t->experiments += count;
    RF(health_judge)(t, records, count);
    t->asked = t->anchors = 0;
}

void RF(track_after)(RF(tracker) *t, const RF(report) *report)
{
    RF(evidence_add)(&t->evidence, report);
    if (t->adapts_kappa)
        t->options.kappa = report->kappa_next;
    RF(health_act)(t);
}

rf_status RF(track_tell)(RF(tracker) *t, const rf_real records[], uint32_t count, const RF(engine) *engine, RF(report) *report)
{
    const RF(tracker) before = *t;
    RF(report) own;
    RF(track_before)(t, records, count);
    rf_status status = RF(update)(t->filter, &t->model, records, count, &t->options, engine, &own);
    if (status < 0) {
        *t = before;
        t->model.charts = t->charts;
        return status;
    }
    RF(track_after)(t, &own);
    if (report)
        *report = own;
    return status;
}
