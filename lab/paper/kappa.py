"""How small may κ be? Median loss after 100 measurements of a constant frequency."""

import math

import numpy as np
import rejfilt as rf

from ..draws import median
from ..report import Claim, Figure, Table, curve, text_of
from ..runner import Number, Row
from .following import PAPER

TITLE = "how small may κ be?"
ABOUT = """A frequency that does not move is drawn from 0 to π/2 and measured 100 times, each time as the particle guess heuristic asks; Algorithm 1 to the
letter with 100 attempts and a recovery factor of 2 %. The loss is the squared error of the estimate after the last measurement; its median over the trials is
divided by the median loss before the first. δ̂ is the share of probability above κ, as the filter itself estimates it, averaged over all updates. The controller
begins at κ = 1 and aims at a δ̂ between 1 and 5 %."""
SETTINGS = {"attempts": 100, "measurements": 100, "recovery": 0.02,
            "kappas": [0.01, 0.02, 0.04, 0.06, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.66666667, 0.8, 0.9, 1]}  # fmt: skip
QUICK = {"trials": 1000, "minutes": 0.1}
FULL = {"trials": 6000, "minutes": 0.5}


def jobs(s):
    return [(kappa,) for kappa in [*s.kappas, "auto"]]


def run(s, kappa):
    last = slice(s.measurements - 1, None, s.measurements)
    run = rf.simulate("precession", steps=s.measurements, trials=s.trials, seed=s.seed, **PAPER | {"attempts": s.attempts, "recovery": s.recovery, "kappa": kappa, "drift": 0})
    truth = run["truth.x"][last]
    first, loss = (Number(*median(e**2)) for e in (truth - math.pi / 4, run["x.chart_mean"][last] - truth))
    of, x = ("controlled", np.mean(run["kappa"])) if kappa == "auto" else ("given", kappa)
    yield Row("loss", of, x, *loss.over(first))
    yield Row("delta", of, x, np.mean(run["delta"]))
    yield Row("acceptance", of, x, np.mean(run["acceptance"]))


def loss_at(kappa):
    return lambda rows, s: rows.at("loss", "given", kappa)


def plateau(rows, s):
    points = [r for r in rows.of("loss", "given") if 0.04 <= r.x <= 0.4]
    return min(math.log10(a.value / b.value) / math.log2(b.x / a.x) for a, b in zip(points, points[1:]))


IN = "appendix on κ"
CLAIMS = [
    Claim("two-thirds", "with κ between about two thirds and 1 the filter still learns rapidly, though the loss grows", "median loss at κ = 2/3, over the initial one",
          loss_at(0.66666667), (-math.inf, 1e-6), (1e-12, 5e-12), where=IN),
    Claim("plateau", "the loss has a plateau for κ from 0.04 to 0.4, where it does not grow steadily as κ falls",
          "decades that the loss grows by, at least, with every halving of κ from 0.4 to 0.04", plateau, (-math.inf, 0.1), (0.5, 2.5), where=IN, number="no growth"),
    Claim("fifth", "modest learning is seen for κ below one half, too", "median loss at κ = 0.2, over the initial one", loss_at(0.2), (-math.inf, 0.1), (2.5e-7, 1e-6), where=IN),
    Claim("floor", "as κ goes to zero, nothing is learnt", "median loss at κ = 0.01, over the initial one", loss_at(0.01), (0.01, math.inf), where=IN, number="ratio → 1"),
    Claim("one", None, "median loss at κ = 1, over the initial one", loss_at(1), expect=(2.5e-14, 6e-14)),
    Claim("twenty-fifth", None, "median loss at κ = 0.04, over the initial one", loss_at(0.04), expect=(5e-4, 2e-3)),
]  # fmt: skip


def report(rows, s):
    def draw(ax):
        curve(ax, rows.of("loss", "given"), "loss, κ given")
        curve(ax, rows.of("loss", "controlled"), "loss, κ controlled", "D")
        ax.set(yscale="log", xlabel="κ", ylabel="median loss / initial loss")
        right = ax.twinx()
        curve(right, rows.of("delta", "given"), None, "--", color="#7f8c8d")
        right.set(ylabel="δ̂, share above κ", ylim=(0, 1))
        right.grid(False)
        ax.plot([], [], "--", color="#7f8c8d", label="δ̂ (right)")
        ax.legend(loc="upper center")

    yield Figure("loss", "Median loss after 100 measurements, by κ", "The loss grows steadily as κ falls, over more than ten decades, without a plateau; δ̂ grows from 0 "
                 "at κ = 1 to nearly 1; the controller settles near κ = 1.", draw)  # fmt: skip
    yield Table("By κ", ["κ", "loss / initial loss", "δ̂", "accepted"], [
        [f"{r.x:.3g}" + (" (controlled, on average)" if r.of == "controlled" else ""), text_of((r.value, r.error)), f"{rows.value('delta', r.of, r.x):.3f}",
         f"{100 * rows.value('acceptance', r.of, r.x):.1f} %"] for r in rows.of("loss")])  # fmt: skip
