/* GPU code, included after a model's source: the attempts of a task, and updates of fleets. NVRTC compiles it together
   with the core; tests/test_device.c compiles it as host code, where the threads of a group run one after the other.

   Define before the model: RF_PRECISION; RF_DEVICE_DIM, parameters; RF_DEVICE_KINDS, their charts; RF_DEVICE_SAMPLER;
   RF_DEVICE_PAIRS, pairs of attempts that a thread interleaves; RF_DEVICE_PLAIN, 1 for one real parameter and one
   record without logarithms, which have a loop of their own and then RF_DEVICE_PAIRS is 1; RF_DEVICE_GROUP, threads per
   filter of a fleet, a power of two, or 0 for the attempts of one task; RF_DEVICE_ENTROPY, whether the loss is
   measured; RF_DIM and RF_SAMPLER, as constants. */
#include "device_types.h"
#include "rejfilt/detail/instantiate_expected.h"
#include "rejfilt/detail/lattice.h"

/* ---- The lattice, in shared memory ---- */

#if defined(__CUDACC__)
#define RF_DEVICE_TABLE __shared__
#else
#define RF_DEVICE_TABLE static
#endif
enum { RF_DEVICE_PART = 16, RF_DEVICE_PARTS = RF_LATTICE_SIZE / RF_DEVICE_PART };
#if RF_DEVICE_PLAIN
RF_DEVICE_TABLE float rf_device_z[2 * RF_LATTICE_SIZE]; /* twice, so that attempts of a round are contiguous */
#define RF_LATTICE_AT(index) ((int32_t)(rf_device_z[index] * 8192.0f))
#define RF_LATTICE_ROW(index) (&rf_lattice_normal[index])
#else
RF_DEVICE_TABLE int16_t rf_device_lattice[RF_LATTICE_SIZE + 128];
#define RF_LATTICE_AT(index) rf_device_lattice[index]
#endif
#if RF_DEVICE_GROUP > 0 && RF_DEVICE_DIM == 1
#define RF_LATTICE_LINE rf_device_line
RF_DEVICE_TABLE struct {
    int64_t z, zz;
} rf_device_part[RF_DEVICE_PARTS], rf_device_before[RF_DEVICE_PARTS + 1]; /* sums of each part, and of all before it */
#endif

#if defined(__CUDACC__)
#define RF_DEVICE_BARRIER() __syncthreads()
#else
#define RF_DEVICE_BARRIER() ((void)0)
#endif

/* Fills these tables. In host code one thread fills all. */
RF_FN void rf_device_fill(unsigned thread, unsigned threads)
{
#if RF_DEVICE_PLAIN
    RF_UNROLL_ALL /* so that loads overlap */
        for (unsigned i = thread; i < RF_LATTICE_SIZE && RF_DEVICE_SAMPLER != RF_REJECT; i += threads) rf_device_z[i] =
            rf_device_z[i + RF_LATTICE_SIZE] = (float)rf_lattice_normal[i] * (1.0f / 8192);
#else
    for (unsigned i = thread; i < RF_LATTICE_SIZE + 128 && RF_DEVICE_SAMPLER != RF_REJECT; i += threads)
        rf_device_lattice[i] = rf_lattice_normal[i];
#endif
#ifdef RF_LATTICE_LINE
    for (unsigned i = thread; i < RF_DEVICE_PARTS && RF_DEVICE_SAMPLER == RF_WEIGHT; i += threads) {
        int64_t z = 0, zz = 0;
        for (unsigned k = i * RF_DEVICE_PART; k < (i + 1) * RF_DEVICE_PART; k++) {
            const int32_t q = rf_lattice_normal[k];
            z += q;
            zz += q * q;
        }
        rf_device_part[i].z = z;
        rf_device_part[i].zz = zz;
    }
    RF_DEVICE_BARRIER();
    for (unsigned i = thread; i <= RF_DEVICE_PARTS && RF_DEVICE_SAMPLER == RF_WEIGHT; i += threads) {
        int64_t z = 0, zz = 0;
        for (unsigned k = 0; k < i; k++) {
            z += rf_device_part[k].z;
            zz += rf_device_part[k].zz;
        }
        rf_device_before[i].z = z;
        rf_device_before[i].zz = zz;
    }
#endif
    RF_DEVICE_BARRIER();
}

#if RF_DEVICE_PLAIN
/* If `count` is small and all attempts are in one round, fills only the entries they need and returns 1; else returns
   0. */
RF_FN int rf_device_fill_few(uint64_t seed, uint32_t update, uint32_t begin, uint32_t count, unsigned thread,
                             unsigned threads)
{
    const uint32_t round = begin / RF_LATTICE_SIZE, first = begin / 2 * 2, few = (begin + count + 1) / 2 * 2 - first;
    if (few > RF_LATTICE_SIZE / 2 || (begin + count - 1) / RF_LATTICE_SIZE != round)
        return 0;
    const uint32_t from = rf_draw(seed, update, round, 0, RF_FOR_LATTICE).word[0] + first;
    for (uint32_t i = thread; i < few; i += threads) {
        const uint32_t at = (from + i) % RF_LATTICE_SIZE;
        rf_device_z[at] = rf_device_z[at + RF_LATTICE_SIZE] = (float)rf_lattice_normal[at] * (1.0f / 8192);
    }
    RF_DEVICE_BARRIER();
    return 1;
}
#endif

#ifdef RF_LATTICE_LINE
/* Adds (sign 1) or subtracts (sign −1) the sums of the first `n` numbers of the table. */
RF_FN void rf_device_line_to(uint32_t n, int32_t sign, int64_t *z, int64_t *zz)
{
    const uint32_t part = n / RF_DEVICE_PART;
    *z += sign * rf_device_before[part].z;
    *zz += sign * rf_device_before[part].zz;
    for (uint32_t k = part * RF_DEVICE_PART; k < n; k++) {
        const int32_t q = RF_LATTICE_AT(k);
        *z += sign * q;
        *zz += sign * (q * q);
    }
}

/* Σq and Σq² over n numbers from `start` on, n at most RF_LATTICE_SIZE. */
RF_FN void rf_device_line(uint32_t start, uint32_t n, int64_t *z, int64_t *zz)
{
    const uint32_t from = start % RF_LATTICE_SIZE, to = from + n;
    *z = *zz = 0;
    rf_device_line_to(from, -1, z, zz);
    if (to > RF_LATTICE_SIZE)
        rf_device_line_to(RF_LATTICE_SIZE, 1, z, zz);
    rf_device_line_to(to > RF_LATTICE_SIZE ? to - RF_LATTICE_SIZE : to, 1, z, zz);
}
#endif

