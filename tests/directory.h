/* A temporary directory, made by set-up and removed by tear-down, and files in it. Needs _XOPEN_SOURCE 700. */
#ifndef REJFILT_TEST_DIRECTORY_H
#define REJFILT_TEST_DIRECTORY_H

#include "testing.h"

#include <dirent.h>
#include <ftw.h>
#include <unistd.h>

static char directory[] = "/tmp/rejfilt-test.XXXXXX";

static inline int make_directory(void **state)
{
    (void)state;
    return mkdtemp(directory) ? 0 : -1;
}

static inline int remove_directory(void **state)
{
    (void)state;
    return rmdir(directory);
}

static inline int remove_one(const char *path, const struct stat *s, int kind, struct FTW *place)
{
    (void)s, (void)kind, (void)place;
    return remove(path);
}

static inline int remove_tree(const char *path) { return nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS); }

/* The path of a file in the directory; valid until the eighth call after this one. */
static inline const char *in_directory(const char *name)
{
    static char paths[8][256];
    static unsigned turn;
    char *path = paths[turn++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", directory, name);
    return path;
}

static inline size_t files_left(void)
{
    size_t count = 0;
    DIR *d = opendir(directory);
    assert_non_null(d);
    for (struct dirent *e = readdir(d); e; e = readdir(d))
        count += e->d_name[0] != '.';
    closedir(d);
    return count;
}

/* Writes a file. Returns its path. */
static inline const char *write_file(const char *path, const void *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
    return path;
}

/* Reads at most `max` bytes from the beginning of a file. Returns the number read. */
static inline size_t read_file(const char *path, void *bytes, size_t most)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t count = fread(bytes, 1, most, file);
    fclose(file);
    return count;
}

#endif
