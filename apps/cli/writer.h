/* Bytes on their way to a file, many at a time: a row of CSV or a line of JSON has dozens of small texts. */
#ifndef REJFILT_CLI_WRITER_H
#define REJFILT_CLI_WRITER_H

#include <stdint.h>
#include <stdio.h>

typedef struct cli_writer {
    FILE *out;
    size_t size; /* of what waits for the file */
    struct {
        uint64_t bits;
        size_t at, size;
    } recent[4]; /* numbers, and where they stand in `waiting`: some come twice */
    unsigned known, next;
    char waiting[1024];
} cli_writer;

void cli_writer_open(cli_writer *w, FILE *out);
/* All that waits. */
void cli_writer_flush(cli_writer *w);
/* At most 32 bytes. */
void cli_writer_put(cli_writer *w, const char *bytes, size_t size);
/* A finite number. */
void cli_writer_real(cli_writer *w, double value);
void cli_writer_whole(cli_writer *w, uint64_t value);

static inline void cli_writer_byte(cli_writer *w, char byte)
{
    if (w->size == sizeof w->waiting)
        cli_writer_flush(w);
    w->waiting[w->size++] = byte;
}

#endif
