/* The Kalman filter with scalar observations, in square-root form (Potter): the covariance is S·Sᵀ and only S is
   stored, so rounding cannot make the covariance asymmetric or indefinite. */
#ifndef REJFILT_KALMAN_H
#define REJFILT_KALMAN_H

enum { KALMAN_DIM_MAX = 16 };

typedef struct kalman {
    unsigned dim;
    double mean[KALMAN_DIM_MAX];
    double root[KALMAN_DIM_MAX * KALMAN_DIM_MAX]; /* S, dim × dim, row-major */
    double log_evidence;                          /* of all observations so far */
} kalman;

/* Matrices are dim × dim, row-major. Functions return 0. For a dimension out of range, a number that is not finite,
   or a covariance with a negative eigenvalue they return -1 and change nothing. */

int kalman_init(kalman *k, unsigned dim, const double mean[], const double covariance[]);

/* x ← F·x + noise of covariance Q. NULL F: identity; NULL Q: no noise. Q may be singular. */
int kalman_predict(kalman *k, const double F[], const double Q[]);

/* Learns from y = h·x + noise of variance r >= 0 and returns ln p(y). Returns NaN and changes nothing if a number is
   not finite or y is already certain (r = 0 and h·P·h = 0). */
double kalman_update(kalman *k, const double h[], double r, double y);

double kalman_covariance(const kalman *k, unsigned i, unsigned j);

#endif
