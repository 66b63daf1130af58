#include "plane.h"

#include <math.h>
#include <string.h>

#include "bytes.h"
#include "stencil.h"

#define NEGLIGIBLE 1e-10
#define TAIL 6.8 /* in standard deviations: a Gaussian is negligible beyond */
#define ROUGH 1e-5
#define SMOOTH 1e-6
#define STEPS_PER_SD 5.0
#define BLUR_STEPS 4.0      /* wider blurs first double the step, or run several times */
#define UNIFORM_PERIODS 0.8 /* in periods: a wider blur leaves a uniform density, to 1e-5 */
#define GIVE_UP_MAX 1e-6
#define PI 3.141592653589793

enum {
    CIRCLE_LEAST = 64,             /* points of a whole circle */
    REACH = 32,                    /* of a blur: RF_STENCIL_TAIL · BLUR_STEPS + 1, or more */
    PAD = 2 * REACH,               /* values beyond either end of a line; interpolation takes 2 · RF_STENCIL_REACH */
    MORE = RF_STENCIL_REACH + 1,   /* points that lump mode adds at either end */
    MARGIN = 2 * RF_STENCIL_REACH, /* points kept beyond the negligible limit, so that the posterior's ends are
                                      interpolated well */
    PROBES = 12,
    HALVINGS = 64, /* in one update; more mean that the likelihood has a jump */
    SAMPLES = 4,   /* per cell and axis, where the likelihood is too fine for the grid */
    BLOCK = 256    /* likelihoods per call of the model */
};

typedef struct axis {
    rf64_chart chart;
    int is_full; /* the points cover the whole circle */
    uint32_t n;  /* points; the coordinate of point i is base + step · (first + i) */
    int64_t first;
    double base, step;
} axis;

struct rf_plane {
    rf64_model model; /* without charts; the axes have them */
    int failed;       /* the block function failed during this update */
    uint32_t side, room; /* most points of a line, and how many the memory has space for */
    axis axis[2];
    double log_evidence, dropped;
    uint32_t unresolved;
    int is_swapped; /* p and other are swapped */
    double taps[2 * REACH + 1];
    double memory[];
};

/* ---- Memory layout: no pointers, so that a copy of the bytes is a copy of the density ---- */

static size_t line_room(uint32_t room) { return (size_t)room + 2 * PAD + 16; }

static double *plane_of(const rf_plane *g, int which)
{
    return (double *)g->memory + (which ? (size_t)g->room * g->room : 0);
}
static double *p_of(const rf_plane *g) { return plane_of(g, g->is_swapped); } /* sums to 1 / (step · step) */
static double *other_of(const rf_plane *g) { return plane_of(g, !g->is_swapped); }
static double *line_of(const rf_plane *g, int which)
{
    return (double *)g->memory + 2 * (size_t)g->room * g->room + (which ? line_room(g->room) : 0);
}

/* Point i of line number `line` along an axis. */
static size_t at(const rf_plane *g, unsigned a, uint32_t line, uint32_t i)
{
    return a == 0 ? (size_t)i * g->room + line : (size_t)line * g->room + i;
}

static uint32_t lines(const rf_plane *g, unsigned a) { return g->axis[!a].n; }
static double place(const axis *x, double i) { return x->base + x->step * ((double)x->first + i); }
static int is_periodic(const axis *x) { return x->chart.kind == RF_PERIODIC; }
static double period(const axis *x) { return x->chart.high - x->chart.low; }
static uint32_t circle(const axis *x) { return (uint32_t)llround(period(x) / x->step); }
/* Copies a line to the first of the two buffers, with PAD values beyond each end: zeros, or on a circle those of the
   other end. Returns its first point. */
static double *take(const rf_plane *g, const double *p, unsigned a, uint32_t line)
{
    const uint32_t n = g->axis[a].n;
    double *to = line_of(g, 0) + PAD;
    for (uint32_t i = 0; i < n; i++)
        to[i] = p[at(g, a, line, i)];
    for (uint32_t i = 0; i < PAD + 8; i++) {
        if (i < PAD)
            to[-1 - (ptrdiff_t)i] = g->axis[a].is_full ? to[n - 1 - i % n] : 0;
        to[n + i] = g->axis[a].is_full ? to[i % n] : 0;
    }
    return to;
}

static void put(rf_plane *g, unsigned a, uint32_t line, const double *values, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        other_of(g)[at(g, a, line, i)] = values[i];
}

static void swap(rf_plane *g) { g->is_swapped = !g->is_swapped; }

