#define _DEFAULT_SOURCE /* getentropy */
#define _XOPEN_SOURCE 700
#include "outputs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fail.h"

enum { TAG = 32 /* bytes that a temporary name adds, at most */ };

static int cannot(const char *path, int reason, char *error, size_t size)
{
    return rf_fail(error, size, "cannot write %s: %s", path, strerror(reason));
}

/* ---- Places ---- */

/* Splits a path into the directory and, as result, the file's name. */
static const char *split(const char *path, char directory[RF_PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    snprintf(directory, RF_PATH_MAX, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    return slash ? slash + 1 : path;
}

typedef enum kind { REFUSED = -1, MISSING, ORDINARY, STREAM } kind;

/* What is at the path? Follows links to `target`. */
static kind find(const char *path, unsigned how, char target[RF_PATH_MAX], struct stat *there, char *error, size_t size)
{
    if ((size_t)snprintf(target, RF_PATH_MAX, "%s", path) >= RF_PATH_MAX - TAG)
        return cannot(path, ENAMETOOLONG, error, size);
    if (lstat(path, there) < 0)
        return MISSING;
    if (S_ISLNK(there->st_mode)) {
        if (how & RF_OUTPUT_OWN)
            return rf_fail(error, size, "%s is a link; remove it, since nothing is written through it", path);
        if (stat(path, there) < 0)
            return errno == ENOENT ? rf_fail(error, size, "%s is a link to nothing", path)
                                   : cannot(path, errno, error, size);
        if (S_ISREG(there->st_mode) && !realpath(path, target))
            return cannot(path, errno, error, size);
    }
    if (S_ISREG(there->st_mode))
        return ORDINARY;
    if (S_ISDIR(there->st_mode))
        return rf_fail(error, size, "%s is a directory; choose another name", path);
    return how & RF_OUTPUT_ORDINARY ? rf_fail(error, size, "%s is not an ordinary file; choose another name", path)
                                    : STREAM;
}

int rf_output_follow(const char *path, char target[RF_PATH_MAX], char *error, size_t size)
{
    struct stat there;
    return find(path, RF_OUTPUT_ORDINARY, target, &there, error, size) == REFUSED ? -1 : 0;
}

/* The same, for an output: may it be replaced? */
static kind check(const char *path, unsigned how, char target[RF_PATH_MAX], struct stat *there, char *error,
                  size_t size)
{
    char directory[RF_PATH_MAX];
    const kind found = find(path, how, target, there, error, size);
    split(target, directory);
    if ((found == ORDINARY && access(target, W_OK) != 0) ||
        (found != STREAM && found != REFUSED && access(directory, W_OK | X_OK) != 0))
        return cannot(path, errno, error, size);
    return found;
}

/* Is it a temporary file of `name`: NAME.TAG.tmp, TAG with 16 hexadecimal digits? */
static int is_temporary(const char *entry, const char *name)
{
    const size_t length = strlen(name);
    return strncmp(entry, name, length) == 0 && entry[length] == '.' &&
           strspn(entry + length + 1, "0123456789abcdef") == 16 && strcmp(entry + length + 17, ".tmp") == 0;
}

void rf_output_tidy(const char *target)
{
    char directory[RF_PATH_MAX];
    const char *name = split(target, directory);
    DIR *entries = opendir(directory);
    for (struct dirent *e; entries && (e = readdir(entries));)
        if (is_temporary(e->d_name, name))
            unlinkat(dirfd(entries), e->d_name, 0);
    if (entries)
        closedir(entries);
}

/* ---- Writing ---- */

static int write_all(int file, const char *bytes, size_t count)
{
    while (count > 0) {
        const ssize_t written = write(file, bytes, count);
        if (written < 0 && errno != EINTR)
            return -1;
        if (written > 0) {
            bytes += written;
            count -= (size_t)written;
        }
    }
    return 0;
}

/* Returns 0, or errno. */
static int sync_directory_of(const char *path)
{
    char directory[RF_PATH_MAX];
    split(path, directory);
    const int file = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int reason = file < 0 || fsync(file) < 0 ? errno : 0;
    if (file >= 0)
        close(file);
    return file >= 0 && reason == EINVAL ? 0 : reason; /* the file system cannot sync directories */
}

/* Writes the temporary file and renames it. `there` is the file to be replaced, or null. Returns 0, or errno. */
static int put(const char *target, const char *temporary, const struct stat *there, const void *bytes, size_t count,
               unsigned how)
{
    const int file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, there || (how & RF_OUTPUT_PRIVATE) == RF_OUTPUT_PRIVATE ? 0600 : 0666);
    if (file < 0)
        return errno;
    if (there && (fchown(file, there->st_uid, there->st_gid) != 0 || fchmod(file, there->st_mode & 0777) != 0))
        fchmod(file, there->st_mode & 0777); /* somebody else's file becomes ours */
    int reason = write_all(file, bytes, count) < 0 || ((how & RF_OUTPUT_DURABLE) && fsync(file) < 0) ? errno : 0;
    if (close(file) < 0 && !reason)
        reason = errno;
    if (!reason && rename(temporary, target) < 0)
        reason = errno;
    if (reason)
        unlink(temporary);
    return !reason && (how & RF_OUTPUT_DURABLE) ? sync_directory_of(target) : reason;
}

int rf_output_replace(const char *path, const void *bytes, size_t count, unsigned how, char *error, size_t size)
{
    char target[RF_PATH_MAX], temporary[RF_PATH_MAX + TAG];
    struct stat there;
    uint64_t tag;
    sigset_t all, before;
    const kind found = check(path, how | RF_OUTPUT_ORDINARY, target, &there, error, size);
    if (found == REFUSED)
        return -1;
    if (getentropy(&tag, sizeof tag) < 0)
        tag = (uint64_t)getpid();
    snprintf(temporary, sizeof temporary, "%s.%016llx.tmp", target, (unsigned long long)tag);
    sigfillset(&all); /* a signal leaves no temporary file */
    pthread_sigmask(SIG_BLOCK, &all, &before);
    const int reason = put(target, temporary, found == ORDINARY && (how & RF_OUTPUT_PRIVATE) != RF_OUTPUT_PRIVATE ? &there : NULL, bytes, count, how);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return reason ? cannot(path, reason, error, size) : 0;
}

/* The descriptor that is meant by /dev/stdout, /dev/fd/3 or /proc/self/fd/3; or -1. */
static int own_descriptor(const char *path)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    for (int i = 0; i < 2; i++)
        if (strncmp(path, folders[i], strlen(folders[i])) == 0) {
            const char *digits = path + strlen(folders[i]);
            return *digits && strlen(digits) < 8 && !digits[strspn(digits, "0123456789")] ? atoi(digits) : -1;
        }
    return strcmp(path, "/dev/stdout") == 0 ? STDOUT_FILENO : strcmp(path, "/dev/stderr") == 0 ? STDERR_FILENO : -1;
}

