/* Passes over all records: importance sampling, with more records and better proposals in each pass. */
#include "rejfilt/passes.h"

#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "marginal.h"
#include "options.h"
#include "proposal.h"
#include "session_state.h"

enum {
    BLOCK = 256,        /* points per block */
    TOGETHER = 8,       /* likelihoods multiplied per logarithm */
    SEGMENT = 4096,     /* most records between checks of the weights */
    LOOK = 64 * TOGETHER, /* records between calls of the watcher */
    SETS = 16,          /* of the last pass, with independent random shifts: their spread gives the error of ln P */
    PASSES_MAX = 48,    /* before the last pass */
    WHOLE_MAX = 8,      /* of these, with all records */
    HALVINGS = 40,      /* of an exponent's range: bisection steps */
    PROBES = 16,        /* points for measuring how fast a likelihood varies */
    ROUGH_MAX = 400,    /* classes of roughness */
    SEED_OF_PROBES = -1 /* a pass number of its own */
};

#define EFFECTIVE_LEAST 0.05  /* least share of effective points for adding more records */
#define EFFECTIVE_ENOUGH 0.25 /* least share, with all records added, for the last pass */
#define FACTOR_MAX 1e17       /* larger likelihoods, or below its inverse, are not multiplied */
#define PROBE_STEP 1e-7       /* in prior standard deviations */

struct rf_passes {
    rf_problem problem;
    rf64_model model;
    const rf_engine *engine;
    uint64_t seed;
    const double *records;
    size_t count, row, *order; /* records, numbers per record; the order in which records are added */
    rf_proposal proposal;
    uint32_t points, last;                  /* per pass, and in the last one; sizes the arrays */
    uint32_t live;                          /* points within the prior in this pass; the arrays hold only these */
    double *y, *x, *ratio, *total, *before; /* coordinates, natural values; logarithms of prior over proposal, of the
                                               likelihood so far, and of that before the latest records */
    double *weight, *room;
    uint32_t *set;    /* set of each point */
    uint32_t *sorted; /* per parameter, after the last pass: point indices ordered by coordinate */
    size_t from, to; /* records of the current segment */
    int is_done;     /* it has a result */
};

/* ---- Opening ---- */

void rf_passes_close(rf_passes *passes)
{
    if (!passes)
        return;
    free(passes->order);
    free(passes->y);
    free(passes->set);
    free(passes);
}

int rf_passes_check(const rf_config *config, char *error, size_t size)
{
    if (rf_config_refuse(config, error, size) < 0)
        return -1;
    const rf_description *description = &config->description;
    if (config->model->f64->dynamics)
        return rf_fail(error, size, "model %s has dynamics: passes are for static parameters",
                       description->name);
    for (unsigned i = 0; i < description->dim; i++)
        if (config->drift[i] != 0)
            return rf_fail(error, size, "parameter %s drifts: passes are for static parameters, with drift 0",
                           description->parameter[i].name);
    return rf_check_priors(config, error, size);
}

static int check_records(const double records[], size_t count, size_t row, char *error, size_t size)
{
    if (count == 0 || !records)
        return rf_fail(error, size, "there are no records with an outcome");
    if (count > SIZE_MAX / (row * sizeof *records))
        return rf_fail(error, size, "%zu records do not fit in memory", count);
    for (size_t i = 0; i < count * row; i++)
        if (!rf64_is_finite(records[i]))
            return rf_fail(error, size, "record %zu holds a number that is not finite", i / row);
    return 0;
}

static int get_memory(rf_passes *s)
{
    const size_t points = s->last, dim = s->model.dim;
    double *memory = malloc(points * (2 * dim + 4 + RF_PROPOSAL_ROOM) * sizeof *memory);
    s->y = memory;
    s->order = malloc(s->count * sizeof *s->order);
    s->set = malloc(points * (1 + dim) * sizeof *s->set);
    if (!memory || !s->order || !s->set)
        return -1;
    s->x = s->y + points * dim;
    s->ratio = s->x + points * dim;
    s->total = s->ratio + points;
    s->before = s->total + points;
    s->weight = s->before + points;
    s->room = s->weight + points;
    s->sorted = s->set + points;
    return 0;
}

