/* One Gaussian: the filter of the core. Compiled per precision. */
#include "gaussian.h"

#include <string.h>

#include "bytes.h"
#include "rejfilt/detail/tally.h"

#if RF_PRECISION == 32
#define ENGINE(engine) rf_engine_f32(engine)
#define INSTANCE(problem) ((problem)->model->f32)
#else
#define ENGINE(engine) rf_engine_f64(engine)
#define INSTANCE(problem) ((problem)->model->f64)
#endif

typedef struct gaussian {
    rf_belief head;
    RF_ALIGNED unsigned char memory[]; /* the core's filter */
} gaussian;

static RF(filter) * filter_of(rf_belief *belief) { return (RF(filter) *)(void *)((gaussian *)belief)->memory; }
static const RF(filter) * filter_in(const rf_belief *belief)
{
    return (const RF(filter) *)(const void *)((const gaussian *)belief)->memory;
}

/* Converts numbers to the filter's precision. */
static void convert(const double from[], size_t count, rf_real to[])
{
    for (size_t i = 0; i < count; i++)
        to[i] = (rf_real)from[i];
}

static rf_belief *gaussian_open(const rf_belief_setup *setup, char *error, size_t size)
{
    const unsigned dim = setup->problem->description.dim;
    const size_t bytes = RF(filter_bytes)(dim);
    RF(filter) * filter;
    if (setup->argument) {
        rf_fail(error, size, "belief 'gaussian' takes no argument, but got '%.40s'", setup->argument);
        return NULL;
    }
    rf_belief *belief = rf_belief_new(&RF(belief_gaussian), setup, sizeof(gaussian) + bytes, error, size);
    if (belief)
        RF(filter_init)(&filter, ((gaussian *)belief)->memory, bytes, dim, setup->seed);
    return belief;
}

static rf_status gaussian_restart(rf_belief *belief)
{
    const unsigned dim = belief->problem->description.dim;
    double mean[RF_DESCRIBED_MAX], covariance[RF_DESCRIBED_MAX * RF_DESCRIBED_MAX];
    rf_real own_mean[RF_DESCRIBED_MAX], own[RF_DESCRIBED_MAX * RF_DESCRIBED_MAX];
    const rf_status status = rf_problem_priors(belief->problem, mean, covariance);
    if (status < 0)
        return status;
    convert(mean, dim, own_mean);
    convert(covariance, (size_t)dim * dim, own);
    belief->live = 0;
    return RF(prior_covariance)(filter_of(belief), own_mean, own);
}

static rf_status gaussian_pass(rf_belief *belief, const double F[], const double Q[], double elapsed)
{
    const unsigned dim = belief->problem->description.dim;
    rf_real f[RF_DESCRIBED_MAX * RF_DESCRIBED_MAX], q[RF_DESCRIBED_MAX * RF_DESCRIBED_MAX];
    if (Q)
        convert(Q, (size_t)dim * dim, q);
    if (!F) {
        double before[RF_DESCRIBED_MAX];
        rf_belief_variances(belief, before);
        const rf_status status = RF(diffuse_covariance)(filter_of(belief), q, (rf_real)elapsed);
        rf_belief_forget(belief, before);
        return status;
    }
    convert(F, (size_t)dim * dim, f);
    return RF(evolve)(filter_of(belief), f, Q ? q : NULL);
}

#if RF_PRECISION == 32
static void widen_report(const RF(report) * from, rf64_report *to)
{
    const rf64_report r = {from->status,
                           from->update,
                           from->attempts,
                           from->accepted,
                           from->above,
                           from->nan,
                           from->negative,
                           from->infinite,
                           (double)from->acceptance,
                           (double)from->largest,
                           (double)from->kappa,
                           (double)from->kappa_next,
                           (double)from->delta,
                           (double)from->log_evidence,
                           (double)from->log_evidence_variance,
                           (double)from->loss};
    *to = r;
}
#endif

