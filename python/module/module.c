/* The module: its types, its exception, and functions shared by its files. */
#define _POSIX_C_SOURCE 200809L
#include "module.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <string.h>

#include "cli.h"
#include "sealed.h"
#include "statefile.h"

PyTypeObject *model_type, *session_type, *fleet_type;
PyObject *refused, *notes;

/* ---- Refusals and notes ---- */

PyObject *refuse_text(const char *format, ...)
{
    char text[ERROR_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    PyObject *message = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    if (message && !PyErr_Occurred())
        PyErr_SetObject(refused, message);
    Py_XDECREF(message);
    return NULL;
}

PyObject *refuse(rf_status status, const rf_engine *engine, const char *where)
{
    const char *complaint = engine ? rf_engine_complaint(engine) : "";
    if (PyErr_Occurred())
        return NULL;
    return refuse_text("%s%s%s%s%s", where ? where : "", where ? ": " : "", rf_status_text(status),
                       *complaint ? ": " : "", complaint);
}

enum { NOTES = 2048 }; /* above all bits */
static PyObject *made[NOTES]; /* notes, made on demand because creating an enumeration value is slow */

PyObject *note_of(rf_status status, const rf_engine *engine)
{
    if (status < 0)
        return refuse(status, engine, NULL);
    PyObject **note = &made[status % NOTES];
    if (!*note)
        *note = notes ? PyObject_CallFunction(notes, "i", status % NOTES) : PyLong_FromLong(status);
    return *note ? Py_NewRef(*note) : NULL;
}

/* ---- Numbers ---- */

int doubles(PyObject *object, Py_buffer *view, int is_writable, Py_ssize_t count, const char *what)
{
    if (PyObject_GetBuffer(object, view, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS | (is_writable ? PyBUF_WRITABLE : 0)) < 0)
        return -1;
    const int is_double = view->format && strcmp(view->format, "d") == 0;
    const Py_ssize_t there = view->len / (Py_ssize_t)sizeof(double);
    if (is_double && (count < 0 || there == count))
        return 0;
    PyBuffer_Release(view);
    if (is_double)
        refuse_text("%s: %zd numbers are needed, %zd were given", what, count, there);
    else
        PyErr_Format(PyExc_TypeError, "%s: an array of float64 is needed", what);
    return -1;
}

int is_outcome(const rf_description *d, double outcome)
{
    const unsigned n = rf_outcomes_fixed(d->outcomes);
    return ((outcome == 0 || outcome == 1) && n == 2) || isnan(outcome) ||
           (!isinf(outcome) && (!rf_outcomes_are_whole(d->outcomes) ||
                                (outcome >= 0 && outcome == floor(outcome) && (n == 0 || outcome < n))));
}

PyObject *refuse_outcome(const rf_description *d, double outcome, const char *where)
{
    const unsigned n = rf_outcomes_fixed(d->outcomes);
    char wanted[64] = "is not a finite number";
    if (rf_outcomes_are_whole(d->outcomes))
        snprintf(wanted, sizeof wanted,
                 n == 2  ? "is not 0 or 1"
                 : n > 0 ? "is not a whole number from 0 to %u"
                         : "is not a whole number from 0 on",
                 n - 1);
    return refuse_text("%s%soutcome %.15g of model %s %s", where ? where : "", where ? ": " : "", outcome, d->name,
                       wanted);
}

PyObject *tuple_of(const double *values, unsigned count) { return fill_tuple(PyTuple_New(count), values, count); }

PyObject *fill_tuple(PyObject *tuple, const double *values, unsigned count)
{
    for (unsigned i = 0; i < count && tuple; i++) {
        PyObject *value = PyFloat_FromDouble(values[i]);
        if (!value || PyTuple_SetItem(tuple, i, value) < 0)
            Py_CLEAR(tuple);
    }
    return tuple;
}

double number_of(PyObject *given, const char *what)
{
    if (PyFloat_CheckExact(given))
        return PyFloat_AsDouble(given);
    /* for an integer PyFloat_AsDouble would make a float object first */
    const double value = PyLong_CheckExact(given) || PyBool_Check(given) ? PyLong_AsDouble(given) : PyFloat_AsDouble(given);
    if (value == -1 && PyErr_Occurred()) {
        const int is_large = PyErr_ExceptionMatches(PyExc_OverflowError);
        PyErr_Clear();
        if (is_large)
            refuse_text("%s: the number is too large", what);
        else
            PyErr_Format(PyExc_TypeError, "%s: a number is needed, not %R", what, given);
    }
    return value;
}

int numbers_of(PyObject *sequence, double *values, unsigned count, const char *what)
{
    const int is_tuple = PyTuple_Check(sequence);
    const Py_ssize_t size = is_tuple ? PyTuple_Size(sequence) : PySequence_Size(sequence);
    if (size < 0)
        return -1;
    if (size != (Py_ssize_t)count) {
        refuse_text("%s: %u numbers are needed, %zd were given", what, count, size);
        return -1;
    }
    for (unsigned i = 0; i < count; i++) {
        PyObject *item = is_tuple ? PyTuple_GetItem(sequence, i) : PySequence_GetItem(sequence, i);
        values[i] = item ? number_of(item, what) : -1;
        if (!is_tuple)
            Py_XDECREF(item);
        if (values[i] == -1 && PyErr_Occurred())
            return -1;
    }
    return 0;
}

void free_object(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* ---- The module ---- */

/* _set_notes(type): the type of notes, an enumeration of bits. */
static PyObject *set_notes(PyObject *module, PyObject *given)
{
    (void)module;
    Py_XDECREF(notes);
    notes = Py_NewRef(given);
    for (unsigned i = 0; i < sizeof made / sizeof *made; i++)
        Py_CLEAR(made[i]);
    Py_RETURN_NONE;
}

static PyObject *list_models(PyObject *module, PyObject *ignored)
{
    (void)module, (void)ignored;
    PyObject *list = PyList_New(0);
    for (unsigned i = 0; list && rf_model_at(i); i++) {
        PyObject *name = PyUnicode_FromString(rf_model_at(i)->f64->description->name);
        if (!name || PyList_Append(list, name) < 0)
            Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

/* The text of a status. */
static PyObject *status_text(PyObject *module, PyObject *args)
{
    (void)module;
    int status;
    return PyArg_ParseTuple(args, "i", &status) ? PyUnicode_FromString(rf_status_text(status)) : NULL;
}

#define PICKLE "RFPICKL\n"
enum { PICKLE_VERSION = 1 };

/* seal(bytes), unseal(bytes): with a checksum, and without it. */
static PyObject *seal(PyObject *module, PyObject *given)
{
    (void)module;
    char *bytes;
    Py_ssize_t size;
    if (PyBytes_AsStringAndSize(given, &bytes, &size) < 0)
        return NULL;
    unsigned char *sealed = PyMem_Malloc((size_t)size + RF_SEAL);
    if (!sealed)
        return PyErr_NoMemory();
    memcpy(sealed + RF_SEAL, bytes, (size_t)size);
    rf_seal(sealed, (size_t)size + RF_SEAL, PICKLE, PICKLE_VERSION);
    PyObject *made = PyBytes_FromStringAndSize((const char *)sealed, size + RF_SEAL);
    PyMem_Free(sealed);
    return made;
}

static PyObject *unseal(PyObject *module, PyObject *given)
{
    (void)module;
    char *bytes, error[200];
    Py_ssize_t size;
    if (PyBytes_AsStringAndSize(given, &bytes, &size) < 0)
        return NULL;
    if (rf_sealed_check((const unsigned char *)bytes, (size_t)size, PICKLE, PICKLE_VERSION, error, sizeof error) < 0)
        return refuse_text("this pickle %s", error);
    return PyBytes_FromStringAndSize(bytes + RF_SEAL, size - RF_SEAL);
}

static int fill(PyObject *module)
{
    static PyInterpreterState *home; /* its types and its exception are of one interpreter */
    if (home && home != PyInterpreterState_Get()) {
        PyErr_SetString(PyExc_ImportError, "rejfilt works in one interpreter of a process: another one has it");
        return -1;
    }
    home = PyInterpreterState_Get();
    refused = PyErr_NewExceptionWithDoc("rejfilt.Refused", "What was asked for was refused, and nothing has changed.",
                                        PyExc_ValueError, NULL);
    model_type = (PyTypeObject *)PyType_FromSpec(&model_spec);
    session_type = (PyTypeObject *)PyType_FromSpec(&session_spec);
    fleet_type = (PyTypeObject *)PyType_FromSpec(&fleet_spec);
    PyObject *few = PyType_FromSpec(&few_spec);
    if (!refused || !model_type || !session_type || !fleet_type || !few)
        return -1;
    return PyModule_AddObjectRef(module, "Refused", refused) < 0 || PyModule_AddType(module, model_type) < 0 ||
                   PyModule_AddType(module, session_type) < 0 || PyModule_AddType(module, fleet_type) < 0 ||
                   PyModule_AddObjectRef(module, "Few", few) < 0 ||
                   PyModule_AddIntConstant(module, "ASK_MAX", RF_ASK_MAX) < 0 ||
                   PyModule_AddIntConstant(module, "BATCH_MAX", RF_BATCH_MAX) < 0 ||
                   PyModule_AddIntConstant(module, "COUNTS", RF_COUNTS) < 0 ||
                   PyModule_AddIntConstant(module, "COUNTS_TO", RF_COUNTS_TO(0)) < 0 ||
                   PyModule_AddIntConstant(module, "POISSON", RF_POISSON) < 0 ||
                   PyModule_AddIntConstant(module, "BINOMIAL", RF_BINOMIAL(0)) < 0 ||
                   PyModule_AddIntConstant(module, "GAUSSIAN", RF_GAUSSIAN(0)) < 0 ||
                   PyModule_AddStringConstant(module, "VERSION", RF_VERSION) < 0
               ? -1
               : 0;
}

/* ---- Files ---- */

/* A file that another program made is not replaced by a checkpoint. Returns 0, or -1 with a line in `error`. */
static int save(const char *path, const Py_buffer *contents, int is_durable, char *error, size_t size)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* a lock is of a process: threads take turns */
    static cli_state_file file;
    unsigned char *known = NULL;
    size_t count;
    int status = -1;
    pthread_mutex_lock(&mutex);
    if (cli_state_open(&file, path, error, size) == CLI_OK) {
        const int is_foreign = cli_state_load(&known, &count, path, error, size) < 0 && strstr(error, "is not a checkpoint");
        status = is_foreign ? -1 : cli_state_save(contents->buf, (size_t)contents->len, &file, is_durable, error, size);
        free(known);
        cli_state_close(&file);
    }
    pthread_mutex_unlock(&mutex);
    return status;
}

/* write_state(path, contents, durable): as `rejfilt track --state` does, under the same lock */
static PyObject *write_state(PyObject *self, PyObject *args)
{
    PyObject *path;
    Py_buffer contents;
    char error[ERROR_MAX] = "";
    int is_durable, status;
    (void)self;
    if (!PyArg_ParseTuple(args, "O&y*p", PyUnicode_FSConverter, &path, &contents, &is_durable))
        return NULL;
    const char *name = PyBytes_AsString(path);
    Py_BEGIN_ALLOW_THREADS
    status = save(name, &contents, is_durable, error, sizeof error);
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&contents);
    Py_DECREF(path);
    return status < 0 ? refuse_text("%s", error) : Py_NewRef(Py_None);
}

/* read_state(path): the contents of a checkpoint */
static PyObject *read_state(PyObject *self, PyObject *args)
{
    PyObject *path, *contents = NULL;
    unsigned char *bytes;
    size_t count;
    char error[ERROR_MAX] = "";
    (void)self;
    if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path))
        return NULL;
    const char *name = PyBytes_AsString(path);
    const int loaded = cli_state_load(&bytes, &count, name, error, sizeof error);
    if (loaded > 0)
        contents = PyBytes_FromStringAndSize((const char *)bytes, (Py_ssize_t)count);
    else if (loaded < 0)
        refuse_text("%s", error);
    else if ((errno = ENOENT))
        PyErr_SetFromErrnoWithFilename(PyExc_OSError, name);
    free(bytes);
    Py_DECREF(path);
    return contents;
}

