/* What a record makes of one Gaussian: likelihoods at a few points whose first two moments are exactly the Gaussian's,
   and the Gaussian with the moments of the posterior that they stand for. */
#ifndef REJFILT_EVALUATE_H
#define REJFILT_EVALUATE_H

#include "rejfilt/host.h"

/* Points of an evaluation in so many parameters. */
uint32_t rf_points_count(unsigned dim);
/* Of up to three parameters they are a fixed set but for a rotation: a lattice, each point weighted by the normal
   density there. For smooth likelihoods that is far more exact than as many points of equal weight. A table has it:
   weights, of mean 1, coordinates, one after the other, and roots of the weights, in rows of whole vectors; then which points
   are neighbours.
   More parameters have no table. */
#define RF_POINTS(dim) ((dim) == 1 ? 24u : (dim) == 2 ? 19u : (dim) == 3 ? 113u : 0u)     /* points of such a set */
#define RF_POINTS_ROW(dim) ((RF_POINTS(dim) + 7u) & ~7u)                                  /* numbers of a row */
#define RF_POINTS_PAIRS(dim) ((dim) == 2 ? 42u : (dim) == 3 ? 556u : 0u)                 /* neighbours, two bytes each */
#define RF_POINTS_SIZE(dim) (((dim) + 2) * RF_POINTS_ROW(dim) + RF_POINTS_PAIRS(dim) / 4 + 1) /* of the table, in numbers */
void rf_points_make(unsigned dim, double points[]);
/* Coordinate d of point k of a sequence of normals that fills the space evenly, from anywhere in it. */
double rf_points_normal(unsigned d, uint32_t start, uint32_t k);
/* Points 0 .. count - 1 of it. */
void rf_points_normals(unsigned d, uint32_t start, uint32_t count, double z[]);

/* One record, and what the evaluations of an update have in common. */
typedef struct rf_evaluator {
    const rf64_model *model;
    const double *record;             /* settings, then the outcome */
    double power;                     /* of its likelihood */
    const double *fixed;              /* rf_points_make */
    uint64_t seed;                    /* of the belief */
    uint32_t update;                  /* number of the update */
    uint32_t evaluations, points;     /* so far in this update */
    uint32_t nan, negative, infinite; /* likelihoods that counted as zero */
    double *wanted;      /* null, or where rf_evaluate leaves its points, and does nothing else */
    const double *known; /* null, or the likelihoods of the next points: the model is not asked */
} rf_evaluator;

/* What an evaluation found. */
typedef struct rf_evaluation {
    double likelihood; /* mean over the points, divided by exp(scale); 0: impossible, and the Gaussian stays */
    double scale;      /* 0 unless the model returns logarithms */
    double loss;       /* Kullback-Leibler divergence of the new Gaussian from the posterior, in nats */
    double effective;  /* points, by their weights */
    int is_narrow;     /* these are too few: the posterior is narrower than the points are apart */
    double slopes[3];  /* of two or three parameters: how much the likelihood varies along each column of the factor */
} rf_evaluation;

/* after ← the posterior of a component, projected; its weight stays. Refused: the model failed. */
rf_status rf_evaluate(rf_evaluator *e, const double *component, double *after, rf_evaluation *result);

/* The column of its factor along which the likelihood varies most; `found` is what rf_evaluate found. */
rf_status rf_evaluate_axis(rf_evaluator *e, const double *component, const rf_evaluation *found, unsigned *axis);

#endif
