/* Models: built in, from C source, from an address, or with Python functions that receive blocks of candidates. */
#include "clock.h"
#include "module.h"

#include <math.h>
#include <string.h>

static _Thread_local model_object *current; /* the model of this thread's callbacks, some of which get no pointer */

void begin(running *r, model_object *model, int is_long)
{
    r->looked = 0; /* so the first check of the clock also checks for signals */
    r->calls = model->f64.one_thread; /* the model has Python functions */
    if (r->calls)
        r->before = current, current = model;
    r->thread = is_long && !r->calls ? PyEval_SaveThread() : NULL;
}

void end(running *r)
{
    if (r->thread)
        PyEval_RestoreThread(r->thread);
    if (r->calls)
        current = r->before;
}

int is_interrupted(running *r)
{
    const double now = rf_clock_seconds();
    if (!r->thread && PyErr_Occurred())
        return 1;
    if (now - r->looked < 0.02)
        return 0;
    r->looked = now;
    if (r->thread)
        PyEval_RestoreThread(r->thread);
    const int is_over = PyErr_CheckSignals() < 0;
    if (r->thread)
        r->thread = PyEval_SaveThread();
    return is_over;
}

/* ---- Arguments of Python functions ---- */

static void forget(struct view *v)
{
    if (v->array) {
        PyBuffer_Release(&v->buffer);
        Py_CLEAR(v->array);
    }
    v->n = 0;
}

/* Gets an array of n candidates for exclusive use: one from m->views, which is removed there, or a new one. Returns
   0, or -1 and an exception. */
static int take_view(model_object *m, uint32_t n, struct view *v)
{
    for (unsigned i = 0; i < sizeof m->views / sizeof *m->views; i++)
        if (m->views[i].n == n) {
            *v = m->views[i];
            memset(&m->views[i], 0, sizeof m->views[i]);
            return 0;
        }
    memset(v, 0, sizeof *v);
    PyObject *array = PyObject_CallFunction(m->empty, "((II))", (unsigned)m->description.dim, (unsigned)n);
    if (!array)
        return -1;
    if (PyObject_GetBuffer(array, &v->buffer, PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS) < 0) {
        Py_DECREF(array);
        return -1;
    }
    v->array = array;
    v->n = n;
    return 0;
}

/* Returns the array to m->views, unless the function kept a reference to it or to a part of it. */
static void give_view(model_object *m, struct view *v)
{
    if (Py_REFCNT(v->array) > 2) { /* more references than ours and the buffer's */
        forget(v);
        return;
    }
    struct view *to = &m->views[m->next_view];
    m->next_view = (m->next_view + 1) % (sizeof m->views / sizeof *m->views);
    forget(to);
    *to = *v;
}

/* The setting as the model's own tuple type; equal numbers give the same object. Returns a new reference. */
static PyObject *setting_of(model_object *m, const double setting[])
{
    const unsigned count = m->description.settings;
    if (m->setting && memcmp(setting, m->setting_values, count * sizeof *setting) == 0)
        return Py_NewRef(m->setting);
    /* Like tuple.__new__(type, values). A named tuple's own __new__ is a Python function and takes longer than all
       the rest. */
    PyObject *made = fill_tuple(m->make_setting((PyTypeObject *)m->settings, (Py_ssize_t)count), setting, count);
    if (made) {
        memcpy(m->setting_values, setting, count * sizeof *setting);
        PyObject *before = m->setting;
        m->setting = Py_NewRef(made);
        Py_XDECREF(before);
    }
    return made;
}

static PyObject *outcome_of(const model_object *m, double outcome)
{
    const int is_whole = rf_outcomes_are_whole(m->description.outcomes) && outcome == floor(outcome);
    if (is_whole && outcome >= 0 && outcome <= 255) /* Python keeps such integers ready */
        return PyLong_FromLong((long)outcome);
    return is_whole ? PyLong_FromDouble(outcome) : PyFloat_FromDouble(outcome);
}

/* Copies the numbers of an answer to out[n]. `plain` is the type of arrays; others may mask numbers. Returns 0, or -1 and
   an exception. */
