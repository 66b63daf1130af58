/* The update: validate arguments, run attempts, turn their tally into the new Gaussian and a report. */

#include "core.h"
#include "triangle.h"

/* Refuses bad options and missing functions. */
static rf_status RF(options_check)(const RF(model) *model, const RF(options) *o, const RF(engine) *engine)
{
    const int has_block = RF_BLOCKS && model->block && engine && engine->run != RF(serial).run;
    if ((!model->likelihood && !has_block) || !o)
        return RF_REFUSED_NULL;
    if (o->attempts == 0 || o->attempts > RF_ATTEMPTS_MAX || o->batches_max == 0 || o->strict > 1)
        return RF_REFUSED_OPTIONS;
    if ((unsigned)o->sampler > RF_SAMPLER_LAST || (o->strict && o->sampler != RF_REJECT))
        return RF_REFUSED_OPTIONS;
    if (!(o->kappa >= RF_TINY && o->kappa <= RF_LIMIT))
        return RF_REFUSED_OPTIONS;
    if (!(o->recovery >= 0 && o->recovery <= RF_LIMIT) || !(o->hedge >= 0 && o->hedge <= RF_LIMIT) ||
        !(o->shrink >= 0 && o->shrink <= RF_LIMIT))
        return RF_REFUSED_OPTIONS;
    return RF_OK;
}

/* Refuses bad records. The options must be valid. */
static rf_status RF(records_check)(const RF(model) *model, const rf_real records[], uint32_t count, const RF(options) *o)
{
    if (count == 0)
        return RF_REFUSED_EVIDENCE;
    for (uint32_t k = 0; k < count; k++) {
        const rf_real *record = records + (size_t)k * (model->settings + 1u);
        for (unsigned i = 0; i <= model->settings; i++)
            if (!RF(is_finite)(record[i]))
                return RF_REFUSED_EVIDENCE;
        rf_real bound = RF(bound_of)(model, record, record[model->settings]);
        if (!RF(usable)(bound) || (!model->is_log && !(bound * o->kappa >= RF_TINY && bound * o->kappa <= RF_LIMIT)))
            return RF_REFUSED_EVIDENCE;
    }
    return RF_OK;
}

/* The number of accepted attempts; with weights, the expected number. */
RF_FN rf_real RF(accepted)(const RF(tally) *tally, rf_sampler sampler)
{
    if (RF_SAMPLER(sampler) == RF_WEIGHT)
        return (rf_real)tally->weight * (RF_C(1.0) / RF_WEIGHT_UNIT);
    return (rf_real)tally->count.accepted;
}

/* Runs batches of m attempts until enough are accepted. Returns the number of attempts, or the engine's negative status. */
RF_FN int32_t RF(gather)(const RF(task) *task, const RF(options) *o, const RF(engine) *engine, RF(tally) *tally)
{
    uint32_t attempts = 0, batches = 0;
    RF(tally_clear)(tally, RF_DIM(task->model->dim), task->update);
    do {
        const rf_status status = engine->run(engine->self, task, attempts, o->attempts, tally);
        if (status < 0)
            return status;
        attempts += o->attempts;
        batches++;
    } while (!o->strict && RF(accepted)(tally, o->sampler) < (rf_real)o->accepted_min && batches < o->batches_max &&
             attempts + o->attempts <= RF_ATTEMPTS_MAX);
    return (int32_t)attempts;
}

/* ---- Moments of the accepted attempts ---- */

typedef struct RF(centre) {
    int64_t whole; /* Σq/N rounded, in grid units */
    rf_real rest;  /* its rounding error, in grid units, |rest| ≤ ½ */
} RF(centre);

RF_FN RF(centre) RF(centre_of)(int64_t sum, uint32_t accepted)
{
    int64_t n = accepted, whole = (sum + (sum < 0 ? -n / 2 : n / 2)) / n;
    RF(centre) c = {whole, (rf_real)(sum - whole * n) / (rf_real)n};
    return c;
}

/* z̄ of parameter i. */
RF_FN rf_real RF(mean_z)(const RF(tally) *tally, rf_sampler sampler, unsigned i)
{
    const int64_t *z = (const int64_t *)(tally + 1);
    if (RF_SAMPLER(sampler) == RF_WEIGHT)
        return (rf_real)((double)z[i] / (double)tally->weight);
    RF(centre) c = RF(centre_of)(z[i], tally->count.accepted);
    return ((rf_real)c.whole + c.rest) * (RF_C(1.0) / RF_GRID);
}

/* Σ(z−z̄)(z−z̄)ᵀ element from the exact sums: centred on integers (in arithmetic modulo 2⁶⁴, exact
   because the result fits), then moved to the true mean. */
