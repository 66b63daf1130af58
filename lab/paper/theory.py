"""What the paper proves about errors, κ, acceptance and stability."""

import math

import numpy as np
import rejfilt as rf

from .. import native, oracles
from ..draws import direction, median, normals, seed_of, uniforms
from ..report import Claim, Figure, Table, curve, text_of
from ..runner import Number, Row

TITLE = "what is proved"
ABOUT = """*Moments*: one update by Algorithm 1 to the letter of a Gaussian of N parameters, with a cosine of a random combination of them, for which the exact moments
are known; errors are the root of the mean square over trials, of the mean as a vector and of the covariance in the 2-norm. *Lemma*: random priors on −1 to 1 (three
bells), another one mixed in, a random cosine; errors and bound by quadrature. *Corollary*: random cosines and κ from 0.05 to 1; overlap and acceptance by quadrature,
and as the filter finds them. *Acceptance*: one frequency measured as the particle guess heuristic asks; draws from the prior that survive all measurements, and the
draws that the filter accepts in each. *Stability*: N parameters are measured many times each along random directions through Gaussian noise, where the Kalman filter
is exact; how many attempts must an update have for the filter to end within the posterior's own width?"""
SETTINGS = {"attempts": [100, 200, 400, 800, 1600, 3200, 6400, 12800], "time": 1.0, "measured": 10, "noise": 1.0, "updates": 64, "filter_attempts": 1000,
            "depths": [1, 2, 4, 8, 12, 16, 20], "per_square": [2, 4, 8, 16, 32], "rule": 16}  # fmt: skip
QUICK = {"trials": 50, "dims": [1, 2, 4, 8, 16], "series": 64, "series_dims": [2, 4, 8], "cases": 1000, "cut_attempts": 10000, "learners": 32, "alone_attempts": 262144, "minutes": 0.5}
FULL = {"trials": 400, "dims": [1, 2, 4, 8, 16, 32], "series": 100, "series_dims": [2, 3, 4, 6, 8, 12, 16], "cases": 20000, "cut_attempts": 100000, "learners": 200,
        "alone_attempts": 1048576, "minutes": 10}  # fmt: skip
POINTS, SHOWN, FRINGE, NOISY = 1024, 400, 1, 2


def jobs(s):
    return [("stability", n) for n in reversed(s.series_dims)] + [("moments", n) for n in reversed(s.dims)] + [("lemma", 0), ("corollary", 0), ("alone", 0)]


def run(s, part, dim):
    return {"stability": stability, "moments": moments, "lemma": lemma, "corollary": corollary, "alone": alone}[part](s, dim)


def moments(s, dim):
    squares = np.empty((len(s.attempts), s.trials, 2))
    for trial in range(s.trials):
        seed = int(seed_of(s.seed, dim, trial))
        h, phase = direction(seed, 0, dim), 3 * float(uniforms(seed, 0))
        mean, variance, _ = oracles.closed_form(0.0, 1.0, s.time, phase / s.time, 1)
        exact = np.eye(dim) + (variance - 1) * np.multiply.outer(h, h)
        for i, attempts in enumerate(s.attempts):
            own, factor, _ = native.update(FRINGE, dim, seed + i, attempts, [dim, phase, *(h * s.time), 1])
            factor = native.full(factor, dim)
            squares[i, trial] = np.sum((own - mean * h) ** 2), np.linalg.norm(factor @ factor.T - exact, 2) ** 2
    for i, attempts in enumerate(s.attempts):
        for k, quantity in enumerate(("mean error", "covariance error")):
            all_ = squares[i, :, k]
            yield Row(quantity, str(dim), attempts, math.sqrt(all_.mean()), 0.5 * math.sqrt(all_.var() / s.trials / all_.mean()))


def stability(s, dim):
    excess = np.empty((len(s.per_square), s.series))
    for trial in range(s.series):
        seed = int(seed_of(s.seed, 1000 + dim, trial))
        truth = normals(seed, np.arange(dim))
        records, exact = [], oracles.Kalman(np.zeros(dim), np.eye(dim))
        for k in range(dim * s.measured):
            stream = (k + 1) * 128
            h = direction(seed, stream, dim)
            outcome = h @ truth + s.noise * float(normals(seed, stream + 64))
            exact.learn(h, s.noise**2, outcome)
            records.append([dim, s.noise, *h, outcome])
        for i, per in enumerate(s.per_square):
            mean, factor = np.zeros(dim), np.eye(dim)[np.tril_indices(dim)]
            for k, record in enumerate(records):
                mean, factor, _ = native.update(NOISY, dim, seed, per * dim * dim, record, k, mean=mean, factor=factor)
            excess[i, trial] = np.sum((mean - exact.mean) ** 2) / np.trace(exact.covariance)
    for per, values in zip(s.per_square, excess):
        yield Row("excess", str(dim), per, *median(values))


