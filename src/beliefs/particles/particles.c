/* Particles with Liu-West resampling: any shape of posterior, for 16 to 48 KB. */
#include "particles.h"

#include "beliefs.h"

#include "bytes.h"

enum { PARTICLES_LEAST = 2, PARTICLES_MAX = 1 << 24, PARTICLES = 2000, EVENTS = 4 /* events per record, at most */ };

typedef struct particles {
    rf_belief head;
    uint32_t updates, n;
    RF_ALIGNED unsigned char memory[]; /* an rf_smc */
} particles;

static rf_smc *smc_of(const rf_belief *belief)
{
    return (rf_smc *)(void *)(uintptr_t)((const particles *)belief)->memory;
}

const rf_smc *rf_particles_smc(const rf_belief *belief) { return smc_of(belief); }

void rf_particles_take(rf_belief *belief, const rf_belief *from, uint32_t number)
{
    const unsigned dim = belief->problem->description.dim;
    for (uint32_t i = 0; i < ((const particles *)belief)->n; i++) {
        double x[RF_DESCRIBED_MAX];
        from->kind->draw(from, i, RF_SMC_FOR_PRIOR, x);
        for (unsigned d = 0; d < dim; d++)
            x[d] = rf64_chart_coordinate(&belief->problem->charts[d], x[d]);
        rf_smc_put(smc_of(belief), i, x);
    }
    rf_smc_begin(smc_of(belief), EVENTS * number);
    ((particles *)belief)->updates = number;
}

static rf_belief *particles_open(const rf_belief_setup *setup, char *error, size_t size)
{
    const uint32_t n =
        rf_belief_number(&rf_belief_particles, setup, PARTICLES_LEAST, PARTICLES_MAX, PARTICLES, error, size);
    if (n == 0)
        return NULL;
    if (setup->is_float) {
        rf_fail(error, size, "belief 'particles' works in double alone");
        return NULL;
    }
    const rf64_model model = rf64_problem_model(setup->problem);
    rf_belief *belief =
        rf_belief_new(&rf_belief_particles, setup, sizeof(particles) + rf_smc_bytes(model.dim, n), error, size);
    if (belief) {
        ((particles *)belief)->n = n;
        rf_smc_init(smc_of(belief), &model, n, setup->seed, NULL);
        rf_smc_interchangeable(smc_of(belief), rf_problem_interchangeable(setup->problem));
    }
    return belief;
}

static rf_status particles_restart(rf_belief *belief)
{
    double mean[RF_DESCRIBED_MAX], covariance[RF_DESCRIBED_MAX * RF_DESCRIBED_MAX], sd[RF_DESCRIBED_MAX];
    const unsigned dim = belief->problem->description.dim;
    const rf_status status = rf_problem_priors(belief->problem, mean, covariance);
    for (unsigned i = 0; i < dim && status >= 0; i++)
        sd[i] = rf64_sqrt(covariance[i * dim + i]);
    return status < 0                                                           ? status
           : rf_smc_prior(smc_of(belief), belief->problem->prior, mean, sd) < 0 ? RF_REFUSED_CHART
                                                                                : RF_OK;
}

static rf_status particles_pass(rf_belief *belief, const double F[], const double Q[], double elapsed)
{
    rf_smc_evolve(smc_of(belief), F, Q, F ? 1 : elapsed);
    return RF_OK;
}

static rf_status particles_update(rf_belief *belief, const double records[], uint32_t count,
                                  const rf64_options *options, const rf_engine *engine, rf64_report *report)
{
    particles *p = (particles *)belief;
    (void)options, (void)engine;
    if (rf_belief_check(belief, records, count) < 0)
        return RF_REFUSED_EVIDENCE;
    const double log_evidence = rf_smc_update(smc_of(belief), records, count);
    return rf_belief_report(report, p->updates++, p->n, rf_smc_effective(smc_of(belief)), log_evidence);
}

static void particles_moments(const rf_belief *belief, double mean[], double covariance[])
{
    const unsigned dim = belief->problem->description.dim;
    double all[RF_DESCRIBED_MAX * RF_DESCRIBED_MAX];
    rf_smc_moments(smc_of(belief), mean, covariance ? all : NULL);
    for (unsigned i = 0; i < dim && covariance; i++)
        for (unsigned j = 0; j <= i; j++)
            covariance[RF_TRIANGLE(i) + j] = all[i * dim + j];
}

