/* Simulated trials as a GPU runs them, included after a model's source: the session, its world and what is collected of
   them, one thread for each trial. NVRTC compiles it; tests/test_device.c compiles it as host code.

   Set before the model: RF_PRECISION, 64; RF_DEVICE_DIM parameters; RF_ROOM, the larger of parameters and settings;
   RF_DEVICE_MAX Gaussians that a belief can be; RF_MODEL_NAME; of one parameter RF_DIM(dim), 1; RF_DEVICE_DESIGN, the
   designer's function, or nothing for any of them. What no trial here can need is left out, since it would have to be
   compiled: other motions than walks, attempts, block functions, other designers. */
#if defined(__CUDACC__) /* the model has a namespace of its own: its other names may be ours, too */
using rf_own::description;
#ifdef RF_HAS_EXPECTED
using rf_own::expected;
#else
using rf_own::likelihood;
#endif
#ifdef RF_HAS_BOUND
using rf_own::bound;
#endif
#ifdef RF_HAS_SIMULATE
using rf_own::simulate;
#endif
#ifdef RF_HAS_DYNAMICS
using rf_own::dynamics;
#endif
#ifdef RF_HAS_DESIGN
using rf_own::design;
#endif
#endif

#include "rejfilt/detail/instantiate_expected.h" /* which may have outcomes to simulate */

/* No call is by a pointer: so the compiler knows how much memory a thread needs. */
#ifdef RF_HAS_SIMULATE
#define RF_SIMULATE_OF(instance) call_simulate
#else
#define RF_SIMULATE_OF(instance) rf_device_nothing
#endif
#define RF_GIVEN(by, function) function##_it
#define RF_NO_KERNELS
#include "rejfilt/detail/instantiate.h"

#define RF_DEVICE_INSTANCE RF_PASTE(RF_MODEL_NAME, RF_PRECISION)
#define RF_DEVICE_KIND rf_belief_mixture
#define RF_LIKELIHOOD_OF(model) likelihood
#define RF_MOTION_KIND(motion) RF_MOTION_WALK
#define RF_OUTCOMES(description) rf_device_outcomes()
#define RF_MODEL_IS_LOG(model) rf_device_is_log()
RF_FN unsigned rf_device_outcomes(void) { return description.outcomes; }
RF_FN int rf_device_is_log(void) { return RF_IS_LOG(description); }
#undef RF_BLOCKS /* block functions */
#define RF_BLOCKS 0
#define RF_NO_ATTEMPTS
#ifdef RF_DEVICE_DESIGN
#define RF_CHOOSES(designer) 0
#endif

#include "device_types.h"
#include "world.h"

extern const rf_belief_kind RF_DEVICE_KIND;

static void draw_it(const void *self, uint32_t index, uint32_t purpose, double x[]);
static void draws_it(const void *self, uint32_t count, uint32_t purpose, double x[]);
static void moments_it(const void *self, double mean[], double sd[]);
static void stretch_it(void *self, const double factor[]);
static void place_it(void *self, const double mean[], const double sd[]);
RF_FN double rf_device_nothing(const double x[], const double setting[], double normal)
{
    (void)x, (void)setting;
    return normal;
}

#include "../core/rejfilt64.c"
#include "../models/described.c"
#include "../beliefs/common.c"
#include "../beliefs/natural.c"
#include "../beliefs/mixture/component.c"
#include "../beliefs/mixture/evaluate.c"
#include "../beliefs/mixture/mixture.c"
#include "../design/design.c"
#include "designers.h" /* written by the build: those of list.def */
#include "../design/health.c"

