/* Models from source files: compiled with the system's compiler, kept in a cache, tried in a child
   process, and loaded. */
#define _GNU_SOURCE /* environ, pipe2 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cache.h"
#include "file.h"
#include "load.h"
#include "machine.h"
#include "simd/targets.h"

enum { ENVIRONMENT_WORDS_MAX = 64, STACK_WANTED = 1 << 20 };

/* The child process's answer; a message or, if all went well, the names of the source's files follow. */
typedef struct answer {
    int status;
    hash key;
    uint64_t source;
    size_t length;
} answer;

/* Loaded models. They are never unloaded. */
typedef struct loaded {
    hash key;
    rf_model model;
    uint64_t source; /* hash of the user's files */
    char *files;     /* their names, one after the other, and an empty one */
    struct loaded *next;
} loaded;

static loaded *models;
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

__attribute__((format(printf, 3, 4))) static int set_path(load *l, char path[PATH_MAX], const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(path, PATH_MAX, format, arguments);
    va_end(arguments);
    return length < 0 || length >= PATH_MAX ? rf_load_fail(l, "%s: a path is too long", l->name) : 0;
}

/* ---- Compiler, flags and cache directory of this machine ---- */

static int find_source(load *l)
{
    struct stat s;
    if (!realpath(l->name, l->source) || stat(l->source, &s) != 0 ||
        (S_ISREG(s.st_mode) && access(l->source, R_OK) != 0))
        return rf_load_fail(l, "cannot read %s: %s", l->name, strerror(errno));
    if (!S_ISREG(s.st_mode))
        return rf_load_fail(l, "%s is %s, not a C source file", l->name,
                            S_ISDIR(s.st_mode) ? "a directory" : "a special file");
    return s.st_size == 0 ? rf_load_fail(l, "%s is empty; examples/template.c is a start", l->name) : 0;
}

/* The source is included by its path. An #include has no escapes, so some characters are not possible. */
static int write_program(load *l)
{
    const int has_quote = strchr(l->source, '"') != NULL;
    if (strpbrk(l->source, "\n\r") || strstr(l->source, "??") || (has_quote && strchr(l->source, '>')))
        return rf_load_fail(l, "%s cannot be included: its path has a line break, ??, or a quote and >; rename it",
                            l->name);
    char literal[2 * PATH_MAX], *to = literal; /* the path as a C string, for device compilers */
    for (const char *from = l->source; *from; *to++ = *from++)
        if (*from == '"' || *from == '\\')
            *to++ = '\\';
    *to = '\0';
    snprintf(l->program, sizeof l->program,
             "#include %c%s%c\n#define RF_MODEL_SOURCE \"%s\"\n#include <rejfilt/detail/instantiate.h>\n#include "
             "<rejfilt/detail/instantiate_kernel.h>\n",
             has_quote ? '<' : '"', l->source, has_quote ? '>' : '"', literal);
    return 0;
}

static int find_include(load *l)
{
    static const char *const places[] = {"/include", "/../include", "/../../include", NULL};
    static const char header[] = "rejfilt/model.h";
    const char *chosen = getenv("REJFILT_INCLUDE");
    char path[PATH_MAX];
    if (chosen && *chosen) {
        if (set_path(l, l->include, "%s", chosen) < 0 || set_path(l, path, "%s/%s", chosen, header) < 0)
            return -1;
        if (access(path, R_OK) != 0)
            return rf_load_fail(l, "REJFILT_INCLUDE is %s, where there is no %s", chosen, header);
    } else if (rf_find_beside(places, header, l->include, sizeof l->include) < 0) {
        return rf_load_fail(l,
                            "the headers of rejfilt, which a model needs, are not found; set REJFILT_INCLUDE to the "
                            "directory that has %s",
                            header);
    }
    return 0;
}

/* Opens l->directory, owned by us and closed to others, and puts its path in l->place. Code in it will be run. Whoever
   can write to a parent directory could replace it, so l->cache is not used from here on. */
