/* A small file that is either whole or not there: versioned, checksummed, the same bytes on every machine.

   Bytes of the file, numbers little-endian:
     8   "RFSTATE\n"
     4   version
     4   n, the length of the contents, at most CLI_STATE_MAX
     n   contents
     4   CRC-32 (that of zlib and Ethernet) of everything before */
#ifndef REJFILT_CLI_STATEFILE_H
#define REJFILT_CLI_STATEFILE_H

#include <stddef.h>
#include <stdint.h>

#define CLI_STATE_VERSION 3u /* goes up when the meaning of the contents changes */

enum { CLI_STATE_MAX = 1 << 30 }; /* bytes of contents */

/* Replaces the file at `path`: at every instant there is the old one or the new one, whole, also when the
   process is killed. With `is_durable` it is on the disk on return and survives a power cut; without, the
   system writes it when it likes. Writes `path`.tmp first, in place of what a killed process may have left there. A
   link at `path` stays, and the file it leads to is replaced. The new file has the old one's permissions
   less the umask. One process at a time may save to a path. Returns 0; or -1 with a line in `error`: then the old
   file is as it was, and no `path`.tmp is left, except that a failure of the very last step, making the
   directory durable, leaves the new file. */
int cli_state_save(const unsigned char *contents, size_t count, const char *path, int is_durable, char *error, size_t size);

/* Reads the contents from the file, which stays as it is: malloc'ed. Returns 1; 0 when there is no such file; -1 with a
   line in `error` when it is refused, "run.state is truncated (117 of 240 bytes)". Then there are none. */
int cli_state_load(unsigned char **contents, size_t *count, const char *path, char *error, size_t size);

#endif