static double total(const rf_plane *g)
{
    double sum = 0;
    for (uint32_t i = 0; i < g->axis[0].n; i++)
        for (uint32_t j = 0; j < g->axis[1].n; j++)
            sum += p_of(g)[at(g, 1, i, j)];
    return sum;
}

static double largest(const rf_plane *g, const double *p)
{
    double max = 0;
    for (uint32_t i = 0; i < g->axis[0].n; i++)
        for (uint32_t j = 0; j < g->axis[1].n; j++)
            max = rf64_max(p[at(g, 1, i, j)], max);
    return max;
}

static void normalise(rf_plane *g)
{
    const double scale = 1 / (total(g) * g->axis[0].step * g->axis[1].step);
    for (uint32_t i = 0; i < g->axis[0].n; i++)
        for (uint32_t j = 0; j < g->axis[1].n; j++)
            p_of(g)[at(g, 1, i, j)] *= scale;
}

/* For each point of an axis, the sum over its line, or the largest value. Returns them in the second buffer. */
static double *project(const rf_plane *g, const double *p, unsigned a, int is_sum)
{
    double *to = line_of(g, 1);
    for (uint32_t i = 0; i < g->axis[a].n; i++) {
        to[i] = 0;
        for (uint32_t line = 0; line < lines(g, a); line++) {
            const double value = p[at(g, a, line, i)];
            to[i] = is_sum ? to[i] + value : rf64_max(to[i], value);
        }
    }
    return to;
}

/* ---- Windows and steps ---- */

/* Keeps `n` points of p, beginning at `begin`; on a circle they may wrap past its end. */
static void keep(rf_plane *g, unsigned a, uint32_t begin, uint32_t n)
{
    axis *x = &g->axis[a];
    if (begin == 0 && n == x->n)
        return;
    for (uint32_t line = 0; line < lines(g, a); line++) {
        const double *from = take(g, p_of(g), a, line);
        for (uint32_t i = 0; i < n; i++)
            other_of(g)[at(g, a, line, i)] = from[(begin + i) % x->n];
    }
    swap(g);
    x->is_full &= n == x->n;
    x->first += begin;
    x->n = n;
}

/* The points whose largest value in `p` is at least `floor`, with `margin` on either side: sets *begin, returns their
   number. */
static uint32_t support(const rf_plane *g, const double *p, unsigned a, double floor, uint32_t margin, uint32_t *begin)
{
    const axis *x = &g->axis[a];
    const double *max = project(g, p, a, 0);
    uint32_t first = 0, end = x->n;
    *begin = 0;
    if (x->is_full) { /* the circle without its longest empty run, if that is a quarter or more */
        uint32_t run = 0, best = 0;
        for (uint32_t i = 0; i < 2 * x->n && run < x->n; i++) {
            run = max[i % x->n] < floor ? run + 1 : 0;
            if (run > best) {
                best = run;
                first = (i + 1) % x->n;
            }
        }
        if (best <= x->n / 4 + 2 * margin)
            return x->n;
        *begin = (first + x->n - margin) % x->n;
        return x->n - best + 2 * margin;
    }
    while (end > 1 && max[end - 1] < floor)
        end--;
    while (first + 1 < end && max[first] < floor)
        first++;
    first -= first < margin ? first : margin;
    end += x->n - end < margin ? x->n - end : margin;
    *begin = first;
    return end - first;
}

/* Extends a window to the whole circle with zeros. */
static void close_circle(rf_plane *g, unsigned a)
{
    axis *x = &g->axis[a];
    const uint32_t whole = circle(x);
    for (uint32_t line = 0; line < lines(g, a); line++)
        for (uint32_t i = x->n; i < whole; i++)
            p_of(g)[at(g, a, line, i)] = 0;
    x->n = whole;
    x->is_full = 1;
}

/* Halves the step. */
static void refine(rf_plane *g, unsigned a)
{
    axis *x = &g->axis[a];
    const uint32_t n = x->is_full ? 2 * x->n : 2 * x->n - 1;
    double *to = line_of(g, 1);
    for (uint32_t line = 0; line < lines(g, a); line++) {
        const double *from = take(g, p_of(g), a, line);
        for (uint32_t i = 0; i < x->n; i++) {
            to[2 * i] = from[i];
            to[2 * i + 1] = rf64_max(rf_stencil_midpoint(from + i, 1), 0);
        }
        put(g, a, line, to, n);
    }
    swap(g);
    x->n = n;
    x->first *= 2;
    x->step *= 0.5;
    if (x->first > INT64_C(1) << 50 || x->first < -(INT64_C(1) << 50)) {
        x->base += x->step * (double)x->first;
        x->first = 0;
    }
}

