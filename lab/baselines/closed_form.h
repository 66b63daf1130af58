/* The Gaussian filter of the precession model with exact moments: the limit of rejection filtering for many
   attempts. P(1) = cos²((x − x_) t / 2) and N(mean, variance) have a posterior with elementary mean and variance; it
   is replaced by the Gaussian with these moments. */
#ifndef REJFILT_CLOSED_FORM_H
#define REJFILT_CLOSED_FORM_H

typedef struct closed_form {
    double mean, variance; /* variance > 0 */
    double log_evidence;   /* of all records so far */
} closed_form;

/* Adds the variance (>= 0) of a Gaussian step. */
void closed_form_diffuse(closed_form *f, double variance);

/* Learns from `outcome` (0 or 1) at time t and reference x_; returns ln P(E). The moments have a relative error
   below 1e-12, unless |x − x_| t exceeds 1e4, where rounding of that product matters. */
double closed_form_update(closed_form *f, double t, double x_, int outcome);

#endif
