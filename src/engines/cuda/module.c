/* The module rejfilt_cuda.so: NVIDIA's driver and run-time compiler by dlopen, and the sources of GPU programs. */
#define _GNU_SOURCE
#include "cuda_module.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The driver ---- */

typedef uint64_t device_address;

enum {
    MULTIPROCESSORS = 16,
    MAJOR = 75,
    MINOR = 76,
    MAPPED = 2,
    SHARED_MAX = 8,
    NOT_READY = 600,
    NON_BLOCKING = 1
}; /* values from cuda.h */

static struct {
    int (*cuInit)(unsigned);
    int (*cuDeviceGetCount)(int *);
    int (*cuDeviceGet)(int *, int);
    int (*cuDeviceGetName)(char *, int, int);
    int (*cuDeviceGetAttribute)(int *, int, int);
    int (*cuDevicePrimaryCtxRetain)(void **, int);
    int (*cuCtxSetCurrent)(void *);
    int (*cuStreamCreate)(void **, unsigned);
    int (*cuStreamDestroy_v2)(void *);
    int (*cuStreamQuery)(void *);
    int (*cuModuleLoadData)(void **, const void *);
    int (*cuModuleUnload)(void *);
    int (*cuModuleGetFunction)(void **, void *, const char *);
    int (*cuFuncSetAttribute)(void *, int, int);
    int (*cuOccupancyMaxActiveBlocksPerMultiprocessor)(int *, void *, int, size_t);
    int (*cuLaunchKernel)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                          void **);
    int (*cuMemAlloc_v2)(device_address *, size_t);
    int (*cuMemFree_v2)(device_address);
    int (*cuMemHostAlloc)(void **, size_t, unsigned);
    int (*cuMemFreeHost)(void *);
    int (*cuMemcpyHtoDAsync_v2)(device_address, const void *, size_t, void *);
    int (*cuMemcpyDtoHAsync_v2)(void *, device_address, size_t, void *);
    int (*cuMemsetD8Async)(device_address, unsigned char, size_t, void *);
    int (*cuGetErrorString)(int, const char **);
} driver;

static struct {
    int (*nvrtcCreateProgram)(void **, const char *, const char *, int, const char *const *, const char *const *);
    int (*nvrtcCompileProgram)(void *, int, const char *const *);
    int (*nvrtcGetCUBINSize)(void *, size_t *);
    int (*nvrtcGetCUBIN)(void *, char *);
    int (*nvrtcGetProgramLogSize)(void *, size_t *);
    int (*nvrtcGetProgramLog)(void *, char *);
    int (*nvrtcDestroyProgram)(void **);
    const char *(*nvrtcGetErrorString)(int);
} compiler;

struct rf_cuda_device {
    int index, target, processors;
    void *context, *stream;
    int is_abandoned;
    char name[64];
};

static __attribute__((format(printf, 3, 4))) int fail(char *error, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (error && size > 0)
        vsnprintf(error, size, format, arguments);
    va_end(arguments);
    return -1;
}

/* Looks up functions by name and stores their pointers in `table`, in the same order. */
static int find_all(void *library, const char *const names[], void **table)
{
    for (; *names; names++, table++)
        if (!(*table = dlsym(library, *names)))
            return -1;
    return 0;
}

