/* The Kalman filter with scalar observations, in square-root form (Potter): the covariance is S·Sᵀ, and
   only S is kept, so that it is symmetric and not indefinite whatever the rounding. */
#ifndef REJFILT_KALMAN_H
#define REJFILT_KALMAN_H

enum { KALMAN_DIM_MAX = 16 };

typedef struct kalman {
    unsigned dim;
    double mean[KALMAN_DIM_MAX];
    double root[KALMAN_DIM_MAX * KALMAN_DIM_MAX]; /* S, dim × dim, by rows */
    double log_evidence;                          /* of all observations so far */
} kalman;

/* Matrices are dim × dim by rows. Functions return 0, or -1 with nothing changed for a dimension out of
   range, a number that is not finite, or a covariance that has a negative eigenvalue. */

int kalman_init(kalman *k, unsigned dim, const double mean[], const double covariance[]);

/* x ← F·x + noise of covariance Q. Null F is the identity, null Q no noise; Q may be singular. */
int kalman_predict(kalman *k, const double F[], const double Q[]);

/* Learns from y = h·x + noise of variance r >= 0 and returns ln p(y). NaN, with nothing changed, for
   numbers that are not finite or when y is known already (r = 0 and h·P·h = 0). */
double kalman_update(kalman *k, const double h[], double r, double y);

double kalman_covariance(const kalman *k, unsigned i, unsigned j);

#endif
