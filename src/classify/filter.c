#include "filter.h"

#include <math.h>
#include <stdlib.h>

#include "engine.h"
#include "paper.h"
#include "weighted.h"

struct rf_cloud {
    rf_weighted *weighted; /* one of the two */
    rf_paper *paper;
};

rf_rules rf_rules_default(rf_method method, const rf_training *training)
{
    rf_rules rules = {.method = method, .stop = 0.001, .budget = training->features, .most_cost = INFINITY, .seed = 1};
    rules.floor = method == RF_WEIGHTED ? 0.5 : 0;
    rules.gain = RF_BETWEEN;
    rules.least_sample = 12;
    rules.particles = 1000;
    rules.restarts = 3;
    return rules;
}

rf_cloud *rf_cloud_open(const rf_training *training, const rf_rules *rules, char *error, size_t size)
{
    rf_cloud *cloud = calloc(1, sizeof *cloud);
    if (cloud && rules->method == RF_WEIGHTED)
        cloud->weighted = rf_weighted_open(training, rules);
    else if (cloud)
        cloud->paper = rf_paper_open(training, rules);
    if (cloud && (cloud->weighted || cloud->paper))
        return cloud;
    free(cloud);
    rf_fail(error, size, "out of memory for a filter over %u vectors", training->count);
    return NULL;
}

void rf_cloud_close(rf_cloud *cloud)
{
    if (!cloud)
        return;
    rf_weighted_close(cloud->weighted);
    rf_paper_close(cloud->paper);
    free(cloud);
}

uint32_t rf_cloud_queries(const rf_training *training, const rf_rules *rules)
{
    return rules->method == RF_PAPER || rules->budget < training->features ? rules->budget : training->features;
}

void rf_cloud_classify(rf_cloud *cloud, const rf_object *object, rf_answer *answer)
{
    if (cloud->weighted)
        rf_weighted_classify(cloud->weighted, object, answer);
    else
        rf_paper_classify(cloud->paper, object, answer);
}