static int take_answer(const model_object *m, PyObject *answer, const PyTypeObject *plain, uint32_t n, double *out)
{
    Py_buffer b;
    int is_fine = 0;
    if (Py_TYPE(answer) == plain) {
        if (PyObject_GetBuffer(answer, &b, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS) == 0) {
            is_fine = b.ndim == 1 && b.shape[0] == (Py_ssize_t)n && b.format && strcmp(b.format, "d") == 0;
            if (is_fine)
                memcpy(out, b.buf, n * sizeof *out);
            PyBuffer_Release(&b);
        } else {
            PyErr_Clear();
        }
    }
    if (is_fine)
        return 0;
    PyObject *tidied = PyObject_CallFunction(m->tidy, "sOI", m->description.name, answer, (unsigned)n);
    if (!tidied)
        return -1;
    const int status = doubles(tidied, &b, 0, n, "an answer");
    if (status == 0) {
        memcpy(out, b.buf, n * sizeof *out);
        PyBuffer_Release(&b);
    }
    Py_DECREF(tidied);
    return status;
}

/* ---- Callbacks of the library ---- */

static rf_status block64(const double x[], uint32_t n, const double setting[], double outcome, double out[], void *data)
{
    model_object *m = data;
    struct view v;
    if (PyErr_Occurred() || take_view(m, n, &v) < 0)
        return RF_REFUSED_MODEL;
    memcpy(v.buffer.buf, x, (size_t)n * m->description.dim * sizeof *x);
    const int has_outcome = !rf_outcomes_are_expected(m->description.outcomes);
    PyObject *s = setting_of(m, setting), *o = s && has_outcome ? outcome_of(m, outcome) : NULL; /* null ends the list */
    PyObject *answer = s && (o || !has_outcome) ? PyObject_CallFunctionObjArgs(m->function, v.array, s, o, NULL) : NULL;
    int status = answer ? take_answer(m, answer, Py_TYPE(v.array), n, out) : -1;
    if (status == 0 && memcmp(v.buffer.buf, x, (size_t)n * m->description.dim * sizeof *x) != 0) {
        refuse_text("model %s changes x in place: compute with a copy, x = x.copy()", m->description.name);
        status = -1;
    }
    Py_XDECREF(answer);
    Py_XDECREF(o);
    Py_XDECREF(s);
    give_view(m, &v);
    return status < 0 ? RF_REFUSED_MODEL : RF_OK;
}

static double with_outliers(const model_object *m, double log_p, const double setting[], double outcome)
{
    const double *o = m->outliers;
    return o[0] > 0 ? rf64_outliers_log(m->description.outcomes, log_p, o[0], o[1], o[2], setting, outcome) : log_p;
}

/* Turns the function's expected values into likelihoods; for the outcome NaN they stay as they are. */
static rf_status expected64(const double x[], uint32_t n, const double setting[], double outcome, double out[], void *data)
{
    const model_object *m = data;
    const rf_status status = m->expected(x, n, setting, outcome, out, data);
    for (uint32_t k = 0; k < n && status >= 0 && !isnan(outcome); k++)
        out[k] = with_outliers(m, rf64_expected_log(m->description.outcomes, out[k], setting, outcome), setting, outcome);
    return status;
}

/* The same in float, computed in double. */
static rf_status block32(const float x[], uint32_t n, const float setting[], float outcome, float out[], void *data)
{
    model_object *m = data;
    const size_t count = (size_t)n * m->description.dim;
    double *wide = malloc((count + n) * sizeof *wide), settings[RF_DESCRIBED_MAX];
    if (!wide)
        return RF_REFUSED_MODEL;
    for (size_t i = 0; i < count; i++)
        wide[i] = (double)x[i];
    for (unsigned i = 0; i < m->description.settings; i++)
        settings[i] = (double)setting[i];
    const rf_status status = m->f64.block(wide, n, settings, (double)outcome, wide + count, m);
    for (uint32_t k = 0; k < n; k++)
        out[k] = (float)wide[count + k];
    free(wide);
    return status;
}

/* Calls f(first, second, third) and returns the number; NaN and an exception on failure. Takes over the references
   of the arguments. */
static double number_from(PyObject *function, PyObject *first, PyObject *second, PyObject *third)
{
    PyObject *answer = first && second ? PyObject_CallFunctionObjArgs(function, first, second, third, NULL) : NULL;
    const double value = answer ? PyFloat_AsDouble(answer) : NAN;
    Py_XDECREF(first);
    Py_XDECREF(second);
    Py_XDECREF(third);
    Py_XDECREF(answer);
    return value;
}

