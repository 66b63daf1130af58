/* Times the start of a GPU program step by step, with the driver's own calls and without rejfilt.
     cc -O1 lab/bench/start.c -ldl -o start && ./start [RUNS] */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

enum { STEPS = 8 };
static const char *const names[STEPS] = {"libcuda.so.1", "cuInit", "count, name", "context", "stream", "host memory", "memory", "release"};

typedef int call();

/* Times one start. `how` it ends: 0 releases the context, 1 does not, 2 also leaves the process by _exit. */
static void start(int how, double took[STEPS])
{
    double at = now();
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL), *context, *stream, *memory;
    unsigned step = 0;
    int n, code = library ? 0 : -1;
    uint64_t address;
    char name[64];
#define TOOK() (took[step++] = now() - at, at = now())
#define CALL(function, ...) (code |= ((call *)dlsym(library, #function))(__VA_ARGS__))
    if (!library)
        _exit(1);
    TOOK();
    CALL(cuInit, 0);
    TOOK();
    CALL(cuDeviceGetCount, &n);
    CALL(cuDeviceGetName, name, 64, 0);
    TOOK();
    CALL(cuDevicePrimaryCtxRetain, &context, 0);
    CALL(cuCtxSetCurrent, context);
    TOOK();
    CALL(cuStreamCreate, &stream, 1);
    TOOK();
    CALL(cuMemHostAlloc, &memory, (size_t)4096, 2);
    TOOK();
    CALL(cuMemAlloc_v2, &address, (size_t)4096);
    CALL(cuMemsetD8Async, address, 0, (size_t)4096, stream);
    TOOK();
    if (how == 0)
        CALL(cuDevicePrimaryCtxRelease_v2, 0);
    TOOK();
    if (code != 0)
        _exit(1);
}

int main(int count, char **arguments)
{
    const int runs = count > 1 ? atoi(arguments[1]) : 3;
    for (int how = 0; how < 3; how++)
        for (int k = 0; k < runs; k++) {
            int pipes[2], state;
            double took[STEPS], begin = now();
            if (pipe(pipes) != 0)
                return 1;
            const pid_t child = fork();
            if (child == 0) {
                start(how, took);
                if (write(pipes[1], took, sizeof took) < 0)
                    return 1;
                if (how == 2)
                    _exit(0);
                return 0;
            }
            close(pipes[1]);
            const ssize_t got = read(pipes[0], took, sizeof took);
            const double answered = now();
            waitpid(child, &state, 0);
            printf("%s: whole %.3f s, its end %.3f", how == 0 ? "released" : how == 1 ? "left" : "left at once", now() - begin, now() - answered);
            for (unsigned i = 0; i < STEPS && got == sizeof took; i++)
                printf(", %s %.3f", names[i], took[i]);
            printf(got == sizeof took ? "\n" : " no device\n");
            fflush(stdout);
            close(pipes[0]);
        }
    return 0;
}
