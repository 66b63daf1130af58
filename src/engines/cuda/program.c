/* Programs for a GPU: the sources of a model and of the library, compiled by NVRTC and kept in the cache of compiled
   models. */
#define _GNU_SOURCE
#include "gpu.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache.h"
#include "outputs.h"
#include "device_types.h"

enum { PROGRAM_MAX = 2 * PATH_MAX + 1024, OPTIONS_MAX = 64, LOG_MAX = 2048 };

typedef struct key {
    uint64_t half[2];
} key;

static void key_add(key *k, const char *text)
{
    for (;; text++) {
        k->half[0] = (k->half[0] ^ (unsigned char)*text) * 0x100000001b3u; /* FNV-1a */
        k->half[1] = (k->half[1] + (unsigned char)*text + 1) * 0x9e3779b97f4a7c15u;
        k->half[1] ^= k->half[1] >> 32;
        if (!*text)
            return;
    }
}

/* ---- The cache ---- */

/* Reads a whole file that only this user can write; or returns null. */
static unsigned char *read_cached(int directory, const char *name, size_t *bytes)
{
    struct stat s;
    unsigned char *image = NULL;
    const int file = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (file >= 0 && fstat(file, &s) == 0 && S_ISREG(s.st_mode) && s.st_uid == geteuid() &&
        (s.st_mode & 07777) == 0600 && s.st_size > 0)
        image = malloc((size_t)s.st_size);
    size_t got = 0;
    for (ssize_t some = 1; image && got < (size_t)s.st_size && some > 0; got += some > 0 ? (size_t)some : 0)
        some = read(file, image + got, (size_t)s.st_size - got);
    if (file >= 0)
        close(file);
    if (image && got == (size_t)s.st_size) {
        *bytes = got;
        return image;
    }
    free(image);
    return NULL;
}

/* Writes the complete file or none. If the cache is not writable, does nothing. */
static void write_cached(int directory, const char *name, const unsigned char *image, size_t bytes)
{
    char path[128];
    snprintf(path, sizeof path, "/proc/self/fd/%d/%s", directory, name);
    rf_output_replace(path, image, bytes, RF_OUTPUT_PRIVATE, NULL, 0);
}

/* ---- Compiling ---- */

static int write_program(const rf_gpu_wanted *w, char program[PROGRAM_MAX])
{
    static const char *const samplers[] = {"RF_REJECT", "RF_LATTICE", "RF_WEIGHT"};
    const int is_ours = !strchr(w->source->file, '/'), has_quote = strchr(w->source->file, '"') != NULL;
    if (w->trials > 0) {
        const int length =
            snprintf(program, PROGRAM_MAX,
                     "#define RF_PRECISION 64\n#define RF_SMALL\n#define RF_DEVICE_DIM %uu\n#define RF_ROOM "
                     "%uu\n#define RF_DEVICE_MAX %uu\n#define RF_DEVICE_DESIGN rf64_design_%s\n%s"
                     "#define RF_MODEL_NAME device\n#include \"rejfilt/model.h\"\nnamespace rf_own {\n#include "
                     "%c%s%s%c\n}\n#include "
                     "\"rejfilt/src/session/device.h\"\n",
                     w->dim, w->room, w->trials, w->design, w->dim == 1 ? "#define RF_DIM(dim) 1u\n" : "", has_quote ? '<' : '"',
                     is_ours ? "rejfilt/src/models/" : "", w->source->file, has_quote ? '>' : '"');
        return length < 0 || length >= PROGRAM_MAX ? -1 : 0;
    }
    const int length = snprintf(
        program, PROGRAM_MAX,
        "#define RF_PRECISION %u\n#define RF_DEVICE_DIM %uu\n#define RF_DEVICE_KINDS %s\n#define "
        "RF_DEVICE_SAMPLER %s\n#define RF_DEVICE_PAIRS %uu\n"
        "#define RF_DEVICE_GROUP %uu\n#define RF_DEVICE_ENTROPY %u\n#define RF_DEVICE_PLAIN %u\n#define RF_DIM(dim) "
        "RF_DEVICE_DIM\n"
        "#define RF_SAMPLER(sampler) RF_DEVICE_SAMPLER\n#define RF_MODEL_NAME device\n"
        "#include %c%s%s%c\n#include \"rejfilt/src/engines/cuda/device.h\"\n",
        w->bits, w->dim, w->kinds, samplers[w->sampler], w->pairs, w->group, w->entropy, w->plain,
        has_quote ? '<' : '"', is_ours ? "rejfilt/src/models/" : "", w->source->file, has_quote ? '>' : '"');
    return length < 0 || length >= PROGRAM_MAX ? -1 : 0;
}