rf_passes *rf_passes_open(const rf_config *config, const double records[], size_t count, char *error, size_t size)
{
    if (rf_passes_check(config, error, size) < 0 ||
        check_records(records, count, config->description.settings + 1u, error, size) < 0)
        return NULL;
    rf_passes *s = calloc(1, sizeof *s);
    if (!s) {
        rf_fail(error, size, "out of memory");
        return NULL;
    }
    rf_session_settle(&s->problem, config);
    s->model = rf64_problem_model(&s->problem);
    s->engine = config->engine;
    s->seed = rf_session_seed(config->seed, config->trial);
    s->records = records;
    s->count = count;
    s->row = s->model.settings + 1u;
    s->points = s->model.dim == 1 ? 2048 : s->model.dim <= 4 ? 4096 : 1024u * s->model.dim;
    s->last = (s->model.dim <= 2 ? 2 : 4) * s->points; /* more parameters: points are less effective and less even */
    const rf_status status = rf_proposal_open(&s->proposal, &s->problem);
    if (status < 0)
        rf_fail(error, size, "%s", rf_status_text(status));
    else if (get_memory(s) < 0)
        rf_fail(error, size, "out of memory");
    else
        return s;
    rf_passes_close(s);
    return NULL;
}

/* ---- Watching ---- */

typedef struct watcher {
    rf_passes_watch *watch;
    void *user;
    rf_passes_progress progress;
    int is_stopped;
} watcher;

static int look(watcher *w, size_t records)
{
    w->progress.records = records;
    w->is_stopped = w->is_stopped || (w->watch && w->watch(w->user, &w->progress) != 0);
    return w->is_stopped;
}

/* ---- The order of the records ---- */

static void naturals(const rf_passes *s, const double *y, uint32_t count, double *x)
{
    const unsigned dim = s->model.dim;
    for (uint32_t k = 0; k < count; k++)
        for (unsigned i = 0; i < dim; i++)
            x[(size_t)k * dim + i] = rf64_chart_natural(&s->problem.charts[i], y[(size_t)k * dim + i]);
}

/* How fast a record's likelihood varies, from its values at pairs of points, as a class; classes differ by a factor
   √2. */
static unsigned roughness(const rf_passes *s, const double *value)
{
    const int is_binary = s->problem.description.outcomes == 2;
    double sum = 0, change[PROBES];
    for (unsigned k = 0; k < PROBES; k++) {
        double a = value[2 * k], b = value[2 * k + 1];
        if (s->model.is_log && is_binary) {
            a = rf64_exp(a);
            b = rf64_exp(b);
        } else if (!is_binary && !s->model.is_log) {
            a = rf64_log(a);
            b = rf64_log(b);
        }
        change[k] = rf64_is_finite(a) && rf64_is_finite(b) ? rf64_abs(a - b) : 0;
    }
    if (is_binary) { /* the same for both outcomes */
        for (unsigned k = 0; k < PROBES; k++)
            sum += change[k];
        sum /= PROBES;
    } else { /* the median, since the logarithm may have poles */
        for (unsigned k = 1; k < PROBES; k++)
            for (unsigned j = k; j > 0 && change[j] < change[j - 1]; j--) {
                const double larger = change[j - 1];
                change[j - 1] = change[j];
                change[j] = larger;
            }
        sum = change[PROBES / 2];
    }
    const double class = sum > 0 ? ROUGH_MAX / 2 + rf64_floor(2 * 1.4426950408889634 * rf64_log(sum)) : 0;
    return class < 0 ? 0 : class < ROUGH_MAX ? (unsigned)class : ROUGH_MAX - 1;
}

/* Puts smooth likelihoods first: one that is finer than the spacing of the points is noise until the posterior is
   narrow enough. */
