/* Simulated trials on a GPU: which ones it supports, and how they are launched. */
#include <stdlib.h>
#include <string.h>

#include "beliefs.h"
#include "cuda/gpu.h"
#include "device_types.h"
#include "mixture/mixture_state.h"
#include "session_state.h"

enum {
    LEAST = 1000,             /* fewer trials are not worth it */
    STEPS_MOST = 10000,       /* per trial, to limit the time of a launch */
    STEPS_AT_ONCE = 60000000, /* of all trials of a launch, approximately */
    DIGIT_BLOCKS = 528
};

struct rf_gpu_trials {
    rf_engine *engine;
    const rf_gpu_program *program;
    rf_device_trials all; /* without the range of trials */
    void *memory[6];  /* device: simulation, problem, judging, totals with the status behind them, sums, errors */
    uint64_t *counts; /* of digits, on the device */
    double *sums;     /* on the host */
    uint64_t trials;  /* most trials: sizes the memory */
    uint32_t done, chunk;
    rf_judging judging;
};

static int all_walk(const rf_simulation *simulation)
{
    int others = 0; /* other motions use the system's math functions, which differ from a GPU's in the last bit */
    for (unsigned i = 0; i < simulation->config.description.dim; i++)
        others |=
            simulation->config.motion[i].kind != RF_MOTION_WALK || simulation->world.motion[i].kind != RF_MOTION_WALK;
    return !others;
}

/* Can a GPU run it? Fills `wanted` with what its program must be compiled for. */
static int can(const rf_simulation *simulation, uint64_t trials, const rf_session *session, rf_gpu_wanted *wanted)
{
    const rf_config *config = &simulation->config;
    const unsigned settings = session->model.settings, dim = session->model.dim, room = dim > settings ? dim : settings;
    const rf_gpu_wanted w = {.source = rf64_gpu_source(&session->model),
                             .bits = 64,
                             .dim = dim,
                             .kinds = "0",
                             .trials = ((const mixture *)session->belief)->max,
                             .room = room};
    *wanted = w;
    for (unsigned i = 0; session->design && session->design->name[i] && i + 1 < sizeof wanted->design; i++)
        wanted->design[i] = (char)(session->design->name[i] == '-' ? '_' : session->design->name[i]);
    return w.source && dim <= RF_GPU_TRIALS_DIM && all_walk(simulation) && session->design &&
           session->design != config->model->f64->design && !config->on_health && trials >= LEAST &&
           simulation->steps <= STEPS_MOST && simulation->batch <= RF_DEVICE_BATCH &&
           simulation->batch * (settings + 1) <= (room + 1) * 4;
}

void rf_device_trials_tell(rf_device_trials *trials, const rf_session *session)
{
    trials->options = session->options;
    trials->kappa = session->now.kappa;
    trials->anchor_every = session->anchor_every;
    strncpy(trials->design, session->design->name, sizeof trials->design - 1);
}

/* Allocates device memory and copies to it, unless `from` is null. */
static void *upload(rf_engine *engine, const void *from, size_t bytes)
{
    rf_gpu *gpu = engine->state;
    void *to = gpu->cuda->take(gpu->device, bytes, engine->complaint, sizeof engine->complaint);
    if (to && from &&
        gpu->cuda->to_device(gpu->device, to, from, bytes, engine->complaint, sizeof engine->complaint) < 0) {
        gpu->cuda->give(gpu->device, to);
        to = NULL;
    }
    return to;
}

static int prepare(rf_gpu_trials *t, const rf_simulation *simulation, const rf_session *session)
{
    rf_engine *engine = t->engine;
    rf_gpu *gpu = engine->state;
    const rf_judging *judging = &t->judging;
    const unsigned kinds = simulation->config.description.dim + 1;
    rf_judging_begin(&t->judging, simulation);
    const unsigned whole =
        RF_DEVICE_TRIAL_THREADS * gpu->cuda->fit(gpu->device, t->program->trials, RF_DEVICE_TRIAL_THREADS, 0);
    const uint64_t rounds = (uint64_t)STEPS_AT_ONCE / ((uint64_t)whole * (uint64_t)judging->steps);
    t->chunk = whole * (uint32_t)(rounds > 1 ? rounds : 1);
    const struct {
        const void *from;
        size_t bytes;
    } parts[] = {{simulation, sizeof *simulation},
                 {session->problem, sizeof *session->problem},
                 {judging, sizeof *judging},
                 {NULL, sizeof(rf_totals) + sizeof(int64_t)},
                 {NULL, t->chunk * kinds * sizeof *t->sums},
                 {NULL, t->trials * (size_t)judging->row[kinds] * sizeof(float)}};
    for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!(t->memory[i] = upload(engine, parts[i].from, parts[i].bytes)))
            return -1;
    if (!(t->counts = upload(engine, NULL, RF_DIGITS * sizeof *t->counts)) ||
        !(t->sums = malloc(t->chunk * kinds * sizeof *t->sums)) || rf_gpu_wait(engine, NULL, 0) < 0)
        return -1;
    const rf_device_trials all = {.simulation = t->memory[0],
                                  .problem = t->memory[1],
                                  .judging = t->memory[2],
                                  .totals = t->memory[3],
                                  .sums = t->memory[4],
                                  .errors = t->memory[5],
                                  .trials = t->trials,
                                  .status = (int32_t *)(void *)((rf_totals *)t->memory[3] + 1)};
    t->all = all;
    rf_device_trials_tell(&t->all, session);
    return 0;
}

