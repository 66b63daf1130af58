/* Scores candidate experiments on draws from the posterior and takes the one with the greatest expected reduction of
   variance per cost. Works with any model. Compiled per precision. */
#include "designs.h"

enum { CANDIDATES = 24, DRAWS = 96, OUTCOMES = 8, LISTED = 64, COUNTS = 16 }; /* OUTCOMES are sampled if there are more than LISTED, or than COUNTS for counts */

typedef struct RF(cloud) {
    rf_real x[DRAWS][RF_ROOM];
    rf_real deviation[DRAWS][RF_ROOM]; /* from the mean, in standard deviations */
} RF(cloud);

static void draw_cloud(const RF(design_input) *in, RF(cloud) *c)
{
    for (uint32_t k = 0; k < DRAWS; k++) {
        RF(design_draw)(in, 8 + k, c->x[k]);
        for (unsigned i = 0; i < in->model->dim; i++) {
            const RF(chart) chart = in->model->charts[i];
            rf_real away = RF(chart_coordinate)(&chart, c->x[k][i]) - in->chart_mean[i], period = chart.high - chart.low;
            if (chart.kind == RF_PERIODIC)
                away -= period * RF(floor)(away / period + RF_C(0.5));
            c->deviation[k][i] = away / in->sd[i];
        }
    }
}

/* A candidate: settings drawn around those that their roles suggest. Times from a tenth to three times the inverse of
   the standard deviation; guesses within the resolution of that time from the mean. */
static void draw_candidate(const RF(design_input) *in, uint32_t number, const RF(cloud) *c, rf_real setting[])
{
    RF(design_input) other = *in;
    rf_real width[RF_ROOM];
    other.number = in->number * CANDIDATES + number + 0x40000000u;
    for (unsigned i = 0; i < in->model->dim; i++)
        width[i] = in->sd[i] * RF(exp)(RF_C(2.3) - RF_C(3.4) * RF(design_uniform)(&other, 33 + i));
    RF(design_roles)(&other, c->x[number % DRAWS], width, setting);
    RF(design_shorten)(in, RF_DESIGN_CONTRAST, setting);
    for (unsigned i = 0; i < in->description->settings; i++)
        if (in->description->setting[i].role == RF_SETTING_GUESS) {
            unsigned p = in->description->setting[i].parameter;
            rf_real shift = (RF(design_uniform)(&other, 60 + i) - RF_C(0.5)) * 4 * width[p];
            setting[i] = in->mean[p] + shift;
        }
}

/* p[k] ← P(outcome | x[k]). */
static void probabilities(const RF(design_input) *in, rf_real x[][RF_ROOM], unsigned n, const rf_real setting[], rf_real outcome, rf_real p[])
{
    RF(model_likelihoods)(in->model, x[0], RF_ROOM, n, setting, outcome, p);
    for (unsigned k = 0; k < n; k++) {
        const rf_real value = RF_MODEL_IS_LOG(in->model) ? RF(exp)(RF(min)(p[k], RF_C(40.0))) : p[k];
        p[k] = value > 0 && value <= RF_LIMIT ? value : 0;
    }
}

/* The variance of weighted draws (without weights, of all alike), averaged over parameters, in units of the belief's;
   *total ← their weight. */
static rf_real cloud_variance(const RF(cloud) *c, unsigned dim, const rf_real weight[], rf_real *total)
{
    rf_real sum = 0, first[RF_ROOM] = {0}, second[RF_ROOM] = {0}, left = 0;
    for (unsigned k = 0; k < DRAWS; k++) {
        const rf_real w = weight ? weight[k] : 1;
        sum += w;
        for (unsigned i = 0; i < dim; i++) {
            first[i] += w * c->deviation[k][i];
            second[i] += w * c->deviation[k][i] * c->deviation[k][i];
        }
    }
    *total = sum;
    if (!(sum > 0))
        return 1;
    for (unsigned i = 0; i < dim; i++)
        left += second[i] / sum - first[i] / sum * (first[i] / sum);
    return left / (rf_real)dim;
}

/* The share of variance left after `outcome`; *p ← its probability. */
static rf_real variance_left(const RF(design_input) *in, RF(cloud) *c, const rf_real setting[], rf_real outcome, rf_real *p)
{
    rf_real weight[DRAWS], total;
    probabilities(in, c->x, DRAWS, setting, outcome, weight);
    const rf_real left = cloud_variance(c, in->model->dim, weight, &total);
    *p = total / DRAWS;
    return left;
}

/* The number of outcomes if all can be tried; else 0. */
static unsigned listed(const RF(design_input) *in, const rf_real setting[])
{
    const rf_real possible = RF(outcomes_of)(in->description, setting);
    return possible <= (rf_outcomes_are_counts(RF_OUTCOMES(in->description)) ? COUNTS : LISTED) ? (unsigned)possible : 0;
}

