/* What a description adds to a likelihood: charts, and outcomes to simulate. Compiled per precision. */
#include "rejfilt/host.h"

#ifdef RF_TARGETS
#include <string.h>

#include "simd/targets.h"
#endif

enum { OWN_BLOCK = 256, KERNEL_BLOCK = 64, FEW = 4 }; /* candidates of a call; fewer than FEW are asked about one by one */

#ifndef RF_LIKELIHOOD_OF /* what is compiled for a GPU knows its model */
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
    RF(described_charts)(description, charts);
    RF(model) model = {.likelihood = instance->likelihood,
                       .bound = instance->bound,
                       .charts = charts,
                       .dim = (uint16_t)description->dim,
                       .settings = (uint16_t)description->settings,
                       .is_log = (uint16_t)description->is_log,
                       .one_thread = instance->one_thread,
                       .kernels = instance->kernels,
                       .block = instance->block,
                       .data = instance->data};
    return model;
}

#ifdef RF_TARGETS
const RF(kernel) *RF(kernel_for)(const RF(kernel) *kernels, const char *target)
{
    for (const RF(kernel) *k = kernels; k && k->target; k++) /* linkers keep one copy of equal strings */
        if (k->target == target)
            return k;
    for (; kernels && kernels->target; kernels++)
        if (strcmp(kernels->target, target) == 0 || strcmp(kernels->target, "native") == 0)
            return kernels;
    return 0;
}
#endif

/* Many likelihoods at once: the model's own function for that, or its kernel for this CPU; or null. */
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

/* Block functions want candidates parameter by parameter. */
static const rf_real *RF(turn)(const rf_real x[], unsigned stride, uint32_t n, unsigned dim, rf_real turned[])
{
    for (uint32_t k = 0; k < n; k++)
        for (unsigned i = 0; i < dim; i++)
            turned[(size_t)i * n + k] = x[(size_t)k * stride + i];
    return turned;
}

/* The next candidates. What is called once for many has much room; a kernel needs little, and one parameter none. */
static RF_APART rf_status RF(ask_own)(const RF(model) *model, const rf_real x[], unsigned stride, uint32_t n,
                                      const rf_real setting[], rf_real outcome, rf_real out[])
{
    rf_real turned[OWN_BLOCK * RF_DESCRIBED_MAX];
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
    const uint32_t most = model->block ? OWN_BLOCK : KERNEL_BLOCK;
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

RF_APART rf_real RF(instance_outcome)(const RF(instance) *instance, const rf_real x[], const rf_real setting[], uint64_t seed,
                             uint32_t index)
{
    rf_words w = rf_draw(seed, index, 0, 0, RF_FOR_OUTCOME);
    if (instance->description->outcomes == 0) {
        rf_real normal, other;
        RF(normal_pair)(w.word[0], w.word[1], &normal, &other);
        return RF_SIMULATE_OF(instance)(x, setting, normal);
    }
    const RF(model) model = {.likelihood = instance->likelihood, .dim = (uint16_t)instance->description->dim, .block = instance->block, .data = instance->data};
    rf_real left = RF(uniform)(w.word[0]);
    unsigned last = instance->description->outcomes - 1, outcome = 0;
    for (; outcome < last; outcome++) {
        rf_real p;
        if (RF(model_likelihoods)(&model, x, 0, 1, setting, (rf_real)outcome, &p) < 0)
            return RF(nan)();
        left -= instance->description->is_log ? RF(exp)(p) : p;
        if (left <= 0)
            break;
    }
    return (rf_real)outcome;
}
