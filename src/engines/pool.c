/* Threads that wait for work: they spin briefly, then sleep. */
#define _GNU_SOURCE
#include "pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "engine.h"
#include "machine.h"

#define SPIN_SECONDS 20e-6 /* about the cost of waking a sleeping thread */
#define SPIN_LOOKS 16 /* polls between readings of the clock */

enum { IDLE, ASLEEP, WORK, QUIT };

typedef struct worker {
    _Alignas(64) atomic_uint state;
    unsigned index;
    rf_pool *pool;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
} worker;

struct rf_pool {
    _Alignas(64) atomic_uint pending; /* workers that have not finished the job */
    atomic_uint asleep;               /* the caller sleeps until they have finished */
    pthread_mutex_t lock;
    pthread_cond_t done;
    rf_job *job;
    void *context;
    unsigned workers;
    int spins;
    pid_t process; /* process that owns the threads: a forked child has none of them */
    worker worker[]; /* worker[0] is the caller and not used */
};

/* Spins briefly until the value is zero, or with until_zero = 0 until it is nonzero. Returns whether it is. */
static int spin(const rf_pool *pool, atomic_uint *value, int until_zero)
{
    if (!pool->spins)
        return (atomic_load(value) == 0) == until_zero;
    const double end = rf_clock_seconds() + SPIN_SECONDS;
    do {
        for (int look = 0; look < SPIN_LOOKS; look++) {
            if ((atomic_load(value) == 0) == until_zero)
                return 1;
            RF_PAUSE();
        }
    } while (rf_clock_seconds() < end);
    return 0;
}

/* ---- Workers ---- */

static unsigned await_work(worker *w)
{
    if (!spin(w->pool, &w->state, 0)) {
        unsigned idle = IDLE;
        pthread_mutex_lock(&w->lock);
        if (atomic_compare_exchange_strong(&w->state, &idle, ASLEEP))
            while (atomic_load(&w->state) == ASLEEP)
                pthread_cond_wait(&w->wake, &w->lock);
        pthread_mutex_unlock(&w->lock);
    }
    return atomic_load(&w->state);
}

/* Gives an idle or sleeping worker a new state. */
static void rouse(worker *w, unsigned state)
{
    if (atomic_exchange(&w->state, state) == ASLEEP) {
        pthread_mutex_lock(&w->lock);
        pthread_cond_signal(&w->wake);
        pthread_mutex_unlock(&w->lock);
    }
}

static void report_done(rf_pool *pool)
{
    if (atomic_fetch_sub(&pool->pending, 1) == 1 && atomic_load(&pool->asleep)) {
        pthread_mutex_lock(&pool->lock);
        pthread_cond_signal(&pool->done);
        pthread_mutex_unlock(&pool->lock);
    }
}

static void *work(void *self)
{
    worker *w = self;
    while (await_work(w) == WORK) {
        w->pool->job(w->pool->context, w->index);
        atomic_store(&w->state, IDLE);
        report_done(w->pool);
    }
    return NULL;
}

static int worker_start(rf_pool *pool, unsigned index)
{
    worker *w = &pool->worker[index];
    atomic_init(&w->state, IDLE);
    w->index = index;
    w->pool = pool;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->wake, NULL);
    int failure = pthread_create(&w->thread, NULL, work, w);
    if (failure) {
        pthread_cond_destroy(&w->wake);
        pthread_mutex_destroy(&w->lock);
    }
    return failure;
}

static void worker_stop(worker *w)
{
    rouse(w, QUIT);
    pthread_join(w->thread, NULL);
    pthread_cond_destroy(&w->wake);
    pthread_mutex_destroy(&w->lock);
}

/* ---- The pool ---- */

void rf_pool_close(rf_pool *pool)
{
    if (!pool)
        return;
    for (unsigned i = 1; i < pool->workers && pool->process == getpid(); i++)
        worker_stop(&pool->worker[i]);
    pthread_cond_destroy(&pool->done);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

/* Starts workers 1 .. workers − 1 and counts them in pool->workers. Returns 0, or the error number of the one that
   failed. */
static int start_workers(rf_pool *pool, unsigned workers)
{
    sigset_t all, before; /* workers block signals: the program's own threads handle them */
    int failure = 0;
    pool->process = getpid();
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (pool->workers = 1; pool->workers < workers && !failure; pool->workers += !failure)
        failure = worker_start(pool, pool->workers);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failure;
}

rf_pool *rf_pool_open(unsigned workers, char *error, size_t size)
{
    rf_pool *pool = aligned_alloc(_Alignof(rf_pool), sizeof *pool + workers * sizeof pool->worker[0]);
    if (!pool) {
        rf_fail(error, size, "out of memory for %u threads", workers);
        return NULL;
    }
    atomic_init(&pool->pending, 0);
    atomic_init(&pool->asleep, 0);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->done, NULL);
    pool->spins = workers <= rf_cpus_allowed();
    const int failure = start_workers(pool, workers);
    if (failure) {
        rf_fail(error, size, "cannot start thread %u of %u: %s", pool->workers + 1, workers, strerror(failure));
        rf_pool_close(pool);
        return NULL;
    }
    return pool;
}

void rf_pool_run(rf_pool *pool, rf_job *job, void *context, unsigned workers)
{
    if (pool->process != getpid())
        start_workers(pool, pool->workers);
    const unsigned others = workers < pool->workers ? workers : pool->workers; /* fewer if a forked child could not restart them */
    pool->job = job;
    pool->context = context;
    atomic_store(&pool->pending, others - 1);
    for (unsigned i = 1; i < others; i++)
        rouse(&pool->worker[i], WORK);
    job(context, 0);
    for (unsigned i = others; i < workers; i++)
        job(context, i);
    if (spin(pool, &pool->pending, 1))
        return;
    pthread_mutex_lock(&pool->lock);
    atomic_store(&pool->asleep, 1);
    while (atomic_load(&pool->pending) != 0)
        pthread_cond_wait(&pool->done, &pool->lock);
    atomic_store(&pool->asleep, 0);
    pthread_mutex_unlock(&pool->lock);
}
