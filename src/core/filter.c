/* The filter's memory, its priors and its charts. */

#include "core.h"
#include "triangle.h"

size_t RF(filter_bytes)(unsigned dim)
{
    return dim == 0 || dim > RF_DIM_MAX ? 0 : RF_FILTER_BYTES_(dim, sizeof(RF(tally)), sizeof(rf_real));
}

size_t RF(tally_bytes)(unsigned dim)
{
    return dim == 0 || dim > RF_DIM_MAX ? 0 : RF_TALLY_BYTES_(dim, sizeof(RF(tally)), sizeof(rf_real));
}

rf_status RF(filter_init)(RF(filter) **filter, void *memory, size_t bytes, unsigned dim, uint64_t seed)
{
    if (!filter || !memory)
        return RF_REFUSED_NULL;
    if (dim == 0 || dim > RF_DIM_MAX)
        return RF_REFUSED_DIMENSION;
    if ((uintptr_t)memory % 8 != 0)
        return RF_REFUSED_MEMORY_ALIGNMENT;
    if (bytes < RF(filter_bytes)(dim))
        return RF_REFUSED_MEMORY_SIZE;

    RF(filter) *f = (RF(filter) *)memory;
    f->seed = seed;
    RF(tally_clear)(&f->tally, dim, 0);
    rf_real *mean = RF(mean)(f), *l = RF(factor)(f);
    for (unsigned i = 0; i < dim; i++) {
        mean[i] = 0;
        for (unsigned j = 0; j <= i; j++)
            l[RF(at)(i, j)] = i == j ? RF_C(1.0) : RF_C(0.0);
    }
    *filter = f;
    return RF_OK;
}

uint32_t RF(filter_updates)(const RF(filter) *filter) { return filter->tally.update; }
const rf_real *RF(filter_mean)(const RF(filter) *filter) { return RF(mean)((RF(filter) *)(uintptr_t)filter); }
rf_real RF(filter_rest)(const RF(filter) *filter, unsigned i) { return RF(rest)(filter, i); }
const rf_real *RF(filter_factor)(const RF(filter) *filter) { return RF(factor)((RF(filter) *)(uintptr_t)filter); }

rf_real RF(filter_covariance)(const RF(filter) *filter, unsigned i, unsigned j)
{
    const rf_real *l = RF(filter_factor)(filter);
    unsigned least = i < j ? i : j;
    rf_real sum = 0;
    for (unsigned k = 0; k <= least; k++)
        sum += l[RF(at)(i, k)] * l[RF(at)(j, k)];
    return sum;
}

rf_real RF(filter_sd)(const RF(filter) *filter, unsigned i) { return RF(sqrt)(RF(filter_covariance)(filter, i, i)); }

/* ---- Priors ---- */

/* Is |v| within the filter's limit (and not NaN)? */
static int RF(usable)(rf_real v) { return RF(abs)(v) <= RF_LIMIT; }

static const RF(chart) *RF(chart_of)(const RF(model) *model, unsigned i)
{
    static const RF(chart) real = {RF_REAL, 0, 0};
    return model->charts ? &model->charts[i] : &real;
}

static rf_status RF(charts_check)(const RF(filter) *filter, const RF(model) *model)
{
    if (!filter || !model)
        return RF_REFUSED_NULL;
    if (filter->tally.dim != model->dim)
        return RF_REFUSED_DIMENSION;
    for (unsigned i = 0; i < RF_DIM(model->dim); i++) {
        const RF(chart) *chart = RF(chart_of)(model, i);
        if (chart->kind == RF_REAL || chart->kind == RF_POSITIVE)
            continue;
        if (chart->kind != RF_BOUNDED && chart->kind != RF_PERIODIC)
            return RF_REFUSED_CHART;
        if (!RF(usable)(chart->low) || !RF(usable)(chart->high) || !(chart->high - chart->low > RF_TINY))
            return RF_REFUSED_CHART;
    }
    return RF_OK;
}

/* dx/dy of a bounded chart at y; never 0. */
static RF_APART rf_real RF(bounded_slope)(const RF(chart) *chart, rf_real y)
{
    return RF(max)((chart->high - chart->low) * RF_C(0.3989422804014327) * RF(exp)(RF_C(-0.5) * y * y), RF_TINY);
}