rf_gpu_trials *rf_gpu_trials_open(const rf_simulation *simulation, uint64_t trials, char *error, size_t size)
{
    rf_engine *engine = (rf_engine *)(uintptr_t)simulation->config.engine;
    rf_gpu_wanted wanted;
    rf_gpu_trials *t = NULL;
    if (size > 0)
        error[0] = '\0';
    rf_session *session =
        engine && engine->kind == &rf_kind_cuda ? rf_session_open(&simulation->config, error, size) : NULL;
    if (!session)
        return NULL;
    rf_gpu *gpu = engine->state;
    if (gpu->cuda && session->belief->kind == &rf_belief_mixture && can(simulation, trials, session, &wanted) && rf_engine_take(engine)) {
        int is_ready = 0;
        engine->complaint[0] = '\0';
        t = calloc(1, sizeof *t);
        if (t) {
            t->engine = engine;
            t->trials = trials;
            t->program = rf_gpu_find(engine, &wanted);
            is_ready = t->program && prepare(t, simulation, session) == 0;
        }
        if (!is_ready) {
            rf_fail(error, size, "%s", engine->complaint[0] ? engine->complaint : "out of memory");
            rf_gpu_trials_close(t);
            t = NULL;
        }
        rf_engine_give(engine);
    }
    rf_session_close(session);
    return t;
}

void rf_gpu_trials_close(rf_gpu_trials *t)
{
    if (!t)
        return;
    const rf_gpu *gpu = t->engine->state;
    for (unsigned i = 0; i < sizeof t->memory / sizeof *t->memory && gpu->cuda; i++)
        gpu->cuda->give(gpu->device, t->memory[i]);
    if (gpu->cuda)
        gpu->cuda->give(gpu->device, t->counts);
    free(t->sums);
    free(t);
}

uint32_t rf_gpu_trials_chunk(const rf_gpu_trials *t) { return t->chunk; }

static void add_totals(rf_totals *totals, const rf_totals *more)
{
    uint64_t *to = (uint64_t *)(void *)totals;
    const uint64_t widest = totals->widest, *from = (const uint64_t *)(const void *)more;
    for (unsigned i = 0; i < sizeof *totals / sizeof *to; i++)
        to[i] += from[i];
    totals->widest = widest > more->widest ? widest : more->widest;
}

static rf_status run_there(rf_gpu_trials *t, uint32_t count, rf_totals *totals, double sums[])
{
    rf_engine *engine = t->engine;
    rf_gpu *gpu = engine->state;
    struct {
        rf_totals totals;
        int32_t status[2];
    } answer;
    const unsigned kinds = t->judging.dim + 1;
    if (!gpu->cuda || count > t->chunk || count > t->trials - t->done)
        return RF_REFUSED_ENGINE;
    const unsigned blocks = (count + RF_DEVICE_TRIAL_THREADS - 1) / RF_DEVICE_TRIAL_THREADS;
    char *const words = engine->complaint;
    const size_t size = sizeof engine->complaint;
    memset(&answer, 0, sizeof answer);
    t->all.first = t->done;
    t->all.count = count;
    if (gpu->cuda->to_device(gpu->device, t->memory[3], &answer, sizeof answer, words, size) < 0 ||
        gpu->cuda->launch(gpu->device, t->program->trials, blocks, RF_DEVICE_TRIAL_THREADS, 0, &t->all, words, size) <
            0 ||
        rf_gpu_wait(engine, NULL, 0) < 0 || /* before copies: they would wait for ever */
        gpu->cuda->to_host(gpu->device, &answer, t->memory[3], sizeof answer, words, size) < 0 ||
        gpu->cuda->to_host(gpu->device, t->sums, t->memory[4], count * kinds * sizeof *t->sums, words, size) < 0 ||
        rf_gpu_wait(engine, NULL, 0) < 0)
        return RF_REFUSED_ENGINE;
    t->done += count;
    add_totals(totals, &answer.totals);
    for (size_t i = 0; i < (size_t)count * kinds; i++)
        sums[i % kinds] += t->sums[i];
    return answer.status[0];
}

rf_status rf_gpu_trials_run(rf_gpu_trials *t, uint32_t count, rf_totals *totals, double sums[])
{
    if (!rf_engine_take(t->engine))
        return RF_REFUSED_BUSY;
    const rf_status status = run_there(t, count, totals, sums);
    rf_engine_give(t->engine);
    return status;
}

static int count_there(rf_gpu_trials *t, unsigned kind, rf_digit which, uint64_t counts[RF_DIGITS])
{
    rf_engine *engine = t->engine;
    rf_gpu *gpu = engine->state;
    char *const words = engine->complaint;
    const size_t size = sizeof engine->complaint, bytes = RF_DIGITS * sizeof *counts;
    rf_device_digits all = {which,
                            t->all.errors + (uint64_t)t->judging.row[kind] * t->trials,
                            (uint64_t)rf_judging_rows(&t->judging, kind),
                            t->trials,
                            t->done,
                            t->counts};
    memset(counts, 0, bytes);
    return !gpu->cuda || gpu->cuda->to_device(gpu->device, t->counts, counts, bytes, words, size) < 0 ||
                   gpu->cuda->launch(gpu->device, t->program->digits, DIGIT_BLOCKS, 256, 0, &all, words, size) < 0 ||
                   gpu->cuda->to_host(gpu->device, counts, t->counts, bytes, words, size) < 0 ||
                   rf_gpu_wait(engine, NULL, 0) < 0
               ? -1
               : 0;
}

int rf_gpu_trials_digits(rf_gpu_trials *t, unsigned kind, rf_digit which, uint64_t counts[RF_DIGITS])
{
    if (!rf_engine_take(t->engine))
        return -1;
    const int failed = count_there(t, kind, which, counts);
    rf_engine_give(t->engine);
    return failed;
}
