/* Any operations, with any numbers, on filters of any built-in model: one filter per engine, all with the same
   calls. They agree to the bit; their state and reports are finite and consistent; a refused call changes nothing.
   Fleets give the same as single filters; designers choose only allowed settings. Per precision. */
#include "numerics.h"

#include <math.h>
#include <string.h>

#include "engine_names.h"
#include "fuzz.h"
#include "per_precision.h"
#include "rejfilt/detail/tally.h"
#include "rejfilt/passes.h"
#include "rejfilt/session.h"

enum { DIM = 4, RECORDS = 3, RECORDS_TOGETHER = 6 /* in passes */, RECORD = 8, STEPS_MAX = 40, SESSIONS_MAX = 4 /* the slowest steps */, ATTEMPTS_MAX = 5000, FLEET_MAX = 66 /* enough for two threads */ };

static engine_list engines; /* the first is serial; not opened: modules, targets that this CPU lacks, and paranoid,
                               which refuses bad likelihoods */

/* ---- Choices, taken from the input's bytes ---- */

typedef struct input {
    const uint8_t *at, *end;
} input;

static unsigned byte(input *in) { return in->at < in->end ? *in->at++ : 0; }

static unsigned below(input *in, unsigned count) { return byte(in) % count; }

/* Mostly ordinary numbers, sometimes any number at all. */
static rf_real number(input *in)
{
    static const rf_real odd[] = {0,           -RF_C(0.0),   1,         -1,        RF_TINY,       RF_LIMIT,
                                  -RF_LIMIT,   RF_LIMIT * 2, INFINITY,  -INFINITY, NAN,           RF_TINY / 2,
                                  RF_C(1e-30), RF_C(1e30),   RF_C(1e9), RF_C(0.5), RF_C(3.14159), RF_TINY *RF_TINY * RF_TINY};
    const unsigned kind = byte(in);
    rf_real value = 0;
    if (kind < 192)
        return (rf_real)((int)byte(in) - 128) * (kind < 128 ? RF_C(0.03125) : RF_C(0.0009765625) * (rf_real)kind);
    if (kind < 224)
        return odd[below(in, sizeof odd / sizeof odd[0])];
    for (size_t i = 0; i < sizeof value; i++)
        ((unsigned char *)&value)[i] = (unsigned char)byte(in);
    return value;
}

static void numbers(input *in, rf_real to[], size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = number(in);
}

/* Mostly positive and of ordinary size. */
static rf_real width(input *in)
{
    const unsigned kind = byte(in);
    return kind < 224 ? RF_C(0.005) * (rf_real)(kind + 1) : number(in);
}

/* `kappa_next`: the value of the controller, or 0. */
static RF(options) any_options(input *in, rf_real kappa_next)
{
    static const uint32_t attempts[] = {1, 2, 3, 5, 10, 20, 33, 50, 64, 65, 100, 127, 129, 200, 500, 2500};
    RF(options) o = RF(options_default)();
    const unsigned kind = byte(in);
    o.attempts = attempts[below(in, 16)];
    o.sampler = (rf_sampler)below(in, 3);
    if (kind & 1)
        o.kappa = width(in);
    if ((kind & 0x91) == 0x91 && kappa_next > 0)
        o.kappa = kappa_next;
    if (kind & 2) {
        o.strict = 1;
        o.sampler = RF_REJECT;
    }
    if (kind & 4)
        o.accepted_min = byte(in);
    if (kind & 8)
        o.batches_max = 1 + below(in, 30);
    if ((kind & 0x70) == 0x70) {
        o.recovery = width(in);
        o.hedge = width(in);
        o.shrink = width(in);
    }
    if ((kind & 0xf0) == 0x80) { /* undocumented values */
        o.attempts = byte(in) & 1 ? 0 : o.attempts;
        o.strict = below(in, 3);
        o.sampler = (rf_sampler)below(in, 5);
        o.kappa = number(in);
    }
    while ((uint64_t)o.attempts * o.batches_max > ATTEMPTS_MAX)
        o.batches_max = (o.batches_max + 1) / 2 < o.batches_max ? (o.batches_max + 1) / 2 : 1;
    return o;
}

