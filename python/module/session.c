/* Sessions: ask, tell, show, save and load. */
#include "module.h"

#include <math.h>
#include <string.h>

#include "checkpoint.h"

int is_open(const session_object *s)
{
    if (!s->session)
        refuse_text("this tracker is not open");
    return s->session != NULL;
}

int enter(session_object *s)
{
    if (!is_open(s))
        return -1;
    if (s->is_busy)
        refuse_text("this tracker is in use, by another thread or by a function that it called");
    else
        return s->is_busy = 1, 0;
    return -1;
}

void leave(session_object *s) { s->is_busy = 0; }

/* ---- Opening ---- */

int set_motion(const rf_parameter *parameter, const double n[5], rf_motion *motion, double *drift)
{
    const rf_motion walk = {.kind = RF_MOTION_WALK};
    if (n[0] != 0) {
        const int status = rf_motion_make(parameter, (rf_motion_kind)n[0], n + 1, n + 3, motion, drift);
        if (status < 0)
            refuse_text("drift of %s: %s", parameter->name,
                        status == -1 ? "its times and its width are positive and finite" : "its levels are two, and within the parameter's range");
        return status < 0 ? -1 : 0;
    }
    *motion = walk;
    *drift = n[1];
    return 0;
}

/* Raises Refused with a message that begins with an option's name, spelt as in Python. */
static PyObject *refuse_option(char *message)
{
    for (char *c = message; *c && *c != ' ' && *c != ':'; c++)
        *c = *c == '-' ? '_' : *c;
    return refuse_text("%s", message);
}

/* Sets options from a tuple of names and values, in turn. Returns 0, or -1 and an exception. */
static int set_options(rf_config *c, PyObject *options)
{
    char error[ERROR_MAX], message[ERROR_MAX];
    for (Py_ssize_t i = 0; i + 1 < PyTuple_Size(options); i += 2) {
        const char *name = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(options, i), NULL);
        const char *value = name ? PyUnicode_AsUTF8AndSize(PyTuple_GetItem(options, i + 1), NULL) : NULL;
        if (!value)
            return -1;
        if (rf_config_set(c, name, value, error, sizeof error) < 0) {
            snprintf(message, sizeof message, "%s: %.400s", name, error);
            refuse_option(message);
            return -1;
        }
    }
    return 0;
}

/* _open(model, engine, batch, options): a tuple of names and values of rf_config_set, in turn, charts first. */
static PyObject *session_open(PyObject *self, PyObject *args)
{
    session_object *s = (session_object *)self;
    const char *engine;
    PyObject *model, *options;
    char error[ERROR_MAX] = "";
    if (!PyArg_ParseTuple(args, "O!sIO!", model_type, &model, &engine, &s->batch, &PyTuple_Type, &options))
        return NULL;
    if (s->session || !((model_object *)model)->model)
        return refuse_text(s->session ? "this tracker is open already" : "this model is not made");
    s->model = (model_object *)Py_NewRef(model);
    s->options = Py_NewRef(options); /* the configuration points to its texts */
    s->config = rf_config_default(s->model->model);
    s->chain = cli_chain_of(s->config.description.settings);
    if (set_options(&s->config, options) < 0)
        return NULL;
    rf_config_complete(&s->config);
    if (rf_config_check(&s->config, RF_FOR_STEPS, error, sizeof error) < 0)
        return refuse_option(error);
    if (!(s->engine = rf_engine_open(engine, error, sizeof error)))
        return refuse_text("%s", error);
    s->config.engine = s->engine;
    if (check_model(s->model, &s->config.description, NULL) < 0)
        return NULL;
    s->is_long =
        strcmp(s->config.belief, "gaussian") != 0 || (uint64_t)s->config.attempts * s->config.description.dim > 2048;
    running r;
    begin(&r, s->model, 0);
    s->session = rf_session_open(&s->config, error, sizeof error);
    end(&r);
    if (!s->session || PyErr_Occurred())
        return PyErr_Occurred() ? NULL : refuse_text("%s", error);
    rf_session_show(s->session, &s->last);
    s->last.outcome = NAN;
    for (unsigned i = 0; i < RF_DESCRIBED_MAX; i++)
        s->last.setting[i] = NAN;
    Py_RETURN_NONE;
}

