/* The cuda engine by name: loads the module, opens a device, allocates memory, waits for the device. */
#define _POSIX_C_SOURCE 200809L
#include "gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "device_types.h"
#include "module.h"

#define PATIENCE 30.0 /* seconds allowed for the longest launch, of some 10¹⁰ operations */

/* ---- Memory ---- */

static int gpu_reserve(rf_engine *engine, unsigned dim)
{
    rf_gpu *gpu = engine->state;
    if (gpu->answer && dim <= gpu->tallies.dim)
        return 0;
    const size_t bytes = 8 * (RF_DEVICE_NUMBERS(dim) + 1);
    volatile uint64_t *answer = gpu->cuda->take_host(gpu->device, bytes, engine->complaint, sizeof engine->complaint);
    void *sums = answer ? gpu->cuda->take(gpu->device, bytes, engine->complaint, sizeof engine->complaint) : NULL;
    if (!sums || rf_tallies_make(&gpu->tallies, 1, dim) < 0) {
        gpu->cuda->give(gpu->device, sums);
        gpu->cuda->give_host(gpu->device, (void *)(uintptr_t)answer);
        return -1;
    }
    gpu->cuda->give(gpu->device, gpu->sums);
    gpu->cuda->give_host(gpu->device, (void *)(uintptr_t)gpu->answer);
    gpu->answer = answer;
    gpu->sums = sums;
    memset((void *)(uintptr_t)answer, 0, bytes);
    return 0;
}

int rf_gpu_room(rf_engine *engine, rf_gpu_memory *memory, size_t bytes, int is_host)
{
    rf_gpu *gpu = engine->state;
    if (bytes <= memory->bytes)
        return 0;
    (is_host ? gpu->cuda->give_host : gpu->cuda->give)(gpu->device, memory->memory);
    memory->bytes = 0;
    memory->memory = (is_host ? gpu->cuda->take_host : gpu->cuda->take)(gpu->device, bytes, engine->complaint,
                                                                        sizeof engine->complaint);
    memory->bytes = memory->memory ? bytes : 0;
    return memory->memory ? 0 : -1;
}

/* ---- Waiting ---- */

int rf_gpu_wait(rf_engine *engine, const volatile uint64_t *answer, uint64_t number)
{
    rf_gpu *gpu = engine->state;
    const double start = rf_clock_seconds();
    const struct timespec nap = {0, 50000};
    for (unsigned spins = 1;; spins++) {
        if (answer && *answer == number) {
            __atomic_thread_fence(__ATOMIC_ACQUIRE);
            return 0;
        }
        RF_PAUSE();
        if (answer && spins % 256 != 0)
            continue;
        const double spent = rf_clock_seconds() - start;
        if (!answer || spent > 1e-3) {
            const int state = gpu->cuda->state(gpu->device, engine->complaint, sizeof engine->complaint);
            if (state < 0)
                return -1;
            if (state > 0 && (!answer || *answer == number))
                return 0;
        }
        if (spent > gpu->patience) {
            rf_fail(
                engine->complaint, sizeof engine->complaint,
                "%s has not answered for %g s; has the model an endless loop? (REJFILT_CUDA_SECONDS is the patience)",
                gpu->cuda->name(gpu->device), gpu->patience);
            gpu->cuda->abandon(gpu->device);
            gpu->cuda = NULL;
            return -1;
        }
        if (spent > 2e-3)
            nanosleep(&nap, NULL);
    }
}

/* ---- Opening ---- */

/* The rank of this process among those on this machine, from the variables of job launchers; else 0. */
static unsigned local_rank(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]))
            return (unsigned)strtoul(getenv(names[i]), NULL, 10);
    return 0;
}

static int gpu_open(rf_engine *engine, const char *argument, char *error, size_t size)
{
    char reason[512], *end = NULL;
    const size_t digits = argument ? strspn(argument, "0123456789") : 0;
    if (argument && (digits == 0 || digits > 4 || argument[digits]))
        return rf_fail(error, size, "engine 'cuda:%.40s': a device is a number, from 0", argument);
    const rf_cuda_module *cuda = rf_module_load(
        "cuda", RF_CUDA_ABI, "its module, rejfilt_cuda.so, is not found; REJFILT_MODULES may name its directory", error,
        size);
    if (!cuda)
        return -1;
    const unsigned devices = cuda->count(reason, sizeof reason);
    if (devices == 0)
        return rf_fail(error, size, "engine 'cuda': %s", reason);
    rf_gpu *gpu = engine->state = calloc(1, sizeof *gpu);
    if (!gpu || rf_engine_inner(engine, "threads", error, size) < 0)
        return rf_fail(error, size, "engine 'cuda': out of memory");
    const unsigned index = argument ? (unsigned)strtoul(argument, NULL, 10) : local_rank() % devices;
    const char *patience = getenv("REJFILT_CUDA_SECONDS");
    gpu->patience = patience && *patience ? strtod(patience, &end) : PATIENCE;
    if (end && (*end || !(gpu->patience > 0)))
        return rf_fail(error, size, "engine 'cuda': REJFILT_CUDA_SECONDS is '%.40s', not a number of seconds",
                       patience);
    gpu->device = cuda->open(index, reason, sizeof reason);
    if (!gpu->device)
        return rf_fail(error, size, "engine 'cuda:%u': %s", index, reason);
    gpu->cuda = cuda;
    if (gpu_reserve(engine, RF_RESERVED_DIM) < 0)
        return rf_fail(error, size, "engine 'cuda:%u': %s", index, engine->complaint);
    engine->f32.run = rf32_gpu_run;
    engine->f64.run = rf64_gpu_run;
    engine->f32.fleet = rf32_gpu_fleet;
    engine->f64.fleet = rf64_gpu_fleet;
    engine->f32.self = engine->f64.self = engine;
    snprintf(engine->name, sizeof engine->name, "cuda:%u", index);
    return 0;
}

static void gpu_close(rf_engine *engine)
{
    rf_gpu *gpu = engine->state;
    if (!gpu)
        return;
    if (gpu->cuda) { /* a device that does not respond is abandoned */
        rf_gpu_memory *const memories[] = {&gpu->more, &gpu->filters, &gpu->records, &gpu->reports, &gpu->flags};
        rf_gpu_forget(gpu);
        for (unsigned i = 0; i < sizeof memories / sizeof *memories; i++)
            gpu->cuda->give(gpu->device, memories[i]->memory);
        gpu->cuda->give_host(gpu->device, gpu->staged.memory);
        gpu->cuda->give(gpu->device, gpu->sums);
        gpu->cuda->give_host(gpu->device, (void *)(uintptr_t)gpu->answer);
        gpu->cuda->close(gpu->device);
    }
    rf_tallies_free(&gpu->tallies);
    free(gpu);
}

const rf_engine_kind rf_kind_cuda = {.name = "cuda",
                                     .open = gpu_open,
                                     .close = gpu_close,
                                     .reserve = gpu_reserve,
                                     .residents32 = rf32_gpu_residents,
                                     .residents64 = rf64_gpu_residents};