/* Splits `text` into words. If it is a user's, keeps only those that a compiler for another machine understands. */
static unsigned split(char *text, int is_users, const char *options[OPTIONS_MAX], unsigned count)
{
    char *rest, *word = strtok_r(text, " \t\n", &rest);
    for (; word && count < OPTIONS_MAX; word = strtok_r(NULL, " \t\n", &rest))
        if (!is_users || strncmp(word, "-D", 2) == 0 || strncmp(word, "-U", 2) == 0 || strncmp(word, "-I", 2) == 0)
            options[count++] = word;
    return count;
}

unsigned char *rf_gpu_compile(const rf_cuda_module *cuda, unsigned target, const rf_gpu_wanted *wanted, size_t *bytes,
                              char *error, size_t size)
{
    const rf_source *source = wanted->source;
    const int is_users = strchr(source->file, '/') != NULL;
    const char *flags = is_users ? getenv("REJFILT_MODEL_FLAGS") : source->options, *options[OPTIONS_MAX];
    char program[PROGRAM_MAX], words[PATH_MAX], beside[PATH_MAX + 8], name[64], cache[PATH_MAX], log[LOG_MAX] = "",
                                                                                                 number[64], nobody[8];
    key k = {{0xcbf29ce484222325u, 0x243f6a8885a308d3u}};
    if (write_program(wanted, program) < 0 || (flags && strlen(flags) >= sizeof words)) {
        rf_fail(error, size, "%s: its path or its options are too long", source->file);
        return NULL;
    }
    strcpy(words, flags ? flags : "");
    /* a session is a large program: full optimisation takes three to eight times longer to compile, and the program
       runs no faster */
    const unsigned quick = wanted->trials > 0 ? 2 : 0;
    options[0] = "--Ofast-compile=min";
    options[1] = "--split-compile=0"; /* use all cores */
    unsigned count = split(words, is_users, options, quick);
    if (is_users && count < OPTIONS_MAX) {
        snprintf(beside, sizeof beside, "-I%.*s", (int)(strrchr(source->file, '/') - source->file), source->file);
        options[count++] = beside;
    }
    const char *more = getenv("REJFILT_CUDA_FLAGS");
    char more_words[512];
    snprintf(more_words, sizeof more_words, "%s", more ? more : "");
    count = split(more_words, 0, options, count);
    snprintf(number, sizeof number, "%u %" PRIx64, target, cuda->texts());
    key_add(&k, number);
    key_add(&k, source->key);
    key_add(&k, program);
    for (unsigned i = 0; i < count; i++)
        key_add(&k, options[i]);
    snprintf(name, sizeof name, "%016" PRIx64 "%016" PRIx64 ".cubin", k.half[0], k.half[1]);
    const int directory = rf_cache_open(cache, nobody, sizeof nobody);
    unsigned char *image = directory >= 0 ? read_cached(directory, name, bytes) : NULL;
    if (!image) {
        image = cuda->compile(program, target, options, count, bytes, log, sizeof log);
        if (!image && quick) /* older compilers reject these options */
            image = cuda->compile(program, target, options + quick, count - quick, bytes, log, sizeof log);
        if (image && directory >= 0)
            write_cached(directory, name, image, *bytes);
        for (char *c = log; *c; c++) /* keep one line */
            *c = (char)(*c == '\n' ? ' ' : *c);
        if (!image)
            rf_fail(error, size, "%s cannot be compiled for a GPU: %s", source->file, log);
    }
    if (directory >= 0)
        close(directory);
    return image;
}

