/* Simulation-based calibration of every built-in model and of the lab models in examples/. A truth is drawn from the
   filter's prior and a run is simulated. After 10, 50 and 200 measurements the rank of the truth in the filter's
   Gaussian is recorded, and its rank in the exact posterior of the same records. If posteriors are right, ranks are
   uniform, and an interval of probability p holds the truth in a fraction p of the data sets. Exact posteriors must
   be right within the sampling error: this checks the simulator and the likelihood. The filter must agree with an
   earlier run with other random numbers (known.json). docs/calibration.md shows and explains the figures.

   Exit status 1 when a number is not as expected. */
#define _POSIX_C_SOURCE 200809L
#include <jansson.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cause.h"
#include "cli.h"
#include "exact.h"
#include "machine.h"
#include "outputs.h"
#include "pool.h"
#include "ranks.h"
#include "runs.h"

enum { LENGTHS = 3, AT_ONCE = 64, SETS_MAX = 100000, WORKERS_MAX = 64, ROWS_MAX = 4096, WHATS = RF_DESCRIBED_MAX + 1 };

static const long lengths[LENGTHS] = {10, 50, 200};

#define FALSE_ALARM 0.01 /* probability that at least one of all numbers is outside its limits by chance */

typedef enum posterior { FILTER, GRID, DRAWS, POSTERIORS } posterior; /* GRID and DRAWS are exact */

typedef struct method {
    const char *name;
    rf_sampler sampler;
    uint32_t attempts, batch; /* attempts 0: the default of a session */
    int is_float;
    int has_exact;  /* exact posteriors are computed from its records */
    int is_planned; /* settings by `risk`, the default without a fringe; only discrete outcomes, because it is slow */
    int has_labs;   /* also used for the lab models */
} method;

static const method methods[] = {
    {"reject", RF_REJECT, 100, 1, 0, 1, 0, 1},
    {"float", RF_REJECT, 100, 1, 1, 0, 0, 0},
    {"lattice", RF_LATTICE, 100, 1, 0, 0, 0, 0},
    {"weight", RF_WEIGHT, 100, 1, 0, 0, 0, 0},
    {"1000 attempts", RF_REJECT, 1000, 1, 0, 0, 0, 0},
    {"default", RF_WEIGHT, 0, 1, 0, 0, 0, 1},
    {"10 records", RF_REJECT, 100, 10, 0, 0, 0, 0},
    {"projection", RF_LATTICE, 4096, 1, 0, 0, 0, 0}, /* the whole lattice, with hardly any sampling error */
    {"risk", RF_WEIGHT, 0, 1, 0, 0, 1, 0},
};

/* Files of examples/, compiled on demand. */
static const char *const lab_models[] = {"peak", "odmr", "benchmarking", "rabi_counts", "hahn", "t1_counts"};

static const char *const exact_names[POSTERIORS] = {NULL, "exact, grid", "exact, draws"};

typedef struct config {
    uint64_t sets, seed, threads;
    const char *json, *known;
    int cause;
    const char *model[CLI_LIST_MAX + 1], *method[CLI_LIST_MAX + 1]; /* empty: all */
    rf_pool *pool;
    rf_engine *engine[WORKERS_MAX];
} config;

_Noreturn static void fail(const char *what)
{
    fprintf(stderr, "rejfilt-calibration: %s\n", what);
    exit(CLI_BAD_INPUT);
}

/* ---- Rows ---- */

typedef struct row {
    char method[32], model[32], what[32];
    long length;
    int is_exact;
    double left; /* for draws: effective number after weighting, in the median data set */
    ranks ranks;
} row;

static row rows[ROWS_MAX];
static size_t row_count;

/* ---- One model with one method ---- */

/* Ranks by trial; NaN: none. */
typedef struct job {
    const config *c;
    rf_simulation run;
    const method *method;
    double *rank[POSTERIORS][LENGTHS][WHATS], *left;
    atomic_uint next;
    atomic_int status;
} job;

typedef struct group {
    job *job;
    uint32_t first;
    exact *exact[AT_ONCE];
} group;

