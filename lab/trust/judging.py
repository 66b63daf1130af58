"""Judges tracks as `rejfilt track --summary` does (src/session/trials.c), for filters that it does not run."""

import math
from dataclasses import dataclass

import numpy as np

FIRST, FOR, FOLLOWED = 100, 5, 105


@dataclass
class Tracks:
    """Errors and standard deviations in the chart, by trial, step and parameter; alarms by trial and step, or None."""

    error: np.ndarray
    sd: np.ndarray
    alarm: np.ndarray | None = None
    prior_sd: float = math.nan


def within(flags, event, steps, lasting=1):
    """By trial: the records until `lasting` flags in a row, from the event on; NaN if there are none before `steps`."""
    some = flags[:, event:steps]
    runs = np.logical_and.reduce([some[:, k : some.shape[1] - lasting + 1 + k] for k in range(lasting)])
    return np.where(runs.any(1), runs.argmax(1), math.nan)


def judge(tracks, drift, prior_sd, jumps=(), outages=()):
    """The summary's numbers by its names. jumps: steps; outages: (first, length)."""
    error, trials, steps = tracks.error, *tracks.error.shape[:2]
    out = np.zeros(steps, dtype=bool)
    for first, length in outages:
        out[first : first + length] = True
    walking = sum(d > 0 for d in drift)
    unit = [d * d * walking if walking else len(drift) for d in drift]
    threshold = np.array([5 * d if d > 0 else sd / 4 for d, sd in zip(drift, prior_sd)])
    pooled = sum(error[..., i] ** 2 / u for i, u in enumerate(unit) if u > 0)[:, FIRST:][:, ~out[FIRST:]]
    sigmas = np.abs(error) / tracks.sd
    far = (sigmas > 5).any(-1) & ~out
    good = (np.abs(error) < threshold).all(-1)
    starts = sorted([j for j in jumps if not out[j]] + [a + n for a, n in outages])
    ends = [min([steps, *(a for a, _ in outages if a > e), *(j for j in jumps if j > e)]) for e in starts]
    back = [within(good, e, end, FOR) for e, end in zip(starts, ends) if end - e >= FOLLOWED]
    alarms = [within(tracks.alarm, e, steps) for e in sorted([*jumps, *(a for a, _ in outages)])] if tracks.alarm is not None else []
    share = lambda times, limit: float(np.mean(np.concatenate(times) < limit)) if times else math.nan  # noqa: E731
    lost = far.sum()
    return {
        "trials": trials, "median": float(np.median(pooled)), "mean": float(pooled.mean()), "lost": float((far.sum(1) > 20).mean()),
        "coverage95": float((sigmas[:, FIRST:][:, ~out[FIRST:]] <= 1.959963984540054).mean()), "back50": share(back, 50), "back100": share(back, 100), "back150": share(back, 150),
        "alarm30": share(alarms, 30), "alarm50": share(alarms, 50), "false_lost": math.nan if tracks.alarm is None else 0.0,
        "told": float((far & tracks.alarm).sum() / lost) if tracks.alarm is not None and lost else math.nan,
        "widest": float((tracks.sd / np.array(prior_sd)).max()),
    }  # fmt: skip
