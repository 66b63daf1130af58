/* The Python module: what its files share. */
#ifndef REJFILT_PYTHON_MODULE_H
#define REJFILT_PYTHON_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdio.h>
#include <stdlib.h>

#include "rejfilt/passes.h"

enum { ERROR_MAX = 8192 }; /* what a compiler says, too */

/* A model: built in, from C source, or with functions of Python. */
typedef struct model_object {
    PyObject_HEAD const rf_model *model; /* null until it is made */
    rf_model own;                        /* of a model with functions of Python or of addresses, ... */
    rf32_instance f32;
    rf64_instance f64;
    rf_description description;
    char *names;            /* ... whose texts are here */
    PyObject *function;     /* f(x, setting, outcome) over a block, or f(x, setting) of what is expected; or null */
    PyObject *bound;        /* null: none; a number, or f(setting, outcome) */
    PyObject *simulate;     /* null, or f(x, setting, normal) */
    PyObject *settings;     /* the type of what functions get as their setting, a tuple, ... */
    allocfunc make_setting; /* ... and what makes one */
    PyObject *keep;         /* whatever must outlive the model's addresses */
    PyObject *empty, *tidy; /* numpy.empty, and what makes numbers out of a function's answer */
    rf64_block *expected;   /* where outcomes are made of what is expected: what gives that; else null */
    struct view {
        uint32_t n;
        PyObject *array;  /* (dim, n), which functions get */
        Py_buffer buffer; /* its memory */
    } views[4];
    unsigned next_view;
    PyObject *setting;                       /* the latest that a function got, ... */
    double setting_values[RF_DESCRIBED_MAX]; /* ... and its numbers */
} model_object;

/* A session, and its way through the files of the command. */
typedef struct session_object {
    PyObject_HEAD rf_session *session;
    rf_engine *engine;
    model_object *model;
    rf_config config;
    char *texts;                      /* of the configuration */
    uint32_t batch;                   /* records that are learnt from together, where nothing else is said */
    int is_busy;                      /* another thread is in it */
    int is_long;                      /* updates take so long that others may run meanwhile */
    uint64_t position, updates, hash; /* as the command counts them */
    uint32_t asked;                   /* questions under way, ... */
    rf_record *questions;             /* ... themselves */
    rf_step last;                     /* after the latest update: what rf_session_show does not fill, health; rows may need all of it */
    int before, has_changed;          /* health before it, as shown, and whether that was another */
} session_object;

/* A parameter's motion, or its drift, from five numbers: a kind, levels, times; and from a tuple of them. 0, or -1 and an exception. */
int set_motion(const rf_parameter *parameter, const double n[5], rf_motion *motion, double *drift);
int take_motion(const rf_parameter *parameter, PyObject *given, rf_motion *motion, double *drift);

extern PyTypeObject *model_type, *session_type, *fleet_type;
extern PyObject *refused; /* the exception */
extern PyObject *notes;   /* the type of what a status stands for */

extern PyType_Spec model_spec, session_spec, fleet_spec, few_spec;

/* ---- Calls into the library ----
   While it runs, the model's functions know whose they are; without functions of Python, others may run meanwhile. */

typedef struct running {
    int calls;             /* the model has functions of Python */
    model_object *before;
    PyThreadState *thread; /* where others may run */
    double looked;         /* for signals, in seconds */
} running;

void begin(running *r, model_object *model, int is_long);
void end(running *r);
/* Every 20 ms: has somebody pressed Ctrl-C? Then, or after another exception, 1. */
int is_interrupted(running *r);
double seconds(void);

/* Raises Refused, unless an exception is under way. Returns null. */
PyObject *refuse(rf_status status, const rf_engine *engine, const char *where);
PyObject *refuse_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Is it a status of success? Then the note that it stands for, else null and an exception. */
PyObject *note_of(rf_status status, const rf_engine *engine);

/* A contiguous buffer of doubles, `count` of them (-1: any number). 0, or -1 and an exception. */
int doubles(PyObject *object, Py_buffer *view, int is_writable, Py_ssize_t count, const char *what);

/* A tuple of numbers; and an empty one of that size, which is taken over, filled. */
PyObject *tuple_of(const double *values, unsigned count);
PyObject *fill_tuple(PyObject *tuple, const double *values, unsigned count);
/* A number, or -1 and an exception. */
double number_of(PyObject *given, const char *what);
/* Numbers of a sequence, `count` of them. 0, or -1 and an exception. */
int numbers_of(PyObject *sequence, double *values, unsigned count, const char *what);

/* Is that an outcome of the model, or NaN for none? refuse_outcome says of one that is not why; `where` may be null.
 * Returns null. */
int is_outcome(const rf_description *description, double outcome);
PyObject *refuse_outcome(const rf_description *description, double outcome, const char *where);

/* The end of a deallocation. */
void free_object(PyObject *self);

/* Marks the session as in use. 0, or -1 and an exception. */
int enter(session_object *s);
void leave(session_object *s);

/* rf_session_tell, or rf_session_tell_briefly, with what is counted beside it; settings are complete. Between begin and end. */
rf_status learn(session_object *s, const rf_record records[], uint32_t count, int is_brief);

/* ---- Rows of results: the columns of the command's CSV, and whether a test was passed or failed ---- */
unsigned row_width(const rf_description *description);
void row_write(double *row, const rf_description *description, const rf_step *step);
/* Health as rows have it: -1 is a belief that tracks but is too coarse. */
int shown_health(const rf_step *step);

/* Methods of sessions that run many updates. */
PyObject *session_replay(PyObject *self, PyObject *args);
PyObject *session_passes(PyObject *self, PyObject *args);
PyObject *session_simulate(PyObject *self, PyObject *args);
PyObject *session_score(PyObject *self, PyObject *args);
PyObject *module_evidence(PyObject *module, PyObject *args);

#endif