static double bound64(const double setting[], double outcome)
{
    model_object *m = current;
    if (rf_outcomes_are_expected(m->description.outcomes))
        return with_outliers(m, rf64_expected_peak(m->description.outcomes, setting, outcome), setting, outcome);
    if (PyErr_Occurred())
        return NAN;
    if (!PyCallable_Check(m->bound))
        return PyFloat_AsDouble(m->bound);
    return number_from(m->bound, setting_of(m, setting), outcome_of(m, outcome), NULL);
}

static float bound32(const float setting[], float outcome)
{
    double settings[RF_DESCRIBED_MAX];
    for (unsigned i = 0; i < current->description.settings; i++)
        settings[i] = (double)setting[i];
    return (float)bound64(settings, (double)outcome);
}

static double simulate64(const double x[], const double setting[], double normal)
{
    model_object *m = current;
    double expected;
    if (PyErr_Occurred())
        return NAN;
    if (m->expected) {
        const unsigned outcomes = m->description.outcomes;
        const double *o = m->outliers;
        return m->expected(x, 1, setting, 0, &expected, m) < 0 ? NAN
               : o[0] > 0                                      ? rf64_outliers_outcome(outcomes, expected, o[0], o[1], o[2], setting, normal)
                                                               : rf64_expected_outcome(outcomes, expected, setting, normal);
    }
    return number_from(m->simulate, tuple_of(x, m->description.dim), setting_of(m, setting),
                       PyFloat_FromDouble(normal));
}

static float simulate32(const float x[], const float setting[], float normal)
{
    double places[RF_DESCRIBED_MAX], settings[RF_DESCRIBED_MAX];
    for (unsigned i = 0; i < RF_DESCRIBED_MAX; i++) {
        places[i] = i < current->description.dim ? (double)x[i] : 0;
        settings[i] = i < current->description.settings ? (double)setting[i] : 0;
    }
    return (float)simulate64(places, settings, (double)normal);
}

/* ---- Creation ---- */

static int is_new(const model_object *m)
{
    if (m->model)
        refuse_text("this model is made already");
    return !m->model;
}

static PyObject *use_builtin(PyObject *self, PyObject *args)
{
    model_object *m = (model_object *)self;
    const char *name;
    if (!PyArg_ParseTuple(args, "s", &name) || !is_new(m))
        return NULL;
    const rf_model *found = rf_model_find(name);
    if (!found)
        return refuse_text("there is no model '%s'", name);
    m->model = found;
    m->description = *found->f64->description;
    Py_RETURN_NONE;
}

static PyObject *use_file(PyObject *self, PyObject *args)
{
    model_object *m = (model_object *)self;
    const char *path;
    char error[ERROR_MAX] = "";
    if (!PyArg_ParseTuple(args, "s", &path) || !is_new(m))
        return NULL;
    PyThreadState *thread = PyEval_SaveThread();
    const rf_model *found = rf_model_load(path, error, sizeof error);
    PyEval_RestoreThread(thread);
    if (!found)
        return refuse_text("%s", error);
    m->model = found;
    m->description = *found->f64->description;
    Py_RETURN_NONE;
}

/* Copies a text to *at and advances *at; with a null *at, only adds up the length. */
static const char *keep_text(const char *text, char **at, size_t *length)
{
    const size_t bytes = strlen(text) + 1;
    *length += bytes;
    if (!*at)
        return NULL;
    char *to = memcpy(*at, text, bytes);
    *at += bytes;
    return to;
}