FILE *rf_output_open(rf_output *o, const char *path, unsigned how, char *error, size_t size)
{
    char target[RF_PATH_MAX];
    struct stat there;
    const int own = how & RF_OUTPUT_ORDINARY ? -1 : own_descriptor(path);
    *o = (rf_output){.path = path, .how = how};
    const kind found = own >= 0 ? STREAM : check(path, how, target, &there, error, size);
    if (found == REFUSED)
        return NULL;
    if (found == STREAM) { /* without waiting for the reader of a pipe */
        const int file =
            own >= 0 ? fcntl(own, F_DUPFD_CLOEXEC, 3) : open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        if (file >= 0 && own < 0)
            fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK);
        o->stream = file >= 0 ? fdopen(file, "wb") : NULL;
        if (file < 0 && errno == ENXIO)
            rf_fail(error, size, "cannot write %s: nobody reads from it", path);
        else if (!o->stream)
            cannot(path, errno, error, size);
    } else if (!(o->stream = open_memstream(&o->bytes, &o->count))) {
        cannot(path, ENOMEM, error, size);
    }
    return o->stream;
}

int rf_output_close(rf_output *o, int is_wanted, char *error, size_t size)
{
    errno = EIO; /* if the stream has forgotten why */
    const int is_bad = !o->stream || fflush(o->stream) != 0 || ferror(o->stream), reason = errno;
    int status = is_bad && o->stream && is_wanted ? cannot(o->path, reason, error, size) : 0;
    if (o->stream)
        fclose(o->stream);
    if (o->bytes && is_wanted && !is_bad)
        status = rf_output_replace(o->path, o->bytes, o->count, o->how, error, size);
    free(o->bytes);
    *o = (rf_output){0};
    return status;
}

