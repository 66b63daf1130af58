/* One process at a time: a lock beside a file that processes replace, and that therefore cannot be locked itself. */
#ifndef REJFILT_CLI_LOCK_H
#define REJFILT_CLI_LOCK_H

#include <limits.h>
#include <stddef.h>

typedef struct cli_lock {
    char path[PATH_MAX]; /* of the empty file that is locked */
    int file;            /* -1: nothing is held */
} cli_lock;

/* Locks `path` by way of the file `path`.lock, which it makes. The lock ends with the process, however that ends, and
   children do not inherit it; the file of a process that was killed is taken over. Returns CLI_OK; CLI_FAILED when
   another process holds the lock, or when the file cannot be made; CLI_BAD_INPUT when something else has its name. Then
   `error` has a line. It also has one where the file system knows no locks: CLI_OK, and nothing is held. */
int cli_lock_take(cli_lock *lock, const char *path, char *error, size_t size);

/* Removes the file and ends the lock, if it is held. */
void cli_lock_release(cli_lock *lock);

#endif
