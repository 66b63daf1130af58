/* The Gaussians for chips beside the exact posterior, for families of records:
   rejfilt-gaussians8 [SETS [SEED]], and rejfilt-gaussians1 with one Gaussian

   For each family: the share of 95 % intervals that hold the truth, of the chip and exact; of means that are more than
   5 of their own standard deviations off (lost), and more than one exact standard deviation off the exact mean (off);
   the mean squared error and the exact one's ratio to it; nats lost, median and 95th percentile. All in the chart's
   coordinate y for lifetimes (ln T), in radians per unit for frequencies. The exact posterior has the same prior and
   the same records. */
#include "gaussians.c"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab.h"

#define PI 3.14159265358979323846

enum { GRID = 8192, RECORDS_MAX = 300 };
typedef enum kind { DECADE, DECADE_UNIFORM, SWEEP, SHUFFLED, RANDOM } kind;

typedef struct family {
    const char *name;
    kind kind;
    unsigned records;
} family;

static const family families[] = {
    {"lifetime, 50 records", DECADE, 50},
    {"lifetime, 100 records", DECADE, 100},
    {"lifetime, 150 records", DECADE, 150},
    {"lifetime, 200 records", DECADE, 200},
    {"lifetime, T uniform, 150", DECADE_UNIFORM, 150},
    {"frequency, times 1..100", SWEEP, 100},
    {"frequency, shuffled times", SHUFFLED, 100},
    {"frequency, random times", RANDOM, 100},
};

static const float decade_mean = 1.15129255f, decade_sd = 0.664703f; /* of ln T, with T uniform within 1..10 */

static int is_lifetime(kind k) { return k == DECADE || k == DECADE_UNIFORM; }

static double uniform(uint64_t *state) /* splitmix64 */
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static float still_there(const float y[], const float wait[], float outcome)
{
    const float one = rf32_exp(-wait[0] * rf32_exp(-y[0]));
    return outcome != 0 ? one : 1 - one;
}

static float natural(kind k, float y) { return is_lifetime(k) ? y : 3.14159265f * rf32_normal_cdf(y); }

static float precession(const float y[], const float time[], float outcome)
{
    const float zero = rf32_sin_squared(0.5f * natural(SWEEP, y[0]) * time[0]);
    return outcome != 0 ? 1 - zero : zero;
}

/* ---- The exact posterior ---- */

static double place[GRID], mass[GRID];
static unsigned size; /* of the grid; a likelihood of a lifetime is smooth and needs fewer points */

static void exact_begin(kind k)
{
    const double low = is_lifetime(k) ? (double)decade_mean - 6 * (double)decade_sd : 0,
                 high = is_lifetime(k) ? (double)decade_mean + 6 * (double)decade_sd : PI;
    size = is_lifetime(k) ? GRID / 8 : GRID;
    for (unsigned i = 0; i < size; i++) {
        place[i] = low + (high - low) * (i + 0.5) / size;
        const double z = (place[i] - (double)decade_mean) / (double)decade_sd;
        mass[i] = is_lifetime(k) ? exp(-0.5 * z * z) : 1;
    }
}

static void exact_update(kind k, double setting, int outcome)
{
    double max = 0;
    for (unsigned i = 0; i < size; i++) {
        const double one = is_lifetime(k) ? exp(-setting * exp(-place[i])) : 0.5 + 0.5 * cos(place[i] * setting);
        mass[i] *= outcome ? one : 1 - one;
        max = mass[i] > max ? mass[i] : max;
    }
    for (unsigned i = 0; i < size; i++)
        mass[i] /= max;
}

/* The posterior mean, its standard deviation, and the probability below the truth. */
static double exact_read(double truth, double *sd, double *below)
{
    double one = 0, first = 0, second = 0;
    *below = 0;
    for (unsigned i = 0; i < size; i++) {
        one += mass[i];
        first += mass[i] * place[i];
        *below += place[i] < truth ? mass[i] : 0;
    }
    for (unsigned i = 0; i < size; i++)
        second += mass[i] * (place[i] - first / one) * (place[i] - first / one);
    *sd = sqrt(second / one);
    *below /= one;
    return first / one;
}

/* ---- Runs ---- */

typedef struct result {
    int holds, exact_holds, is_lost, is_off;
    double error, exact_error, loss; /* the errors are squared */
} result;

