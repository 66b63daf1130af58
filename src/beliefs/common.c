/* Functions shared by the beliefs between records, and the problem. Also compiled for a GPU. */
#include "common.h"

#include <string.h>

RF_APART void rf_belief_copy(rf_belief *to, const rf_belief *from)
{
    const rf_problem *problem = to->problem;
    rf_copy(to, from, from->used);
    rf_belief_move(to, problem);
}

void rf_belief_move(rf_belief *belief, const rf_problem *problem)
{
    belief->problem = problem;
    if (rf_kind_of(belief)->moved)
        rf_kind_of(belief)->moved(belief);
}

rf_status rf_belief_check(const rf_belief *belief, const double records[], uint32_t count)
{
    for (size_t i = 0; i < (size_t)count * (belief->problem->description.settings + 1u); i++)
        if (!rf64_is_finite(records[i]))
            return RF_REFUSED_EVIDENCE;
    return RF_OK;
}

static RF_APART void variances_of_several(const rf_belief *belief, double v[])
{
    double mean[RF_ROOM], covariance[RF_TRIANGLE(RF_ROOM)];
    rf_kind_of(belief)->moments(belief, mean, covariance);
    for (unsigned i = 0; i < belief->problem->description.dim; i++)
        v[i] = covariance[RF_TRIANGLE(i) + i];
}

RF_APART void rf_belief_variances(const rf_belief *belief, double v[])
{
    double mean;
    if (belief->problem->description.dim > 1)
        variances_of_several(belief, v);
    else
        rf_kind_of(belief)->moments(belief, &mean, v);
}

/* The ratio of variances for the parameter that changed least; at most 1. */
static double narrowed(const double narrow[], const double wide[], unsigned dim)
{
    double most = 0;
    for (unsigned i = 0; i < dim; i++)
        most = rf64_max(most, narrow[i] / wide[i]);
    return rf64_min(most, 1);
}

void rf_belief_lose(rf_belief *belief, const double before[], double nats)
{
    double now[RF_ROOM];
    belief->live += nats;
    if (!(belief->live > 0))
        return;
    rf_belief_variances(belief, now);
    belief->live *= narrowed(now, before, belief->problem->description.dim);
}

double rf_belief_forget(rf_belief *belief, const double before[])
{
    double now[RF_ROOM];
    rf_belief_variances(belief, now);
    const double kept = narrowed(before, now, belief->problem->description.dim);
    belief->live *= kept;
    return kept;
}

rf_status rf_belief_report(rf64_report *report, uint32_t update, uint32_t points, double effective, double log_evidence)
{
    const int is_possible = rf64_is_finite(log_evidence);
    if (log_evidence != log_evidence)
        return RF_REFUSED_MODEL;
    const rf_status status = is_possible ? RF_OK : RF_NOTE_SHORT;
    const rf64_report r = {.status = status,
                           .update = update,
                           .attempts = points,
                           .accepted = (uint32_t)effective,
                           .acceptance = effective / points,
                           .kappa = 1,
                           .kappa_next = 1,
                           .log_evidence = is_possible ? log_evidence : rf64_log(0.5 / (points + 1.0)),
                           .log_evidence_variance = is_possible ? rf64_max(1 / effective - 1.0 / points, 0) : 2};
    *report = r;
    return status;
}

RF_APART void rf_gaussians_join(const rf_problem *problem, const rf_gaussian parts[], uint32_t count, double mean[],
                                double covariance[])
{
    const unsigned dim = problem->description.dim;
    const rf_gaussian *heaviest = parts;
    double total = 0;
    for (uint32_t k = 0; k < count; k++) {
        heaviest = parts[k].weight > heaviest->weight ? &parts[k] : heaviest;
        total += parts[k].weight;
    }
    memcpy(mean, heaviest->mean, dim * sizeof *mean);
    memset(covariance, 0, RF_TRIANGLE(dim) * sizeof *covariance);
    for (unsigned pass = 0; pass < 2; pass++) /* first the mean, then the covariance about it */
        for (uint32_t k = 0; k < count; k++) {
            const double share = parts[k].weight / total;
            double away[RF_ROOM];
            for (unsigned i = 0; i < dim; i++) {
                const rf64_chart *chart = &problem->charts[i];
                const double period = chart->kind == RF_PERIODIC ? chart->high - chart->low : 0;
                away[i] = parts[k].mean[i] - (pass ? mean[i] : heaviest->mean[i]);
                away[i] -= period > 0 ? period * rf64_floor(away[i] / period + 0.5) : 0;
                mean[i] += pass ? 0 : share * away[i];
                for (unsigned j = 0; j <= i && pass; j++)
                    covariance[RF_TRIANGLE(i) + j] +=
                        share * (parts[k].covariance[RF_TRIANGLE(i) + j] + away[i] * away[j]);
            }
        }
}

RF_APART rf_status rf_belief_place(rf_belief *belief, const double mean[], const double sd[])
{
    rf_gaussian one = {.weight = 1};
    for (unsigned i = 0; i < belief->problem->description.dim; i++) {
        one.mean[i] = mean[i];
        one.covariance[RF_TRIANGLE(i) + i] = sd[i] * sd[i];
    }
    return rf_kind_of(belief)->place(belief, &one, 1);
}

/* ---- Ranges ---- */

RF_APART double rf_problem_limited(const rf_problem *problem, unsigned i, double x)
{
    return rf_problem_has_range(problem, i) ? rf64_min(rf64_max(x, problem->prior[i].first), problem->prior[i].second) : x;
}

RF_APART void rf_problem_limit(const rf_problem *problem, double x[])
{
    for (unsigned i = 0; i < problem->description.dim; i++)
        x[i] = rf_problem_limited(problem, i, x[i]);
}

