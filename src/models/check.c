/* Tries a model before it is used: at several settings and many places of its parameters' ranges. Compiled per
 * precision. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "fail.h"
#include "rejfilt/detail/real.h"
#include "rejfilt/host.h"

/* SUMMED: most outcomes whose probabilities are added up; of more, SOME are tried. */
enum { POINTS = 24, SETTINGS = 4, SUMMED = 256, SOME = 64, PLACE_MAX = 1024 };

#define SECONDS 0.03 /* after which no further setting is tried: a function may be slow */
#define OFF (sizeof(rf_real) == 4 ? 2e-3 : 1e-6)

typedef struct trial {
    const RF(instance) * instance;
    const rf_description *d;
    RF(model) model;
    rf_real x[POINTS][RF_DESCRIBED_MAX], setting[RF_DESCRIBED_MAX]; /* NaN beyond those that the model has */
    const char *name;
    char *error;
    size_t size;
} trial;

/* ---- What went wrong ---- */

/* "NAME: WHAT at x = 0.3, t = 2; what to do" */
__attribute__((format(printf, 4, 5))) static int fail(const trial *t, unsigned point, const char *advice,
                                                      const char *format, ...)
{
    char what[256], place[PLACE_MAX] = "";
    size_t used = 0;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    for (unsigned i = 0; i < t->d->dim + t->d->settings && used < sizeof place; i++) {
        const unsigned j = i - t->d->dim;
        const double value = (double)(i < t->d->dim ? t->x[point][i] : t->setting[j]);
        used += (size_t)snprintf(place + used, sizeof place - used, "%s%s = %g", i ? ", " : "",
                                 i < t->d->dim ? t->d->parameter[i].name : t->d->setting[j].name, value);
    }
    return rf_fail(t->error, t->size, "%s: %s at %s%s; %s", t->name, what, place,
                   sizeof(rf_real) == 4 ? " (in float)" : "", advice);
}

static const char *number(rf_real value, char text[32])
{
    snprintf(text, 32, "%g", (double)value);
    return value == value ? text : "NaN";
}

/* ---- Where a model is tried ---- */

/* A number between 0 and 1, 0.5 for the first: `index` of a sequence that is spread evenly in all directions. */
static double spread(unsigned index, unsigned direction)
{
    const double golden = 0.6180339887498949, at = 0.5 + index * (golden + 0.2360679774997897 * direction);
    return 0.02 + 0.96 * (at - rf64_floor(at));
}

static double between(double low, double high, double u) { return low * (1 - u) + high * u; }

/* A setting without a range of use, such as a time up to 1e13, is tried near 1 / the width of its parameter. */
static double choose(const rf_description *d, const rf_setting *s, double u)
{
    const rf_parameter *of = &d->parameter[s->parameter];
    double value = s->low;
    if (s->role == RF_SETTING_RANGE)
        value = between(s->low, s->high, u);
    if (s->role == RF_SETTING_LOGRANGE)
        value = rf64_exp(between(rf64_log(s->low), rf64_log(s->high), u));
    if (s->role == RF_SETTING_TIME)
        value =
            rf64_min(rf64_max(3.4641016151377544 / (of->high - of->low) * rf64_exp(6 * (u - 0.5)), s->low), s->high);
    if (s->role == RF_SETTING_GUESS)
        value = between(of->low, of->high, u);
    return s->is_integer ? rf64_floor(value + 0.5) : value;
}

static void place_points(trial *t)
{
    for (unsigned k = 0; k < POINTS; k++)
        for (unsigned i = 0; i < RF_DESCRIBED_MAX; i++)
            t->x[k][i] = i < t->d->dim ? (rf_real)between(t->d->parameter[i].low, t->d->parameter[i].high, spread(k, i))
                                       : RF(nan)();
}