#if defined(__CUDACC__)
#if RF_DEVICE_GROUP > 0
#define RF_WORKER (threadIdx.x % RF_DEVICE_GROUP)
#define RF_WORKERS RF_DEVICE_GROUP
#define RF_WORKERS_SUM(numbers, count) rf_device_group_sum((uint64_t *)(numbers), (unsigned)(count))

/* Replaces each number by its sum over the threads of a group. */
static __forceinline__ void rf_device_group_sum(uint64_t *numbers, unsigned count)
{
    const uint32_t mask = RF_DEVICE_GROUP == 32
                              ? 0xffffffffu
                              : ((1u << RF_DEVICE_GROUP % 32) - 1) << (threadIdx.x & 31u & ~(RF_DEVICE_GROUP - 1u));
    for (unsigned i = 0; i < count; i++)
        for (unsigned step = RF_DEVICE_GROUP / 2; step > 0; step /= 2)
            numbers[i] += __shfl_xor_sync(mask, (unsigned long long)numbers[i], step);
}

static __forceinline__ uint64_t rf_device_group_max(uint64_t number)
{
    const uint32_t mask = RF_DEVICE_GROUP == 32
                              ? 0xffffffffu
                              : ((1u << RF_DEVICE_GROUP % 32) - 1) << (threadIdx.x & 31u & ~(RF_DEVICE_GROUP - 1u));
    for (unsigned step = RF_DEVICE_GROUP / 2; step > 0; step /= 2) {
        const uint64_t other = __shfl_xor_sync(mask, (unsigned long long)number, step);
        number = other > number ? other : number;
    }
    return number;
}
#endif
#endif

#if RF_PRECISION == 32
#include "../../core/rejfilt32.c"
#else
#include "../../core/rejfilt64.c"
#endif

/* ---- One thread's attempts ---- */

/* A thread's index and the number of threads. */
typedef struct rf_device_worker {
    uint32_t index, count;
} rf_device_worker;

#undef RF_KERNEL
#undef RF_KERNEL_PAIRS
#undef RF_KERNEL_DIM
#undef RF_KERNEL_DIM_MAX
#undef RF_KERNEL_IS_LOG
#undef RF_KERNEL_LIKELIHOOD
#undef RF_KERNEL_BOUND
#undef RF_KERNEL_PLAIN
#undef RF_KERNEL_ENTROPY
#undef RF_KERNEL_WORKER
#undef RF_KERNEL_WORKERS
#undef RF_KERNEL_STORAGE
#define RF_KERNEL RF(device_attempts)
#define RF_KERNEL_PAIRS RF_DEVICE_PAIRS /* 1 for many parameters */
#define RF_KERNEL_DIM RF_DEVICE_DIM
#define RF_KERNEL_DIM_MAX (RF_DEVICE_DIM > 1 ? RF_DEVICE_DIM : 2u) /* stack size; the stack is in registers */
#define RF_KERNEL_IS_LOG RF_IS_LOG(description)
#define RF_KERNEL_LIKELIHOOD likelihood
#ifdef RF_HAS_BOUND
#define RF_KERNEL_BOUND bound
#else
#define RF_KERNEL_BOUND(setting, outcome) (RF_IS_LOG(description) ? RF_C(0.0) : RF_C(1.0))
#endif
#define RF_KERNEL_PLAIN 2
#define RF_KERNEL_ENTROPY RF_DEVICE_ENTROPY
#define RF_KERNEL_WORKER (((const rf_device_worker *)self)->index)
#define RF_KERNEL_WORKERS (((const rf_device_worker *)self)->count)
#if !RF_DEVICE_PLAIN
#define RF_KERNEL_STORAGE RF_FN
#elif defined(__CUDACC__)
#define RF_KERNEL_STORAGE RF_FN
#else
#define RF_KERNEL_STORAGE static
#endif
#include "rejfilt/detail/attempts.h"

#if RF_DEVICE_PLAIN
/* ---- One real parameter, one record, no logarithms ---- */

/* Attempts run in stretches. Sums are kept in 32 bits as long as possible, and only the end of a stretch checks for
   values that are bad or above κ. If there were any, the stretch is run again by the general loop. There thread i of n
   also runs pairs i, i + n, ..., so each thread repeats its own attempts. */

#ifndef RF_DEVICE_SIDE
#define RF_DEVICE_SIDE (RF_DEVICE_GROUP == 0 ? 8u : 4u) /* interleaved pairs; 1 for the last few */
#endif
enum {
    RF_DEVICE_STRETCH = 64, /* pairs per thread */
    RF_DEVICE_MARKED = 16   /* pairs whose Σq stays below 2²¹ */
};
#define RF_DEVICE_MARK 1536.0f /* the bits of z + this are 275 · 2²² + q: see rf_to_grid */
#define RF_DEVICE_MARK_BITS UINT32_C(0x44c00000)
#define RF_DEVICE_INVERSE 283u /* inverse of 275 modulo 2¹⁰ */

/* Constants of all attempts. */
typedef struct RF(device_plain) {
    rf_real setting[RF_DESCRIBED_MAX], outcome, scale, mean, factor;
} RF(device_plain);

typedef struct RF(device_plain_sums) {
    uint64_t a, b, c; /* accepted, Σq, Σmark² modulo 2⁶⁴; or Σw, Σwz, Σwzz */
    uint64_t entropy;
    rf_unsigned highest;
} RF(device_plain_sums);

/* sum + a². */
RF_FN uint64_t rf_device_square_add(uint32_t a, uint64_t sum)
{
#if defined(__CUDACC__)
    asm("mad.wide.u32 %0, %1, %1, %0;" : "+l"(sum) : "r"(a));
    return sum;
#else
    return sum + (uint64_t)a * a;
#endif
}

/* As rf_draw for attempts; `keys`: Philox keys of the seed, or null. */
RF_FN rf_words RF(device_draw)(const RF(task) * task, const uint32_t *keys, uint32_t pair)
{
    if (!keys)
        return rf_draw(task->seed, task->update, pair, 0, RF_FOR_ATTEMPTS);
    rf_words c = {{pair, 0, task->update, RF_FOR_ATTEMPTS}};
    RF_UNROLL_ALL
    for (unsigned round = 0; round < 10; round++)
        c = rf_philox_round(c, keys[2 * round], keys[2 * round + 1]);
    return c;
}

