/* The attempts of an update: the loop at the heart of the project, written once.

   Include it, in a file with RF_PRECISION set, with all of these or none, which makes the serial engine's:
     RF_KERNEL             the name of the function it defines, an RF(run)
     RF_KERNEL_PAIRS       pairs of attempts run side by side: 1, or 16, 32, 64 for vector lanes
     RF_KERNEL_DIM         the number of parameters: a constant, or `model->dim`
     RF_KERNEL_DIM_MAX     its maximum: work for so many is on the stack; 1: more use the tally's
     RF_KERNEL_IS_LOG      likewise, whether the model returns logarithms
     RF_KERNEL_LIKELIHOOD  the likelihood function, inlined where it can be
     RF_KERNEL_BOUND       the bound as a function of (setting, outcome)
     RF_KERNEL_WORKER, RF_KERNEL_WORKERS
                           optional: this worker's number and how many there are; worker w runs blocks w, w + count, ...
     RF_KERNEL_PLAIN       optional: a fast path for the most common case: 0 none, 1 for rejection, 2 for weights too
     RF_KERNEL_ENTROPY     optional, 0: leaves out the sum for the loss
   or, to reuse the stages with likelihoods that are known already, instead of RF_KERNEL_LIKELIHOOD
     RF_KERNEL_KNOWN       where in x the likelihood is, as a function of (task, record, lane)

   Attempts 2k and 2k+1 use the words of element k: words 2d and 2d+1 make the normals of parameter
   d for both, the two words after those decide acceptance. An attempt's numbers depend on its index
   alone, never on the range or on what runs beside it, and every sum is exact. So all engines agree
   to the bit, given that the compiler does not contract a·b + c (-ffp-contract=off). */

#include "steps.h"

#ifndef RF_KERNEL /* the serial engine: one pair after the other, through the model's function pointer */
#define RF_KERNEL RF(serial_run)
#define RF_KERNEL_PAIRS 1u
#define RF_KERNEL_DIM RF_DIM(model->dim)
#define RF_KERNEL_DIM_MAX 1u
#define RF_KERNEL_IS_LOG (task->model->is_log)
#define RF_KERNEL_LIKELIHOOD task->model->likelihood
#define RF_KERNEL_BOUND(setting, outcome) RF(bound_of)(task->model, setting, outcome)
#endif

#ifndef RF_KERNEL_WORKERS
#define RF_KERNEL_WORKER 0u
#define RF_KERNEL_WORKERS 1u
#endif
#ifndef RF_KERNEL_PLAIN
#define RF_KERNEL_PLAIN (RF_KERNEL_PAIRS > 1)
#endif
#ifndef RF_KERNEL_ENTROPY
#define RF_KERNEL_ENTROPY 1
#endif

#define RF_KERNEL_LANES (2 * RF_KERNEL_PAIRS)
#if RF_KERNEL_PAIRS > 1
#define RF_KERNEL_UNROLL RF_UNROLL(4) /* loops over lanes are small */
#else
#define RF_KERNEL_UNROLL
#endif
#if RF_KERNEL_PAIRS > 1
#define RF_KERNEL_STAGE RF_FN
#else
#define RF_KERNEL_STAGE static RF_APART /* not inlined, to save stack */
#endif
#if RF_KERNEL_PAIRS >= 32
#define RF_KERNEL_IS_MANY (dim >= RF_PRODUCTS_MIN)
#define RF_KERNEL_KEPT RF_PRODUCTS_KEPT(RF_KERNEL_DIM_MAX)
#else
#define RF_KERNEL_IS_MANY 0
#endif
#define RF_KERNEL_NAME__(kernel, part) kernel##_##part
#define RF_KERNEL_NAME_(kernel, part) RF_KERNEL_NAME__(kernel, part)
#define RF_KERNEL_NAME(part) RF_KERNEL_NAME_(RF_KERNEL, part)

/* Lane `lane` of the block that begins at `pair` is attempt 2·(pair + lane mod P) + lane / P, with P = RF_KERNEL_PAIRS;
   on the lattice it is attempt 2·pair + lane. */