/* Mean and standard deviation of N(0, 1) beyond t > 0: from t, and in all. */
static double tail_of(double t, double *sd)
{
    const double most = 8; /* beyond, the leading terms: an exponential distribution of rate t */
    const double density = 0.3989422804014327 * rf64_exp(-0.5 * t * t);
    const double mean = t < most ? density / rf64_normal_cdf(-t) : t + 1 / t;
    *sd = t < most ? rf64_sqrt(rf64_max(1 - mean * (mean - t), 1e-4)) : 1 / t;
    return mean - t;
}

RF_APART int rf_problem_confine(const rf_problem *problem, double mean[], double covariance[])
{
    const unsigned dim = problem->description.dim;
    int has_changed = 0;
    for (unsigned i = 0; i < dim; i++) {
        const double low = problem->low[i], high = problem->high[i], variance = covariance[RF_TRIANGLE(i) + i], sd = rf64_sqrt(variance);
        const int is_below = mean[i] < low;
        const double over = is_below ? low - mean[i] : mean[i] - high;
        double column[RF_ROOM], left;
        if (!(low < high) || !(over > 1e-6 * sd))
            continue;
        const double in = rf64_min(sd * tail_of(over / sd, &left), 0.5 * (high - low));
        const double by = is_below ? over + in : -over - in;
        const double to = rf64_min(left * sd, 0.28867513459481287 * (high - low)); /* at most that of the uniform */
        for (unsigned j = 0; j < dim; j++)
            column[j] = covariance[i > j ? RF_TRIANGLE(i) + j : RF_TRIANGLE(j) + i] / variance;
        for (unsigned j = 0; j < dim; j++) {
            mean[j] += column[j] * by;
            for (unsigned k = 0; k <= j; k++)
                covariance[RF_TRIANGLE(j) + k] += column[j] * column[k] * (to * to - variance);
        }
        covariance[RF_TRIANGLE(i) + i] = to * to;
        has_changed = 1;
    }
    for (unsigned i = 0; i < dim && has_changed; i++) /* one may have moved another */
        mean[i] = rf_problem_has_range(problem, i) ? rf64_min(rf64_max(mean[i], problem->low[i]), problem->high[i]) : mean[i];
    return has_changed;
}

RF_APART void rf_belief_confine(rf_belief *belief)
{
    const unsigned dim = belief->problem->description.dim;
    rf_gaussian one = {.weight = 1};
    int any = 0;
    for (unsigned i = 0; i < dim; i++)
        any |= rf_problem_has_range(belief->problem, i);
    if (!any)
        return;
    if (rf_kind_of(belief)->confine) {
        rf_kind_of(belief)->confine(belief);
        return;
    }
    rf_kind_of(belief)->moments(belief, one.mean, one.covariance);
    if (!rf_problem_confine(belief->problem, one.mean, one.covariance))
        return;
    if (rf_kind_of(belief)->place(belief, &one, 1) == RF_REFUSED_OPTIONS) { /* no correlations */
        double sd[RF_ROOM];
        for (unsigned i = 0; i < dim; i++)
            sd[i] = rf64_sqrt(one.covariance[RF_TRIANGLE(i) + i]);
        rf_belief_place(belief, one.mean, sd);
    }
}

/* ---- The problem ---- */

rf64_model rf64_problem_model(const rf_problem *problem)
{
    rf64_model model = rf64_instance_model(rf_instance_of(problem), 0);
    model.charts = problem->charts;
    return model;
}

unsigned rf_problem_interchangeable(const rf_problem *problem)
{
    const unsigned count = problem->description.interchangeable;
    for (unsigned i = 1; i < count; i++) {
        const rf64_chart *a = &problem->charts[0], *b = &problem->charts[i];
        const rf_prior *p = &problem->prior[0], *q = &problem->prior[i];
        if (a->kind != b->kind || a->low != b->low || a->high != b->high || p->is_gaussian != q->is_gaussian ||
            p->first != q->first || p->second != q->second)
            return 0;
    }
    return count;
}

int rf_problem_order(const rf_problem *problem, const double values[], unsigned order[])
{
    const unsigned count = rf_problem_interchangeable(problem);
    int is_moved = 0;
    for (unsigned i = 0; i < problem->description.dim; i++) {
        unsigned at = i;
        for (; i < count && at > 0 && values[order[at - 1]] > values[i]; at--) {
            order[at] = order[at - 1];
            is_moved = 1;
        }
        order[at] = i;
    }
    return is_moved;
}

/* Uses a filter of that one parameter. */
RF_APART rf_status rf_problem_prior(const rf_problem *problem, unsigned i, double *mean, double *variance)
{
    RF_ALIGNED unsigned char memory[RF64_FILTER_BYTES(1)];
    const rf_prior *prior = &problem->prior[i];
    rf64_model model = {0};
    rf64_filter *single;
    model.charts = &problem->charts[i];
    model.dim = 1;
    rf_status status = rf64_filter_init(&single, memory, sizeof memory, 1, 0);
    if (status >= 0)
        status =
            (prior->is_gaussian ? rf64_prior_gaussian : rf64_prior_box)(single, &model, &prior->first, &prior->second);
    *mean = rf64_filter_mean(single)[0];
    *variance = rf64_filter_covariance(single, 0, 0);
    return status;
}

rf_status rf_problem_priors(const rf_problem *problem, double mean[], double covariance[])
{
    const unsigned dim = problem->description.dim;
    rf_status status = RF_OK;
    memset(covariance, 0, dim * dim * sizeof *covariance);
    for (unsigned i = 0; i < dim && status >= 0; i++)
        status = rf_problem_prior(problem, i, &mean[i], &covariance[i * dim + i]);
    return status;
}
