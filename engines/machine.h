/* What the engines need to know of the machine. */
#ifndef REJFILT_MACHINE_H
#define REJFILT_MACHINE_H

/* CPUs of this machine, and those that this process may use; at least 1. */
unsigned rf_cpus_online(void);
unsigned rf_cpus_allowed(void);

#endif
