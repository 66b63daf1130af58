"""How many bits do the sums of an update need?"""

import math

import numpy as np

from .. import native
from ..draws import median, normals, seed_of, share, uniforms
from ..report import Claim, Figure, Table, curve
from ..runner import Number, Row

TITLE = "how many bits do the sums need?"
ABOUT = """All draws of an update are accepted, and their covariance is computed in three ways: from sums of x and xxᵀ, as Algorithm 1 has it; by Welford's recurrence,
which the paper recommends in practice; and from sums of the draws before they are scaled and moved (whitened), which is what this library does. The draws are the
library's own, so that the exact covariance is known; a float's arithmetic is that of registers with 24 bits, a double's 53. By distance: one parameter, mean μ and
standard deviation σ. By condition: several, with variances from 1 down to one over the condition number along axes turned at random, the mean 1,000 of the largest
standard deviations from 0; errors are in units of the standard deviations along those axes. Medians over the trials. Where σ is below the spacing of numbers near μ
(in float from μ/σ = 8·10⁶ on) the library holds it there and says so; that is not shown."""
SETTINGS = {"draws": 1000, "far": [1, 10, 100, 1e3, 1e4, 1e5, 1e6], "off": 1000, "dims": [2, 4, 8], "conditions": [1e2, 1e4, 1e6, 1e8, 1e10, 1e12],
            "distances": [1, 16, 256, 4096]}  # fmt: skip
QUICK = {"trials": 16, "minutes": 1}
FULL = {"trials": 400, "minutes": 20}
FLOAT, DOUBLE, MOST = 24, 53, 8
WAYS = [(f"{way} in {name}", way, bits) for name, bits in (("float", FLOAT), ("double", DOUBLE)) for way in ("raw sums", "Welford", "whitened")]
LONG = np.longdouble


def held(x, bits):
    """Rounds to so many bits (Veltkamp). Up to 26 bits a sum or product of such numbers is exact enough in double that this is one rounding."""
    if bits >= DOUBLE:
        return x
    c = x * (2.0 ** (DOUBLE - bits) + 1)
    return c - (c - x)


def cholesky(c):
    """The lower factor; NaN where the matrix is not positive definite."""
    factor = np.zeros_like(c)
    for i in range(len(c)):
        for j in range(i + 1):
            rest = c[i, j] - factor[i, :j] @ factor[j, :j]
            with np.errstate(invalid="ignore", divide="ignore"):
                factor[i, j] = np.sqrt(rest) if i == j and rest > 0 else np.nan if i == j else rest / factor[j, j]
    return factor


def solve(factor, b):
    x = np.array(b, dtype=LONG)
    for i in range(len(x)):
        x[i] = (x[i] - factor[i, :i] @ x[:i]) / factor[i, i]
    return x


def prior_of(dim, condition, far, seed):
    """A randomly turned covariance with this condition number; the mean is `far` from 0, in units of the largest sd, which is 1 to 2."""
    unit = 1 + float(uniforms(seed, MOST * MOST))  # else means and draws are round numbers, and rounding is not random
    q = normals(seed, np.arange(MOST)[:dim, None] * MOST + np.arange(dim)).astype(LONG)
    for a in range(dim):
        q[a] -= (q[:a] @ q[a]) @ q[:a]
        q[a] /= np.sqrt(q[a] @ q[a])
    variance = LONG(condition) ** (-np.arange(dim).astype(LONG) / max(dim - 1, 1))
    return np.full(dim, far * unit), (cholesky((q.T * variance) @ q)).astype(float) * unit


def add_up(mean, factor, way, bits, z):
    """The covariance from sums of x and xxᵀ, or from distances to a running mean."""
    dim, count = len(mean), len(z)
    first, second = np.zeros(dim), np.zeros((dim, dim))
    factor, mean = held(factor, bits), held(mean, bits)
    for k in range(count):
        move = np.zeros(dim)
        for j in range(dim):
            move = held(move + held(factor[:, j] * z[k, j], bits), bits)
        x = held(mean + move, bits)
        start = held(x - first, bits)
        first = held(first + (x if way == "raw sums" else held(start / (k + 1), bits)), bits)
        square = np.multiply.outer(x, x) if way == "raw sums" else np.multiply.outer(start, held(x - first, bits))
        second = held(second + held(square, bits), bits)
    off = held(held(np.multiply.outer(held(first / count, bits), held(first / count, bits)), bits) * count, bits) if way == "raw sums" else 0
    c = np.tril(held(held(second - off, bits) / (count - 1), bits))  # of xxᵀ only the lower triangle is kept
    return (c + np.tril(c, -1).T).astype(LONG)


def try_one(s, dim, way, bits, condition, far, trial):
    """The largest error of the covariance along the prior's axes, and whether it is not positive definite."""
    seed = int(seed_of(s.seed, dim, trial))
    mean, factor = prior_of(dim, condition, far, seed)
    z = native.draws(seed, dim, s.draws)
    long = z.astype(LONG)
    total = long.sum(0)
    exact = (long.T @ long - np.multiply.outer(total, total) / s.draws) / (s.draws - 1)
    if way == "whitened":
        triangle = factor[np.tril_indices(dim)]
        new = native.update(0, dim, seed, s.draws, mean=mean, factor=triangle)[1] if bits == DOUBLE else native.update_float(dim, seed, s.draws, mean, triangle)[1]
        a = solve(held(factor, bits), native.full(new, dim))
        own, lost = a @ a.T, not (np.diag(native.full(new, dim)) > 0).all()
    else:
        c = add_up(mean, factor, way, bits, z)
        own, lost = solve(held(factor, bits), solve(held(factor, bits), c).T), bool(np.isnan(cholesky(c)).any())
    return max(float(abs(own - exact).max()), 2.0**-60), lost


