/* Loops over many numbers, compiled for every target by block.c: placing blocks of points, summing their likelihoods,
   costs of mergers, probabilities below a point. */
#ifndef REJFILT_BLOCK_H
#define REJFILT_BLOCK_H

#include "rejfilt/detail/steps.h"

#include "../common.h"
#include "component.h"
#include "mixture.h"
#include "rejfilt/host.h"

#include "../../models/known.h"

enum {
    RF_BLOCK = 64, /* points per block */
    RF_LANES = 8,  /* partial sums, so that the order of additions is the same on every machine */
    RF_TOGETHER = 1 + RF_HOST_ONLY(7), /* components at a time; arrays of them have room for so many more */
    RF_PADDED = RF_MIXTURE_MAX + RF_TOGETHER,
    RF_TURNS = 3 /* of a circle, on either side */
};

/* Weighted sums over the points. */
typedef struct rf_sums {
    double scale;                                                  /* of all sums, a logarithm */
    double one, square, entropy;                                   /* Σℓ, Σℓ², Σℓ·lnℓ */
    double z[RF_ROOM], zz[RF_TRIANGLE(RF_ROOM)]; /* Σℓz, Σℓzzᵀ */
} rf_sums;

/* Quantities of every component that mergers use, and of RF_TOGETHER that do not exist. */
typedef struct rf_merger {
    double weight[RF_PADDED], log_size[RF_PADDED];                   /* logarithms of the sizes of factors */
    double mean[2][RF_PADDED], covariance[3][RF_PADDED];             /* of one or two parameters */
    double cost[RF_TRIANGLE(RF_MIXTURE_MAX)];                        /* of pairs j < i, at RF_TRIANGLE(i) + j */
    double least[RF_MIXTURE_MAX];                                    /* the least cost for each i, */
    uint32_t partner[RF_MIXTURE_MAX];                                /* and its j */
} rf_merger;

/* The components of one parameter, and RF_TOGETHER that do not exist. On a circle each is repeated for several turns. */
typedef struct rf_line {
    uint32_t count;
    double weight[RF_PADDED], mean[RF_PADDED], sd[RF_PADDED];
    double period, from; /* 0: a line */
} rf_line;

/* The four functions at the end of this file, for one target. */
typedef struct rf_block_kernel {
    void (*place)(const rf64_model *model, const double *base, const double *A, double q[][RF_BLOCK], uint32_t n, double *x);
    void (*add)(rf_sums *s, const rf64_model *model, const double *weight, double q[][RF_BLOCK], uint32_t n, double *value,
                double *room);
    void (*costs)(const rf_merger *g, unsigned dim, const rf64_chart charts[], uint32_t i, uint32_t first, uint32_t end, double cost[]);
    double (*below)(const rf_line *g, double y, double *density, double *slope);
} rf_block_kernel;

/* RF_MANY(place): the one for this CPU. */
#ifdef RF_TARGETS
const rf_block_kernel *rf_block_kernel_best(void);
#define RF_MANY(function) rf_block_kernel_best()->function
#else
#define RF_MANY(function) RF_MANY_##function
#define RF_MANY_place rf_points_place
#define RF_MANY_add rf_sums_add
#define RF_MANY_costs rf_merger_costs
#define RF_MANY_below rf_line_below
#endif

