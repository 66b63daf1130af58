#define _XOPEN_SOURCE 700
#include "statefile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checkpoint.h"
#include "cli.h"

static int cannot(const char *what, const char *path, const char *reason, char *error, size_t size)
{
    snprintf(error, size, "cannot %s %s: %s", what, path, reason);
    return -1;
}

int cli_state_open(cli_state_file *f, const char *path, char *error, size_t size)
{
    f->path = path;
    return rf_lock_take(&f->lock, path, error, size);
}

void cli_state_close(cli_state_file *f) { rf_lock_release(&f->lock); }

/* ---- Saving ---- */

int cli_state_save(const unsigned char *bytes, size_t count, const cli_state_file *f, int is_durable, char *error, size_t size)
{
    if (count > CLI_STATE_MAX)
        return cannot("write", f->path, "the state is too large", error, size);
    return rf_output_replace(f->lock.target, bytes, count, is_durable ? RF_OUTPUT_DURABLE : 0, error, size);
}

/* ---- Loading ---- */

/* Reads all bytes of a regular file into malloc'ed *bytes. Returns the number, or -1 with a line in `error`. */
static ssize_t read_file(int file, const char *path, unsigned char **bytes, char *error, size_t size)
{
    const size_t max = (size_t)CLI_STATE_MAX + 1;
    struct stat there;
    size_t count = 0;
    if (fstat(file, &there) < 0)
        return cannot("read", path, strerror(errno), error, size);
    if (!S_ISREG(there.st_mode)) {
        snprintf(error, size, "%s is %s", path, S_ISDIR(there.st_mode) ? "a directory" : "not an ordinary file");
        return -1;
    }
    const size_t wanted = (size_t)there.st_size < max ? (size_t)there.st_size + 1 : max;
    *bytes = malloc(wanted);
    if (!*bytes)
        return cannot("read", path, strerror(ENOMEM), error, size);
    while (count < wanted) {
        ssize_t got = read(file, *bytes + count, wanted - count);
        if (got == 0)
            break;
        if (got < 0 && errno != EINTR)
            return cannot("read", path, strerror(errno), error, size);
        count += got > 0 ? (size_t)got : 0;
    }
    return (ssize_t)count;
}

int cli_state_load(unsigned char **contents, size_t *count, const char *path, char *error, size_t size)
{
    unsigned char *bytes = NULL;
    struct stat there;
    *contents = NULL;
    *count = 0;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* O_NONBLOCK: opening a pipe must not wait */
    if (file < 0 && errno == ENOENT) {
        if (lstat(path, &there) < 0)
            return 0;
        snprintf(error, size, "%s is a link to nothing", path);
        return -1;
    }
    if (file < 0)
        return cannot("read", path, strerror(errno), error, size);
    ssize_t got = read_file(file, path, &bytes, error, size);
    close(file);
    char why[200];
    const unsigned char *from = NULL;
    if (got >= 0 && cli_checkpoint_unseal(bytes, (size_t)got, &from, count, why, sizeof why) < 0)
        snprintf(error, size, "%s %s", path, why);
    if (!from) {
        free(bytes);
        return -1;
    }
    memmove(bytes, from, *count);
    *contents = bytes;
    return 1;
}
