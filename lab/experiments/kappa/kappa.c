/* How small may κ be? Median loss after 100 measurements of a constant frequency. */
#include <math.h>
#include <stdlib.h>

#include "trials.h"

static unsigned jobs(const lab *l) { return lab_items(l, "kappas") + 1; } /* the last job is the controller */

typedef struct trial {
    double first, last; /* squared errors before and after all measurements */
    double delta, kappa, acceptance;
} trial;

static int watch(void *user, uint32_t number, const rf_step *step)
{
    trial *t = (trial *)user + number;
    const double prior = 0.5 * rf_model_find("precession")->f64->description->parameter[0].high;
    t->first = (step->truth[0] - prior) * (step->truth[0] - prior);
    t->last = step->chart_error[0] * step->chart_error[0];
    t->delta += step->report.delta;
    t->kappa += step->report.kappa;
    t->acceptance += step->report.acceptance;
    return 0;
}

/* Puts the statistics of the trials, in the order of their numbers. */
static void put_job(lab *l, const char *of, double x, const trial trials[], uint32_t count, double updates, double column[])
{
    double error, first_error, sums[3] = {0};
    for (uint32_t i = 0; i < count; i++) {
        column[i] = trials[i].first;
        sums[0] += trials[i].delta;
        sums[1] += trials[i].kappa;
        sums[2] += trials[i].acceptance;
    }
    const double first = lab_median(column, count, &first_error);
    for (uint32_t i = 0; i < count; i++)
        column[i] = trials[i].last;
    const double last = lab_median(column, count, &error);
    if (isnan(x))
        x = sums[1] / count / updates;
    lab_put(l, "loss", of, x, last / first, last / first * hypot(error / last, first_error / first));
    lab_put(l, "delta", of, x, sums[0] / count / updates, NAN);
    lab_put(l, "acceptance", of, x, sums[2] / count / updates, NAN);
}

static int run(lab *l, unsigned job)
{
    const int is_controlled = job == lab_items(l, "kappas");
    const uint32_t count = lab_whole(l, "trials");
    rf_simulation run = runs_paper("precession", (long)lab_whole(l, "measurements"), lab_seed(l));
    trial *trials = calloc(count, sizeof *trials);
    double *column = calloc(count, sizeof *column);
    run.config.attempts = lab_whole(l, "attempts");
    run.config.recovery = lab_real(l, "recovery");
    run.config.drift[0] = 0;
    run.config.kappa = is_controlled ? 0 : lab_item(l, "kappas", job);
    int status = trials && column ? trials_run(l, &run, count, watch, trials) : lab_fail(l, "not enough memory");
    if (status == 0)
        put_job(l, is_controlled ? "controlled" : "given", is_controlled ? NAN : run.config.kappa, trials, count, (double)run.steps, column);
    free(trials);
    free(column);
    return status;
}

static double decades_per_halving(const lab *l)
{
    double least = INFINITY;
    const lab_row *before = NULL;
    for (const lab_row *r = NULL; (r = lab_next(l, r, "loss", "given"));) {
        if (before && before->x >= 0.04 && r->x <= 0.4)
            least = fmin(least, log10(before->value / r->value) / log2(r->x / before->x));
        before = r;
    }
    return least;
}

static void report(lab *l)
{
    static const struct {
        const char *claim;
        double kappa;
    } points[] = {{"one", 1}, {"two-thirds", 0.66666667}, {"fifth", 0.2}, {"twenty-fifth", 0.04}, {"floor", 0.01}};
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        const lab_row r = lab_find(l, "loss", "given", points[i].kappa);
        lab_claim(l, points[i].claim, r.value, r.error);
    }
    lab_claim(l, "plateau", decades_per_halving(l), NAN);
    lab_figure(l, "loss", "Median loss after 100 measurements, by κ",
               "The loss grows steadily as κ falls, over more than ten decades, without a plateau; δ̂ grows from 0 at κ = 1 to nearly "
               "1; the controller settles near κ = 1.");
    lab_axes(l, "κ", "median loss / initial loss", "δ̂, share above κ", LAB_LOG_Y);
    lab_curve(l, "loss", "given", "loss, κ given", LAB_BOTH | LAB_BARS);
    lab_curve(l, "loss", "controlled", "loss, κ controlled", LAB_POINTS | LAB_BARS);
    lab_curve(l, "delta", "given", "δ̂ (right)", LAB_DASHED | LAB_RIGHT);
    lab_table(l, "By κ", "κ | loss / initial loss | δ̂ | accepted");
    for (const lab_row *r = NULL; (r = lab_next(l, r, "loss", NULL));) {
        char loss[LAB_NUMBER_TEXT];
        lab_line(l, "%.3g%s | %s | %.3f | %.1f %%", r->x, r->of[0] == 'c' ? " (controlled, on average)" : "",
                 lab_number(r->value, r->error, loss), lab_find(l, "delta", r->of, r->x).value,
                 100 * lab_find(l, "acceptance", r->of, r->x).value);
    }
}

const lab_experiment experiment_kappa = {.jobs = jobs, .run = run, .report = report};
