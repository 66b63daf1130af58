/* Digits from strokes, with random slant, thickness, position, size and noise. Not handwriting. */
#ifndef REJFILT_DIGIT_H
#define REJFILT_DIGIT_H

#include <stdint.h>

enum { RFC_DIGIT_SIDE = 28 };

/* A point of lines in pixels, (0, 0) at the centre of the top left pixel; `joined` to the previous point unless 0. */
typedef struct rfc_point {
    float x, y, joined;
} rfc_point;

/* The share of a pixel, 0 to 1, that lines with half thickness `thick` cover. */
float rfc_digit_ink(const rfc_point *line, unsigned points, float thick, unsigned pixel);

/* Draws digit `number` of a seed to image[RF_DIGIT_SIDE²], the same bits on every machine. */
void rfc_digit_draw(uint64_t seed, uint32_t number, unsigned digit, uint8_t *image);

#endif
