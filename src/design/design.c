/* Designers by name, and what they share. Compiled per precision. */
#include "designs.h"

void RF(design_draw)(const RF(design_input) *in, uint32_t which, rf_real x[])
{
    in->draw(in->self, in->number * 128u + which, RF_FOR_DESIGN, x);
}

rf_real RF(design_uniform)(const RF(design_input) *in, uint32_t which)
{
    return RF(uniform)(rf_draw(in->seed, in->number, which, 0xffffffffu, RF_FOR_DESIGN).word[0]);
}

void RF(design_roles)(const RF(design_input) *in, const rf_real guess[], const rf_real width[], rf_real setting[])
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

const RF(design) *RF(design_find)(const char *name, const rf_description *description, const RF(design) *own)
{
    const int has_fringe = description->fringe > 0;
    if (is(name, "auto"))
        name = own ? "model" : has_fringe ? "quadrature" : "risk";
    if (is(name, "model"))
        return own;
    for (unsigned i = 0; i < sizeof designs / sizeof *designs; i++)
        if (is(name, designs[i].name))
            return designs[i].needs_fringe && !has_fringe ? 0 : &designs[i];
    return 0;
}