RF_FN rf_real RF(scatter)(const RF(tally) *tally, unsigned dim, rf_sampler sampler, unsigned i, unsigned j)
{
    const int64_t *z = (const int64_t *)(tally + 1), *zz = z + dim;
    if (RF_SAMPLER(sampler) == RF_WEIGHT) {
        double sum = (double)zz[RF(at)(i, j)] - (double)z[i] * (double)z[j] / (double)tally->weight;
        return (rf_real)(sum * (1.0 / RF_WEIGHT_UNIT));
    }
    uint32_t n = tally->count.accepted;
    RF(centre) a = RF(centre_of)(z[i], n), b = RF(centre_of)(z[j], n);
    uint64_t ca = (uint64_t)a.whole, cb = (uint64_t)b.whole;
    uint64_t centred = (uint64_t)zz[RF(at)(i, j)] - ca * (uint64_t)z[j] - cb * (uint64_t)z[i] + n * ca * cb;
    rf_real exact = (rf_real)(int64_t)centred - (rf_real)n * a.rest * b.rest;
    return exact * (RF_C(1.0) / ((rf_real)RF_GRID * (rf_real)RF_GRID));
}

/* ---- Periodic parameters ---- */

/* Is parameter p periodic, with a standard deviation above RF_WRAP_FROM periods? */
RF_FN int RF(is_wide)(const RF(filter) *filter, const RF(model) *model, unsigned p)
{
    const RF(chart) *chart = RF(chart_of)(model, p);
    return chart->kind == RF_PERIODIC && RF(filter_sd)(filter, p) > RF_WRAP_FROM * (chart->high - chart->low);
}

/* Is any parameter wide in this sense? */
static RF_APART int RF(is_wrapped)(const RF(filter) *filter, const RF(model) *model)
{
    for (unsigned p = 0; p < RF_DIM(model->dim); p++)
        if (RF(is_wide)(filter, model, p))
            return 1;
    return 0;
}

/* Prepares wide periodic parameters: clamps their width, removes their correlations so that each can be wrapped
   alone, and fills wrap. */
static void RF(wrap_prepare)(RF(filter) *filter, const RF(model) *model, rf_real *wrap)
{
    const unsigned dim = RF_DIM(model->dim);
    rf_real *l = RF(factor)(filter);
    for (unsigned p = 0; p < dim; p++) {
        wrap[2 * p] = wrap[2 * p + 1] = 0;
        if (!RF(is_wide)(filter, model, p))
            continue;
        const RF(chart) *chart = RF(chart_of)(model, p);
        rf_real period = chart->high - chart->low, sd = RF(min)(RF(filter_sd)(filter, p), RF_WRAP_WIDEST * period);
        if (dim > 1) {
            rf_real *v = RF(triangle_one)(filter); /* add column p below the diagonal to the remaining block */
            for (unsigned i = p + 1; i < dim; i++) {
                v[i] = l[RF(at)(i, p)];
                l[RF(at)(i, p)] = 0;
            }
            RF(triangle_add)(l, v, p + 1, dim);
        }
        RF(set_independent)(filter, p, RF(mean)(filter)[p], sd);
        wrap[2 * p] = period / sd;
        wrap[2 * p + 1] = RF_C(0.5);
    }
}

/* A wrapped parameter's interval can be cut opposite the mean (½) or at the mean (0). The right cut does not split the
   posterior, so its variance is smaller. Attempts are replayed, not stored. Returns the same as RF(gather). */
static int32_t RF(gather_wrapped)(const RF(task) *task, rf_real *wrap, rf_real *variance, const RF(options) *o,
                                   const RF(engine) *engine, RF(tally) *tally)
{
    const unsigned dim = RF_DIM(task->model->dim);
    int32_t attempts = RF(gather)(task, o, engine, tally);
    rf_real n = RF(accepted)(tally, o->sampler);
    if (attempts < 0 || n < 2)
        return attempts;
    for (unsigned p = 0; p < dim; p++) {
        variance[p] = RF(scatter)(tally, dim, o->sampler, p, p) / n;
        wrap[2 * p + 1] = 0;
    }
    attempts = RF(gather)(task, o, engine, tally);
    n = RF(accepted)(tally, o->sampler);
    int again = 0;
    for (unsigned p = 0; p < dim && attempts > 0; p++) {
        int opposite = wrap[2 * p] > 0 && (n < 2 || variance[p] <= RF(scatter)(tally, dim, o->sampler, p, p) / n);
        wrap[2 * p + 1] = opposite ? RF_C(0.5) : RF_C(0.0);
        again |= opposite;
    }
    return again ? RF(gather)(task, o, engine, tally) : attempts;
}

