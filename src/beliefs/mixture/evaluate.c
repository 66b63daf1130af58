#include "block.h"
#include "common.h"
#include "component.h"
#include "evaluate.h"

#include <string.h>

enum {
    AXIS_POINTS = 24, /* for choosing an axis */
    NORMAL_UNIT = RF_GRID
};

#define LINE_END 4.8  /* one parameter: the outermost points, in standard deviations */
#define LINE_BEND 0.6 /* steps grow 2.8 times from the middle to the ends: no fringe has the period of all of them */
#define HEXAGON_STEP 1.4 /* two parameters: distance of neighbours; 7.4 of 19 points are effective */
#define CUBE_STEP 0.8    /* three parameters: half the edge of a body-centred cubic cell */
#define AXIS_STEP 0.45   /* standard deviations */
#define LOG_FAR 50.0     /* nats below the largest likelihood; smaller ones are raised to that */
#define LEAST 0.25       /* least standard deviation, as a share of the spacing of the points */

enum { LINE_POINTS = RF_POINTS(1), FIXED_DIM = 3 };

uint32_t rf_points_count(unsigned dim)
{
    return dim <= FIXED_DIM ? RF_POINTS(dim) : dim == 4 ? 256 : dim <= 8 ? 512 : 1024;
}

/* Length of a row of the table: the points, padded with zeros to whole vectors. */
static uint32_t row_of(unsigned dim) { return dim <= FIXED_DIM ? RF_POINTS_ROW(dim) : rf_points_count(dim); }

static double spacing_of(unsigned dim)
{
    return dim == 1 ? 2 * LINE_END / (1 + LINE_BEND) / LINE_POINTS
                    : 2.5 * rf64_exp(-rf64_log(rf_points_count(dim)) / dim);
}

static uint32_t add_point(double points[], unsigned dim, uint32_t at, const double z[])
{
    double square = 0;
    for (unsigned d = 0; d < dim; d++) {
        points[(d + 1) * row_of(dim) + at] = z[d];
        square += z[d] * z[d];
    }
    points[at] = rf64_exp(-0.5 * square);
    return at + 1;
}

/* ---- Neighbours ---- */

/* Directions of neighbours in the lattices. The hexagonal one has three; the body-centred cubic one has four to the
   nearest neighbours and three along the edges. */
enum { HEXAGON_WAYS = 3, CUBE_WAYS = 7 };

static unsigned ways_of(unsigned dim) { return dim == 2 ? HEXAGON_WAYS : dim == 3 ? CUBE_WAYS : 0; }

static double way(unsigned dim, unsigned number, unsigned d)
{
    static const double hexagon[HEXAGON_WAYS][2] = {{1, 0}, {0.5, 0.8660254037844386}, {-0.5, 0.8660254037844386}};
    static const double cube[CUBE_WAYS][3] = {{1, 1, 1}, {1, 1, -1}, {1, -1, 1}, {-1, 1, 1}, {2, 0, 0}, {0, 2, 0}, {0, 0, 2}};
    return dim == 2 ? HEXAGON_STEP * hexagon[number][d] : CUBE_STEP * cube[number][d];
}

/* Number of neighbour pairs in each direction; a pair is two point indices. */
static uint32_t pairs_of(unsigned dim, unsigned number)
{
    return dim == 2 ? RF_POINTS_PAIRS(2) / HEXAGON_WAYS : number < 4 ? 82 : 76;
}
static const unsigned char *pairs_in(const double points[], unsigned dim)
{
    return (const unsigned char *)(points + (dim + 2) * row_of(dim));
}

/* Is b the neighbour of a in this direction? */
static int is_neighbour(const double points[], unsigned dim, uint32_t a, uint32_t b, unsigned number)
{
    const uint32_t row = row_of(dim);
    double off = 0;
    for (unsigned d = 0; d < dim; d++)
        off += rf64_abs(points[(d + 1) * row + b] - points[(d + 1) * row + a] - way(dim, number, d));
    return off < 0.01;
}

static void find_pairs(unsigned dim, double points[])
{
    unsigned char *pair = (unsigned char *)(points + (dim + 2) * row_of(dim));
    for (unsigned number = 0; number < ways_of(dim); number++)
        for (uint32_t a = 0; a < rf_points_count(dim); a++)
            for (uint32_t b = 0; b < rf_points_count(dim); b++)
                if (is_neighbour(points, dim, a, b, number)) {
                    *pair++ = (unsigned char)a;
                    *pair++ = (unsigned char)b;
                }
}