/* ---- Filters ---- */

typedef struct world {
    const rf_model *known;
    const RF(instance) *instance;
    RF(model) model;
    RF(chart) charts[RF_DESCRIBED_MAX];
    rf_engine *engine[ENGINE_NAMES_MAX];
    RF_ALIGNED unsigned char memory[ENGINE_NAMES_MAX][FILTER_BYTES(DIM)];
    RF(filter) *filter[ENGINE_NAMES_MAX];
    RF(evidence) evidence;
    rf_real kappa_next; /* of the latest report */
} world;

/* All of a filter except its workspace. */
typedef struct snapshot {
    uint64_t seed;
    RF(tally) tally;
    int64_t sums[DIM + RF_TRIANGLE(DIM)];
    rf_real state[DIM + RF_TRIANGLE(DIM)];
} snapshot;

static snapshot snapshot_of(RF(filter) *f)
{
    snapshot s;
    const size_t count = f->tally.dim + RF_TRIANGLE(f->tally.dim);
    memset(&s, 0, sizeof s);
    s.seed = f->seed;
    s.tally = f->tally;
    memcpy(s.sums, RF(tally_z)(&f->tally), count * sizeof *s.sums);
    memcpy(s.state, RF(filter_mean)(f), count * sizeof *s.state);
    return s;
}

static void check_filter(const RF(filter) *f)
{
    const unsigned dim = f->tally.dim;
    for (unsigned i = 0; i < dim; i++) {
        const rf_real *row = RF(filter_factor)(f) + RF_TRIANGLE(i);
        fuzz_require(isfinite(RF(filter_mean)(f)[i]) && isfinite(RF(filter_rest)(f, i)));
        for (unsigned j = 0; j <= i; j++)
            fuzz_require(isfinite(row[j]));
        fuzz_require(row[i] > 0 && isfinite(RF(filter_sd)(f, i)));
    }
}

/* ---- Operations: each makes one call on every engine's filter, with the same arguments ---- */

typedef struct call {
    unsigned kind;
    rf_real a[DIM * DIM], b[DIM * DIM], x, y;
    rf_real records[RECORDS * RECORD];
    uint32_t count;
    RF(options) options;
    uint64_t seed;
    uint32_t updates;
} call;

enum { UPDATE, PRIOR_GAUSSIAN, PRIOR_BOX, PRIOR_COVARIANCE, RESTORE, DIFFUSE, DIFFUSE_COVARIANCE, EVOLVE, MOVE, WIDEN, STRETCH, KINDS };

/* A covariance A·Aᵀ, sometimes any matrix. */
static void covariance(input *in, unsigned dim, rf_real to[])
{
    rf_real a[DIM * DIM];
    numbers(in, a, (size_t)dim * dim);
    const int any = below(in, 8) == 0;
    for (unsigned i = 0; i < dim; i++)
        for (unsigned j = 0; j < dim; j++) {
            rf_real sum = 0;
            for (unsigned k = 0; k < dim; k++)
                sum += a[i * dim + k] * a[j * dim + k];
            to[i * dim + j] = any ? a[i * dim + j] : sum;
        }
}

/* Settings near the described ones, or any; the same for outcomes. */
static void any_record(input *in, const rf_description *description, rf_real record[])
{
    for (unsigned i = 0; i < description->settings; i++) {
        const rf_setting *s = &description->setting[i];
        const double part = byte(in) / 255.0, wide = s->high > s->low ? s->high - s->low : 4;
        record[i] = s->role == RF_SETTING_FIXED ? (rf_real)s->low : (rf_real)(s->low + part * wide);
        if (below(in, 16) == 0)
            record[i] = number(in);
    }
    record[description->settings] = description->outcomes ? (rf_real)below(in, description->outcomes) : number(in);
    if (below(in, 32) == 0)
        record[description->settings] = number(in);
}

