/* Algorithm 2: many nodes, one server. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "machine.h"
#include "projection.h"

/* ---- Nodes ---- */

/* An engine for one node: runs `count` attempts from *self + begin on. */
static rf_status run_part(void *self, const rf64_task *task, uint32_t begin, uint32_t count, rf64_tally *tally)
{
    return rf64_serial.run(NULL, task, *(const uint32_t *)self + begin, count, tally);
}

typedef struct server {
    unsigned nodes;
    rf64_tally *tally; /* receives the tally of a node */
} server;

/* An engine whose nodes run one part each; a server adds up their tallies. */
static rf_status run_nodes(void *self, const rf64_task *task, uint32_t begin, uint32_t count, rf64_tally *total)
{
    const server *s = self;
    rf_status status = RF_OK;
    for (unsigned i = 0; i < s->nodes && status >= 0; i++) {
        uint32_t first = (uint32_t)((uint64_t)count * i / s->nodes), end = (uint32_t)((uint64_t)count * (i + 1) / s->nodes);
        rf64_tally_clear(s->tally, task->model->dim, task->update);
        status = rf64_serial.run(NULL, task, begin + first, end - first, s->tally);
        if (status >= 0)
            status = rf64_tally_add(total, s->tally);
    }
    return status;
}

typedef struct fixture {
    unsigned dim;
    rf64_model model;
    rf64_options options;
    double record[PROJECTION_RECORD_MAX];
    uint64_t seed;
    size_t bytes;
    void *memory;
} fixture;

static fixture fixture_make(lab *l, unsigned dim, uint32_t trial)
{
    fixture f = {.dim = dim, .model = {.likelihood = projection_fringe, .dim = (uint16_t)dim, .settings = (uint16_t)(dim + 2)},
                 .options = rf64_options_default(), .record = {dim, 0.5}, .seed = random_seed(l, dim, trial), .bytes = rf64_filter_bytes(dim)};
    projection_direct(f.seed, 0, dim, f.record + 2);
    f.record[dim + 2] = 1;
    f.options.strict = 1;
    f.options.attempts = lab_whole(l, "attempts");
    f.memory = malloc(f.bytes);
    return f;
}

/* A filter N(0, 1) after one update, in the fixture's memory. Null if memory is short or the update is refused. */
static rf64_filter *learn(fixture *f, const rf64_engine *engine, rf64_report *report)
{
    rf64_filter *filter = NULL;
    if (!f->memory || rf64_filter_init(&filter, f->memory, f->bytes, f->dim, f->seed) < 0)
        return NULL;
    return rf64_update(filter, &f->model, f->record, 1, &f->options, engine, report) < 0 ? NULL : filter;
}

/* Measures how often the sum over nodes equals the result of one node bit by bit, and the bytes sent. */
static int compare_bits(lab *l, unsigned dim)
{
    const uint32_t trials = lab_whole(l, "trials");
    const size_t state = (dim + RF_TRIANGLE(dim)) * sizeof(double);
    char of[16];
    snprintf(of, sizeof of, "%u", dim);
    double accepted = 0;
    for (unsigned k = 0; k < lab_items(l, "nodes"); k++) {
        server s = {(unsigned)lab_item(l, "nodes", k), malloc(rf64_tally_bytes(dim))};
        const rf64_engine engine = {run_nodes, &s, NULL};
        double same = 0;
        int status = s.tally ? 0 : -1;
        accepted = 0;
        for (uint32_t i = 0; i < trials && status == 0; i++) {
            fixture one = fixture_make(l, dim, i), many = fixture_make(l, dim, i);
            rf64_report report;
            const rf64_filter *a = learn(&one, NULL, &report), *b = learn(&many, &engine, NULL);
            status = a && b ? 0 : -1;
            if (status == 0)
                same += memcmp(rf64_filter_mean(a), rf64_filter_mean(b), state) == 0; /* of mean and factor */
            accepted += status == 0 ? (double)report.accepted / trials : 0;
            free(one.memory);
            free(many.memory);
        }
        free(s.tally);
        if (status < 0)
            return lab_fail(l, "an update was refused, or memory is short");
        lab_put(l, "same bits", of, s.nodes, same / trials, NAN);
    }
    lab_put(l, "bytes", "sums", dim, sizeof(uint32_t) + 8.0 * (double)(dim + RF_TRIANGLE(dim)), NAN);
    lab_put(l, "bytes", "tally", dim, (double)(sizeof(rf64_tally) + 8 * (dim + RF_TRIANGLE(dim))), NAN);
    lab_put(l, "bytes", "accepted draws", dim, 8 * dim * accepted, NAN);
    return 0;
}

