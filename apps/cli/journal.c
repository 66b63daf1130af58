#define _XOPEN_SOURCE 700
#include "journal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "fail.h"
#include "lines.h"
#include "outputs.h"
#include "sealed.h"

enum { SUM = 8 /* digits */ };

static uint32_t sum_of(uint64_t number, const char *text, size_t length)
{
    char head[24];
    const int used = snprintf(head, sizeof head, "%" PRIu64 " ", number);
    return rf_crc32(rf_crc32(0, head, (size_t)used), text, length);
}

/* The whole line, malloc'ed, and its length; null when out of memory. */
static char *line_of(uint64_t number, const char *text, size_t *count)
{
    const size_t length = strlen(text), room = length + 48;
    char *line = malloc(room);
    if (line)
        *count =
            (size_t)snprintf(line, room, "%" PRIu64 " %08" PRIx32 " %s\n", number, sum_of(number, text, length), text);
    return line;
}

/* The text of line `number`; null if the line is another one, or damaged. */
static const char *text_of(uint64_t number, const char *line, size_t length)
{
    char head[40];
    if (length > CLI_LINE_MAX)
        return NULL;
    const int used = snprintf(head, sizeof head, "%" PRIu64 " ", number);
    const char *text = line + used + SUM + 1;
    if (length < (size_t)(text - line))
        return NULL;
    snprintf(head + used, sizeof head - (size_t)used, "%08" PRIx32 " ",
             sum_of(number, text, length - (size_t)(text - line)));
    return memcmp(line, head, (size_t)(text - line)) == 0 ? text : NULL;
}

/* A journal being read. */
typedef struct reading {
    cli_lines lines;
    cli_journal *journal;
    cli_journal_take *take;
    void *context;
    const char *mark, *new_mark; /* the file's; that of the present form */
    int is_old;
    FILE *anew; /* is_old: its lines in the present form */
} reading;

/* Is it the begin of the mark's line, with its sum at least, which a killed program left? */
static int is_begun(const reading *r)
{
    char line[256];
    snprintf(line, sizeof line, "0 %08" PRIx32 " %s", sum_of(0, r->mark, strlen(r->mark)), r->mark);
    return !r->is_old && r->lines.length > SUM + 2 && r->lines.length <= strlen(line) &&
           memcmp(line, r->lines.bytes, r->lines.length) == 0;
}

/* Takes the latest line, or stops at a last one that is not whole. Returns CLI_OK or another code. */
static int take_line(reading *r, int *is_over, char *error, size_t size)
{
    cli_journal *j = r->journal;
    const size_t length = r->lines.length;
    const char *text = r->is_old && length <= CLI_LINE_MAX ? r->lines.bytes : text_of(j->lines, r->lines.bytes, length);
    *is_over = r->lines.is_over; /* no line feed: cut off, unless that is another byte now */
    if (*is_over && j->lines == 0 && is_begun(r))
        return CLI_OK;
    const int is_other_end = *is_over && !r->is_old && length > 0 && text_of(j->lines, r->lines.bytes, length - 1);
    if (j->lines == 0 && !is_other_end && (*is_over || !text))
        return rf_fail(error, size,
                       "%s is no journal of 'classify ask', or its first line is damaged; name another file", j->path),
               CLI_BAD_INPUT;
    if (*is_over && !is_other_end)
        return CLI_OK;
    if (!text || (r->lines.is_crlf && !r->is_old) || is_other_end)
        return rf_fail(error, size,
                       "%s: line %ld is damaged; take out that line and all behind it, or restore the file", j->path,
                       r->lines.number),
               CLI_BAD_INPUT;
    if (j->lines == 0 && strcmp(text, r->mark) != 0)
        return rf_fail(error, size, "%s: belongs to another model", j->path), CLI_BAD_INPUT;
    size_t count;
    char *line = r->anew ? line_of(j->lines, j->lines > 0 ? text : r->new_mark, &count) : NULL;
    if (r->anew && (!line || fwrite(line, 1, count, r->anew) != count))
        return free(line), rf_fail(error, size, "%s: not enough memory", j->path), CLI_FAILED;
    free(line);
    const int code = j->lines > 0 ? r->take(r->context, text) : CLI_OK;
    j->lines++;
    j->bytes += length + 1;
    return code;
}

