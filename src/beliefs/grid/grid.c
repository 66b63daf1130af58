#include "grid_state.h"
#include "stencil.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"

enum {
    POINTS_LEAST = 64, /* of a whole circle: period / 64 is the widest step there */
    ROOM = 2 * TAPS_REACH_MAX + 64,
    PROBES = 6,
    SAMPLES = 16, /* per cell, where fringes are too fine for the grid */
    BLOCK = 256   /* likelihoods per call of the model */
};
#define NEGLIGIBLE 1e-12
#define ROUGH 1e-6
#define SMOOTH 1e-7
#define STEPS_PER_SD 8.0
#define BLUR_STEPS 10.0 /* wider blurs first double the step */
#define CIRCLE_SD 1.5   /* in periods: wider blurs all give the same uniform density */
#define GOLDEN 0.6180339887498949

static double natural(const rf_grid *g, double y)
{
    return g->chart.kind == RF_REAL ? y : rf64_chart_natural(&g->chart, y);
}

static void swap(rf_grid *g) { g->is_swapped = !g->is_swapped; }

static double largest(const double *p, size_t n)
{
    double max = 0;
    for (size_t i = 0; i < n; i++)
        max = rf64_max(p[i], max);
    return max;
}

/* Fills the values beyond both ends: zeros, or on a full circle those of the other end. */
static void close_ends(const rf_grid *g, double *p)
{
    for (size_t i = 0; i < MARGIN; i++) {
        p[-1 - (ptrdiff_t)i] = g->is_full ? p[g->n - 1 - i] : 0;
        p[g->n + i] = g->is_full ? p[i] : 0;
    }
}

static void normalise(rf_grid *g)
{
    double scale = 1 / (g->step * sum(p_of(g), g->n));
    for (size_t i = 0; i < g->n; i++)
        p_of(g)[i] *= scale;
}

/* Keeps `n` points, beginning at `begin`. */
static void keep(rf_grid *g, size_t begin, size_t n)
{
    memmove(p_of(g), p_of(g) + begin, n * sizeof *p_of(g));
    g->first += (int64_t)begin;
    g->n = n;
}

/* Cuts the circle open if more than a quarter of it is empty. Empty: values[i] < `floor`, except within `margin` points
   of the rest. Overwrites `like`. */
static int open_circle(rf_grid *g, const double *values, double floor, size_t margin)
{
    size_t run = 0, best = 0, end = 0; /* the longest empty run ends before point `end` */
    for (size_t i = 0; i < 2 * g->n && run < g->n; i++) {
        run = values[i % g->n] < floor ? run + 1 : 0;
        if (run > best) {
            best = run;
            end = (i + 1) % g->n;
        }
    }
    if (best <= g->n / 4 + 2 * margin)
        return 0;
    for (size_t i = 0; i < g->n; i++)
        like_of(g)[i] = p_of(g)[(end + g->n - margin + i) % g->n];
    memcpy(p_of(g), like_of(g), g->n * sizeof *p_of(g));
    g->first += (int64_t)end - (int64_t)margin;
    g->n -= best - 2 * margin;
    g->is_full = 0;
    return 1;
}

/* Extends a window to the whole circle with zeros. */
static void close_circle(rf_grid *g)
{
    size_t whole = circle(g);
    memset(p_of(g) + g->n, 0, (whole - g->n) * sizeof *p_of(g));
    g->n = whole;
    g->is_full = 1;
}

static void trim(rf_grid *g)
{
    double floor = NEGLIGIBLE * largest(p_of(g), g->n);
    if (g->is_full) {
        open_circle(g, p_of(g), floor, 0);
        return;
    }
    size_t begin = 0, end = g->n;
    while (end > begin + 1 && p_of(g)[end - 1] < floor)
        end--;
    while (end > begin + 1 && p_of(g)[begin] < floor)
        begin++;
    keep(g, begin, end - begin);
}

/* Halves the step. */
static void refine(rf_grid *g)
{
    close_ends(g, p_of(g));
    for (size_t i = 0; i < g->n; i++) {
        other_of(g)[2 * i] = p_of(g)[i];
        other_of(g)[2 * i + 1] = rf64_max(rf_stencil_midpoint(p_of(g) + i, 1), 0);
    }
    swap(g);
    g->n = g->is_full ? 2 * g->n : 2 * g->n - 1;
    g->first *= 2;
    g->step *= 0.5;
    if (g->first > INT64_C(1) << 50 || g->first < -(INT64_C(1) << 50)) {
        g->base += g->step * (double)g->first;
        g->first = 0;
    }
}

