/* Shared by the parts of the benchmark. */
#ifndef REJFILT_BENCH_H
#define REJFILT_BENCH_H

#include "rejfilt/host.h"

typedef uint32_t floor_words(uint32_t attempts);
typedef float floor_normals(uint32_t attempts);

/* One thing to measure: `run(context, amount)` does `amount` of work. */
typedef void work(void *context, uint32_t amount);

/* Seconds per unit of work: the best of several repeats over at least 0.5 s, because noise only adds time. */
double best(work *run, void *context, uint32_t amount);

/* A filter of one model with one engine, in float or double. Every update starts from the same prior. */
typedef struct subject {
    int bits;
    const rf_model *model;
    const rf_engine *engine;
    rf_sampler sampler;
    rf32_model m32;
    rf64_model m64;
    rf32_filter *f32;
    rf64_filter *f64;
    void *memory;
    float record32[RF_DIM_MAX + 2];
    double record64[RF_DIM_MAX + 2];
} subject;

int subject_open(subject *s, int bits, const rf_model *model, const rf_engine *engine, rf_sampler sampler);
void subject_close(subject *s);
/* One update of `amount` attempts from the prior. */
void subject_update(void *s, uint32_t amount);
/* Runs the attempts without the rest of the update. */
void subject_attempts(void *s, uint32_t amount);
/* Fraction of the last update's attempts that were accepted. */
double subject_acceptance(const subject *s, uint32_t amount);

#endif
