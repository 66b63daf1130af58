/* The contents of a mixture. */
#ifndef REJFILT_MIXTURE_STATE_H
#define REJFILT_MIXTURE_STATE_H

#include "common.h"
#include "component.h"
#include "mixture.h"

typedef struct mixture {
    rf_belief head;
    uint32_t updates, max, room, count; /* max, room: greatest number of Gaussians between records, and during one */
    uint32_t boxed;                     /* one bit for each parameter whose chart is its uniform prior's range */
    double loss;
    double kept;                /* share of the loss that survived the last time step */
    double drifted;             /* variance of the walk so far, in squared widths of the box it is largest for */
    rf64_chart charts[RF_ROOM]; /* of the components */
    /* followed by doubles: components; components after the record; their covariances; the table of points */
} mixture;

static inline unsigned dim_of(const mixture *m) { return RF_DIM(m->head.problem->description.dim); }
static inline const double *component_in(const mixture *m, uint32_t i)
{
    return (const double *)(const void *)(m + 1) + i * rf_component_size(dim_of(m));
}
static inline double *component_of(mixture *m, uint32_t i)
{
    return (double *)(void *)(m + 1) + i * rf_component_size(dim_of(m));
}
static inline double *after_of(mixture *m, uint32_t i) { return component_of(m, m->room + i); }
static inline double *covariance_of(mixture *m, uint32_t i)
{
    return component_of(m, 2 * m->room) + i * RF_TRIANGLE(dim_of(m));
}

static inline double *points_of(mixture *m) { return covariance_of(m, m->room); }

/* In mixture_open.c; not compiled for a GPU. */
rf_belief *rf_mixture_open(const rf_belief_setup *setup, char *error, size_t size);
size_t rf_mixture_save(const rf_belief *belief, unsigned char *bytes);
int rf_mixture_load(rf_belief *belief, const unsigned char *bytes, size_t size);

/* A mixture of at most `max` Gaussians before its first prior: greatest number during a record, size in bytes, and the
   constant parts. */
static inline uint32_t rf_mixture_room(uint32_t max)
{
    enum { EACH = 4 };
    return max < 2 ? 1 : EACH * max < RF_MIXTURE_MAX ? EACH * max : RF_MIXTURE_MAX;
}
size_t rf_mixture_bytes(unsigned dim, uint32_t max);
void rf_mixture_lay(rf_belief *belief, uint32_t max);
/* Call after the number of components changed: updates the bytes in use between records. */
void rf_mixture_settle(mixture *m);

/* Sets the charts: boxes for the parameters in `boxed`, the problem's charts for the others. */
void rf_mixture_take_charts(mixture *m, uint32_t boxed);
/* One bit for each parameter whose prior is uniform and narrower than its chart. */
uint32_t rf_mixture_boxes(const rf_problem *problem);

#endif
