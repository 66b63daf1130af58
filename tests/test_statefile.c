/* The checkpoint: reads back what was written, refuses damaged files, survives kills, and has one writer at a time. */
#define _XOPEN_SOURCE 700
#include "directory.h"

#include "../apps/cli/cli.h"
#include "../apps/cli/checkpoint.h"
#include "../apps/cli/statefile.h"
#include "../src/base/sealed.h"
#include "../src/beliefs/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

/* ---- Wrapped system functions, with hooks before them ---- */

static void (*before_lock)(void), (*before_write)(void), (*before_rename)(void);
static int lock_fails; /* errno of a failing lock; 0: it works */

/* Calls a hook once. */
static void call(void (**hook)(void))
{
    void (*now)(void) = *hook;
    *hook = NULL;
    if (now)
        now();
}

int __real_fcntl(int file, int what, struct flock *description);
int __wrap_fcntl(int file, int what, struct flock *description)
{
    call(&before_lock);
    errno = lock_fails;
    return lock_fails ? -1 : __real_fcntl(file, what, description);
}

ssize_t __real_write(int file, const void *bytes, size_t count);
ssize_t __wrap_write(int file, const void *bytes, size_t count)
{
    call(&before_write);
    return __real_write(file, bytes, count);
}

static char about_to_rename[600], is_renamed[600]; /* the latest name given to rename, and the one that a hook renamed */

int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to)
{
    if (before_rename)
        snprintf(about_to_rename, sizeof about_to_rename, "%s", from);
    call(&before_rename);
    return strcmp(from, is_renamed) == 0 ? 0 : __real_rename(from, to);
}

static int synced[2]; /* files and directories */

int __real_fsync(int file);
int __wrap_fsync(int file)
{
    struct stat there;
    assert_int_equal(fstat(file, &there), 0);
    synced[S_ISDIR(there.st_mode)]++;
    return __real_fsync(file);
}

/* ---- Shared by the tests ---- */

/* Contents while they are written or read. */
typedef struct contents {
    size_t size, at;
    int failed;
    unsigned char bytes[4096];
} contents;

static void put_bytes(contents *s, const void *bytes, size_t count)
{
    rf_writer w = {s->bytes, s->size};
    assert_true(count <= sizeof s->bytes - s->size);
    rf_write_bytes(&w, bytes, count);
    s->size = w.size;
}

static void put_u64(contents *s, uint64_t value)
{
    rf_writer w = {s->bytes, s->size};
    assert_true(8 <= sizeof s->bytes - s->size);
    rf_write_u64(&w, value);
    s->size = w.size;
}

static void put_real(contents *s, double value)
{
    rf_writer w = {s->bytes, s->size};
    assert_true(8 <= sizeof s->bytes - s->size);
    rf_write_real(&w, value);
    s->size = w.size;
}

static uint64_t get_u64(contents *s)
{
    rf_reader r = {s->bytes, s->size, s->at, s->failed};
    const uint64_t value = rf_read_u64(&r);
    s->at = r.at;
    s->failed = r.failed;
    return value;
}

static double get_real(contents *s)
{
    rf_reader r = {s->bytes, s->size, s->at, s->failed};
    const double value = rf_read_real(&r);
    s->at = r.at;
    s->failed = r.failed;
    return value;
}

static int is_read(const contents *s) { return !s->failed && s->at == s->size; }

static int load(contents *s, const char *path, char *error, size_t size)
{
    unsigned char *bytes;
    size_t count;
    const int loaded = cli_state_load(&bytes, &count, path, error, size);
    assert_true(count <= sizeof s->bytes && (loaded == 1 || (!bytes && count == 0)));
    s->size = count;
    s->at = 0;
    s->failed = 0;
    if (count > 0)
        memcpy(s->bytes, bytes, count);
    free(bytes);
    return loaded;
}

/* Seals the contents and saves them. */
static int save_into(const cli_state_file *f, const contents *s, int is_durable, char *error, size_t size)
{
    unsigned char bytes[RF_SEAL + sizeof s->bytes];
    memcpy(bytes + RF_SEAL, s->bytes, s->size);
    rf_seal(bytes, RF_SEAL + s->size, "RFSTATE\n", CLI_STATE_VERSION);
    return cli_state_save(bytes, RF_SEAL + s->size, f, is_durable, error, size);
}