RF_FN double rf_total_of(const double lane[RF_LANES])
{
    return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

RF_FN double rf_sum_lanes(const double *a, uint32_t n)
{
    double lane[RF_LANES] = {0};
    for (size_t k = 0; k < n; k += RF_LANES) /* size_t: compilers do not vectorise an index that may wrap around */
        for (size_t l = 0; l < RF_LANES; l++)
            lane[l] += a[k + l];
    return rf_total_of(lane);
}

RF_FN double rf_dot_lanes(const double *a, const double *b, uint32_t n)
{
    double lane[RF_LANES] = {0};
    for (size_t k = 0; k < n; k += RF_LANES)
        for (size_t l = 0; l < RF_LANES; l++)
            lane[l] += a[k + l] * b[k + l];
    return rf_total_of(lane);
}

/* Changes the scale of the sums to `scale`. */
RF_FN void rf_sums_rescale(rf_sums *s, unsigned dim, double scale)
{
    const double factor = s->one > 0 ? rf64_exp(s->scale - scale) : 0;
    s->entropy = factor * (s->entropy + (s->one > 0 ? (s->scale - scale) * s->one : 0));
    s->one *= factor;
    s->square *= factor * factor;
    for (unsigned i = 0; i < dim; i++)
        s->z[i] *= factor;
    for (size_t i = 0; i < RF_TRIANGLE(dim); i++)
        s->zz[i] *= factor;
    s->scale = scale;
}

/* Adds a block: values in the form the model returns; weights of the points, or null. `room`: space for a block. */
RF_FN void rf_sums_add(rf_sums *s, const rf64_model *model, const double *weight, double q[][RF_BLOCK], uint32_t n, double *value,
                double *room)
{
    if (RF_MODEL_IS_LOG(model)) {
        double highest = -rf64_infinity();
        for (uint32_t k = 0; k < n; k++)
            highest = rf64_max(value[k], highest);
        if (!(highest > -rf64_infinity()))
            return;
        if (!(s->one > 0) || highest > s->scale)
            rf_sums_rescale(s, model->dim, highest);
        for (uint32_t k = 0; k < n; k++) {
            const double log_l = rf64_max(value[k] - s->scale, -1000.0);
            value[k] = rf64_exp(log_l);
            room[k] = log_l;
        }
    } else {
        for (uint32_t k = 0; k < n; k++)
            room[k] = rf64_log(rf64_max(value[k], RF64_SMALLEST_NORMAL));
    }
    if (weight)
        for (uint32_t k = 0; k < n; k++)
            value[k] *= weight[k];
    for (; n % RF_LANES; n++) /* pad to whole vectors */
        value[n] = room[n] = 0;
    s->one += rf_sum_lanes(value, n);
    s->square += rf_dot_lanes(value, value, n);
    s->entropy += rf_dot_lanes(value, room, n);
    for (unsigned i = 0; i < RF_DIM(model->dim); i++) {
        for (uint32_t k = 0; k < n; k++)
            room[k] = value[k] * q[i][k];
        s->z[i] += rf_sum_lanes(room, n);
        for (unsigned j = 0; j <= i; j++)
            s->zz[RF_TRIANGLE(i) + j] += rf_dot_lanes(room, q[j], n);
    }
}

/* x[k * dim + i] ← natural values at base + A·q. y: space for a block. */
RF_FN void rf_points_place(const rf64_model *model, const double *base, const double *A, double q[][RF_BLOCK], uint32_t n,
                  double *x)
{
    const unsigned dim = RF_DIM(model->dim);
    double own[RF_BLOCK], *y = dim == 1 ? x : own;
    for (unsigned i = 0; i < dim; i++) {
        const double *row = A + RF_TRIANGLE(i);
        for (uint32_t k = 0; k < n; k++)
            y[k] = base[i] + row[i] * q[i][k];
        for (unsigned j = 0; j < i; j++)
            for (uint32_t k = 0; k < n; k++)
                y[k] += row[j] * q[j][k];
        rf64_to_natural(&model->charts[i], n, y);
        for (uint32_t k = 0; k < n && dim > 1; k++)
            x[(size_t)k * dim + i] = y[k];
    }
}

/* cost[k] ← cost of merging components i and first + k, of one or two parameters: Runnalls's upper bound of the
   divergence of the merged one from the two, in nats of the whole mixture. */
RF_FN void rf_merger_costs(const rf_merger *g, unsigned dim, const rf64_chart charts[], uint32_t i, uint32_t first, uint32_t end,
                           double cost[])
{
    const double w = g->weight[i], own = w * g->log_size[i];
    for (size_t next = first; next < end; next += RF_TOGETHER) {
        double apart[2][RF_TOGETHER] = {{0}}, size[RF_TOGETHER], some[RF_TOGETHER];
        for (unsigned d = 0; d < dim; d++) {
            for (size_t k = 0; k < RF_TOGETHER; k++)
                apart[d][k] = g->mean[d][next + k] - g->mean[d][i];
            for (size_t k = 0; k < RF_TOGETHER && charts[d].kind == RF_PERIODIC; k++)
                apart[d][k] = rf_component_apart(&charts[d], apart[d][k]);
        }
        const double *weight = g->weight + next, *c0 = g->covariance[0] + next, *c1 = g->covariance[1] + next,
                     *c2 = g->covariance[2] + next;
        RF_LOOP_OF_EIGHT
        for (size_t k = 0; k < RF_TOGETHER; k++) {
            const double both = w + weight[k], share = w / both, other = weight[k] / both, spread = share * other;
            size[k] = share * g->covariance[0][i] + other * c0[k] + spread * apart[0][k] * apart[0][k];
        }
        RF_LOOP_OF_EIGHT
        for (size_t k = 0; k < RF_TOGETHER && dim == 2; k++) { /* the determinant, at least its rounding error */
            const double both = w + weight[k], share = w / both, other = weight[k] / both, spread = share * other;
            const double across = share * g->covariance[1][i] + other * c1[k] + spread * apart[0][k] * apart[1][k],
                         second = share * g->covariance[2][i] + other * c2[k] + spread * apart[1][k] * apart[1][k];
            size[k] = rf64_max(size[k] * second - across * across, size[k] * second * 0x1p-50);
        }
        RF_LOOP_OF_EIGHT
        for (size_t k = 0; k < RF_TOGETHER; k++)
            some[k] = (w + weight[k]) * 0.5 * rf64_log(size[k]) - (own + weight[k] * g->log_size[next + k]);
        for (size_t k = 0; k < RF_TOGETHER && next + k < end; k++)
            cost[next - first + k] = some[k];
    }
}

/* The probability below y, on a circle between `from` and y; its density and the density's slope. */
RF_FN double rf_line_below(const rf_line *g, double y, double *density, double *slope)
{
    const int turns = g->period > 0 ? RF_TURNS : 0;
    double total = 0;
    *density = *slope = 0;
    for (int turn = -turns; turn <= turns; turn++) {
        const double at = y + turn * g->period, from = g->from + turn * g->period;
        for (size_t first = 0; first < g->count; first += RF_TOGETHER) {
            double below[RF_TOGETHER], here[RF_TOGETHER], bend[RF_TOGETHER], before[RF_TOGETHER] = {0};
            RF_LOOP_OF_EIGHT
            for (size_t k = 0; k < RF_TOGETHER; k++) {
                const double weight = g->weight[first + k], scale = 1 / g->sd[first + k], z = (at - g->mean[first + k]) * scale;
                below[k] = weight * rf64_normal_cdf(z);
                here[k] = weight * scale * 0.3989422804014327 * rf64_exp(-0.5 * z * z);
                bend[k] = here[k] * scale * z;
            }
            for (size_t k = 0; k < RF_TOGETHER && turns > 0; k++)
                before[k] = rf64_normal_cdf((from - g->mean[first + k]) * (1 / g->sd[first + k]));
            for (size_t k = 0; k < RF_TOGETHER && first + k < g->count; k++) {
                total += below[k];
                *density += here[k];
                *slope -= bend[k];
                if (turns > 0)
                    total -= g->weight[first + k] * before[k];
            }
        }
    }
    return total;
}

#endif
