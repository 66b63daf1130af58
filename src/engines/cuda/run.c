/* The cuda engine: attempts of one task, and updates of fleets, on a GPU. Compiled per precision. */
#include "gpu.h"

#include <string.h>

#include "device_types.h"

/* Null if the model has none; the inner engine then runs it. */
const rf_source *RF(gpu_source)(const RF(model) * model)
{
    const RF(kernel) *kernel = model->kernels;
    for (; kernel && kernel->target; kernel++)
        if (strcmp(kernel->target, "source") == 0)
            return model->dim <= RF_GPU_DIM && (!model->charts || model->dim <= RF_DEVICE_CHARTS) ? kernel->source
                                                                                                  : NULL;
    return NULL;
}

static void RF(tell_model)(const RF(model) * model, RF(device_model) * about)
{
    about->model = *model;
    if (model->charts)
        memcpy(about->charts, model->charts, model->dim * sizeof *model->charts);
}

/* The compile-time properties of a program for this model. */
static rf_gpu_wanted RF(wanted)(const RF(model) * model, rf_sampler sampler, unsigned pairs, unsigned group,
                                int has_entropy, uint32_t records)
{
    const int is_plain =
        model->dim == 1 && records == 1 && !model->is_log && (!model->charts || model->charts[0].kind == RF_REAL);
    rf_gpu_wanted w = {.source = RF(gpu_source)(model),
                       .bits = RF_PRECISION,
                       .dim = model->dim,
                       .kinds = "0",
                       .sampler = sampler,
                       .pairs = is_plain ? 1 : pairs,
                       .group = group,
                       .entropy = has_entropy != 0,
                       .plain = (unsigned)is_plain};
    for (unsigned i = 0; i < model->dim && model->charts; i++) {
        w.kinds[2 * i] = (char)('0' + model->charts[i].kind);
        w.kinds[2 * i + 1] = i + 1 < model->dim ? ',' : '\0';
    }
    return w;
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

/* Passes the numbers of the task with the launch, or copies them before it. Returns 0, or -1 with a complaint. */
static int RF(tell_numbers)(rf_engine *engine, const RF(task) * task, RF(device_run) * run)
{
    rf_gpu *gpu = engine->state;
    const unsigned dim = task->model->dim;
    const size_t counts[] = {dim, RF_TRIANGLE(dim), task->wrap ? 2 * dim : 0,
                             (size_t)task->count * (task->model->settings + 1u)};
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
    return is_small ? 0
                    : gpu->cuda->to_device(gpu->device, gpu->more.memory, gpu->staged.memory, bytes, engine->complaint,
                                           sizeof engine->complaint);
}

static uint16_t RF(in_16_bits)(uint64_t count) { return (uint16_t)(count < 65535 ? count : 65535); }

/* Adds the answer to the tally. */
static rf_status RF(take_answer)(const rf_gpu *gpu, const RF(task) * task, RF(tally) * tally)
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

static rf_status RF(run_there)(rf_engine *engine, const RF(task) * task, uint32_t begin, uint32_t count, RF(tally) * tally)
{
    rf_gpu *gpu = engine->state;
    const unsigned dim = task->model->dim;
    if (RF(is_lost)(engine))
        return RF_REFUSED_ENGINE;
    const rf_gpu_wanted wanted =
        RF(wanted)(task->model, task->sampler, dim > RF_DEVICE_OWN ? 1 : RF_GPU_PAIRS, 0, 1, task->count);
    const rf_gpu_program *program = rf_gpu_find(engine, &wanted);
    RF(device_run) run;
    if (!program || RF(tell_numbers)(engine, task, &run) < 0)
        return RF_REFUSED_ENGINE;
    RF(tell_model)(task->model, &run.about);
    run.task = *task;
    rf_device_keys(task->seed, run.keys);
    run.sums = gpu->sums;
    run.answer = gpu->answer;
    const uint32_t warps = program->run_blocks * (program->run_threads / 32), least = 64 * RF_GPU_PAIRS,
                   most = 4096; /* a round of the lattice */
    for (run.piece = least; run.piece < most && count / (2 * run.piece) >= 4 * warps;)
        run.piece *= 2;
    const uint32_t chunk = 0x80000000u / (dim * dim); /* limits the time of a launch */
    for (uint32_t done = 0; done < count;) {
        const uint32_t some = count - done < chunk ? count - done : chunk / RF_PART_ALIGN * RF_PART_ALIGN;
        const uint32_t threads = program->run_threads,
                       at_once = dim > RF_DEVICE_OWN ? 2 * threads : run.piece * (threads / 32),
                       needed = some / at_once + 1;
        run.begin = begin + done;
        run.count = some;
        run.number = ++gpu->number;
        if (gpu->cuda->launch(gpu->device, program->run, needed < program->run_blocks ? needed : program->run_blocks,
                              threads, program->run_shared, &run, engine->complaint, sizeof engine->complaint) < 0 ||
            rf_gpu_wait(engine, gpu->answer + RF_DEVICE_NUMBERS(dim), run.number) < 0 ||
            RF(take_answer)(gpu, task, tally) < 0)
            return RF_REFUSED_ENGINE;
        done += some;
    }
    return RF_OK;
}

rf_status RF(gpu_run)(void *self, const RF(task) * task, uint32_t begin, uint32_t count, RF(tally) * tally)
{
    rf_engine *engine = self;
    const rf_gpu *gpu = engine->state;
    const RF(engine) *inner = RF_IN_PRECISION(engine->inner);
    if (!RF(gpu_source)(task->model) || !rf_engine_take(engine))
        return inner->run(inner->self, task, begin, count, tally);
    const int fits = task->model->dim <= gpu->tallies.dim;
    const rf_status status = fits ? RF(run_there)(engine, task, begin, count, tally) : RF_OK;
    rf_engine_give(engine);
    return fits ? status : inner->run(inner->self, task, begin, count, tally);
}

/* ---- Fleets ---- */

/* The program for updates of `count` filters. One thread per filter is the most efficient, since all threads of a group
   repeat the end of an update. But a small fleet would leave most of the device idle; then several threads share the
   attempts of a filter. */
static const rf_gpu_program *RF(fleet_program)(rf_engine *engine, const RF(model) * model, const RF(options) * options,
                                               uint32_t count, int has_entropy)
{
    const unsigned group = count >= RF_GPU_FLEET_LARGE                                  ? 1
                           : count >= RF_GPU_FLEET_LARGE / 8 || options->attempts < 256 ? 8
                                                                                        : 32;
    const rf_gpu_wanted wanted =
        RF(wanted)(model, options->sampler, options->attempts >= 2 * RF_GPU_PAIRS * group ? RF_GPU_PAIRS : 1, group,
                   has_entropy, 1);
    return rf_gpu_find(engine, &wanted);
}

/* Launches a kernel on a fleet with `each` threads per filter, at most `blocks` blocks. Returns 0, or -1 with a
   complaint. */
static int RF(launch)(rf_engine *engine, rf_cuda_function *function, unsigned each, unsigned blocks,
                      RF(device_fleet) * fleet)
{
    rf_gpu *gpu = engine->state;
    const uint64_t needed = ((uint64_t)fleet->count * each + RF_GPU_FLEET_THREADS - 1) / RF_GPU_FLEET_THREADS;
    return gpu->cuda->launch(gpu->device, function, needed < blocks ? (unsigned)needed : blocks, RF_GPU_FLEET_THREADS,
                             0, fleet, engine->complaint, sizeof engine->complaint);
}

static int RF(to_device)(rf_engine *engine, void *to, const void *from, size_t bytes)
{
    rf_gpu *gpu = engine->state;
    return gpu->cuda->to_device(gpu->device, to, from, bytes, engine->complaint, sizeof engine->complaint);
}

static int RF(to_host)(rf_engine *engine, void *to, const void *from, size_t bytes)
{
    rf_gpu *gpu = engine->state;
    return gpu->cuda->to_host(gpu->device, to, from, bytes, engine->complaint, sizeof engine->complaint);
}

/* Bytes of a filter without its workspace. */
static size_t RF(moved)(unsigned dim)
{
    return RF_ROUND8_(8 + RF_TALLY_BYTES_(dim, sizeof(RF(tally)), sizeof(rf_real)) +
                      (dim + RF_TRIANGLE(dim)) * sizeof(rf_real));
}

static rf_status RF(fleet_there)(rf_engine *engine, const RF(fleet) * fleet)
{
    rf_gpu *gpu = engine->state;
    const RF(model) *model = fleet->model;
    if (RF(is_lost)(engine))
        return RF_REFUSED_ENGINE;
    const size_t stride = RF(moved)(model->dim);
    const size_t filters = fleet->count * stride,
                 records = fleet->count * (model->settings + (size_t)1) * sizeof(rf_real);
    const size_t reports = fleet->reports ? fleet->count * sizeof(RF(report)) : 0;
    const rf_gpu_program *program = RF(fleet_program)(engine, model, fleet->options, fleet->count, 1);
    int32_t flags[2] = {0, 0};
    if (!program || rf_gpu_room(engine, &gpu->filters, filters, 0) < 0 ||
        rf_gpu_room(engine, &gpu->records, records, 0) < 0 || rf_gpu_room(engine, &gpu->reports, reports, 0) < 0 ||
        rf_gpu_room(engine, &gpu->flags, sizeof flags, 0) < 0 || rf_gpu_room(engine, &gpu->staged, filters, 1) < 0)
        return RF_REFUSED_ENGINE;
    for (uint32_t i = 0; i < fleet->count; i++)
        memcpy((unsigned char *)gpu->staged.memory + i * stride, fleet->filters[i], stride);
    RF(device_fleet)
    all = {.options = *fleet->options,
           .filters = gpu->filters.memory,
           .records = gpu->records.memory,
           .reports = reports ? gpu->reports.memory : NULL,
           .answer = gpu->flags.memory,
           .stride = stride,
           .count = fleet->count};
    RF(tell_model)(model, &all.about);
    if (RF(to_device)(engine, gpu->filters.memory, gpu->staged.memory, filters) < 0 ||
        RF(to_device)(engine, gpu->records.memory, fleet->records, records) < 0 ||
        RF(to_device)(engine, gpu->flags.memory, flags, sizeof flags) < 0 ||
        RF(launch)(engine, program->fleet, program->wanted.group, program->fleet_blocks, &all) < 0 ||
        RF(to_host)(engine, gpu->staged.memory, gpu->filters.memory, filters) < 0 ||
        RF(to_host)(engine, flags, gpu->flags.memory, sizeof flags) < 0 ||
        (reports && RF(to_host)(engine, fleet->reports, gpu->reports.memory, reports) < 0) ||
        rf_gpu_wait(engine, NULL, 0) < 0)
        return RF_REFUSED_ENGINE;
    for (uint32_t i = 0; i < fleet->count; i++)
        memcpy(fleet->filters[i], (unsigned char *)gpu->staged.memory + i * stride, stride);
    return flags[0];
}

rf_status RF(gpu_fleet)(void *self, const RF(fleet) * fleet)
{
    rf_engine *engine = self;
    if (fleet->count == 0)
        return RF_OK;
    if (!RF(gpu_source)(fleet->model) || fleet->model->dim > RF_GPU_FLEET_DIM || !rf_engine_take(engine))
        return RF(fleet_run)(fleet, RF_IN_PRECISION(engine->inner));
    const rf_status status = RF(fleet_there)(engine, fleet);
    rf_engine_give(engine);
    return status;
}

/* ---- Resident fleets ---- */

typedef struct RF(gpu_resident) {
    RF(residents) base;
    RF(device_fleet) all; /* template of launches */
    unsigned char *filters;
    rf_real *records; /* one per filter, on the device */
    uint32_t *which;
    rf_real *out;
    int32_t *flags, *told; /* on the device; their copy on the host */
    RF(report) * reports;  /* allocated at first use */
} RF(gpu_resident);

enum { RF_GPU_ENOUGH = 1 << 20 }; /* no limit on blocks */

static int RF(gpu_open)(RF(residents) * base, const RF(filter) * prior, char *error, size_t size)
{
    RF(gpu_resident) *fleet = (RF(gpu_resident) *)(void *)base;
    rf_engine *engine = base->engine;
    rf_gpu *gpu = engine->state;
    const rf_cuda_module *cuda = gpu->cuda;
    const unsigned dim = base->model.dim;
    const size_t stride = RF(moved)(dim), records = (size_t)base->count * (base->model.settings + 1u) * sizeof(rf_real);
    const size_t out = (size_t)base->count * (dim > 1 ? RF_TRIANGLE(dim) : 1) * sizeof(rf_real);
    const rf_gpu_program *program = RF(fleet_program)(engine, &base->model, &base->options, base->count, 0);
    RF(filter) *first = program ? cuda->take(gpu->device, stride, error, size) : NULL;
    const int is_there =
        first && (fleet->filters = cuda->take(gpu->device, base->count * stride, error, size)) &&
        (fleet->records = cuda->take(gpu->device, records, error, size)) &&
        (fleet->which = cuda->take(gpu->device, base->count * sizeof *fleet->which, error, size)) &&
        (fleet->out = cuda->take(gpu->device, out, error, size)) &&
        (fleet->flags = cuda->take(gpu->device, 2 * sizeof *fleet->flags, error, size)) &&
        (fleet->told = cuda->take_host(gpu->device, 2 * sizeof *fleet->told, error, size)) &&
        (base->records = cuda->take_host(gpu->device, records, error, size)) &&
        (base->means = cuda->take_host(gpu->device, (size_t)base->count * dim * sizeof(rf_real), error, size));
    int status = is_there ? 0 : -1;
    if (!program)
        rf_fail(error, size, "%s", engine->complaint);
    if (is_there) {
        fleet->all = (RF(device_fleet)){.options = base->options,
                                        .filters = fleet->filters,
                                        .records = fleet->records,
                                        .answer = fleet->flags,
                                        .stride = stride,
                                        .count = base->count,
                                        .out = fleet->out,
                                        .prior = first};
        RF(tell_model)(&base->model, &fleet->all.about);
        if (RF(to_device)(engine, first, prior, stride) < 0 ||
            RF(launch)(engine, program->fill, 1, RF_GPU_ENOUGH, &fleet->all) < 0 || rf_gpu_wait(engine, NULL, 0) < 0)
            status = rf_fail(error, size, "%s", engine->complaint);
    }
    if (gpu->cuda)
        gpu->cuda->give(gpu->device, first);
    return status;
}

static void RF(gpu_close)(RF(residents) * base)
{
    RF(gpu_resident) *fleet = (RF(gpu_resident) *)(void *)base;
    const rf_gpu *gpu = base->engine->state;
    void *const device[] = {fleet->filters, fleet->records, fleet->which, fleet->out, fleet->flags, fleet->reports};
    void *const host[] = {fleet->told, base->records, base->means};
    for (unsigned i = 0; i < sizeof device / sizeof *device && gpu->cuda; i++)
        gpu->cuda->give(gpu->device, device[i]);
    for (unsigned i = 0; i < sizeof host / sizeof *host && gpu->cuda; i++)
        gpu->cuda->give_host(gpu->device, host[i]);
}

/* Prepares a call: its filters, and cleared flags. Returns 0, or -1 with a complaint. */
static int RF(gpu_choose)(RF(gpu_resident) * fleet, const uint32_t which[], uint32_t count, RF(device_fleet) * chosen)
{
    rf_engine *engine = fleet->base.engine;
    if (RF(is_lost)(engine))
        return -1;
    *chosen = fleet->all;
    chosen->count = count;
    chosen->which = which ? fleet->which : NULL;
    fleet->told[0] = fleet->told[1] = 0;
    return RF(to_device)(engine, fleet->flags, fleet->told, 2 * sizeof *fleet->told) < 0 ||
                   (which && RF(to_device)(engine, fleet->which, which, count * sizeof *which) < 0)
               ? -1
               : 0;
}

static rf_status RF(gpu_finish)(RF(gpu_resident) * fleet)
{
    rf_engine *engine = fleet->base.engine;
    if (RF(to_host)(engine, fleet->told, fleet->flags, 2 * sizeof *fleet->told) < 0 || rf_gpu_wait(engine, NULL, 0) < 0)
        return RF_REFUSED_ENGINE;
    return fleet->told[1] < 0 ? fleet->told[1] : fleet->told[0];
}

static rf_status RF(gpu_tell)(RF(residents) * base, const uint32_t which[], uint32_t count, const rf_real records[],
                              RF(report) reports[])
{
    RF(gpu_resident) *fleet = (RF(gpu_resident) *)(void *)base;
    rf_engine *engine = base->engine;
    rf_gpu *gpu = engine->state;
    RF(device_fleet) chosen;
    if (RF(gpu_choose)(fleet, which, count, &chosen) < 0)
        return RF_REFUSED_ENGINE;
    const rf_gpu_program *program =
        RF(fleet_program)(engine, &base->model, &base->options, base->count, reports != NULL);
    if (reports && !fleet->reports)
        fleet->reports =
            gpu->cuda->take(gpu->device, base->count * sizeof *reports, engine->complaint, sizeof engine->complaint);
    chosen.reports = reports ? fleet->reports : NULL;
    if (!program || (reports && !fleet->reports) ||
        RF(to_device)(engine, fleet->records, records, (size_t)count * (base->model.settings + 1u) * sizeof *records) <
            0 ||
        RF(launch)(engine, program->check, 1, RF_GPU_ENOUGH, &chosen) < 0 ||
        RF(launch)(engine, program->fleet, program->wanted.group, program->fleet_blocks, &chosen) < 0)
        return RF_REFUSED_ENGINE;
    const rf_status status = RF(gpu_finish)(fleet);
    if (status < 0 || !reports)
        return status;
    return RF(to_host)(engine, reports, fleet->reports, count * sizeof *reports) < 0 || rf_gpu_wait(engine, NULL, 0) < 0
               ? RF_REFUSED_ENGINE
               : status;
}

static rf_status RF(gpu_pass)(RF(residents) * base, rf_real rate, rf_real elapsed)
{
    RF(gpu_resident) *fleet = (RF(gpu_resident) *)(void *)base;
    RF(device_fleet) chosen;
    if (RF(gpu_choose)(fleet, NULL, base->count, &chosen) < 0)
        return RF_REFUSED_ENGINE;
    const rf_gpu_program *program = RF(fleet_program)(base->engine, &base->model, &base->options, base->count, 0);
    chosen.rate = rate;
    chosen.elapsed = elapsed;
    return program && RF(launch)(base->engine, program->pass, 1, RF_GPU_ENOUGH, &chosen) == 0 ? RF(gpu_finish)(fleet)
                                                                                              : RF_REFUSED_ENGINE;
}

static rf_status RF(gpu_read)(RF(residents) * base, rf_read what, const uint32_t which[], uint32_t count, rf_real out[])
{
    RF(gpu_resident) *fleet = (RF(gpu_resident) *)(void *)base;
    const unsigned dim = base->model.dim;
    const size_t numbers = what == RF_READ_FACTOR ? RF_TRIANGLE(dim) : dim;
    RF(device_fleet) chosen;
    if (RF(gpu_choose)(fleet, which, count, &chosen) < 0)
        return RF_REFUSED_ENGINE;
    const rf_gpu_program *program = RF(fleet_program)(base->engine, &base->model, &base->options, base->count, 0);
    chosen.what = what;
    if (!program || RF(launch)(base->engine, program->read, 1, RF_GPU_ENOUGH, &chosen) < 0 ||
        RF(to_host)(base->engine, out, fleet->out, count * numbers * sizeof *out) < 0)
        return RF_REFUSED_ENGINE;
    return rf_gpu_wait(base->engine, NULL, 0) < 0 ? RF_REFUSED_ENGINE : RF_OK;
}

static rf_status RF(gpu_move)(RF(residents) * base, uint32_t index, RF(filter) * filter, int is_in)
{
    const RF(gpu_resident) *fleet = (RF(gpu_resident) *)(void *)base;
    const size_t stride = RF(moved)(base->model.dim);
    if (RF(is_lost)(base->engine))
        return RF_REFUSED_ENGINE;
    unsigned char *there = fleet->filters + index * stride;
    const int status =
        is_in ? RF(to_device)(base->engine, there, filter, stride) : RF(to_host)(base->engine, filter, there, stride);
    return status < 0 || rf_gpu_wait(base->engine, NULL, 0) < 0 ? RF_REFUSED_ENGINE : RF_OK;
}

static const RF(residents_kind) RF(residents_gpu) = {
    sizeof(RF(gpu_resident)), RF(gpu_open), RF(gpu_close), RF(gpu_tell), RF(gpu_pass), RF(gpu_read), RF(gpu_move)};

const RF(residents_kind) * RF(gpu_residents)(rf_engine *engine, const RF(model) * model)
{
    const rf_gpu *gpu = engine->state;
    return gpu->cuda && RF(gpu_source)(model) && model->dim <= RF_GPU_FLEET_DIM ? &RF(residents_gpu) : NULL;
}
