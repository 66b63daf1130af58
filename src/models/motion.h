/* Motion in the plane: x, y and their velocities vx, vy, which drift. Included by models that observe it, after
   they define `seen`, the reading without noise; setting[2] is the standard deviation of the noise. */
#include "rejfilt/model.h"

#define MOTION_WANDER RF_C(1e-7) /* variance that a velocity gains per unit of time */

RF_FN rf_real seen(const rf_real x[], const rf_real setting[]);

#define RF_HAS_DYNAMICS
RF_FN void dynamics(rf_real elapsed, rf_real F[], rf_real Q[])
{
    const rf_real t = elapsed, v = MOTION_WANDER;
    for (int i = 0; i < 16; i++)
        F[i] = i % 5 == 0, Q[i] = 0;
    for (int axis = 0; axis < 2; axis++) { /* the integral of white noise of the acceleration over t */
        const int place = axis, speed = axis + 2;
        F[place * 4 + speed] = t;
        Q[place * 4 + place] = v * t * t * t / 3;
        Q[place * 4 + speed] = Q[speed * 4 + place] = v * t * t / 2;
        Q[speed * 4 + speed] = v * t;
    }
}

#define MOTION_PLACES {"x", RF_REAL, -3, 3, 0}, {"y", RF_REAL, 5, 9, 0}
#define MOTION_SPEEDS {"vx", RF_REAL, -0.01, 0.01, 0}, {"vy", RF_REAL, -0.01, 0.01, 0}

#define RF_HAS_BOUND
RF_FN rf_real bound(const rf_real setting[], rf_real outcome)
{
    (void)outcome;
    return -rf_log(setting[2] * RF_C(2.5066282746310002));
}

RF_FN rf_real likelihood(const rf_real x[], const rf_real setting[], rf_real outcome)
{
    rf_real off = (outcome - seen(x, setting)) / setting[2];
    return bound(setting, outcome) - RF_C(0.5) * off * off;
}

#define RF_HAS_SIMULATE
RF_FN rf_real simulate(const rf_real x[], const rf_real setting[], rf_real normal)
{
    return seen(x, setting) + setting[2] * normal;
}
