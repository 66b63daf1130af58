/* What the module rejfilt_mpi.so exports, so that programs need not be linked with MPI. */
#ifndef REJFILT_MPI_MODULE_H
#define REJFILT_MPI_MODULE_H

#include <stddef.h>
#include <stdint.h>

#define RF_MPI_MODULE_FILE "rejfilt_mpi.so"
#define RF_MPI_MODULE_SYMBOL "rejfilt_mpi"
#define RF_MPI_MODULE_VERSION 2u

/* Functions that can fail return 0, or -1. All calls from one thread; reductions are collective. */
typedef struct rf_mpi_module {
    unsigned version;
    int (*init)(char *error, size_t size); /* starts MPI unless it runs; as often as wanted */
    void (*finalize)(void);                /* undoes one init */
    unsigned (*rank)(void);
    unsigned (*size)(void);
    unsigned (*local)(void); /* ranks on this machine */
    int (*sum)(uint64_t values[], unsigned count);  /* over all ranks, modulo 2⁶⁴, in place */
    int (*most)(int64_t values[], unsigned count);
    int (*share)(void *bytes, size_t count); /* rank 0's bytes become everyone's */
} rf_mpi_module;

#endif
