/* Models from source files: compiled with the system's compiler, kept in a cache, tried in a child
   process, and loaded. */
#define _XOPEN_SOURCE 700
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
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "load.h"
#include "machine.h"
#include "simd/targets.h"

extern char **environ;

enum { ENVIRONMENT_WORDS_MAX = 64, TEXT_MAX = 32768 };

typedef struct hash {
    uint64_t half[2];
} hash;

typedef struct job {
    pid_t pid;
    int output;
} job;

/* Models that are in use. They stay. */
typedef struct loaded {
    hash key;
    rf_model model;
    struct loaded *next;
} loaded;

__attribute__((format(printf, 3, 4))) static int set_path(load *l, char path[PATH_MAX], const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(path, PATH_MAX, format, arguments);
    va_end(arguments);
    return length < 0 || length >= PATH_MAX ? rf_load_fail(l, "%s: a path is too long", l->name) : 0;
}

/* ---- What the user's machine gives ---- */

static int find_source(load *l)
{
    struct stat s;
    if (!realpath(l->name, l->source) || stat(l->source, &s) != 0 || (S_ISREG(s.st_mode) && access(l->source, R_OK) != 0))
        return rf_load_fail(l, "cannot read %s: %s", l->name, strerror(errno));
    if (!S_ISREG(s.st_mode))
        return rf_load_fail(l, "%s is %s, not a C source file", l->name,
                            S_ISDIR(s.st_mode) ? "a directory" : "a special file");
    return s.st_size == 0 ? rf_load_fail(l, "%s is empty; examples/template.c is a start", l->name) : 0;
}

static int find_include(load *l)
{
    static const char *const places[] = {"/../include", "/../../include", NULL};
    static const char header[] = "rejfilt/model.h";
    const char *chosen = getenv("REJFILT_INCLUDE");
    char path[PATH_MAX];
    if (chosen && *chosen) {
        if (set_path(l, l->include, "%s", chosen) < 0 || set_path(l, path, "%s/%s", chosen, header) < 0)
            return -1;
        if (access(path, R_OK) != 0)
            return rf_load_fail(l, "REJFILT_INCLUDE is %s, where there is no %s", chosen, header);
    } else if (rf_find_beside(places, header, l->include, sizeof l->include) < 0) {
        return rf_load_fail(l, "the headers of rejfilt, which a model needs, are not found; set REJFILT_INCLUDE to the directory that has %s", header);
    }
    if (set_path(l, l->instance, "%s/rejfilt/instantiate.h", l->include) < 0)
        return -1;
    return set_path(l, l->kernel, "%s/rejfilt/instantiate_kernel.h", l->include);
}

/* Leaves l->cache: a directory of ours that is closed to all others. What lies in it will be run. */
static int find_cache(load *l)
{
    const char *chosen = getenv("REJFILT_CACHE"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char parent[PATH_MAX] = "";
    struct stat s;
    int status;
    if (chosen && *chosen)
        status = set_path(l, l->cache, "%s%s", chosen[0] == '/' ? "" : "./", chosen);
    else if (xdg && *xdg == '/')
        status = set_path(l, parent, "%s", xdg);
    else if (home && *home == '/')
        status = set_path(l, parent, "%s/.cache", home);
    else
        status = rf_load_fail(l, "there is no place for compiled models; set REJFILT_CACHE to a directory");
    if (status < 0 || (*parent && set_path(l, l->cache, "%s/rejfilt", parent) < 0))
        return -1;
    for (size_t end = strlen(l->cache); end > 1 && l->cache[end - 1] == '/'; end--)
        l->cache[end - 1] = '\0'; /* a link named with a slash at its end would be followed */
    if (*parent)
        mkdir(parent, 0700);
    if (mkdir(l->cache, 0700) != 0 && errno != EEXIST)
        return rf_load_fail(l, "cannot make the cache %s: %s", l->cache, strerror(errno));
    int directory = open(l->cache, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (directory < 0) {
        const char *why = strerror(errno);
        int is_link = lstat(l->cache, &s) == 0 && S_ISLNK(s.st_mode);
        return rf_load_fail(l, "the cache %s is refused: %s", l->cache, is_link ? "it is a symbolic link" : why);
    }
    status = fstat(directory, &s);
    close(directory);
    if (status != 0 || s.st_uid != geteuid())
        return rf_load_fail(l, "the cache %s is refused: it belongs to another user", l->cache);
    if (s.st_mode & (S_IRWXG | S_IRWXO))
        return rf_load_fail(l, "the cache %s is refused: others have access to it (chmod 700)", l->cache);
    return 0;
}

/* The words of environment variable `variable`, kept in `text`. */
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

/* The environment with messages in English, which hints are found by. */
static int set_environment(load *l)
{
    static char english[] = "LC_ALL=C";
    size_t count = 0, kept = 0;
    while (environ && environ[count])
        count++;
    l->environment = malloc((count + 2) * sizeof *l->environment);
    if (!l->environment)
        return rf_load_fail(l, "not enough memory to compile %s", l->name);
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], "LC_ALL=", 7) != 0)
            l->environment[kept++] = environ[i];
    l->environment[kept++] = english;
    l->environment[kept] = NULL;
    return 0;
}