/* ---- Programs in use ---- */

static int is_same(const rf_gpu_wanted *a, const rf_gpu_wanted *b)
{
    return a->source == b->source && a->bits == b->bits && a->dim == b->dim && strcmp(a->kinds, b->kinds) == 0 &&
           a->sampler == b->sampler && a->pairs == b->pairs && a->group == b->group && a->entropy == b->entropy &&
           a->plain == b->plain && a->trials == b->trials && a->room == b->room &&
           strcmp(a->design, b->design) == 0;
}

static int load_program(rf_gpu *gpu, rf_gpu_program *p, const unsigned char *image, char *error, size_t size)
{
    const rf_cuda_module *cuda = gpu->cuda;
    if (!(p->image = cuda->load(gpu->device, image, error, size)))
        return -1;
    if (p->wanted.trials > 0) {
        p->trials = cuda->find(gpu->device, p->image, "rejfilt_trials", 0, error, size);
        p->digits = p->trials ? cuda->find(gpu->device, p->image, "rejfilt_digits", 0, error, size) : NULL;
        return p->digits ? 0 : -1;
    }
    if (p->wanted.group == 0) {
        p->run_threads = RF_GPU_THREADS;
        for (; p->wanted.dim > RF_DEVICE_OWN; p->run_threads /= 2) {
            p->run_shared = (unsigned)RF_DEVICE_SHARED(p->wanted.dim, p->run_threads, p->wanted.bits / 8);
            if (p->run_shared <= RF_GPU_SHARED || p->run_threads == 32)
                break;
        }
        p->run = cuda->find(gpu->device, p->image, "rejfilt_run", p->run_shared, error, size);
        p->run_blocks = p->run ? cuda->fit(gpu->device, p->run, p->run_threads, p->run_shared) : 0;
        return p->run ? 0 : -1;
    }
    const struct {
        const char *name;
        rf_cuda_function **function;
    } all[] = {{"rejfilt_fleet", &p->fleet},
               {"rejfilt_check", &p->check},
               {"rejfilt_fill", &p->fill},
               {"rejfilt_pass", &p->pass},
               {"rejfilt_read", &p->read}};
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        if (!(*all[i].function = cuda->find(gpu->device, p->image, all[i].name, 0, error, size)))
            return -1;
    p->fleet_blocks = cuda->fit(gpu->device, p->fleet, RF_GPU_FLEET_THREADS, 0);
    return 0;
}

rf_gpu_program *rf_gpu_find(rf_engine *engine, const rf_gpu_wanted *wanted)
{
    rf_gpu *gpu = engine->state;
    size_t bytes;
    for (rf_gpu_program *p = gpu->programs; p; p = p->next)
        if (is_same(&p->wanted, wanted))
            return p;
    unsigned char *image = rf_gpu_compile(gpu->cuda, gpu->cuda->target(gpu->device), wanted, &bytes, engine->complaint,
                                          sizeof engine->complaint);
    rf_gpu_program *p = image ? calloc(1, sizeof *p) : NULL;
    if (image && !p)
        rf_fail(engine->complaint, sizeof engine->complaint, "out of memory");
    if (p) {
        p->wanted = *wanted;
        p->next = gpu->programs;
        if (load_program(gpu, p, image, engine->complaint, sizeof engine->complaint) == 0) {
            gpu->programs = p;
        } else {
            gpu->cuda->unload(gpu->device, p->image);
            free(p);
            p = NULL;
        }
    }
    free(image);
    return p;
}

void rf_gpu_forget(rf_gpu *gpu)
{
    while (gpu->programs) {
        rf_gpu_program *p = gpu->programs;
        gpu->programs = p->next;
        gpu->cuda->unload(gpu->device, p->image);
        free(p);
    }
}