static int has_wider_step(const axis *x) { return !is_periodic(x) || circle(x) > CIRCLE_LEAST; }

/* Doubles the step. Lumped (before a blur): spreads the mass of each odd point over ten even ones, which preserves all
   sums with smooth functions. Otherwise the odd points are left out. */
static void widen_step(rf_plane *g, unsigned a, int is_lumped)
{
    axis *x = &g->axis[a];
    const ptrdiff_t more = is_lumped && !x->is_full ? MORE : 0, begin = -more + (ptrdiff_t)((x->first - more) & 1);
    const uint32_t n = x->is_full ? x->n / 2 : (uint32_t)(((ptrdiff_t)x->n + more - begin + 1) / 2);
    double *to = line_of(g, 1);
    for (uint32_t line = 0; line < lines(g, a); line++) {
        const double *from = take(g, p_of(g), a, line);
        for (uint32_t k = 0; k < n; k++) {
            const double *value = from + begin + 2 * (ptrdiff_t)k;
            to[k] = is_lumped ? 0.5 * (*value + rf_stencil_around(value, 1)) : *value;
        }
        put(g, a, line, to, n);
    }
    swap(g);
    x->first = (x->first + begin) / 2;
    x->n = n;
    x->step *= 2;
}

static double roughness(const rf_plane *g, const double *p, unsigned a, ptrdiff_t stride)
{
    double worst = 0;
    for (uint32_t line = 0; line < lines(g, a); line++)
        worst = rf64_max(worst, rf_stencil_roughness(take(g, p, a, line), g->axis[a].n, stride));
    return worst;
}

static int coarsen(rf_plane *g, unsigned a)
{
    if (!has_wider_step(&g->axis[a]) || g->axis[a].n < 16 || roughness(g, p_of(g), a, 2) > SMOOTH * largest(g, p_of(g)))
        return 0;
    widen_step(g, a, 0);
    return 1;
}

/* Finds at most `n` points of an axis around most of the mass of `p`, dropping no more than `share` of it. Returns
   their number and the share in `lost`; or 0. */
static uint32_t narrow(const rf_plane *g, const double *p, unsigned a, uint32_t n, double share, uint32_t *begin,
                       double *lost)
{
    const double *mass = project(g, p, a, 1);
    uint32_t first = 0, end = g->axis[a].n;
    double sum = 0, gone = 0;
    for (uint32_t i = 0; i < end; i++)
        sum += mass[i];
    while (end - first > n) {
        gone += mass[first] < mass[end - 1] ? mass[first] : mass[end - 1];
        if (mass[first] < mass[end - 1])
            first++;
        else
            end--;
        if (gone > share * sum)
            return 0;
    }
    *begin = first;
    *lost = gone / sum;
    return end - first;
}

/* Reduces an axis to `side` points: with a wider step if nothing is lost, else by dropping the ends with less mass. */
static void fit(rf_plane *g, unsigned a)
{
    uint32_t begin, n;
    double lost = 0;
    n = support(g, p_of(g), a, NEGLIGIBLE * largest(g, p_of(g)), 0, &begin);
    keep(g, a, begin, n);
    while (g->axis[a].n > g->side && coarsen(g, a))
        ;
    if (g->axis[a].n <= g->side || g->axis[a].is_full)
        return;
    n = narrow(g, p_of(g), a, g->side, 1, &begin, &lost);
    keep(g, a, begin, n);
    g->dropped += lost;
}

/* ---- Opening ---- */

size_t rf_plane_bytes(uint32_t side)
{
    const uint32_t room = side + 2 * REACH + 2 * MORE;
    return sizeof(rf_plane) + (2 * (size_t)room * room + 2 * line_room(room)) * sizeof(double);
}

void rf_plane_init(rf_plane *g, const rf64_model *model, uint32_t side)
{
    memset(g, 0, rf_plane_bytes(side));
    g->model = *model;
    g->model.charts = NULL;
    g->side = side;
    g->room = side + 2 * REACH + 2 * MORE;
    for (unsigned a = 0; a < 2; a++)
        g->axis[a].chart = model->charts[a];
}

/* Standard deviation of the rounded ends of a uniform prior: the narrowest that two thirds of the points resolve. */
static double edge_of(const rf_plane *g, double width)
{
    return width * STEPS_PER_SD / (0.66 * (g->side - 2 * TAIL * STEPS_PER_SD));
}

