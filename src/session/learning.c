/* Learning how fast parameters walk. If the assumed drift is too small, the belief lags behind: its mean keeps moving
   in one direction, and an anchor fails now and then although the belief is not lost. If it is too large, the belief
   overcorrects: its mean goes to and fro. */
#include "session_state.h"

#define BY_TREND 0.02    /* added to ln of the variance factor by a move with the trend; subtracted by one against it */
#define BY_FAILURE 0.3   /* added by an anchor that passes after one that failed; not soon after a restart, since a dead detector fails them, too */
#define BY_PASS (-0.0145) /* added by an anchor that passes after one that passed */
#define TREND 0.65       /* weight of the past in the trend, per update */
#define MEMORY 0.999     /* weight of the past in the factor, per update */
#define MOST 6.0         /* greatest |ln of the factor| */
#define EARLY 50.0       /* updates after which learning steps become small */
#define AFTER 8          /* updates before which trends reflect the prior */
#define SPREAD 0.01      /* weight of the present in the running spread */
#define WAY_MOST 3.0     /* greatest size of a move, in standard deviations */

double rf_learning_drift(const rf_session *s, unsigned i)
{
    return s->config->drift[i] * (s->config->learns_drift ? rf64_exp(0.5 * s->now.learning.factor[i]) : 1);
}

/* The size of a move after an outcome of this probability, in standard deviations of the moves expected before: of two
   outcomes, the likelier one moves the mean less and more often. 1 where that is not known. */
static double size_of_move(const rf_session *s, uint32_t count, double log_probability)
{
    if (count != 1 || (s->design && s->design->is_blind) || rf_outcomes_fixed(s->config->description.outcomes) != 2)
        return 1;
    const double p = rf64_exp(rf64_min(log_probability, 0));
    return rf64_min(rf64_sqrt((1 - p) / p), WAY_MOST);
}

void rf_learning_step(rf_session *s, const double before[], const double after[], uint32_t count, double log_probability)
{
    rf_learning *l = &s->now.learning;
    const rf64_watch *h = &s->now.watch;
    const double faster = 1 + 3 * rf64_exp(-(double)s->now.records / EARLY);
    const double size = size_of_move(s, count, log_probability);
    const int is_passed = h->is_anchored && h->verdict < 0;
    for (unsigned i = 0, is_first = 1; i < s->model.dim; i++) {
        const double way = after[i] > before[i] ? size : after[i] < before[i] ? -size : 0;
        if (!(s->config->drift[i] > 0) || RF_MOTION_KIND(&s->config->motion[i]) != RF_MOTION_WALK)
            continue;
        if (is_passed && !(l->pending && h->boost > 0))
            l->factor[i] += (l->pending ? BY_FAILURE : BY_PASS) * faster;
        if (!h->is_anchored) {
            if (h->score <= 0.7 && s->now.records > AFTER)
                l->factor[i] += BY_TREND * faster * way * l->trend[i];
            l->trend[i] = TREND * l->trend[i] + way;
        }
        l->factor[i] = rf64_min(rf64_max(l->factor[i] * MEMORY, -MOST), MOST);
        if (is_first) {
            const double weight = rf64_max(SPREAD, 1 / (1.0 + (double)s->now.records));
            l->mean += weight * (l->factor[i] - l->mean);
            l->square += weight * (l->factor[i] * l->factor[i] - l->square);
        }
        is_first = 0;
    }
    if (h->is_anchored)
        l->pending = h->verdict > 0;
}
