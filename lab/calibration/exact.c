#include "exact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "grid.h"
#include "runs.h"

enum { DRAWS = 1000, POINTS = 4096, LEARN_AT_MAX = 10 };

struct exact {
    rf_grid *grid; /* or null */
    rf_config config;
    rf_problem problem;
    uint64_t seed;
    uint32_t learnt;
    double y[DRAWS][RF_DESCRIBED_MAX]; /* in the chart; draw 0 is the truth */
    double log_weight[DRAWS];
};

static double normal(const exact *e, uint32_t step, unsigned draw, unsigned i)
{
    double z, other;
    rf_words w = rf_draw(e->seed, step, draw, i, RF_FOR_USER);
    rf64_normal_pair(w.word[0], w.word[1], &z, &other);
    return z;
}

exact *exact_open(const rf_simulation *run, uint32_t trial)
{
    exact *e = calloc(1, sizeof *e);
    double mean[RF_DESCRIBED_MAX], covariance[RF_DESCRIBED_MAX * RF_DESCRIBED_MAX];
    if (!e)
        return NULL;
    e->config = run->config;
    e->problem.model = run->config.model;
    e->problem.description = run->config.description;
    memcpy(e->problem.prior, run->config.prior, sizeof e->problem.prior);
    rf_problem_settle(&e->problem);
    if (rf_problem_priors(&e->problem, mean, covariance) < 0) {
        free(e);
        return NULL;
    }
    e->seed = ~runs_seed(run, trial);
    const rf64_model model = rf64_problem_model(&e->problem);
    for (unsigned i = 0; i < model.dim; i++)
        for (unsigned k = 1; k < DRAWS; k++)
            e->y[k][i] = mean[i] + sqrt(covariance[i * model.dim + i]) * normal(e, 0, k, i);
    e->grid = rf_grid_create(&model, POINTS);
    if (e->grid)
        rf_grid_prior_gaussian(e->grid, mean[0], covariance[0]);
    return e;
}

void exact_close(exact *e)
{
    if (e)
        rf_grid_free(e->grid);
    free(e);
}

int exact_has_grid(const exact *e) { return e->grid != NULL; }

static double log_likelihood(const exact *e, const double x[], const double record[])
{
    const rf64_instance *m = e->config.model->f64;
    const double value = m->likelihood(x, record, record[m->description->settings]);
    return RF_IS_LOG(*m->description) ? value : log(value);
}

/* Moves the draws by one step of the model. */
static void move(exact *e)
{
    const unsigned dim = e->config.description.dim;
    double f[RF_DESCRIBED_MAX * RF_DESCRIBED_MAX] = {0}, q[RF_DESCRIBED_MAX * RF_DESCRIBED_MAX] = {0}, root[RF_TRIANGLE(RF_DESCRIBED_MAX)];
    for (unsigned i = 0; i < dim; i++) {
        f[i * dim + i] = 1;
        q[i * dim + i] = e->config.drift[i] * e->config.drift[i];
    }
    if (e->config.model->f64->dynamics)
        e->config.model->f64->dynamics(1, f, q);
    rf64_covariance_factor(q, dim, root);
    for (unsigned k = 1; k < DRAWS; k++) {
        double z[RF_DESCRIBED_MAX], moved[RF_DESCRIBED_MAX] = {0};
        for (unsigned i = 0; i < dim; i++) {
            z[i] = normal(e, e->learnt, k, i);
            for (unsigned j = 0; j < dim; j++)
                moved[i] += f[i * dim + j] * e->y[k][j] + (j <= i ? root[RF_TRIANGLE(i) + j] * z[j] : 0);
        }
        for (unsigned i = 0; i < dim; i++)
            e->y[k][i] = moved[i];
    }
}

static void weigh(exact *e, const rf_step *step, const double record[])
{
    const unsigned dim = e->config.description.dim;
    if (e->learnt > 0)
        move(e);
    for (unsigned i = 0; i < dim; i++)
        e->y[0][i] = rf64_chart_coordinate(&e->problem.charts[i], step->truth[i]);
    for (unsigned k = 0; k < DRAWS; k++) {
        double x[RF_DESCRIBED_MAX];
        for (unsigned i = 0; i < dim; i++)
            x[i] = rf64_chart_natural(&e->problem.charts[i], e->y[k][i]);
        e->log_weight[k] += log_likelihood(e, x, record);
    }
}

void exact_learn(exact *e, const rf_step *step)
{
    double record[RF_DESCRIBED_MAX + 1];
    for (unsigned i = 0; i < e->config.description.settings; i++)
        record[i] = step->setting[i];
    record[e->config.description.settings] = step->outcome;
    if (e->grid && e->learnt > 0)
        rf_grid_diffuse(e->grid, e->config.drift[0] * e->config.drift[0]);
    if (e->grid)
        rf_grid_update(e->grid, record);
    if (e->learnt < LEARN_AT_MAX) /* later too few draws are effective */
        weigh(e, step, record);
    e->learnt++;
}

double exact_grid_rank(const exact *e, const rf_step *step)
{
    return rf_grid_below(e->grid, rf64_chart_coordinate(&e->problem.charts[0], step->truth[0]));
}

/* The quantity by which draw k is ranked: distance of parameter i from the estimate; for i = dim the likelihood,
   largest first. */
static double quantity(const exact *e, const rf_step *step, unsigned k, unsigned i)
{
    if (i == e->config.description.dim)
        return -e->log_weight[k];
    const rf64_chart *chart = &e->problem.charts[i];
    const double away = e->y[k][i] - step->chart_mean[i], period = chart->high - chart->low;
    return chart->kind == RF_PERIODIC ? away - period * floor(away / period + 0.5) : away;
}

double exact_draws_rank(const exact *e, const rf_step *step, unsigned i)
{
    const double truth = quantity(e, step, 0, i), own = rf64_uniform(rf_draw(e->seed, i, 0, 0, RF_FOR_USER + 1).word[0]);
    double below = own, total = 1; /* weights relative to the truth's */
    for (unsigned k = 1; k < DRAWS; k++) {
        const double w = exp(e->log_weight[k] - e->log_weight[0]);
        const double other = quantity(e, step, k, i);
        total += w;
        below += other < truth ? w : other == truth ? own * w : 0;
    }
    return below / total;
}

double exact_draws_left(const exact *e)
{
    double sum = 0, squares = 0;
    for (unsigned k = 0; k < DRAWS; k++) {
        const double w = exp(e->log_weight[k] - e->log_weight[0]);
        sum += w;
        squares += w * w;
    }
    return sum * sum / squares;
}
