/* For programs on a full computer: the built-in models by name, and designers. */
#ifndef REJFILT_HOST_H
#define REJFILT_HOST_H

#include "description.h"
#include "rejfilt.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RF_BITS 32
#include "instance.h"
#undef RF_BITS
#define RF_BITS 64
#include "instance.h"
#undef RF_BITS

/* A described model in both precisions. */
typedef struct rf_model {
    const rf32_instance *f32; /* for float filters */
    const rf64_instance *f64; /* for double filters */
} rf_model;

/* ---- Engines by name ----
   serial         one attempt after the other
   simd[:TARGET]  vector lanes; TARGET is baseline, avx2 or avx512, by default the best this CPU has
   threads[:N]    simd on N threads, by default one per CPU
   mpi[:E]        engine E (threads by default) on every rank of an MPI job
   cuda[:DEVICE]  an NVIDIA GPU; models without a source run on threads
   paranoid[:E]   engine E (serial by default), checking everything it is given and gives
   With the same seed all engines give the same bits. Threads may share an engine: while one has its workers or its GPU, another
   computes on its own thread. paranoid, mpi and fleets in a GPU's memory refuse the second with RF_REFUSED_BUSY. */

/* An engine opened by name, for both precisions. */
typedef struct rf_engine rf_engine;

/* Opens the named engine. Returns NULL and fills `error` (`size` bytes) with one line if it is not available. */
RF_API rf_engine *rf_engine_open(const char *name, char *error, size_t size);
/* Ends its threads and frees it; NULL is allowed. No update may be running. */
RF_API void rf_engine_close(rf_engine *engine);

/* Reserves memory for filters of up to `dim` parameters, so that updates do not allocate. The default is 16. Returns 0, or
   -1 if memory is short or the engine is busy. */
RF_API int rf_engine_reserve(rf_engine *engine, unsigned dim);

/* The engine as rf32_update and rf64_update take it; valid as long as the engine is open. */
RF_API const rf32_engine *rf_engine_f32(const rf_engine *engine);
RF_API const rf64_engine *rf_engine_f64(const rf_engine *engine);

/* The name with defaults filled in, e.g. "threads:2". */
RF_API const char *rf_engine_name(const rf_engine *engine);

/* The last error of this engine or one inside it; "" if there was none. */
RF_API const char *rf_engine_complaint(const rf_engine *engine);

/* Rank of this process, 0 without MPI. Only rank 0 should print. */
RF_API unsigned rf_engine_rank(const rf_engine *engine);

/* Broadcasts rank 0's bytes to all ranks; every rank must call it. Returns 0, or -1 if MPI fails. */
RF_API int rf_engine_share(const rf_engine *engine, void *bytes, size_t count);

/* ---- Models ---- */

/* The built-in model of that name, or null. */
RF_API const rf_model *rf_model_find(const char *name);
/* Built-in model number `index`, or null past the last. */
RF_API const rf_model *rf_model_at(unsigned index);

/* Checks a description. `can_simulate`: the model has a function that simulates real-valued outcomes. Returns 0, or -1 with one
   line in `error` that begins with `name`. */
RF_API int rf_description_check(const rf_description *description, int can_simulate, const char *name, char *error, size_t size);

/* Loads a model from a C source file (see model.h). The system's compiler compiles it; a cache keeps the result. The model
   stays loaded. Returns NULL and fills `error`, with the compiler's messages if it failed. */
RF_API const rf_model *rf_model_load(const char *path, char *error, size_t size);

/* The hash of a loaded model's source and of the headers that it includes, without those of rejfilt and the system; 0 for other models. */
RF_API uint64_t rf_model_source(const rf_model *model);
/* File number `index` of these, or null past the last. */
RF_API const char *rf_model_file(const rf_model *model, unsigned index);

#ifdef __cplusplus
}
#endif

#if defined(RF_PRECISION)
#define RF_BITS RF_PRECISION
#else
#define RF_BITS 0
#endif
#include "detail/precision.h"
#undef RF_BITS

#endif
