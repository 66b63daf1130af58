#!/usr/bin/env python3
"""Writes baselines.txt: posteriors of one parameter by Gauss-Legendre integration with mpmath, 30 digits.

A line: model, mean and sd of the Gaussian prior in the chart (sd 0: uniform on the circle), number of records,
the records (settings, outcome), then ln P(E), mean, variance, and the quantiles 0.025 and 0.975 of the posterior.
"""
import mpmath as mp
import random

mp.mp.dps = 30
NODES = None


def precession(x, t, x_, outcome):
    c = mp.cos((x - x_) * t)
    return (1 + c) / 2 if outcome else (1 - c) / 2


def coin(y, outcome):
    return mp.ncdf(y) if outcome else mp.ncdf(-y)


MODELS = {"precession": (precession, 2), "phase": (precession, 2), "coin": (coin, 0)}


def gauss_legendre(n):
    nodes = []
    for k in range(n):
        x = mp.cos(mp.pi * (k + mp.mpf(3) / 4) / (n + mp.mpf(1) / 2))
        for _ in range(8):
            before, value = mp.mpf(1), x
            for j in range(2, n + 1):
                before, value = value, ((2 * j - 1) * x * value - (j - 1) * before) / j
            slope = n * (x * value - before) / (x * x - 1)
            x -= value / slope
        nodes.append((x, 2 / ((1 - x * x) * slope * slope)))
    assert abs(sum(w for _, w in nodes) - 2) < mp.mpf(10) ** -25
    return nodes


def points(a, b, panels):
    w = (b - a) / panels
    for k in range(panels):
        for x, weight in NODES:
            yield k, a + w * (k + (x + 1) / 2), weight * w / 2


def posterior(model, mean, sd, records, panels):
    f = MODELS[model][0]
    circle = sd == 0
    if circle:
        prior = lambda y: 1 / (2 * mp.pi)
    else:
        prior = lambda y: mp.npdf(y, mean, sd)

    def density(y):
        p = prior(y)
        for r in records:
            p *= f(y, *r)
        return p

    if circle:  # counted from half a turn before the circular mean
        direction = sum(w * density(y) * mp.expj(y) for _, y, w in points(mp.mpf(0), 2 * mp.pi, panels))
        m = mp.arg(direction) % (2 * mp.pi)
        a, b = m - mp.pi, m + mp.pi
    else:
        a, b = mean - 13 * sd, mean + 13 * sd
    mass, first = [mp.mpf(0)] * panels, mp.mpf(0)
    table = [(k, y, w * density(y)) for k, y, w in points(a, b, panels)]
    for k, y, p in table:
        mass[k] += p
    z = sum(mass)
    m = m if circle else sum(p * y for _, y, p in table) / z
    v = sum(p * (y - m) ** 2 for _, y, p in table) / z
    quantiles = []
    for q in (mp.mpf("0.025"), mp.mpf("0.975")):
        left, k = q * z, 0
        while left > mass[k]:
            left -= mass[k]
            k += 1
        low = a + (b - a) / panels * k
        inside = lambda y: sum(w * density(x) for _, x, w in points(low, y, 1)) - left
        quantiles.append(mp.findroot(inside, (low, low + (b - a) / panels), solver="anderson", tol=1e-24))
    return [mp.log(z), m, v] + quantiles


def main():
    global NODES
    NODES = gauss_legendre(20)
    rng = random.Random(3)
    cases = []
    for ts in (0.01, 0.1, 0.4, 0.9, 1, 2, 4, 10):
        for outcome in (0, 1):
            for angle in (0.0, 0.3, -1.6, 3.0):
                sd, mean = 0.3, 0.7
                t = ts / sd
                cases.append(("precession", mean, sd, [(t, mean - angle / t, outcome)], 60))
    for k in range(12):  # several records, times that grow: fringes and several peaks
        records = [(2.0 ** rng.uniform(-1, 3.5), rng.uniform(-2, 2), rng.randrange(2)) for _ in range(2 + k % 5)]
        cases.append(("precession", rng.uniform(-1, 1), 2.0 ** rng.uniform(-2, 1), records, 150))
    cases.append(("precession", 0.0, 1.0, [(3.0, 0.0, 1), (6.0, 0.0, 1), (3.0, 0.0, 1)], 100))  # peaks at 0, ±2.09
    for n in (1, 5, 40):
        cases.append(("coin", 0.0, 1.0, [(rng.randrange(4) > 0 and 1 or 0,) for _ in range(n)], 60))
    for k in range(4):  # whole numbers of turns
        records = [(float(2**j), rng.uniform(0, 6), rng.randrange(2)) for j in range(k + 1)]
        cases.append(("phase", 0.0, 0.0, records, 60))
        cases.append(("phase", 6.1, 0.1, records, 60))
    with open("baselines.txt", "w") as out:
        for model, mean, sd, records, panels in cases:
            exact = [tuple(mp.mpf(float(x)) for x in r) for r in records]
            answer = posterior(model, mp.mpf(mean), mp.mpf(sd), exact, panels)
            numbers = [repr(float(mean)), repr(float(sd)), str(len(records))]
            numbers += [repr(float(x)) for r in records for x in r]
            numbers += [mp.nstr(x, 18) for x in answer]
            out.write(" ".join([model] + numbers) + "\n")


main()
