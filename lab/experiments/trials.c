#include "trials.h"

#include <stdlib.h>

enum { AT_ONCE = 64 };

typedef struct some {
    const rf_simulation *run;
    uint32_t trials;
    rf_observer *observer;
    void *user;
} some;

static int run_some(lab *l, void *context, uint32_t item, const rf_engine *engine)
{
    const some *s = context;
    const uint32_t first = item * AT_ONCE, left = s->trials - first;
    rf_simulation run = *s->run;
    run.config.engine = engine;
    rf_status status = rf_simulate(&run, first, left < AT_ONCE ? left : AT_ONCE, s->observer, s->user);
    return status < 0 ? lab_fail(l, "a run was refused: %s", rf_status_text(status)) : 0;
}

int trials_run(lab *l, const rf_simulation *run, uint32_t trials, rf_observer *observer, void *user)
{
    some s = {run, trials, observer, user};
    return lab_each(l, (trials + AT_ONCE - 1) / AT_ONCE, run_some, &s);
}

/* ---- With a reference ---- */

typedef struct beside {
    some s;
    reference_kind kind;
    uint32_t size;
} beside;

typedef struct group {
    const beside *b;
    uint32_t first;
    reference references[AT_ONCE];
} group;

static int step_beside(void *user, uint32_t trial, const rf_step *step)
{
    group *g = user;
    rf_step own;
    reference_step(&g->references[trial - g->first], step, &own);
    return g->b->s.observer(g->b->s.user, trial, &own);
}

static int run_some_beside(lab *l, void *context, uint32_t item, const rf_engine *engine)
{
    const beside *b = context;
    const uint32_t first = item * AT_ONCE, left = b->s.trials - first, count = left < AT_ONCE ? left : AT_ONCE;
    group *g = calloc(1, sizeof *g);
    rf_simulation run = *b->s.run;
    int status = g ? 0 : -1;
    run.config.engine = engine;
    for (uint32_t i = 0; i < count && status == 0; i++)
        status = reference_open(&g->references[i], b->kind, b->size, &run, first + i);
    if (status == 0) {
        g->b = b;
        g->first = first;
        status = rf_simulate(&run, first, count, step_beside, g) < 0 ? -1 : 0;
    }
    for (uint32_t i = 0; i < count && g; i++)
        reference_close(&g->references[i]);
    free(g);
    return status == 0 ? 0 : lab_fail(l, "a run was refused, or memory is short");
}

int trials_run_beside(lab *l, const rf_simulation *run, reference_kind kind, uint32_t size, uint32_t trials, rf_observer *observer, void *user)
{
    beside b = {.s = {run, trials, observer, user}, .kind = kind, .size = size};
    return lab_each(l, (trials + AT_ONCE - 1) / AT_ONCE, run_some_beside, &b);
}
