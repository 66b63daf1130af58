/* One Gaussian and one record: evaluates the likelihood at a few points whose first two moments are exactly the
   Gaussian's, and projects the posterior that they represent on a Gaussian with the same moments. */
#ifndef REJFILT_EVALUATE_H
#define REJFILT_EVALUATE_H

#include "rejfilt/host.h"

/* Number of points of an evaluation. */
uint32_t rf_points_count(unsigned dim);
/* For up to three parameters the points are a fixed set, randomly rotated: a lattice, each point weighted by the normal
   density there. For smooth likelihoods that is far more exact than the same number of equally weighted points. The
   table holds, in rows of whole vectors, the weights (mean 1), the coordinates one after the other, and the square
   roots of the weights; then the pairs of neighbours. More parameters have no table. */
#define RF_POINTS(dim) ((dim) == 1 ? 24u : (dim) == 2 ? 19u : (dim) == 3 ? 113u : 0u)     /* points of such a set */
#define RF_POINTS_ROW(dim) ((RF_POINTS(dim) + 7u) & ~7u)                                  /* numbers of a row */
#define RF_POINTS_PAIRS(dim) ((dim) == 2 ? 42u : (dim) == 3 ? 556u : 0u)                 /* neighbours, two bytes each */
#define RF_POINTS_SIZE(dim) (((dim) + 2) * RF_POINTS_ROW(dim) + RF_POINTS_PAIRS(dim) / 4 + 1) /* of the table, in doubles */
void rf_points_make(unsigned dim, double points[]);
/* Coordinate d of point k of a low-discrepancy sequence of normals, beginning at any `start`. */
double rf_points_normal(unsigned d, uint32_t start, uint32_t k);
/* Points 0 .. count - 1 of that sequence. */
void rf_points_normals(unsigned d, uint32_t start, uint32_t count, double z[]);

/* One record, and what the evaluations of an update share. */
typedef struct rf_evaluator {
    const rf64_model *model;
    const double *record;             /* settings, then the outcome */
    double power;                     /* of the record's likelihood */
    const double *fixed;              /* the table of rf_points_make */
    uint64_t seed;                    /* of the belief */
    uint32_t update;                  /* number of the update */
    uint32_t evaluations, points;     /* totals of this update */
    uint32_t nan, negative, infinite; /* likelihoods that counted as zero, by reason */
    double *wanted;      /* if not null, rf_evaluate only writes its points here */
    const double *known; /* if not null, the likelihoods of the next points; the model is not called */
} rf_evaluator;

/* The result of an evaluation. */
typedef struct rf_evaluation {
    double likelihood; /* mean over the points, divided by exp(scale); 0: impossible, the Gaussian is unchanged */
    double scale;      /* 0 unless the model returns logarithms */
    double loss;       /* KL divergence of the new Gaussian from the posterior, in nats */
    double effective;  /* effective number of points */
    int is_narrow;     /* too few effective points: the posterior is narrower than their spacing */
    double slopes[3];  /* two or three parameters: variation of the likelihood along each column of the factor */
} rf_evaluation;

/* after ← the projected posterior of a component, with its old weight. Returns a negative status if the model
   failed. */
rf_status rf_evaluate(rf_evaluator *e, const double *component, double *after, rf_evaluation *result);

/* Finds the column of the factor along which the likelihood varies most; `found` is the result of rf_evaluate. */
rf_status rf_evaluate_axis(rf_evaluator *e, const double *component, const rf_evaluation *found, unsigned *axis);

#endif
