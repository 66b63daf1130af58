#define _XOPEN_SOURCE 700
#include "replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

static int cannot(const char *what, const char *path, const char *reason, char *error, size_t size)
{
    snprintf(error, size, "cannot %s %s: %s", what, path, reason);
    return -1;
}

int cli_file_check(const struct stat *there, const char *path, char *error, size_t size)
{
    if (S_ISREG(there->st_mode))
        return 0;
    snprintf(error, size, "%s is %s", path, S_ISDIR(there->st_mode) ? "a directory" : "not a regular file");
    return -1;
}

int cli_file_follow(const char *path, char target[CLI_PATH_MAX], char *error, size_t size)
{
    struct stat there;
    if ((size_t)snprintf(target, CLI_PATH_MAX, "%s", path) >= CLI_PATH_MAX)
        return cannot("write", path, strerror(ENAMETOOLONG), error, size);
    if (lstat(path, &there) < 0)
        return 0; /* the file does not exist yet */
    if (S_ISLNK(there.st_mode) && (!realpath(path, target) || stat(target, &there) < 0)) {
        if (errno != ENOENT)
            return cannot("read", path, strerror(errno), error, size);
        snprintf(error, size, "%s is a link to nothing", path);
        return -1;
    }
    return cli_file_check(&there, path, error, size);
}

const char *cli_file_split(const char *path, char directory[CLI_PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    snprintf(directory, CLI_PATH_MAX, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    return slash ? slash + 1 : path;
}

static int write_all(int file, const unsigned char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t written = write(file, bytes, count);
        if (written < 0 && errno != EINTR)
            return -1;
        if (written > 0) {
            bytes += written;
            count -= (size_t)written;
        }
    }
    return 0;
}

static int sync_directory_of(const char *path)
{
    char directory[CLI_PATH_MAX];
    cli_file_split(path, directory);
    int file = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0)
        return -1;
    int result = fsync(file) < 0 && errno != EINVAL ? -1 : 0; /* EINVAL: the file system cannot sync directories */
    int reason = errno;
    close(file);
    errno = reason;
    return result;
}

int cli_file_replace(const char *target, const char *temporary, const unsigned char *bytes, size_t count,
                     int is_durable)
{
    struct stat there;
    const mode_t mode = lstat(target, &there) == 0 ? (there.st_mode & 0666) | 0600 : 0666;
    int file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (file < 0)
        return -1;
    int failed = write_all(file, bytes, count) < 0 || (is_durable && fsync(file) < 0);
    int reason = errno;
    if (close(file) < 0 && !failed) {
        failed = 1;
        reason = errno;
    }
    if (!failed && rename(temporary, target) < 0) {
        failed = 1;
        reason = errno;
    }
    if (failed) {
        unlink(temporary);
        errno = reason;
        return -1;
    }
    return is_durable ? sync_directory_of(target) : 0;
}