/* Draws of a block: q[d][lane] on the grid, and for rejection u[lane]. */
RF_KERNEL_STAGE void RF_KERNEL_NAME(draw)(const RF(task) *task, unsigned dim, uint32_t pair, int32_t *q, float *u)
{
    uint32_t words[4 * RF_KERNEL_PAIRS];
    for (unsigned block = 0; block <= dim / 2; block++) {
        if (RF_KERNEL_PAIRS >= 16) {
            rf_draw_many(task->seed, task->update, pair, block, RF_FOR_ATTEMPTS, RF_KERNEL_PAIRS, words);
        } else {
            for (unsigned p = 0; p < RF_KERNEL_PAIRS; p++) {
                rf_words w = rf_draw(task->seed, task->update, pair + p, block, RF_FOR_ATTEMPTS);
                for (unsigned k = 0; k < 4; k++)
                    words[k * RF_KERNEL_PAIRS + p] = w.word[k];
            }
        }
        for (unsigned half = 0; half < 2; half++) {
            unsigned d = 2 * block + half;
            const uint32_t *first = words + 2 * half * RF_KERNEL_PAIRS, *second = first + RF_KERNEL_PAIRS;
            if (d < dim) {
                int32_t *lanes = q + d * RF_KERNEL_LANES;
                RF_UNROLL(8)
                for (unsigned p = 0; p < RF_KERNEL_PAIRS; p++) {
                    float even, odd;
                    rf32_normal_pair(first[p], second[p], &even, &odd);
                    lanes[p] = rf_to_grid(even);
                    lanes[RF_KERNEL_PAIRS + p] = rf_to_grid(odd);
                }
            } else if (d == dim) {
                RF_UNROLL(8)
                for (unsigned p = 0; p < RF_KERNEL_PAIRS; p++) {
                    u[p] = rf32_uniform(first[p]);
                    u[RF_KERNEL_PAIRS + p] = rf32_uniform(second[p]);
                }
            }
        }
    }
}

/* The same from the lattice: every RF_LATTICE_SIZE attempts begin at a new random offset; `start` caches its first
   words. Weights only need u ≤ 1. */
RF_KERNEL_STAGE void RF_KERNEL_NAME(draw_lattice)(const RF(task) *task, unsigned dim, uint32_t pair, rf_lattice_start *start,
                                                  int32_t *q, float *u)
{
    const uint32_t attempt = 2 * pair, round = attempt / RF_LATTICE_SIZE;
    if (start->round != round)
        start->round = round, start->words = rf_draw(task->seed, task->update, round, 0, RF_FOR_LATTICE);
    rf_words w = start->words;
    for (unsigned d = 0; d <= dim; d++) {
        if (d % 4 == 0 && d > 0)
            w = rf_draw(task->seed, task->update, round, d / 4, RF_FOR_LATTICE);
        if (d == dim && RF_SAMPLER(task->sampler) == RF_WEIGHT) {
            for (unsigned lane = 0; lane < RF_KERNEL_LANES; lane++)
                u[lane] = 0;
        } else if (d == dim) {
            uint32_t base = w.word[d % 4] + attempt * RF_LATTICE_UNIFORM;
            RF_KERNEL_UNROLL
            for (unsigned lane = 0; lane < RF_KERNEL_LANES; lane++)
                u[lane] = rf32_uniform(base + lane * RF_LATTICE_UNIFORM);
        } else if (d == 0) { /* stride 1 */
            const uint32_t from = (w.word[0] + attempt) % RF_LATTICE_SIZE;
            RF_KERNEL_UNROLL
            for (unsigned lane = 0; lane < RF_KERNEL_LANES; lane++)
                q[lane] = RF_LATTICE_AT(from + lane);
        } else {
            uint32_t stride = d < RF_LATTICE_STRIDES ? rf_lattice_stride[d] : w.word[d % 4] >> 12 | 1u;
            uint32_t base = w.word[d % 4] + attempt * stride;
            for (unsigned lane = 0; lane < RF_KERNEL_LANES; lane++)
                q[d * RF_KERNEL_LANES + lane] = RF_LATTICE_AT((base + lane * stride) % RF_LATTICE_SIZE);
        }
    }
}

/* Wraps wide periodic parameters into one period. */
RF_KERNEL_STAGE void RF_KERNEL_NAME(wrap)(const rf_real *wrap, unsigned dim, int32_t *q)
{
    for (unsigned d = 0; d < dim; d++) {
        rf_real period = wrap[2 * d], cut = wrap[2 * d + 1];
        int32_t *lanes = q + d * RF_KERNEL_LANES;
        for (unsigned lane = 0; period > 0 && lane < RF_KERNEL_LANES; lane++) {
            rf_real z = (rf_real)lanes[lane] * (RF_C(1.0) / RF_GRID);
            lanes[lane] = rf_to_grid((float)(z - period * RF(floor)(z / period + cut)));
        }
    }
}

