/* Threads that wait for work. The caller is worker 0. */
#ifndef REJFILT_POOL_H
#define REJFILT_POOL_H

#include <stddef.h>

typedef struct rf_pool rf_pool;
typedef void rf_job(void *context, unsigned worker);

/* Starts workers − 1 new threads; the caller is worker 0. Returns NULL and fills `error` on failure. */
rf_pool *rf_pool_open(unsigned workers, char *error, size_t size);
void rf_pool_close(rf_pool *pool);

/* Runs job(context, w) for w = 0 .. workers − 1, at most as many as the pool has, and waits for all. One caller at a
   time. */
void rf_pool_run(rf_pool *pool, rf_job *job, void *context, unsigned workers);

#endif