/* Doubles the step, keeping every other value of `p`. */
static void halve(rf_grid *g, const double *p)
{
    size_t odd = (size_t)(g->first & 1);
    g->n = g->is_full ? g->n / 2 : (g->n - odd + 1) / 2;
    for (size_t i = 0; i < g->n; i++)
        other_of(g)[i] = p[2 * i + odd];
    swap(g);
    g->first = (g->first + (int64_t)odd) / 2;
    g->step *= 2;
}

static int has_wider_step(const rf_grid *g) { return !is_periodic(g) || circle(g) > POINTS_LEAST; }

static int coarsen(rf_grid *g)
{
    close_ends(g, p_of(g));
    if (!has_wider_step(g) || g->n < 8 || rf_stencil_roughness(p_of(g), g->n, 2) > SMOOTH * largest(p_of(g), g->n))
        return 0;
    halve(g, p_of(g));
    return 1;
}

/* Doubles the step before a blur by many steps: spreads the mass of each odd point over ten even ones, which preserves
   all sums with smooth functions. */
static void lump(rf_grid *g)
{
    enum { MORE = RF_STENCIL_REACH + 1 };
    if (is_periodic(g) && !g->is_full && g->n + 2 * MORE >= circle(g))
        close_circle(g);
    if (!g->is_full) { /* space for mass that moves beyond the ends */
        memmove(p_of(g) + MORE, p_of(g), g->n * sizeof *p_of(g));
        memset(p_of(g), 0, MORE * sizeof *p_of(g));
        memset(p_of(g) + MORE + g->n, 0, MORE * sizeof *p_of(g));
        g->n += 2 * MORE;
        g->first -= MORE;
    }
    close_ends(g, p_of(g));
    for (size_t i = 0; i < g->n; i++) /* results at odd points are not used */
        like_of(g)[i] = 0.5 * (p_of(g)[i] + rf_stencil_around(p_of(g) + i, 1));
    halve(g, like_of(g));
}

/* Brings the grid down to points_max points: at a wider step if nothing is lost, else by dropping points one by one at
   the end with less density. */
static void fit(rf_grid *g)
{
    while (g->n > g->points_max && coarsen(g))
        ;
    if (g->n <= g->points_max || g->is_full)
        return;
    size_t begin = 0, end = g->n;
    double lost = 0, total = sum(p_of(g), g->n);
    while (end - begin > g->points_max)
        lost += p_of(g)[begin] < p_of(g)[end - 1] ? p_of(g)[begin++] : p_of(g)[--end];
    keep(g, begin, end - begin);
    g->dropped += lost / total;
    normalise(g);
}

static size_t room_for(uint32_t points_max) { return points_max + ROOM + 2 * MARGIN; }

size_t rf_grid_bytes(uint32_t points_max) { return sizeof(rf_grid) + 3 * room_for(points_max) * sizeof(double); }

void rf_grid_init(rf_grid *g, const rf64_model *model, uint32_t points_max)
{
    memset(g, 0, rf_grid_bytes(points_max));
    g->model = *model;
    g->model.charts = NULL;
    if (model->charts)
        g->chart = model->charts[0];
    g->points_max = points_max;
    g->room = room_for(points_max);
    rf_grid_prior_gaussian(g, 0, 1);
}

rf_grid *rf_grid_create(const rf64_model *model, uint32_t points_max)
{
    if (!model || !(model->likelihood || model->block) || model->dim != 1 || points_max < RF_GRID_POINTS_LEAST ||
        points_max > RF_GRID_POINTS_MAX)
        return NULL;
    rf_grid *g = malloc(rf_grid_bytes(points_max));
    if (g)
        rf_grid_init(g, model, points_max);
    return g;
}

void rf_grid_free(rf_grid *g) { free(g); }

