/* The contents of a grid; for grid.c, which changes it, and grid_read.c, which reads it. */
#ifndef REJFILT_GRID_STATE_H
#define REJFILT_GRID_STATE_H

#include <math.h>

#include "grid.h"
#include "stencil.h"

enum { TAPS_REACH_MAX = 1024, MARGIN = 2 * RF_STENCIL_REACH }; /* RF_STENCIL_TAIL · CIRCLE_SD · POINTS_LEAST is 720 */
#define PI 3.141592653589793

struct rf_grid {
    rf64_chart chart;
    rf64_model model; /* without charts */
    int failed;       /* the block function failed during this update */
    uint32_t points_max;
    int is_full; /* the points cover the whole circle */
    size_t n;    /* points; coordinate of point i is base + step · (first + i) */
    int64_t first;
    double base, step;
    double log_evidence, dropped;
    uint32_t unresolved;
    int is_swapped; /* p and other are swapped */
    size_t room;    /* of each of the three buffers */
    double taps[2 * TAPS_REACH_MAX + 1];
    double memory[];
};

/* n values with MARGIN beyond either end; p sums to 1/step. Without pointers, so that a copy of the bytes is a copy of
   the grid. */
static inline double *p_of(const rf_grid *g) { return (double *)g->memory + MARGIN + (g->is_swapped ? g->room : 0); }
static inline double *other_of(const rf_grid *g)
{
    return (double *)g->memory + MARGIN + (g->is_swapped ? 0 : g->room);
}
static inline double *like_of(const rf_grid *g) { return (double *)g->memory + MARGIN + 2 * g->room; }

static inline int is_periodic(const rf_grid *g) { return g->chart.kind == RF_PERIODIC; }
static inline double period(const rf_grid *g) { return g->chart.high - g->chart.low; }
static inline size_t circle(const rf_grid *g) { return (size_t)llround(period(g) / g->step); }
static inline double place(const rf_grid *g, double i) { return g->base + g->step * ((double)g->first + i); }
static inline double sum(const double *p, size_t n)
{
    double s = 0;
    for (size_t i = 0; i < n; i++)
        s += p[i];
    return s;
}

#endif