static rf_status gaussian_update(rf_belief *belief, const double records[], uint32_t count, const rf64_options *options,
                                 const rf_engine *engine, rf64_report *report)
{
    const RF(model) model = RF(problem_model)(belief->problem);
    double before[RF_DESCRIBED_MAX];
    rf_belief_variances(belief, before);
#if RF_PRECISION == 32
    const RF(options) own = {options->attempts,
                             options->accepted_min,
                             options->batches_max,
                             (rf_real)options->kappa,
                             (rf_real)options->recovery,
                             (rf_real)options->hedge,
                             (rf_real)options->shrink,
                             options->strict,
                             options->sampler};
    RF(report) told;
    enum { AT_ONCE = 64 };
    rf_real numbers[AT_ONCE], *copy = numbers;
    const size_t needed = (size_t)count * (model.settings + 1u);
    if (needed > AT_ONCE && !(copy = malloc(needed * sizeof *copy)))
        return RF_REFUSED_ENGINE;
    convert(records, needed, copy);
    const rf_status status =
        RF(update)(filter_of(belief), &model, copy, count, &own, engine ? ENGINE(engine) : NULL, &told);
    if (copy != numbers)
        free(copy);
    if (status >= 0)
        widen_report(&told, report);
#else
    const rf_status status =
        RF(update)(filter_of(belief), &model, records, count, options, engine ? ENGINE(engine) : NULL, report);
#endif
    if (status >= 0)
        rf_belief_lose(belief, before, report->loss);
    return status;
}

static void gaussian_moments(const rf_belief *belief, double mean[], double covariance[])
{
    const RF(filter) *filter = filter_in(belief);
    const unsigned dim = filter->tally.dim;
    const rf_real *own = RF(filter_mean_of)(filter), *factor = own + dim;
    if (dim == 1) { /* by far the most common */
        mean[0] = (double)own[0];
        if (covariance)
            covariance[0] = (double)(factor[0] * factor[0]);
        return;
    }
    for (unsigned i = 0; i < dim; i++) {
        mean[i] = (double)own[i];
        for (unsigned j = 0; covariance && j <= i; j++) {
            rf_real sum = 0;
            for (unsigned k = 0; k <= j; k++)
                sum += factor[RF_TRIANGLE(i) + k] * factor[RF_TRIANGLE(j) + k];
            covariance[RF_TRIANGLE(i) + j] = (double)sum;
        }
    }
}

static void gaussian_draw(const rf_belief *belief, uint32_t index, uint32_t purpose, double x[])
{
    const RF(model) model = RF(problem_model)(belief->problem);
    rf_real drawn[RF_DESCRIBED_MAX];
    RF(filter_draw)(filter_in(belief), &model, index, purpose, drawn);
    for (unsigned i = 0; i < model.dim; i++)
        x[i] = (double)drawn[i];
    rf_problem_limit(belief->problem, x);
}

static double gaussian_quantile(const rf_belief *belief, unsigned parameter, double p)
{
    const RF(filter) *filter = filter_in(belief);
    const double z = p == 0.025 ? -1.959963984540054 : p == 0.975 ? 1.959963984540054 : p == 0.5 ? 0 : rf64_normal_quantile(p);
    return (double)(RF(filter_mean)(filter)[parameter] + (rf_real)z * RF(filter_sd)(filter, parameter));
}

static rf_status gaussian_stretch(rf_belief *belief, const double factor[])
{
    rf_real own[RF_DESCRIBED_MAX];
    convert(factor, belief->problem->description.dim, own);
    return RF(stretch)(filter_of(belief), own);
}

