#include "proposal.h"

#include <math.h>
#include <string.h>

#include "mixture/component.h"

enum {
    EM_STEPS = 8,
    CANDIDATES = 4, /* tried for each further starting point */
    FOR_SHIFTS = RF_FOR_USER + 96,
    FOR_PLACES
};

#define LOG_2PI 1.8378770664093453
#define PRIOR_SHARE 0.1        /* share of the points drawn from the prior */
#define WIDER 1.1              /* factor on the fit's covariances, so that tails are not missed */
#define LIGHTEST 1e-4          /* least share of a Gaussian that is kept */
#define POINTS_PER_NUMBER 3.0  /* effective points per fitted number, at least */
#define IMAGES_FROM (1.0 / 14) /* standard deviation over period above which the next image matters; 3e-12 below */
#define UNIFORM_FROM 0.3       /* the same above which the parameter is taken as uniform */

static double period_of(const rf64_chart *chart) { return chart->kind == RF_PERIODIC ? chart->high - chart->low : 0; }

/* ---- The prior ---- */

rf_status rf_proposal_open(rf_proposal *p, const rf_problem *problem)
{
    rf_status status = RF_OK;
    memset(p, 0, sizeof *p);
    p->problem = problem;
    p->dim = problem->description.dim;
    for (unsigned i = 0; i < p->dim && status >= 0; i++) {
        const rf_prior *prior = &problem->prior[i];
        double variance = 1;
        status = rf_problem_prior(problem, i, &p->prior_mean[i], &variance);
        p->prior_sd[i] = rf64_sqrt(variance);
        p->low[i] = prior->first;
        p->high[i] = prior->second;
        if (problem->charts[i].kind != RF_PERIODIC && !prior->is_gaussian) {
            p->low[i] = rf64_chart_coordinate(&problem->charts[i], prior->first);
            p->high[i] = rf64_chart_coordinate(&problem->charts[i], prior->second);
        }
    }
    return status;
}

/* On a circle: how many turns of the box contain y, or the sum of the Gaussian's images. */
static double prior_on_circle(const rf_proposal *p, unsigned i, double y)
{
    const double period = period_of(&p->problem->charts[i]);
    double total = 0;
    if (!p->problem->prior[i].is_gaussian)
        return rf64_log((rf64_floor((p->high[i] - y) / period) - rf64_floor((p->low[i] - y) / period)) /
                        (p->high[i] - p->low[i]));
    const double off = rf_component_apart(&p->problem->charts[i], y - p->prior_mean[i]);
    for (int image = -5; image <= 5; image++) {
        const double z = (off + image * period) / p->prior_sd[i];
        total += rf64_exp(-0.5 * z * z);
    }
    return rf64_log(total / p->prior_sd[i]) - 0.5 * LOG_2PI;
}

double rf_proposal_prior(const rf_proposal *p, const double y[])
{
    double total = 0;
    for (unsigned i = 0; i < p->dim; i++) {
        const rf64_chart *chart = &p->problem->charts[i];
        const rf_prior *prior = &p->problem->prior[i];
        if (chart->kind == RF_PERIODIC) {
            total += prior_on_circle(p, i, y[i]);
        } else if (prior->is_gaussian) {
            const double z = (y[i] - p->prior_mean[i]) / p->prior_sd[i];
            total -= 0.5 * z * z + 0.5 * LOG_2PI + rf64_log(p->prior_sd[i]);
        } else if (!(y[i] >= p->low[i] && y[i] <= p->high[i])) {
            return -rf64_infinity();
        } else {
            total -= rf64_log(prior->second - prior->first);
            if (chart->kind == RF_POSITIVE)
                total += y[i];
            else if (chart->kind == RF_BOUNDED)
                total += rf64_log(chart->high - chart->low) - 0.5 * y[i] * y[i] - 0.5 * LOG_2PI;
        }
    }
    return total;
}

/* ---- Densities ---- */

