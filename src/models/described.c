/* Derived from a model's description: charts, block likelihoods, simulated outcomes. Compiled per precision. */
#include "rejfilt/host.h"

#include "known.h"

#ifdef RF_TARGETS
#include <string.h>

#include "simd/targets.h"
#endif

enum { OWN_NUMBERS = 2048, KERNEL_BLOCK = 64, FEW = 4 }; /* per call: numbers, candidates; below FEW one by one */

#ifndef RF_LIKELIHOOD_OF /* on a GPU the model is known at compile time */
#define RF_LIKELIHOOD_OF(model) (model)->likelihood
#define RF_SIMULATE_OF(instance) (instance)->simulate
#endif

void RF(described_charts)(const rf_description *description, RF(chart) charts[])
{
    for (unsigned i = 0; i < description->dim && i < RF_DESCRIBED_MAX; i++) {
        const rf_parameter *p = &description->parameter[i];
        RF(chart) chart = {p->chart, (rf_real)p->low, (rf_real)p->high};
        charts[i] = chart;
    }
}

RF(model) RF(instance_model)(const RF(instance) *instance, RF(chart) charts[])
{
    const rf_description *description = instance->description;
    if (charts)
        RF(described_charts)(description, charts);
    RF(model) model = {.likelihood = instance->likelihood,
                       .bound = instance->bound,
                       .charts = charts,
                       .dim = (uint16_t)description->dim,
                       .settings = (uint16_t)description->settings,
                       .is_log = (uint16_t)RF_IS_LOG(*description),
                       .one_thread = instance->one_thread,
                       .kernels = instance->kernels,
                       .block = instance->block,
                       .data = instance->data};
    return model;
}

#ifdef RF_TARGETS
const RF(kernel) *RF(kernel_for)(const RF(kernel) *kernels, const char *target)
{
    for (const RF(kernel) *k = kernels; k && k->target; k++) /* fast path: linkers merge equal strings */
        if (k->target == target)
            return k;
    for (; kernels && kernels->target; kernels++)
        if (strcmp(kernels->target, target) == 0 || strcmp(kernels->target, "native") == 0)
            return kernels;
    return 0;
}
#endif

/* A function that evaluates many likelihoods at once: the model's block function, or its kernel for this CPU; or
   null. */
static RF(block) *RF(block_of)(const RF(model) *model, uint32_t n)
{
    if (!RF_BLOCKS || model->block)
        return model->block;
#ifdef RF_TARGETS
    const RF(kernel) *kernel = n < FEW ? 0 : RF(kernel_for)(model->kernels, rf_target_names[rf_target_best()]);
    return kernel ? kernel->block : 0;
#else
    (void)n;
    return 0;
#endif
}

/* Transposes candidates: block functions take them parameter by parameter. */
static const rf_real *RF(turn)(const rf_real x[], unsigned stride, uint32_t n, unsigned dim, rf_real turned[])
{
    for (uint32_t k = 0; k < n; k++)
        for (unsigned i = 0; i < dim; i++)
            turned[(size_t)i * n + k] = x[(size_t)k * stride + i];
    return turned;
}

/* Evaluates the next candidates. A block function gets a large buffer, a kernel a small one; one parameter needs
   none. */
static RF_APART rf_status RF(ask_own)(const RF(model) *model, const rf_real x[], unsigned stride, uint32_t n,
                                      const rf_real setting[], rf_real outcome, rf_real out[])
{
    rf_real turned[OWN_NUMBERS];
    return model->block(RF(turn)(x, stride, n, model->dim, turned), n, setting, outcome, out, model->data);
}

static RF_APART rf_status RF(ask_kernel)(RF(block) *block, const rf_real x[], unsigned stride, uint32_t n, unsigned dim,
                                         const rf_real setting[], rf_real outcome, rf_real out[])
{
    rf_real turned[KERNEL_BLOCK * RF_DESCRIBED_MAX];
    return block(RF(turn)(x, stride, n, dim, turned), n, setting, outcome, out, 0);
}

static rf_status RF(ask_block)(const RF(model) *model, RF(block) *block, const rf_real x[], unsigned stride, uint32_t n,
                               const rf_real setting[], rf_real outcome, rf_real out[])
{
    const rf_status status = model->dim == 1 && stride == 1 ? block(x, n, setting, outcome, out, model->data)
                             : model->block                 ? RF(ask_own)(model, x, stride, n, setting, outcome, out)
                                            : RF(ask_kernel)(block, x, stride, n, model->dim, setting, outcome, out);
    return status < 0 ? RF_REFUSED_MODEL : RF_OK;
}

RF_APART rf_status RF(model_likelihoods)(const RF(model) *model, const rf_real x[], unsigned stride, uint32_t n, const rf_real setting[],
                                rf_real outcome, rf_real out[])
{
    RF(block) *const block = RF(block_of)(model, n);
    rf_status status = block || model->likelihood ? RF_OK : RF_REFUSED_NULL;
    const uint32_t most = model->block ? OWN_NUMBERS / RF_DIM(model->dim) : KERNEL_BLOCK;
    uint32_t k = 0, more;
    for (; RF_BLOCKS && block && status == RF_OK && k < n; k += more) {
        more = n - k < most ? n - k : most;
        status = RF(ask_block)(model, block, x + (size_t)k * stride, stride, more, setting, outcome, out + k);
    }
    for (; status == RF_OK && k < n; k++)
        out[k] = RF_LIKELIHOOD_OF(model)(x + (size_t)k * stride, setting, outcome);
    for (k = 0; status != RF_OK && k < n; k++)
        out[k] = RF(nan)();
    return status;
}

