/* Parts of an attempt shared by all loops: units of the sums, functions of one value or of one block of lanes. */
#ifndef REJFILT_STEPS_H
#define REJFILT_STEPS_H

#include "chart.h"
#include "draws.h"
#include "lattice.h"
#if RF_KERNEL_PAIRS >= 32
#include "products.h"
#endif
#include "tally.h"

/* The lattice's table, or a copy in faster memory. */
#ifndef RF_LATTICE_AT
#define RF_LATTICE_AT(index) rf_lattice_normal[index]
#endif

/* The random words of the current round of the lattice. */
typedef struct {
    uint32_t round;
    rf_words words;
} rf_lattice_start;

#define RF_GRID 8192               /* z is a multiple of 1/RF_GRID; |z| < 8, so Σzz of 2³¹ attempts fits 63 bits */
#define RF_OVER_UNIT 65536         /* excess weights Π max(P/κ, 1) − 1 are summed in units of 1/RF_OVER_UNIT, */
#define RF_OVER_MAX RF_C(32767.0)  /* and clipped to this per attempt */
#define RF_WEIGHT_UNIT 33554432    /* weights and weighted sums are in units of 1/RF_WEIGHT_UNIT = 2⁻²⁵: |zz| ≤ 36 fits */

/* The exact sum of at most 128 integers in 32-bit lanes: the sum modulo 2³², and the sum of the numbers divided by 256
   and rounded down. */
#if RF_KERNEL_PAIRS > 1
typedef struct {
    uint32_t low;
    int32_t high;
} rf_sum;

RF_FN void rf_sum_add(rf_sum *sum, int32_t v)
{
    sum->low += (uint32_t)v;
    sum->high += v >> 8;
}
RF_FN int64_t rf_sum_of(rf_sum sum) { return (int64_t)sum.high * 256 + (uint32_t)(sum.low - ((uint32_t)sum.high << 8)); }
#else
typedef struct {
    int64_t all;
} rf_sum;

RF_FN void rf_sum_add(rf_sum *sum, int32_t v) { sum->all += v; }
RF_FN int64_t rf_sum_of(rf_sum sum) { return sum.all; }
#endif

/* Rounds z to the grid, by adding a number whose last bit has the value of a grid step. */
RF_FN int32_t rf_to_grid(float z) { return (int32_t)(rf32_bits(z + 1536.0f) - rf32_bits(1536.0f)); }

/* Is a likelihood value NaN, negative or infinite (beyond RF_LIMIT)? Such a value counts as zero. */
RF_FN int RF(is_bad)(rf_real value, int is_log)
{
    if (is_log)
        return !(value <= RF_LIMIT);
    return RF(bits)(value + RF_C(0.0)) > RF(bits)(RF_LIMIT); /* as unsigned numbers, NaN and negative numbers are
                                                                above */
}

/* A likelihood value's ratio to κ. `scale` is 1/κ, or −ln κ for logarithms. */
RF_FN rf_real RF(ratio)(rf_real value, rf_real scale, int is_log)
{
    rf_real r = is_log ? RF(exp)(RF(min)(value + scale, RF_C(40.0))) : value * scale;
    return RF(is_bad)(value, is_log) ? RF_C(0.0) : r;
}

/* A weighted candidate's term in Σwz or Σwzz, in units of 1/RF_WEIGHT_UNIT. */
RF_FN int32_t RF(weighted)(rf_real weight, rf_real z) { return (int32_t)(weight * RF_WEIGHT_UNIT * z); }
/* Its term in Σ −w·ln w. */
RF_FN int32_t RF(weighted_entropy)(rf_real weight)
{
    const float w = (float)weight;
    return (int32_t)(w * rf32_minus_2_log(w > 0x1p-32f ? w : 0x1p-32f) * (0.5f * RF_WEIGHT_UNIT));
}

/* Converts chart coordinates in the lanes to natural values. */
#if RF_KERNEL_PAIRS > 1
RF_ONCE
#else
RF_FN
#endif
void RF(to_natural)(const RF(chart) *chart, unsigned count, rf_real *lanes)
{
    RF(chart) c = {RF_REAL, 0, 0};
    if (chart)
        c = *chart;
    if (c.kind == RF_POSITIVE)
        for (unsigned lane = 0; lane < count; lane++)
            lanes[lane] = RF(natural_positive)(lanes[lane]);
    else if (c.kind == RF_BOUNDED)
        for (unsigned lane = 0; lane < count; lane++)
            lanes[lane] = RF(natural_bounded)(&c, lanes[lane]);
    else if (c.kind == RF_PERIODIC)
        for (unsigned lane = 0; lane < count; lane++)
            lanes[lane] = RF(natural_periodic)(&c, lanes[lane]);
}

/* count += more, saturating at 65535. */
RF_FN void RF(count_bad)(uint16_t *count, uint32_t more)
{
    uint32_t sum = *count + more;
    *count = (uint16_t)(sum < 65535u ? sum : 65535u);
}

/* The model's own bound for a record, on the scale its likelihood returns. */
RF_FN rf_real RF(bound_of)(const RF(model) *model, const rf_real setting[], rf_real outcome)
{
    return model->bound ? model->bound(setting, outcome) : (model->is_log ? RF_C(0.0) : RF_C(1.0));
}

#endif
