#include "tracks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "summary.h"

enum { GROUPS = 16 };

int tracks_open(lab *l, tracks *t, const rf_simulation *run, uint32_t trials)
{
    const double q = run->config.drift[0] * run->config.drift[0];
    *t = (tracks){.trials = trials, .steps = run->steps, .q = q > 0 ? q : 1};
    t->error = calloc((size_t)trials * (size_t)run->steps, sizeof *t->error);
    t->far = calloc(trials, sizeof *t->far);
    t->attempts = calloc(trials, sizeof *t->attempts);
    t->column = calloc((size_t)trials * (size_t)run->steps, sizeof *t->column);
    return t->error && t->far && t->attempts && t->column ? 0 : lab_fail(l, "not enough memory");
}

void tracks_close(tracks *t)
{
    free(t->error);
    free(t->far);
    free(t->attempts);
    free(t->column);
}

int tracks_watch(void *user, uint32_t trial, const rf_step *step)
{
    tracks *t = user;
    const double e = step->chart_error[0];
    t->error[(size_t)trial * (size_t)t->steps + (size_t)step->step] = (float)(e * e / t->q);
    t->far[trial] += fabs(e) > RF_LOST_SIGMAS * step->chart_sd[0];
    t->attempts[trial] += step->report.attempts;
    return 0;
}

/* Statistics of trials first, first + stride, ...: median, mean, 99 % quantile, fraction lost. */
static void summarise(const tracks *t, uint32_t first, uint32_t stride, double of[4])
{
    const long begin = t->steps > RF_BURN_IN ? RF_BURN_IN : t->steps - 1;
    size_t n = 0, trials = 0, lost = 0;
    double sum = 0;
    for (uint32_t i = first; i < t->trials; i += stride) {
        trials++;
        lost += t->far[i] > RF_LOST_STEPS;
        for (long k = begin; k < t->steps; k++)
            sum += t->column[n++] = t->error[(size_t)i * (size_t)t->steps + (size_t)k];
    }
    of[0] = lab_quantile(t->column, n, 0.5);
    of[1] = sum / (double)n;
    of[2] = lab_quantile(t->column, n, 0.99);
    of[3] = (double)lost / (double)trials;
}

void tracks_put(lab *l, const tracks *t, const char *of, double x)
{
    static const char *const names[] = {"pooled", "mean", "p99", "lost"};
    double all[4], group[4], sum[4] = {0}, squares[4] = {0}, attempts = 0;
    const uint32_t groups = t->trials < GROUPS ? t->trials : GROUPS;
    for (uint32_t g = 0; g < groups; g++) {
        summarise(t, g, groups, group);
        for (int i = 0; i < 4; i++) {
            sum[i] += group[i];
            squares[i] += group[i] * group[i];
        }
    }
    summarise(t, 0, 1, all);
    for (int i = 0; i < 4; i++) {
        const double mean = sum[i] / groups, variance = fmax(0, squares[i] / groups - mean * mean);
        lab_put(l, names[i], of, x, all[i], sqrt(variance / (groups - 1.0)));
    }
    for (uint32_t i = 0; i < t->trials; i++)
        attempts += t->attempts[i] / (double)t->trials / (double)t->steps;
    lab_put(l, "attempts", of, x, attempts, NAN);
}

void tracks_put_steps(lab *l, const tracks *t, const char *of, long every)
{
    for (long k = every - 1; k < t->steps; k += every) {
        double error;
        for (uint32_t i = 0; i < t->trials; i++)
            t->column[i] = t->error[(size_t)i * (size_t)t->steps + (size_t)k];
        const double median = lab_median(t->column, t->trials, &error);
        lab_put(l, "by step", of, (double)k + 1, median, error);
    }
}
