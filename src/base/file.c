#define _POSIX_C_SOURCE 200809L
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fail.h"
#include "outputs.h"

/* Opens an ordinary file for reading; with `takes_streams`, also pipes and devices. */
static int open_to_read(const char *path, int takes_streams, struct stat *about, char *error, size_t size)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 && errno != ENXIO) /* ENXIO: a socket */
        return rf_fail(error, size, "%s: %s", path, strerror(errno));
    const int is_good = fd >= 0 && fstat(fd, about) == 0 && (takes_streams ? !S_ISDIR(about->st_mode) : S_ISREG(about->st_mode));
    const char *output = is_good ? rf_output_found(about) : NULL;
    if (is_good && !output) {
        fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK); /* it was for the opening alone */
        return fd;
    }
    if (fd >= 0)
        close(fd);
    if (output)
        return rf_fail(error, size, "%s is the same file as %s, which would overwrite it; choose another name", path, output);
    return takes_streams ? rf_fail(error, size, "%s: neither a file nor a pipe", path)
                         : rf_fail(error, size, "%s: not an ordinary file", path);
}

static FILE *as_stream(int fd, const char *path, char *error, size_t size)
{
    FILE *file = fd >= 0 ? fdopen(fd, "rb") : NULL;
    if (fd >= 0 && !file) {
        close(fd);
        rf_fail(error, size, "%s: out of memory", path);
    }
    return file;
}

int rf_file_open(const char *path, uint64_t *bytes, char *error, size_t size)
{
    struct stat about;
    int fd = open_to_read(path, 0, &about, error, size);
    if (fd >= 0)
        *bytes = (uint64_t)about.st_size;
    return fd;
}

FILE *rf_file_read(const char *path, char *error, size_t size)
{
    uint64_t bytes;
    return as_stream(rf_file_open(path, &bytes, error, size), path, error, size);
}

FILE *rf_file_listen(const char *path, char *error, size_t size)
{
    struct stat about;
    return as_stream(open_to_read(path, 1, &about, error, size), path, error, size);
}
