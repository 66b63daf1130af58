/* A lock file. It stands for a file that is replaced by renaming, and so cannot be locked itself. */
#ifndef REJFILT_LOCK_H
#define REJFILT_LOCK_H

#include "outputs.h"

enum { RF_LOCKED = 0, RF_LOCK_FAILED = 1, RF_LOCK_REFUSED = 2 };

typedef struct rf_lock {
    char target[RF_PATH_MAX];   /* the file that it stands for, through links */
    char path[RF_PATH_MAX + 8]; /* the empty file that is locked */
    int file;                   /* -1: not locked */
} rf_lock;

/* Creates and locks FILE.lock, FILE being what `path` leads to through links, and removes FILE's temporary files of
   killed processes. The lock ends with the process, also if it is killed; children do not inherit it. A lock file left
   by a killed process is reused. Returns RF_LOCKED; RF_LOCK_FAILED if another process holds the lock or the file cannot
   be created; RF_LOCK_REFUSED if a name is taken by something else. Then `error` has one line. On file systems without
   locks it returns RF_LOCKED with a line in `error`, and nothing is locked. Two threads of a process do not exclude
   each other. */
int rf_lock_take(rf_lock *lock, const char *path, char *error, size_t size);

/* Removes the file and ends the lock, if it is held. */
void rf_lock_release(rf_lock *lock);

#endif
