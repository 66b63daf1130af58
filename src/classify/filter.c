#include "filter.h"

#include <math.h>
#include <stdlib.h>

#include "engine.h"
#include "paper.h"
#include "weighted.h"

#define CLIP 7.0 /* limit of log-odds; beyond it they are uncertain */

struct rfc_filter {
    rfc_weighted *weighted; /* one of the two is set */
    rfc_paper *paper;
};

/* The factor on the wanted sample. In a neighbourhood wide enough for the other classes a small class is outnumbered,
   so below half of an equal share the sample shrinks with it, to a fifth at least. */
static double narrower(const rfc_training *t)
{
    double least = 1;
    for (uint32_t c = 0; c < t->classes; c++) {
        const double share = (double)(t->class_begin[c + 1] - t->class_begin[c]) / t->count;
        if (share < least) /* by fmin the loop ends gcc 12 for aarch64 with an internal error */
            least = share;
    }
    return fmin(fmax(2 * t->classes * least, 0.2), 1);
}

rfc_rules rfc_rules_default(rfc_method method, const rfc_training *training)
{
    rfc_rules rules = {.method = method, .stop = 0.001, .budget = training->features, .max_cost = INFINITY, .seed = 1};
    rules.floor = method == RFC_WEIGHTED ? 0.5 : 0;
    rules.gain = training->is_ranked && method == RFC_WEIGHTED ? RFC_RATIO : RFC_BETWEEN;
    rules.least_sample = 12;
    rules.most_sample = (training->is_ranked ? 100 : 400) * (training->class_begin ? narrower(training) : 1);
    rules.sharpest = training->is_ranked ? 4 : 8;
    if (method == RFC_WEIGHTED && rules.budget > RFC_QUESTIONS)
        rules.budget = RFC_QUESTIONS;
    rules.tries = training->height == 0 && method == RFC_WEIGHTED;
    rules.pilot = 10000;
    rules.particles = 1000;
    rules.restarts = 3;
    return rules;
}

double rfc_logit(double p)
{
    const double odds = log(p / (1 - p));
    return odds > CLIP ? CLIP : odds < -CLIP ? -CLIP : odds;
}

void rfc_calibrate(const double w[3], uint32_t classes, uint32_t asked, rfc_answer *a)
{
    const double old = (double)a->posterior[a->decided];
    if (w[0] == 0)
        return;
    const double new = 1 / (1 + exp(-(w[0] * rfc_logit(old) + w[1] * log(asked + 1.0) + w[2])));
    double others = 0; /* not 1 − old, which loses precision for a float near 1 */
    for (uint32_t c = 0; c < classes; c++)
        others += c == a->decided ? 0 : (double)a->posterior[c];
    for (uint32_t c = 0; c < classes; c++)
        a->posterior[c] = (float)(c == a->decided ? new
                                  : others > 0    ? (double)a->posterior[c] * (1 - new) / others
                                                  : (1 - new) / (classes - 1));
}

rfc_filter *rfc_filter_open(const rfc_training *training, const rfc_rules *rules, const rfc_tree *tree, char *error,
                            size_t size)
{
    rfc_filter *filter = calloc(1, sizeof *filter);
    if (filter && rules->method == RFC_WEIGHTED)
        filter->weighted = rfc_weighted_open(training, rules, tree);
    else if (filter)
        filter->paper = rfc_paper_open(training, rules);
    if (filter && (filter->weighted || filter->paper))
        return filter;
    free(filter);
    rf_fail(error, size, "out of memory for a filter over %u vectors", training->count);
    return NULL;
}

void rfc_filter_close(rfc_filter *filter)
{
    if (!filter)
        return;
    rfc_weighted_close(filter->weighted);
    rfc_paper_close(filter->paper);
    free(filter);
}

uint32_t rfc_filter_queries(const rfc_training *training, const rfc_rules *rules)
{
    return rules->method == RFC_PAPER || rules->budget < training->features ? rules->budget : training->features;
}

void rfc_filter_classify(rfc_filter *filter, const rfc_object *object, rfc_answer *answer)
{
    if (filter->weighted)
        rfc_weighted_classify(filter->weighted, object, answer);
    else
        rfc_paper_classify(filter->paper, object, answer);
}
