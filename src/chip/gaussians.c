/* The mixture of src/beliefs/mixture/ for chips: one parameter in float. During an update it holds more Gaussians than
   it keeps. See gaussians.h. */
#include "rejfilt/gaussians.h"

/* Gaussians during an update. Those beyond RF_GAUSSIANS_MAX are merged at its end. */
#define ROOM (RF_GAUSSIANS_MAX > 1 ? RF_GAUSSIANS_MAX * 3 / 2 : 1)

#define LOSS_MAX 1e-4f       /* nats lost by an update in one Gaussian above which it is split */
#define MERGER_FREE 1e-5f    /* nats below which a merger is always made */
#define WEIGHT_LEAST 1e-9f   /* lighter Gaussians are dropped */
#define VARIANCE_LEAST 9e-3f /* of a posterior in units of its prior's: (spacing of the points / 4)² */
#define FEW_FROM 0.01f       /* share from which a Gaussian at that limit is noted: one point decided it */
#define SD_LEAST 1.01f       /* in units of the spacing of floats near the mean */

/* The evaluation points: distance from the mean in standard deviations, on both sides, and weight. Steps grow from the
   middle to the ends, so that no fringe has the period of all of them. The weights' sum and the variance are exactly 1,
   also in float. */
static const struct {
    float z, weight;
} points[] = {{0.187940896f, 0.148018032f},  {0.574369669f, 0.134881958f},  {0.992439389f, 0.107496746f},
              {1.46324384f, 0.0689587742f},  {2.00787687f, 0.0312810205f},  {2.6474328f, 0.00832447968f},
              {3.40300512f, 0.00100097351f}, {4.29568768f, 3.80156052e-05f}};
enum { POINTS = 2 * sizeof points / sizeof *points };

/* A Gaussian after the record. */
typedef struct posterior {
    float weight, mean, variance, loss;
} posterior;

/* The state of an update. */
typedef struct learning {
    rf32_likelihood *likelihood;
    const float *setting;
    float outcome;
    rf_status note;
    unsigned count;
    rf32_gaussian before[ROOM];
    posterior after[ROOM];
} learning;

/* ---- Evaluating and splitting ---- */

static RF_APART void evaluate(learning *l, unsigned i)
{
    const rf32_gaussian *from = &l->before[i];
    const posterior impossible = {0, 0, 0, 0};
    posterior *to = &l->after[i];
    float one = 0, first = 0, second = 0, entropy = 0; /* Σℓ, Σℓz, Σℓz², Σℓ·lnℓ */
    for (unsigned k = 0; k < POINTS; k++) {
        const float z = k % 2 ? -points[k / 2].z : points[k / 2].z, y = from->mean + from->sd * z;
        float likelihood = l->likelihood(&y, l->setting, l->outcome);
        if (!(likelihood >= 0 && likelihood <= RF32_LARGEST)) {
            l->note |= RF_NOTE_BAD;
            likelihood = 0;
        }
        const float weight = points[k / 2].weight * likelihood;
        one += weight;
        first += weight * z;
        second += weight * z * z;
        entropy += weight * rf32_log(rf32_max(likelihood, RF32_SMALLEST_NORMAL));
    }
    *to = impossible;
    if (!(one >= RF32_SMALLEST_NORMAL && second <= RF32_LARGEST))
        return;
    const float mean = first / one, variance = rf32_max(second / one - mean * mean, VARIANCE_LEAST);
    if (RF_GAUSSIANS_MAX == 1 && !(variance > VARIANCE_LEAST))
        l->note |= RF_NOTE_FEW;
    to->weight = from->weight * one;
    to->mean = from->mean + from->sd * mean;
    to->variance = from->sd * from->sd * variance;
    to->loss =
        rf32_max(entropy / one - rf32_log(one) - 0.5f * (variance + mean * mean - 1) + 0.5f * rf32_log(variance), 0);
}

static float total_weight(const learning *l)
{
    float total = 0;
    for (unsigned i = 0; i < l->count; i++)
        total += l->after[i].weight;
    return total;
}

