/* Statistics of one simulated trial. Also compiled for a GPU. */
#include "trials.h"

/* Totals are integers, so that many threads may add theirs in any order. */
#if defined(__CUDACC__)
#define ADD(total, more) atomicAdd((unsigned long long *)(total), (unsigned long long)(more))
#define RAISE(total, to) atomicMax((unsigned long long *)(total), (unsigned long long)(to))
#else
#define ADD(total, more) (*(total) += (more))
#define RAISE(total, to) (*(total) = (to) > *(total) ? (to) : *(total))
#endif

void rf_trial_begin(rf_trial *t)
{
    const rf_trial begin = {.recovery = {.at = -1}, .alarm = {.at = -1}};
    *t = begin;
}

/* Counts the event if enough measurements have followed. */
static void conclude(rf_follow_up *f, long since, rf_totals *totals, uint64_t *events, uint64_t took[])
{
    if (f->at >= 0 && since >= RF_FOLLOWED - 1) {
        ADD(events, 1);
        ADD(&took[f->done_after >= 0 && f->done_after < RF_FOLLOWED_MAX ? f->done_after : RF_FOLLOWED_MAX], 1);
        if (since < RF_FOLLOWED_MAX - 1 && f->done_after < 0)
            ADD(&totals->is_short, 1);
    }
    f->at = -1;
}

/* Measures the time until a condition has held for `lasting` updates in a row. */
static RF_APART void follow(rf_follow_up *f, const rf_judging *j, const rf_step *step, int begins, int is_good,
                            int lasting, rf_totals *totals, uint64_t *events, uint64_t took[])
{
    if (begins) {
        conclude(f, step->step - f->at - 1, totals, events, took);
        const rf_follow_up begin = {step->step, 0, -1};
        *f = begin;
    }
    if (f->at < 0)
        return;
    const long since = step->step - f->at;
    f->good = is_good ? f->good + 1 : 0;
    if (f->done_after < 0 && f->good == lasting)
        f->done_after = since - lasting + 1 > 0 ? (int)(since - lasting + 1) : 0;
    if (since >= RF_FOLLOWED_MAX - 1 || step->step >= j->steps - 1)
        conclude(f, since, totals, events, took);
}

/* Follows up events and alarms. */
static void see_health(rf_trial *t, const rf_judging *j, const rf_step *step, int is_far, rf_totals *totals)
{
    const int is_alarm = step->health == RF_RECOVERING || step->health == RF_LOST || step->health == RF_FAULT,
              is_lost = step->health == RF_LOST;
    const int begins_far = t->updates == 0 && is_far; /* a wrong prior counts as an event */
    int is_good = 1;
    for (unsigned i = 0; i < step->dim; i++) {
        is_good &= rf64_abs(step->chart_error[i]) < j->threshold[i];
        t->widest = rf64_max(step->chart_sd[i] / j->prior_sd[i], t->widest);
    }
    if (step->events & RF_EVENT_OUTAGE)
        t->recovery.at = -1;
    if (step->events || begins_far)
        t->quiet_from = step->step + RF_FOLLOWED;
    follow(&t->recovery, j, step,
           begins_far || ((step->events & (RF_EVENT_JUMP | RF_EVENT_BACK)) && !(step->events & RF_EVENT_OUT)), is_good,
           RF_BACK_FOR, totals, &totals->events, totals->back);
    follow(&t->alarm, j, step, begins_far || (step->events & (RF_EVENT_JUMP | RF_EVENT_OUTAGE)) != 0, is_alarm, 1,
           totals, &totals->alarms, totals->alarmed);
    if (step->step >= t->quiet_from) {
        t->quiet += step->records;
        t->false_lost += is_lost && !t->was_lost && !t->was_far;
        t->false_alarms += is_alarm && !t->was_alarm && !t->was_far;
    }
    if (is_far) {
        t->lost_steps++;
        t->told += step->health != RF_TRACKING;
    }
    t->was_lost = is_lost;
    t->was_alarm = is_alarm;
    t->was_far = is_far || !is_good;
}

/* Counts an error of a kind and its square; NaN if it does not count. */
static float keep(rf_trial *t, unsigned kind, int counts, double error, double square)
{
    if (!counts || error != error)
        return rf32_nan();
    t->counted[kind]++;
    t->sum[kind] += square;
    return (float)error;
}

RF_APART void rf_trial_see(rf_trial *t, const rf_judging *j, const rf_step *step, rf_totals *totals, float errors[])
{
    const int is_out = (step->events & RF_EVENT_OUT) != 0; /* errors do not count during an outage */
    const int counts = step->step >= j->first && !is_out, is_last = step->step == j->steps - 1;
    double pooled = 0;
    int is_far = 0;
    for (unsigned i = 0; i < step->dim; i++) {
        const double error = step->error[i], in_chart = step->chart_error[i];
        const double sigmas = rf64_abs(in_chart) / step->chart_sd[i];
        if (j->unit[i] > 0)
            pooled += in_chart * in_chart / j->unit[i];
        is_far |= sigmas > RF_LOST_SIGMAS && !is_out;
        errors[1 + i] = keep(t, 1 + i, counts && (is_last || !j->is_final[1 + i]), rf64_abs(error), error * error);
        if (counts) {
            t->held[i] += step->low[i] <= step->truth[i] && step->truth[i] <= step->high[i];
            t->covered += sigmas <= 1.959963984540054;
            t->checked++;
        }
    }
    errors[0] = keep(t, 0, counts, pooled, pooled);
    t->known += (uint32_t)counts;
    t->far += (uint32_t)is_far;
    see_health(t, j, step, is_far, totals);
    t->is_finished |= is_last;
    t->attempts += step->report.attempts;
    t->updates++;
    t->capped += (step->report.status & RF_NOTE_CAPPED) != 0;
}

void rf_trial_end(const rf_trial *t, const rf_judging *j, rf_totals *totals)
{
    for (unsigned kind = 0; kind <= j->dim; kind++)
        ADD(&totals->counted[kind], t->counted[kind]);
    for (unsigned i = 0; i < j->dim; i++)
        ADD(&totals->held[i], t->held[i]);
    ADD(&totals->known, t->known);
    ADD(&totals->finished, t->is_finished != 0);
    ADD(&totals->lost, t->far > RF_LOST_STEPS);
    ADD(&totals->covered, t->covered);
    ADD(&totals->checked, t->checked);
    ADD(&totals->quiet, t->quiet);
    ADD(&totals->false_lost, t->false_lost);
    ADD(&totals->false_alarms, t->false_alarms);
    ADD(&totals->lost_steps, t->lost_steps);
    ADD(&totals->told, t->told);
    ADD(&totals->attempts, t->attempts);
    ADD(&totals->updates, t->updates);
    ADD(&totals->capped, t->capped);
    RAISE(&totals->widest, rf64_bits(t->widest));
}
