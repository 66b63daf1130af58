#include "projected.h"

#include <pthread.h>
#include <stdint.h>

#include "closed_form.h"
#include "hermite.h"

typedef struct projected {
    rf_belief head;
    uint32_t updates;
    closed_form form;
} projected;

static projected *of(const rf_belief *belief) { return (projected *)(uintptr_t)belief; }

static rf_status restart(rf_belief *belief)
{
    of(belief)->form.log_evidence = 0;
    return rf_problem_prior(belief->problem, 0, &of(belief)->form.mean, &of(belief)->form.variance);
}

static rf_status pass(rf_belief *belief, const double F[], const double Q[], double elapsed)
{
    closed_form *form = &of(belief)->form;
    if (F) {
        form->mean *= F[0];
        form->variance *= F[0] * F[0];
    }
    closed_form_diffuse(form, Q ? Q[0] * (F ? 1 : elapsed) : 0);
    return RF_OK;
}

static rf_status report_one(rf_belief *belief, double log_evidence, rf64_report *report)
{
    const rf64_report r = {.update = of(belief)->updates++, .attempts = 1, .accepted = 1, .acceptance = 1, .kappa = 1, .kappa_next = 1, .log_evidence = log_evidence};
    *report = r;
    return RF_OK;
}

static rf_status learn_exactly(rf_belief *belief, const double records[], uint32_t count, const rf64_options *options, const rf_engine *engine, rf64_report *report)
{
    double log_evidence = 0;
    (void)options, (void)engine;
    for (uint32_t k = 0; k < count; k++)
        log_evidence += closed_form_update(&of(belief)->form, records[3 * k], records[3 * k + 1], records[3 * k + 2] != 0);
    return report_one(belief, log_evidence, report);
}

static void moments(const rf_belief *belief, double mean[], double covariance[])
{
    mean[0] = of(belief)->form.mean;
    if (covariance)
        covariance[0] = of(belief)->form.variance;
}

static void draw(const rf_belief *belief, uint32_t index, uint32_t purpose, double x[])
{
    const rf_words w = rf_draw(belief->seed, of(belief)->updates, index, 0, purpose);
    double z, other;
    rf64_normal_pair(w.word[0], w.word[1], &z, &other);
    x[0] = rf64_chart_natural(&belief->problem->charts[0], of(belief)->form.mean + rf64_sqrt(of(belief)->form.variance) * z);
}

static double quantile(const rf_belief *belief, unsigned parameter, double p)
{
    (void)parameter;
    return of(belief)->form.mean + rf64_sqrt(of(belief)->form.variance) * rf64_normal_quantile(p);
}

static rf_status stretch(rf_belief *belief, const double factor[])
{
    of(belief)->form.variance *= factor[0] * factor[0];
    return RF_OK;
}

static rf_status shift(rf_belief *belief, const double by[])
{
    of(belief)->form.mean += by[0];
    return RF_OK;
}

static rf_status place(rf_belief *belief, const rf_gaussian parts[], uint32_t count)
{
    (void)count; /* always one: sessions here do not start from a posterior */
    of(belief)->form.mean = parts[0].mean[0];
    of(belief)->form.variance = parts[0].covariance[0];
    return RF_OK;
}

static uint32_t updates(const rf_belief *belief) { return of(belief)->updates; }

/* Not needed: runs of experiments have no checkpoints. */
static size_t save(const rf_belief *belief, unsigned char *bytes)
{
    (void)belief, (void)bytes;
    return 0;
}

static int load(rf_belief *belief, const unsigned char *bytes, size_t size)
{
    (void)belief, (void)bytes, (void)size;
    return -1;
}

static rf_belief *open_closed_form(const rf_belief_setup *setup, char *error, size_t size);

#define PROJECTED(kind, opened, learns)                                                                                \
    {.name = kind, .open = opened, .restart = restart, .pass = pass, .update = learns, .moments = moments, .draw = draw, \
     .quantile = quantile, .stretch = stretch, .shift = shift, .place = place, .updates = updates, .save = save, .load = load}

const rf_belief_kind projected_closed_form = PROJECTED("closed form", open_closed_form, learn_exactly);

static rf_belief *open_closed_form(const rf_belief_setup *setup, char *error, size_t size)
{
    return rf_belief_new(&projected_closed_form, setup, sizeof(projected), error, size);
}

/* ---- Gauss–Hermite ---- */

static hermite rules[HERMITE_MAX + 1];
static rf_belief_kind kinds[HERMITE_MAX + 1]; /* one kind per rule; a belief finds its rule by its kind */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static rf_status learn_by_rule(rf_belief *belief, const double records[], uint32_t count, const rf64_options *options, const rf_engine *engine, rf64_report *report)
{
    const rf64_model model = rf64_problem_model(belief->problem);
    closed_form *form = &of(belief)->form;
    (void)options, (void)engine;
    for (uint32_t k = 0; k < count; k++)
        hermite_update(&rules[belief->kind - kinds], &model, records + (size_t)k * (model.settings + 1u), &form->mean, &form->variance);
    return report_one(belief, 0, report);
}

static rf_belief *open_hermite(const rf_belief_setup *setup, char *error, size_t size)
{
    return rf_belief_new(&kinds[0], setup, sizeof(projected), error, size);
}

const rf_belief_kind *projected_hermite(unsigned points)
{
    const rf_belief_kind kind = PROJECTED("hermite", open_hermite, learn_by_rule);
    pthread_mutex_lock(&lock);
    if (!kinds[points].name) {
        rules[points] = hermite_rule(points);
        kinds[points] = kind;
    }
    pthread_mutex_unlock(&lock);
    return &kinds[points];
}
