/* Static parameters on a chip: how often the 95 % regions of rejfilt.c in float hold the truth, for each sampler and
   number of attempts. A beacon at an unknown place, 100 m or so around, whose bearing is read from known places: 0.05
   rad, and 5 % of the readings are garbage. Weighted sums of 1 to 4 parameters, with Gaussian noise. usage:
   rejfilt-still [TRIALS [SEED]] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rejfilt/rejfilt.h"

enum { DIM = 4, RECORDS = 400, LOOKS = 2 };
static const uint32_t looks[LOOKS] = {100, RECORDS};
static const double region[DIM + 1] = {0, 3.841, 5.991, 7.815, 9.488}; /* 95 % of χ² */

static float bearing(const float x[], const float setting[], float outcome)
{
    const float east = x[0] - setting[0], north = x[1] - setting[1];
    const float off =
        (east * rf32_cos(outcome) + north * rf32_sin(outcome)) / rf32_sqrt(east * east + north * north + 1e-6f) - 1;
    return 0.99f * rf32_exp(400 * off) + 0.01f; /* garbage: 0.05/2π over the peak, 0.95/√(2π)/0.05 */
}

static unsigned sum_dim;

static float sum(const float x[], const float setting[], float outcome)
{
    float off = outcome;
    for (unsigned i = 0; i < sum_dim; i++)
        off -= setting[i] * x[i];
    return rf32_exp(-0.5f * off * off);
}

/* ---- Worlds ---- */

static double uniform(uint64_t seed, uint32_t record, uint32_t k)
{
    return rf64_uniform(rf_draw(seed, record, k, 0, RF_FOR_TRUTH).word[0]);
}
static double normal(uint64_t seed, uint32_t record, uint32_t k)
{
    return rf64_normal_quantile(uniform(seed, record, k));
}

static void measure(unsigned dim, int is_beacon, const double truth[], uint64_t seed, uint32_t k, float record[])
{
    double expected = 0;
    for (unsigned i = 0; i < dim; i++) {
        record[i] = (float)(is_beacon ? 15 * normal(seed, k, i) : 2 * uniform(seed, k, i) - 1);
        expected += (double)record[i] * truth[i];
    }
    if (is_beacon) {
        expected = atan2(truth[1] - (double)record[1], truth[0] - (double)record[0]);
        const double read = expected + 0.05 * normal(seed, k, 5);
        record[2] =
            (float)(uniform(seed, k, 6) < 0.05 ? 6.283185307179586 * uniform(seed, k, 7) - 3.141592653589793 : read);
    } else {
        record[dim] = (float)(expected + normal(seed, k, 5));
    }
}

typedef struct score {
    unsigned holds[LOOKS], notes[16], records;
    double squares[LOOKS];
} score;

static void follow(unsigned dim, int is_beacon, const rf32_options *options, uint64_t seed, score *s)
{
    RF_ALIGNED unsigned char memory[RF32_FILTER_BYTES(DIM)];
    const rf32_model model = {.likelihood = is_beacon ? bearing : sum, .dim = (uint16_t)dim, .settings = (uint16_t)dim};
    float mean[DIM] = {0}, sd[DIM], record[DIM + 1];
    double truth[DIM];
    rf32_filter *filter;
    sum_dim = dim;
    for (unsigned i = 0; i < dim; i++) {
        sd[i] = is_beacon ? 10 : 1;
        truth[i] = (double)sd[i] * normal(seed, UINT32_MAX, i);
    }
    if (rf32_filter_init(&filter, memory, sizeof memory, dim, seed) < 0 ||
        rf32_prior_gaussian(filter, &model, mean, sd) < 0)
        exit(2);
    for (uint32_t k = 0, look = 0; k < RECORDS; k++) {
        measure(dim, is_beacon, truth, seed, k, record);
        const rf_status status = rf32_update(filter, &model, record, 1, options, NULL, NULL);
        if (status < 0)
            exit(2);
        for (unsigned bit = 0; bit < 16; bit++)
            s->notes[bit] += (unsigned)status >> bit & 1;
        s->records++;
        if (k + 1 < looks[look])
            continue;
        const float *factor = rf32_filter_factor(filter);
        double off[DIM], distance = 0;
        for (unsigned i = 0; i < dim; i++) {
            off[i] = truth[i] - (double)rf32_filter_mean(filter)[i];
            s->squares[look] += off[i] * off[i];
            for (unsigned j = 0; j < i; j++)
                off[i] -= (double)factor[RF_TRIANGLE(i) + j] * off[j];
            off[i] /= (double)factor[RF_TRIANGLE(i) + i];
            distance += off[i] * off[i];
        }
        s->holds[look++] += distance <= region[dim];
    }
}

int main(int argc, char **argv)
{
    const unsigned trials = argc > 1 ? (unsigned)atoi(argv[1]) : 1000;
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    const unsigned worlds = argc > 3 ? (unsigned)atoi(argv[3]) : 5;
    static const struct {
        const char *name;
        rf_sampler sampler;
    } samplers[] = {{"reject", RF_REJECT}, {"lattice", RF_LATTICE}, {"weight", RF_WEIGHT}};
    static const uint32_t attempts[] = {100, 128, 1000};
    static const char *const names[] = {"beacon", "sum of 1", "sum of 2", "sum of 3", "sum of 4"};
    printf("| world | sampler | attempts | holds after 100 | 400 | rms error | 400 | notes "
           "|\n|---|---|---|---|---|---|---|---|\n");
    for (unsigned world = 0; world < worlds && world < 5; world++)
        for (unsigned m = 0; m < 3; m++)
            for (unsigned a = 0; a < 3; a++) {
                rf32_options options = rf32_options_default();
                score s;
                memset(&s, 0, sizeof s);
                options.sampler = samplers[m].sampler;
                options.attempts = attempts[a];
                for (unsigned t = 0; t < trials; t++)
                    follow(world ? world : 2, world == 0, &options, seed * 1000003 + t, &s);
                printf("| %s | %s | %u | %.1f | %.1f | %.3f | %.3f |", names[world], samplers[m].name, attempts[a],
                       100.0 * s.holds[0] / trials, 100.0 * s.holds[1] / trials, sqrt(s.squares[0] / trials),
                       sqrt(s.squares[1] / trials));
                for (unsigned bit = 0; bit < 16; bit++)
                    if (s.notes[bit])
                        printf(" %u: %.1f %%", 1u << bit, 100.0 * s.notes[bit] / s.records);
                printf(" |\n");
            }
}
