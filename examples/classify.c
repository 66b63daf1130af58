/* Classification: learn from rows in memory, then ask for as few features of an object as it takes, one by one.
   cc examples/classify.c $(pkg-config --cflags --libs rejfilt) -o classify && ./classify */
#include <stdio.h>

#include "rejfilt/classify.h"
#include "rejfilt/rejfilt.h"

enum { FEATURES = 20, ROWS = 601 };

int main(void)
{
    const char *const kinds[] = {"red", "green", "blue"};
    rfc_table known = {.source = "known", .features = FEATURES}, object = {.source = "object", .features = FEATURES};
    char error[200];
    /* your data: every fifth feature depends on the class; the last row is the object, and its label is not used */
    for (uint32_t i = 0; i < ROWS; i++) {
        double value[FEATURES];
        for (uint32_t j = 0; j < FEATURES; j++)
            value[j] = (j % 5 == 0 ? i % 3 * 0.9 : 0) + rf64_uniform(rf_draw(1, i, j, 0, RF_FOR_USER).word[0]);
        if (rfc_table_add(i + 1 < ROWS ? &known : &object, value, kinds[i % 3]) < 0)
            return fprintf(stderr, "row %u is not taken\n", i), 1;
    }
    rfc_expected expected; /* errors and questions, by leave-one-out */
    rfc_model *model = rfc_model_learn(&known, &(rfc_wish){.seed = 1}, &expected, error, sizeof error);
    rfc_adviser *adviser = model ? rfc_adviser_open(model, error, sizeof error) : NULL;
    if (!adviser || rfc_coding_apply(rfc_model_coding(model), &object, error, sizeof error) < 0)
        return fprintf(stderr, "%s\n", error), 1;
    rfc_told told[FEATURES];
    uint32_t count = 0;
    rfc_advice advice;
    while (rfc_adviser_next(adviser, told, count, &advice) == 0 && advice.feature != RFC_NO_LABEL) {
        /* measure feature number advice.feature here; .is_unknown = 1 if that is impossible */
        told[count++] = (rfc_told){.feature = advice.feature, .value = object.bytes[advice.feature]};
    }
    printf("%s, truth %s: %u of %d features asked\n", rfc_model_classes(model)->text[advice.decided], object.labels.text[0],
           advice.queries, FEATURES);
    rfc_adviser_close(adviser);
    rfc_model_close(model);
    rfc_table_free(&known);
    rfc_table_free(&object);
}
