/* Many sessions of one configuration, asked and told together. */
#include <stdlib.h>

#include "engine.h"
#include "session_state.h"

struct rf_sessions {
    const rf_engine *engine; /* its threads run the sessions; null: no threads */
    int one_thread;          /* the model may only be called from the caller's thread */
    uint32_t count;
    rf_session **all;
};

void rf_sessions_close(rf_sessions *sessions)
{
    if (!sessions)
        return;
    for (uint32_t i = 0; i < sessions->count && sessions->all; i++)
        rf_session_close(sessions->all[i]);
    free(sessions->all);
    free(sessions);
}

rf_sessions *rf_sessions_open(const rf_config *config, uint32_t count, char *error, size_t size)
{
    if (rf_config_refuse(config, error, size) < 0)
        return NULL;
    rf_sessions *s = calloc(1, sizeof *s);
    rf_config own = *config;
    if (count > 0 && config->trial > UINT32_MAX - (count - 1)) {
        free(s);
        rf_fail(error, size, "%u sessions from trial %u: trials end at 2^32 - 1", count, config->trial);
        return NULL;
    }
    if (count == 0) {
        free(s);
        rf_fail(error, size, "sessions: one at least");
        return NULL;
    }
    if (!s || !(s->all = calloc(count, sizeof(rf_session *)))) {
        free(s);
        rf_fail(error, size, "%u sessions: out of memory", count);
        return NULL;
    }
    for (s->engine = config->engine; s->engine && s->engine->kind->share;)
        s->engine = s->engine->inner; /* every rank holds all sessions */
    s->count = count;
    own.engine = NULL; /* the engine's threads run whole sessions, on one thread each */
    for (uint32_t i = 0; i < count; i++) {
        own.trial = config->trial + i;
        s->all[i] = rf_session_open(&own, error, size);
        if (!s->all[i]) {
            rf_sessions_close(s);
            return NULL;
        }
    }
    s->one_thread = s->all[0]->model.one_thread;
    return s;
}

rf_session *rf_sessions_at(const rf_sessions *sessions, uint32_t index)
{
    return sessions && index < sessions->count ? sessions->all[index] : NULL;
}

/* ---- Together ---- */

typedef struct round {
    rf_sessions *sessions;
    const uint32_t *which;
    const rf_record *records; /* null: questions */
    rf_record *questions;
    rf_step *steps;
    double *status;
} round;

static rf_session *member(const round *r, uint32_t i) { return r->sessions->all[r->which ? r->which[i] : i]; }

/* An rf_work function. If one session refuses, its status says so; the others go on. */
static rf_status go_round(void *context, uint32_t begin, uint32_t count)
{
    const round *r = context;
    for (uint32_t i = begin; i < begin + count; i++) {
        const rf_status status = r->records ? rf_session_tell(member(r, i), &r->records[i], 1, r->steps ? &r->steps[i] : NULL)
                                            : rf_session_ask(member(r, i), 1, &r->questions[i]);
        if (status < 0 && r->steps)
            r->steps[i].report.status = status;
        r->status[i] = (double)status;
    }
    return RF_OK;
}

static rf_status run(round *r, uint32_t count)
{
    rf_sessions *s = r->sessions;
    rf_status notes = RF_OK, refusal = RF_OK;
    for (uint32_t i = 0; i < count; i++)
        if ((r->which ? r->which[i] : i) >= s->count)
            return RF_REFUSED_OPTIONS;
    for (uint32_t i = 0; i < count && r->records; i++) {
        const rf_status status = rf_session_check(member(r, i), &r->records[i]);
        if (status < 0)
            return status;
    }
    r->status = count > 0 ? malloc(count * sizeof *r->status) : NULL;
    if (count > 0 && !r->status)
        return RF_REFUSED_ENGINE;
    const rf_sharing sharing = {go_round, r, r->status, s->one_thread};
    const rf_status done = rf_engine_spread(s->engine, &sharing, 0, count);
    for (uint32_t i = 0; i < count; i++) {
        const rf_status status = (rf_status)r->status[i];
        notes |= status >= 0 ? status : 0;
        refusal = status < 0 && refusal == 0 ? status : refusal;
    }
    free(r->status);
    return done < 0 ? done : refusal < 0 ? refusal : notes;
}

rf_status rf_sessions_ask(rf_sessions *sessions, const uint32_t which[], uint32_t count, rf_record questions[])
{
    if (!sessions || !questions)
        return RF_REFUSED_NULL;
    round r = {.sessions = sessions, .which = which, .questions = questions};
    return run(&r, count);
}

rf_status rf_sessions_tell(rf_sessions *sessions, const uint32_t which[], uint32_t count, const rf_record records[], rf_step steps[])
{
    if (!sessions || !records)
        return RF_REFUSED_NULL;
    round r = {.sessions = sessions, .which = which, .records = records, .steps = steps};
    return run(&r, count);
}
