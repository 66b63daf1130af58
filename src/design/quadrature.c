/* Measure where the fringe is steepest, so that either outcome says most about the side. As both outcomes are
   then equally likely whatever the filter believes, nothing would ever show that it is wrong: so some experiments
   are anchors, on top or at the bottom of a wide fringe, where the outcome is nearly certain if the filter is right.
   Their length varies evenly, so that no alias passes many of them, and they expect 0 as often as 1, so that no detector that is
   stuck passes them. Compiled per precision. */
#include "designs.h"

#define STEEP RF_C(0.95)         /* radians per standard deviation */
#define ANCHOR RF_C(0.46)        /* of an anchor, times ... */
#define ANCHOR_SHORT RF_C(0.52)  /* ... a number between these two: */
#define ANCHOR_LONG RF_C(1.12)   /* it expects the likelier outcome with probability 0.94 to 0.98 */
#define GOLDEN 2654435769u       /* 2³² over the golden ratio: any few anchors in a row spread over that range */
#define ANCHOR_DECAY RF_C(1.304) /* 0.6/0.46: an anchor of 0.46 radians lasts at most 0.6 T2 */

void RF(design_quadrature)(const RF(design_input) *in, rf_real setting[])
{
    const rf_real fringe = (rf_real)in->description->fringe;
    rf_real width[RF_ROOM], radians = STEEP, side = RF(design_uniform)(in, 32) > RF_C(0.5) ? RF_C(0.25) : RF_C(-0.25);
    if (in->is_anchor) {
        radians = ANCHOR * (ANCHOR_SHORT + (ANCHOR_LONG - ANCHOR_SHORT) * RF(uniform)((uint32_t)in->is_anchor * GOLDEN));
        side = side > 0 ? RF_C(0.5) : 0;
    }
    for (unsigned i = 0; i < in->model->dim; i++)
        width[i] = in->sd[i] / (radians * fringe * RF_C(0.15915494309189535));
    RF(design_roles)(in, in->mean, width, setting);
    RF(design_shorten)(in, in->is_anchor ? RF(exp)(-ANCHOR_DECAY * radians) : RF_DESIGN_CONTRAST, setting);
    for (unsigned i = 0; i < in->description->settings; i++)
        for (unsigned j = 0; j < in->description->settings; j++)
            if (RF(design_is_pair)(in->description, i, j))
                setting[i] += side * fringe / setting[j];
}
