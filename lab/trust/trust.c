/* rejfilt-trust [TRIALS [SEED [FAMILY [ORACLES [NAME]]]]]: the default filter in worlds that differ from its
   assumptions, as Markdown tables. Runs all families in order; or one FAMILY, with NAME only its worlds whose names
   begin so; or, if FAMILY is a list of options of `rejfilt track`, the world they define. Unless ORACLES is 0, exact
   filters learn from the same records in some worlds. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "engine.h"
#include "integers.h"
#include "oracle.h"
#include "runs.h"
#include "summary.h"
#include "track_options.h"

typedef struct world {
    const char *family, *name, *options;
    unsigned oracles; /* percentage of the trials whose records exact filters also see; 0: none */
    unsigned percent; /* percentage of the number of trials given */
} world;

#define HAZARD 1e-4
#define DRIFT "0.026179938779914944"

static const world worlds[] = {
    {"matched", "as believed", "--steps 300", 4, 2000},
#define JUMP(size, oracles) {"jumps", "jump of " size, "--steps 320 --jump " size "@150", oracles, 100},
    JUMP("0.2", 0) JUMP("0.3", 0) JUMP("0.4", 0) JUMP("0.5", 20) JUMP("0.6", 0) JUMP("0.65", 20) JUMP("0.7", 0) JUMP("0.8", 0) JUMP("1", 20) JUMP("1.3", 0) JUMP("1.6", 0)
    JUMP("2", 20) JUMP("2.5", 0) JUMP("3", 20) JUMP("-0.65", 0) JUMP("-2.5", 0)
    {"jumps", "0.2 to 3, up or down", "--steps 320 --jump 0.2:3@150", 20, 100},
    {"jumps", "0.2 to 3, one record in 500", "--steps 2000 --jump 0.2:3@~500", 0, 100},
#define STUCK(at, length, steps) {"dead detectors", "stuck at " at " for " length, "--steps " steps " --outage " at "@150+" length, 0, 100},
    STUCK("0", "20", "320") STUCK("0", "50", "350") STUCK("0", "100", "400") STUCK("0", "300", "600")
    STUCK("1", "20", "320") STUCK("1", "50", "350") STUCK("1", "100", "400") STUCK("1", "300", "600")
    {"dead detectors", "stuck at 0, 2 % flips, for 100", "--steps 400 --outage 0~0.02@150+100", 0, 100},
    {"dead detectors", "stuck at 1, 2 % flips, for 300", "--steps 600 --outage 1~0.02@150+300", 0, 100},
    {"dead detectors", "coin for 100", "--steps 400 --outage coin@150+100", 0, 100},
    {"dead detectors", "coin for 300", "--steps 600 --outage coin@150+300", 0, 100},
    {"dead detectors", "outcomes exchanged for 60", "--steps 360 --outage swapped@150+60", 0, 100},
    {"dead detectors", "outcomes exchanged for 300", "--steps 600 --outage swapped@150+300", 0, 100},
    {"dead detectors", "stuck at 0 for 60, a jump of 1 meanwhile", "--steps 420 --outage 0@150+60 --jump 1@180", 0, 100},
    {"dead detectors", "a coin for 60, then stuck at 0 for 60", "--steps 480 --outage coin@150+60 --outage 0@215+60", 0, 100},
    {"dead detectors", "missing for 100", "--steps 400 --outage missing@150+100", 0, 100},
    {"dead detectors", "missing for 300", "--steps 600 --outage missing@150+300", 0, 100},
    {"wrong models", "2 % of outcomes flipped", "--flips 0.02", 0, 100},
    {"wrong models", "contrast 0.9", "--contrast 0.9", 0, 100},
    {"wrong models", "T2 of 100 that is not known", "--true-t2 100", 0, 100},
    {"wrong models", "the truth outside the prior", "--truth 2.5:3.5", 0, 100},
    {"wrong models", "a prior 50 standard deviations off", "--prior 0.8+-0.01 --truth 1.3", 0, 100},
    {"wrong models", "the same, of twice the width", "--prior 0.8+-0.02 --truth 1.8", 0, 100},
    {"wrong models", "50 off, 500 steps of the drift", "--prior 0.8+-0.01 --truth 1.3 --drift 0.001", 0, 100},
    {"wrong models", "a ramp of 0.02 a record", "--jump 0.02@~1", 0, 100},
    {"wrong models", "drift 3 times the believed", "--true-drift 0.07853981633974483", 0, 100},
    {"drift learnt", "3 times the believed", "--drift learn --true-drift 0.07853981633974483", 0, 100},
    {"drift learnt", "as believed", "--drift learn", 0, 100},
    {"drift learnt", "a third", "--drift learn --true-drift 0.008726646259971648", 0, 100},
    {"drift learnt", "a tenth", "--drift learn --true-drift 0.0026179938779914944", 0, 100},
    {"other drifts", "reverting, 100 records", "--drift 0.8+-0.3~100", 20, 100},
    {"other drifts", "the same, exact grid", "--drift 0.8+-0.3~100 --belief grid:2048", 0, 100},
    {"other drifts", "reverting, 1,000 records", "--drift 0.8+-0.3~1000", 20, 100},
    {"other drifts", "the same, exact grid", "--drift 0.8+-0.3~1000 --belief grid:2048", 0, 100},
#define INTEGERS(name, options) {"integers", name, "--belief gaussian --attempts 16 " options, 0, 100}, /* the session's own belief does not matter */
    INTEGERS("as believed", "--steps 300")
#define INTEGERS_JUMP(size) INTEGERS("jump of " size, "--steps 320 --jump " size "@150")
    INTEGERS_JUMP("0.2") INTEGERS_JUMP("0.3") INTEGERS_JUMP("0.5") INTEGERS_JUMP("0.65") INTEGERS_JUMP("0.8") INTEGERS_JUMP("1") INTEGERS_JUMP("1.3") INTEGERS_JUMP("1.6")
    INTEGERS_JUMP("2") INTEGERS_JUMP("2.5") INTEGERS_JUMP("3") INTEGERS("0.2 to 3, up or down", "--steps 320 --jump 0.2:3@150")
#define INTEGERS_STUCK(at, length, steps) INTEGERS("stuck at " at " for " length, "--steps " steps " --outage " at "@150+" length)
    INTEGERS_STUCK("0", "20", "320") INTEGERS_STUCK("0", "50", "350") INTEGERS_STUCK("0", "100", "400") INTEGERS_STUCK("0", "300", "600")
    INTEGERS_STUCK("1", "20", "320") INTEGERS_STUCK("1", "50", "350") INTEGERS_STUCK("1", "100", "400") INTEGERS_STUCK("1", "300", "600")
    INTEGERS("stuck at 1, 2 % flips, for 300", "--steps 600 --outage 1~0.02@150+300") INTEGERS("coin for 100", "--steps 400 --outage coin@150+100")
    INTEGERS("missing for 300", "--steps 600 --outage missing@150+300")
    {"static", "100 measurements", "--drift 0 --steps 100", 0, 100},
    {"static", "T2 of 1,000 that is known, 150 measurements", "--model examples/dephasing.c --drift 0 --steps 150", 0, 100},
#define RAMSEY(name, options) {"ramsey", name, "--model ramsey " options, 8, 100},
    RAMSEY("as believed", "--steps 320") RAMSEY("w jumps by 0.3", "--steps 320 --jump w=0.3@150") RAMSEY("w jumps by 0.1 to 1", "--steps 320 --jump w=0.1:1@150")
    RAMSEY("g grows by e", "--steps 320 --jump g=1@150") RAMSEY("g falls by e", "--steps 320 --jump g=-1@150")
    RAMSEY("stuck at 0 for 100", "--steps 420 --outage 0@150+100") RAMSEY("stuck at 1 for 100", "--steps 420 --outage 1@150+100")
#define MODEL(model, parameter, size, stuck, oracles, percent)                                                                                \
    {"other models", model ", as believed", "--model " model " --steps 320", oracles, percent},                                              \
    {"other models", model ", " parameter " jumps by " size, "--model " model " --steps 320 --jump " parameter "=" size "@150", oracles, percent}, \
    {"other models", model ", stuck at " stuck " for 100", "--model " model " --steps 420 --outage " stuck "@150+100", oracles, percent},
    MODEL("coin", "p", "1.5", "1", 20, 100) MODEL("phase", "phi", "1", "1", 20, 100) MODEL("linear", "x1", "2", "1", 4, 100) MODEL("rabi", "W", "0.1", "0", 10, 100)
    {"other models", "phase, phi jumps by 3", "--model phase --steps 320 --jump phi=3@150", 20, 100},
    MODEL("decay", "p", "1", "1", 20, 100) MODEL("bearing", "x", "2", "0.1", 10, 100) MODEL("range", "x", "2", "5", 10, 100)
    {"designs", "pgh, jump of 1", "--design pgh --steps 320 --jump 1@150", 100, 100},
    {"designs", "pgh, stuck at 0 for 100", "--design pgh --steps 400 --outage 0@150+100", 0, 100},
    {"designs", "risk, jump of 1", "--design risk --steps 320 --jump 1@150", 0, 100},
    {"designs", "float, stuck at 0 for 100", "--precision float --steps 400 --outage 0@150+100", 0, 100},
    {"designs", "reject, stuck at 0 for 100", "--sampler reject --steps 400 --outage 0@150+100", 0, 100},
    {"designs", "particles, jump of 1", "--belief particles:1000 --steps 320 --jump 1@150", 0, 100},
    {"designs", "mixture, jump of 1", "--belief mixture --steps 320 --jump 1@150", 0, 100},
    {"designs", "grid, stuck at 0 for 100", "--belief grid:1024 --steps 400 --outage 0@150+100", 0, 100},
};

