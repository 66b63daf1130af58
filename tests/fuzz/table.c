/* Tables from files with the ending FUZZ_ENDING. Without separate labels, a column becomes the label. */
#include "fuzz.h"

#include <math.h>
#include <string.h>

#include "tables/load.h"

/* Objects to be classified need no labels. */
static void check_table(const rfc_table *t, int is_test)
{
    const size_t cells = (size_t)t->rows * t->features;
    fuzz_require(t->rows > 0 && t->features > 0 && t->features <= RFC_FEATURES_MAX);
    fuzz_require(!t->bytes != !t->reals && t->label);
    fuzz_require((is_test || t->labels.count > 0) && t->labels.count <= RFC_LABELS_MAX);
    fuzz_require(t->names.count == 0 || t->names.count == t->features);
    fuzz_require(t->height == 0 || (size_t)t->height * t->width == t->features);
    unsigned sum = 0; /* reads every byte */
    for (size_t i = 0; i < cells; i++) {
        fuzz_require(!t->reals || isfinite(t->reals[i]));
        sum += (t->bytes ? t->bytes[i] : 0u) + (t->missing ? t->missing[i] : 0u);
    }
    fuzz_require(sum <= 510 * cells);
    for (uint32_t i = 0; i < t->rows && t->labels.count > 0; i++)
        fuzz_require(t->label[i] < t->labels.count);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    rfc_table train, test;
    char error[600] = "";
    const tables_source source = {.data = fuzz_file("table" FUZZ_ENDING, bytes, count)};
    if (tables_load(&source, &train, &test, error, sizeof error) < 0) {
        fuzz_require_message(error, sizeof error);
        fuzz_require(train.rows == 0 && test.rows == 0 && !train.bytes && !train.reals && !test.bytes && !test.reals);
        return 0;
    }
    check_table(&train, 0);
    if (test.rows > 0)
        check_table(&test, 1);
    rfc_task task;
    uint64_t left_out = 0;
    fuzz_require(rfc_task_parse("labels", NULL, &task, error, sizeof error) == 0);
    const uint32_t rows = train.rows;
    if (rfc_task_apply(&task, &train, &test, &left_out, error, sizeof error) < 0)
        fuzz_require_message(error, sizeof error);
    else
        fuzz_require(train.rows <= rows && task.classes.count >= 2);
    rfc_task_free(&task);
    rfc_table_free(&train);
    rfc_table_free(&test);
    return 0;
}
