/* Buffers small texts for a file: a row of CSV or a line of JSON has dozens of them. */
#ifndef REJFILT_CLI_WRITER_H
#define REJFILT_CLI_WRITER_H

#include <stdint.h>
#include <stdio.h>

typedef struct cli_writer {
    FILE *out;
    size_t size; /* bytes waiting for the file */
    struct {
        uint64_t bits;
        size_t at, size;
    } recent[4]; /* recent numbers and their place in `waiting`: some are written twice */
    unsigned known, next;
    char waiting[1024];
} cli_writer;

void cli_writer_open(cli_writer *w, FILE *out);
/* Writes all waiting bytes. */
void cli_writer_flush(cli_writer *w);
/* At most 32 bytes at a time. */
void cli_writer_put(cli_writer *w, const char *bytes, size_t size);
/* `value` must be finite. */
void cli_writer_real(cli_writer *w, double value);
void cli_writer_whole(cli_writer *w, uint64_t value);

static inline void cli_writer_byte(cli_writer *w, char byte)
{
    if (w->size == sizeof w->waiting)
        cli_writer_flush(w);
    w->waiting[w->size++] = byte;
}

#endif
