#include "known.h"

#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "fail.h"

const char *const cli_continue_names[] = {"auto", "grown", "new", NULL};

/* A walk along the chain, and where the input is. */
typedef struct trail {
    cli_walk walk;
    long first, last; /* lines of the records between which it went off; first 0: none since the last that was alike */
} trail;

typedef struct search {
    cli_chain *chain, fresh; /* fresh: the same by the present rule, for a chain of an older version */
    trail trail[2];          /* from the run's first record; from the first of its latest input */
    unsigned trails;
    uint64_t read, shared; /* records; those that are known, wherever */
    uint32_t *own;         /* sorted; null: not every record has a rung */
    int is_later;          /* every record has a time, behind the run's */
    int is_over;           /* no more records */
} search;

static int by_size(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static int begin(search *s, cli_chain *c)
{
    *s = (search){.chain = c, .fresh = cli_chain_of(c->settings), .trails = c->begin > 0 ? 2 : 1, .is_later = 1};
    s->trail[0].walk = cli_walk_from_start(c);
    s->trail[1].walk = cli_walk_from_begin(c);
    if (c->stride > 1 || c->plain > 0)
        return 0;
    s->own = malloc((c->rungs + (size_t)1) * sizeof *s->own);
    for (uint32_t k = 0; s->own && k < c->rungs; k++)
        s->own[k] = c->rung[k].own;
    if (s->own)
        qsort(s->own, c->rungs, sizeof *s->own, by_size);
    return s->own ? 0 : -1;
}

static void take(search *s, const cli_record *record, double time)
{
    const rf_record told = cli_record_told(record);
    const uint64_t batch = cli_record_batch(record);
    const uint32_t own = cli_record_own(&told, batch, s->chain->settings);
    s->read++;
    s->is_later &= record->has_time && record->time > time;
    s->shared += s->own && bsearch(&own, s->own, s->chain->rungs, sizeof own, by_size) != NULL;
    for (unsigned k = 0; k < s->trails; k++) {
        trail *t = &s->trail[k];
        if (t->walk.is_off || cli_walk_is_whole(&t->walk))
            continue;
        t->first = t->first ? t->first : record->line;
        t->last = record->line;
        cli_walk_add(&t->walk, &told, batch);
        t->first = t->walk.sure == t->walk.at && !t->walk.is_off ? 0 : t->first;
    }
    if (s->chain->plain > 0) {
        if (s->chain->begin > 0 && s->fresh.count == s->chain->begin)
            cli_chain_begin(&s->fresh);
        cli_chain_add(&s->fresh, &told, batch);
    }
}

/* The trail that got furthest. */
static const trail *best_of(const search *s)
{
    const trail *a = &s->trail[0], *b = &s->trail[1];
    return s->trails > 1 && (b->walk.sure > a->walk.sure || (a->walk.is_off && !b->walk.is_off)) ? b : a;
}

static int is_known(const search *s)
{
    return cli_walk_is_whole(&s->trail[0].walk) ||
           (s->trails > 1 && s->trail[0].walk.is_off && cli_walk_is_whole(&s->trail[1].walk));
}

static int is_off(const search *s) { return s->trail[0].walk.is_off && (s->trails == 1 || s->trail[1].walk.is_off); }

/* May it still turn out that all records are new? */
static int may_be_new(const search *s) { return best_of(s)->walk.sure == 0 && (s->own || s->is_later); }

/* Two records have the same 32 bits by chance once in 2^32. */
static int is_new(const search *s)
{
    return may_be_new(s) && (!s->own || s->shared <= s->read * s->chain->count >> 22);
}

static int refuse(const search *s, const char *name, cli_continue how, char *error, size_t size)
{
    const trail *t = best_of(s);
    const unsigned long long of = t->walk.chain->count - t->walk.from, alike = t->walk.sure;
    const char *hint = how == CLI_CONTINUE_AUTO ? "; if all its records are new, say --continue new" : "";
    char where[80] = "";
    if (!t->walk.is_off)
        return rf_fail(error, size, "%s has only the first %llu of the %llu records that the run knows%s", name,
                       (unsigned long long)s->read, of, hint);
    if (t->walk.chain->rungs > 0 && t->first == t->last)
        snprintf(where, sizeof where, "line %ld: ", t->first);
    else if (t->walk.chain->rungs > 0)
        snprintf(where, sizeof where, "lines %ld to %ld: ", t->first, t->last);
    return rf_fail(error, size, "%s: %sdiffers from what the run learnt as record %llu of %llu; restore that%s", name,
                   where, alike + 1, of, hint);
}

/* Replaces a chain of an older version, whose records were all read. */
static void complete(search *s)
{
    if (s->chain->plain == 0 || !cli_walk_is_whole(&s->trail[0].walk) || s->fresh.count != s->chain->count)
        return;
    cli_chain_free(s->chain);
    *s->chain = s->fresh;
    s->fresh = cli_chain_of(0);
}

int cli_known_find(cli_chain *chain, cli_records *records, const char *name, cli_continue how, int skip_bad,
                   double time, cli_known *found, char *error, size_t size)
{
    search s;
    cli_record record;
    int code = begin(&s, chain) < 0 ? rf_fail(error, size, "%s: not enough memory", name) : CLI_OK;
    while (code == CLI_OK && !s.is_over && !is_known(&s) &&
           (!is_off(&s) || (how == CLI_CONTINUE_AUTO && may_be_new(&s)))) {
        const int got = cli_records_next(records, &record);
        if (got == CLI_RECORD)
            take(&s, &record, time);
        else if (got == CLI_RECORDS_INTERRUPTED)
            code = cli_interrupted ? CLI_INTERRUPTED : CLI_OK;
        else if (got == CLI_RECORDS_END || (got == CLI_RECORD_BAD && !skip_bad && is_off(&s)))
            s.is_over = 1;
        else if (got == CLI_RECORDS_FAILED || !skip_bad)
            code = rf_fail(error, size, "%s", cli_records_error(records));
    }
    *found = (cli_known){.read = s.read};
    if (code == CLI_OK && is_known(&s))
        found->known = cli_walk_is_whole(&s.trail[0].walk) ? chain->count : chain->count - chain->begin;
    else if (code == CLI_OK && s.trails > 1 && cli_walk_is_whole(&s.trail[1].walk))
        found->known = chain->count - chain->begin;
    else if (code == CLI_OK && how == CLI_CONTINUE_AUTO && (s.read == 0 || (is_off(&s) && is_new(&s))))
        found->known = 0;
    else if (code == CLI_OK)
        code = refuse(&s, name, how, error, size);
    if (code == CLI_OK)
        complete(&s);
    free(s.own);
    cli_chain_free(&s.fresh);
    return code == CLI_OK || code == CLI_INTERRUPTED ? code : CLI_BAD_INPUT;
}
