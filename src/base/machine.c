/* Properties of the machine, for engines and models. */
#define _GNU_SOURCE
#include "machine.h"

#include <dlfcn.h>
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

/* The file that contains this code. Does not rely on the program's own name, since dladdr reports it as the user typed
   it. */
static int this_file(char path[PATH_MAX])
{
    static const char inside;
    Dl_info about;
    struct link_map *map = NULL;
    const int is_known = dladdr1(&inside, &about, (void **)&map, RTLD_DL_LINKMAP) != 0;
    return realpath(is_known && map && map->l_name[0] ? map->l_name : "/proc/self/exe", path) ? 0 : -1;
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
