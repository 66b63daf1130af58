/* Classification by few questions: a model of training objects, and objects that are asked. */
#include "module.h"

#include <math.h>
#include <string.h>

#include "rejfilt/classify.h"

enum { ALIGNED = 64 }; /* the bytes of a model */

typedef struct few_object {
    PyObject_HEAD void *bytes; /* of a loaded model, which reads them in place */
    rfc_model *model;
} few_object;

/* Gets a buffer of `count` items of that size (-1: any number). Returns 0, or -1 and an exception. */
static int items(PyObject *object, Py_buffer *view, Py_ssize_t size, Py_ssize_t count, int is_writable,
                 const char *what)
{
    if (PyObject_GetBuffer(object, view, PyBUF_C_CONTIGUOUS | (is_writable ? PyBUF_WRITABLE : 0)) < 0)
        return -1;
    if (view->itemsize == size && (count < 0 || view->len == size * count))
        return 0;
    PyBuffer_Release(view);
    PyErr_Format(PyExc_TypeError, "%s: an array of other items is needed", what);
    return -1;
}

static int fail(char *error, size_t size, const char *text)
{
    snprintf(error, size, "%s", text);
    return -1;
}

/* Rows of numbers; `label` may be null. 0, or -1 with a line in error[size]. */
static int fill_table(rfc_table *table, const double *values, const uint32_t *label, uint32_t rows, uint32_t features,
                      char *error, size_t size)
{
    char text[16] = "";
    *table = (rfc_table){.source = "X", .features = features};
    for (uint32_t i = 0; i < rows; i++) {
        if (label)
            snprintf(text, sizeof text, "%u", label[i]);
        if (rfc_table_add(table, values + (size_t)i * features, label ? text : NULL) < 0)
            return fail(error, size, "X: a number is larger than 1e30, or memory is short");
    }
    return 0;
}

/* An rfc_progress: Ctrl-C stops. */
static int watch(void *context, uint64_t done, uint64_t total)
{
    (void)done, (void)total;
    return is_interrupted(context);
}

/* _fit(X [rows][features] of float64, classes [rows] of uint32, features, seed, budget, cost [features] of float32,
   goal, value, threads): what leave-one-out expects, as stop, error, questions, and whether the goal is reached. */
static PyObject *few_fit(PyObject *self, PyObject *args)
{
    few_object *f = (few_object *)self;
    PyObject *values, *labels, *costs;
    unsigned features, budget;
    unsigned long long seed;
    int goal;
    rfc_wish wish = {0};
    Py_buffer x, y, c;
    char error[512] = "out of memory";
    if (!PyArg_ParseTuple(args, "OOIKIOidI", &values, &labels, &features, &seed, &budget, &costs, &goal, &wish.value,
                          &wish.threads))
        return NULL;
    if (f->model || features == 0 || goal < RFC_GOAL_BEST || goal > RFC_GOAL_STOP)
        return refuse_text("it is fitted once, with one feature or more, for a goal that there is");
    if (items(values, &x, 8, -1, 0, "X") < 0)
        return NULL;
    const Py_ssize_t rows = x.len / 8 / (Py_ssize_t)features;
    int status = -2;
    rfc_expected expected = {0};
    if (items(labels, &y, 4, rows, 0, "classes") == 0) {
        if (items(costs, &c, 4, features, 0, "cost") == 0) {
            rfc_table table;
            running r = {.thread = PyEval_SaveThread()};
            wish.seed = seed, wish.budget = budget, wish.cost = c.buf, wish.goal = (rfc_goal)goal;
            wish.progress = watch, wish.context = &r;
            status = fill_table(&table, x.buf, y.buf, (uint32_t)rows, features, error, sizeof error);
            if (status == 0 && !(f->model = rfc_model_learn(&table, &wish, &expected, error, sizeof error)))
                status = -1;
            rfc_table_free(&table);
            end(&r);
            PyBuffer_Release(&c);
        }
        PyBuffer_Release(&y);
    }
    PyBuffer_Release(&x);
    if (status == -2)
        return NULL;
    return status < 0 ? refuse_text("%s", error)
                      : Py_BuildValue("dddi", expected.stop, expected.error, expected.questions, expected.is_reached != 0);
}

/* _save(): the model as bytes. */
static PyObject *few_save(PyObject *self, PyObject *none)
{
    const few_object *f = (few_object *)self;
    (void)none;
    if (!f->model)
        return refuse_text("it is not fitted");
    const size_t count = rfc_model_save(f->model, NULL, 0);
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)count);
    if (bytes)
        rfc_model_save(f->model, PyBytes_AsString(bytes), count);
    return bytes;
}

/* _load(bytes) */
static PyObject *few_load(PyObject *self, PyObject *bytes)
{
    few_object *f = (few_object *)self;
    char error[512] = "";
    Py_buffer view;
    if (f->model)
        return refuse_text("it is fitted once");
    if (items(bytes, &view, 1, -1, 0, "bytes") < 0)
        return NULL;
    const size_t count = (size_t)view.len;
    f->bytes = aligned_alloc(ALIGNED, (count + ALIGNED - 1) / ALIGNED * ALIGNED);
    if (f->bytes) {
        memcpy(f->bytes, view.buf, count);
        f->model = rfc_model_load(f->bytes, count, error, sizeof error);
    }
    PyBuffer_Release(&view);
    return f->model ? Py_NewRef(Py_None) : f->bytes ? refuse_text("the model %s", error) : PyErr_NoMemory();
}