static rf_status gaussian_shift(rf_belief *belief, const double by[])
{
    const RF(filter) *filter = filter_in(belief);
    rf_real mean[RF_DESCRIBED_MAX], rest[RF_DESCRIBED_MAX], factor[RF_TRIANGLE(RF_DESCRIBED_MAX)];
    for (unsigned i = 0; i < filter->tally.dim; i++) {
        mean[i] = RF(filter_mean)(filter)[i] + (rf_real)by[i];
        rest[i] = RF(filter_rest)(filter, i);
    }
    for (unsigned i = 0; i < RF_TRIANGLE(filter->tally.dim); i++)
        factor[i] = RF(filter_factor)(filter)[i];
    return RF(filter_restore)(filter_of(belief), belief->seed, RF(filter_updates)(filter), mean, factor, rest);
}

static rf_status gaussian_place(rf_belief *belief, const rf_gaussian parts[], uint32_t count)
{
    const unsigned dim = belief->problem->description.dim;
    double mean[RF_DESCRIBED_MAX], covariance[RF_TRIANGLE(RF_DESCRIBED_MAX)];
    rf_real own_mean[RF_DESCRIBED_MAX], own[RF_DESCRIBED_MAX * RF_DESCRIBED_MAX];
    rf_gaussians_join(belief->problem, parts, count, mean, covariance);
    convert(mean, dim, own_mean);
    for (unsigned i = 0; i < dim; i++)
        for (unsigned j = 0; j <= i; j++)
            own[i * dim + j] = own[j * dim + i] = (rf_real)covariance[RF_TRIANGLE(i) + j];
    return RF(prior_covariance)(filter_of(belief), own_mean, own);
}

static uint32_t gaussian_updates(const rf_belief *belief) { return RF(filter_updates)(filter_in(belief)); }

static size_t gaussian_save(const rf_belief *belief, unsigned char *bytes)
{
    const RF(filter) *filter = filter_in(belief);
    const unsigned dim = filter->tally.dim;
    rf_writer w = {bytes, 0};
    rf_write_u64(&w, RF(filter_updates)(filter));
    for (unsigned i = 0; i < dim; i++)
        rf_write_real(&w, (double)RF(filter_mean)(filter)[i]);
    for (unsigned i = 0; i < RF_TRIANGLE(dim); i++)
        rf_write_real(&w, (double)RF(filter_factor)(filter)[i]);
    for (unsigned i = 0; i < dim; i++)
        rf_write_real(&w, (double)RF(filter_rest)(filter, i));
    return w.size;
}

static int gaussian_load(rf_belief *belief, const unsigned char *bytes, size_t size)
{
    const unsigned dim = belief->problem->description.dim;
    rf_real mean[RF_DESCRIBED_MAX], rest[RF_DESCRIBED_MAX], factor[RF_TRIANGLE(RF_DESCRIBED_MAX)];
    rf_reader r = {bytes, size, 0, 0};
    const uint32_t updates = rf_read_u32(&r);
    for (unsigned i = 0; i < dim; i++)
        mean[i] = (rf_real)rf_read_real(&r);
    for (unsigned i = 0; i < RF_TRIANGLE(dim); i++)
        factor[i] = (rf_real)rf_read_real(&r);
    for (unsigned i = 0; i < dim; i++)
        rest[i] = (rf_real)rf_read_real(&r);
    return rf_read_all(&r) && RF(filter_restore)(filter_of(belief), belief->seed, updates, mean, factor, rest) >= 0 ? 0 : -1;
}

const rf_belief_kind RF(belief_gaussian) = {
    .name = "gaussian",
    .summary = "one Gaussian: the paper's, 64 bytes for one parameter",
    .loss_max = {6, 6},
    .open = gaussian_open,
    .restart = gaussian_restart,
    .pass = gaussian_pass,
    .update = gaussian_update,
    .moments = gaussian_moments,
    .draw = gaussian_draw,
    .quantile = gaussian_quantile,
    .stretch = gaussian_stretch,
    .shift = gaussian_shift,
    .place = gaussian_place,
    .updates = gaussian_updates,
    .save = gaussian_save,
    .load = gaussian_load,
};
