#include "trials.h"

#include <stdlib.h>

enum { AT_ONCE = 64 };

typedef struct some {
    const cli_run *run;
    uint32_t trials;
    cli_observer *observer;
    void *user;
} some;

static int run_some(lab *l, void *context, uint32_t item, const rf_engine *engine)
{
    const some *s = context;
    const uint32_t first = item * AT_ONCE, left = s->trials - first;
    cli_run run = *s->run;
    run.engine = engine;
    rf_status status = rf64_simulate_trials(&run, first, left < AT_ONCE ? left : AT_ONCE, s->observer, s->user);
    return status < 0 ? lab_fail(l, "a run was refused: %s", rf_status_text(status)) : 0;
}

int trials_run(lab *l, const cli_run *run, uint32_t trials, cli_observer *observer, void *user)
{
    some s = {run, trials, observer, user};
    return lab_each(l, (trials + AT_ONCE - 1) / AT_ONCE, run_some, &s);
}

/* ---- Beside ---- */

typedef struct beside {
    some s;
    companion_kind kind;
    uint32_t size;
    hermite rule;
} beside;

typedef struct group {
    const beside *b;
    uint32_t first;
    companion companions[AT_ONCE];
} group;

static int step_beside(void *user, uint32_t trial, const cli_step *step)
{
    group *g = user;
    cli_step own;
    companion_step(&g->companions[trial - g->first], step, &own);
    return g->b->s.observer(g->b->s.user, trial, &own);
}

static int run_some_beside(lab *l, void *context, uint32_t item, const rf_engine *engine)
{
    const beside *b = context;
    const uint32_t first = item * AT_ONCE, left = b->s.trials - first, count = left < AT_ONCE ? left : AT_ONCE;
    group *g = calloc(1, sizeof *g);
    cli_run run = *b->s.run;
    int status = g ? 0 : -1;
    run.engine = engine;
    for (uint32_t i = 0; i < count && status == 0; i++)
        status = companion_open(&g->companions[i], b->kind, b->size, &b->rule, &run, first + i);
    if (status == 0) {
        g->b = b;
        g->first = first;
        status = rf64_simulate_trials(&run, first, count, step_beside, g) < 0 ? -1 : 0;
    }
    for (uint32_t i = 0; i < count && g; i++)
        companion_close(&g->companions[i]);
    free(g);
    return status == 0 ? 0 : lab_fail(l, "a run was refused, or memory is short");
}

int trials_run_beside(lab *l, const cli_run *run, companion_kind kind, uint32_t size, uint32_t trials, cli_observer *observer, void *user)
{
    beside b = {.s = {run, trials, observer, user}, .kind = kind, .size = size};
    if (kind == COMPANION_HERMITE)
        b.rule = hermite_rule(size);
    return lab_each(l, (trials + AT_ONCE - 1) / AT_ONCE, run_some_beside, &b);
}
