/* Loads a model in a program that has its own children and signal handlers. */
#define _XOPEN_SOURCE 700
#include "directory.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "rejfilt/host.h"

/* A compiler that first kills a child of the program and waits until it is dead. */
static const char killing_compiler[] =
    "#!/bin/sh\n"
    "if [ -n \"$VICTIM\" ]; then\n"
    "    kill \"$VICTIM\" 2>/dev/null\n"
    "    while grep -q '^State:.[^Z]' /proc/$VICTIM/status 2>/dev/null; do sleep 0.01; done\n"
    "fi\n"
    "exec cc \"$@\"\n";

static const char *const good[] = {RF_SOURCE_DIR "/src/models/precession.h", RF_SOURCE_DIR "/src/models/coin.h"};
static char error[4096];
static volatile sig_atomic_t seen; /* the child reported to a handler, if it is the victim */
static pid_t victim;

static void note(int number, siginfo_t *signal, void *context)
{
    (void)number, (void)context;
    if (signal->si_pid == victim)
        seen = 1;
}

static void reap(int number)
{
    const int kept = errno;
    (void)number;
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
    errno = kept;
}

static void set_handler(void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler};
    sigaction(SIGCHLD, &action, NULL);
}

static int forget(void **state) /* deletes compiled models */
{
    (void)state;
    set_handler(SIG_DFL);
    return remove_tree(in_directory("cache"));
}

static int begin(void **state)
{
    if (make_directory(state) < 0)
        return -1;
    chmod(write_file(in_directory("cc"), killing_compiler, sizeof killing_compiler - 1), 0700);
    setenv("REJFILT_CACHE", in_directory("cache"), 1);
    setenv("REJFILT_INCLUDE", RF_SOURCE_DIR "/include", 1);
    setenv("REJFILT_MODEL_FLAGS", "-O0", 1);
    setenv("CC", in_directory("cc"), 1);
    unsetenv("VICTIM");
    return 0;
}

static int end(void **state)
{
    unlink(in_directory("cc"));
    unlink(in_directory("bad.c"));
    return remove_directory(state);
}

/* A file that is not a model: the compiler's status and messages must be returned. */
static void load_bad(void)
{
    static const char text[] = "#include \"rejfilt/model.h\"\nnonsense\n";
    assert_null(rf_model_load(write_file(in_directory("bad.c"), text, sizeof text - 1), error, sizeof error));
    assert_non_null(strstr(error, "does not compile"));
    assert_non_null(strstr(error, "nonsense"));
}

static const rf_model *load_good(int which)
{
    const rf_model *m = rf_model_load(good[which], error, sizeof error);
    if (!m)
        fail_msg("%s", error);
    return m;
}

static unsigned descriptors(void)
{
    unsigned count = 0;
    for (int i = 0; i < 256; i++)
        count += fcntl(i, F_GETFD) >= 0;
    return count;
}

static void models_are_told_apart(void **state)
{
    (void)state;
    const unsigned before = descriptors();
    const rf_model *a = load_good(0), *b = load_good(1);
    assert_string_equal(a->f64->description->name, "precession");
    assert_string_equal(b->f32->description->name, "coin");
    assert_ptr_equal(load_good(0), a);
    assert_ptr_equal(load_good(1), b);
    load_bad();
    assert_int_equal(descriptors(), before);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
}

static void messages_need_no_room(void **state)
{
    (void)state;
    char small[16] = "untouched";
    load_bad();
    assert_null(rf_model_load(in_directory("bad.c"), small, 0));
    assert_string_equal(small, "untouched");
    assert_null(rf_model_load(in_directory("bad.c"), small, sizeof small));
    assert_int_equal(strlen(small), sizeof small - 1);
    assert_int_equal(memcmp(small, error, sizeof small - 1), 0);
}

static void children_of_the_program_are_reported(void **state)
{
    (void)state;
    struct sigaction action = {.sa_sigaction = note, .sa_flags = SA_SIGINFO}, before[32], now;
    char number[32];
    sigset_t mask_before, mask;
    int status;
    sigaction(SIGCHLD, &action, NULL);
    victim = fork();
    if (victim == 0) {
        alarm(60); /* in case the test ends early */
        for (;;)
            pause();
    }
    snprintf(number, sizeof number, "%ld", (long)victim);
    setenv("VICTIM", number, 1);
    for (int i = 1; i < 32; i++)
        sigaction(i, NULL, &before[i]);
    sigprocmask(SIG_BLOCK, NULL, &mask_before);
    load_good(0);
    load_bad();
    unsetenv("VICTIM");
    sigprocmask(SIG_BLOCK, NULL, &mask);
    for (int i = 1; i < 32; i++) {
        sigaction(i, NULL, &now);
        assert_int_equal(sigismember(&mask, i), sigismember(&mask_before, i));
        assert_true(now.sa_flags == before[i].sa_flags && now.sa_handler == before[i].sa_handler);
    }
    assert_int_equal(seen, 1);
    assert_int_equal(waitpid(victim, &status, 0), victim);
    assert_true(WIFSIGNALED(status));
}

static void others_may_wait_for_our_children(void **state)
{
    (void)state;
    void (*const handlers[])(int) = {SIG_IGN, reap};
    for (size_t i = 0; i < sizeof handlers / sizeof handlers[0]; i++) {
        set_handler(handlers[i]);
        assert_non_null(load_good(0)); /* known already, but compilers find its name */
        load_bad();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(others_may_wait_for_our_children, forget),
        cmocka_unit_test_teardown(models_are_told_apart, forget),
        cmocka_unit_test_teardown(messages_need_no_room, forget),
        cmocka_unit_test_teardown(children_of_the_program_are_reported, forget),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
