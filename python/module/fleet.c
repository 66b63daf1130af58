/* Fleets: many Gaussians of one model, updated together. Filter i has the random numbers of a session with trial i. */
#include "module.h"

#include <math.h>
#include <string.h>

#include "bytes.h"
#include "engine.h"

typedef struct fleet_object {
    PyObject_HEAD model_object *model;
    rf_engine *engine;
    rf_problem problem;
    rf64_model likelihood;
    rf64_options options;
    double drift[RF_DESCRIBED_MAX * RF_DESCRIBED_MAX]; /* a covariance per unit of time */
    int drifts, is_busy;
    uint32_t count;
    uint64_t told; /* number of tells */
    size_t bytes;  /* of a filter */
    unsigned char *memory;
    rf64_filter **filters, **chosen; /* all; those of the current update */
    double *records;
} fleet_object;

static rf64_filter *filter_at(const fleet_object *f, uint32_t i) { return f->filters[i]; }

static int enter_fleet(fleet_object *f)
{
    if (!f->filters || f->is_busy)
        refuse_text(f->filters ? "this fleet is in use, by another thread or by a function that it called"
                               : "this fleet is not open");
    else
        return f->is_busy = 1, 0;
    return -1;
}

/* _open(model, count, engine, seed, attempts, accepted, sampler, kappa, recovery, priors, drifts) */
static PyObject *fleet_open(PyObject *self, PyObject *args)
{
    fleet_object *f = (fleet_object *)self;
    PyObject *model, *priors, *drifts;
    const char *engine;
    unsigned long long seed;
    unsigned attempts, accepted;
    int sampler;
    double kappa, recovery, mean[RF_DESCRIBED_MAX], covariance[RF_DESCRIBED_MAX * RF_DESCRIBED_MAX];
    char error[512] = "";
    if (!PyArg_ParseTuple(args, "O!IsKIIiddO!O!", model_type, &model, &f->count, &engine, &seed, &attempts, &accepted,
                          &sampler, &kappa, &recovery, &PyTuple_Type, &priors, &PyTuple_Type, &drifts))
        return NULL;
    if (f->model || !((model_object *)model)->model || f->count == 0)
        return refuse_text("a fleet is opened once, with a model and one filter or more");
    f->model = (model_object *)Py_NewRef(model);
    const rf_config config = rf_config_default(f->model->model);
    const unsigned dim = config.description.dim;
    if (f->model->model->f64->dynamics)
        return refuse_text("model %s moves by its own dynamics, which fleets do not have", config.description.name);
    f->problem.model = config.model;
    f->problem.description = config.description;
    memcpy(f->problem.prior, config.prior, sizeof config.prior);
    for (unsigned i = 0; i < dim; i++) {
        PyObject *own = PyTuple_GetItem(priors, i), *drift = PyTuple_GetItem(drifts, i);
        rf_prior *prior = &f->problem.prior[i];
        if (!own || !drift ||
            (own != Py_None && !PyArg_ParseTuple(own, "pdd", &prior->is_gaussian, &prior->first, &prior->second)))
            return NULL;
        const double sd = drift == Py_None ? config.drift[i] : PyFloat_AsDouble(drift);
        if (PyErr_Occurred())
            return NULL;
        f->drift[i * dim + i] = sd * sd;
        f->drifts |= sd > 0;
    }
    rf_problem_settle(&f->problem);
    rf_status status = rf_problem_priors(&f->problem, mean, covariance);
    if (status < 0)
        return refuse(status, NULL, NULL);
    f->likelihood = rf64_problem_model(&f->problem);
    f->options = rf64_options_default();
    f->options.sampler = sampler >= 0 ? (rf_sampler)sampler : config.sampler;
    f->options.attempts = attempts > 0 ? attempts : config.attempts;
    f->options.accepted_min = accepted > 0 ? accepted : f->options.accepted_min;
    f->options.kappa = kappa > 0 ? kappa : 1;
    f->options.recovery = recovery >= 0 ? recovery : config.recovery;
    if (!(f->engine = rf_engine_open(engine, error, sizeof error)))
        return refuse_text("%s", error);
    if (check_model(f->model, &config.description, NULL) < 0)
        return NULL;
    f->bytes = rf64_filter_bytes(dim);
    f->memory = PyMem_Calloc(f->count, f->bytes);
    f->chosen = PyMem_Calloc(f->count, sizeof *f->chosen);
    f->records = PyMem_Calloc(f->count, (config.description.settings + 1) * sizeof *f->records);
    rf64_filter **filters = PyMem_Calloc(f->count, sizeof *filters);
    if (!f->memory || !f->chosen || !f->records || !filters) {
        PyMem_Free(filters);
        return PyErr_NoMemory();
    }
    for (uint32_t i = 0; i < f->count && status >= 0; i++) {
        const rf_words w = rf_draw(seed, i, 0, 0, RF_FOR_USER); /* the seed of trial i, as in sessions */
        status = rf64_filter_init(&filters[i], f->memory + i * f->bytes, f->bytes, dim,
                                  (uint64_t)w.word[1] << 32 | w.word[0]);
        status = status < 0 ? status : rf64_prior_covariance(filters[i], mean, covariance);
    }
    f->filters = filters;
    return status < 0 ? refuse(status, NULL, NULL) : Py_NewRef(Py_None);
}