/* (estimate − truth)ᵀ Σ⁻¹ (estimate − truth), by the Cholesky factor of Σ. */
static double distance_squared(const rf_step *s)
{
    double l[RF_TRIANGLE(RF_DESCRIBED_MAX)], solved[RF_DESCRIBED_MAX], sum = 0;
    for (unsigned i = 0; i < s->dim; i++) {
        solved[i] = s->chart_error[i];
        for (unsigned j = 0; j <= i; j++) {
            double value = s->chart_covariance[RF_TRIANGLE(i) + j];
            for (unsigned k = 0; k < j; k++)
                value -= l[RF_TRIANGLE(i) + k] * l[RF_TRIANGLE(j) + k];
            l[RF_TRIANGLE(i) + j] = i == j ? sqrt(value) : value / l[RF_TRIANGLE(j) + j];
            if (j < i)
                solved[i] -= l[RF_TRIANGLE(i) + j] * solved[j];
        }
        solved[i] /= l[RF_TRIANGLE(i) + i];
        sum += solved[i] * solved[i];
    }
    return sum;
}

/* Probability of values below the truth, according to the belief. */
static double rank_of(const rf_step *step, unsigned i)
{
    double low = 0, high = 1;
    for (unsigned k = 0; k < 30; k++) {
        const double middle = 0.5 * (low + high), y = step->belief->kind->quantile(step->belief, i, middle);
        if (y < step->chart_mean[i] - step->chart_error[i])
            low = middle;
        else
            high = middle;
    }
    return 0.5 * (low + high);
}

static int observe(void *user, uint32_t trial, const rf_step *step)
{
    group *g = user;
    job *j = g->job;
    const exact *e = j->method->has_exact ? g->exact[trial - g->first] : NULL;
    if (e)
        exact_learn(g->exact[trial - g->first], step);
    for (unsigned n = 0; n < LENGTHS; n++) {
        if (step->step + 1 != lengths[n])
            continue;
        for (unsigned i = 0; i < step->dim; i++)
            j->rank[FILTER][n][i][trial] = rank_of(step, i);
        j->rank[FILTER][n][step->dim][trial] = chi_square_below(distance_squared(step), step->dim);
        if (e && exact_has_grid(e))
            j->rank[GRID][n][0][trial] = exact_grid_rank(e, step);
        for (unsigned i = 0; e && n == 0 && i <= step->dim; i++)
            j->rank[DRAWS][n][i][trial] = exact_draws_rank(e, step, i);
        if (e && n == 0)
            j->left[trial] = exact_draws_left(e);
    }
    return 0;
}

static void work(void *context, unsigned worker)
{
    job *j = context;
    group g = {.job = j};
    rf_simulation run = j->run;
    run.config.engine = j->c->engine[worker];
    run.config.is_float = j->method->is_float;
    while (atomic_load(&j->status) >= 0 && (g.first = atomic_fetch_add(&j->next, AT_ONCE)) < j->c->sets) {
        const uint32_t left = (uint32_t)j->c->sets - g.first, count = left < AT_ONCE ? left : AT_ONCE;
        rf_status status = RF_OK;
        for (uint32_t i = 0; i < count && j->method->has_exact; i++)
            if (!(g.exact[i] = exact_open(&run, g.first + i)))
                status = RF_REFUSED_ENGINE;
        if (status >= 0)
            status = rf_simulate(&run, g.first, count, observe, &g);
        for (uint32_t i = 0; i < count && j->method->has_exact; i++)
            exact_close(g.exact[i]);
        if (status < 0)
            atomic_store(&j->status, status);
    }
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double values[], size_t count)
{
    qsort(values, count, sizeof *values, ascending);
    return values[count / 2];
}