/* The option that chose the belief, or None. */
static PyObject *session_because(PyObject *self, void *ignored)
{
    (void)ignored;
    const session_object *s = (const session_object *)self;
    const char *because = s->session ? rf_config_because(&s->config) : NULL;
    return because ? PyUnicode_FromString(because) : Py_NewRef(Py_None);
}

static PyObject *session_check_passes(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    session_object *s = (session_object *)self;
    char error[ERROR_MAX] = "";
    if (rf_config_check(&s->config, RF_FOR_PASSES, error, sizeof error) < 0)
        return refuse_option(error);
    Py_RETURN_NONE;
}

/* ---- Asking ---- */

/* _ask(n): a list of (settings..., is_anchor). */
static PyObject *session_ask(PyObject *self, PyObject *args)
{
    session_object *s = (session_object *)self;
    unsigned count;
    if (!PyArg_ParseTuple(args, "I", &count))
        return NULL;
    if (count < 1 || count > RF_ASK_MAX)
        return refuse_text("%u questions at once: 1 to %d can be asked", count, RF_ASK_MAX);
    if (enter(s) < 0)
        return NULL;
    rf_record *questions = PyMem_Realloc(s->questions, count * sizeof *questions);
    if (!questions) {
        leave(s);
        return PyErr_NoMemory();
    }
    s->questions = questions;
    running r;
    begin(&r, s->model, 1);
    const rf_status status = rf_session_ask(s->session, count, questions);
    end(&r);
    const int is_failed = status < 0 || PyErr_Occurred();
    if (is_failed)
        rf_session_unask(s->session);
    leave(s);
    s->asked = is_failed ? 0 : count;
    if (is_failed)
        return s->config.design ? refuse(status, s->engine, NULL)
                                : refuse_text("this tracker has no design: it was opened with design=None");
    PyObject *list = PyList_New(0);
    for (unsigned k = 0; k < count && list; k++) {
        double values[RF_DESCRIBED_MAX + 1];
        memcpy(values, questions[k].setting, sizeof questions[k].setting);
        values[s->config.description.settings] = questions[k].is_anchor;
        PyObject *one = tuple_of(values, s->config.description.settings + 1);
        if (!one || PyList_Append(list, one) < 0)
            Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

static PyObject *session_unask(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    session_object *s = (session_object *)self;
    if (enter(s) < 0)
        return NULL;
    rf_session_unask(s->session);
    s->asked = 0;
    leave(s);
    Py_RETURN_NONE;
}

static PyObject *session_asked(PyObject *self, void *ignored)
{
    (void)ignored;
    return PyLong_FromUnsignedLong(((session_object *)self)->asked);
}

/* ---- Telling ---- */

/* Fills in missing settings from the questions. Returns 0, or -1 and an exception. */
static int fill_settings(const session_object *s, rf_record *record, uint32_t k)
{
    const rf_description *d = &s->config.description;
    for (unsigned i = 0; i < d->settings; i++) {
        if (isinf(record->setting[i])) {
            refuse_text("setting %s: %g is not finite", d->setting[i].name, record->setting[i]);
            return -1;
        }
        if (!isnan(record->setting[i]))
            continue;
        if (k >= s->asked && d->setting[i].role != RF_SETTING_FIXED && !isnan(record->outcome)) {
            refuse_text("setting %s is missing: nothing was asked, so an outcome needs its settings",
                        d->setting[i].name);
            return -1;
        }
        record->setting[i] = k < s->asked                             ? s->questions[k].setting[i]
                             : d->setting[i].role == RF_SETTING_FIXED ? d->setting[i].low
                                                                      : 0;
    }
    return 0;
}

/* The first record was refused because of the model: says why. The caller may have released the GIL. */
static void explain(session_object *s, const rf_record records[], uint32_t count)
{
    char error[ERROR_MAX];
    double setting[RF_DESCRIBED_MAX];
    const PyGILState_STATE state = PyGILState_Ensure();
    for (uint32_t k = 0; k < count && !PyErr_Occurred(); k++) {
        for (unsigned i = 0; i < s->config.description.settings; i++)
            setting[i] = isnan(records[k].setting[i]) && k < s->asked ? s->questions[k].setting[i] : records[k].setting[i];
        if (!isnan(records[k].outcome) && rf_config_try(&s->config, setting, error, sizeof error) < 0 && !PyErr_Occurred())
            refuse_text("%s", error);
    }
    PyGILState_Release(state);
}

/* Keeps a warning about the first setting outside its range. */
static void see_outside(session_object *s, const rf_record records[], uint32_t count)
{
    for (uint32_t k = 0; k < count && !s->outside[0]; k++)
        rf_record_outside(&s->config.description, &records[k], s->outside, sizeof s->outside);
}

int warn_outside(session_object *s, int level)
{
    const int is_new = s->outside[0] && !s->is_warned && s->model->f64.is_checked != 2;
    s->is_warned |= is_new;
    return is_new ? PyErr_WarnEx(PyExc_UserWarning, s->outside, level) : 0;
}

rf_status learn(session_object *s, const rf_record records[], uint32_t count, int is_brief)
{
    const int may_fail_unnoticed =
        s->model->bound && PyCallable_Check(s->model->bound); /* exceptions of a bound are not reported */
    rf_session *copy = may_fail_unnoticed ? rf_session_copy(s->session) : NULL;
    s->before = shown_health(&s->last);
    s->has_changed = 0;
    if (may_fail_unnoticed && !copy)
        return RF_REFUSED_ENGINE;
    rf_status status = (is_brief ? rf_session_tell_briefly : rf_session_tell)(s->session, records, count, &s->last);
    if (copy && status >= 0 && PyErr_Occurred()) {
        rf_session *done = s->session;
        status = RF_REFUSED_MODEL;
        s->session = copy;
        copy = done;
    }
    rf_session_close(copy);
    if (status == RF_REFUSED_MODEL && s->chain.count == 0)
        explain(s, records, count);
    if (status < 0)
        return status;
    s->has_changed = shown_health(&s->last) != s->before;
    for (uint32_t k = 0; k < count; k++)
        cli_chain_add(&s->chain, &records[k], 0);
    if (s->last.report.status & RF_NOTE_RANGE)
        see_outside(s, records, count);
    s->updates++;
    s->asked = 0;
    return status | s->last.report.status;
}

static rf_status tell_all(session_object *s, const rf_record records[], uint32_t count)
{
    running r;
    begin(&r, s->model, s->is_long || count > 8);
    const rf_status status = learn(s, records, count, 1);
    end(&r);
    return status;
}

/* Returns the note after a tell, warns in the caller's line, and calls on_health if health has changed. The session is not marked as in use
   here, so on_health may ask and tell. */
static PyObject *note_and_call(session_object *s, rf_status status, int level)
{
    PyObject *note = note_of(status, s->engine);
    if (note && warn_outside(s, level) < 0)
        Py_CLEAR(note);
    if (note && s->has_changed) {
        PyObject *done = PyObject_CallMethod((PyObject *)s, "_health_changed", "i", s->before);
        if (!done)
            Py_CLEAR(note);
        Py_XDECREF(done);
    }
    return note;
}

/* Reads a setting: a mapping by name, a sequence, or a number if there is one setting; NaN where it is not given. */
static int setting_from(const session_object *s, PyObject *given, double setting[])
{
    const rf_description *d = &s->config.description;
    if (PyTuple_Check(given) && PyTuple_Size(given) == (Py_ssize_t)d->settings) /* the most common case */
        return numbers_of(given, setting, d->settings, "setting");
    if (PyDict_Check(given)) {
        Py_ssize_t used = 0;
        for (unsigned i = 0; i < d->settings; i++) {
            PyObject *value = PyDict_GetItemString(given, d->setting[i].name);
            setting[i] = value ? number_of(value, d->setting[i].name) : NAN;
            if (value && PyErr_Occurred())
                return -1;
            used += value != NULL;
        }
        PyObject *name, *value;
        for (Py_ssize_t at = 0; used < PyDict_Size(given) && PyDict_Next(given, &at, &name, &value);) {
            unsigned i = 0;
            while (i < d->settings &&
                   (!PyUnicode_Check(name) || PyUnicode_CompareWithASCIIString(name, d->setting[i].name) != 0))
                i++;
            if (i < d->settings)
                continue;
            PyErr_Format(refused, "model %s has no setting %R", d->name, name);
            return -1;
        }
        return 0;
    }
    if (!PyTuple_Check(given) && !PyList_Check(given) &&
        PyObject_HasAttrString(given, "keys")) { /* another mapping, such as a row of a DataFrame */
        PyObject *copy = PyDict_New();
        const int status = copy && PyDict_Update(copy, given) == 0 ? setting_from(s, copy, setting) : -1;
        Py_XDECREF(copy);
        return status;
    }
    unsigned free = 0; /* number of settings that are not fixed; fixed ones may be left out */
    for (unsigned i = 0; i < d->settings; i++)
        free += d->setting[i].role != RF_SETTING_FIXED;
    const int is_strange = PyUnicode_Check(given) || PyBytes_Check(given) || PyAnySet_Check(given);
    const Py_ssize_t size = PyTuple_Check(given)                 ? PyTuple_Size(given)
                            : is_strange || PyFloat_Check(given) ? -1
                                                                 : PySequence_Size(given);
    double values[RF_DESCRIBED_MAX] = {0};
    PyErr_Clear(); /* a number has no len() */
    if (size < 0 && !is_strange && (d->settings == 1 || free == 1))
        values[0] = PyFloat_AsDouble(given);
    if ((size < 0 && (is_strange || (d->settings != 1 && free != 1))) || PyErr_Occurred()) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "setting: a mapping by name or a sequence of %u numbers is needed, not %R",
                     d->settings, given);
        return -1;
    }
    if (size >= 0 && numbers_of(given, values, size == (Py_ssize_t)free ? free : d->settings, "setting") < 0)
        return -1;
    const int is_whole = size == (Py_ssize_t)d->settings || d->settings == 1;
    for (unsigned i = 0, k = 0; i < d->settings; i++)
        setting[i] = is_whole || d->setting[i].role != RF_SETTING_FIXED ? values[k++] : NAN;
    return 0;
}

