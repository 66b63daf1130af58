/* What the engines need to know of the machine. */
#define _GNU_SOURCE
#include "machine.h"

#include <sched.h>
#include <unistd.h>

#include "rejfilt/host.h"

unsigned rf_cpus_online(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (unsigned)count : 1;
}

unsigned rf_cpus_allowed(void)
{
#ifdef CPU_COUNT
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return (unsigned)CPU_COUNT(&set);
#endif
    return rf_cpus_online();
}

rf_isa rf_isa_best(void)
{
    int avx2 = RF_CPU_HAS("avx2") && RF_CPU_HAS("fma");
    int avx512 = RF_CPU_HAS("avx512f") && RF_CPU_HAS("avx512dq") && RF_CPU_HAS("avx512vl") && RF_CPU_HAS("avx512bw");
    return avx2 && avx512 ? RF_ISA_AVX512 : avx2 ? RF_ISA_AVX2 : RF_ISA_BASELINE;
}