/* d ← differences of y from the mean of a Gaussian. */
static void differ(const rf_proposal *p, const double *component, const double *y, double *d)
{
    for (unsigned i = 0; i < p->dim; i++)
        d[i] = rf_component_apart(&p->problem->charts[i], y[i] - component[1 + i]);
}

/* |L⁻¹·d|² */
static double squares(const double *factor, const double *d, unsigned dim)
{
    double z[RF_DESCRIBED_MAX], total = 0;
    for (unsigned i = 0; i < dim; i++) {
        const double *row = factor + RF_TRIANGLE(i);
        double left = d[i];
        for (unsigned j = 0; j < i; j++)
            left -= row[j] * z[j];
        z[i] = left / row[i];
        total += z[i] * z[i];
    }
    return total;
}

/* The logarithm of a Gaussian's prefactor. */
static double log_scale(const rf_proposal *p, const rf_bump *b)
{
    double total = -rf_component_log_size(b->numbers, p->dim);
    for (unsigned i = 0; i < p->dim; i++)
        total -= b->uniform >> i & 1 ? rf64_log(period_of(&p->problem->charts[i])) : 0.5 * LOG_2PI;
    return total;
}

/* Σ exp(−½|L⁻¹·d|²) over the images of parameters `from` and later. */
static double with_images(const rf_proposal *p, const rf_bump *b, unsigned from, double *d)
{
    while (from < p->dim && !(b->images >> from & 1))
        from++;
    if (from == p->dim)
        return rf64_exp(-0.5 * squares(b->numbers + 1 + p->dim, d, p->dim));
    const double period = period_of(&p->problem->charts[from]), here = d[from];
    double total = 0;
    for (int image = -1; image <= 1; image++) {
        d[from] = here + image * period;
        total += with_images(p, b, from + 1, d);
    }
    d[from] = here;
    return total;
}

/* The logarithm of a Gaussian's density at y, without log_scale. */
static double log_bump(const rf_proposal *p, const rf_bump *b, const double *y)
{
    double d[RF_DESCRIBED_MAX];
    differ(p, b->numbers, y, d);
    for (unsigned i = 0; i < p->dim; i++)
        d[i] = b->uniform >> i & 1 ? 0 : d[i];
    return b->images ? rf64_log(with_images(p, b, 0, d)) : -0.5 * squares(b->numbers + 1 + p->dim, d, p->dim);
}

/* ---- Drawing ---- */

/* Strides for evenly spread points: multiples of powers of the root of x^(dim + 1) = x + 1 (the R-sequence), which
   avoid repetition best. */
static void strides(unsigned dim, uint64_t stride[])
{
    double root = 2, share = 1;
    for (unsigned i = 0; i < 64; i++)
        root = rf64_pow_positive(1 + root, 1.0 / (dim + 1));
    for (unsigned i = 0; i < dim; i++) {
        share /= root;
        stride[i] = (uint64_t)(share * 0x1p53) << 11;
    }
}

/* A point from the prior (source 0) or from Gaussian source − 1, made of dim uniform numbers. */
static void place(const rf_proposal *p, unsigned source, const double u[], double *y)
{
    double z[RF_DESCRIBED_MAX];
    const double *c = source > 0 ? p->bump[source - 1].numbers : NULL;
    for (unsigned i = 0; i < p->dim; i++) {
        const rf_prior *prior = &p->problem->prior[i];
        if (!c && !prior->is_gaussian) {
            const double x = prior->first + (prior->second - prior->first) * u[i];
            y[i] = rf64_chart_coordinate(&p->problem->charts[i], x);
            continue;
        }
        z[i] = rf64_normal_quantile(u[i]);
        if (!c) {
            y[i] = p->prior_mean[i] + p->prior_sd[i] * z[i];
            continue;
        }
        const double *row = c + 1 + p->dim + RF_TRIANGLE(i);
        y[i] = c[1 + i];
        if (p->bump[source - 1].uniform >> i & 1)
            y[i] += period_of(&p->problem->charts[i]) * (u[i] - 0.5);
        else
            for (unsigned j = 0; j <= i; j++)
                y[i] += row[j] * z[j];
    }
}