/* Sets the window for the prior. */
static void lay(const rf_plane *g, axis *x, const rf_plane_prior *prior)
{
    const double sd = prior->is_box ? edge_of(g, prior->second - prior->first) : prior->second;
    const double low = prior->first - TAIL * sd, high = (prior->is_box ? prior->second : prior->first) + TAIL * sd;
    x->is_full = 0;
    x->step = sd / STEPS_PER_SD;
    x->base = 0.5 * (low + high);
    x->n = (uint32_t)ceil((high - low) / x->step) + 1;
    x->first = -(int64_t)(x->n / 2);
    if (!is_periodic(x))
        return;
    const double wanted = x->step;
    x->base = x->chart.low;
    x->step = period(x) / CIRCLE_LEAST;
    while (x->step > wanted && 2 * circle(x) <= g->side)
        x->step *= 0.5;
    while (x->step > wanted && high - low < 0.5 * period(x))
        x->step *= 0.5;
    x->is_full = high - low >= period(x) || (uint32_t)ceil((high - low) / x->step) + 1 >= circle(x);
    x->first = x->is_full ? 0 : (int64_t)floor((low - x->base) / x->step);
    x->n = x->is_full ? circle(x) : (uint32_t)ceil((high - low) / x->step) + 1;
}

/* The prior's density, unnormalised. */
static double prior_at(const rf_plane *g, const axis *x, const rf_plane_prior *prior, double y)
{
    double value = 0;
    if (prior->is_box && is_periodic(x) && prior->second - prior->first >= period(x) * (1 - 1e-12))
        return 1;
    for (int turn = x->is_full ? -8 : 0; turn <= (x->is_full ? 8 : 0); turn++) {
        const double at = turn ? y + turn * period(x) : y;
        if (prior->is_box) {
            const double edge = edge_of(g, prior->second - prior->first), from_low = at - prior->first,
                         to_high = prior->second - at;
            value += 0.5 * erfc(-(from_low < to_high ? from_low : to_high) / edge * 0.7071067811865476);
        } else {
            const double z = (at - prior->first) / prior->second;
            value += exp(-0.5 * z * z);
        }
    }
    return value;
}

int rf_plane_start(rf_plane *g, const rf_plane_prior prior[2])
{
    rf_plane_prior own[2];
    for (unsigned a = 0; a < 2; a++) {
        own[a] = prior[a];
        if (!isfinite(prior[a].first) || !isfinite(prior[a].second) ||
            !(prior[a].is_box ? prior[a].first < prior[a].second : prior[a].second > 0))
            return -1;
        if (!prior[a].is_box && is_periodic(&g->axis[a]))
            own[a].second = fmin(prior[a].second, period(&g->axis[a]));
    }
    g->log_evidence = g->dropped = 0;
    g->unresolved = 0;
    for (unsigned a = 0; a < 2; a++)
        lay(g, &g->axis[a], &own[a]);
    for (uint32_t j = 0; j < g->axis[1].n; j++)
        line_of(g, 1)[j] = prior_at(g, &g->axis[1], &own[1], place(&g->axis[1], j));
    for (uint32_t i = 0; i < g->axis[0].n; i++) {
        const double value = prior_at(g, &g->axis[0], &own[0], place(&g->axis[0], i));
        for (uint32_t j = 0; j < g->axis[1].n; j++)
            p_of(g)[at(g, 1, i, j)] = value * line_of(g, 1)[j];
    }
    normalise(g);
    return 0;
}

/* ---- Time ---- */

/* Blurs by at most BLUR_STEPS steps. */
static void blur(rf_plane *g, unsigned a, double sd)
{
    axis *x = &g->axis[a];
    const size_t reach = rf_stencil_taps(sd / x->step, g->taps);
    const uint32_t n = x->is_full ? x->n : x->n + 2 * (uint32_t)reach;
    double *to = line_of(g, 1);
    for (uint32_t line = 0; line < lines(g, a); line++) {
        const double *from = take(g, p_of(g), a, line);
        rf_stencil_blur(from - (x->is_full ? reach : 2 * reach), g->taps, reach, n, to);
        for (uint32_t i = 0; i < n; i++)
            to[i] = rf64_max(to[i], 0);
        put(g, a, line, to, n);
    }
    swap(g);
    x->first -= x->is_full ? 0 : (int64_t)reach;
    x->n = n;
}

/* Sets the same density all round the circle. */
static void make_uniform(rf_plane *g, unsigned a)
{
    for (uint32_t line = 0; line < lines(g, a); line++) {
        const double *from = take(g, p_of(g), a, line);
        double sum = 0;
        for (uint32_t i = 0; i < g->axis[a].n; i++)
            sum += from[i];
        for (uint32_t i = 0; i < g->axis[a].n; i++)
            p_of(g)[at(g, a, line, i)] = sum / g->axis[a].n;
    }
}

