/* Motion in the plane: x, y and their velocities vx, vy, which wander. Included by models that observe it. */
#define MOTION_WANDER RF_C(1e-7) /* variance that a velocity gains per unit of time */

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
