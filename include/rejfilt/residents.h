/* A resident fleet in one precision. Included by fleet.h, once for each. */
#include "detail/precision.h"

/* Opaque. */
typedef struct RF(residents) RF(residents);

/* Opens a fleet of `count` copies of `prior`; filter i has the seed rf_seed_of(prior's seed, i). The engine must outlive it, and so
   must everything that the model points to, except charts. Returns NULL and fills `error` with one line on failure. */
RF_API RF(residents) *RF(residents_open)(rf_engine *engine, const RF(model) *model, const RF(options) *options, const RF(filter) *prior,
                                         uint32_t count, char *error, size_t size);
/* Frees it; NULL is allowed. */
RF_API void RF(residents_close)(RF(residents) *fleet);

/* Updates filter i, or which[i] if `which` is not NULL, with record i; indices must differ. `reports` has `count` entries, or is NULL:
   then the loss is not measured. A negative status means refused, with nothing changed; otherwise the status has the notes of all. */
RF_API rf_status RF(residents_tell)(RF(residents) *fleet, const uint32_t which[], uint32_t count, const rf_real records[], RF(report) reports[]);

/* Lets time pass for all filters, as rf32_diffuse does. */
RF_API rf_status RF(residents_pass)(RF(residents) *fleet, rf_real rate, rf_real elapsed);

/* Reads a quantity of all filters, or of those in `which`, to rows of `out`. */
RF_API rf_status RF(residents_read)(RF(residents) *fleet, rf_read what, const uint32_t which[], uint32_t count, rf_real out[]);

/* Copy a whole filter out of the fleet or into it, for checkpoints. `filter` has the model's dimension. */
RF_API rf_status RF(residents_take)(RF(residents) *fleet, uint32_t index, RF(filter) *filter);
RF_API rf_status RF(residents_put)(RF(residents) *fleet, uint32_t index, const RF(filter) *filter);

/* The fleet's own buffers for one record and one mean per filter. Telling from them and reading to them avoids a copy. The caller may
   write and read them. */
RF_API rf_real *RF(residents_records)(RF(residents) *fleet);
RF_API rf_real *RF(residents_means)(RF(residents) *fleet);