static rf_status put_in_order(rf_passes *s, watcher *w)
{
    const unsigned dim = s->model.dim;
    double y[2 * PROBES * RF_DESCRIBED_MAX], x[2 * PROBES * RF_DESCRIBED_MAX], ratio[PROBES], value[2 * PROBES];
    size_t begin[ROUGH_MAX + 1] = {0};
    uint16_t *class = malloc(s->count * sizeof *class);
    rf_status status = class ? RF_OK : RF_REFUSED_ENGINE;
    rf_proposal_draw(&s->proposal, s->seed, (uint32_t)SEED_OF_PROBES, PROBES, 1, x, ratio);
    for (unsigned k = 0; k < PROBES; k++)
        for (unsigned i = 0; i < dim; i++) {
            const double at = x[k * dim + i],
                         step = rf64_max(PROBE_STEP * s->proposal.prior_sd[i], 0x1p-44 * rf64_abs(at));
            y[2 * k * dim + i] = at;
            y[(2 * k + 1) * dim + i] = at + ((k >> i % 4 & 1) ? step : -step);
        }
    naturals(s, y, 2 * PROBES, x);
    for (size_t r = 0; r < s->count && status >= 0 && (r % SEGMENT > 0 || !look(w, 0)); r++) {
        const double *record = s->records + r * s->row;
        status = rf64_model_likelihoods(&s->model, x, dim, 2 * PROBES, record, record[s->model.settings], value);
        class[r] = (uint16_t)roughness(s, value);
        begin[class[r] + 1u]++;
    }
    for (unsigned k = 0; k < ROUGH_MAX; k++)
        begin[k + 1] += begin[k];
    for (size_t r = 0; r < s->count && status >= 0 && !w->is_stopped; r++)
        s->order[begin[class[r]]++] = r;
    free(class);
    return status;
}

/* ---- Likelihoods ---- */

/* Multiplies a record's likelihoods into the products; extreme ones are added as logarithms to the totals. Bad values
   make a total NaN for good. */
static void multiply(const rf64_model *model, const double *value, uint32_t n, double *product, double *total)
{
    int is_plain = 1;
    if (model->is_log) {
        for (uint32_t k = 0; k < n; k++)
            total[k] += value[k] <= RF64_LIMIT ? value[k] : rf64_nan();
        return;
    }
    for (uint32_t k = 0; k < n; k++) {
        const int is_in = (value[k] > 1 / FACTOR_MAX) & (value[k] < FACTOR_MAX);
        product[k] *= is_in ? value[k] : 1;
        is_plain &= is_in;
    }
    for (uint32_t k = 0; k < n && !is_plain; k++)
        if (!((value[k] > 1 / FACTOR_MAX) & (value[k] < FACTOR_MAX)))
            total[k] += value[k] >= 0 && value[k] <= RF64_LIMIT ? rf64_log(value[k]) : rf64_nan();
}

/* An rf_work function: adds the segment's records to the totals of a range of points. */
static rf_status add_records(void *self, uint32_t begin, uint32_t count)
{
    const rf_passes *s = self;
    const unsigned dim = s->model.dim;
    double value[BLOCK], product[BLOCK];
    for (uint32_t first = begin; first < begin + count; first += BLOCK) {
        const uint32_t n = begin + count - first < BLOCK ? begin + count - first : BLOCK;
        for (uint32_t k = 0; k < n; k++)
            product[k] = 1;
        for (size_t r = s->from; r < s->to; r++) {
            const double *record = s->records + s->order[r] * s->row;
            const rf_status status = rf64_model_likelihoods(&s->model, s->x + (size_t)first * dim, dim, n, record,
                                                            record[s->model.settings], value);
            if (status < 0)
                return status;
            multiply(&s->model, value, n, product, s->total + first);
            if (s->model.is_log || ((r - s->from + 1) % TOGETHER != 0 && r + 1 < s->to))
                continue;
            for (uint32_t k = 0; k < n; k++) {
                s->total[first + k] += rf64_log(product[k]);
                product[k] = 1;
            }
        }
    }
    return RF_OK;
}

/* Adds records from..to, unless the watcher stops it. */
static rf_status add_segment(rf_passes *s, watcher *w, size_t from, size_t to)
{
    const rf_sharing sharing = {add_records, s, s->total, s->model.one_thread};
    rf_status status = RF_OK;
    memcpy(s->before, s->total, s->live * sizeof *s->before);
    for (s->to = from; s->to < to && status >= 0 && (s->to == from || !look(w, s->to));) {
        s->from = s->to;
        s->to = to - s->from < LOOK ? to : s->from + LOOK;
        status = rf_engine_spread(s->engine, &sharing, 0, s->live);
    }
    return status;
}