static PyObject *session_tell(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    session_object *s = (session_object *)self;
    PyObject *outcome = count > 0 ? args[0] : NULL, *setting = count > 1 ? args[1] : Py_None, *time = Py_None;
    rf_record record;
    for (Py_ssize_t i = 0; names && i < PyTuple_Size(names); i++) {
        PyObject *name = PyTuple_GetItem(names, i);
        if (PyUnicode_CompareWithASCIIString(name, "time") == 0)
            time = args[count + i];
        else if (PyUnicode_CompareWithASCIIString(name, "setting") == 0 && count < 2)
            setting = args[count + i];
        else if (PyUnicode_CompareWithASCIIString(name, "outcome") == 0 && count < 1)
            outcome = args[count + i];
        else
            return PyErr_Format(PyExc_TypeError, "tell() got an unexpected keyword argument '%U'", name);
    }
    if (!outcome || count > 2) {
        PyErr_SetString(PyExc_TypeError, "tell(outcome, setting=None, *, time=None)");
        return NULL;
    }
    if (PyBool_Check(outcome)) /* by far the most common */
        record.outcome = outcome == Py_True;
    else if (outcome == Py_None)
        record.outcome = NAN;
    else if (PyFloat_CheckExact(outcome) || PyLong_Check(outcome))
        record.outcome = number_of(outcome, "outcome");
    else if (PyObject_Size(outcome) >= 0)
        return PyObject_CallMethod(self, "_tell_many", "OOO", outcome, setting, time);
    else {
        PyErr_Clear();
        record.outcome = number_of(outcome, "outcome");
    }
    record.time = time == Py_None ? NAN : number_of(time, "time");
    record.is_anchor = 0;
    if ((record.outcome == -1 || record.time == -1) && PyErr_Occurred())
        return NULL;
    if (!is_outcome(&s->config.description, record.outcome))
        return refuse_outcome(&s->config.description, record.outcome, NULL);
    if (enter(s) < 0)
        return NULL;
    const unsigned settings = s->config.description.settings;
    rf_status status = RF_REFUSED_EVIDENCE;
    if (setting == Py_None)
        for (unsigned i = 0; i < settings; i++)
            record.setting[i] = NAN;
    if ((setting == Py_None || setting_from(s, setting, record.setting) == 0) && fill_settings(s, &record, 0) == 0)
        status = tell_all(s, &record, 1);
    leave(s);
    return note_and_call(s, status, 1);
}

