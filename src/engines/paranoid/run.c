/* The paranoid engine: trusts neither the task nor the inner engine. Compiled per precision. */
#include "paranoid.h"

#include <string.h>

#include "rejfilt/detail/tally.h"
#include "serial/serial.h"

#define POISON 0xff /* reads as NaN */
#define GRID 8192.0 /* z is in units of 1/GRID; |z| < 8 */
#define Z_MAX (8.0 * GRID)
#define ROUNDING 1e-9

#define REQUIRE(condition, ...)                                                                                        \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            return rf_fail(complaint, size, __VA_ARGS__);                                                              \
    } while (0)

static size_t RF(finite_count)(const rf_real *values, size_t count)
{
    size_t i = 0;
    while (i < count && RF(is_finite)(values[i]))
        i++;
    return i;
}

static int RF(check_task)(const RF(task) *task, char *complaint, size_t size)
{
    unsigned dim = task->model->dim;
    size_t record = (size_t)task->model->settings + 1, numbers = task->count * record;
    size_t finite = RF(finite_count)(task->records, numbers);
    REQUIRE(finite == numbers, "record %zu holds a number that is not finite", finite / record);
    REQUIRE(RF(finite_count)(task->mean, dim) == dim, "the mean is not finite");
    REQUIRE(RF(finite_count)(task->factor, RF_TRIANGLE(dim)) == RF_TRIANGLE(dim), "the factor is not finite");
    for (unsigned i = 0; i < dim; i++)
        REQUIRE(task->factor[RF_TRIANGLE(i) + i] > 0, "the factor's diagonal is not positive at parameter %u", i);
    REQUIRE(!task->wrap || RF(finite_count)(task->wrap, 2 * dim) == 2 * dim, "a period is not finite");
    REQUIRE(RF(is_finite)(task->kappa) && task->kappa > 0, "kappa is not a positive number");
    return 0;
}

/* Checks that the sums are possible for `n` accepted attempts. */
static int RF(check_sums)(RF(tally) *tally, double n, char *complaint, size_t size)
{
    const int64_t *z = RF(tally_z)(tally), *zz = RF(tally_zz)(tally);
    for (unsigned i = 0; i < tally->dim; i++) {
        double sum = (double)z[i], square = (double)zz[RF_TRIANGLE(i) + i];
        REQUIRE(sum <= n * Z_MAX && sum >= -n * Z_MAX, "the sum of z is out of bounds at parameter %u", i);
        REQUIRE(square <= n * Z_MAX * Z_MAX, "the sum of z squared is out of bounds at parameter %u", i);
        REQUIRE(sum * sum <= n * square * (1 + ROUNDING), "the sums of z and z squared contradict each other at parameter %u", i);
        for (unsigned j = 0; j < i; j++) {
            double product = (double)zz[RF_TRIANGLE(i) + j], other = (double)zz[RF_TRIANGLE(j) + j];
            REQUIRE(product * product <= square * other * (1 + ROUNDING), "the sums of zz contradict each other at parameters %u and %u", i, j);
        }
    }
    return 0;
}

static int RF(check_tally)(RF(tally) *tally, const RF(task) *task, uint32_t count, char *complaint, size_t size)
{
    REQUIRE(tally->dim == task->model->dim && tally->update == task->update, "the tally's dimension or update number was changed");
    REQUIRE(!tally->nan, "%u attempts have a likelihood that is NaN", tally->nan);
    REQUIRE(!tally->negative, "%u attempts have a negative likelihood", tally->negative);
    REQUIRE(!tally->infinite, "%u attempts have an infinite likelihood", tally->infinite);
    REQUIRE(RF(is_finite)(tally->largest) && tally->largest >= 0, "the largest likelihood is not a finite number");
    const int64_t *zz = RF(tally_zz)(tally);
    for (unsigned i = 0; i < tally->dim; i++)
        REQUIRE(zz[RF_TRIANGLE(i) + i] >= 0, "a sum of squares is negative at parameter %u", i);
    if (task->sampler == RF_WEIGHT)
        return 0;
    REQUIRE(tally->count.accepted <= count, "%u of %u attempts were accepted", tally->count.accepted, count);
    REQUIRE(tally->count.above <= count, "%u of %u attempts were above the bound", tally->count.above, count);
    return RF(check_sums)(tally, tally->count.accepted, complaint, size);
}

/* An empty tally, surrounded by poison. */
static RF(tally) *RF(poisoned)(const rf_tallies *tallies, unsigned index, const RF(task) *task)
{
    RF(tally) *tally = rf_tallies_at(tallies, index);
    memset(tally, POISON, tallies->stride);
    RF(tally_clear)(tally, task->model->dim, task->update);
    return tally;
}

static int RF(check_guard)(const rf_tallies *tallies, const RF(tally) *tally, unsigned dim, char *complaint, size_t size)
{
    const unsigned char *bytes = (const unsigned char *)tally;
    for (size_t i = RF(tally_bytes)(dim); i < tallies->stride; i++)
        REQUIRE(bytes[i] == POISON, "something was written past the end of the tally");
    return 0;
}

static int RF(check_same)(const RF(tally) *given, const RF(tally) *right, char *complaint, size_t size)
{
    size_t sums = 8 * (right->dim + RF_TRIANGLE(right->dim));
    REQUIRE(memcmp(given, right, sizeof *given) == 0, "the counts differ from the serial engine's (%u and %u accepted)", given->count.accepted,
            right->count.accepted);
    REQUIRE(memcmp(given + 1, right + 1, sums) == 0, "the sums differ from the serial engine's");
    return 0;
}

static rf_status RF(run_checked)(rf_engine *engine, const RF(task) *task, uint32_t begin, uint32_t count, RF(tally) *tally)
{
    const RF(engine) *inner = RF_IN_PRECISION(engine->inner);
    const rf_tallies *tallies = engine->state;
    char *complaint = engine->complaint;
    const size_t size = sizeof engine->complaint;
    unsigned dim = task->model->dim;
    complaint[0] = '\0';
    if (dim > tallies->dim) {
        rf_fail(complaint, size, "the model has %u parameters, but the engine is ready for %u (rf_engine_reserve)", dim, tallies->dim);
        return RF_REFUSED_ENGINE;
    }
    if (RF(check_task)(task, complaint, size) < 0)
        return RF_REFUSED_ENGINE;
    RF(tally) *given = RF(poisoned)(tallies, RF_PARANOID_GIVEN, task), *right = RF(poisoned)(tallies, RF_PARANOID_RIGHT, task);
    rf_status status = inner->run(inner->self, task, begin, count, given);
    if (status == RF_REFUSED_MODEL)
        return status;
    if (status < 0) {
        rf_fail(complaint, size, "engine %s refused: %s", rf_engine_name(engine->inner), rf_status_text(status));
        return RF_REFUSED_ENGINE;
    }
    status = RF(any_run)(NULL, task, begin, count, right);
    if (status < 0)
        return status;
    if (RF(check_guard)(tallies, given, dim, complaint, size) < 0 || RF(check_tally)(given, task, count, complaint, size) < 0 ||
        RF(check_same)(given, right, complaint, size) < 0 || RF(tally_add)(tally, given) < 0)
        return RF_REFUSED_ENGINE;
    return RF_OK;
}

rf_status RF(paranoid_run)(void *self, const RF(task) *task, uint32_t begin, uint32_t count, RF(tally) *tally)
{
    rf_engine *engine = self;
    if (!rf_engine_take(engine))
        return RF_REFUSED_BUSY;
    const rf_status status = RF(run_checked)(engine, task, begin, count, tally);
    rf_engine_give(engine);
    return status;
}