static call any_call(input *in, const world *w, unsigned choice)
{
    call c;
    const rf_description *description = w->instance->description;
    const unsigned dim = w->model.dim;
    memset(&c, 0, sizeof c);
    c.kind = choice < 128 ? UPDATE : choice % KINDS;
    c.options = RF(options_default)();
    if (c.kind == UPDATE) {
        c.options = any_options(in, w->kappa_next);
        c.count = below(in, 32) == 0 ? 0 : 1 + below(in, RECORDS);
        for (unsigned i = 0; i < c.count; i++)
            any_record(in, description, c.records + i * (description->settings + 1u));
    } else if (c.kind == PRIOR_BOX) {
        for (unsigned i = 0; i < dim; i++) {
            const double low = description->parameter[i].low, part = (description->parameter[i].high - low) / 255;
            const unsigned first = byte(in), second = byte(in);
            c.a[i] = (rf_real)(low + part * first);
            c.b[i] = (rf_real)(low + part * second);
            if (below(in, 16) == 0)
                c.b[i] = number(in);
        }
    } else if (c.kind == PRIOR_COVARIANCE || c.kind == DIFFUSE_COVARIANCE || c.kind == EVOLVE) {
        numbers(in, c.a, c.kind == EVOLVE ? (size_t)dim * dim : dim);
        covariance(in, dim, c.b);
    } else if (c.kind == MOVE && w->instance->dynamics) {
        w->instance->dynamics(width(in), c.a, c.b);
    } else {
        numbers(in, c.a, dim);
        for (unsigned i = 0; i < RF_TRIANGLE(DIM); i++)
            c.b[i] = width(in);
    }
    c.x = width(in);
    c.y = width(in);
    c.updates = byte(in) & 1 ? UINT32_MAX - byte(in) : byte(in);
    c.seed = byte(in) * UINT64_C(0x0123456789abcdef);
    return c;
}

static rf_status make(const call *c, const world *w, unsigned which, RF(report) *report)
{
    RF(filter) *f = w->filter[which];
    switch (c->kind) {
    case PRIOR_GAUSSIAN: return RF(prior_gaussian)(f, &w->model, c->a, c->b);
    case PRIOR_BOX: return RF(prior_box)(f, &w->model, c->a, c->b);
    case PRIOR_COVARIANCE: return RF(prior_covariance)(f, c->a, c->b);
    case RESTORE: return RF(filter_restore)(f, c->seed, c->updates, c->a, c->b, NULL);
    case DIFFUSE: return RF(diffuse)(f, c->x, c->y);
    case DIFFUSE_COVARIANCE: return RF(diffuse_covariance)(f, c->b, c->x);
    case EVOLVE: return RF(evolve)(f, c->a, c->seed ? c->b : NULL);
    case MOVE: return w->instance->dynamics ? RF(evolve)(f, c->a, c->b) : RF_OK;
    case WIDEN: return RF(widen)(f, c->x);
    case STRETCH: return RF(stretch)(f, c->b);
    default: return RF(update)(f, &w->model, c->records, c->count, &c->options, ENGINE(w->engine[which]), report);
    }
}

static int is_finite(rf_real v) { return isfinite(v); }

/* After an update no standard deviation is below the spacing of numbers near its mean. */
static void check_spacing(const RF(filter) *f)
{
    for (unsigned i = 0; i < f->tally.dim; i++)
        fuzz_require(RF(filter_sd)(f, i) >= RF_EPSILON * RF(abs)(RF(filter_mean)(f)[i]));
}

