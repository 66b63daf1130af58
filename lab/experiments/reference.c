#include "reference.h"

#include <stdio.h>
#include <string.h>

#include "projected.h"
#include "runs.h"

int reference_open(reference *r, reference_kind kind, uint32_t size, const rf_simulation *run, uint32_t trial)
{
    static const char *const names[] = {"grid", "closed form", "hermite", "particles", "gaussian"};
    const int is_any_shape = kind == REFERENCE_EXACT || kind == REFERENCE_PARTICLES;
    char error[200];
    *r = (reference){.kind = kind, .size = size, .config = run->config, .seed = runs_seed(run, trial)};
    r->config.trial = trial;
    snprintf(r->belief, sizeof r->belief, is_any_shape ? "%s:%u" : "%s", names[kind], size);
    r->config.belief = r->belief;
    if (kind == REFERENCE_CLOSED_FORM)
        r->config.own = &projected_closed_form;
    if (kind == REFERENCE_HERMITE)
        r->config.own = projected_hermite(size);
    if (is_any_shape && r->config.on_lost != RF_ON_LOST_IGNORE)
        r->config.on_lost = RF_ON_LOST_WATCH;
    r->session = rf_session_open(&r->config, error, sizeof error);
    return r->session ? 0 : -1;
}

void reference_close(reference *r) { rf_session_close(r->session); }

static int is_restart_due(const reference *r, uint32_t number)
{
    return r->kind == REFERENCE_RESTARTED && r->size > 0 && rf64_uniform(rf_draw(r->seed, number, 0, 0, RF_FOR_USER + 32).word[0]) * r->size <= 1;
}

void reference_step(reference *r, const rf_step *step, rf_step *own)
{
    const uint32_t number = (uint32_t)step->step;
    rf_record record;
    *own = (rf_step){.step = step->step, .dim = step->dim};
    if (is_restart_due(r, number))
        rf_session_restart(r->session);
    if (rf_session_ask(r->session, 1, &record) < 0)
        return;
    record.outcome = rf64_instance_outcome(r->config.model->f64, step->truth, record.setting, r->seed, number);
    if (rf_session_tell(r->session, &record, 1, own) < 0)
        return;
    if (r->kind == REFERENCE_RESTARTED && r->size == 0 && own->widened > r->widened) {
        rf_session_restart(r->session);
        rf_session_show(r->session, own);
    }
    r->widened = own->widened;
    if (r->kind != REFERENCE_RESTARTED)
        own->report.attempts = 1;
    rf_session_show_truth(r->session, step->truth, own);
}