/* ---- Whitened points ---- */

/* The lattice's first m points have nearly mean 0 and covariance 1. Let q̄ and W·Wᵀ be the mean and the covariance of
   these points q. Candidates μ + L·W⁻¹·(q − q̄) then have exactly the Gaussian's mean and covariance, so only the
   likelihood changes the moments. To the attempts this is just another mean and factor, so every engine supports it. */

enum { WHITE_DIM = RF_DIM_MAX < RF_LATTICE_STRIDES ? RF_DIM_MAX : RF_LATTICE_STRIDES, /* most parameters that are whitened */
       WHITE_LEAST = 8,                                                              /* fewest points per parameter */
       WHITE_BLOCK = RF_WORKERS > 1 ? 4 : 64,
       WHITE_LINE = 128 }; /* points of one parameter at a time: so many follow each other in the table, wherever they begin */

/* Adds Σq and Σq² of at most WHITE_LINE points. */
RF_FN void RF(points_sum)(const int16_t *q, uint32_t count, int64_t *sum, int64_t *squares)
{
    uint32_t k = 0;
#if RF_WIDE_LANES > 1
    enum { STEP = 4 * RF_WIDE_LANES };
    rf_wide plain = rf_wide_set(0), all = plain, high = plain; /* two squares are below 2³¹: 64 bits hold two such sums */
    for (; k + STEP <= count; k += STEP) {
        const rf_wide v = rf_wide_load_shorts(q + k), two = rf_wide_dot(v, v);
        plain = rf_wide_add_dots(plain, rf_wide_dot(v, rf_wide_set(UINT64_C(0x0001000100010001))));
        all = rf_wide_add(all, two);
        high = rf_wide_add(high, rf_wide_high(two));
    }
    int32_t sums[2 * RF_WIDE_LANES];
    uint64_t alls[RF_WIDE_LANES], highs[RF_WIDE_LANES];
    __builtin_memcpy(sums, &plain, sizeof sums);
    __builtin_memcpy(alls, &all, sizeof alls);
    __builtin_memcpy(highs, &high, sizeof highs);
    for (unsigned lane = 0; lane < RF_WIDE_LANES; lane++) {
        *sum += sums[2 * lane] + sums[2 * lane + 1];
        *squares += (int64_t)(alls[lane] - (highs[lane] << 32) + highs[lane]);
    }
#endif
    for (; k < count; k++) {
        *sum += q[k];
        *squares += (int64_t)q[k] * q[k];
    }
}

#ifndef RF_LATTICE_ROW /* pointer to consecutive elements, beginning at index */
#define RF_LATTICE_ROW(index) (&RF_LATTICE_AT(index))
#endif

/* Σq and Σq² of one parameter's first n points. */
RF_FN void RF(line_sums)(uint32_t start, uint32_t n, int64_t *sum, int64_t *squares)
{
    for (uint32_t first = 0; first < n; first += WHITE_LINE)
        RF(points_sum)(RF_LATTICE_ROW((start + first) % RF_LATTICE_SIZE), n - first < WHITE_LINE ? n - first : WHITE_LINE, sum, squares);
}

/* Σq and Σqqᵀ over the first n points. */
RF_FN void RF(lattice_sums)(const RF(task) *task, unsigned dim, uint32_t n, int64_t *z, int64_t *zz)
{
    int16_t q[WHITE_DIM][WHITE_BLOCK];
    uint32_t start[WHITE_DIM];
    rf_words w = {{0}};
    for (unsigned d = 0; d < dim; d++) {
        if (d % 4 == 0)
            w = rf_draw(task->seed, task->update, 0, d / 4, RF_FOR_LATTICE);
        start[d] = w.word[d % 4];
        z[d] = 0;
        for (unsigned j = 0; j <= d; j++)
            zz[RF(at)(d, j)] = 0;
    }
#ifdef RF_LATTICE_LINE /* fast path for one parameter */
    if (dim == 1) {
        RF_LATTICE_LINE(start[0], n, z, zz);
        return;
    }
#elif RF_WIDE_LANES > 1
    if (dim == 1) {
        RF(line_sums)(start[0], n, z, zz);
        return;
    }
#endif
    for (uint32_t first = RF_WORKER * WHITE_BLOCK; first < n; first += RF_WORKERS * WHITE_BLOCK) {
        const uint32_t count = n - first < WHITE_BLOCK ? n - first : WHITE_BLOCK;
        const int16_t *in_order = RF_LATTICE_ROW((start[0] + first) % RF_LATTICE_SIZE); /* stride 1: the table's start is repeated past its end */
        for (unsigned d = 0; d < dim; d++) {
            const uint32_t stride = rf_lattice_stride[d], begin = start[d] + first * stride;
            for (uint32_t k = 0; k < count && d > 0; k++)
                q[d][k] = (int16_t)RF_LATTICE_AT((begin + k * stride) % RF_LATTICE_SIZE);
            RF(points_sum)(d == 0 ? in_order : q[d], count, &z[d], &zz[RF(at)(d, d)]);
            for (unsigned j = 0; j < d; j++) {
                const int16_t *other = j == 0 ? in_order : q[j];
                int64_t product = 0;
                for (uint32_t k = 0; k < count; k++)
                    product += q[d][k] * other[k];
                zz[RF(at)(d, j)] += product;
            }
        }
    }
    RF_WORKERS_SUM(z, dim);
    RF_WORKERS_SUM(zz, RF_TRIANGLE(dim));
}

