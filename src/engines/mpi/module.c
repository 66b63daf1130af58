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

static int sum(uint64_t values[], unsigned count)
{
    return MPI_Allreduce(MPI_IN_PLACE, values, (int)count, MPI_UINT64_T, MPI_SUM, ranks) == MPI_SUCCESS ? 0 : -1;
}

static int max(int64_t values[], unsigned count)
{
    return MPI_Allreduce(MPI_IN_PLACE, values, (int)count, MPI_INT64_T, MPI_MAX, ranks) == MPI_SUCCESS ? 0 : -1;
}

static int share(void *bytes, size_t count)
{
    return MPI_Bcast(bytes, (int)count, MPI_BYTE, 0, ranks) == MPI_SUCCESS ? 0 : -1;
}

extern const rf_mpi_module rejfilt_mpi;
__attribute__((visibility("default"))) const rf_mpi_module rejfilt_mpi = {
    RF_MPI_ABI, init, finalize, rank, size, local, sum, max, share,
};