/* ---- Algorithm 2 as written ---- */

/* Nodes return a mean and a variance; the server recomputes sums from them: with the node's variance and mean, or
   with the prior's, as printed. error: relative error of the variance, for both. */
static int rebuild(lab *l, unsigned nodes, uint32_t trial, double error[2])
{
    fixture f = fixture_make(l, 1, trial);
    const uint32_t all = f.options.attempts;
    rf64_report report;
    double n = 0, first = 0, second[2] = {0};
    int status = 0;
    f.options.attempts = all / nodes;
    for (uint32_t i = 0; i < nodes && status == 0; i++) {
        uint32_t begin = i * f.options.attempts;
        const rf64_engine part = {run_part, &begin, NULL};
        const rf64_filter *node = learn(&f, &part, &report);
        status = node ? 0 : -1;
        if (status == 0 && report.accepted > 0) {
            const double mean = rf64_filter_mean(node)[0], variance = rf64_filter_covariance(node, 0, 0), own = report.accepted;
            n += own;
            first += mean * own;
            second[0] += (own - 1) * variance + own * mean * mean;
            second[1] += own - 1; /* the prior's variance is 1 and its mean 0 */
        }
    }
    f.options.attempts = all / nodes * nodes;
    const rf64_filter *one = status == 0 ? learn(&f, NULL, &report) : NULL;
    for (int k = 0; k < 2 && one; k++)
        error[k] = fabs((second[k] - first * first / n) / (n - 1) / rf64_filter_covariance(one, 0, 0) - 1);
    free(f.memory);
    return one ? 0 : lab_fail(l, "an update was refused, or memory is short");
}

static int compare_rebuilt(lab *l)
{
    const uint32_t trials = lab_whole(l, "trials");
    for (unsigned k = 0; k < lab_items(l, "nodes"); k++) {
        const unsigned nodes = (unsigned)lab_item(l, "nodes", k);
        double worst[2] = {0}, error[2];
        for (uint32_t i = 0; i < trials; i++) {
            if (rebuild(l, nodes, i, error) < 0)
                return -1;
            worst[0] = fmax(worst[0], error[0]);
            worst[1] = fmax(worst[1], error[1]);
        }
        lab_put(l, "rebuilt", "from a node's own", nodes, worst[0], NAN);
        lab_put(l, "rebuilt", "as printed", nodes, worst[1], NAN);
    }
    return 0;
}

/* ---- Time ---- */

/* Attempts per second in the fastest of many updates, because other processes may use the machine. */
static int time_threads(lab *l)
{
    const uint32_t attempts = lab_whole(l, "timed_attempts");
    for (unsigned threads = 1; threads <= rf_cpus_allowed(); threads *= 2) {
        char name[32], error[256];
        RF_ALIGNED unsigned char memory[RF64_FILTER_BYTES(1)];
        const double record[] = {1, 0.5, 1};
        rf64_chart chart;
        const rf64_model model = rf64_instance_model(rf_model_find("precession")->f64, &chart);
        rf64_options options = rf64_options_default();
        rf64_filter *filter;
        double best = INFINITY;
        snprintf(name, sizeof name, "threads:%u", threads);
        rf_engine *engine = rf_engine_open(name, error, sizeof error);
        if (!engine)
            return lab_fail(l, "%s", error);
        options.attempts = attempts;
        for (int repeat = 0; repeat < 50; repeat++) {
            rf64_filter_init(&filter, memory, sizeof memory, 1, lab_seed(l));
            const double start = rf_clock_seconds();
            rf64_update(filter, &model, record, 1, &options, rf_engine_f64(engine), NULL);
            best = fmin(best, rf_clock_seconds() - start);
        }
        rf_engine_close(engine);
        lab_put_timing(l, "speed", "threads", threads, attempts / best, NAN);
    }
    return 0;
}

/* Reads a number from the JSON output of a command; NaN if it is not there. */
static void ask(const char *command, double *error, double *nanoseconds)
{
    char text[4096] = "";
    FILE *out = popen(command, "r");
    *error = *nanoseconds = NAN;
    if (!out)
        return;
    text[fread(text, 1, sizeof text - 1, out)] = '\0';
    const char *mean = strstr(text, "\"mean\": "), *speed = strstr(text, "\"ns_per_attempt\": ");
    if (pclose(out) == 0 && mean && speed) {
        *error = strtod(mean + 8, NULL);
        *nanoseconds = strtod(speed + 18, NULL);
    }
}

