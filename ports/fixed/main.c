/* Follows a spin's precession frequency while it drifts, in integers. Frequencies are in units of 2⁻¹⁶ radians per unit
   of time. Each experiment lets the spin turn for a time, in 2⁻²⁶ turns per unit, and compares it with a reference
   frequency: the outcome is 1 or 0. */
#include "rejfilt_fixed.h"

uint8_t measure(uint16_t time, int32_t reference); /* yours */

int main(void)
{
    static rfi_filter filter;
    rfi_init(&filter, 51472, 29718, 42); /* 0.79 ± 0.45, the seed */
    for (;;) {
        rfi_ask(&filter, RFI_QUADRATURE);
        rfi_learn(&filter, measure(rfi_time(&filter), rfi_reference(&filter)));
        rfi_diffuse(&filter, 1716 * 1716); /* wanders by 0.026 from one experiment to the next */
    }
}