static int find_cache(load *l)
{
    l->directory = rf_cache_open(l->cache, l->error, l->size);
    if (l->directory < 0)
        return -1;
    snprintf(l->place, sizeof l->place, "/proc/self/fd/%d", l->directory);
    if (access(l->place, F_OK) != 0)
        return rf_load_fail(l, "the cache %s cannot be used: /proc is not mounted", l->cache);
    return 0;
}

/* Splits environment variable `variable` into words, stored in `text`. */
static int split(load *l, const char *variable, const char *otherwise, char text[PATH_MAX], words *w)
{
    const char *value = getenv(variable);
    if (set_path(l, text, "%s", value && *value ? value : otherwise) < 0)
        return rf_load_fail(l, "%s is too long", variable);
    char *rest, *word = strtok_r(text, " \t\n", &rest);
    for (; word && w->count < ENVIRONMENT_WORDS_MAX; word = strtok_r(NULL, " \t\n", &rest))
        w->word[w->count++] = word;
    if (word || (w->count == 0 && *otherwise))
        return rf_load_fail(l, word ? "%s has too many words" : "%s is blank", variable);
    return 0;
}

/* ---- Commands ---- */

static void add(words *w, const char *const more[])
{
    for (; *more && w->count < WORDS_MAX; more++)
        w->word[w->count++] = *more;
}

static const char *const only_gcc[] = {"-fsched-pressure", NULL};

/* The command that compiles the model; `task` is the stage. */
static words command(const load *l, const char *const task[])
{
    static const char *const flags[] = {"-std=c11",
                                        "-O3",
                                        "-march=native",
                                        "-fPIC",
                                        "-fvisibility=default",
                                        "-ffp-contract=off",
                                        "-fno-math-errno",
                                        "-fno-trapping-math",
                                        "-fschedule-insns",
                                        "-Werror=implicit-function-declaration",
                                        "-DRF_MODEL_NAME=user",
                                        NULL};
    static const char *const vectors[] = {"-mprefer-vector-width=512", NULL};
    const char *const include[] = {"-I", l->include, NULL};
    words w = l->compiler;
    add(&w, flags);
    if (strcmp(rf_target_names[rf_target_best()], "avx512") == 0)
        add(&w, vectors);
    if (l->is_gcc)
        add(&w, only_gcc);
    add(&w, include);
    add(&w, l->extra.word);
    add(&w, task);
    return w;
}

/* Starts a compiler. It reads the program for these precisions from a pipe and inherits the cache directory's descriptor. Returns the end of
   its output, or -1. */
static int start(load *l, const words *w, const char *const precisions[], pid_t *pid)
{
    int in[2], out[2];
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    if (pipe2(in, O_CLOEXEC) != 0)
        return rf_load_fail(l, "cannot start the compiler: %s", strerror(errno));
    if (pipe2(out, O_CLOEXEC) != 0) {
        close(in[0]), close(in[1]);
        return rf_load_fail(l, "cannot start the compiler: %s", strerror(errno));
    }
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, in[0], 0);
    posix_spawn_file_actions_adddup2(&files, out[1], 1);
    posix_spawn_file_actions_adddup2(&files, out[1], 2);
    posix_spawn_file_actions_adddup2(&files, l->directory, l->directory); /* stays open */
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attributes, &l->signals);
    int code = posix_spawnp(pid, w->word[0], &files, &attributes, (char *const *)w->word, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    close(in[0]), close(out[1]);
    for (; code == 0 && *precisions; precisions++)
        if (dprintf(in[1], "#undef RF_PRECISION\n#define RF_PRECISION %s\n%s", *precisions, l->program) < 0)
            code = errno == EPIPE ? 0 : errno; /* a compiler that reads nothing makes no file: reported later */
    close(in[1]);
    if (code == 0)
        return out[0];
    close(out[0]);
    return code == ENOENT
               ? rf_load_fail(l, "there is no compiler '%s'; install gcc, or name a compiler in CC", w->word[0])
               : rf_load_fail(l, "cannot start the compiler '%s': %s", w->word[0], strerror(code));
}

static void add_bytes(hash *h, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        h->half[0] = (h->half[0] ^ (unsigned char)bytes[i]) * 0x100000001b3u; /* FNV-1a */
        h->half[1] = (h->half[1] + (unsigned char)bytes[i] + 1) * 0x9e3779b97f4a7c15u;
        h->half[1] ^= h->half[1] >> 32;
    }
}