/* Fills the description from tuples; texts are copied to *at. Returns 0, or -1 and an exception. */
static int describe(rf_description *d, const char *const about[3], PyObject *parameters, PyObject *settings, char **at,
                    size_t *length)
{
    d->name = keep_text(about[0], at, length);
    d->summary = keep_text(about[1], at, length);
    d->formula = keep_text(about[2], at, length);
    for (unsigned i = 0; i < d->dim; i++) {
        rf_parameter *p = &d->parameter[i];
        const char *name, *unit;
        int chart;
        double n[5];
        if (!PyArg_ParseTuple(PyTuple_GetItem(parameters, i), "siddddddds", &name, &chart, &p->low, &p->high, &n[0], &n[1], &n[2], &n[3], &n[4], &unit))
            return -1;
        p->chart = (rf_chart_kind)chart;
        p->name = name;
        if (set_motion(p, n, &d->motion[i], &p->drift) < 0)
            return -1;
        p->name = keep_text(name, at, length);
        d->unit[i] = *unit ? keep_text(unit, at, length) : NULL;
    }
    for (unsigned i = 0; i < d->settings; i++) {
        rf_setting *s = &d->setting[i];
        const char *name, *unit;
        int role;
        if (!PyArg_ParseTuple(PyTuple_GetItem(settings, i), "siIpddds", &name, &role, &s->parameter, &s->is_integer,
                              &s->low, &s->high, &s->cost, &unit))
            return -1;
        s->role = (rf_setting_role)role;
        s->name = keep_text(name, at, length);
        d->setting_unit[i] = *unit ? keep_text(unit, at, length) : NULL;
    }
    return 0;
}

static PyObject *not_none(PyObject *object) { return object == Py_None ? NULL : Py_NewRef(object); }

static PyObject *use_functions(PyObject *self, PyObject *args)
{
    model_object *m = (model_object *)self;
    rf_description *d = &m->description;
    const char *about[3];
    char error[512], *at = NULL;
    PyObject *parameters, *settings, *function, *keep, *bound, *simulate, *type, *empty, *tidy;
    unsigned long long address;
    size_t length = 0;
    double outliers[3];
    rf_description made = {0};
    if (!PyArg_ParseTuple(args, "sssO!O!I(ddd)pdIOKOOOOOO", &about[0], &about[1], &about[2], &PyTuple_Type, &parameters,
                          &PyTuple_Type, &settings, &made.outcomes, &outliers[0], &outliers[1], &outliers[2], &made.is_log, &made.fringe, &made.interchangeable,
                          &function, &address, &keep, &bound, &simulate, &type, &empty, &tidy) ||
        !is_new(m))
        return NULL;
    made.dim = (unsigned)PyTuple_Size(parameters);
    made.settings = (unsigned)PyTuple_Size(settings);
    if (made.dim > RF_DESCRIBED_MAX || made.settings > RF_DESCRIBED_MAX)
        return refuse_text("%s has %u parameters and %u settings; %u of each are the most", about[0], made.dim,
                           made.settings, RF_DESCRIBED_MAX);
    if (describe(&made, about, parameters, settings, &at, &length) < 0)
        return NULL;
    PyMem_Free(m->names);
    at = m->names = PyMem_Malloc(length);
    if (!at)
        return PyErr_NoMemory();
    length = 0;
    if (describe(&made, about, parameters, settings, &at, &length) < 0)
        return NULL;
    const int is_expected = rf_outcomes_are_expected(made.outcomes);
    if (rf_description_check(&made, is_expected || simulate != Py_None, about[0], error, sizeof error) < 0)
        return refuse_text("%s", error);
    if (is_expected && (bound != Py_None || simulate != Py_None || made.is_log))
        return refuse_text("%s: its outcomes have a bound, logarithms and draws of their own", about[0]);
    *d = made;
    memcpy(m->outliers, outliers, sizeof outliers);
    m->function = not_none(function);
    m->keep = not_none(keep);
    m->bound = not_none(bound);
    m->simulate = not_none(simulate);
    m->settings = Py_NewRef(type);
    m->make_setting = (allocfunc)PyType_GetSlot((PyTypeObject *)type, Py_tp_alloc);
    m->empty = Py_NewRef(empty);
    m->tidy = Py_NewRef(tidy);
    const uint16_t one_thread = address == 0 || m->bound || m->simulate || is_expected;
    rf64_block *const own = address ? (rf64_block *)(uintptr_t)address : block64;
    m->expected = is_expected ? own : NULL;
    m->f64 = (rf64_instance){.layout = RF64_LAYOUT,
                             .description = d,
                             .bound = m->bound || is_expected ? bound64 : NULL,
                             .simulate = m->simulate || is_expected ? simulate64 : NULL,
                             .block = is_expected ? expected64 : own,
                             .data = m,
                             .one_thread = one_thread,
                             .is_checked = 1};
    m->f32 = (rf32_instance){.layout = RF32_LAYOUT,
                             .description = d,
                             .bound = m->bound || is_expected ? bound32 : NULL,
                             .simulate = m->simulate || is_expected ? simulate32 : NULL,
                             .block = block32,
                             .data = m,
                             .one_thread = one_thread};
    m->own = (rf_model){&m->f32, &m->f64};
    m->model = &m->own;
    Py_RETURN_NONE;
}