static void check_report(const call *c, rf_status status, uint32_t update, const RF(report) *r)
{
    const RF(options) *o = &c->options;
    const int weighs = o->sampler == RF_WEIGHT;
    fuzz_require(r->status == status && r->update == update);
    fuzz_require(r->attempts > 0 && r->attempts % o->attempts == 0);
    fuzz_require(r->attempts / o->attempts <= (o->strict ? 1 : o->batches_max));
    fuzz_require(r->accepted <= r->attempts && r->above <= r->attempts);
    fuzz_require(r->nan <= r->attempts && r->negative <= r->attempts && r->infinite <= r->attempts);
    fuzz_require(r->acceptance >= 0 && r->acceptance <= 1);
    if (!o->strict && r->attempts / o->attempts < o->batches_max)
        fuzz_require(r->accepted >= o->accepted_min);
    const rf_status none = r->accepted < (o->strict ? 1 : 2) ? RF_NOTE_WIDENED : 0, few = !o->strict && r->accepted < o->accepted_min ? RF_NOTE_SHORT : 0;
    const int is_broken = none && 2 * ((uint64_t)r->nan + r->negative + r->infinite) > r->attempts; /* counts end far above the attempts made here */
    fuzz_require((status & (RF_NOTE_WIDENED | RF_NOTE_SHORT | RF_NOTE_BROKEN)) == (is_broken ? RF_NOTE_BROKEN : none | few));
    fuzz_require(!(status & RF_NOTE_FEW) || !none);
    fuzz_require(!(status & RF_NOTE_SINGLE) == !(o->strict && r->accepted == 1));
    fuzz_require(!(status & RF_NOTE_BAD) == !(r->nan || r->negative || r->infinite));
    fuzz_require(weighs || !(status & RF_NOTE_ABOVE) == !r->above);
    fuzz_require(r->largest >= 0 && is_finite(r->largest));
    fuzz_require(r->kappa > 0 && is_finite(r->kappa) && r->kappa_next > 0 && is_finite(r->kappa_next));
    fuzz_require(r->delta >= 0 && r->delta <= 1);
    fuzz_require(is_finite(r->log_evidence));
    fuzz_require(r->log_evidence_variance >= 0 && is_finite(r->log_evidence_variance));
}

/* Makes one call on every filter. */
static void step(world *w, input *in, unsigned choice)
{
    const call c = any_call(in, w, choice);
    const snapshot before = snapshot_of(w->filter[0]);
    RF(report) first;
    snapshot after = before;
    rf_status status = RF_OK;
    for (unsigned i = 0; i < engines.count; i++) {
        if (!w->engine[i])
            continue;
        RF(report) report;
        memset(&report, 0, sizeof report);
        const rf_status got = make(&c, w, i, &report);
        const snapshot now = snapshot_of(w->filter[i]);
        if (i == 0) {
            first = report;
            after = now;
            status = got;
        }
        if (got != status || memcmp(&now, &after, sizeof now) != 0 || memcmp(&report, &first, sizeof report) != 0) {
            fprintf(stderr, "engine %s differs from serial: model %s, operation %u, m = %u, sampler %d\n", engines.name[i].text,
                    w->instance->description->name, c.kind, c.options.attempts, (int)c.options.sampler);
            abort();
        }
    }
    if (status < 0)
        fuzz_require(memcmp(&before, &after, sizeof before) == 0);
    check_filter(w->filter[0]);
    if (c.kind == UPDATE && status >= 0) {
        check_report(&c, status, before.tally.update, &first);
        check_spacing(w->filter[0]);
        fuzz_require(RF(filter_updates)(w->filter[0]) == before.tally.update + 1);
        w->kappa_next = first.kappa_next;
        RF(evidence_add)(&w->evidence, &first);
        fuzz_require(is_finite(w->evidence.log + w->evidence.carry) && w->evidence.variance >= 0);
    }
}

/* ---- Fleets: copies of the first filter, with seeds of their own, one record each ---- */

typedef struct squadron {
    RF_ALIGNED unsigned char memory[FLEET_MAX][FILTER_BYTES(DIM)];
    RF(filter) *filter[FLEET_MAX];
    RF(report) report[FLEET_MAX];
} squadron;

static void copy_filter(const RF(filter) *from, uint64_t seed, void *memory, RF(filter) **to)
{
    fuzz_require(RF(filter_init)(to, memory, FILTER_BYTES(DIM), from->tally.dim, seed) == RF_OK);
    rf_real rest[DIM];
    for (unsigned i = 0; i < from->tally.dim; i++)
        rest[i] = RF(filter_rest)(from, i);
    fuzz_require(RF(filter_restore)(*to, seed, RF(filter_updates)(from), RF(filter_mean)(from), RF(filter_factor)(from), rest) == RF_OK);
}

static void muster(squadron *s, const RF(filter) *from, uint32_t count)
{
    memset(s->report, 0, sizeof s->report);
    for (uint32_t i = 0; i < count; i++)
        copy_filter(from, i, s->memory[i], &s->filter[i]);
}

