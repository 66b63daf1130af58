/* The integer filter of src/fixed/ compared with the filter in double: same truths and same random numbers for
   outcomes; each chooses its own experiments. */
#include "tracking.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "integers.h"
#include "summary.h"

enum { STEPS = 300, TRIALS = 2000 };

typedef struct watch {
    const rf_simulation *run;
    cli_collector *in_double, *in_integers;
    rfi_filter filter;
} watch;

static int watch_step(void *user, uint32_t trial, const rf_step *step)
{
    watch *w = user;
    rf_step own;
    cli_collector_step(w->in_double, trial, step);
    integers_step(&w->filter, w->run, runs_seed(w->run, trial), step, &own);
    cli_collector_step(w->in_integers, trial, &own);
    return 0;
}

static void compare(const char *sampler_name, rf_sampler sampler)
{
    static watch w;
    rf_simulation run = ordinary_run("precession", STEPS);
    char name[64];
    run.config.sampler = sampler;
    memset(&w, 0, sizeof w);
    w.run = &run;
    w.in_double = cli_collector_open(&run, TRIALS);
    w.in_integers = cli_collector_open(&run, TRIALS);
    if (!w.in_double || !w.in_integers)
        fail("not enough memory");
    for (uint32_t trial = 0; trial < TRIALS; trial++) {
        progress("integers", trial, TRIALS);
        if (rf_simulate(&run, trial, 1, watch_step, &w) < 0)
            fail("the run was refused");
    }
    progress("integers", TRIALS, TRIALS);
    const cli_summary d = cli_collector_summary(w.in_double), i = cli_collector_summary(w.in_integers);
    if (sampler == RF_REJECT) {
        row("integers: median / q", i.median, -INFINITY, INFINITY);
        row("integers: mean / q", i.mean, -INFINITY, INFINITY);
        row("integers: 99 % below / q", i.p99, -INFINITY, INFINITY);
        row("integers: lost %", 100 * i.lost, -INFINITY, 0.7);
        row("integers: 95 % interval covers %", 100 * i.coverage95, 93, 97);
    }
    snprintf(name, sizeof name, "integers / double (%s): median", sampler_name);
    row(name, i.median / d.median, 0.9, 1.1);
    cli_collector_free(w.in_double);
    cli_collector_free(w.in_integers);
}

void fixed_rows(void)
{
    compare("reject", RF_REJECT);
    compare("lattice", RF_LATTICE);
}
