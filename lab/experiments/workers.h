/* Worker threads that run experiment jobs; handles timing and SIGINT. */
#ifndef REJFILT_EXPERIMENTS_CREW_H
#define REJFILT_EXPERIMENTS_CREW_H

#include "bench.h"

/* Returns NULL after a message. */
lab_workers *lab_workers_open(const lab_options *options);
void lab_workers_close(lab_workers *workers);

/* Runs the unfinished jobs of all labs. Returns CLI_OK, or an exit code after a message. */
int lab_workers_run(lab_workers *workers, lab *labs, unsigned count);

#endif
