/* Those who run jobs: threads with an engine each, a clock, and an ear for interruptions. */
#ifndef REJFILT_EXPERIMENTS_CREW_H
#define REJFILT_EXPERIMENTS_CREW_H

#include "bench.h"

/* Null after a message. */
lab_workers *lab_workers_open(const lab_options *options);
void lab_workers_close(lab_workers *workers);

/* Runs the jobs that are not done, of all labs. Returns CLI_OK, or an exit code after a message. */
int lab_workers_run(lab_workers *workers, lab *labs, unsigned count);

#endif
