#include "answers.h"

#include <math.h>
#include <string.h>

#include "fail.h"

void cli_answers_open(cli_answers *a, uint64_t first, uint32_t count)
{
    if (a->answered == 0 && a->count == 0)
        a->begin = first;
    for (uint32_t k = 0; k < count; k++) {
        a->answer[k] = a->question[k];
        a->is_answered[k] = 0;
        a->known[(first + k) % CLI_ANSWERS_KNOWN] = 0;
    }
    a->first = first;
    a->count = count;
    a->answered = 0;
}

static uint32_t first_open(const cli_answers *a)
{
    uint32_t k = 0;
    while (k + 1 < a->count && a->is_answered[k])
        k++;
    return k;
}

/* An answer to a question that is not open, or has an answer. */
static cli_answer take_again(const cli_answers *a, unsigned settings, const cli_record *record, char *why, size_t size)
{
    const uint64_t number = (uint64_t)record->ask, until = a->first + a->count - 1;
    const uint64_t known = number > until ? 0 : a->known[number % CLI_ANSWERS_KNOWN];
    const int is_kept = number >= a->begin && number <= until && number + CLI_ANSWERS_KNOWN > until && known != 0;
    const rf_record told = cli_record_told(record);
    if (is_kept && rf_record_hash(1, &told, settings) == known)
        return CLI_ANSWER_REPEATED;
    char open[64];
    const uint64_t next = a->first + first_open(a);
    snprintf(open, sizeof open, next < until ? "open are %llu to %llu" : "open is %llu", (unsigned long long)next,
             (unsigned long long)until);
    if (number > until)
        rf_fail(why, size, "key ask: question %llu was not asked yet; %s", (unsigned long long)number, open);
    else
        rf_fail(why, size, "key ask: question %llu has %s; %s", (unsigned long long)number,
                is_kept ? "another answer already" : "been answered already", open);
    return CLI_ANSWER_BAD;
}

/* A count above the setting that limits it, which may be the question's. */
static int check_count(const rf_description *d, const rf_record *told, char *why, size_t size)
{
    if (isnan(told->outcome) || !rf_outcomes_are_counts(d->outcomes) || !rf_outcomes_has_setting(d->outcomes) ||
        rf64_outcome_is_possible(d, told->setting, told->outcome))
        return 0;
    const unsigned most = rf_outcomes_setting(d->outcomes);
    return rf_fail(why, size, "outcome %.15g is not a whole number from 0 to %s = %.15g", told->outcome,
                   d->setting[most].name, told->setting[most]);
}

cli_answer cli_answers_take(cli_answers *a, const rf_description *description, const cli_record *record, char *why,
                            size_t size)
{
    const unsigned settings = description->settings;
    const double first = (double)a->first;
    const int is_open = !record->has_ask || (record->ask >= first && record->ask < first + a->count);
    const uint32_t k = record->has_ask && is_open ? (uint32_t)(record->ask - first) : first_open(a);
    if (!is_open || (record->has_ask && a->is_answered[k]))
        return take_again(a, settings, record, why, size);
    rf_record told = cli_record_told(record);
    const uint64_t hash = rf_record_hash(1, &told, settings);
    for (unsigned i = 0; i < settings; i++)
        told.setting[i] = isnan(told.setting[i]) ? a->question[k].setting[i] : told.setting[i];
    if (check_count(description, &told, why, size) < 0)
        return CLI_ANSWER_BAD;
    a->answer[k] = told;
    a->is_answered[k] = 1;
    a->answered++;
    a->known[(a->first + k) % CLI_ANSWERS_KNOWN] = hash;
    return CLI_ANSWER_TAKEN;
}

uint32_t cli_answers_all(const cli_answers *a, rf_record records[])
{
    uint32_t count = a->count;
    while (count > 0 && !a->is_answered[count - 1])
        count--;
    memcpy(records, a->answer, count * sizeof *records);
    for (uint32_t k = 1; k < count; k++) /* sorts the times by insertion, past records without one */
        for (uint32_t later = k, j = k; j-- > 0;)
            if (records[j].time > records[later].time) {
                const double time = records[j].time;
                records[j].time = records[later].time;
                records[later].time = time;
                later = j;
            } else if (!isnan(records[j].time)) {
                break;
            }
    return count;
}