/* Whitens the task's n candidates of `dim` parameters. `one`: room for one parameter's factor, mean and q̄; more parameters use the
   workspace, in the same order. */
RF_FN void RF(whiten_for)(unsigned dim, RF(filter) *filter, RF(task) *task, uint32_t n, rf_real *one)
{
    int64_t z[WHITE_DIM], zz[RF_TRIANGLE(WHITE_DIM)];
    if (n < WHITE_LEAST * dim || n > RF_LATTICE_SIZE)
        return;
    rf_real unit[1], *w = dim > 1 ? RF(triangle_one)(filter) : unit, *a = dim > 1 ? RF(triangle_two)(filter) : one;
    rf_real *base = dim > 1 ? RF(vectors)(filter) : one + 1, *off = base + dim;
    const rf_real *rest = RF(rests)(filter, &task->rest), scale = RF_C(1.0) / ((rf_real)n * RF_GRID);
    RF(lattice_sums)(task, dim, n, z, zz);
    for (unsigned i = 0; i < dim; i++) {
        off[i] = (rf_real)z[i] * scale;
        for (unsigned j = 0; j <= i; j++)
            w[RF(at)(i, j)] = (rf_real)((int64_t)n * zz[RF(at)(i, j)] - z[i] * z[j]) * scale * scale;
    }
    if (RF(triangle_cholesky)(w, dim, RF_C(0.0625)))
        return;
    for (unsigned i = 0; i < dim; i++) { /* A·W = L, by rows from their ends */
        rf_real move = 0;
        for (unsigned j = i + 1; j-- > 0;) {
            rf_real left = task->factor[RF(at)(i, j)];
            for (unsigned k = j + 1; k <= i; k++)
                left -= a[RF(at)(i, k)] * w[RF(at)(k, j)];
            a[RF(at)(i, j)] = left / w[RF(at)(j, j)];
            move += a[RF(at)(i, j)] * off[j];
        }
        base[i] = task->mean[i] + (rest[i] - move);
    }
    task->mean = base;
    task->factor = a;
}

/* Where code may be large, one parameter has its own, without loops. */
static RF_APART void RF(whiten)(RF(filter) *filter, RF(task) *task, uint32_t n, rf_real *one)
{
    const unsigned dim = RF_DIM(task->model->dim);
    if (RF_WIDE_LANES > 1 && dim == 1)
        RF(whiten_for)(1, filter, task, n, one);
    else
        RF(whiten_for)(dim, filter, task, n, one);
}

/* As RF(gather), with whitened candidates. If too few are accepted, doubles the number of candidates and whitens again.
   On entry the task's candidates must be whitened. */
static RF_APART int32_t RF(gather_white)(RF(filter) *filter, RF(task) *task, const RF(options) *o, const RF(engine) *engine, rf_real *one)
{
    const uint32_t fit = RF_ATTEMPTS_MAX / o->attempts, max = o->attempts * (o->batches_max < fit ? o->batches_max : fit);
    RF(tally) *tally = &filter->tally;
    for (uint32_t n = o->attempts;; n = n > max / 2 ? max : 2 * n) {
        if (n > o->attempts) {
            task->mean = RF(mean)(filter);
            task->factor = RF(factor)(filter);
            RF(whiten)(filter, task, n, one);
        }
        RF(tally_clear)(tally, RF_DIM(task->model->dim), task->update);
        const rf_status status = engine->run(engine->self, task, 0, n, tally);
        if (status < 0)
            return status;
        if (n == max || RF(accepted)(tally, o->sampler) >= (rf_real)o->accepted_min)
            return (int32_t)n;
    }
}