/* ---- Commands ---- */

static void add(words *w, const char *const more[])
{
    for (; *more && w->count < WORDS_MAX; more++)
        w->word[w->count++] = *more;
}

static const char *const only_gcc[] = {"-fsched-pressure", NULL};

/* Compiles the model for one precision, with `task` saying how far. */
static words command(const load *l, int bits, const char *const task[])
{
    static const char *const flags[] = {
        "-std=c11", "-O3", "-march=native", "-fPIC", "-fvisibility=default", "-ffp-contract=off", "-fno-math-errno",
        "-fno-trapping-math", "-fschedule-insns", "-Werror=implicit-function-declaration", "-DRF_MODEL_NAME=user", NULL};
    static const char *const wide[] = {"-mprefer-vector-width=512", NULL};
    const char *const files[] = {bits == 32 ? "-DRF_PRECISION=32" : "-DRF_PRECISION=64", "-I", l->include,
                                 "-include", l->source, "-include", l->instance, "-include", l->kernel, NULL};
    words w = l->compiler;
    add(&w, flags);
    if (strcmp(rf_target_names[rf_target_best()], "avx512") == 0)
        add(&w, wide);
    if (l->is_gcc)
        add(&w, only_gcc);
    add(&w, files);
    add(&w, l->extra.word);
    add(&w, task);
    return w;
}

static int start(load *l, const words *w, job *j)
{
    int ends[2];
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    if (pipe(ends) != 0)
        return rf_load_fail(l, "cannot start the compiler: %s", strerror(errno));
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, ends[1], 1);
    posix_spawn_file_actions_adddup2(&files, ends[1], 2);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attributes, &l->signals);
    int code = posix_spawnp(&j->pid, w->word[0], &files, &attributes, (char *const *)w->word, l->environment);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    close(ends[1]);
    j->output = ends[0];
    if (code == 0)
        return 0;
    close(ends[0]);
    return code == ENOENT ? rf_load_fail(l, "there is no compiler '%s'; install gcc, or name a compiler in CC", w->word[0])
                          : rf_load_fail(l, "cannot start the compiler '%s': %s", w->word[0], strerror(code));
}

static void hash_add(hash *h, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        h->half[0] = (h->half[0] ^ (unsigned char)bytes[i]) * 0x100000001b3u; /* FNV-1a */
        h->half[1] = (h->half[1] + (unsigned char)bytes[i] + 1) * 0x9e3779b97f4a7c15u;
        h->half[1] ^= h->half[1] >> 32;
    }
}