/* An empty grid over low..high with a step of `step` or less; the whole circle if low..high does not fit on it. */
static void lay(rf_grid *g, double low, double high, double step)
{
    g->log_evidence = g->dropped = 0;
    g->unresolved = 0;
    g->is_full = 0;
    g->base = low;
    g->step = step;
    g->first = 0;
    if (is_periodic(g)) {
        g->base = g->chart.low;
        g->step = period(g) / POINTS_LEAST;
        while (g->step > step)
            g->step *= 0.5;
        g->first = (int64_t)floor((low - g->base) / g->step);
        g->is_full = high - low >= period(g);
    }
    g->n = g->is_full ? circle(g) : (size_t)ceil((high - low) / g->step) + 2;
}

int rf_grid_prior_gaussian(rf_grid *g, double mean, double variance)
{
    if (!isfinite(mean) || !(variance > 0 && isfinite(variance)))
        return -1;
    double sd = sqrt(variance);
    if (is_periodic(g) && sd > CIRCLE_SD * period(g))
        sd = CIRCLE_SD * period(g);
    lay(g, mean - RF_STENCIL_TAIL * sd, mean + RF_STENCIL_TAIL * sd, sd / STEPS_PER_SD);
    if (!is_periodic(g)) { /* the base coordinate is the mean */
        g->first = -(int64_t)(g->n / 2);
        g->base = mean;
    }
    double turns = g->is_full ? ceil(RF_STENCIL_TAIL * sd / period(g)) + 1 : 0;
    for (size_t i = 0; i < g->n; i++) {
        double y = place(g, (double)i) - mean, value = 0;
        y -= g->is_full ? period(g) * floor(y / period(g)) : 0;
        for (double turn = -turns; turn <= turns; turn++) {
            double z = (y + (turn != 0 ? turn * period(g) : 0)) / sd;
            value += exp(-0.5 * z * z);
        }
        p_of(g)[i] = value;
    }
    normalise(g);
    return 0;
}

int rf_grid_prior_box(rf_grid *g, double low, double high)
{
    if (!isfinite(low) || !isfinite(high) || !(low < high))
        return -1;
    double edge = (high - low) / 64, reach = RF_STENCIL_TAIL * edge;
    if (is_periodic(g) && high - low >= period(g) * (1 - 1e-12)) {
        lay(g, low, low + 2 * period(g), period(g));
        for (size_t i = 0; i < g->n; i++)
            p_of(g)[i] = 1;
    } else {
        lay(g, low - reach, high + reach, edge / STEPS_PER_SD);
        for (size_t i = 0; i < g->n; i++) {
            p_of(g)[i] = 0;
            for (int turn = g->is_full ? -2 : 0; turn <= (g->is_full ? 2 : 0); turn++) {
                double y = place(g, (double)i) + (turn ? turn * period(g) : 0);
                p_of(g)[i] += 0.5 * erfc((y - low < high - y ? low - y : y - high) / edge * 0.7071067811865476);
            }
        }
    }
    normalise(g);
    return 0;
}

int rf_grid_diffuse(rf_grid *g, double variance)
{
    if (!(variance >= 0 && isfinite(variance)))
        return -1;
    double sd = sqrt(variance);
    if (is_periodic(g))
        sd = sd > CIRCLE_SD * period(g) ? CIRCLE_SD * period(g) : sd;
    if (sd == 0)
        return 0;
    while (sd >= BLUR_STEPS * g->step && has_wider_step(g))
        lump(g);
    size_t reach = rf_stencil_taps(sd / g->step, g->taps), n = g->n + 2 * reach;
    if (is_periodic(g) && !g->is_full && n >= circle(g))
        close_circle(g);
    double *from = like_of(g) - MARGIN;
    if (g->is_full) {
        n = g->n;
        for (size_t i = 0; i < n + 2 * reach; i++)
            from[i] = p_of(g)[(i + n * (reach / n + 1) - reach) % n];
    } else {
        memset(from, 0, (n + 2 * reach + 8) * sizeof *from);
        memcpy(from + 2 * reach, p_of(g), g->n * sizeof *from);
        g->first -= (int64_t)reach;
    }
    rf_stencil_blur(from, g->taps, reach, n, other_of(g));
    swap(g);
    g->n = n;
    for (size_t i = 0; i < n; i++)
        p_of(g)[i] = rf64_max(p_of(g)[i], 0);
    normalise(g);
    trim(g);
    fit(g);
    return 0;
}