/* Adds a file of the user, once: what it contains is the model's source, whatever the machine and the version of rejfilt. */
static void add_file(load *l, const char *path)
{
    char why[PATH_MAX], *line = NULL, *all;
    size_t room = 0;
    ssize_t length;
    for (const char *at = l->files; at && *at; at += strlen(at) + 1)
        if (strcmp(at, path) == 0)
            return;
    FILE *file = rf_file_read(path, why, sizeof why); /* an output of this run is not read, but is on the list: it is refused there */
    while (file && (length = getline(&line, &room, file)) > 0) {
        add_bytes(&l->source_hash, line, (size_t)length);
        l->has_halves |= l->files_size > 0 && strstr(line, "RF_PRECISION");
    }
    free(line);
    if (file)
        fclose(file);
    length = (ssize_t)strlen(path) + 1;
    if ((all = realloc(l->files, l->files_size + (size_t)length + 1))) {
        memcpy(all + l->files_size, path, (size_t)length);
        l->files = all;
        l->files_size += (size_t)length;
        all[l->files_size] = '\0';
    }
}

/* Reads a line '# 12 "path" flags' of a preprocessor: which file follows. Those of the system and of rejfilt are not the user's. */
static void read_marker(load *l, const char *line)
{
    char path[PATH_MAX], *at;
    size_t used = 0, beside = strlen(l->include);
    if (line[0] != '#' || line[1] != ' ' || (strtoul(line + 2, &at, 10), at == line + 2) || strncmp(at, " \"", 2) != 0)
        return;
    for (at += 2; *at && *at != '"' && used < sizeof path - 1; at++) {
        unsigned byte = (unsigned char)*at;
        int digits = 0;
        if (byte == '\\' && sscanf(at + 1, "%3o%n", &byte, &digits) != 1)
            byte = (unsigned char)*++at;
        path[used++] = (char)byte;
        at += digits;
    }
    path[used] = '\0';
    if (*at == '"' && !strchr(at, '3') && path[0] != '<' && (strncmp(path, l->include, beside) != 0 || path[beside] != '/'))
        add_file(l, path);
}

/* Waits for a compiler; 0 on success. Hashes its output if `h` is given, and keeps its start. */
static int finish(load *l, pid_t pid, int output, hash *h, char text[TEXT_MAX])
{
    FILE *from = fdopen(output, "r");
    char *line = NULL;
    size_t room = 0, used = 0;
    int status = -1;
    for (ssize_t got; from && (got = getline(&line, &room, from)) > 0;) {
        const size_t count = (size_t)got, kept = count < TEXT_MAX - 1 - used ? count : TEXT_MAX - 1 - used;
        memcpy(text + used, line, kept);
        used += kept;
        if (!h)
            continue;
        add_bytes(h, line, count);
        read_marker(l, line);
        l->is_gcc &= strncmp(line, "#define __clang__", 17) != 0;
    }
    text[used] = '\0';
    free(line);
    from ? fclose(from) : close(output);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    l->is_broken |= !WIFEXITED(status) || WEXITSTATUS(status) > 1;
    return status;
}

static const char *const nothing[] = {NULL}, *const single[] = {"32", NULL}, *const wide[] = {"64", NULL}, *const both[] = {"32", "64", NULL};

/* Runs a command. Returns -1 with an error if it cannot start; 1 if it fails, with its output in l->output[0]. */
static int run(load *l, const words *w, const char *const precisions[], hash *h)
{
    pid_t pid;
    const int output = start(l, w, precisions, &pid);
    return output < 0 ? -1 : finish(l, pid, output, h, l->output[0]) != 0;
}

/* Compiles for float and double at the same time. */
static int run_both(load *l, const words *first, const words *second)
{
    pid_t pid;
    const int output = start(l, second, wide, &pid), status = output < 0 ? -1 : run(l, first, single, NULL);
    if (output < 0 || finish(l, pid, output, NULL, l->output[status == 1]) == 0)
        return status;
    return status < 0 ? -1 : 1;
}