/* The number of points from each source, of n in all. */
static void share_out(const rf_proposal *p, uint32_t n, uint32_t share[])
{
    share[0] = p->count == 0 ? n : (uint32_t)(PRIOR_SHARE * n + 0.5) > 0 ? (uint32_t)(PRIOR_SHARE * n + 0.5) : 1;
    const uint32_t rest = n - share[0];
    double below = 0;
    uint32_t given = 0;
    for (unsigned c = 0; c < p->count; c++) {
        below += p->bump[c].numbers[0];
        const uint32_t upto = c + 1 == p->count ? rest : (uint32_t)rf64_min(below * rest + 0.5, rest);
        share[c + 1] = upto - given;
        given = upto;
    }
}

/* ln(prior / proposal) at y. */
static double ratio_at(const rf_proposal *p, const double scale[], const double *y)
{
    double log_density[RF_PROPOSAL_MAX + 1], highest, total = 0;
    const double log_prior = rf_proposal_prior(p, y);
    if (!(log_prior > -rf64_infinity()))
        return -rf64_infinity();
    highest = log_density[0] = log_prior + scale[0];
    for (unsigned c = 0; c < p->count; c++) {
        log_density[c + 1] =
            scale[c + 1] > -rf64_infinity() ? log_bump(p, &p->bump[c], y) + scale[c + 1] : -rf64_infinity();
        highest = rf64_max(highest, log_density[c + 1]);
    }
    for (unsigned c = 0; c <= p->count; c++)
        total += rf64_exp(rf64_max(log_density[c] - highest, -745.0));
    return log_prior - highest - rf64_log(total);
}

void rf_proposal_draw(const rf_proposal *p, uint64_t seed, uint32_t pass, uint32_t count, uint32_t sets, double y[],
                      double log_ratio[])
{
    const uint32_t n = count / sets;
    uint32_t share[RF_PROPOSAL_MAX + 1], k = 0;
    uint64_t stride[RF_DESCRIBED_MAX], at[RF_DESCRIBED_MAX];
    double scale[RF_PROPOSAL_MAX + 1], u[RF_DESCRIBED_MAX];
    strides(p->dim, stride);
    share_out(p, n, share);
    for (unsigned source = 0; source <= p->count; source++)
        scale[source] = rf64_log((double)share[source] / n) + (source > 0 ? log_scale(p, &p->bump[source - 1]) : 0);
    for (uint32_t set = 0; set < sets; set++)
        for (unsigned source = 0; source <= p->count; source++) {
            rf_words w = {{0}};
            for (unsigned i = 0; i < p->dim; i++) {
                if (i % 2 == 0)
                    w = rf_draw(seed, pass, set * (RF_PROPOSAL_MAX + 1) + source, i / 2, FOR_SHIFTS);
                at[i] = (uint64_t)w.word[i % 2 * 2] << 32 | w.word[i % 2 * 2 + 1];
            }
            for (uint32_t point = 0; point < share[source]; point++, k++) {
                for (unsigned i = 0; i < p->dim; i++) {
                    u[i] = ((double)(at[i] >> 12) + 0.5) * 0x1p-52;
                    at[i] += stride[i];
                }
                place(p, source, u, y + (size_t)k * p->dim);
                log_ratio[k] = p->count > 0 ? ratio_at(p, scale, y + (size_t)k * p->dim) : 0;
            }
        }
}

/* ---- Moments ---- */

/* The origin of differences: the circular mean on a circle, else the coordinate of the heaviest point, so that a narrow
   width is not lost in a large difference. */