static int load_driver(char *error, size_t size)
{
    static const char *const names[] = {"cuInit",
                                        "cuDeviceGetCount",
                                        "cuDeviceGet",
                                        "cuDeviceGetName",
                                        "cuDeviceGetAttribute",
                                        "cuDevicePrimaryCtxRetain",
                                        "cuCtxSetCurrent",
                                        "cuStreamCreate",
                                        "cuStreamDestroy_v2",
                                        "cuStreamQuery",
                                        "cuModuleLoadData",
                                        "cuModuleUnload",
                                        "cuModuleGetFunction",
                                        "cuFuncSetAttribute",
                                        "cuOccupancyMaxActiveBlocksPerMultiprocessor",
                                        "cuLaunchKernel",
                                        "cuMemAlloc_v2",
                                        "cuMemFree_v2",
                                        "cuMemHostAlloc",
                                        "cuMemFreeHost",
                                        "cuMemcpyHtoDAsync_v2",
                                        "cuMemcpyDtoHAsync_v2",
                                        "cuMemsetD8Async",
                                        "cuGetErrorString",
                                        NULL};
    static int is_loaded;
    _Static_assert(sizeof driver == (sizeof names / sizeof names[0] - 1) * sizeof(void *), "a name for each function");
    if (is_loaded)
        return 0;
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return fail(error, size, "there is no NVIDIA driver here (libcuda.so.1 is not found)");
    if (find_all(library, names, (void **)&driver) < 0)
        return fail(error, size, "the NVIDIA driver is too old");
    const int code = driver.cuInit(0);
    const char *why = "no reason is given";
    if (code != 0) {
        driver.cuGetErrorString(code, &why);
        return fail(error, size, "the NVIDIA driver does not start: %s", why);
    }
    is_loaded = 1;
    return 0;
}

/* Makes the device current in the calling thread, and turns an error code into a message. */
static int check(const rf_cuda_device *device, int code, const char *what, char *error, size_t size)
{
    const char *why = NULL;
    if (code == 0)
        return 0;
    driver.cuGetErrorString(code, &why);
    return fail(error, size, "%s: %s (%s)", device->name, why ? why : "an unknown error", what);
}

static unsigned count(char *error, size_t size)
{
    int devices = 0;
    if (load_driver(error, size) < 0)
        return 0;
    if (driver.cuDeviceGetCount(&devices) != 0 || devices <= 0) {
        fail(error, size, "there is no CUDA device");
        return 0;
    }
    return (unsigned)devices;
}

/* Keeps the context until the process ends, as CUDA's own runtime does: ending it and starting another takes 0.2 s. */
static void close_device(rf_cuda_device *device)
{
    if (!device)
        return;
    if (device->context && !device->is_abandoned) {
        driver.cuCtxSetCurrent(device->context);
        if (device->stream)
            driver.cuStreamDestroy_v2(device->stream);
    }
    free(device);
}

static rf_cuda_device *open_device(unsigned index, char *error, size_t size)
{
    const unsigned devices = count(error, size);
    if (devices == 0)
        return NULL;
    if (index >= devices) {
        fail(error, size, "there is no CUDA device %u; there %s %u, from 0", index, devices == 1 ? "is" : "are",
             devices);
        return NULL;
    }
    rf_cuda_device *device = calloc(1, sizeof *device);
    int major = 0, minor = 0;
    if (!device) {
        fail(error, size, "out of memory");
        return NULL;
    }
    snprintf(device->name, sizeof device->name, "CUDA device %u", index);
    if (check(device, driver.cuDeviceGet(&device->index, (int)index), "asking for it", error, size) < 0 ||
        check(device, driver.cuDeviceGetName(device->name, sizeof device->name, device->index), "asking for its name",
              error, size) < 0 ||
        check(device, driver.cuDeviceGetAttribute(&major, MAJOR, device->index), "asking what it can do", error, size) <
            0 ||
        check(device, driver.cuDeviceGetAttribute(&minor, MINOR, device->index), "asking what it can do", error, size) <
            0 ||
        check(device, driver.cuDeviceGetAttribute(&device->processors, MULTIPROCESSORS, device->index),
              "asking what it can do", error, size) < 0 ||
        check(device, driver.cuDevicePrimaryCtxRetain(&device->context, device->index), "starting it", error, size) <
            0 ||
        check(device, driver.cuCtxSetCurrent(device->context), "starting it", error, size) < 0 ||
        check(device, driver.cuStreamCreate(&device->stream, NON_BLOCKING), "starting it", error, size) < 0) {
        close_device(device);
        return NULL;
    }
    device->target = 10 * major + minor;
    return device;
}

static unsigned target(const rf_cuda_device *device) { return (unsigned)device->target; }
static unsigned processors(const rf_cuda_device *device) { return (unsigned)device->processors; }
static const char *name(const rf_cuda_device *device) { return device->name; }
static void abandon(rf_cuda_device *device) { device->is_abandoned = 1; }