static int read_all(int end, void *bytes, size_t count)
{
    for (char *to = bytes; count > 0;) {
        ssize_t got = read(end, to, count);
        if (got == 0 || (got < 0 && errno != EINTR))
            return -1;
        to += got > 0 ? got : 0;
        count -= got > 0 ? (size_t)got : 0;
    }
    return 0;
}

/* ---- Compiling ---- */

static const char *hint(const char *text)
{
#define BEGIN "a model begins with #include \"rejfilt/model.h\""
#define LIKELIHOOD                                                                                                     \
    "a model defines RF_FN rf_real likelihood(const rf_real x[], const rf_real setting[], rf_real outcome), or expected " \
    "after #define RF_HAS_EXPECTED"
#define DESCRIPTION "a model defines static const rf_description description = {...};"
#define PI "C11 has no M_PI; write RF_C(3.141592653589793)"
#define CONSTANT "RF_C takes one number with a decimal point, or a macro that is one: RF_C(2.0) / RF_C(3.0)"
#define LIBM "use rf_sin, rf_cos, rf_exp, rf_log, rf_sqrt, ... instead of the functions of libm"
    static const char *const hints[][2] = {
        {"unknown type name 'RF_FN'", BEGIN},
        {"unknown type name 'rf_", BEGIN},
        {"implicit declaration of function 'likelihood'", LIKELIHOOD},
        {"'likelihood' undeclared", LIKELIHOOD},
        {"undeclared identifier 'likelihood'", LIKELIHOOD},
        {"'description' undeclared", DESCRIPTION},
        {"undeclared identifier 'description'", DESCRIPTION},
        {"'M_PI' undeclared", PI},
        {"undeclared identifier 'M_PI'", PI},
        {"valid preprocessing token", CONSTANT},
        {"on integer constant", CONSTANT},
        {"undefined reference", LIBM},
        {"undefined symbol", LIBM},
        {"declaration of built-in function", LIBM},
        {"implicitly declaring library function", LIBM},
    };
    for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++)
        if (strstr(text, hints[i][0]))
            return hints[i][1];
    return "examples/template.c is a model to start from, docs/models.md says what a model may do";
}

/* Reports an error: what happened, whole lines of the compiler's output, a hint. */
static int explain(load *l)
{
    char reason[128];
    const char *text = l->output[0], *help = hint(text);
    struct rlimit stack;
    if (l->is_broken && getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_max < STACK_WANTED) {
        snprintf(reason, sizeof reason, "the stack is limited to %lu KB, compilers need more; try ulimit -s %d",
                 (unsigned long)stack.rlim_max >> 10, STACK_WANTED >> 10);
        help = reason;
    }
    size_t length = strlen(text), around = strlen(l->name) + strlen(help) + 64;
    size_t room = l->size > around ? l->size - around : 0;
    int is_cut = length > room;
    if (is_cut)
        for (length = room; length > 0 && text[length - 1] != '\n';)
            length--;
    while (length > 0 && text[length - 1] == '\n')
        length--;
    return rf_load_fail(l, "%s does not compile; the compiler says:\n%.*s%s\nhint: %s", l->name, (int)length, text,
                        is_cut ? length ? "\n…" : "…" : "", help);
}

/* The compiler itself: its path, as PATH finds it, and what the system says of that file. */
static void add_compiler(hash *h, const char *name)
{
    char path[PATH_MAX];
    struct stat s = {0};
    const char *at = getenv("PATH");
    snprintf(path, sizeof path, "%s", name);
    for (size_t length; !strchr(name, '/') && at && *at; at += length + (at[length] == ':')) {
        length = strcspn(at, ":");
        snprintf(path, sizeof path, "%.*s/%s", (int)length, at, name);
        if (access(path, X_OK) == 0)
            break;
    }
    const int is_there = stat(path, &s) == 0;
    const uint64_t about[] = {(uint64_t)s.st_dev,          (uint64_t)s.st_ino,          (uint64_t)s.st_size,         (uint64_t)s.st_mtim.tv_sec,
                              (uint64_t)s.st_mtim.tv_nsec, (uint64_t)s.st_ctim.tv_sec, (uint64_t)s.st_ctim.tv_nsec, (uint64_t)is_there};
    add_bytes(h, path, strlen(path) + 1);
    add_bytes(h, (const char *)about, sizeof about);
}

