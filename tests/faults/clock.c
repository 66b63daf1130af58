/* A clock that is set while a program runs: preloaded, it moves the time of day by years, back and forth, at every look. The
   monotonic clock, which nobody sets, leaps forward. What was asked for is counted in the file named by CLOCK_LOG. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long looks;

static void note(const char *what)
{
    const char *path = getenv("CLOCK_LOG");
    int file = path ? open(path, O_WRONLY | O_APPEND | O_CREAT, 0600) : -1;
    if (file >= 0 && write(file, what, 1) == 1)
        close(file);
}

static long step(void) { return (looks++ % 5 - 2) * 40000000; } /* seconds */

int clock_gettime(clockid_t clock, struct timespec *t)
{
    const int is_wall = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
    long result = syscall(SYS_clock_gettime, clock, t);
    note(is_wall ? "w" : "m");
    if (is_wall)
        t->tv_sec += step();
    else if (clock == CLOCK_MONOTONIC)
        t->tv_sec += looks++ * 1000;
    return (int)result;
}

int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    t->tv_sec = now.tv_sec;
    t->tv_usec = now.tv_nsec / 1000;
    return 0;
}

int timespec_get(struct timespec *t, int base)
{
    return clock_gettime(CLOCK_REALTIME, t) == 0 ? base : 0;
}

time_t time(time_t *t)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (t)
        *t = now.tv_sec;
    return now.tv_sec;
}