/* The Kullback-Leibler divergence of the posterior from the Gaussian N(μ′, F·Fᵀ), μ′ = μ + move: the mean of ln(likelihood/evidence)
   minus the Gaussian's divergence from the prior N(μ, L·Lᵀ). y: room for a triangle. Overwrites move. */
RF_FN rf_real RF(loss_for)(unsigned dim, const RF(tally) *tally, uint32_t attempts, const rf_real *l, const rf_real *f, rf_real *move, rf_real *y)
{
    const double weight = (double)tally->weight;
    rf_real squares = 0, size = 0;
    for (unsigned i = 0; i < dim; i++) { /* y = L⁻¹·F, and L⁻¹·move */
        const rf_real *row = l + RF_TRIANGLE(i);
        for (unsigned j = 0; j <= i; j++) {
            rf_real left = f[RF(at)(i, j)];
            for (unsigned k = j; k < i; k++)
                left -= row[k] * y[RF(at)(k, j)];
            y[RF(at)(i, j)] = left / row[i];
            squares += y[RF(at)(i, j)] * y[RF(at)(i, j)];
        }
        for (unsigned k = 0; k < i; k++)
            move[i] -= row[k] * move[k];
        move[i] /= row[i];
        squares += move[i] * move[i];
        size += RF(log)(y[RF(at)(i, i)]);
    }
    const rf_real gained = RF(log)((rf_real)((double)attempts * RF_WEIGHT_UNIT / weight)) - (rf_real)((double)tally->entropy / weight);
    return RF(max)(gained - RF_C(0.5) * (squares - (rf_real)dim) + size, 0);
}

static RF_APART rf_real RF(loss_of)(unsigned dim, const RF(tally) *tally, uint32_t attempts, const rf_real *l, const rf_real *f, rf_real *move,
                                    rf_real *y)
{
    return RF(loss_for)(dim, tally, attempts, l, f, move, y);
}

/* ---- The new Gaussian ---- */

/* μ ← μ + F·(z̄ − q̄), F the factor of the candidates; q̄: null means 0. Rounding errors go to `rest`. If q̄ is given,
   z ← the move. */
RF_FN void RF(move_mean)(const RF(tally) *tally, unsigned dim, const RF(task) *task, const rf_real *off, rf_real *mean, rf_real *rest, rf_real *z)
{
    for (unsigned i = 0; i < dim; i++)
        z[i] = RF(mean_z)(tally, task->sampler, i) - (off ? off[i] : 0);
    for (unsigned i = dim; i-- > 0;) {
        const rf_real *row = task->factor + RF_TRIANGLE(i);
        const RF(chart) *chart = RF(chart_of)(task->model, i);
        rf_real move = 0, moved = mean[i];
        for (unsigned j = 0; j <= i; j++)
            move += row[j] * z[j];
        if (off)
            z[i] = move;
        rest[i] = RF(add_rounded)(&moved, move + rest[i]);
        if (chart->kind == RF_PERIODIC)
            moved = RF(natural)(chart, moved);
        mean[i] = RF(min)(RF(max)(moved, -RF_LIMIT), RF_LIMIT);
    }
}

/* F ← F·chol(C), C the covariance of the accepted z. Returns a note. */
RF_FN rf_status RF(reshape)(const RF(tally) *tally, unsigned dim, const RF(task) *task, const RF(options) *o, rf_real *factor, rf_real *c)
{
    rf_real n = RF(accepted)(tally, task->sampler);
    rf_real nu = o->strict ? 0 : o->shrink;
    /* z̄ of independent draws has a sampling error, hence n − 1 and 1 + 1/n; on a lattice it is negligible */
    rf_real scale = o->strict ? RF_C(1.0) / (n - 1) : RF_SAMPLER(o->sampler) == RF_REJECT ? (1 + 1 / n) / (n - 1 + nu) : 1 / (n + nu);
    for (unsigned i = 0; i < dim; i++) {
        for (unsigned j = 0; j <= i; j++)
            c[RF(at)(i, j)] = RF(scatter)(tally, dim, task->sampler, i, j) * scale;
        rf_real period = task->wrap ? task->wrap[2 * i] : 0; /* a wrapped variance is at most that of a uniform period */
        c[RF(at)(i, i)] += scale * nu * (period > 0 ? RF(min)(1, period * period / 12) : 1);
    }
    const rf_real least = RF_C(1.0) / ((rf_real)RF_GRID * (rf_real)RF_GRID);
    unsigned raised = RF(triangle_cholesky)(c, dim, least);
    RF(triangle_multiply)(factor, c, dim);
    return RF(triangle_clamp)(factor, dim) | (raised ? RF_NOTE_CLAMPED : RF_OK);
}

