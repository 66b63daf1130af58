#include "naive.h"

#include <math.h>

/* PCG-XSH-RR 64/32 (O'Neill). */
static inline uint32_t pcg32(uint64_t *state)
{
    uint64_t old = *state;
    *state = old * 6364136223846793005u + 1442695040888963407u;
    uint32_t x = (uint32_t)(((old >> 18) ^ old) >> 27), rot = (uint32_t)(old >> 59);
    return (x >> rot) | (x << ((32 - rot) & 31));
}

static inline double uniform(uint64_t *state) { return (pcg32(state) + 0.5) * 0x1p-32; }

uint32_t naive_update(naive_filter *f, double t, double reference, int outcome, uint32_t m)
{
    double sum = 0, sum2 = 0, spare = 0;
    uint32_t accepted = 0;
    int has_spare = 0;
    for (uint32_t i = 0; i < m; i++) {
        double z;
        if (has_spare) {
            z = spare;
        } else {
            double r = sqrt(-2 * log(uniform(&f->rng))), angle = 6.283185307179586 * uniform(&f->rng);
            z = r * cos(angle);
            spare = r * sin(angle);
        }
        has_spare = !has_spare;
        double x = f->mean + f->sd * z, c = cos((x - reference) * t / 2);
        double p = outcome ? c * c : 1 - c * c;
        if (uniform(&f->rng) <= p) {
            sum += z;
            sum2 += z * z;
            accepted++;
        }
    }
    if (accepted > 1) {
        double n = accepted, mean = sum / n;
        f->mean += f->sd * mean;
        f->sd *= sqrt((sum2 - n * mean * mean) / (n - 1));
    }
    return accepted;
}

uint32_t naive_linear(unsigned dim, const float *mean, const float *factor, const float *weights, float noise, float outcome,
                      uint32_t m, uint64_t *rng, float *work, float *sum, float *sums)
{
    float *z = work, *x = work + dim + 1;
    uint32_t accepted = 0;
    for (uint32_t k = 0; k < m; k++) {
        for (unsigned i = 0; i < dim; i += 2) {
            float r = sqrtf(-2 * logf((float)uniform(rng))), angle = 6.2831853f * (float)uniform(rng);
            z[i] = r * cosf(angle);
            z[i + 1] = r * sinf(angle);
        }
        float predicted = 0;
        for (unsigned i = 0; i < dim; i++) {
            x[i] = mean[i];
            for (unsigned j = 0; j <= i; j++)
                x[i] += factor[i * (i + 1) / 2 + j] * z[j];
            predicted += weights[i] * x[i];
        }
        float residual = (outcome - predicted) / noise;
        if (uniform(rng) > expf(-0.5f * residual * residual))
            continue;
        accepted++;
        for (unsigned i = 0; i < dim; i++) {
            sum[i] += z[i];
            for (unsigned j = 0; j <= i; j++)
                sums[i * dim + j] += z[i] * z[j];
        }
    }
    return accepted;
}
