"""The default filter in worlds that differ from its assumptions, as Markdown tables: python -m lab trust [TRIALS [SEED [FAMILY]]]"""

import argparse
import json
import math
import os
import re
import subprocess
import sys

import numpy as np
import rejfilt as rf

from .. import integers, native, oracles
from ..runner import each
from .judging import Tracks, judge
from .worlds import WORLDS

HAZARD = 1e-4
MULTI = ("ramsey", "other models")
HEADS = "| world | trials | median | mean | lost % | covers % | back 50 | back {} | alarm | told | false lost | widest |\n" + "|---" * 12 + "|"


def arguments_of(options):
    """Options of `rejfilt track` as arguments of rejfilt.simulate."""
    words, found = options.split(), {"jump": [], "outage": []}
    for name, value in zip(words[::2], words[1::2]):
        name = name.removeprefix("--").replace("-", "_")
        if name == "jump":
            which, size, random, at = re.fullmatch(r"(?:(\w+)=)?([^@]+)@(~?)(\d+)", value).groups()
            low, _, high = size.partition(":")
            found["jump"].append(rf.Jump((float(low), float(high or low)), **{"every" if random else "at": int(at)}, parameter=which))
        elif name == "outage":
            what, flips, at, length = re.fullmatch(r"([^~@]+)(?:~([^@]+))?@(\d+)\+(\d+)", value).groups()
            found["outage"].append(rf.Outage(what if what.isalpha() else float(what), int(at), int(length), float(flips or 0)))
        elif name == "drift" and "+-" in value:
            found["drift"] = rf.Reverting(*map(float, re.split(r"\+-|~", value)))
        elif name in ("steps", "attempts"):
            found[name] = int(value)
        else:
            found[name] = float(value) if re.fullmatch(r"[-+.e\d]+", value) else value
    return found


# ---- Exact filters ----


def grid_of(model, drifts, hazard):
    """The exact posterior of up to three parameters, on a grid about as wide as what is believed."""
    dim, tracker = len(drifts), rf.Tracker(model, design=None, belief="gaussian")
    axes, prior = [], []
    for i, (chart, p) in enumerate(zip(oracles.charts_of(model), model.parameters)):
        is_drifting = dim > 1 and drifts[1] > 0
        cells = 2500 if dim == 1 else (48 if i == 0 else 20) if dim == 3 else 300 if is_drifting else 1500 if i == 0 else 24
        reach = 11 if dim == 1 else 5.2 if dim == 2 and not is_drifting and i == 0 else 3.5
        mean, sd = tracker.chart_mean[i], tracker.chart_sd[i]
        axis = oracles.Axis(chart, mean - reach * sd, mean + reach * sd, cells)
        slope = 1 if chart.kind == "periodic" else chart.natural(axis.y + 1e-4) - chart.natural(axis.y - 1e-4)
        axes.append(axis)
        prior.append(slope * ((axis.x >= p.low) & (axis.x <= p.high)))
    return oracles.Grid(model, axes, prior, hazard)


def exact_tracks(model, rows, drifts, motion, hazard):
    """The exact posterior's errors on the records of one trial, and its alarms: a jump is likelier than none."""
    grid, charts = grid_of(model, drifts, hazard), oracles.charts_of(model)
    names = [p.name for p in model.parameters]
    truth = np.array([chart.coordinate(rows[f"truth.{n}"]) for chart, n in zip(charts, names)])
    settings = np.column_stack([rows[s.name] for s in model.settings]) if model.settings else np.empty((len(truth[0]), 0))
    error, sd, alarm = np.empty((len(truth[0]), len(names))), np.empty((len(truth[0]), len(names))), []
    for k, outcome in enumerate(rows["outcome"]):
        if k and isinstance(motion, rf.Reverting):
            grid.revert(*motion)
        elif k:
            grid.walk(*drifts)
        if not math.isnan(outcome):
            grid.learn(tuple(settings[k]), outcome)
        for i, chart in enumerate(charts):
            mean, sd[k, i] = grid.moments(i)
            error[k, i] = chart.apart(mean - truth[i, k])
        alarm.append(bool(hazard and k and grid.jumped > 0.5))
        if alarm[-1]:
            grid.believe_jump()
    return error, sd, alarm


def told_tracks(model, rows, events, outages):
    """With more parameters, where a grid is too large: the default, without tests, begins anew at each event."""
    out = {k for first, length in outages for k in range(first, first + length)}
    tracker, charts = rf.Tracker(model, on_lost="ignore", design=None, seed=1), oracles.charts_of(model)
    names, error, sd = [p.name for p in model.parameters], [], []
    truth = [chart.coordinate(rows[f"truth.{n}"]) for chart, n in zip(charts, names)]
    settings = np.column_stack([rows[s.name] for s in model.settings])
    for k, outcome in enumerate(rows["outcome"]):
        if k in events:
            tracker.restart()
        tracker.tell(math.nan if k in out else outcome, tuple(settings[k]))
        error.append([m - t[k] for m, t in zip(tracker.chart_mean, truth)])
        sd.append(tracker.chart_sd)
    return np.array(error), np.array(sd), [False] * len(error)


