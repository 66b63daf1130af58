/* rejfilt reproduce: the experiments of the paper, and a report that says which of its claims hold. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "crew.h"
#include "lock.h"
#include "plot.h"

/* The text of each NAME.ini, in the order of list.def; made by CMake. */
extern const char *const lab_ini[];

static const struct {
    const char *name;
    const lab_experiment *what;
} experiments[] = {
#define EXPERIMENT(name) {#name, &experiment_##name},
#include "list.def"
#undef EXPERIMENT
};

enum { COUNT = sizeof experiments / sizeof *experiments };

typedef struct config {
    lab_options options;
    int is_quick, list, json;
    const char *names[CLI_LIST_MAX + 1];
} config;

#define AT(field) offsetof(config, field)

static const cli_option options[] = {
    {"", "NAME", "", NULL, CLI_LIST, AT(names), 0, 0, NULL},
    {"quick", NULL, "few trials: minutes, and every shape is seen (the default)", NULL, CLI_FLAG, AT(is_quick), 0, 0, NULL},
    {"full", NULL, "as many trials as the paper has", NULL, CLI_FLAG, AT(options.is_full), 0, 0, NULL},
    {"out", "DIR", "where data, figures and reports go (default reproduce)", NULL, CLI_TEXT, AT(options.out), 0, 0, NULL},
    {"data", "DIR", "the four files of MNIST; without them, synthetic digits", NULL, CLI_TEXT, AT(options.data), 0, 0, NULL},
    {"seed", "N", "(default 1)", NULL, CLI_U64, AT(options.seed), 0, 0, NULL},
    {"engine", "NAME", "who runs the attempts (default simd): the report is the same", NULL, CLI_TEXT, AT(options.engine), 0, 0, NULL},
    {"threads", "N", "trials side by side (default one per CPU): the report is the same", NULL, CLI_U64, AT(options.threads), 1, 256, NULL},
    {"list", NULL, "list the experiments and the minutes they take on two cores", NULL, CLI_FLAG, AT(list), 0, 0, NULL},
    {"json", NULL, "print report.json instead of a table", NULL, CLI_FLAG, AT(json), 0, 0, NULL},
    {NULL, NULL, NULL, NULL, CLI_CUSTOM, 0, 0, 0, NULL},
};

static const cli_usage usage = {
    "reproduce",
    "[NAME...] [OPTION...]",
    "Runs the experiments of the paper on rejection filtering, all of them or those named, and writes\n"
    "report.html, report.md and report.json: each claim, our number, and whether it holds. A run that\n"
    "was interrupted goes on where it stopped; data of other settings in DIR is replaced.\n"
    "Exit status 1: some number is not where it is known to be.",
    options,
    "  rejfilt reproduce --list\n"
    "  rejfilt reproduce kappa tracking\n"
    "  rejfilt reproduce --full --out full --data mnist",
    NULL,
};

/* ---- Labs ---- */

static int find(const char *name)
{
    for (int i = 0; i < COUNT; i++)
        if (strcmp(experiments[i].name, name) == 0)
            return i;
    const char *names[COUNT + 1] = {NULL};
    for (int i = 0; i < COUNT; i++)
        names[i] = experiments[i].name;
    char close[CLI_SUGGESTION];
    cli_error("reproduce: there is no experiment '%s'%s (see 'rejfilt reproduce --list')", name, cli_suggestion(name, names, close));
    return -1;
}

static void describe(lab *l, int which, const lab_options *o)
{
    l->name = experiments[which].name;
    l->what = experiments[which].what;
    l->options = o;
}

static int fail(const lab *l)
{
    cli_error("reproduce: %s", l->error);
    return CLI_FAILED;
}

/* Its settings, what it shares, and what an earlier run has left. */
static int open_lab(lab *l, int which)
{
    if (lab_settings_read(l, lab_ini[which]) < 0 || (l->what->open && l->what->open(l) < 0))
        return fail(l);
    l->fingerprint = lab_settings_fingerprint(l);
    l->cell_count = l->what->cells(l);
    if (l->cell_count > LAB_CELLS_MAX)
        return lab_fail(l, "%s has more than %d cells", l->name, LAB_CELLS_MAX), fail(l);
    if (lab_data_load(l))
        fprintf(stderr, "rejfilt: reproduce: %s/%s.csv is of other settings, or damaged: it starts afresh\n", l->options->out, l->name);
    return CLI_OK;
}

static int list(void)
{
    printf("%-11s %6s %6s  %s\n", "name", "quick", "full", "minutes on two cores, and what it is about");
    for (int i = 0; i < COUNT; i++) {
        double minutes[2];
        lab *l = NULL;
        for (int full = 0; full < 2; full++) {
            lab_options o = {.is_full = full};
            l = lab_keep(sizeof *l);
            describe(l, i, &o);
            if (lab_settings_read(l, lab_ini[i]) < 0)
                return fail(l);
            minutes[full] = l->takes ? strtod(l->takes, NULL) / 60 : 0;
        }
        printf("%-11s %6.1f %6.1f  %s\n", l->name, minutes[0], minutes[1], l->title);
    }
    return CLI_OK;
}

