"""Other ways to the same two moments, compared at equal cost."""

import math

import numpy as np
import rejfilt as rf

from .. import oracles
from ..report import Claim, Figure, Table, curve, text_of
from ..runner import Row
from .following import ORDINARY, Moments, World, followed, simulated

TITLE = "other ways to the two moments"
ABOUT = """The paper leaves for later whether ideas like the unscented transformation fit its setting. The filter needs the mean and variance of a Gaussian times a
likelihood, and drawing at random is only one way to them. Tried here on the walking frequency of *tracking*, with PGH and with our design: rejection as in the
library (top-up, regularised), rejection from a randomly shifted lattice, the same lattice with every point weighted by its likelihood, and Gauss and Hermite's rule
with so many fixed points, of which three are the unscented transformation. Cost is evaluations of the likelihood per update. The state is the same mean and
variance for all; sampling needs random numbers besides, the lattice and the rule a table of 8 bytes a point that can be in read-only memory."""
SETTINGS = {"steps": 300, "points": [3, 5, 7, 10, 16], "attempts": [10, 32, 100, 320, 1000], "widths": [0.25, 0.5, 1, 1.5, 2, 3, 4, 6, 8, 12, 16]}
QUICK = {"trials": 256, "minutes": 0.3}
FULL = {"trials": 2000, "minutes": 3}
SAMPLERS = {"rejection": "reject", "lattice": "lattice", "weighting": "weight"}
EXACT, FIXED, PHASES = "exact moments", "fixed points", 200


def jobs(s):
    ways = [(EXACT, 1), *((FIXED, n) for n in s.points), *((of, m) for of in SAMPLERS for m in s.attempts)]
    return [(of, size, pgh) for pgh in (False, True) for of, size in ways] + [("one update", width, False) for width in s.widths]


def run(s, of, size, pgh):
    if of == "one update":
        yield from one_update(s, size)
        return
    name = of + (" with PGH" if pgh else "")
    if of in SAMPLERS:
        tracks = simulated(s, s.trials, **ORDINARY | {"sampler": SAMPLERS[of], "attempts": size} | ({"design": "pgh", "on_lost": "ignore"} if pgh else {}))[0]
    else:
        tracks = followed(World(s, s.trials), Moments(s.trials, size if of == FIXED else None), pgh)
    rows = list(tracks.rows(name, size))
    yield from rows
    if of != EXACT:
        yield Row("by cost", name, size if of == FIXED else tracks.attempts, rows[0].value, rows[0].error)


