#include "checkpoint.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "cli.h"
#include "fail.h"
#include "sealed.h"

const char *const cli_sampler_names[] = {"reject", "lattice", "weight", NULL};
const char *const cli_on_lost_names[] = {"restart", "widen", "stop", "ignore", NULL};
const char *const cli_precision_names[] = {"double", "float", NULL};
const char *const cli_chart_names[] = {"real", "positive", "bounded", "periodic", NULL};

/* ---- Options as text ---- */

void cli_model_drift_text(const rf_config *config, unsigned i, char *text, size_t size)
{
    const rf64_chart chart = {config->description.parameter[i].chart, config->description.parameter[i].low,
                              config->description.parameter[i].high};
    const rf_motion *m = &config->motion[i];
    char a[RF_REAL_TEXT], b[RF_REAL_TEXT], c[RF_REAL_TEXT], d[RF_REAL_TEXT];
    if (m->kind == RF_MOTION_WALK)
        snprintf(text, size, "%s", rf_real_text(config->drift[i], a));
    else if (m->kind == RF_MOTION_REVERTING)
        snprintf(text, size, "%s+-%s~%s", rf_real_text(rf64_chart_natural(&chart, m->centre), a),
                 rf_real_text(m->sd, b), rf_real_text(m->time, c));
    else
        snprintf(text, size, "%s:%s~%s:%s", rf_real_text(rf64_chart_natural(&chart, m->level[0]), a),
                 rf_real_text(rf64_chart_natural(&chart, m->level[1]), b), rf_real_text(m->dwell[0], c),
                 rf_real_text(m->dwell[1], d));
}

void cli_model_chart_text(const rf_parameter *p, char *text, size_t size)
{
    char low[RF_REAL_TEXT], high[RF_REAL_TEXT];
    const int has_range = p->chart == RF_BOUNDED || p->chart == RF_PERIODIC;
    snprintf(text, size, has_range ? "%s:%s:%s" : "%s", cli_chart_names[p->chart], rf_real_text(p->low, low),
             rf_real_text(p->high, high));
}

/* Text being appended to; a piece that does not fit is left out. */
typedef struct growing {
    char *text;
    size_t size, used;
} growing;

__attribute__((format(printf, 2, 3))) static void add(growing *g, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(g->text + g->used, g->size - g->used, format, arguments);
    va_end(arguments);
    g->used += length > 0 && (size_t)length < g->size - g->used ? (size_t)length : 0;
    g->text[g->used] = '\0';
}

size_t cli_sections_text(const rf_config *config, char *text, size_t size)
{
    const rf_description *d = &config->description;
    growing g = {text, size, 0};
    char first[RF_REAL_TEXT], second[RF_REAL_TEXT], word[256];
    for (unsigned i = 0; i < d->dim; i++) {
        const rf_prior *prior = &config->prior[i];
        cli_model_chart_text(&d->parameter[i], word, sizeof word);
        add(&g, "\n[parameter %s]\nchart = %s\nprior = %s%s%s\n", d->parameter[i].name, word,
            rf_real_text(prior->first, first), prior->is_gaussian ? "+-" : ":", rf_real_text(prior->second, second));
        cli_model_drift_text(config, i, word, sizeof word);
        add(&g, "drift = %s\n", word);
    }
    for (unsigned i = 0; i < d->settings; i++) {
        const rf_setting *s = &d->setting[i];
        add(&g, "\n[setting %s]\n", s->name);
        if (s->role != RF_SETTING_GUESS)
            add(&g, "range = %s:%s\n", rf_real_text(s->low, first), rf_real_text(s->high, second));
        add(&g, "cost = %s\n", rf_real_text(s->cost, first));
    }
    return g.used;
}