static double middle(const rf64_chart *chart, unsigned i, unsigned dim, const double y[], const double weight[],
                     uint32_t count)
{
    const double period = period_of(chart);
    double cosines = 0, sines = 0;
    uint32_t heaviest = 0;
    for (uint32_t k = 1; k < count; k++)
        heaviest = weight[k] > weight[heaviest] ? k : heaviest;
    const double there = y[(size_t)heaviest * dim + i];
    for (uint32_t k = 0; k < count && period > 0; k++) {
        double s, c;
        rf64_sincos(rf_component_apart(chart, y[(size_t)k * dim + i] - there) / period * 6.283185307179586, &s, &c);
        cosines += weight[k] * c;
        sines += weight[k] * s;
    }
    return period > 0 ? there + atan2(sines, cosines) / 6.283185307179586 * period : there;
}

void rf_weighted_moments(const rf64_chart charts[], unsigned dim, const double y[], const double weight[],
                         uint32_t count, double mean[], double covariance[])
{
    double from[RF_DESCRIBED_MAX], d[RF_DESCRIBED_MAX], off[RF_DESCRIBED_MAX] = {0};
    memset(covariance, 0, RF_TRIANGLE(dim) * sizeof *covariance);
    for (unsigned i = 0; i < dim; i++)
        from[i] = middle(&charts[i], i, dim, y, weight, count);
    for (uint32_t k = 0; k < count; k++)
        for (unsigned i = 0; i < dim && weight[k] > 0; i++) {
            d[i] = rf_component_apart(&charts[i], y[(size_t)k * dim + i] - from[i]);
            off[i] += weight[k] * d[i];
            for (unsigned j = 0; j <= i; j++)
                covariance[RF_TRIANGLE(i) + j] += weight[k] * d[i] * d[j];
        }
    for (unsigned i = 0; i < dim; i++) {
        mean[i] = from[i] + off[i];
        for (unsigned j = 0; j <= i; j++)
            covariance[RF_TRIANGLE(i) + j] -= off[i] * off[j];
    }
}

/* ---- Fitting ---- */

typedef struct fitting {
    rf_proposal *p;
    const double *y, *weight;
    uint32_t count;
    double effective;
    double whole[1 + RF_DESCRIBED_MAX + RF_TRIANGLE(RF_DESCRIBED_MAX)]; /* all points as one Gaussian */
    double *nearest; /* per point: squared distance from the nearest starting point so far */
    double *part;    /* per point and Gaussian: the Gaussian's share of the point */
} fitting;

/* Squared distance of point k from a place, in units of the overall widths. */
static double apart(const fitting *f, uint32_t k, const double *place)
{
    const rf_proposal *p = f->p;
    double d[RF_DESCRIBED_MAX];
    for (unsigned i = 0; i < p->dim; i++)
        d[i] = rf_component_apart(&p->problem->charts[i], f->y[(size_t)k * p->dim + i] - place[i]);
    return squares(f->whole + 1 + p->dim, d, p->dim);
}

/* The point at share u of Σ weight · nearest, or of Σ weight if there is no starting point yet. */
static uint32_t pick(const fitting *f, int is_first, double u)
{
    double total = 0, below = 0;
    uint32_t last = 0;
    for (uint32_t k = 0; k < f->count; k++)
        total += f->weight[k] * (is_first ? 1 : f->nearest[k]);
    for (uint32_t k = 0; k < f->count && below <= u * total; k++) {
        const double more = f->weight[k] * (is_first ? 1 : f->nearest[k]);
        below += more;
        last = more > 0 ? k : last;
    }
    return last;
}

/* The mean squared distance from the nearest starting point, if `place` were added. */
static double distance_with(const fitting *f, const double *place)
{
    double total = 0;
    for (uint32_t k = 0; k < f->count; k++)
        if (f->weight[k] > 0)
            total += f->weight[k] * rf64_min(f->nearest[k], apart(f, k, place));
    return total;
}

/* Chooses starting points for the Gaussians, far from each other and where there is weight; assigns each point to the
   nearest. */
