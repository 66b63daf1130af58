/* Smooth functions sampled at equal steps: interpolation, and weights of a Gaussian blur.

   All functions read up to RF_STENCIL_REACH · stride values on either side of the given ones. Errors are for a Gaussian
   of standard deviation s sampled at steps h, in units of its peak. */
#ifndef REJFILT_STENCIL_H
#define REJFILT_STENCIL_H

#include <stddef.h>

enum { RF_STENCIL_REACH = 9, RF_STENCIL_NARROW = 5 };

/* The value halfway between p[0] and p[stride], from five values on either side: error 0.23 (h/s)^10. */
double rf_stencil_midpoint(const double *p, ptrdiff_t stride);

/* The value at p[offset], 0 <= offset <= 1, from the same ten values. */
double rf_stencil_value(const double *p, double offset);

/* The integral over the cell from p[0] to p[1], in steps, from six values: error 0.05 (h/s)^6. */
double rf_stencil_cell(const double *p);

/* The value at p[0] from those at ±stride, ±3·stride, ... ±9·stride. */
double rf_stencil_around(const double *p, ptrdiff_t stride);

/* The largest difference between p[i] and rf_stencil_around there, i in 0..count − 1: the loss if only every
   2·stride-th value were kept. */
double rf_stencil_roughness(const double *p, size_t count, ptrdiff_t stride);

/* Weights of a Gaussian blur by `sd` steps: taps[0..2·reach], of sum 1. For sd >= RF_STENCIL_SAMPLED they are samples
   of the Gaussian, to 1e-12 of its peak; below, 2·RF_STENCIL_NARROW + 1 weights with the same moments up to the 11th:
   error below 1e-10 for s ≥ 7h. Returns the reach, at most RF_STENCIL_TAIL · sd + 1 or RF_STENCIL_NARROW. */
#define RF_STENCIL_TAIL 7.5
#define RF_STENCIL_SAMPLED 1.3
size_t rf_stencil_taps(double sd, double *taps);

/* out[i] = Σ_k taps[k] p[i + k] for k = 0..2·reach and i = 0..count, with count rounded up to a multiple of 8. `out`
   has space for that many, and `p` for 2·reach more. */
void rf_stencil_blur(const double *p, const double *taps, size_t reach, size_t count, double *out);

#endif
