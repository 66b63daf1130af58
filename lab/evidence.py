"""Records of a world that follows a hypothesis, and the evidence of any hypothesis for them: exact, and as `rejfilt compare` estimates it.

A hypothesis is (model, drift): a built-in model of one parameter, and the standard deviation of its steps."""

import math

import numpy as np
import rejfilt as rf

from .draws import OUTCOME, TRUTH, pair, unit, words
from .oracles import Axis, Chart, Grid, charts_of, gaussian

STEP = math.pi / 120


def records_of(truth, believed, design, seed, count):
    """Records as a dict of columns. A session that assumes `believed` chooses the settings."""
    model, drift = truth
    world, asker = rf.model(model), rf.model(believed[0])
    parameter, chart = world.parameters[0], charts_of(world)[0]
    k = np.arange(count)
    w = words(seed, k, 0, 0, TRUTH)
    moves = drift * pair(w[:, 0], w[:, 1])[0]
    moves[0] = chart.coordinate(parameter.low + (parameter.high - parameter.low) * unit(words(seed, 0, 0, 1, TRUTH)[2]))
    truths = np.atleast_1d(chart.natural(np.cumsum(moves)))
    luck = unit(words(seed, k, 0, 0, OUTCOME)[:, 0])
    tracker = rf.Tracker(asker, drift=believed[1], design=design, seed=seed, attempts=100, sampler="reject")
    rows = []
    for x, u in zip(truths, luck):
        setting = tracker.ask()
        t, x_ = setting
        one = math.cos((x - x_) * t / 2) ** 2 if model == "precession" else x
        outcome = int(u > 1 - one)
        tracker.tell(outcome)
        rows.append((t, x_, outcome))
    return dict(zip(("t", "x_", "outcome"), np.array(rows).T))


def scores(hypothesis, data, seed, repeats, **options):
    """(ln P, its variance, ...) of each repeat: those of `rejfilt compare`."""
    model, drift = hypothesis
    tracker = rf.Tracker(model, **{"drift": drift, "design": None, "seed": seed, "sampler": "reject", "attempts": 100} | options)
    settings = np.column_stack([data["t"], data["x_"]]) if model == "precession" else np.empty((len(data["outcome"]), 0))
    return tracker._score(np.ascontiguousarray(settings), np.ascontiguousarray(data["outcome"]), None, repeats)


def exact(hypothesis, data, cells=8192):
    """ln P(records) by a grid; the prior is the filter's Gaussian."""
    model, drift = rf.model(hypothesis[0]), hypothesis[1]
    if hypothesis[0] == "coin":  # uniform: the Gaussian of its chart is; and every order of outcomes is alike
        n, ones = len(data["outcome"]), int(np.sum(data["outcome"]))
        return math.lgamma(ones + 1) + math.lgamma(n - ones + 1) - math.lgamma(n + 2)
    mean, sd = math.pi / 4, math.pi / 2 / math.sqrt(12)
    axis = Axis(Chart("real", 0, math.pi / 2), mean - 8 * sd, mean + 8 * sd, cells)
    grid = Grid(model, [axis], [gaussian(axis, mean, sd)])
    for k, (t, x_, outcome) in enumerate(zip(data["t"], data["x_"], data["outcome"])):
        if k:
            grid.walk(drift)
        grid.learn((t, x_), outcome)
    return grid.log_evidence
