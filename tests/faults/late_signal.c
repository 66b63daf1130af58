/* A signal at the worst instant: preloaded, it raises SIGTERM after the program's last look and before it sleeps, be that in
   ppoll or in read. */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

static void once(void)
{
    static int has_come;
    if (!has_come++)
        kill(getpid(), SIGTERM);
}

int ppoll(struct pollfd *files, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
{
    once();
    return (int)syscall(SYS_ppoll, files, count, timeout, mask, _NSIG / 8);
}

ssize_t read(int file, void *bytes, size_t count)
{
    if (file == STDIN_FILENO)
        once();
    return syscall(SYS_read, file, bytes, count);
}