/* Converts mean m and standard deviation s from natural values to the chart. */
static rf_status RF(chart_moments)(const RF(chart) *chart, rf_real *m, rf_real *s)
{
    rf_real mean = *m, sd = *s;
    if (!RF(usable)(mean) || !RF(usable)(sd))
        return RF_REFUSED_VALUE;
    if (!(sd >= RF_TINY))
        return RF_REFUSED_WIDTH;
    if (chart->kind == RF_POSITIVE) {
        if (!(mean >= RF_TINY))
            return RF_REFUSED_CHART;
        rf_real ratio = sd / mean, variance = RF(log)(RF_C(1.0) + RF(min)(ratio * ratio, RF_LIMIT));
        if (!(variance > 0))
            variance = ratio * ratio;
        *m = RF(log)(mean) - RF_C(0.5) * variance;
        *s = RF(max)(RF(sqrt)(variance), RF_TINY);
    } else if (chart->kind == RF_BOUNDED) {
        rf_real y = RF(chart_coordinate)(chart, mean);
        if (!(mean > chart->low && mean < chart->high) || !RF(is_finite)(y))
            return RF_REFUSED_CHART;
        *m = y;
        *s = RF(min)(sd / RF(bounded_slope)(chart, y), RF_C(1.0));
    } else if (chart->kind == RF_PERIODIC) {
        *m = RF(chart_natural)(chart, mean);
        *s = RF(min)(sd, RF_WRAP_WIDEST * (chart->high - chart->low));
    }
    return RF_OK;
}

/* Sets parameter i, uncorrelated with the others. */
static void RF(set_independent)(RF(filter) *filter, unsigned i, rf_real mean, rf_real sd)
{
    rf_real *l = RF(factor)(filter);
    RF(mean)(filter)[i] = mean;
    RF(rest_set)(filter, i, 0);
    for (unsigned j = 0; j < i; j++)
        l[RF(at)(i, j)] = 0;
    l[RF(at)(i, i)] = sd;
}

/* Converts a uniform distribution on [m, s] in natural values to mean m and standard deviation s in the chart. */
static rf_status RF(chart_box)(const RF(chart) *chart, rf_real *m, rf_real *s)
{
    rf_real low = *m, high = *s;
    if (!RF(usable)(low) || !RF(usable)(high))
        return RF_REFUSED_VALUE;
    if (!(high > low))
        return RF_REFUSED_WIDTH;
    if (chart->kind == RF_BOUNDED && (low < chart->low || high > chart->high))
        return RF_REFUSED_CHART;
    if (chart->kind == RF_BOUNDED && low == chart->low && high == chart->high) {
        *m = 0;
        *s = 1;
        return RF_OK;
    }
    *m = RF_C(0.5) * low + RF_C(0.5) * high;
    *s = (high - low) * RF_C(0.28867513459481287);
    if (chart->kind == RF_PERIODIC && high - low >= chart->high - chart->low)
        *s = RF_WRAP_WIDEST * (chart->high - chart->low);
    return RF(chart_moments)(chart, m, s);
}

/* Sets every parameter's prior from two numbers; `to_chart` converts them to mean and standard deviation. */
static rf_status RF(prior_independent)(RF(filter) *filter, const RF(model) *model, const rf_real first[], const rf_real second[],
                                       rf_status (*to_chart)(const RF(chart) *, rf_real *, rf_real *))
{
    rf_status status = RF(charts_check)(filter, model);
    if (status < 0)
        return status;
    if (!first || !second)
        return RF_REFUSED_NULL;
    for (unsigned pass = 0; pass < 2; pass++) { /* first pass validates, second writes */
        for (unsigned i = 0; i < RF_DIM(model->dim); i++) {
            rf_real m = first[i], s = second[i];
            status = to_chart(RF(chart_of)(model, i), &m, &s);
            if (status < 0)
                return status;
            if (pass == 1)
                RF(set_independent)(filter, i, m, s);
        }
    }
    return RF_OK;
}

rf_status RF(prior_gaussian)(RF(filter) *filter, const RF(model) *model, const rf_real mean[], const rf_real sd[])
{
    return RF(prior_independent)(filter, model, mean, sd, RF(chart_moments));
}

rf_status RF(prior_box)(RF(filter) *filter, const RF(model) *model, const rf_real low[], const rf_real high[])
{
    return RF(prior_independent)(filter, model, low, high, RF(chart_box));
}