typedef struct passing {
    const fleet_object *fleet;
    double elapsed;
} passing;

static rf_status pass_some(void *context, uint32_t begin, uint32_t count)
{
    const passing *p = context;
    rf_status status = RF_OK;
    for (uint32_t i = begin; i < begin + count && status >= 0; i++)
        status = rf64_diffuse_covariance(filter_at(p->fleet, i), p->fleet->drift, p->elapsed);
    return status;
}

enum { PART = 1 << 22 }; /* attempts between two checks for Ctrl-C */

static uint32_t part_of(const fleet_object *f)
{
    return f->options.attempts < PART ? PART / f->options.attempts : 1;
}

/* The first `known` of f->chosen learn from f->records. Refused after Ctrl-C, when some have learnt. */
static rf_status learn_in_parts(const fleet_object *f, uint32_t known, running *r)
{
    const size_t width = f->problem.description.settings + 1u;
    const uint32_t part = part_of(f);
    rf_status status = RF_OK;
    for (uint32_t i = 0; i < known && status >= 0; i += part) {
        const uint32_t count = known - i < part ? known - i : part;
        const rf_status one = i > 0 && is_interrupted(r) ? RF_REFUSED_MODEL
                                                         : rf64_fleet_update(f->chosen + i, count, &f->likelihood, f->records + i * width,
                                                                             &f->options, rf_engine_f64(f->engine), NULL);
        status = one < 0 ? one : status | one;
    }
    return status;
}

/* tell(outcomes, settings, elapsed): settings are a row for each filter, or one row for all; NaN means no outcome.
   Returns notes. */
static PyObject *fleet_tell(PyObject *self, PyObject *args)
{
    fleet_object *f = (fleet_object *)self;
    PyObject *outcomes, *settings;
    double elapsed;
    Py_buffer o, x;
    if (!PyArg_ParseTuple(args, "OOd", &outcomes, &settings, &elapsed) || enter_fleet(f) < 0)
        return NULL;
    const unsigned width = f->problem.description.settings;
    rf_status status = RF_REFUSED_EVIDENCE;
    unsigned char *before = NULL;
    if (doubles(outcomes, &o, 0, f->count, "outcomes") == 0) {
        if (doubles(settings, &x, 0, -1, "settings") == 0) {
            const Py_ssize_t given = x.len / (Py_ssize_t)sizeof(double);
            const int is_shared = given == (Py_ssize_t)width,
                      is_fine = is_shared || given == (Py_ssize_t)width * f->count;
            const int can_fail = f->model->f64.one_thread || (f->drifts && elapsed > 0) || f->count > part_of(f);
            uint32_t known = 0, strange = f->count; /* strange: index of an invalid outcome */
            double *to = f->records;
            for (uint32_t i = 0; i < f->count && is_fine; i++) {
                const double outcome = ((const double *)o.buf)[i];
                if (isnan(outcome))
                    continue;
                if (!is_outcome(&f->problem.description, outcome))
                    strange = i;
                if (width > 0)
                    memcpy(to, (const double *)x.buf + (is_shared ? 0 : (size_t)i * width), width * sizeof *to);
                to[width] = outcome;
                to += width + 1;
                f->chosen[known++] = filter_at(f, i);
            }
            if (!is_fine)
                refuse_text("settings: %u numbers for each of %u filters, or for all, are needed; %zd were given",
                            width, (unsigned)f->count, given);
            else if (strange < f->count) {
                char where[32];
                snprintf(where, sizeof where, "filter %u", (unsigned)strange);
                refuse_outcome(&f->problem.description, ((const double *)o.buf)[strange], where);
            } else if (can_fail && !(before = PyMem_Malloc(f->count * f->bytes)))
                PyErr_NoMemory();
            else {
                running r;
                if (before)
                    memcpy(before, f->memory, f->count * f->bytes);
                begin(&r, f->model, 1);
                status = elapsed >= 0 && isfinite(elapsed) ? RF_OK : RF_REFUSED_TIME;
                if (f->drifts && elapsed > 0 && status >= 0) {
                    passing p = {f, elapsed};
                    const rf_sharing sharing = {.context = &p, .work = pass_some};
                    status = rf_engine_spread(f->engine, &sharing, 0, f->count);
                }
                if (status >= 0 && known > 0)
                    status = learn_in_parts(f, known, &r);
                end(&r);
                if (before && (status < 0 || PyErr_Occurred())) {
                    memcpy(f->memory, before, f->count * f->bytes);
                    status = status < 0 ? status : RF_REFUSED_MODEL;
                }
                f->told += status >= 0;
            }
            PyBuffer_Release(&x);
        }
        PyBuffer_Release(&o);
    }
    PyMem_Free(before);
    f->is_busy = 0;
    return note_of(status, f->engine);
}

