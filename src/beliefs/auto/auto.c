/* A mixture while Gaussians describe the posterior well, particles otherwise. With one parameter it stays a mixture:
   only fine fringes are beyond it, and resampled particles blur those even more. */
#include "auto.h"

#include <string.h>

#include "beliefs.h"
#include "bytes.h"
#include "mixture/mixture.h"
#include "particles/particles.h"

#define LOSS_MAX 0.05  /* nats lost in one record above which particles take over */
#define BENT_MAX 0.005 /* nats of difference from one Gaussian below which the mixture takes over again */
#define LEAST 0.25     /* share of the particles that must be effective for that */

/* `memory` holds the mixture, the particles (copied only while they are the belief), and space for the mixture before a
   record. */
typedef struct automatic {
    rf_belief head;
    uint32_t updates, records, is_cloud; /* is_cloud: the particles are the belief, else the mixture */
    size_t before_at, particles_at;
    RF_ALIGNED unsigned char memory[];
} automatic;

static rf_belief *part_of(const automatic *a, size_t at)
{
    return (rf_belief *)(void *)((unsigned char *)(uintptr_t)a->memory + at);
}
static rf_belief *mixture_of(const automatic *a) { return part_of(a, 0); }
static rf_belief *before_of(const automatic *a) { return part_of(a, a->before_at); }
static rf_belief *particles_of(const automatic *a) { return part_of(a, a->particles_at); }
static rf_belief *now_of(const rf_belief *belief)
{
    const automatic *a = (const automatic *)belief;
    return a->is_cloud ? particles_of(a) : mixture_of(a);
}

static size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

static void become(automatic *a, uint32_t is_cloud)
{
    a->is_cloud = is_cloud;
    a->head.used = sizeof *a + (is_cloud ? a->before_at : a->particles_at);
}

static rf_belief *auto_open(const rf_belief_setup *setup, char *error, size_t size)
{
    rf_belief_setup plain = *setup;
    plain.argument = NULL;
    plain.is_float = 0;
    rf_belief *mixture = rf_belief_mixture.open(setup, error, size);
    rf_belief *particles = mixture ? rf_belief_particles.open(&plain, error, size) : NULL;
    automatic *a = NULL;
    if (particles) {
        const size_t one = aligned(mixture->bytes);
        a = (automatic *)rf_belief_new(&rf_belief_auto, setup, sizeof *a + 2 * one + aligned(particles->bytes), error, size);
        if (a) {
            a->particles_at = one;
            a->before_at = one + aligned(particles->bytes);
            become(a, 0);
            memcpy(mixture_of(a), mixture, mixture->bytes);
            memcpy(before_of(a), mixture, mixture->bytes);
            memcpy(particles_of(a), particles, particles->bytes);
        }
    }
    rf_belief_close(mixture);
    rf_belief_close(particles);
    return (rf_belief *)a;
}

static void auto_moved(rf_belief *belief)
{
    automatic *a = (automatic *)belief;
    mixture_of(a)->problem = before_of(a)->problem = particles_of(a)->problem = belief->problem;
}

static rf_status auto_restart(rf_belief *belief)
{
    automatic *a = (automatic *)belief;
    become(a, 0);
    belief->live = 0;
    return rf_belief_mixture.restart(mixture_of(a));
}

static rf_status auto_pass(rf_belief *belief, const double F[], const double Q[], double elapsed)
{
    rf_belief *now = now_of(belief);
    now->live = belief->live;
    const rf_status status = now->kind->pass(now, F, Q, elapsed);
    belief->live = now->live;
    return status;
}

/* How far the particles are from one Gaussian, in nats, for the worst parameter; from the third and fourth
   cumulants. */
static double bent(const rf_belief *particles)
{
    const rf_smc *s = rf_particles_smc(particles);
    const unsigned dim = particles->problem->description.dim;
    const rf64_chart *charts = particles->problem->charts;
    double mean[RF_DESCRIBED_MAX], covariance[RF_TRIANGLE(RF_DESCRIBED_MAX)], y[RF_DESCRIBED_MAX],
        third[RF_DESCRIBED_MAX] = {0}, fourth[RF_DESCRIBED_MAX] = {0}, most = 0;
    particles->kind->moments(particles, mean, covariance);
    for (uint32_t i = 0; i < rf_smc_particles(s); i++) {
        const double weight = rf_smc_particle(s, i, y);
        for (unsigned d = 0; d < dim; d++) {
            const double period = charts[d].kind == RF_PERIODIC ? charts[d].high - charts[d].low : 0;
            double off = y[d] - mean[d];
            off -= period > 0 ? period * rf64_floor(off / period + 0.5) : 0;
            third[d] += weight * off * off * off;
            fourth[d] += weight * off * off * off * off;
        }
    }
    for (unsigned d = 0; d < dim; d++) {
        const double v = covariance[RF_TRIANGLE(d) + d], skew = third[d] / (v * rf64_sqrt(v)),
                     excess = fourth[d] / (v * v) - 3;
        most = rf64_max(most, skew * skew / 12 + excess * excess / 48);
    }
    return most;
}

