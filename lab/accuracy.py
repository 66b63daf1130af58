"""Accuracy against targets, with fixed seeds: python -m lab accuracy [--part NAME] [--seed N] [--json FILE]. Exit status 1: a target is missed."""

import argparse
import ctypes
import json
import math
import os

import numpy as np
import rejfilt as rf

from . import integers, native, oracles
from .draws import TRUTH, normals, pair, seed_of, unit, words
from .paper import following
from .paper.following import ORDINARY, PAPER, Cells, Moments, World, followed
from .runner import Settings
from .trust import simulated

NO = (-math.inf, math.inf)


def at_most(x):
    return -math.inf, x


def at_least(x):
    return x, math.inf


# ---- A frequency that walks ----

STEPS, TRIALS, JUMP_AT = 600, 4000, 300
OURS = "--sampler reject --attempts 100"
STRICT = "--strict --design pgh --attempts 100"


def tracked(seed, options, steps=STEPS, trials=TRIALS):
    return simulated(f"--steps {steps} {options}", trials, seed)


def three(name, s, unit_of=" / q"):
    yield f"{name}: median{unit_of}", s["median"], NO
    yield f"{name}: mean{unit_of}", s["mean"], NO
    yield f"{name}: lost %", 100 * s["lost"], NO


def beside(seed, belief):
    """A filter with computed moments, or exact, on the same truths with the same luck."""
    s = Settings(seed=seed, steps=STEPS)
    median, mean, p99, lost = followed(World(s, TRIALS), belief, False).summary()
    return {"median": median, "mean": mean, "p99": p99, "lost": lost}


def precession(seed):
    r, p = tracked(seed, OURS), tracked(seed, STRICT)
    yield "reject: median / q", r["median"], at_most(1.12)
    yield "reject: mean / q", r["mean"], at_most(4.5)
    yield "reject: 99 % below / q", r["p99"], at_most(60)
    yield "reject: lost %", 100 * r["lost"], at_most(0.5)
    yield "reject: 95 % interval covers %", 100 * r["coverage95"], (93, 97)
    yield from three("strict pgh", p)
    yield "strict pgh: 99 % below / q", p["p99"], NO
    yield "strict pgh / reject: mean", p["mean"] / r["mean"], at_least(10)
    yield "strict pgh / reject: lost", p["lost"] / r["lost"] if r["lost"] else math.inf, at_least(30)
    grid = beside(seed, Cells(TRIALS, 1024))
    yield from three("exact grid", grid)
    yield "exact grid: 99 % below / q", grid["p99"], NO
    yield "reject / exact grid: mean", r["mean"] / grid["mean"], at_most(1.2)
    exact, lattice = beside(seed, Moments(TRIALS)), tracked(seed, "--sampler lattice --attempts 100")
    yield from three("closed form", exact)
    yield from three("lattice", lattice)
    yield "lattice / closed form: median", lattice["median"] / exact["median"], (0.97, 1.03)
    s = Settings(seed=seed, steps=JUMP_AT + 55)
    for name, options, bounds in (("jump", ORDINARY, at_least(93)), ("jump, strict pgh", PAPER, NO)):
        yield f"{name}: recovered %", 100 * following.simulated(s, TRIALS, jump=(1.0, JUMP_AT), **options)[0].recovered(JUMP_AT)[0], bounds
    for name, more, bounds in (("static", "", (1e-15, 2.5)), ("static, anchors 3", "--anchors 3", (math.inf, 0.3))):
        still = tracked(seed, f"{OURS} --drift 0 {more}", 100)
        yield f"{name}: median", still["median"], at_most(bounds[0])
        yield f"{name}: lost %", 100 * still["lost"], at_most(bounds[1])
    for name, options in (("weight", "--sampler weight --attempts 100"), ("default", "--sampler weight --attempts 1000"), ("pgh", f"{OURS} --design pgh"),
                          ("pgh-distance", f"{OURS} --design pgh-distance"), ("risk", f"{OURS} --design risk")):  # fmt: skip
        yield from three(name, tracked(seed, options, trials=500 if name == "risk" else TRIALS))


