/* The monotonic clock. */
#ifndef REJFILT_CLOCK_H
#define REJFILT_CLOCK_H

/* Seconds since some fixed moment; setting the machine's clock does not change it. */
double rf_clock_seconds(void);

#endif
