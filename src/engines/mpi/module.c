/* The module rejfilt_mpi.so: wraps the few functions of MPI that the mpi engine needs. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "mpi_module.h"

static MPI_Comm ranks = MPI_COMM_NULL;
static unsigned users;
static int this_rank, rank_count, local_count;

/* A process that exits with engines open has failed. It does not finalize, so that mpirun ends the other ranks. */
static void finalize_at_exit(void)
{
    int over = 0;
    if (users == 0 && MPI_Finalized(&over) == MPI_SUCCESS && !over)
        MPI_Finalize();
}

static int start(char *error, size_t size)
{
    int running = 0, over = 0, level = 0;
    MPI_Initialized(&running);
    MPI_Finalized(&over);
    if (over) {
        snprintf(error, size, "MPI was ended before");
        return -1;
    }
    if (running)
        return 0;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS || level < MPI_THREAD_FUNNELED) {
        snprintf(error, size, "MPI could not be started with threads");
        return -1;
    }
    atexit(finalize_at_exit);
    return 0;
}

static int join(char *error, size_t size)
{
    MPI_Comm local;
    int failure = MPI_Comm_dup(MPI_COMM_WORLD, &ranks);
    failure = failure ? failure : MPI_Comm_set_errhandler(ranks, MPI_ERRORS_RETURN);
    failure = failure ? failure : MPI_Comm_rank(ranks, &this_rank);
    failure = failure ? failure : MPI_Comm_size(ranks, &rank_count);
    failure = failure ? failure : MPI_Comm_split_type(ranks, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &local);
    if (!failure) {
        failure = MPI_Comm_size(local, &local_count);
        MPI_Comm_free(&local);
    }
    if (failure) {
        char text[MPI_MAX_ERROR_STRING] = "unknown error";
        int length = 0;
        MPI_Error_string(failure, text, &length);
        snprintf(error, size, "MPI says: %s", text);
    }
    return failure ? -1 : 0;
}

static int init(char *error, size_t size)
{
    if (users == 0 && (start(error, size) < 0 || join(error, size) < 0))
        return -1;
    users++;
    return 0;
}

static void finalize(void)
{
    int over = 0;
    MPI_Finalized(&over);
    if (--users == 0 && !over)
        MPI_Comm_free(&ranks);
}

static unsigned rank(void) { return (unsigned)this_rank; }
static unsigned size(void) { return (unsigned)rank_count; }
static unsigned local(void) { return (unsigned)local_count; }

#ifndef RF_MPI_MOST
#define RF_MPI_MOST 0x40000000 /* elements of a message; MPI counts them in an int */
#endif

/* For `count` elements of `bytes` each: broadcasts bytes, reduces others in place. */
static int in_messages(void *values, size_t count, size_t bytes, MPI_Datatype type, MPI_Op op)
{
    for (size_t done = 0; done < count;) {
        unsigned char *at = (unsigned char *)values + done * bytes;
        const int some = count - done < RF_MPI_MOST ? (int)(count - done) : RF_MPI_MOST;
        const int failure = type == MPI_BYTE ? MPI_Bcast(at, some, type, 0, ranks) : MPI_Allreduce(MPI_IN_PLACE, at, some, type, op, ranks);
        if (failure != MPI_SUCCESS)
            return -1;
        done += (size_t)some;
    }
    return 0;
}

static int sum(uint64_t values[], size_t count) { return in_messages(values, count, sizeof *values, MPI_UINT64_T, MPI_SUM); }
static int max(int64_t values[], size_t count) { return in_messages(values, count, sizeof *values, MPI_INT64_T, MPI_MAX); }
static int share(void *bytes, size_t count) { return in_messages(bytes, count, 1, MPI_BYTE, MPI_OP_NULL); }

extern const rf_mpi_module rejfilt_mpi;
__attribute__((visibility("default"))) const rf_mpi_module rejfilt_mpi = {
    RF_MPI_ABI, init, finalize, rank, size, local, sum, max, share,
};
