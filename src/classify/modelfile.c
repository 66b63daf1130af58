/* A model as bytes: sealed (src/base/sealed.h), and of it
     32   zeros
     ...  parts, in the order of walk(), each its length (8 bytes) and, at the next multiple of 64, its contents */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "coding.h"
#include "engine.h"
#include "model.h"
#include "sealed.h"

#define KIND "RFMODEL\n"

enum { VERSION = 8, HEAD = RFC_MODEL_HEAD, ALIGN = 64 };

/* Scalars of a model. */
typedef struct scalars {
    uint32_t count, features, classes, laid, segments, is_ranked, gain, budget, pilot, nodes, objects, steps;
    uint32_t used, cuts, limit, unused;
    float offset, factor;
    uint64_t stride, seed;
    double largest_deviation, stop, max_cost, floor, least_sample, most_sample, sharpest, calibration[3], early[3];
} scalars;

/* ---- Writing ---- */

typedef struct writer {
    uint8_t *to; /* null: count only */
    size_t at;
} writer;

static size_t aligned(size_t at) { return (at + ALIGN - 1) / ALIGN * ALIGN; }

static void put(writer *w, const void *from, size_t bytes)
{
    const uint64_t length = from ? bytes : 0;
    if (w->to) {
        memcpy(w->to + w->at, &length, sizeof length);
        memset(w->to + w->at + sizeof length, 0, ALIGN - sizeof length);
        if (length > 0)
            memcpy(w->to + w->at + ALIGN, from, length);
        memset(w->to + w->at + ALIGN + length, 0, aligned(length) - length);
    }
    w->at += ALIGN + aligned(length);
}

/* Writes texts, each with its terminating zero. Returns 0, or -1 when out of memory. */
static int put_names(writer *w, const rfc_names *names)
{
    size_t length = 0, at = 0;
    for (uint32_t i = 0; i < names->count; i++)
        length += strlen(names->text[i]) + 1;
    char *all = malloc(length + 1);
    for (uint32_t i = 0; all && i < names->count; i++) {
        const size_t one = strlen(names->text[i]) + 1;
        memcpy(all + at, names->text[i], one);
        at += one;
    }
    put(w, all, length);
    free(all);
    return all ? 0 : -1;
}

/* The pilot of the fit, which goals that are set later begin with. */
static const rfc_pilot *pilot_of(const rfc_model *m) { return m->fitted.objects > 0 ? &m->fitted : &m->pilot; }

static scalars scalars_of(const rfc_model *m)
{
    const rfc_training *t = &m->laid;
    const rfc_rules *r = &m->rules;
    scalars s;
    memset(&s, 0, sizeof s);
    s.count = t->count, s.features = t->features, s.classes = t->classes, s.laid = t->laid, s.segments = t->segments;
    s.is_ranked = t->is_ranked != 0, s.gain = r->gain, s.budget = r->budget, s.pilot = r->pilot,
    s.nodes = m->tree.count;
    s.objects = pilot_of(m)->objects, s.steps = pilot_of(m)->steps, s.limit = m->budget, s.stride = t->stride, s.seed = r->seed;
    s.used = m->coding->used, s.cuts = m->coding->cuts, s.offset = m->coding->all.offset;
    s.factor = m->coding->all.factor, s.largest_deviation = t->largest_deviation, s.stop = r->stop;
    s.max_cost = r->max_cost, s.floor = r->floor, s.least_sample = r->least_sample, s.most_sample = r->most_sample;
    s.sharpest = r->sharpest;
    memcpy(s.calibration, r->calibration, sizeof s.calibration);
    memcpy(s.early, r->early, sizeof s.early);
    return s;
}

static int write_all(const rfc_model *m, writer *w)
{
    const rfc_pilot *p = pilot_of(m);
    const rfc_training *t = &m->laid;
    const scalars s = scalars_of(m);
    const rfc_coding *c = m->coding;
    int status = 0;
    put(w, &s, sizeof s);
    put(w, t->segment, t->segments * sizeof t->segment[0]);
    put(w, t->class_begin, (t->classes + (size_t)1) * sizeof *t->class_begin);
    put(w, t->feature, t->laid * sizeof *t->feature);
    put(w, t->low, t->laid);
    put(w, t->step, t->laid * sizeof *t->step);
    put(w, t->columns, t->stride * t->laid);
    put(w, t->sketches, t->sketch * t->count);
    put(w, t->is_category, t->features);
    put(w, m->mask, t->features);
    put(w, m->cost, t->features * sizeof *m->cost);
    put(w, m->group, t->features * sizeof *m->group);
    put(w, m->prior, t->classes * sizeof *m->prior);
    put(w, m->weight, t->classes * sizeof *m->weight);
    put(w, m->tree.node, m->tree.count * sizeof *m->tree.node);
    put(w, p->step, (size_t)p->objects * p->steps * sizeof *p->step);
    put(w, p->questions, p->objects * sizeof *p->questions);
    put(w, p->loss, p->objects * sizeof *p->loss);
    put(w, c->fill, t->features);
    put(w, c->quantile, (size_t)t->features * c->cuts * sizeof *c->quantile);
    status |= put_names(w, &m->classes);
    status |= put_names(w, &m->names);
    status |= put_names(w, &m->labels);
    put(w, m->of_label, sizeof m->of_label);
    for (uint32_t j = 0; j < t->features && c->categories; j++)
        status |= put_names(w, &c->categories[j]);
    put(w, t->class_of, t->kinds);
    return status;
}

