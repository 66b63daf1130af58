"""How often `rejfilt compare` is right: its ln K, from the same code, against the exact one from a grid.

Data sets are simulated, the first hypothesis being true in one, the second in the next. The settings are what a tracker chooses that believes the
first. Columns: data sets whose exact |ln K| is over 3; of them, those with the exact sign; the same for the mean of repeats' ln instead of ln of their mean;
median error; median of the stated sd; errors below 2 of those; data sets for which one hypothesis is said to be favoured, and of them those
that the exact sign contradicts."""

import argparse

import numpy as np
from rejfilt import _rejfilt

from .draws import seed_of
from .evidence import STEP, exact, records_of, scores
from .runner import each

WALKS, STILL, COIN = ("precession", STEP), ("precession", 0), ("coin", 0)
QUESTIONS = {"drift or static": (WALKS, STILL, False), "cosine or coin": (WALKS, COIN, False)}
HARD = {"drift or static, longer": (WALKS, STILL, True), "static cosine or coin": (STILL, COIN, False)}  # the last: the tracker knows the true hypothesis
SAMPLERS = ("reject", "lattice", "weight")


def one(job):
    """The exact ln K of a data set; by sampler, (ln K, sd, verdict) with one repeat and with all, and the mean of all repeats' ln K."""
    (first, second, knows), design, number, o = job
    seed = int(seed_of(o.seed, number))
    truth = (first, second)[number % 2]
    data = records_of(truth, truth if knows and truth[0] == first[0] else first, design, seed, o.records)
    found = []
    for sampler in SAMPLERS:
        a, b = (scores(h, data, seed ^ 2**64 - 1, o.repeat, sampler=sampler, attempts=o.attempts) for h in (first, second))
        found.append([_rejfilt.evidence(a[:n], b[:n])[2:5] for n in (1, o.repeat)] + [np.mean([x[0] - y[0] for x, y in zip(a, b)])])
    return exact(first, data) - exact(second, data), found


def main(words):
    p = argparse.ArgumentParser(prog="lab compare", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("sets", 300), ("records", 100), ("attempts", 1000), ("repeat", 4), ("seed", 1)):
        p.add_argument(f"--{name}", type=int, default=default)
    p.add_argument("--hard", action="store_true", help="static frequencies and ever longer times, which are beyond a Gaussian now and then; slow")
    o = p.parse_args(words)
    print(f"{o.sets} data sets of {o.records} records each, {o.attempts} attempts, seed {o.seed}")
    for name, question in (HARD if o.hard else QUESTIONS).items():
        for design in ("quadrature", "pgh"):
            found = list(each(one, [(question, design, k, o) for k in range(o.sets)]))
            true = np.array([f[0] for f in found])
            decisive = abs(true) > 3
            print(f"\n{name}, settings by {design}\n  sampler    repeats  |K|>3     right    (mean)   error     +-  in 2sd  claims  wrong")
            for i, sampler in enumerate(SAMPLERS):
                for k, repeats in enumerate((1, o.repeat)):
                    value, sd, verdict = np.array([f[1][i][k] for f in found]).T
                    mean = np.array([f[1][i][2] for f in found]) if k else value
                    agrees, error, claims = (value > 0) == (true > 0), abs(value - true), verdict >= 2
                    percent = [100 * np.mean(((v > 0) == (true > 0))[decisive]) if decisive.any() else 0 for v in (value, mean)]
                    print(f"  {sampler:8} {repeats:9} {decisive.sum():6} {percent[0]:7.1f} % ({percent[1]:5.1f} %) {np.median(error):7.2f} {np.median(sd):6.2f} "
                          f"{100 * np.mean(error < 2 * sd):6.0f} % {claims.sum():7} {(claims & ~agrees).sum():6}", flush=True)  # fmt: skip
    return 0