/* Updates with one record. */
static rf_status learn(automatic *a, const double *record, const rf64_options *options, const rf_engine *engine,
                       rf64_report *report)
{
    rf_belief *mixture = mixture_of(a), *particles = particles_of(a);
    rf_status status;
    uint32_t points = 0;
    a->records++;
    if (!a->is_cloud) {
        rf_belief_copy(before_of(a), mixture);
        mixture->as_one = a->head.as_one;
        status = mixture->kind->update(mixture, record, 1, options, engine, report);
        if (status < 0 || mixture->problem->description.dim == 1 ||
            !(rf_mixture_loss(mixture) - rf_mixture_loss(before_of(a)) > LOSS_MAX))
            return status;
        points = report->attempts;
        rf_belief_copy(mixture, before_of(a));
        rf_particles_take(particles, mixture, a->records);
        particles->live = mixture->live;
        become(a, 1);
    }
    status = particles->kind->update(particles, record, 1, options, engine, report);
    report->attempts += points;
    if (status < 0)
        return status;
    const rf_smc *s = rf_particles_smc(particles);
    if (rf_smc_effective(s) > LEAST * rf_smc_particles(s) && bent(particles) < BENT_MAX) {
        double mean[RF_DESCRIBED_MAX], covariance[RF_TRIANGLE(RF_DESCRIBED_MAX)];
        particles->kind->moments(particles, mean, covariance);
        rf_mixture_take(mixture, mean, covariance);
        mixture->live = particles->live;
        become(a, 0);
    }
    return status;
}

static rf_status auto_update(rf_belief *belief, const double records[], uint32_t count, const rf64_options *options,
                             const rf_engine *engine, rf64_report *report)
{
    automatic *a = (automatic *)belief;
    const size_t width = belief->problem->description.settings + 1u;
    rf64_report all = {0};
    if (count == 0 || rf_belief_check(belief, records, count) < 0)
        return RF_REFUSED_EVIDENCE;
    now_of(belief)->live = belief->live;
    for (uint32_t k = 0; k < count; k++) {
        const rf_status status = learn(a, records + k * width, options, engine, report);
        if (status < 0)
            return status;
        report->status |= all.status;
        report->attempts += all.attempts;
        report->log_evidence += all.log_evidence;
        report->log_evidence_variance += all.log_evidence_variance;
        report->loss += all.loss;
        all = *report;
    }
    belief->live = now_of(belief)->live;
    report->update = a->updates++;
    report->acceptance = (double)report->accepted / report->attempts;
    return report->status;
}

static void auto_moments(const rf_belief *belief, double mean[], double covariance[])
{
    const rf_belief *now = now_of(belief);
    now->kind->moments(now, mean, covariance);
}

static void auto_natural(const rf_belief *belief, unsigned parameter, double *mean, double *sd)
{
    const rf_belief *now = now_of(belief);
    now->kind->natural(now, parameter, mean, sd);
}

static void auto_draw(const rf_belief *belief, uint32_t index, uint32_t purpose, double x[])
{
    const rf_belief *now = now_of(belief);
    now->kind->draw(now, index, purpose, x);
}

static void auto_draws(const rf_belief *belief, uint32_t count, uint32_t purpose, double x[])
{
    const rf_belief *now = now_of(belief);
    const size_t dim = belief->problem->description.dim;
    if (now->kind->draws)
        now->kind->draws(now, count, purpose, x);
    else
        for (uint32_t k = 0; k < count; k++)
            now->kind->draw(now, k, purpose, x + k * dim);
}

static double auto_quantile(const rf_belief *belief, unsigned parameter, double p)
{
    const rf_belief *now = now_of(belief);
    return now->kind->quantile(now, parameter, p);
}

