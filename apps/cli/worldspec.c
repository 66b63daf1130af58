#include "worldspec.h"

#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "options.h"

enum { STEPS_MAX = 1000000000 };

static int is_not(const char *text, const char *what, char *error, size_t size)
{
    snprintf(error, size, "'%s' is not %s", text, what);
    return -1;
}

int cli_world_jump(rf_simulation *run, const char *text, char *error, size_t size)
{
    static const char form[] = "[NAME=]SIZE@STEP, as in 1.0@300, .2:3@300 or x=.5@~1000";
    rf_world *world = &run->world;
    unsigned first, last;
    const char *rest, *at;
    char number[64];
    rf_jump jump = {0};
    uint64_t step;
    if (rf_parse_whose(&run->config.description, 0, text, &first, &last, &rest, error, size) < 0)
        return -1;
    if (!(at = strchr(rest, '@')) || (size_t)(at - rest) >= sizeof number)
        return is_not(text, form, error, size);
    snprintf(number, sizeof number, "%.*s", (int)(at - rest), rest);
    const int is_random = at[1] == '~';
    if (rf_parse_real(number, -1e15, 1e15, &jump.low, error, size) == 0)
        jump.high = jump.low;
    else if (rf_parse_pair(number, 0, &jump.low, &jump.high, error, size) == 0)
        return is_not(text, form, error, size);
    if (rf_parse_whole(at + 1 + is_random, 1, STEPS_MAX, &step, error, size) < 0)
        return is_not(text, form, error, size);
    if (jump.high < jump.low) {
        snprintf(error, size, "'%s' is an empty range", number);
        return -1;
    }
    jump.parameter = first; /* default: the first parameter */
    *(is_random ? &jump.every : &jump.at) = (long)step;
    if (world->jumps == RF_EVENTS_MAX) {
        snprintf(error, size, "more than %d", RF_EVENTS_MAX);
        return -1;
    }
    world->jump[world->jumps++] = jump;
    return 0;
}

int cli_world_outage(rf_simulation *run, const char *text, char *error, size_t size)
{
    static const char form[] = "WHAT@STEP+LENGTH with WHAT an outcome, OUTCOME~SHARE, coin, missing or swapped, as in 0@150+100";
    rf_world *world = &run->world;
    const unsigned outcomes = rf_outcomes_fixed(run->config.description.outcomes);
    const int is_whole = rf_outcomes_are_whole(run->config.description.outcomes);
    const char *at = strchr(text, '@'), *plus = at ? strchr(at, '+') : NULL;
    char what[64], step[32];
    uint64_t first, length;
    rf_outage outage = {.kind = RF_OUTAGE_STUCK};
    if (!plus || (size_t)(at - text) >= sizeof what || (size_t)(plus - at) > sizeof step)
        return is_not(text, form, error, size);
    snprintf(what, sizeof what, "%.*s", (int)(at - text), text);
    snprintf(step, sizeof step, "%.*s", (int)(plus - at - 1), at + 1);
    if (rf_parse_whole(step, 0, STEPS_MAX, &first, error, size) < 0 || rf_parse_whole(plus + 1, 1, STEPS_MAX, &length, error, size) < 0)
        return is_not(text, form, error, size);
    outage.at = (long)first;
    outage.length = (long)length;
    char *flips = strchr(what, '~');
    if (flips)
        *flips++ = '\0';
    if (strcmp(what, "coin") == 0)
        outage.kind = RF_OUTAGE_COIN;
    else if (strcmp(what, "missing") == 0)
        outage.kind = RF_OUTAGE_MISSING;
    else if (strcmp(what, "swapped") == 0)
        outage.kind = RF_OUTAGE_SWAPPED;
    else if (rf_parse_real(what, is_whole ? 0 : -1e15, outcomes ? outcomes - 1.0 : 1e15, &outage.outcome, error, size) < 0)
        return is_not(text, form, error, size);
    if (flips && (outage.kind != RF_OUTAGE_STUCK || rf_parse_real(flips, 0, 1, &outage.flips, error, size) < 0))
        return is_not(text, form, error, size);
    if (world->outages == RF_EVENTS_MAX) {
        snprintf(error, size, "more than %d", RF_EVENTS_MAX);
        return -1;
    }
    world->outage[world->outages++] = outage;
    return 0;
}

int cli_world_truth(rf_simulation *run, const char *text, char *error, size_t size)
{
    unsigned first, last;
    const char *rest;
    rf_prior truth = {.is_gaussian = 1};
    if (rf_parse_whose(&run->config.description, 0, text, &first, &last, &rest, error, size) < 0)
        return -1;
    if (rf_parse_real(rest, -1e15, 1e15, &truth.first, error, size) < 0 && rf_parse_prior(rest, &truth, error, size) < 0)
        return is_not(rest, "a number, LOW:HIGH or MEAN+-SD", error, size);
    for (unsigned i = first; i < last; i++) {
        run->world.has_truth |= 1u << i;
        run->world.truth[i] = truth;
    }
    return 0;
}

int cli_world_drift(rf_simulation *run, const char *text, char *error, size_t size)
{
    unsigned first, last;
    const char *rest;
    rf_config like = run->config;
    if (rf_parse_whose(&like.description, 0, text, &first, &last, &rest, error, size) < 0 || rf_set_drift(&like, text, error, size) < 0)
        return -1;
    for (unsigned i = first; i < last; i++) {
        run->world.drift[i] = like.drift[i];
        run->world.motion[i] = like.motion[i];
        run->world.has_drift |= 1u << i;
    }
    return 0;
}

int cli_world_has_time(const rf_simulation *run)
{
    int has = 0;
    for (unsigned i = 0; i < run->config.description.settings; i++)
        has |= run->config.description.setting[i].role == RF_SETTING_TIME;
    return has;
}