/* The position of a stretch: the thread's first pair, the step to its next pair, the number of pairs; on the lattice, z
   of the first, and the round's word for u. */
typedef struct RF(device_where) {
    uint32_t pair, step, rows, word;
    const float *z;
} RF(device_where);

/* Keeps the sums of a stretch if no value was bad or above κ. Returns whether it did. */
RF_FN int RF(device_keep)(const RF(device_plain) * plain, const RF(device_plain_sums) * seen,
                          RF(device_plain_sums) * sums)
{
    if (seen->highest > RF(bits)(RF_LIMIT) || RF(from_bits)(seen->highest) * plain->scale > 1)
        return 0;
    const rf_unsigned before = sums->highest;
    *sums = *seen;
    sums->highest = seen->highest > before ? seen->highest : before;
    return 1;
}

/* The largest of three. */
RF_FN rf_unsigned RF(device_highest)(rf_unsigned a, rf_unsigned b, rf_unsigned c)
{
#if defined(__CUDACC__) && RF_PRECISION == 32
    return __vimax3_u32(a, b, c);
#else
    const rf_unsigned d = a > b ? a : b;
    return c > d ? c : d;
#endif
}

/* Attempts that are accepted or rejected; `side`: number of interleaved pairs, a constant. */
RF_FN int RF(device_stretch_accepted)(const RF(device_plain) * plain, const RF(task) * task, const uint32_t *keys,
                                      unsigned side, RF(device_where) where, RF(device_plain_sums) * sums)
{
    RF(device_plain_sums) seen = *sums;
    seen.highest = 0; /* compares bits: NaN and negative numbers exceed all others */
    while (where.rows > 0) {
        const uint32_t rows = where.rows < RF_DEVICE_MARKED ? where.rows : RF_DEVICE_MARKED;
        uint32_t marks = 0;
        for (uint32_t k = 0; k < rows; k += side) {
            RF_UNROLL_ALL
            for (unsigned i = 0; i < side; i++) {
                const uint32_t pair = where.pair + i * where.step;
                rf_unsigned bits[2];
                float z[2], u[2];
                if (RF_DEVICE_SAMPLER == RF_REJECT) {
                    const rf_words w = RF(device_draw)(task, keys, pair);
                    rf32_normal_pair(w.word[0], w.word[1], &z[0], &z[1]);
                    u[0] = rf32_uniform(w.word[2]);
                    u[1] = rf32_uniform(w.word[3]);
                } else {
                    for (unsigned lane = 0; lane < 2; lane++) {
                        z[lane] = where.z[2 * i * where.step + lane];
                        u[lane] = rf32_uniform(where.word + (2 * pair + lane) * RF_LATTICE_UNIFORM);
                    }
                }
                RF_UNROLL_ALL
                for (unsigned lane = 0; lane < 2; lane++) {
                    const float marked = z[lane] + RF_DEVICE_MARK;
                    const rf_real x = plain->mean + plain->factor * (rf_real)(marked - RF_DEVICE_MARK),
                                  value = likelihood(&x, plain->setting, plain->outcome);
                    const uint32_t accepted = (rf_real)u[lane] <= value * plain->scale ? rf32_bits(marked) : 0;
                    marks += accepted;
                    seen.c = rf_device_square_add(accepted, seen.c);
                    bits[lane] = RF(bits)(value);
                }
                seen.highest = RF(device_highest)(seen.highest, bits[0], bits[1]);
            }
            where.pair += side * where.step;
            where.z += 2 * side * where.step;
        }
        const int32_t sum = (int32_t)(marks << 10) >> 10; /* its last 22 bits */
        seen.a += ((marks - (uint32_t)sum) >> 22) * RF_DEVICE_INVERSE % 1024;
        seen.b += (uint64_t)(int64_t)sum;
        where.rows -= rows;
    }
    return RF(device_keep)(plain, &seen, sums);
}

/* Attempts that are weighted. */
RF_FN int RF(device_stretch_weighted)(const RF(device_plain) * plain, int has_loss, unsigned side,
                                      RF(device_where) where, RF(device_plain_sums) * sums)
{
    const rf_real unit = plain->scale * RF_WEIGHT_UNIT; /* powers of two do not round */
    RF(device_plain_sums) seen = *sums;
    seen.highest = 0;
    for (uint32_t k = 0; k < where.rows; k += side) {
        rf_real values[2 * RF_DEVICE_SIDE];
        uint32_t w = 0, wzz = 0;
        int32_t wz = 0;
        RF_UNROLL_ALL
        for (unsigned i = 0; i < 2 * side; i++) {
            const rf_real z = (rf_real)where.z[i / 2 * 2 * where.step + i % 2], x = plain->mean + plain->factor * z,
                          value = likelihood(&x, plain->setting, plain->outcome), weight = value * unit;
            w += (uint32_t)(int32_t)weight;
            wz += (int32_t)(weight * z);
            wzz += (uint32_t)(int32_t)(weight * (z * z));
            values[i] = value;
            if (i % 2)
                seen.highest = RF(device_highest)(seen.highest, RF(bits)(values[i - 1]), RF(bits)(value));
            if (i % 8 == 7 || i + 1 == 2 * side) { /* eight terms fit in 32 bits, |z| < 3.7 */
                seen.a += w;
                seen.b += (uint64_t)(int64_t)wz;
                seen.c += wzz;
                w = wzz = 0;
                wz = 0;
            }
        }
        if (has_loss) {
            RF_UNROLL_ALL
            for (unsigned i = 0; i < 2 * side; i++)
                seen.entropy += (uint64_t)(int64_t)RF(weighted_entropy)(values[i] * plain->scale);
        }
        where.z += 2 * side * where.step;
    }
    return RF(device_keep)(plain, &seen, sums);
}

RF_FN int RF(device_stretch)(const RF(device_plain) * plain, const RF(task) * task, const uint32_t *keys, int has_loss,
                             unsigned side, RF(device_where) where, RF(device_plain_sums) * sums)
{
    return RF_DEVICE_SAMPLER == RF_WEIGHT ? RF(device_stretch_weighted)(plain, has_loss, side, where, sums)
                                          : RF(device_stretch_accepted)(plain, task, keys, side, where, sums);
}

