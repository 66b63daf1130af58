/* The mpi engine: every rank runs its part of the range, and all get the sum. Compiled per precision. */
#include "ranks.h"

#include <string.h>

#include "rejfilt/detail/steps.h"

#define MPI_ENGINES ((uint64_t)1 << 32) /* summed over ranks: number of failed engines; below it, of failed models */

enum { PROBES = 32, PROBES_EACH = 4 }; /* likelihoods compared when a model is new, and with each task */

/* ---- Do the ranks run the same? ---- */

/* FNV-1a over bytes. */
static uint64_t RF(hash)(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *byte = data;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ byte[i]) * 0x100000001b3u;
    return hash;
}

static uint64_t RF(hash_text)(uint64_t hash, const char *text) { return RF(hash)(hash, text, strlen(text)); }

/* A likelihood at points drawn from the task's Gaussian, by their bits: equal on ranks with the same model. */
static uint64_t RF(probe)(const RF(task) *task, unsigned points)
{
    const RF(model) *model = task->model;
    rf_real z[RF_DIM_MAX], x[RF_DIM_MAX], value = 0;
    uint64_t hash = RF_RANKS_START;
    for (unsigned k = 0; k < points; k++) {
        for (unsigned i = 0; i < model->dim; i += 2) {
            const rf_words w = rf_draw(0, 0, k, i, RF_FOR_HEALTH);
            rf_real other;
            RF(normal_pair)(w.word[0], w.word[1], &z[i], i + 1u < model->dim ? &z[i + 1] : &other);
        }
        for (unsigned i = 0; i < model->dim; i++) {
            rf_real y = task->mean[i];
            for (unsigned j = 0; j <= i; j++)
                y += task->factor[RF_TRIANGLE(i) + j] * z[j];
            x[i] = model->charts ? RF(chart_natural)(&model->charts[i], y) : y;
        }
        const rf_real *record = task->records;
        if (model->likelihood)
            value = model->likelihood(x, record, record[model->settings]);
        else if (model->block(x, 1, record, record[model->settings], &value, model->data) < 0)
            value = RF(nan)();
        value = value == value ? value : 0; /* a NaN has many bits */
        hash = RF(hash)(hash, &value, sizeof value);
    }
    return hash;
}

/* Where the model's source is compiled from; "" if it does not say. */
static const char *RF(source_of)(const RF(model) *model)
{
    const RF(kernel) *k = model->kernels;
    while (k && k->target && !k->source)
        k++;
    return !k || !k->target ? "" : k->source->key[0] ? k->source->key : k->source->file;
}

static void RF(fingerprints)(const RF(task) *task, uint32_t begin, uint32_t count, unsigned points, uint64_t of[RF_RANKS_SUBJECTS])
{
    const RF(model) *model = task->model;
    const uint64_t layout[] = {RF_PRECISION, RF32_LAYOUT, RF64_LAYOUT}, options[] = {(uint64_t)task->sampler, begin, count},
                   shape[] = {model->dim, model->settings, model->is_log, model->charts != NULL};
    for (unsigned i = 0; i < RF_RANKS_SUBJECTS; i++)
        of[i] = RF_RANKS_START;
    of[RF_RANKS_VERSION] = RF(hash_text)(of[RF_RANKS_VERSION], RF_VERSION);
    of[RF_RANKS_LAYOUT] = RF(hash)(of[RF_RANKS_LAYOUT], layout, sizeof layout);
    of[RF_RANKS_MODEL] = RF(hash)(of[RF_RANKS_MODEL], shape, sizeof shape);
    for (unsigned i = 0; i < model->dim && model->charts; i++) {
        const double chart[] = {(double)model->charts[i].kind, (double)model->charts[i].low, (double)model->charts[i].high};
        of[RF_RANKS_MODEL] = RF(hash)(of[RF_RANKS_MODEL], chart, sizeof chart);
    }
    of[RF_RANKS_SOURCE] = RF(hash_text)(of[RF_RANKS_SOURCE], RF(source_of)(model));
    of[RF_RANKS_OPTIONS] = RF(hash)(RF(hash)(of[RF_RANKS_OPTIONS], options, sizeof options), &task->kappa, sizeof task->kappa);
    of[RF_RANKS_SEED] = RF(hash)(of[RF_RANKS_SEED], &task->seed, sizeof task->seed);
    of[RF_RANKS_RECORDS] = RF(hash)(of[RF_RANKS_RECORDS], task->records, task->count * (model->settings + (size_t)1) * sizeof(rf_real));
    of[RF_RANKS_BELIEF] = RF(hash)(of[RF_RANKS_BELIEF], &task->update, sizeof task->update);
    of[RF_RANKS_BELIEF] = RF(hash)(of[RF_RANKS_BELIEF], task->mean, model->dim * sizeof(rf_real));
    of[RF_RANKS_BELIEF] = RF(hash)(of[RF_RANKS_BELIEF], task->factor, RF_TRIANGLE(model->dim) * sizeof(rf_real));
    of[RF_RANKS_LIKELIHOOD] = RF(probe)(task, points);
}

/* Is this model another than that of the rank's latest task? */
static int RF(is_new)(rf_ranks *ranks, const RF(model) *model)
{
    const void *const known[] = {model->kernels, model->charts, model->data};
    uint64_t now = RF(hash)(RF_RANKS_START, known, sizeof known);
    now = RF(hash)(RF(hash)(now, &model->likelihood, sizeof model->likelihood), &model->block, sizeof model->block);
    const int is_new = ranks->model != now;
    ranks->model = now;
    return is_new;
}