static void begin(fitting *f, uint64_t seed, uint32_t pass, unsigned wanted)
{
    const unsigned dim = f->p->dim;
    memset(f->part, 0, (size_t)f->count * RF_PROPOSAL_MAX * sizeof *f->part);
    f->p->count = 0;
    for (unsigned c = 0; c < wanted; c++) {
        const rf_words w = rf_draw(seed, pass, c, 0, FOR_PLACES);
        uint32_t best = pick(f, c == 0, rf64_uniform(w.word[0]));
        double least = c > 0 ? distance_with(f, f->y + (size_t)best * dim) : 0;
        for (unsigned k = 1; k < CANDIDATES && c > 0; k++) {
            const uint32_t other = pick(f, 0, rf64_uniform(w.word[k]));
            const double distance = distance_with(f, f->y + (size_t)other * dim);
            best = distance < least ? other : best;
            least = rf64_min(distance, least);
        }
        memcpy(f->p->bump[c].numbers + 1, f->y + (size_t)best * dim, dim * sizeof(double));
        for (uint32_t k = 0; k < f->count; k++) {
            const double distance = f->weight[k] > 0 ? apart(f, k, f->y + (size_t)best * dim) : 0;
            double *part = f->part + (size_t)k * RF_PROPOSAL_MAX;
            if (c > 0 && !(distance < f->nearest[k]))
                continue;
            f->nearest[k] = distance;
            memset(part, 0, RF_PROPOSAL_MAX * sizeof *part);
            part[c] = 1;
        }
        f->p->count++;
    }
}

/* Refits each Gaussian to its shares of the points. One with too few points gets the average covariance. */
static void gather(fitting *f)
{
    rf_proposal *p = f->p;
    const unsigned dim = p->dim;
    double covariance[RF_PROPOSAL_MAX][RF_TRIANGLE(RF_DESCRIBED_MAX)] = {{0}},
           pooled[RF_TRIANGLE(RF_DESCRIBED_MAX)] = {0};
    double off[RF_PROPOSAL_MAX][RF_DESCRIBED_MAX] = {{0}}, total[RF_PROPOSAL_MAX] = {0}, d[RF_DESCRIBED_MAX], all = 0;
    for (uint32_t k = 0; k < f->count; k++)
        for (unsigned c = 0; c < p->count && f->weight[k] > 0; c++) {
            const double w = f->weight[k] * f->part[(size_t)k * RF_PROPOSAL_MAX + c];
            if (!(w > 0))
                continue;
            differ(p, p->bump[c].numbers, f->y + (size_t)k * dim, d);
            total[c] += w;
            for (unsigned i = 0; i < dim; i++) {
                off[c][i] += w * d[i];
                for (unsigned j = 0; j <= i; j++)
                    covariance[c][RF_TRIANGLE(i) + j] += w * d[i] * d[j];
            }
        }
    for (unsigned c = 0; c < p->count; c++)
        for (unsigned i = 0; i < dim && total[c] > 0; i++) {
            for (unsigned j = 0; j <= i; j++) {
                double *element = &covariance[c][RF_TRIANGLE(i) + j];
                *element -= off[c][i] * off[c][j] / total[c];
                pooled[RF_TRIANGLE(i) + j] += *element;
            }
        }
    unsigned kept = 0;
    for (unsigned c = 0; c < p->count; c++) {
        if (!(total[c] > LIGHTEST))
            continue;
        double *numbers = p->bump[kept].numbers, *factor = rf_component_factor(numbers, dim);
        const double points = f->effective * total[c], more = dim + 2.0;
        numbers[0] = total[c];
        all += total[c];
        for (unsigned i = 0; i < dim; i++)
            numbers[1 + i] = p->bump[c].numbers[1 + i] + off[c][i] / total[c];
        for (size_t i = 0; i < RF_TRIANGLE(dim); i++)
            factor[i] = (points * covariance[c][i] / total[c] + more * pooled[i]) / (points + more);
        rf_component_cholesky(factor, dim, NULL);
        kept++;
    }
    p->count = kept;
    for (unsigned c = 0; c < kept; c++)
        p->bump[c].numbers[0] /= all;
}