size_t rfc_model_save(const rfc_model *m, void *bytes, size_t room)
{
    if (!m)
        return 0;
    writer counted = {NULL, HEAD}, w = {bytes, HEAD};
    if (!m->coding || m->rules.method != RFC_WEIGHTED || write_all(m, &counted) < 0)
        return 0;
    if (room < counted.at || !bytes)
        return counted.at;
    if (write_all(m, &w) < 0)
        return 0;
    memset((uint8_t *)bytes + RF_SEAL, 0, HEAD - RF_SEAL);
    rf_seal(bytes, w.at, KIND, VERSION);
    return w.at;
}

/* ---- Reading ---- */

typedef struct reader {
    const uint8_t *from;
    size_t at, end;
    int failed; /* a part has the wrong length, or out of memory */
} reader;

/* Returns the next part, which must have `bytes` bytes; or null if it is absent and may_lack. */
static const void *get(reader *r, size_t bytes, int may_lack)
{
    uint64_t length = 0;
    if (r->failed || r->end - r->at < ALIGN) {
        r->failed = 1;
        return NULL;
    }
    memcpy(&length, r->from + r->at, sizeof length);
    const size_t left = r->end - r->at - ALIGN;
    r->failed = (length != bytes && !(may_lack && length == 0)) || length > left || aligned(length) > left;
    if (r->failed)
        return NULL;
    const void *part = length > 0 ? r->from + r->at + ALIGN : NULL;
    r->at += ALIGN + aligned(length);
    return part;
}

/* As get(), but copies the part. */
static void *get_copy(reader *r, size_t bytes, int may_lack)
{
    const void *part = get(r, bytes, may_lack);
    void *to = part ? malloc(bytes) : NULL;
    if (to)
        memcpy(to, part, bytes);
    r->failed |= part && !to;
    return to;
}

static void get_names(reader *r, rfc_names *names)
{
    uint64_t length = 0;
    if (!r->failed && r->end - r->at >= ALIGN)
        memcpy(&length, r->from + r->at, sizeof length);
    const char *all = get(r, length, 1);
    if (all && all[length - 1] != '\0')
        r->failed = 1;
    for (size_t at = 0; all && !r->failed && at < length; at += strlen(all + at) + 1)
        r->failed |= rfc_names_add(names, all + at) < 0;
}

/* Computes the class of each kind. */
static void get_kinds(reader *r, uint32_t classes, rfc_training *t)
{
    uint64_t length = 0;
    if (!r->failed && r->end - r->at >= ALIGN)
        memcpy(&length, r->from + r->at, sizeof length);
    r->failed |= length < classes || length > RFC_LABELS_MAX;
    const uint8_t *kinds = get(r, (size_t)length, 0);
    t->kinds = kinds ? (uint32_t)length : 0;
    if (kinds)
        memcpy(t->class_of, kinds, t->kinds);
}

static int is_question(const rfc_training *t, const rfc_evidence *e)
{
    return e->feature < t->features && t->place[e->feature] < t->laid && e->shift < 16 && e->most <= RFC_ONCE_MAX;
}

