/* A small file that is always complete: versioned, checksummed, the same bytes on every machine.

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

#define CLI_STATE_VERSION 8u /* increment when the meaning of the contents changes */

enum { CLI_STATE_MAX = 1 << 30 }; /* bytes of contents */

/* A checkpoint that this process has locked. */
typedef struct cli_state_file {
    const char *path;         /* as given; must outlive this struct */
    char target[CLI_PATH_MAX];    /* the file it leads to through links */
    char temporary[CLI_PATH_MAX]; /* in the same directory; no other process uses this name */
    cli_lock lock;
} cli_state_file;

/* Locks the file at `path`, following links, and removes temporary files of killed processes. Returns as cli_lock_take. After
   CLI_OK call cli_state_close. */
int cli_state_open(cli_state_file *f, const char *path, char *error, size_t size);
void cli_state_close(cli_state_file *f);

/* Replaces the file atomically: after a kill, or if another process saves too, the old or the new file is there, complete.
   With `is_durable` the file survives a power cut. It keeps the old permissions, less the umask. Returns 0, or -1 with one
   line in `error`: then the old file is unchanged and no temporary file is left. Only if syncing the directory fails, the
   last step, the new file stays. */
int cli_state_save(const unsigned char *contents, size_t count, const cli_state_file *f, int is_durable, char *error, size_t size);

/* Reads the contents into malloc'ed memory. Returns 1; 0 if there is no such file; -1 if it is refused, with one line in
   `error`: "run.state is truncated (117 of 240 bytes)". */
int cli_state_load(unsigned char **contents, size_t *count, const char *path, char *error, size_t size);

#endif