/* ---- Points ---- */

RF_APART void rf_points_make(unsigned dim, double points[])
{
    const uint32_t count = rf_points_count(dim), row = row_of(dim);
    double one = 0, square = 0;
    uint32_t n = 0;
    if (dim > FIXED_DIM)
        return;
    memset(points, 0, RF_POINTS_SIZE(dim) * sizeof *points);
    for (uint32_t i = 0; i < count && dim == 1; i++) {
        const double u = (2.0 * i + 1) / count - 1, z = LINE_END * (u + LINE_BEND * u * u * u) / (1 + LINE_BEND);
        n = add_point(points, dim, n, &z);
        points[i] *= 1 + 3 * LINE_BEND * u * u;
    }
    for (int i = -5; i <= 5 && dim > 1; i++)
        for (int j = -5; j <= 5; j++) {
            const double z[] = {HEXAGON_STEP * (i + 0.5 * j), HEXAGON_STEP * 0.8660254037844386 * j};
            if (dim == 2 && i * i + i * j + j * j <= 4)
                n = add_point(points, dim, n, z);
            for (int k = -5; k <= 5 && dim == 3; k++) {
                const double x[] = {CUBE_STEP * i, CUBE_STEP * j, CUBE_STEP * k};
                if (i * i + j * j + k * k <= 20 && ((i ^ j) & 1) == 0 && ((i ^ k) & 1) == 0)
                    n = add_point(points, dim, n, x);
            }
        }
    find_pairs(dim, points);
    for (uint32_t k = 0; k < count; k++) {
        one += points[k];
        for (unsigned d = 0; d < dim; d++)
            square += points[k] * points[(d + 1) * row + k] * points[(d + 1) * row + k] / dim;
    }
    for (uint32_t k = 0; k < count; k++) {
        points[k] *= count / one;
        points[(dim + 1) * row + k] = rf64_sqrt(points[k]);
    }
    for (uint32_t k = row; k < (dim + 1) * row; k++)
        points[k] *= rf64_sqrt(one / square);
}

/* ---- The points of an evaluation ---- */

/* The points before they are whitened. */
typedef struct lattice {
    const double *fixed; /* table of few parameters, else null */
    double turn[FIXED_DIM][FIXED_DIM];
    uint32_t start[RF_ROOM];
} lattice;

/* turn ← a uniformly distributed random rotation. */
static void rotation(const rf_words *w, unsigned dim, double turn[][FIXED_DIM])
{
    const double circle = 6.283185307179586, u = rf64_uniform(w->word[0]);
    if (dim == 2) {
        turn[0][0] = turn[1][1] = rf64_cos(circle * u);
        turn[1][0] = rf64_sin(circle * u);
        turn[0][1] = -turn[1][0];
        return;
    }
    const double a = circle * rf64_uniform(w->word[1]), b = circle * rf64_uniform(w->word[2]);
    const double low = rf64_sqrt(1 - u), high = rf64_sqrt(u); /* a unit quaternion */
    const double i = low * rf64_sin(a), j = low * rf64_cos(a), k = high * rf64_sin(b), r = high * rf64_cos(b);
    const double by[3][3] = {{1 - 2 * (j * j + k * k), 2 * (i * j - k * r), 2 * (i * k + j * r)},
                             {2 * (i * j + k * r), 1 - 2 * (i * i + k * k), 2 * (j * k - i * r)},
                             {2 * (i * k - j * r), 2 * (j * k + i * r), 1 - 2 * (i * i + j * j)}};
    memcpy(turn, by, sizeof by);
}

static lattice lattice_draw(const rf_evaluator *e)
{
    const unsigned dim = RF_DIM(e->model->dim);
    lattice p = {.fixed = dim <= FIXED_DIM ? e->fixed : NULL};
    rf_words w = {{0}};
    if (p.fixed && dim > 1) {
        w = rf_draw(e->seed, e->update, e->evaluations, 0, RF_FOR_LATTICE);
        rotation(&w, dim, p.turn);
    }
    for (unsigned d = 0; d < dim && !p.fixed; d++) {
        if (d % 4 == 0)
            w = rf_draw(e->seed, e->update, e->evaluations, d / 4, RF_FOR_LATTICE);
        p.start[d] = w.word[d % 4];
    }
    return p;
}

