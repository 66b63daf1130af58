/* The cuda engine: attempts of one task, and updates of fleets, on a GPU. Compiled per precision. */
#include "gpu.h"

#include <string.h>

#include "device_types.h"

/* The model's source, or null where the device cannot have it: then the inner engine runs it. */
static const rf_source *RF(source_of)(const RF(model) *model)
{
    const RF(kernel) *kernel = model->kernels;
    for (; kernel && kernel->target; kernel++)
        if (strcmp(kernel->target, "source") == 0)
            return model->dim <= RF_GPU_DIM ? kernel->source : NULL;
    return NULL;
}

static void RF(tell_model)(const RF(model) *model, RF(device_model) *about)
{
    about->model = *model;
    about->has_charts = model->charts != NULL;
    if (model->charts)
        memcpy(about->charts, model->charts, model->dim * sizeof *model->charts);
}

static int RF(is_lost)(rf_engine *engine)
{
    const rf_gpu *gpu = engine->state;
    if (!gpu->cuda)
        return 1;
    engine->complaint[0] = '\0';
    return 0;
}

/* ---- One task ---- */

/* The numbers of the task, with the launch or before it. Returns 0, or -1 with a complaint. */
static int RF(tell_numbers)(rf_engine *engine, const RF(task) *task, RF(device_run) *run)
{
    rf_gpu *gpu = engine->state;
    const unsigned dim = task->model->dim;
    const size_t counts[] = {dim, RF_TRIANGLE(dim), task->wrap ? 2 * dim : 0, (size_t)task->count * (task->model->settings + 1u)};
    const rf_real *const parts[] = {task->mean, task->factor, task->wrap, task->records};
    const size_t bytes = (counts[0] + counts[1] + counts[2] + counts[3]) * sizeof(rf_real);
    const int is_small = bytes <= sizeof run->numbers;
    if (!is_small && (rf_gpu_room(engine, &gpu->more, bytes, 0) < 0 || rf_gpu_room(engine, &gpu->staged, bytes, 1) < 0))
        return -1;
    rf_real *to = is_small ? run->numbers : gpu->staged.memory;
    for (unsigned i = 0; i < 4; i++) {
        if (counts[i] > 0)
            memcpy(to, parts[i], counts[i] * sizeof *to);
        to += counts[i];
    }
    run->more = is_small ? NULL : gpu->more.memory;
    return is_small ? 0 : gpu->cuda->to_device(gpu->device, gpu->more.memory, gpu->staged.memory, bytes, engine->complaint, sizeof engine->complaint);
}

static uint16_t RF(in_16_bits)(uint64_t count) { return (uint16_t)(count < 65535 ? count : 65535); }

/* Adds the answer to the tally. */
static rf_status RF(take_answer)(const rf_gpu *gpu, const RF(task) *task, RF(tally) *tally)
{
    const unsigned dim = task->model->dim;
    RF(tally) *mine = rf_tallies_at(&gpu->tallies, 0);
    const volatile uint64_t *a = gpu->answer;
    RF(tally_clear)(mine, dim, task->update);
    mine->over = a[0];
    mine->weight = a[1];
    mine->nan = RF(in_16_bits)(a[2]);
    mine->negative = RF(in_16_bits)(a[3]);
    mine->infinite = RF(in_16_bits)(a[4]);
    mine->largest = RF(from_bits)((rf_unsigned)a[5]);
    int64_t *sums = (int64_t *)(mine + 1);
    for (size_t i = 0; i < dim + RF_TRIANGLE(dim); i++)
        sums[i] = (int64_t)a[RF_DEVICE_HEAD + i];
    return RF(tally_add)(tally, mine);
}

rf_status RF(gpu_run)(void *self, const RF(task) *task, uint32_t begin, uint32_t count, RF(tally) *tally)
{
    rf_engine *engine = self;
    rf_gpu *gpu = engine->state;
    const unsigned dim = task->model->dim;
    const rf_source *source = RF(source_of)(task->model);
    if (!source || dim > gpu->tallies.dim)
        return RF_IN_PRECISION(engine->inner)->run(RF_IN_PRECISION(engine->inner)->self, task, begin, count, tally);
    if (RF(is_lost)(engine))
        return RF_REFUSED_ENGINE;
    const rf_gpu_wanted wanted = {source, RF_PRECISION, dim, task->sampler, 0, 1};
    const rf_gpu_program *program = rf_gpu_find(engine, &wanted);
    RF(device_run) run;
    if (!program || RF(tell_numbers)(engine, task, &run) < 0)
        return RF_REFUSED_ENGINE;
    RF(tell_model)(task->model, &run.about);
    run.task = *task;
    run.sums = gpu->sums;
    run.answer = gpu->answer;
    const uint32_t chunk = 0x80000000u / (dim * dim); /* a launch is not to take long */
    for (uint32_t done = 0; done < count;) {
        const uint32_t some = count - done < chunk ? count - done : chunk / RF_PART_ALIGN * RF_PART_ALIGN;
        const uint32_t threads = RF_GPU_THREADS, needed = (some / (2 * RF_GPU_PAIRS) + 2 + threads - 1) / threads;
        run.begin = begin + done;
        run.count = some;
        run.number = ++gpu->number;
        if (gpu->cuda->launch(gpu->device, program->run, needed < program->run_blocks ? needed : program->run_blocks, threads, 0, &run, engine->complaint, sizeof engine->complaint) < 0 ||
            rf_gpu_wait(engine, gpu->answer + RF_DEVICE_NUMBERS(dim), run.number) < 0 || RF(take_answer)(gpu, task, tally) < 0)
            return RF_REFUSED_ENGINE;
        done += some;
    }
    return RF_OK;
}

