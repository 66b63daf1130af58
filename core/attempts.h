/* The attempts of an update: the loop at the heart of the project, written once.

   Include it with
     RF_KERNEL             the name of the function it defines, an RF(run)
     RF_KERNEL_PAIRS       attempts run side by side, in pairs that share random words
     RF_KERNEL_DIM         the number of parameters: a constant, or `task->model->dim`
     RF_KERNEL_IS_LOG      likewise, whether the model returns logarithms
     RF_KERNEL_LIKELIHOOD  the likelihood function, inlined where it can be
     RF_KERNEL_BOUND       the bound as a function of (setting, outcome)

   Attempts 2k and 2k+1 use the words of element k: words 2d and 2d+1 make the normals of parameter
   d for both, the two words after those decide acceptance. An attempt's numbers depend on its index
   alone, never on the range or the pairs side by side; every sum is exact. So all engines agree to
   the bit, given that the compiler does not contract a·b + c (-ffp-contract=off). */

#ifndef RF_GRID
#define RF_GRID 8192               /* z is a multiple of 1/RF_GRID; |z| < 8, so Σzz of 2³¹ attempts fits 63 bits */
#define RF_OVER_UNIT 65536         /* Π max(P/κ, 1) − 1 is summed in units of 1/RF_OVER_UNIT, */
#define RF_OVER_MOST RF_C(32767.0) /* and each attempt's counts for this much at most */
#endif

#define RF_KERNEL_LANES (2 * RF_KERNEL_PAIRS)

#ifndef RF_KERNEL_ONCE
#define RF_KERNEL_ONCE

/* z rounded to the grid: adding and subtracting a number whose last bit is the grid's. */
RF_FN rf_real RF(to_grid)(rf_real z)
{
    const rf_real big = sizeof(rf_real) == 4 ? RF_C(0x1.8p10) : RF_C(0x1.8p39);
    return (z + big) - big;
}

/* What is known of an attempt after some of its records. */
typedef struct RF(verdict) {
    rf_real accept; /* Π min(P/κ, 1) */
    rf_real over;   /* Π max(P/κ, 1) */
    rf_real largest;
    int32_t nan, negative, infinite, above;
} RF(verdict);

/* Judges one likelihood value; a bad one counts as zero. `scale` is 1/κ, or −ln κ for logarithms. */
RF_FN void RF(judge)(RF(verdict) *v, rf_real value, rf_real scale, int is_log)
{
    const rf_real most = RF_LIMIT * RF_LIMIT;
    int nan = !(value == value);
    int infinite = value > most;
    int negative = !is_log & (value < 0);
    rf_real ratio = is_log ? RF(exp)(RF(min)(value + scale, RF_C(40.0))) : RF(min)(value * scale, RF_LIMIT);
    ratio = (nan | infinite | negative) ? RF_C(0.0) : ratio;
    v->nan |= nan;
    v->infinite |= infinite;
    v->negative |= negative;
    v->above |= ratio > RF_C(1.0);
    v->largest = RF(max)(v->largest, ratio);
    v->accept *= RF(min)(ratio, RF_C(1.0));
    v->over *= RF(max)(ratio, RF_C(1.0));
}

/* count += more, stopping at 65535. */
RF_FN void RF(count_bad)(uint16_t *count, uint32_t more)
{
    uint32_t sum = *count + more;
    *count = (uint16_t)(sum < 65535u ? sum : 65535u);
}
#endif

