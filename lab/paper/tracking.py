"""Following a frequency that walks: the figure of the main text, and the claims on memory."""

import math

from ..report import Claim, Figure, Table, curve, text_of
from ..runner import Row
from .following import ORDINARY, PAPER, Cells, Moments, World, followed, simulated, tracked

TITLE = "following a frequency that walks"
ABOUT = """The frequency starts anywhere in 0 to π/2 and takes a Gaussian step of π/120 before every measurement; q = (π/120)² is the variance of a step and the unit
of all squared errors here. *PGH* is the paper: Algorithm 1 to the letter, the reference drawn from the prior, the time 1/σ. *Default* is ours: measurements on the
fringe's slope with every fifth an anchor that tests the filter, top-up and a regularised covariance. Beside them, on the same truths and with the same luck: the
exact posterior on a grid, the Gaussian with exact moments (what rejection tends to as m grows), and Liu–West particles (a = 0.98, resampled at half the effective
size, started from the true uniform prior); each chooses its experiments from its own mean and variance, with PGH and with our design. *Pooled* is the median over
all trials and steps from 100 on; *lost* are trials with errors above 5 of their own standard deviations in more than 20 steps. Bytes: our float filter with sums,
counters and seed; for particles only a float and a weight each, 8 bytes, for the smallest program that could be written."""
SETTINGS = {"steps": 300, "ours": [30, 100, 1000], "every": 5, "grid": 1024}
QUICK = {"attempts": [10, 30, 100, 300, 1000, 10000], "particles": [5, 10, 30, 100, 300, 1000], "trials": 320, "particle_trials": 96000, "minutes": 0.5}
FULL = {"attempts": [10, 30, 100, 300, 1000, 3000, 10000], "particles": [5, 10, 20, 30, 50, 100, 300, 1000, 3000, 10000], "trials": 2000, "particle_trials": 4000000, "minutes": 10}
FILTER_BYTES = 64  # of one parameter in float: static-asserted in tests/test_filter.c


def jobs(s):
    large_first = [("particles", n) for n in reversed(s.particles)]
    families = [("PGH", s.attempts), ("default", s.ours), ("exact moments", [1]), ("exact posterior", [s.grid])]
    return [(of, n, pgh) for of, n in large_first for pgh in (True, False)] + [(of, n, pgh) for of, sizes in families for n in sizes for pgh in (True, False) if of[0] == "e" or pgh == (of == "PGH")]