/* write_file(path, contents): a file of our own */
static PyObject *write_file(PyObject *self, PyObject *args)
{
    PyObject *path;
    Py_buffer contents;
    char error[ERROR_MAX] = "";
    (void)self;
    if (!PyArg_ParseTuple(args, "O&y*", PyUnicode_FSConverter, &path, &contents))
        return NULL;
    const int status = rf_output_replace(PyBytes_AsString(path), contents.buf, (size_t)contents.len, RF_OUTPUT_PRIVATE, error, sizeof error);
    PyBuffer_Release(&contents);
    Py_DECREF(path);
    return status < 0 ? refuse_text("%s", error) : Py_NewRef(Py_None);
}

static PyMethodDef functions[] = {
    {"seal", seal, METH_O, NULL},
    {"unseal", unseal, METH_O, NULL},
    {"_set_notes", set_notes, METH_O, NULL},
    {"models", list_models, METH_NOARGS, NULL},
    {"status_text", status_text, METH_VARARGS, NULL},
    {"evidence", module_evidence, METH_VARARGS, NULL},
    {"write_state", write_state, METH_VARARGS, NULL},
    {"read_state", read_state, METH_VARARGS, NULL},
    {"write_file", write_file, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, (void *)fill}, {0, NULL}};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "_rejfilt", .m_methods = functions,
                                        .m_slots = module_slots};

PyMODINIT_FUNC PyInit__rejfilt(void); /* NOLINT(bugprone-reserved-identifier): the name is Python's */
PyMODINIT_FUNC PyInit__rejfilt(void) { return PyModuleDef_Init(&definition); }
