/* What the engines need to know of the machine. */
#ifndef REJFILT_MACHINE_H
#define REJFILT_MACHINE_H

/* RF_CPU_HAS("feature"): does this CPU, and its operating system, have it?
   RF_PAUSE(): tells the CPU that a loop only waits. */
#if defined(__x86_64__) || defined(__i386__)
#define RF_CPU_HAS(feature) (__builtin_cpu_supports(feature) != 0)
#define RF_PAUSE() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define RF_CPU_HAS(feature) 0
#define RF_PAUSE() __asm__ volatile("yield")
#else
#define RF_CPU_HAS(feature) 0
#define RF_PAUSE() ((void)0)
#endif

/* CPUs of this machine, and those that this process may use; at least 1. */
unsigned rf_cpus_online(void);
unsigned rf_cpus_allowed(void);

#endif
