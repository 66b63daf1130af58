/* The cuda engine's state and operations; self is its rf_engine. */
#ifndef REJFILT_GPU_H
#define REJFILT_GPU_H

#include "cuda_module.h"
#include "engine.h"

/* Compile-time properties of a program. */
typedef struct rf_gpu_wanted {
    const rf_source *source;
    unsigned bits, dim;
    char kinds[2 * 16 + 1]; /* of charts: "0,3" */
    rf_sampler sampler;
    unsigned pairs;   /* pairs of attempts that a thread interleaves */
    unsigned group;   /* threads per filter of a fleet; 0: attempts of one task */
    unsigned entropy; /* the loss is measured */
    unsigned plain;   /* one real parameter and one record, without logarithms */
    unsigned trials; /* simulated trials, with this many Gaussians at most; of the above only dim counts. 0: none */
    unsigned room;   /* for trials, the larger of parameters and settings */
    char design[20]; /* for trials, the designer's identifier */
} rf_gpu_wanted;

/* A program on the device. */
typedef struct rf_gpu_program {
    rf_gpu_wanted wanted;
    rf_cuda_image *image;
    rf_cuda_function *run, *fleet, *check, *fill, *pass, *read, *trials, *digits;
    unsigned run_blocks, fleet_blocks; /* resident at once */
    unsigned run_threads, run_shared;  /* per block: more than RF_DEVICE_OWN parameters need shared memory */
    struct rf_gpu_program *next;
} rf_gpu_program;

/* A growing buffer. */
typedef struct rf_gpu_memory {
    void *memory;
    size_t bytes;
} rf_gpu_memory;

typedef struct rf_gpu {
    const rf_cuda_module *cuda;
    rf_cuda_device *device;
    rf_gpu_program *programs;
    rf_tallies tallies;                             /* one tally */
    volatile uint64_t *answer;                      /* host memory that the device writes to, sized for tallies.dim */
    void *sums;                                     /* device memory, sized likewise */
    rf_gpu_memory more;                             /* numbers of a task that are too many for its launch */
    rf_gpu_memory filters, records, reports, flags; /* of a fleet, on the device */
    rf_gpu_memory staged;                           /* host buffer for copies */
    uint64_t number;                                /* of the last run */
    double patience;                                /* seconds allowed for a launch */
} rf_gpu;

enum {
    RF_GPU_THREADS = 256,
    RF_GPU_FLEET_THREADS = 256,
    RF_GPU_DIM = 192,
    RF_GPU_FLEET_DIM = 6,
    RF_GPU_TRIALS_DIM = 3, /* most parameters in simulated trials */
    RF_GPU_FLEET_LARGE = 50000,
    RF_GPU_PAIRS = 4,
    RF_GPU_SHARED = 100 << 10 /* lets two blocks share a multiprocessor */
};

/* The model's source, or null if the device cannot run the model. */
const rf_source *rf32_gpu_source(const rf32_model *model);
const rf_source *rf64_gpu_source(const rf64_model *model);

const rf32_residents_kind *rf32_gpu_residents(rf_engine *engine, const rf32_model *model);
const rf64_residents_kind *rf64_gpu_residents(rf_engine *engine, const rf64_model *model);

rf32_run rf32_gpu_run;
rf64_run rf64_gpu_run;
rf32_run_fleet rf32_gpu_fleet;
rf64_run_fleet rf64_gpu_fleet;

/* Returns the program: already loaded, from the cache, or compiled now. Null with a complaint. */
rf_gpu_program *rf_gpu_find(rf_engine *engine, const rf_gpu_wanted *wanted);
void rf_gpu_forget(rf_gpu *gpu); /* unloads all programs */

/* Compiles a program, or reads it from the cache; free it by the module's `release`. Null with a message. */
unsigned char *rf_gpu_compile(const rf_cuda_module *cuda, unsigned target, const rf_gpu_wanted *wanted, size_t *bytes,
                              char *error, size_t size);

/* Grows a buffer on the device or the host to at least this size. Returns 0, or -1 with a complaint. */
int rf_gpu_room(rf_engine *engine, rf_gpu_memory *memory, size_t bytes, int is_host);

/* Waits until all work is done, or until *answer is `number`. Returns 0, or -1 with a complaint if the device failed or
   does not respond. */
int rf_gpu_wait(rf_engine *engine, const volatile uint64_t *answer, uint64_t number);

#endif