static int read_lines(reading *r, char *error, size_t size)
{
    int got, code = CLI_OK, is_over = 0;
    while (code == CLI_OK && !is_over && (got = cli_lines_next(&r->lines)) != CLI_LINES_END) {
        if (got != CLI_LINE)
            return rf_fail(error, size, "cannot read %s: %s", r->journal->path, strerror(errno)), CLI_FAILED;
        code = take_line(r, &is_over, error, size);
    }
    return code;
}

/* Opens the file for reading and adding. */
static int open_file(cli_journal *j, char *error, size_t size)
{
    struct stat about;
    j->file = rf_output_append(j->path, RF_OUTPUT_ORDINARY | RF_OUTPUT_DURABLE, error, size);
    if (!j->file)
        return CLI_BAD_INPUT;
    if (fstat(fileno(j->file), &about) == 0 && about.st_size <= CLI_JOURNAL_MAX)
        return CLI_OK;
    cli_journal_close(j);
    return rf_fail(error, size, "%s has %.3g GB; a journal has 1 GB at most", j->path, 1e-9 * (double)about.st_size),
           CLI_BAD_INPUT;
}

/* Replaces an old journal by its lines in the present form. */
static int renew(cli_journal *j, const char *bytes, size_t count, char *error, size_t size)
{
    cli_journal_close(j);
    if (rf_output_replace(j->path, bytes, count, RF_OUTPUT_ORDINARY | RF_OUTPUT_DURABLE, error, size) < 0)
        return CLI_FAILED;
    j->bytes = count;
    return open_file(j, error, size);
}

int cli_journal_open(cli_journal *j, const char *mark, const char *old_mark, cli_journal_take *take, void *context,
                     char *error, size_t size)
{
    static reading r;
    char first[2] = "", *bytes = NULL;
    size_t count = 0;
    error[0] = '\0';
    int code = open_file(j, error, size);
    if (code != CLI_OK)
        return code;
    j->lines = j->bytes = 0;
    const int is_old = pread(fileno(j->file), first, sizeof first, 0) > 0 && first[0] == '{';
    r = (reading){.lines.from = j->file,
                  .journal = j,
                  .take = take,
                  .context = context,
                  .mark = is_old ? old_mark : mark,
                  .new_mark = mark,
                  .is_old = is_old};
    r.anew = is_old ? open_memstream(&bytes, &count) : NULL;
    code = read_lines(&r, error, size);
    if (r.anew)
        fclose(r.anew);
    if (code == CLI_OK && j->lines > 0 && is_old)
        code = renew(j, bytes, count, error, size);
    else if (code == CLI_OK &&
             (ftruncate(fileno(j->file), (off_t)j->bytes) < 0 || (j->lines == 0 && cli_journal_add(j, mark, 1) < 0)))
        code = (rf_fail(error, size, "cannot write '%s': %s", j->path, strerror(errno)), CLI_FAILED);
    free(bytes);
    if (code != CLI_OK)
        cli_journal_close(j);
    return code;
}

int cli_journal_add(cli_journal *j, const char *text, int is_durable)
{
    size_t count = 0;
    char *line = line_of(j->lines, text, &count);
    errno = !line ? ENOMEM : EFBIG;
    const int is_kept = line && j->bytes + count <= CLI_JOURNAL_MAX &&
                        rf_output_add(j->file, line, count, is_durable ? RF_OUTPUT_DURABLE : 0) == 0;
    free(line);
    if (!is_kept)
        return -1;
    j->lines++;
    j->bytes += count;
    return 0;
}

void cli_journal_close(cli_journal *j)
{
    if (j->file)
        fclose(j->file);
    j->file = NULL;
}