/* Closes a window to the whole circle if the blur would make it as long as that, or nearly. */
static void close_if_due(rf_plane *g, unsigned a)
{
    const axis *x = &g->axis[a];
    while (is_periodic(x) && !x->is_full && x->n + 2 * REACH + 2 * MORE >= circle(x)) {
        if (circle(x) <= g->side)
            close_circle(g, a);
        else
            widen_step(g, a, 1);
    }
}

int rf_plane_diffuse(rf_plane *g, unsigned a, double variance)
{
    axis *x = &g->axis[a];
    if (!(variance >= 0 && isfinite(variance)))
        return -1;
    if (variance == 0)
        return 0;
    const double sd = sqrt(variance);
    const int is_uniform = is_periodic(x) && sd > UNIFORM_PERIODS * period(x);
    close_if_due(g, a);
    while (has_wider_step(x) && (is_uniform || sd > BLUR_STEPS * x->step)) {
        widen_step(g, a, 1);
        close_if_due(g, a);
    }
    if (is_uniform)
        make_uniform(g, a);
    for (double left = is_uniform ? 0 : variance, max = BLUR_STEPS * BLUR_STEPS * x->step * x->step; left > 0;
         left -= max)
        blur(g, a, sqrt(left < max ? left : max)); /* more than one pass only on the coarsest circle */
    fit(g, a);
    normalise(g);
    return 0;
}

/* ---- Learning ---- */

/* The model's return values at up to BLOCK places y of two coordinates each. Converts y to natural units in place. */
static void ask(rf_plane *g, double y[][2], uint32_t n, const double record[], double out[])
{
    for (uint32_t k = 0; k < n; k++)
        for (unsigned a = 0; a < 2; a++)
            y[k][a] = rf64_chart_natural(&g->axis[a].chart, y[k][a]);
    if (rf64_model_likelihoods(&g->model, y[0], 2, n, record, record[g->model.settings], out) < 0)
        g->failed = 1;
}

/* Converts the model's return value to P(E|y), for logarithms divided by exp(scale); bad values become zero. */
static double judged(const rf_plane *g, double value, double scale)
{
    if (g->model.is_log)
        return value <= RF64_LIMIT ? exp(value - scale < 700 ? value - scale : 700) : 0;
    return value >= 0 && value <= RF64_LIMIT ? value : 0;
}

/* other ← p · P(E|y) / exp(scale). Returns the scale. */
static double multiply(rf_plane *g, const double record[])
{
    double scale = g->model.is_log ? -HUGE_VAL : 0;
    for (uint32_t i = 0; i < g->axis[0].n; i++)
        for (uint32_t first = 0; first < g->axis[1].n; first += BLOCK) {
            const uint32_t n = g->axis[1].n - first < BLOCK ? g->axis[1].n - first : BLOCK;
            const size_t begin = at(g, 1, i, first);
            double y[BLOCK][2];
            for (uint32_t j = 0; j < n; j++) {
                y[j][0] = place(&g->axis[0], i);
                y[j][1] = place(&g->axis[1], first + j);
            }
            ask(g, y, n, record, other_of(g) + begin);
            for (size_t k = begin; k < begin + n && g->model.is_log; k++)
                if (p_of(g)[k] > 0 && other_of(g)[k] <= RF64_LIMIT)
                    scale = rf64_max(scale, other_of(g)[k]);
        }
    scale = scale > -HUGE_VAL ? scale : 0;
    for (uint32_t i = 0; i < g->axis[0].n; i++)
        for (uint32_t j = 0; j < g->axis[1].n; j++) {
            const size_t k = at(g, 1, i, j);
            other_of(g)[k] = p_of(g)[k] * judged(g, other_of(g)[k], scale);
        }
    return scale;
}

/* The density at index (i + u, j + v), from ten lines of ten points each. */
static double between(const rf_plane *g, const double *p, uint32_t i, double u, uint32_t j, double v)
{
    double column[10], row[10];
    for (int r = 0; r < 10; r++) {
        for (int c = 0; c < 10; c++) {
            ptrdiff_t k[2] = {(ptrdiff_t)i + r - 4, (ptrdiff_t)j + c - 4};
            int is_inside = 1;
            for (unsigned a = 0; a < 2; a++) {
                const ptrdiff_t n = (ptrdiff_t)g->axis[a].n;
                if (g->axis[a].is_full)
                    k[a] = (k[a] % n + n) % n;
                is_inside &= k[a] >= 0 && k[a] < n;
            }
            row[c] = is_inside ? p[at(g, 1, (uint32_t)k[0], (uint32_t)k[1])] : 0;
        }
        column[r] = rf_stencil_value(row + 4, v);
    }
    return rf_stencil_value(column + 4, u);
}