/* x[i][lane], natural values: chart(mean + L·z). */
RF_KERNEL_STAGE void RF_KERNEL_NAME(place)(const RF(task) *task, unsigned dim, const int32_t *q, rf_real *x)
{
    const RF(chart) *charts = task->model->charts;
#if RF_KERNEL_PAIRS >= 32
    if (RF_KERNEL_IS_MANY) {
        for (unsigned k = 0; k < dim * RF_KERNEL_LANES; k++)
            x[k] = (rf_real)q[k] * (RF_C(1.0) / RF_GRID);
        RF(products_place)(task->mean, task->factor, dim, RF_KERNEL_LANES, x);
    }
#endif
    for (unsigned i = 0; i < dim; i++) {
        const rf_real *row = task->factor + RF_TRIANGLE(i), mean = task->mean[i];
        rf_real *lanes = x + i * RF_KERNEL_LANES;
        RF_UNROLL(16)
        for (unsigned lane = 0; lane < RF_KERNEL_LANES && !RF_KERNEL_IS_MANY; lane++) {
            rf_real sum = row[0] * (RF_C(1.0) / RF_GRID) * (rf_real)q[lane]; /* a power of two: no rounding */
            for (unsigned j = 1; j <= i; j++)
                sum += row[j] * (RF_C(1.0) / RF_GRID) * (rf_real)q[j * RF_KERNEL_LANES + lane];
            lanes[lane] = mean + sum;
        }
        RF(to_natural)(charts ? &charts[i] : 0, RF_KERNEL_LANES, lanes);
    }
}

/* value[lane] ← likelihood of record k. Returns the scale for RF(ratio). With RF_KERNEL_DIM_MAX 1, x must be followed
   by space for one attempt's parameters. */
RF_FN rf_real RF_KERNEL_NAME(evaluate)(const RF(task) *task, unsigned dim, uint32_t k, rf_real *x, rf_real *value)
{
    const RF(model) *model = task->model;
    const rf_real *setting = task->records + (size_t)k * (model->settings + 1u), outcome = setting[model->settings];
    const rf_real max = RF_KERNEL_BOUND(setting, outcome); /* outside the loop: shared terms are computed once, and it vectorizes */
#if defined(RF_KERNEL_KNOWN)
    (void)dim;
    for (unsigned lane = 0; lane < RF_KERNEL_LANES; lane++)
        value[lane] = x[RF_KERNEL_KNOWN(task, k, lane)];
#else
    RF_UNROLL(2)
    for (unsigned lane = 0; lane < RF_KERNEL_LANES; lane++) {
        if (RF_KERNEL_DIM_MAX > 1) {
            rf_real own[RF_KERNEL_DIM_MAX];
            RF_UNROLL_ALL
            for (unsigned i = 0; i < dim; i++)
                own[i] = x[i * RF_KERNEL_LANES + lane];
            value[lane] = RF_KERNEL_LIKELIHOOD(own, setting, outcome);
        } else {
            rf_real *const point = dim > 1 ? x + dim * RF_KERNEL_LANES : x + lane;
            for (unsigned i = 0; i < dim && dim > 1; i++)
                point[i] = x[i * RF_KERNEL_LANES + lane];
            value[lane] = RF_KERNEL_LIKELIHOOD(point, setting, outcome);
        }
    }
#endif
    const rf_real kappa = k == 0 ? task->kappa : RF_C(1.0); /* κ applies once, to the product over records */
    return RF_KERNEL_IS_LOG ? -(max + RF(log)(kappa)) : RF_C(1.0) / (max * kappa);
}

/* Makes attempts outside the range neither accepted nor counted, by a u above 1. */
RF_KERNEL_STAGE void RF_KERNEL_NAME(mark_outside)(rf_sampler sampler, uint32_t pair, uint32_t begin, uint32_t count, float *u)
{
    for (unsigned lane = 0; lane < RF_KERNEL_LANES; lane++) {
        uint32_t paired = 2 * (pair + lane % RF_KERNEL_PAIRS) + lane / RF_KERNEL_PAIRS;
        uint32_t attempt = RF_SAMPLER(sampler) == RF_REJECT ? paired : 2 * pair + lane;
        u[lane] = attempt - begin < count ? u[lane] : 2.0f;
    }
}

/* accept[lane] ← the product over records of likelihood / κ; with weights at most 1. Returns whether a value was bad or
   a product above 1. */
