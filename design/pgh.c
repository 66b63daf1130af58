/* The particle guess heuristic. Compiled per precision. */
#include "rejfilt/host.h"

/* The value a setting of this role takes, before rounding. */
static rf_real choose(const rf_setting *s, const RF(filter) *filter, const rf_real guess[], rf_real uniform)
{
    rf_real low = (rf_real)s->low, high = (rf_real)s->high;
    switch (s->role) {
    case RF_SETTING_RANGE:
        return low + (high - low) * uniform;
    case RF_SETTING_LOGRANGE:
        return low * RF(exp)(uniform * RF(log)(high / low));
    case RF_SETTING_TIME:
        return RF(min)(RF(max)(1 / RF(filter_sd)(filter, s->parameter), low), high);
    case RF_SETTING_GUESS:
        return guess[s->parameter];
    case RF_SETTING_FIXED:
    default:
        return low;
    }
}

void RF(design_pgh)(const RF(filter) *filter, const RF(model) *model, const rf_description *about, rf_real setting[])
{
    rf_real guess[RF_NAMES_MAX];
    uint32_t update = RF(filter_updates)(filter);
    RF(filter_draw)(filter, model, 0, RF_FOR_DESIGN, guess);
    for (unsigned i = 0; i < about->settings; i++) {
        rf_words w = rf_draw(filter->seed, update, 1, i, RF_FOR_DESIGN);
        rf_real value = choose(&about->setting[i], filter, guess, RF(uniform)(w.word[0]));
        setting[i] = about->setting[i].is_integer ? RF(floor)(value + RF_C(0.5)) : value;
    }
}
