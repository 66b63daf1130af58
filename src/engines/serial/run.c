/* The serial engine: the core's; or, for a model with a block function, attempts in blocks. A block is drawn and placed, the
   function is called once for each record, and then the attempts are judged. Compiled per precision. */
#include "serial.h"

#include <stdlib.h>

#include "rejfilt/detail/chart.h"

enum {
    PAIRS = 64,
    LANES = 2 * PAIRS,
    BLOCK = 64 * LANES,      /* attempts of a block, at most; more do not make calls cheaper */
    VALUES_MAX = 1024 * LANES /* likelihoods of a block: fewer attempts for many records */
};

/* A task whose likelihoods are known. */
typedef struct RF(known) {
    RF(task) task;         /* first: attempts.h sees this */
    uint32_t count;        /* candidates of the block that are in the range */
    uint16_t index[LANES]; /* of the lanes among them */
} RF(known);

#define RF_KERNEL RF(block)
#define RF_KERNEL_PAIRS 64u
#define RF_KERNEL_DIM_MAX 1u
#define RF_KERNEL_IS_LOG (task->model->is_log)
#define RF_KERNEL_BOUND(setting, outcome) RF(bound_of)(task->model, setting, outcome)
#define RF_KERNEL_KNOWN(task, k, lane)                                                                                 \
    ((size_t)(k) * ((const RF(known) *)(const void *)(task))->count + ((const RF(known) *)(const void *)(task))->index[lane])
#include "rejfilt/detail/attempts.h"

/* Memory of a block; all of it on cache lines. */
typedef struct RF(memory) {
    rf_real *own, *x, *values; /* [dim][LANES], [dim][candidates], [records][candidates] */
    int32_t *q;                /* [lanes / LANES][dim][LANES] */
    float *u;                  /* [lanes] */
} RF(memory);

static size_t lines(size_t bytes) { return (bytes + 63) / 64 * 64; }

/* One allocation, which `own` points to. Returns 0, or -1. */
static int RF(memory_make)(RF(memory) *m, unsigned dim, uint32_t records, size_t lanes)
{
    const size_t own = lines(dim * LANES * sizeof(rf_real)), x = lines(dim * lanes * sizeof(rf_real));
    const size_t values = lines(records * lanes * sizeof(rf_real)), q = lines(dim * lanes * sizeof(int32_t)), u = lines(lanes * sizeof(float));
    unsigned char *memory = aligned_alloc(64, own + x + values + q + u);
    if (!memory)
        return -1;
    m->own = (rf_real *)(void *)memory;
    m->x = (rf_real *)(void *)(memory + own);
    m->values = (rf_real *)(void *)(memory + own + x);
    m->q = (int32_t *)(void *)(memory + own + x + values);
    m->u = (float *)(void *)(memory + own + x + values + q);
    return 0;
}

/* Lanes from attempt `at` on are drawn; those of [begin, begin + count) are placed, `candidates` in all, and the model asked. */
static rf_status RF(ask)(const RF(task) *task, uint32_t at, unsigned lanes, uint32_t begin, uint32_t count, uint32_t candidates, const RF(memory) *m)
{
    const RF(model) *model = task->model;
    const unsigned dim = model->dim;
    rf_lattice_start start = {~UINT32_C(0), {{0, 0, 0, 0}}};
    uint32_t placed = 0;
    for (unsigned first = 0; first < lanes; first += LANES) {
        const uint32_t pair = (at + first) / 2;
        int32_t *q = m->q + (size_t)first * dim;
        float *u = m->u + first;
        if (task->sampler == RF_REJECT)
            RF(block_draw)(task, dim, pair, q, u);
        else
            RF(block_draw_lattice)(task, dim, pair, &start, q, u);
        if (task->wrap)
            RF(block_wrap)(task->wrap, dim, q);
        RF(block_place)(task, dim, q, m->own);
        RF(block_mark_outside)(task->sampler, pair, begin, count, u);
        for (unsigned lane = 0; lane < LANES; lane++)
            if (u[lane] <= 1) {
                for (unsigned i = 0; i < dim; i++)
                    m->x[(size_t)i * candidates + placed] = m->own[i * LANES + lane];
                placed++;
            }
    }
    for (uint32_t k = 0; k < task->count; k++) {
        const rf_real *setting = task->records + (size_t)k * (model->settings + 1u);
        if (model->block(m->x, candidates, setting, setting[model->settings], m->values + (size_t)k * candidates, model->data) < 0)
            return RF_REFUSED_MODEL;
    }
    return RF_OK;
}

static void RF(judge_all)(RF(known) *known, uint32_t attempt, unsigned lanes, const RF(memory) *m, RF(tally) *tally)
{
    const RF(task) *task = &known->task;
    const unsigned dim = task->model->dim;
    uint32_t next = 0;
    for (unsigned first = 0; first < lanes; first += LANES) {
        rf_real accept[LANES];
        int32_t *q = m->q + (size_t)first * dim;
        const float *u = m->u + first;
        for (unsigned lane = 0; lane < LANES; lane++)
            known->index[lane] = (uint16_t)(u[lane] <= 1 ? next++ : 0);
        if (RF(block_judge)(task, dim, m->values, u, 0, accept, tally))
            RF(block_look_closer)(task, dim, m->values, u, accept, tally);
        if (task->sampler == RF_WEIGHT)
            RF(block_add_weighted)(task, dim, attempt + first, q, accept, tally);
        else
            RF(block_add_accepted)(dim, q, u, accept, tally);
    }
}

static rf_status RF(block_run)(const RF(task) *task, uint32_t begin, uint32_t count, RF(tally) *tally)
{
    const uint64_t end = (uint64_t)begin + count;
    const uint32_t fit = VALUES_MAX / (task->count < VALUES_MAX / LANES ? task->count : VALUES_MAX / LANES) / LANES * LANES;
    const uint32_t whole = fit < BLOCK ? fit : BLOCK, needed = (uint32_t)((end - begin / LANES * LANES + LANES - 1) / LANES * LANES);
    const uint32_t size = needed < whole ? needed : whole;
    RF(known) known = {.task = *task};
    RF(memory) m;
    rf_status status = RF_OK;
    if (count == 0)
        return RF_OK;
    if (RF(memory_make)(&m, task->model->dim, task->count, size) < 0)
        return RF_REFUSED_ENGINE;
    for (uint64_t at = begin / LANES * LANES; at < end && status >= 0; at += size) {
        const uint64_t low = at < begin ? begin : at, high = at + size < end ? at + size : end;
        const unsigned lanes = (unsigned)((high - at + LANES - 1) / LANES * LANES);
        known.count = (uint32_t)(high - low);
        status = RF(ask)(task, (uint32_t)at, lanes, begin, count, known.count, &m);
        if (status >= 0)
            RF(judge_all)(&known, (uint32_t)at, lanes, &m, tally);
    }
    free(m.own);
    return status;
}

rf_status RF(any_run)(void *self, const RF(task) *task, uint32_t begin, uint32_t count, RF(tally) *tally)
{
    return task->model->block ? RF(block_run)(task, begin, count, tally) : RF(serial).run(self, task, begin, count, tally);
}