/* A hash of everything the object depends on: the compiler, the command and the preprocessed source with all macros, which
   include the compiler's version and the CPU's features. The source is read once for float and double; a header that is read only once
   and distinguishes them, again for double. */
static int make_key(load *l, hash *key)
{
    static const char *const task[] = {"-E", "-dD", "-x", "c", "-", NULL};
    l->is_gcc = 0;
    words w = command(l, task);
    *key = (hash){{0xcbf29ce484222325u, 0x243f6a8885a308d3u}};
    add_compiler(key, w.word[0]);
    l->is_gcc = 1;
    l->files_size = 0;
    free(l->files);
    l->files = NULL;
    l->source_hash = (hash){{0, 0}};
    if (run(l, &w, both, key) < 0 || (l->has_halves && run(l, &w, wide, key) < 0))
        return -1;
    add_bytes(key, (const char *)&l->source_hash, sizeof l->source_hash);
    w = command(l, nothing);
    for (unsigned i = 0; i < w.count; i++)
        add_bytes(key, w.word[i], strlen(w.word[i]) + 1);
    return 0;
}

static int fail_to_write(load *l)
{
    return rf_load_fail(l, "cannot write in the cache %s: %s", l->cache, strerror(errno));
}

/* Links the object from file[0] and file[1], under the name file[2] until it is complete. */
static int compile_files(load *l, char file[3][96])
{
    char key[80]; /* the object's own name */
    snprintf(key, sizeof key, "-DRF_MODEL_KEY=\"%.32s\"", strrchr(l->object, '/') + 1);
    const char *const task32[] = {key, "-c", "-x", "c", "-", "-o", file[0], NULL};
    const char *const task64[] = {key, "-c", "-x", "c", "-", "-o", file[1], NULL};
    const char *const task[] = {"-shared", "-Wl,-z,defs", "-Wl,-Bsymbolic", "-o", file[2], file[0], file[1], NULL};
    words first = command(l, task32), second = command(l, task64), link = l->compiler;
    add(&link, l->extra.word);
    add(&link, task);
    l->is_broken = 0;
    int status = run_both(l, &first, &second);
    int is_made = access(file[0], F_OK) == 0 && access(file[1], F_OK) == 0;
    if (status == 0 && is_made) {
        status = run(l, &link, nothing, NULL);
        is_made = access(file[2], F_OK) == 0;
    }
    if (status != 0)
        return status < 0 ? -1 : explain(l);
    if (!is_made)
        return rf_load_fail(l, "the compiler '%s' made no file, and reported no error; does CC name a compiler?",
                            l->compiler.word[0]);
    return 0;
}

/* ---- The cache: KEY.so, an object and after it the hash of its key and its bytes, written once it was tried ---- */

/* Is the object as it was written, for this key? A damaged one is made again, not run. Nobody else can write in the directory. */
static int is_sound(const load *l, const hash *key)
{
    char why[PATH_MAX];
    uint64_t size = 0;
    const int file = rf_file_open(l->object, &size, why, sizeof why);
    char *bytes = file >= 0 && size > sizeof *key ? malloc(size) : NULL;
    hash h = *key;
    int is_same = bytes && read_all(file, bytes, size) == 0;
    if (is_same) {
        add_bytes(&h, bytes, size - sizeof h);
        is_same = memcmp(bytes + size - sizeof h, &h, sizeof h) == 0;
    }
    free(bytes);
    if (file >= 0)
        close(file);
    return is_same;
}

static int seal(const char *path, const hash *key)
{
    char part[4096];
    ssize_t got = -1;
    hash h = *key;
    const int file = open(path, O_RDWR | O_APPEND | O_CLOEXEC);
    while (file >= 0 && (got = read(file, part, sizeof part)) > 0)
        add_bytes(&h, part, (size_t)got);
    const int is_written = got == 0 && fchmod(file, 0600) == 0 && write(file, &h, sizeof h) == (ssize_t)sizeof h;
    return (file >= 0 && close(file) != 0) || !is_written ? -1 : 0;
}