/* Does interpolation reproduce the posterior in `other` at places off the grid? */
static int holds_between(rf_plane *g, const double record[], double scale, double peak)
{
    const double floor = 0.01 * largest(g, p_of(g));
    int probes = 0;
    for (uint32_t k = 0; k < 32 * PROBES && probes < PROBES; k++) {
        const rf_words w = rf_draw(0, k, 0, 0, RF_FOR_USER);
        const uint32_t i = (uint32_t)((uint64_t)w.word[0] * g->axis[0].n >> 32),
                       j = (uint32_t)((uint64_t)w.word[1] * g->axis[1].n >> 32);
        const double u = w.word[2] * 0x1p-32, v = w.word[3] * 0x1p-32;
        if (p_of(g)[at(g, 1, i, j)] < floor)
            continue;
        double value, y[1][2] = {{place(&g->axis[0], i + u), place(&g->axis[1], j + v)}};
        ask(g, y, 1, record, &value);
        if (!(fabs(between(g, p_of(g), i, u, j, v) * judged(g, value, scale) - between(g, other_of(g), i, u, j, v)) <= ROUGH * peak))
            return 0;
        probes++;
    }
    return 1;
}

/* other ← p · mean of the likelihood over each cell, at a random place in each part of it: finer detail becomes noise
   instead of a pattern. */
static void average_cells(rf_plane *g, const double record[], double scale)
{
    for (uint32_t i = 0; i < g->axis[0].n; i++)
        for (uint32_t j = 0; j < g->axis[1].n; j++) {
            double mean = 0, y[SAMPLES * SAMPLES][2], value[SAMPLES * SAMPLES];
            for (uint32_t k = 0; k < SAMPLES * SAMPLES; k++) {
                const rf_words w = rf_draw(0, g->unresolved, i * g->room + j, k, RF_FOR_USER);
                const double u = (k / SAMPLES + w.word[0] * 0x1p-32) / SAMPLES - 0.5,
                             v = (k % SAMPLES + w.word[1] * 0x1p-32) / SAMPLES - 0.5;
                y[k][0] = place(&g->axis[0], i + u);
                y[k][1] = place(&g->axis[1], j + v);
            }
            ask(g, y, SAMPLES * SAMPLES, record, value);
            for (uint32_t k = 0; k < SAMPLES * SAMPLES; k++)
                mean += judged(g, value[k], scale);
            other_of(g)[at(g, 1, i, j)] = p_of(g)[at(g, 1, i, j)] * mean / (SAMPLES * SAMPLES);
        }
}

/* Makes space for twice the points along an axis: keeps only what the posterior in `other` needs. Returns 1, or 0 if
   that is too much. */
static int make_room(rf_plane *g, unsigned a, double peak)
{
    static const double share[] = {1e-10, 1e-8, 1e-7, GIVE_UP_MAX};
    uint32_t begin = 0, n = support(g, other_of(g), a, NEGLIGIBLE * peak, MARGIN, &begin);
    double lost = 0;
    for (unsigned k = 0; 2 * n > g->side && !g->axis[a].is_full && k < sizeof share / sizeof *share; k++) {
        const uint32_t fewer = narrow(g, other_of(g), a, g->side / 2, share[k], &begin, &lost);
        n = fewer ? fewer : n;
    }
    if (2 * n > g->side)
        return 0;
    keep(g, a, begin, n);
    g->dropped += lost;
    return 1;
}

/* Halves a step if the posterior in `other` is too rough for it. Returns 0 if it is smooth, 1 if a step was halved, -1
   if there is no space. */
static int resolve(rf_plane *g, const double record[], double scale, double peak)
{
    int is_rough[2];
    for (unsigned a = 0; a < 2; a++)
        is_rough[a] = roughness(g, other_of(g), a, 1) > ROUGH * peak;
    if (!is_rough[0] && !is_rough[1]) {
        if (holds_between(g, record, scale, peak))
            return 0;
        is_rough[0] = is_rough[1] = 1;
    }
    int did = 0;
    for (unsigned a = 0; a < 2 && !did; a++)
        if (is_rough[a] && make_room(g, a, peak)) {
            refine(g, a);
            did = 1;
        }
    return did ? 1 : -1;
}