/* Converts the model's return value to P(E|y), for logarithms divided by exp(scale); bad values become zero. */
static double judged(const rf_grid *g, double value, double scale)
{
    if (g->model.is_log)
        return value <= RF64_LIMIT ? exp(value - scale < 700 ? value - scale : 700) : 0;
    return value >= 0 && value <= RF64_LIMIT ? value : 0;
}

/* The model's return values at up to BLOCK coordinates y. */
static void ask(rf_grid *g, const double y[], uint32_t n, const double record[], double out[])
{
    double x[BLOCK];
    for (uint32_t k = 0; k < n; k++)
        x[k] = natural(g, y[k]);
    if (rf64_model_likelihoods(&g->model, x, 1, n, record, record[g->model.settings], out) < 0)
        g->failed = 1;
}

/* like[i] ← P(E|y) / exp(scale). Returns the scale. */
static double evaluate(rf_grid *g, const double record[])
{
    double scale = g->model.is_log ? -HUGE_VAL : 0, y[BLOCK];
    for (size_t first = 0; first < g->n; first += BLOCK) {
        const uint32_t n = (uint32_t)(g->n - first < BLOCK ? g->n - first : BLOCK);
        for (uint32_t k = 0; k < n; k++)
            y[k] = place(g, (double)(first + k));
        ask(g, y, n, record, like_of(g) + first);
    }
    for (size_t i = 0; i < g->n && g->model.is_log; i++)
        if (p_of(g)[i] > 0 && like_of(g)[i] <= RF64_LIMIT)
            scale = rf64_max(like_of(g)[i], scale);
    scale = scale > -HUGE_VAL ? scale : 0;
    for (size_t i = 0; i < g->n; i++)
        like_of(g)[i] = judged(g, like_of(g)[i], scale);
    return scale;
}

/* Does interpolation reproduce the posterior in `other` at places off the grid? A fringe with a whole number of periods
   per step looks smooth on the grid. */
static int holds_between(rf_grid *g, const double record[], double scale, double peak)
{
    double floor = 0.01 * largest(p_of(g), g->n);
    int probes = 0;
    for (int k = 1; k <= 16 * PROBES && probes < PROBES; k++) {
        double at = (double)k * GOLDEN;
        size_t i = (size_t)((at - (double)(int)at) * (double)g->n);
        if (p_of(g)[i] < floor)
            continue;
        double offset = (double)k * 0.41421356237309515;
        offset -= (double)(int)offset;
        double value, y = place(g, (double)i + offset);
        ask(g, &y, 1, record, &value);
        const double exact = rf_stencil_value(p_of(g) + i, offset) * judged(g, value, scale);
        if (!(fabs(exact - rf_stencil_value(other_of(g) + i, offset)) <= ROUGH * peak))
            return 0;
        probes++;
    }
    return 1;
}

/* Keeps the part that the posterior in `other` needs, if that is at most half of points_max: first everything not
   negligible, then with growing losses. Returns 0 if that fails. */
static int crop(rf_grid *g, double peak)
{
    static const double share[] = {0, 1e-12, 1e-10, 1e-8, 1e-7, 1e-6};
    const double total = sum(other_of(g), g->n);
    if (!(peak > 0))
        return 0;
    if (g->is_full)
        return open_circle(g, other_of(g), NEGLIGIBLE * peak, MARGIN);
    for (size_t k = 0; k < sizeof share / sizeof share[0]; k++) {
        size_t begin = 0, end = g->n;
        double lost = 0;
        while (end - begin > 1) {
            int is_left = other_of(g)[begin] < other_of(g)[end - 1];
            double next = is_left ? other_of(g)[begin] : other_of(g)[end - 1];
            if (next >= NEGLIGIBLE * peak && (lost + next > share[k] * total))
                break;
            lost += next;
            begin += (size_t)is_left;
            end -= (size_t)!is_left;
        }
        begin -= begin < MARGIN ? begin : MARGIN;
        end += g->n - end < MARGIN ? g->n - end : MARGIN;
        if (2 * (end - begin) <= g->points_max) {
            g->dropped += k ? lost / total : 0;
            keep(g, begin, end - begin);
            return 1;
        }
    }
    return 0;
}

/* other ← p · mean of the likelihood over each cell, at a random place in each of SAMPLES subcells: finer detail
   becomes noise instead of a pattern. */
