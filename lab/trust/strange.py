#!/usr/bin/env python3
"""Worlds that nobody named, for four models, through the Python package: lab/trust/strange.py [TRIALS [SEED [MODEL]]]
What happens begins at record 150 of 450. Lost: an error beyond five standard deviations; told: such steps that are not `tracking`. Back: an error below five steps of the
drift and a quarter of the prior's standard deviation, whichever is more, for five records that begin within 100 of the end of the event."""
import math
import pathlib
import sys

import numpy as np
import rejfilt as rf

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent.parent / "examples"
EVENT, STEPS = 150, 450
WALK = math.pi / 120
# name: model, drift of the first parameter, prior in the chart (low, high), the others, how fast sinusoids are in the chart
MODELS = {
    "precession": ("precession", WALK, (0, math.pi / 2), [], 0.6),
    "ramsey": ("ramsey", 0.002, (0.2, 0.8), [0.02], 0.1),
    "relaxation": (EXAMPLES / "relaxation.c", 0.03, (math.log(5), math.log(60)), [], 0.7),
    "t1_counts": (EXAMPLES / "t1_counts.c", 0.03, (math.log(30), math.log(150)), [], 0.5),
}
WORLDS = ("as believed", "drift doubles", "two detectors in turn", "contrast falls to a half", "jump while records are missing", "100 records late by one",
          "settings rounded to two digits", "gap of 1,000 units of time", "prior off by 10 sd", "three periods of a sinusoid", "T2 of 20 from there on", "outcomes inverted, 50 of 100")


def outcome(name, setting, x, rng, world, n):
    """What is read: a bit, or a count."""
    if name in ("relaxation", "t1_counts"):
        share = math.exp(-setting.t / math.exp(x[0]))
    elif name == "ramsey":
        share = (1 + 0.95 * math.exp(-setting.t * x[1]) * math.cos(setting.t * (x[0] - setting.w_))) / 2
    else:
        share = math.cos(setting.t * (x[0] - setting.x_) / 2) ** 2
    if world == "T2 of 20 from there on" and n >= EVENT and name in ("precession", "ramsey"):
        share = 0.5 + (share - 0.5) * math.exp(-setting.t / 20)
    contrast = 1 - 0.5 * min(max(n - EVENT, 0) / 150, 1) if world == "contrast falls to a half" else 0.9 if world == "two detectors in turn" and n % 2 else 1
    share = 0.5 + (share - 0.5) * contrast
    is_inverted = world == "outcomes inverted, 50 of 100" and n >= EVENT and n % 100 < 50 and n < EVENT + 200
    if is_inverted:
        share = 1 - share
    return rng.poisson(1 + 4 * share) if name == "t1_counts" else int(rng.random() < share)


def trial(name, world, seed):
    model, step, (low, high), others, size = MODELS[name]
    rng = np.random.default_rng(seed)
    x = [rng.uniform(low, high), *others]
    first = model_of(name).parameters[0].name
    natural = (lambda y: math.exp(y)) if name in ("relaxation", "t1_counts") else (lambda y: y)
    drift = {first: step} | ({"g": 0} if name == "ramsey" else {})
    options = {}
    if world == "prior off by 10 sd":
        sd = (high - low) / 40
        centre = x[0] - 10 * sd if x[0] > (low + high) / 2 else x[0] + 10 * sd
        options["prior"] = {first: rf.Normal(natural(centre), sd * (natural(centre) if natural(1) > 1 else 1))}
    tracker = rf.Tracker(model_of(name), drift=drift, seed=seed, **options)
    prior = tracker.chart_sd[0]
    cap = max(3 * prior, 24 * step)
    found, late, close, back, time = [], 0, 0, None, 0.0
    missing = range(EVENT, EVENT + 60) if world == "jump while records are missing" else range(0)
    ends = {"jump while records are missing": EVENT + 60, "100 records late by one": EVENT + 100, "outcomes inverted, 50 of 100": EVENT + 200,
            "prior off by 10 sd": 0, "gap of 1,000 units of time": EVENT}.get(world)
    centre = x[0]
    for n in range(STEPS):
        faster = 2 if world == "drift doubles" and n >= EVENT else 1
        gap = 1000 if world == "gap of 1,000 units of time" and n == EVENT else 1
        if world == "three periods of a sinusoid":
            x[0] = centre + size * math.sin(2 * math.pi * n / 150)
        elif n:
            x[0] += rng.normal(0, step * faster * math.sqrt(gap))
        if world == "jump while records are missing" and n == EVENT + 30:
            x[0] += size * (1 if rng.random() < 0.5 else -1)
        setting = tracker.ask()
        time += gap
        right = outcome(name, setting, x, rng, world, n)
        read, late = (late if world == "100 records late by one" and EVENT <= n < EVENT + 100 else right), right
        if n in missing:
            tracker.tell(math.nan, time=time)
        elif world == "settings rounded to two digits":
            asked = setting._replace(t=float(f"{setting.t:.2g}"))
            tracker.tell(outcome(name, asked, x, rng, world, n), setting, time=time)
        else:
            tracker.tell(read, time=time)
        error, sd = tracker.chart_mean[0] - x[0], tracker.chart_sd[0]
        found.append((n, error, sd / cap, abs(error) > 5 * sd, tracker.health.value != "tracking"))
        close = close + 1 if abs(error) < max(5 * step, prior / 4) else 0
        if ends is not None and back is None and n >= ends + 4 and close >= 5:
            back = n - 4 - ends
    return found, ends is not None, back


made = {}


def model_of(name):
    if name not in made:
        model = MODELS[name][0]
        made[name] = rf.model(model)
    return made[name]


def main():
    trials, first = int(sys.argv[1]) if len(sys.argv) > 1 else 50, int(sys.argv[2]) if len(sys.argv) > 2 else 90001
    print("| model, world | trials | median error / believed | back 100 | lost steps | told | not tracking | widest / cap |\n|---|---|---|---|---|---|---|---|")
    for name in MODELS:
        if len(sys.argv) > 3 and sys.argv[3] != name:
            continue
        usual = None
        for world in WORLDS:
            results = [trial(name, world, first + k) for k in range(trials)]
            after = [step for found, *_ in results for step in found if step[0] >= EVENT]
            median = float(np.median([abs(step[1]) for step in after]))
            usual = median if usual is None else usual
            lost = [step[4] for step in after if step[3]]
            backs = [b is not None and b <= 100 for _, is_event, b in results if is_event]
            share = lambda flags: f"{100 * np.mean(flags):.0f}" if len(flags) else "–"
            print(f"| {name}, {world} | {trials} | {median / usual:.2f} | {share(backs)} | {100 * len(lost) / len(after):.1f} | {share(lost)} | {share([s[4] for s in after])} "
                  f"| {max(s[2] for found, *_ in results for s in found):.2f} |", flush=True)


if __name__ == "__main__":
    main()
