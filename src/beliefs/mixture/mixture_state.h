/* The contents of a mixture. */
#ifndef REJFILT_MIXTURE_STATE_H
#define REJFILT_MIXTURE_STATE_H

#include "common.h"
#include "component.h"
#include "evaluate.h"
#include "mixture.h"

typedef struct mixture {
    rf_belief head;
    uint32_t updates, max, room, count; /* max, room: greatest number of Gaussians between records, and during one */
    uint32_t boxed;                     /* one bit for each parameter whose chart is its uniform prior's range */
    double loss;
    double kept;                /* share of the loss that survived the last time step */
    double drifted;             /* variance of the walk so far, in squared widths of the box it is largest for */
    uint32_t remembered;        /* records kept: all since the prior, or RF_FORGOTTEN */
    uint32_t next;              /* they are not learnt again before there are so many */
    rf64_chart charts[RF_ROOM]; /* of the components */
    /* followed by doubles: components; components after the record; their covariances; the table of points; with three
       parameters or more, records */
} mixture;

/* With RF_KEEPS_FROM parameters or more the first records are kept, as long as nothing else changes the belief. */
#define RF_FORGOTTEN UINT32_MAX
enum { RF_RECORDS_KEPT = 64, RF_KEEPS_FROM = 3 };

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
/* Record k of those kept: settings and outcome. */
static inline const double *rf_mixture_record(const mixture *m, uint32_t k)
{
    return points_of((mixture *)(uintptr_t)m) + (dim_of(m) <= 3 ? RF_POINTS_SIZE(dim_of(m)) : 0) +
           (size_t)k * (m->head.problem->description.settings + 1u);
}

/* The numbers in all of them. */
static inline size_t rf_mixture_kept(const mixture *m)
{
    return m->remembered == RF_FORGOTTEN ? 0 : m->remembered * (m->head.problem->description.settings + 1u);
}

/* Learns the kept records again, all together, from the prior. Writes the new Gaussians to after_of(m, 0 .. *count -
   1); none if too few points were effective. */
rf_status rf_mixture_recall(mixture *m, rf_evaluator *e, uint32_t *count, double *effective);

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
size_t rf_mixture_bytes(unsigned dim, unsigned settings, uint32_t max);
void rf_mixture_lay(rf_belief *belief, uint32_t max);
/* Call after the number of components changed: updates the bytes in use between records. */
void rf_mixture_settle(mixture *m);

/* Sets the charts: boxes for the parameters in `boxed`, the problem's charts for the others. */
void rf_mixture_take_charts(mixture *m, uint32_t boxed);
/* One bit for each parameter whose prior is uniform and narrower than its chart. */
uint32_t rf_mixture_boxes(const rf_problem *problem);

#endif
