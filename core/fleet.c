/* Many filters of one model, updated together. */

/* Is a parameter of this filter wrapped? Such filters are updated on their own. */
static int RF(is_wrapped)(const RF(filter) *filter, const RF(model) *model)
{
    for (unsigned i = 0; i < model->dim; i++) {
        const RF(chart) *chart = RF(chart_of)(model, i);
        if (chart->kind == RF_PERIODIC && RF(filter_sd)(filter, i) > RF_WRAP_FROM * (chart->high - chart->low))
            return 1;
    }
    return 0;
}

rf_status RF(fleet_run)(const RF(fleet) *fleet, RF(run_lanes) *lanes, const RF(engine) *single)
{
    const unsigned stride = fleet->model->settings + 1u;
    rf_status notes = RF_OK;
    for (uint32_t first = 0; first < fleet->count; first += RF_FLEET_LANES) {
        RF(fleet) group = *fleet;
        group.filters += first;
        group.records += (size_t)first * stride;
        group.count = fleet->count - first < RF_FLEET_LANES ? fleet->count - first : RF_FLEET_LANES;
        uint64_t alone = lanes && group.count > 1 ? lanes(&group) : ~(uint64_t)0;
        for (uint32_t i = 0; i < group.count; i++) {
            int begun = !(alone >> i & 1) && !RF(is_wrapped)(group.filters[i], group.model);
            RF(report) *report = fleet->reports ? &fleet->reports[first + i] : 0;
            rf_status status = RF(update_checked)(group.filters[i], group.model, group.records + (size_t)i * stride, 1,
                                                  group.options, single, begun, report);
            if (status < 0)
                return status;
            notes |= status;
        }
    }
    return notes;
}

rf_status RF(fleet_update)(RF(filter) *const filters[], uint32_t count, const RF(model) *model, const rf_real records[],
                           const RF(options) *options, const RF(engine) *engine, RF(report) reports[])
{
    if (!filters || !model || !records)
        return RF_REFUSED_NULL;
    for (uint32_t i = 0; i < count; i++) {
        rf_status status = RF(update_check)(filters[i], model, records + (size_t)i * (model->settings + 1u), 1, options);
        if (status < 0)
            return status;
    }
    const RF(fleet) fleet = {filters, model, records, options, reports, count};
    if (engine && engine->fleet)
        return engine->fleet(engine->self, &fleet);
    return RF(fleet_run)(&fleet, 0, engine);
}
