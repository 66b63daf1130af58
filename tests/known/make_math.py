#!/usr/bin/env python3
"""Known answers for include/rejfilt/functions.h, computed by mpmath to 50 digits.

usage: python3 tests/known/make_math.py > math.txt    (the build of the tests does)

A line is: function, argument(s) as exact hexadecimal floats, the value to 30 digits.
"""
import random

from mpmath import mp, mpf

mp.dps = 50
PER_SWEEP = 90


class Precision:
    def __init__(self, bits, digits, smallest_exponent, largest, sin_limit, exp_range, cdf_range):
        self.bits, self.digits = bits, digits
        self.smallest_exponent, self.largest = smallest_exponent, largest
        self.sin_limit, self.exp_range, self.cdf_range = sin_limit, exp_range, cdf_range

    def near(self, x):
        """The number of this precision nearest to x, subnormals included."""
        if x == 0:
            return mpf(0)
        exponent = max(int(mp.floor(mp.log(abs(x), 2))), self.smallest_exponent)
        unit = mpf(2) ** (exponent - self.digits + 1)
        return mp.nint(mpf(x) / unit) * unit


SINGLE = Precision(32, 24, -126, float.fromhex("0x1.fffffep127"), 1e5,
                   ("-0x1.5d589ep6", "0x1.62e42ep6"), (-12.9, 6.0))
DOUBLE = Precision(64, 53, -1022, float.fromhex("0x1.fffffffffffffp1023"), 1e8,
                   ("-0x1.6232bdd7abcd2p9", "0x1.62e42fefa39efp9"), (-37.51, 9.0))


def normal_cdf(x):
    return mp.erfc(-x / mp.sqrt(2)) / 2


def normal_quantile(p):
    """Newton's iteration on log Phi (concave, so it converges from any start below the root)."""
    if p > mpf(1) / 2:
        return -normal_quantile(1 - p)
    if p == mpf(1) / 2:
        return mpf(0)
    with mp.workdps(80):
        x = -mp.sqrt(-2 * mp.log(p))
        for _ in range(200):
            cdf = normal_cdf(x)
            step = (mp.log(cdf) - mp.log(p)) * cdf * mp.sqrt(2 * mp.pi) * mp.exp(x * x / 2)
            x -= step
            if abs(step) < mpf(10) ** -60:
                return x
    raise ArithmeticError("no convergence at p = %s" % p)


def uniform(low, high, count=PER_SWEEP):
    return [mpf(random.uniform(low, high)) for _ in range(count)]


def spread(low, high, count=PER_SWEEP):
    """Log-uniform, low and high being powers of two."""
    return [mpf(2) ** mpf(random.uniform(low, high)) for _ in range(count)]


def both_signs(values):
    return [v if i % 2 else -v for i, v in enumerate(values)]


def exp_arguments(p):
    low, high = (float.fromhex(v) for v in p.exp_range)
    return [mpf(low), mpf(high)] + uniform(low, high) + uniform(-2, 2) + both_signs(spread(-p.digits - 3, 0))


def log_arguments(p):
    edges = [mpf(2) ** p.smallest_exponent, mpf(2) ** (p.smallest_exponent - p.digits + 1), mpf(p.largest), mpf(1)]
    beside_one = [1 + v for v in both_signs(spread(1 - p.digits, -1))]
    root_half = [mp.sqrt(mpf(2) ** k / 2) * (1 + mpf(random.uniform(-1, 1)) / 1000) for k in range(-4, 5)]
    subnormal = spread(p.smallest_exponent - p.digits + 1, p.smallest_exponent, 30)
    return edges + spread(p.smallest_exponent, -p.smallest_exponent) + uniform(0.4, 4) + beside_one + root_half + subnormal


def sin_arguments(p):
    limit = p.sin_limit
    quarters = int(limit * 2 / 3.2)
    multiples = [random.randint(1, quarters) for _ in range(PER_SWEEP)] + list(range(1, 20))
    return (both_signs(spread(-p.digits - 3, float(mp.log(limit, 2)))) + uniform(-7, 7) + uniform(-limit, limit)
            + [k * mp.pi / 2 for k in multiples] + [(2 * k + 1) * mp.pi / 4 for k in multiples] + [mpf(limit), mpf(-limit)])


def cdf_arguments(p):
    low, high = p.cdf_range
    return [mpf(0)] + uniform(low, high, 2 * PER_SWEEP) + uniform(-3, 3) + both_signs(spread(-p.digits - 3, 0)) + [mpf(low)]