static void add_rows(job *j, posterior p)
{
    const rf_description *description = &j->run.config.description;
    const size_t sets = j->c->sets;
    for (unsigned n = 0; n < LENGTHS; n++)
        for (unsigned i = 0; i <= description->dim; i++) {
            const double *rank = j->rank[p][n][i];
            const int is_distance = i == description->dim;
            if (isnan(rank[0]) || (is_distance && description->dim == 1 && p == FILTER)) /* same as parameter 0 */
                continue;
            if (row_count == ROWS_MAX)
                fail("more rows than there is room for");
            row *r = &rows[row_count++];
            *r = (row){.length = lengths[n], .is_exact = p != FILTER, .left = p == DRAWS ? median(j->left, sets) : NAN};
            snprintf(r->method, sizeof r->method, "%s", p == FILTER ? j->method->name : exact_names[p]);
            snprintf(r->model, sizeof r->model, "%s", description->name);
            snprintf(r->what, sizeof r->what, "%s", !is_distance ? description->parameter[i].name : p == FILTER ? "all" : "likelihood");
            for (size_t trial = 0; trial < sets; trial++)
                ranks_add(&r->ranks, rank[trial], is_distance);
        }
}

static void measure(const config *c, const rf_model *model, const method *m)
{
    const rf_description *description = model->f64->description;
    if (m->is_planned && (description->fringe > 0 || description->settings == 0 || !rf_outcomes_fixed(description->outcomes)))
        return;
    double *memory = malloc((POSTERIORS * LENGTHS * WHATS + 1) * (size_t)c->sets * sizeof *memory), *next = memory;
    job j = {.c = c, .run = runs_of(model, lengths[LENGTHS - 1], c->seed), .method = m};
    if (!memory)
        fail("not enough memory");
    j.run.config.sampler = m->sampler;
    j.run.config.attempts = m->attempts > 0 ? m->attempts : rf_config_default(model).attempts;
    j.run.batch = m->batch;
    j.run.is_truth_gaussian = strcmp(rf_config_belief(&j.run.config), "gaussian") == 0;
    if (description->fringe == 0) /* without a fringe settings are drawn by `pgh`, because `risk` is slow */
        j.run.config.design = m->is_planned ? "risk" : "pgh";
    if (m->is_planned)
        j.run.steps = lengths[1];
    for (unsigned k = 0; k < POSTERIORS * LENGTHS * WHATS; k++, next += c->sets) {
        j.rank[k / (LENGTHS * WHATS)][k / WHATS % LENGTHS][k % WHATS] = next;
        *next = NAN;
    }
    j.left = next;
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K%s, %s", description->name, m->name);
    rf_pool_run(c->pool, work, &j, (unsigned)c->threads);
    if (atomic_load(&j.status) < 0)
        fail("a run was refused, or memory is short");
    for (int p = FILTER; p < POSTERIORS; p++)
        add_rows(&j, (posterior)p);
    free(memory);
}

/* ---- Known ranks and the verdict ---- */

/* The ranks that an earlier run found for this row; sets = 0 if there are none. */
static ranks known_ranks(const json_t *known, const row *r)
{
    ranks found = {0};
    size_t i;
    json_t *item;
    json_array_foreach(known, i, item) {
        const char *method, *model, *what;
        int length, sets, covered[RANK_LEVELS];
        if (json_unpack(item, "{s:s, s:s, s:s, s:i, s:i, s:[i, i, i]}", "method", &method, "model", &model, "what", &what, "length",
                        &length, "sets", &sets, "covered", &covered[0], &covered[1], &covered[2]) != 0)
            fail("the known file has a row that is none of ours");
        if (strcmp(method, r->method) != 0 || strcmp(model, r->model) != 0 || strcmp(what, r->what) != 0 || length != r->length)
            continue;
        found.sets = (uint32_t)sets;
        for (unsigned k = 0; k < RANK_LEVELS; k++)
            found.covered[k] = (uint32_t)covered[k];
    }
    return found;
}

/* Limit in standard deviations that all `numbers` satisfy with probability 1 − FALSE_ALARM. */
static double limit(size_t numbers)
{
    double low = 0, high = 20;
    for (int k = 0; k < 60; k++) {
        const double middle = 0.5 * (low + high);
        *(normal_beyond(middle) * (double)numbers > FALSE_ALARM ? &low : &high) = middle;
    }
    return low;
}