RF_KERNEL_STAGE int RF_KERNEL_NAME(judge)(const RF(task) *task, unsigned dim, rf_real *x, const float *u, int whole,
                                          rf_real *accept, RF(tally) *tally)
{
    uint32_t bad = 0;
    rf_order highest = 0; /* maximum over bit patterns: ratios are not negative */
    for (uint32_t k = 0; k < task->count; k++) {
        rf_real value[RF_KERNEL_LANES], scale = RF_KERNEL_NAME(evaluate)(task, dim, k, x, value);
        if (!whole)
            for (unsigned lane = 0; lane < RF_KERNEL_LANES; lane++)
                value[lane] = u[lane] <= 1 ? value[lane] : RF_KERNEL_IS_LOG ? -RF(infinity)() : RF_C(0.0);
        for (unsigned lane = 0; lane < RF_KERNEL_LANES; lane++) {
            rf_real v = value[lane];
            bad |= (uint32_t)RF(is_bad)(v, RF_KERNEL_IS_LOG);
            value[lane] = RF(ratio)(v, scale, RF_KERNEL_IS_LOG);
        }
        for (unsigned lane = 0; lane < RF_KERNEL_LANES; lane++)
            accept[lane] = k == 0 ? value[lane] : RF(min)(accept[lane] * value[lane], RF_LIMIT); /* ∞ · 0 is not 0 */
    }
    RF_KERNEL_UNROLL
    for (unsigned lane = 0; lane < RF_KERNEL_LANES; lane++) {
        rf_order order = (rf_order)RF(bits)(accept[lane]);
        highest = order > highest ? order : highest;
    }
    const rf_real largest = RF(from_bits)((rf_unsigned)highest);
    if (RF_SAMPLER(task->sampler) == RF_WEIGHT && largest > 1)
        for (unsigned lane = 0; lane < RF_KERNEL_LANES; lane++)
            accept[lane] = RF(min)(accept[lane], RF_C(1.0));
    tally->largest = RF(max)(tally->largest, largest);
    return bad || largest > 1;
}

/* Counts unusual values of a block: bad ones and, without weights, those above κ and the excess of accepted ones. Only
   called for blocks that have such values. */
static RF_APART void RF_KERNEL_NAME(look_closer)(const RF(task) *task, unsigned dim, rf_real *x, const float *u,
                                                 const rf_real *accept, RF(tally) *tally)
{
    rf_real value[RF_KERNEL_LANES], over[RF_KERNEL_LANES];
    uint32_t flags[RF_KERNEL_LANES], nan = 0, negative = 0, infinite = 0, above = 0;
    uint64_t excess = 0;
    for (unsigned lane = 0; lane < RF_KERNEL_LANES; lane++)
        over[lane] = 1, flags[lane] = 0;
    for (uint32_t k = 0; k < task->count; k++) {
        rf_real scale = RF_KERNEL_NAME(evaluate)(task, dim, k, x, value);
        for (unsigned lane = 0; lane < RF_KERNEL_LANES; lane++) {
            rf_real v = value[lane], r = RF(ratio)(v, scale, RF_KERNEL_IS_LOG);
            uint32_t is_nan = !(v == v), is_infinite = v > RF_LIMIT, is_negative = !RF_KERNEL_IS_LOG && v < 0;
            flags[lane] |= is_nan | is_infinite << 1 | is_negative << 2;
            over[lane] = RF(min)(over[lane] * r, RF_LIMIT);
        }
    }
    for (unsigned lane = 0; lane < RF_KERNEL_LANES; lane++) {
        uint32_t flag = u[lane] <= 1 ? flags[lane] | (uint32_t)(over[lane] > 1) << 3 : 0;
        nan += flag & 1;
        infinite += flag >> 1 & 1;
        negative += flag >> 2 & 1;
        above += flag >> 3 & 1;
        rf_real share = (rf_real)((rf_real)u[lane] <= accept[lane]);
        excess += (uint32_t)(RF(min)((RF(max)(over[lane], RF_C(1.0)) - 1) * share, RF_OVER_MAX) * RF_OVER_UNIT);
    }
    RF(count_bad)(&tally->nan, nan);
    RF(count_bad)(&tally->infinite, infinite);
    RF(count_bad)(&tally->negative, negative);
    if (RF_SAMPLER(task->sampler) == RF_WEIGHT)
        return;
    tally->count.above += above;
    tally->over += excess;
}

