/* Tries candidate experiments on draws from the filter and takes the one that is expected to leave the least
   variance, per cost. Works with any model. */
#include "designs.h"

enum { CANDIDATES = 24, DRAWS = 96, OUTCOMES = 8 };

typedef struct cloud {
    double x[DRAWS][RF_NAMES_MAX];
    double deviation[DRAWS][RF_NAMES_MAX]; /* from the mean, in standard deviations */
} cloud;

static void draw_cloud(const rf_design_input *in, cloud *c)
{
    for (uint32_t k = 0; k < DRAWS; k++) {
        rf_design_draw(in, 8 + k, c->x[k]);
        for (unsigned i = 0; i < in->model->dim; i++) {
            const rf64_chart chart = in->model->charts[i];
            double away = rf64_chart_coordinate(&chart, c->x[k][i]) - in->chart_mean[i], period = chart.high - chart.low;
            if (chart.kind == RF_PERIODIC)
                away -= period * rf64_floor(away / period + 0.5);
            c->deviation[k][i] = away / in->sd[i];
        }
    }
}

/* A setting around what its role says: times within a decade below and a third above one standard deviation's,
   guesses as far from the mean as that time tells apart. */
static void draw_candidate(const rf_design_input *in, uint32_t number, const cloud *c, double setting[])
{
    rf_design_input other = *in;
    double width[RF_NAMES_MAX];
    other.number = in->number * CANDIDATES + number + 0x40000000u;
    for (unsigned i = 0; i < in->model->dim; i++)
        width[i] = in->sd[i] * rf64_exp(2.3 - 3.4 * rf_design_uniform(&other, 33 + i));
    rf_design_roles(&other, c->x[number % DRAWS], width, setting);
    for (unsigned i = 0; i < in->description->settings; i++)
        if (in->description->setting[i].role == RF_SETTING_GUESS) {
            unsigned p = in->description->setting[i].parameter;
            double shift = (rf_design_uniform(&other, 60 + i) - 0.5) * 4 * width[p];
            setting[i] = in->mean[p] + shift;
        }
}

static double probability(const rf_design_input *in, const double x[], const double setting[], double outcome)
{
    double value = in->model->likelihood(x, setting, outcome);
    value = in->model->is_log ? rf64_exp(rf64_min(value, 40.0)) : value;
    return value > 0 && value <= RF64_LIMIT ? value : 0;
}

/* Variance that `outcome` leaves, as a share, averaged over parameters; and in `p` how likely it is. */
static double variance_left(const rf_design_input *in, const cloud *c, const double setting[], double outcome, double *p)
{
    double sum = 0, first[RF_NAMES_MAX] = {0}, second[RF_NAMES_MAX] = {0}, left = 0;
    const unsigned dim = in->model->dim;
    for (unsigned k = 0; k < DRAWS; k++) {
        double w = probability(in, c->x[k], setting, outcome);
        sum += w;
        for (unsigned i = 0; i < dim; i++) {
            first[i] += w * c->deviation[k][i];
            second[i] += w * c->deviation[k][i] * c->deviation[k][i];
        }
    }
    *p = sum / DRAWS;
    if (!(sum > 0))
        return 1;
    for (unsigned i = 0; i < dim; i++)
        left += second[i] / sum - first[i] / sum * (first[i] / sum);
    return left / (double)dim;
}

/* Expected share of the variance that remains after an experiment with these settings. */
static double expected_left(const rf_design_input *in, const cloud *c, const double setting[])
{
    const unsigned outcomes = in->description->outcomes;
    double left = 0, total = 0;
    for (unsigned k = 0; k < (outcomes ? outcomes : OUTCOMES); k++) {
        double p, outcome = (double)k;
        if (!outcomes) /* real-valued: those that some of the draws would give */
            outcome = rf64_instance_outcome(in->instance, c->x[k], setting, in->seed, in->number * OUTCOMES + k + 0x80000000u);
        double share = variance_left(in, c, setting, outcome, &p);
        left += (outcomes ? p : 1) * share;
        total += outcomes ? p : 1;
    }
    return total > 0 ? left / total : 1;
}

/* −Σ p ln p of the outcomes under the draws, each moved `wider` times as far from the mean (in natural units, which
   is near enough for this). */
static double entropy(const rf_design_input *in, const cloud *c, const double setting[], double wider)
{
    double sum = 0, x[RF_NAMES_MAX];
    for (unsigned outcome = 0; outcome < in->description->outcomes; outcome++) {
        double p = 0;
        for (unsigned k = 0; k < DRAWS; k += 2) {
            for (unsigned i = 0; i < in->model->dim; i++)
                x[i] = in->mean[i] + wider * (c->x[k][i] - in->mean[i]);
            p += probability(in, x, setting, (double)outcome) * (2.0 / DRAWS);
        }
        sum -= p > 0 ? p * rf64_log(p) : 0;
    }
    return sum;
}

/* How much an anchor there would tell: the filter is sure of the outcome, and would not be if it were wrong. */
static double test_value(const rf_design_input *in, const cloud *c, const double setting[])
{
    return entropy(in, c, setting, 4) - 3 * entropy(in, c, setting, 1);
}

static double learning_value(const rf_design_input *in, const cloud *c, const double setting[])
{
    double cost = 1;
    for (unsigned i = 0; i < in->description->settings; i++)
        cost += in->description->setting[i].cost * rf64_abs(setting[i]);
    return -rf64_log(rf64_max(expected_left(in, c, setting), 1e-6)) / cost;
}

void rf_design_risk(const rf_design_input *in, double setting[])
{
    cloud cloud;
    double best = -RF64_LIMIT, candidate[RF_NAMES_MAX];
    if (in->is_anchor && in->description->fringe > 0) { /* where a good test is known */
        rf_design_quadrature(in, setting);
        return;
    }
    draw_cloud(in, &cloud);
    for (uint32_t number = 0; number < CANDIDATES; number++) {
        draw_candidate(in, number, &cloud, candidate);
        double gain = (in->is_anchor ? test_value : learning_value)(in, &cloud, candidate);
        if (gain > best) {
            best = gain;
            for (unsigned i = 0; i < in->description->settings; i++)
                setting[i] = candidate[i];
        }
    }
}