def place(low, high):
    return low + (high - low) * (np.arange(POINTS) + 0.5) / POINTS


def bells(seed, first, x):
    """A random density: three Gaussian bells."""
    p = np.zeros(POINTS)
    for bell in range(3):
        height, centre, width = uniforms(seed, first + 3 * bell + np.arange(3))
        width = 0.02 * 50**width
        p += height / width * np.exp(-0.5 * ((x - (2 * centre - 1)) / width) ** 2)
    return p / p.sum()


def lemma(s, _):
    x, found = place(-1, 1), []
    for case in range(s.cases):
        seed = int(seed_of(s.seed, 1, case))
        u = uniforms(seed, np.arange(3))
        share, time, phase = 10 ** (-3 * u[0]), 0.5 * 100 ** u[1], 2 * math.pi * u[2]
        prior, other = bells(seed, 10, x), bells(seed, 30, x)
        like, delta = 0.5 + 0.5 * np.cos(time * x - phase), share * (prior - other)
        a, b = like * prior, like * (prior - delta)
        if abs(a.sum() - b.sum()) <= 0.5 * a.sum():  # else outside the lemma
            found.append([4 * (like * abs(delta)).sum() / a.sum(), *(abs((a * x**k).sum() / a.sum() - (b * x**k).sum() / b.sum()) for k in (1, 2))])
    bound, mean, square = np.array(found).T
    for b, m in zip(bound[:SHOWN], mean):
        yield Row("lemma", "mean", b, m)
    yield Row("lemma cases", "all", s.cases, len(found))
    yield Row("lemma worst", "mean", s.cases, (mean / bound).max())
    yield Row("lemma worst", "second moment", s.cases, (square / bound).max())
    yield Row("lemma median", "mean", s.cases, np.median(mean / bound))


def corollary(s, _):
    x, model, found = place(-8, 8), rf.model("precession"), []
    prior = np.exp(-0.5 * x * x) * 16 / POINTS / math.sqrt(2 * math.pi)
    for case in range(s.cases):
        seed = int(seed_of(s.seed, 2, case))
        u = uniforms(seed, np.arange(4))
        setting, outcome, kappa = (0.2 + 4 * u[0], 2 * u[1] - 1), int(u[2] < 0.5), 0.05 + 0.95 * u[3]
        like = model.likelihood(x[None], setting, outcome)
        kept = np.minimum(like, kappa)
        evidence = (like * prior).sum()
        delta, overlap = ((like - kept) * prior).sum() / evidence, (np.sqrt(like * kept) * prior).sum() / math.sqrt(evidence * (kept * prior).sum())
        guaranteed = evidence * (1 - delta) / kappa
        tracker = rf.Tracker(model, prior=rf.Normal(0, 1), drift=0, design=None, strict=True, kappa=kappa, attempts=s.cut_attempts, seed=seed)
        tracker.tell(outcome, setting)
        found.append((delta, overlap, guaranteed, tracker._column("acceptance") / guaranteed, math.sqrt(max(guaranteed * (1 - guaranteed), 0) / s.cut_attempts) / guaranteed, tracker._column("delta")))
    delta, overlap, guaranteed, accepted, error, estimated = np.array(found).T
    for d, o in zip(delta[:SHOWN], overlap):
        yield Row("overlap", "measured", d, o)
    some = guaranteed < 0.999  # otherwise too few are rejected for a meaningful standard error
    yield Row("overlap margin", "least", s.cases, (overlap - (1 - delta)).min())
    yield Row("acceptance", "in units of P(E)(1−δ)/κ", s.cases, accepted.mean(), math.sqrt((error**2).sum()) / s.cases)
    yield Row("acceptance scatter", "in standard errors", s.cases, math.sqrt(np.mean(((accepted - 1)[some] / error[some]) ** 2)), math.sqrt(0.5 / some.sum()))
    yield Row("estimate of delta", "rms error", s.cases, math.sqrt(np.mean((estimated - delta) ** 2)))


def alone(s, _):
    model, filtered, survive = rf.model("precession"), np.empty((s.learners, s.updates)), np.empty((s.learners, len(s.depths)))
    options = {"drift": 0, "strict": True}
    for i in range(s.learners):
        seed = int(seed_of(s.seed, 3, i))
        tracker = rf.Tracker(model, attempts=s.filter_attempts, design="pgh", seed=seed, **options)
        truth, records = tracker.chart_mean[0] + tracker.chart_sd[0] * float(normals(seed, 0)), []
        for k in range(s.updates):
            setting = tracker.ask()
            outcome = model.draw([truth], setting, seed=(seed + k) % 2**63)
            tracker.tell(outcome)
            records.append((*setting, outcome))
            filtered[i, k] = tracker._column("acceptance")
        for j, depth in enumerate(s.depths):
            all_ = rf.Tracker(model, attempts=s.alone_attempts, design=None, seed=seed ^ 2**64 - 1, **options)
            all_.tell([r[2] for r in records[:depth]], [r[:2] for r in records[:depth]])
            survive[i, j] = all_._column("acceptance")
    for k in range(s.updates):
        yield Row("accepted", "filter", k + 1, *median(filtered[:, k]))
    for j, depth in enumerate(s.depths):
        yield Row("accepted", "alone", depth, *median(survive[:, j]))