/* Adds a block's accepted attempts to the tally's sums. Overwrites q. */
RF_KERNEL_STAGE void RF_KERNEL_NAME(add_accepted)(unsigned dim, int32_t *q, const float *u, const rf_real *accept, RF(tally) *tally)
{
    int64_t *const sum_z = RF(tally_z)(tally), *const sum_zz = RF(tally_zz)(tally);
    uint32_t mask[RF_KERNEL_LANES], accepted = 0;
    for (unsigned lane = 0; lane < RF_KERNEL_LANES; lane++) {
        mask[lane] = 0u - (uint32_t)((rf_real)u[lane] <= accept[lane]);
        accepted -= mask[lane];
    }
    tally->count.accepted += accepted;
    for (unsigned i = 0; i < dim; i++) {
        int32_t *lanes = q + i * RF_KERNEL_LANES, sum = 0; /* sum of at most 128 numbers of 17 bits */
        uint64_t squares = 0;
        for (unsigned lane = 0; lane < RF_KERNEL_LANES; lane++) {
            uint32_t z = (uint32_t)lanes[lane] & mask[lane];
            lanes[lane] = (int32_t)z;
            sum += (int32_t)z;
            squares += z * z; /* below 2³² */
        }
        sum_z[i] += sum;
        sum_zz[RF_TRIANGLE(i) + i] += (int64_t)squares;
        for (unsigned j = 0; j < i; j++) {
            const int32_t *other = q + j * RF_KERNEL_LANES;
            int64_t product = 0;
            for (unsigned lane = 0; lane < RF_KERNEL_LANES; lane++)
                product += (int64_t)lanes[lane] * other[lane];
            sum_zz[RF_TRIANGLE(i) + j] += product;
        }
    }
}

#if RF_KERNEL_PAIRS >= 32
/* The same for many parameters: appends accepted attempts to the `count` columns of `kept`. Returns the new number of
   columns. */
RF_FN unsigned RF_KERNEL_NAME(keep_accepted)(unsigned dim, const int32_t *q, const float *u, const rf_real *accept, RF(tally) *tally,
                                             int16_t *kept, unsigned count)
{
    uint32_t wide[RF_KERNEL_LANES]; /* nonzero if a z exceeds 16 bits, |z| ≥ 4 */
    for (unsigned lane = 0; lane < RF_KERNEL_LANES; lane++) {
        uint32_t bits = 0;
        for (unsigned i = 0; i < dim; i++)
            bits |= (uint32_t)(q[i * RF_KERNEL_LANES + lane] + 32768);
        wide[lane] = bits >> 16;
    }
    for (unsigned first = 0; first < RF_KERNEL_LANES; first += 16) {
        uint32_t which = 0, apart = 0, used = 0;
        RF_UNROLL_ALL
        for (unsigned k = 0; k < 16; k++) {
            uint32_t bit = (uint32_t)((rf_real)u[first + k] <= accept[first + k]) << k;
            which |= wide[first + k] ? 0 : bit;
            apart |= wide[first + k] ? bit : 0;
        }
        tally->count.accepted += (uint32_t)__builtin_popcount(which | apart);
        for (unsigned i = 0; i < dim; i++)
            used = rf_keep16(kept + i * RF_PRODUCTS_STRIDE + count, q + i * RF_KERNEL_LANES + first, which);
        count += used;
        for (unsigned k = 0; k < 16 && apart >> k; k++) /* |z| ≥ 4 is rare */
            if (apart >> k & 1)
                rf_products_add(q + first + k, dim, RF_KERNEL_LANES, RF(tally_z)(tally), RF(tally_zz)(tally));
    }
    return count;
}
#endif

/* The same with weights: each candidate counts with its acceptance probability. The sum for the loss needs logarithms,
   which cost half as much again; so it is formed only if `attempt`, the block's first, is in the lattice's first
   round. */
RF_KERNEL_STAGE void RF_KERNEL_NAME(add_weighted)(const RF(task) *task, unsigned dim, uint32_t attempt, const int32_t *q, const rf_real *accept, RF(tally) *tally)
{
    int64_t *const sum_z = RF(tally_z)(tally), *const sum_zz = RF(tally_zz)(tally);
    rf_sum weight = {0};
    RF_UNROLL(8)
    for (unsigned lane = 0; lane < RF_KERNEL_LANES; lane++)
        rf_sum_add(&weight, (int32_t)(accept[lane] * RF_WEIGHT_UNIT));
    tally->weight += (uint64_t)rf_sum_of(weight);
    if (RF_KERNEL_ENTROPY && !task->no_loss && attempt < RF_LATTICE_SIZE) {
        rf_sum entropy = {0};
        RF_UNROLL(8)
        for (unsigned lane = 0; lane < RF_KERNEL_LANES; lane++)
            rf_sum_add(&entropy, RF(weighted_entropy)(accept[lane]));
        tally->entropy += (uint64_t)rf_sum_of(entropy);
    }
    for (unsigned i = 0; i < dim; i++) {
        const int32_t *lanes = q + i * RF_KERNEL_LANES;
        rf_sum sum = {0}, squares = {0};
        RF_UNROLL(8)
        for (unsigned lane = 0; lane < RF_KERNEL_LANES; lane++) {
            const rf_real z = (rf_real)lanes[lane] * (RF_C(1.0) / RF_GRID);
            rf_sum_add(&sum, RF(weighted)(accept[lane], z));
            rf_sum_add(&squares, RF(weighted)(accept[lane], z * z));
        }
        sum_z[i] += rf_sum_of(sum);
        sum_zz[RF_TRIANGLE(i) + i] += rf_sum_of(squares);
        for (unsigned j = 0; j < i; j++) {
            const int32_t *other = q + j * RF_KERNEL_LANES;
            rf_sum product = {0};
            RF_UNROLL(8)
            for (unsigned lane = 0; lane < RF_KERNEL_LANES; lane++) {
                rf_real zz = (rf_real)lanes[lane] * (RF_C(1.0) / RF_GRID) * ((rf_real)other[lane] * (RF_C(1.0) / RF_GRID));
                rf_sum_add(&product, RF(weighted)(accept[lane], zz));
            }
            sum_zz[RF_TRIANGLE(i) + j] += rf_sum_of(product);
        }
    }
}