/* Computes each Gaussian's share of each point. */
static void divide(fitting *f)
{
    rf_proposal *p = f->p;
    double scale[RF_PROPOSAL_MAX], d[RF_DESCRIBED_MAX];
    for (unsigned c = 0; c < p->count; c++)
        scale[c] = rf64_log(p->bump[c].numbers[0]) - rf_component_log_size(p->bump[c].numbers, p->dim);
    for (uint32_t k = 0; k < f->count; k++) {
        double *part = f->part + (size_t)k * RF_PROPOSAL_MAX, highest = -rf64_infinity(), total = 0;
        if (!(f->weight[k] > 0))
            continue;
        for (unsigned c = 0; c < p->count; c++) {
            differ(p, p->bump[c].numbers, f->y + (size_t)k * p->dim, d);
            part[c] = scale[c] - 0.5 * squares(p->bump[c].numbers + 1 + p->dim, d, p->dim);
            highest = rf64_max(highest, part[c]);
        }
        for (unsigned c = 0; c < p->count; c++) {
            part[c] = rf64_exp(rf64_max(part[c] - highest, -745.0));
            total += part[c];
        }
        for (unsigned c = 0; c < p->count; c++)
            part[c] /= total;
    }
}

/* Widens the Gaussians and prepares them for circles. */
static void settle(rf_proposal *p)
{
    const unsigned dim = p->dim;
    for (unsigned c = 0; c < p->count; c++) {
        rf_bump *b = &p->bump[c];
        double *factor = rf_component_factor(b->numbers, dim), covariance[RF_TRIANGLE(RF_DESCRIBED_MAX)];
        unsigned spread = 0;
        b->uniform = b->images = 0;
        for (unsigned i = 0; i < dim; i++)
            for (unsigned j = 0; j <= i; j++)
                covariance[RF_TRIANGLE(i) + j] = WIDER * rf_component_covariance(b->numbers, dim, i, j);
        for (unsigned i = 0; i < dim; i++) {
            const double period = period_of(&p->problem->charts[i]), sd = rf64_sqrt(covariance[RF_TRIANGLE(i) + i]);
            if (!(period > 0 && sd > IMAGES_FROM * period))
                continue;
            if (sd <= UNIFORM_FROM * period && ++spread <= RF_PROPOSAL_SPREAD) {
                b->images |= 1u << i;
                continue;
            }
            b->uniform |= 1u << i;
            for (unsigned j = 0; j < dim; j++)
                covariance[i > j ? RF_TRIANGLE(i) + j : RF_TRIANGLE(j) + i] = i == j;
        }
        rf_component_cholesky(covariance, dim, NULL);
        memcpy(factor, covariance, RF_TRIANGLE(dim) * sizeof *factor);
    }
}

void rf_proposal_fit(rf_proposal *p, uint64_t seed, uint32_t pass, const double y[], const double weight[],
                     uint32_t count, double room[])
{
    fitting f = {.p = p, .y = y, .weight = weight, .count = count, .nearest = room, .part = room + count};
    double square = 0;
    for (uint32_t k = 0; k < count; k++)
        square += weight[k] * weight[k];
    f.effective = 1 / square;
    rf_weighted_moments(p->problem->charts, p->dim, y, weight, count, f.whole + 1, f.whole + 1 + p->dim);
    rf_component_cholesky(f.whole + 1 + p->dim, p->dim, NULL);
    const double wanted = f.effective / (POINTS_PER_NUMBER * (double)rf_component_size(p->dim));
    begin(&f, seed, pass, wanted < 1 ? 1 : wanted < RF_PROPOSAL_MAX ? (unsigned)wanted : RF_PROPOSAL_MAX);
    gather(&f);
    for (unsigned step = 0; step < EM_STEPS && p->count > 1; step++) {
        divide(&f);
        gather(&f);
    }
    settle(p);
}
