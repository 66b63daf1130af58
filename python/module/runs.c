/* Many records at once: replays, passes, simulations, scores. */
#include "module.h"

#include <math.h>
#include <string.h>

#include "clock.h"
#include "score.h"

/* Arrays of records: settings [n][k], outcomes [n], times [n] or None. */
typedef struct table {
    Py_buffer settings, outcomes, times;
    Py_ssize_t rows;
    unsigned width;
} table;

static void table_close(table *t)
{
    Py_buffer *const all[] = {&t->settings, &t->outcomes, &t->times};
    for (int i = 0; i < 3; i++)
        if (all[i]->obj)
            PyBuffer_Release(all[i]);
}

static int table_open(table *t, const rf_description *d, PyObject *settings, PyObject *outcomes, PyObject *times)
{
    memset(t, 0, sizeof *t);
    t->width = d->settings;
    if (doubles(outcomes, &t->outcomes, 0, -1, "outcomes") < 0)
        return -1;
    t->rows = t->outcomes.len / (Py_ssize_t)sizeof(double);
    if (doubles(settings, &t->settings, 0, t->rows * (Py_ssize_t)t->width, "settings") == 0 &&
        (times == Py_None || doubles(times, &t->times, 0, t->rows, "times") == 0))
        return 0;
    table_close(t);
    return -1;
}

static rf_record record_at(const table *t, Py_ssize_t row)
{
    rf_record r = {.outcome = ((const double *)t->outcomes.buf)[row],
                   .time = t->times.buf ? ((const double *)t->times.buf)[row] : NAN};
    if (t->width > 0)
        memcpy(r.setting, (const double *)t->settings.buf + (size_t)row * t->width, t->width * sizeof(double));
    return r;
}

/* Adds records from *row on until the batch is complete or no rows are left. */
static void next_batch(rf_batch *batch, const table *t, Py_ssize_t *row)
{
    batch->count = 0;
    while (*row < t->rows) {
        const rf_record record = record_at(t, *row);
        const rf_batch_state state = rf_batch_add(batch, &record, 0);
        *row += state != RF_BATCH_NEXT;
        if (state != RF_BATCH_OPEN)
            return;
    }
}

/* _replay(settings, outcomes, times, first, out, seconds, has_hook): learns from rows first, first + 1, ... and
   writes a row per update to out, from its start. Stops after `seconds`, or at a change of health if has_hook.
   Returns the next row, the number of updates, and the health before the last update if that changed it, else None.
   A refusal raises an exception that says where. */
