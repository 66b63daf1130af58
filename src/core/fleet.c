/* Many filters of one model, updated together. */

#include "core.h"

rf_status RF(fleet_run)(const RF(fleet) *fleet, const RF(engine) *engine)
{
    if (engine && engine->fleet)
        return engine->fleet(engine->self, fleet);
    const unsigned stride = fleet->model->settings + 1u;
    rf_status notes = RF_OK;
    for (uint32_t i = 0; i < fleet->count; i++) {
        RF(report) *report = fleet->reports ? &fleet->reports[i] : 0;
        rf_status status = RF(update_checked)(fleet->filters[i], fleet->model, fleet->records + (size_t)i * stride, 1, fleet->options, engine, report);
        if (status < 0)
            return status;
        notes |= status;
    }
    return notes;
}

rf_status RF(fleet_update)(RF(filter) *const filters[], uint32_t count, const RF(model) *model, const rf_real records[],
                           const RF(options) *options, const RF(engine) *engine, RF(report) reports[])
{
    if (!filters || !model || !records)
        return RF_REFUSED_NULL;
    for (uint32_t i = 0; i < count; i++) {
        const int is_first = i == 0; /* validate once what all filters share */
        rf_status status = !is_first && filters[i] && filters[i]->tally.dim == model->dim ? RF_OK : RF(charts_check)(filters[i], model);
        if (status >= 0 && filters[i]->tally.update == 0xffffffffu)
            status = RF_REFUSED_USED_UP;
        if (status >= 0 && is_first)
            status = RF(options_check)(model, options, engine);
        if (status >= 0)
            status = RF(records_check)(model, records + (size_t)i * (model->settings + 1u), 1, options);
        if (status < 0)
            return status;
    }
    const RF(fleet) fleet = {filters, model, records, options, reports, count};
    return RF(fleet_run)(&fleet, engine);
}