static unsigned auto_modes(const rf_belief *belief, unsigned parameter, rf_mode modes[])
{
    const rf_belief *now = now_of(belief);
    return now->kind->modes ? now->kind->modes(now, parameter, modes) : 1;
}

static int auto_rivals(const rf_belief *belief, unsigned parameter, double at[2])
{
    const rf_belief *now = now_of(belief);
    return now->kind->rivals && now->kind->rivals(now, parameter, at);
}

static rf_status auto_stretch(rf_belief *belief, const double factor[])
{
    rf_belief *now = now_of(belief);
    return now->kind->stretch(now, factor);
}

static rf_status auto_shift(rf_belief *belief, const double by[])
{
    rf_belief *now = now_of(belief);
    return now->kind->shift(now, by);
}

static rf_status auto_place(rf_belief *belief, const rf_gaussian parts[], uint32_t count)
{
    automatic *a = (automatic *)belief;
    become(a, 0);
    return rf_belief_mixture.place(mixture_of(a), parts, count);
}

static void auto_confine(rf_belief *belief) { rf_belief_confine(now_of(belief)); }

static uint32_t auto_gaussians(const rf_belief *belief, rf_gaussian parts[])
{
    return rf_belief_gaussians(now_of(belief), parts);
}

static rf_status auto_telegraph(rf_belief *belief, unsigned parameter, const double level[2], const double chance[2])
{
    rf_belief *now = now_of(belief);
    return now->kind->telegraph(now, parameter, level, chance);
}

static uint32_t auto_updates(const rf_belief *belief) { return ((const automatic *)belief)->updates; }

static const char *auto_form(const rf_belief *belief)
{
    const automatic *a = (const automatic *)belief;
    return a->is_cloud ? "particles" : rf_mixture_count(mixture_of(a)) > 1 ? "mixture" : "gaussian";
}

double rf_auto_loss(const rf_belief *belief) { return rf_mixture_loss(mixture_of((const automatic *)belief)); }

/* Saves the particles only while they are the belief: later ones do not depend on them. */
static size_t auto_save(const rf_belief *belief, unsigned char *bytes)
{
    const automatic *a = (const automatic *)belief;
    rf_writer w = {bytes, 0};
    rf_write_u64(&w, a->updates);
    rf_write_u64(&w, a->records);
    rf_write_u64(&w, a->is_cloud);
    rf_write_u64(&w, rf_belief_mixture.save(mixture_of(a), NULL));
    const size_t mixture = rf_belief_mixture.save(mixture_of(a), bytes ? bytes + w.size : NULL);
    return w.size + mixture +
           (a->is_cloud ? rf_belief_particles.save(particles_of(a), bytes ? bytes + w.size + mixture : NULL) : 0);
}

static int auto_load(rf_belief *belief, const unsigned char *bytes, size_t size)
{
    automatic *a = (automatic *)belief;
    rf_reader r = {bytes, size, 0, 0};
    a->updates = rf_read_u32(&r);
    a->records = rf_read_u32(&r);
    const uint64_t is_cloud = rf_read_u64(&r), mixture = rf_read_u64(&r);
    if (r.failed || is_cloud > 1 || mixture > size - r.at)
        return -1;
    const unsigned char *more = bytes + r.at + mixture;
    const size_t left = size - r.at - (size_t)mixture;
    become(a, (uint32_t)is_cloud);
    if (rf_belief_mixture.load(mixture_of(a), bytes + r.at, (size_t)mixture) < 0)
        return -1;
    return a->is_cloud ? rf_belief_particles.load(particles_of(a), more, left) : left == 0 ? 0 : -1;
}

const rf_belief_kind rf_belief_auto = {
    .name = "auto",
    .summary = "one Gaussian, up to K (16) where one is too few, particles where K are",
    .loss_max = {0.3, 1.3},
    .open = auto_open,
    .moved = auto_moved,
    .restart = auto_restart,
    .pass = auto_pass,
    .update = auto_update,
    .moments = auto_moments,
    .natural = auto_natural,
    .draw = auto_draw,
    .draws = auto_draws,
    .quantile = auto_quantile,
    .modes = auto_modes,
    .rivals = auto_rivals,
    .stretch = auto_stretch,
    .shift = auto_shift,
    .place = auto_place,
    .confine = auto_confine,
    .gaussians = auto_gaussians,
    .telegraph = auto_telegraph,
    .updates = auto_updates,
    .form = auto_form,
    .save = auto_save,
    .load = auto_load,
};
