/* Measure where the fringe is steepest, so that either outcome says most about the side. As both outcomes are
   then equally likely whatever the filter believes, nothing would ever show that it is wrong: so some experiments
   are anchors, on top of a wide fringe, where the outcome is nearly certain if the filter is right. Compiled per
   precision. */
#include "rejfilt/host.h"
#include "designs.h"

#define STEEP RF_C(0.95)  /* radians per standard deviation */
#define ANCHOR RF_C(0.43) /* expects the likelier outcome with probability 0.96 */

void RF(design_quadrature)(const RF(situation) *s, rf_real setting[])
{
    const rf_real fringe = (rf_real)s->about->fringe, radians = s->is_anchor ? ANCHOR : STEEP;
    rf_real width[RF_NAMES_MAX];
    for (unsigned i = 0; i < s->model->dim; i++)
        width[i] = s->sd[i] / (radians * fringe * RF_C(0.15915494309189535));
    RF(situation_roles)(s, s->mean, width, setting);
    const rf_real side = RF(situation_uniform)(s, 32) > RF_C(0.5) ? RF_C(0.25) : RF_C(-0.25);
    for (unsigned i = 0; i < s->about->settings && !s->is_anchor; i++)
        for (unsigned j = 0; j < s->about->settings; j++) {
            const rf_setting *guess = &s->about->setting[i], *time = &s->about->setting[j];
            if (guess->role == RF_SETTING_GUESS && time->role == RF_SETTING_TIME && guess->parameter == time->parameter)
                setting[i] += side * fringe / setting[j];
        }
}