/* The smallest representable standard deviation at y: slightly more than the spacing of numbers there, in the chart or in natural
   values, whichever is coarser. */
RF_FN rf_real RF(least_sd)(const RF(chart) *chart, rf_real y)
{
    rf_real natural = chart->kind == RF_POSITIVE; /* the spacing of x over dx/dy, in units of RF_EPSILON */
    if (chart->kind == RF_BOUNDED) {
        rf_real x = RF(chart_natural)(chart, y);
        natural = RF(min)((RF(abs)(x) + (x - chart->low)) / RF(bounded_slope)(chart, y), RF_C(0.5) / RF_EPSILON);
    }
    return RF_C(1.01) * RF_EPSILON * RF(max)(RF(abs)(y), natural);
}

/* Raises standard deviations to RF(least_sd). Returns a note. */
RF_FN rf_status RF(hold_sd)(const RF(filter) *filter, const RF(model) *model, unsigned dim, const rf_real *mean, rf_real *factor)
{
    rf_status note = RF_OK;
    for (unsigned i = 0; i < dim; i++) {
        rf_real least = RF(least_sd)(RF(chart_of)(model, i), mean[i]), sd = dim > 1 ? RF(filter_sd)(filter, i) : factor[0];
        if (!(sd < least))
            continue;
        note = RF_NOTE_COARSE;
        for (unsigned j = 0; j <= i; j++)
            factor[RF(at)(i, j)] *= least / sd;
    }
    return note;
}

/* ---- Report ---- */

/* The controller: keeps the share of probability above κ between 1 % and 5 %. */
RF_FN rf_real RF(kappa_next)(rf_real kappa, rf_real delta, rf_real largest)
{
    rf_real next = kappa;
    if (delta > RF_C(0.05))
        next = RF(min)(kappa * RF_C(1.3), largest);
    else if (delta < RF_C(0.01))
        next = kappa * RF_C(0.93);
    return RF(min)(RF(max)(next, RF_TINY), RF_LIMIT);
}

/* ln v; fast for the most common v, 1. */
RF_FN rf_real RF(log_of)(rf_real v) { return v == 1 ? RF_C(0.0) : RF(log)(v); }

/* Not inlined, like those below, so that their stack frames do not add up. */
static RF_APART void RF(report_fill)(RF(report) *r, rf_status status, const RF(task) *task, const RF(tally) *tally, uint32_t attempts, rf_real hedge)
{
    r->status = status;
    const RF(model) *model = task->model;
    const int is_weighted = RF_SAMPLER(task->sampler) == RF_WEIGHT;
    rf_real accepted = RF(accepted)(tally, task->sampler), over = (rf_real)tally->over * (RF_C(1.0) / RF_OVER_UNIT);
    r->update = task->update;
    r->attempts = attempts;
    r->accepted = (uint32_t)accepted;
    r->above = is_weighted ? 0 : tally->count.above;
    r->nan = tally->nan;
    r->negative = tally->negative;
    r->infinite = tally->infinite;
    r->acceptance = accepted / (rf_real)attempts;
    r->kappa = task->kappa;
    r->largest = RF(min)(tally->largest * task->kappa, RF_LIMIT * RF_LIMIT);
    if (is_weighted) /* as if all weights were cut as much as the largest */
        r->delta = tally->largest > 1 ? 1 - 1 / tally->largest : 0;
    else
        r->delta = over > 0 ? over / (accepted + over) : 0;
    r->kappa_next = task->count > 1 ? 1 : RF(kappa_next)(task->kappa, r->delta, r->largest); /* a batch finds its κ */

    rf_real log_kappa = 0;
    for (uint32_t k = 0; k < task->count; k++) {
        const rf_real *record = task->records + (size_t)k * (model->settings + 1u);
        rf_real bound = RF(bound_of)(model, record, record[model->settings]);
        log_kappa += model->is_log ? bound : RF(log_of)(bound);
    }
    log_kappa += RF(log_of)(task->kappa);
    /* without a hedge, count zero acceptances as one half: the evidence is never exactly zero */
    rf_real hits = RF(max)(accepted + hedge, RF_C(0.5)), tries = (rf_real)attempts + 2 * hedge;
    r->log_evidence = log_kappa + RF(log)(hits / tries);
    r->log_evidence_variance = RF(max)(1 / hits - 1 / tries, 0);
}

void RF(evidence_add)(RF(evidence) *evidence, const RF(report) *report)
{
    evidence->carry = RF(add_rounded)(&evidence->log, report->log_evidence + evidence->carry);
    evidence->variance_carry = RF(add_rounded)(&evidence->variance, report->log_evidence_variance + evidence->variance_carry);
}