typedef struct watch {
    cli_collector *ours, *beside[ORACLE_KINDS];
    oracle *oracle;
    uint32_t oracles; /* number of trials */
    const rf_simulation *run;
    rfi_filter *integers; /* or null: used instead of the session's filter */
} watch;

static int see(void *user, uint32_t trial, const rf_step *step)
{
    watch *w = user;
    rf_step in_integers;
    if (w->integers)
        integers_step(w->integers, w->run, runs_seed(w->run, trial), step, &in_integers);
    cli_collector_step(w->ours, trial, w->integers ? &in_integers : step);
    if (trial < w->oracles) {
        rf_step own[ORACLE_KINDS];
        oracle_step(w->oracle, step, own);
        for (unsigned k = 0; k < ORACLE_KINDS; k++)
            cli_collector_step(w->beside[k], trial, &own[k]);
    }
    return 0;
}

/* Result of a world: its rows, and a score to sort the worst first. */
typedef struct result {
    char *rows;
    double good;
    unsigned number;
} result;

static int worse_first(const void *a, const void *b)
{
    const result *x = a, *y = b;
    return x->good != y->good ? (x->good > y->good) - (x->good < y->good) : (int)x->number - (int)y->number;
}

static void cell(FILE *out, double value, int digits, char kind)
{
    if (isnan(value))
        fputs(" – |", out);
    else
        fprintf(out, kind == 'g' ? " %.*g |" : " %.*f |", digits, value);
}