PyObject *session_replay(PyObject *self, PyObject *args)
{
    session_object *s = (session_object *)self;
    const rf_description *d = &s->config.description;
    PyObject *settings, *outcomes, *times, *out;
    Py_ssize_t row, before;
    double most;
    int has_hook;
    table t;
    Py_buffer to;
    if (!is_open(s) || !PyArg_ParseTuple(args, "OOOnOdp", &settings, &outcomes, &times, &row, &out, &most, &has_hook) ||
        table_open(&t, d, settings, outcomes, times) < 0)
        return NULL;
    rf_batch *batch = PyMem_Malloc(sizeof *batch);
    const int is_open = batch && doubles(out, &to, 1, -1, "out") == 0;
    if (!is_open || enter(s) < 0) {
        if (is_open)
            PyBuffer_Release(&to);
        PyMem_Free(batch);
        table_close(&t);
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    const unsigned width = row_width(d);
    const Py_ssize_t room = to.len / (Py_ssize_t)(width * sizeof(double));
    Py_ssize_t updates = 0;
    rf_status status = RF_OK;
    running r;
    rf_session_unask(s->session);
    s->asked = 0;
    batch->together = s->batch;
    begin(&r, s->model, 1);
    const double start = rf_clock_seconds();
    for (before = row; row < t.rows && updates < room; before = row) {
        next_batch(batch, &t, &row);
        status = learn(s, batch->record, batch->count, 0);
        if (status < 0)
            break;
        row_write((double *)to.buf + (size_t)updates++ * width, d, &s->last);
        if (has_hook && s->has_changed) {
            before = row;
            break;
        }
        if ((updates & 15) == 0 || s->is_long || !r.thread)
            if (rf_clock_seconds() - start > most) {
                before = row;
                break;
            }
    }
    end(&r);
    leave(s);
    PyMem_Free(batch);
    PyBuffer_Release(&to);
    table_close(&t);
    if (status >= 0 && !PyErr_Occurred() && warn_outside(s, 3) < 0)
        return NULL;
    if (status >= 0 && !PyErr_Occurred())
        return updates > 0 && s->has_changed ? Py_BuildValue("(nni)", row, updates, s->before) : Py_BuildValue("(nnO)", row, updates, Py_None);
    char where[64];
    snprintf(where, sizeof where, "row %zd", before);
    refuse(status, s->engine, where);
    return NULL;
}

/* ---- Passes ---- */

static int watch_passes(void *user, const rf_passes_progress *progress)
{
    (void)progress;
    return is_interrupted(user);
}

/* _passes(rows): a row has the settings and the outcome. Returns a tuple of results, and quantiles by parameter. */
PyObject *session_passes(PyObject *self, PyObject *args)
{
    session_object *s = (session_object *)self;
    const rf_description *d = &s->config.description;
    PyObject *rows, *levels, *all = NULL, *quantiles = NULL;
    Py_buffer from, p;
    char error[512] = "";
    if (!is_open(s) || !PyArg_ParseTuple(args, "OO", &rows, &levels) || doubles(rows, &from, 0, -1, "records") < 0)
        return NULL;
    if (doubles(levels, &p, 0, -1, "levels") < 0) {
        PyBuffer_Release(&from);
        return NULL;
    }
    rf_passes_result result = {0};
    rf_status status = RF_OK;
    running r;
    begin(&r, s->model, 1);
    rf_passes *passes = rf_passes_open(&s->config, from.buf, (size_t)from.len / ((d->settings + 1) * sizeof(double)),
                                       error, sizeof error);
    if (passes)
        status = rf_passes_run(passes, watch_passes, &r, &result);
    end(&r);
    if (!passes) {
        refuse_text("%s", error);
    } else if (status < 0 || PyErr_Occurred()) {
        refuse(status, s->engine, NULL);
    } else {
        const Py_ssize_t count = p.len / (Py_ssize_t)sizeof(double);
        quantiles = PyList_New(0);
        for (Py_ssize_t k = 0; k < count && quantiles; k++) {
            double values[RF_DESCRIBED_MAX];
            for (unsigned i = 0; i < d->dim; i++) {
                rf64_chart charts[RF_DESCRIBED_MAX];
                rf64_described_charts(d, charts);
                const double y = rf_passes_quantile(passes, i, ((const double *)p.buf)[k]);
                values[i] = charts[i].kind == RF_PERIODIC ? result.median[i] + (y - rf_passes_quantile(passes, i, 0.5))
                                                          : rf64_chart_natural(&charts[i], y);
            }
            PyObject *one = tuple_of(values, d->dim);
            if (!one || PyList_Append(quantiles, one) < 0)
                Py_CLEAR(quantiles);
            Py_XDECREF(one);
        }
        PyObject *tuples[] = {
            tuple_of(result.mean, d->dim),       tuple_of(result.sd, d->dim),
            tuple_of(result.low, d->dim),        tuple_of(result.high, d->dim),
            tuple_of(result.chart_mean, d->dim), tuple_of(result.chart_covariance, (unsigned)RF_TRIANGLE(d->dim))};
        if (quantiles && tuples[0] && tuples[1] && tuples[2] && tuples[3] && tuples[4] && tuples[5])
            all = Py_BuildValue("(OOOOOOdddIIniO)", tuples[0], tuples[1], tuples[2], tuples[3], tuples[4], tuples[5],
                                result.log_evidence, result.log_evidence_sd, result.effective, result.points,
                                result.passes, (Py_ssize_t)result.bad, (int)result.verdict, quantiles);
        for (int i = 0; i < 6; i++)
            Py_XDECREF(tuples[i]);
        Py_XDECREF(quantiles);
    }
    rf_passes_close(passes);
    PyBuffer_Release(&p);
    PyBuffer_Release(&from);
    return all;
}

/* ---- Simulations ---- */

typedef struct writing {
    const rf_description *description;
    double *to, *end;
    unsigned width;
    running r;
    int is_interrupted;
} writing;

static int write_step(void *user, uint32_t trial, const rf_step *step)
{
    writing *w = user;
    if (w->to + w->width > w->end)
        return 1;
    w->to[0] = trial;
    row_write(w->to + 1, w->description, step);
    w->to += w->width;
    w->is_interrupted = is_interrupted(&w->r);
    return w->is_interrupted;
}

static int too_many(void)
{
    refuse_text("a world has at most %d jumps and %d outages", RF_EVENTS_MAX, RF_EVENTS_MAX);
    return -1;
}

/* Adds a row of the world's description: a kind, and six numbers. Returns 0, or -1 and an exception. */
static int world_add(const rf_description *description, rf_world *world, const double row[7])
{
    const double *n = row + 1;
    const unsigned parameter = (unsigned)n[0];
    const rf_jump jump = {parameter, n[1], n[2], (long)n[3], (long)n[4]};
    const rf_outage outage = {(rf_outage_kind)n[0], n[1], n[2], (long)n[3], (long)n[4]};
    const rf_prior truth = {n[1] != 0, n[2], n[3]};
    switch ((int)row[0]) {
    case 0:
        if (world->jumps == RF_EVENTS_MAX)
            return too_many();
        world->jump[world->jumps++] = jump;
        break;
    case 1:
        if (world->outages == RF_EVENTS_MAX)
            return too_many();
        world->outage[world->outages++] = outage;
        break;
    case 2:
        world->has_truth |= 1u << parameter;
        world->truth[parameter] = truth;
        break;
    case 3:
        world->has_drift |= 1u << parameter;
        return set_motion(&description->parameter[parameter], n + 1, &world->motion[parameter], &world->drift[parameter]);
    default:
        world->flips = n[0];
        world->blind = n[1];
        world->decay = n[2];
    }
    return 0;
}

/* _simulate(steps, batch, world, is_truth_gaussian, first, count, out): the world has seven numbers per row; rows of
   out begin with the trial. Returns the number of rows. */
PyObject *session_simulate(PyObject *self, PyObject *args)
{
    session_object *s = (session_object *)self;
    rf_simulation simulation = {.config = s->config};
    unsigned first, count;
    PyObject *out, *world;
    Py_buffer to;
    if (!is_open(s) || !PyArg_ParseTuple(args, "lIOpIIO", &simulation.steps, &simulation.batch, &world, &simulation.is_truth_gaussian,
                          &first, &count, &out))
        return NULL;
    if (doubles(world, &to, 0, -1, "world") < 0)
        return NULL;
    int status_of_world = 0;
    for (Py_ssize_t at = 0; at + 7 <= to.len / (Py_ssize_t)sizeof(double) && status_of_world == 0; at += 7)
        status_of_world = world_add(&s->config.description, &simulation.world, (const double *)to.buf + at);
    PyBuffer_Release(&to);
    if (status_of_world < 0)
        return NULL;
    if (!s->config.design || simulation.batch < 1 || simulation.batch > RF_ASK_MAX)
        return refuse_text(s->config.design
                               ? "a batch is 1 to 1024 measurements"
                               : "a simulation needs a design: there are no data that bring their settings");
    char error[200];
    if (rf_simulation_check(&simulation, error, sizeof error) < 0)
        return refuse_text("%s", error);
    if (doubles(out, &to, 1, -1, "out") < 0)
        return NULL;
    writing w = {.description = &s->config.description,
                 .to = to.buf,
                 .end = (double *)to.buf + to.len / (Py_ssize_t)sizeof(double),
                 .width = row_width(&s->config.description) + 1};
    begin(&w.r, s->model, 1);
    const rf_status status = rf_simulate(&simulation, first, count, write_step, &w);
    end(&w.r);
    const Py_ssize_t rows = (w.to - (double *)to.buf) / w.width;
    PyBuffer_Release(&to);
    return status < 0 || PyErr_Occurred() ? refuse(status, s->engine, NULL) : PyLong_FromSsize_t(rows);
}

/* ---- Scores ---- */

/* _score(settings, outcomes, times, repeats): a list of (ln evidence, variance, starved, bad, above), one per
   repeat. */
PyObject *session_score(PyObject *self, PyObject *args)
{
    session_object *s = (session_object *)self;
    PyObject *settings, *outcomes, *times, *list = NULL;
    unsigned repeats;
    char error[512] = "", where[64] = "";
    table t;
    if (!is_open(s) || !PyArg_ParseTuple(args, "OOOI", &settings, &outcomes, &times, &repeats) ||
        table_open(&t, &s->config.description, settings, outcomes, times) < 0)
        return NULL;
    rf_batch *batch = PyMem_Malloc(sizeof *batch);
    running r;
    rf_status status = RF_OK;
    begin(&r, s->model, 1);
    cli_scorer *scorer = batch ? cli_score_open(&s->config, repeats, error, sizeof error) : NULL;
    if (batch)
        batch->together = s->batch;
    for (Py_ssize_t row = 0; scorer && status >= 0 && row < t.rows && !is_interrupted(&r);) {
        snprintf(where, sizeof where, "row %zd", row);
        next_batch(batch, &t, &row);
        status = cli_score_learn(scorer, batch->record, batch->count);
    }
    end(&r);
    if (!scorer)
        refuse_text("%s", *error ? error : "out of memory");
    else if (status < 0 || PyErr_Occurred())
        refuse(status, s->engine, where);
    else
        list = PyList_New(0);
    for (unsigned i = 0; i < repeats && list; i++) {
        const cli_score *score = &cli_score_read(scorer)[i];
        PyObject *one =
            Py_BuildValue("(ddlll)", score->log_evidence, score->variance, score->starved, score->bad, score->above);
        if (!one || PyList_Append(list, one) < 0)
            Py_CLEAR(list);
        Py_XDECREF(one);
    }
    cli_score_close(scorer);
    PyMem_Free(batch);
    table_close(&t);
    return list;
}

/* Scores from a list of tuples that begin with ln evidence and variance. Null and an exception if it is not such a
   list. */
static cli_score *scores_of(PyObject *list, Py_ssize_t count)
{
    cli_score *scores = PyMem_Calloc((size_t)count + 1, sizeof *scores);
    for (Py_ssize_t i = 0; scores && i < count; i++) {
        PyObject *one = PyList_GetItem(list, i), *head = one ? PySequence_GetSlice(one, 0, 2) : NULL;
        const int is_fine = head && PyArg_ParseTuple(head, "dd", &scores[i].log_evidence, &scores[i].variance);
        Py_XDECREF(head);
        if (!is_fine) {
            PyMem_Free(scores);
            return NULL;
        }
    }
    return scores ? scores : (cli_score *)PyErr_NoMemory();
}

/* evidence(scores, others): ln evidence of the first and its error; then the Bayes factor of the first against the
   second, its error and the verdict. */
PyObject *module_evidence(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *first, *second;
    if (!PyArg_ParseTuple(args, "O!O!", &PyList_Type, &first, &PyList_Type, &second))
        return NULL;
    const Py_ssize_t count = PyList_Size(first);
    if (count < 1 || count != PyList_Size(second))
        return refuse_text("both need the same number of repeats");
    cli_score *a = scores_of(first, count), *b = a ? scores_of(second, count) : NULL;
    PyObject *all = NULL;
    if (a && b) {
        const cli_estimate estimate = cli_evidence(a, (uint32_t)count);
        const cli_factor factor = cli_evidence_factor(a, b, (uint32_t)count);
        all = Py_BuildValue("(ddddi)", estimate.value, estimate.sd, factor.value, factor.sd, (int)cli_conclude(factor));
    }
    PyMem_Free(a);
    PyMem_Free(b);
    return all;
}