/* ---- Calls from Python ---- */

static PyObject *describe_back(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    model_object *m = (model_object *)self;
    const rf_description *d = &m->description;
    if (!m->model)
        return refuse_text("this model is not made");
    PyObject *parameters = PyList_New(0), *settings = PyList_New(0);
    int status = parameters && settings ? 0 : -1;
    for (unsigned i = 0; i < d->dim && status == 0; i++) {
        const rf_parameter *p = &d->parameter[i];
        const rf_motion *m = &d->motion[i];
        const rf64_chart chart = {p->chart, p->low, p->high};
        const int is_telegraph = m->kind == RF_MOTION_TELEGRAPH, is_walk = m->kind == RF_MOTION_WALK;
        PyObject *one = Py_BuildValue("(siddddddds)", p->name, (int)p->chart, p->low, p->high, (double)m->kind,
                                      is_walk ? p->drift : rf64_chart_natural(&chart, is_telegraph ? m->level[0] : m->centre),
                                      is_telegraph ? rf64_chart_natural(&chart, m->level[1]) : m->sd, is_telegraph ? m->dwell[0] : m->time,
                                      is_telegraph ? m->dwell[1] : m->time, d->unit[i] ? d->unit[i] : "");
        status = one ? PyList_Append(parameters, one) : -1;
        Py_XDECREF(one);
    }
    for (unsigned i = 0; i < d->settings && status == 0; i++) {
        const rf_setting *s = &d->setting[i];
        PyObject *one =
            Py_BuildValue("(siIiddds)", s->name, (int)s->role, s->parameter, s->is_integer, s->low, s->high, s->cost,
                          d->setting_unit[i] ? d->setting_unit[i] : "");
        status = one ? PyList_Append(settings, one) : -1;
        Py_XDECREF(one);
    }
    PyObject *all =
        status < 0 ? NULL
                   : Py_BuildValue("(sssOOIidIii)", d->name, d->summary ? d->summary : "", d->formula ? d->formula : "",
                                   parameters, settings, d->outcomes, RF_IS_LOG(*d), d->fringe, d->interchangeable,
                                   m->model->f64->dynamics != NULL, m->model->f64->design != NULL);
    Py_XDECREF(parameters);
    Py_XDECREF(settings);
    return all;
}

/* _likelihoods(x, setting, outcome, out): likelihoods of the candidates in the rows of x. */
static PyObject *likelihoods(PyObject *self, PyObject *args)
{
    model_object *m = (model_object *)self;
    PyObject *x, *setting, *out;
    double outcome, settings[RF_DESCRIBED_MAX];
    Py_buffer from, to;
    if (!PyArg_ParseTuple(args, "OOdO", &x, &setting, &outcome, &out) ||
        numbers_of(setting, settings, m->description.settings, "setting") < 0 || doubles(out, &to, 1, -1, "out") < 0)
        return NULL;
    const Py_ssize_t n = to.len / (Py_ssize_t)sizeof(double);
    rf_status status = RF_REFUSED_NULL;
    if (m->model && doubles(x, &from, 0, n * (Py_ssize_t)m->description.dim, "x") == 0) {
        rf64_chart charts[RF_DESCRIBED_MAX];
        const rf64_model model = rf64_instance_model(m->model->f64, charts);
        running r;
        begin(&r, m, 0);
        status = rf64_model_likelihoods(&model, from.buf, m->description.dim, (uint32_t)n, settings, outcome, to.buf);
        end(&r);
        PyBuffer_Release(&from);
    }
    PyBuffer_Release(&to);
    return status < 0 ? refuse(status, NULL, NULL) : Py_NewRef(Py_None);
}

