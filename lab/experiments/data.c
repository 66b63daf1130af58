/* The rows of an experiment and their files. A file is always replaced as a whole, so it is never incomplete; its
   first line has the finished jobs and the fingerprint of the settings. */
#define _POSIX_C_SOURCE 200809L
#include "bench.h"
#include "file.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char heads[] = "job,quantity,of,x,value,error";

/* ---- Rows ---- */

static void add(lab_table_file *t, lab_row row)
{
    if (t->count == t->room) {
        size_t room = t->room ? 2 * t->room : 256;
        lab_row *more = realloc(t->rows, room * sizeof *more);
        if (!more) {
            cli_error("reproduce: not enough memory");
            exit(CLI_FAILED);
        }
        t->rows = more;
        t->room = room;
    }
    t->rows[t->count++] = row;
}

static void put(lab *l, lab_table_file *t, const char *quantity, const char *of, double x, double value, double error)
{
    if (strpbrk(quantity, ",\n\"") || strpbrk(of, ",\n\""))
        lab_fail(l, "%s: a name with a comma: %s of %s", l->name, quantity, of);
    add(t, (lab_row){lab_keep_text("%s", quantity), lab_keep_text("%s", of), x, value, error, l->job});
}

void lab_put(lab *l, const char *quantity, const char *of, double x, double value, double error)
{
    put(l, &l->data, quantity, of, x, value, error);
}

void lab_put_timing(lab *l, const char *quantity, const char *of, double x, double value, double error)
{
    put(l, &l->timing, quantity, of, x, value, error);
}

void lab_data_drop_job(lab *l)
{
    lab_table_file *const both[] = {&l->data, &l->timing};
    for (int i = 0; i < 2; i++) {
        size_t kept = 0;
        for (size_t k = 0; k < both[i]->count; k++)
            if (both[i]->rows[k].job != l->job)
                both[i]->rows[kept++] = both[i]->rows[k];
        both[i]->count = kept;
    }
}

static const lab_row *next_in(const lab_table_file *t, const lab_row *before, const char *quantity, const char *of)
{
    for (const lab_row *r = before ? before + 1 : t->rows; r && r < t->rows + t->count; r++)
        if (strcmp(r->quantity, quantity) == 0 && (!of || strcmp(r->of, of) == 0))
            return r;
    return NULL;
}

const lab_row *lab_next(const lab *l, const lab_row *before, const char *quantity, const char *of)
{
    if (before && l->timing.rows && before >= l->timing.rows && before < l->timing.rows + l->timing.count)
        return next_in(&l->timing, before, quantity, of);
    const lab_row *r = next_in(&l->data, before, quantity, of);
    return r || before ? r : next_in(&l->timing, NULL, quantity, of);
}

lab_row lab_find(const lab *l, const char *quantity, const char *of, double x)
{
    for (const lab_row *r = NULL; (r = lab_next(l, r, quantity, of));)
        if (r->x == x || (isnan(x) && isnan(r->x)))
            return *r;
    return (lab_row){quantity, of, NAN, NAN, NAN, 0};
}

/* ---- Files ---- */

void lab_path(const lab *l, const char *name, char *path, size_t size)
{
    snprintf(path, size, "%s/%s", l->options->out, name);
}

FILE *lab_create(lab *l, const char *name)
{
    char path[4096];
    lab_path(l, name, path, sizeof path);
    return rf_output_open(&l->output, lab_keep_text("%s", path), RF_OUTPUT_ORDINARY | RF_OUTPUT_OWN, l->error, sizeof l->error);
}

int lab_finish(lab *l)
{
    return rf_output_close(&l->output, 1, l->error, sizeof l->error);
}

static void put_real(FILE *out, double value)
{
    char digits[RF_REAL_TEXT];
    fprintf(out, ",%s", isnan(value) ? "" : rf_real_text(value, digits));
}

static int save(lab *l, lab_table_file *t, const char *name)
{
    FILE *out = lab_create(l, name);
    if (!out)
        return -1;
    fprintf(out, "# rejfilt reproduce %s, settings %016llx, rows %zu, jobs", l->name,
            (unsigned long long)l->fingerprint, t->count);
    for (unsigned i = 0; i < l->job_count; i++)
        if (l->done[i])
            fprintf(out, " %u", i);
    fprintf(out, "\n%s\n", heads);
    for (unsigned i = 0; i < l->job_count; i++)
        for (size_t k = 0; k < t->count; k++) {
            const lab_row *r = &t->rows[k];
            if (r->job != i)
                continue;
            fprintf(out, "%u,%s,%s", r->job, r->quantity, r->of);
            put_real(out, r->x);
            put_real(out, r->value);
            put_real(out, r->error);
            fputc('\n', out);
        }
    return lab_finish(l);
}