/* As RF(device_attempts). `keys`: Philox keys of the task's seed, or null. */
RF_FN void RF(device_share)(const rf_device_worker worker, const RF(task) * task, const uint32_t *keys, uint32_t begin,
                            uint32_t count, RF(tally) * tally)
{
    const uint32_t row = 2 * worker.count;
    const rf_real *record = task->records;
    RF(device_plain) plain;
    RF(device_plain_sums) sums = {0, 0, 0, 0, 0};
    rf_lattice_start start = {~UINT32_C(0), {{0, 0, 0, 0}}};
    for (unsigned i = 0; i < description.settings; i++)
        plain.setting[i] = record[i];
    plain.outcome = record[description.settings];
    plain.scale = RF_C(1.0) / (RF_KERNEL_BOUND(plain.setting, plain.outcome) * task->kappa);
    plain.mean = task->mean[0];
    plain.factor = task->factor[0];
    /* products with a power of two must not round */
    const int is_plain = !RF_IS_LOG(description) && task->count == 1 && !task->wrap && !task->model->charts &&
                         plain.factor > RF_C(0x1p-100) && plain.scale < RF_C(0x1p100);
    for (uint32_t done = 0; done < count;) {
        const uint32_t at = begin + done, left = count - done, in_round = at % RF_LATTICE_SIZE,
                       room = RF_DEVICE_SAMPLER == RF_REJECT || left < RF_LATTICE_SIZE - in_round
                                  ? left
                                  : RF_LATTICE_SIZE - in_round;
        const uint32_t fit = room / row < RF_DEVICE_STRETCH ? room / row : RF_DEVICE_STRETCH,
                       rows = !is_plain || at % 2    ? 0
                              : fit < RF_DEVICE_SIDE ? fit
                                                     : fit / RF_DEVICE_SIDE * RF_DEVICE_SIDE;
        const uint32_t some = rows > 0 ? rows * row : at % 2 && is_plain ? 1 : room;
        if (RF_DEVICE_SAMPLER != RF_REJECT && start.round != at / RF_LATTICE_SIZE)
            start.round = at / RF_LATTICE_SIZE,
            start.words = rf_draw(task->seed, task->update, start.round, 0, RF_FOR_LATTICE);
        const RF(device_where)
            where = {at / 2 + worker.index, worker.count, rows, start.words.word[1],
                     rf_device_z + start.words.word[0] % RF_LATTICE_SIZE + in_round + 2 * worker.index};
        const int has_loss = RF_DEVICE_ENTROPY && !task->no_loss && at < RF_LATTICE_SIZE;
        const int is_done = rows >= RF_DEVICE_SIDE
                                ? RF(device_stretch)(&plain, task, keys, has_loss, RF_DEVICE_SIDE, where, &sums)
                                : rows > 0 && RF(device_stretch)(&plain, task, keys, has_loss, 1, where, &sums);
        if (!is_done) { /* pass copies, so that the originals can stay in registers */
            const rf_device_worker me = worker;
            const RF(task) all = *task;
            RF(device_attempts)((void *)(uintptr_t)&me, &all, at, some, tally);
        }
        done += some;
    }
    int64_t *const sum_z = RF(tally_z)(tally), *const sum_zz = RF(tally_zz)(tally);
    sum_z[0] += (int64_t)sums.b;
    if (RF_DEVICE_SAMPLER == RF_WEIGHT) {
        tally->weight += sums.a;
        tally->entropy += sums.entropy;
        sum_zz[0] += (int64_t)sums.c;
    } else { /* Σ(mark + q)² = accepted · mark² + 2 · mark · Σq + Σq² */
        const uint64_t mark = RF_DEVICE_MARK_BITS;
        tally->count.accepted += (uint32_t)sums.a;
        sum_zz[0] += (int64_t)(sums.c - sums.a * mark * mark - 2 * mark * sums.b);
    }
    tally->largest = RF(max)(tally->largest, RF(from_bits)(sums.highest) * plain.scale);
}
#else
RF_FN void RF(device_share)(const rf_device_worker worker, const RF(task) * task, const uint32_t *keys, uint32_t begin,
                            uint32_t count, RF(tally) * tally)
{
    (void)keys;
    RF(device_attempts)((void *)(uintptr_t)&worker, task, begin, count, tally);
}
#endif

/* A tally with space for its sums. */
typedef struct RF(device_tally) {
    RF(tally) tally;
    int64_t sums[RF_DEVICE_DIM + RF_TRIANGLE(RF_DEVICE_DIM)];
    rf_real work[4];
} RF(device_tally);

/* Packs a tally into the numbers of an answer. */
RF_FN void RF(device_pack)(const RF(device_tally) * t, uint64_t numbers[])
{
    const uint64_t head[RF_DEVICE_HEAD] = {t->tally.over,     t->tally.weight,   t->tally.nan,
                                           t->tally.negative, t->tally.infinite, RF(bits)(t->tally.largest)};
    for (unsigned i = 0; i < RF_DEVICE_HEAD; i++)
        numbers[i] = head[i];
    for (unsigned i = 0; i < RF_DEVICE_DIM + RF_TRIANGLE(RF_DEVICE_DIM); i++)
        numbers[RF_DEVICE_HEAD + i] = (uint64_t)t->sums[i];
}

/* ---- A task ---- */

#ifdef RF_HAS_BOUND
static rf_real RF(device_bound)(const rf_real setting[], rf_real outcome) { return bound(setting, outcome); }
#endif
static rf_real RF(device_likelihood)(const rf_real x[], const rf_real setting[], rf_real outcome)
{
    return likelihood(x, setting, outcome);
}

/* The model with device functions. charts[dim] receives its charts; their kinds are compile-time constants. */
RF_FN RF(model) RF(device_model_of)(const RF(device_model) * about, RF(chart) charts[])
{
    const int kinds[RF_DEVICE_DIM] = {RF_DEVICE_KINDS};
    int has_charts = 0; /* charts other than RF_REAL */
    RF_UNROLL_ALL
    for (unsigned i = 0; i < RF_DEVICE_DIM; i++)
        if (kinds[i] != RF_REAL) {
            for (unsigned j = 0; j < RF_DEVICE_DIM; j++)
                charts[j] = about->charts[j];
            has_charts = 1;
        }
    RF_UNROLL_ALL
    for (unsigned i = 0; i < RF_DEVICE_DIM && has_charts; i++)
        charts[i].kind = (rf_chart_kind)kinds[i];
    RF(model) model = about->model;
    model.likelihood = RF(device_likelihood);
    model.bound = 0;
#ifdef RF_HAS_BOUND
    model.bound = RF(device_bound);
#endif
    model.charts = has_charts ? charts : 0;
    model.kernels = 0;
    model.block = 0;
    model.dim = RF_DEVICE_DIM;
    model.is_log = (uint16_t)RF_IS_LOG(description);
    return model;
}

