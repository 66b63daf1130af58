"""Which model? Bayes factors from the numbers of accepted attempts, beside exact ones."""

import math

import numpy as np
import rejfilt as rf

from ..draws import median, seed_of, share
from ..evidence import STEP, exact, records_of, scores
from ..report import Claim, Figure, Table, curve, text_of
from ..runner import Number, Row

TITLE = "Bayes factors from numbers of accepted attempts"
ABOUT = """Data sets of 100 records are made by a world in which the first hypothesis is true, or in every other one the second; each filter is given the records and
adds up its hedged estimates of ln P(E). The exact value is the evidence on a grid. Questions: does the frequency walk or stand still (*drift*), and is the outcome a
fringe or a coin (*coin*)? The settings are chosen by a tracker that believes the first hypothesis, by our design and by PGH. ln K is the logarithm of the Bayes
factor for the first. *Error* is our ln K less the exact one; *right* is the share of data sets with the exact sign, of those whose exact ln K is beyond ±3. Last, the
same with κ = 0.8 for one of the two hypotheses: the paper's register leaves out ln κ."""
SETTINGS = {"records": 100, "attempts": [30, 100, 300, 1000, 3000], "kappa": 0.8}
QUICK = {"sets": 64, "minutes": 0.3}
FULL = {"sets": 600, "minutes": 3}
QUESTIONS = {"drift": (("precession", STEP), ("precession", 0)), "coin": (("precession", STEP), ("coin", 0))}
DESIGNS = {"our design": "quadrature", "PGH": "pgh"}


def jobs(s):
    return [(q, d) for q in QUESTIONS for d in DESIGNS]


def one(s, question, design, number):
    """The exact ln K of a data set; and for each number of attempts ln K, its stated sd, and ln K with another κ for the first hypothesis."""
    first, second = QUESTIONS[question]
    seed = int(seed_of(s.seed, number))
    data = records_of((first, second)[number % 2], first, DESIGNS[design], seed, s.records)
    own = []
    for m in s.attempts:
        a, b = (scores(h, data, seed ^ 2**64 - 1, 1, attempts=m)[0] for h in (first, second))
        other = scores(first, data, seed ^ 2**64 - 1, 1, attempts=m, kappa=s.kappa)[0]
        own.append((a[0] - b[0], math.sqrt(a[1] + b[1]), other[0] - b[0]))
    return exact(first, data) - exact(second, data), own


def run(s, question, design):
    found = [one(s, question, design, k) for k in range(s.sets)]
    true = np.array([f[0] for f in found])
    of = f"{question}; {design}"
    for i, m in enumerate(s.attempts):
        own, sd, other = np.array([f[1][i] for f in found]).T
        error, decisive = own - true, np.abs(true) > 3
        yield Row("bias", of, m, np.mean(error), np.std(error) / math.sqrt(s.sets))
        yield Row("spread", of, m, np.std(error), np.std(error) / math.sqrt(2 * s.sets))
        yield Row("median error", of, m, *median(error))
        yield Row("stated", of, m, np.mean(sd))
        yield Row("right", of, m, *share((own > 0)[decisive] == (true > 0)[decisive]))
        yield Row("decisive", of, m, decisive.sum())
        with_kappa = Number(*median(other - own))
        yield Row("with ln κ", of, m, *with_kappa)
        yield Row("without ln κ", of, m, with_kappa.value - s.records * math.log(s.kappa), with_kappa.error)


def right(of):
    return lambda rows, s: rows.at("right", of, 100).percent()


def last(quantity):
    return lambda rows, s: rows.at(quantity, "drift; our design", s.attempts[-1])


def printed(rows, s):
    n = right("drift; our design")(rows, s)
    return Number(100 - n.value, n.error)


IN = "appendix on model selection"
CLAIMS = [
    Claim("sign", "K above 1 says which model to prefer, and the estimate of K is good enough for that", "% of data sets with the right sign, drift or not, our design, m = 100",
          right("drift; our design"), (95, math.inf), where=IN),
    Claim("sign-coin", "… for models of different kinds, too", "% of data sets with the right sign, fringe or coin, our design, m = 100", right("coin; our design"), (95, math.inf), where=IN),
    Claim("unbiased", "the estimate of K is without bias in the limit", "mean error of ln K, in nats, with the most attempts, drift or not, our design", last("bias"), (-0.5, 0.5),
          where=IN, number="0"),
    Claim("typical", None, "size of the median error of ln K with the most attempts, drift or not, our design",
          lambda rows, s: (lambda n: Number(abs(n.value), n.error))(last("median error")(rows, s)), expect=(0, 1)),
    Claim("formula", "K is estimated by e to the register of B less that of A, for K = P(A)/P(B)", "% of data sets with the right sign, as the formula is printed", printed, (95, math.inf),
          where=IN, change="with A and B exchanged", changed=right("drift; our design")),
    Claim("kappa", "the register adds ln of the share accepted, whatever κ is", "nats that κ = 0.8 for one of the hypotheses moves ln K by, typically (100 updates)",
          last("without ln κ"), (-2, 2), where=IN, change="with ln κ added", changed=last("with ln κ")),
    Claim("spread", None, "standard deviation of the error of ln K at m = 100 with PGH's settings, in nats", lambda rows, s: rows.at("spread", "drift; PGH", 100), expect=(1, 25)),
]  # fmt: skip


def report(rows, s):
    def draw(ax):
        for q, d in jobs(s):
            curve(ax, rows.of("spread", f"{q}; {d}"), f"{q}; {d}")
        ax.set(xscale="log", ylim=(0, None), xlabel="attempts m", ylabel="standard deviation of the error of ln K (nats)")
        ax.legend()

    yield Figure("spread", "Error of ln K by number of attempts", "The standard deviation of the error of ln K is about ten nats at m = 100 and does not go to zero as attempts grow: what "
                 "is left is the error of being Gaussian.", draw)  # fmt: skip
    yield Table("Errors of ln K, in nats", ["question; settings by", "m", "mean", "median", "standard deviation", "as stated", "right", "of"], [
        [r.of, f"{r.x:.0f}", text_of((r.value, r.error)), text_of(rows.at("median error", r.of, r.x)), text_of(rows.at("spread", r.of, r.x)), f"{rows.value('stated', r.of, r.x):.2f}",
         f"{100 * rows.value('right', r.of, r.x):.1f} %", f"{rows.value('decisive', r.of, r.x):.0f}"] for r in rows.of("bias")])  # fmt: skip
    yield ("The registers themselves state only the sampling error of the counts, which goes to zero as m grows. Most of the error is something else: after every update the posterior is "
           "taken to be Gaussian, and in some data sets a filter loses the truth of its own hypothesis. So the sign is to be trusted more than the size.")  # fmt: skip
