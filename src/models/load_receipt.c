/* Receipts: which files a compiled model was made from, with size and time, so that no compiler is needed to find it again. */
#define _XOPEN_SOURCE 700
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "load.h"

enum { RECEIPT_MAX = 1 << 18 };

/* ---- The files of a preprocessed source ---- */

void rf_load_see(load *l, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] != '\n') {
            if (l->line_length < sizeof l->line - 1)
                l->line[l->line_length] = bytes[i];
            l->line_length++;
            continue;
        }
        const size_t length = l->line_length;
        l->line_length = 0;
        if (length < 5 || l->line[0] != '#' || l->line[1] != ' ') /* # 12 "path" ... */
            continue;
        l->line[length < sizeof l->line ? length : sizeof l->line - 1] = '\0';
        char *path = strchr(l->line, '"'), *end = path ? strchr(path + 1, '"') : NULL;
        if (!path || path[1] == '<')
            continue;
        if (!end || length >= sizeof l->line || memchr(path, '\\', (size_t)(end - path))) {
            l->is_unseen = 1;
            continue;
        }
        *end = '\n'; /* one a line, as in l->seen */
        end[1] = '\0';
        path++;
        const size_t size = strlen(path), used = strlen(l->seen);
        char *known = strstr(l->seen, path);
        if (known && (known == l->seen || known[-1] == '\n'))
            continue;
        if (used + size >= sizeof l->seen)
            l->is_unseen = 1;
        else
            memcpy(l->seen + used, path, size + 1);
    }
}

/* ---- Receipts ---- */

static void add(hash *h, const char *text) { rf_load_hash(h, text, strlen(text) + 1); }

/* Identifies a file's contents: "12 34 56 78.9 path". Returns the length, or 0 if there is no such file. A fixed word
   stands for the path of the compiled model itself, since that path differs between processes. */
static const char object[] = "object";
static size_t identify(const load *l, const char *path, char *text, size_t size, struct timespec *changed)
{
    struct stat s;
    if (stat(strcmp(path, object) == 0 ? l->object : path, &s) != 0)
        return 0;
    const int length = snprintf(text, size, "%ju %ju %jd %jd.%09ld %s\n", (uintmax_t)s.st_dev, (uintmax_t)s.st_ino,
                                (intmax_t)s.st_size, (intmax_t)s.st_mtim.tv_sec, s.st_mtim.tv_nsec, path);
    *changed = s.st_mtim.tv_sec > s.st_ctim.tv_sec ||
                       (s.st_mtim.tv_sec == s.st_ctim.tv_sec && s.st_mtim.tv_nsec > s.st_ctim.tv_nsec)
                   ? s.st_mtim
                   : s.st_ctim;
    return length > 0 && (size_t)length < size ? (size_t)length : 0;
}

/* The compiler, as PATH finds it. */
static void find_compiler(const char *name, char path[PATH_MAX])
{
    const char *at = getenv("PATH");
    snprintf(path, PATH_MAX, "%s", name);
    while (!strchr(name, '/') && at && *at) {
        const size_t length = strcspn(at, ":");
        snprintf(path, PATH_MAX, "%.*s/%s", (int)length, at, name);
        if (access(path, X_OK) == 0)
            return;
        at += length + (at[length] == ':');
    }
}

/* The processor, since -march=native depends on it. */
static void add_processor(hash *h)
{
    char text[8192];
    const int file = open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC);
    const ssize_t got = file >= 0 ? read(file, text, sizeof text - 1) : 0;
    if (file >= 0)
        close(file);
    text[got > 0 ? got : 0] = '\0';
    static const char *const lines[] = {"vendor_id", "cpu family", "model\t", "model name", "stepping", "flags"};
    for (unsigned i = 0; i < sizeof lines / sizeof *lines; i++) {
        const char *line = strstr(text, lines[i]);
        if (line)
            rf_load_hash(h, line, strcspn(line, "\n"));
    }
}

