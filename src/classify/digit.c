#include "digit.h"

#include "random.h"
#include "rejfilt/functions.h"

enum { SIDE = RFC_DIGIT_SIDE, STROKES = 6, PIECES = 10, POINTS = STROKES * (PIECES + 1) };

/* A stroke is a quadratic Bézier curve in the unit square, (0, 0) at the top left: x and y of its start, control point
   and end. */
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

/* Converts the digit's lines to pixels. Returns the number of points. */
static unsigned place(uint64_t seed, uint32_t number, unsigned digit, rfc_point *line)
{
    float u[12];
    for (unsigned k = 0; k < 12; k += 4)
        rfc_uniforms(seed, number, k / 4, RFC_FOR_DIGIT, u + k);
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
            y = (y > 0 ? rf32_pow_positive(y, stretch) : 0) - .5f;
            x += bend * (1 - 4 * y * y) - slant * y;
            line[points++] =
                (rfc_point){middle_x + width * x - turn * height * y, middle_y + height * y + turn * width * x, p > 0};
        }
    }
    return points;
}

/* Distance of (x, y) from the lines. */
static float distance_to(const rfc_point *line, unsigned points, float x, float y)
{
    float least = 1e9f;
    for (unsigned i = 1; i < points; i++) {
        float ax = line[i - 1].x, ay = line[i - 1].y, dx = line[i].x - ax, dy = line[i].y - ay;
        float t = ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy + 1e-9f);
        t = t < 0 ? 0 : t > 1 ? 1 : t;
        float ex = x - ax - t * dx, ey = y - ay - t * dy, d = ex * ex + ey * ey;
        least = line[i].joined != 0 && d < least ? d : least;
    }
    return rf32_sqrt(least);
}

float rfc_digit_ink(const rfc_point *line, unsigned points, float thick, unsigned pixel)
{
    float edge = thick + .5f - distance_to(line, points, (float)(pixel % SIDE), (float)(pixel / SIDE));
    return edge < 0 ? 0 : edge > 1 ? 1 : edge;
}

void rfc_digit_draw(uint64_t seed, uint32_t number, unsigned digit, uint8_t *image)
{
    rfc_point line[POINTS];
    float u[4], noise[4];
    unsigned points = place(seed, number, digit, line);
    rfc_uniforms(seed, number, 3, RFC_FOR_DIGIT, u);
    float thick = .7f + 1.3f * u[0], ink = 190 + 65 * u[1];
    for (unsigned i = 0; i < SIDE * SIDE; i++) {
        if (i % 4 == 0)
            rfc_uniforms(seed, number, 4 + i / 4, RFC_FOR_DIGIT, noise);
        float value = ink * rfc_digit_ink(line, points, thick, i) * (.85f + .3f * noise[i % 4]);
        image[i] = (uint8_t)(value > 255 ? 255 : value);
    }
}