static void average_cells(rf_grid *g, const double record[], double scale)
{
    for (size_t i = 0; i < g->n; i++) {
        double mean = 0, y[SAMPLES], value[SAMPLES];
        for (uint32_t k = 0; k < SAMPLES; k++) {
            rf_words w = rf_draw(0, g->unresolved, (uint32_t)i, k, RF_FOR_USER);
            y[k] = place(g, (double)i + (k + w.word[0] * 0x1p-32) / SAMPLES - 0.5);
        }
        ask(g, y, SAMPLES, record, value);
        for (uint32_t k = 0; k < SAMPLES; k++)
            mean += judged(g, value[k], scale);
        other_of(g)[i] = p_of(g)[i] * mean / SAMPLES;
    }
}

double rf_grid_update(rf_grid *g, const double record[])
{
    double scale, peak;
    g->failed = 0;
    for (;;) {
        scale = evaluate(g, record);
        if (g->failed)
            return NAN;
        for (size_t i = 0; i < g->n; i++)
            other_of(g)[i] = p_of(g)[i] * like_of(g)[i];
        peak = largest(other_of(g), g->n);
        close_ends(g, p_of(g));
        close_ends(g, other_of(g));
        if (peak > 0 && rf_stencil_roughness(other_of(g), g->n, 1) <= ROUGH * peak &&
            holds_between(g, record, scale, peak))
            break;
        int is_finest = g->step < 4e-16 * rf64_max(fabs(place(g, 0)), fabs(place(g, (double)g->n)));
        if (!is_finest && 2 * g->n <= g->points_max)
            refine(g);
        else if (is_finest || !crop(g, peak)) {
            average_cells(g, record, scale);
            g->unresolved++;
            break;
        }
    }
    if (g->failed)
        return NAN;
    double z = g->step * sum(other_of(g), g->n);
    if (!(z > 0 && z < HUGE_VAL))
        return -HUGE_VAL;
    swap(g);
    normalise(g);
    trim(g);
    while (coarsen(g))
        ;
    g->log_evidence += log(z) + scale;
    return log(z) + scale;
}

int rf_grid_scale(rf_grid *g, double factor)
{
    if (!(factor > 0 && isfinite(factor)) || is_periodic(g))
        return -1;
    g->base *= factor;
    g->step *= factor;
    normalise(g);
    return 0;
}

void rf_grid_shift(rf_grid *g, double by) { g->base += by; }

size_t rf_grid_save(const rf_grid *g, unsigned char *bytes)
{
    rf_writer w = {bytes, 0};
    const uint64_t counts[] = {g->n, (uint64_t)g->first, (uint64_t)g->is_full, g->unresolved};
    const double numbers[] = {g->base, g->step, g->log_evidence, g->dropped};
    for (unsigned i = 0; i < 4; i++)
        rf_write_u64(&w, counts[i]);
    for (unsigned i = 0; i < 4; i++)
        rf_write_real(&w, numbers[i]);
    for (size_t i = 0; i < g->n; i++)
        rf_write_real(&w, p_of(g)[i]);
    return w.size;
}

int rf_grid_load(rf_grid *g, const unsigned char *bytes, size_t size)
{
    rf_reader r = {bytes, size, 0, 0};
    const uint64_t n = rf_read_u64(&r), first = rf_read_u64(&r), is_full = rf_read_u64(&r);
    if (n == 0 || n > g->points_max + (uint64_t)ROOM || is_full > 1)
        return -1;
    g->unresolved = (uint32_t)rf_read_u64(&r);
    g->n = (size_t)n;
    g->first = (int64_t)first;
    g->is_full = (int)is_full;
    double *const numbers[] = {&g->base, &g->step, &g->log_evidence, &g->dropped};
    for (unsigned i = 0; i < 4; i++) {
        *numbers[i] = rf_read_real(&r);
        if (!isfinite(*numbers[i]))
            return -1;
    }
    double total = 0;
    for (size_t i = 0; i < g->n; i++) {
        p_of(g)[i] = rf_read_real(&r);
        if (!(p_of(g)[i] >= 0))
            return -1;
        total += p_of(g)[i];
    }
    return rf_read_all(&r) && g->step > 0 && total > 0 && isfinite(total) ? 0 : -1;
}