static rf_cuda_image *load(rf_cuda_device *device, const unsigned char *bytes, char *error, size_t size)
{
    void *image = NULL;
    driver.cuCtxSetCurrent(device->context);
    return check(device, driver.cuModuleLoadData(&image, bytes), "loading a program", error, size) < 0 ? NULL : image;
}

static void unload(rf_cuda_device *device, rf_cuda_image *image)
{
    if (!image || device->is_abandoned)
        return;
    driver.cuCtxSetCurrent(device->context);
    driver.cuModuleUnload(image);
}

static rf_cuda_function *find(rf_cuda_device *device, rf_cuda_image *image, const char *which, unsigned shared,
                              char *error, size_t size)
{
    void *function = NULL;
    driver.cuCtxSetCurrent(device->context);
    if (check(device, driver.cuModuleGetFunction(&function, image, which), which, error, size) < 0)
        return NULL;
    if (shared > 0 && check(device, driver.cuFuncSetAttribute(function, SHARED_MAX, (int)shared),
                            "asking for shared memory", error, size) < 0)
        return NULL;
    return function;
}

static unsigned fit(rf_cuda_device *device, rf_cuda_function *function, unsigned threads, unsigned shared)
{
    int blocks = 0;
    driver.cuCtxSetCurrent(device->context);
    if (driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, (int)threads, shared) != 0 || blocks < 1)
        blocks = 1;
    return (unsigned)(blocks * device->processors);
}

static int launch(rf_cuda_device *device, rf_cuda_function *function, unsigned blocks, unsigned threads,
                  unsigned shared, void *parameters, char *error, size_t size)
{
    void *all[] = {parameters};
    driver.cuCtxSetCurrent(device->context);
    return check(device,
                 driver.cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, shared, device->stream, all, NULL),
                 "starting a program", error, size);
}

static void *take(rf_cuda_device *device, size_t bytes, char *error, size_t size)
{
    device_address address = 0;
    char what[64];
    snprintf(what, sizeof what, "asking for %zu bytes", bytes);
    driver.cuCtxSetCurrent(device->context);
    if (check(device, driver.cuMemAlloc_v2(&address, bytes), what, error, size) < 0)
        return NULL;
    driver.cuMemsetD8Async(address, 0, bytes, device->stream); /* ordered before later work on the stream */
    return (void *)(uintptr_t)address;
}

static void give(rf_cuda_device *device, void *memory)
{
    if (!memory || device->is_abandoned)
        return;
    driver.cuCtxSetCurrent(device->context);
    driver.cuMemFree_v2((uintptr_t)memory);
}

static void *take_host(rf_cuda_device *device, size_t bytes, char *error, size_t size)
{
    void *memory = NULL;
    driver.cuCtxSetCurrent(device->context);
    return check(device, driver.cuMemHostAlloc(&memory, bytes, MAPPED), "asking for memory that it sees", error, size) <
                   0
               ? NULL
               : memory;
}

static void give_host(rf_cuda_device *device, void *memory)
{
    if (!memory || device->is_abandoned)
        return;
    driver.cuCtxSetCurrent(device->context);
    driver.cuMemFreeHost(memory);
}

static int to_device(rf_cuda_device *device, void *to, const void *from, size_t bytes, char *error, size_t size)
{
    driver.cuCtxSetCurrent(device->context);
    return check(device, driver.cuMemcpyHtoDAsync_v2((uintptr_t)to, from, bytes, device->stream), "copying to it",
                 error, size);
}

static int to_host(rf_cuda_device *device, void *to, const void *from, size_t bytes, char *error, size_t size)
{
    driver.cuCtxSetCurrent(device->context);
    return check(device, driver.cuMemcpyDtoHAsync_v2(to, (uintptr_t)from, bytes, device->stream), "copying from it",
                 error, size);
}

static int state(rf_cuda_device *device, char *error, size_t size)
{
    driver.cuCtxSetCurrent(device->context);
    const int code = driver.cuStreamQuery(device->stream);
    return code == NOT_READY ? 0 : check(device, code, "running a program", error, size) < 0 ? -1 : 1;
}