/* ---- Weights ---- */

/* weight ← prior/proposal · L₁^early · L₂^late, normalised to sum 1; L₁: likelihood of the records up to `before`, L₂:
   of those since. Returns the effective number of points; *log_sum ← logarithm of the sum before normalising. */
static double weigh(rf_passes *s, double early, double late, double *log_sum)
{
    double highest = -rf64_infinity(), sum = 0, square = 0;
    for (uint32_t k = 0; k < s->live; k++) {
        const double total = s->total[k], before = s->before[k];
        double w = -rf64_infinity();
        if (total > -rf64_infinity()) /* excludes NaN */
            w = s->ratio[k] + (early == late ? early * total : early * before + late * (total - before));
        else if (late == 0 && before > -rf64_infinity())
            w = s->ratio[k] + early * before;
        s->weight[k] = w;
        highest = rf64_max(highest, w);
    }
    *log_sum = highest;
    if (!(highest > -rf64_infinity())) {
        memset(s->weight, 0, s->live * sizeof *s->weight);
        return 0;
    }
    for (uint32_t k = 0; k < s->live; k++) {
        s->weight[k] = rf64_exp(rf64_max(s->weight[k] - highest, -800.0));
        sum += s->weight[k];
        square += s->weight[k] * s->weight[k];
    }
    for (uint32_t k = 0; k < s->live; k++)
        s->weight[k] /= sum;
    *log_sum += rf64_log(sum);
    return sum * sum / square;
}

/* How far a pass has come: the likelihood contains `in` records, and those from there to `end` to the power `late`. */
typedef struct height {
    size_t in, end;
    double late;
} height;

/* Finds the largest power >= low of the latest records (with is_all, of all) that leaves enough points effective, and
   sets those weights. */
static double temper(rf_passes *s, int is_all, double low)
{
    double high = 1, log_sum;
    for (unsigned i = 0; i < HALVINGS; i++) {
        const double half = 0.5 * (low + high);
        if (weigh(s, is_all ? half : 1, half, &log_sum) >= EFFECTIVE_LEAST * s->points)
            low = half;
        else
            high = half;
    }
    if (weigh(s, is_all ? low : 1, low, &log_sum) >= s->model.dim + 2.0)
        return low;
    weigh(s, is_all ? 0 : 1, 0, &log_sum); /* every power excludes nearly all points */
    return 0;
}

/* ---- Passes ---- */

/* Draws new points and drops those outside the prior. */
static void draw(rf_passes *s, uint32_t pass, uint32_t points, uint32_t sets)
{
    const unsigned dim = s->model.dim;
    rf_proposal_draw(&s->proposal, s->seed, pass, points, sets, s->y, s->ratio);
    s->live = 0;
    for (uint32_t k = 0; k < points; k++) {
        if (!(s->ratio[k] > -rf64_infinity()))
            continue;
        memmove(s->y + (size_t)s->live * dim, s->y + (size_t)k * dim, dim * sizeof *s->y);
        s->ratio[s->live] = s->ratio[k];
        s->set[s->live] = k / (points / sets);
        s->total[s->live++] = 0;
    }
    naturals(s, s->y, s->live, s->x);
}

/* One pass: adds records until too few points are effective, but at least as many as the previous pass. Leaves the
   weights; *effective is 0 unless all records were added. */
static rf_status climb(rf_passes *s, watcher *w, height *h, double *effective)
{
    const height before = *h;
    double log_sum;
    size_t seen = 0;
    *effective = 0;
    while (seen < s->count) {
        const size_t aim = seen < before.in ? before.in : seen < before.end ? before.end : seen + 1 + seen / 32;
        const size_t most = aim - seen < SEGMENT ? aim : seen + SEGMENT, next = most < s->count ? most : s->count;
        const rf_status status = add_segment(s, w, seen, next);
        if (status < 0 || look(w, next))
            return status;
        const double found = next >= before.end ? weigh(s, 1, 1, &log_sum) : s->points;
        if (found < EFFECTIVE_LEAST * s->points) {
            const double least = next == before.end ? before.late : 0;
            const int is_all = weigh(s, 1, least, &log_sum) < EFFECTIVE_LEAST * s->points;
            const double late = temper(s, is_all, is_all ? 0 : least);
            const height reached = {seen, next, is_all ? 0 : late};
            *h = reached;
            return RF_OK;
        }
        seen = next;
    }
    const height top = {s->count, s->count, 1};
    *h = top;
    *effective = weigh(s, 1, 1, &log_sum);
    return RF_OK;
}