/* ---- Fleets ---- */

/* Threads that share a filter: so many that each has some attempts, and few, since the end of an update is done by all of them. */
static unsigned RF(group_for)(uint32_t attempts) { return attempts <= 96 ? 4 : attempts <= 512 ? 8 : 32; }

rf_status RF(gpu_fleet)(void *self, const RF(fleet) *fleet)
{
    rf_engine *engine = self;
    rf_gpu *gpu = engine->state;
    const RF(model) *model = fleet->model;
    const rf_source *source = RF(source_of)(model);
    if (!source)
        return RF(fleet_run)(fleet, RF_IN_PRECISION(engine->inner));
    if (RF(is_lost)(engine))
        return RF_REFUSED_ENGINE;
    const unsigned dim = model->dim;
    const size_t stride = RF(filter_bytes)(dim), moved = (size_t)((const unsigned char *)(RF(filter_factor)(fleet->filters[0]) + RF_TRIANGLE(dim)) - (const unsigned char *)fleet->filters[0]);
    const size_t filters = fleet->count * stride, records = fleet->count * (model->settings + (size_t)1) * sizeof(rf_real);
    const size_t reports = fleet->reports ? fleet->count * sizeof(RF(report)) : 0;
    const rf_gpu_wanted wanted = {source, RF_PRECISION, dim, fleet->options->sampler, RF(group_for)(fleet->options->attempts), 1};
    const rf_gpu_program *program = rf_gpu_find(engine, &wanted);
    int32_t flags[2] = {0, 0};
    char *error = engine->complaint;
    const size_t size = sizeof engine->complaint;
    if (fleet->count == 0)
        return RF_OK;
    if (!program || rf_gpu_room(engine, &gpu->filters, filters, 0) < 0 || rf_gpu_room(engine, &gpu->records, records, 0) < 0 ||
        rf_gpu_room(engine, &gpu->reports, reports, 0) < 0 || rf_gpu_room(engine, &gpu->flags, sizeof flags, 0) < 0 ||
        rf_gpu_room(engine, &gpu->staged, filters, 1) < 0)
        return RF_REFUSED_ENGINE;
    for (uint32_t i = 0; i < fleet->count; i++)
        memcpy((unsigned char *)gpu->staged.memory + i * stride, fleet->filters[i], moved);
    RF(device_fleet) all = {.options = *fleet->options,
                            .filters = gpu->filters.memory,
                            .records = gpu->records.memory,
                            .reports = reports ? gpu->reports.memory : NULL,
                            .answer = gpu->flags.memory,
                            .stride = stride,
                            .count = fleet->count};
    RF(tell_model)(model, &all.about);
    const uint32_t needed = (uint32_t)(((uint64_t)fleet->count * wanted.group + RF_GPU_FLEET_THREADS - 1) / RF_GPU_FLEET_THREADS);
    if (gpu->cuda->to_device(gpu->device, gpu->filters.memory, gpu->staged.memory, filters, error, size) < 0 ||
        gpu->cuda->to_device(gpu->device, gpu->records.memory, fleet->records, records, error, size) < 0 ||
        gpu->cuda->to_device(gpu->device, gpu->flags.memory, flags, sizeof flags, error, size) < 0 ||
        gpu->cuda->launch(gpu->device, program->fleet, needed < program->fleet_blocks ? needed : program->fleet_blocks, RF_GPU_FLEET_THREADS, 0, &all, error, size) < 0 ||
        gpu->cuda->to_host(gpu->device, gpu->staged.memory, gpu->filters.memory, filters, error, size) < 0 ||
        gpu->cuda->to_host(gpu->device, flags, gpu->flags.memory, sizeof flags, error, size) < 0 ||
        (reports && gpu->cuda->to_host(gpu->device, fleet->reports, gpu->reports.memory, reports, error, size) < 0) || rf_gpu_wait(engine, NULL, 0) < 0)
        return RF_REFUSED_ENGINE;
    for (uint32_t i = 0; i < fleet->count; i++)
        memcpy(fleet->filters[i], (unsigned char *)gpu->staged.memory + i * stride, moved);
    return flags[0];
}