enum { FEW_BELOW = 16384 }; /* with so many attempts the error is small for thousands of records; the smallest firmware has never so many */

/* Is the move of the mean, Σz̄² in units of the prior, below four times its expected square for a constant likelihood? Then most of it
   may be sampling error, which adds up over records. Whitened attempts have none in that case. */
RF_FN int RF(is_noise)(const rf_real *z, unsigned dim, rf_real accepted)
{
    rf_real squares = 0;
    for (unsigned i = 0; i < dim; i++)
        squares += z[i] * z[i];
    return accepted * squares - 4 * (rf_real)dim < 0;
}

/* After the attempts: turns the tally into the new Gaussian of `dim` parameters. */
RF_FN rf_status RF(conclude_for)(unsigned dim, RF(filter) *filter, RF(task) *task, const RF(options) *options, uint32_t attempts, rf_real *loss)
{
    RF(tally) *tally = &filter->tally;
    rf_real one[2], *mean = RF(mean)(filter), *rest = RF(rests)(filter, &task->rest); /* one: for one parameter; more use the workspace */
    rf_real *c = dim > 1 ? RF(triangle_one)(filter) : &one[0], *z = dim > 1 ? RF(vectors)(filter) + 2 * dim : &one[1];
    rf_real *factor = (rf_real *)(uintptr_t)task->factor; /* the filter's, or the whitened one that replaces it */
    const int is_white = RF_SAMPLER_LAST == RF_WEIGHT && task->mean != mean;
    rf_real accepted = RF(accepted)(tally, task->sampler);
    rf_status status = RF_OK;
    status |= tally->largest > 1 ? RF_NOTE_ABOVE : 0;
    status |= !options->strict && accepted < (rf_real)options->accepted_min ? RF_NOTE_SHORT : 0;
    if (accepted < (options->strict ? 1 : 2)) {
        status |= RF_NOTE_WIDENED | RF(widen)(filter, 1 + options->recovery);
    } else {
        RF(move_mean)(tally, dim, task, is_white ? task->mean + dim : 0, mean, rest, z);
        status |= !is_white && !(RF_SAMPLER_LAST == RF_WEIGHT && attempts >= FEW_BELOW) && RF(is_noise)(z, dim, accepted) ? RF_NOTE_FEW : 0;
        status |= accepted < 2 ? RF_NOTE_SINGLE : RF(reshape)(tally, dim, task, options, factor, c);
        if (is_white && !task->no_loss) /* the entropy sum then covers all attempts, at most RF_LATTICE_SIZE */
            *loss = (RF_WIDE_LANES > 1 && dim == 1 ? RF(loss_for) : RF(loss_of))(dim, tally, attempts, mean + dim, factor, z, c);
        for (size_t i = 0; i < RF_TRIANGLE(dim) && is_white; i++)
            mean[dim + i] = factor[i];
    }
    const uint32_t bad = (uint32_t)tally->nan + tally->negative + tally->infinite; /* each count ends at 65,535 */
    if (bad) { /* if they are most of the attempts, they are why nothing was learnt */
        const int is_most = 2 * bad > attempts || (RF_SAMPLER_LAST == RF_WEIGHT && bad >= 65535);
        const rf_status few = status & (RF_NOTE_WIDENED | RF_NOTE_SHORT);
        status += RF_NOTE_BAD + (is_most && few & RF_NOTE_WIDENED ? RF_NOTE_BROKEN - few : 0);
    }
    status |= RF(hold_sd)(filter, task->model, dim, mean, mean + dim);
    RF(rests_put)(filter, dim, rest);
    tally->update++;
    return status;
}

/* If code size does not matter (RF_WIDE_LANES > 1), one parameter gets a copy of its own, without loops. */
static RF_APART rf_status RF(conclude)(RF(filter) *filter, RF(task) *task, const RF(options) *options, uint32_t attempts, rf_real *loss)
{
    const unsigned dim = RF_DIM(task->model->dim);
    if (RF_WIDE_LANES > 1 && dim == 1)
        return RF(conclude_for)(1, filter, task, options, attempts, loss);
    return RF(conclude_for)(dim, filter, task, options, attempts, loss);
}

RF_FN rf_status RF(finish)(RF(filter) *filter, RF(task) *task, const RF(options) *options, int32_t attempts, RF(report) *report)
{
    rf_real loss = 0;
    rf_status status = RF(conclude)(filter, task, options, (uint32_t)attempts, &loss);
    if (report) {
        RF(report_fill)(report, status, task, &filter->tally, (uint32_t)attempts, options->hedge);
        report->loss = loss;
    }
    return status;
}

