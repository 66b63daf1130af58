/* Which measures help a filter that has lost the truth: random restarts, restarts or widening after a test, anchors. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recovery.h"
#include "summary.h"
#include "tracks.h"

static const struct policy {
    const char *of;
    int is_paper;
    rf_on_lost on_lost;
    int is_restarted; /* restart instead of widening */
} policies[] = {
    {"PGH", 1, RF_ON_LOST_IGNORE, 0},
    {"PGH; widened when surprised", 1, RF_ON_LOST_WIDEN, 0},
    {"PGH; restarted when surprised", 1, RF_ON_LOST_WIDEN, 1},
    {"our design without anchors", 0, RF_ON_LOST_IGNORE, 0},
    {"anchors; widened when one fails (default)", 0, RF_ON_LOST_RESTART, 0},
    {"anchors; restarted when one fails", 0, RF_ON_LOST_WIDEN, 1},
};

enum { POLICIES = sizeof policies / sizeof *policies, OURS = 4 };
static const char restarted[] = "PGH; restarted at random";

/* Jobs: each policy and each rate of random restarts, first without a jump, then with one. */
static unsigned jobs(const lab *l) { return 2 * (POLICIES + lab_items(l, "restart_every")); }

/* Acceptance of updates with the filter on the truth [0] and off it [1]: count, sum, sum of squares. */
typedef struct acceptance {
    double count[2], sum[2], squares[2];
    double empty; /* updates without an accepted attempt */
} acceptance;

typedef struct watch {
    const rf_simulation *run;
    tracks t;
    recovery *recoveries;
    acceptance *accepted; /* by trial */
} watch;

static int see(void *user, uint32_t trial, const rf_step *step)
{
    watch *w = user;
    acceptance *a = &w->accepted[trial];
    const int is_lost = fabs(step->chart_error[0]) > RF_LOST_SIGMAS * step->chart_sd[0];
    recovery_step(&w->recoveries[trial], step->step - w->run->world.jump[0].at, step->chart_error[0] / w->run->config.drift[0]);
    a->count[is_lost]++;
    a->empty += step->report.accepted == 0;
    a->sum[is_lost] += step->report.acceptance;
    a->squares[is_lost] += step->report.acceptance * step->report.acceptance;
    return tracks_watch(&w->t, trial, step);
}

static void put_acceptance(lab *l, const watch *w, const char *of, double x)
{
    acceptance all = {.count = {0}};
    double mean[2], variance[2];
    for (uint32_t i = 0; i < w->t.trials; i++) {
        all.empty += w->accepted[i].empty;
        for (int k = 0; k < 2; k++) {
            all.count[k] += w->accepted[i].count[k];
            all.sum[k] += w->accepted[i].sum[k];
            all.squares[k] += w->accepted[i].squares[k];
        }
    }
    for (int k = 0; k < 2; k++) {
        mean[k] = all.sum[k] / all.count[k];
        variance[k] = all.squares[k] / all.count[k] - mean[k] * mean[k];
        lab_put(l, k ? "acceptance lost" : "acceptance", of, x, mean[k], sqrt(variance[k] / all.count[k]));
    }
    lab_put(l, "empty", of, x, all.empty / (all.count[0] + all.count[1]), NAN);
    lab_put(l, "herald", of, x, (mean[0] - mean[1]) / sqrt(0.5 * (variance[0] + variance[1])), NAN);
}

static void put_recovered(lab *l, const watch *w, const char *of, double x)
{
    double tracking = 0, recovered = 0;
    for (uint32_t i = 0; i < w->t.trials; i++) {
        tracking += w->recoveries[i].was_tracking;
        recovered += w->recoveries[i].was_tracking && w->recoveries[i].has_recovered;
    }
    const double share = recovered / tracking;
    lab_put(l, "recovered", of, x, share, sqrt(share * (1 - share) / tracking));
}