static void fleet_step(world *w, input *in)
{
    static squadron alone, fleet;
    static rf_real records[FLEET_MAX * RECORD];
    RF(options) options = any_options(in, w->kappa_next);
    const uint32_t count = below(in, 16) == 0 ? FLEET_MAX : 1 + below(in, 4);
    const size_t width = w->model.settings + 1u;
    rf_status status = RF_OK;
    if (count == FLEET_MAX) { /* many filters, few attempts */
        options.attempts = options.attempts < 20 ? options.attempts : 20;
        options.batches_max = 1;
    }
    for (uint32_t i = 0; i < count; i++)
        any_record(in, w->instance->description, records + i * width);
    muster(&alone, w->filter[0], count);
    for (uint32_t i = 0; i < count && status >= 0; i++) {
        const rf_status own = RF(update)(alone.filter[i], &w->model, records + i * width, 1, &options, NULL, &alone.report[i]);
        status = own < 0 ? own : status | own;
    }
    for (unsigned e = 0; e < engines.count; e++) {
        if (!w->engine[e])
            continue;
        muster(&fleet, w->filter[0], count);
        const snapshot first = snapshot_of(fleet.filter[0]);
        const rf_status got = RF(fleet_update)(fleet.filter, count, &w->model, records, &options, ENGINE(w->engine[e]), fleet.report);
        fuzz_require(status < 0 ? got < 0 : got == status);
        for (uint32_t i = 0; i < count; i++) {
            snapshot now = snapshot_of(fleet.filter[i]), expected = status < 0 ? first : snapshot_of(alone.filter[i]);
            expected.seed = i;
            fuzz_require(memcmp(&now, &expected, sizeof now) == 0);
            fuzz_require(status < 0 || memcmp(&fleet.report[i], &alone.report[i], sizeof fleet.report[i]) == 0);
        }
    }
}

/* ---- Designers ---- */

/* Checks that settings are finite and in their ranges; rounded settings may exceed them by one half. */
static void check_settings(const rf_description *description, const double setting[])
{
    for (unsigned i = 0; i < description->settings; i++) {
        const rf_setting *s = &description->setting[i];
        const double value = setting[i], slack = 1e-5 * (fabs(s->low) + fabs(s->high)) + (s->is_integer ? 0.5 : 0);
        fuzz_require(isfinite(value));
        if (s->role != RF_SETTING_GUESS)
            fuzz_require(value >= s->low - slack && value <= (s->role == RF_SETTING_FIXED ? s->low : s->high) + slack);
        fuzz_require(!s->is_integer || value == floor(value));
    }
}

/* A session asks twice, with the same result, and is told an outcome. Its copy, and a session loaded from its bytes,
   continue in the same way. */
static void design_step(world *w, input *in)
{
    static const char *const names[] = {"auto", "pgh", "pgh-distance", "quadrature", "risk"};
    const char *const beliefs[] = {"gaussian", "mixture:4", "particles:50", w->model.dim == 1 ? "grid:1024" : "grid:128"};
    static unsigned char bytes[1 << 22];
    rf_config config = rf_config_default(w->known);
    rf_record first, again;
    rf_step step, other;
    double x[RF_DESCRIBED_MAX];
    config.design = names[below(in, 5)];
    const unsigned kind = byte(in);
    config.belief = beliefs[kind & 3];
    config.is_float = RF_PRECISION == 32 && (kind & 3) < 2;
    config.on_lost = (rf_on_lost)(kind >> 2 & 3);
    config.kappa = kind >> 4 & 1;
    config.sampler = kind >> 5 & 1 ? RF_WEIGHT : RF_REJECT;
    config.attempts = 20;
    config.seed = byte(in);
    rf_session *session = rf_session_open(&config, NULL, 0);
    if (!session)
        return;
    for (unsigned k = 0; k < 4; k++) {
        fuzz_require(rf_session_ask(session, 1, &again) >= 0);
        fuzz_require(rf_session_ask(session, 1, &first) >= 0);
        fuzz_require(memcmp(first.setting, again.setting, sizeof first.setting) == 0);
        check_settings(&config.description, first.setting);
        rf_session_belief(session)->kind->draw(rf_session_belief(session), 0, RF_FOR_USER, x);
        first.outcome = rf64_instance_outcome(w->known->f64, x, first.setting, config.seed, k);
        first.time = byte(in) & 1 ? k * 2.0 : NAN;
        rf_session *copy = rf_session_copy(session);
        fuzz_require(copy);
        const rf_status status = rf_session_tell(session, &first, 1, &step);
        fuzz_require(rf_session_tell(copy, &first, 1, &other) == status);
        const size_t size = rf_session_save(session, NULL);
        fuzz_require(size <= sizeof bytes && rf_session_save(session, bytes) == size && rf_session_load(copy, bytes, size) == 0);
        rf_session_show(session, &step);
        rf_session_show(copy, &other);
        for (unsigned i = 0; i < step.dim; i++) {
            fuzz_require(step.mean[i] > -0x1p500 && step.sd[i] > 0 && step.low[i] <= step.high[i]);
            fuzz_require(step.chart_mean[i] == other.chart_mean[i] && step.sd[i] == other.sd[i]);
        }
        fuzz_require(step.health == other.health && step.health <= RF_LOST && isfinite(step.log_evidence));
        rf_session_close(copy);
    }
    rf_session_close(session);
}