def quantile_arguments(p):
    upper = [1 - v for v in spread(1 - p.digits, -1, 60)]
    return spread(p.smallest_exponent + 1, -1, 60) + uniform(0, 1, 60) + upper + [mpf(2) ** (p.smallest_exponent + 1), mpf(1) / 2]


def pow_arguments(p):
    half = -p.smallest_exponent / 2.0
    pairs = []
    for x in spread(-half, half, 2 * PER_SWEEP):
        reach = 0.95 * -p.smallest_exponent / max(1e-3, abs(float(mp.log(x, 2))))
        pairs.append((x, mpf(random.uniform(-reach, reach))))
    return pairs


def lgamma_arguments(p):
    """Everywhere, beside the zeros at 1 and 2, beside 3 and 8, where formulas meet, and whole numbers."""
    beside = [c + v for c in (1, 2, 3, 8) for v in both_signs(spread(2 - p.digits, -1, 60))]
    return spread(p.smallest_exponent, 100) + uniform(0.01, 12, 2 * PER_SWEEP) + beside + [mpf(k) for k in range(1, 40)]


def count(limit):
    return mp.floor(mpf(2) ** mpf(random.uniform(0, limit))) - (random.random() < 0.2)


def deviance(k, mean):
    return (k * mp.log(k / mean) if k else 0) - k + mean


def deviance_arguments(p):
    far = [(count(p.digits - 1), mpf(2) ** mpf(random.uniform(-20, p.digits))) for _ in range(PER_SWEEP)]
    counts = [max(count(p.digits - 1), 1) for _ in range(2 * PER_SWEEP)]
    near = [(k, k * (1 + v)) for k, v in zip(counts, both_signs(spread(-p.digits, 0, len(counts))))]
    return far + near + [(k, max(k + 6 * (random.random() - 0.5) * mp.sqrt(k), mpf(1) / 8)) for k in counts]


def poisson_log(k, mean):
    return k * mp.log(mean) - mean - mp.loggamma(k + 1)


def poisson_arguments(p):
    counts = [mpf(k) for k in range(1, 30)] + [count(p.digits - 1) for _ in range(2 * PER_SWEEP)]
    return [(k, max(k + 8 * (random.random() - 0.5) * mp.sqrt(k + 1), mpf(1) / 8)) for k in counts]


def binomial_log(k, n, p):
    return mp.loggamma(n + 1) - mp.loggamma(k + 1) - mp.loggamma(n - k + 1) + k * mp.log(p) + (n - k) * mp.log(1 - p)


def binomial_arguments(p):
    shots = [mpf(n) for n in range(1, 30)] + [max(count(p.digits - 1), 1) for _ in range(2 * PER_SWEEP)]
    chances = [mpf(random.choice((random.random(), random.random() ** 8, 1 - random.random() ** 4))) for _ in shots]
    chances = [min(max(c, mpf(2) ** -30), 1 - mpf(2) ** -20) for c in chances]
    away = [6 * (random.random() - 0.5) * mp.sqrt(n * c * (1 - c)) for n, c in zip(shots, chances)]
    return [(min(max(mp.nint(n * c + a), 0), n), n, c) for n, c, a in zip(shots, chances, away)]


FUNCTIONS = [
    ("exp", mp.exp, exp_arguments),
    ("log", mp.log, log_arguments),
    ("sqrt", mp.sqrt, log_arguments),
    ("sin", mp.sin, sin_arguments),
    ("cos", mp.cos, sin_arguments),
    ("sin_squared", lambda x: mp.sin(x) ** 2, sin_arguments),
    ("pow_positive", mp.power, pow_arguments),
    ("normal_cdf", normal_cdf, cdf_arguments),
    ("normal_quantile", normal_quantile, quantile_arguments),
    ("lgamma", mp.loggamma, lgamma_arguments),
    ("deviance", deviance, deviance_arguments),
    ("poisson_log", poisson_log, poisson_arguments),
    ("binomial_log", binomial_log, binomial_arguments),
]


def hexadecimal(x):
    assert mpf(float(x)) == x
    mantissa, exponent = float(x).hex().split("p")
    return mantissa.rstrip("0").rstrip(".") + "p" + exponent


def main():
    for precision in (SINGLE, DOUBLE):
        for name, function, arguments in FUNCTIONS:
            random.seed("%s %d" % (name, precision.bits))
            for argument in arguments(precision):
                x = [precision.near(v) for v in (argument if isinstance(argument, tuple) else (argument,))]
                value = function(*x)
                print("rf%d_%s %s %s" % (precision.bits, name, " ".join(map(hexadecimal, x)), mp.nstr(value, 30)))


if __name__ == "__main__":
    main()
