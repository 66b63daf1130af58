/* Registers of one model on the same records. Compiled per precision. */
#include "score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#if RF_PRECISION == 32
#define RF_ENGINE(engine) rf_engine_f32(engine)
#else
#define RF_ENGINE(engine) rf_engine_f64(engine)
#endif

typedef struct reg {
    RF(tracker) tracker;
    double over; /* −ln(1 − δ̂): what lies above κ is evidence, too */
    RF_ALIGNED unsigned char memory[RF64_FILTER_BYTES(RF_NAMES_MAX)];
} reg;

struct cli_scorer {
    const cli_run *run;
    uint32_t count;
    cli_score *scores;
    rf_real *records; /* as the filters take them */
    size_t room;
    reg trial; /* a copy to try records on */
    reg registers[];
};

void RF(score_close)(cli_scorer *s)
{
    if (!s)
        return;
    free(s->scores);
    free(s->records);
    free(s);
}

cli_scorer *RF(score_open)(const cli_run *run, uint32_t count, rf_status *status)
{
    cli_scorer *s = calloc(1, sizeof *s + count * sizeof s->registers[0]);
    *status = RF_REFUSED_ENGINE;
    if (!s)
        return NULL;
    s->run = run;
    s->count = count;
    s->scores = calloc(count, sizeof *s->scores);
    if (s->scores)
        *status = RF_OK;
    for (uint32_t i = 0; i < count && *status >= 0; i++) {
        reg *r = &s->registers[i];
        rf_words w = rf_draw(run->seed, i, 0, 0, RF_FOR_USER);
        *status =
            RF(simulate_open)(run, (uint64_t)w.word[1] << 32 | w.word[0], r->memory, sizeof r->memory, &r->tracker);
        r->tracker.design = NULL;
        r->tracker.on_lost = RF_ON_LOST_IGNORE;
    }
    if (*status >= 0)
        return s;
    RF(score_close)(s);
    return NULL;
}

/* The records in the filters' precision, or null when memory is short. */
static const rf_real *converted(cli_scorer *s, const double records[], size_t numbers)
{
    if (numbers > s->room || !s->records) {
        rf_real *more = realloc(s->records, (numbers + 1) * sizeof *more);
        if (!more)
            return NULL;
        s->records = more;
        s->room = numbers;
    }
    for (size_t i = 0; i < numbers; i++)
        s->records[i] = (rf_real)records[i];
    return s->records;
}

static rf_status learn(reg *r, const rf_real *records, uint32_t count, rf_real elapsed, const RF(engine) * engine,
                       RF(report) * report)
{
    rf_status status = elapsed > 0 ? RF(track_pass)(&r->tracker, elapsed) : RF_OK;
    return status < 0 || count == 0 ? status : RF(track_tell)(&r->tracker, records, count, engine, report);
}

rf_status RF(score_try)(cli_scorer *s, const double records[], uint32_t count, double elapsed)
{
    RF(report) report;
    const unsigned settings = s->registers[0].tracker.model.settings;
    const rf_real *own = converted(s, records, (size_t)count * (settings + 1));
    if (!own)
        return RF_REFUSED_ENGINE;
    s->trial = s->registers[0];
    s->trial.tracker.filter = (RF(filter) *)(void *)s->trial.memory;
    s->trial.tracker.options.attempts = s->trial.tracker.options.batches_max = 1;
    return learn(&s->trial, own, count, (rf_real)elapsed, NULL, &report);
}

rf_status RF(score_learn)(cli_scorer *s, const double records[], uint32_t count, double elapsed)
{
    const unsigned settings = s->registers[0].tracker.model.settings;
    const rf_real *own = converted(s, records, (size_t)count * (settings + 1));
    rf_status notes = own ? RF_OK : RF_REFUSED_ENGINE;
    for (uint32_t i = 0; i < s->count && notes >= 0; i++) {
        reg *r = &s->registers[i];
        cli_score *score = &s->scores[i];
        RF(report) report = {0};
        rf_status status = learn(r, own, count, (rf_real)elapsed, RF_ENGINE(s->run->engine), &report);
        notes = status < 0 ? status : notes | status;
        if (status < 0)
            break;
        r->over -= log1p(-(double)report.delta);
        score->log_evidence = (double)r->tracker.evidence.log + (double)r->tracker.evidence.carry + r->over;
        score->variance = (double)r->tracker.evidence.variance + (double)r->tracker.evidence.variance_carry;
        score->starved += (status & RF_NOTE_WIDENED) != 0;
        score->bad += (status & RF_NOTE_BAD) != 0;
        score->above += (status & RF_NOTE_ABOVE) != 0;
    }
    return notes;
}

const cli_score *RF(score_read)(const cli_scorer *s) { return s->scores; }
