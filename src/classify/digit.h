/* Digits from strokes, with random slant, thickness, position, size and noise. Not handwriting. */
#ifndef REJFILT_DIGIT_H
#define REJFILT_DIGIT_H

#include <stdint.h>

enum { RF_DIGIT_SIDE = 28 };

/* A point of lines in pixels, (0, 0) in the middle of the top left one; `joined` to the one before it unless 0. */
typedef struct rf_point {
    float x, y, joined;
} rf_point;

/* How much of a pixel lines of this half thickness cover, 0 to 1. */
float rf_digit_ink(const rf_point *line, unsigned points, float thick, unsigned pixel);

/* Digit `number` of a seed to image[RF_DIGIT_SIDE²], the same bits everywhere. */
void rf_digit_draw(uint64_t seed, uint32_t number, unsigned digit, uint8_t *image);

#endif