double rf_points_normal(unsigned d, uint32_t start, uint32_t k)
{
    return rf_lattice_normal[(start + k * rf_lattice_stride[d]) % RF_LATTICE_SIZE] * (1.0 / NORMAL_UNIT);
}

void rf_points_normals(unsigned d, uint32_t start, uint32_t count, double z[])
{
    const uint32_t stride = rf_lattice_stride[d];
    for (uint32_t k = 0; k < count; k++, start += stride)
        z[k] = rf_lattice_normal[start % RF_LATTICE_SIZE] * (1.0 / NORMAL_UNIT);
}

/* q[d][lane]: coordinate d of points first .. first + n − 1. */
static void lattice_take(const lattice *p, unsigned dim, uint32_t first, uint32_t n, double q[][RF_BLOCK])
{
    const uint32_t row = row_of(dim);
    if (p->fixed && dim == 1) {
        rf_copy(q[0], p->fixed + row + first, n * sizeof **q);
        return;
    }
    for (unsigned d = 0; d < dim && p->fixed; d++) {
        const double *z = p->fixed + row + first;
        for (uint32_t k = 0; k < n; k++)
            q[d][k] = p->turn[d][0] * z[k] + p->turn[d][1] * z[row + k];
        for (uint32_t k = 0; k < n && dim == 3; k++)
            q[d][k] += p->turn[d][2] * z[2 * row + k];
    }
    for (unsigned d = 0; d < dim && !p->fixed; d++)
        for (uint32_t k = 0; k < n; k++)
            q[d][k] = rf_points_normal(d, p->start[d], first + k);
}

/* Mean of the points, the factor W of their covariance, its inverse, and the logarithm of its determinant. */
typedef struct whitening {
    double mean[RF_ROOM];
    double factor[RF_TRIANGLE(RF_ROOM)], inverse[RF_TRIANGLE(RF_ROOM)];
    double log_size;
} whitening;

/* inverse ← inverse of the lower triangle l. */
static void invert(const double *l, unsigned dim, double *inverse)
{
    for (unsigned j = 0; j < dim; j++)
        for (unsigned i = j; i < dim; i++) {
            double left = i == j;
            for (unsigned k = j; k < i; k++)
                left -= l[RF_TRIANGLE(i) + k] * inverse[RF_TRIANGLE(k) + j];
            inverse[RF_TRIANGLE(i) + j] = left / l[RF_TRIANGLE(i) + i];
        }
}

/* product ← a·b, all lower triangles. */
static void multiply(const double *a, const double *b, unsigned dim, double *product)
{
    for (unsigned i = 0; i < dim; i++)
        for (unsigned j = 0; j <= i; j++) {
            double total = 0;
            for (unsigned k = j; k <= i; k++)
                total += a[RF_TRIANGLE(i) + k] * b[RF_TRIANGLE(k) + j];
            product[RF_TRIANGLE(i) + j] = total;
        }
}

static void whiten(const lattice *p, unsigned dim, uint32_t count, double q[][RF_BLOCK], whitening *w)
{
    memset(w->mean, 0, sizeof w->mean);
    memset(w->factor, 0, RF_TRIANGLE(dim) * sizeof *w->factor);
    if (p->fixed) { /* the table is white already */
        for (unsigned i = 0; i < dim; i++)
            w->factor[RF_TRIANGLE(i) + i] = 1;
        memcpy(w->inverse, w->factor, RF_TRIANGLE(dim) * sizeof *w->factor);
        w->log_size = 0;
        return;
    }
    for (uint32_t first = 0; first < count; first += RF_BLOCK) {
        const uint32_t n = count - first < RF_BLOCK ? count - first : RF_BLOCK;
        lattice_take(p, dim, first, n, q);
        for (unsigned i = 0; i < dim; i++) {
            w->mean[i] += rf_sum_lanes(q[i], n) / count;
            for (unsigned j = 0; j <= i; j++)
                w->factor[RF_TRIANGLE(i) + j] += rf_dot_lanes(q[i], q[j], n) / count;
        }
    }
    for (unsigned i = 0; i < dim; i++)
        for (unsigned j = 0; j <= i; j++)
            w->factor[RF_TRIANGLE(i) + j] -= w->mean[i] * w->mean[j];
    w->log_size = rf_component_cholesky(w->factor, dim, NULL);
    invert(w->factor, dim, w->inverse);
}

/* ---- Likelihoods ---- */

