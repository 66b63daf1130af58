#define _POSIX_C_SOURCE 200809L
#include "crew.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"
#include "pool.h"

enum { THREADS_MAX = 256, SCALE = 1000000 };

struct lab_crew {
    rf_pool *pool;
    unsigned threads;
    rf_engine *engine[THREADS_MAX];
    cloud_progress progress;
    double before, cell, total; /* time of cells, in units of their costs: done, under way, in all */
};

lab_crew *lab_crew_open(const lab_options *options)
{
    lab_crew *c = calloc(1, sizeof *c);
    char error[256] = "not enough memory";
    if (c)
        c->threads = (unsigned)options->threads;
    for (unsigned i = 0; c && i < c->threads; i++)
        if (!(c->engine[i] = rf_engine_open(options->engine, error, sizeof error))) {
            cli_error("reproduce: --engine: %s", error);
            lab_crew_close(c);
            return NULL;
        }
    if (c && (c->pool = rf_pool_open(c->threads, error, sizeof error)))
        return c;
    cli_error("reproduce: %s", error);
    lab_crew_close(c);
    return NULL;
}

void lab_crew_close(lab_crew *c)
{
    if (!c)
        return;
    if (c->pool)
        rf_pool_close(c->pool);
    for (unsigned i = 0; i < c->threads; i++)
        if (c->engine[i])
            rf_engine_close(c->engine[i]);
    free(c);
}

unsigned lab_threads(const lab *l) { return (unsigned)l->options->threads; }

/* ---- Items ---- */

typedef struct items {
    lab *l;
    lab_job *job;
    void *context;
    uint32_t count;
    atomic_uint next;
    atomic_int failed;
} items;

static void work(void *context, unsigned worker)
{
    items *all = context;
    lab_crew *crew = all->l->crew;
    while (!cli_interrupted && !atomic_load(&all->failed)) {
        uint32_t item = atomic_fetch_add(&all->next, 1);
        if (item >= all->count)
            return;
        if (all->job(all->l, all->context, item, crew->engine[worker]) < 0)
            atomic_store(&all->failed, 1);
        if (worker == 0)
            cloud_progress_show(&crew->progress, (uint64_t)((crew->before + crew->cell * (item + 1) / all->count) * SCALE),
                                (uint64_t)(crew->total * SCALE));
    }
}

int lab_each(lab *l, uint32_t count, lab_job *job, void *context)
{
    items all = {.l = l, .job = job, .context = context, .count = count};
    lab_crew *crew = l->crew;
    rf_pool_run(crew->pool, work, &all, crew->threads < count ? crew->threads : count);
    return cli_interrupted || atomic_load(&all.failed) ? -1 : 0;
}

/* ---- Cells ---- */

/* Seconds that a cell is thought to take: its share of the experiment's. */
static double seconds(const lab *l, unsigned cell)
{
    double all = 0, own = 0;
    for (unsigned i = 0; i < l->cell_count; i++) {
        double cost = l->what->cost ? l->what->cost(l, i) : 1;
        all += cost;
        own = i == cell ? cost : own;
    }
    return (l->takes ? strtod(l->takes, NULL) : 1) * own / all;
}

static int run_cell(lab_crew *crew, lab *l, unsigned cell)
{
    crew->cell = seconds(l, cell);
    l->cell = cell;
    int status = cli_interrupted ? -1 : l->what->run(l, cell);
    if (status < 0 || l->error[0]) {
        lab_data_drop_cell(l);
        return -1;
    }
    l->done[cell] = 1;
    crew->before += crew->cell;
    return lab_data_save(l);
}

static int run_cells(lab_crew *crew, lab *l)
{
    crew->progress.what = l->name;
    for (unsigned i = 0; i < l->cell_count; i++)
        if (!l->done[i] && run_cell(crew, l, i) < 0)
            return -1;
    return 0;
}

int lab_crew_run(lab_crew *crew, lab *labs, unsigned count)
{
    const struct sigaction before = {.sa_handler = SIG_DFL};
    int status = 0;
    cli_catch_signals();
    crew->before = crew->total = 0;
    crew->progress = (cloud_progress){.start = cloud_seconds(), .total = 1};
    for (unsigned k = 0; k < count; k++)
        for (unsigned i = 0; i < labs[k].cell_count; i++)
            crew->total += labs[k].done[i] ? 0 : seconds(&labs[k], i);
    unsigned k = 0;
    for (; k < count && status == 0; k++) {
        labs[k].crew = crew;
        status = run_cells(crew, &labs[k]);
    }
    cloud_progress_end(&crew->progress);
    sigaction(SIGINT, &before, NULL);
    sigaction(SIGTERM, &before, NULL);
    if (status == 0)
        return CLI_OK;
    if (cli_interrupted && !labs[k - 1].error[0]) {
        cli_error("reproduce: interrupted; the same command goes on from here");
        return CLI_INTERRUPTED;
    }
    cli_error("reproduce: %s: %s", labs[k - 1].name, labs[k - 1].error);
    return CLI_FAILED;
}
