/* A resident fleet in one precision. Included by fleet.h, once for each. */
#include "detail/precision.h"

/* Opaque. */
typedef struct RF(residents) RF(residents);

/* A fleet of `count` filters, each at the mean and with the factor of `prior`; filter i has the seed rf_seed_of(prior's seed, i). The
   engine outlives it, and so does what the model points to, but for charts. Null with a one-line message in `error`. */
RF_API RF(residents) *RF(residents_open)(rf_engine *engine, const RF(model) *model, const RF(options) *options, const RF(filter) *prior,
                                         uint32_t count, char *error, size_t size);
/* Frees it; null is fine. */
RF_API void RF(residents_close)(RF(residents) *fleet);

/* Learns from a record each: filter i from record i, or with `which` filter which[i]; these are all different. `reports` has room for
   `count`, or is null: then what the updates lose is not measured. All or nothing: a negative status is a refusal, and then nothing has
   changed; else the notes of all. */
RF_API rf_status RF(residents_tell)(RF(residents) *fleet, const uint32_t which[], uint32_t count, const rf_real records[], RF(report) reports[]);

/* Time passes for all of them, as rf32_diffuse has it. */
RF_API rf_status RF(residents_pass)(RF(residents) *fleet, rf_real rate, rf_real elapsed);

/* Reads something of all filters, or of those of `which`: row by row to `out`. */
RF_API rf_status RF(residents_read)(RF(residents) *fleet, rf_read what, const uint32_t which[], uint32_t count, rf_real out[]);

/* A whole filter, out of the fleet and into it: for checkpoints. `filter` has the model's dimension. */
RF_API rf_status RF(residents_take)(RF(residents) *fleet, uint32_t index, RF(filter) *filter);
RF_API rf_status RF(residents_put)(RF(residents) *fleet, uint32_t index, const RF(filter) *filter);

/* Memory of the fleet's, for a record of each filter and for a mean of each: what is told from here or read to here is not copied once
   more. It is the caller's to write to and read from. */
RF_API rf_real *RF(residents_records)(RF(residents) *fleet);
RF_API rf_real *RF(residents_means)(RF(residents) *fleet);
