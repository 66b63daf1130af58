/* Does a filter find the truth again after a jump? */
#ifndef REJFILT_EXPERIMENTS_RECOVERY_H
#define REJFILT_EXPERIMENTS_RECOVERY_H

#include <math.h>

enum {
    RECOVERY_WITHIN = 50, /* measurements after the jump within which recovery must begin, */
    RECOVERY_FOR = 5      /* and how many steps it must last */
};

#define RECOVERY_ERROR 5.0 /* an error below this many √q counts as recovered */

/* One trial: was the filter on the truth just before the jump; current number of good steps in a row (at most
   RECOVERY_FOR); did such a series of RECOVERY_FOR begin in time? */
typedef struct recovery {
    unsigned char was_tracking, good, has_recovered;
} recovery;

/* `since`: steps from the jump, negative before it. The error is in units of √q. */
static inline void recovery_step(recovery *r, long since, double error)
{
    const int is_good = fabs(error) < RECOVERY_ERROR;
    if (since == -1)
        r->was_tracking = (unsigned char)is_good;
    r->good = (unsigned char)(since >= 0 && is_good ? r->good + (r->good < RECOVERY_FOR) : 0);
    if (r->good == RECOVERY_FOR && since - RECOVERY_FOR + 1 < RECOVERY_WITHIN)
        r->has_recovered = 1;
}

#endif