static void remove_folder(const char *folder)
{
    char path[PATH_MAX];
    DIR *files = opendir(folder);
    for (struct dirent *file; files && (file = readdir(files));)
        if (snprintf(path, sizeof path, "%s/%s", folder, file->d_name) < (int)sizeof path)
            unlink(path);
    if (files)
        closedir(files);
    rmdir(folder);
}

/* Removes the folders of killed processes, which nobody holds locked. */
static void sweep(const load *l)
{
    char path[PATH_MAX];
    DIR *all = opendir(l->place);
    for (struct dirent *one; all && (one = readdir(all));) {
        snprintf(path, sizeof path, "%s/%s", l->place, one->d_name);
        const int folder = strncmp(one->d_name, "tmp.", 4) == 0 ? open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
        if (folder >= 0 && flock(folder, LOCK_EX | LOCK_NB) == 0)
            remove_folder(path);
        if (folder >= 0)
            close(folder);
    }
    if (all)
        closedir(all);
}

static void name_object(load *l, const hash *key)
{
    snprintf(l->object, sizeof l->object, "%s/%016" PRIx64 "%016" PRIx64 ".so", l->place, key->half[0], key->half[1]);
}

/* Compiles the object of `key` in a locked folder of its own and tries it: it appears in the cache complete, or not at all. The key must be
   the same afterwards: the source did not change meanwhile. */
static int make_object(load *l, const hash *key)
{
    static const char *const names[] = {"32.o", "64.o", "model.so"};
    char folder[64], file[3][96];
    hash after;
    snprintf(folder, sizeof folder, "%s/tmp.XXXXXX", l->place);
    flock(l->directory, LOCK_EX); /* nobody sweeps before the folder is locked */
    sweep(l);
    const int lock = mkdtemp(folder) ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    int status = lock < 0 ? fail_to_write(l) : 0;
    flock(lock, LOCK_EX);
    flock(l->directory, LOCK_UN);
    for (int i = 0; i < 3; i++)
        snprintf(file[i], sizeof file[i], "%s/%s", folder, names[i]);
    status = status == 0 ? compile_files(l, file) : status;
    if (status == 0 && (make_key(l, &after) < 0 || memcmp(&after, key, sizeof after) != 0))
        status = rf_load_fail(l, "%s changed while it was compiled; try again", l->name);
    memcpy(l->object, file[2], sizeof l->object);
    status = status == 0 ? rf_load_try(l) : status;
    name_object(l, key);
    if (status == 0 && (seal(file[2], key) < 0 || rename(file[2], l->object) != 0))
        status = fail_to_write(l);
    if (lock >= 0) {
        remove_folder(folder);
        close(lock);
    }
    return status;
}

/* ---- Loading ---- */

static const rf_model *find_loaded(const hash *key)
{
    for (const loaded *m = models; m; m = m->next)
        if (memcmp(&m->key, key, sizeof *key) == 0)
            return &m->model;
    return NULL;
}

/* Makes sure that a tested object, or a loaded model, exists under the key. */
static int prepare(load *l, hash *key)
{
    if (make_key(l, key) < 0)
        return -1;
    name_object(l, key);
    return find_loaded(key) || is_sound(l, key) ? 0 : make_object(l, key);
}

/* Prepares the model in a child process of our own: nobody else waits for its children, and it has no handlers of the
   caller's. */
static void serve(load *l, int end)
{
    const struct sigaction normal = {.sa_handler = SIG_DFL};
    answer a = {0};
    int nowhere;
    sigaction(SIGCHLD, &normal, NULL);
    do /* keep descriptors 0, 1 and 2 taken */
        nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    while (nowhere >= 0 && nowhere < 3);
    setenv("LC_ALL", "C", 1); /* hints are found by matching English messages */
    l->error[0] = '\0';
    a.status = prepare(l, &a.key);
    a.source = l->source_hash.half[0];
    a.length = a.status < 0 ? strnlen(l->error, l->size - 1) : l->files_size;
    ssize_t written = write(end, &a, sizeof a);
    if (written > 0)
        written = write(end, a.status < 0 ? l->error : l->files, a.length);
    _exit(written < 0);
}