static RF_APART void count_bad(rf_evaluator *e, const double *value, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++) {
        e->nan += rf64_is_nan(value[k]) ? 1u : 0u;
        e->infinite += value[k] > RF64_LIMIT;
        e->negative += !RF_MODEL_IS_LOG(e->model) && value[k] < 0;
    }
}

/* As rf64_is_bad, for any of the values. On bit patterns: one is too large if its difference from the limit is
   negative. */
static int is_any_bad(const double *value, uint32_t n, int is_log)
{
    const uint64_t limit = rf64_bits(RF64_LIMIT);
    uint64_t signs = 0;
    if (is_log)
        for (uint32_t k = 0; k < n; k++)
            signs |= (uint64_t)rf64_is_bad(value[k], 1) << 63;
    else
        for (uint32_t k = 0; k < n; k++) {
            const uint64_t bits = rf64_bits(value[k] + 0.0);
            signs |= bits | (limit - bits);
        }
    return (int)(signs >> 63);
}

/* value ← likelihoods of the points x, raised to the evaluator's power, in the form the model returns; 0 or −∞ if
   bad. */
static rf_status ask(rf_evaluator *e, const double *x, uint32_t n, double *value)
{
    const rf64_model *model = e->model;
    rf_status status = RF_OK;
    if (RF_HOST_ONLY(e->known)) {
        memcpy(value, e->known, n * sizeof *value);
        e->known += n;
    } else {
        status = rf64_model_likelihoods(model, x, model->dim, n, e->record, e->record[model->settings], value);
    }
    const double nothing = RF_MODEL_IS_LOG(model) ? -rf64_infinity() : 0;
    if (status < 0)
        return status;
    if (is_any_bad(value, n, RF_MODEL_IS_LOG(model))) {
        count_bad(e, value, n);
        for (uint32_t k = 0; k < n; k++)
            value[k] = rf64_is_bad(value[k], RF_MODEL_IS_LOG(model)) ? nothing : value[k];
    }
    for (uint32_t k = 0; k < n && e->power != 1; k++)
        value[k] = RF_MODEL_IS_LOG(model) ? e->power * value[k] : value[k] > 0 ? rf64_exp(e->power * rf64_log(value[k])) : 0;
    e->points += n;
    return RF_OK;
}

/* ---- Evaluations ---- */

/* The least variance along each coordinate: detail finer than the spacing of points is not resolved. */
static void least_variances(const whitening *w, unsigned dim, double least[])
{
    const double spacing = spacing_of(dim);
    for (unsigned i = 0; i < dim; i++) {
        const double sd = LEAST * spacing * w->factor[RF_TRIANGLE(i) + i];
        least[i] = sd * sd;
    }
}

/* Minimum effective number of points. With fewer, the posterior is narrower than the spacing of the points: its moments
   and the measured loss are then chance. A posterior as wide as the Gaussian has 12, 7.4 and 22. */
static double least_effective(unsigned dim) { return dim == 1 ? 2.5 : dim == 2 ? 4 : 10; }

/* after, result ← from the sums; A and w as in rf_evaluate. */
static void project(const rf_sums *s, const rf_evaluator *e, const whitening *w, const double *A,
                    const double *component, uint32_t count, double *after, rf_evaluation *result)
{
    const unsigned dim = RF_DIM(e->model->dim);
    double off[RF_ROOM], least[RF_ROOM] = {0}, c[RF_TRIANGLE(RF_ROOM)], trace = 0;
    for (unsigned i = 0; i < dim; i++) {
        off[i] = s->z[i] / s->one - w->mean[i];
        for (unsigned j = 0; j <= i; j++)
            c[RF_TRIANGLE(i) + j] = s->zz[RF_TRIANGLE(i) + j] / s->one - (s->z[i] / s->one) * (s->z[j] / s->one);
    }
    least_variances(w, dim, least);
    const double log_size = rf_component_cholesky(c, dim, least);
    for (unsigned i = 0; i < dim; i++) { /* |W⁻¹·off|² and the trace of W⁻¹·c·cᵀ·W⁻ᵀ */
        const double *row = w->inverse + RF_TRIANGLE(i);
        double mean = 0;
        for (unsigned k = 0; k <= i; k++) {
            double element = 0;
            for (unsigned j = k; j <= i; j++)
                element += row[j] * c[RF_TRIANGLE(j) + k];
            trace += element * element;
            mean += row[k] * off[k];
        }
        trace += mean * mean;
    }
    const double log_mean = rf64_log(s->one / count);
    result->loss = rf64_max(s->entropy / s->one - log_mean - 0.5 * (trace - dim) + (log_size - w->log_size), 0);
    result->likelihood = s->one / count;
    result->scale = s->scale;
    result->effective =
        rf64_min(rf64_max(s->one / (s->square / s->one), 1), count); /* squares of tiny likelihoods underflow to 0 */
    result->is_narrow = result->effective < least_effective(dim);
    if (result->is_narrow)
        result->loss = rf64_max(result->loss, rf64_log(least_effective(dim) / result->effective));
    after[0] = component[0];
    for (unsigned i = 0; i < dim; i++) {
        double move = 0;
        for (unsigned j = 0; j <= i; j++)
            move += A[RF_TRIANGLE(i) + j] * off[j];
        rf_component_mean(after)[i] = component[1 + i] + move;
    }
    multiply(A, c, dim, rf_component_factor(after, dim));
}

