#include "chain.h"

#include <math.h>
#include <stdlib.h>

#include "bytes.h"

#define ODD 0x9e3779b97f4a7c15u

cli_chain cli_chain_of(unsigned settings) { return (cli_chain){.settings = settings, .stride = 1}; }

void cli_chain_free(cli_chain *c)
{
    free(c->rung);
    c->rung = NULL;
    c->rungs = c->room = 0;
}

/* A record's hash. What is missing differs from every value. */
static uint64_t hash_of(const rf_record *r, uint64_t batch, unsigned settings)
{
    uint64_t missing = (uint64_t)(isnan(r->outcome) != 0) | (uint64_t)(isnan(r->time) != 0) << 1;
    for (unsigned i = 0; i < settings; i++)
        missing |= (uint64_t)(isnan(r->setting[i]) != 0) << (2 + i);
    return (rf_record_hash(0, r, settings) ^ missing ^ batch * ODD) * ODD;
}

/* The hash behind record number `at`. For the same record, two hashes before give two behind it. */
static uint64_t behind(const cli_chain *c, uint64_t hash, uint64_t at, const rf_record *r, uint64_t own)
{
    return at < c->plain ? rf_record_hash(hash, r, c->settings) : ((hash ^ own) + 1) * ODD;
}

static uint32_t high(uint64_t hash) { return (uint32_t)(hash >> 32); }

uint32_t cli_record_own(const rf_record *record, uint64_t batch, unsigned settings)
{
    return high(hash_of(record, batch, settings));
}

/* Drops every other rung. */
static void thin(cli_chain *c)
{
    c->stride *= 2;
    c->rungs /= 2;
    for (uint32_t k = 0; k < c->rungs; k++)
        c->rung[k] = c->rung[2 * k + 1];
}

static int is_rung(const cli_chain *c, uint64_t count)
{
    return count > c->plain && (count - c->plain) % c->stride == 0;
}

void cli_chain_add(cli_chain *c, const rf_record *record, uint64_t batch)
{
    const uint64_t own = hash_of(record, batch, c->settings);
    c->hash = behind(c, c->hash, c->count, record, own);
    c->count++;
    if (!is_rung(c, c->count))
        return;
    if (c->rungs == c->room && c->room < CLI_RUNGS) {
        const uint32_t room = c->room ? 2 * c->room : 16;
        cli_rung *more = realloc(c->rung, room * sizeof *more);
        c->rung = more ? more : c->rung;
        c->room = more ? room : c->room;
    }
    if (c->rungs == c->room && c->room > 1) {
        thin(c);
        if (!is_rung(c, c->count))
            return;
    }
    if (c->rungs < c->room)
        c->rung[c->rungs++] = (cli_rung){high(c->hash), high(own)};
}

void cli_chain_begin(cli_chain *c)
{
    c->begin = c->count;
    c->begin_hash = c->hash;
}

void cli_chain_write(const cli_chain *c, rf_writer *w)
{
    const uint64_t numbers[] = {c->count, c->hash, c->begin, c->begin_hash, c->plain, c->stride, c->rungs};
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
        rf_write_u64(w, numbers[i]);
    for (uint32_t k = 0; k < c->rungs; k++)
        rf_write_u64(w, (uint64_t)c->rung[k].own << 32 | c->rung[k].chain);
}

int cli_chain_read(cli_chain *c, rf_reader *r)
{
    uint64_t *const numbers[] = {&c->count, &c->hash, &c->begin, &c->begin_hash, &c->plain, &c->stride};
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = rf_read_u64(r);
    const uint64_t rungs = rf_read_u64(r);
    if (r->failed || rungs > CLI_RUNGS || c->begin > c->count || c->plain > c->count || c->stride < 1 ||
        rungs != (c->count - c->plain) / c->stride || (rungs > 0 && !(c->rung = malloc(rungs * sizeof *c->rung))))
        return -1;
    c->rungs = c->room = (uint32_t)rungs;
    for (uint32_t k = 0; k < c->rungs; k++) {
        const uint64_t both = rf_read_u64(r);
        c->rung[k] = (cli_rung){(uint32_t)both, high(both)};
    }
    return r->failed ? -1 : 0;
}

/* ---- Walks ---- */

cli_walk cli_walk_from_start(const cli_chain *c) { return (cli_walk){.chain = c}; }
cli_walk cli_walk_from_begin(const cli_chain *c)
{
    return (cli_walk){.chain = c, .from = c->begin, .hash = c->begin_hash};
}

int cli_walk_is_whole(const cli_walk *w) { return !w->is_off && w->from + w->at == w->chain->count; }

void cli_walk_add(cli_walk *w, const rf_record *record, uint64_t batch)
{
    const cli_chain *c = w->chain;
    if (w->is_off || cli_walk_is_whole(w))
        return;
    w->hash = behind(c, w->hash, w->from + w->at, record, hash_of(record, batch, c->settings));
    w->at++;
    const uint64_t count = w->from + w->at;
    const uint64_t k = is_rung(c, count) ? (count - c->plain) / c->stride - 1 : c->rungs;
    w->is_off = (count == c->count && w->hash != c->hash) || (k < c->rungs && c->rung[k].chain != high(w->hash));
    w->sure = !w->is_off && (count == c->count || k < c->rungs) ? w->at : w->sure;
}