static int by_coordinate(const double *y, unsigned dim, uint32_t a, uint32_t b)
{
    const double left = y[(size_t)a * dim], right = y[(size_t)b * dim];
    return left < right || (left == right && a < b);
}

/* Sorts point indices by a coordinate; `y`: that of the first point. Heap sort, the same order on every machine. */
static void sort_points(uint32_t *index, uint32_t count, const double *y, unsigned dim)
{
    for (uint32_t start = count / 2, end = count; end > 1;) {
        if (start > 0) {
            start--;
        } else {
            const uint32_t first = index[0];
            index[0] = index[--end];
            index[end] = first;
        }
        for (uint32_t at = start, child; (child = 2 * at + 1) < end; at = child) {
            if (child + 1 < end && by_coordinate(y, dim, index[child], index[child + 1]))
                child++;
            if (!by_coordinate(y, dim, index[at], index[child]))
                break;
            const uint32_t moved = index[at];
            index[at] = index[child];
            index[child] = moved;
        }
    }
}

double rf_passes_quantile(const rf_passes *passes, unsigned parameter, double p)
{
    if (!passes || !passes->is_done || parameter >= passes->model.dim || !(p >= 0 && p <= 1))
        return rf64_nan();
    const rf_passes *s = passes;
    const uint32_t *sorted = s->sorted + (size_t)parameter * s->last;
    double below = 0, last_share = 0, last = 0;
    int is_first = 1;
    for (uint32_t k = 0; k < s->live; k++) {
        const double weight = s->weight[sorted[k]], y = s->y[(size_t)sorted[k] * s->model.dim + parameter];
        if (!(weight > 0))
            continue;
        const double share = below + 0.5 * weight;
        if (share >= p)
            return is_first ? y : last + (y - last) * (p - last_share) / (share - last_share);
        last = y;
        last_share = share;
        below += weight;
        is_first = 0;
    }
    return is_first ? rf64_nan() : last;
}

/* Mean, standard deviation and interval in natural values. */
static void show(const rf_passes *s, unsigned i, rf_passes_result *r)
{
    const rf64_chart *chart = &s->problem.charts[i];
    double *room = s->before; /* not needed any more */
    const rf_marginal parts = {s->live, s->weight, room, NULL, 0, 0};
    const int is_periodic = chart->kind == RF_PERIODIC;
    double *const to[] = {&r->low[i], &r->median[i], &r->high[i]};
    static const double levels[] = {0.025, 0.5, 0.975};
    for (uint32_t k = 0; k < s->live; k++)
        room[k] = s->y[(size_t)k * s->model.dim + i];
    r->chart_sd[i] = rf64_sqrt(rf64_max(r->chart_covariance[RF_TRIANGLE(i) + i], 0));
    r->mean[i] = r->chart_mean[i];
    rf_marginal_natural(chart, &parts, &r->mean[i], &r->sd[i]);
    const double home = is_periodic ? rf64_chart_natural(chart, r->mean[i]) : 0, turns = home - r->mean[i];
    r->mean[i] = is_periodic ? home : r->mean[i];
    for (unsigned k = 0; k < 3; k++) {
        const double y = rf_passes_quantile(s, i, levels[k]);
        *to[k] = is_periodic ? y + turns : rf64_chart_natural(chart, y);
    }
}

/* The standard error of ln P, from the independent sets of points. */
static double error_of(const rf_passes *s)
{
    double sum[SETS] = {0}, square = 0;
    for (uint32_t k = 0; k < s->live; k++)
        sum[s->set[k]] += SETS * s->weight[k];
    for (unsigned set = 0; set < SETS; set++)
        square += (sum[set] - 1) * (sum[set] - 1);
    return rf64_sqrt(square / (SETS * (SETS - 1.0)));
}

