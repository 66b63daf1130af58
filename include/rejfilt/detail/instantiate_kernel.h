/* Included after a model file, with RF_MODEL_NAME set: the attempts and blocks of likelihoods with the model inlined,
   for one precision and the target RF_KERNEL_TARGET; without a target, for this machine. */
#if __INCLUDE_LEVEL__ == 0
#include "alone.h"
#endif
#include "../host.h"
#include "instantiate_expected.h"

#define RF_KERNEL_PASTE_(name, bits, target) rf##bits##_kernel_##name##_##target
#define RF_KERNEL_PASTE(name, bits, target) RF_KERNEL_PASTE_(name, bits, target)

#define RF_BLOCK_PASTE_(name, bits, target) rf##bits##_block_##name##_##target
#define RF_BLOCK_PASTE(name, bits, target) RF_BLOCK_PASTE_(name, bits, target)

#ifndef RF_KERNEL_TARGET
#define RF_KERNEL_TARGET native
#endif

#ifdef RF_HAS_BOUND
#define RF_KERNEL_BOUND bound
#else
#define RF_KERNEL_BOUND(setting, outcome) (RF_IS_LOG(description) ? RF_C(0.0) : RF_C(1.0))
#endif

#ifndef RF_KERNEL_DIM_MAX /* models with more parameters than RF_DESCRIBED_MAX set this themselves */
#define RF_KERNEL_DIM_MAX RF_DESCRIBED_MAX
#endif

#define RF_KERNEL RF_KERNEL_PASTE(RF_MODEL_NAME, RF_PRECISION, RF_KERNEL_TARGET)
#define RF_KERNEL_PAIRS 64u
#define RF_KERNEL_STORAGE
#define RF_KERNEL_DIM ((unsigned)description.dim)
#define RF_KERNEL_IS_LOG RF_IS_LOG(description)
#define RF_KERNEL_LIKELIHOOD likelihood

RF(run) RF_KERNEL;
#include "attempts.h"

/* Likelihoods of n candidates, x[i * n + k], in blocks; the last block may repeat the last candidate. */
#define RF_KERNEL_BLOCK RF_BLOCK_PASTE(RF_MODEL_NAME, RF_PRECISION, RF_KERNEL_TARGET)
RF(block) RF_KERNEL_BLOCK;
rf_status RF_KERNEL_BLOCK(const rf_real x[], uint32_t n, const rf_real setting[], rf_real outcome, rf_real out[], void *data)
{
    enum { SIDE_BY_SIDE = 8 };
    rf_real point[RF_KERNEL_DIM_MAX * SIDE_BY_SIDE], value[SIDE_BY_SIDE];
    (void)data;
    for (uint32_t first = 0; first < n; first += SIDE_BY_SIDE) {
        const uint32_t some = n - first < SIDE_BY_SIDE ? n - first : SIDE_BY_SIDE;
        const rf_real *from = x + first;
        rf_real *to = out + first;
        size_t stride = n;
        if (some < SIDE_BY_SIDE) {
            for (unsigned i = 0; i < RF_KERNEL_DIM; i++)
                for (uint32_t k = 0; k < SIDE_BY_SIDE; k++)
                    point[i * SIDE_BY_SIDE + k] = from[i * stride + (k < some ? k : some - 1)];
            from = point;
            stride = SIDE_BY_SIDE;
        }
        RF_LOOP_OF_EIGHT
        for (uint32_t k = 0; k < SIDE_BY_SIDE; k++) {
            rf_real own[RF_KERNEL_DIM_MAX];
            RF_UNROLL_ALL
            for (unsigned i = 0; i < RF_KERNEL_DIM; i++)
                own[i] = from[i * stride + k];
            value[k] = likelihood(own, setting, outcome);
        }
        if (some == SIDE_BY_SIDE)
            for (uint32_t k = 0; k < SIDE_BY_SIDE; k++)
                to[k] = value[k];
        else
            for (uint32_t k = 0; k < some; k++)
                to[k] = value[k];
    }
    return RF_OK;
}
