/* Shares bytes among the ranks of an MPI job, and checks them: mpi_share BYTES */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rejfilt/host.h"

static unsigned char byte_at(size_t i) { return (unsigned char)(i * 2654435761u >> 13); }

int main(int argc, char **argv)
{
    char error[200];
    const size_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    rf_engine *engine = rf_engine_open("mpi:serial", error, sizeof error);
    unsigned char *bytes = calloc(count + 1, 1);
    if (!engine || !bytes) {
        printf("%s\n", engine ? "out of memory" : error);
        return 1;
    }
    for (size_t i = 0; i < count && rf_engine_rank(engine) == 0; i++)
        bytes[i] = byte_at(i);
    int failed = rf_engine_share(engine, bytes, count) < 0 || bytes[count] != 0;
    for (size_t i = 0; i < count && !failed; i++)
        failed = bytes[i] != byte_at(i);
    printf("rank %u: %zu bytes %s\n", rf_engine_rank(engine), count, failed ? "are not shared" : "shared");
    free(bytes);
    rf_engine_close(engine);
    return failed;
}
