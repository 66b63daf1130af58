#include "checkpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "fail.h"
#include "sealed.h"

void cli_checkpoint_begin(cli_checkpoint *c, const rf_config *config, uint32_t batch, uint64_t source)
{
    memset(c, 0, sizeof *c);
    c->chain = cli_chain_of(config->description.settings);
    c->fingerprint = rf_config_fingerprint(config, batch);
    c->source = source;
    if (source)
        c->fingerprint = rf_hash(c->fingerprint, &source, sizeof source);
    const int used = snprintf(c->options, sizeof c->options, "[run]\nmodel = %s\nbatch = %u\n", config->description.name, batch);
    rf_config_text(config, RF_FOR_ALL, c->options + used, sizeof c->options - (size_t)used);
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

/* The configuration of a checkpoint's options, for this model. Their texts are copied to `room`. */
static uint32_t config_of(rf_config *config, const rf_model *model, const char *options, char room[CLI_OPTIONS_TEXT])
{
    uint32_t batch = 1;
    size_t used = 0;
    *config = rf_config_default(model);
    for (entry e = {.section = ""}; next_entry(&options, &e);) {
        const char *name = e.section_length > 0 ? memchr(e.section, ' ', (size_t)e.section_length) : NULL;
        const int length = name ? e.section_length - (int)(++name - e.section) : 0;
        char key[64], error[256], *value = room + used;
        const size_t left = CLI_OPTIONS_TEXT - used;
        snprintf(key, sizeof key, "%.*s", e.key_length, e.key);
        used += (size_t)snprintf(value, left, "%.*s%s%.*s", length, name ? name : "", name ? "=" : "", e.value_length, e.value) + 1;
        if (used >= CLI_OPTIONS_TEXT)
            break; /* then the fingerprints differ */
        if (strcmp(key, "batch") == 0)
            batch = (uint32_t)strtoul(value, NULL, 10);
        else if (strcmp(key, "model") != 0)
            rf_config_set(config, key, value, error, sizeof error);
    }
    return batch;
}

/* Has the run of this checkpoint the same options, if those that nobody read are left out? */
static int is_same_run(const cli_checkpoint *found, const cli_checkpoint *ours, const rf_config *config)
{
    static char room[CLI_OPTIONS_TEXT];
    rf_config theirs;
    const uint32_t batch = config_of(&theirs, config->model, found->options, room);
    const uint64_t before = rf_config_fingerprint(&theirs, batch);
    rf_config_forget(&theirs, RF_FOR_STEPS);
    uint64_t of_config = rf_config_fingerprint(&theirs, batch), source = ours->source;
    if (source)
        of_config = rf_hash(of_config, &source, sizeof source);
    return of_config == ours->fingerprint && found->fingerprint == (source ? rf_hash(before, &source, sizeof source) : before);
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
    int taken = -1, is_same = 0;
    if (at == 0)
        snprintf(error, error_size, "is damaged (its contents)");
    else if ((is_same = found->fingerprint == c->fingerprint || is_same_run(found, c, rf_session_config(session))))
        taken = rf_session_load(session, bytes + at, size - at);
    else if (!differ(found->options, c->options, error, error_size))
        snprintf(error, error_size, "is of a run with another source of model %s",
                 rf_session_config(session)->description.name);
    if (taken < 0 && is_same)
        snprintf(error, error_size, "is damaged (its contents)");
    cli_chain_free(taken == 0 ? &c->chain : &found->chain);
    if (taken == 0) {
        found->fingerprint = c->fingerprint;
        memcpy(found->options, c->options, sizeof found->options);
        found->source = c->source;
        *c = *found;
    }
    free(found);
    return taken;
}