void rf_plane_shift(rf_plane *g, const double by[2])
{
    for (unsigned a = 0; a < 2; a++)
        g->axis[a].base += by[a];
}

double rf_plane_update(rf_plane *g, const double record[])
{
    double scale, peak;
    int state, halvings = 0;
    g->failed = 0;
    do {
        scale = multiply(g, record);
        if (g->failed)
            return NAN;
        peak = largest(g, other_of(g));
        if (!(peak > 0 && peak < HUGE_VAL))
            return -HUGE_VAL;
        state = halvings++ < HALVINGS ? resolve(g, record, scale, peak) : -1;
    } while (state > 0);
    if (state < 0) {
        average_cells(g, record, scale);
        g->unresolved++;
    }
    if (g->failed)
        return NAN;
    swap(g);
    const double evidence = total(g) * g->axis[0].step * g->axis[1].step;
    if (!(evidence > 0)) { /* cell averages may be 0 although points were not */
        swap(g);
        return -HUGE_VAL;
    }
    normalise(g);
    for (unsigned a = 0; a < 2; a++)
        fit(g, a);
    g->log_evidence += log(evidence) + scale;
    return log(evidence) + scale;
}

/* ---- Reading ---- */

/* The fractional index of the mean of an axis; *begin: where a circle is cut, half a turn before it. */
static double centre(const rf_plane *g, unsigned a, double *begin)
{
    const axis *x = &g->axis[a];
    const double *mass = project(g, p_of(g), a, 1), turn = 2 * PI / x->n;
    double sum = 0, mean = 0, s = 0, c = 0;
    for (uint32_t i = 0; i < x->n; i++) {
        sum += mass[i];
        mean += mass[i] * i;
        s += x->is_full ? mass[i] * sin(turn * i) : 0;
        c += x->is_full ? mass[i] * cos(turn * i) : 0;
    }
    mean = x->is_full ? atan2(s, c) / turn : mean / sum;
    *begin = x->is_full ? mean - 0.5 * x->n : -0.5;
    return mean;
}

/* The whole periods to add to y to bring it into the chart's range. */
static double turns_home(const axis *x, double y)
{
    return is_periodic(x) ? -period(x) * floor((y - x->chart.low) / period(x)) : 0;
}

void rf_plane_moments(const rf_plane *g, double mean[2], double covariance[3])
{
    double middle[2], sum = 0, c[3] = {0}, begin;
    for (unsigned a = 0; a < 2; a++) {
        middle[a] = centre(g, a, &begin);
        mean[a] = place(&g->axis[a], middle[a]) + turns_home(&g->axis[a], place(&g->axis[a], middle[a]));
    }
    for (uint32_t i = 0; covariance && i < g->axis[0].n; i++)
        for (uint32_t j = 0; j < g->axis[1].n; j++) {
            const double p = p_of(g)[at(g, 1, i, j)];
            double away[2] = {i - middle[0], j - middle[1]};
            for (unsigned a = 0; a < 2; a++) {
                away[a] -= g->axis[a].is_full ? g->axis[a].n * floor(away[a] / g->axis[a].n + 0.5) : 0;
                away[a] *= g->axis[a].step;
            }
            sum += p;
            c[0] += p * away[0] * away[0];
            c[1] += p * away[0] * away[1];
            c[2] += p * away[1] * away[1];
        }
    for (unsigned k = 0; covariance && k < 3; k++)
        covariance[k] = c[k] / sum;
}

rf_marginal rf_plane_marginal(const rf_plane *g, unsigned a)
{
    const rf_marginal parts = {g->axis[a].n, project(g, p_of(g), a, 1), NULL, NULL, place(&g->axis[a], 0), g->axis[a].step};
    return parts;
}

/* The fractional index below which `share` of the mass of n cells lies; cell i covers i − 1/2 to i + 1/2. Counts from
   `begin`, inside the cell of that index. */
static double walk(const double *mass, uint32_t n, int is_full, double begin, double share)
{
    double sum = 0, low = begin;
    ptrdiff_t i = (ptrdiff_t)floor(begin + 0.5);
    for (uint32_t k = 0; k < n; k++)
        sum += mass[k];
    for (double left = share * sum; i < (ptrdiff_t)(2 * (size_t)n); i++) {
        const ptrdiff_t k = is_full ? (i % (ptrdiff_t)n + (ptrdiff_t)n) % (ptrdiff_t)n : i;
        if (!is_full && k >= (ptrdiff_t)n)
            break;
        const double high = (double)i + 0.5, here = mass[k] * (high - low);
        if (left <= here && here > 0)
            return low + (high - low) * left / here;
        left -= here;
        low = high;
    }
    return low;
}

