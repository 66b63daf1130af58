#include <math.h>
#include <stdlib.h>

#include "lab.h"

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double at_rank(const double sorted[], size_t count, double at)
{
    at = fmin(fmax(at, 0), (double)(count - 1));
    size_t i = (size_t)at, next = i + 1 < count ? i + 1 : i;
    return sorted[i] + (at - (double)i) * (sorted[next] - sorted[i]);
}

double lab_quantile(double values[], size_t count, double share)
{
    if (count == 0)
        return NAN;
    qsort(values, count, sizeof *values, compare);
    return at_rank(values, count, share * (double)(count - 1));
}

/* The number of values below the true median is binomial, of standard deviation √count / 2. */
double lab_median(double values[], size_t count, double *error)
{
    const double median = lab_quantile(values, count, 0.5), middle = 0.5 * (double)(count - 1), sd = 0.5 * sqrt((double)count);
    if (error)
        *error = count ? 0.5 * (at_rank(values, count, middle + sd) - at_rank(values, count, middle - sd)) : NAN;
    return median;
}