static void place_setting(trial *t, const double given[], unsigned index)
{
    for (unsigned i = 0; i < RF_DESCRIBED_MAX; i++)
        t->setting[i] = i >= t->d->settings
                            ? RF(nan)()
                            : (rf_real)(given ? given[i] : choose(t->d, &t->d->setting[i], spread(index, i + 7)));
}

/* ---- What is tried ---- */

/* Likelihoods at all points: in one call of a block function; else one by one, so that an index beyond the model's own
 * meets a NaN. */
static rf_status likelihoods(trial *t, rf_real outcome, rf_real out[POINTS])
{
    rf_status status = RF_OK;
    if (t->model.block)
        return RF(model_likelihoods)(&t->model, t->x[0], RF_DESCRIBED_MAX, POINTS, t->setting, outcome, out);
    for (unsigned k = 0; k < POINTS && status >= 0; k++)
        status = RF(model_likelihoods)(&t->model, t->x[k], RF_DESCRIBED_MAX, 1, t->setting, outcome, &out[k]);
    return status;
}

/* The expected values themselves: a block function gives them for the outcome NaN. Returns 1 if they are all right, 0
   if there are none, -1 with a message. */
static int try_expected(trial *t)
{
    const int is_poisson = t->d->outcomes == RF_POISSON,
              is_binomial = rf_outcomes_kind(t->d->outcomes) == RF_BINOMIAL(0);
    rf_real value[POINTS];
    char text[32];
    unsigned known = 0, outside = 0;
    if (t->model.block && likelihoods(t, RF(nan)(), value) < 0)
        return rf_fail(t->error, t->size, "%s: %s", t->name, rf_status_text(RF_REFUSED_MODEL));
    for (unsigned k = 0; k < POINTS; k++) {
        if (!t->model.block)
            value[k] = t->instance->simulate(t->x[k], t->setting, 1) / /* of counts with outliers, 0 gives none */
                       (is_binomial ? t->setting[rf_outcomes_setting(t->d->outcomes)] + 1 : 1);
        known += value[k] == value[k];
    }
    if (t->model.block && !known && !t->instance->is_checked)
        return 0; /* it does not know of that */
    for (unsigned k = 0; k < POINTS; k++) {
        if (!RF(is_finite)(value[k]))
            return fail(t, k, "look at the logarithms, roots and divisions of its function", "expected is %s",
                        number(value[k], text));
        if (is_poisson && (double)value[k] < -OFF)
            return fail(t, k, "the mean of a count is from 0 on", "expected is %s", number(value[k], text));
        outside += is_binomial && !((double)value[k] >= -OFF && (double)value[k] <= 1 + OFF);
        if (outside >
            POINTS /
                2) /* some are right: sums of parameters at the ends of their ranges, which are limited to 0 to 1 */
            return fail(t, k, "the probability of each shot is from 0 to 1", "expected is %s", number(value[k], text));
    }
    return 1;
}

/* Tries one outcome; adds the probabilities to total[]. */
static int try_outcome(trial *t, rf_real outcome, double total[POINTS], rf_real p[POINTS])
{
    const int is_log = RF_IS_LOG(*t->d), is_whole = rf_outcomes_are_whole(t->d->outcomes);
    const rf_real limit = is_log ? RF_C(0.0) : RF_C(1.0),
                  bound = t->model.bound ? t->model.bound(t->setting, outcome) : limit;
    const double room = is_log ? OFF : (double)bound * OFF;
    char text[32];
    if (likelihoods(t, outcome, p) < 0)
        return rf_fail(t->error, t->size, "%s: %s", t->name, rf_status_text(RF_REFUSED_MODEL));
    if (!RF(is_finite)(bound) || (!is_log && !(bound > 0)))
        return fail(t, 0, "it is the largest value of the likelihood", "bound is %s, outcome = %g,",
                    number(bound, text), (double)outcome);
    for (unsigned k = 0; k < POINTS; k++) {
        const double probability = is_log ? rf64_exp((double)p[k]) : (double)p[k];
        if (p[k] != p[k] || p[k] > RF_LIMIT || (!is_log && p[k] < 0))
            return fail(t, k,
                        p[k] < 0 ? "a probability is from 0 to 1"
                                 : "look at its indices, logarithms, roots and divisions",
                        "likelihood is %s, outcome = %g,", number(p[k], text), (double)outcome);
        if (is_whole && !(probability <= 1 + OFF))
            return fail(t, k,
                        is_log ? "logarithms of probabilities are at most 0"
                               : "probabilities of whole outcomes are at most 1",
                        "likelihood is %s, outcome = %g,", number(p[k], text), (double)outcome);
        if ((double)p[k] > (double)bound + room)
            return fail(t, k, "make the bound larger", "likelihood is %s, which is above bound, outcome = %g,",
                        number(p[k], text), (double)outcome);
        total[k] += probability;
    }
    return 0;
}

