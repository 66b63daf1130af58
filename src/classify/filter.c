#include "filter.h"

#include <math.h>
#include <stdlib.h>

#include "engine.h"
#include "paper.h"
#include "weighted.h"

struct rfc_filter {
    rfc_weighted *weighted; /* one of the two */
    rfc_paper *paper;
};

rfc_rules rfc_rules_default(rfc_method method, const rfc_training *training)
{
    rfc_rules rules = {.method = method, .stop = 0.001, .budget = training->features, .max_cost = INFINITY, .seed = 1};
    rules.floor = method == RFC_WEIGHTED ? 0.5 : 0;
    rules.gain = RFC_BETWEEN;
    rules.least_sample = 12;
    rules.particles = 1000;
    rules.restarts = 3;
    return rules;
}

rfc_filter *rfc_filter_open(const rfc_training *training, const rfc_rules *rules, char *error, size_t size)
{
    rfc_filter *filter = calloc(1, sizeof *filter);
    if (filter && rules->method == RFC_WEIGHTED)
        filter->weighted = rfc_weighted_open(training, rules);
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
