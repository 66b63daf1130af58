/* Designers by name, and what they share. Compiled per precision. */
#include "rejfilt/host.h"
#include "designs.h"

void RF(situation_draw)(const RF(situation) *s, uint32_t which, rf_real x[])
{
    RF(filter_draw)(s->filter, s->model, s->number * 128u + which, RF_FOR_DESIGN, x);
}

rf_real RF(situation_uniform)(const RF(situation) *s, uint32_t which)
{
    return RF(uniform)(rf_draw(s->filter->seed, s->number, which, 0xffffffffu, RF_FOR_DESIGN).word[0]);
}

void RF(situation_roles)(const RF(situation) *s, const rf_real guess[], const rf_real width[], rf_real setting[])
{
    for (unsigned i = 0; i < s->about->settings; i++) {
        const rf_setting *about = &s->about->setting[i];
        rf_real low = (rf_real)about->low, high = (rf_real)about->high, value = low;
        if (about->role == RF_SETTING_RANGE)
            value = low + (high - low) * RF(situation_uniform)(s, i);
        else if (about->role == RF_SETTING_LOGRANGE)
            value = low * RF(exp)(RF(situation_uniform)(s, i) * RF(log)(high / low));
        else if (about->role == RF_SETTING_TIME)
            value = RF(min)(RF(max)(1 / RF(max)(width[about->parameter], RF_TINY), low), high);
        else if (about->role == RF_SETTING_GUESS)
            value = guess[about->parameter];
        setting[i] = about->is_integer ? RF(floor)(value + RF_C(0.5)) : value;
    }
}

static const RF(design) designs[] = {
#define RF_DESIGN(identifier, name, anchors, blind, fringe) {name, RF(design_##identifier), anchors, blind, fringe},
#include "list.def"
#undef RF_DESIGN
};

static int is(const char *a, const char *b)
{
    for (; *a && *a == *b; a++)
        b++;
    return *a == *b;
}

const RF(design) *RF(design_find)(const char *name, const RF(instance) *instance)
{
    const int has_fringe = instance->about->fringe > 0;
    if (is(name, "auto"))
        name = instance->design ? "model" : has_fringe ? "quadrature" : "risk";
    if (is(name, "model"))
        return instance->design;
    for (unsigned i = 0; i < sizeof designs / sizeof *designs; i++)
        if (is(name, designs[i].name))
            return designs[i].needs_fringe && !has_fringe ? 0 : &designs[i];
    return 0;
}
