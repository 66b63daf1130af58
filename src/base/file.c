#define _POSIX_C_SOURCE 200809L
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fail.h"

/* Opens a file without blocking; later reads and writes block as usual. Returns a descriptor, or -1 and sets errno. */
static int open_at_once(const char *path, int flags)
{
    int fd = open(path, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
    if (fd >= 0)
        fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    return fd;
}

/* Opens an ordinary file for reading; with `takes_streams`, also pipes and devices. */
static int open_to_read(const char *path, int takes_streams, struct stat *about, char *error, size_t size)
{
    int fd = open_at_once(path, O_RDONLY);
    if (fd < 0 && errno != ENXIO) /* ENXIO: a socket */
        return rf_fail(error, size, "%s: %s", path, strerror(errno));
    if (fd >= 0 && fstat(fd, about) == 0 && (takes_streams ? !S_ISDIR(about->st_mode) : S_ISREG(about->st_mode)))
        return fd;
    if (fd >= 0)
        close(fd);
    return takes_streams ? rf_fail(error, size, "%s: neither a file nor a pipe", path)
                         : rf_fail(error, size, "%s: not an ordinary file", path);
}

static FILE *as_stream(int fd, const char *mode, const char *path, char *error, size_t size)
{
    FILE *file = fd >= 0 ? fdopen(fd, mode) : NULL;
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
    return as_stream(rf_file_open(path, &bytes, error, size), "rb", path, error, size);
}

FILE *rf_file_listen(const char *path, char *error, size_t size)
{
    struct stat about;
    return as_stream(open_to_read(path, 1, &about, error, size), "rb", path, error, size);
}

FILE *rf_file_write(const char *path, char *error, size_t size)
{
    int fd = open_at_once(path, O_WRONLY | O_CREAT | O_TRUNC);
    if (fd < 0 && errno == ENXIO)
        rf_fail(error, size, "cannot write '%s': nobody reads from it", path);
    else if (fd < 0)
        rf_fail(error, size, "cannot write '%s': %s", path, strerror(errno));
    return as_stream(fd, "wb", path, error, size);
}