/* Waits for the end of a job: 0 when it succeeded. Its output goes into the hash, its start into `text`. */
static int finish(const job *j, hash *h, char text[TEXT_MAX])
{
    char part[16384];
    size_t used = 0;
    ssize_t got;
    int status = -1;
    while ((got = read(j->output, part, sizeof part)) > 0 || (got < 0 && errno == EINTR)) {
        size_t count = got > 0 ? (size_t)got : 0, kept = count < TEXT_MAX - 1 - used ? count : TEXT_MAX - 1 - used;
        hash_add(h, part, count);
        memcpy(text + used, part, kept);
        used += kept;
    }
    text[used] = '\0';
    close(j->output);
    while (waitpid(j->pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

/* Runs both commands side by side. -1 with an error when one cannot start; 1 when one fails, with its output. */
static int run_both(load *l, const words *first, const words *second, hash *h, char text[TEXT_MAX])
{
    job a, b;
    char other[TEXT_MAX];
    if (start(l, first, &a) < 0)
        return -1;
    int started = start(l, second, &b);
    int failed = finish(&a, h, text);
    if (started < 0)
        return -1;
    if (finish(&b, h, failed ? other : text) != 0)
        failed = 1;
    return failed != 0;
}

/* ---- Compiling ---- */

static const char *hint(const char *text)
{
#define BEGIN "a model begins with #include \"rejfilt/model.h\""
#define LIKELIHOOD "a model defines RF_FN rf_real likelihood(const rf_real x[], const rf_real setting[], rf_real outcome)"
#define DESCRIPTION "a model defines static const rf_description description = {...};"
#define PI "C11 has no M_PI; write RF_C(3.141592653589793)"
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

/* The compiler's words, whole lines of them, between what happened and a hint. */
static int explain(load *l, char text[TEXT_MAX])
{
    const char *help = hint(text);
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

/* A name for everything the object depends on: the preprocessed source with all macros, which tell the
   compiler's version and the CPU's features, and the commands. 0 when the source does not preprocess. */
static int make_key(load *l, hash *key)
{
    static const char *const task[] = {"-E", "-dD", "-x", "c", "/dev/null", NULL};
    l->is_gcc = 0; /* not known yet */
    words first = command(l, 32, task), second = command(l, 64, task);
    char text[TEXT_MAX] = "";
    *key = (hash){{0xcbf29ce484222325u, 0x243f6a8885a308d3u}};
    for (unsigned i = 0; i < first.count; i++)
        hash_add(key, first.word[i], strlen(first.word[i]) + 1);
    int status = run_both(l, &first, &second, key, text);
    l->is_gcc = !strstr(text, "#define __clang__"); /* clang begins with it */
    for (unsigned i = 0; only_gcc[i] && l->is_gcc; i++)
        hash_add(key, only_gcc[i], strlen(only_gcc[i]));
    return status < 0 ? -1 : status == 0;
}

/* Makes the object out of file[0] and file[1], under the name file[2] until it is complete. */
static int compile_files(load *l, char file[3][PATH_MAX])
{
    const char *const task32[] = {"-c", "-x", "c", "/dev/null", "-o", file[0], NULL};
    const char *const task64[] = {"-c", "-x", "c", "/dev/null", "-o", file[1], NULL};
    const char *const task[] = {"-shared", "-Wl,-z,defs", "-Wl,-Bsymbolic", "-o", file[2], file[0], file[1], NULL};
    char text[TEXT_MAX];
    words first = command(l, 32, task32), second = command(l, 64, task64), link = l->compiler;
    hash ignored = {{0}};
    job j;
    add(&link, l->extra.word);
    add(&link, task);
    int status = run_both(l, &first, &second, &ignored, text);
    if (status == 0)
        status = start(l, &link, &j) < 0 ? -1 : finish(&j, &ignored, text) != 0;
    if (status != 0)
        return status < 0 ? -1 : explain(l, text);
    return chmod(file[2], 0600) != 0 || rename(file[2], l->object) != 0 ? rf_load_fail(l, "cannot write %s: %s", l->object, strerror(errno)) : 0;
}

/* Leaves the object complete, or not at all. */
static int compile(load *l)
{
    static const char *const names[] = {"32.o", "64.o", "model.so"};
    char folder[PATH_MAX], file[3][PATH_MAX];
    if (set_path(l, folder, "%s/tmp.XXXXXX", l->cache) < 0)
        return -1;
    for (int i = 0; i < 3; i++) /* as long as what mkdtemp makes */
        if (set_path(l, file[i], "%s/%s", folder, names[i]) < 0)
            return -1;
    if (!mkdtemp(folder))
        return rf_load_fail(l, "cannot write in the cache %s: %s", l->cache, strerror(errno));
    for (int i = 0; i < 3; i++)
        memcpy(file[i], folder, strlen(folder));
    int status = compile_files(l, file);
    for (int i = 0; i < 3; i++)
        unlink(file[i]);
    rmdir(folder);
    return status;
}

/* ---- Loading ---- */

/* An object that is not ours alone, a link or a file with other permissions, is replaced, not run. */
static int is_cached(const load *l)
{
    struct stat s;
    return lstat(l->object, &s) == 0 && S_ISREG(s.st_mode) && s.st_uid == geteuid() && (s.st_mode & 07777) == 0600;
}

/* Compiles what `key` names; it must still be there afterwards. */
static int make_object(load *l, const hash *key)
{
    hash after;
    if (compile(l) < 0)
        return -1;
    int is_same = make_key(l, &after) == 1 && memcmp(&after, key, sizeof after) == 0;
    int status = is_same ? rf_load_try(l) : rf_load_fail(l, "%s changed while it was compiled; try again", l->name);
    if (status < 0)
        unlink(l->object);
    return status;
}

static const rf_model *load_model(load *l)
{
    static loaded *models;
    hash key;
    if (find_source(l) < 0 || find_include(l) < 0 || find_cache(l) < 0 ||
        split(l, "CC", "cc", l->compiler_text, &l->compiler) < 0 ||
        split(l, "REJFILT_MODEL_FLAGS", "", l->extra_text, &l->extra) < 0 || set_environment(l) < 0 ||
        make_key(l, &key) < 0)
        return NULL;
    for (const loaded *m = models; m; m = m->next)
        if (memcmp(&m->key, &key, sizeof key) == 0)
            return &m->model;
    if (set_path(l, l->object, "%s/%016" PRIx64 "%016" PRIx64 ".so", l->cache, key.half[0], key.half[1]) < 0)
        return NULL;
    if (!(is_cached(l) && rf_load_try(l) == 0) && make_object(l, &key) < 0)
        return NULL;
    loaded *one = malloc(sizeof *one);
    if ((one ? rf_load_open(l, &one->model) : rf_load_fail(l, "not enough memory to load %s", l->name)) < 0) {
        free(one);
        return NULL;
    }
    one->key = key;
    one->next = models;
    models = one;
    return &one->model;
}

/* Interruptions wait, so that nothing half-made stays behind; a child's end is ours to wait for. */
const rf_model *rf_model_load(const char *path, char *error, size_t size)
{
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    static const int held[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    struct sigaction normal = {.sa_handler = SIG_DFL}, before;
    sigset_t set;
    pthread_mutex_lock(&one_at_a_time);
    load *l = calloc(1, sizeof *l);
    if (!l) {
        snprintf(error, size, "not enough memory to load %s", path);
        pthread_mutex_unlock(&one_at_a_time);
        return NULL;
    }
    l->name = path;
    l->error = error;
    l->size = size;
    sigemptyset(&set);
    for (int i = 0; i < 4; i++)
        sigaddset(&set, held[i]);
    pthread_sigmask(SIG_BLOCK, &set, &l->signals);
    sigaction(SIGCHLD, &normal, &before);
    const rf_model *model = load_model(l);
    sigaction(SIGCHLD, &before, NULL);
    pthread_sigmask(SIG_SETMASK, &l->signals, NULL);
    free(l->environment);
    free(l);
    pthread_mutex_unlock(&one_at_a_time);
    return model;
}