static void rf_choose(const rf64_design *by, const rf64_design_input *in, double setting[])
{
#ifdef RF_DEVICE_DESIGN
    (void)by;
    RF_DEVICE_DESIGN(in, setting);
#else
#define RF_DESIGN(identifier, name, anchors, blind, fringe)                                                            \
    if (by->choose == rf64_design_##identifier)                                                                        \
        rf64_design_##identifier(in, setting);
#include "../design/list.def"
#undef RF_DESIGN
#endif
}

#include "motion.c"
#include "learning.c"
#include "talk.c"
#include "world.c"
#include "trials.c"

/* Bytes of a mixture, rounded up. */
enum {
    RF_DEVICE_GAUSSIANS = RF_DEVICE_MAX < 2                    ? 1
                          : 4 * RF_DEVICE_MAX < RF_MIXTURE_MAX ? 4 * RF_DEVICE_MAX
                                                               : RF_MIXTURE_MAX,
    RF_DEVICE_BYTES =
        sizeof(mixture) + 8 * (RF_DEVICE_GAUSSIANS * (2 * (1 + RF_DEVICE_DIM) + 3 * RF_TRIANGLE(RF_DEVICE_DIM)) +
                               RF_POINTS_SIZE(RF_DEVICE_DIM))
};

/* One trial: number `index` of a launch. Returns a status. */
static rf_status rf_device_trial(const rf_device_trials *all, uint32_t index)
{
    const rf_judging *judging = all->judging;
    const uint32_t trial = all->first + index;
    const uint64_t seed = rf_session_seed(all->simulation->config.seed, trial);
    const rf_belief head = {
        &RF_DEVICE_KIND, all->problem, seed, rf_mixture_bytes(RF_DEVICE_DIM, RF_DEVICE_MAX), 0, 0, 0};
    RF_ALIGNED unsigned char memory[4][RF_ROUND8_(RF_DEVICE_BYTES)];
    double questions[RF_DEVICE_BATCH * (RF_ROOM + 1)];
    rf_record records[RF_DEVICE_BATCH];
    rf_session session;
    rf_worldly world;
    rf_trial seen;
    rf_step step;
    memset(&session, 0, sizeof session);
    memset(memory[0], 0, sizeof(mixture));
    session.config = (rf_config *)(uintptr_t)&all->simulation->config;
    session.problem = (rf_problem *)(uintptr_t)all->problem;
    session.model = rf64_problem_model(all->problem);
    session.model.charts = NULL;
    session.design = rf64_design_find(all->design, &all->problem->description, RF_DEVICE_INSTANCE.design);
    session.anchor_every = all->anchor_every;
    session.options = all->options;
    session.now.kappa = all->kappa;
    session.question = questions;
    session.room = RF_DEVICE_BATCH;
    session.belief = (rf_belief *)(void *)memory[0];
    session.ahead = (rf_belief *)(void *)memory[1];
    session.held = (rf_belief *)(void *)memory[2];
    session.unshaken = (rf_belief *)(void *)memory[3];
    *session.belief = head;
    rf_mixture_lay(session.belief, RF_DEVICE_MAX);
    rf_status status = RF_DEVICE_KIND.restart(session.belief);
    if (status >= 0)
        status = rf_session_start(&session);
    rf_world_begin(&world, all->simulation, &session, seed);
    rf_trial_begin(&seen);
    for (long k = 0; k < judging->steps && status >= 0;) {
        const rf_status count = rf_world_ask(&world, &session, k, records);
        status = count < 0 ? count : rf_session_tell(&session, records, (uint32_t)count, &step);
        if (status < 0)
            break;
        rf_world_show(&world, &step);
        float errors[1 + RF_ROOM];
        rf_trial_see(&seen, judging, &step, all->totals, errors);
        for (; count > 0 && k <= step.step; k++) /* an error for the last of them, if it counts */
            for (unsigned kind = 0; kind <= RF_DEVICE_DIM; kind++) {
                const long row = k - (judging->steps - rf_judging_rows(judging, kind));
                if (row >= 0)
                    all->errors[(uint64_t)(judging->row[kind] + row) * all->trials + trial] =
                        k == step.step ? errors[kind] : rf32_nan();
            }
    }
    rf_trial_end(&seen, judging, all->totals);
    for (unsigned kind = 0; kind <= RF_DEVICE_DIM; kind++)
        all->sums[index * (1 + RF_DEVICE_DIM) + kind] = seen.sum[kind];
    return status < 0 ? status : RF_OK;
}

#if defined(__CUDACC__)
#ifndef RF_DEVICE_TRIAL_BLOCKS
#define RF_DEVICE_TRIAL_BLOCKS 8 /* at once on a multiprocessor */
#endif

extern "C" __global__ void __launch_bounds__(RF_DEVICE_TRIAL_THREADS, RF_DEVICE_TRIAL_BLOCKS)
    rejfilt_trials(const __grid_constant__ rf_device_trials all)
{
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < all.count; i += gridDim.x * blockDim.x) {
        const rf_status status = rf_device_trial(&all, i);
        if (status < 0)
            atomicMin(all.status, status);
    }
}

extern "C" __global__ void rejfilt_digits(const __grid_constant__ rf_device_digits all)
{
    __shared__ unsigned counts[RF_DIGITS];
    for (unsigned d = threadIdx.x; d < RF_DIGITS; d += blockDim.x)
        counts[d] = 0;
    __syncthreads();
    for (uint64_t row = blockIdx.x; row < all.rows; row += gridDim.x)
        for (uint64_t i = threadIdx.x; i < all.count; i += blockDim.x) {
            const int32_t digit = rf_digit_of(all.which, all.errors[row * all.trials + i]);
            if (digit >= 0)
                atomicAdd(&counts[digit], 1u);
        }
    __syncthreads();
    for (unsigned d = threadIdx.x; d < RF_DIGITS; d += blockDim.x)
        if (counts[d] > 0)
            atomicAdd((unsigned long long *)&all.counts[d], (unsigned long long)counts[d]);
}
#endif