# ---- Claims ----


def power(points):
    """The exponent of a power law through (x, y, standard error of y)."""
    points = [p for p in points if p[1] > 0 and math.isfinite(p[1])]
    if len(points) < 2:
        return Number(math.nan)
    lx, ly = (np.log([p[k] for p in points]) for k in (0, 1))
    spread = ((lx - lx.mean()) ** 2).sum()
    return Number(((lx - lx.mean()) * ly).sum() / spread, math.sqrt(np.mean([(e / y) ** 2 for _, y, e in points]) / spread))


def by_attempts(quantity):
    def mean(rows, s):
        all_ = [power([(r.x, r.value, r.error) for r in rows.of(quantity, str(dim)) if r.x >= 10 * dim]) for dim in s.dims]  # at least 10 attempts per parameter
        return Number(np.mean([n.value for n in all_]), math.sqrt(sum(n.error**2 for n in all_)) / len(all_))

    return mean


def by_dim(quantity):
    return lambda rows, s: power([(dim, *rows.at(quantity, str(dim), s.attempts[-1])) for dim in s.dims])


def enough(rows, dim):
    """Attempts over N² at which the excess falls to 1, interpolated."""
    points = sorted(rows.of("excess", str(dim)), key=lambda r: r.x)
    for a, b in zip(points, points[1:]):
        if a.value > 1 >= b.value:
            fall, step = math.log(a.value / b.value), math.log(b.x / a.x)
            part = math.log(a.value) / fall
            value = a.x * math.exp(part * step)
            return Number(value, value * math.hypot((1 - part) * a.error / a.value, part * b.error / b.value) * step / fall)
    return Number(math.nan)


def needed(rows, s):
    return power([(dim, enough(rows, dim).value * dim**2, enough(rows, dim).error * dim**2) for dim in s.series_dims])


def one_of(quantity, of):
    return lambda rows, s: rows.at(quantity, of)


def falls(rows, s):
    first, last = s.depths[1], s.depths[-1]
    n = rows.at("accepted", "alone", first).over(rows.at("accepted", "alone", last))
    return Number(math.log(n.value) / (last - first), n.error / n.value / (last - first))


THEOREMS, LEMMA, COROLLARY = "theorems 1 and 2", "lemma 1", "corollary 1"
CLAIMS = [
    Claim("mean-attempts", "the error of the mean falls as one over the root of the number of samples", "power of m in the error of the mean, averaged over N", by_attempts("mean error"),
          (-0.55, -0.45), (-0.53, -0.47), THEOREMS, "−1/2"),
    Claim("covariance-attempts", "the error of the covariance falls likewise", "power of m in the error of the covariance, averaged over N", by_attempts("covariance error"),
          (-0.55, -0.45), (-0.53, -0.47), THEOREMS, "−1/2"),
    Claim("mean-dim", "the error of the mean grows at most as the number N of parameters", "power of N in the error of the mean", by_dim("mean error"), (-math.inf, 1), (0.4, 0.6), "theorem 2", "at most 1"),
    Claim("covariance-dim", "the error of the covariance grows at most as N", "power of N in the error of the covariance (2-norm)", by_dim("covariance error"), (-math.inf, 1), (0.3, 0.7), "theorem 2",
          "at most 1"),
    Claim("lemma-mean", "a prior that is off by Δ moves the posterior mean by at most four times the share of P(E) that the size of Δ makes up, times the largest ‖x‖",
          "largest error of the mean in units of the bound", one_of("lemma worst", "mean"), (-math.inf, 1), (0.01, 1), LEMMA, "at most 1"),
    Claim("lemma-square", "a prior that is off by Δ moves the mean of xxᵀ by no more than that, with ‖x‖²", "largest error of the mean of x² in units of the bound",
          one_of("lemma worst", "second moment"), (-math.inf, 1), (0.01, 1), LEMMA, "at most 1"),
    Claim("overlap", "when a share δ of the probability lies above κ, the overlap with the exact posterior is at least 1 − δ", "least of overlap − (1 − δ)", one_of("overlap margin", "least"),
          (-1e-12, math.inf), where=COROLLARY, number="at least 0"),
    Claim("acceptance", "with a share δ above κ a draw is accepted with probability P(E)(1 − δ)/κ at least", "share accepted by the filter, in units of that, averaged",
          one_of("acceptance", "in units of P(E)(1−δ)/κ"), (0.99, 1.01), (0.999, 1.001), COROLLARY, "at least 1"),
    Claim("scatter", None, "scatter of the share accepted, in standard errors", one_of("acceptance scatter", "in standard errors"), expect=(0.95, 1.05)),
    Claim("alone", "without resampling the chance of a successful update falls exponentially with the number of updates", "nats lost with every measurement", falls, (0.1, math.inf), (0.2, 0.7),
          "section 2", "exponential"),
    Claim("filter", "with resampling the chance of acceptance does not shrink", "share accepted in the 64th update, over that in the first",
          lambda rows, s: rows.at("accepted", "filter", s.updates).over(rows.at("accepted", "filter", 1)), (0.5, math.inf), (0.7, 1.1), "section 2"),
    Claim("stability", "updates are stable when the number of samples grows at least as N²", "squared distance from the exact mean over the posterior's variance, with 16 N² attempts, the worst N",
          lambda rows, s: max((rows.at("excess", str(dim), s.rule) for dim in s.series_dims), key=lambda n: n.value), (-math.inf, 1), (0.3, 1), "appendix, error analysis"),
    Claim("needed", None, "power of N in the attempts needed for a distance of 1", needed, expect=(1.8, 2.2)),
]  # fmt: skip