void rf_load_name_receipt(load *l, const words *command)
{
    static const char *const variables[] = {"CPATH",         "C_INCLUDE_PATH", "GCC_EXEC_PREFIX",
                                            "COMPILER_PATH", "LIBRARY_PATH",   "PATH"};
    char compiler[PATH_MAX], about[PATH_MAX + 128] = "";
    struct timespec changed;
    hash h = RF_LOAD_HASH;
    add(&h, l->program);
    for (unsigned i = 0; i < command->count; i++)
        add(&h, command->word[i]);
    for (unsigned i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i]);
        add(&h, value ? value : "");
    }
    find_compiler(command->word[0], compiler);
    identify(l, compiler, about, sizeof about, &changed);
    add(&h, about);
    add_processor(&h);
    snprintf(l->receipt, sizeof l->receipt, "%s/%016" PRIx64 ".made", l->place, h.half[0]);
}

int rf_load_read_receipt(load *l, char key[33])
{
    struct timespec changed;
    struct stat s;
    char now[PATH_MAX + 128];
    const int file = open(l->receipt, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    char *text = file >= 0 && fstat(file, &s) == 0 && S_ISREG(s.st_mode) && s.st_uid == geteuid() && s.st_size > 33 &&
                         s.st_size < RECEIPT_MAX
                     ? malloc((size_t)s.st_size + 1)
                     : NULL;
    const ssize_t got = text ? read(file, text, (size_t)s.st_size) : 0;
    int is_good = text && got == s.st_size;
    if (is_good) {
        text[got] = '\0';
        is_good = text[32] == '\n' && strspn(text, "0123456789abcdef") == 32 && text[got - 1] == '\n';
    }
    if (is_good)
        snprintf(l->object, sizeof l->object, "%s/%.32s.so", l->place, text);
    for (char *line = is_good ? text + 33 : NULL, *end; is_good && *line; line = end + 1) {
        char *path = line;
        end = strchr(line, '\n');
        *end = '\0';
        for (unsigned i = 0; i < 4 && path; i++) {
            path = strchr(path, ' ');
            path += path != NULL;
        }
        const size_t length = path ? identify(l, path, now, sizeof now, &changed) : 0;
        is_good = length > 0 && strncmp(now, line, length - 1) == 0 && strlen(line) == length - 1;
    }
    if (is_good)
        snprintf(key, 33, "%.32s", text);
    free(text);
    if (file >= 0)
        close(file);
    return is_good ? 0 : -1;
}

/* No receipt for a file that changed since, or so shortly before that its time stamp may not tell. */
void rf_load_write_receipt(const load *l, const char key[33], const struct timespec *since)
{
    char *text = malloc(RECEIPT_MAX), temporary[160];
    size_t used = 0;
    int is_good = text && !l->is_unseen && *l->seen;
    struct timespec ignored;
    if (text) {
        used = (size_t)snprintf(text, RECEIPT_MAX, "%s\n", key);
        const size_t length = identify(l, object, text + used, RECEIPT_MAX - used, &ignored);
        is_good = is_good && length > 0;
        used += length;
    }
    for (const char *at = l->seen, *end; is_good && *at; at = end + 1) {
        char path[PATH_MAX];
        struct timespec changed;
        end = strchr(at, '\n');
        snprintf(path, sizeof path, "%.*s", (int)(end - at), at);
        const size_t length = identify(l, path, text + used, RECEIPT_MAX - used, &changed);
        const double before =
            difftime(since->tv_sec, changed.tv_sec) + 1e-9 * (double)(since->tv_nsec - changed.tv_nsec);
        is_good = length > 0 && before > 0.02;
        used += length;
    }
    snprintf(temporary, sizeof temporary, "%s.%ld", l->receipt, (long)getpid());
    const int file = is_good ? open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
    if (file >= 0) {
        const int is_written = write(file, text, used) == (ssize_t)used;
        if ((close(file) != 0) | !is_written || rename(temporary, l->receipt) != 0)
            unlink(temporary);
    }
    free(text);
}