double rf_plane_quantile(const rf_plane *g, unsigned a, double p)
{
    const axis *x = &g->axis[a];
    double begin;
    const double mean = centre(g, a, &begin), *mass = project(g, p_of(g), a, 1);
    return place(x, walk(mass, x->n, x->is_full, begin, p)) + turns_home(x, place(x, mean));
}

void rf_plane_draw(const rf_plane *g, const double u[4], double y[2])
{
    const double i = floor(walk(project(g, p_of(g), 0, 1), g->axis[0].n, 0, -0.5, u[0]) + 0.5);
    const uint32_t row = (uint32_t)fmin(rf64_max(i, 0), g->axis[0].n - 1);
    const double j = floor(walk(p_of(g) + at(g, 1, row, 0), g->axis[1].n, 0, -0.5, u[1]) + 0.5);
    y[0] = place(&g->axis[0], row + u[2] - 0.5);
    y[1] = place(&g->axis[1], fmin(rf64_max(j, 0), g->axis[1].n - 1) + u[3] - 0.5);
}

uint32_t rf_plane_points(const rf_plane *g) { return g->axis[0].n * g->axis[1].n; }
double rf_plane_dropped(const rf_plane *g) { return g->dropped; }
uint32_t rf_plane_unresolved(const rf_plane *g) { return g->unresolved; }

/* ---- Bytes ---- */

size_t rf_plane_save(const rf_plane *g, unsigned char *bytes)
{
    rf_writer w = {bytes, 0};
    rf_write_u64(&w, g->unresolved);
    rf_write_real(&w, g->log_evidence);
    rf_write_real(&w, g->dropped);
    for (unsigned a = 0; a < 2; a++) {
        const axis *x = &g->axis[a];
        rf_write_u64(&w, x->n);
        rf_write_u64(&w, (uint64_t)x->is_full);
        rf_write_u64(&w, (uint64_t)x->first);
        rf_write_real(&w, x->base);
        rf_write_real(&w, x->step);
    }
    for (uint32_t i = 0; i < g->axis[0].n; i++)
        for (uint32_t j = 0; j < g->axis[1].n; j++)
            rf_write_real(&w, p_of(g)[at(g, 1, i, j)]);
    return w.size;
}

static int load_axis(rf_reader *r, uint32_t side, axis *x)
{
    const uint64_t n = rf_read_u64(r), is_full = rf_read_u64(r);
    x->first = (int64_t)rf_read_u64(r);
    x->base = rf_read_real(r);
    x->step = rf_read_real(r);
    if (n < 1 || n > side || is_full > 1 || x->first > INT64_C(1) << 52 || x->first < -(INT64_C(1) << 52) ||
        !(fabs(x->base) <= RF64_LIMIT) || !(x->step > 0 && x->step <= RF64_LIMIT))
        return -1;
    x->n = (uint32_t)n;
    x->is_full = is_full != 0;
    if (is_periodic(x) && !(x->step <= period(x) / CIRCLE_LEAST * 1.001 && x->step >= period(x) * 0x1p-31))
        return x->step < period(x) * 0x1p-31 && !is_full && x->step >= period(x) * 0x1p-60 ? 0 : -1;
    return is_full && (!is_periodic(x) || circle(x) != n) ? -1 : 0;
}

int rf_plane_load(rf_plane *g, const unsigned char *bytes, size_t size)
{
    rf_reader r = {bytes, size, 0, 0};
    double sum = 0;
    g->unresolved = (uint32_t)rf_read_u64(&r);
    g->log_evidence = rf_read_real(&r);
    g->dropped = rf_read_real(&r);
    for (unsigned a = 0; a < 2; a++)
        if (load_axis(&r, g->side, &g->axis[a]) < 0)
            return -1;
    for (uint32_t i = 0; i < g->axis[0].n && !r.failed; i++)
        for (uint32_t j = 0; j < g->axis[1].n; j++) {
            const double value = rf_read_real(&r);
            if (!(value >= 0 && value <= RF64_LIMIT))
                return -1;
            p_of(g)[at(g, 1, i, j)] = value;
            sum += value;
        }
    sum *= g->axis[0].step * g->axis[1].step;
    return rf_read_all(&r) && isfinite(g->log_evidence) && g->dropped >= 0 && fabs(sum - 1) < 1e-6 ? 0 : -1;
}