FILE *rf_output_append(const char *path, unsigned how, char *error, size_t size)
{
    char target[RF_PATH_MAX];
    struct stat there;
    const kind found = find(path, how | RF_OUTPUT_ORDINARY, target, &there, error, size);
    if (found == REFUSED)
        return NULL;
    const int file = open(target, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
    const int is_ordinary = file >= 0 && fstat(file, &there) == 0 && S_ISREG(there.st_mode);
    const int is_synced = !(how & RF_OUTPUT_DURABLE) || found == ORDINARY || sync_directory_of(target) == 0;
    FILE *stream = is_ordinary && is_synced ? fdopen(file, "a+b") : NULL;
    if (stream)
        return stream;
    cannot(path, errno, error, size);
    if (file >= 0)
        close(file);
    return NULL;
}

int rf_output_add(FILE *file, const void *bytes, size_t count, unsigned how)
{
    struct stat before;
    const int fd = fileno(file);
    if (fflush(file) != 0 || fstat(fd, &before) < 0)
        return -1;
    if (write_all(fd, bytes, count) == 0 && (!(how & RF_OUTPUT_DURABLE) || fdatasync(fd) == 0))
        return 0;
    const int reason = errno;
    errno = ftruncate(fd, before.st_size) == 0 ? reason : errno;
    return -1;
}

/* ---- The files of a run ---- */

typedef struct file {
    char what[200];              /* "--out FILE" */
    int is_written, is_standard; /* is_standard: a stream that is open already */
    int is_missing;              /* then device and node are of the directory */
    dev_t device;
    ino_t node;
    char name[256]; /* in the directory, if it is missing */
} file;

enum { FILES_MAX = 256 };
static file files[FILES_MAX];
static unsigned file_count;

static int is_conflict(const file *a, const file *b)
{
    return a->device == b->device && a->node == b->node && a->is_missing == b->is_missing &&
           strcmp(a->name, b->name) == 0 && (a->is_written || b->is_written) && !(a->is_standard && b->is_standard);
}

/* Adds the file, unless it is the same as another one. */
static int add(const file *new, char *error, size_t size)
{
    for (const file *old = files; old < files + file_count; old++) {
        if (old->device == new->device && old->node == new->node &&strcmp(old->what, new->what) == 0)
            return 0;
        if (is_conflict(new, old))
            return rf_fail(error, size, "%s is the same file as %s%s; choose another name", new->what, old->what,
                           !old->is_written  ? ", and would overwrite it"
                           : new->is_written ? ", and both are written"
                                             : ", which would overwrite it");
    }
    if (file_count == FILES_MAX)
        return rf_fail(error, size, "%s: more than %d files", new->what, FILES_MAX);
    files[file_count++] = *new;
    return 0;
}

int rf_output_begin(char *error, size_t size)
{
    static const char *const names[] = {"standard input", "standard output", "standard error"};
    struct stat there;
    int status = 0;
    file_count = 0;
    for (int i = STDIN_FILENO; i <= STDERR_FILENO && status == 0; i++)
        if (fstat(i, &there) == 0 && S_ISREG(there.st_mode)) {
            file new = {.is_written = i > 0, .is_standard = i > 0, .device = there.st_dev, .node = there.st_ino};
            snprintf(new.what, sizeof new.what, "%s", names[i]);
            status = add(&new, error, size);
        }
    return status;
}

static int declare(const char *what, const char *path, int is_written, char *error, size_t size)
{
    char target[RF_PATH_MAX], directory[RF_PATH_MAX];
    struct stat there;
    const int own = is_written ? own_descriptor(path) : -1;
    file new = {.is_written = is_written, .is_standard = own >= 0};
    snprintf(new.what, sizeof new.what, "%.60s %.130s", what, path);
    new.is_missing = own >= 0 ? fstat(own, &there) < 0 : stat(path, &there) < 0;
    snprintf(target, sizeof target, "%s", path);
    if (new.is_missing) {
        snprintf(new.name, sizeof new.name, "%.255s", split(target, directory));
        if (stat(directory, &there) < 0)
            return 0; /* whoever opens it will say so */
    } else if (S_ISCHR(there.st_mode)) {
        return 0; /* a terminal, or /dev/null */
    }
    new.device = there.st_dev;
    new.node = there.st_ino;
    return add(&new, error, size);
}

int rf_output_declare(const char *what, const char *path, rf_use use, char *error, size_t size)
{
    static const char *const companions[] = {".lock", ".history"};
    char target[RF_PATH_MAX], name[RF_PATH_MAX + TAG], whose[80], why[RF_PATH_MAX + 200];
    struct stat there;
    if (declare(what, path, use != RF_READS, error, size) < 0)
        return -1;
    if (use == RF_REPLACES || (use == RF_WRITES && own_descriptor(path) < 0))
        return check(path, use == RF_REPLACES ? RF_OUTPUT_ORDINARY : 0, target, &there, why, sizeof why) == REFUSED
                   ? rf_fail(error, size, "%s: %s", what, why)
                   : 0;
    for (int i = 0; i < 2 && use == RF_KEEPS && find(path, 0, target, &there, why, sizeof why) != REFUSED; i++) {
        snprintf(name, sizeof name, "%s%s", target, companions[i]);
        snprintf(whose, sizeof whose, "the %s of %.40s", companions[i], what);
        if (declare(whose, name, 1, error, size) < 0)
            return -1;
    }
    return 0;
}

const char *rf_output_found(const struct stat *opened)
{
    for (const file *f = files; f < files + file_count; f++)
        if (f->is_written && !f->is_missing && f->device == opened->st_dev && f->node == opened->st_ino)
            return f->what;
    return NULL;
}
