/* Classification by few questions: a model of training objects, and objects that are asked. */
#include "module.h"

#include <math.h>
#include <string.h>

#include "rejfilt/classify.h"

enum { ALIGNED = 64 }; /* the bytes of a model */

typedef struct few_object {
    PyObject_HEAD void *bytes; /* of the model, which reads them in place */
    size_t count;
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
        if (rfc_table_add(table, values + (size_t)i * features, text) < 0)
            return fail(error, size, "X: a number is larger than 1e30, or memory is short");
    }
    return 0;
}

/* Takes a model, or one from `count` bytes, which are copied. */
static int adopt(few_object *f, const rfc_model *from, const void *bytes, size_t count, char *error, size_t size)
{
    if (!(f->bytes = aligned_alloc(ALIGNED, (count + ALIGNED - 1) / ALIGNED * ALIGNED)))
        return fail(error, size, "out of memory");
    if (from)
        rfc_model_save(from, f->bytes, count);
    else if (bytes)
        memcpy(f->bytes, bytes, count);
    f->count = count;
    f->model = rfc_model_load(f->bytes, count, error, size);
    if (f->model)
        return 0;
    free(f->bytes);
    f->bytes = NULL;
    return -1;
}

/* What a fit is told beside the table. */
typedef struct fit_wish {
    unsigned long long seed;
    unsigned budget, threads;
    const float *cost;
    int goal;
    double value;
} fit_wish;

/* An rfc_progress: Ctrl-C stops. */
static int watch(void *context, uint64_t done, uint64_t total)
{
    (void)done, (void)total;
    return is_interrupted(context);
}

/* 0; 1 if the goal cannot be reached; -1 with a line in error[size]. */
static int fit(few_object *f, rfc_table *table, const fit_wish *wish, running *r, rfc_expected *expected, char *error, size_t size)
{
    rfc_table none = {.features = table->features};
    rfc_task task;
    uint64_t left_out = 0;
    if (rfc_task_parse("labels", NULL, &task, error, size) < 0)
        return -1;
    rfc_coding *coding = NULL;
    rfc_training *training = NULL;
    rfc_model *model = NULL;
    int status = rfc_task_apply(&task, table, &none, &left_out, error, size);
    if (status == 0 && (coding = rfc_coding_make(table, RFC_SCALE_AUTO, error, size)) &&
        rfc_coding_apply(coding, table, error, size) == 0)
        training = rfc_training_open(table, NULL, table->rows, task.classes.count, wish->seed, error, size);
    if (training) {
        rfc_rules rules = rfc_rules_default(RFC_WEIGHTED, training);
        rules.seed = wish->seed;
        rules.cost = wish->cost;
        rules.budget = wish->budget > 0 ? wish->budget : rules.budget;
        model = rfc_model_fit(training, &rules, wish->threads, watch, r, error, size);
    }
    status = -1;
    if (model) {
        const int found = rfc_model_stop(model, (rfc_goal)wish->goal, wish->value, expected);
        if (rfc_model_describe(model, &task, table, coding) < 0) {
            fail(error, size, "out of memory");
        } else {
            coding = NULL;
            status = adopt(f, model, NULL, rfc_model_save(model, NULL, 0), error, size);
        }
        status = status < 0 ? -1 : found == 1;
    }
    rfc_model_close(model);
    rfc_training_close(training);
    rfc_coding_free(coding);
    rfc_task_free(&task);
    return status;
}

/* _fit(X [rows][features] of float64, classes [rows] of uint32, features, seed, budget, cost [features] of float32,
   goal, value, threads): what leave-one-out expects, as stop, error, questions, and whether the goal is reached. */
static PyObject *few_fit(PyObject *self, PyObject *args)
{
    few_object *f = (few_object *)self;
    PyObject *values, *labels, *costs;
    unsigned features;
    fit_wish wish;
    Py_buffer x, y, c;
    char error[512] = "out of memory";
    if (!PyArg_ParseTuple(args, "OOIKIOidI", &values, &labels, &features, &wish.seed, &wish.budget, &costs, &wish.goal,
                          &wish.value, &wish.threads))
        return NULL;
    if (f->model || features == 0 || wish.goal < RFC_GOAL_BEST || wish.goal > RFC_GOAL_STOP)
        return refuse_text("it is fitted once, with one feature or more, for a goal that there is");
    if (items(values, &x, 8, -1, 0, "X") < 0)
        return NULL;
    const Py_ssize_t rows = x.len / 8 / (Py_ssize_t)features;
    int status = -2;
    rfc_expected expected = {0};
    if (items(labels, &y, 4, rows, 0, "classes") == 0) {
        if (items(costs, &c, 4, features, 0, "cost") == 0) {
            rfc_table table;
            wish.cost = c.buf;
            running r = {.thread = PyEval_SaveThread()};
            status = fill_table(&table, x.buf, y.buf, (uint32_t)rows, features, error, sizeof error);
            if (status == 0)
                status = fit(f, &table, &wish, &r, &expected, error, sizeof error);
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
                      : Py_BuildValue("dddi", expected.stop, expected.error, expected.questions, status == 0);
}

/* _save(): the model as bytes. */
static PyObject *few_save(PyObject *self, PyObject *none)
{
    const few_object *f = (few_object *)self;
    (void)none;
    return f->model ? PyBytes_FromStringAndSize(f->bytes, (Py_ssize_t)f->count) : refuse_text("it is not fitted");
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
    const int status = adopt(f, NULL, view.buf, (size_t)view.len, error, sizeof error);
    PyBuffer_Release(&view);
    return status == 0 ? Py_NewRef(Py_None) : refuse_text("the model %s", error);
}

static int classify(const rfc_model *model, rfc_table *table, unsigned threads, running *r, rfc_outcome *outcome,
                    char *error, size_t size)
{
    const rfc_objects objects = {table, NULL, table->rows};
    if (rfc_table_unlabel(table) < 0)
        return fail(error, size, "out of memory");
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
