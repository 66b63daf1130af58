/* The interface of the module rejfilt_mpi.so, between open.c and module.c. */
#ifndef REJFILT_MPI_MODULE_H
#define REJFILT_MPI_MODULE_H

#include <stddef.h>
#include <stdint.h>

#define RF_MPI_ABI 4u

/* Functions that can fail return 0, or -1. Call all from one thread; reductions are collective. */
typedef struct rf_mpi_module {
    uint32_t abi;
    int (*init)(char *error, size_t size); /* starts MPI unless it runs; may be called repeatedly */
    void (*finalize)(void);                /* undoes one init */
    unsigned (*rank)(void);
    unsigned (*size)(void);
    unsigned (*local)(void); /* ranks on this machine */
    int (*sum)(uint64_t values[], size_t count); /* sums over all ranks, modulo 2⁶⁴, in place */
    int (*max)(int64_t values[], size_t count);
    int (*share)(void *bytes, size_t count); /* copies rank 0's bytes to all ranks */
} rf_mpi_module;

#endif
