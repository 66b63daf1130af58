/* Lines from a file or a live pipe. Waiting for a line can be interrupted by signals. */
#ifndef REJFILT_CLI_LINES_H
#define REJFILT_CLI_LINES_H

#include <signal.h>
#include <stdio.h>

/* Makes SIGINT and SIGTERM set cli_interrupted; they interrupt only the wait for a line. */
void cli_catch_signals(void);
extern volatile sig_atomic_t cli_interrupted;

enum { CLI_LINE_MAX = 1 << 20 };

typedef struct cli_lines {
    FILE *from;
    int is_over, is_partial;
    int is_crlf; /* the line ended in carriage return and line feed */
    char input[1 << 16]; /* read from the file and not yet taken: at..end */
    size_t at, end;
    long number;   /* of the line, from 1 */
    size_t length; /* of the whole line, also if it exceeds CLI_LINE_MAX */
    char bytes[CLI_LINE_MAX + 1]; /* its first bytes, without line end; zero-terminated */
} cli_lines;

enum {
    CLI_LINE = 1,
    CLI_LINES_END = 0,
    CLI_LINES_FAILED = -2,     /* the reason is in errno */
    CLI_LINES_INTERRUPTED = -3 /* interrupted by a signal; nothing is lost, call again to continue */
};

/* Initialise with zeros except `from`; nothing else may read `from`. The last line needs no line end. */
int cli_lines_next(cli_lines *l);

/* Would the next call return without waiting? */
int cli_lines_is_ready(const cli_lines *l);

/* Does more of the input come within this time? */
int cli_lines_is_soon(const cli_lines *l, int milliseconds);

#endif
