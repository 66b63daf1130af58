/* Inside the engines: how they are made and composed. Not installed. */
#ifndef REJFILT_ENGINE_H
#define REJFILT_ENGINE_H

#include "rejfilt/host.h"

#define RF_RESERVED_DIM 16u   /* parameters there is room for from the start */
#define RF_PART_ATTEMPTS 1024 /* fewer attempts than this are not worth a part of their own */
#define RF_PART_ALIGN 128     /* parts begin at multiples of this, so that vector lanes are full */
#define RF_THREADS_MAX 1024
#define RF_NAME_MAX 64u       /* characters of a name that can be opened */

/* A kind of engine. `open` fills f32, f64, inner, state and name, and returns 0, or -1 with a message;
   `close` undoes it, also when it failed half-way. `argument` is what follows the colon, or null. */
typedef struct rf_engine_kind {
    const char *name;
    int (*open)(rf_engine *engine, const char *argument, char *error, size_t size);
    void (*close)(rf_engine *engine);                 /* optional */
    int (*reserve)(rf_engine *engine, unsigned dim);  /* optional */
    int (*share)(const rf_engine *engine, void *bytes, size_t count); /* optional: one process has no one to share with */
} rf_engine_kind;

struct rf_engine {
    rf32_engine f32;
    rf64_engine f64;
    const rf_engine_kind *kind;
    rf_engine *inner; /* owned, or null */
    void *state;
    unsigned rank;
    char name[2 * RF_NAME_MAX]; /* with defaults filled in */
    char complaint[192];
};

extern const rf_engine_kind rf_kind_simd, rf_kind_threads, rf_kind_mpi, rf_kind_paranoid;

/* rf_engine_open for an engine that wraps another: around `inner`, which it then owns, and which is
   closed on failure. A null inner is what the name says. */
rf_engine *rf_engine_open_over(const char *name, rf_engine *inner, char *error, size_t size);

/* An engine from its two operations; the caller keeps what their self points to. Null when memory is short. */
rf_engine *rf_engine_leaf(const char *name, rf32_engine f32, rf64_engine f64);

/* Writes a message (if there is room for one) and returns -1. */
int rf_fail(char *error, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Opens `name` as the inner engine unless there is one. Returns 0, or -1 with a message. */
int rf_engine_inner(rf_engine *engine, const char *name, char *error, size_t size);

/* ---- Parts of a range ---- */

typedef struct rf_part {
    uint32_t begin, count;
} rf_part;

/* Into how many parts a range of `count` attempts is worth splitting, 1 to most. */
RF_FN unsigned rf_parts(uint32_t count, unsigned most)
{
    uint32_t worth = count / RF_PART_ATTEMPTS;
    return worth < 2 ? 1 : worth < most ? worth : most;
}

/* Part number `index` of `parts`; together they are the range. Parts past the last are empty. */
RF_FN rf_part rf_part_at(uint32_t begin, uint32_t count, unsigned index, unsigned parts)
{
    rf_part none = {begin, 0};
    if (index >= parts)
        return none;
    uint64_t end = (uint64_t)begin + count, first = begin / RF_PART_ALIGN;
    uint64_t blocks = (end + RF_PART_ALIGN - 1) / RF_PART_ALIGN - first;
    uint64_t from = (first + blocks * index / parts) * RF_PART_ALIGN;
    uint64_t to = (first + blocks * (index + 1) / parts) * RF_PART_ALIGN;
    from = from < begin ? begin : from;
    to = to > end ? end : to;
    rf_part part = {(uint32_t)from, (uint32_t)(to - from)};
    return part;
}

/* ---- Room for private tallies ---- */

#define RF_ROOM_GUARD 64 /* bytes after each tally that are not its own */

/* Tallies of either precision and up to `dim` parameters, each on cache lines of its own. */
typedef struct rf_room {
    unsigned char *memory;
    size_t stride;
    unsigned tallies, dim;
} rf_room;

/* Makes room, or more room; what was there is lost. Returns 0, or -1 and nothing changed. Start from {0}. */
int rf_room_make(rf_room *room, unsigned tallies, unsigned dim);
void rf_room_free(rf_room *room);
RF_FN void *rf_room_at(const rf_room *room, unsigned index) { return room->memory + index * room->stride; }

#endif