static json_t *list(const uint32_t values[], unsigned count)
{
    json_t *array = json_array();
    for (unsigned k = 0; k < count; k++)
        json_array_append_new(array, json_integer(values[k]));
    return array;
}

/* Prints a row and adds it to the results. Returns whether it is as expected. */
static int judge(const row *r, const ranks *expected, double sigmas_most, json_t *results)
{
    const ranks *x = &r->ranks;
    const double uniform = ranks_uniform(x);
    double worst = 0;
    printf("%-12s %-13s %4ld %-10s", r->model, r->method, r->length, r->what);
    for (unsigned k = 0; k < RANK_LEVELS; k++) {
        const double sigmas = ranks_sigmas(x, r->is_exact ? NULL : expected, k);
        const double share = ranks_share(x, k);
        worst = fabs(sigmas) > fabs(worst) ? sigmas : worst;
        printf("  %5.1f ± %.1f", 100 * share, 100 * sqrt(fmax(share * (1 - share), 0) / x->sets));
    }
    int met = fabs(worst) <= sigmas_most;
    if (r->is_exact)
        met &= uniform >= normal_beyond(sigmas_most);
    if (!r->is_exact && expected->sets == 0)
        met = 0;
    printf("  %+6.1f  %.3f  %s\n", worst, uniform, met ? "" : !r->is_exact && expected->sets == 0 ? "NOT KNOWN" : "MISSED");
    json_array_append_new(results, json_pack("{s:s, s:s, s:s, s:i, s:i, s:o, s:o, s:f, s:f, s:b}", "method", r->method, "model", r->model, "what",
                                             r->what, "length", (int)r->length, "sets", (int)x->sets, "covered", list(x->covered, RANK_LEVELS),
                                             "ranks", list(x->bin, RANK_BINS), "uniform", uniform, "sigmas", worst, "met", met));
    return met;
}

/* Writes one row per line. */
static void write_json(const char *path, const json_t *results)
{
    char error[512];
    rf_output output;
    FILE *out = rf_output_open(&output, path, 0, error, sizeof error);
    size_t i;
    json_t *item;
    if (!out)
        fail(error);
    json_array_foreach(results, i, item) {
        fputs(i ? ",\n" : "[\n", out);
        json_dumpf(item, out, JSON_REAL_PRECISION(4));
    }
    fputs("\n]\n", out);
    if (rf_output_close(&output, 1, error, sizeof error) < 0)
        fail(error);
}

static json_t *load_known(const char *path)
{
    json_error_t error;
    json_t *known = json_load_file(path, 0, &error);
    if (!json_is_array(known))
        fail(known ? "the known file is no list of rows" : error.text);
    return known;
}

static int verdict(const config *c, const json_t *known)
{
    json_t *results = json_array();
    size_t missed = 0, numbers = 0;
    for (size_t i = 0; i < row_count; i++)
        numbers += RANK_LEVELS + (size_t)rows[i].is_exact;
    const double max = limit(numbers);
    printf("%-12s %-13s %4s %-10s  %10s  %10s  %10s  %6s  %s\n", "model", "method", "n", "of", "50 %", "80 %", "95 %", "sigmas", "uniform");
    for (size_t i = 0; i < row_count; i++) {
        const ranks expected = known_ranks(known, &rows[i]);
        missed += !judge(&rows[i], &expected, max, results);
    }
    for (size_t i = 0; i < row_count; i++)
        if (!isnan(rows[i].left) && (i == 0 || isnan(rows[i - 1].left)))
            printf("%s: of the exact posterior's draws the weights leave %.0f, in the median data set\n", rows[i].model, rows[i].left);
    printf("%zu of %zu rows within %.2f standard errors of what they should be (%llu data sets)\n", row_count - missed, row_count, max,
           (unsigned long long)c->sets);
    if (c->json)
        write_json(c->json, results);
    json_decref(results);
    return missed ? CLI_FAILED : CLI_OK;
}

/* ---- Options ---- */

#define AT(field) offsetof(config, field)

