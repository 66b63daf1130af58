/* Many filters of one model, updated together. */

/* RF(update_checked) for a filter of one real parameter whose first batch is there and is enough. */
static rf_status RF(conclude_one)(RF(filter) *filter, const RF(model) *model, const rf_real record[], const RF(options) *options,
                                  rf_real *rest, RF(report) *report)
{
    rf_real c, z, *mean = (rf_real *)(RF(tally_z)(&filter->tally) + 2);
    const RF(model) real = {model->likelihood, model->bound, 0, 1, model->settings, model->is_log, 0};
    const RF(task) task = {&real, mean, mean + 1, record, 0, 0, filter->seed, 1, filter->tally.update, RF_REJECT, options->kappa};
    const rf_status status = RF(conclude)(filter, 1, &task, options, mean, rest, &c, &z);
    if (report)
        RF(report_fill)(report, status, &task, &filter->tally, options->attempts, options->hedge);
    return status;
}

rf_status RF(fleet_run)(const RF(fleet) *fleet, RF(run_lanes) *lanes, const RF(engine) *single)
{
    const unsigned stride = fleet->model->settings + 1u;
    const RF(options) *o = fleet->options;
    const int is_one = fleet->model->dim == 1 && RF(chart_of)(fleet->model, 0)->kind == RF_REAL && o->sampler == RF_REJECT;
    const uint32_t enough = o->strict || o->batches_max == 1 ? 0 : o->accepted_min;
    rf_real own[RF_FLEET_LANES] = {0}; /* rests of filters of one parameter */
    rf_status notes = RF_OK;
    for (uint32_t first = 0; first < fleet->count; first += RF_FLEET_LANES) {
        RF(fleet) group = *fleet;
        group.filters += first;
        group.records += (size_t)first * stride;
        group.count = fleet->count - first < RF_FLEET_LANES ? fleet->count - first : RF_FLEET_LANES;
        for (uint32_t i = 0; i < group.count; i++)
            RF(rests_take)(group.filters[i], &own[i]);
        uint64_t alone = lanes && group.count > 1 ? lanes(&group) : ~(uint64_t)0;
        for (uint32_t i = 0; i < group.count; i++) {
            RF(filter) *filter = group.filters[i];
            const rf_real *record = group.records + (size_t)i * stride;
            RF(report) *report = fleet->reports ? &fleet->reports[first + i] : 0;
            if (is_one && !(alone >> i & 1) && filter->tally.accepted >= enough) {
                notes |= RF(conclude_one)(filter, group.model, record, o, &own[i], report);
                continue;
            }
            int begun = !(alone >> i & 1) && !RF(is_wrapped)(filter, group.model);
            rf_status status = RF(update_checked)(filter, group.model, record, 1, o, single, begun, own[i], report);
            if (status < 0) {
                while (++i < group.count) /* those after it have begun, too */
                    RF(update_failed)(group.filters[i], group.filters[i]->tally.update, own[i]);
                return status;
            }
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
        const int is_first = i == 0; /* what all share is looked at once */
        rf_status status = !is_first && filters[i] && filters[i]->tally.dim == model->dim ? RF_OK : RF(charts_check)(filters[i], model);
        if (status >= 0 && is_first)
            status = RF(options_check)(model, options);
        if (status >= 0)
            status = RF(records_check)(model, records + (size_t)i * (model->settings + 1u), 1, options);
        if (status < 0)
            return status;
    }
    const RF(fleet) fleet = {filters, model, records, options, reports, count};
    if (engine && engine->fleet)
        return engine->fleet(engine->self, &fleet);
    return RF(fleet_run)(&fleet, 0, engine);
}
