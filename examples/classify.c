/* Classification: learn from rows in memory, then ask an object for as few of its features as it takes.
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
    rfc_scaling used;
    if (rfc_scale(&known, &object, RFC_SCALE_AUTO, &used, error, sizeof error) < 0)
        return fprintf(stderr, "%s\n", error), 1;
    rfc_training *training = rfc_training_open(&known, NULL, known.rows, known.labels.count, 1, error, sizeof error);
    if (!training)
        return fprintf(stderr, "%s\n", error), 1;
    const rfc_rules rules = rfc_rules_default(RFC_WEIGHTED, training);
    const rfc_objects objects = {&object, NULL, 1};
    rfc_answer answer;
    if (rfc_classify_one(training, &rules, &objects, 0, &answer, error, sizeof error) < 0)
        return fprintf(stderr, "%s\n", error), 1;
    printf("%s, truth %s: %u of %d features asked\n", known.labels.text[answer.decided], object.labels.text[0],
           answer.queries, FEATURES);
    rfc_answer_free(&answer);
    rfc_training_close(training);
    rfc_table_free(&known);
    rfc_table_free(&object);
}