/* The task with device pointers. */
RF_FN RF(task) RF(device_task_of)(const RF(device_run) * run, const RF(model) * model)
{
    const rf_real *numbers = run->more ? run->more : run->numbers;
    RF(task) task = run->task;
    task.model = model;
    task.mean = numbers;
    task.factor = task.mean + RF_DEVICE_DIM;
    task.wrap = run->task.wrap ? task.factor + RF_TRIANGLE(RF_DEVICE_DIM) : 0;
    task.records = task.factor + RF_TRIANGLE(RF_DEVICE_DIM) + (run->task.wrap ? 2 * RF_DEVICE_DIM : 0);
    return task;
}

#if RF_DEVICE_GROUP == 0 && RF_DEVICE_DIM > RF_DEVICE_OWN
/* ---- Many parameters: each thread of a block runs a pair of attempts; all threads share the sums ---- */

enum { RF_DEVICE_TILE = 4, RF_DEVICE_TILES = (RF_DEVICE_DIM + RF_DEVICE_TILE - 1) / RF_DEVICE_TILE };

/* Shared memory of a block. */
typedef struct RF(device_block) {
    uint64_t *sums;  /* RF_DEVICE_NUMBERS */
    rf_real *weight; /* [columns] */
    int32_t *z;      /* [dim][row] */
    uint32_t row;
    uint32_t *columns; /* number of stored candidates */
} RF(device_block);

/* Reserves columns for `count` accepted candidates; returns the first. */
#if defined(__CUDACC__)
#define RF_DEVICE_COLUMNS(columns, count) atomicAdd(columns, count)
#define RF_DEVICE_ADD(sum, value) atomicAdd((unsigned long long *)(sum), (unsigned long long)(value))
#else
#define RF_DEVICE_COLUMNS(columns, count) ((*(columns) += (count)) - (count))
#define RF_DEVICE_ADD(sum, value) (*(sum) += (uint64_t)(value))
#endif

/* Natural values x of a pair, as RF(device_attempts_place) gives them. Four rows at a time, since every row's sum waits
   for its last term. */
RF_FN void RF(device_place)(const RF(task) * task, const int32_t *q, rf_real *x)
{
    const RF(chart) *charts = task->model->charts;
    for (unsigned k = 0; k < 2 * RF_DEVICE_DIM; k++)
        x[k] = (rf_real)q[k] * (RF_C(1.0) / RF_GRID);
    for (unsigned after = RF_DEVICE_DIM; after > 0;) { /* last rows first: earlier rows do not need their z */
        const unsigned rows = after % RF_DEVICE_TILE ? after % RF_DEVICE_TILE : RF_DEVICE_TILE, first = after - rows;
        const rf_real *row[RF_DEVICE_TILE];
        rf_real sum[RF_DEVICE_TILE][2];
        RF_UNROLL_ALL
        for (unsigned k = 0; k < RF_DEVICE_TILE; k++) {
            row[k] = task->factor + RF_TRIANGLE(first + (k < rows ? k : 0));
            sum[k][0] = row[k][0] * x[0];
            sum[k][1] = row[k][0] * x[1];
        }
        for (unsigned j = 1; j <= first; j++) {
            RF_UNROLL_ALL
            for (unsigned k = 0; k < RF_DEVICE_TILE; k++) {
                sum[k][0] += row[k][j] * x[2 * j];
                sum[k][1] += row[k][j] * x[2 * j + 1];
            }
        }
        RF_UNROLL_ALL
        for (unsigned k = 1; k < RF_DEVICE_TILE; k++)
            RF_UNROLL_ALL
        for (unsigned j = 1; j <= k; j++)
            if (k < rows) {
                sum[k][0] += row[k][first + j] * x[2 * (first + j)];
                sum[k][1] += row[k][first + j] * x[2 * (first + j) + 1];
            }
        RF_UNROLL_ALL
        for (unsigned k = 0; k < RF_DEVICE_TILE; k++)
            if (k < rows) {
                x[2 * (first + k)] = task->mean[first + k] + sum[k][0];
                x[2 * (first + k) + 1] = task->mean[first + k] + sum[k][1];
                RF(to_natural)(charts ? &charts[first + k] : 0, 2, x + 2 * (first + k));
            }
        after = first;
    }
}

/* Runs a pair of attempts; stores z of those that count in the block's memory. */
RF_FN void RF(device_pair)(const RF(task) * task, uint32_t pair, uint32_t begin, uint32_t count, unsigned thread,
                           const RF(device_block) * block, RF(tally) * tally)
{
    int32_t q[2 * RF_DEVICE_DIM];
    rf_real x[2 * RF_DEVICE_DIM], accept[2];
    float u[2];
    rf_lattice_start start = {~UINT32_C(0), {{0, 0, 0, 0}}};
    if (RF_DEVICE_SAMPLER == RF_REJECT)
        RF(device_attempts_draw)(task, RF_DEVICE_DIM, pair, q, u);
    else
        RF(device_attempts_draw_lattice)(task, RF_DEVICE_DIM, pair, &start, q, u);
    if (task->wrap)
        RF(device_attempts_wrap)(task->wrap, RF_DEVICE_DIM, q);
    RF(device_place)(task, q, x);
    RF(device_attempts_mark_outside)(RF_DEVICE_SAMPLER, pair, begin, count, u);
    if (RF(device_attempts_judge)(task, RF_DEVICE_DIM, x, u, 0, accept, tally))
        RF(device_attempts_look_closer)(task, RF_DEVICE_DIM, x, u, accept, tally);
    if (RF_DEVICE_SAMPLER == RF_WEIGHT) {
        RF(device_attempts_add_weighted)(task, 0, 2 * pair, q, accept, tally);
        for (unsigned lane = 0; lane < 2; lane++) {
            block->weight[2 * thread + lane] = accept[lane];
            for (unsigned d = 0; d < RF_DEVICE_DIM; d++)
                block->z[d * block->row + 2 * thread + lane] = q[2 * d + lane];
        }
    } else {
        RF(device_attempts_add_accepted)(0, q, u, accept, tally);
        const uint32_t first = (rf_real)u[0] <= accept[0], second = (rf_real)u[1] <= accept[1];
        uint32_t column = first + second > 0 ? RF_DEVICE_COLUMNS(block->columns, first + second) : 0;
        for (unsigned lane = 0; lane < 2; lane++) {
            const uint32_t is_in = lane == 0 ? first : second;
            for (unsigned d = 0; d < RF_DEVICE_DIM && is_in; d++)
                block->z[d * block->row + column] = q[2 * d + lane];
            column += is_in;
        }
    }
}