rf_status RF(prior_covariance)(RF(filter) *filter, const rf_real mean[], const rf_real covariance[])
{
    if (!filter || !mean || !covariance)
        return RF_REFUSED_NULL;
    unsigned dim = RF_DIM(filter->tally.dim);
    rf_real one;
    rf_real *l = dim > 1 ? RF(triangle_one)(filter) : &one;
    for (unsigned i = 0; i < dim; i++) {
        if (!RF(usable)(mean[i]))
            return RF_REFUSED_VALUE;
        for (unsigned j = 0; j < dim; j++)
            if (!(RF(abs)(covariance[i * dim + j]) <= RF_LIMIT * RF_LIMIT))
                return RF_REFUSED_VALUE;
    }
    if (!RF(triangle_from_covariance)(l, covariance, dim))
        return RF_REFUSED_COVARIANCE;
    for (unsigned i = 0; i < dim; i++)
        if (!(l[RF(at)(i, i)] >= RF_TINY))
            return RF_REFUSED_COVARIANCE;
    for (unsigned i = 0; i < dim; i++) {
        RF(mean)(filter)[i] = mean[i];
        RF(rest_set)(filter, i, 0);
    }
    for (size_t i = 0; i < RF_TRIANGLE(dim); i++)
        RF(factor)(filter)[i] = l[i];
    return RF_OK;
}

rf_real RF(chart_natural)(const RF(chart) *chart, rf_real y) { return RF(natural)(chart, y); }

rf_real RF(chart_coordinate)(const RF(chart) *chart, rf_real natural)
{
    switch (chart->kind) {
    case RF_POSITIVE:
        return RF(log)(natural);
    case RF_BOUNDED:
        return RF(normal_quantile)((natural - chart->low) / (chart->high - chart->low));
    case RF_PERIODIC:
        return RF(natural)(chart, natural);
    case RF_REAL:
    default:
        return natural;
    }
}

void RF(filter_draw)(const RF(filter) *filter, const RF(model) *model, uint32_t index, uint32_t purpose, rf_real x[])
{
    const rf_real *mean = RF(filter_mean)(filter), *l = RF(filter_factor)(filter);
    unsigned dim = RF_DIM(filter->tally.dim);
    for (unsigned i = 0; i < dim; i++) {
        rf_words w = rf_draw(filter->seed, filter->tally.update, index, i / 4, purpose);
        rf_real z[2];
        RF(normal_pair)(w.word[i % 4 / 2 * 2], w.word[i % 4 / 2 * 2 + 1], &z[0], &z[1]);
        x[i] = z[i % 2];
    }
    for (unsigned i = dim; i-- > 0;) {
        rf_real sum = 0;
        for (unsigned j = 0; j <= i; j++)
            sum += l[RF(at)(i, j)] * x[j];
        x[i] = RF(natural)(RF(chart_of)(model, i), mean[i] + sum);
    }
}

rf_status RF(filter_restore)(RF(filter) *filter, uint64_t seed, uint32_t updates, const rf_real mean[], const rf_real factor[],
                             const rf_real rest[])
{
    if (!filter || !mean || !factor)
        return RF_REFUSED_NULL;
    const unsigned dim = RF_DIM(filter->tally.dim);
    for (unsigned i = 0; i < dim; i++)
        if (!RF(usable)(mean[i]) || !RF(usable)(rest ? rest[i] : 0))
            return RF_REFUSED_VALUE;
    for (unsigned i = 0; i < RF_TRIANGLE(dim); i++)
        if (!RF(usable)(factor[i]))
            return RF_REFUSED_VALUE;
    for (unsigned i = 0; i < dim; i++)
        if (!(factor[RF(at)(i, i)] > 0))
            return RF_REFUSED_COVARIANCE;
    filter->seed = seed;
    RF(tally_clear)(&filter->tally, dim, updates);
    for (unsigned i = 0; i < dim; i++) {
        RF(mean)(filter)[i] = mean[i];
        RF(rest_set)(filter, i, rest ? rest[i] : 0);
    }
    for (unsigned i = 0; i < RF_TRIANGLE(dim); i++)
        RF(factor)(filter)[i] = factor[i];
    return RF_OK;
}