/* _tell_batch(outcomes, settings or None, times or None): arrays. */
static PyObject *session_tell_batch(PyObject *self, PyObject *args)
{
    session_object *s = (session_object *)self;
    PyObject *outcomes, *settings, *times;
    Py_buffer o, x = {.buf = NULL}, t = {.buf = NULL};
    if (!PyArg_ParseTuple(args, "OOO", &outcomes, &settings, &times) || doubles(outcomes, &o, 0, -1, "outcomes") < 0)
        return NULL;
    const Py_ssize_t count = o.len / (Py_ssize_t)sizeof(double);
    const unsigned width = s->config.description.settings;
    rf_record *records = count > 0 && count <= RF_BATCH_MAX ? PyMem_Malloc((size_t)count * sizeof *records) : NULL;
    rf_status status = RF_REFUSED_EVIDENCE;
    int is_fine = records != NULL;
    if (!is_fine)
        refuse_text("%zd outcomes at once: 1 to %d can be told together", count, RF_BATCH_MAX);
    is_fine = is_fine && (settings == Py_None || doubles(settings, &x, 0, count * (Py_ssize_t)width, "settings") == 0);
    is_fine = is_fine && (times == Py_None || doubles(times, &t, 0, count, "times") == 0);
    if (is_fine && enter(s) == 0) {
        for (Py_ssize_t k = 0; k < count && is_fine; k++) {
            for (unsigned i = 0; i < width; i++)
                records[k].setting[i] = x.buf ? ((const double *)x.buf)[(size_t)k * width + i] : NAN;
            records[k].outcome = ((const double *)o.buf)[k];
            records[k].time = t.buf ? ((const double *)t.buf)[k] : NAN;
            char where[32];
            snprintf(where, sizeof where, "record %zd", k);
            if (!is_outcome(&s->config.description, records[k].outcome))
                is_fine = 0, refuse_outcome(&s->config.description, records[k].outcome, where);
            else
                is_fine = fill_settings(s, &records[k], (uint32_t)k) == 0;
        }
        if (is_fine)
            status = tell_all(s, records, (uint32_t)count);
        leave(s);
    }
    PyMem_Free(records);
    PyBuffer_Release(&o);
    if (x.buf)
        PyBuffer_Release(&x);
    if (t.buf)
        PyBuffer_Release(&t);
    return note_and_call(s, status, 3);
}