static const cli_option options[] = {
    {"sets", "N", "data sets of each row (default 2000); a quarter of them for lab models", NULL, CLI_U64, AT(sets), 1, SETS_MAX, NULL},
    {"model", "NAME", "only this model, or this file of one; may be given again", NULL, CLI_LIST, AT(model), 0, 0, NULL},
    {"method", "NAME", "only this way to run the filter; may be given again", NULL, CLI_LIST, AT(method), 0, 0, NULL},
    {"seed", "S", "(default 1)", NULL, CLI_U64, AT(seed), 0, 0, NULL},
    {"threads", "N", "(default: one per CPU)", NULL, CLI_U64, AT(threads), 1, WORKERS_MAX, NULL},
    {"known", "FILE", "what the rows are held against: what --json left before", NULL, CLI_INPUT, AT(known), 0, 0, NULL},
    {"json", "FILE", "writes the rows", NULL, CLI_OUTPUT, AT(json), 0, 0, NULL},
    {"cause", NULL, "instead: which sampling error narrows the intervals of a coin", NULL, CLI_FLAG, AT(cause), 0, 0, NULL},
    {NULL, NULL, NULL, NULL, CLI_CUSTOM, 0, 0, 0, NULL},
};

static const cli_usage usage = {
    "calibration", "[OPTION...]", "How often the filter's intervals hold the truth, for every built-in model and the lab models of examples/.", options, NULL, "rejfilt-calibration",
    0,
};

static int is_wanted(const char *const list[], const char *name)
{
    for (unsigned i = 0; list[i]; i++)
        if (strcmp(list[i], name) == 0)
            return 1;
    return !list[0];
}

/* A lab model gets a quarter of the data sets: most have three parameters and are slow. */
static void measure_file(const config *c, const char *path, int is_lab)
{
    char error[1000];
    const rf_model *own = rf_model_load(path, error, sizeof error);
    config few = *c;
    if (!own)
        fail(error);
    few.sets = is_lab ? (c->sets + 3) / 4 : c->sets;
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++)
        if (is_wanted(c->method, methods[k].name) && (!is_lab || methods[k].has_labs))
            measure(&few, own, &methods[k]);
}

int main(int argc, char **argv)
{
    static config c = {.sets = 2000, .seed = 1, .known = RF_CALIBRATION_KNOWN};
    char error[1000];
    c.threads = rf_cpus_allowed() < WORKERS_MAX ? rf_cpus_allowed() : WORKERS_MAX;
    int go = cli_parse(&usage, &c, argc, argv);
    if (go <= 0)
        return go < 0 ? CLI_BAD_INPUT : CLI_OK;
    if (c.cause) {
        cause_print((uint32_t)c.sets, c.seed);
        return CLI_OK;
    }
    json_t *known = load_known(c.known);
    for (unsigned i = 0; i < c.threads; i++)
        if (!(c.engine[i] = rf_engine_open("simd", error, sizeof error)))
            fail(error);
    if (!(c.pool = rf_pool_open((unsigned)c.threads, error, sizeof error)))
        fail(error);
    for (unsigned i = 0; rf_model_at(i); i++)
        for (size_t k = 0; k < sizeof methods / sizeof *methods; k++)
            if (is_wanted(c.model, rf_model_at(i)->f64->description->name) && is_wanted(c.method, methods[k].name))
                measure(&c, rf_model_at(i), &methods[k]);
    for (unsigned i = 0; i < sizeof lab_models / sizeof *lab_models; i++)
        if (is_wanted(c.model, lab_models[i])) {
            char path[sizeof RF_EXAMPLES + 40];
            snprintf(path, sizeof path, "%s/%s.c", RF_EXAMPLES, lab_models[i]);
            measure_file(&c, path, 1);
        }
    for (unsigned i = 0; c.model[i]; i++)
        if (strstr(c.model[i], ".c"))
            measure_file(&c, c.model[i], 0);
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
    if (row_count == 0)
        fail("no such model or method");
    const int status = verdict(&c, known);
    json_decref(known);
    rf_pool_close(c.pool);
    for (unsigned i = 0; i < c.threads; i++)
        rf_engine_close(c.engine[i]);
    return status;
}
