/* Processor time, and progress of long work. */
#ifndef REJFILT_CLI_PROGRESS_H
#define REJFILT_CLI_PROGRESS_H

#include <stdint.h>

#include "clock.h"

double cli_cpu_seconds(void); /* of all threads together */

typedef struct cli_progress {
    const char *what;
    double start, shown;
    uint64_t before, total; /* work done earlier, and all work, in units of the calls */
} cli_progress;

/* An rfc_progress: if standard error is a terminal, shows a line with the progress and the time left; nothing in the
   first second. Returns 0. */
int cli_progress_show(void *progress, uint64_t done, uint64_t total);
void cli_progress_end(const cli_progress *progress);

#endif