/* ---- Boxes ---- */

/* A uniform prior of any range, and a drift of any size. A possible record is learnt, however often it comes and
   however far it moves the belief to one end of the range; and the belief stays finite. */
static void box_step(world *w, input *in)
{
    static const char *const beliefs[] = {"mixture:4", "mixture:1", "mixture"};
    const unsigned dim = w->model.dim, settings = w->model.settings;
    rf_config config = rf_config_default(w->known);
    char error[200] = "";
    rf_step step;
    config.belief = beliefs[below(in, 3)];
    config.on_lost = (rf_on_lost)below(in, 4);
    config.seed = byte(in);
    for (unsigned i = 0; i < dim; i++) {
        const rf_parameter *p = &config.description.parameter[i];
        const double wide = p->high - p->low, first = p->low + wide * below(in, 128) / 128.0, part = (1 + byte(in)) / 256.0;
        const unsigned kind = byte(in);
        config.prior[i] = (rf_prior){0, first, first + (p->low + wide - first) * part};
        if (kind >= 240)
            config.prior[i] = (rf_prior){0, (double)number(in), (double)number(in)};
        config.drift[i] = kind % 4 == 3 ? 0 : (double)width(in) * (kind % 4 == 0 ? 1e-6 : kind % 4 == 1 ? 0.01 : 1) * wide;
    }
    rf_session *session = rf_session_open(&config, error, sizeof error);
    if (!session) {
        fuzz_require_message(error, sizeof error);
        return;
    }
    int is_learning = 0;
    for (unsigned k = 0; k < 4; k++) {
        rf_real numbers[RECORD];
        rf_record record = {.time = NAN};
        any_record(in, w->instance->description, numbers);
        int is_fine = isfinite(numbers[settings]) != 0;
        for (unsigned i = 0; i < settings; i++) {
            record.setting[i] = (double)numbers[i];
            is_fine &= isfinite(numbers[i]) != 0;
        }
        record.outcome = (double)numbers[settings];
        is_fine = is_fine && rf64_outcome_is_possible(&config.description, record.setting, record.outcome);
        for (unsigned often = 1 + below(in, 24); often > 0 && is_fine; often--) {
            const rf_status status = rf_session_tell(session, &record, 1, &step);
            if (status == RF_REFUSED_MODEL && !is_learning && rf_config_try(&config, record.setting, error, sizeof error) < 0)
                break; /* the first record's settings are impossible */
            fuzz_require(status >= 0);
            is_learning = 1;
            for (unsigned i = 0; i < dim; i++)
                fuzz_require(step.mean[i] > -0x1p500 && isfinite(step.chart_sd[i]) && step.chart_sd[i] > 0 && step.low[i] <= step.high[i]);
            fuzz_require(isfinite(step.log_evidence) && isfinite(step.loss) && step.health <= RF_FAULT);
        }
    }
    rf_session_close(session);
}

/* ---- Passes ---- */

