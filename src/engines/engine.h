/* Inside the engines: how they are made and composed. Not installed. */
#ifndef REJFILT_ENGINE_H
#define REJFILT_ENGINE_H

#include <stdatomic.h>

#include "fail.h"
#include "rejfilt/fleet.h"

#define RF_RESERVED_DIM 16u   /* parameters that engines are ready for from the start */
#define RF_PART_ATTEMPTS 1024 /* smallest part of a range that is worth splitting off */
#define RF_PART_FILTERS 32    /* nor are fewer filters of a fleet */
#define RF_PART_ALIGN 128     /* parts begin at multiples of this, so that vector lanes are full */
#define RF_THREADS_MAX 1024
#define RF_NAME_MAX 64u       /* characters of a name that can be opened */

/* Processes the independent items begin .. begin + count − 1. Returns a status. */
typedef rf_status rf_work(void *context, uint32_t begin, uint32_t count);

/* Items shared among workers; item i writes out[i]. Without `out`, item i is changed itself, by every rank. */
typedef struct rf_sharing {
    rf_work *work; /* fills out[] for its items */
    void *context;
    double *out;
    int one_thread; /* on the caller's thread alone */
} rf_sharing;

/* Functions of a fleet on a device. Arguments are checked; the fleet's memory begins with an RF(residents). */
#define RF_RESIDENTS(bits)                                                                                                                      \
    typedef struct rf##bits##_residents_kind {                                                                                                  \
        size_t bytes; /* of a fleet's own state */                                                                                              \
        int (*open)(rf##bits##_residents *fleet, const rf##bits##_filter *prior, char *error, size_t size);                                     \
        void (*close)(rf##bits##_residents *fleet); /* also one that was opened half-way */                                                     \
        rf_status (*tell)(rf##bits##_residents *fleet, const uint32_t which[], uint32_t count, const RF##bits##_REAL records[], rf##bits##_report reports[]); \
        rf_status (*pass)(rf##bits##_residents *fleet, RF##bits##_REAL rate, RF##bits##_REAL elapsed);                                          \
        rf_status (*read)(rf##bits##_residents *fleet, rf_read what, const uint32_t which[], uint32_t count, RF##bits##_REAL out[]);            \
        rf_status (*move)(rf##bits##_residents *fleet, uint32_t index, rf##bits##_filter *filter, int is_in);                                   \
    } rf##bits##_residents_kind;                                                                                                                \
    struct rf##bits##_residents {                                                                                                               \
        const rf##bits##_residents_kind *kind;                                                                                                  \
        rf_engine *engine;                                                                                                                      \
        rf##bits##_model model; /* without charts, ... */                                                                                       \
        rf##bits##_chart *charts; /* ... which are these, or null */                                                                            \
        rf##bits##_options options;                                                                                                             \
        uint32_t count;                                                                                                                         \
        RF##bits##_REAL *records, *means;                                                                                                       \
    };                                                                                                                                          \
    extern const rf##bits##_residents_kind rf##bits##_residents_host; /* in the host's memory */
#define RF32_REAL float
#define RF64_REAL double
RF_RESIDENTS(32)
RF_RESIDENTS(64)

/* A kind of engine; rf_engine_open makes instances. */
typedef struct rf_engine_kind {
    const char *name; /* REQUIRED: as in list.def */
    /* REQUIRED: fills f32, f64 and name, and inner, state and rank as needed; `argument` is what follows the colon, or null.
       Returns 0, or -1 with a message. */
    int (*open)(rf_engine *engine, const char *argument, char *error, size_t size);
    /* OPTIONAL: undoes `open`, also if that failed half-way. The inner engine is closed afterwards. */
    void (*close)(rf_engine *engine);
    /* OPTIONAL: reserves memory for filters of `dim` parameters. Returns 0, or -1 with nothing changed. */
    int (*reserve)(rf_engine *engine, unsigned dim);
    /* OPTIONAL: gives rank 0's bytes to all ranks; without it there is one rank. Returns 0, or -1. */
    int (*share)(const rf_engine *engine, void *bytes, size_t count);
    /* OPTIONAL: rf_engine_spread; without it the inner engine does it, or the caller's thread. */
    rf_status (*spread)(const rf_engine *engine, const rf_sharing *sharing, uint32_t begin, uint32_t count);
    /* OPTIONAL: fleets in memory other than the host's; NULL for models that cannot. */
    const rf32_residents_kind *(*residents32)(rf_engine *engine, const rf32_model *model);
    const rf64_residents_kind *(*residents64)(rf_engine *engine, const rf64_model *model);
} rf_engine_kind;

struct rf_engine {
    rf32_engine f32;
    rf64_engine f64;
    const rf_engine_kind *kind;
    rf_engine *inner; /* owned, or null */
    void *state;
    unsigned rank;
    atomic_flag is_busy; /* rf_engine_take */
    char name[2 * RF_NAME_MAX]; /* with defaults filled in */
    char complaint[2048]; /* a compiler's words fit */
};

/* What the engine does in the precision of a source that is compiled for both. */
#if defined(RF_PRECISION) && RF_PRECISION == 32
#define RF_IN_PRECISION(engine) (&(engine)->f32)
#elif defined(RF_PRECISION)
#define RF_IN_PRECISION(engine) (&(engine)->f64)
#endif

#define RF_ENGINE(name, argument, is_module) extern const rf_engine_kind rf_kind_##name;
#include "list.def"
#undef RF_ENGINE

/* Threads share an engine: whoever takes its state, its workers or its device gives them back. Returns 0 if another thread, or a
   caller further up on this one, has them: then the inner engine, which gives the same bits, does the work on the caller's
   thread, or the call is refused with RF_REFUSED_BUSY. */
RF_FN int rf_engine_take(const rf_engine *engine)
{
    return !atomic_flag_test_and_set_explicit((atomic_flag *)(uintptr_t)&engine->is_busy, memory_order_acquire);
}
RF_FN void rf_engine_give(const rf_engine *engine)
{
    atomic_flag_clear_explicit((atomic_flag *)(uintptr_t)&engine->is_busy, memory_order_release);
}

/* Opens `name` as the inner engine. Returns 0, or -1 with a message. */
int rf_engine_inner(rf_engine *engine, const char *name, char *error, size_t size);

/* Runs the work on all items, shared among the engine's workers. Every rank must make the same call and gets all numbers. A NULL
   engine has one worker. Returns RF_OK, or the status of a part that was refused. */
rf_status rf_engine_spread(const rf_engine *engine, const rf_sharing *sharing, uint32_t begin, uint32_t count);

/* ---- Parts of a range ---- */

typedef struct rf_part {
    uint32_t begin, count;
} rf_part;

/* The number of parts, 1 to max, into which `count` attempts should be split. */
RF_FN unsigned rf_parts(uint32_t count, unsigned max)
{
    uint32_t worth = count / RF_PART_ATTEMPTS;
    return worth < 2 ? 1 : worth < max ? worth : max;
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

/* ---- Private tallies ---- */

#define RF_TALLY_GUARD 64 /* bytes after each tally that are not its own */

/* Memory for tallies of either precision and up to `dim` parameters, each on cache lines of its own. */
typedef struct rf_tallies {
    unsigned char *memory;
    size_t stride;
    unsigned count, dim;
} rf_tallies;

/* Allocates tallies, discarding earlier ones. Returns 0, or -1 with nothing changed. Start from {0}. */
int rf_tallies_make(rf_tallies *tallies, unsigned count, unsigned dim);
void rf_tallies_free(rf_tallies *tallies);
RF_FN void *rf_tallies_at(const rf_tallies *tallies, unsigned index) { return tallies->memory + index * tallies->stride; }

#endif
