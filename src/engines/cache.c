#define _GNU_SOURCE
#include "cache.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine.h"

/* Removes slashes and dots from the end, since they would make the system follow a link. */
static void trim(char path[PATH_MAX])
{
    size_t end = strlen(path);
    while (end > 1 && (path[end - 1] == '/' || (path[end - 1] == '.' && path[end - 2] == '/')))
        path[--end] = '\0';
}

/* Opens the directory; creates it if missing. */
static int open_directory(const char *path, char *error, size_t size)
{
    const char *last = strrchr(path, '/');
    struct stat s;
    if (strcmp(last ? last + 1 : path, "..") == 0)
        return rf_fail(error, size, "the cache %s is refused: it ends in '..'", path);
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return rf_fail(error, size, "cannot make the cache %s: %s", path, strerror(errno));
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (directory < 0) {
        const char *why = strerror(errno);
        int is_link = lstat(path, &s) == 0 && S_ISLNK(s.st_mode);
        return rf_fail(error, size, "the cache %s is refused: %s", path, is_link ? "it is a symbolic link" : why);
    }
    int high = fcntl(directory, F_DUPFD_CLOEXEC, 3); /* a child process replaces descriptors 0, 1 and 2 */
    close(directory);
    return high < 0 ? rf_fail(error, size, "the cache %s is refused: %s", path, strerror(errno)) : high;
}

int rf_cache_open(char *path, char *error, size_t size)
{
    const char *chosen = getenv("REJFILT_CACHE"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    struct stat s;
    int length;
    if (chosen && *chosen)
        length = snprintf(path, PATH_MAX, "%s", chosen);
    else if (xdg && *xdg == '/')
        length = snprintf(path, PATH_MAX, "%s/rejfilt", xdg);
    else if (home && *home == '/')
        length = snprintf(path, PATH_MAX, "%s/.cache/rejfilt", home);
    else
        return rf_fail(error, size, "there is no place for compiled models; set REJFILT_CACHE to a directory");
    if (length < 0 || length >= PATH_MAX)
        return rf_fail(error, size, "the path of the cache is too long");
    trim(path);
    if (!(chosen && *chosen)) {
        char *last = strrchr(path, '/');
        *last = '\0';
        mkdir(path, 0700);
        *last = '/';
    }
    const int directory = open_directory(path, error, size);
    if (directory < 0)
        return -1;
    int status = directory;
    if (fstat(directory, &s) != 0 || s.st_uid != geteuid())
        status = rf_fail(error, size, "the cache %s is refused: it belongs to another user", path);
    else if (s.st_mode & (S_IRWXG | S_IRWXO))
        status = rf_fail(error, size, "the cache %s is refused: others have access to it (chmod 700)", path);
    if (status < 0)
        close(directory);
    return status;
}