/* ---- Texts: the headers and sources that programs include, embedded at build time ---- */

#define RF_TEXT(number, name, path)                                                                                    \
    __asm__(".pushsection .rodata\n.global rf_text_" #number "\n.hidden rf_text_" #number "\nrf_text_" #number         \
            ":\n.incbin \"" path "\"\n.byte 0\n.popsection\n");                                                        \
    extern __attribute__((visibility("hidden"))) const char rf_text_##number[];
#include "texts.def"
#undef RF_TEXT

static const struct text {
    const char *name, *text;
} texts[] = {
#define RF_TEXT(number, name, path) {name, rf_text_##number},
#include "texts.def"
#undef RF_TEXT
};

enum { TEXTS = sizeof texts / sizeof texts[0] };

static uint64_t hash_texts(void)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (unsigned i = 0; i < TEXTS; i++)
        for (const char *c = texts[i].text; *c; c++)
            hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
    return hash;
}

/* The text that #include `name` means inside the text `from`, or null. Searched as compilers do: beside it, then by its
   full name, then in every folder of sources. */
static const struct text *find_text(const char *from, const char *name, size_t length)
{
    char path[512];
    const char *slash = strrchr(from, '/');
    for (int is_beside = 1; is_beside >= 0; is_beside--) {
        size_t used = is_beside && slash ? (size_t)(slash - from) : 0;
        if (used + length + 2 > sizeof path)
            return NULL;
        memcpy(path, from, used);
        for (const char *part = name, *end = name + length; part < end;) {
            const char *next = memchr(part, '/', (size_t)(end - part));
            const size_t size = (size_t)((next ? next : end) - part);
            if (size == 2 && memcmp(part, "..", 2) == 0) {
                while (used > 0 && path[--used] != '/')
                    ;
            } else {
                if (used > 0)
                    path[used++] = '/';
                memcpy(path + used, part, size);
                used += size;
            }
            part = next ? next + 1 : end;
        }
        path[used] = '\0';
        for (unsigned i = 0; i < TEXTS; i++)
            if (strcmp(texts[i].name, path) == 0)
                return &texts[i];
    }
    for (unsigned i = 0; i < TEXTS; i++) {
        const size_t whole = strlen(texts[i].name);
        if (strncmp(texts[i].name, "rejfilt/src/", 12) == 0 && whole > length + 1 &&
            texts[i].name[whole - length - 1] == '/' && memcmp(texts[i].name + whole - length, name, length) == 0)
            return &texts[i];
    }
    return NULL;
}

/* A copy whose #includes have full names, because NVRTC does not search beside a text. */
static char *with_whole_names(const struct text *text)
{
    static const char include[] = "#include \"";
    const char *from = text->text;
    char *copy = malloc(2 * strlen(from) + 1), *to = copy;
    while (copy && *from) {
        const char *end = strchr(from, '\n'), *quote = NULL;
        const size_t length = end ? (size_t)(end - from) + 1 : strlen(from);
        const struct text *meant = NULL;
        if (strncmp(from, include, sizeof include - 1) == 0 && (quote = strchr(from + sizeof include - 1, '"')))
            meant = find_text(text->name, from + sizeof include - 1, (size_t)(quote - (from + sizeof include - 1)));
        if (meant) {
            to += sprintf(to, "#include \"%s\"\n", meant->name);
        } else {
            memcpy(to, from, length);
            to += length;
        }
        from += length;
    }
    if (copy)
        *to = '\0';
    return copy;
}

/* ---- The compiler ---- */

