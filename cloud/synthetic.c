/* Digits from strokes, with random slant, thickness, position, size and noise. Not handwriting. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine.h"
#include "load.h"
#include "random.h"

enum { SIDE = 28, STROKES = 6, PIECES = 10, POINTS = STROKES * (PIECES + 1) };

/* A stroke is a quadratic Bézier curve in a box from (0, 0), top left, to (1, 1): x and y of its start,
   its control point and its end. */
typedef struct stroke {
    float x[3], y[3];
} stroke;

static const stroke shapes[10][STROKES] = {
    {{{.5f, .0f, .0f}, {.0f, .0f, .5f}},
     {{.0f, .0f, .5f}, {.5f, 1, 1}},
     {{.5f, 1, 1}, {1, 1, .5f}},
     {{1, 1, .5f}, {.5f, .0f, .0f}}},
    {{{.3f, .4f, .55f}, {.2f, .15f, 0}}, {{.55f, .55f, .55f}, {0, .5f, 1}}},
    {{{.05f, .2f, .5f}, {.25f, 0, 0}},
     {{.5f, 1, .95f}, {0, 0, .35f}},
     {{.95f, .7f, 0}, {.35f, .6f, 1}},
     {{0, .5f, 1}, {1, 1, .95f}}},
    {{{.1f, .5f, .8f}, {.1f, -.1f, .1f}},
     {{.8f, 1, .4f}, {.1f, .45f, .48f}},
     {{.4f, 1.1f, .9f}, {.48f, .5f, .8f}},
     {{.9f, .6f, .05f}, {.8f, 1.15f, .9f}}},
    {{{.65f, .4f, 0}, {0, .4f, .65f}}, {{0, .5f, 1}, {.65f, .65f, .65f}}, {{.7f, .7f, .7f}, {.3f, .6f, 1}}},
    {{{.9f, .5f, .15f}, {0, 0, 0}},
     {{.15f, .12f, .1f}, {0, .2f, .45f}},
     {{.1f, 1, .95f}, {.45f, .3f, .7f}},
     {{.95f, .85f, .05f}, {.7f, 1.1f, .95f}}},
    {{{.75f, .2f, .05f}, {0, .2f, .7f}},
     {{.05f, 0, .5f}, {.7f, 1, 1}},
     {{.5f, 1, .95f}, {1, 1, .7f}},
     {{.95f, .7f, .08f}, {.7f, .35f, .65f}}},
    {{{.0f, .5f, 1}, {.02f, 0, .02f}}, {{1, .5f, .35f}, {.02f, .5f, 1}}},
    {{{.5f, -.1f, .5f}, {0, .2f, .47f}},
     {{.5f, 1.1f, .5f}, {.47f, .2f, 0}},
     {{.5f, -.3f, .5f}, {.47f, .8f, 1}},
     {{.5f, 1.3f, .5f}, {1, .8f, .47f}}},
    {{{.9f, .4f, .1f}, {.15f, -.2f, .25f}}, {{.1f, .2f, .9f}, {.25f, .75f, .35f}}, {{.9f, .92f, .8f}, {.15f, .6f, 1}}},
};

typedef struct point {
    float x, y;
} point;

/* The digit's polyline in pixels; breaks between strokes are where `joined` is 0. Returns its length. */
static unsigned place(uint64_t seed, uint32_t number, unsigned digit, point *line, unsigned char *joined)
{
    float u[12];
    for (unsigned k = 0; k < 12; k += 4)
        rf_uniforms(seed, number, k / 4, RF_FOR_DIGIT, u + k);
    float height = 17 + 4 * u[0], width = 9 + 7 * u[1], slant = -.35f + .7f * u[2], turn = -.15f + .3f * u[3];
    float middle_x = 14 + 4 * (u[4] - .5f), middle_y = 14 + 4 * (u[5] - .5f), bend = .25f * (u[6] - .5f),
          stretch = .7f + .6f * u[7];
    unsigned points = 0;
    for (unsigned s = 0; s < STROKES; s++) {
        const stroke *b = &shapes[digit][s];
        if (b->x[0] == b->x[2] && b->y[0] == b->y[2])
            break;
        for (unsigned p = 0; p <= PIECES; p++) {
            float t = (float)p / PIECES, a = (1 - t) * (1 - t), c = 2 * t * (1 - t), e = t * t;
            float x = a * b->x[0] + c * b->x[1] + e * b->x[2] - .5f, y = a * b->y[0] + c * b->y[1] + e * b->y[2];
            y = powf(y > 0 ? y : 0, stretch) - .5f;
            x += bend * (1 - 4 * y * y) - slant * y;
            line[points] = (point){middle_x + width * x - turn * height * y, middle_y + height * y + turn * width * x};
            joined[points++] = p > 0;
        }
    }
    return points;
}

static float distance_to(const point *line, const unsigned char *joined, unsigned points, float x, float y)
{
    float least = 1e9f;
    for (unsigned i = 1; i < points; i++) {
        float ax = line[i - 1].x, ay = line[i - 1].y, dx = line[i].x - ax, dy = line[i].y - ay;
        float t = ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy + 1e-9f);
        t = t < 0 ? 0 : t > 1 ? 1 : t;
        float ex = x - ax - t * dx, ey = y - ay - t * dy, d = ex * ex + ey * ey;
        least = joined[i] && d < least ? d : least;
    }
    return sqrtf(least);
}

static void draw(uint64_t seed, uint32_t number, unsigned digit, uint8_t *image)
{
    point line[POINTS];
    unsigned char joined[POINTS];
    float u[4], noise[4];
    unsigned points = place(seed, number, digit, line, joined);
    rf_uniforms(seed, number, 3, RF_FOR_DIGIT, u);
    float thick = .7f + 1.3f * u[0], ink = 190 + 65 * u[1];
    for (unsigned i = 0; i < SIDE * SIDE; i++) {
        if (i % 4 == 0)
            rf_uniforms(seed, number, 4 + i / 4, RF_FOR_DIGIT, noise);
        float edge = thick + .5f - distance_to(line, joined, points, (float)(i % SIDE), (float)(i / SIDE));
        float value = ink * (edge < 0 ? 0 : edge > 1 ? 1 : edge) * (.85f + .3f * noise[i % 4]);
        image[i] = (uint8_t)(value > 255 ? 255 : value);
    }
}

int rf_synthetic(uint64_t seed, uint32_t first, uint32_t count, rf_table *t, char *error, size_t size)
{
    static const char *const digits[10] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
    snprintf(t->source, sizeof t->source, "synthetic digits");
    t->features = SIDE * SIDE;
    t->height = t->width = SIDE;
    t->bytes = malloc((size_t)count * t->features);
    t->label = malloc(count * sizeof *t->label);
    int status = t->bytes && t->label ? 0 : -1;
    for (unsigned i = 0; i < 10 && status == 0; i++)
        status = rf_names_add(&t->labels, digits[i]);
    if (status < 0)
        return rf_fail(error, size, "out of memory for synthetic digits");
    t->rows = count;
    t->room = count;
    for (uint32_t i = 0; i < count; i++) {
        t->label[i] = (first + i) % 10;
        draw(seed, first + i, t->label[i], t->bytes + (size_t)i * t->features);
    }
    return 0;
}