/* Splits Gaussian i, as it was before the record, into three that together have its first five moments. */
static void split(learning *l, unsigned i)
{
    rf32_gaussian *middle = &l->before[i], *low = &l->before[l->count], *high = low + 1;
    const float shift = 1.17473401f * middle->sd; /* √(3·(1 − 0.54)) */
    middle->sd *= 0.734846923f;                   /* √0.54 */
    *low = *middle;
    low->mean -= shift;
    low->weight *= 1.0f / 6;
    *high = *low;
    high->mean = middle->mean + shift;
    middle->weight *= 2.0f / 3;
    evaluate(l, i);
    evaluate(l, l->count);
    evaluate(l, l->count + 1);
    l->count += 2;
}

/* Splits the Gaussian that loses most, until none loses too much or there is no room. */
static void split_all(learning *l)
{
    while (RF_GAUSSIANS_MAX > 1 && l->count + 2 <= ROOM) {
        float most = LOSS_MAX * total_weight(l);
        unsigned worst = ROOM;
        for (unsigned i = 0; i < l->count; i++)
            if (l->after[i].weight * l->after[i].loss > most) {
                most = l->after[i].weight * l->after[i].loss;
                worst = i;
            }
        if (worst == ROOM)
            return;
        split(l, worst);
    }
}

/* ---- Merging ---- */

/* The variance of a and b combined. */
static RF_APART float joint_variance(const posterior *a, const posterior *b)
{
    const float share = a->weight / (a->weight + b->weight), apart = b->mean - a->mean;
    return share * a->variance + (1 - share) * (b->variance + share * apart * apart);
}

/* Runnalls's upper bound of the loss by a merger, in nats of the whole mixture. */
static float merger_cost(const posterior *a, const posterior *b)
{
    const float joint = joint_variance(a, b);
    return 0.5f * (a->weight * rf32_log(joint / a->variance) + b->weight * rf32_log(joint / b->variance));
}

/* Merges until at most RF_GAUSSIANS_MAX are left and no merger is free. Returns the loss. */
static float merge_all(learning *l)
{
    float loss = 0;
    while (RF_GAUSSIANS_MAX > 1 && l->count > 1) {
        float least = rf32_infinity();
        posterior *a = l->after, *b = a + 1;
        for (unsigned i = 1; i < l->count; i++)
            for (unsigned j = 0; j < i; j++) {
                const float cost = merger_cost(&l->after[j], &l->after[i]);
                if (cost < least) {
                    least = cost;
                    a = &l->after[j];
                    b = &l->after[i];
                }
            }
        if (l->count <= RF_GAUSSIANS_MAX && !(least < MERGER_FREE))
            break;
        loss += rf32_max(least, 0);
        a->variance = joint_variance(a, b);
        a->mean += b->weight / (a->weight + b->weight) * (b->mean - a->mean);
        a->weight += b->weight;
        *b = l->after[--l->count];
    }
    return loss;
}

/* ---- Updates ---- */

/* Scales the weights to sum 1 and drops the lightest Gaussians. Returns the loss by projection. */
static float normalise(learning *l, float total)
{
    float loss = 0;
    unsigned count = 0;
    if (RF_GAUSSIANS_MAX == 1) /* its share is 1, and evaluate() has noted the rest */
        return l->after[0].loss;
    for (unsigned i = 0; i < l->count; i++) {
        posterior p = l->after[i];
        p.weight /= total;
        if (p.weight < WEIGHT_LEAST)
            continue;
        loss += p.weight * p.loss;
        if (p.weight > FEW_FROM && !(p.variance > l->before[i].sd * l->before[i].sd * VARIANCE_LEAST))
            l->note |= RF_NOTE_FEW;
        l->after[count++] = p;
    }
    l->count = count;
    return loss;
}

/* Sets the standard deviation, at least the spacing of floats near the mean. Returns a note. */
static rf_status set_sd(rf32_gaussian *of, float variance)
{
    const float sd = rf32_min(rf32_sqrt(variance), RF32_LIMIT),
                least = rf32_max(SD_LEAST * RF32_EPSILON * rf32_abs(of->mean), RF32_TINY);
    of->sd = rf32_max(sd, least);
    return sd < least ? RF_NOTE_COARSE : RF_OK;
}

