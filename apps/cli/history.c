#define _POSIX_C_SOURCE 200809L
#include "history.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "outputs.h"

typedef struct head {
    char magic[8];
    uint64_t width, names;            /* number of columns, and a hash of their names */
    uint64_t per_row, pending, count; /* values of the series when the file was rewritten */
    double turn[RF_DESCRIBED_MAX], mean[RF_DESCRIBED_MAX];
} head;

static const char magic[8] = {'R', 'F', 'H', 'I', 'S', 'T', '1', '\n'};

static head head_of(const cli_series *s)
{
    const rf_description *d = s->description;
    head h = {.width = cli_series_width(s),
              .names = 0xcbf29ce484222325u,
              .per_row = s->per_row,
              .pending = s->pending,
              .count = s->count};
    memcpy(h.magic, magic, sizeof magic);
    memcpy(h.turn, s->turn, sizeof h.turn);
    memcpy(h.mean, s->mean, sizeof h.mean);
    for (unsigned i = 0; i < d->dim; i++)
        h.names = rf_hash(h.names, d->parameter[i].name, strlen(d->parameter[i].name) + 1);
    for (unsigned i = 0; i < d->settings; i++)
        h.names = rf_hash(h.names, d->setting[i].name, strlen(d->setting[i].name) + 1);
    return h;
}

/* Stops keeping rows, with a reason. The run continues. */
static void give_up(cli_history *h)
{
    snprintf(h->failure, sizeof h->failure, "cannot write %.200s: %s", h->path, strerror(errno));
    if (h->file)
        fclose(h->file);
    h->file = NULL;
}

void cli_history_close(cli_history *h)
{
    if (h->file && fclose(h->file) != 0)
        snprintf(h->failure, sizeof h->failure, "cannot write %.200s: %s", h->path, strerror(errno));
    h->file = NULL;
}

/* Replaces the file by a new one with the current series. */
static void rewrite(cli_history *h)
{
    const cli_series *s = h->series;
    const head now = head_of(s);
    rf_output output;
    FILE *file = rf_output_open(&output, h->path, RF_OUTPUT_ORDINARY | RF_OUTPUT_OWN, h->failure, sizeof h->failure);
    if (file) {
        fwrite(&now, sizeof now, 1, file);
        if (s->count > 0)
            fwrite(s->rows, cli_series_width(s) * sizeof *s->rows, s->count, file);
    }
    cli_history_close(h);
    if (file && rf_output_close(&output, 1, h->failure, sizeof h->failure) == 0)
        h->file = rf_output_append(h->path, RF_OUTPUT_OWN, h->failure, sizeof h->failure);
    h->appended = 0;
}

/* Sets turns and means of periodic parameters from the latest row. */
static void take_turns(cli_series *s, const double row[])
{
    for (unsigned i = 0; i < s->description->dim; i++) {
        const rf_parameter *p = &s->description->parameter[i];
        const double total = row[cli_series_parameter(i, CLI_MEAN)], period = p->high - p->low;
        if (p->chart != RF_PERIODIC || isnan(total))
            continue;
        s->turn[i] = floor((total - p->low) / period);
        s->mean[i] = total - s->turn[i] * period;
    }
}

/* Are all numbers in the range that a series can hold? */
static int is_drawable(const double numbers[], size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isnan(numbers[i]) && !(fabs(numbers[i]) <= 1e110))
            return 0;
    return 1;
}

/* Does this head belong to a file of this series, and are its counts consistent? */
static int is_ours(const head *was, const cli_series *s)
{
    const head ours = head_of(s);
    const int is_thinned = was->per_row > 1;
    return memcmp(was->magic, magic, sizeof magic) == 0 && was->width == ours.width && was->names == ours.names &&
           was->count <= s->max && was->per_row <= 1u << 30 && (!is_thinned || was->count % 2 == 0) &&
           (was->pending == 0 || (is_thinned && was->count >= 2 && was->pending < 2 * was->per_row)) &&
           is_drawable(was->turn, RF_DESCRIBED_MAX) && is_drawable(was->mean, RF_DESCRIBED_MAX);
}