/* pass_time(elapsed), restart() */
static PyObject *session_pass(PyObject *self, PyObject *args)
{
    session_object *s = (session_object *)self;
    double elapsed;
    if (!PyArg_ParseTuple(args, "d", &elapsed) || enter(s) < 0)
        return NULL;
    const rf_status status = rf_session_pass(s->session, elapsed);
    s->asked = 0;
    leave(s);
    return status < 0 ? refuse(status, s->engine, NULL) : Py_NewRef(Py_None);
}

static PyObject *session_restart(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    session_object *s = (session_object *)self;
    if (enter(s) < 0)
        return NULL;
    const rf_status status = rf_session_restart(s->session);
    s->asked = 0;
    rf_session_show(s->session, &s->last);
    leave(s);
    return status < 0 ? refuse(status, s->engine, NULL) : Py_NewRef(Py_None);
}

/* ---- Showing ---- */

unsigned row_width(const rf_description *d) { return 17 + 6 * d->dim + (unsigned)RF_TRIANGLE(d->dim) + d->settings; }

int shown_health(const rf_step *step)
{
    const int is_coarse = step->is_coarse || (step->report.status & RF_NOTE_COARSE);
    return step->health == RF_TRACKING && is_coarse ? -1 : (int)step->health;
}

void row_write(double *row, const rf_description *d, const rf_step *s)
{
    const rf64_report *r = &s->report;
    *row++ = (double)s->step;
    *row++ = s->time;
    for (unsigned i = 0; i < d->dim; i++)
        *row++ = s->truth[i];
    for (unsigned i = 0; i < d->dim; i++) {
        *row++ = s->mean[i];
        *row++ = s->sd[i];
        *row++ = s->low[i];
        *row++ = s->high[i];
        *row++ = s->chart_mean[i];
        *row++ = s->chart_sd[i];
    }
    for (unsigned i = 0; i < d->dim; i++)
        for (unsigned j = 0; j < i; j++)
            *row++ = s->chart_covariance[RF_TRIANGLE(i) + j];
    for (unsigned i = 0; i < d->settings; i++)
        *row++ = s->setting[i];
    const double rest[] = {s->outcome,
                           s->records,
                           r->attempts,
                           r->accepted,
                           r->acceptance,
                           r->kappa,
                           r->delta,
                           s->log_evidence,
                           sqrt(s->log_evidence_variance),
                           s->loss,
                           s->widened,
                           s->restarts,
                           r->status,
                           shown_health(s),
                           s->is_tested};
    memcpy(row, rest, sizeof rest);
}