void cli_checkpoint_begin(cli_checkpoint *c, const rf_config *config, uint32_t batch, uint64_t source)
{
    const rf_description *d = &config->description;
    const rf64_design *design = config->design ? rf64_design_find(config->design, d, config->model->f64->design) : NULL;
    growing g = {c->options, sizeof c->options, 0};
    char number[RF_REAL_TEXT];
    memset(c, 0, sizeof *c);
    c->chain = cli_chain_of(d->settings);
    c->fingerprint = rf_config_fingerprint(config, batch);
    if (source)
        c->fingerprint = rf_hash(c->fingerprint, &source, sizeof source);
    add(&g, "[run]\nmodel = %s\nbelief = %s\ndesign = %s\nseed = %llu\n", d->name,
        config->own ? config->own->name : rf_config_belief(config), design ? design->name : "given",
        (unsigned long long)config->seed);
    if (config->trial)
        add(&g, "trial = %u\n", config->trial);
    add(&g, "batch = %u\nattempts = %u\naccepted = %u\n", batch, config->attempts,
        config->accepted_min > 0 ? config->accepted_min : rf64_options_default().accepted_min);
    add(&g, "sampler = %s\nstrict = %s\nkappa = %s\n", cli_sampler_names[config->sampler],
        config->strict ? "yes" : "no", config->kappa > 0 ? rf_real_text(config->kappa, number) : "auto");
    add(&g, "shrink = %s\n", rf_real_text(config->shrink, number));
    add(&g, "recovery = %s\non-lost = %s\n", rf_real_text(config->recovery, number),
        config->on_lost <= RF_ON_LOST_IGNORE ? cli_on_lost_names[config->on_lost] : "watch");
    if (config->anchor_every >= 0)
        add(&g, "anchors = %ld\n", config->anchor_every);
    add(&g, "precision = %s\n", cli_precision_names[config->is_float != 0]);
    if (config->learns_drift)
        add(&g, "drift = learn\n");
    cli_sections_text(config, c->options + g.used, sizeof c->options - g.used);
}

/* ---- Differences ---- */

/* A line "key = value" of a section. */
typedef struct entry {
    const char *section, *key, *value;
    int section_length, key_length, value_length;
} entry;

/* Reads the next entry at *at and advances *at. Returns 0 past the last. */
static int next_entry(const char **at, entry *e)
{
    for (const char *line = *at, *end; *line; line = *end ? end + 1 : end) {
        end = line + strcspn(line, "\n");
        const char *equals = strstr(line, " = ");
        if (*line == '[') {
            e->section = line + 1;
            e->section_length = (int)strcspn(e->section, "]\n");
        } else if (equals && equals < end) {
            e->key = line;
            e->key_length = (int)(equals - line);
            e->value = equals + 3;
            e->value_length = (int)(end - e->value);
            *at = *end ? end + 1 : end;
            return 1;
        }
    }
    return 0;
}

static int is_same(const char *a, int a_length, const char *b, int b_length)
{
    return a_length == b_length && memcmp(a, b, (size_t)a_length) == 0;
}

/* Finds the entry with this section and key in `options`; without one, *found has the value "(none)". */
static void find_entry(const char *options, const entry *like, entry *found)
{
    static const char none[] = "(none)";
    *found = *like;
    for (entry e = {.section = ""}; next_entry(&options, &e);)
        if (is_same(e.section, e.section_length, like->section, like->section_length) &&
            is_same(e.key, e.key_length, like->key, like->key_length)) {
            *found = e;
            return;
        }
    found->value = none;
    found->value_length = sizeof none - 1;
}

/* Options whose defaults depend on others, and on those before them here. */
static const char *const dependent[] = {"sampler", "attempts", "belief", "design"};
enum { RANKS = 1 + sizeof dependent / sizeof *dependent };

static unsigned rank_of(const entry *e)
{
    for (unsigned i = 0; i + 1 < RANKS; i++)
        if (is_same(e->key, e->key_length, dependent[i], (int)strlen(dependent[i])))
            return i + 1;
    return 0;
}

/* Puts the first option that differs into `error`, causes before their consequences. Returns 1 if there is one, else 0. */
static int differ(const char *theirs, const char *ours, char *error, size_t size)
{
    const char *const texts[] = {theirs, ours};
    for (unsigned pass = 0; pass < 2 * RANKS; pass++) {
        const unsigned side = pass % 2, rank = pass / 2;
        const char *at = texts[side];
        for (entry e = {.section = ""}, other; next_entry(&at, &e);) {
            find_entry(texts[!side], &e, &other);
            if (rank_of(&e) != rank || is_same(e.value, e.value_length, other.value, other.value_length))
                continue;
            const entry *a = side ? &other : &e, *b = side ? &e : &other;
            const int is_run = is_same(e.section, e.section_length, "run", 3);
            snprintf(error, size, "is of a run with %.*s%s%.*s = %.*s, not %.*s", e.key_length, e.key,
                     is_run ? "" : " of ", is_run ? 0 : e.section_length, e.section, a->value_length, a->value,
                     b->value_length, b->value);
            return 1;
        }
    }
    return 0;
}