def beside(options, trials, seed):
    """Names and summaries of exact filters that learn from the records of the world's first trials."""
    given = arguments_of(options)
    model, motion = rf.model(given.pop("model", "precession")), given.get("drift")
    jumps, outages = [j.at for j in given["jump"]], [(o.at, o.length) for o in given["outage"]]
    drifts = [p.drift if isinstance(p.drift, float) else 0.0 for p in model.parameters]
    runs = [rf.simulate(model, trials=1, first=k, seed=seed, **given) for k in range(trials)]
    prior_sd = rf.Tracker(model, design=None, belief="gaussian").chart_sd
    kinds = {"… begins anew, told of it": None} if len(drifts) > 3 else {"… exact, no hazard": 0.0, "… exact, hazard 1e-4": HAZARD}
    for name, hazard in kinds.items():
        found = [told_tracks(model, r, {*jumps, *(a + n for a, n in outages)}, outages) if hazard is None else exact_tracks(model, r, drifts, motion, hazard) for r in runs]
        error, sd, alarm = (np.array(x) for x in zip(*found))
        s = judge(Tracks(error, sd, alarm if hazard else None), drifts, prior_sd, jumps, outages)
        yield name, s | {"told": math.nan, "widest": math.nan}


# ---- Tables ----


def line(name, s, is_several):
    number = lambda value, digits, kind: " – |" if value is None or math.isnan(value) else f" {value:.{digits}{kind}} |"  # noqa: E731
    percent = [100 * v if (v := s.get(k)) is not None else math.nan for k in ("back50", "back150" if is_several else "back100", "alarm50" if is_several else "alarm30", "told")]
    return (f"| {name} | {s['trials']} |" + number(s["median"], 3, "g") + number(s["mean"], 3, "g") + number(100 * s["lost"], 2, "f") + number(100 * s["coverage95"], 1, "f")
            + "".join(number(p, 1, "f") for p in percent) + number(s["false_lost"], 3, "g") + number(s["widest"], 2, "f"))  # fmt: skip


def simulated(options, trials, seed):
    command = [native.COMMAND, "track", "--simulate", "--json", "--trials", str(trials), "--seed", str(seed), *options.split()]
    done = subprocess.run(command, capture_output=True, text=True, cwd=native.ROOT, env=os.environ | {"REJFILT_INCLUDE": str(native.ROOT / "include")})
    if done.returncode:
        raise SystemExit(done.stderr.strip())
    return json.loads(done.stdout)


def world(job):
    """Lines of a world, and how good it is: the worst come first."""
    (family, name, options, some, percent), trials, seed = job
    trials = max(1, trials * percent // 100)
    s = integers.summary(arguments_of(options), trials, seed) if family == "integers" else simulated(options, trials, seed)
    is_several = len(s.get("parameters", [0])) > 1
    good = s["coverage95"] - s["lost"] if s["back50"] is None or math.isnan(s["back50"]) else s["back50"]
    more = beside(options, trials * some // 100, seed) if trials * some // 100 else ()
    return good, [line(name, s, is_several), *(line(*n, is_several) for n in more)]


def main(words):
    p = argparse.ArgumentParser(prog="lab trust", description=__doc__)
    p.add_argument("trials", nargs="?", type=int, default=1000)
    p.add_argument("seed", nargs="?", type=int, default=1000003)
    p.add_argument("family", nargs="?", help="one of the families, or options of rejfilt track: a world of your own")
    p.add_argument("--no-oracles", action="store_true", help="without exact filters, which are slow")
    p.add_argument("--world", default="", help="only worlds whose names begin so")
    o = p.parse_args([f" {w}" if w.startswith("--") and " " in w else w for w in words])
    own = o.family and o.family.strip().startswith("-")
    worlds = [("own", o.family.strip(), o.family.strip(), 100, 100)] if own else [w for w in WORLDS if o.family in (None, w[0]) and w[1].startswith(o.world)]
    if not worlds or o.trials < 1:
        p.error(f"there is no such world; families are {', '.join(dict.fromkeys(w[0] for w in WORLDS))}")
    worlds = [(*w[:3], 0, w[4]) if o.no_oracles else w for w in worlds]
    found = {}
    for w, (good, lines) in zip(worlds, each(world, [(w, o.trials, o.seed) for w in worlds])):
        found.setdefault(w[0], []).append((good, lines))
        print(f"{w[0]}: {w[1]}", file=sys.stderr)
    for family, results in found.items():
        print(f"\n### {family}\n\n{HEADS.format('150, or 100' if family in MULTI else '100')}")
        for _, lines in sorted(results, key=lambda r: r[0]) if family != "other drifts" else results:
            print("\n".join(lines))
    return 0
