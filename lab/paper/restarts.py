"""What helps a filter that has lost its track?"""

import math

import numpy as np

from ..report import Claim, Figure, Table, curve, text_of
from ..runner import Row
from .following import LOST_SIGMAS, ORDINARY, PAPER, World, restarts_at_random, restarts_when_widened, simulated, tracked

TITLE = "what helps a filter that has lost the truth?"
ABOUT = """The walking frequency of *tracking*, m = 100. The paper says that the number of accepted attempts shows when a filter has lost the truth, and that random
restarts help. Tried here: its filter as it is; the same going back to its prior at random, once in so many steps; the same widened, or going back to its prior,
when a running test of surprise fails; and our design without and with its anchors (measurements whose outcome a healthy filter is sure of), with widening (the
default) and with restarts when one fails. *Lost*: errors above 5 of the filter's own standard deviations in more than 20 steps. *Jump*: the truth jumps by 1 at
step 150; recovered are tracks that are within 5 √q again within 50 measurements and for 5 in a row, of those that were before."""
SETTINGS = {"steps": 300, "restart_every": [25, 50, 100, 200], "jump": 1.0, "jump_at": 150}
QUICK = {"trials": 320, "minutes": 0.5}
FULL = {"trials": 4000, "minutes": 5}
TESTED = ORDINARY | {"design": "pgh", "on_lost": "widen"}  # Algorithm 1 to the letter has no tests
POLICIES = {  # options, and whether a failed test restarts instead of widening
    "PGH": (PAPER, False),
    "PGH, topped up; widened when surprised": (TESTED, False),
    "PGH, topped up; restarted when surprised": (TESTED, True),
    "our design without anchors": (ORDINARY | {"on_lost": "ignore"}, False),
    "anchors; widened when one fails (default)": (ORDINARY, False),
    "anchors; restarted when one fails": (ORDINARY | {"on_lost": "widen"}, True),
}
RANDOM, OURS = "PGH; restarted at random", "anchors; widened when one fails (default)"


def jobs(s):
    return [(of, every, jump) for jump in (False, True) for of, every in [(RANDOM, n) for n in s.restart_every] + [(of, 0) for of in POLICIES]]


def run(s, of, every, has_jump):
    options, is_restarted = POLICIES.get(of, (PAPER, True))
    shaped = None
    if is_restarted:
        world = World(s, s.trials, s.jump if has_jump else 0, s.jump_at)
        tracks = tracked(world, s, s.trials, restarts_at_random(world, every) if every else restarts_when_widened(), **options)
    else:
        tracks, shaped = simulated(s, s.trials, **options, jump=(s.jump, s.jump_at) if has_jump else None)
    if has_jump:
        p, n = tracks.recovered(s.jump_at)
        yield Row("recovered", of, every, p, math.sqrt(p * (1 - p) / n))
        return
    yield from tracks.rows(of, every)
    if shaped:
        accepted = shaped("acceptance")
        on, off = accepted[~tracks.far], accepted[tracks.far]
        for name, some in (("acceptance", on), ("acceptance lost", off)):
            yield Row(name, of, every, np.mean(some) if some.size else math.nan, np.std(some) / math.sqrt(some.size) if some.size else math.nan)
        yield Row("empty", of, every, np.mean(shaped("accepted") == 0))
        yield Row("herald", of, every, (np.mean(on) - np.mean(off)) / math.sqrt((np.var(on) + np.var(off)) / 2) if off.size else math.nan)


def at(quantity, of):
    return lambda rows, s: rows.at(quantity, of, 0).percent()


def at_best_rate(rows, s):
    return min((rows.at("lost", RANDOM, every) for every in s.restart_every), key=lambda n: n.value).percent()


CLAIMS = [
    Claim("random", "random restarts overcome the loss of the truth", "% of tracks lost with PGH and random restarts, at the best rate tried", at_best_rate, (-math.inf, 1),
          where="appendix on errors", change="widened when an anchor fails", changed=at("lost", OURS)),
    Claim("herald", "the number of accepted attempts heralds that the truth has been lost",
          "mean acceptance of tracks on the truth less that of lost ones, in standard deviations of an update's", lambda rows, s: rows.at("herald", "PGH", 0), (2, math.inf),
          where="appendix on time dependence"),
    Claim("empty", None, "% of updates of PGH with nothing accepted, in which the recovery factor r would act", at("empty", "PGH"), expect=(0, 0.01)),
    Claim("price", None, "pooled median with PGH restarted at random once in 50 steps, over that without restarts",
          lambda rows, s: rows.at("pooled", RANDOM, 50).over(rows.at("pooled", "PGH", 0)), expect=(1.4, 2)),
    Claim("jump", None, "% of tracks that recover from a jump, PGH", at("recovered", "PGH"), expect=(12, 28)),
    Claim("jump-ours", None, "% of tracks that recover from a jump, anchors and widening", at("recovered", OURS), expect=(93, 100)),
]  # fmt: skip


def report(rows, s):
    def draw(ax):
        curve(ax, rows.of("pooled", RANDOM), "median error")
        ax.axhline(rows.value("pooled", "PGH", 0), color=ax.lines[0].get_color(), linestyle=":", label="without restarts")
        ax.set(xscale="log", xlabel="mean steps between restarts", ylabel="pooled median squared error / q", ylim=(0, None))
        ax.set_xticks(s.restart_every, map(str, s.restart_every))
        ax.minorticks_off()
        right = ax.twinx()
        curve(right, rows.of("lost", RANDOM), None, "s--", color="#c0392b")
        ax.plot([], [], "s--", color="#c0392b", label="lost (right)")
        right.set(ylabel="share of tracks lost", ylim=(0, 1))
        right.grid(False)
        ax.legend()

    yield Figure("rate", "PGH with random restarts", "By mean steps between random restarts: the median error grows the more often the filter restarts, while the share of lost "
                 "tracks stays well above that of anchors.", draw)  # fmt: skip
    yield Table("What helps", ["policy", "median / q", "mean / q", "lost", "recovered from a jump"], [
        [r.of + (f", one in {r.x:.0f}" if r.x else ""), text_of((r.value, r.error)), text_of(rows.at("mean", r.of, r.x)),
         *(f"{text_of(rows.at(quantity, r.of, r.x).percent())} %" for quantity in ("lost", "recovered"))] for r in sorted(rows.of("pooled"), key=lambda r: (r.of, r.x))])  # fmt: skip
    yield (f"With PGH an update accepts {100 * rows.value('acceptance', 'PGH', 0):.1f} % of its attempts while the filter is on the truth, and "
           f"{100 * rows.value('acceptance lost', 'PGH', 0):.1f} % while it is lost: less, but not so that one update shows it. It takes a sum over many, which is what the test of "
           "surprise is, or a measurement that is made to show it, which is what an anchor is.")  # fmt: skip
