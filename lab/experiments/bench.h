/* Shared by the parts of the lab. */
#ifndef REJFILT_EXPERIMENTS_BENCH_H
#define REJFILT_EXPERIMENTS_BENCH_H

#include <signal.h>
#include <stdio.h>

#include "cli.h"
#include "classify_data.h"
#include "lab.h"
#include "outputs.h"

typedef struct lab_setting {
    const char *key, *value;
} lab_setting;

typedef struct lab_bounds {
    double low, high; /* infinite: no bound */
    const char *text; /* as written; null: none given */
} lab_bounds;

typedef enum lab_verdict { LAB_HOLDS, LAB_HOLDS_CHANGED, LAB_FAILS, LAB_UNMEASURED } lab_verdict;

typedef struct lab_finding {
    const char *name;
    const char *paper;   /* the claim, in our words; null: no claim, only a number of ours */
    const char *where;   /* place in the paper */
    const char *number;  /* the paper's number, as text */
    const char *measure; /* definition of our number */
    const char *change;  /* the change that makes the claim hold, if there is one */
    lab_bounds holds;    /* range of our number in which the claim holds */
    lab_bounds expect;   /* known range of our number, in quick and full mode */
    int is_timing;       /* it depends on the machine */
    int is_about_mnist;  /* needs the files of MNIST */
    double value, error, changed, changed_error;
} lab_finding;

typedef struct lab_block {
    enum { LAB_TEXT_BLOCK, LAB_TABLE_BLOCK, LAB_FIGURE_BLOCK } kind;
    const char *title, *text; /* of a table: heads; of a figure: alt */
    const char *file;         /* of a figure */
    const char **lines;       /* of a table */
    unsigned line_count;
    const char *script, *curves; /* of a figure: axes and data; and the plot command's curves */
    int is_timing;
} lab_block;

typedef struct lab_table_file { /* rows of a CSV */
    lab_row *rows;
    size_t count, room;
} lab_table_file;

enum { LAB_SETTINGS_MAX = 64, LAB_FINDINGS_MAX = 32, LAB_BLOCKS_MAX = 64, LAB_JOBS_MAX = 1024 };

typedef struct lab_options {
    const char *out, *data, *engine;
    uint64_t seed, threads;
    int is_full;
} lab_options;

/* Threads and engines of a run, for all experiments. */
typedef struct lab_workers lab_workers;

struct lab {
    const lab_experiment *what;
    const char *name, *title, *about, *takes; /* takes: seconds, from the ini, for this mode */
    const lab_options *options;
    lab_workers *workers;
    lab_setting settings[LAB_SETTINGS_MAX];
    unsigned setting_count;
    lab_finding findings[LAB_FINDINGS_MAX];
    unsigned finding_count;
    const char *note; /* or null */
    uint64_t fingerprint;
    unsigned job, job_count; /* current job; number of jobs */
    unsigned char done[LAB_JOBS_MAX];
    lab_table_file data, timing;
    lab_block blocks[LAB_BLOCKS_MAX];
    unsigned block_count;
    int is_about_timing; /* the current part of the report is about timing */
    rf_output output; /* of lab_create */
    char error[512];
};

/* Memory, and texts, that live as long as the program; without memory the program ends. */
void *lab_keep(size_t bytes);
const char *lab_keep_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Reads the ini's text. Returns 0, or -1 after lab_fail. */
int lab_settings_read(lab *l, const char *text);
uint64_t lab_settings_fingerprint(const lab *l);

/* Reads the rows of an earlier run with the same settings, and which jobs are done. Returns 1 if a file was damaged
   or of other settings; it is then ignored. */
int lab_data_load(lab *l);
/* Replaces the files by all rows, ordered by job. Returns 0, or -1 after lab_fail. */
int lab_data_save(lab *l);
/* Removes the rows of the current job. */
void lab_data_drop_job(lab *l);

lab_verdict lab_judge(const lab_finding *f);
extern const char *const lab_verdict_names[4];
/* Is our number outside the known range by more than 3 standard errors? */
int lab_departs(const lab_finding *f);

/* Opens a file in the output directory, one at a time; puts it in place. */
FILE *lab_create(lab *l, const char *name);
int lab_finish(lab *l);
void lab_path(const lab *l, const char *name, char *path, size_t size);

/* ---- The report ---- */

/* An output format. Texts may contain `code`, **bold** and [links](to). */
typedef struct lab_writer {
    FILE *out; /* null: the file could not be opened */
    void (*heading)(FILE *out, int level, const char *id, const char *text);
    void (*paragraph)(FILE *out, const char *text);
    void (*table)(FILE *out, const char *title, const char *heads, const char *const lines[], unsigned count);
    void (*figure)(FILE *out, const lab *l, const lab_block *figure);
} lab_writer;

lab_writer lab_html_open(FILE *out);
void lab_html_close(FILE *out);

int lab_figure_draw(lab *l, const lab_block *figure);

/* Draws the figures, writes report.md, report.html, report.json. Returns 0, or -1 after lab_fail of labs[0]. */
int lab_report_write(lab *labs, unsigned count);

#endif