static int load_compiler(char *error, size_t size)
{
    static const char *const names[] = {"nvrtcCreateProgram",  "nvrtcCompileProgram",    "nvrtcGetCUBINSize",
                                        "nvrtcGetCUBIN",       "nvrtcGetProgramLogSize", "nvrtcGetProgramLog",
                                        "nvrtcDestroyProgram", "nvrtcGetErrorString",    NULL};
    static const char *const files[] = {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12",
                                        "/usr/local/cuda/lib64/libnvrtc.so", NULL};
    static int is_loaded;
    _Static_assert(sizeof compiler == (sizeof names / sizeof names[0] - 1) * sizeof(void *),
                   "a name for each function");
    if (is_loaded)
        return 0;
    const char *chosen = getenv("REJFILT_NVRTC");
    void *library = chosen && *chosen ? dlopen(chosen, RTLD_NOW | RTLD_LOCAL) : NULL;
    for (unsigned i = 0; !(chosen && *chosen) && !library && files[i]; i++)
        library = dlopen(files[i], RTLD_NOW | RTLD_LOCAL);
    if (!library || find_all(library, names, (void **)&compiler) < 0)
        return fail(
            error, size,
            "NVIDIA's run-time compiler is not found (libnvrtc.so, of CUDA 12 or later); REJFILT_NVRTC may name it");
    is_loaded = 1;
    return 0;
}

static unsigned char *compile(const char *program, unsigned for_target, const char *const options[],
                              unsigned option_count, size_t *bytes, char *log, size_t size)
{
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    static const char *const own[] = {"--std=c++20",
                                      "--device-as-default-execution-space",
                                      "--fmad=false",
                                      "--prec-div=true",
                                      "--prec-sqrt=true",
                                      "--ftz=false",
                                      "--diag-suppress=20044,177"};
    enum { OWN = sizeof own / sizeof own[0], OPTIONS_MAX = 96 };
    char architecture[48], *copies[TEXTS] = {NULL};
    const char *all[OPTIONS_MAX], *names[TEXTS], *const *sources = (const char *const *)copies;
    unsigned char *image = NULL;
    void *made = NULL;
    unsigned count_all = 0;
    pthread_mutex_lock(&one_at_a_time);
    int status = load_compiler(log, size);
    pthread_mutex_unlock(&one_at_a_time);
    for (unsigned i = 0; i < TEXTS && status == 0; i++) {
        names[i] = texts[i].name;
        if (!(copies[i] = with_whole_names(&texts[i])))
            status = fail(log, size, "out of memory");
    }
    snprintf(architecture, sizeof architecture, "--gpu-architecture=sm_%u", for_target);
    all[count_all++] = architecture;
    for (unsigned i = 0; i < OWN; i++)
        all[count_all++] = own[i];
    for (unsigned i = 0; i < option_count && count_all < OPTIONS_MAX; i++)
        all[count_all++] = options[i];
    int code = status == 0 ? compiler.nvrtcCreateProgram(&made, program, "model.cu", TEXTS, sources, names) : 0;
    if (status == 0 && code == 0) {
        size_t length = 0;
        code = compiler.nvrtcCompileProgram(made, (int)count_all, all);
        char *words =
            code != 0 && compiler.nvrtcGetProgramLogSize(made, &length) == 0 && length > 1 ? malloc(length) : NULL;
        if (words && compiler.nvrtcGetProgramLog(made, words) == 0)
            fail(log, size, "NVIDIA's compiler says: %s", words);
        else if (code != 0)
            fail(log, size, "%s", compiler.nvrtcGetErrorString(code));
        free(words);
    } else if (status == 0) {
        fail(log, size, "%s", compiler.nvrtcGetErrorString(code));
    }
    if (status == 0 && code == 0 && compiler.nvrtcGetCUBINSize(made, bytes) == 0 && (image = malloc(*bytes)) &&
        compiler.nvrtcGetCUBIN(made, (char *)image) != 0) {
        free(image);
        image = NULL;
        fail(log, size, "the compiler gave no program");
    }
    if (made)
        compiler.nvrtcDestroyProgram(&made);
    for (unsigned i = 0; i < TEXTS; i++)
        free(copies[i]);
    return image;
}

static void release(unsigned char *bytes) { free(bytes); }

extern const rf_cuda_module rejfilt_cuda;
__attribute__((visibility("default"))) const rf_cuda_module rejfilt_cuda = {
    RF_CUDA_ABI, open_device, close_device, count,     target,  processors, name,    hash_texts,
    compile,     release,     load,         unload,    find,    fit,        launch,  take,
    give,        take_host,   give_host,    to_device, to_host, state,      abandon,
};
