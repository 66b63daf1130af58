#define _XOPEN_SOURCE 700
#include "fuzz.h"

#include <ftw.h>
#include <string.h>

static char directory[256];

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about, (void)kind, (void)where;
    return remove(path);
}

static void remove_directory(void) { nftw(directory, remove_one, 8, FTW_DEPTH | FTW_PHYS); }

const char *fuzz_file(const char *name, const uint8_t *bytes, size_t count)
{
    static char path[512];
    if (!directory[0]) {
        const char *parent = getenv("TMPDIR");
        snprintf(directory, sizeof directory, "%s/rejfilt-fuzz.XXXXXX", parent ? parent : "/tmp");
        fuzz_require(mkdtemp(directory));
        atexit(remove_directory);
    }
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "wb");
    fuzz_require(file);
    fuzz_require(fwrite(bytes, 1, count, file) == count);
    fuzz_require(fclose(file) == 0);
    return path;
}

void fuzz_require_message(const char *text, size_t size)
{
    const size_t length = strnlen(text, size);
    fuzz_require(length > 0 && length < size);
}
