/* Measure where the fringe is steepest, so that either outcome says most about the side. As both outcomes are
   then equally likely whatever the filter believes, nothing would ever show that it is wrong: so some experiments
   are anchors, on top of a wide fringe, where the outcome is nearly certain if the filter is right. Compiled per
   precision. */
#include "designs.h"

#define STEEP RF_C(0.95)  /* radians per standard deviation */
#define ANCHOR RF_C(0.43) /* expects the likelier outcome with probability 0.96 */

void RF(design_quadrature)(const RF(design_input) *in, rf_real setting[])
{
    const rf_real fringe = (rf_real)in->description->fringe, radians = in->is_anchor ? ANCHOR : STEEP;
    rf_real width[RF_NAMES_MAX];
    for (unsigned i = 0; i < in->model->dim; i++)
        width[i] = in->sd[i] / (radians * fringe * RF_C(0.15915494309189535));
    RF(design_roles)(in, in->mean, width, setting);
    const rf_real side = RF(design_uniform)(in, 32) > RF_C(0.5) ? RF_C(0.25) : RF_C(-0.25);
    for (unsigned i = 0; i < in->description->settings && !in->is_anchor; i++)
        for (unsigned j = 0; j < in->description->settings; j++) {
            const rf_setting *guess = &in->description->setting[i], *time = &in->description->setting[j];
            if (guess->role == RF_SETTING_GUESS && time->role == RF_SETTING_TIME && guess->parameter == time->parameter)
                setting[i] += side * fringe / setting[j];
        }
}