static int classify(const rfc_model *model, rfc_table *table, unsigned threads, running *r, rfc_outcome *outcome,
                    char *error, size_t size)
{
    const rfc_objects objects = {table, NULL, table->rows};
    if (rfc_coding_apply(rfc_model_coding(model), table, error, size) < 0)
        return -1;
    outcome->asked = calloc((size_t)table->rows + 1, sizeof *outcome->asked);
    outcome->queries = calloc((size_t)table->rows + 1, sizeof *outcome->queries);
    if (!outcome->asked || !outcome->queries)
        return fail(error, size, "out of memory");
    return rfc_model_classify(model, &objects, threads, watch, r, outcome, error, size);
}

/* _classify(X, threads, posterior, asked): NaN is not asked. Fills the posterior [rows][classes] of float32, and asked
   [rows][features] of int32, of which those behind the last question are -1. */
static PyObject *few_classify(PyObject *self, PyObject *args)
{
    few_object *f = (few_object *)self;
    PyObject *values, *posterior, *asked;
    unsigned threads;
    char error[512] = "";
    Py_buffer x, p, a;
    if (!PyArg_ParseTuple(args, "OIOO", &values, &threads, &posterior, &asked))
        return NULL;
    if (!f->model)
        return refuse_text("it is not fitted");
    const uint32_t features = rfc_model_features(f->model);
    if (items(values, &x, 8, -1, 0, "X") < 0)
        return NULL;
    const Py_ssize_t rows = x.len / 8 / (Py_ssize_t)features;
    int status = -2;
    if (items(posterior, &p, 4, rows * (Py_ssize_t)rfc_model_classes(f->model)->count, 1, "posterior") == 0) {
        if (items(asked, &a, 4, rows * (Py_ssize_t)features, 1, "asked") == 0) {
            rfc_table table;
            rfc_outcome outcome = {.posterior = p.buf};
            running r = {.thread = PyEval_SaveThread()};
            status = fill_table(&table, x.buf, NULL, (uint32_t)rows, features, error, sizeof error);
            if (status == 0)
                status = classify(f->model, &table, threads, &r, &outcome, error, sizeof error);
            for (Py_ssize_t i = 0; i < rows && outcome.asked && outcome.queries; i++) {
                int32_t *order = (int32_t *)a.buf + (size_t)i * features;
                for (uint32_t k = 0; k < features; k++)
                    order[k] = outcome.asked[i] && k < outcome.queries[i] ? (int32_t)outcome.asked[i][k] : -1;
                free(outcome.asked[i]);
            }
            free(outcome.asked);
            free(outcome.queries);
            rfc_table_free(&table);
            end(&r);
            PyBuffer_Release(&a);
        }
        PyBuffer_Release(&p);
    }
    PyBuffer_Release(&x);
    if (status == -1)
        refuse_text("%s", error);
    return status < 0 ? NULL : Py_NewRef(Py_None);
}

/* _next(features [known] of uint32, values [known] of float64): the next feature to ask of an object with these answers,
   given in the order in which they came; or -1. NaN: there is no answer. */
static PyObject *few_next(PyObject *self, PyObject *args)
{
    few_object *f = (few_object *)self;
    PyObject *features, *values, *found = NULL;
    Py_buffer which, what;
    if (!PyArg_ParseTuple(args, "OO", &features, &values))
        return NULL;
    if (!f->model)
        return refuse_text("it is not fitted");
    const uint32_t all = rfc_model_features(f->model);
    if (items(features, &which, 4, -1, 0, "features") < 0)
        return NULL;
    const Py_ssize_t count = which.len / 4;
    if (items(values, &what, 8, count, 0, "values") == 0) {
        char error[512] = "out of memory";
        rfc_told *told = PyMem_Calloc((size_t)count + 1, sizeof *told);
        int status = 0;
        for (Py_ssize_t i = 0; i < count && told; i++) {
            const double value = ((const double *)what.buf)[i];
            told[i] = (rfc_told){.feature = ((const uint32_t *)which.buf)[i], .is_unknown = (unsigned char)(isnan(value) != 0)};
            if (!told[i].is_unknown && told[i].feature < all)
                status |= rfc_coding_number(rfc_model_coding(f->model), told[i].feature, value, &told[i].value);
        }
        rfc_adviser *adviser = told ? rfc_adviser_open(f->model, error, sizeof error) : NULL;
        rfc_advice advice = {.feature = RFC_NO_LABEL};
        if (!adviser)
            refuse_text("%s", error);
        else if (status < 0 || rfc_adviser_next(adviser, told, (uint32_t)count, &advice) < 0)
            refuse_text("a feature is there twice, or is none");
        else
            found = PyLong_FromLong(advice.feature < all ? (long)advice.feature : -1);
        rfc_adviser_close(adviser);
        PyMem_Free(told);
        PyBuffer_Release(&what);
    }
    PyBuffer_Release(&which);
    return found;
}

static void dealloc(PyObject *self)
{
    few_object *f = (few_object *)self;
    rfc_model_close(f->model);
    free(f->bytes);
    free_object(self);
}

static PyMethodDef methods[] = {
    {"_fit", few_fit, METH_VARARGS, NULL},   {"_save", few_save, METH_NOARGS, NULL},
    {"_load", few_load, METH_O, NULL},       {"_classify", few_classify, METH_VARARGS, NULL},
    {"_next", few_next, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {{Py_tp_dealloc, (void *)dealloc},
                              {Py_tp_methods, (void *)methods},
                              {Py_tp_new, (void *)PyType_GenericNew},
                              {0, NULL}};

PyType_Spec few_spec = {.name = "rejfilt._rejfilt.Few",
                        .basicsize = sizeof(few_object),
                        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                        .slots = slots};
