/* What the parts of the lab share. */
#ifndef REJFILT_EXPERIMENTS_BENCH_H
#define REJFILT_EXPERIMENTS_BENCH_H

#include <signal.h>
#include <stdio.h>

#include "cli.h"
#include "cloud.h"
#include "lab.h"

typedef struct lab_setting {
    const char *key, *value;
} lab_setting;

typedef struct lab_bounds {
    double low, high; /* infinite where there is none */
    const char *text; /* as written; null: none given */
} lab_bounds;

typedef enum lab_verdict { LAB_HOLDS, LAB_HOLDS_CHANGED, LAB_FAILS, LAB_UNMEASURED } lab_verdict;

typedef struct lab_finding {
    const char *name;
    const char *paper;   /* what it says, in our words; null: nothing, it is a number that we know */
    const char *where;   /* in the paper */
    const char *number;  /* its number, as text */
    const char *measure; /* what ours is */
    const char *change;  /* what has to be changed for it to hold, if that is all */
    lab_bounds holds;    /* where our number means that the claim holds */
    lab_bounds expect;   /* where we know our number to be, in quick as in full */
    int is_timing;       /* it depends on the machine */
    int is_about_mnist;  /* without its files there is nothing to say */
    double value, error, changed, changed_error;
} lab_finding;

typedef struct lab_block {
    enum { LAB_TEXT_BLOCK, LAB_TABLE_BLOCK, LAB_FIGURE_BLOCK } kind;
    const char *title, *text; /* of a table: heads; of a figure: alt */
    const char *file;         /* of a figure */
    const char **lines;       /* of a table */
    unsigned line_count;
    const char *script, *curves; /* of a figure: axes and data; and what is plotted */
    int is_timing;
} lab_block;

typedef struct lab_table_file { /* rows of a CSV */
    lab_row *rows;
    size_t count, room;
} lab_table_file;

enum { LAB_SETTINGS_MAX = 64, LAB_FINDINGS_MAX = 32, LAB_BLOCKS_MAX = 64, LAB_CELLS_MAX = 1024 };

typedef struct lab_options {
    const char *out, *data, *engine;
    uint64_t seed, threads;
    int is_full;
} lab_options;

/* What the threads of a run work with, for all experiments. */
typedef struct lab_crew lab_crew;

struct lab {
    const lab_experiment *what;
    const char *name, *title, *about, *takes; /* takes: seconds, as the ini has it for the mode */
    const lab_options *options;
    lab_crew *crew;
    lab_setting settings[LAB_SETTINGS_MAX];
    unsigned setting_count;
    lab_finding findings[LAB_FINDINGS_MAX];
    unsigned finding_count;
    const char *note; /* or null */
    uint64_t fingerprint;
    unsigned cell, cell_count; /* under way; in all */
    unsigned char done[LAB_CELLS_MAX];
    lab_table_file data, timing;
    lab_block blocks[LAB_BLOCKS_MAX];
    unsigned block_count;
    int is_about_timing; /* what the report says now */
    char error[512];
};

/* Memory for the life of the program, and texts in it; the program ends when there is none. */
void *lab_keep(size_t bytes);
const char *lab_keep_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Reads the ini's text. Returns 0, or -1 after lab_fail. */
int lab_settings_read(lab *l, const char *text);
uint64_t lab_settings_fingerprint(const lab *l);

/* Reads what an earlier run left with the same settings, and which cells are done. Returns 1 when there was a file of
   other settings, or a damaged one, which does not count. */
int lab_data_load(lab *l);
/* Writes all rows, by cell, in place of the files there are. Returns 0, or -1 after lab_fail. */
int lab_data_save(lab *l);
/* Forgets what the cell under way has put. */
void lab_data_drop_cell(lab *l);

lab_verdict lab_judge(const lab_finding *f);
extern const char *const lab_verdict_names[4];
/* Is our number outside of what we know, by more than 3 standard errors? */
int lab_departs(const lab_finding *f);

/* Files in the output directory: to write, and done. */
FILE *lab_create(lab *l, const char *name);
int lab_finish(lab *l, FILE *file, const char *name);
void lab_path(const lab *l, const char *name, char *path, size_t size);

/* ---- The report ---- */

/* A format. Texts have `code`, **bold** and [links](to). */
typedef struct lab_writer {
    FILE *out; /* null: it could not be opened */
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
