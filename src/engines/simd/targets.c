/* Targets by name, and which of them this CPU supports. */
#include "simd/targets.h"

#include "rejfilt/detail/port.h"

RF_FN int has_baseline(void) { return 1; }
RF_FN int has_avx2(void) { return RF_CPU_HAS("avx2") && RF_CPU_HAS("fma"); }
RF_FN int has_avx512(void)
{
    return has_avx2() && RF_CPU_HAS("avx512f") && RF_CPU_HAS("avx512dq") && RF_CPU_HAS("avx512vl") && RF_CPU_HAS("avx512bw");
}

const char *const rf_target_names[] = {
#define RF_TARGET(name) #name,
    RF_TARGETS
#undef RF_TARGET
    0};

unsigned rf_target_best(void)
{
    const int has[] = {
#define RF_TARGET(name) has_##name(),
        RF_TARGETS
#undef RF_TARGET
    };
    unsigned best = 0;
    for (unsigned i = 0; i < sizeof has / sizeof has[0]; i++)
        best = has[i] ? i : best;
    return best;
}
