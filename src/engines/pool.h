/* Threads that wait for work. The caller is worker 0. */
#ifndef REJFILT_POOL_H
#define REJFILT_POOL_H

#include <stddef.h>

typedef struct rf_pool rf_pool;
typedef void rf_job(void *context, unsigned worker);

/* `workers` of them, of which workers − 1 are new threads. Null with a message when they cannot be had. */
rf_pool *rf_pool_open(unsigned workers, char *error, size_t size);
void rf_pool_close(rf_pool *pool);

/* Runs job(context, w) for w = 0 .. workers − 1, at most those of the pool, and returns when all are
   done. One caller at a time. */
void rf_pool_run(rf_pool *pool, rf_job *job, void *context, unsigned workers);

#endif