static result run(const family *f, uint64_t state)
{
    const kind k = f->kind;
    const double u = uniform(&state), truth = k == DECADE ? u * log(10) : k == DECADE_UNIFORM ? log1p(9 * u) : u * PI;
    double times[RECORDS_MAX], sd, below, mean = 0, square = 0;
    result r;
    rf32_gaussians g;
    rf32_gaussians_init(&g, is_lifetime(k) ? decade_mean : 0, is_lifetime(k) ? decade_sd : 1);
    exact_begin(k);
    for (unsigned n = 0; n < f->records; n++)
        times[n] = k == RANDOM ? 100 * uniform(&state) : n + 1;
    for (unsigned n = f->records; n-- > 1 && k == SHUFFLED;) {
        const unsigned other = (unsigned)(uniform(&state) * (n + 1));
        const double kept = times[n];
        times[n] = times[other];
        times[other] = kept;
    }
    for (unsigned n = 0; n < f->records; n++) {
        const float setting = is_lifetime(k) ? 1.25f * rf32_exp(rf32_gaussians_mean(&g)) : (float)times[n];
        const double one =
            is_lifetime(k) ? exp(-(double)setting * exp(-truth)) : 0.5 + 0.5 * cos(truth * (double)setting);
        const int outcome = uniform(&state) < one;
        rf32_gaussians_update(&g, is_lifetime(k) ? still_there : precession, &setting, (float)outcome);
        exact_update(k, (double)setting, outcome);
    }
    enum { SLICES = 100 }; /* of equal probability: for the moments of the quantity that y stands for */
    for (unsigned i = 0; i < SLICES; i++) {
        const double x = (double)natural(k, rf32_gaussians_quantile(&g, ((float)i + 0.5f) / SLICES));
        mean += x / SLICES;
        square += x * x / SLICES;
    }
    const double exact = exact_read(truth, &sd, &below), own = sqrt(fmax(square - mean * mean, 0));
    r.holds = (double)natural(k, rf32_gaussians_quantile(&g, 0.025f)) <= truth &&
              truth <= (double)natural(k, rf32_gaussians_quantile(&g, 0.975f));
    r.exact_holds = below >= 0.025 && below <= 0.975;
    r.is_lost = fabs(mean - truth) > 5 * own;
    r.is_off = fabs(mean - exact) > sd;
    r.error = (mean - truth) * (mean - truth);
    r.exact_error = (exact - truth) * (exact - truth);
    r.loss = (double)g.loss;
    return r;
}

static void measure(const family *f, unsigned sets, uint64_t seed)
{
    double holds = 0, exact_holds = 0, lost = 0, off = 0, error = 0, exact_error = 0;
    double *loss = malloc(sets * sizeof *loss);
    if (!loss)
        exit(1);
    for (unsigned i = 0; i < sets; i++) {
        const result r = run(f, seed << 32 | i);
        holds += 100.0 * r.holds / sets;
        exact_holds += 100.0 * r.exact_holds / sets;
        lost += 100.0 * r.is_lost / sets;
        off += 100.0 * r.is_off / sets;
        error += r.error / sets;
        exact_error += r.exact_error / sets;
        loss[i] = r.loss;
    }
    printf("%-27s %6.1f %6.1f %6.2f %6.2f %10.3g %9.4g %8.3g %8.3g\n", f->name, holds, exact_holds, lost, off, error,
           error / exact_error, lab_quantile(loss, sets, 0.5), lab_quantile(loss, sets, 0.95));
    fflush(stdout);
    free(loss);
}

int main(int argc, char **argv)
{
    const long sets = argc > 1 ? strtol(argv[1], NULL, 10) : 2000, seed = argc > 2 ? strtol(argv[2], NULL, 10) : 1;
    if (argc > 3 || sets < 2 || sets > 1000000 || seed < 0) {
        fprintf(stderr, "usage: %s [SETS [SEED]]\n", argv[0]);
        return 2;
    }
    printf("up to %d Gaussians, %ld sets each, seed %ld\n", RF_GAUSSIANS_MAX, sets, seed);
    printf("%-27s %6s %6s %6s %6s %10s %9s %8s %8s\n", "family", "holds", "exact", "lost", "off", "error", "/ exact",
           "loss", "p95");
    for (unsigned i = 0; i < sizeof families / sizeof *families; i++)
        measure(&families[i], (unsigned)sets, (uint64_t)seed);
    return 0;
}
