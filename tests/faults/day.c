/* A day of updates: one simulated run, as long as wanted, on the engine that users have. After every hundredth part it prints
   a line of JSON: the register of the evidence beside an exact sum of the same updates, speed, and memory.
     day float|double UPDATES */
#define _GNU_SOURCE
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "json.h"
#include "modelspec.h"
#include "rejfilt/session.h"

enum { PARTS = 100, FINEST = 80 };

__extension__ typedef __int128 wide;

/* In units of 2⁻⁸⁰, which hold every bit of a number over 2⁻²⁷ and of 10¹³ updates. */
typedef struct exact {
    wide sum;
} exact;

static void exact_add(exact *e, double value)
{
    const double high = ldexp(value, FINEST / 2), whole = floor(high);
    e->sum += ((wide)whole << (FINEST / 2)) + (wide)ldexp(high - whole, FINEST / 2);
}

static double exact_minus(const exact *e, double value)
{
    exact difference = *e;
    exact_add(&difference, -value);
    return ldexp((double)difference.sum, -FINEST);
}

typedef struct day {
    long part; /* updates in it */
    unsigned long long attempts;
    exact log, variance;
    double epsilon;                   /* half an ulp of 1 */
    double log_bound, variance_bound; /* Σ of what the additions may have rounded away */
    double since;   /* CPU seconds at the beginning of this part */
} day;

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Bytes of its own: pages of files, which come and go, left out. */
static long own_memory(void)
{
    long pages = 0, of_files = 1;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f) {
        if (fscanf(f, "%*d %ld %ld", &pages, &of_files) != 2)
            pages = 0;
        fclose(f);
    }
    return (pages - of_files) * sysconf(_SC_PAGESIZE);
}

static void print_part(day *d, const rf_step *s)
{
    cli_json json;
    cli_json_open(&json, stdout);
    cli_json_whole(&json, "updates", (uint64_t)s->step + 1);
    cli_json_whole(&json, "attempts", d->attempts);
    cli_json_real(&json, "log_evidence", s->log_evidence);
    cli_json_real(&json, "log_evidence_error", exact_minus(&d->log, s->log_evidence));
    cli_json_real(&json, "log_evidence_bound", d->log_bound + 0x1p-53 * fabs(s->log_evidence)); /* a double shows it */
    cli_json_real(&json, "variance", s->log_evidence_variance);
    cli_json_real(&json, "variance_error", exact_minus(&d->variance, s->log_evidence_variance));
    cli_json_real(&json, "variance_bound", d->variance_bound + 0x1p-53 * s->log_evidence_variance);
    cli_json_real(&json, "ns_per_update", 1e9 * (cpu_seconds() - d->since) / (double)d->part);
    cli_json_whole(&json, "memory", (uint64_t)own_memory());
    cli_json_whole(&json, "heap", mallinfo2().uordblks);
    cli_json_close(&json);
    fflush(stdout);
    d->since = cpu_seconds();
}

/* At most: an addition rounds once, the sum of a value and of what is carried, which is half an ulp of the total or less. */
static double rounds_away(double epsilon, double total, double value) { return epsilon * (fabs(value) + epsilon * fabs(total)); }

static int take(void *user, uint32_t trial, const rf_step *s)
{
    day *d = user;
    (void)trial;
    exact_add(&d->log, s->report.log_evidence);
    exact_add(&d->variance, s->report.log_evidence_variance);
    d->log_bound += rounds_away(d->epsilon, s->log_evidence, s->report.log_evidence);
    d->variance_bound += rounds_away(d->epsilon, s->log_evidence_variance, s->report.log_evidence_variance);
    d->attempts += s->report.attempts;
    if ((s->step + 1) % d->part == 0)
        print_part(d, s);
    return 0;
}

int main(int argc, char **argv)
{
    char error[200] = "";
    uint64_t updates;
    const int is_float = argc == 3 && strcmp(argv[1], "float") == 0;
    if (argc != 3 || rf_parse_whole(argv[2], PARTS, 4000000000u, &updates, error, sizeof error) < 0)
        return cli_error("day: usage: day float|double UPDATES %s", error);
    rf_engine *engine = rf_engine_open("simd", error, sizeof error);
    rf_simulation run = {.config = rf_config_default(rf_model_find("precession")), .steps = (long)updates, .batch = 1};
    run.config.engine = engine;
    run.config.attempts = 100;
    run.config.sampler = RF_REJECT;
    run.config.is_float = is_float;
    day d = {.part = (long)updates / PARTS, .epsilon = 0x1p-53, .since = cpu_seconds()};
    rf_status status = rf_simulate(&run, 0, 1, take, &d);
    rf_engine_close(engine);
    return status < 0 ? cli_error("day: %s", rf_status_text(status)) : 0;
}
