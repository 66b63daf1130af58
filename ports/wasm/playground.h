/* Interface of the playground: functions called by a page, and plain structs it reads. Every field is a 32-bit
   number; apps/site/rejfilt.js reads them by position. */
#ifndef REJFILT_PLAYGROUND_H
#define REJFILT_PLAYGROUND_H

#include "rejfilt/gaussians.h"

enum {
    PLAYGROUND_ATTEMPTS = 1000000, /* most attempts in a batch */
    PLAYGROUND_DRAWS = 4096,       /* most draws returned at once */
    PLAYGROUND_CURVE = 512,        /* points of the likelihood curve */
    PLAYGROUND_COARSE = 5          /* tracking, with a standard deviation held at the spacing of floats */
};

/* ---- A drifting truth, and the filter that tracks it ---- */

typedef struct playground_view {
    uint32_t step;              /* number of the latest update, from 0 */
    float truth;
    float mean, sd;             /* after the update */
    float prior_mean, prior_sd; /* after the drift and before the update: the distribution of the attempts */
    float time, reference;      /* of the experiment ... */
    float outcome;
    uint32_t is_anchor;         /* ... which is an anchor */
    uint32_t attempts, accepted;
    float kappa, delta;
    uint32_t health;            /* rf_health, or PLAYGROUND_COARSE */
    uint32_t widened;           /* number of times, since the start */
    float log_evidence, log_evidence_sd;
} playground_view;

typedef struct playground_draw {
    float x, height;   /* candidate, and u·κ: accepted if below the likelihood */
    uint32_t accepted;
} playground_draw;

/* Resets everything to defaults. Negative: an rf_status. */
int32_t track_open(uint32_t seed);

/* Takes effect with the next step. Designs: 0 quadrature, 1 pgh, 2 pgh-distance, 3 risk, 4 random times from 0 to
   15. kappa 0: controlled. drift: standard deviation of a step. Negative: refused, nothing changed. */
int32_t track_set(uint32_t attempts, uint32_t design, float kappa, float drift);

/* The truth jumps by `size` before the next measurement. */
void track_kick(float size);

/* The detector says 0 for the next `count` measurements. */
void track_fail(uint32_t count);

/* The truth's steps become `factor` times as large as the filter assumes; 0 to 10. */
void track_unrest(float factor);

/* One update: the world moves, the design chooses, the world answers, the filter learns. Negative: refused. */
int32_t track_step(void);

playground_view *track_view(void);
/* A few Gaussians that learn from the same records. Health widens, restarts and restores them together with the
   filter. */
rf32_gaussians *track_parts(void);
/* The whole memory of the filter. */
unsigned char *track_filter(void);
uint32_t track_filter_bytes(void);
/* Attempts first .. first + count − 1 of the latest update, at most PLAYGROUND_DRAWS. */
playground_draw *track_draws(uint32_t first, uint32_t count);
/* P(outcome | x) of the latest experiment at PLAYGROUND_CURVE equidistant points from low to high. */
float *track_likelihood(float low, float high);

/* ---- Digits, pixel by pixel ---- */

enum { DIGIT_SIDE = 28, DIGIT_PIXELS = DIGIT_SIDE * DIGIT_SIDE, DIGIT_CLASSES = 10, DIGIT_QUERIES = 64, DIGIT_POINTS = 512 };

typedef struct digits_answer {
    uint32_t digit, queries;
    uint32_t asked[DIGIT_QUERIES];                  /* pixels, in the order asked */
    float story[DIGIT_QUERIES * DIGIT_CLASSES];     /* after each: probability of each digit */
} digits_answer;

/* Generates up to `count` more training digits; returns their total number. When the total is complete, the
   classifier is ready. */
uint32_t digits_learn(uint32_t count);
uint32_t digits_wanted(void);

/* Buffer for a drawing: three numbers per point: x, y, and whether it is joined to the previous point. */
float *digits_points(void);
/* The drawing of `count` points as pixels, scaled to the size of the training digits. */
uint8_t *digits_draw(uint32_t count);
/* A digit like the training digits, but not one of them. */
uint8_t *digits_example(uint32_t number, uint32_t digit);
/* Asks for pixels of the latest drawing until the class is certain enough. NULL if not ready. */
digits_answer *digits_classify(void);

#endif
