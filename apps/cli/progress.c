#define _POSIX_C_SOURCE 200809L
#include "progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

double cli_cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int cli_progress_show(void *context, uint64_t done, uint64_t total)
{
    cli_progress *p = context;
    double now = rf_clock_seconds(), spent = now - p->start,
           share = ((double)p->before + (double)done / (double)total) / (double)p->total;
    if (!isatty(STDERR_FILENO) || spent < 1 || now - p->shown < 0.2 || share <= 0)
        return 0;
    enum { WIDTH = 30 };
    int full = (int)(share * WIDTH);
    p->shown = now;
    fprintf(stderr, "\r\033[K%s [%.*s%.*s] %3.0f %%, %.0f s left", p->what, full, "##############################",
            WIDTH - full, "..............................", 100 * share, spent / share * (1 - share));
    return 0;
}

void cli_progress_end(const cli_progress *p)
{
    if (p->shown > 0)
        fputs("\r\033[K", stderr);
}
