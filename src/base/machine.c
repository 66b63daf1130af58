/* Properties of the machine, for engines and models. */
#define _GNU_SOURCE
#include "machine.h"

#include <limits.h>
#include <link.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fail.h"

unsigned rf_cpus_online(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (unsigned)count : 1;
}

unsigned rf_cpus_allowed(void)
{
#ifdef CPU_COUNT
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return (unsigned)CPU_COUNT(&set);
#endif
    return rf_cpus_online();
}

/* A memory limit from a cgroup file; none if the file is missing or says "max". */
static uint64_t limit_in(const char *path)
{
    unsigned long long limit = 0;
    FILE *file = fopen(path, "r");
    const int is_number = file && fscanf(file, "%llu", &limit) == 1;
    if (file)
        fclose(file);
    return is_number ? limit : UINT64_MAX;
}

static uint64_t memory_max(void)
{
    const uint64_t limits[] = {(uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE), limit_in("/sys/fs/cgroup/memory.max"),
                               limit_in("/sys/fs/cgroup/memory/memory.limit_in_bytes")};
    struct rlimit own;
    uint64_t max = getrlimit(RLIMIT_AS, &own) == 0 && own.rlim_cur != RLIM_INFINITY ? own.rlim_cur : UINT64_MAX;
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        max = limits[i] > 0 && limits[i] < max ? limits[i] : max;
    return max;
}

int rf_memory_check(const char *what, uint64_t bytes, char *error, size_t size)
{
    const uint64_t max = memory_max();
    if (bytes <= max)
        return 0;
    return rf_fail(error, size, "%s needs %llu bytes of memory; there are %llu", what, (unsigned long long)bytes, (unsigned long long)max);
}

/* A loaded file that is looked for. */
typedef struct loaded {
    uintptr_t address; /* of something in it */
    char *path;        /* PATH_MAX characters for its name */
    int is_program;    /* the next one is the program: it comes first */
} loaded;

/* The program's own name is not used: it may be the one that the user typed, and is empty with some libraries. */
static int compare_with(struct dl_phdr_info *file, size_t size, void *wanted)
{
    loaded *l = wanted;
    const char *name = l->is_program ? "/proc/self/exe" : file->dlpi_name;
    (void)size;
    l->is_program = 0;
    for (unsigned i = 0; i < file->dlpi_phnum; i++)
        if (file->dlpi_phdr[i].p_type == PT_LOAD && l->address - (uintptr_t)(file->dlpi_addr + file->dlpi_phdr[i].p_vaddr) < file->dlpi_phdr[i].p_memsz)
            return realpath(name, l->path) ? 1 : -1;
    return 0;
}

/* The file that contains this code. */
static int this_file(char path[PATH_MAX])
{
    static const char inside;
    loaded wanted = {(uintptr_t)&inside, path, 1};
    return dl_iterate_phdr(compare_with, &wanted) == 1 ? 0 : -1;
}

int rf_find_beside(const char *const places[], const char *file, char *path, size_t size)
{
    char here[PATH_MAX], whole[PATH_MAX + 128];
    if (this_file(here) < 0)
        return -1;
    *strrchr(here, '/') = '\0';
    for (; *places; places++) {
        int length = snprintf(path, size, "%s%s", here, *places);
        int longer = snprintf(whole, sizeof whole, "%s%s/%s", here, *places, file);
        if (length > 0 && (size_t)length < size && (size_t)longer < sizeof whole && access(whole, R_OK) == 0)
            return 0;
    }
    return -1;
}