rf_real RF(outcomes_of)(const rf_description *description, const rf_real setting[])
{
    const unsigned outcomes = RF_OUTCOMES(description);
    if (rf_outcomes_are_counts(outcomes) && rf_outcomes_has_setting(outcomes))
        return RF(floor)(RF(max)(setting[rf_outcomes_setting(outcomes)], 0)) + 1;
    return (rf_real)rf_outcomes_fixed(outcomes);
}

int RF(outcome_is_possible)(const rf_description *description, const rf_real setting[], rf_real outcome)
{
    if (!rf_outcomes_are_whole(RF_OUTCOMES(description)))
        return 1;
    const rf_real end = RF(outcomes_of)(description, setting);
    return outcome >= 0 && outcome == RF(floor)(outcome) && (!(end > 0) || outcome < end);
}

/* A distribution of outcomes. */
typedef struct RF(drawn) {
    RF(model) model;
    const rf_real *x, *setting;
    rf_real end; /* outcomes are below this; 0: no limit */
    int is_log;
} RF(drawn);

/* ln of the probability; NaN if the model's function failed. */
static RF_APART rf_real RF(drawn_log)(const RF(drawn) *d, rf_real outcome)
{
    rf_real p = 0;
    if (outcome < 0 || (d->end > 0 && outcome >= d->end))
        return -RF(infinity)();
    if (RF(model_likelihoods)(&d->model, d->x, 0, 1, d->setting, outcome, &p) < 0)
        return RF(nan)();
    return d->is_log ? p : RF(log)(RF(max)(p, 0));
}

/* Inverts the cumulative distribution, from 0 up. */
static RF_APART rf_real RF(draw_upwards)(const RF(drawn) *d, rf_real left, rf_real last)
{
    rf_real outcome = 0;
    for (; outcome < last; outcome++) {
        rf_real p;
        if (RF(model_likelihoods)(&d->model, d->x, 0, 1, d->setting, outcome, &p) < 0)
            return RF(nan)();
        left -= d->is_log ? RF(exp)(p) : p;
        if (left <= 0)
            break;
    }
    return outcome;
}

/* Devroye's rejection method for log-concave counts (1987): proposes uniformly near the peak and exponentially in the tails.
   Needs four to five likelihoods on average, however large the counts are. */
static RF_APART rf_real RF(draw_around)(const RF(drawn) *d, rf_real peak, uint64_t seed, uint32_t index)
{
    enum { CLIMB = 64, ROUNDS = 1000 };
    peak = RF(floor)(RF(max)(d->end > 0 ? RF(min)(peak, d->end - 1) : peak, 0));
    rf_real at = RF(drawn_log)(d, peak);
    for (int step = 0; step < CLIMB; step++) {
        const rf_real up = RF(drawn_log)(d, peak + 1), down = RF(drawn_log)(d, peak - 1);
        if (!(up > at || down > at))
            break;
        peak += up > at ? 1 : -1;
        at = up > at ? up : down;
    }
    const rf_real p = RF(exp)(at), w = 1 + RF_C(0.5) * p;
    if (!(p > 0))
        return RF(nan)();
    for (uint32_t round = 0; round < ROUNDS; round++) {
        const rf_words words = rf_draw(seed, index, round, 0, RF_FOR_OUTCOME);
        const int is_middle = RF(uniform)(words.word[0]) * (1 + w) <= w;
        const rf_real v = RF(uniform)(words.word[1]);
        const rf_real y = (is_middle ? v * w : w - RF(log)(v)) / p, far = RF(floor)(y + RF_C(0.5));
        const rf_real outcome = words.word[2] & 1 ? peak + far : peak - far;
        if (RF(log)(RF(uniform)(words.word[3])) + RF(min)(0, w - p * y) <= RF(drawn_log)(d, outcome) - at)
            return outcome;
    }
    return peak;
}

RF_APART rf_real RF(instance_outcome)(const RF(instance) *instance, const rf_real x[], const rf_real setting[], uint64_t seed,
                             uint32_t index)
{
    const rf_description *description = instance->description;
    const rf_words w = rf_draw(seed, index, 0, 0, RF_FOR_OUTCOME);
    if (!rf_outcomes_are_whole(RF_OUTCOMES(description))) {
        rf_real normal, other;
        RF(normal_pair)(w.word[0], w.word[1], &normal, &other);
        return RF_SIMULATE_OF(instance)(x, setting, normal);
    }
    const RF(drawn) drawn = {.model = {.likelihood = instance->likelihood, .dim = (uint16_t)description->dim, .block = instance->block, .data = instance->data},
                             .x = x,
                             .setting = setting,
                             .end = RF(outcomes_of)(description, setting),
                             .is_log = RF_MODEL_IS_LOG(description) || rf_outcomes_are_expected(RF_OUTCOMES(description))};
    if (rf_outcomes_are_counts(RF_OUTCOMES(description)) && instance->simulate) {
        const rf_real peak = RF_SIMULATE_OF(instance)(x, setting, 0);
        if (peak != -RF(infinity)()) /* else outliers: not log-concave */
            return RF(draw_around)(&drawn, peak, seed, index);
    }
    return RF(draw_upwards)(&drawn, RF(uniform)(w.word[0]), drawn.end > 0 ? drawn.end - 1 : RF_C(1048576.0));
}
