/* What the playground exports: functions a page calls, and plain structures it reads. Every field is a 32-bit number, in
   this order; apps/site/rejfilt.js reads them by place. */
#ifndef REJFILT_PLAYGROUND_H
#define REJFILT_PLAYGROUND_H

#include "rejfilt/gaussians.h"

enum {
    PLAYGROUND_ATTEMPTS = 1000000, /* of one batch, at most */
    PLAYGROUND_DRAWS = 4096,       /* that can be looked at together */
    PLAYGROUND_CURVE = 512,        /* points of the likelihood's curve */
    PLAYGROUND_COARSE = 5          /* tracking, with a standard deviation held at the spacing of floats */
};

/* ---- A truth that drifts, and the filter that follows it ---- */

typedef struct playground_view {
    uint32_t step;              /* number of the latest update, from 0 */
    float truth;
    float mean, sd;             /* after it */
    float prior_mean, prior_sd; /* before it, after the drift: what the attempts were drawn from */
    float time, reference;      /* of the experiment ... */
    float outcome;
    uint32_t is_anchor;         /* ... which tested the filter */
    uint32_t attempts, accepted;
    float kappa, delta;
    uint32_t health;            /* rf_health, or PLAYGROUND_COARSE */
    uint32_t widened;           /* how often, since the start */
    float log_evidence, log_evidence_sd;
} playground_view;

typedef struct playground_draw {
    float x, height;   /* the candidate, and u·κ: accepted where that is below the likelihood */
    uint32_t accepted;
} playground_draw;

/* Begins again, with defaults. Negative: an rf_status. */
int32_t track_open(uint32_t seed);

/* Takes effect with the next step. Designs: 0 quadrature, 1 pgh, 2 pgh-distance, 3 risk, 4 times at random from
   0 to 15; kappa 0: controlled; drift is the standard deviation of a step. Negative: refused, nothing changed. */
int32_t track_set(uint32_t attempts, uint32_t design, float kappa, float drift);

/* The truth jumps by `size` before the next measurement. */
void track_kick(float size);

/* The detector says 0 for the next `count` measurements. */
void track_fail(uint32_t count);

/* The truth's steps are `factor` times as large as the filter believes, from 0 to 10. */
void track_unrest(float factor);

/* The world moves, the design asks, the world answers, the filter learns. Negative: refused. */
int32_t track_step(void);

playground_view *track_view(void);
/* A few Gaussians that learn from the same records. Health widens, restarts and takes them back with the filter. */
rf32_gaussians *track_parts(void);
/* All the memory of the filter. */
unsigned char *track_filter(void);
uint32_t track_filter_bytes(void);
/* Attempts first .. first + count − 1 of the latest update, at most PLAYGROUND_DRAWS. */
playground_draw *track_draws(uint32_t first, uint32_t count);
/* P(outcome | x) of the latest experiment at PLAYGROUND_CURVE equidistant x from low to high. */
float *track_likelihood(float low, float high);

/* ---- Digits, pixel by pixel ---- */

enum { DIGIT_SIDE = 28, DIGIT_PIXELS = DIGIT_SIDE * DIGIT_SIDE, DIGIT_CLASSES = 10, DIGIT_QUERIES = 64, DIGIT_POINTS = 512 };

typedef struct digits_answer {
    uint32_t digit, queries;
    uint32_t asked[DIGIT_QUERIES];                  /* pixels, in order */
    float story[DIGIT_QUERIES * DIGIT_CLASSES];     /* after each: what is believed of each digit */
} digits_answer;

/* Draws up to `count` more training digits; returns how many there are. When they are as many as wanted, the classifier is
   ready. */
uint32_t digits_learn(uint32_t count);
uint32_t digits_wanted(void);

/* Room for a drawing: x, y and whether it is joined to the point before, three numbers a point. */
float *digits_points(void);
/* The drawing of `count` points as pixels, brought to the size of the training digits. */
uint8_t *digits_draw(uint32_t count);
/* A digit like the training ones, but none of them. */
uint8_t *digits_example(uint32_t number, uint32_t digit);
/* Asks for pixels of what was drawn last until it is sure. Null when it is not ready. */
digits_answer *digits_classify(void);

#endif
