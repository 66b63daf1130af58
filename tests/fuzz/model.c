/* Model files: a valid one, in which bytes are replaced and the checksum corrected; if it loads, it is used. */
#include "fuzz.h"

#include <math.h>
#include <string.h>

#include "model.h"
#include "sealed.h"

enum { ROWS = 60, FEATURES = 4, ROOM = 1 << 16 };

static _Alignas(64) uint8_t whole[ROOM];
static size_t length;

/* A table of two numbers, a category and noise, of three classes. */
static void make_whole(void)
{
    char error[300] = "";
    rfc_table table = {.features = FEATURES};
    rfc_task task;
    fuzz_require(rfc_task_parse(NULL, "a:x b:y c:z", &task, error, sizeof error) == 0);
    static const char *const label[] = {"a", "b", "c"};
    for (int i = 0; i < ROWS; i++) {
        const double value[FEATURES] = {i % 3 + 0.01 * i, i % 3 * 2.0 - 0.02 * i, i % 2, i * 7 % 11};
        fuzz_require(rfc_table_add(&table, value, label[i % 3]) == 0);
    }
    rfc_coding *coding = rfc_coding_make(&table, RFC_SCALE_EACH, error, sizeof error);
    fuzz_require(coding && rfc_coding_apply(coding, &table, error, sizeof error) == 0);
    rfc_training *training = rfc_training_open(&table, NULL, ROWS, 3, 1, error, sizeof error);
    fuzz_require(training);
    const rfc_rules rules = rfc_rules_default(RFC_WEIGHTED, training);
    rfc_model *model = rfc_model_fit(training, &rules, 1, NULL, NULL, error, sizeof error);
    fuzz_require(model && rfc_model_describe(model, &task, &table, coding) == 0);
    length = rfc_model_save(model, whole, sizeof whole);
    fuzz_require(length > 0 && length <= sizeof whole);
    rfc_model_close(model);
    rfc_training_close(training);
    rfc_table_free(&table);
    rfc_task_free(&task);
}

static void ask(const rfc_model *model)
{
    char error[300] = "";
    rfc_told told[8];
    rfc_advice advice;
    rfc_adviser *adviser = rfc_adviser_open(model, error, sizeof error);
    fuzz_require(adviser);
    for (uint32_t count = 0; count < 8; count++) {
        if (rfc_adviser_next(adviser, told, count, &advice) < 0)
            break;
        fuzz_require(advice.decided < rfc_model_classes(model)->count);
        if (advice.feature == RFC_NO_LABEL)
            break;
        fuzz_require(advice.feature < rfc_model_features(model));
        told[count] = (rfc_told){advice.feature, (uint8_t)(37 * count), count == 3};
    }
    rfc_adviser_close(adviser);
}

/* Three input bytes make one change: the position, in units that reach the whole file, and the new value. The first
   byte decides whether the file is cut short. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    static _Alignas(64) uint8_t changed[ROOM];
    char error[300] = "";
    if (length == 0)
        make_whole();
    const size_t cut = count > 0 && bytes[0] < 8 ? (size_t)bytes[0] * 64 : 0, left = length - cut;
    memcpy(changed, whole, length);
    for (size_t i = 1; i + 3 <= count; i += 3)
        changed[((size_t)bytes[i] << 8 | bytes[i + 1]) % length] = bytes[i + 2];
    rf_seal(changed, left, "RFMODEL\n", rf_sealed_version(changed, left, "RFMODEL\n"));
    rfc_model *model = rfc_model_load(changed, left, error, sizeof error);
    if (!model) {
        fuzz_require_message(error, sizeof error);
        return 0;
    }
    ask(model);
    rfc_model_close(model);
    return 0;
}
