/* The parts of the experiment: each runs a cell. They return 0, or -1 after lab_fail. */
#ifndef REJFILT_EXPERIMENTS_THEORY_H
#define REJFILT_EXPERIMENTS_THEORY_H

#include "lab.h"

int theory_moments(lab *l, unsigned dim);   /* errors of an update's moments, by attempts */
int theory_stability(lab *l, unsigned dim); /* many updates in a row, by attempts over dim² */
int theory_lemma(lab *l);                   /* perturbed priors */
int theory_corollary(lab *l);               /* κ that is too small */
int theory_alone(lab *l);                   /* rejection without a filter */

#endif