int check_model(model_object *m, const rf_description *d, const double setting[])
{
    const uint64_t hash = rf_hash(rf_hash(0, d->parameter, sizeof d->parameter), d->setting, sizeof d->setting);
    char error[ERROR_MAX] = "", name[128];
    running r;
    if (!setting && (m->f64.is_checked == 2 || m->checked == hash))
        return 0;
    snprintf(name, sizeof name, "model %s", d->name);
    begin(&r, m, 0);
    const int status = rf64_instance_check(m->model->f64, d, setting, name, error, sizeof error);
    end(&r);
    if (status < 0 && !PyErr_Occurred())
        refuse_text("%s", error);
    m->checked = status < 0 || PyErr_Occurred() ? 0 : hash;
    return m->checked ? 0 : -1;
}

/* _check(setting or None) */
static PyObject *check(PyObject *self, PyObject *setting)
{
    model_object *m = (model_object *)self;
    double settings[RF_DESCRIBED_MAX];
    if (!m->model)
        return refuse_text("this model is not made");
    if (setting != Py_None && numbers_of(setting, settings, m->description.settings, "setting") < 0)
        return NULL;
    m->checked = 0;
    return check_model(m, &m->description, setting == Py_None ? NULL : settings) < 0 ? NULL : Py_NewRef(Py_None);
}

/* _trust(): the ranges of its settings were made up; records are neither tried nor told to be outside. */
static PyObject *trust(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    ((model_object *)self)->f64.is_checked = 2;
    return Py_NewRef(Py_None);
}

/* _outcome(x, setting, seed, index): a simulated outcome. */
static PyObject *draw_outcome(PyObject *self, PyObject *args)
{
    model_object *m = (model_object *)self;
    PyObject *x, *setting;
    double places[RF_DESCRIBED_MAX], settings[RF_DESCRIBED_MAX];
    unsigned long long seed;
    unsigned index;
    if (!m->model)
        return refuse_text("this model is not made");
    if (!PyArg_ParseTuple(args, "OOKI", &x, &setting, &seed, &index) ||
        numbers_of(x, places, m->description.dim, "x") < 0 ||
        numbers_of(setting, settings, m->description.settings, "setting") < 0)
        return NULL;
    running r;
    begin(&r, m, 0);
    const double outcome = rf64_instance_outcome(m->model->f64, places, settings, seed, index);
    end(&r);
    return PyErr_Occurred() ? NULL : outcome_of(m, outcome);
}

/* ---- The type ---- */

static int traverse(PyObject *self, visitproc visit, void *arg)
{
    model_object *m = (model_object *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(m->function);
    Py_VISIT(m->bound);
    Py_VISIT(m->simulate);
    Py_VISIT(m->settings);
    Py_VISIT(m->keep);
    Py_VISIT(m->setting);
    return 0;
}

static int clear(PyObject *self)
{
    model_object *m = (model_object *)self;
    Py_CLEAR(m->function);
    Py_CLEAR(m->bound);
    Py_CLEAR(m->simulate);
    Py_CLEAR(m->settings);
    Py_CLEAR(m->keep);
    Py_CLEAR(m->setting);
    return 0;
}

static void dealloc(PyObject *self)
{
    model_object *m = (model_object *)self;
    PyObject_GC_UnTrack(self);
    clear(self);
    for (unsigned i = 0; i < sizeof m->views / sizeof *m->views; i++)
        forget(&m->views[i]);
    Py_CLEAR(m->empty);
    Py_CLEAR(m->tidy);
    PyMem_Free(m->names);
    free_object(self);
}

static PyMethodDef methods[] = {
    {"_use_builtin", use_builtin, METH_VARARGS, NULL},
    {"_use_file", use_file, METH_VARARGS, NULL},
    {"_use_functions", use_functions, METH_VARARGS, NULL},
    {"_describe", describe_back, METH_NOARGS, NULL},
    {"_likelihoods", likelihoods, METH_VARARGS, NULL},
    {"_check", check, METH_O, NULL},
    {"_trust", trust, METH_NOARGS, NULL},
    {"_outcome", draw_outcome, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {{Py_tp_dealloc, (void *)dealloc},       {Py_tp_traverse, (void *)traverse},
                              {Py_tp_clear, (void *)clear},           {Py_tp_methods, (void *)methods},
                              {Py_tp_new, (void *)PyType_GenericNew}, {0, NULL}};

PyType_Spec model_spec = {.name = "rejfilt._rejfilt.Model",
                          .basicsize = sizeof(model_object),
                          .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
                          .slots = slots};
