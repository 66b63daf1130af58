/* Those who run cells: threads with an engine each, a clock, and an ear for interruptions. */
#ifndef REJFILT_EXPERIMENTS_CREW_H
#define REJFILT_EXPERIMENTS_CREW_H

#include "bench.h"

/* Null after a message. */
lab_crew *lab_crew_open(const lab_options *options);
void lab_crew_close(lab_crew *crew);

/* Runs the cells that are not done, of all labs. Returns CLI_OK, or an exit code after a message. */
int lab_crew_run(lab_crew *crew, lab *labs, unsigned count);

#endif
