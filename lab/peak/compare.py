#!/usr/bin/env python3
"""How well is a Lorentzian peak found (examples/peak.c)? Compares rejfilt with the exact posterior: on the same records, and with a
design of its own.

usage: python3 lab/peak/compare.py [--rejfilt build/rejfilt] [--trials 200] [--steps 300] [--seed 1] [--own] [-- OPTIONS OF track]

The exact posterior is a grid over the place of the peak; height and background have closed forms there. --own: a run of the exact
posterior that chooses its measurements as the design `risk` does, with random draws of its own. A peak is lost if its place is off by
more than its half width. Needs numpy and scipy.
"""
import argparse
import json
import pathlib
import subprocess

import numpy as np
from scipy.special import log_ndtr

ROOT = pathlib.Path(__file__).resolve().parents[2]
WIDTH, NOISE, PLACES = 0.1, 500.0, np.linspace(2, 4, 2001)
HEIGHTS, BACKGROUND = (-2000.0, -400.0), (50000.0, 4000 / 12**0.5)


def shape(x, place):
    return 1 / (1 + ((x - place) / WIDTH) ** 2)


class Exact:
    """The exact posterior of place, height and background."""

    def __init__(self):
        self.sums = np.zeros((6, len(PLACES)))

    def learn(self, x, y):
        y, form = y - BACKGROUND[0], shape(x, PLACES)
        self.sums += np.array([form * 0 + 1, form, form * form, form * 0 + y, form * y, form * 0 + y * y]) / NOISE**2

    def weigh(self):
        n, l, ll, y, ly, yy = self.sums
        precision = n + 1 / BACKGROUND[1] ** 2  # of the background, for a given height
        self.a_precision = np.maximum(ll - l * l / precision, 1e-18)
        self.a = (ly - l * y / precision) / self.a_precision
        low, high = ((edge - self.a) * np.sqrt(self.a_precision) for edge in HEIGHTS)
        low, high = np.where(low > 0, -high, low), np.where(low > 0, -low, high)  # in the lower tail, for accuracy
        inside = log_ndtr(high) + np.log1p(-np.exp(np.minimum(log_ndtr(low) - log_ndtr(high), -1e-12)))
        log = 0.5 * self.a_precision * self.a**2 + 0.5 * y * y / precision - 0.5 * np.log(self.a_precision) + inside
        w = np.exp(log - log.max())
        self.w, self.b_precision = w / w.sum(), precision
        self.mean = float(self.w @ PLACES)
        self.sd = float(np.sqrt(self.w @ (PLACES - self.mean) ** 2))

    def draw(self, random, count):
        if not self.sums.any():
            return random.uniform(2, 4, count), random.uniform(*HEIGHTS, count), random.normal(*BACKGROUND, count)
        k = random.choice(len(PLACES), count, p=self.w)
        a = self.a[k] + random.normal(size=count) / np.sqrt(self.a_precision[k])
        for _ in range(200):  # inside the prior
            out = (a < HEIGHTS[0]) | (a > HEIGHTS[1])
            if not out.any():
                break
            a[out] = self.a[k[out]] + random.normal(size=out.sum()) / np.sqrt(self.a_precision[k[out]])
        a = np.clip(a, *HEIGHTS)
        n, l, ll, y, ly, yy = self.sums[:, k]
        b = (y - a * l) / self.b_precision[k] + random.normal(size=count) / np.sqrt(self.b_precision[k]) + BACKGROUND[0]
        return PLACES[k] + random.uniform(-5e-4, 5e-4, count), a, b

    def choose(self, random, candidates=24, draws=96, outcomes=8):
        """As in src/design/risk.c: the candidate setting with the smallest expected variance, averaged over the
        parameters."""
        x0, a, b = self.draw(random, draws)
        away = np.array([(v - v.mean()) / (v.std() + 1e-12) for v in (x0, a, b)])
        x = random.uniform(1.5, 4.5, candidates)
        expected = b + a * shape(x[:, None], x0)
        y = expected[:, :outcomes] + NOISE * random.normal(size=outcomes)
        log = -0.5 * ((y[:, :, None] - expected[:, None, :]) / NOISE) ** 2
        w = np.exp(log - log.max(axis=2, keepdims=True))
        w /= w.sum(axis=2, keepdims=True)
        left = (w @ (away**2).T - (w @ away.T) ** 2).mean(axis=(1, 2))
        return x[np.argmin(left)]


def report(name, errors, sds):
    errors, sds = np.array(errors), np.array(sds)
    lost = np.abs(errors) > WIDTH
    print(f"{name:28s} lost {100 * lost.mean():5.2f} %   mean error {np.abs(errors).mean():.5f}   of those not lost {np.abs(errors[~lost]).mean():.5f}"
          f"   median {np.median(np.abs(errors)):.5f}   within 2 sd {100 * (np.abs(errors) < 2 * sds).mean():.1f} %", flush=True)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--rejfilt", default=str(ROOT / "build/rejfilt"))
    p.add_argument("--trials", type=int, default=200)
    p.add_argument("--steps", type=int, default=300)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--own", action="store_true")
    p.add_argument("options", nargs="*")
    c = p.parse_args()
    found = {"rejfilt": ([], []), "exact, same records": ([], []), "exact, own design": ([], [])}
    for seed in range(c.seed, c.seed + c.trials):
        command = [c.rejfilt, "track", "--simulate", "--model", str(ROOT / "examples/peak.c"), "--steps", str(c.steps), "--seed", str(seed), "--json"]
        lines = subprocess.run(command + c.options, capture_output=True, text=True, check=True).stdout.splitlines()
        steps = [json.loads(line) for line in lines if '"step"' in line]
        truth, last = steps[-1]["parameters"], steps[-1]["parameters"][0]
        exact = Exact()
        for s in steps:
            exact.learn(s["settings"][0]["value"], s["outcome"])
        exact.weigh()
        own = Exact()
        random = np.random.default_rng(seed)
        for _ in range(c.steps if c.own else 0):
            x = own.choose(random)
            own.learn(x, truth[2]["truth"] + truth[1]["truth"] * shape(x, truth[0]["truth"]) + NOISE * random.normal())
            own.weigh()
        results = [(last["mean"], last["sd"]), (exact.mean, exact.sd)] + ([(own.mean, own.sd)] if c.own else [])
        for (errors, sds), (mean, sd) in zip(found.values(), results):
            errors.append(mean - truth[0]["truth"])
            sds.append(sd)
    for name, (errors, sds) in found.items():
        if errors:
            report(name, errors, sds)


if __name__ == "__main__":
    main()