/* One term of Σzzᵀ. */
RF_FN int64_t RF(device_product)(int32_t a, int32_t b, rf_real weight)
{
    if (RF_DEVICE_SAMPLER != RF_WEIGHT)
        return (int64_t)a * b;
    return RF(weighted)(weight, (rf_real)a * (RF_C(1.0) / RF_GRID) * ((rf_real)b * (RF_C(1.0) / RF_GRID)));
}

/* Adds the stored candidates to the sums: tiles of Σzzᵀ and rows of Σz, distributed over the threads. If there are more
   threads than tiles, several share the columns of a tile. */
RF_FN void RF(device_add)(unsigned thread, unsigned threads, const RF(device_block) * block)
{
    const unsigned columns = RF_DEVICE_SAMPLER == RF_WEIGHT ? 2 * threads : *block->columns,
                   tiles = RF_DEVICE_TILES * (RF_DEVICE_TILES + 1) / 2;
    const unsigned parts = threads / tiles > 1 ? threads / tiles : 1;
    uint64_t *const z = block->sums + RF_DEVICE_HEAD, *const zz = z + RF_DEVICE_DIM;
    for (unsigned work = thread; work < tiles * parts; work += threads) {
        unsigned tile = work % tiles, row = 0;
        int64_t sum[RF_DEVICE_TILE][RF_DEVICE_TILE] = {{0}};
        for (; tile > row; row++)
            tile -= row + 1;
        const int32_t *a[RF_DEVICE_TILE], *b[RF_DEVICE_TILE]; /* rows past the end repeat the last, unused */
        for (unsigned k = 0; k < RF_DEVICE_TILE; k++) {
            const unsigned i = row * RF_DEVICE_TILE + k, j = tile * RF_DEVICE_TILE + k;
            a[k] = block->z + (i < RF_DEVICE_DIM ? i : RF_DEVICE_DIM - 1) * block->row;
            b[k] = block->z + (j < RF_DEVICE_DIM ? j : RF_DEVICE_DIM - 1) * block->row;
        }
        for (unsigned c = work / tiles; c < columns; c += parts) {
            const rf_real weight = RF_DEVICE_SAMPLER == RF_WEIGHT ? block->weight[c] : 0;
            RF_UNROLL_ALL
            for (unsigned k = 0; k < RF_DEVICE_TILE; k++)
                RF_UNROLL_ALL
            for (unsigned l = 0; l < RF_DEVICE_TILE; l++)
                sum[k][l] += RF(device_product)(a[k][c], b[l][c], weight);
        }
        RF_UNROLL_ALL
        for (unsigned k = 0; k < RF_DEVICE_TILE; k++)
            RF_UNROLL_ALL
        for (unsigned l = 0; l < RF_DEVICE_TILE; l++) {
            const unsigned i = row * RF_DEVICE_TILE + k, j = tile * RF_DEVICE_TILE + l;
            if (i < RF_DEVICE_DIM && j <= i && sum[k][l] != 0)
                RF_DEVICE_ADD(&zz[RF_TRIANGLE(i) + j], sum[k][l]);
        }
    }
    for (unsigned d = thread; d < RF_DEVICE_DIM; d += threads) {
        int64_t sum = 0;
        for (unsigned c = 0; c < columns; c++) {
            const int32_t q = block->z[d * block->row + c];
            sum +=
                RF_DEVICE_SAMPLER == RF_WEIGHT ? RF(weighted)(block->weight[c], (rf_real)q * (RF_C(1.0) / RF_GRID)) : q;
        }
        z[d] += (uint64_t)sum;
    }
}

/* Adds a thread's tally, without sums, to the block's. */
RF_FN void RF(device_gather)(const RF(tally) * t, uint64_t *sums)
{
    const uint64_t head[RF_DEVICE_HEAD - 1] = {t->over, t->weight, t->nan, t->negative, t->infinite};
    for (unsigned i = 0; i < RF_DEVICE_HEAD - 1; i++)
        if (head[i] != 0)
            RF_DEVICE_ADD(&sums[i], head[i]);
#if defined(__CUDACC__)
    atomicMax((unsigned long long *)&sums[RF_DEVICE_HEAD - 1], (unsigned long long)RF(bits)(t->largest));
#else
    sums[RF_DEVICE_HEAD - 1] =
        RF(bits)(t->largest) > sums[RF_DEVICE_HEAD - 1] ? RF(bits)(t->largest) : sums[RF_DEVICE_HEAD - 1];
#endif
}
#elif RF_DEVICE_GROUP == 0
/* Fills the part of the lattice that a launch needs. */
RF_FN void RF(device_fill_for)(const RF(device_run) * run, unsigned thread, unsigned threads)
{
#if RF_DEVICE_PLAIN
    if (RF_DEVICE_SAMPLER != RF_REJECT &&
        rf_device_fill_few(run->task.seed, run->task.update, run->begin, run->count, thread, threads))
        return;
#endif
    rf_device_fill(thread, threads);
}

/* The work of one thread in a run: its share of every worker.count / 32-th piece. */
RF_FN void RF(device_part)(const RF(device_run) * run, rf_device_worker worker, uint64_t numbers[])
{
    RF(chart) charts[RF_DEVICE_DIM];
    const RF(model) model = RF(device_model_of)(&run->about, charts);
    const RF(task) task = RF(device_task_of)(run, &model);
    rf_device_worker lane = {worker.index % 32, 32};
    const uint32_t end = run->begin + run->count, step = worker.count / 32 * run->piece; /* at most 2³¹ each */
    RF(device_tally) t;
    RF(tally_clear)(&t.tally, RF_DEVICE_DIM, task.update);
    for (uint32_t from = run->begin / run->piece * run->piece + worker.index / 32 * run->piece; from < end;
         from += step) {
        const uint32_t first = from < run->begin ? run->begin : from,
                       after = end - from < run->piece ? end : from + run->piece;
        RF(device_share)(lane, &task, run->keys, first, after - first, &t.tally);
    }
    RF(device_pack)(&t, numbers);
}

#endif

/* ---- Fleets ---- */

#if RF_DEVICE_GROUP > 0

