/* Simulated trials, as `rejfilt track --simulate` makes them, for experiments. */
#ifndef REJFILT_EXPERIMENTS_TRIALS_H
#define REJFILT_EXPERIMENTS_TRIALS_H

#include "lab.h"
#include "simulate.h"

/* The run that `rejfilt track --simulate` makes of a built-in model and so many measurements: the description's prior
   and drift, the automatic design, 100 attempts. Without an engine. */
cli_run trials_ordinary(const char *model, long steps, uint64_t seed);

/* The same with Algorithm 1 of the paper to the letter and its heuristic, and nothing that watches over it. */
cli_run trials_paper(const char *model, long steps, uint64_t seed);

/* The seed of a run's trial. */
uint64_t trials_seed(const cli_run *run, uint32_t trial);

/* Runs all trials, in double, on all threads. The observer sees the steps of one trial in order, those of others
   meanwhile on other threads. Returns 0, or -1 after lab_fail or an interruption. */
int trials_run(lab *l, const cli_run *run, uint32_t trials, cli_observer *observer, void *user);

#endif
