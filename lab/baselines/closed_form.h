/* The Gaussian filter of the precession model with exact moments: what rejection filtering tends to as
   the number of attempts grows. P(1) = cos²((x − x_) t / 2) and N(mean, variance) have a posterior
   whose mean and variance are elementary; the posterior is then taken to be Gaussian again. */
#ifndef REJFILT_CLOSED_FORM_H
#define REJFILT_CLOSED_FORM_H

typedef struct closed_form {
    double mean, variance; /* variance > 0 */
    double log_evidence;   /* of all records so far */
} closed_form;

/* Adds a Gaussian step of this variance >= 0. */
void closed_form_diffuse(closed_form *f, double variance);

/* Learns from `outcome` (0, or else 1) at time t against x_; returns ln P(E). Relative error of the
   moments below 1e-12, but where |x − x_| t exceeds 1e4 and its own rounding counts. */
double closed_form_update(closed_form *f, double t, double x_, int outcome);

#endif