/* All records at once, of any numbers: refused with one line, or the same results on two engines, with consistent
   numbers. */
static void passes_step(world *w, input *in)
{
    double records[RECORDS_TOGETHER * RECORD];
    rf_config config = rf_config_default(w->known);
    rf_passes_result result[2];
    const size_t width = w->model.settings + 1u, count = below(in, RECORDS_TOGETHER + 1);
    memset(config.drift, 0, sizeof config.drift);
    config.seed = byte(in);
    for (size_t k = 0; k < count; k++) {
        rf_real record[RECORD];
        any_record(in, w->instance->description, record);
        for (size_t i = 0; i < width; i++)
            records[k * width + i] = (double)record[i];
    }
    for (unsigned e = 0; e < 2; e++) {
        char error[200] = "";
        config.engine = w->engine[e];
        rf_passes *passes = rf_passes_open(&config, records, count, error, sizeof error);
        if (!passes) {
            fuzz_require_message(error, sizeof error);
            return;
        }
        fuzz_require(rf_passes_run(passes, NULL, NULL, &result[e]) == RF_OK);
        const rf_passes_result *r = &result[e];
        for (unsigned i = 0; i < r->dim && r->effective > 0; i++) {
            fuzz_require(isfinite(r->mean[i]) && r->sd[i] >= 0 && r->low[i] <= r->median[i] && r->median[i] <= r->high[i]);
            fuzz_require(rf_passes_quantile(passes, i, 0.1) <= rf_passes_quantile(passes, i, 0.9));
        }
        fuzz_require(r->effective >= 0 && r->effective <= r->points * (1 + 1e-9));
        fuzz_require(r->verdict == (r->effective < RF_PASSES_LEAST ? RF_PASSES_DOUBTFUL : RF_PASSES_FINE));
        rf_passes_close(passes);
    }
    fuzz_require(memcmp(&result[0], &result[1], sizeof result[0]) == 0);
}

static world w;

static void close_engines(void)
{
    for (unsigned i = 0; i < engines.count; i++)
        rf_engine_close(w.engine[i]);
}

void RF(numerics)(const uint8_t *bytes, size_t count)
{
    input in = {bytes, bytes + count};
    unsigned models = 0;
    while (rf_model_at(models))
        models++;
    w.known = rf_model_at(below(&in, models));
    w.instance = INSTANCE(w.known);
    w.model = RF(instance_model)(w.instance, w.charts);
    w.evidence = (RF(evidence)){0};
    w.kappa_next = 0;
    fuzz_require(w.model.dim <= DIM && w.model.settings < RECORD);
    rf_real low[DIM], high[DIM];
    for (unsigned i = 0; i < w.model.dim; i++) {
        low[i] = (rf_real)w.instance->description->parameter[i].low;
        high[i] = (rf_real)w.instance->description->parameter[i].high;
    }
    if (!w.engine[0]) {
        atexit(close_engines);
        engines = list_engines(2);
        for (unsigned i = 0; i < engines.count; i++)
            if (!engines.name[i].is_module && strncmp(engines.name[i].text, "paranoid", 8) != 0)
                w.engine[i] = rf_engine_open(engines.name[i].text, NULL, 0);
        fuzz_require(w.engine[0] && w.engine[1]);
    }
    for (unsigned i = 0; i < engines.count; i++) {
        fuzz_require(RF(filter_init)(&w.filter[i], w.memory[i], sizeof w.memory[i], w.model.dim, 7) == RF_OK);
        fuzz_require(RF(prior_box)(w.filter[i], &w.model, low, high) == RF_OK);
    }
    unsigned sessions = 0;
    for (unsigned i = 0; i < STEPS_MAX && in.at < in.end; i++) {
        const unsigned choice = byte(&in);
        if (choice < 232)
            step(&w, &in, choice);
        else if (choice < 244)
            fleet_step(&w, &in);
        else if (choice == 255 && sessions == 0) {
            passes_step(&w, &in);
            sessions = SESSIONS_MAX;
        }
        else if (sessions++ < SESSIONS_MAX)
            (choice >= 251 ? box_step : design_step)(&w, &in);
    }
}