/* _show(): a row; means and lower triangle of the covariance, in the chart; and the name of the belief. */
static PyObject *session_show(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    session_object *s = (session_object *)self;
    const rf_description *d = &s->config.description;
    double row[17 + 7 * RF_DESCRIBED_MAX + RF_TRIANGLE(RF_DESCRIBED_MAX)];
    if (enter(s) < 0)
        return NULL;
    rf_step step = s->last;
    rf_session_show(s->session, &step);
    const char *name = step.belief->kind->name;
    leave(s);
    row_write(row, d, &step);
    PyObject *a = tuple_of(row, row_width(d)), *b = tuple_of(step.chart_mean, d->dim),
             *c = tuple_of(step.chart_covariance, (unsigned)RF_TRIANGLE(d->dim));
    PyObject *all = a && b && c ? Py_BuildValue("(OOOs)", a, b, c, name) : NULL;
    Py_XDECREF(a);
    Py_XDECREF(b);
    Py_XDECREF(c);
    return all;
}

/* _quantiles(p): for each parameter, in natural units. */
static PyObject *session_quantiles(PyObject *self, PyObject *args)
{
    session_object *s = (session_object *)self;
    double p, values[RF_DESCRIBED_MAX];
    if (!PyArg_ParseTuple(args, "d", &p) || enter(s) < 0)
        return NULL;
    for (unsigned i = 0; i < s->config.description.dim; i++)
        values[i] = rf_session_quantile(s->session, i, p);
    leave(s);
    return tuple_of(values, s->config.description.dim);
}