static void row(FILE *out, const char *name, const cli_summary *s, int is_several)
{
    fprintf(out, "| %s | %llu |", name, (unsigned long long)s->trials);
    cell(out, s->median, 3, 'g');
    cell(out, s->mean, 3, 'g');
    cell(out, 100 * s->lost, 2, 'f');
    cell(out, 100 * s->coverage95, 1, 'f');
    cell(out, 100 * s->back_soon, 1, 'f');
    cell(out, 100 * (is_several ? s->back_last : s->back_late), 1, 'f');
    cell(out, 100 * (is_several ? s->alarmed_last : s->alarmed), 1, 'f');
    cell(out, 100 * s->told, 1, 'f');
    cell(out, s->false_lost, 3, 'g');
    cell(out, s->widest, 2, 'f');
    fputc('\n', out);
}

static result run(const world *what, const char *trials, const char *seed, int has_oracles, const rf_engine *engine)
{
    result found = {.number = 0};
    size_t size;
    FILE *out = open_memstream(&found.rows, &size);
    static cli_track_config c;
    static char track[] = "track";
    static rfi_filter integers;
    char text[512], *arguments[64] = {track};
    int count = 1;
    snprintf(text, sizeof text, "--simulate --trials %s --seed %s %s", trials, seed, what->options);
    for (char *word = strtok(text, " "); word && count < 63; word = strtok(NULL, " "))
        arguments[count++] = word;
    if (cli_track_configure(&c, count, arguments) != 1)
        exit(2);
    c.run.config.engine = engine;
    const uint32_t all = (uint32_t)c.trials, seen = has_oracles ? all * what->oracles / 100 : 0;
    watch w = {.ours = cli_collector_open(&c.run, all), .oracles = seen, .run = &c.run, .integers = strcmp(what->family, "integers") == 0 ? &integers : NULL};
    for (unsigned k = 0; k < ORACLE_KINDS; k++)
        if (!(w.beside[k] = cli_collector_open(&c.run, all)))
            exit(1);
    if (seen && !(w.oracle = oracle_open(&c.run.config, HAZARD)))
        exit(1);
    if (!out || !w.ours || rf_simulate(&c.run, 0, all, see, &w) < 0)
        exit(1);
    const int is_several = c.run.config.description.dim > 1;
    cli_summary s = cli_collector_summary(w.ours);
    found.good = isnan(s.back_soon) ? s.coverage95 - s.lost : s.back_soon;
    row(out, what->name, &s, is_several);
    for (unsigned k = 0; k < ORACLE_KINDS; k++) {
        const char *name = seen ? oracle_name(w.oracle, k) : NULL;
        char text_of[64];
        s = cli_collector_summary(w.beside[k]);
        s.widest = s.told = NAN;
        if (seen && !oracle_alarms(w.oracle, k))
            s.alarmed = s.alarmed_last = s.false_lost = NAN;
        snprintf(text_of, sizeof text_of, "… %s", name ? name : "");
        if (name)
            row(out, text_of, &s, is_several);
        cli_collector_free(w.beside[k]);
    }
    oracle_close(w.oracle);
    cli_collector_free(w.ours);
    fclose(out);
    return found;
}

