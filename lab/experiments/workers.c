#define _POSIX_C_SOURCE 200809L
#include "workers.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"
#include "pool.h"

enum { THREADS_MAX = 256, SCALE = 1000000 };

struct lab_workers {
    rf_pool *pool;
    unsigned threads;
    rf_engine *engine[THREADS_MAX];
    cli_progress progress;
    double before, job, total; /* time of jobs, in units of their costs: done, current, all */
};

lab_workers *lab_workers_open(const lab_options *options)
{
    lab_workers *c = calloc(1, sizeof *c);
    char error[256] = "not enough memory";
    if (c)
        c->threads = (unsigned)options->threads;
    for (unsigned i = 0; c && i < c->threads; i++)
        if (!(c->engine[i] = rf_engine_open(options->engine, error, sizeof error))) {
            cli_error("reproduce: --engine: %s", error);
            lab_workers_close(c);
            return NULL;
        }
    if (c && (c->pool = rf_pool_open(c->threads, error, sizeof error)))
        return c;
    cli_error("reproduce: %s", error);
    lab_workers_close(c);
    return NULL;
}

void lab_workers_close(lab_workers *c)
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
    lab_item_function *function;
    void *context;
    uint32_t count;
    atomic_uint next;
    atomic_int failed;
} items;

static void work(void *context, unsigned worker)
{
    items *all = context;
    lab_workers *workers = all->l->workers;
    while (!cli_interrupted && !atomic_load(&all->failed)) {
        uint32_t item = atomic_fetch_add(&all->next, 1);
        if (item >= all->count)
            return;
        if (all->function(all->l, all->context, item, workers->engine[worker]) < 0)
            atomic_store(&all->failed, 1);
        if (worker == 0)
            cli_progress_show(&workers->progress, (uint64_t)((workers->before + workers->job * (item + 1) / all->count) * SCALE),
                                (uint64_t)(workers->total * SCALE));
    }
}

int lab_each(lab *l, uint32_t count, lab_item_function *function, void *context)
{
    items all = {.l = l, .function = function, .context = context, .count = count};
    lab_workers *workers = l->workers;
    rf_pool_run(workers->pool, work, &all, workers->threads < count ? workers->threads : count);
    return cli_interrupted || atomic_load(&all.failed) ? -1 : 0;
}

/* ---- Jobs ---- */

/* Expected seconds of a job: its share of the experiment's time. */
static double seconds(const lab *l, unsigned job)
{
    double all = 0, own = 0;
    for (unsigned i = 0; i < l->job_count; i++) {
        double cost = l->what->cost ? l->what->cost(l, i) : 1;
        all += cost;
        own = i == job ? cost : own;
    }
    return (l->takes ? strtod(l->takes, NULL) : 1) * own / all;
}

static int run_job(lab_workers *workers, lab *l, unsigned job)
{
    workers->job = seconds(l, job);
    l->job = job;
    int status = cli_interrupted ? -1 : l->what->run(l, job);
    if (status < 0 || l->error[0]) {
        lab_data_drop_job(l);
        return -1;
    }
    l->done[job] = 1;
    workers->before += workers->job;
    return lab_data_save(l);
}

static int run_jobs(lab_workers *workers, lab *l)
{
    workers->progress.what = l->name;
    for (unsigned i = 0; i < l->job_count; i++)
        if (!l->done[i] && run_job(workers, l, i) < 0)
            return -1;
    return 0;
}

int lab_workers_run(lab_workers *workers, lab *labs, unsigned count)
{
    const struct sigaction before = {.sa_handler = SIG_DFL};
    int status = 0;
    cli_catch_signals();
    workers->before = workers->total = 0;
    workers->progress = (cli_progress){.start = rf_clock_seconds(), .total = 1};
    for (unsigned k = 0; k < count; k++)
        for (unsigned i = 0; i < labs[k].job_count; i++)
            workers->total += labs[k].done[i] ? 0 : seconds(&labs[k], i);
    unsigned k = 0;
    for (; k < count && status == 0; k++) {
        labs[k].workers = workers;
        status = run_jobs(workers, &labs[k]);
    }
    cli_progress_end(&workers->progress);
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
