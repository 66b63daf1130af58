#define _XOPEN_SOURCE 700
#include "lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TRIES = 1000 }; /* attempts, if other processes keep locking and removing the file */

/* The lock covers the whole file. */
static int ask(int file, int what, struct flock *about)
{
    *about = (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int result;
    do
        result = fcntl(file, what, about);
    while (result < 0 && errno == EINTR);
    return result;
}

/* Is our open file still the one at the path? A process that ended may have removed it. */
static int is_there(const rf_lock *l)
{
    struct stat ours, there;
    return fstat(l->file, &ours) == 0 && lstat(l->path, &there) == 0 && ours.st_ino == there.st_ino &&
           ours.st_dev == there.st_dev;
}

static void drop(rf_lock *l)
{
    close(l->file);
    l->file = -1;
}

/* Opens the lock file. It must be empty: a file with contents belongs to somebody else. */
static int open_file(rf_lock *l, char *error, size_t size)
{
    struct stat there;
    l->file = open(l->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (l->file < 0) {
        snprintf(error, size, "cannot write %s: %s", l->path, strerror(errno));
        return RF_LOCK_FAILED;
    }
    if (fstat(l->file, &there) == 0 && S_ISREG(there.st_mode) && there.st_size == 0)
        return RF_LOCKED;
    drop(l);
    snprintf(error, size, "%s is not a lock of rejfilt; move it away, or choose another name", l->path);
    return RF_LOCK_REFUSED;
}

/* Reports who holds the lock. */
static int refuse(const char *path, pid_t holder, char *error, size_t size)
{
    char who[64] = "a process of another machine or container";
    if (holder > 0)
        snprintf(who, sizeof who, "process %ld", (long)holder);
    snprintf(error, size, "%s is in use by %s; wait for its end, or choose another name", path, who);
    return RF_LOCK_FAILED;
}

int rf_lock_take(rf_lock *l, const char *path, char *error, size_t size)
{
    struct flock holder;
    int reason = EBUSY;
    error[0] = '\0';
    l->file = -1;
    if (rf_output_follow(path, l->target, error, size) < 0)
        return RF_LOCK_REFUSED;
    snprintf(l->path, sizeof l->path, "%s.lock", l->target);
    for (int tries = 0; tries < TRIES; tries++) {
        int code = open_file(l, error, size);
        if (code != RF_LOCKED)
            return code;
        int is_taken = ask(l->file, F_SETLK, &holder) == 0;
        if (is_taken && is_there(l)) {
            rf_output_tidy(l->target);
            return RF_LOCKED;
        }
        if (!is_taken && errno != EACCES && errno != EAGAIN) {
            reason = errno;
            tries = TRIES;
        }
        int is_held = !is_taken && tries < TRIES && ask(l->file, F_GETLK, &holder) == 0 && holder.l_type != F_UNLCK;
        drop(l);
        if (is_held)
            return refuse(l->target, holder.l_pid, error, size);
    }
    snprintf(error, size, "%s cannot be locked (%s): take care that no other run uses %s", l->path, strerror(reason),
             l->target);
    return RF_LOCKED;
}

void rf_lock_release(rf_lock *l)
{
    if (l->file < 0)
        return;
    if (is_there(l))
        unlink(l->path);
    drop(l);
}
