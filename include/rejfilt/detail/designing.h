/* What designers call: draws of the belief, uniform numbers, settings by their roles. Compiled per precision: once for
   the library's designers, and with every model that brings its own, because a model's object is linked with nothing.
   Define RF_DESIGNING, which begins each function. */
#if __INCLUDE_LEVEL__ == 0
#include "alone.h"
#define RF_DESIGNING
#endif
#include "../host.h"

#ifndef RF_GIVEN
#define RF_GIVEN(by, function) (by)->function
#endif

RF_DESIGNING void RF(design_draw)(const RF(design_input) * in, uint32_t which, rf_real x[])
{
    RF_GIVEN(in, draw)(in->self, in->number * 128u + which, RF_FOR_DESIGN, x);
}

RF_DESIGNING rf_real RF(design_uniform)(const RF(design_input) * in, uint32_t which)
{
    return RF(uniform)(rf_draw(in->seed, in->number, which, 0xffffffffu, RF_FOR_DESIGN).word[0]);
}

RF_DESIGNING void RF(design_roles)(const RF(design_input) * in, const rf_real guess[], const rf_real width[],
                                   rf_real setting[])
{
    for (unsigned i = 0; i < in->description->settings; i++) {
        const rf_setting *s = &in->description->setting[i];
        rf_real low = (rf_real)s->low, high = (rf_real)s->high, value = low;
        if (s->role == RF_SETTING_RANGE)
            value = low + (high - low) * RF(design_uniform)(in, i);
        else if (s->role == RF_SETTING_LOGRANGE)
            value = low * RF(exp)(RF(design_uniform)(in, i) * RF(log)(high / low));
        else if (s->role == RF_SETTING_TIME)
            value = RF(min)(RF(max)(1 / RF(max)(width[s->parameter], RF_TINY), low), high);
        else if (s->role == RF_SETTING_GUESS)
            value = guess[s->parameter];
        setting[i] = s->is_integer ? RF(floor)(value + RF_C(0.5)) : value;
    }
}