def report(rows, s):
    def axes(ax, x, y, scales="loglog", **more):
        ax.set(xscale="log" if scales == "loglog" else "linear", yscale="linear" if scales == "linear" else "log", xlabel=x, ylabel=y, **more)
        ax.legend()

    def covariance(ax):
        for dim in s.dims:
            curve(ax, rows.of("covariance error", str(dim)), f"N = {dim}")
        axes(ax, "attempts m", "error of the covariance (2-norm), prior variances")

    def bound(ax):
        curve(ax, rows.of("lemma", "mean"), "a random case", ".", alpha=0.6)
        ax.plot([1e-4, 4], [1e-4, 4], color="black", label="the bound")
        axes(ax, "bound, in units of |x| at most", "error", ylim=(1e-8, 10))

    def overlap(ax):
        curve(ax, rows.of("overlap", "measured"), "a random case", ".", alpha=0.6)
        ax.plot([0, 1], [1, 0], color="black", label="1 − δ")
        axes(ax, "δ, share of probability above κ", "overlap", "linear")

    def accepted(ax):
        curve(ax, rows.of("accepted", "alone"), "draws from the prior, all evidence")
        curve(ax, rows.of("accepted", "filter"), "the filter", "-")
        axes(ax, "measurements", "accepted (median)", "log")

    def stable(ax):
        for dim in s.series_dims:
            curve(ax, sorted(rows.of("excess", str(dim)), key=lambda r: r.x), f"N = {dim}")
        ax.axhline(1, color="#999", linestyle=":", label="as far as it is wide")
        axes(ax, "attempts of an update / N²", "squared distance / exact posterior's variance")
        ax.set_xticks(s.per_square, map(str, s.per_square))
        ax.set_yticks([0.2, 0.5, 1, 2, 5], ["0.2", "0.5", "1", "2", "5"])
        ax.minorticks_off()

    yield Figure("moments", "Error of the covariance after one update", "The error falls as a straight line of slope one half for every number of parameters, and is larger with more of them.", covariance)
    yield (f"Of {s.cases} random cases the lemma's condition holds in {rows.value('lemma cases', 'all'):.0f}; there the error of the mean is {rows.value('lemma median', 'mean'):.2g} times its bound "
           f"in the median. The filter's own estimate of δ is off by {rows.value('estimate of delta', 'rms error'):.2g} (root of the mean square).")  # fmt: skip
    yield Figure("lemma", "Error of the posterior mean with a perturbed prior, against the lemma's bound", "Hundreds of random cases lie below the line where the error equals the bound, most of "
                 "them by a factor of ten.", bound)  # fmt: skip
    yield Figure("overlap", "Overlap with the exact posterior when κ is too small", "Overlaps of random cases all lie above the line 1 minus delta, most of them far above.", overlap)
    yield Figure("alone", "Share of draws accepted, by the number of measurements", "Without resampling the share falls as a straight line on a logarithmic axis, by about a third with every "
                 "measurement; the filter's stays above one half.", accepted)  # fmt: skip
    yield Table("Attempts of each update that keep the filter as near the exact mean as the posterior is wide", ["parameters N", "attempts", "attempts / N²"],
                [[str(dim), f"{enough(rows, dim).value * dim**2:.3g}", text_of(enough(rows, dim))] for dim in s.series_dims])  # fmt: skip
    yield Figure("stability", "Distance from the exact mean after many updates", "Plotted against attempts over N squared, the distances for all numbers N of parameters fall along one line, which "
                 "crosses 1 at about ten.", stable)  # fmt: skip