/* Reads the first part of the file. Returns 0, or -1 if it is not of this series. */
static int take_rows(cli_history *h, const head *was, uint64_t updates)
{
    cli_series *s = h->series;
    const size_t width = cli_series_width(s);
    if (!is_ours(was, s))
        return -1;
    if (was->count > 0) {
        s->rows = malloc(s->max * width * sizeof *s->rows);
        if (!s->rows || fread(s->rows, width * sizeof *s->rows, was->count, h->file) != was->count ||
            !is_drawable(s->rows, width * was->count))
            return -1;
        s->room = s->max;
    }
    s->count = was->count;
    s->per_row = was->per_row;
    s->pending = was->pending;
    memcpy(s->turn, was->turn, sizeof s->turn);
    memcpy(s->mean, was->mean, sizeof s->mean);
    while (s->count > 0 && !(cli_series_at(s, s->count - 1, CLI_STEP) < (double)updates)) {
        s->count--; /* the checkpoint is older than the file */
        s->pending = 0;
    }
    s->count -= s->per_row > 1 ? s->count % 2 : 0;
    return 0;
}

/* Reads the file's rows of the first `updates` updates into the series. Returns 0, or -1 if that fails. */
static int read_all(cli_history *h, uint64_t updates)
{
    head was;
    double row[CLI_ROW_MAX];
    const size_t bytes = cli_series_width(h->series) * sizeof *row;
    if (fread(&was, sizeof was, 1, h->file) != 1 || take_rows(h, &was, updates) != 0)
        return -1;
    long end = ftell(h->file);
    for (; fread(row, bytes, 1, h->file) == 1 && row[CLI_STEP] < (double)updates; end = ftell(h->file), h->appended++) {
        if (!is_drawable(row, bytes / sizeof *row) || cli_series_add_row(h->series, row) != 0)
            return -1;
        take_turns(h->series, row);
    }
    return end >= 0 && fseek(h->file, end, SEEK_SET) == 0 && ftruncate(fileno(h->file), end) == 0 ? 0 : -1;
}

/* Is it somebody else's? An empty file is not. */
static int is_foreign(FILE *file)
{
    char first[sizeof magic];
    const size_t got = fread(first, 1, sizeof first, file);
    rewind(file);
    return memcmp(first, magic, got) != 0;
}

void cli_history_open(cli_history *h, const cli_state_file *state, cli_series *series, uint64_t updates, int is_wanted)
{
    *h = (cli_history){0};
    series->max = CLI_HISTORY_ROWS;
    snprintf(h->path, sizeof h->path, "%.*s.history", (int)sizeof h->path - 16, state->lock.target);
    if (!is_wanted && access(h->path, F_OK) != 0)
        return;
    h->series = series;
    h->file = rf_output_append(h->path, RF_OUTPUT_OWN, h->failure, sizeof h->failure);
    if (!h->file)
        return;
    if (is_foreign(h->file)) {
        cli_history_close(h);
        snprintf(h->failure, sizeof h->failure, "%.200s is not a history of rejfilt; move it away", h->path);
    } else if (updates == 0 || read_all(h, updates) != 0) {
        cli_series_free(series);
        rewrite(h);
    }
}

int cli_history_add(cli_history *h, const rf_step *step)
{
    double row[CLI_ROW_MAX];
    cli_series_fill(h->series, step, step->time, row);
    if (cli_series_add_row(h->series, row) != 0)
        return -1;
    if (h->file && fwrite(row, cli_series_width(h->series) * sizeof *row, 1, h->file) != 1)
        give_up(h);
    h->appended++;
    return 0;
}

void cli_history_flush(cli_history *h)
{
    if (h->file && fflush(h->file) != 0)
        give_up(h);
}

void cli_history_tidy(cli_history *h)
{
    if (h->file && h->appended > CLI_HISTORY_ROWS)
        rewrite(h);
}