/* Runs the command on several ranks: is the result that of one process, and how fast is it? */
static void time_ranks(lab *l)
{
    char own[2048] = "", run[4096];
    if (readlink("/proc/self/exe", own, sizeof own - 1) < 0 || strchr(own, '\''))
        return;
    const char *track = lab_keep_text("'%s' track --simulate --json --trials 1 --steps 20 --seed %llu --attempts %u --engine", own,
                                      (unsigned long long)lab_seed(l), lab_whole(l, "timed_attempts"));
    double alone, error, nanoseconds;
    snprintf(run, sizeof run, "%s simd 2>/dev/null", track);
    ask(run, &alone, &nanoseconds);
    for (unsigned i = 0; i < lab_items(l, "ranks"); i++) {
        const double ranks = lab_item(l, "ranks", i);
        snprintf(run, sizeof run, "mpirun --allow-run-as-root --oversubscribe -np %.0f %s mpi:simd 2>/dev/null", ranks, track);
        ask(run, &error, &nanoseconds);
        if (isnan(error))
            return;
        lab_put_timing(l, "ranks agree", "MPI ranks", ranks, error == alone, NAN);
        lab_put_timing(l, "speed", "MPI ranks", ranks, 1e9 / nanoseconds, NAN);
    }
}

/* ---- Jobs and report ---- */

static unsigned jobs(const lab *l) { return lab_items(l, "dims") + 2; }

static int run(lab *l, unsigned job)
{
    const unsigned dims = lab_items(l, "dims");
    if (job < dims)
        return compare_bits(l, (unsigned)lab_item(l, "dims", job));
    if (job == dims)
        return compare_rebuilt(l);
    if (time_threads(l) < 0)
        return -1;
    time_ranks(l);
    return 0;
}

static void report_time(lab *l)
{
    const double one = lab_find(l, "speed", "threads", 1).value;
    double max = 0, speed = NAN, agree = NAN;
    lab_timing(l);
    lab_table(l, "Attempts per second of one update (batched)", "on | number | 10⁶ attempts a second | times as fast as one thread");
    for (const lab_row *r = NULL; (r = lab_next(l, r, "speed", NULL));) {
        lab_line(l, "%s | %.0f | %.0f | %.2f", r->of, r->x, 1e-6 * r->value, r->value / one);
        if (strcmp(r->of, "threads") == 0 && r->x > max) {
            max = r->x;
            speed = r->value;
        }
    }
    for (const lab_row *r = NULL; (r = lab_next(l, r, "ranks agree", NULL));)
        agree = isnan(agree) ? r->value : fmin(agree, r->value);
    if (isnan(agree))
        lab_paragraph(l, "MPI was not measured: there is no mpirun here, or no module rejfilt_mpi.so.");
    else
        lab_paragraph(l, "On MPI ranks the result %s.", agree == 1 ? "is that of one process, in all its digits" : "differs from that of one process");
    lab_claim(l, "parallel", speed / one / max, NAN);
}

static void report(lab *l)
{
    const unsigned dims = lab_items(l, "dims"), nodes = lab_items(l, "nodes");
    const double max = lab_item(l, "nodes", nodes - 1), dim = lab_item(l, "dims", dims - 1);
    double same = 1;
    for (const lab_row *r = NULL; (r = lab_next(l, r, "same bits", NULL));)
        same = fmin(same, r->value);
    lab_claim(l, "same", same, NAN);
    lab_claim(l, "printed", lab_find(l, "rebuilt", "as printed", max).value, NAN);
    lab_claim_changed(l, "printed", lab_find(l, "rebuilt", "from a node's own", max).value, NAN);
    lab_claim(l, "bytes", lab_find(l, "bytes", "tally", dim).value / lab_find(l, "bytes", "accepted draws", dim).value, NAN);
    lab_table(l, "Bytes that a node sends for an update", "parameters | the paper's sums | our tally, with diagnostics | the accepted draws would be");
    for (unsigned i = 0; i < dims; i++) {
        const double d = lab_item(l, "dims", i);
        lab_line(l, "%.0f | %.0f | %.0f | %.0f", d, lab_find(l, "bytes", "sums", d).value, lab_find(l, "bytes", "tally", d).value,
                 lab_find(l, "bytes", "accepted draws", d).value);
    }
    lab_table(l, "Relative error of the variance when the server makes sums from what nodes return", "nodes | from a node's own mean and variance | as printed, from the prior's");
    for (unsigned i = 0; i < nodes; i++) {
        const double n = lab_item(l, "nodes", i);
        lab_line(l, "%.0f | %.1e | %.2g", n, lab_find(l, "rebuilt", "from a node's own", n).value, lab_find(l, "rebuilt", "as printed", n).value);
    }
    report_time(l);
}

const lab_experiment experiment_batched = {.jobs = jobs, .run = run, .report = report, .has_timing = 1};
