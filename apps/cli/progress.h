/* Time, and how far it is. */
#ifndef REJFILT_CLI_PROGRESS_H
#define REJFILT_CLI_PROGRESS_H

#include <stdint.h>

double cli_seconds(void);
double cli_cpu_seconds(void); /* of all threads together */

typedef struct cli_progress {
    const char *what;
    double start, shown;
    uint64_t before, total; /* work done before, and in all, in units of the calls */
} cli_progress;

/* An rfc_progress: a line on a terminal's standard error that says how far it is and how long it takes yet;
   nothing within the first second. */
void cli_progress_show(void *progress, uint64_t done, uint64_t total);
void cli_progress_end(const cli_progress *progress);

#endif
