#define _GNU_SOURCE /* ppoll */
#include "lines.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

volatile sig_atomic_t cli_interrupted;

static void interrupt(int signal)
{
    (void)signal;
    cli_interrupted = 1;
}

void cli_catch_signals(void)
{
    struct sigaction action = {.sa_handler = interrupt, .sa_flags = SA_RESTART};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* Waits for input. Signals are blocked between the check of cli_interrupted and the wait, so none is missed. Returns 0, or
   -1 with errno set. */
static int wait_for(int file)
{
    struct pollfd readable = {file, POLLIN, 0};
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    int got = cli_interrupted ? -1 : ppoll(&readable, 1, NULL, &before);
    int reason = cli_interrupted ? EINTR : errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = reason;
    return got < 0 ? -1 : 0;
}

/* Returns the number of bytes read, 0 at the end, or -1. A stream in memory, without a file, never waits. */
static ssize_t refill(cli_lines *l)
{
    const int file = fileno(l->from);
    if (file < 0)
        return (ssize_t)fread(l->input, 1, sizeof l->input, l->from);
    for (;;) {
        if (wait_for(file) < 0)
            return -1;
        ssize_t got = read(file, l->input, sizeof l->input);
        if (got >= 0 || errno != EAGAIN) /* another process made the pipe non-blocking and emptied it */
            return got;
    }
}

static void keep(cli_lines *l, const char *bytes, size_t count)
{
    size_t room = l->length < CLI_LINE_MAX ? CLI_LINE_MAX - l->length : 0;
    memcpy(l->bytes + (CLI_LINE_MAX - room), bytes, count < room ? count : room);
    l->length += count;
}

/* Takes the buffered part of the line. Returns whether the line is complete. */
static int take(cli_lines *l)
{
    const char *from = l->input + l->at, *end = memchr(from, '\n', l->end - l->at);
    size_t count = end ? (size_t)(end - from) : l->end - l->at;
    keep(l, from, count);
    l->at += count + (end != NULL);
    return end != NULL;
}

int cli_lines_next(cli_lines *l)
{
    if (!l->is_partial) {
        l->length = 0;
        l->is_partial = 1;
        l->number++;
    }
    while (!take(l) && !l->is_over) {
        ssize_t got = refill(l);
        if (got < 0)
            return errno == EINTR ? CLI_LINES_INTERRUPTED : CLI_LINES_FAILED;
        l->is_over = got == 0;
        l->at = 0;
        l->end = (size_t)got;
    }
    l->is_partial = 0;
    if (l->is_over && l->length == 0) {
        l->number--;
        return CLI_LINES_END;
    }
    size_t stored = l->length < CLI_LINE_MAX ? l->length : CLI_LINE_MAX;
    l->is_crlf = stored == l->length && stored > 0 && l->bytes[stored - 1] == '\r';
    if (l->is_crlf)
        l->length = --stored;
    l->bytes[stored] = '\0';
    return CLI_LINE;
}

int cli_lines_is_ready(const cli_lines *l)
{
    return l->is_over || memchr(l->input + l->at, '\n', l->end - l->at) != NULL;
}

int cli_lines_is_soon(const cli_lines *l, int milliseconds)
{
    struct pollfd readable = {fileno(l->from), POLLIN, 0};
    return cli_lines_is_ready(l) || readable.fd < 0 || poll(&readable, 1, milliseconds) > 0;
}