/* _read(mean, sd, is_natural): fills arrays of count × dim, in natural units or in the chart. */
static PyObject *fleet_read(PyObject *self, PyObject *args)
{
    fleet_object *f = (fleet_object *)self;
    PyObject *means, *sds;
    Py_buffer m, s;
    const unsigned dim = f->problem.description.dim;
    int is_natural;
    if (!PyArg_ParseTuple(args, "OOp", &means, &sds, &is_natural) || enter_fleet(f) < 0)
        return NULL;
    if (doubles(means, &m, 1, (Py_ssize_t)f->count * dim, "mean") == 0) {
        if (doubles(sds, &s, 1, (Py_ssize_t)f->count * dim, "sd") == 0) {
            double *mean = m.buf, *sd = s.buf;
            for (uint32_t i = 0; i < f->count; i++)
                for (unsigned j = 0; j < dim; j++) {
                    *mean = rf64_filter_mean(filter_at(f, i))[j];
                    *sd = rf64_filter_sd(filter_at(f, i), j);
                    if (is_natural)
                        rf_gaussian_natural(&f->problem.charts[j], mean, sd);
                    mean++, sd++;
                }
            PyBuffer_Release(&s);
        }
        PyBuffer_Release(&m);
    }
    f->is_busy = 0;
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

typedef struct one_of {
    const rf64_filter *filter;
    const rf64_model *model;
} one_of;

static void draw_one(const void *self, uint32_t index, uint32_t purpose, double x[])
{
    const one_of *one = self;
    rf64_filter_draw(one->filter, one->model, index, purpose, x);
}

/* _ask(design, out): writes the next settings of every filter. */
static PyObject *fleet_ask(PyObject *self, PyObject *args)
{
    fleet_object *f = (fleet_object *)self;
    const rf_description *d = &f->problem.description;
    const char *name;
    PyObject *out;
    Py_buffer to;
    if (!PyArg_ParseTuple(args, "sO", &name, &out))
        return NULL;
    const rf64_design *design = f->model ? rf64_design_find(name, d, f->problem.model->f64->design) : NULL;
    if (!design)
        return refuse_text("there is no design '%.40s' for model %s", name, d->name ? d->name : "none");
    if (doubles(out, &to, 1, (Py_ssize_t)f->count * d->settings, "out") < 0)
        return NULL;
    if (enter_fleet(f) == 0) {
        running r;
        begin(&r, f->model, 1);
        for (uint32_t i = 0; i < f->count; i++) {
            const rf64_filter *filter = filter_at(f, i);
            const one_of one = {filter, &f->likelihood};
            double natural[RF_DESCRIBED_MAX], sd[RF_DESCRIBED_MAX], setting[RF_DESCRIBED_MAX];
            for (unsigned j = 0; j < d->dim; j++) {
                natural[j] = rf64_chart_natural(&f->problem.charts[j], rf64_filter_mean(filter)[j]);
                sd[j] = rf64_filter_sd(filter, j);
            }
            const rf64_design_input in = {.instance = f->problem.model->f64,
                                          .model = &f->likelihood,
                                          .description = d,
                                          .mean = natural,
                                          .chart_mean = rf64_filter_mean(filter),
                                          .sd = sd,
                                          .self = &one,
                                          .draw = draw_one,
                                          .seed = filter->seed,
                                          .number = (uint32_t)f->told};
            design->choose(&in, setting);
            if (d->settings > 0)
                memcpy((double *)to.buf + (size_t)i * d->settings, setting, d->settings * sizeof *setting);
            if ((!r.thread && PyErr_Occurred()) || (i % 64 == 63 && is_interrupted(&r)))
                break;
        }
        end(&r);
        f->is_busy = 0;
    }
    PyBuffer_Release(&to);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

/* _save(), _load(bytes): the number of tells, and every filter, the same on every machine. */
static PyObject *fleet_save(PyObject *self, PyObject *ignored)
{
    (void)ignored;
    fleet_object *f = (fleet_object *)self;
    if (enter_fleet(f) < 0)
        return NULL;
    const unsigned dim = f->problem.description.dim;
    rf_writer w = {NULL, 0};
    for (int pass = 0; pass < 2; pass++) {
        w.size = 0;
        rf_write_u64(&w, f->told);
        for (uint32_t i = 0; i < f->count; i++) {
            const rf64_filter *filter = filter_at(f, i);
            rf_write_u64(&w, filter->seed);
            rf_write_u64(&w, rf64_filter_updates(filter));
            for (unsigned j = 0; j < dim; j++)
                rf_write_real(&w, rf64_filter_mean(filter)[j]);
            for (unsigned j = 0; j < RF_TRIANGLE(dim); j++)
                rf_write_real(&w, rf64_filter_factor(filter)[j]);
            for (unsigned j = 0; j < dim; j++)
                rf_write_real(&w, rf64_filter_rest(filter, j));
        }
        if (pass == 0 && !(w.to = PyMem_Malloc(w.size)))
            break;
    }
    PyObject *saved = w.to ? PyBytes_FromStringAndSize((const char *)w.to, (Py_ssize_t)w.size) : PyErr_NoMemory();
    PyMem_Free(w.to);
    f->is_busy = 0;
    return saved;
}

static PyObject *fleet_load(PyObject *self, PyObject *args)
{
    fleet_object *f = (fleet_object *)self;
    const unsigned char *bytes;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(args, "y#", &bytes, &size) || enter_fleet(f) < 0)
        return NULL;
    const unsigned dim = f->problem.description.dim;
    rf_reader r = {bytes, (size_t)size, 0, 0};
    const uint64_t told = rf_read_u64(&r);
    unsigned char *before = PyMem_Malloc(f->count * f->bytes);
    int is_fine = before != NULL;
    if (before)
        memcpy(before, f->memory, f->count * f->bytes);
    for (uint32_t i = 0; i < f->count && is_fine; i++) {
        double mean[RF_DESCRIBED_MAX], rest[RF_DESCRIBED_MAX], factor[RF_TRIANGLE(RF_DESCRIBED_MAX)];
        const uint64_t seed = rf_read_u64(&r), updates = rf_read_u64(&r);
        for (unsigned j = 0; j < dim; j++)
            mean[j] = rf_read_real(&r);
        for (unsigned j = 0; j < RF_TRIANGLE(dim); j++)
            factor[j] = rf_read_real(&r);
        for (unsigned j = 0; j < dim; j++)
            rest[j] = rf_read_real(&r);
        is_fine = !r.failed && updates <= UINT32_MAX &&
                  rf64_filter_restore(filter_at(f, i), seed, (uint32_t)updates, mean, factor, rest) >= 0;
    }
    is_fine = is_fine && rf_read_all(&r);
    if (is_fine)
        f->told = told;
    else if (before)
        memcpy(f->memory, before, f->count * f->bytes);
    PyMem_Free(before);
    f->is_busy = 0;
    return is_fine ? Py_NewRef(Py_None) : refuse_text("these are not the bytes of such a fleet");
}

static PyObject *fleet_told(PyObject *self, void *ignored)
{
    (void)ignored;
    return PyLong_FromUnsignedLongLong(((fleet_object *)self)->told);
}

static int traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((fleet_object *)self)->model);
    return 0;
}