/* _draw(out, first): draws number first, first + 1, ... from the belief, in natural units; one per row of out. */
static PyObject *session_draw(PyObject *self, PyObject *args)
{
    session_object *s = (session_object *)self;
    PyObject *out;
    unsigned first;
    Py_buffer b;
    if (!PyArg_ParseTuple(args, "OI", &out, &first) || doubles(out, &b, 1, -1, "out") < 0)
        return NULL;
    const unsigned dim = s->config.description.dim;
    if (enter(s) == 0) {
        const rf_belief *belief = rf_session_belief(s->session);
        double *to = b.buf;
        for (Py_ssize_t k = 0; k < b.len / (Py_ssize_t)(dim * sizeof *to); k++) {
            double x[RF_DESCRIBED_MAX];
            unsigned order[RF_DESCRIBED_MAX];
            belief->kind->draw(belief, first + (uint32_t)k, RF_FOR_USER, x);
            rf_problem_order(belief->problem, x, order);
            for (unsigned i = 0; i < dim; i++)
                *to++ = x[order[i]];
        }
        leave(s);
    }
    PyBuffer_Release(&b);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

/* ---- Bytes ---- */

/* The run in the form of a checkpoint. */
static cli_checkpoint *checkpoint_of(const session_object *s, uint64_t source)
{
    cli_checkpoint *c = PyMem_Malloc(sizeof *c);
    if (c) {
        cli_checkpoint_begin(c, &s->config, s->batch, source);
        c->chain = s->chain; /* lent */
        c->updates = s->updates;
    }
    return c;
}

/* _save(): a checkpoint of the command. */
static PyObject *session_save(PyObject *self, PyObject *unused)
{
    session_object *s = (session_object *)self;
    (void)unused;
    if (enter(s) < 0)
        return NULL;
    cli_checkpoint *c = checkpoint_of(s, rf_model_source(s->config.model));
    const size_t size = c ? cli_checkpoint_write(c, s->session, NULL) : 0;
    unsigned char *bytes = c ? PyMem_Malloc(size) : NULL;
    if (bytes)
        cli_checkpoint_write(c, s->session, bytes);
    leave(s);
    PyObject *saved = bytes ? PyBytes_FromStringAndSize((const char *)bytes, (Py_ssize_t)size) : PyErr_NoMemory();
    PyMem_Free(bytes);
    PyMem_Free(c);
    return saved;
}

/* _load(bytes, is_old): of _save; or the contents alone, of a file, or, without the source's hash, as version 8 pickled them. */
static PyObject *session_load(PyObject *self, PyObject *args)
{
    session_object *s = (session_object *)self;
    const unsigned char *bytes, *contents;
    char error[1024];
    Py_ssize_t size;
    size_t count;
    int is_old = 0;
    if (!PyArg_ParseTuple(args, "y#|p", &bytes, &size, &is_old) || enter(s) < 0)
        return NULL;
    cli_checkpoint *c = checkpoint_of(s, is_old ? 0 : rf_model_source(s->config.model));
    const int is_bare = size < 8 || memcmp(bytes, "RFSTATE\n", 8) != 0;
    contents = bytes;
    count = (size_t)size;
    int taken = !c ? -1 : is_bare ? 0 : cli_checkpoint_unseal(bytes, count, &contents, &count, error, sizeof error);
    if (taken == 0) {
        c->chain = cli_chain_of(s->config.description.settings);
        taken = cli_checkpoint_take(c, s->session, contents, count, error, sizeof error);
    }
    leave(s);
    if (taken == 0) {
        cli_chain_free(&s->chain);
        s->chain = c->chain;
        s->updates = c->updates;
        s->asked = 0;
        rf_session_show(s->session, &s->last);
    }
    PyObject *done = !c ? PyErr_NoMemory() : taken < 0 ? refuse_text("it %s", error) : Py_NewRef(Py_None);
    PyMem_Free(c);
    return done;
}

/* ---- The type ---- */

static int traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((session_object *)self)->model);
    Py_VISIT(((session_object *)self)->options);
    return 0;
}

