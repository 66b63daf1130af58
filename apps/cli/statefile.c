#define _XOPEN_SOURCE 700
#include "statefile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

static const char magic[8] = {'R', 'F', 'S', 'T', 'A', 'T', 'E', '\n'};

enum { HEAD = 16, TAIL = 4 };

static void store(unsigned char *to, uint64_t value, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = (unsigned char)(value >> (8 * i));
}

static uint64_t fetch(const unsigned char *from, size_t count)
{
    uint64_t value = 0;
    for (size_t i = 0; i < count; i++)
        value |= (uint64_t)from[i] << (8 * i);
    return value;
}

static uint32_t checksum(const unsigned char *bytes, size_t count)
{
    uint32_t crc = 0xffffffffu;
    for (size_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ (0xedb88320u & (0u - (crc & 1u)));
    }
    return ~crc;
}

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

int cli_state_save(const unsigned char *contents, size_t count, const cli_state_file *f, int is_durable, char *error, size_t size)
{
    unsigned char *bytes = count <= CLI_STATE_MAX ? malloc(HEAD + count + TAIL) : NULL;
    if (!bytes)
        return cannot("write", f->path, count <= CLI_STATE_MAX ? strerror(ENOMEM) : "the state is too large", error, size);
    memcpy(bytes, magic, sizeof magic);
    store(bytes + 8, CLI_STATE_VERSION, 4);
    store(bytes + 12, count, 4);
    memcpy(bytes + HEAD, contents, count);
    store(bytes + HEAD + count, checksum(bytes, HEAD + count), TAIL);
    const int status = rf_output_replace(f->lock.target, bytes, HEAD + count + TAIL, is_durable ? RF_OUTPUT_DURABLE : 0, error, size);
    free(bytes);
    return status;
}

/* ---- Loading ---- */

/* Reads all bytes of a regular file into malloc'ed *bytes. Returns the number, or -1 with a line in `error`. */
static ssize_t read_file(int file, const char *path, unsigned char **bytes, char *error, size_t size)
{
    const size_t max = HEAD + (size_t)CLI_STATE_MAX + TAIL + 1; /* one more than a valid file can have */
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

/* Checks the bytes of a file. Returns 1, or -1 with a line in `error`. */
static int check(const unsigned char *bytes, size_t count, const char *path, char *error, size_t size)
{
    size_t known = count < sizeof magic ? count : sizeof magic;
    if (count == 0)
        snprintf(error, size, "%s is empty", path);
    else if (memcmp(bytes, magic, known) != 0)
        snprintf(error, size, "%s is not a checkpoint of rejfilt", path);
    else if (count < HEAD)
        snprintf(error, size, "%s is truncated (%zu bytes)", path, count);
    else if (fetch(bytes + 8, 4) > CLI_STATE_VERSION)
        snprintf(error, size, "%s is of a newer version (%u; this program reads %u)", path,
                 (unsigned)fetch(bytes + 8, 4), CLI_STATE_VERSION);
    else if (fetch(bytes + 8, 4) < CLI_STATE_VERSION)
        snprintf(error, size, "%s is of an older version (%u; this program reads %u): continue with the program that wrote it, or begin again", path,
                 (unsigned)fetch(bytes + 8, 4), CLI_STATE_VERSION);
    else if (fetch(bytes + 12, 4) > CLI_STATE_MAX || count > HEAD + fetch(bytes + 12, 4) + TAIL)
        snprintf(error, size, "%s is damaged (its length)", path);
    else if (count < HEAD + fetch(bytes + 12, 4) + TAIL)
        snprintf(error, size, "%s is truncated (%zu of %zu bytes)", path, count,
                 (size_t)(HEAD + fetch(bytes + 12, 4) + TAIL));
    else if (fetch(bytes + count - TAIL, TAIL) != checksum(bytes, count - TAIL))
        snprintf(error, size, "%s is damaged (checksum)", path);
    else
        return 1;
    return -1;
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
    if (got < 0 || check(bytes, (size_t)got, path, error, size) < 0) {
        free(bytes);
        return -1;
    }
    *count = (size_t)got - HEAD - TAIL;
    memmove(bytes, bytes + HEAD, *count);
    *contents = bytes;
    return 1;
}