static void particles_natural(const rf_belief *belief, unsigned parameter, double *mean, double *sd)
{
    const rf_marginal parts = rf_smc_marginal(smc_of(belief), parameter);
    if (belief->problem->charts[parameter].kind != RF_REAL)
        rf_marginal_natural(&belief->problem->charts[parameter], &parts, mean, sd);
}

static void particles_draw(const rf_belief *belief, uint32_t index, uint32_t purpose, double x[])
{
    const rf_words w = rf_draw(belief->seed, ((const particles *)belief)->updates, index, 0, purpose);
    rf_smc_draw(smc_of(belief), rf64_uniform(w.word[0]), x);
    rf_problem_limit(belief->problem, x);
}

static double particles_quantile(const rf_belief *belief, unsigned parameter, double p)
{
    double mean[RF_DESCRIBED_MAX];
    rf_smc_moments(smc_of(belief), mean, NULL);
    return rf_smc_quantile(smc_of(belief), parameter, mean[parameter], p);
}

static rf_status particles_stretch(rf_belief *belief, const double factor[])
{
    rf_smc_stretch(smc_of(belief), factor);
    return RF_OK;
}

static rf_status particles_shift(rf_belief *belief, const double by[])
{
    rf_smc_shift(smc_of(belief), by);
    return RF_OK;
}

static void particles_confine(rf_belief *belief)
{
    const rf_problem *p = belief->problem;
    for (unsigned i = 0; i < p->description.dim; i++)
        if (rf_problem_has_range(p, i))
            rf_smc_confine(smc_of(belief), i, p->low[i], p->high[i]);
}

static rf_status particles_place(rf_belief *belief, const rf_gaussian parts[], uint32_t count)
{
    const unsigned dim = belief->problem->description.dim;
    double mean[RF_DESCRIBED_MAX], covariance[RF_TRIANGLE(RF_DESCRIBED_MAX)], sd[RF_DESCRIBED_MAX];
    int is_correlated = 0;
    rf_gaussians_join(belief->problem, parts, count, mean, covariance);
    for (unsigned i = 0; i < dim; i++) {
        sd[i] = rf64_sqrt(covariance[RF_TRIANGLE(i) + i]);
        for (unsigned j = 0; j < i; j++)
            is_correlated |= covariance[RF_TRIANGLE(i) + j] != 0;
    }
    if (count > 1 || is_correlated) { /* draw from a mixture: all of `parts` */
        char error[8];
        rf_belief *from = rf_belief_open("mixture:64", belief->problem, belief->seed, 0, error, sizeof error);
        if (!from)
            return RF_REFUSED_ENGINE;
        from->kind->place(from, parts, count);
        rf_particles_take(belief, from, ((const particles *)belief)->updates + 1);
        rf_belief_close(from);
        return RF_OK;
    }
    return rf_smc_prior_gaussian(smc_of(belief), mean, sd) < 0 ? RF_REFUSED_VALUE : RF_OK;
}

static rf_status particles_telegraph(rf_belief *belief, unsigned parameter, const double level[2], const double chance[2])
{
    rf_smc_telegraph(smc_of(belief), parameter, level, chance);
    return RF_OK;
}

static uint32_t particles_updates(const rf_belief *belief) { return ((const particles *)belief)->updates; }

static size_t particles_save(const rf_belief *belief, unsigned char *bytes)
{
    rf_writer w = {bytes, 0};
    rf_write_u64(&w, ((const particles *)belief)->updates);
    return w.size + rf_smc_save(smc_of(belief), bytes ? bytes + w.size : NULL);
}

static int particles_load(rf_belief *belief, const unsigned char *bytes, size_t size)
{
    rf_reader r = {bytes, size, 0, 0};
    ((particles *)belief)->updates = rf_read_u32(&r);
    return r.failed ? -1 : rf_smc_load(smc_of(belief), bytes + r.at, size - r.at);
}

const rf_belief_kind rf_belief_particles = {
    .name = "particles",
    .summary = "N weighted points (2000): any shape, 24 bytes a point and parameter",
    .open = particles_open,
    .restart = particles_restart,
    .pass = particles_pass,
    .update = particles_update,
    .moments = particles_moments,
    .natural = particles_natural,
    .draw = particles_draw,
    .quantile = particles_quantile,
    .stretch = particles_stretch,
    .shift = particles_shift,
    .place = particles_place,
    .confine = particles_confine,
    .telegraph = particles_telegraph,
    .updates = particles_updates,
    .save = particles_save,
    .load = particles_load,
};