/* ---- The command ---- */

static int print_report(const lab *labs, unsigned count, int is_json)
{
    char path[4096], line[4096];
    lab_path(labs, is_json ? "report.json" : "report.html", path, sizeof path);
    FILE *in = is_json ? fopen(path, "r") : NULL;
    while (in && fgets(line, sizeof line, in))
        fputs(line, stdout);
    if (in)
        fclose(in);
    int departs = 0;
    for (unsigned k = 0; k < count; k++)
        for (unsigned i = 0; i < labs[k].finding_count; i++) {
            const lab_finding *f = &labs[k].findings[i];
            char number[LAB_NUMBER_TEXT];
            if (!is_json && f->paper)
                printf("%-11s %-20s %-20s %s\n", labs[k].name, f->name, lab_verdict_names[lab_judge(f)], lab_number(f->value, f->error, number));
            if (lab_departs(f)) {
                cli_error("reproduce: %s, %s: %s is not where it is known to be, %s", labs[k].name, f->name, lab_number(f->value, NAN, number), f->expect.text);
                departs = 1;
            }
        }
    if (!is_json)
        printf("%s\n", path);
    return departs ? CLI_FAILED : CLI_OK;
}

/* Can the data be read, the directory be written, and can gnuplot draw? Before the long run. */
static int check_files(const lab_options *o)
{
    char path[4096], error[512];
    if (o->data && access(o->data, R_OK) != 0)
        return cli_error("reproduce: --data: '%s': %s", o->data, strerror(errno));
    if (mkdir(o->out, 0777) != 0 && errno != EEXIST)
        return cli_error("reproduce: --out: cannot make '%s': %s", o->out, strerror(errno));
    snprintf(path, sizeof path, "%s/check.svg", o->out);
    if (cli_plot_check(path, error, sizeof error) < 0)
        return cli_error("reproduce: %s", error);
    return CLI_OK;
}

/* One run at a time writes in the directory. */
static int lock_files(const lab_options *o, cli_lock *lock)
{
    char path[PATH_MAX], error[1000];
    snprintf(path, sizeof path, "%s/report", o->out);
    int status = cli_lock_take(lock, path, error, sizeof error);
    if (error[0])
        cli_error("reproduce: --out: %s", error);
    return status;
}

static int run_locked(const config *c, lab *labs, const int which[], unsigned count)
{
    int status = CLI_OK;
    lab_crew *crew = lab_crew_open(&c->options);
    if (!crew)
        return CLI_BAD_INPUT;
    for (unsigned k = 0; k < count && status == CLI_OK; k++)
        status = open_lab(&labs[k], which[k]);
    if (status == CLI_OK)
        status = lab_crew_run(crew, labs, count);
    if (status == CLI_OK && lab_report_write(labs, count) < 0)
        status = fail(labs);
    if (status == CLI_OK)
        status = print_report(labs, count, c->json);
    for (unsigned k = 0; k < count; k++) {
        free(labs[k].data.rows);
        free(labs[k].timing.rows);
    }
    lab_crew_close(crew);
    return status;
}

static int run(const config *c, lab *labs, const int which[], unsigned count)
{
    cli_lock lock = {.file = -1};
    int status = check_files(&c->options);
    if (status == CLI_OK)
        status = lock_files(&c->options, &lock);
    if (status == CLI_OK)
        status = run_locked(c, labs, which, count);
    cli_lock_release(&lock);
    return status;
}

int cli_reproduce(int argc, char **argv)
{
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    config c = {.options = {.out = "reproduce", .engine = "simd", .seed = 1, .threads = cpus > 0 && cpus < 256 ? (uint64_t)cpus : 1}};
    int which[CLI_LIST_MAX], wanted[COUNT] = {0};
    unsigned count = 0;
    int go = cli_parse(&usage, &c, argc, argv);
    if (go <= 0)
        return go < 0 ? CLI_BAD_INPUT : CLI_OK;
    if (c.is_quick && c.options.is_full)
        return cli_error("reproduce: --quick or --full, not both");
    if (strncmp(c.options.engine, "mpi", 3) == 0)
        return cli_error("reproduce: --engine: trials run side by side on threads here, not on ranks");
    if (c.list)
        return list();
    for (int i = 0; c.names[i]; i++) {
        int found = find(c.names[i]);
        if (found < 0)
            return CLI_BAD_INPUT;
        wanted[found] = 1;
    }
    for (int i = 0; i < COUNT; i++) /* in the order of the report */
        if (wanted[i] || !c.names[0])
            which[count++] = i;
    lab *labs = lab_keep(count * sizeof *labs);
    for (unsigned k = 0; k < count; k++)
        describe(&labs[k], which[k], &c.options);
    return run(&c, labs, which, count);
}