/* *largest ← the largest likelihood over all ranks. -1 with a complaint if they do not run the same. All are compared one by
   one where a model is new on any rank, or where they differ. */
static int RF(agree)(rf_engine *engine, const RF(task) *task, uint32_t begin, uint32_t count, rf_real *largest)
{
    rf_ranks *ranks = engine->state;
    double value = (double)*largest; /* not negative, so its bits compare like the number */
    uint64_t of[RF_RANKS_SUBJECTS];
    RF(fingerprints)(task, begin, count, task->model->likelihood ? PROBES_EACH : 0, of);
    const uint64_t all = RF(hash)(RF_RANKS_START, of, sizeof of);
    int64_t max[] = {0, (int64_t)all, ~(int64_t)all, RF(is_new)(ranks, task->model)};
    memcpy(&max[0], &value, sizeof value);
    if (ranks->mpi->max(max, 4) < 0)
        return rf_fail(engine->complaint, sizeof engine->complaint, "MPI failed at update %u", task->update);
    if (max[1] != ~max[2] || max[3]) {
        RF(fingerprints)(task, begin, count, PROBES, of);
        if (rf_ranks_compare(engine, of, task->update) < 0)
            return -1;
    }
    memcpy(&value, &max[0], sizeof value);
    *largest = (rf_real)value;
    return 0;
}

/* ---- Running ---- */

static uint16_t RF(in_16_bits)(uint64_t count) { return (uint16_t)(count < 65535 ? count : 65535); }

/* Sums all ranks' tallies, in place. `status`: that of this rank's part. Returns RF_OK, or the failure of any rank. */
static rf_status RF(sum_tallies)(const rf_ranks *ranks, rf_status status, RF(tally) *tally)
{
    const uint64_t failed = status == RF_REFUSED_MODEL ? 1 : status < 0 ? MPI_ENGINES : 0;
    unsigned sums = (unsigned)(tally->dim + RF_TRIANGLE(tally->dim));
    uint64_t *n = ranks->numbers;
    const uint64_t head[RF_RANKS_HEAD] = {failed, tally->over, tally->weight, tally->nan, tally->negative, tally->infinite};
    memcpy(n, head, sizeof head);
    memcpy(n + RF_RANKS_HEAD, tally + 1, 8 * (size_t)sums);
    if (ranks->mpi->sum(n, RF_RANKS_HEAD + sums) < 0 || n[0] >= MPI_ENGINES)
        return RF_REFUSED_ENGINE;
    if (n[0] > 0)
        return RF_REFUSED_MODEL;
    tally->over = n[1];
    tally->weight = n[2];
    tally->nan = RF(in_16_bits)(n[3]);
    tally->negative = RF(in_16_bits)(n[4]);
    tally->infinite = RF(in_16_bits)(n[5]);
    memcpy(tally + 1, n + RF_RANKS_HEAD, 8 * (size_t)sums);
    return RF_OK;
}

static rf_status RF(run_part)(rf_engine *engine, const RF(task) *task, uint32_t begin, uint32_t count, RF(tally) *tally)
{
    const RF(engine) *inner = RF_IN_PRECISION(engine->inner);
    const rf_ranks *ranks = engine->state;
    const unsigned ready = rf_parts(count, ranks->mpi->size()), dim = task->model->dim;
    const int is_whole = ready == 1 || dim > ranks->tallies.dim; /* every rank runs everything */
    const unsigned parts = is_whole ? 1 : ready;
    rf_real none = 0;
    engine->complaint[0] = '\0';
    if (is_whole && !ranks->model && RF(agree)(engine, task, begin, count, &none) < 0) /* also where others split */
        return RF_REFUSED_ENGINE;
    if (is_whole)
        return inner->run(inner->self, task, begin, count, tally);

    RF(tally) *mine = rf_tallies_at(&ranks->tallies, 0);
    RF(task) same = *task; /* compute the loss on every rank, whether or not this one wants it */
    same.no_loss = 0;
    rf_part part = rf_part_at(begin, count, engine->rank, parts);
    RF(tally_clear)(mine, dim, task->update);
    rf_status status = part.count > 0 ? inner->run(inner->self, &same, part.begin, part.count, mine) : RF_OK;
    if (RF(agree)(engine, task, begin, count, &mine->largest) < 0)
        return RF_REFUSED_ENGINE;
    status = RF(sum_tallies)(ranks, status, mine);
    if (status == RF_REFUSED_ENGINE)
        rf_fail(engine->complaint, sizeof engine->complaint, "a rank of the MPI job failed at update %u", task->update);
    return status < 0 ? status : RF(tally_add)(tally, mine);
}

rf_status RF(ranks_run)(void *self, const RF(task) *task, uint32_t begin, uint32_t count, RF(tally) *tally)
{
    rf_engine *engine = self;
    if (!rf_engine_take(engine))
        return RF_REFUSED_BUSY;
    const rf_status status = RF(run_part)(engine, task, begin, count, tally);
    rf_engine_give(engine);
    return status;
}

rf_status RF(ranks_fleet)(void *self, const RF(fleet) *fleet)
{
    const rf_engine *engine = self;
    return RF(fleet_run)(fleet, RF_IN_PRECISION(engine->inner));
}
