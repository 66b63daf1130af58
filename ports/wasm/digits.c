/* The playground's classifier: the filter over training vectors of src/classify/, with digits generated when the
   page starts. Freestanding; compiled to wasm for the page and natively for the tests. */
#include <stdlib.h>

#include "digit.h"
#include "engine.h"
#include "kernel.h"
#include "playground.h"
#include "weighted.h"

enum {
    TRAINING = 1500,
    SEED = 1,
    EXAMPLES = 1000000, /* digits from this number on are examples, not training data */
    ROOM = 8 << 20 /* bytes for all memory of src/classify/: 1.5 × TRAINING × DIGIT_PIXELS and the filter's own */
};
#define HEIGHT 19.0f /* mean height of the training digits, */
#define WIDTH 15.0f  /* mean width of the wide ones, */
#define THICK 1.35f  /* half thickness of their lines; see also the shade */
#define INK 225.0f

_Static_assert(DIGIT_SIDE == (int)RFC_DIGIT_SIDE, "the page's pixels are the generator's");

static _Alignas(64) unsigned char room[ROOM];
static size_t taken;
static uint8_t rows[TRAINING * DIGIT_PIXELS], image[DIGIT_PIXELS];
static uint32_t labels[TRAINING], chosen[TRAINING], drawn;
static rfc_point points[DIGIT_POINTS];
static rfc_training training, laid;
static rfc_weighted *filter;
static float posterior[DIGIT_CLASSES];
static digits_answer answer;

/* ---- Functions that src/classify/ needs ---- */

void *digits_take(size_t bytes)
{
    const size_t whole = (bytes + 63) / 64 * 64;
    if (whole > ROOM - taken)
        return NULL;
    taken += whole;
    return room + taken - whole;
}

void *rfc_huge(size_t bytes) { return digits_take(bytes); }

int rf_fail(char *error, size_t size, const char *format, ...)
{
    (void)error, (void)size, (void)format;
    return -1;
}

extern const rfc_kernel rfc_kernel_baseline;
const rfc_kernel *rfc_kernels(void) { return &rfc_kernel_baseline; }

/* ---- Training ---- */

static void open_filter(void)
{
    const rfc_table table = {.rows = TRAINING,
                             .features = DIGIT_PIXELS,
                             .height = DIGIT_SIDE,
                             .width = DIGIT_SIDE,
                             .bytes = rows,
                             .label = labels};
    if (rfc_training_make(&table, chosen, TRAINING, DIGIT_CLASSES, SEED, &training, NULL, 0) < 0 ||
        rfc_training_lay(&training, 0, NULL, &laid) < 0)
        return;
    rfc_rules rules = rfc_rules_default(RFC_WEIGHTED, &training);
    rules.budget = DIGIT_QUERIES;
    filter = rfc_weighted_open(&laid, &rules, NULL);
}

uint32_t digits_wanted(void) { return TRAINING; }

uint32_t digits_learn(uint32_t count)
{
    for (; count > 0 && drawn < TRAINING; count--, drawn++) {
        chosen[drawn] = drawn;
        labels[drawn] = drawn % DIGIT_CLASSES;
        rfc_digit_draw(SEED, drawn, labels[drawn], rows + (size_t)drawn * DIGIT_PIXELS);
    }
    if (drawn == TRAINING && !filter)
        open_filter();
    return drawn;
}

/* ---- Drawings ---- */

float *digits_points(void) { return &points[0].x; }

/* Centres a drawing and scales it to the size of the training digits. */
static void fit(uint32_t count)
{
    float low_x = points[0].x, high_x = low_x, low_y = points[0].y, high_y = low_y;
    for (uint32_t i = 1; i < count; i++) {
        low_x = rf32_min(low_x, points[i].x);
        high_x = rf32_max(high_x, points[i].x);
        low_y = rf32_min(low_y, points[i].y);
        high_y = rf32_max(high_y, points[i].y);
    }
    const float tall = HEIGHT / rf32_max(high_y - low_y, 1e-6f), wide = WIDTH / rf32_max(high_x - low_x, 1e-6f);
    const float scale = rf32_min(tall, wide), middle = (DIGIT_SIDE - 1) * .5f;
    for (uint32_t i = 0; i < count; i++) {
        points[i].x = middle + scale * (points[i].x - .5f * (low_x + high_x));
        points[i].y = middle + scale * (points[i].y - .5f * (low_y + high_y));
    }
}

uint8_t *digits_draw(uint32_t count)
{
    const uint32_t max = count < DIGIT_POINTS ? count : DIGIT_POINTS;
    if (max > 0)
        fit(max);
    for (unsigned i = 0; i < DIGIT_PIXELS; i++)
        image[i] = (uint8_t)(max > 1 ? INK * rfc_digit_ink(points, max, THICK, i) : 0);
    return image;
}

uint8_t *digits_example(uint32_t number, uint32_t digit)
{
    rfc_digit_draw(SEED, EXAMPLES + number, digit % DIGIT_CLASSES, image);
    return image;
}

digits_answer *digits_classify(void)
{
    const rfc_object object = {image, NULL, 0, 0};
    rfc_answer told = {.posterior = posterior, .asked = answer.asked, .story = answer.story};
    if (!filter)
        return NULL;
    rfc_weighted_classify(filter, &object, &told);
    answer.digit = told.decided;
    answer.queries = told.queries;
    return &answer;
}