static int save(const contents *s, const char *path, int is_durable, char *error, size_t size)
{
    static cli_state_file f;
    if (cli_state_open(&f, path, error, size) != CLI_OK || error[0])
        return -1;
    int result = save_into(&f, s, is_durable, error, size);
    cli_state_close(&f);
    return result;
}

static void assert_saved(const contents *s, const char *path, int is_durable)
{
    char error[256] = "";
    if (save(s, path, is_durable, error, sizeof error) != 0)
        fail_msg("%s", error);
}

/* Opening fails with that exit code and that line. */
static void assert_not_opened(const char *path, int code, const char *before, const char *name, const char *after)
{
    static cli_state_file f;
    char error[512] = "", expected[512];
    snprintf(expected, sizeof expected, "%s%s%s", before, name, after);
    assert_int_equal(cli_state_open(&f, path, error, sizeof error), code);
    assert_string_equal(error, expected);
    assert_int_equal(f.lock.file, -1);
}

/* Loading is refused with "PATH MESSAGE", and gives nothing. */
static void assert_refused(const char *path, const char *message)
{
    contents s = {.size = 7, .at = 3};
    char error[512] = "", expected[512];
    assert_int_equal(load(&s, path, error, sizeof error), -1);
    snprintf(expected, sizeof expected, "%s %s", path, message);
    assert_string_equal(error, expected);
    assert_int_equal(s.size, 0);
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static const double odd_numbers[] = {0.0, -0.0, 1.0 / 3.0, 5e-324, 1.7976931348623157e308, INFINITY, -INFINITY, NAN};
enum { ODD_NUMBERS = sizeof odd_numbers / sizeof odd_numbers[0] };

static void put_everything(contents *s)
{
    put_u64(s, 0x0123456789abcdefu);
    for (int i = 0; i < ODD_NUMBERS; i++)
        put_real(s, odd_numbers[i]);
    put_bytes(s, "a\0b45678", 8);
    put_bytes(s, NULL, 0);
}

static void assert_everything(contents *s)
{
    assert_true(get_u64(s) == 0x0123456789abcdefu);
    for (int i = 0; i < ODD_NUMBERS; i++)
        assert_true(bits_of(get_real(s)) == bits_of(odd_numbers[i]));
    assert_false(is_read(s));
    assert_true(get_u64(s) == 0x3837363534620061u);
    assert_true(is_read(s));
}

static void test_round_trip(void **state)
{
    (void)state;
    const char *path = in_directory("a.state");
    char error[256] = "";
    for (int is_durable = 0; is_durable <= 1; is_durable++) {
        contents s = {.size = 0}, back = {.size = 0};
        assert_int_equal(load(&back, path, error, sizeof error), 0);
        put_everything(&s);
        assert_saved(&s, path, is_durable);
        assert_int_equal(synced[0], is_durable);
        assert_int_equal(synced[1], is_durable);
        assert_int_equal(load(&back, path, error, sizeof error), 1);
        assert_everything(&back);
        assert_int_equal(files_left(), 1);
        unlink(path);
    }
    assert_string_equal(error, "");
}

/* The bytes described in the header; the checksum is from Python's zlib.crc32. */
static void test_bytes_of_the_file(void **state)
{
    (void)state;
    static const unsigned char expected[] = {0x52, 0x46, 0x53, 0x54, 0x41, 0x54, 0x45, 0xa, 0x9, 0x0, 0x0, 0x0, 0x4, 0x3, 0x2, 0x1, 0x2e, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x95, 0xde, 0xf3, 0xc9, 0x0, 0x0, 0x0, 0x0, 0x4, 0x3, 0x2, 0x1, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0xf8, 0xbf, 0x68, 0x69};
    unsigned char bytes[64];
    contents s = {.size = 0};
    put_bytes(&s, "\4\3\2\1", 4);
    put_real(&s, -1.5);
    put_bytes(&s, "hi", 2);
    assert_saved(&s, in_directory("a.state"), 0);
    assert_int_equal(read_file(in_directory("a.state"), bytes, sizeof bytes), sizeof expected);
    assert_memory_equal(bytes, expected, sizeof expected);
    unlink(in_directory("a.state"));
}

static void test_reading_too_much(void **state)
{
    (void)state;
    contents s = {.size = 0};
    put_u64(&s, 7);
    put_bytes(&s, "1234", 4);
    assert_true(get_u64(&s) == 7);
    assert_true(get_u64(&s) == 0);
    assert_true(s.failed);
    assert_true(get_real(&s) == 0); /* it has failed */
    assert_false(is_read(&s));
}

static void test_large(void **state)
{
    (void)state;
    enum { LARGE = 3000000 };
    char error[256] = "";
    unsigned char *bytes = malloc(LARGE), *back;
    static cli_state_file f;
    size_t count;
    for (uint32_t i = RF_SEAL; i < LARGE; i++)
        bytes[i] = (unsigned char)(i * 2654435761u >> 24);
    rf_seal(bytes, LARGE, "RFSTATE\n", CLI_STATE_VERSION);
    assert_int_equal(cli_state_open(&f, in_directory("large.state"), error, sizeof error), CLI_OK);
    assert_int_equal(cli_state_save(bytes, LARGE, &f, 0, error, sizeof error), 0);
    assert_int_equal(cli_state_save(bytes, (size_t)CLI_STATE_MAX + 1, &f, 0, error, sizeof error), -1);
    assert_non_null(strstr(error, "large.state: the state is too large"));
    assert_int_equal(cli_state_load(&back, &count, in_directory("large.state"), error, sizeof error), 1);
    assert_int_equal(count, LARGE - RF_SEAL);
    assert_memory_equal(bytes + RF_SEAL, back, LARGE - RF_SEAL);
    cli_state_close(&f);
    unlink(in_directory("large.state"));
    free(bytes);
    free(back);
}

static size_t saved_bytes(const char *path, unsigned char *bytes, size_t most)
{
    contents s = {.size = 0};
    put_everything(&s);
    assert_saved(&s, path, 0);
    return read_file(path, bytes, most);
}

static void test_every_corruption(void **state)
{
    (void)state;
    const char *path = in_directory("a.state");
    unsigned char bytes[256], after[256];
    char error[256];
    contents s;
    size_t count = saved_bytes(path, bytes, sizeof bytes);
    for (size_t i = 0; i < count; i++)
        for (int bit = 0; bit < 9; bit++) {
            unsigned char change = (unsigned char)(bit < 8 ? 1u << bit : 0xffu);
            bytes[i] ^= change;
            write_file(path, bytes, count);
            if (load(&s, path, error, sizeof error) != -1)
                fail_msg("byte %zu, bit %d: loaded", i, bit);
            assert_int_equal(read_file(path, after, sizeof after), count);
            assert_memory_equal(after, bytes, count);
            bytes[i] ^= change;
        }
    write_file(path, bytes, count);
    assert_int_equal(load(&s, path, error, sizeof error), 1);
    unlink(path);
}

static void test_every_length(void **state)
{
    (void)state;
    const char *path = in_directory("a.state");
    unsigned char bytes[256] = {0};
    char message[80];
    size_t count = saved_bytes(path, bytes, sizeof bytes - 1);
    write_file(path, bytes, 0);
    assert_refused(path, "is empty");
    for (size_t length = 1; length < count; length++) {
        write_file(path, bytes, length);
        if (length < RF_SEAL)
            snprintf(message, sizeof message, "is truncated (%zu bytes)", length);
        else
            snprintf(message, sizeof message, "is truncated (%zu of %zu bytes)", length, count);
        assert_refused(path, message);
    }
    write_file(path, bytes, count + 1);
    assert_refused(path, "is damaged (its length)");
    unlink(path);
}

static void test_refusals(void **state)
{
    (void)state;
    const char *path = in_directory("a.state");
    unsigned char bytes[256];
    size_t count = saved_bytes(path, bytes, sizeof bytes);

    bytes[40] ^= 1;
    write_file(path, bytes, count);
    assert_refused(path, "is damaged (checksum)");
    bytes[40] ^= 1;
    rf_seal(bytes, count, "RFSTATE\n", CLI_STATE_VERSION + 1);
    write_file(path, bytes, count);
    assert_refused(path, "is of a newer version (10; this program reads 9)");
    rf_seal(bytes, count, "RFSTATE\n", 3);
    write_file(path, bytes, count);
    assert_refused(path, "is of an older version (3; this program reads 9): continue with the program that wrote it, or begin again");
    static unsigned char old[16 + 7 + 4] = "RFSTATE\n\10\0\0\0\7\0\0\0version8"; /* the form of version 8 */
    for (size_t length = 16; length <= sizeof old; length++) {
        for (unsigned i = 0; i < 4; i++)
            old[sizeof old - 4 + i] = (unsigned char)(rf_crc32(0, old, sizeof old - 4) >> 8 * i);
        write_file(path, old, length);
        if (length < sizeof old)
            assert_refused(path, "is damaged (its length)");
    }
    contents s;
    char why[256];
    assert_int_equal(load(&s, path, why, sizeof why), 1);
    assert_memory_equal(s.bytes, "version", 7);
    for (size_t bit = 0; bit < 8 * sizeof old; bit++) {
        old[bit / 8] ^= (unsigned char)(1u << bit % 8);
        write_file(path, old, sizeof old);
        assert_int_equal(load(&s, path, why, sizeof why), -1);
        old[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    write_file(path, "x", 1);
    assert_refused(path, "is not a checkpoint of rejfilt");
    write_file(path, "t,outcome\n1,0\n2,1\n3,1\n", 22);
    assert_refused(path, "is not a checkpoint of rejfilt");
    unlink(path);

    assert_refused(directory, "is a directory");
    assert_not_opened(directory, CLI_BAD_INPUT, "", directory, " is a directory; choose another name");
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_refused(path, "is not an ordinary file");
    assert_not_opened(path, CLI_BAD_INPUT, "", path, " is not an ordinary file; choose another name");
    unlink(path);

    write_file(path, "x", 1);
    assert_not_opened(in_directory("a.state/b"), CLI_FAILED, "cannot write ", in_directory("a.state/b.lock"),
                      ": Not a directory");
    unlink(path);
    assert_not_opened(in_directory("none/a.state"), CLI_FAILED, "cannot write ", in_directory("none/a.state.lock"),
                      ": No such file or directory");
    char long_path[5000], error[256];
    memset(long_path, 'x', sizeof long_path);
    for (size_t length = 4080; length < sizeof long_path; length += 900) { /* one path is too long only with a tag */
        contents s = {.size = 0};
        long_path[length] = '\0';
        assert_int_equal(save(&s, long_path, 0, error, sizeof error), -1);
        assert_int_equal(load(&s, long_path, error, sizeof error), -1);
        long_path[length] = 'x';
    }
    assert_int_equal(files_left(), 0);
}

/* The disk seems full to this process. */
static void test_failed_save_leaves_the_old_file(void **state)
{
    (void)state;
    const char *path = in_directory("a.state");
    unsigned char before[256], after[256];
    size_t count = saved_bytes(path, before, sizeof before);
    struct rlimit old, none;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    none = old;
    none.rlim_cur = 10;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    contents s = {.size = 0};
    char error[256] = "";
    int result = save(&s, path, 0, error, sizeof error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(result, -1);
    assert_non_null(strstr(error, "a.state: File too large"));
    assert_int_equal(read_file(path, after, sizeof after), count);
    assert_memory_equal(before, after, count);
    assert_int_equal(files_left(), 1);
    unlink(path);
}

static void test_links_permissions_and_leftovers(void **state)
{
    (void)state;
    struct stat there;
    contents s = {.size = 0};
    char error[256];
    put_everything(&s);

    assert_int_equal(mkdir(in_directory("disk"), 0700), 0);
    assert_int_equal(symlink("disk/real", in_directory("link")), 0);
    assert_refused(in_directory("link"), "is a link to nothing");
    assert_not_opened(in_directory("link"), CLI_BAD_INPUT, "", in_directory("link"), " is a link to nothing");
    write_file(in_directory("disk/real"), "old", 3);
    assert_int_equal(chmod(in_directory("disk/real"), 0600), 0);
    const char *const left[] = {"disk/real.0123456789abcdef.tmp",
                                "disk/real.fedcba9876543210.tmp"}; /* of killed processes */
    const char *const ours[] = {"disk/real.tmp",
                                "disk/real.0123456789abcde.tmp",
                                "disk/real.0123456789abcdef.tmp2",
                                "disk/real.0123456789ABCDEF.tmp",
                                "disk/real2.0123456789abcdef.tmp",
                                "disk/rea.0123456789abcdef.tmp"};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        write_file(in_directory(left[i]), "half", 4);
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        write_file(in_directory(ours[i]), "gold", 4);
    assert_saved(&s, in_directory("link"), 1);
    assert_int_equal(lstat(in_directory("link"), &there), 0);
    assert_true(S_ISLNK(there.st_mode));
    assert_int_equal(lstat(in_directory("disk/real"), &there), 0);
    assert_int_equal(there.st_mode & 0777, 0600);
    assert_int_equal(load(&s, in_directory("link"), error, sizeof error), 1);
    assert_everything(&s);
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        assert_int_equal(access(in_directory(left[i]), F_OK), -1);
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        assert_int_equal(unlink(in_directory(ours[i])), 0);

    unlink(in_directory("disk/real"));
    unlink(in_directory("link"));
    assert_int_equal(rmdir(in_directory("disk")), 0);
    assert_int_equal(files_left(), 0);
}

static void test_in_the_working_directory(void **state)
{
    (void)state;
    char before[1024], error[256];
    contents s = {.size = 0};
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(directory), 0);
    put_everything(&s);
    assert_saved(&s, "plain", 1);
    assert_int_equal(load(&s, "plain", error, sizeof error), 1);
    unlink("plain");
    assert_int_equal(chdir(before), 0);
}

/* State number n: n, and n mod 400 words that are all n. */
static void put_numbered(contents *s, uint64_t n)
{
    s->size = s->at = 0;
    s->failed = 0;
    put_u64(s, n);
    for (uint64_t i = 0; i < n % 400; i++)
        put_u64(s, n);
}

static uint64_t get_numbered(contents *s)
{
    uint64_t n = get_u64(s);
    for (uint64_t i = 0; i < n % 400; i++)
        assert_true(get_u64(s) == n);
    assert_true(is_read(s));
    return n;
}

static void save_for_ever(const char *path, uint64_t n, int is_durable)
{
    static contents s;
    static cli_state_file f;
    char error[256];
    if (cli_state_open(&f, path, error, sizeof error) != CLI_OK || error[0])
        _exit(1);
    for (;;) {
        put_numbered(&s, ++n);
        if (save_into(&f, &s, is_durable, error, sizeof error) != 0)
            _exit(1);
    }
}

static void kill_and_wait(pid_t child)
{
    int status;
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status)); /* otherwise something in it failed */
}

/* Kills at random instants of the first 4 ms. Every fifth child saves durably. */
static void test_kill_at_any_instant(void **state)
{
    (void)state;
    enum { KILLS = 200 };
    const char *path = in_directory("killed.state");
    static contents s;
    uint64_t n = 0, seed = 5, leftovers = 0;
    put_numbered(&s, n);
    assert_saved(&s, path, 0);
    for (int kill_number = 0; kill_number < KILLS; kill_number++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            save_for_ever(path, n, kill_number % 5 == 0);
        struct timespec wait = {0, (long)(test_word(&seed) % 4000000)};
        nanosleep(&wait, NULL);
        kill_and_wait(child);
        char error[256] = "";
        if (load(&s, path, error, sizeof error) != 1)
            fail_msg("kill %d: %s", kill_number, error);
        uint64_t now = get_numbered(&s);
        assert_true(now >= n);
        n = now;
        assert_true(files_left() <= 3); /* the state, the lock, and the file being written: they do not accumulate */
        leftovers += files_left() == 3;
    }
    print_message("%llu saves, %llu of %d kills within one\n", (unsigned long long)n, (unsigned long long)leftovers,
                  KILLS);
    assert_true(n >= 20);       /* it saved */
    assert_true(leftovers > 0); /* and was killed while saving */
    put_numbered(&s, n);
    assert_saved(&s, path, 0);
    unlink(path);
    assert_int_equal(files_left(), 0);
}

/* ---- Two processes, one state ---- */

/* A process that holds the state until it is killed, and its child, which lives until its input ends. */
typedef struct holder {
    pid_t pid;
    int child; /* closing it ends the child */
} holder;

static holder hold(const char *path)
{
    static cli_state_file f;
    char error[256] = "", byte;
    int ready[2], end[2];
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(end), 0);
    holder h = {.pid = fork(), .child = end[1]};
    if (h.pid == 0) {
        close(end[1]);
        if (cli_state_open(&f, path, error, sizeof error) != CLI_OK || error[0])
            _exit(1);
        if (fork() == 0)
            _exit((int)read(end[0], &byte, 1));
        if (write(ready[1], "r", 1) != 1)
            _exit(1);
        _exit((int)read(end[0], &byte, 1)); /* ends with the test at the latest */
    }
    close(ready[1]);
    close(end[0]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return h;
}

static void test_one_process_at_a_time(void **state)
{
    (void)state;
    contents s = {.size = 0};
    char after[80];
    assert_int_equal(mkdir(in_directory("disk"), 0700), 0);
    assert_saved(&s, in_directory("disk/real"), 0);
    assert_int_equal(symlink("disk/real", in_directory("link")), 0);
    assert_int_equal(symlink("disk", in_directory("folder")), 0);
    for (int round = 0; round < 3; round++) {
        holder h = hold(in_directory(round == 1 ? "link" : "disk/real"));
        snprintf(after, sizeof after, " is in use by process %ld; wait for its end, or choose another name",
                 (long)h.pid);
        assert_not_opened(in_directory("disk/real"), CLI_FAILED, "", in_directory("disk/real"), after);
        assert_not_opened(in_directory("link"), CLI_FAILED, "", in_directory("disk/real"), after);
        assert_not_opened(in_directory("folder/real"), CLI_FAILED, "", in_directory("folder/real"), after);
        assert_int_equal(access(in_directory("disk/real.lock"), F_OK), 0);
        kill_and_wait(h.pid);
        assert_int_equal(access(in_directory("disk/real.lock"), F_OK), 0);
        /* neither its leftovers nor its child matter */
        assert_saved(&s, in_directory("link"), 0);
        assert_int_equal(access(in_directory("disk/real.lock"), F_OK), -1);
        close(h.child);
    }
    unlink(in_directory("link"));
    unlink(in_directory("folder"));
    unlink(in_directory("disk/real"));
    assert_int_equal(rmdir(in_directory("disk")), 0);
    assert_int_equal(files_left(), 0);
}

/* A foreign file in the place of the lock is neither locked nor removed. */
static void test_something_else_has_the_name_of_the_lock(void **state)
{
    (void)state;
    const char *path = in_directory("a.state"), *lock = in_directory("a.state.lock");
    const char *const says = " is not a lock of rejfilt; move it away, or choose another name";
    write_file(lock, "x", 1);
    assert_not_opened(path, CLI_BAD_INPUT, "", lock, says);
    assert_int_equal(unlink(lock), 0);
    assert_int_equal(mkfifo(lock, 0600), 0);
    assert_not_opened(path, CLI_BAD_INPUT, "", lock, says);
    assert_int_equal(unlink(lock), 0);
    assert_int_equal(symlink("elsewhere", lock), 0);
    assert_not_opened(path, CLI_FAILED, "cannot write ", lock, ": Too many levels of symbolic links");
    assert_int_equal(unlink(lock), 0);
    assert_int_equal(mkdir(lock, 0700), 0);
    assert_not_opened(path, CLI_FAILED, "cannot write ", lock, ": Is a directory");
    assert_int_equal(rmdir(lock), 0);
    assert_int_equal(files_left(), 0);
}

static void remove_lock(void) { assert_int_equal(unlink(in_directory("a.state.lock")), 0); }

/* A lock on a file that was just removed must not count. */
static void test_the_lock_is_removed_between_opening_and_locking(void **state)
{
    (void)state;
    static cli_state_file f, g;
    char error[256];
    before_lock = remove_lock;
    assert_int_equal(cli_state_open(&f, in_directory("a.state"), error, sizeof error), CLI_OK);
    assert_string_equal(error, "");
    assert_int_equal(access(in_directory("a.state.lock"), F_OK), 0);

    remove_lock(); /* removed by hand; another process takes it, and that lock is not removed */
    assert_int_equal(cli_state_open(&g, in_directory("a.state"), error, sizeof error), CLI_OK);
    cli_state_close(&f);
    assert_int_equal(access(in_directory("a.state.lock"), F_OK), 0);
    cli_state_close(&g);
    assert_int_equal(files_left(), 0);
}

static void test_a_file_system_without_locks(void **state)
{
    (void)state;
    static cli_state_file f;
    const char *path = in_directory("a.state");
    char error[600], expected[600];
    static const int reasons[] = {ENOLCK, ENOSYS, EOPNOTSUPP};
    for (size_t i = 0; i < 3; i++) {
        lock_fails = reasons[i];
        write_file(in_directory("a.state.0123456789abcdef.tmp"), "another process's, perhaps", 26);
        assert_int_equal(cli_state_open(&f, path, error, sizeof error), CLI_OK);
        snprintf(expected, sizeof expected, "%s.lock cannot be locked (%s): take care that no other run uses %s", path,
                 strerror(reasons[i]), path);
        assert_string_equal(error, expected);
        assert_int_equal(unlink(in_directory("a.state.0123456789abcdef.tmp")), 0);
        contents s = {.size = 0};
        assert_int_equal(save_into(&f, &s, 0, error, sizeof error), 0);
        cli_state_close(&f);
        lock_fails = 0;
        assert_saved(&s, path, 0);
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(files_left(), 0);
}

static cli_state_file first, second;

static void assert_whole(void)
{
    static contents s;
    char error[256] = "";
    if (load(&s, in_directory("a.state"), error, sizeof error) != 1)
        fail_msg("%s", error);
}

static void rename_first(void)
{
    assert_int_equal(__real_rename(about_to_rename, first.lock.target), 0);
    memcpy(is_renamed, about_to_rename, sizeof is_renamed);
    assert_whole();
}

static void save_second(void)
{
    contents s = {.size = 0};
    char error[256];
    before_write = rename_first;
    put_everything(&s);
    assert_int_equal(save_into(&second, &s, 0, error, sizeof error), 0);
    assert_whole();
}

/* Where locks do not work. The first process is about to rename; the second has created its file and is about to
   write: the first must not rename the second's file. */
static void test_two_that_save_at_once(void **state)
{
    (void)state;
    contents s = {.size = 0};
    char error[600];
    lock_fails = ENOLCK;
    assert_int_equal(cli_state_open(&first, in_directory("a.state"), error, sizeof error), CLI_OK);
    assert_int_equal(cli_state_open(&second, in_directory("a.state"), error, sizeof error), CLI_OK);
    lock_fails = 0;
    before_rename = save_second;
    assert_int_equal(save_into(&first, &s, 0, error, sizeof error), 0);
    assert_true(is_renamed[0]); /* the situation did occur */
    assert_whole();
    unlink(in_directory("a.state"));
    unlink(in_directory("a.state.lock"));
    assert_int_equal(files_left(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_bytes_of_the_file),
        cmocka_unit_test(test_reading_too_much),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_every_corruption),
        cmocka_unit_test(test_every_length),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_failed_save_leaves_the_old_file),
        cmocka_unit_test(test_links_permissions_and_leftovers),
        cmocka_unit_test(test_in_the_working_directory),
        cmocka_unit_test(test_kill_at_any_instant),
        cmocka_unit_test(test_one_process_at_a_time),
        cmocka_unit_test(test_something_else_has_the_name_of_the_lock),
        cmocka_unit_test(test_the_lock_is_removed_between_opening_and_locking),
        cmocka_unit_test(test_a_file_system_without_locks),
        cmocka_unit_test(test_two_that_save_at_once),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
