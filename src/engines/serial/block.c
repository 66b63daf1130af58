/* Attempts of a model with a block function, for one precision and one target: RF_PRECISION, RF_KERNEL_TARGET, and the
   compiler's flags for it. Draws and places a block, calls the function once per record, then judges the attempts. */
#include "serial.h"

#include <stdlib.h>
#include <string.h>

#include "rejfilt/detail/chart.h"

enum {
    PAIRS = 64,
    LANES = 2 * PAIRS,
    BLOCK = 64 * LANES,       /* most attempts per block; larger blocks do not make calls cheaper */
    VALUES_MAX = 1024 * LANES, /* most likelihoods per block: many records mean fewer attempts */
    SMALL = 16384             /* bytes kept on the stack */
};

#define RF_KERNEL_PAIRS 64u
#define RF_KERNEL_DIM_MAX 1u
#define RF_KERNEL_BOUND(setting, outcome) RF(bound_of)(task->model, setting, outcome)
#define RF_KERNEL_KNOWN(task, k, lane) ((size_t)(k) * LANES + (lane))
#define RF_KERNEL RF(block)
#define RF_KERNEL_IS_LOG 0
#include "rejfilt/detail/attempts.h"
#undef RF_KERNEL
#undef RF_KERNEL_IS_LOG
#define RF_KERNEL RF(block_logs)
#define RF_KERNEL_IS_LOG 1
#include "rejfilt/detail/attempts.h"

/* The parts of one allocation, each aligned to cache lines. */
typedef struct RF(memory) {
    rf_real *lanes;      /* [dim or records][LANES] */
    rf_real *x, *values; /* [dim][candidates], [records][candidates] */
    int32_t *q;          /* [lanes / LANES][dim][LANES] */
    float *u;            /* [lanes] */
} RF(memory);

static size_t lines(size_t bytes) { return (bytes + 63) / 64 * 64; }

/* Lays out an allocation; a null `memory` only computes the size. Returns the size. */
static size_t RF(memory_part)(RF(memory) *m, unsigned char *memory, unsigned dim, uint32_t records, size_t lanes)
{
    const size_t own = lines((dim > records ? dim : records) * LANES * sizeof(rf_real)), x = lines(dim * lanes * sizeof(rf_real));
    const size_t values = lines(records * lanes * sizeof(rf_real)), q = lines(dim * lanes * sizeof(int32_t)), u = lines(lanes * sizeof(float));
    if (memory) {
        m->lanes = (rf_real *)(void *)memory;
        m->x = (rf_real *)(void *)(memory + own);
        m->values = (rf_real *)(void *)(memory + own + x);
        m->q = (int32_t *)(void *)(memory + own + x + values);
        m->u = (float *)(void *)(memory + own + x + values + q);
    }
    return own + x + values + q + u;
}

/* Which of the LANES lanes from attempt `at` on are in [begin, end): lanes from[0] to to[0], then from[1] to to[1]. */
typedef struct RF(inside) {
    uint32_t from[2], to[2];
} RF(inside);

static RF(inside) RF(inside_of)(rf_sampler sampler, uint64_t at, uint64_t begin, uint64_t end)
{
    const uint32_t low = begin > at ? (uint32_t)(begin - at) : 0, high = end - at < LANES ? (uint32_t)(end - at) : LANES;
    const RF(inside) in_order = {{low, 0}, {high, 0}}, paired = {{(low + 1) / 2, PAIRS + low / 2}, {(high + 1) / 2, PAIRS + high / 2}};
    return sampler == RF_REJECT ? paired : in_order;
}

/* Draws all lanes from attempt `at` on, places the `candidates` lanes in [begin, end), and calls the model. */
RF_FN rf_status RF(ask)(const RF(task) *task, unsigned dim, uint64_t at, unsigned lanes, uint64_t begin, uint64_t end, uint32_t candidates,
                        const RF(memory) *m)
{
    const RF(model) *model = task->model;
    rf_lattice_start start = {~UINT32_C(0), {{0, 0, 0, 0}}};
    rf_real *placed = m->x;
    for (unsigned first = 0; first < lanes; first += LANES) {
        const uint32_t pair = (uint32_t)((at + first) / 2);
        const RF(inside) in = RF(inside_of)(task->sampler, at + first, begin, end);
        int32_t *q = m->q + (size_t)first * dim;
        float *u = m->u + first;
        if (task->sampler == RF_REJECT)
            RF(block_draw)(task, dim, pair, q, u);
        else
            RF(block_draw_lattice)(task, dim, pair, &start, q, u);
        if (task->wrap)
            RF(block_wrap)(task->wrap, dim, q);
        RF(block_place)(task, dim, q, m->lanes);
        for (unsigned part = 0; part < 2; part++) {
            const size_t count = in.to[part] - in.from[part];
            for (unsigned i = 0; i < dim; i++)
                memcpy(placed + (size_t)i * candidates, m->lanes + i * LANES + in.from[part], count * sizeof(rf_real));
            placed += count;
        }
    }
    for (uint32_t k = 0; k < task->count; k++) {
        const rf_real *setting = task->records + (size_t)k * (model->settings + 1u);
        if (model->block(m->x, candidates, setting, setting[model->settings], m->values + (size_t)k * candidates, model->data) < 0)
            return RF_REFUSED_MODEL;
    }
    return RF_OK;
}

