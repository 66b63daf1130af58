/* The playground's classifier: the filter over training vectors of src/classify/, on digits that are drawn when the page begins.
   Freestanding; compiled to wasm for the page and natively for the tests. */
#include <stdlib.h>

#include "digit.h"
#include "engine.h"
#include "kernel.h"
#include "playground.h"
#include "weighted.h"

enum {
    TRAINING = 1500,
    SEED = 1,
    EXAMPLES = 1000000, /* number of the first digit that is an example, not for training */
    ROOM = 8 << 20      /* bytes for all that src/classify/ keeps: 1.5 × TRAINING × DIGIT_PIXELS and the filter's own */
};
#define HEIGHT 19.0f /* of the training digits, on average, */
#define WIDTH 15.0f  /* of wide ones, */
#define THICK 1.35f  /* their lines' half thickness, and what shade these are */
#define INK 225.0f

_Static_assert(DIGIT_SIDE == (int)RF_DIGIT_SIDE, "the page's pixels are the generator's");

static _Alignas(64) unsigned char room[ROOM];
static size_t taken;
static uint8_t rows[TRAINING * DIGIT_PIXELS], image[DIGIT_PIXELS];
static uint32_t labels[TRAINING], chosen[TRAINING], drawn;
static rf_point points[DIGIT_POINTS];
static rf_training training, laid;
static rf_weighted *cloud;
static float posterior[DIGIT_CLASSES];
static digits_answer answer;

/* ---- What src/classify/ needs of its surroundings ---- */

void *digits_take(size_t bytes)
{
    const size_t whole = (bytes + 63) / 64 * 64;
    if (whole > ROOM - taken)
        return NULL;
    taken += whole;
    return room + taken - whole;
}

void *rf_huge(size_t bytes) { return digits_take(bytes); }

int rf_fail(char *error, size_t size, const char *format, ...)
{
    (void)error, (void)size, (void)format;
    return -1;
}

extern const rf_cloud_kernel rf_cloud_kernel_0;
const rf_cloud_kernel *rf_cloud_kernels(void) { return &rf_cloud_kernel_0; }

/* ---- Training ---- */

static void open_cloud(void)
{
    const rf_table table = {.rows = TRAINING, .features = DIGIT_PIXELS, .bytes = rows, .label = labels};
    if (rf_training_make(&table, chosen, TRAINING, DIGIT_CLASSES, SEED, &training, NULL, 0) < 0 ||
        rf_training_lay(&training, 0, NULL, &laid) < 0)
        return;
    rf_rules rules = rf_rules_default(RF_WEIGHTED, &training);
    rules.budget = DIGIT_QUERIES;
    cloud = rf_weighted_open(&laid, &rules);
}

uint32_t digits_wanted(void) { return TRAINING; }

uint32_t digits_learn(uint32_t count)
{
    for (; count > 0 && drawn < TRAINING; count--, drawn++) {
        chosen[drawn] = drawn;
        labels[drawn] = drawn % DIGIT_CLASSES;
        rf_digit_draw(SEED, drawn, labels[drawn], rows + (size_t)drawn * DIGIT_PIXELS);
    }
    if (drawn == TRAINING && !cloud)
        open_cloud();
    return drawn;
}

/* ---- Drawings ---- */

float *digits_points(void) { return &points[0].x; }

/* Brings a drawing to the middle, and to the size of the training digits. */
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
    const uint32_t most = count < DIGIT_POINTS ? count : DIGIT_POINTS;
    if (most > 0)
        fit(most);
    for (unsigned i = 0; i < DIGIT_PIXELS; i++)
        image[i] = (uint8_t)(most > 1 ? INK * rf_digit_ink(points, most, THICK, i) : 0);
    return image;
}

uint8_t *digits_example(uint32_t number, uint32_t digit)
{
    rf_digit_draw(SEED, EXAMPLES + number, digit % DIGIT_CLASSES, image);
    return image;
}

digits_answer *digits_classify(void)
{
    const rf_object object = {image, NULL, 0};
    rf_answer told = {.posterior = posterior, .asked = answer.asked, .story = answer.story};
    if (!cloud)
        return NULL;
    rf_weighted_classify(cloud, &object, &told);
    answer.digit = told.class;
    answer.queries = told.queries;
    return &answer;
}