/* An engine's run function: the threads of a group share the attempts, and each gets all sums. */
#if defined(__CUDACC__)
#if RF_DEVICE_GROUP > 1
static __noinline__
#else
static __forceinline__
#endif
    rf_status
    RF(device_group_run)(void *self, const RF(task) * task, uint32_t begin, uint32_t count, RF(tally) * tally)
{
    const rf_device_worker worker = {RF_WORKER, RF_WORKERS};
    const RF(task) own = *task;
    RF(device_tally) t;
    (void)self;
    RF(tally_clear)(&t.tally, RF_DEVICE_DIM, own.update);
    RF(device_share)(worker, &own, 0, begin, count, &t.tally);
    if (RF_DEVICE_GROUP > 1) {
        uint64_t bad[3] = {t.tally.nan, t.tally.negative, t.tally.infinite};
        const int any = __any_sync(__activemask(), (bad[0] | bad[1] | bad[2]) != 0);
        rf_device_group_sum(&t.tally.over, 1);
        rf_device_group_sum(&t.tally.weight, 1);
        rf_device_group_sum((uint64_t *)t.sums, RF_DEVICE_DIM + RF_TRIANGLE(RF_DEVICE_DIM));
        t.tally.largest = RF(from_bits)((rf_unsigned)rf_device_group_max(RF(bits)(t.tally.largest)));
        if (any) {
            rf_device_group_sum(bad, 3);
            t.tally.nan = (uint16_t)(bad[0] < 65535 ? bad[0] : 65535);
            t.tally.negative = (uint16_t)(bad[1] < 65535 ? bad[1] : 65535);
            t.tally.infinite = (uint16_t)(bad[2] < 65535 ? bad[2] : 65535);
        }
    }
    return RF(tally_add)(tally, &t.tally);
}
#else
static rf_status RF(device_group_run)(void *self, const RF(task) * task, uint32_t begin, uint32_t count,
                                      RF(tally) * tally)
{
    (void)self;
    for (uint32_t index = 0; index < RF_DEVICE_GROUP; index++) {
        const rf_device_worker worker = {index, RF_DEVICE_GROUP};
        RF(device_share)(worker, task, 0, begin, count, tally);
    }
    return RF_OK;
}
#endif

/* Updates a filter of the fleet with record number `index`. Every thread of a group has a copy of the filter. Returns
   notes. */
RF_FN rf_status RF(device_update)(const RF(device_fleet) * fleet, uint32_t index, unsigned char *memory,
                                  RF(report) * report)
{
    RF(chart) charts[RF_DEVICE_DIM];
    const RF(model) model = RF(device_model_of)(&fleet->about, charts);
    const RF(engine) group = {RF(device_group_run), 0, 0};
    RF(filter) *filter = (RF(filter) *)(void *)memory;
    return RF(update_checked)(filter, &model, fleet->records + (size_t)index * (model.settings + 1u), 1,
                              &fleet->options, &group, report);
}

#endif

#if defined(__CUDACC__)
/* ---- Kernels ---- */

#ifndef RF_DEVICE_FLEET_BLOCKS
#define RF_DEVICE_FLEET_BLOCKS 3 /* resident blocks per multiprocessor: fewer registers, more threads */
#endif
#ifndef RF_DEVICE_RUN_BLOCKS
#define RF_DEVICE_RUN_BLOCKS (RF_DEVICE_PLAIN ? 2 : 3)
#endif
#ifndef RF_DEVICE_RUN_THREADS
#define RF_DEVICE_RUN_THREADS 256
#endif

#if RF_DEVICE_GROUP == 0
enum { NUMBERS = RF_DEVICE_NUMBERS(RF_DEVICE_DIM), LARGEST = RF_DEVICE_HEAD - 1 };

/* Adds a block's sums to those of the others; the last block to finish writes them to the host. */
static __forceinline__ void RF(device_give)(const RF(device_run) & run, unsigned long long *block)
{
    __shared__ uint32_t is_last;
    __syncthreads();
    if (gridDim.x > 1) {
        unsigned long long *sums = (unsigned long long *)run.sums;
        for (unsigned i = threadIdx.x; i < NUMBERS; i += blockDim.x) {
            if (i == LARGEST)
                atomicMax(&sums[i], block[i]);
            else
                atomicAdd(&sums[i], block[i]);
        }
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0)
            is_last = atomicAdd(&sums[NUMBERS], 1ull) == gridDim.x - 1;
        __syncthreads();
        if (!is_last)
            return;
        __threadfence();
        for (unsigned i = threadIdx.x; i < NUMBERS; i += blockDim.x)
            block[i] = atomicExch(&sums[i], 0ull);
        if (threadIdx.x == 0)
            sums[NUMBERS] = 0;
    }
    for (unsigned i = threadIdx.x; i < NUMBERS; i += blockDim.x)
        run.answer[i] = block[i];
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x == 0)
        run.answer[NUMBERS] = run.number;
}

