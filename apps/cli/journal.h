/* A journal: lines of text that are kept as they come, each behind its number and a checksum.

     0 1c291ca3 {"journal": "...", ...}     the mark: whose journal it is
     1 9a5f00d2 the first line
   A number is that of the line, from 0; the checksum is the CRC-32 of the number, a space and the text, in hexadecimal.
   A last line without a line feed was being written when the program was killed: it is cut off. */
#ifndef REJFILT_CLI_JOURNAL_H
#define REJFILT_CLI_JOURNAL_H

#include <stdint.h>
#include <stdio.h>

enum { CLI_JOURNAL_MAX = 1 << 30 }; /* bytes */

typedef struct cli_journal {
    const char *path;
    FILE *file; /* null: not open */
    uint64_t lines, bytes;
} cli_journal;

/* Takes a line that was kept. Returns CLI_OK, or another code after a message. */
typedef int cli_journal_take(void *context, const char *line);

/* Opens the journal with this mark, or begins it, and hands over its lines. One with `old_mark`, without numbers and
   checksums, is written anew. Any other file is refused and left as it is. The caller holds its lock. Returns CLI_OK,
   or an exit code with a line in `error`, which is empty if `take` said why. */
int cli_journal_open(cli_journal *j, const char *mark, const char *old_mark, cli_journal_take *take, void *context,
                     char *error, size_t size);

/* Keeps a line; with `is_durable` it survives a power cut. Returns 0, or -1 with errno set. */
int cli_journal_add(cli_journal *j, const char *line, int is_durable);

void cli_journal_close(cli_journal *j);

#endif