/* value[] ← likelihoods divided by exp(scale). */
static void take_scale(const rf64_model *model, double scale, uint32_t count, double value[])
{
    for (uint32_t k = 0; k < count && RF_MODEL_IS_LOG(model); k++)
        value[k] = rf64_exp(rf64_max(value[k] - scale, -1000.0));
}

/* value[] ← logarithms of likelihoods relative to the largest: more informative if few points are effective. */
static void take_logarithms(const rf64_model *model, uint32_t count, double value[])
{
    double max = value[0];
    for (uint32_t k = 1; k < count; k++)
        max = rf64_max(value[k], max);
    for (uint32_t k = 0; k < count; k++)
        value[k] = rf64_max(RF_MODEL_IS_LOG(model) ? value[k] - max : rf64_log(rf64_max(value[k] / max, RF64_SMALLEST_NORMAL)), -LOG_FAR);
}

/* slopes[i] ← variation of the values along column i of the factor. The mean squared difference between neighbours is a
   quadratic form of the direction; it is known in as many directions as the form has coefficients. */
static void find_slopes(const lattice *p, const rf64_model *model, const double value[], double slopes[])
{
    const unsigned dim = RF_DIM(model->dim);
    const unsigned char *pair = pairs_in(p->fixed, dim);
    const double *root = p->fixed + (dim + 1) * row_of(dim);
    double along[CUBE_WAYS], m[FIXED_DIM][FIXED_DIM];
    for (unsigned number = 0; number < ways_of(dim); number++) {
        double total = 0, weights = 0, length = 0;
        for (uint32_t k = 0; k < pairs_of(dim, number); k++, pair += 2) {
            const double d = value[pair[0]] - value[pair[1]], w = root[pair[0]] * root[pair[1]];
            total += w * d * d;
            weights += w;
        }
        for (unsigned d = 0; d < dim; d++)
            length += way(dim, number, d) * way(dim, number, d);
        along[number] = total / (weights * length);
    }
    if (dim == 2) { /* three directions 60 degrees apart */
        m[0][0] = along[0];
        m[1][1] = (2 * (along[1] + along[2]) - along[0]) / 3;
        m[0][1] = m[1][0] = (along[1] - along[2]) * 0.5773502691896258;
    } else { /* the edges of a cube and its four diagonals */
        for (unsigned i = 0; i < dim; i++)
            m[i][i] = along[4 + i];
        m[0][1] = m[1][0] = 0.375 * (along[0] + along[1] - along[2] - along[3]);
        m[0][2] = m[2][0] = 0.375 * (along[0] - along[1] + along[2] - along[3]);
        m[1][2] = m[2][1] = 0.375 * (along[0] - along[1] - along[2] + along[3]);
    }
    for (unsigned i = 0; i < dim; i++) {
        slopes[i] = 0;
        for (unsigned j = 0; j < dim; j++)
            for (unsigned k = 0; k < dim; k++)
                slopes[i] += p->turn[i][j] * m[j][k] * p->turn[i][k];
    }
}

