/* Resident fleets: the common part, and fleets in the host's memory. Compiled per precision. */
#include "engine.h"

#include <stdlib.h>
#include <string.h>

#if RF_PRECISION == 32
#define RESIDENTS_OF(kind) kind->residents32
#else
#define RESIDENTS_OF(kind) kind->residents64
#endif

/* ---- For every place of residence ---- */

/* A fleet in the host's memory needs the engine for its updates alone, which take it themselves. */
static int RF(take)(const RF(residents) * fleet)
{
    return fleet->kind == &RF(residents_host) || rf_engine_take(fleet->engine);
}
static void RF(give)(const RF(residents) * fleet)
{
    if (fleet->kind != &RF(residents_host))
        rf_engine_give(fleet->engine);
}

RF(residents) * RF(residents_open)(rf_engine *engine, const RF(model) * model, const RF(options) * options,
                                   const RF(filter) * prior, uint32_t count, char *error, size_t size)
{
    if (!engine || !model || !options || !prior || prior->tally.dim != model->dim || count == 0) {
        rf_fail(error, size,
                "a fleet needs an engine, a model, options, a prior of the model's dimension, and one filter at least");
        return NULL;
    }
    const RF(residents_kind) *kind = RESIDENTS_OF(engine->kind) ? RESIDENTS_OF(engine->kind)(engine, model) : NULL;
    kind = kind ? kind : &RF(residents_host);
    RF(residents) *fleet = calloc(1, kind->bytes);
    RF(chart) *charts = model->charts ? malloc(model->dim * sizeof *charts) : NULL;
    if (!fleet || (model->charts && !charts)) {
        free(fleet);
        free(charts);
        rf_fail(error, size, "a fleet of %u: out of memory", count);
        return NULL;
    }
    if (charts)
        memcpy(charts, model->charts, model->dim * sizeof *charts);
    fleet->kind = kind;
    fleet->engine = engine;
    fleet->model = *model;
    fleet->model.charts = fleet->charts = charts;
    fleet->options = *options;
    fleet->count = count;
    const int is_there = RF(take)(fleet);
    if (!is_there)
        rf_fail(error, size, "a fleet of %u: %s", count, rf_status_text(RF_REFUSED_BUSY));
    const int failed = is_there ? kind->open(fleet, prior, error, size) : -1;
    if (is_there)
        RF(give)(fleet);
    if (failed) {
        RF(residents_close)(fleet);
        return NULL;
    }
    return fleet;
}

void RF(residents_close)(RF(residents) * fleet)
{
    if (!fleet)
        return;
    fleet->kind->close(fleet);
    free(fleet->charts);
    free(fleet);
}

/* Are these indices within the fleet? The caller guarantees that they are distinct. */
static int RF(is_known)(const RF(residents) * fleet, const uint32_t which[], uint32_t count)
{
    for (uint32_t i = 0; i < count && which; i++)
        if (which[i] >= fleet->count)
            return 0;
    return count <= fleet->count;
}

rf_status RF(residents_tell)(RF(residents) * fleet, const uint32_t which[], uint32_t count, const rf_real records[],
                             RF(report) reports[])
{
    if (!fleet || !records)
        return RF_REFUSED_NULL;
    if (!RF(is_known)(fleet, which, count))
        return RF_REFUSED_OPTIONS;
    if (count == 0)
        return RF_OK;
    if (!RF(take)(fleet))
        return RF_REFUSED_BUSY;
    const rf_status status = fleet->kind->tell(fleet, which, count, records, reports);
    RF(give)(fleet);
    return status;
}

rf_status RF(residents_pass)(RF(residents) * fleet, rf_real rate, rf_real elapsed)
{
    if (!fleet)
        return RF_REFUSED_NULL;
    if (!(rate >= 0) || !(rate <= RF_LIMIT))
        return RF_REFUSED_VALUE;
    if (!(elapsed >= 0) || !(elapsed <= RF_LIMIT))
        return RF_REFUSED_TIME;
    if (!RF(take)(fleet))
        return RF_REFUSED_BUSY;
    const rf_status status = fleet->kind->pass(fleet, rate, elapsed);
    RF(give)(fleet);
    return status;
}

rf_status RF(residents_read)(RF(residents) * fleet, rf_read what, const uint32_t which[], uint32_t count, rf_real out[])
{
    if (!fleet || !out)
        return RF_REFUSED_NULL;
    if (!RF(is_known)(fleet, which, count) || (unsigned)what > RF_READ_FACTOR)
        return RF_REFUSED_OPTIONS;
    if (count == 0)
        return RF_OK;
    if (!RF(take)(fleet))
        return RF_REFUSED_BUSY;
    const rf_status status = fleet->kind->read(fleet, what, which, count, out);
    RF(give)(fleet);
    return status;
}

static rf_status RF(move_checked)(RF(residents) * fleet, uint32_t index, RF(filter) * filter, int is_in)
{
    if (!fleet || !filter)
        return RF_REFUSED_NULL;
    if (index >= fleet->count)
        return RF_REFUSED_OPTIONS;
    if (filter->tally.dim != fleet->model.dim)
        return RF_REFUSED_DIMENSION;
    if (!RF(take)(fleet))
        return RF_REFUSED_BUSY;
    const rf_status status = fleet->kind->move(fleet, index, filter, is_in);
    RF(give)(fleet);
    return status;
}

