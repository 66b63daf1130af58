/* Measures where the fringe is steepest, since an outcome is most informative there. Both outcomes are then equally
   likely whether the filter is right or wrong, so these experiments never show that it is lost. Therefore some
   experiments are anchors, at the top or bottom of a wide fringe: their outcome is nearly certain if the filter is
   right. Anchor lengths are spread evenly, so that no alias passes many of them. They expect 0 as often as 1, so that
   no stuck detector passes them. If the belief has two modes, the experiment is designed to distinguish them, since one
   designed for their common mean and standard deviation may never do so. Compiled per precision. */
#include "designs.h"

#define STEEP RF_C(0.95)         /* radians per standard deviation */
#define ANCHOR RF_C(0.46)        /* radians for an anchor, times ... */
#define ANCHOR_SHORT RF_C(0.52)  /* ... a number between these two: */
#define ANCHOR_LONG RF_C(1.12)   /* it expects the likelier outcome with probability 0.94 to 0.98 */
#define GOLDEN 2654435769u       /* 2³² / golden ratio: a few consecutive anchors already spread over that range */
#define ANCHOR_DECAY RF_C(1.304) /* 0.6/0.46: an anchor of 0.46 radians lasts at most 0.6 T2 */

/* Does the parameter have two modes? The experiment then makes the heavier mode predict the opposite of the other. */
static int has_rivals(const RF(design_input) *in, unsigned parameter)
{
    return !in->is_anchor && in->rivals && in->rivals[parameter][0] != in->rivals[parameter][1];
}

/* Anchors at the end of a time's range would all be equally long, and an alias would pass them all: shortens them to this
   share of it. */
static void vary(const RF(design_input) *in, rf_real share, rf_real setting[])
{
    for (unsigned i = 0; i < in->description->settings; i++) {
        const rf_setting *s = &in->description->setting[i];
        const rf_real low = (rf_real)s->low, high = (rf_real)s->high;
        if (s->role == RF_SETTING_TIME && high > low && setting[i] > share * high) {
            setting[i] = RF(max)(share * high, low);
            setting[i] = s->is_integer ? RF(floor)(setting[i] + RF_C(0.5)) : setting[i];
        }
    }
}

void RF(design_quadrature)(const RF(design_input) *in, rf_real setting[])
{
    const rf_real fringe = (rf_real)in->description->fringe;
    rf_real guess[RF_ROOM], width[RF_ROOM], radians = STEEP, side = RF(design_uniform)(in, 32) > RF_C(0.5) ? RF_C(0.25) : RF_C(-0.25);
    const rf_real top = side > 0 ? RF_C(0.5) : 0;
    if (in->is_anchor) {
        radians = ANCHOR * (ANCHOR_SHORT + (ANCHOR_LONG - ANCHOR_SHORT) * RF(uniform)((uint32_t)in->is_anchor * GOLDEN));
        side = top;
    }
    for (unsigned i = 0; i < in->model->dim; i++) {
        guess[i] = in->mean[i];
        width[i] = in->sd[i] / (radians * fringe * RF_C(0.15915494309189535));
        if (has_rivals(in, i)) { /* the modes are half a fringe apart */
            guess[i] = in->rivals[i][0];
            width[i] = 2 * RF(abs)(in->rivals[i][1] - in->rivals[i][0]) / fringe;
        }
    }
    RF(design_roles)(in, guess, width, setting);
    RF(design_shorten)(in, in->is_anchor ? RF(exp)(-ANCHOR_DECAY * radians) : RF_DESIGN_CONTRAST, setting);
    if (in->is_anchor)
        vary(in, radians / (ANCHOR * ANCHOR_LONG), setting);
    for (unsigned i = 0; i < in->description->settings; i++)
        for (unsigned j = 0; j < in->description->settings; j++)
            if (RF(design_is_pair)(in->description, i, j))
                setting[i] += (has_rivals(in, in->description->setting[i].parameter) ? top : side) * fringe / setting[j];
}