RF_APART rf_status rf_evaluate(rf_evaluator *e, const double *component, double *after, rf_evaluation *result)
{
    const rf64_model *model = e->model;
    const unsigned dim = RF_DIM(model->dim);
    const uint32_t count = rf_points_count(dim);
    const double *mean = component + 1, *factor = mean + dim;
    double q[RF_ROOM][RF_BLOCK], x[RF_ROOM * RF_BLOCK], value[RF_BLOCK], room[RF_BLOCK], all[RF_POINTS_ROW(FIXED_DIM)];
    double own_A[RF_TRIANGLE(RF_ROOM)], own_base[RF_ROOM];
    const double *A = factor, *base = mean;
    const lattice points = lattice_draw(e);
    whitening w;
    rf_sums s;
    s.scale = s.one = s.square = s.entropy = 0;
    memset(s.z, 0, dim * sizeof *s.z);
    memset(s.zz, 0, RF_TRIANGLE(dim) * sizeof *s.zz);
    whiten(&points, dim, count, q, &w);
    if (!points.fixed) { /* candidates μ + L·W⁻¹·(q − q̄), as base + A·q */
        multiply(factor, w.inverse, dim, own_A);
        for (unsigned i = 0; i < dim; i++) {
            double move = 0;
            for (unsigned j = 0; j <= i; j++)
                move += own_A[RF_TRIANGLE(i) + j] * w.mean[j];
            own_base[i] = mean[i] - move;
        }
        A = own_A;
        base = own_base;
    }
    for (uint32_t first = 0; first < count; first += RF_BLOCK) {
        const uint32_t n = count - first < RF_BLOCK ? count - first : RF_BLOCK;
        if (points.fixed || count > RF_BLOCK)
            lattice_take(&points, dim, first, points.fixed && n < RF_BLOCK ? row_of(dim) - first : n, q);
        RF_MANY(place)(model, base, A, q, n, x);
        if (RF_HOST_ONLY(e->wanted)) {
            memcpy(e->wanted, x, n * dim * sizeof *x);
            e->wanted += n * dim;
            continue;
        }
        const rf_status status = ask(e, x, n, value);
        if (status < 0)
            return status;
        for (uint32_t k = 0; k < n && points.fixed && dim > 1; k++)
            all[first + k] = value[k];
        RF_MANY(add)(&s, model, points.fixed ? points.fixed + first : NULL, q, n, value, room);
    }
    e->evaluations++;
    if (RF_HOST_ONLY(e->wanted))
        return RF_OK;
    if (s.one > 0) {
        project(&s, e, &w, A, component, count, after, result);
    } else {
        memcpy(after, component, rf_component_size(dim) * sizeof *after);
        result->likelihood = result->loss = 0;
        result->scale = -rf64_infinity();
        result->effective = 1;
        result->is_narrow = 0;
    }
    if (points.fixed && dim > 1) {
        if (result->is_narrow)
            take_logarithms(model, count, all);
        else
            take_scale(model, s.scale, count, all);
        find_slopes(&points, model, all, result->slopes);
    }
    return RF_OK;
}

RF_APART rf_status rf_evaluate_axis(rf_evaluator *e, const double *component, const rf_evaluation *found, unsigned *axis)
{
    const rf64_model *model = e->model;
    const unsigned dim = RF_DIM(model->dim);
    const double *mean = component + 1, *factor = mean + dim;
    double q[RF_ROOM][RF_BLOCK], x[RF_ROOM * AXIS_POINTS], value[2][AXIS_POINTS], max = -1;
    const lattice points = lattice_draw(e);
    *axis = 0;
    if (dim > FIXED_DIM)
        lattice_take(&points, dim, 0, AXIS_POINTS, q);
    for (unsigned a = 0; a < dim && dim > 1; a++) {
        double varies = dim <= FIXED_DIM ? found->slopes[a] : 0;
        for (unsigned side = 0; side < 2 && dim > FIXED_DIM; side++) {
            double base[RF_ROOM];
            for (unsigned i = 0; i < dim; i++)
                base[i] = mean[i] + (i < a ? 0 : (side ? AXIS_STEP : -AXIS_STEP) * factor[RF_TRIANGLE(i) + a]);
            RF_MANY(place)(model, base, factor, q, AXIS_POINTS, x);
            const rf_status status = ask(e, x, AXIS_POINTS, value[side]);
            if (status < 0)
                return status;
            for (uint32_t k = 0; k < AXIS_POINTS && RF_MODEL_IS_LOG(model); k++)
                value[side][k] = rf64_exp(rf64_min(rf64_max(value[side][k] - found->scale, -1000.0), 40.0));
        }
        for (uint32_t k = 0; k < AXIS_POINTS && dim > FIXED_DIM; k++)
            varies += (value[0][k] - value[1][k]) * (value[0][k] - value[1][k]);
        if (varies > max) {
            max = varies;
            *axis = a;
        }
    }
    e->evaluations += dim > FIXED_DIM;
    return RF_OK;
}
