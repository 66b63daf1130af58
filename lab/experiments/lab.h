/* Interface of an experiment, and the functions it may call. README.md here explains how to add one. */
#ifndef REJFILT_EXPERIMENTS_LAB_H
#define REJFILT_EXPERIMENTS_LAB_H

#include <stddef.h>
#include <stdint.h>

#include "rejfilt/host.h"

typedef struct lab lab; /* a running experiment */

/* One experiment. Its functions access settings and rows through the lab. Functions that can fail return 0, or -1
   after lab_fail. */
typedef struct lab_experiment {
    int (*open)(lab *l);                               /* OPTIONAL: loads what jobs need, before any job runs */
    unsigned (*jobs)(const lab *l);                   /* REQUIRED: number of independent jobs */
    double (*cost)(const lab *l, unsigned job);       /* OPTIONAL: time of a job relative to other jobs */
    int (*run)(lab *l, unsigned job);                 /* REQUIRED: measures, and stores rows */
    void (*report)(lab *l);                            /* REQUIRED: claims, tables and figures, from rows only */
    int has_timing;                                    /* it stores rows with lab_put_timing */
} lab_experiment;

/* Every experiment is a `const lab_experiment experiment_NAME`. */
#define EXPERIMENT(name) extern const lab_experiment experiment_##name;
#include "list.def"
#undef EXPERIMENT

/* ---- Settings: NAME.ini, [settings] and then [quick] or [full] ---- */

double lab_real(const lab *l, const char *key);
uint32_t lab_whole(const lab *l, const char *key);
const char *lab_text(const lab *l, const char *key);
/* Entry `index` of a list of numbers separated by blanks; the number of entries. */
double lab_item(const lab *l, const char *key, unsigned index);
unsigned lab_items(const lab *l, const char *key);

uint64_t lab_seed(const lab *l);
unsigned lab_threads(const lab *l);
const char *lab_data(const lab *l); /* directory given for MNIST, or null */

/* Call it from `open`: adds to the report, and to the fingerprint of the settings, something that the settings do
   not say. */
void lab_note(lab *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Sets the error message. Returns -1. */
int lab_fail(lab *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- Measuring ---- */

/* Runs item number `item`, with an engine used by no other thread at that time. Returns 0, or -1 after lab_fail. */
typedef int lab_item_function(lab *l, void *context, uint32_t item, const rf_engine *engine);

/* Runs items 0 .. count − 1 on all threads, in any order; each must write its results to its own place. Returns 0,
   or -1 if one failed or the user interrupted. */
int lab_each(lab *l, uint32_t count, lab_item_function *job, void *context);

/* Stores one row: `quantity` of the object or method `of`, at x, with its standard error (NaN: none). Names have no
   commas. Do not call it inside lab_each; store rows afterwards, in a fixed order. Rows that depend on time, and so
   change from run to run, go to lab_put_timing. */
void lab_put(lab *l, const char *quantity, const char *of, double x, double value, double error);
void lab_put_timing(lab *l, const char *quantity, const char *of, double x, double value, double error);

/* ---- Reading ---- */

typedef struct lab_row {
    const char *quantity, *of;
    double x, value, error;
    unsigned job;
} lab_row;

/* The first row after `before` (null: from the start) with this quantity and, unless null, this `of`; or null. */
const lab_row *lab_next(const lab *l, const lab_row *before, const char *quantity, const char *of);
/* The row at x; all NaN if there is none. */
lab_row lab_find(const lab *l, const char *quantity, const char *of, double x);

/* ---- Reporting ---- */

/* The result for [claim NAME] of the ini, and the result with the change that the claim names. */
void lab_claim(lab *l, const char *name, double value, double error);
void lab_claim_changed(lab *l, const char *name, double value, double error);

void lab_paragraph(lab *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What follows depends on this machine's speed and goes to the last part of the report. */
void lab_timing(lab *l);

/* A table: its title and heads, then rows; cells are separated by '|'. */
void lab_table(lab *l, const char *title, const char *heads);
void lab_line(lab *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "1.57 ± 0.01", with digits according to the error; only the value if the error is NaN. */
enum { LAB_NUMBER_TEXT = 80 };
const char *lab_number(double value, double error, char text[LAB_NUMBER_TEXT]);

typedef enum lab_style {
    LAB_LINE = 0,
    LAB_POINTS = 1,  /* points without a line */
    LAB_DASHED = 2,
    LAB_BOTH = 3,    /* points and a line */
    LAB_BARS = 8,    /* error bars of one standard error; add it to one of these */
    LAB_RIGHT = 16   /* right axis; add it likewise */
} lab_style;

enum { LAB_LOG_X = 1, LAB_LOG_Y = 2, LAB_LOG_RIGHT = 4 };

/* A figure in the file NAME-`file`.svg. `alt` describes it in words. Curves are rows of the data; a level is a
   horizontal line. `right` is null without a second axis. */
void lab_figure(lab *l, const char *file, const char *title, const char *alt);
void lab_axes(lab *l, const char *x, const char *y, const char *right, int logarithmic);
void lab_curve(lab *l, const char *quantity, const char *of, const char *label, int style);
void lab_level(lab *l, double value, const char *label);
/* An image, alone in its figure: rows as pixels, `width` per line; x is the number of the pixel. The largest value
   is black. */
void lab_map(lab *l, const char *quantity, const char *of, unsigned width, const char *label);
/* Adds a gnuplot command before the curves. */
void lab_gnuplot(lab *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- Statistics ---- */

/* Sorts the values. Returns the quantile `share`, by linear interpolation. */
double lab_quantile(double values[], size_t count, double share);
/* Sorts the values. Returns the median; `error` is its standard error, from ranks. */
double lab_median(double values[], size_t count, double *error);

#endif