rf_status RF(residents_take)(RF(residents) * fleet, uint32_t index, RF(filter) * filter)
{
    return RF(move_checked)(fleet, index, filter, 0);
}
rf_status RF(residents_put)(RF(residents) * fleet, uint32_t index, const RF(filter) * filter)
{
    return RF(move_checked)(fleet, index, (RF(filter) *)(uintptr_t)filter, 1);
}

rf_real *RF(residents_records)(RF(residents) * fleet) { return fleet ? fleet->records : NULL; }
rf_real *RF(residents_means)(RF(residents) * fleet) { return fleet ? fleet->means : NULL; }

/* ---- In the host's memory ---- */

typedef struct RF(host_fleet) {
    RF(residents) base;
    unsigned char *memory;
    RF(filter) * *filters, **some; /* all filters; those of one call */
} RF(host_fleet);

static int RF(host_open)(RF(residents) * base, const RF(filter) * prior, char *error, size_t size)
{
    RF(host_fleet) *fleet = (RF(host_fleet) *)(void *)base;
    const unsigned dim = base->model.dim;
    const size_t bytes = RF(filter_bytes)(dim);
    fleet->memory = malloc(base->count * bytes);
    fleet->filters = malloc(base->count * sizeof *fleet->filters);
    fleet->some = malloc(base->count * sizeof *fleet->some);
    base->records = malloc((size_t)base->count * (base->model.settings + 1u) * sizeof(rf_real));
    base->means = malloc((size_t)base->count * dim * sizeof(rf_real));
    if (!fleet->memory || !fleet->filters || !fleet->some || !base->records || !base->means)
        return rf_fail(error, size, "a fleet of %u: out of memory", base->count);
    for (uint32_t i = 0; i < base->count; i++) {
        RF(filter_init)(&fleet->filters[i], fleet->memory + i * bytes, bytes, dim, 0);
        const rf_status status = RF(filter_restore)(fleet->filters[i], rf_seed_of(prior->seed, i), 0,
                                                    RF(filter_mean)(prior), RF(filter_factor)(prior), NULL);
        if (status < 0)
            return rf_fail(error, size, "%s", rf_status_text(status));
    }
    return 0;
}

static void RF(host_close)(RF(residents) * base)
{
    RF(host_fleet) *fleet = (RF(host_fleet) *)(void *)base;
    free(fleet->memory);
    free(fleet->filters);
    free(fleet->some);
    free(base->records);
    free(base->means);
}

static RF(filter) *const *RF(host_some)(RF(host_fleet) * fleet, const uint32_t which[], uint32_t count)
{
    for (uint32_t i = 0; i < count && which; i++)
        fleet->some[i] = fleet->filters[which[i]];
    return which ? fleet->some : fleet->filters;
}

static rf_status RF(host_tell)(RF(residents) * base, const uint32_t which[], uint32_t count, const rf_real records[],
                               RF(report) reports[])
{
    return RF(fleet_update)(RF(host_some)((RF(host_fleet) *)(void *)base, which, count), count, &base->model, records,
                            &base->options, RF_IN_PRECISION(base->engine), reports);
}

static rf_status RF(host_pass)(RF(residents) * base, rf_real rate, rf_real elapsed)
{
    RF(host_fleet) *fleet = (RF(host_fleet) *)(void *)base;
    rf_status notes = RF_OK;
    for (uint32_t i = 0; i < base->count; i++)
        notes |= RF(diffuse)(fleet->filters[i], rate, elapsed);
    return notes;
}

static rf_status RF(host_read)(RF(residents) * base, rf_read what, const uint32_t which[], uint32_t count,
                               rf_real out[])
{
    RF(host_fleet) *fleet = (RF(host_fleet) *)(void *)base;
    const unsigned dim = base->model.dim;
    for (uint32_t i = 0; i < count; i++) {
        const RF(filter) *filter = fleet->filters[which ? which[i] : i];
        const rf_real *from = what == RF_READ_MEAN ? RF(filter_mean)(filter) : RF(filter_factor)(filter);
        for (unsigned k = 0; k < (what == RF_READ_FACTOR ? RF_TRIANGLE(dim) : dim); k++)
            *out++ = what == RF_READ_SD ? RF(filter_sd)(filter, k) : from[k];
    }
    return RF_OK;
}

static rf_status RF(host_move)(RF(residents) * base, uint32_t index, RF(filter) * filter, int is_in)
{
    RF(host_fleet) *fleet = (RF(host_fleet) *)(void *)base;
    const size_t bytes = RF(filter_bytes)(base->model.dim);
    memcpy(is_in ? fleet->filters[index] : filter, is_in ? filter : fleet->filters[index], bytes);
    return RF_OK;
}

const RF(residents_kind) RF(residents_host) = {sizeof(RF(host_fleet)), RF(host_open), RF(host_close), RF(host_tell),
                                               RF(host_pass),          RF(host_read), RF(host_move)};
