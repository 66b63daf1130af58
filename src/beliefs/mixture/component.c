#include "component.h"

#include <string.h>

/* Splitting: variance of each of the three parts, as a share of the whole variance along the axis. */
#define SPLIT_NARROWED 0.54

/* Merging: loss over what third and fourth cumulants tell of it; higher ones add that much. */
#define HIGHER 1.5

double rf_component_covariance(const double *c, unsigned dim, unsigned i, unsigned j)
{
    const double *a = c + 1 + dim + RF_TRIANGLE(i), *b = c + 1 + dim + RF_TRIANGLE(j);
    double sum = 0;
    for (unsigned k = 0; k <= (i < j ? i : j); k++)
        sum += a[k] * b[k];
    return sum;
}

/* ln of the product of the diagonal, with as few logarithms as the range of doubles allows. */
static double log_diagonal(const double *triangle, unsigned dim)
{
    double product = 1, sum = 0;
    for (unsigned i = 0; i < dim; i++) {
        product *= triangle[RF_TRIANGLE(i) + i];
        if (!(product > 0x1p-400 && product < 0x1p400) || i + 1 == dim) {
            sum += rf64_log(product);
            product = 1;
        }
    }
    return sum;
}

double rf_component_log_size(const double *c, unsigned dim) { return log_diagonal(c + 1 + dim, dim); }

RF_APART double rf_component_cholesky(double a[], unsigned dim, const double least[])
{
    for (unsigned i = 0; i < dim; i++) {
        double *row = a + RF_TRIANGLE(i);
        const double noise = rf64_max(dim * 0x1p-51 * row[i], RF64_TINY * RF64_TINY);
        for (unsigned j = 0; j <= i; j++) {
            const double *other = a + RF_TRIANGLE(j);
            double left = row[j];
            for (unsigned k = 0; k < j; k++)
                left -= row[k] * other[k];
            row[j] = j < i ? left / other[j] : rf64_sqrt(rf64_max(left, least ? rf64_max(least[i], noise) : noise));
        }
    }
    return log_diagonal(a, dim);
}

void rf_component_split(const double *from, unsigned dim, unsigned axis, double *low, double *middle, double *high)
{
    const double narrowed = rf64_sqrt(SPLIT_NARROWED), shift = rf64_sqrt(3 * (1 - SPLIT_NARROWED)), weight = from[0];
    const size_t bytes = rf_component_size(dim) * sizeof *from;
    double column[RF_ROOM] = {0};
    for (unsigned i = axis; i < dim; i++)
        column[i] = from[1 + dim + RF_TRIANGLE(i) + axis];
    if (middle != from)
        memcpy(middle, from, bytes);
    for (unsigned i = axis; i < dim; i++)
        rf_component_factor(middle, dim)[RF_TRIANGLE(i) + axis] *= narrowed;
    memcpy(low, middle, bytes);
    memcpy(high, middle, bytes);
    for (unsigned i = axis; i < dim; i++) {
        rf_component_mean(low)[i] -= shift * column[i];
        rf_component_mean(high)[i] += shift * column[i];
    }
    low[0] = high[0] = weight / 6;
    middle[0] = weight * 2 / 3;
}

void rf_component_permute(double *c, unsigned dim, const unsigned order[])
{
    double mean[RF_ROOM], covariance[RF_TRIANGLE(RF_ROOM)];
    for (unsigned i = 0; i < dim; i++) {
        mean[i] = c[1 + order[i]];
        for (unsigned j = 0; j <= i; j++)
            covariance[RF_TRIANGLE(i) + j] = rf_component_covariance(c, dim, order[i], order[j]);
    }
    rf_component_cholesky(covariance, dim, NULL);
    memcpy(rf_component_mean(c), mean, dim * sizeof *mean);
    memcpy(rf_component_factor(c, dim), covariance, RF_TRIANGLE(dim) * sizeof *covariance);
}