/* Has a child process prepare the model. Works even if the caller ignores SIGCHLD or reaps our child. */
static int have_prepared(load *l, answer *a)
{
    int ends[2];
    sigset_t all, held;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return rf_load_fail(l, "cannot compile %s: %s", l->name, strerror(errno));
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &held); /* the child must not run the caller's handlers */
    pid_t child = fork();
    if (child == 0)
        serve(l, ends[1]);
    int why = errno;
    pthread_sigmask(SIG_SETMASK, &held, NULL);
    close(ends[1]);
    int is_answered = child > 0 && read_all(ends[0], a, sizeof *a) == 0 && (a->status == 0 || a->length < l->size);
    if (is_answered && a->status == 0)
        l->files = calloc(1, a->length + 1);
    char *to = is_answered && a->status == 0 ? l->files : l->error;
    is_answered = is_answered && to && read_all(ends[0], to, a->length) == 0;
    close(ends[0]);
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    if (!is_answered)
        return rf_load_fail(l, "cannot compile %s in a process of its own: %s", l->name,
                            child < 0 ? strerror(why) : "it was killed");
    to[a->length] = '\0';
    return a->status;
}

static const rf_model *load_model(load *l)
{
    answer a = {0};
    if (find_source(l) < 0 || write_program(l) < 0 || find_include(l) < 0 || find_cache(l) < 0 ||
        split(l, "CC", "cc", l->compiler_text, &l->compiler) < 0 ||
        split(l, "REJFILT_MODEL_FLAGS", "", l->extra_text, &l->extra) < 0 ||
        have_prepared(l, &a) < 0)
        return NULL;
    const rf_model *known = find_loaded(&a.key);
    if (known)
        return known;
    name_object(l, &a.key);
    loaded *one = malloc(sizeof *one);
    if ((one ? rf_load_open(l, &one->model) : rf_load_fail(l, "not enough memory to load %s", l->name)) < 0) {
        free(one);
        return NULL;
    }
    one->key = a.key;
    one->source = a.source;
    one->files = l->files;
    l->files = NULL;
    one->next = models;
    models = one;
    return &one->model;
}

/* Blocks signals of this thread, so that no incomplete files stay behind. */
const rf_model *rf_model_load(const char *path, char *error, size_t size)
{
    static const int held[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    char nobody_reads[1];
    sigset_t set;
    pthread_mutex_lock(&one_at_a_time);
    load *l = calloc(1, sizeof *l);
    if (!l) {
        snprintf(error, size, "not enough memory to load %s", path);
        pthread_mutex_unlock(&one_at_a_time);
        return NULL;
    }
    l->name = path;
    l->directory = -1;
    l->error = size > 0 ? error : nobody_reads;
    l->size = size > 0 ? size : 1;
    sigemptyset(&set);
    for (int i = 0; i < 4; i++)
        sigaddset(&set, held[i]);
    pthread_sigmask(SIG_BLOCK, &set, &l->signals);
    const rf_model *model = load_model(l);
    pthread_sigmask(SIG_SETMASK, &l->signals, NULL);
    if (l->directory >= 0)
        close(l->directory);
    free(l->files);
    free(l);
    pthread_mutex_unlock(&one_at_a_time);
    return model;
}

static const loaded *loaded_of(const rf_model *model)
{
    pthread_mutex_lock(&one_at_a_time);
    const loaded *m = models; /* none is ever removed */
    while (m && &m->model != model)
        m = m->next;
    pthread_mutex_unlock(&one_at_a_time);
    return m;
}

uint64_t rf_model_source(const rf_model *model)
{
    const loaded *m = loaded_of(model);
    return m ? m->source : 0;
}

const char *rf_model_file(const rf_model *model, unsigned index)
{
    const loaded *m = loaded_of(model);
    const char *at = m ? m->files : "";
    for (; *at && index > 0; index--)
        at += strlen(at) + 1;
    return *at ? at : NULL;
}