#if RF_KERNEL_PAIRS >= 16
/* A block of weighted attempts for one record: does the work of RF(judge) and RF(add_weighted) if no value is bad or
   above κ. Otherwise adds nothing and returns 0. */
RF_FN int RF_KERNEL_NAME(weigh)(const RF(task) *task, unsigned dim, uint32_t attempt, uint32_t begin, uint32_t count, const int32_t *q,
                                rf_real *x, rf_real *accept, RF(tally) *tally)
{
    const rf_real scale = RF_KERNEL_NAME(evaluate)(task, dim, 0, x, accept);
    rf_order highest = 0, signs = 0; /* of bit patterns: NaN exceeds all numbers, or counts as negative */
    if (attempt < begin || attempt - begin + RF_KERNEL_LANES > count)
        for (unsigned lane = 0; lane < RF_KERNEL_LANES; lane++)
            accept[lane] = attempt + lane - begin < count ? accept[lane] : RF_C(0.0);
    RF_KERNEL_UNROLL
    for (unsigned lane = 0; lane < RF_KERNEL_LANES; lane++) {
        const rf_order bits = (rf_order)RF(bits)(accept[lane]);
        highest = bits > highest ? bits : highest;
        signs |= bits;
        accept[lane] *= scale;
    }
    const rf_real largest = RF(from_bits)((rf_unsigned)highest) * scale;
    if (signs < 0 || highest > (rf_order)RF(bits)(RF_LIMIT) || largest > 1)
        return 0;
    tally->largest = RF(max)(tally->largest, largest);
    RF_KERNEL_NAME(add_weighted)(task, dim, attempt, q, accept, tally);
    return 1;
}
#endif

#if !defined(RF_KERNEL_KNOWN)
/* Fast path: a block of one real parameter and one record, in one pass. Same result as the general path below
   if no value is bad or above κ. Otherwise adds nothing and returns 0. */
RF_FN int RF_KERNEL_NAME(plain)(const RF(task) *task, const int32_t *q, const float *u, RF(tally) *tally)
{
    const rf_real *setting = task->records, outcome = setting[task->model->settings];
    const rf_real scale = RF_C(1.0) / (RF_KERNEL_BOUND(setting, outcome) * task->kappa);
    const rf_real mean = task->mean[0], width = task->factor[0] * (RF_C(1.0) / RF_GRID);
    rf_unsigned highest = 0; /* of bit patterns: NaN and negative numbers exceed all others */
    uint32_t accepted = 0, squares = 0, high = 0; /* sum of squares modulo 2³², and of squares >> 16 */
    int32_t sum = 0;                               /* sum of at most 128 numbers of 17 bits */
    RF_UNROLL(16)
    for (unsigned lane = 0; lane < RF_KERNEL_LANES; lane++) {
        const rf_real x = mean + width * (rf_real)q[lane], value = RF_KERNEL_LIKELIHOOD(&x, setting, outcome);
        const rf_unsigned bits = RF(bits)(value);
        highest = bits > highest ? bits : highest;
        const uint32_t mask = 0u - (uint32_t)((rf_real)u[lane] <= value * scale), z = (uint32_t)q[lane] & mask, square = z * z;
        accepted -= mask;
        sum += (int32_t)z;
        squares += square;
        high += square >> 16;
    }
    if (highest > RF(bits)(RF_LIMIT))
        return 0;
    const rf_real largest = RF(from_bits)(highest) * scale;
    if (largest > 1)
        return 0;
    tally->largest = RF(max)(tally->largest, largest);
    tally->count.accepted += accepted;
    RF(tally_z)(tally)[0] += sum;
    RF(tally_zz)(tally)[0] += ((int64_t)high << 16) + (uint32_t)(squares - (high << 16)); /* the lower 16 bits: below 2²³ */
    return 1;
}