int lab_data_save(lab *l)
{
    if (save(l, &l->data, lab_keep_text("%s.csv", l->name)) < 0)
        return -1;
    return l->what->has_timing ? save(l, &l->timing, lab_keep_text("%s-timing.csv", l->name)) : 0;
}

/* The next field of a line; cuts the line there. */
static char *field(char **line)
{
    char *begin = *line, *comma = begin ? strchr(begin, ',') : NULL;
    if (comma)
        *comma = '\0';
    *line = comma ? comma + 1 : NULL;
    return begin;
}

static int read_real(const char *text, double *value)
{
    char error[200];
    *value = NAN;
    if (text && strcmp(text, "inf") == 0)
        *value = INFINITY;
    return text && (!*text || isinf(*value) ||
                    rf_parse_real(text, -INFINITY, INFINITY, value, error, sizeof error) == 0)
               ? 0
               : -1;
}

static int read_row(char *line, lab_row *row)
{
    line[strcspn(line, "\n")] = '\0';
    const char *job = field(&line);
    row->quantity = field(&line);
    row->of = field(&line);
    if (!row->of || read_real(field(&line), &row->x) < 0 || read_real(field(&line), &row->value) < 0 ||
        read_real(field(&line), &row->error) < 0 || line)
        return -1;
    row->quantity = lab_keep_text("%s", row->quantity);
    row->of = lab_keep_text("%s", row->of);
    row->job = (unsigned)strtoul(job, NULL, 10);
    return 0;
}

/* Reads the first line: checks the settings, and returns the number of rows and the finished jobs. */
static int read_first(const lab *l, char *line, size_t *rows, unsigned char done[])
{
    char name[64];
    unsigned long long fingerprint;
    int at = 0;
    if (sscanf(line, "# rejfilt reproduce %63[^,], settings %llx, rows %zu, jobs%n", name, &fingerprint, rows, &at) !=
            3 ||
        at == 0 || strcmp(name, l->name) != 0 || fingerprint != l->fingerprint)
        return -1;
    for (char *c = line + at, *end; *c == ' '; c = end) {
        unsigned long job = strtoul(c, &end, 10);
        if (end == c || job >= l->job_count)
            return -1;
        done[job]++;
    }
    return 0;
}

/* Returns 0; 1 if the file is of other settings or damaged; -1 if there is none. */
static int load(const lab *l, lab_table_file *t, const char *name, unsigned char done[])
{
    char path[4096], line[4096];
    size_t rows = 0;
    lab_path(l, name, path, sizeof path);
    char error[600];
    FILE *in = rf_file_read(path, error, sizeof error);
    if (!in)
        return access(path, F_OK) == 0 ? 1 : -1;
    char *first = NULL;
    size_t room = 0;
    int is_good = getline(&first, &room, in) > 0 && read_first(l, first, &rows, done) == 0;
    free(first);
    is_good = is_good && fgets(line, sizeof line, in);
    while (is_good && fgets(line, sizeof line, in)) {
        lab_row row;
        is_good = strchr(line, '\n') && read_row(line, &row) == 0;
        if (is_good)
            add(t, row);
    }
    fclose(in);
    return is_good && t->count == rows ? 0 : 1;
}

int lab_data_load(lab *l)
{
    unsigned char done[2][LAB_JOBS_MAX] = {{0}};
    int status = load(l, &l->data, lab_keep_text("%s.csv", l->name), done[0]);
    if (status == 0 && l->what->has_timing)
        status = load(l, &l->timing, lab_keep_text("%s-timing.csv", l->name), done[1]);
    for (unsigned i = 0; i < l->job_count; i++)
        l->done[i] = status == 0 && done[0][i] && (done[1][i] || !l->what->has_timing);
    if (status != 0)
        l->data.count = l->timing.count = 0;
    for (l->job = 0; l->job < l->job_count; l->job++)
        if (!l->done[l->job])
            lab_data_drop_job(l);
    return status == 1;
}