static int clear(PyObject *self)
{
    Py_CLEAR(((fleet_object *)self)->model);
    return 0;
}

static void dealloc(PyObject *self)
{
    fleet_object *f = (fleet_object *)self;
    PyObject_GC_UnTrack(self);
    clear(self);
    rf_engine_close(f->engine);
    PyMem_Free(f->memory);
    PyMem_Free(f->filters);
    PyMem_Free(f->chosen);
    PyMem_Free(f->records);
    free_object(self);
}

static PyMethodDef methods[] = {
    {"_open", fleet_open, METH_VARARGS, NULL},
    {"_tell", fleet_tell, METH_VARARGS, NULL},
    {"_read", fleet_read, METH_VARARGS, NULL},
    {"_ask", fleet_ask, METH_VARARGS, NULL},
    {"_save", fleet_save, METH_NOARGS, NULL},
    {"_load", fleet_load, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef getset[] = {{"_told", fleet_told, NULL, NULL, NULL}, {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot slots[] = {{Py_tp_dealloc, (void *)dealloc},
                              {Py_tp_traverse, (void *)traverse},
                              {Py_tp_clear, (void *)clear},
                              {Py_tp_methods, (void *)methods},
                              {Py_tp_getset, (void *)getset},
                              {Py_tp_new, (void *)PyType_GenericNew},
                              {0, NULL}};

PyType_Spec fleet_spec = {.name = "rejfilt._rejfilt.Fleet",
                          .basicsize = sizeof(fleet_object),
                          .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
                          .slots = slots};