/* For several records the product of the bounds is far too high. A dry run of the first batch finds the largest product
   of their likelihoods; κ is lowered to it. Returns the engine's status. */
static RF_APART rf_status RF(lower_kappa)(RF(task) *task, const RF(options) *o, const RF(engine) *engine, RF(tally) *tally)
{
    RF(tally_clear)(tally, RF_DIM(task->model->dim), task->update);
    const rf_status status = engine->run(engine->self, task, 0, o->attempts, tally);
    if (status >= 0 && tally->largest > 0 && tally->largest < 1)
        task->kappa = RF(max)(task->kappa * RF(min)(tally->largest * RF_C(1.000001), 1), RF_TINY); /* not above by rounding */
    return status;
}

/* After an engine failure: restores the filter. */
static RF_APART void RF(update_failed)(RF(filter) *filter, RF(task) *task)
{
    const unsigned dim = RF_DIM(filter->tally.dim);
    RF(tally_clear)(&filter->tally, dim, task->update);
    RF(rests_put)(filter, dim, RF(rests)(filter, &task->rest));
}

/* The update for wrapped parameters. */
static RF_APART rf_status RF(update_wrapped)(RF(filter) *filter, RF(task) *task, const RF(options) *options, const RF(engine) *engine,
                                             RF(report) *report)
{
    const unsigned dim = RF_DIM(task->model->dim);
    rf_real one[4]; /* for one parameter; more use the workspace */
    rf_real *saved = dim > 1 ? RF(triangle_two)(filter) : &one[0];
    rf_real *wrap = dim > 1 ? RF(vectors)(filter) : &one[1];
    rf_real *variance = dim > 1 ? wrap + 2 * dim : &one[3];
    for (size_t i = 0; i < RF_TRIANGLE(dim); i++)
        saved[i] = task->factor[i];
    RF(wrap_prepare)(filter, task->model, wrap);
    task->wrap = wrap;
    const int32_t attempts = RF(gather_wrapped)(task, wrap, variance, options, engine, &filter->tally);
    if (attempts >= 0)
        return RF(finish)(filter, task, options, attempts, report);
    for (size_t i = 0; i < RF_TRIANGLE(dim); i++)
        RF(factor)(filter)[i] = saved[i];
    return attempts;
}

/* An update with valid arguments. Only the attempts are inlined here, which keeps the stack small. */
RF_FN rf_status RF(update_checked)(RF(filter) *filter, const RF(model) *model, const rf_real records[], uint32_t count,
                                   const RF(options) *options, const RF(engine) *engine, RF(report) *report)
{
    RF(tally) *tally = &filter->tally;
    const RF(engine) *runner = engine ? engine : &RF(serial);
    rf_real one[3];
    RF(task) task = {.model = model,
                     .mean = RF(mean)(filter),
                     .factor = RF(factor)(filter),
                     .records = records,
                     .seed = filter->seed,
                     .count = count,
                     .update = tally->update,
                     .sampler = options->sampler,
                     .kappa = options->kappa,
                     .no_loss = !report};
    const int is_wrapped = RF(is_wrapped)(filter, model);
    RF(rests_take)(filter, &task.rest);
    const int is_white = RF_SAMPLER(options->sampler) == RF_WEIGHT && RF_DIM(model->dim) <= WHITE_DIM && !is_wrapped;
    if (is_white)
        RF(whiten)(filter, &task, options->attempts, one);
    rf_status status = count > 1 && !options->strict ? RF(lower_kappa)(&task, options, runner, tally) : RF_OK;
    if (status >= 0 && is_wrapped) {
        status = RF(update_wrapped)(filter, &task, options, runner, report);
    } else if (status >= 0) {
        const int32_t attempts = is_white ? RF(gather_white)(filter, &task, options, runner, one) : RF(gather)(&task, options, runner, tally);
        status = attempts < 0 ? attempts : RF(finish)(filter, &task, options, attempts, report);
    }
    if (status < 0)
        RF(update_failed)(filter, &task);
    return status;
}

rf_status RF(update)(RF(filter) *filter, const RF(model) *model, const rf_real records[], uint32_t count,
                     const RF(options) *options, const RF(engine) *engine, RF(report) *report)
{
    rf_status status = RF(charts_check)(filter, model);
    if (status < 0)
        return status;
    if (!records)
        return RF_REFUSED_NULL;
    if (filter->tally.update == 0xffffffffu)
        return RF_REFUSED_USED_UP;
    status = RF(options_check)(model, options, engine);
    if (status < 0)
        return status;
    status = RF(records_check)(model, records, count, options);
    return status < 0 ? status : RF(update_checked)(filter, model, records, count, options, engine, report);
}