RF_APART void rf_component_joint(const double *a, const double *b, const double a_covariance[], const double b_covariance[],
                        const rf64_chart charts[], unsigned dim, double joint[])
{
    const double share = a[0] / (a[0] + b[0]), other = b[0] / (a[0] + b[0]);
    double apart[RF_ROOM];
    for (unsigned i = 0; i < dim; i++) {
        apart[i] = rf_component_apart(&charts[i], b[1 + i] - a[1 + i]);
        for (unsigned j = 0; j <= i; j++) {
            const size_t at = RF_TRIANGLE(i) + j;
            joint[at] = share * a_covariance[at] + other * b_covariance[at] + share * other * apart[i] * apart[j];
        }
    }
}

/* x ← L⁻¹·x */
static void solve(const double factor[], unsigned dim, double x[])
{
    for (unsigned i = 0; i < dim; i++) {
        for (unsigned j = 0; j < i; j++)
            x[i] -= factor[RF_TRIANGLE(i) + j] * x[j];
        x[i] /= factor[RF_TRIANGLE(i) + i];
    }
}

RF_APART double rf_component_merger_loss(const double *a, const double *b, const double a_covariance[], const double b_covariance[],
                                         const rf64_chart charts[], unsigned dim, const double factor[], double bound)
{
    const double total = a[0] + b[0], share = a[0] / total, other = b[0] / total, both = share * other, lean = other - share;
    double d[RF_ROOM], m[RF_ROOM][RF_ROOM], v[RF_ROOM] = {0}, dd = 0, dmd = 0, vv = 0, vmv = 0, mm = 0, mmmm = 0;
    if (!(both > 0))
        return 0;
    for (unsigned i = 0; i < dim; i++)
        d[i] = rf_component_apart(&charts[i], a[1 + i] - b[1 + i]);
    solve(factor, dim, d);
    for (unsigned i = 0; i < dim; i++) {
        for (unsigned j = 0; j < dim; j++) {
            const size_t at = i > j ? RF_TRIANGLE(i) + j : RF_TRIANGLE(j) + i;
            m[i][j] = a_covariance[at] - b_covariance[at];
        }
        solve(factor, dim, m[i]);
    }
    for (unsigned j = 0; j < dim; j++) {
        double column[RF_ROOM];
        for (unsigned i = 0; i < dim; i++)
            column[i] = m[i][j];
        solve(factor, dim, column);
        for (unsigned i = 0; i < dim; i++)
            m[i][j] = column[i];
    }
    for (unsigned i = 0; i < dim; i++) {
        for (unsigned j = 0; j < dim; j++) {
            double square = 0;
            for (unsigned k = 0; k < dim; k++)
                square += m[i][k] * m[k][j];
            v[i] += m[i][j] * d[j];
            mm += m[i][j] * m[i][j];
            mmmm += square * square;
        }
        dd += d[i] * d[i];
        dmd += d[i] * v[i];
        vv += v[i] * v[i];
    }
    for (unsigned i = 0; i < dim; i++)
        for (unsigned j = 0; j < dim; j++)
            vmv += v[i] * m[i][j] * v[j];
    const double flat = 1 - 6 * both,
                 third = both * both * (lean * lean * dd * dd * dd + 6 * lean * dd * dmd + 3 * dd * mm + 6 * vv),
                 fourth = both * both *
                          (flat * flat * dd * dd * dd * dd + 6 * lean * lean * (dd * dd * mm + 4 * dd * vv + dmd * dmd) +
                           3 * (mm * mm + 2 * mmmm) + 12 * flat * lean * dd * dd * dmd + 6 * flat * dmd * dmd +
                           12 * lean * (dmd * mm + 2 * vmv));
    const double far = bound + total * (share * rf64_log(share) + other * rf64_log(other)); /* exact where they are far apart */
    return rf64_max(rf64_min(rf64_max(HIGHER * total * (third / 12 + fourth / 48), far), bound), 0);
}

void rf_component_merge(double *a, const double *b, const rf64_chart charts[], unsigned dim, const double factor[])
{
    const double other = b[0] / (a[0] + b[0]);
    for (unsigned i = 0; i < dim; i++)
        a[1 + i] += other * rf_component_apart(&charts[i], b[1 + i] - a[1 + i]);
    memcpy(rf_component_factor(a, dim), factor, RF_TRIANGLE(dim) * sizeof *factor);
    a[0] += b[0];
}