def run(s, of, size, pgh):
    trials = min(s.trials, s.particle_trials // size) if of == "particles" else s.trials
    if of in ("PGH", "default"):
        tracks = simulated(s, trials, **(PAPER if pgh else ORDINARY) | {"attempts": size})[0]
    elif of == "particles":
        how = {"design": "pgh", "on_lost": "ignore"} if pgh else {"on_lost": "watch"}
        tracks = tracked(World(s, trials), s, trials, belief=f"particles:{size}", **how)
    else:
        tracks = followed(World(s, trials), Moments(trials) if of == "exact moments" else Cells(trials, size), pgh)
    name = of + (" with PGH" if pgh and of != "PGH" else "")
    rows = list(tracks.rows(name, size))
    yield from rows
    yield from tracks.by_step(f"{name} {size}" if size > 1 else name, s.every)
    yield Row("trials", name, size, trials)
    if of in ("PGH", "default", "particles"):
        yield Row("by bytes", name, 8 * size if of == "particles" else FILTER_BYTES, rows[0].value, rows[0].error)


def bytes_for(rows, of, error):
    """Bytes at which the particles' error falls to `error`, interpolated in logarithms."""
    points = sorted(rows.of("by bytes", of), key=lambda r: r.x)
    for before, r in zip([None, *points], points):
        if r.value <= error:
            return r.x if before is None else before.x * (r.x / before.x) ** (math.log(before.value / error) / math.log(before.value / r.value))
    return math.nan


def pooled(of, size):
    return lambda rows, s: rows.at("pooled", of, size)


def lost(of):
    return lambda rows, s: rows.at("lost", of, 100).percent()


CLAIMS = [
    Claim("median", "the median error reaches q with as few as 100 attempts", "pooled median with PGH, m = 100, in q", pooled("PGH", 100), (-math.inf, 1.15), (1.5, 1.65),
          "appendix on frequency estimation", "1 q", "with our design", pooled("default", 100)),
    Claim("attempts", "fewer than 100 attempts are enough to follow the frequency", "% of tracks lost with PGH, m = 100", lost("PGH"), (-math.inf, 1), (10, 22),
          "main text", "m < 100", "with our design", lost("default")),
    Claim("kilobit", "less than a kilobit of memory is enough", "bits of our filter, all included", lambda rows, s: 8 * FILTER_BYTES, (-math.inf, 1000), where="main text", number="1 kbit"),
    Claim("hundred", "particles (Liu–West) take roughly 100 times the memory for the same", "bytes of particles that reach the pooled median of PGH with m = 100, over the filter's",
          lambda rows, s: bytes_for(rows, "particles with PGH", rows.value("pooled", "PGH", 100)) / FILTER_BYTES, (50, math.inf), where="main text", number="100 times"),
    Claim("hundred-ours", None, "the same for our design and m = 1,000, to within 1 %",
          lambda rows, s: bytes_for(rows, "particles", 1.01 * rows.value("pooled", "default", 1000)) / FILTER_BYTES, expect=(10, 150)),
    Claim("infinite", None, "pooled median with PGH and exact moments (m → ∞), in q", pooled("exact moments with PGH", 1), expect=(1.3, 1.48)),
    Claim("exact", None, "pooled median of the exact posterior with PGH, in q", lambda rows, s: rows.at("pooled", "exact posterior with PGH"), expect=(1.2, 1.4)),
    Claim("ours", None, "pooled median of our default, in q", pooled("default", 100), expect=(1.05, 1.15)),
]  # fmt: skip


def report(rows, s):
    def steps(ax):
        for m in s.attempts:
            curve(ax, rows.of("by step", f"PGH {m}"), f"m = {m}", "-", bars=False)
        curve(ax, rows.of("by step", "default 100"), "our design, m = 100", "-", bars=False, color="black")
        ax.axhline(1, color="#999", linestyle=":")
        ax.set(yscale="log", ylim=(0.5, 300), xlabel="measurement", ylabel="median squared error / q")
        ax.legend(ncol=2)

    def memory(ax):
        curve(ax, rows.of("by bytes", "PGH"), "filter with PGH, all m", "s")
        curve(ax, rows.of("by bytes", "default"), "filter, our design", "D")
        for of, label in (("particles with PGH", "particles with PGH"), ("particles", "particles, our design")):
            curve(ax, sorted(rows.of("by bytes", of), key=lambda r: r.x), label)
        ax.set(xscale="log", yscale="log", xlabel="bytes of state", ylabel="pooled median squared error / q")
        ax.legend()

    yield Figure("steps", "Median squared error by step, PGH as in the paper", "Squared error over q falls within about 20 measurements and then stays between 1.3 and 2 q for every "
                 "m from 30 on; no curve reaches 1 q; our default design lies lowest, a little above 1 q.", steps)  # fmt: skip
    yield Figure("bytes", "Error and memory", "Pooled median error by bytes of state: the filter's points at 64 bytes, and the falling curves of particles with both designs.", memory)
    yield Table("Squared error in q, from step 100 on", ["method", "size", "trials", "median", "mean", "99 %", "lost"], [
        [r.of, f"{r.x:.0f}" if r.x > 1 else "–", f"{rows.value('trials', r.of, r.x):.0f}", text_of((r.value, r.error)), text_of(rows.at("mean", r.of, r.x)),
         f"{rows.value('p99', r.of, r.x):.3g}", f"{text_of(rows.at('lost', r.of, r.x).percent())} %"] for r in sorted(rows.of("pooled"), key=lambda r: (r.of, r.x))])  # fmt: skip