def one_update(s, width):
    """One update of N(0, 1) with a fringe of `width` radians per standard deviation: RMS error of the mean over phases and both outcomes."""
    squares = {"3 fixed points": 0.0, "10 fixed points": 0.0, "rejection; 100 attempts": 0.0}
    model = rf.model("precession")
    for i in range(2 * PHASES):
        x_, outcome = (i // 2 + 0.5) / PHASES * 2 * math.pi / width, i % 2
        mean, variance, _ = oracles.closed_form(0.0, 1.0, width, x_, outcome)
        found = {f"{n} fixed points": oracles.by_rule(oracles.rule(n), lambda x: model.likelihood(x[None], (width, x_), outcome), 0.0, 1.0)[0] for n in (3, 10)}
        tracker = rf.Tracker(model, prior=rf.Normal(0, 1), drift=0, design=None, seed=s.seed + i, **ORDINARY | {"on_lost": "ignore"})
        tracker.tell(outcome, (width, x_))
        found["rejection; 100 attempts"] = tracker.chart_mean[0]
        for name, own in found.items():
            squares[name] += (own - mean) ** 2 / variance
    for name, square in squares.items():
        yield Row("one update", name, width, math.sqrt(square / (2 * PHASES)))


def ratio(of, size):
    return lambda rows, s: rows.at("pooled", of, size).over(rows.at("pooled", EXACT, 1))


def enough(rows, s):
    return min((r.x for r in rows.of("pooled", FIXED) if r.value <= rows.value("pooled", "rejection", 100)), default=math.inf)


def crossing(rows, s):
    """The first of the fringes tried at which rejection has a smaller error than ten points."""
    return next((r.x for r in rows.of("one update", "10 fixed points") if r.value > rows.value("one update", "rejection; 100 attempts", r.x)), math.nan)


CLAIMS = [
    Claim("unscented", "the unscented transformation may be adapted to this setting (left as future work)", "pooled median with three points and our design, over that of exact moments",
          ratio(FIXED, 3), (-math.inf, 1.1), where="conclusion", change="with 10 points", changed=ratio(FIXED, 10)),
    Claim("cheaper", None, "fixed points with which the median is as good as with rejection and 100 attempts, our design", enough, expect=(2, 7)),
    Claim("fringes", None, "radians of a fringe per standard deviation from which 100 attempts are better than ten fixed points", crossing, expect=(2, 8)),
    Claim("lattice", None, "pooled median of the lattice, m = 100, over that of exact moments, our design", ratio("lattice", 100), expect=(0.95, 1.08)),
    Claim("weight", None, "pooled median of the weighted lattice, m = 32, over that of exact moments, our design", ratio("weighting", 32), expect=(0.95, 1.1)),
    Claim("reject", None, "pooled median of rejection, m = 100, over that of exact moments, our design", ratio("rejection", 100), expect=(1.02, 1.15)),
]  # fmt: skip


def report(rows, s):
    def cost(more):
        def draw(ax):
            for of in (FIXED, *SAMPLERS):
                curve(ax, rows.of("by cost", of + more), of)
            ax.axhline(rows.value("pooled", EXACT + more, 1), color="#999", linestyle=":", label=EXACT)
            ax.set(xscale="log", xlabel="evaluations of the likelihood per update", ylabel="pooled median squared error / q")
            ax.legend()

        return draw

    def width(ax):
        for of in ("3 fixed points", "10 fixed points", "rejection; 100 attempts"):
            curve(ax, rows.of("one update", of), of.replace(";", ","))
        ax.set(xscale="log", yscale="log", ylim=(1e-6, None), xlabel="radians of the fringe per standard deviation", ylabel="error of the mean / posterior sd")
        ax.set_xticks([0.25, 0.5, 1, 2, 4, 8, 16], ["0.25", "0.5", "1", "2", "4", "8", "16"])
        ax.legend()

    yield Figure("cost", "Error by cost, our design", "With our design a fixed rule reaches the exact moments' error with a handful of evaluations, weighting with about 30, the lattice "
                 "with about 100, and rejection approaches it slowly from above.", cost(""))  # fmt: skip
    yield Figure("cost-pgh", "Error by cost, with PGH", "With PGH all ways end at the same higher error, that of exact moments with PGH, in the same order of cost.", cost(" with PGH"))
    yield Table("Squared error in q, from step 100 on", ["way", "size", "evaluations", "median", "mean", "lost"], [
        [r.of, *(("–", "–") if r.of.startswith("exact") else (f"{r.x:.0f}", f"{r.x if r.of.startswith('fixed') else rows.value('attempts', r.of, r.x):.0f}")),
         text_of((r.value, r.error)), text_of(rows.at("mean", r.of, r.x)), f"{text_of(rows.at('lost', r.of, r.x).percent())} %"] for r in rows.of("pooled")])  # fmt: skip
    yield Figure("width", "Where fixed points fail: one update", "Error of the mean after one update by radians of the fringe per standard deviation: ten fixed points are exact up to "
                 "about two radians and mostly wrong from about five on; rejection's error stays at about 0.15 standard deviations at every width.", width)  # fmt: skip
    yield ("So in one dimension, with a design that keeps about one radian of the fringe within a standard deviation, rejection is never the cheapest way to the moments: ten fixed "
           "points need no random numbers and are as good as exact. What a fixed rule cannot do is see fringes between its points (the last figure: from "
           f"{crossing(rows, s):g} radians on, ten points do worse than 100 attempts), and its points grow as a power of the dimension; rejection's error depends on neither.")  # fmt: skip
