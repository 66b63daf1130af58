/* A lock file. It stands for a file that is replaced by renaming, and so cannot be locked itself. */
#ifndef REJFILT_CLI_LOCK_H
#define REJFILT_CLI_LOCK_H

#include <stddef.h>

enum { CLI_PATH_MAX = 4096 }; /* bytes, with the final zero */

typedef struct cli_lock {
    char path[CLI_PATH_MAX]; /* the empty file that is locked */
    int file;                /* -1: not locked */
} cli_lock;

/* Creates and locks `path`.lock. The lock ends with the process, also if it is killed; children do not inherit it. A lock
   file left by a killed process is reused. Returns CLI_OK; CLI_FAILED if another process holds the lock or the file cannot be
   created; CLI_BAD_INPUT if the name is taken by something else. Then `error` has one line. On file systems without locks it
   returns CLI_OK with a line in `error`, and nothing is locked. */
int cli_lock_take(cli_lock *lock, const char *path, char *error, size_t size);

/* Removes the file and ends the lock, if it is held. */
void cli_lock_release(cli_lock *lock);

#endif
