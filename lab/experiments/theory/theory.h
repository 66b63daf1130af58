/* Parts of the experiment: each function runs a job and returns 0, or -1 after lab_fail. */
#ifndef REJFILT_EXPERIMENTS_THEORY_H
#define REJFILT_EXPERIMENTS_THEORY_H

#include "lab.h"

int theory_moments(lab *l, unsigned dim);   /* errors of the moments after one update, by attempts */
int theory_stability(lab *l, unsigned dim); /* many updates, by attempts over dim² */
int theory_lemma(lab *l);                   /* perturbed priors */
int theory_corollary(lab *l);               /* κ below the likelihood */
int theory_alone(lab *l);                   /* rejection without a filter */

#endif