#if RF_KERNEL_PLAIN > 1
/* The same with weights. On the lattice |z| < 3.7, so four products with z fit 32 bits. */
RF_FN int RF_KERNEL_NAME(plain_weighted)(const RF(task) *task, uint32_t attempt, const int32_t *q, RF(tally) *tally)
{
    const rf_real *setting = task->records, outcome = setting[task->model->settings];
    const rf_real scale = RF_C(1.0) / (RF_KERNEL_BOUND(setting, outcome) * task->kappa);
    const rf_real mean = task->mean[0], width = task->factor[0] * (RF_C(1.0) / RF_GRID);
    rf_unsigned highest = 0;
    rf_real weight[RF_KERNEL_LANES];
    int64_t sums[3] = {0, 0, 0}; /* Σw, Σwz, Σwzz */
    RF_UNROLL_ALL
    for (unsigned first = 0; first < RF_KERNEL_LANES; first += 4) {
        int32_t four[3] = {0, 0, 0};
        RF_UNROLL_ALL
        for (unsigned k = 0, lane = first; k < (RF_KERNEL_LANES < 4 ? RF_KERNEL_LANES : 4); k++, lane++) {
            const rf_real x = mean + width * (rf_real)q[lane], value = RF_KERNEL_LIKELIHOOD(&x, setting, outcome);
            const rf_real w = value * scale, z = (rf_real)q[lane] * (RF_C(1.0) / RF_GRID);
            const rf_unsigned bits = RF(bits)(value);
            highest = bits > highest ? bits : highest;
            four[0] += (int32_t)(w * RF_WEIGHT_UNIT);
            four[1] += RF(weighted)(w, z);
            four[2] += RF(weighted)(w, z * z);
            weight[lane] = w;
        }
        for (unsigned i = 0; i < 3; i++)
            sums[i] += four[i];
    }
    if (highest > RF(bits)(RF_LIMIT))
        return 0;
    const rf_real largest = RF(from_bits)(highest) * scale;
    if (largest > 1)
        return 0;
    tally->largest = RF(max)(tally->largest, largest);
    tally->weight += (uint64_t)sums[0];
    RF(tally_z)(tally)[0] += sums[1];
    RF(tally_zz)(tally)[0] += sums[2];
    if (RF_KERNEL_ENTROPY && !task->no_loss && attempt < RF_LATTICE_SIZE) {
        int64_t entropy = 0;
        RF_UNROLL_ALL
        for (unsigned lane = 0; lane < RF_KERNEL_LANES; lane++)
            entropy += RF(weighted_entropy)(weight[lane]);
        tally->entropy += (uint64_t)entropy;
    }
    return 1;
}
#endif