#if RF_DEVICE_DIM > RF_DEVICE_OWN
extern "C" __global__ void __launch_bounds__(256) rejfilt_run(const __grid_constant__ RF(device_run) run)
{
    extern __shared__ uint64_t memory[];
    __shared__ uint32_t columns;
    rf_real *const weight = (rf_real *)(memory + NUMBERS);
    const RF(device_block)
        block = {memory, weight, (int32_t *)(weight + 2 * blockDim.x), RF_DEVICE_ROW(blockDim.x), &columns};
    RF(chart) charts[RF_DEVICE_DIM];
    const RF(model) model = RF(device_model_of)(&run.about, charts);
    const RF(task) task = RF(device_task_of)(&run, &model);
    alignas(8) unsigned char own[sizeof(RF(tally)) + 8];
    RF(tally) *const tally = (RF(tally) *)own;
    for (unsigned i = threadIdx.x; i < NUMBERS; i += blockDim.x)
        memory[i] = 0;
    *tally = RF(tally){};
    rf_device_fill(threadIdx.x, blockDim.x);
    for (uint32_t pair = run.begin / 2 + blockIdx.x * blockDim.x; pair <= (run.begin + run.count - 1) / 2;
         pair += gridDim.x * blockDim.x) {
        if (threadIdx.x == 0)
            columns = 0;
        __syncthreads();
        RF(device_pair)(&task, pair + threadIdx.x, run.begin, run.count, threadIdx.x, &block, tally);
        __syncthreads();
        RF(device_add)(threadIdx.x, blockDim.x, &block);
        __syncthreads();
    }
    RF(device_gather)(tally, memory);
    RF(device_give)(run, (unsigned long long *)memory);
}
#else
extern "C" __global__ void __launch_bounds__(RF_DEVICE_RUN_THREADS, RF_DEVICE_RUN_BLOCKS)
    rejfilt_run(const __grid_constant__ RF(device_run) run)
{
    __shared__ unsigned long long block[NUMBERS];
    const rf_device_worker worker = {blockIdx.x * blockDim.x + threadIdx.x, gridDim.x * blockDim.x};
    uint64_t numbers[NUMBERS];
    for (unsigned i = threadIdx.x; i < NUMBERS; i += blockDim.x)
        block[i] = 0;
    RF(device_fill_for)(&run, threadIdx.x, RF_DEVICE_RUN_THREADS);
    RF(device_part)(&run, worker, numbers);
    for (unsigned i = 0; i < NUMBERS; i++)
        for (unsigned step = 16; step > 0; step /= 2) {
            const uint64_t other = __shfl_xor_sync(0xffffffffu, (unsigned long long)numbers[i], step);
            numbers[i] = i == LARGEST ? (other > numbers[i] ? other : numbers[i]) : numbers[i] + other;
        }
    if (threadIdx.x % 32 == 0)
        for (unsigned i = 0; i < NUMBERS; i++) {
            if (i == LARGEST)
                atomicMax(&block[i], (unsigned long long)numbers[i]);
            else
                atomicAdd(&block[i], (unsigned long long)numbers[i]);
        }
    RF(device_give)(run, block);
}
#endif
#else
/* Refuses the records that an update would refuse. */
extern "C" __global__ void rejfilt_check(const __grid_constant__ RF(device_fleet) fleet)
{
    RF(chart) charts[RF_DEVICE_DIM];
    const RF(model) model = RF(device_model_of)(&fleet.about, charts);
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < fleet.count; i += gridDim.x * blockDim.x) {
        const rf_status status =
            RF(records_check)(&model, fleet.records + (size_t)i * (model.settings + 1u), 1, &fleet.options);
        const RF(filter) *filter = (const RF(filter) *)(fleet.filters + (size_t)(fleet.which ? fleet.which[i] : i) * fleet.stride);
        if (status < 0 || filter->tally.update == 0xffffffffu)
            fleet.answer[1] = status < 0 ? status : RF_REFUSED_USED_UP;
    }
}

/* Sizes of a filter: with and without workspace. */
enum {
    RF_DEVICE_KEPT = RF_FILTER_BYTES_(RF_DEVICE_DIM, sizeof(RF(tally)), sizeof(rf_real)),
    RF_DEVICE_MOVED = RF_DEVICE_KEPT - RF_ROUND8_(sizeof(rf_real) * RF_STATE_(RF_DEVICE_DIM)) +
                      RF_ROUND8_(sizeof(rf_real) * (RF_DEVICE_DIM + RF_TRIANGLE(RF_DEVICE_DIM)))
};

/* Copies a filter, by one thread or by a group that shares the work. */
static __forceinline__ void rf_device_copy(void *to, const void *from, unsigned worker, unsigned workers)
{
    RF_UNROLL_ALL
    for (unsigned k = worker; k < RF_DEVICE_MOVED / 8; k += workers)
        ((uint64_t *)to)[k] = ((const uint64_t *)from)[k];
}

static __forceinline__ RF(filter) * RF(device_filter)(const RF(device_fleet) & fleet, uint32_t i)
{
    return (RF(filter) *)(fleet.filters + (fleet.which ? fleet.which[i] : i) * fleet.stride);
}

extern "C" __global__ void __launch_bounds__(256, RF_DEVICE_FLEET_BLOCKS)
    rejfilt_fleet(const __grid_constant__ RF(device_fleet) fleet)
{
    rf_status notes = RF_OK;
    rf_device_fill(threadIdx.x, blockDim.x);
    if (fleet.answer[1] < 0)
        return;
    for (uint32_t i = (blockIdx.x * blockDim.x + threadIdx.x) / RF_DEVICE_GROUP; i < fleet.count;
         i += gridDim.x * blockDim.x / RF_DEVICE_GROUP) {
        alignas(16) unsigned char memory[RF_DEVICE_KEPT];
        RF(filter) *filter = RF(device_filter)(fleet, i);
        RF(report) report;
        rf_device_copy(memory, filter, 0, 1);
        notes |= RF(device_update)(&fleet, i, memory, RF_DEVICE_ENTROPY && fleet.reports ? &report : 0);
        rf_device_copy(filter, memory, RF_WORKER, RF_WORKERS);
        if (RF_DEVICE_ENTROPY && fleet.reports && RF_WORKER == 0)
            fleet.reports[i] = report;
    }
    if (notes)
        atomicOr(fleet.answer, notes);
}

/* ---- Other operations on a fleet: one thread per filter ---- */

extern "C" __global__ void rejfilt_fill(const __grid_constant__ RF(device_fleet) fleet)
{
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < fleet.count; i += gridDim.x * blockDim.x) {
        RF(filter) *filter = RF(device_filter)(fleet, i);
        RF(tally_clear)(&filter->tally, RF_DEVICE_DIM, 0);
        RF(filter_restore)
        (filter, rf_seed_of(fleet.prior->seed, i), 0, RF(filter_mean)(fleet.prior), RF(filter_factor)(fleet.prior), 0);
    }
}

extern "C" __global__ void rejfilt_pass(const __grid_constant__ RF(device_fleet) fleet)
{
    rf_status notes = RF_OK;
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < fleet.count; i += gridDim.x * blockDim.x) {
        alignas(16) unsigned char memory[RF_DEVICE_KEPT]; /* with workspace, which the stored filters lack */
        RF(filter) *filter = RF(device_filter)(fleet, i);
        rf_device_copy(memory, filter, 0, 1);
        notes |= RF(diffuse)((RF(filter) *)memory, fleet.rate, fleet.elapsed);
        rf_device_copy(filter, memory, 0, 1);
    }
    if (notes)
        atomicOr(fleet.answer, notes);
}

extern "C" __global__ void rejfilt_read(const __grid_constant__ RF(device_fleet) fleet)
{
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < fleet.count; i += gridDim.x * blockDim.x) {
        const RF(filter) *filter = RF(device_filter)(fleet, i);
        const rf_real *from = fleet.what == 0 ? RF(filter_mean)(filter) : RF(filter_factor)(filter);
        const unsigned numbers = fleet.what == 2 ? RF_TRIANGLE(RF_DEVICE_DIM) : RF_DEVICE_DIM;
        for (unsigned k = 0; k < numbers; k++)
            fleet.out[(size_t)i * numbers + k] = fleet.what == 1 ? RF(filter_sd)(filter, k) : from[k];
    }
}
#endif
#endif
