/* The integer filter with a user's likelihood: a reading of the parameter itself, with an error of known
   distribution. */
#include "testing.h"

#include <math.h>

#define RFI_LIKELIHOOD reading
#include "fixed.c"

static int32_t read_at; /* the reading */
enum { REACH = 12000 }; /* P ∝ 1 − (error/reach)², nothing beyond */

uint8_t reading(const rfi_filter *f, int8_t z, uint8_t angle, uint8_t outcome)
{
    (void)angle, (void)outcome;
    const int32_t error = (rfi_place(f, z) - read_at) / 8, reach = REACH / 8;
    return (uint8_t)(error * error < reach * reach ? 255 - 255 * (error * error / 64) / (reach * reach / 64) : 0);
}

/* Moments by sums over the Gaussian, compared with the average over all random states. With N from 20 on, the
   shrinkage of the prior changes them by up to 5 % of the update; slices of 1/50 of the whole leave an error below 2
   % of the sd. */
static void readings_are_learnt(void **state)
{
    (void)state;
    const double sd = 8000;
    for (read_at = -9000; read_at <= 9000; read_at += 3000) {
        double p = 0, x1 = 0, x2 = 0, mean = 0, variance = 0;
        for (double x = -6 * sd; x <= 6 * sd; x += sd / 500) {
            const double error = (x - read_at) / REACH, w = fabs(error) < 1 ? exp(-x * x / (2 * sd * sd)) * (1 - error * error) : 0;
            p += w, x1 += w * x, x2 += w * x * x;
        }
        for (unsigned seed = 0; seed < 65536; seed += 16) {
            rfi_filter f;
            rfi_init(&f, 0, (uint16_t)sd, (uint16_t)seed);
            rfi_learn(&f, 1);
            mean += f.mean / 4096.0;
            variance += (double)f.sd * f.sd / 4096.0;
        }
        const double exact = x1 / p, exact_sd = sqrt(x2 / p - exact * exact);
        check_within(mean, exact, 0.05 * fabs(exact) + 0.02 * sd);
        check_within(sqrt(variance), exact_sd, 0.05 * (sd - exact_sd) + 0.02 * sd);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(readings_are_learnt)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
