/* Runs a fuzz target on files, and on bytes generated from a seed, without libFuzzer.
   usage: replay_TARGET [--random COUNT] [DIRECTORY...]    prints on standard error what is run, so a crash can be
   traced */
#define _POSIX_C_SOURCE 200809L
#include "fuzz.h"

#include <dirent.h>
#include <string.h>

enum { MOST = 1 << 20, RANDOM_BYTES = 512 };

static void replay_file(const char *path)
{
    uint8_t *bytes = malloc(MOST);
    FILE *file = fopen(path, "rb");
    fuzz_require(bytes && file);
    size_t count = fread(bytes, 1, MOST, file);
    fclose(file);
    fprintf(stderr, "%s\n", path);
    uint8_t *exact = malloc(count ? count : 1); /* allocated in its exact size, so that a sanitizer detects overruns */
    fuzz_require(exact);
    memcpy(exact, bytes, count);
    free(bytes);
    LLVMFuzzerTestOneInput(exact, count);
    free(exact);
}

static unsigned replay_directory(const char *path)
{
    char file[4096];
    unsigned count = 0;
    DIR *directory = opendir(path);
    if (!directory)
        return 0; /* a target without regressions has no such directory */
    for (struct dirent *entry; (entry = readdir(directory));)
        if (entry->d_name[0] != '.') {
            snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
            replay_file(file);
            count++;
        }
    closedir(directory);
    return count;
}

static void replay_random(unsigned long seed)
{
    uint8_t bytes[RANDOM_BYTES];
    uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    for (size_t i = 0; i < sizeof bytes; i++) { /* upper bits of Knuth's MMIX generator */
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        bytes[i] = (uint8_t)(state >> 56);
    }
    fprintf(stderr, "seed %lu\n", seed);
    LLVMFuzzerTestOneInput(bytes, sizeof bytes);
}

int main(int argc, char **argv)
{
    unsigned long count = 0;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--random") == 0 && i + 1 < argc)
            for (unsigned long seeds = strtoul(argv[++i], NULL, 10), seed = 0; seed < seeds; seed++, count++)
                replay_random(seed);
        else
            count += replay_directory(argv[i]);
    printf("%lu inputs\n", count);
    return count == 0;
}
