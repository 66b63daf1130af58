/* The mpi engine: every rank runs its part of the range, and all get the sum. Compiled per precision. */
#include "ranks.h"

#include <string.h>

#define MPI_ENGINES ((uint64_t)1 << 32) /* summed over ranks: number of failed engines; below it, of failed models */

/* FNV-1a over bytes. */
static uint64_t RF(hash)(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *byte = data;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ byte[i]) * 0x100000001b3u;
    return hash;
}

/* A hash that is equal on ranks with the same task. */
static uint64_t RF(fingerprint)(const RF(task) *task, uint32_t begin, uint32_t count)
{
    const RF(model) *model = task->model;
    uint64_t head[] = {task->seed, task->update, task->count, (uint64_t)task->sampler, begin, count, model->dim, model->settings};
    uint64_t hash = RF(hash)(0xcbf29ce484222325u, head, sizeof head);
    hash = RF(hash)(hash, &task->kappa, sizeof task->kappa);
    hash = RF(hash)(hash, task->mean, model->dim * sizeof(rf_real));
    hash = RF(hash)(hash, task->factor, RF_TRIANGLE(model->dim) * sizeof(rf_real));
    return RF(hash)(hash, task->records, task->count * (model->settings + (size_t)1) * sizeof(rf_real));
}

/* The largest likelihood over all ranks; -1 if their tasks differ. */
static int RF(agree)(const rf_mpi_module *mpi, uint64_t fingerprint, rf_real *largest)
{
    double value = (double)*largest; /* not negative, so its bits compare like the number */
    int64_t max[] = {0, (int64_t)fingerprint, ~(int64_t)fingerprint};
    memcpy(&max[0], &value, sizeof value);
    if (mpi->max(max, 3) < 0 || max[1] != ~max[2])
        return -1;
    memcpy(&value, &max[0], sizeof value);
    *largest = (rf_real)value;
    return 0;
}

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

rf_status RF(ranks_run)(void *self, const RF(task) *task, uint32_t begin, uint32_t count, RF(tally) *tally)
{
    rf_engine *engine = self;
    const RF(engine) *inner = RF_IN_PRECISION(engine->inner);
    const rf_ranks *ranks = engine->state;
    unsigned parts = rf_parts(count, ranks->mpi->size()), dim = task->model->dim;
    if (parts == 1 || dim > ranks->tallies.dim) /* every rank runs everything */
        return inner->run(inner->self, task, begin, count, tally);

    RF(tally) *mine = rf_tallies_at(&ranks->tallies, 0);
    RF(task) same = *task; /* compute the loss on every rank, whether or not this one wants it */
    same.no_loss = 0;
    rf_part part = rf_part_at(begin, count, engine->rank, parts);
    RF(tally_clear)(mine, dim, task->update);
    engine->complaint[0] = '\0';
    rf_status status = part.count > 0 ? inner->run(inner->self, &same, part.begin, part.count, mine) : RF_OK;
    if (RF(agree)(ranks->mpi, RF(fingerprint)(task, begin, count), &mine->largest) < 0) {
        rf_fail(engine->complaint, sizeof engine->complaint, "the ranks of the MPI job disagree on what to run at update %u", task->update);
        return RF_REFUSED_ENGINE;
    }
    status = RF(sum_tallies)(ranks, status, mine);
    if (status == RF_REFUSED_ENGINE)
        rf_fail(engine->complaint, sizeof engine->complaint, "a rank of the MPI job failed at update %u", task->update);
    return status < 0 ? status : RF(tally_add)(tally, mine);
}

rf_status RF(ranks_fleet)(void *self, const RF(fleet) *fleet)
{
    const rf_engine *engine = self;
    return RF(fleet_run)(fleet, RF_IN_PRECISION(engine->inner));
}
