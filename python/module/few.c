/* Classification by few questions: training vectors of bytes, and objects that are asked. */
#include "module.h"

#include <math.h>
#include <string.h>

#include "rejfilt/classify.h"

typedef struct few_object {
    PyObject_HEAD rfc_table table;
    rfc_training *training;
    uint32_t classes;
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

static int fill_table(rfc_table *table, const uint8_t *bytes, uint32_t rows, uint32_t features)
{
    *table = (rfc_table){.source = "objects", .features = features};
    if (rfc_table_reserve(table, rows) < 0)
        return -1;
    for (uint32_t i = 0; i < rows; i++) {
        if (rfc_table_grow(table) < 0)
            return -1;
        memcpy(table->bytes + (size_t)i * features, bytes + (size_t)i * features, features);
        table->label[i] = 0;
        table->rows = i + 1;
    }
    return 0;
}

/* _fit(bytes [rows][features], classes [rows] of uint32, features, class count, seed) */
static PyObject *few_fit(PyObject *self, PyObject *args)
{
    few_object *f = (few_object *)self;
    PyObject *bytes, *labels;
    unsigned features;
    unsigned long long seed;
    Py_buffer b, l;
    char error[512] = "out of memory";
    if (!PyArg_ParseTuple(args, "OOIIK", &bytes, &labels, &features, &f->classes, &seed))
        return NULL;
    if (f->training || features == 0)
        return refuse_text("it is fitted once, with one feature or more");
    if (items(bytes, &b, 1, -1, 0, "bytes") < 0)
        return NULL;
    const Py_ssize_t rows = b.len / (Py_ssize_t)features;
    if (items(labels, &l, 4, rows, 0, "classes") < 0) {
        PyBuffer_Release(&b);
        return NULL;
    }
    if (fill_table(&f->table, b.buf, (uint32_t)rows, features) == 0) {
        memcpy(f->table.label, l.buf, (size_t)rows * 4);
        f->training = rfc_training_open(&f->table, NULL, (uint32_t)rows, f->classes, seed, error, sizeof error);
    }
    PyBuffer_Release(&b);
    PyBuffer_Release(&l);
    return f->training ? Py_NewRef(Py_None) : refuse_text("%s", error);
}

/* _classify(bytes, mask, stop, budget, cost, posterior, asked): asks only for features in the mask. Fills the
   posterior [rows][classes] of float32, and asked [rows][features] of int32; entries after the last question are -1. */
static PyObject *few_classify(PyObject *self, PyObject *args)
{
    few_object *f = (few_object *)self;
    PyObject *bytes, *mask, *costs, *posterior, *asked;
    double stop;
    unsigned budget;
    char error[512] = "";
    if (!PyArg_ParseTuple(args, "OOdIOOO", &bytes, &mask, &stop, &budget, &costs, &posterior, &asked))
        return NULL;
    if (!f->training)
        return refuse_text("it is not fitted");
    const uint32_t features = f->table.features;
    Py_buffer views[5];
    const struct {
        PyObject *object;
        Py_ssize_t size;
        int is_writable;
        const char *what;
    } wanted[5] = {{bytes, 1, 0, "bytes"},
                   {mask, 1, 0, "mask"},
                   {costs, 4, 0, "cost"},
                   {posterior, 4, 1, "posterior"},
                   {asked, 4, 1, "asked"}};
    int open = 0, status = 0;
    Py_ssize_t rows = 0;
    for (; open < 5; open++) {
        const Py_ssize_t count = open == 0  ? -1
                                 : open < 3 ? (Py_ssize_t)features
                                            : rows * (Py_ssize_t)(open == 3 ? f->classes : features);
        if (items(wanted[open].object, &views[open], wanted[open].size, count, wanted[open].is_writable,
                  wanted[open].what) < 0)
            break;
        rows = views[0].len / (Py_ssize_t)features;
    }
    rfc_table table = {.features = features};
    if (open == 5 && fill_table(&table, views[0].buf, (uint32_t)rows, features) == 0) {
        rfc_rules rules = rfc_rules_default(RFC_WEIGHTED, f->training);
        const rfc_objects objects = {&table, NULL, (uint32_t)rows};
        rules.stop = stop;
        rules.budget = budget > 0 && budget < features ? budget : features;
        rules.mask = views[1].buf;
        rules.cost = views[2].buf;
        rfc_outcome outcome = {.posterior = views[3].buf,
                               .asked = calloc((size_t)rows + 1, sizeof *outcome.asked),
                               .queries = calloc((size_t)rows + 1, sizeof *outcome.queries)};
        if (outcome.asked && outcome.queries) {
            PyThreadState *thread = PyEval_SaveThread();
            status = rfc_classify(f->training, &rules, &objects, 1, NULL, NULL, &outcome, error, sizeof error);
            PyEval_RestoreThread(thread);
        } else {
            PyErr_NoMemory();
        }
        for (Py_ssize_t i = 0; i < rows && outcome.asked && outcome.queries; i++) {
            int32_t *order = (int32_t *)views[4].buf + (size_t)i * features;
            for (uint32_t k = 0; k < features; k++)
                order[k] = outcome.asked[i] && k < outcome.queries[i] ? (int32_t)outcome.asked[i][k] : -1;
            free(outcome.asked[i]);
        }
        free(outcome.asked);
        free(outcome.queries);
        if (status < 0)
            refuse_text("%s", error);
    } else if (open == 5) {
        PyErr_NoMemory();
    }
    rfc_table_free(&table);
    while (open-- > 0)
        PyBuffer_Release(&views[open]);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

/* _next(features [known] of uint32, bytes [known], stop, budget, cost): the next feature to ask of an object with
   these answers, given in the order in which they came; or -1. */
static PyObject *few_next(PyObject *self, PyObject *args)
{
    few_object *f = (few_object *)self;
    PyObject *features, *bytes, *costs, *found = NULL;
    double stop;
    unsigned budget;
    Py_buffer which, what, cost;
    if (!PyArg_ParseTuple(args, "OOdIO", &features, &bytes, &stop, &budget, &costs))
        return NULL;
    if (!f->training)
        return refuse_text("it is not fitted");
    const uint32_t all = f->table.features;
    if (items(features, &which, 4, -1, 0, "features") < 0)
        return NULL;
    const Py_ssize_t count = which.len / 4;
    if (items(bytes, &what, 1, count, 0, "bytes") < 0) {
        PyBuffer_Release(&which);
        return NULL;
    }
    if (items(costs, &cost, 4, all, 0, "cost") == 0) {
        char error[512] = "out of memory";
        rfc_rules rules = rfc_rules_default(RFC_WEIGHTED, f->training);
        rules.stop = stop;
        rules.budget = budget > 0 && budget < all ? budget : all;
        rules.cost = cost.buf;
        rules.pilot = 0;
        rfc_told *told = PyMem_Calloc((size_t)count + 1, sizeof *told);
        for (Py_ssize_t i = 0; i < count && told; i++)
            told[i] = (rfc_told){.feature = ((const uint32_t *)which.buf)[i], .value = ((const uint8_t *)what.buf)[i]};
        rfc_model *model = told ? rfc_model_fit(f->training, &rules, 1, NULL, NULL, error, sizeof error) : NULL;
        rfc_adviser *adviser = model ? rfc_adviser_open(model, error, sizeof error) : NULL;
        rfc_advice advice = {.feature = RFC_NO_LABEL};
        if (!adviser)
            refuse_text("%s", error);
        else if (rfc_adviser_next(adviser, told, (uint32_t)count, &advice) < 0)
            refuse_text("a feature is there twice, or is none");
        else
            found = PyLong_FromLong(advice.feature < all ? (long)advice.feature : -1);
        rfc_adviser_close(adviser);
        rfc_model_close(model);
        PyMem_Free(told);
        PyBuffer_Release(&cost);
    }
    PyBuffer_Release(&which);
    PyBuffer_Release(&what);
    return found;
}

static void dealloc(PyObject *self)
{
    few_object *f = (few_object *)self;
    rfc_training_close(f->training);
    rfc_table_free(&f->table);
    free_object(self);
}

static PyMethodDef methods[] = {
    {"_fit", few_fit, METH_VARARGS, NULL},
    {"_classify", few_classify, METH_VARARGS, NULL},
    {"_next", few_next, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {{Py_tp_dealloc, (void *)dealloc},
                              {Py_tp_methods, (void *)methods},
                              {Py_tp_new, (void *)PyType_GenericNew},
                              {0, NULL}};

PyType_Spec few_spec = {.name = "rejfilt._rejfilt.Few",
                        .basicsize = sizeof(few_object),
                        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                        .slots = slots};
