#!/usr/bin/env python3
"""Writes include/rejfilt/detail/lattice.h: python3 tools/make_lattice.py > include/rejfilt/detail/lattice.h

4096 equally likely normal values in units of 2^-13, scaled to a variance of one, in the order in which
the multiples of 1/rho visit the unit interval (rho the plastic number). Then strides through that
order for further coordinates. Quantiles by 60-digit root finding (mpmath)."""
from mpmath import mp, mpf, erfinv, floor, sqrt, findroot

mp.dps = 60
N, EXTRA, GRID, COORDINATES = 4096, 128, 8192, 16
rho = findroot(lambda g: g**3 - g - 1, 1.32)
first, second = 1 / rho, 1 / rho**2

strata = [sqrt(2) * erfinv(2 * (j + mpf(1) / 2) / N - 1) for j in range(N)]
scale = sqrt(N / sum(z * z for z in strata))
position = [i * first - floor(i * first) for i in range(N)]
values = [0] * N
for rank, i in enumerate(sorted(range(N), key=lambda i: position[i])):
    values[i] = int(round(strata[rank] * scale * GRID))

# Odd strides from a greedy search for the smallest correlation (of z and of z^2) between any two coordinates, over 100
# and over 4096 attempts and random starting points; test_samplers.c checks them.
strides = [1, 481, 219, 527, 1409, 1051, 3183, 269, 1197, 2915, 2133, 327, 3421, 3407, 3529, 3335]
assert len(strides) == COORDINATES

print("""/* Made by tools/make_lattice.py: normal values in the order of a low-discrepancy sequence. */
#ifndef REJFILT_LATTICE_H
#define REJFILT_LATTICE_H

#include "port.h"

#define RF_LATTICE_SIZE %du /* values before the order repeats; the first %d stand again at the end */
#define RF_LATTICE_STRIDES %du
#define RF_LATTICE_UNIFORM %du /* step of the uniform coordinate, as a share of 2^32 */

static const uint16_t rf_lattice_stride[RF_LATTICE_STRIDES] = {%s};

/* In units of 2^-13. */
static const int16_t rf_lattice_normal[RF_LATTICE_SIZE + %d] = {""" %
      (N, EXTRA, COORDINATES, int(second * 2**32) | 1, ", ".join(map(str, strides)), EXTRA))
values += values[:EXTRA]
for i in range(0, len(values), 16):
    print("    " + ", ".join(str(v) for v in values[i:i + 16]) + ",")
print("};\n\n#endif")