static void print_family(const char *name, result results[], unsigned count)
{
    const int is_several = strcmp(name, "ramsey") == 0 || strcmp(name, "other models") == 0;
    printf("\n### %s\n\n| world | trials | median | mean | lost %% | covers %% | back 50 | back %s | alarm | told | false lost | widest |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n",
           name, is_several ? "150, or 100" : "100");
    if (strcmp(name, "other drifts") != 0) /* the rows of this family stay together */
        qsort(results, count, sizeof *results, worse_first);
    for (unsigned i = 0; i < count; i++) {
        fputs(results[i].rows, stdout);
        free(results[i].rows);
    }
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const char *trials = argc > 1 ? argv[1] : "1000", *seed = argc > 2 ? argv[2] : "1000003", *family = argc > 3 ? argv[3] : NULL;
    char error[300], more[32];
    rf_engine *engine = rf_engine_open("simd", error, sizeof error);
    if (!engine)
        return cli_error("trust: %s", error);
    enum { WORLDS = sizeof worlds / sizeof *worlds };
    result results[WORLDS];
    if (family && family[0] == '-') {
        const world own = {"own", family, family, 100, 100};
        results[0] = run(&own, trials, seed, argc <= 4 || atoi(argv[4]) != 0, engine);
        print_family(own.family, results, 1);
    }
    for (unsigned i = 0, count = 0; i < WORLDS; i++) {
        const char *name = worlds[i].family;
        const int is_wanted = (!family || strcmp(family, name) == 0) && (argc <= 5 || strncmp(argv[5], worlds[i].name, strlen(argv[5])) == 0);
        if (is_wanted) {
            if (isatty(STDERR_FILENO))
                fprintf(stderr, "\r\033[K%s: %s", name, worlds[i].name);
            snprintf(more, sizeof more, "%ld", atol(trials) * worlds[i].percent / 100);
            results[count] = run(&worlds[i], more, seed, argc <= 4 || atoi(argv[4]) != 0, engine);
            results[count].number = count;
            count++;
        }
        if (count == 0 || (i + 1 < WORLDS && strcmp(name, worlds[i + 1].family) == 0))
            continue;
        if (isatty(STDERR_FILENO))
            fputs("\r\033[K", stderr);
        print_family(name, results, count);
        count = 0;
    }
    rf_engine_close(engine);
    return 0;
}