/* ---- Bytes ---- */

#define KIND "RFSTATE\n"
static const char mark[8] = {'R', 'F', 'R', 'U', 'N', ' ', '9', '\n'}; /* begins the contents; those of version 8 have none */

/* Version 8: kind, version and length of 4 bytes each, contents, CRC-32 of all before it. */
enum { OLD_VERSION = 8, OLD_HEAD = 16, OLD_TAIL = 4 };

static uint32_t number_at(const unsigned char *from)
{
    return (uint32_t)from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

int cli_checkpoint_unseal(const unsigned char *bytes, size_t count, const unsigned char **contents, size_t *length, char *error,
                          size_t size)
{
    const int is_old = rf_sealed_version(bytes, count, KIND) == OLD_VERSION && count >= OLD_HEAD;
    if (!is_old && rf_sealed_check(bytes, count, KIND, CLI_STATE_VERSION, error, size) < 0)
        return -1;
    const size_t head = is_old ? OLD_HEAD : RF_SEAL, tail = is_old ? OLD_TAIL : 0;
    if (is_old && count - OLD_HEAD != (size_t)number_at(bytes + 12) + OLD_TAIL)
        return rf_fail(error, size, "is damaged (its length)");
    if (is_old && number_at(bytes + count - OLD_TAIL) != rf_crc32(0, bytes, count - OLD_TAIL))
        return rf_fail(error, size, "is damaged (checksum)");
    *contents = bytes + head;
    *length = count - head - tail;
    return 0;
}

size_t cli_checkpoint_write(const cli_checkpoint *c, const rf_session *session, unsigned char *bytes)
{
    rf_writer w = {bytes, RF_SEAL};
    const size_t length = strlen(c->options);
    rf_write_bytes(&w, mark, sizeof mark);
    rf_write_u64(&w, c->fingerprint);
    rf_write_u64(&w, length);
    rf_write_bytes(&w, c->options, length);
    rf_write_u64(&w, c->updates);
    cli_chain_write(&c->chain, &w);
    w.size += rf_session_save(session, bytes ? bytes + w.size : NULL);
    if (bytes)
        rf_seal(bytes, w.size, KIND, CLI_STATE_VERSION);
    return w.size;
}

size_t cli_checkpoint_read(cli_checkpoint *c, const unsigned char *bytes, size_t size)
{
    const int is_old = size < sizeof mark || memcmp(bytes, mark, sizeof mark) != 0;
    rf_reader r = {bytes, size, is_old ? 0 : sizeof mark, 0};
    c->chain = cli_chain_of(c->chain.settings);
    c->fingerprint = rf_read_u64(&r);
    const uint64_t length = rf_read_u64(&r);
    if (r.failed || length >= sizeof c->options || length > size - r.at)
        return 0;
    memcpy(c->options, bytes + r.at, (size_t)length);
    c->options[length] = '\0';
    r.at += (size_t)length;
    if (is_old) /* number of records, updates, hash */
        c->chain.count = c->chain.plain = rf_read_u64(&r);
    c->updates = rf_read_u64(&r);
    if (is_old)
        c->chain.hash = rf_read_u64(&r);
    else if (cli_chain_read(&c->chain, &r) < 0)
        r.failed = 1;
    return r.failed ? 0 : r.at;
}

int cli_checkpoint_take(cli_checkpoint *c, rf_session *session, const unsigned char *bytes, size_t size, char *error,
                        size_t error_size)
{
    cli_checkpoint *found = calloc(1, sizeof *found);
    if (!found)
        return rf_fail(error, error_size, "does not fit into memory");
    found->chain.settings = c->chain.settings;
    const size_t at = cli_checkpoint_read(found, bytes, size);
    int taken = -1;
    if (at == 0)
        snprintf(error, error_size, "is damaged (its contents)");
    else if (found->fingerprint == c->fingerprint)
        taken = rf_session_load(session, bytes + at, size - at);
    else if (!differ(found->options, c->options, error, error_size))
        snprintf(error, error_size, "is of a run with another source of model %s",
                 rf_session_config(session)->description.name);
    if (taken < 0 && at > 0 && found->fingerprint == c->fingerprint)
        snprintf(error, error_size, "is damaged (its contents)");
    cli_chain_free(taken == 0 ? &c->chain : &found->chain);
    if (taken == 0)
        *c = *found;
    free(found);
    return taken;
}
