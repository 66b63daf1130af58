/* A simulated run: a truth that walks, measurements of it, and a filter that follows. */
#ifndef REJFILT_CLI_SIMULATE_H
#define REJFILT_CLI_SIMULATE_H

#include "run.h"

/* Called after each step of each trial; a non-zero answer ends the run. */
typedef int cli_observer(void *user, uint32_t trial, const cli_step *step);

/* Runs trials first .. first + count − 1, at most CLI_SIDE_BY_SIDE, step by step together. The filters
   work in float or in double. A negative status is a refusal; RF_REFUSED_ENGINE, too, when memory is short. */
rf_status rf32_simulate_trials(const cli_run *simulation, uint32_t first, uint32_t count, cli_observer *observer, void *user);
rf_status rf64_simulate_trials(const cli_run *simulation, uint32_t first, uint32_t count, cli_observer *observer, void *user);

/* Can each parameter have its prior? Returns a refusal, and in `parameter` whose prior it is about. */
rf_status rf32_simulate_check(const cli_run *simulation, unsigned *parameter);
rf_status rf64_simulate_check(const cli_run *simulation, unsigned *parameter);

/* A tracker at the run's prior, its filter in `memory`; and what a step shows of it. */
rf_status rf32_simulate_open(const cli_run *simulation, uint64_t seed, void *memory, size_t bytes, rf32_tracker *t);
rf_status rf64_simulate_open(const cli_run *simulation, uint64_t seed, void *memory, size_t bytes, rf64_tracker *t);
void rf32_simulate_describe(const rf32_tracker *t, const float truth[], cli_step *s);
void rf64_simulate_describe(const rf64_tracker *t, const double truth[], cli_step *s);
void rf32_simulate_widen_report(const rf32_report *from, rf64_report *to);
void rf64_simulate_widen_report(const rf64_report *from, rf64_report *to);

#endif