/* Are all numbers within the bounds of the arrays? */
static int is_sound(const rfc_model *m)
{
    const rfc_training *t = &m->laid;
    uint32_t next = 0;
    int fine = 1;
    for (uint32_t s = 0; s < t->segments; s++) {
        fine &=
            t->segment[s].begin == next && t->segment[s].count <= t->count - next && t->segment[s].kind < t->kinds;
        next = fine ? next + t->segment[s].count : 0;
    }
    fine &= next == t->count && t->class_of[0] == 0 && t->class_of[t->kinds - 1] == t->classes - 1;
    for (uint32_t k = 1; k < t->kinds; k++) /* kinds of a class are consecutive */
        fine &= t->class_of[k] == t->class_of[k - 1] || t->class_of[k] == t->class_of[k - 1] + 1;
    for (uint32_t k = 0; k < t->laid; k++)
        fine &= t->feature[k] < t->features && (k == 0 || t->feature[k] > t->feature[k - 1]);
    for (uint32_t n = 0; n < m->tree.count && fine; n++) {
        const rfc_node *node = &m->tree.node[n];
        fine &= is_question(t, &node->next);
        for (int b = 0; b < RFC_BRANCHES; b++)
            fine &= node->child[b] == 0 || (node->child[b] > n && node->child[b] < m->tree.count);
    }
    for (uint32_t i = 0; i < m->pilot.objects; i++)
        fine &= m->pilot.questions[i] < m->pilot.steps;
    for (uint32_t j = 0; m->group && j < t->features; j++)
        fine &= m->group[j] <= t->features;
    for (uint32_t i = 1; i < m->labels.count && i <= RFC_LABELS_MAX; i++)
        fine &= m->of_label[i - 1] < t->classes;
    return fine && m->budget >= m->rules.budget && m->classes.count == t->classes && m->names.count == t->features &&
           m->labels.count <= RFC_LABELS_MAX + 1;
}

static void read_all(reader *r, const scalars *s, rfc_model *m)
{
    rfc_training *t = &m->laid;
    rfc_coding *c = m->coding;
    const void *segments = get(r, s->segments * sizeof t->segment[0], 0);
    if (segments)
        memcpy(t->segment, segments, s->segments * sizeof t->segment[0]);
    t->class_begin = get_copy(r, (s->classes + (size_t)1) * sizeof *t->class_begin, 0);
    t->feature = get_copy(r, s->laid * sizeof *t->feature, 0);
    t->low = get_copy(r, s->laid, 0);
    t->step = get_copy(r, s->laid * sizeof *t->step, 0);
    t->columns = (uint8_t *)(uintptr_t)get(r, s->stride * s->laid, 0);
    t->sketches = (uint8_t *)(uintptr_t)get(r, t->sketch * s->count, 0);
    t->is_category = get(r, s->features, 1);
    m->rules.mask = m->mask = get_copy(r, s->features, 0);
    m->rules.cost = m->cost = get_copy(r, s->features * sizeof *m->cost, 1);
    m->rules.group = m->group = get_copy(r, s->features * sizeof *m->group, 1);
    m->rules.prior = m->prior = get_copy(r, s->classes * sizeof *m->prior, 1);
    m->rules.weight = m->weight = get_copy(r, s->classes * sizeof *m->weight, 1);
    m->tree.node = get_copy(r, s->nodes * sizeof *m->tree.node, 1);
    m->pilot.step = get_copy(r, (size_t)s->objects * s->steps * sizeof *m->pilot.step, 1);
    m->pilot.questions = get_copy(r, s->objects * sizeof *m->pilot.questions, 1);
    m->pilot.loss = get_copy(r, s->objects * sizeof *m->pilot.loss, 1);
    c->fill = get_copy(r, s->features, 0);
    c->quantile = get_copy(r, (size_t)s->features * s->cuts * sizeof *c->quantile, s->used == RFC_SCALE_SHARED);
    get_names(r, &m->classes);
    get_names(r, &m->names);
    get_names(r, &m->labels);
    const void *of_label = get(r, sizeof m->of_label, 0);
    if (of_label)
        memcpy(m->of_label, of_label, sizeof m->of_label);
    c->categories = t->is_category ? calloc(s->features, sizeof *c->categories) : NULL;
    for (uint32_t j = 0; j < s->features && c->categories; j++)
        get_names(r, &c->categories[j]);
    r->failed |= t->is_category && !c->categories;
    get_kinds(r, s->classes, t);
    m->tree.count = m->tree.node ? s->nodes : 0;
    m->pilot.objects = m->pilot.step && m->pilot.questions && m->pilot.loss ? s->objects : 0;
    m->pilot.steps = s->steps;
    t->place = malloc((s->features + (size_t)1) * sizeof *t->place);
    r->failed |= !t->place;
    for (uint32_t j = 0; j < s->features && !r->failed; j++)
        t->place[j] = s->laid;
    for (uint32_t k = 0; k < s->laid && !r->failed; k++)
        if (t->feature[k] < s->features)
            t->place[t->feature[k]] = k;
}