static int clear(PyObject *self)
{
    session_object *s = (session_object *)self;
    rf_session_close(s->session); /* before the objects it points to */
    s->session = NULL;
    Py_CLEAR(s->model);
    Py_CLEAR(s->options);
    return 0;
}

static void dealloc(PyObject *self)
{
    session_object *s = (session_object *)self;
    PyObject_GC_UnTrack(self);
    clear(self);
    rf_engine_close(s->engine);
    cli_chain_free(&s->chain);
    PyMem_Free(s->questions);
    free_object(self);
}

PyDoc_STRVAR(tell_text, "tell($self, outcome, setting=None, *, time=None)\n--\n\n"
                        "Learns from an outcome, or from several together. See rejfilt.Tracker.");

static PyMethodDef methods[] = {
    {"_open", session_open, METH_VARARGS, NULL},
    {"_ask", session_ask, METH_VARARGS, NULL},
    {"_unask", session_unask, METH_NOARGS, NULL},
    {"tell", (PyCFunction)(void (*)(void))session_tell, METH_FASTCALL | METH_KEYWORDS, tell_text},
    {"_tell_batch", session_tell_batch, METH_VARARGS, NULL},
    {"_pass", session_pass, METH_VARARGS, NULL},
    {"_restart", session_restart, METH_NOARGS, NULL},
    {"_show", session_show, METH_NOARGS, NULL},
    {"_quantiles", session_quantiles, METH_VARARGS, NULL},
    {"_draw", session_draw, METH_VARARGS, NULL},
    {"_save", session_save, METH_NOARGS, NULL},
    {"_load", session_load, METH_VARARGS, NULL},
    {"_replay", session_replay, METH_VARARGS, NULL},
    {"_passes", session_passes, METH_VARARGS, NULL},
    {"_check_passes", session_check_passes, METH_NOARGS, NULL},
    {"_simulate", session_simulate, METH_VARARGS, NULL},
    {"_score", session_score, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

/* What a method of no arguments gives. These are attributes of C and no properties, because completers of notebooks look into
   the values of the former alone: so `tracker.mean.` is completed with the names of parameters. */
static PyObject *session_by_method(PyObject *self, void *method) { return PyObject_CallMethod(self, method, NULL); }

PyDoc_STRVAR(mean_text, "Posterior means, natural units; of a periodic parameter the circular mean.");
PyDoc_STRVAR(sd_text, "Posterior standard deviations, natural units; of a periodic parameter sqrt(-2 ln R), R being the length of the "
                      "mean of points on\nthe circle, and at most 3/4 of the period.");
PyDoc_STRVAR(median_text, "Posterior medians, natural units.");

static PyGetSetDef getset[] = {
    {"_because", session_because, NULL, NULL, NULL},
    {"_asked", session_asked, NULL, NULL, NULL},
    {"mean", session_by_method, NULL, mean_text, (void *)"_mean"},
    {"sd", session_by_method, NULL, sd_text, (void *)"_sd"},
    {"median", session_by_method, NULL, median_text, (void *)"_median"},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {{Py_tp_dealloc, (void *)dealloc},
                              {Py_tp_traverse, (void *)traverse},
                              {Py_tp_clear, (void *)clear},
                              {Py_tp_methods, (void *)methods},
                              {Py_tp_getset, (void *)getset},
                              {Py_tp_new, (void *)PyType_GenericNew},
                              {0, NULL}};

PyType_Spec session_spec = {.name = "rejfilt._rejfilt.Session",
                            .basicsize = sizeof(session_object),
                            .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
                            .slots = slots};