static rf_status RF_KERNEL(void *self, const RF(task) *task, uint32_t begin, uint32_t count, RF(tally) *tally)
{
    const RF(model) *model = task->model;
    const unsigned dim = RF_KERNEL_DIM;
    const size_t stride = (size_t)model->settings + 1;
    int64_t *const sum_z = RF(tally_z)(tally), *const sum_zz = RF(tally_zz)(tally);
    rf_real one[2 * RF_KERNEL_LANES + 1]; /* work for one parameter; more use the tally's */
    rf_real *const z = dim > 1 ? RF(tally_work)(tally) : one;
    rf_real *const x = z + dim * RF_KERNEL_LANES;
    rf_real *const point = x + dim * RF_KERNEL_LANES;
    rf_real u[RF_KERNEL_LANES];
    (void)self;

    if (count == 0)
        return RF_OK;
    const uint32_t first = begin / 2, last = (begin + count - 1) / 2;
    for (uint32_t pair = first; pair <= last; pair += RF_KERNEL_PAIRS) {
        for (unsigned block = 0; block <= dim / 2; block++) {
            for (unsigned p = 0; p < RF_KERNEL_PAIRS; p++) {
                rf_words w = rf_draw(task->seed, task->update, pair + p, block, RF_FOR_ATTEMPTS);
                for (unsigned half = 0; half < 2; half++) {
                    unsigned d = 2 * block + half;
                    rf_real even, odd;
                    if (d < dim) {
                        RF(normal_pair)(w.word[2 * half], w.word[2 * half + 1], &even, &odd);
                        z[d * RF_KERNEL_LANES + p] = RF(to_grid)(even);
                        z[d * RF_KERNEL_LANES + RF_KERNEL_PAIRS + p] = RF(to_grid)(odd);
                    } else if (d == dim) {
                        u[p] = RF(uniform)(w.word[2 * half]);
                        u[RF_KERNEL_PAIRS + p] = RF(uniform)(w.word[2 * half + 1]);
                    }
                }
            }
        }
        if (task->wrap) {
            for (unsigned d = 0; d < dim; d++) {
                rf_real period = task->wrap[2 * d], cut = task->wrap[2 * d + 1];
                rf_real *lanes = z + d * RF_KERNEL_LANES;
                for (unsigned lane = 0; period > 0 && lane < RF_KERNEL_LANES; lane++)
                    lanes[lane] = RF(to_grid)(lanes[lane] - period * RF(floor)(lanes[lane] / period + cut));
            }
        }
        for (unsigned i = 0; i < dim; i++) {
            const rf_real *row = task->factor + RF_TRIANGLE(i);
            const RF(chart) *chart = model->charts ? &model->charts[i] : 0;
            for (unsigned lane = 0; lane < RF_KERNEL_LANES; lane++) {
                rf_real sum = row[0] * z[lane];
                for (unsigned j = 1; j <= i; j++)
                    sum += row[j] * z[j * RF_KERNEL_LANES + lane];
                rf_real y = task->mean[i] + sum;
                x[i * RF_KERNEL_LANES + lane] = chart ? RF(natural)(chart, y) : y;
            }
        }

        for (unsigned lane = 0; lane < RF_KERNEL_LANES; lane++) {
            uint32_t attempt = 2 * (pair + lane % RF_KERNEL_PAIRS) + lane / RF_KERNEL_PAIRS;
            if (attempt - begin >= count)
                continue;
            for (unsigned i = 0; i < dim; i++)
                point[i] = x[i * RF_KERNEL_LANES + lane];
            RF(verdict) verdict = {1, 1, 0, 0, 0, 0, 0};
            for (uint32_t k = 0; k < task->count; k++) {
                const rf_real *setting = task->records + k * stride;
                rf_real outcome = setting[model->settings], bound = RF_KERNEL_BOUND(setting, outcome);
                rf_real scale = RF_KERNEL_IS_LOG ? -(bound + RF(log)(task->kappa)) : RF_C(1.0) / (bound * task->kappa);
                RF(judge)(&verdict, RF_KERNEL_LIKELIHOOD(point, setting, outcome), scale, RF_KERNEL_IS_LOG);
            }
            tally->largest = RF(max)(tally->largest, verdict.largest);
            tally->above += (uint32_t)verdict.above;
            RF(count_bad)(&tally->nan, (uint32_t)verdict.nan);
            RF(count_bad)(&tally->negative, (uint32_t)verdict.negative);
            RF(count_bad)(&tally->infinite, (uint32_t)verdict.infinite);
            if (!(u[lane] <= verdict.accept))
                continue;
            tally->accepted++;
            tally->over += (uint64_t)(RF(min)(verdict.over - 1, RF_OVER_MOST) * RF_OVER_UNIT);
            for (unsigned i = 0; i < dim; i++) {
                int64_t zi = (int32_t)(z[i * RF_KERNEL_LANES + lane] * RF_GRID);
                sum_z[i] += zi;
                for (unsigned j = 0; j <= i; j++)
                    sum_zz[RF_TRIANGLE(i) + j] += zi * (int32_t)(z[j * RF_KERNEL_LANES + lane] * RF_GRID);
            }
        }
    }
    return RF_OK;
}

#undef RF_KERNEL_LANES
