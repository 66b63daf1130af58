/* Counts allocations and threads, and makes them fail: for programs linked with rf_wrap of CMakeLists.txt. */
#ifndef REJFILT_ALLOCATIONS_H
#define REJFILT_ALLOCATIONS_H

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void __real_free(void *memory);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void __wrap_free(void *memory);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument);

static atomic_int allocations, held, allocations_left = -1, threads_left = -1; /* -1: no limit */

static int runs_out(atomic_int *left)
{
    if (*left < 0)
        return 0;
    return *left == 0 || (*left)-- == 0;
}

static void *counted(void *memory)
{
    allocations++;
    held += memory != NULL;
    return memory;
}

void *__wrap_malloc(size_t size) { return runs_out(&allocations_left) ? NULL : counted(__real_malloc(size)); }
void *__wrap_calloc(size_t count, size_t size) { return runs_out(&allocations_left) ? NULL : counted(__real_calloc(count, size)); }
void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return runs_out(&allocations_left) ? NULL : counted(__real_aligned_alloc(alignment, size));
}

void *__wrap_realloc(void *memory, size_t size)
{
    if (runs_out(&allocations_left))
        return NULL;
    allocations++;
    held += memory == NULL;
    return __real_realloc(memory, size);
}

void __wrap_free(void *memory)
{
    held -= memory != NULL;
    __real_free(memory);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
    return runs_out(&threads_left) ? EAGAIN : __real_pthread_create(thread, attributes, run, argument);
}

#endif
