/* Designers by name, and what they share. */
#include "designs.h"

void rf_design_draw(const rf_design_input *in, uint32_t which, double x[])
{
    in->belief->kind->draw(in->belief, in->number * 128u + which, RF_FOR_DESIGN, x);
}

double rf_design_uniform(const rf_design_input *in, uint32_t which)
{
    return rf64_uniform(rf_draw(in->seed, in->number, which, 0xffffffffu, RF_FOR_DESIGN).word[0]);
}

void rf_design_roles(const rf_design_input *in, const double guess[], const double width[], double setting[])
{
    for (unsigned i = 0; i < in->description->settings; i++) {
        const rf_setting *s = &in->description->setting[i];
        double value = s->low;
        if (s->role == RF_SETTING_RANGE)
            value = s->low + (s->high - s->low) * rf_design_uniform(in, i);
        else if (s->role == RF_SETTING_LOGRANGE)
            value = s->low * rf64_exp(rf_design_uniform(in, i) * rf64_log(s->high / s->low));
        else if (s->role == RF_SETTING_TIME)
            value = rf64_min(rf64_max(1 / rf64_max(width[s->parameter], RF64_TINY), s->low), s->high);
        else if (s->role == RF_SETTING_GUESS)
            value = guess[s->parameter];
        setting[i] = s->is_integer ? rf64_floor(value + 0.5) : value;
    }
}

static const rf_design designs[] = {
#define RF_DESIGN(identifier, name, anchors, blind, fringe) {name, rf_design_##identifier, anchors, blind, fringe},
#include "list.def"
#undef RF_DESIGN
};

const rf_design *rf_design_at(unsigned index) { return index < sizeof designs / sizeof *designs ? &designs[index] : 0; }

static int is(const char *a, const char *b)
{
    for (; *a && *a == *b; a++)
        b++;
    return *a == *b;
}

const rf_design *rf_design_find(const char *name, const rf_description *description, const rf_design *own)
{
    const int has_fringe = description->fringe > 0;
    const rf_design *design;
    if (is(name, "auto"))
        name = own ? "model" : has_fringe ? "quadrature" : "risk";
    if (is(name, "model"))
        return own;
    for (unsigned i = 0; (design = rf_design_at(i)) != 0; i++)
        if (is(name, design->name))
            return design->needs_fringe && !has_fringe ? 0 : design;
    return 0;
}