# ---- Weighted sums of parameters that walk; the Kalman filter is exact ----

DRIFT, BURN_IN = 0.1, 100


def linear_trial(model, dim, noise, seed, options):
    """Squared errors of the filter and of the Kalman filter; attempts; the share by which the variance along h falls."""
    tracker = rf.Tracker(model, prior=rf.Normal(0, 1), drift=DRIFT, design=None, on_lost="ignore", seed=seed, **options)
    kalman, sums, stream = oracles.Kalman(np.zeros(dim), np.eye(dim)), np.zeros(4), np.arange(1100)[:, None] * 16 + np.arange(16)
    z = normals(seed, stream)
    truths, sides = np.cumsum(np.where(stream[:, :dim] < 16, 1, DRIFT) * z[:, :dim], axis=0), z[:, 4 : 4 + dim]
    sides = sides / np.linalg.norm(sides, axis=1, keepdims=True)
    for k, (truth, h) in enumerate(zip(truths, sides)):
        outcome = h @ truth + noise * z[k, 8]
        if k:
            kalman.predict(np.eye(dim) * DRIFT**2)
        tracker.tell(outcome, (*h, noise))
        before = h @ kalman.covariance @ h
        kalman.learn(h, noise**2, outcome)
        if k >= BURN_IN:
            sums += [np.sum((tracker.chart_mean - truth) ** 2), np.sum((kalman.mean - truth) ** 2), tracker._column("attempts"), 1 - h @ kalman.covariance @ h / before]
    return sums / (1100 - BURN_IN)


def linear(seed, trials=200):
    models = {2: rf.model("linear"), 4: rf.model(native.ROOT / "lab/models/linear4.c")}
    for more, noise, options in (("20 accepted", 2, {}), ("10 accepted", 2, {"accepted": 10}), ("10 accepted, lattice", 2, {"accepted": 10, "sampler": "lattice"}),
                                 ("10 accepted, noise 0.5", 5, {"accepted": 10})):  # fmt: skip
        for dim, model in models.items():
            each = [linear_trial(model, dim, noise * DRIFT, int(seed_of(seed, i)), {"sampler": "reject", "attempts": 100 if dim == 2 else 200} | options) for i in range(trials)]
            ours, kalman, attempts, falls = np.mean(each, axis=0)
            is_target = more == "10 accepted"
            yield f"linear {dim}, {more}: MSE / Kalman", ours / kalman, at_most(1.12 if dim == 2 else 1.2) if is_target else NO
            yield f"linear {dim}, {more}: attempts", attempts, at_most(120 if dim == 2 else 300) if is_target else NO
            if is_target:
                yield f"linear {dim}, {more}: variance along h falls by", falls, NO


# ---- A frequency from 1,000 shots of a fringe with unknown decay rate ----


def shots(model, trial, seed, batch, count, listener=None, **options):
    """Error and sd of w after all shots, and attempts per update; what the listener believes at the end."""
    world = int(seed_of(seed, trial))
    w = unit(words(world, 0, 0, 1, TRUTH))
    truth = [p.low + (p.high - p.low) * float(u) for p, u in zip(model.parameters, w)]
    tracker = rf.Tracker(model, seed=seed, trial=trial, **options)
    hears = rf.Tracker(model, seed=seed, trial=trial, design=None, belief=listener) if listener else None
    attempts = 0
    for k in range(0, count, batch):
        asked = tracker.ask(batch) if batch > 1 else [tracker.ask()]
        outcomes = [model.draw(truth, s, seed=(world + k + i) % 2**63) for i, s in enumerate(asked)]
        if batch > 1:
            tracker.tell(outcomes)
        else:
            tracker.tell(outcomes[0])
        if hears:
            hears.tell(outcomes[0], asked[0])
        attempts += tracker._column("attempts")
    ends = [(t.chart_mean[0] - truth[0], t.chart_sd[0], attempts * batch / count) for t in (tracker, hears) if t]
    return ends if hears else ends[0]


