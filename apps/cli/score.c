#include "score.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct cli_scorer {
    uint32_t count;
    cli_score *scores;
    double *over; /* −ln(1 − δ̂): evidence of the likelihood above κ */
    rf_session *sessions[];
};

void cli_score_close(cli_scorer *s)
{
    if (!s)
        return;
    for (uint32_t i = 0; i < s->count; i++)
        rf_session_close(s->sessions[i]);
    free(s->scores);
    free(s->over);
    free(s);
}

cli_scorer *cli_score_open(const rf_config *config, uint32_t count, char *error, size_t size)
{
    cli_scorer *s = calloc(1, sizeof *s + count * sizeof s->sessions[0]);
    if (!s || !(s->scores = calloc(count, sizeof *s->scores)) || !(s->over = calloc(count, sizeof *s->over))) {
        cli_score_close(s);
        snprintf(error, size, "out of memory");
        return NULL;
    }
    rf_config own = *config;
    own.design = NULL;
    own.on_lost = RF_ON_LOST_IGNORE;
    for (s->count = 0; s->count < count; s->count++) {
        own.trial = s->count;
        if (!(s->sessions[s->count] = rf_session_open(&own, error, size))) {
            cli_score_close(s);
            return NULL;
        }
    }
    return s;
}

rf_status cli_score_try(cli_scorer *s, const rf_record records[], uint32_t count) { return rf_session_try(s->sessions[0], records, count); }

rf_status cli_score_learn(cli_scorer *s, const rf_record records[], uint32_t count)
{
    rf_status notes = RF_OK;
    for (uint32_t i = 0; i < s->count && notes >= 0; i++) {
        cli_score *score = &s->scores[i];
        rf_step step;
        const rf_status status = rf_session_tell(s->sessions[i], records, count, &step);
        notes = status < 0 ? status : notes | status;
        if (status < 0)
            break;
        s->over[i] -= log1p(-step.report.delta);
        score->log_evidence = step.log_evidence + s->over[i];
        score->variance = step.log_evidence_variance;
        score->starved += (status & RF_NOTE_WIDENED) != 0;
        score->bad += (status & RF_NOTE_BAD) != 0;
        score->above += (status & RF_NOTE_ABOVE) != 0;
    }
    return notes;
}

const cli_score *cli_score_read(const cli_scorer *s) { return s->scores; }
