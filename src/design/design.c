/* Designers by name, and shared functions. Compiled per precision. */
#include "designs.h"

#ifndef RF_DESIGNING
#define RF_DESIGNING RF_APART
#endif
#include "rejfilt/detail/designing.h"

/* Contrast at the mean: |P(1) on top of the fringe − P(1) half a fringe away|. */
static RF_APART rf_real contrast(const RF(design_input) *in, const rf_real setting[], unsigned guess, unsigned time, rf_real t)
{
    rf_real s[RF_ROOM], top, bottom;
    for (unsigned i = 0; i < in->description->settings; i++)
        s[i] = setting[i];
    s[time] = t;
    s[guess] = in->mean[in->description->setting[guess].parameter];
    RF(model_likelihoods)(in->model, in->mean, 0, 1, s, 1, &top);
    s[guess] += RF_C(0.5) * (rf_real)in->description->fringe / t;
    RF(model_likelihoods)(in->model, in->mean, 0, 1, s, 1, &bottom);
    return RF_MODEL_IS_LOG(in->model) ? RF(abs)(RF(exp)(top) - RF(exp)(bottom)) : RF(abs)(top - bottom);
}

static RF_APART void shorten_time(const RF(design_input) *in, rf_real setting[], unsigned guess, unsigned time, rf_real least)
{
    const rf_real low = (rf_real)in->description->setting[time].low;
    rf_real long_time = setting[time], t = long_time;
    if (!(t > 0) || !RF(is_finite)(t))
        return;
    least *= contrast(in, setting, guess, time, t * RF_C(1e-3));
    if (!(least > 0) || contrast(in, setting, guess, time, t) >= least)
        return;
    for (int halvings = 0; halvings < 60 && t > low && contrast(in, setting, guess, time, t) < least; halvings++) {
        long_time = t;
        t *= RF_C(0.5);
    }
    for (int step = 0; step < 8; step++) {
        const rf_real middle = RF_C(0.5) * (t + long_time);
        if (contrast(in, setting, guess, time, middle) < least)
            long_time = middle;
        else
            t = middle;
    }
    setting[time] = RF(max)(t, low);
}

int RF(design_is_pair)(const rf_description *description, unsigned guess, unsigned time)
{
    const rf_setting *g = &description->setting[guess], *t = &description->setting[time];
    return g->role == RF_SETTING_GUESS && t->role == RF_SETTING_TIME && g->parameter == t->parameter;
}

void RF(design_shorten)(const RF(design_input) *in, rf_real least, rf_real setting[])
{
    for (unsigned i = 0; i < in->description->settings && in->description->fringe > 0 && rf_outcomes_fixed(RF_OUTCOMES(in->description)) > 0; i++)
        for (unsigned j = 0; j < in->description->settings; j++)
            if (RF(design_is_pair)(in->description, i, j) && !in->description->setting[j].is_integer)
                shorten_time(in, setting, i, j, least);
}

#ifndef RF_CHOOSES /* GPU code calls one by name */
#define RF_CHOOSES(designer) designer
#endif

static const RF(design) designs[] = {
#define RF_DESIGN(identifier, name, anchors, blind, fringe) {name, RF_CHOOSES(RF(design_##identifier)), anchors, blind, fringe},
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