#ifndef RF_KERNEL_STORAGE
#define RF_KERNEL_STORAGE static
#endif
RF_KERNEL_STORAGE rf_status RF_KERNEL(void *self, const RF(task) *task, uint32_t begin, uint32_t count, RF(tally) *tally)
{
    const RF(model) *model = task->model;
    const unsigned dim = RF_KERNEL_DIM;
    _Alignas(RF_KERNEL_PAIRS > 1 ? 64 : 8) int32_t own_q[RF_KERNEL_DIM_MAX * RF_KERNEL_LANES];
    _Alignas(RF_KERNEL_PAIRS > 1 ? 64 : 8) rf_real own_x[RF_KERNEL_DIM_MAX * RF_KERNEL_LANES];
    const int roomy = dim <= RF_KERNEL_DIM_MAX;
    rf_real *const work = RF(tally_work)(tally); /* x, one attempt's parameters, q: if they do not fit the stack */
    rf_real *const x = roomy ? own_x : work;
    int32_t *const q = roomy ? own_q : (int32_t *)(void *)(work + dim * (RF_KERNEL_LANES + 1));
#if RF_KERNEL_PAIRS >= 32
    _Alignas(64) int16_t kept[RF_KERNEL_KEPT], high[RF_KERNEL_KEPT];
    unsigned kept_count = 0;
#endif
    rf_lattice_start start = {~UINT32_C(0), {{0, 0, 0, 0}}};
    float u[RF_KERNEL_LANES];
    rf_real accept[RF_KERNEL_LANES];
    (void)self, (void)model;

    if (count == 0)
        return RF_OK;
    if (!roomy && RF_KERNEL_PAIRS > 1)
        return RF_REFUSED_ENGINE;
    const int is_plain = RF_KERNEL_PLAIN && dim == 1 && task->count == 1 && !RF_KERNEL_IS_LOG && !task->wrap &&
                         (RF_KERNEL_PLAIN > 1 || RF_SAMPLER(task->sampler) != RF_WEIGHT) && (!model->charts || model->charts[0].kind == RF_REAL);
#if RF_KERNEL_PAIRS >= 16
    const int is_weighed = RF_SAMPLER(task->sampler) == RF_WEIGHT && task->count == 1 && !RF_KERNEL_IS_LOG;
#endif
    const uint32_t first = begin / 2 & ~(RF_KERNEL_PAIRS - 1), last = (begin + count - 1) / 2;
    for (uint32_t pair = first + RF_KERNEL_WORKER * RF_KERNEL_PAIRS; pair <= last; pair += RF_KERNEL_WORKERS * RF_KERNEL_PAIRS) {
        const int whole = 2 * pair >= begin && 2 * pair - begin + RF_KERNEL_LANES <= count;
        if (RF_SAMPLER(task->sampler) == RF_REJECT)
            RF_KERNEL_NAME(draw)(task, dim, pair, q, u);
        else
            RF_KERNEL_NAME(draw_lattice)(task, dim, pair, &start, q, u);
#if RF_KERNEL_PLAIN > 1
        if (is_plain && whole && RF_SAMPLER(task->sampler) == RF_WEIGHT) {
            if (RF_KERNEL_NAME(plain_weighted)(task, 2 * pair, q, tally))
                continue;
        } else
#endif
        if (is_plain && (whole || RF_KERNEL_PAIRS >= 16)) {
            if (!whole) { /* lanes outside the range copy one inside: no likelihood is evaluated outside it */
                const uint32_t skip = begin > 2 * pair ? begin - 2 * pair : 0, end = begin + count - 2 * pair;
                const int is_paired = RF_SAMPLER(task->sampler) == RF_REJECT;
                const int32_t inside = q[is_paired ? skip / 2 + skip % 2 * RF_KERNEL_PAIRS : skip];
                if (skip == 0) { /* the usual case: only the last lanes (of each half, or of all) are outside */
                    const unsigned half = is_paired ? RF_KERNEL_PAIRS : 0;
                    for (unsigned lane = is_paired ? (end + 1) / 2 : end; lane < RF_KERNEL_LANES - half; lane++)
                        q[lane] = inside, u[lane] = 2.0f;
                    for (unsigned lane = half + end / 2; is_paired && lane < RF_KERNEL_LANES; lane++)
                        q[lane] = inside, u[lane] = 2.0f;
                } else {
                    RF_KERNEL_NAME(mark_outside)(task->sampler, pair, begin, count, u);
                    for (unsigned lane = 0; lane < RF_KERNEL_LANES; lane++)
                        q[lane] = u[lane] <= 1 ? q[lane] : inside;
                }
            }
            if (RF_KERNEL_NAME(plain)(task, q, u, tally))
                continue;
        }
        if (task->wrap)
            RF_KERNEL_NAME(wrap)(task->wrap, dim, q);
        RF_KERNEL_NAME(place)(task, dim, q, x);
#if RF_KERNEL_PAIRS >= 16
        if (is_weighed && RF_KERNEL_NAME(weigh)(task, dim, 2 * pair, begin, count, q, x, accept, tally))
            continue;
#endif
        if (!whole)
            RF_KERNEL_NAME(mark_outside)(task->sampler, pair, begin, count, u);
        if (RF_KERNEL_NAME(judge)(task, dim, x, u, whole, accept, tally))
            RF_KERNEL_NAME(look_closer)(task, dim, x, u, accept, tally);
        if (RF_SAMPLER(task->sampler) == RF_WEIGHT)
            RF_KERNEL_NAME(add_weighted)(task, dim, 2 * pair, q, accept, tally);
        else if (!RF_KERNEL_IS_MANY)
            RF_KERNEL_NAME(add_accepted)(dim, q, u, accept, tally);
#if RF_KERNEL_PAIRS >= 32
        else
            kept_count = RF_KERNEL_NAME(keep_accepted)(dim, q, u, accept, tally, kept, kept_count);
        if (RF_KERNEL_IS_MANY && kept_count > (pair + RF_KERNEL_PAIRS > last ? 0 : RF_PRODUCTS_ROOM - RF_KERNEL_LANES)) {
            rf_products_sum(kept, dim, kept_count, high, RF(tally_z)(tally), RF(tally_zz)(tally));
            kept_count = 0;
        }
#endif
    }
    return RF_OK;
}
#endif

#undef RF_KERNEL_LANES
#undef RF_KERNEL_UNROLL
#undef RF_KERNEL_STAGE
#undef RF_KERNEL_IS_MANY
#undef RF_KERNEL_KEPT
#undef RF_KERNEL_NAME
#undef RF_KERNEL_NAME_
#undef RF_KERNEL_NAME__
