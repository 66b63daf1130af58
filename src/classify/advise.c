/* Advice for one object while it is measured. */
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "model.h"

struct rfc_adviser {
    rfc_weighted *filter;
    const rfc_model *model;
    uint8_t *is_told; /* by feature */
    rfc_answer answer;
};

void rfc_adviser_close(rfc_adviser *a)
{
    if (!a)
        return;
    rfc_weighted_close(a->filter);
    rfc_answer_free(&a->answer);
    free(a->is_told);
    free(a);
}

rfc_adviser *rfc_adviser_open(const rfc_model *model, char *error, size_t size)
{
    if (!model) {
        rf_fail(error, size, "there is no model");
        return NULL;
    }
    if (model->rules.method != RFC_WEIGHTED) {
        rf_fail(error, size, "the paper's method gives no advice");
        return NULL;
    }
    rfc_adviser *a = calloc(1, sizeof *a);
    if (a) {
        a->model = model;
        a->filter = rfc_weighted_open(&model->laid, &model->rules, &model->tree);
        a->is_told = malloc(model->laid.features);
        a->answer.posterior = calloc(model->laid.classes, sizeof *a->answer.posterior);
        a->answer.asked = malloc((model->laid.features + (size_t)1) * sizeof *a->answer.asked);
        if (a->filter && a->is_told && a->answer.posterior && a->answer.asked)
            return a;
    }
    rfc_adviser_close(a);
    rf_fail(error, size, "out of memory for a filter over %u vectors", model->laid.count);
    return NULL;
}

int rfc_adviser_next(rfc_adviser *a, const rfc_told told[], uint32_t count, rfc_advice *advice)
{
    if (!a || !advice || (!told && count > 0))
        return -1;
    memset(a->is_told, 0, a->model->laid.features);
    for (uint32_t i = 0; i < count; i++) {
        if (told[i].feature >= a->model->laid.features || a->is_told[told[i].feature])
            return -1;
        a->is_told[told[i].feature] = 1;
    }
    rfc_weighted_advise(a->filter, told, count, &a->answer, advice);
    return 0;
}
