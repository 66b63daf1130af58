/* The records that a run has learnt from, as hashes: enough to know them again in a file, and to say where the file
   differs.

   A rung holds 32 bits of the chain's hash behind a record, and 32 bits of that record's own. There is one for each
   record up to CLI_RUNGS; beyond that every other rung is dropped, so a checkpoint grows by 128 KB at most. */
#ifndef REJFILT_CLI_CHAIN_H
#define REJFILT_CLI_CHAIN_H

#include "rejfilt/session.h"

enum { CLI_RUNGS = 1 << 14 };

typedef struct cli_rung {
    uint32_t chain, own;
} cli_rung;

typedef struct cli_chain {
    unsigned settings;
    uint64_t count, hash;       /* records, and the hash of all in their order */
    uint64_t begin, begin_hash; /* the same where the present input began */
    uint64_t plain;             /* the first records, hashed by the rule of older versions: they have no rungs */
    uint64_t stride;            /* records between two rungs */
    uint32_t rungs, room;
    cli_rung *rung; /* number k is behind plain + (k + 1) stride records */
} cli_chain;

cli_chain cli_chain_of(unsigned settings);
void cli_chain_free(cli_chain *c);

/* Adds a record; `batch`: of cli_record_batch, or 0. Times, missing values and batches are in the hash. */
void cli_chain_add(cli_chain *c, const rf_record *record, uint64_t batch);

/* The next record is the first of another input. */
void cli_chain_begin(cli_chain *c);

struct rf_writer; /* of bytes.h */
struct rf_reader;
void cli_chain_write(const cli_chain *c, struct rf_writer *w);
/* Returns 0, or -1 if these are not the bytes of a chain. */
int cli_chain_read(cli_chain *c, struct rf_reader *r);

/* Compares records, one after the other, with those of the chain from `from` on. */
typedef struct cli_walk {
    const cli_chain *chain;
    uint64_t from, at, hash; /* `at` records were alike, or might be */
    uint64_t sure;           /* so many were alike: below `at` between two rungs */
    int is_off;              /* a record differs: one behind the first `sure` */
} cli_walk;

cli_walk cli_walk_from_start(const cli_chain *c);
cli_walk cli_walk_from_begin(const cli_chain *c);
void cli_walk_add(cli_walk *w, const rf_record *record, uint64_t batch);

/* Were these all records from `from` on? */
int cli_walk_is_whole(const cli_walk *w);

/* The 32 bits of a record's own. */
uint32_t cli_record_own(const rf_record *record, uint64_t batch, unsigned settings);

#endif