static rfc_model *model_of(const scalars *s)
{
    rfc_model *m = calloc(1, sizeof *m);
    rfc_coding *c = calloc(1, sizeof *c);
    if (!m || !c) {
        free(m);
        free(c);
        return NULL;
    }
    m->is_loaded = 1;
    m->coding = c;
    c->features = s->features, c->cuts = s->cuts,
    c->used = s->used == RFC_SCALE_SHARED ? RFC_SCALE_SHARED : RFC_SCALE_EACH;
    c->all.offset = s->offset, c->all.factor = s->factor;
    rfc_training *t = &m->laid;
    t->count = s->count, t->features = s->features, t->classes = s->classes, t->laid = s->laid;
    t->segments = s->segments, t->is_ranked = (int)s->is_ranked, t->stride = s->stride;
    t->sketch = (s->laid + (size_t)1) / 2, t->largest_deviation = s->largest_deviation;
    m->rules = rfc_rules_default(RFC_WEIGHTED, t);
    rfc_rules *r = &m->rules;
    m->budget = s->limit;
    r->gain = (rfc_gain)s->gain, r->budget = s->budget, r->pilot = s->pilot, r->seed = s->seed, r->stop = s->stop;
    r->max_cost = s->max_cost, r->floor = s->floor, r->least_sample = s->least_sample, r->most_sample = s->most_sample;
    r->sharpest = s->sharpest;
    memcpy(r->calibration, s->calibration, sizeof r->calibration);
    memcpy(r->early, s->early, sizeof r->early);
    return m;
}

/* The head of version 7, whose checksum is of the parts alone. */
typedef struct old_head {
    char kind[8];
    uint32_t version, order;
    uint64_t length, checksum;
    uint8_t rest[32];
} old_head;

/* Four independent sums. */
static uint64_t old_sum(const uint8_t *bytes, size_t count)
{
    uint64_t sum[4] = {1, 2, 3, 4}, word;
    size_t i = 0;
    for (; i + 32 <= count; i += 32)
        for (int k = 0; k < 4; k++) {
            memcpy(&word, bytes + i + 8 * (size_t)k, sizeof word);
            sum[k] = (sum[k] ^ word) * UINT64_C(0x9E3779B97F4A7C15);
            sum[k] ^= sum[k] >> 32;
        }
    for (; i < count; i++)
        sum[0] = (sum[0] ^ bytes[i]) * UINT64_C(0x100000001B3);
    for (int k = 1; k < 4; k++)
        sum[0] = (sum[0] ^ sum[k]) * UINT64_C(0x9E3779B97F4A7C15) + (sum[0] >> 29);
    return sum[0];
}

/* Are the bytes whole? Returns 0, or -1 with a message; and the model's checksum. */
static int check(const uint8_t *bytes, size_t count, uint64_t *checksum, char *error, size_t size)
{
    old_head h;
    if (count >= HEAD && rf_sealed_version(bytes, count, KIND) == 7) {
        memcpy(&h, bytes, sizeof h);
        *checksum = h.checksum;
        return h.order == 0x01020304 && h.length == count && memcmp(h.rest, (const uint8_t[sizeof h.rest]){0}, sizeof h.rest) == 0 &&
                       h.checksum == old_sum(bytes + HEAD, count - HEAD)
                   ? 0
                   : rf_fail(error, size, "is damaged (checksum), or truncated");
    }
    if (rf_sealed_check(bytes, count, KIND, VERSION, error, size) < 0)
        return -1;
    if (count < HEAD)
        return rf_fail(error, size, "is damaged: its parts do not fit");
    *checksum = rf_crc32(0, bytes, RF_SEAL);
    return 0;
}

rfc_model *rfc_model_load(const void *bytes, size_t count, char *error, size_t size)
{
    if (!bytes) {
        rf_fail(error, size, "there are no bytes");
        return NULL;
    }
    reader r = {bytes, HEAD, count, 0};
    uint64_t checksum = 0;
    if (check(bytes, count, &checksum, error, size) < 0)
        return NULL;
    scalars s;
    const void *first = get(&r, sizeof s, 0);
    if (first)
        memcpy(&s, first, sizeof s);
    rfc_model *m = NULL;
    if (first && s.features > 0 && s.features <= RFC_FEATURES_MAX && s.classes > 0 && s.classes <= RFC_LABELS_MAX &&
        s.laid > 0 && s.laid <= s.features && s.segments <= 2 * RFC_LABELS_MAX && s.count > 0 && s.stride >= s.count &&
        s.stride < UINT64_C(1) << 33 && s.steps <= RFC_QUESTIONS + 1 && s.cuts <= 255 && s.cuts > 0 &&
        s.gain <= RFC_RATIO)
        m = model_of(&s);
    if (m) {
        read_all(&r, &s, m);
        m->checksum = checksum;
    }
    if (m && !r.failed && is_sound(m) && rfc_rules_check(&m->laid, &m->rules, error, size) == 0)
        return m;
    rfc_model_close(m);
    rf_fail(error, size, "is damaged: its parts do not fit");
    return NULL;
}