def summary(ends):
    error, sd, attempts = np.array(ends).T
    return {"median": np.median(error**2), "lost": np.mean(abs(error) > 5 * sd), "covered": np.mean(abs(error) <= 1.959963984540054 * sd), "attempts": np.mean(attempts)}


def ramsey(seed, trials=1000, few=100):
    counts = rf.model(native.ROOT / "lab/models/ramsey_counts.c")
    one = {"anchors": 0, "sampler": "reject", "attempts": 1000}
    both = [shots(counts, i, seed, 1, 50, "particles:3000", **one) for i in range(trials)]
    ours, same = (summary([b[k] for b in both]) for k in (0, 1))
    own = summary([shots(counts, i, seed, 1, 50, belief="particles:3000", anchors=0) for i in range(trials)])
    yield "particles: median", own["median"], NO
    yield "particles: lost %", 100 * own["lost"], NO
    yield "ramsey counts: median", ours["median"], NO
    yield "ramsey counts / particles: median", ours["median"] / own["median"], at_most(1.3)
    yield "ramsey counts / same records: median", ours["median"] / same["median"], NO
    yield "ramsey counts: lost %", 100 * ours["lost"], at_most(1)
    yield "ramsey counts: attempts", ours["attempts"], at_most(2000)
    yield "ramsey counts: 95 % interval covers %", 100 * ours["covered"], NO
    high = {"range": {"t": (0, 20)}, "batch": 20, "anchors": 0, "sampler": "reject", "attempts": 100}
    for name, model, count, batch, options, n in (("ramsey counts, lattice", counts, 50, 1, one | {"sampler": "lattice"}, trials), ("ramsey, 20 records", rf.model("ramsey"), 1000, 20, high, few),
                                                  ("ramsey, 20 records, kappa auto", rf.model("ramsey"), 1000, 20, high | {"kappa": "auto"}, few)):  # fmt: skip
        s = summary([shots(model, i, seed, batch, count, **options) for i in range(n)])
        yield f"{name}: median", s["median"], NO
        yield f"{name}: lost %", 100 * s["lost"], NO
        yield f"{name}: attempts", s["attempts"], NO


# ---- Integers ----


def fixed(seed, trials=2000, steps=300):
    for sampler in ("reject", "lattice"):
        run = rf.simulate("precession", steps=steps, trials=trials, seed=seed, sampler=sampler, attempts=100)
        double = following.Tracks(*((run[a] - run[b] if b else run[a]).reshape(trials, steps) for a, b in (("x.chart_mean", "truth.x"), ("x.chart_sd", None))))
        own = integers.follow(run, trials, steps, seed)
        own = following.Tracks(own.error[..., 0], own.sd[..., 0])
        median, mean, p99, lost = own.summary()
        if sampler == "reject":
            yield "integers: median / q", median, NO
            yield "integers: mean / q", mean, NO
            yield "integers: 99 % below / q", p99, NO
            yield "integers: lost %", 100 * lost, at_most(0.7)
            yield "integers: 95 % interval covers %", 100 * np.mean((abs(own.error) <= 1.959963984540054 * own.sd)[:, following.BURN_IN :]), (93, 97)
        yield f"integers / double ({sampler}): median", median / double.summary()[0], (0.9, 1.1)


LIFETIME = """
#include "rejfilt/model.h"
static const rf_description description = {.name = "octaves", .dim = 1, .settings = 1, .outcomes = 2, .parameter = {{"y", RF_REAL, 8, 12, 0}}, .setting = {{"t", RF_SETTING_RANGE, 0, 0, 0, 1e6, 0}}};
RF_FN rf_real likelihood(const rf_real x[], const rf_real setting[], rf_real outcome)
{
    rf_real one = rf_exp(-setting[0] * rf_exp(-x[0] * RF_C(0.6931471805599453)));
    return outcome != 0 ? one : 1 - one;
}
"""


