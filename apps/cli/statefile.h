/* A small file that is either whole or not there: versioned, checksummed, the same bytes on every machine.

   Bytes of the file, numbers little-endian:
     8   "RFSTATE\n"
     4   version
     4   n, the length of the contents, at most CLI_STATE_MAX
     n   contents
     4   CRC-32 (that of zlib and Ethernet) of everything before */
#ifndef REJFILT_CLI_STATEFILE_H
#define REJFILT_CLI_STATEFILE_H

#include <stdint.h>

#include "lock.h"

#define CLI_STATE_VERSION 6u /* goes up when the meaning of the contents changes */

enum { CLI_STATE_MAX = 1 << 30 }; /* bytes of contents */

/* Where a state is saved, by this process alone. */
typedef struct cli_state_file {
    const char *path;         /* as it was given: it must last as long */
    char target[CLI_PATH_MAX];    /* the file that it leads to */
    char temporary[CLI_PATH_MAX]; /* beside that, a name that no other process has */
    cli_lock lock;
} cli_state_file;

/* Locks the file at `path`, or the one that a link there leads to; removes what killed processes have left beside it.
   Returns as cli_lock_take does. After CLI_OK it is to be closed. */
int cli_state_open(cli_state_file *f, const char *path, char *error, size_t size);
void cli_state_close(cli_state_file *f);

/* Replaces the file: at every instant there is the old one or the new one, whole, also when the process is killed, and
   when another saves to the same place. With `is_durable` it is on the disk on return and survives a power cut;
   without, the system writes it when it likes. The new file has the old one's permissions less the umask. Returns 0; or
   -1 with a line in `error`: then the old file is as it was, and nothing is left beside it, except that a failure of
   the very last step, making the directory durable, leaves the new file. */
int cli_state_save(const unsigned char *contents, size_t count, const cli_state_file *f, int is_durable, char *error, size_t size);

/* Reads the contents from the file, which stays as it is: malloc'ed. Returns 1; 0 when there is no such file; -1 with a
   line in `error` when it is refused, "run.state is truncated (117 of 240 bytes)". Then there are none. */
int cli_state_load(unsigned char **contents, size_t *count, const char *path, char *error, size_t size);

#endif