/* Expected share of the variance that remains after an experiment with these settings. */
static rf_real expected_left(const RF(design_input) *in, RF(cloud) *c, const rf_real setting[])
{
    const unsigned outcomes = listed(in, setting);
    rf_real left = 0, total = 0;
    for (unsigned k = 0; k < (outcomes ? outcomes : OUTCOMES); k++) {
        rf_real p, outcome = (rf_real)k;
        if (!outcomes) /* sampled from some of the draws */
            outcome = RF(instance_outcome)(in->instance, c->x[k], setting, in->seed, in->number * OUTCOMES + k + 0x80000000u);
        rf_real share = variance_left(in, c, setting, outcome, &p);
        left += (outcomes ? p : 1) * share;
        total += outcomes ? p : 1;
    }
    return total > 0 ? left / total : 1;
}

/* Moves a value `wider` times as far from the mean; in the chart, so that the model never sees values outside. */
static rf_real move_out(const RF(design_input) *in, unsigned i, rf_real x, rf_real wider)
{
    const RF(chart) *chart = &in->model->charts[i];
    if (chart->kind == RF_REAL || chart->kind == RF_PERIODIC)
        return in->mean[i] + wider * (x - in->mean[i]);
    return RF(chart_natural)(chart, in->chart_mean[i] + wider * (RF(chart_coordinate)(chart, x) - in->chart_mean[i]));
}

/* Entropy −Σ p ln p of the outcomes under the draws, each moved `wider` times as far from the mean. */
static rf_real entropy(const RF(design_input) *in, const RF(cloud) *c, const rf_real setting[], rf_real wider)
{
    rf_real sum = 0, x[DRAWS / 2][RF_ROOM], weight[DRAWS / 2];
    for (unsigned k = 0; k < DRAWS / 2; k++)
        for (unsigned i = 0; i < in->model->dim; i++)
            x[k][i] = move_out(in, i, c->x[2 * k][i], wider);
    for (unsigned outcome = 0; outcome < listed(in, setting); outcome++) {
        rf_real p = 0;
        probabilities(in, x, DRAWS / 2, setting, (rf_real)outcome, weight);
        for (unsigned k = 0; k < DRAWS / 2; k++)
            p += weight[k] * (RF_C(2.0) / DRAWS);
        sum -= p > 0 ? p * RF(log)(p) : 0;
    }
    return sum;
}

/* The value of an anchor with these settings: high if the filter is sure of the outcome, and would not be if it were
   wrong. */
static rf_real test_value(const RF(design_input) *in, RF(cloud) *c, const rf_real setting[])
{
    return entropy(in, c, setting, 4) - 3 * entropy(in, c, setting, 1);
}

/* How probable is another outcome than the one that has come again and again? */
static rf_real other_probability(const RF(design_input) *in, RF(cloud) *c, const rf_real setting[])
{
    rf_real p[DRAWS], sum = 0;
    probabilities(in, c->x, DRAWS, setting, in->latest, p);
    for (unsigned k = 0; k < DRAWS; k++)
        sum += p[k];
    return 1 - sum / DRAWS;
}

static rf_real log_variance(rf_real variance) { return RF(log)(RF(max)(variance, RF_C(1e-6))); }

/* Nats of variance removed, per cost. The draws' own variance is not quite the belief's. Where all costs are equal this
   does not matter. Where they differ it would be a gain of every experiment, and the cheapest would win. */
static rf_real learning_value(const RF(design_input) *in, RF(cloud) *c, const rf_real setting[])
{
    rf_real cost = 1, total;
    int differ = 0;
    for (unsigned i = 0; i < in->description->settings; i++) {
        cost += (rf_real)in->description->setting[i].cost * RF(abs)(setting[i]);
        differ |= in->description->setting[i].cost > 0;
    }
    const rf_real before = differ ? log_variance(cloud_variance(c, in->model->dim, 0, &total)) : 0;
    return (before - log_variance(expected_left(in, c, setting))) / cost;
}

void RF(design_risk)(const RF(design_input) *in, rf_real setting[])
{
    RF(cloud) cloud;
    rf_real best = -RF_LIMIT, candidate[RF_ROOM];
    if (in->is_anchor && in->description->fringe > 0) { /* a good test is known for a fringe */
        RF(design_quadrature)(in, setting);
        return;
    }
    draw_cloud(in, &cloud);
    for (uint32_t number = 0; number < CANDIDATES; number++) {
        draw_candidate(in, number, &cloud, candidate);
        const rf_real other = in->other_least > 0 ? other_probability(in, &cloud, candidate) : 0;
        rf_real gain = other < in->other_least ? other - 2 : (in->is_anchor ? test_value : learning_value)(in, &cloud, candidate);
        if (gain > best) {
            best = gain;
            for (unsigned i = 0; i < in->description->settings; i++)
                setting[i] = candidate[i];
        }
    }
}