RF_FN void RF(judge_all)(const RF(task) *task, unsigned dim, uint64_t at, unsigned lanes, uint64_t begin, uint64_t end, uint32_t candidates,
                         const RF(memory) *m, RF(tally) *tally)
{
    const rf_real *next = m->values;
    for (unsigned first = 0; first < lanes; first += LANES) {
        const RF(inside) in = RF(inside_of)(task->sampler, at + first, begin, end);
        const uint32_t sizes[2] = {in.to[0] - in.from[0], in.to[1] - in.from[1]};
        const int whole = sizes[0] + sizes[1] == LANES;
        rf_real accept[LANES];
        int32_t *q = m->q + (size_t)first * dim;
        float *u = m->u + first;
        if (!whole) {
            RF(block_mark_outside)(task->sampler, (uint32_t)((at + first) / 2), (uint32_t)begin, (uint32_t)(end - begin), u);
            memset(m->lanes, 0, task->count * LANES * sizeof(rf_real));
        }
        for (uint32_t k = 0; k < task->count; k++) {
            rf_real *own = m->lanes + (size_t)k * LANES;
            const rf_real *values = next + (size_t)k * candidates;
            memcpy(own + in.from[0], values, sizes[0] * sizeof(rf_real));
            memcpy(own + in.from[1], values + sizes[0], sizes[1] * sizeof(rf_real));
        }
        next += sizes[0] + sizes[1];
        if (task->model->is_log) {
            if (RF(block_logs_judge)(task, dim, m->lanes, u, whole, accept, tally))
                RF(block_logs_look_closer)(task, dim, m->lanes, u, accept, tally);
        } else if (RF(block_judge)(task, dim, m->lanes, u, whole, accept, tally)) {
            RF(block_look_closer)(task, dim, m->lanes, u, accept, tally);
        }
        if (task->sampler == RF_WEIGHT)
            RF(block_add_weighted)(task, dim, (uint32_t)(at + first), q, accept, tally);
        else
            RF(block_add_accepted)(dim, q, u, accept, tally);
    }
}

/* One block. One parameter has its own code, without loops over parameters. */
static rf_status RF(block_work)(const RF(task) *task, uint64_t at, unsigned lanes, uint64_t begin, uint64_t end, uint32_t candidates,
                                const RF(memory) *m, RF(tally) *tally)
{
    const unsigned dim = task->model->dim;
    const rf_status status = dim == 1 ? RF(ask)(task, 1, at, lanes, begin, end, candidates, m) : RF(ask)(task, dim, at, lanes, begin, end, candidates, m);
    if (status >= 0 && dim == 1)
        RF(judge_all)(task, 1, at, lanes, begin, end, candidates, m, tally);
    else if (status >= 0)
        RF(judge_all)(task, dim, at, lanes, begin, end, candidates, m, tally);
    return status;
}

#define RF_BLOCK_RUN_(target) RF(block_run_##target)
#define RF_BLOCK_RUN(target) RF_BLOCK_RUN_(target)
RF(run) RF_BLOCK_RUN(RF_KERNEL_TARGET);

rf_status RF_BLOCK_RUN(RF_KERNEL_TARGET)(void *self, const RF(task) *task, uint32_t begin, uint32_t count, RF(tally) *tally)
{
    const uint64_t end = (uint64_t)begin + count;
    const uint32_t fit = VALUES_MAX / (task->count < VALUES_MAX / LANES ? task->count : VALUES_MAX / LANES) / LANES * LANES;
    const uint32_t whole = fit < BLOCK ? fit : BLOCK, needed = (uint32_t)((end - begin / LANES * LANES + LANES - 1) / LANES * LANES);
    const uint32_t size = needed < whole ? needed : whole;
    _Alignas(64) unsigned char small[SMALL];
    RF(memory) m;
    rf_status status = RF_OK;
    (void)self;
    if (count == 0)
        return RF_OK;
    const size_t bytes = RF(memory_part)(&m, NULL, task->model->dim, task->count, size);
    unsigned char *memory = bytes <= SMALL ? small : aligned_alloc(64, bytes);
    if (!memory)
        return RF_REFUSED_ENGINE;
    RF(memory_part)(&m, memory, task->model->dim, task->count, size);
    for (uint64_t at = begin / LANES * LANES; at < end && status >= 0; at += size) {
        const uint64_t low = at < begin ? begin : at, high = at + size < end ? at + size : end;
        const unsigned lanes = (unsigned)((high - at + LANES - 1) / LANES * LANES);
        status = RF(block_work)(task, at, lanes, begin, end, (uint32_t)(high - low), &m, tally);
    }
    if (memory != small)
        free(memory);
    return status;
}