def try_all(s, *case):
    errors, lost = zip(*(try_one(s, *case, trial) for trial in range(s.trials)))
    return Number(*median(errors)), Number(*share(lost))


def jobs(s):
    conditions = [("by condition", *way, dim) for dim in reversed(s.dims) for way in WAYS]
    return conditions + [("by distance", *way, 1) for way in WAYS] + [("bits", f"{far:g}", "raw sums", far, 1) for far in s.distances]


def run(s, what, of, way, bits, dim):
    if what == "by condition":
        for condition in s.conditions:
            error, lost = try_all(s, dim, way, bits, condition, s.off)
            yield Row(what, f"{of} of {dim}", condition, *error)
            yield Row("lost", f"{of} of {dim}", condition, *lost)
    elif what == "by distance":
        for far in s.far:
            yield Row(what, of, far, *try_all(s, dim, way, bits, 1, far)[0])
    else:
        for width in range(12, DOUBLE, 4):
            error, _ = try_all(s, dim, way, width, 1, bits)
            yield Row(what, of, width, -math.log2(error.value), error.error / error.value / math.log(2))


def bits_at(of, far):
    def bits(rows, s):
        n = rows.at("by distance", of, far)
        return Number(-math.log2(n.value), n.error / n.value / math.log(2))

    return bits


def slope(rows, s):
    """Bits lost for each doubling of the distance."""
    near, far = s.distances[0], s.distances[-1]
    n = rows.at("bits", f"{near:g}", 48).less(rows.at("bits", f"{far:g}", 48))
    return Number(*(x / math.log2(far / near) for x in n))


IN = "proof of theorem 1"
CLAIMS = [
    Claim("unstable", "the sums as they are in the algorithm are not numerically stable", "relative error of the variance, raw sums in float, μ/σ = 10⁴",
          lambda rows, s: rows.at("by distance", "raw sums in float", 1e4), (0.1, math.inf), (0.5, 1000), IN),
    Claim("twice-near", "registers of 2n bits give an answer of n bits", "bits that are right, raw sums in double, μ/σ = 10³", bits_at("raw sums in double", 1e3), (24, math.inf),
          (27, 35), IN, "24 of 53"),
    Claim("twice-far", "registers of 2n bits give an answer of n bits, also when μ is far from 0", "bits that are right, raw sums in double, μ/σ = 10⁶", bits_at("raw sums in double", 1e6),
          (20, math.inf), (7, 15), IN, "24 of 53", "with whitened sums in float", bits_at("whitened in float", 1e6)),
    Claim("slope", None, "bits that raw sums lose with every doubling of μ/σ", slope, expect=(1.9, 2.1)),
    Claim("whitened", None, "relative error of the variance, whitened sums in float, μ/σ = 10⁶", lambda rows, s: rows.at("by distance", "whitened in float", 1e6), expect=(0, 1e-6)),
    Claim("definite", None, "share of covariances of 4 parameters that are not positive definite, raw sums in double, condition number 10¹⁰",
          lambda rows, s: rows.at("lost", "raw sums in double of 4", 1e10), expect=(0.3, 1)),
    Claim("kept", None, "share of covariances of 8 parameters that are not positive definite, whitened sums in double, condition number 10¹²",
          lambda rows, s: rows.at("lost", "whitened in double of 8", s.conditions[-1]), expect=(0, 0)),
]  # fmt: skip


def report(rows, s):
    def distance(ax):
        for of, *_ in WAYS:
            curve(ax, rows.of("by distance", of), of)
        ax.set(xscale="log", yscale="log", ylim=(1e-18, 1e10), xlabel="μ/σ", ylabel="relative error of the variance")
        ax.legend(ncol=2)

    def registers(ax):
        for far in s.distances:
            curve(ax, rows.of("bits", f"{far:g}"), f"μ/σ = {far:g}")
        ax.set(xlabel="bits of a register", ylabel="bits that are right", ylim=(0, None))
        ax.legend()

    def cell(of, condition):
        lost = rows.value("lost", of, condition)
        return f"{rows.value('by condition', of, condition):.1e}" + (f" ({100 * lost:.0f} %)" if lost > 0 else "")

    yield Figure("distance", "Relative error of the variance of an update, one parameter", "Raw sums lose two digits with every digit of mu over sigma, Welford's one, in float as in "
                 "double; whitened sums lose none.", distance)  # fmt: skip
    yield Figure("registers", "Bits of the variance that are right, by bits of the registers of raw sums",
                 "Straight lines of slope one, which lie lower by two bits for every doubling of mu over sigma.", registers)  # fmt: skip
    yield Table("Error of the covariance along its axes, by condition number; in brackets how many are not positive definite",
                ["way", "parameters", *(f"{c:.0e}" for c in s.conditions)], [[of, str(dim), *(cell(f"{of} of {dim}", c) for c in s.conditions)] for dim in s.dims for of, *_ in WAYS])  # fmt: skip
    yield ("So doubling the registers is neither always needed nor always enough: what is lost is twice the logarithm of μ/σ, whatever the bits wanted. In whitened coordinates nothing is "
           "lost, for there μ/σ is of order 1 and so is the condition number.")  # fmt: skip