def decay(seed, trials=500, steps=300):
    """The integer filter of a lifetime, whose logarithm walks (in octaves), beside filters in double."""
    own, f, unit_of, model = integers.library(), integers.Filter(), 2.0**-15, rf.model(LIFETIME)
    pointer = ctypes.byref(f)
    w = words(1, np.arange(trials)[:, None], np.arange(steps), 0, TRUTH)
    z, luck = pair(w[..., 0], w[..., 1])[0], unit(w[..., 2])
    for name, drift in (("1 %", 0.015), ("2 %", 0.03), ("5 %", 0.07)):
        truth = 10 + np.cumsum(np.where(np.arange(steps) > 0, drift, 0.5) * z, axis=1)
        found = {}
        for way in ("integers", "reject", "lattice"):
            errors, held = [], []
            for i in range(trials):
                if way == "integers":
                    own.rfi_decay_init(pointer, 10 * 32768, 16384, i & 0xFFFF)
                else:
                    tracker = rf.Tracker(model, prior=rf.Normal(10, 0.5), drift=drift, design=None, on_lost="ignore", sampler=way, attempts=100, seed=i)
                for k in range(steps):
                    if way == "integers":
                        if k:
                            own.rfi_decay_diffuse(pointer, round(drift**2 / unit_of**2))
                        own.rfi_decay_ask(pointer)
                        own.rfi_decay_learn(pointer, int(luck[i, k] <= math.exp(-own.rfi_decay_time(pointer) * 2 ** -truth[i, k])))
                        mean, sd = f.mean * unit_of, f.sd * unit_of
                    else:
                        t = 1.25 * 2 ** tracker.chart_mean[0]
                        tracker.tell(int(luck[i, k] <= math.exp(-t * 2 ** -truth[i, k])), t)
                        mean, sd = tracker.chart_mean[0], tracker.chart_sd[0]
                    if k >= 100:
                        errors.append((mean - truth[i, k]) ** 2), held.append(abs(mean - truth[i, k]) < 1.96 * sd)
            found[way] = np.median(errors), 100 * np.mean(held)
        yield f"lifetime, {name}: 95 % interval covers %", found["integers"][1], (93, 97)
        yield f"lifetime, {name}: in double (reject), covers %", found["reject"][1], NO
        yield f"lifetime, {name}: integers / double (reject)", found["integers"][0] / found["reject"][0], at_most(1.1)
        yield f"lifetime, {name}: integers / double (lattice)", found["integers"][0] / found["lattice"][0], NO


PARTS = {"precession": precession, "linear": linear, "ramsey": ramsey, "fixed": fixed, "decay": decay}


def main(given):
    p = argparse.ArgumentParser(prog="lab accuracy", description=__doc__)
    p.add_argument("--part", choices=PARTS)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--json", metavar="FILE")
    o = p.parse_args(given)
    os.environ.setdefault("REJFILT_INCLUDE", str(native.ROOT / "include"))
    rows = []
    print(f"{'row':49} {'target':15} {'measured':>10}")
    for name, part in PARTS.items():
        for row, value, (low, high) in part(o.seed) if o.part in (None, name) else ():
            is_target = math.isfinite(low) or math.isfinite(high)
            target = "" if not is_target else f"at least {low:g}" if high == math.inf else f"at most {high:g}" if low == -math.inf else f"{low:g} to {high:g}"
            met = bool(low <= value <= high) if is_target else None
            print(f"{row:49} {target:15} {value:10.4g}  {'' if met is None else 'met' if met else 'MISSED'}", flush=True)
            rows.append({"name": row, "value": float(value) if math.isfinite(value) else None, "target": target or None, "met": met})
    if o.json:
        with open(o.json, "w") as out:
            json.dump(rows, out, indent=1)
    missed, targets = sum(r["met"] is False for r in rows), sum(r["met"] is not None for r in rows)
    print(f"{targets - missed} of {targets} targets met")
    return int(missed > 0)