/* Interchangeable parameters of all points in ascending order. */
static void sort_parameters(rf_passes *s)
{
    const unsigned dim = s->model.dim;
    unsigned order[RF_DESCRIBED_MAX];
    double before[RF_DESCRIBED_MAX];
    for (uint32_t k = 0; k < s->live && rf_problem_interchangeable(&s->problem) > 0; k++) {
        double *y = s->y + (size_t)k * dim;
        if (!rf_problem_order(&s->problem, y, order))
            continue;
        memcpy(before, y, dim * sizeof *y);
        for (unsigned i = 0; i < dim; i++)
            y[i] = before[order[i]];
    }
}

static void conclude(rf_passes *s, rf_passes_result *r)
{
    const unsigned dim = s->model.dim;
    double log_sum;
    r->points = s->last;
    r->effective = weigh(s, 1, 1, &log_sum);
    r->verdict = r->effective < RF_PASSES_LEAST ? RF_PASSES_DOUBTFUL : RF_PASSES_FINE;
    r->log_evidence = log_sum - rf64_log(r->points);
    r->log_evidence_sd = r->effective > 0 ? error_of(s) : rf64_infinity();
    for (uint32_t k = 0; k < s->live; k++)
        r->bad += rf64_is_nan(s->total[k]) ? 1u : 0u;
    sort_parameters(s);
    rf_weighted_moments(s->problem.charts, dim, s->y, s->weight, s->live, r->chart_mean, r->chart_covariance);
    for (unsigned i = 0; i < dim && !(r->effective > 0); i++)
        r->chart_mean[i] = rf64_nan(); /* all points are impossible */
    for (unsigned i = 0; i < dim; i++) {
        uint32_t *sorted = s->sorted + (size_t)i * s->last;
        const rf64_chart *chart = &s->problem.charts[i];
        const double period = chart->kind == RF_PERIODIC ? chart->high - chart->low : 0;
        for (uint32_t k = 0; k < s->live; k++) {
            double *y = &s->y[(size_t)k * dim + i];
            if (period > 0) /* within half a period of the mean */
                *y -= period * rf64_floor((*y - r->chart_mean[i]) / period + 0.5);
            sorted[k] = k;
        }
        sort_points(sorted, s->live, s->y + i, dim);
        show(s, i, r);
    }
}

rf_status rf_passes_run(rf_passes *passes, rf_passes_watch *watch, void *user, rf_passes_result *result)
{
    rf_passes *s = passes;
    if (!passes || !result)
        return RF_REFUSED_NULL;
    watcher w = {.watch = watch, .user = user, .progress = {.pass = 1, .count = s->count}};
    uint32_t pass = 0, whole = 0;
    height reached = {0, 0, 0};
    memset(result, 0, sizeof *result);
    result->dim = s->model.dim;
    s->proposal.count = 0;
    rf_status status = put_in_order(s, &w);
    for (int is_enough = 0; status >= 0 && !w.is_stopped && pass < PASSES_MAX && whole < WHOLE_MAX && !is_enough; pass++) {
        double effective;
        w.progress.pass = pass + 1;
        draw(s, pass, s->points, 1);
        status = climb(s, &w, &reached, &effective);
        if (status < 0 || w.is_stopped)
            break;
        whole += reached.in == s->count;
        is_enough = effective > EFFECTIVE_ENOUGH * s->points;
        rf_proposal_fit(&s->proposal, s->seed, pass, s->y, s->weight, s->live, s->room);
    }
    w.progress.pass = pass + 1;
    w.progress.is_last = 1;
    if (status >= 0 && !w.is_stopped) {
        draw(s, pass, s->last, SETS);
        for (size_t seen = 0; seen < s->count && status >= 0 && !w.is_stopped; seen += SEGMENT) {
            const size_t next = seen + SEGMENT < s->count ? seen + SEGMENT : s->count;
            status = add_segment(s, &w, seen, next);
            if (status >= 0)
                look(&w, next);
        }
    }
    result->passes = pass + 1;
    result->verdict = RF_PASSES_STOPPED;
    s->is_done = status >= 0 && !w.is_stopped;
    if (s->is_done)
        conclude(s, result);
    return status;
}