/* variance ← factor·variance + q, for all Gaussians. */
static rf_status widen(rf32_gaussians *g, float factor, float q)
{
    rf_status note = RF_OK;
    for (unsigned i = 0; i < g->count; i++)
        note |= set_sd(&g->part[i], factor * g->part[i].sd * g->part[i].sd + q);
    return note;
}

rf_status rf32_gaussians_update(rf32_gaussians *g, rf32_likelihood *likelihood, const float setting[], float outcome)
{
    learning l;
    if (!rf32_is_finite(outcome))
        return RF_REFUSED_EVIDENCE;
    l.likelihood = likelihood;
    l.setting = setting;
    l.outcome = outcome;
    l.note = RF_OK;
    l.count = g->count;
    for (unsigned i = 0; i < l.count; i++) {
        l.before[i] = g->part[i];
        evaluate(&l, i);
    }
    split_all(&l);
    g->updates += g->updates < UINT32_MAX;
    float total = total_weight(&l);
    if (!(total >= RF32_SMALLEST_NORMAL && total <= RF32_LARGEST))
        return widen(g, 2, 0) | l.note | (l.note & RF_NOTE_BAD ? RF_NOTE_BROKEN : RF_NOTE_WIDENED);
    g->log_evidence += rf32_log(total);
    g->loss += normalise(&l, total);
    g->loss += merge_all(&l);
    total = total_weight(&l);
    g->count = l.count;
    for (unsigned i = 0; i < l.count; i++) {
        g->part[i].weight = l.after[i].weight / total;
        g->part[i].mean = l.after[i].mean;
        l.note |= set_sd(&g->part[i], l.after[i].variance);
    }
    return l.note;
}

rf_status rf32_gaussians_init(rf32_gaussians *g, float mean, float sd)
{
    const rf32_gaussians one = {{{1, mean, sd}}, 1, 0, 0, 0};
    if (!(rf32_abs(mean) <= RF32_LIMIT))
        return RF_REFUSED_VALUE;
    if (!(sd >= RF32_TINY && sd <= RF32_LIMIT))
        return RF_REFUSED_WIDTH;
    *g = one;
    return widen(g, 1, 0);
}

rf_status rf32_gaussians_diffuse(rf32_gaussians *g, float q)
{
    return q >= 0 && q <= RF32_LIMIT ? widen(g, 1, q) : RF_REFUSED_VALUE;
}

rf_status rf32_gaussians_stretch(rf32_gaussians *g, float factor)
{
    return factor > 0 && factor <= RF32_LIMIT ? widen(g, factor * factor, 0) : RF_REFUSED_VALUE;
}

/* ---- Reading ---- */

float rf32_gaussians_mean(const rf32_gaussians *g)
{
    float mean = 0;
    for (unsigned i = 0; i < g->count; i++)
        mean += g->part[i].weight * g->part[i].mean;
    return mean;
}

float rf32_gaussians_sd(const rf32_gaussians *g)
{
    const float mean = rf32_gaussians_mean(g);
    float variance = 0;
    for (unsigned i = 0; i < g->count; i++) {
        const float sd = g->part[i].sd, apart = g->part[i].mean - mean;
        variance += g->part[i].weight * (sd * sd + apart * apart);
    }
    return rf32_sqrt(variance);
}

float rf32_gaussians_quantile(const rf32_gaussians *g, float p)
{
    const float z = rf32_normal_quantile(p);
    float low = rf32_infinity(), high = -low;
    for (unsigned i = 0; i < g->count; i++) {
        const float y = g->part[i].mean + z * g->part[i].sd;
        low = rf32_min(low, y);
        high = rf32_max(high, y);
    }
    for (;;) { /* bisection until the ends of the bracket are neighbouring floats */
        const float y = low + 0.5f * (high - low);
        float below = 0;
        if (!(y > low && y < high))
            return y;
        for (unsigned i = 0; i < g->count; i++)
            below += g->part[i].weight * rf32_normal_cdf((y - g->part[i].mean) / g->part[i].sd);
        if (below > p)
            high = y;
        else
            low = y;
    }
}
