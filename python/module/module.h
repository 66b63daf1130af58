/* The Python module: declarations shared by its files. */
#ifndef REJFILT_PYTHON_MODULE_H
#define REJFILT_PYTHON_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdio.h>
#include <stdlib.h>

#include "chain.h"
#include "options.h"
#include "rejfilt/passes.h"

enum { ERROR_MAX = 8192 }; /* holds a compiler's messages, too */

/* A model: built in, from C source, or with Python functions. */
typedef struct model_object {
    PyObject_HEAD const rf_model *model; /* null until the model is made */
    rf_model own;                        /* for a model with Python functions or with addresses; */
    rf32_instance f32;
    rf64_instance f64;
    rf_description description;
    char *names;            /* its texts */
    PyObject *function;     /* f(x, setting, outcome) for a block; f(x, setting) of expected values; or null */
    PyObject *bound;        /* null: none; a number, or f(setting, outcome) */
    PyObject *simulate;     /* null, or f(x, setting, normal) */
    PyObject *settings;     /* the tuple type of the settings passed to functions, */
    allocfunc make_setting; /* and its allocator */
    PyObject *keep;         /* objects that must outlive the model's addresses */
    PyObject *empty, *tidy; /* numpy.empty; a function that turns an answer into numbers */
    double outliers[3];     /* their share, low and high; share 0: none */
    rf64_block *expected;   /* block function that gives expected values, if outcomes are defined by them; else null */
    struct view {
        uint32_t n;
        PyObject *array;  /* (dim, n), passed to functions */
        Py_buffer buffer; /* its memory */
    } views[4];
    unsigned next_view;
    uint64_t checked; /* hash of the ranges in which it was checked; 0: not yet */
    PyObject *setting;                       /* the latest setting passed to a function, */
    double setting_values[RF_DESCRIBED_MAX]; /* and its numbers */
} model_object;

/* A session, with the counters of the command's checkpoints. */
typedef struct session_object {
    PyObject_HEAD rf_session *session;
    rf_engine *engine;
    model_object *model;
    rf_config config;
    PyObject *options;                /* a tuple with the texts of the configuration */
    uint32_t batch;                   /* default number of records per update */
    int is_busy;                      /* in use by another thread */
    int is_long;                      /* updates are long, so the GIL is released for each */
    uint64_t updates;                 /* as counted by the command */
    cli_chain chain;                  /* the records */
    uint32_t asked;                   /* number of open questions; */
    rf_record *questions;             /* the questions */
    rf_step last;                     /* of the latest update; rows may need all of it, rf_session_show lacks health */
    char outside[200]; /* a warning about the first setting outside its range, */
    int is_warned;     /* if it was given */
    int before, has_changed;          /* health before the latest update, as shown; whether that update changed it */
} session_object;

/* A parameter's motion or drift from five numbers: kind, levels, times. Returns 0, or -1 and an
   exception. */
int set_motion(const rf_parameter *parameter, const double n[5], rf_motion *motion, double *drift);

extern PyTypeObject *model_type, *session_type, *fleet_type;
extern PyObject *refused; /* the exception */
extern PyObject *notes;   /* type of the notes for statuses */

extern PyType_Spec model_spec, session_spec, fleet_spec, few_spec;

/* ---- Calls into the library ----
   begin and end enclose a call. They tell the model's functions which model runs; without Python functions they
   release the GIL if the call is long. */

typedef struct running {
    int calls;             /* the model has functions of Python */
    model_object *before;
    PyThreadState *thread; /* saved state while the GIL is released; else null */
    double looked;         /* last check for signals, in seconds */
} running;

void begin(running *r, model_object *model, int is_long);
void end(running *r);
/* Checks for Ctrl-C every 20 ms. Returns 1 after Ctrl-C or another exception, else 0. */
int is_interrupted(running *r);

/* Raises Refused, unless another exception is set. Returns null. */
PyObject *refuse(rf_status status, const rf_engine *engine, const char *where);
PyObject *refuse_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Returns the note for a status of success; for a refusal null and an exception. */
PyObject *note_of(rf_status status, const rf_engine *engine);

/* Gets a contiguous buffer of `count` doubles (-1: any number). Returns 0, or -1 and an exception. */
int doubles(PyObject *object, Py_buffer *view, int is_writable, Py_ssize_t count, const char *what);

/* tuple_of: a new tuple of numbers. fill_tuple: fills an empty tuple of that size and takes over its reference. */
PyObject *tuple_of(const double *values, unsigned count);
PyObject *fill_tuple(PyObject *tuple, const double *values, unsigned count);
/* Returns a number, or -1 and an exception. */
double number_of(PyObject *given, const char *what);
/* Reads `count` numbers of a sequence. Returns 0, or -1 and an exception. */
int numbers_of(PyObject *sequence, double *values, unsigned count, const char *what);

/* Tries the model with these settings; or, with null, with several of their ranges, unless that was done already. Returns 0, or -1 and an
   exception. */
int check_model(model_object *model, const rf_description *description, const double setting[]);

/* is_outcome: is it a valid outcome of the model, or NaN for none? refuse_outcome: raises an exception that says why
   not; `where` may be null; returns null. */
int is_outcome(const rf_description *description, double outcome);
PyObject *refuse_outcome(const rf_description *description, double outcome, const char *where);

/* The last step of a deallocation. */
void free_object(PyObject *self);

/* Is the session open? If not, 0 and an exception. */
int is_open(const session_object *s);

/* Marks the session as in use. Returns 0, or -1 and an exception. */
int enter(session_object *s);
void leave(session_object *s);

/* rf_session_tell or rf_session_tell_briefly, plus the counters of the session. Settings must be complete. Call it
   between begin and end. */
rf_status learn(session_object *s, const rf_record records[], uint32_t count, int is_brief);
/* Warns once about settings outside their range, `level` frames up. Returns 0, or -1 and an exception. */
int warn_outside(session_object *s, int level);

/* ---- Rows of results: the columns of the command's CSV, and whether a test was passed or failed ---- */
unsigned row_width(const rf_description *description);
void row_write(double *row, const rf_description *description, const rf_step *step);
/* Health as in rows: -1 means tracking with a belief that is too coarse. */
int shown_health(const rf_step *step);

/* Methods of sessions for many updates. */
PyObject *session_replay(PyObject *self, PyObject *args);
PyObject *session_passes(PyObject *self, PyObject *args);
PyObject *session_simulate(PyObject *self, PyObject *args);
PyObject *session_score(PyObject *self, PyObject *args);
PyObject *module_evidence(PyObject *module, PyObject *args);

#endif