static int run(lab *l, unsigned job)
{
    const int has_jump = job % 2 != 0;
    const unsigned index = job / 2, is_random = index >= POLICIES;
    const struct policy *p = &policies[is_random ? 0 : index];
    const long steps = (long)lab_whole(l, "steps");
    const uint32_t trials = lab_whole(l, "trials"), every = is_random ? (uint32_t)lab_item(l, "restart_every", index - POLICIES) : 0;
    const char *of = is_random ? restarted : p->of;
    rf_simulation run = p->is_paper ? runs_paper("precession", steps, lab_seed(l)) : runs_ordinary("precession", steps, lab_seed(l));
    run.config.on_lost = p->on_lost;
    const double jump = lab_real(l, "jump");
    const rf_world jumps = {.jumps = (uint32_t)has_jump, .jump = {{.low = jump, .high = jump, .at = (long)lab_whole(l, "jump_at")}}};
    run.world = jumps;
    watch w = {.run = &run, .recoveries = calloc(trials, sizeof *w.recoveries), .accepted = calloc(trials, sizeof *w.accepted)};
    int status = tracks_open(l, &w.t, &run, trials);
    if (status == 0 && (!w.recoveries || !w.accepted))
        status = lab_fail(l, "not enough memory");
    if (status == 0)
        status = is_random || p->is_restarted ? trials_run_beside(l, &run, REFERENCE_RESTARTED, every, trials, see, &w) : trials_run(l, &run, trials, see, &w);
    if (status == 0 && has_jump)
        put_recovered(l, &w, of, every);
    else if (status == 0) {
        tracks_put(l, &w.t, of, every);
        if (!is_random && !p->is_restarted)
            put_acceptance(l, &w, of, every);
    }
    tracks_close(&w.t);
    free(w.recoveries);
    free(w.accepted);
    return status;
}

static void report(lab *l)
{
    const lab_row alone = lab_find(l, "pooled", "PGH", 0), ours = lab_find(l, "lost", policies[OURS].of, 0);
    const lab_row jump = lab_find(l, "recovered", "PGH", 0), ours_jump = lab_find(l, "recovered", policies[OURS].of, 0);
    lab_row best = {.value = NAN};
    for (const lab_row *r = NULL; (r = lab_next(l, r, "lost", restarted));)
        best = best.value <= r->value ? best : *r;
    const lab_row often = lab_find(l, "pooled", restarted, 50);
    lab_claim(l, "random", 100 * best.value, 100 * best.error);
    lab_claim_changed(l, "random", 100 * ours.value, 100 * ours.error);
    lab_claim(l, "price", often.value / alone.value, often.value / alone.value * hypot(often.error / often.value, alone.error / alone.value));
    lab_claim(l, "herald", lab_find(l, "herald", "PGH", 0).value, NAN);
    lab_claim(l, "empty", 100 * lab_find(l, "empty", "PGH", 0).value, NAN);
    lab_claim(l, "jump", 100 * jump.value, 100 * jump.error);
    lab_claim(l, "jump-ours", 100 * ours_jump.value, 100 * ours_jump.error);
    lab_figure(l, "rate", "PGH with random restarts",
               "By mean steps between random restarts: the median error grows the more often the filter restarts, while the share of lost tracks "
               "stays well above that of anchors.");
    lab_axes(l, "mean steps between restarts", "pooled median squared error / q", "share of tracks lost", LAB_LOG_X);
    lab_gnuplot(l, "set xrange [20:250]; set yrange [0:*]; set y2range [0:*]; set format x '%%g'; set xtics (25, 50, 100, 200)");
    lab_curve(l, "pooled", restarted, "median error", LAB_BOTH | LAB_BARS);
    lab_level(l, alone.value, "without restarts");
    lab_curve(l, "lost", restarted, "lost (right)", LAB_BOTH | LAB_BARS | LAB_RIGHT);
    lab_table(l, "What helps", "policy | median / q | mean / q | lost | recovered from a jump");
    for (const lab_row *r = NULL; (r = lab_next(l, r, "pooled", NULL));) {
        char pooled[LAB_NUMBER_TEXT], mean[LAB_NUMBER_TEXT], lost[LAB_NUMBER_TEXT], back[LAB_NUMBER_TEXT], every[32] = "";
        const lab_row m = lab_find(l, "mean", r->of, r->x), o = lab_find(l, "lost", r->of, r->x), j = lab_find(l, "recovered", r->of, r->x);
        if (r->x > 0)
            snprintf(every, sizeof every, ", one in %.0f", r->x);
        lab_line(l, "%s%s | %s | %s | %s %% | %s %%", r->of, every, lab_number(r->value, r->error, pooled), lab_number(m.value, m.error, mean),
                 lab_number(100 * o.value, 100 * o.error, lost), lab_number(100 * j.value, 100 * j.error, back));
    }
    const lab_row on = lab_find(l, "acceptance", "PGH", 0), off = lab_find(l, "acceptance lost", "PGH", 0);
    lab_paragraph(l, "With PGH an update accepts %.1f %% of its attempts while the filter is on the truth, and %.1f %% while it is lost: less, but "
                     "not so that one update shows it. It takes a sum over many, which is what the test of surprise is, or a measurement that is "
                     "made to show it, which is what an anchor is.",
                  100 * on.value, 100 * off.value);
}

const lab_experiment experiment_restarts = {.jobs = jobs, .run = run, .report = report};