/* Whole outcomes: all of them, or some. Real ones: two that the model simulates. */
static int try_setting(trial *t)
{
    const int is_whole = rf_outcomes_are_whole(t->d->outcomes), can_simulate = t->instance->simulate != 0;
    const double end = (double)RF(outcomes_of)(t->d, t->setting), step = end > SUMMED ? rf64_floor(end / SOME) : 1;
    const unsigned count = !is_whole ? 2 : end > 0 && end <= SUMMED ? (unsigned)end : SOME;
    double total[POINTS] = {0};
    rf_real first[POINTS], p[POINTS];
    int are_same = 1;
    if (rf_outcomes_are_expected(t->d->outcomes)) {
        const int is_right = try_expected(t);
        if (is_right != 0)
            return is_right < 0 ? -1 : 0;
    }
    for (unsigned k = 0; k < count + (is_whole && can_simulate); k++) {
        rf_real outcome = (rf_real)(k * step);
        if (!is_whole || k == count)
            outcome = t->instance->simulate(t->x[0], t->setting, !is_whole && k ? RF_C(1.0) : 0);
        if (!RF(is_finite)(outcome))
            return fail(t, 0, "it gives an outcome", "simulate is not finite");
        if (k == count) { /* the likeliest count; it counts twice in a sum */
            double once[POINTS] = {0};
            outcome = RF(floor)(RF(max)(end > 0 ? RF(min)(outcome, (rf_real)end - 1) : outcome, 0));
            if (try_outcome(t, outcome, once, p) < 0)
                return -1;
            continue;
        }
        if (try_outcome(t, outcome, total, k == 0 ? first : p) < 0)
            return -1;
        are_same = are_same && (k == 0 || memcmp(first, p, sizeof p) == 0);
    }
    for (unsigned k = 0; is_whole && k < POINTS; k++) {
        const int is_all = (double)count == end, is_off = total[k] > 1 + OFF || (is_all && total[k] < 1 - OFF);
        if (is_off)
            return fail(t, k,
                        are_same ? "it is the same for every outcome: return 1 - p for the other one"
                                 : "was 1 - p forgotten for an outcome?",
                        "the probabilities of %s%u outcomes sum to %g, not to 1,", is_all ? "its " : "the first ",
                        count, total[k]);
    }
    return 0;
}

int RF(instance_check)(const RF(instance) * instance, const rf_description *description, const double setting[],
                       const char *name, char *error, size_t size)
{
    trial t = {.instance = instance, .d = description, .name = name, .error = error, .size = size};
    const double begun = rf_clock_seconds();
    int is_free = 0;
    t.model = RF(instance_model)(instance, 0);
    for (unsigned i = 0; i < description->settings; i++)
        is_free |= description->setting[i].role != RF_SETTING_FIXED;
    place_points(&t);
    for (unsigned k = 0; k < (setting || !is_free ? 1 : SETTINGS) && (k == 0 || rf_clock_seconds() - begun < SECONDS);
         k++) {
        place_setting(&t, setting, k);
        if (try_setting(&t) < 0)
            return -1;
    }
    return 0;
}
