/* What an experiment is, and what it works with. README.md here says how to add one. */
#ifndef REJFILT_EXPERIMENTS_LAB_H
#define REJFILT_EXPERIMENTS_LAB_H

#include <stddef.h>
#include <stdint.h>

#include "rejfilt/host.h"

typedef struct lab lab; /* an experiment under way */

/* One experiment. Its functions see its settings and rows through the lab. Those that can fail return 0, or -1 after
   lab_fail. */
typedef struct lab_experiment {
    int (*open)(lab *l);                               /* OPTIONAL: looks at what cells need before any is run */
    unsigned (*cells)(const lab *l);                   /* REQUIRED: how many parts can be run on their own */
    double (*cost)(const lab *l, unsigned cell);       /* OPTIONAL: time of a cell, relative to the others' */
    int (*run)(lab *l, unsigned cell);                 /* REQUIRED: measures, and puts rows */
    void (*report)(lab *l);                            /* REQUIRED: from rows alone, claims, tables and figures */
    int has_timing;                                    /* it puts rows with lab_put_timing */
} lab_experiment;

/* Every experiment is a `const lab_experiment experiment_NAME`. */
#define EXPERIMENT(name) extern const lab_experiment experiment_##name;
#include "list.def"
#undef EXPERIMENT

/* ---- Settings: NAME.ini, [settings] and then [quick] or [full] ---- */

double lab_real(const lab *l, const char *key);
uint32_t lab_whole(const lab *l, const char *key);
const char *lab_text(const lab *l, const char *key);
/* Entry `index` of a list of numbers with blanks between, and how many there are. */
double lab_item(const lab *l, const char *key, unsigned index);
unsigned lab_items(const lab *l, const char *key);

uint64_t lab_seed(const lab *l);
unsigned lab_threads(const lab *l);
const char *lab_data(const lab *l); /* the directory given for MNIST, or null */

/* Says in the report, and in the fingerprint of the settings, what they do not say: for open. */
void lab_note(lab *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Says what is wrong. Returns -1. */
int lab_fail(lab *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- Measuring ---- */

/* Does item number `item` with an engine that nobody else uses meanwhile. Returns 0, or -1 after lab_fail. */
typedef int lab_job(lab *l, void *context, uint32_t item, const rf_engine *engine);

/* Does items 0 .. count − 1 on all threads, in no particular order: each must leave what it finds in a place of its
   own. Returns 0, or -1 when one failed or the user interrupts. */
int lab_each(lab *l, uint32_t count, lab_job *job, void *context);

/* One number: `quantity` of the thing or method `of`, at x, with its standard error; NaN where there is none.
   Names have no commas. Not for jobs of lab_each: rows are put after it, in a fixed order. Rows that change from run to run because they are about time go to lab_put_timing. */
void lab_put(lab *l, const char *quantity, const char *of, double x, double value, double error);
void lab_put_timing(lab *l, const char *quantity, const char *of, double x, double value, double error);

/* ---- Reading ---- */

typedef struct lab_row {
    const char *quantity, *of;
    double x, value, error;
    unsigned cell;
} lab_row;

/* The first row after `before` (null: of all) of this quantity and, unless null, this `of`; or null. */
const lab_row *lab_next(const lab *l, const lab_row *before, const char *quantity, const char *of);
/* The row at x; a row of NaNs when there is none. */
lab_row lab_find(const lab *l, const char *quantity, const char *of, double x);

/* ---- Reporting ---- */

/* What is found about the claim [claim NAME] of the ini, and what with the change that it names. */
void lab_claim(lab *l, const char *name, double value, double error);
void lab_claim_changed(lab *l, const char *name, double value, double error);

void lab_paragraph(lab *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What follows is about this machine's time: it goes to the last part of the report. */
void lab_timing(lab *l);

/* A table: its title; the heads, and then rows, with '|' between. */
void lab_table(lab *l, const char *title, const char *heads);
void lab_line(lab *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "1.57 ± 0.01", with as many digits as the error leaves; just the value when that is NaN. */
enum { LAB_NUMBER_TEXT = 80 };
const char *lab_number(double value, double error, char text[LAB_NUMBER_TEXT]);

typedef enum lab_style {
    LAB_LINE = 0,
    LAB_POINTS = 1,  /* alone */
    LAB_DASHED = 2,
    LAB_BOTH = 3,    /* a line through points */
    LAB_BARS = 8,    /* with bars of a standard error, added to one of these */
    LAB_RIGHT = 16   /* on the right axis, likewise */
} lab_style;

enum { LAB_LOG_X = 1, LAB_LOG_Y = 2, LAB_LOG_RIGHT = 4 };

/* A figure in the file NAME-`file`.svg. `alt` says in words what there is to see. Curves are rows of the data, and
   lines at a height; `right` is null where there is no second axis. */
void lab_figure(lab *l, const char *file, const char *title, const char *alt);
void lab_axes(lab *l, const char *x, const char *y, const char *right, int logarithmic);
void lab_curve(lab *l, const char *quantity, const char *of, const char *label, int style);
void lab_level(lab *l, double value, const char *label);
/* Alone in a figure: rows as a picture `width` pixels wide, x the number of a pixel; the value of the largest is black. */
void lab_map(lab *l, const char *quantity, const char *of, unsigned width, const char *label);
/* One more command of gnuplot, before the curves. */
void lab_gnuplot(lab *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- Statistics ---- */

/* Sorts. Quantile `share` of the values, by linear interpolation. */
double lab_quantile(double values[], size_t count, double share);
/* Sorts. The median, and its standard error as the ranks tell. */
double lab_median(double values[], size_t count, double *error);

#endif
