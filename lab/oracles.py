"""What is exact: the closed form of a precession, the Kalman filter, and a grid that takes any model."""

import math
from statistics import NormalDist

import numpy as np

_below = np.vectorize(lambda y: 0.5 * math.erfc(-y / math.sqrt(2)), otypes=[float])
_quantile = np.vectorize(lambda p: NormalDist().inv_cdf(p) if 0 < p < 1 else math.inf * (p - 0.5), otypes=[float])


class Chart:
    """The coordinate in which a parameter is Gaussian (docs/models.md#charts)."""

    def __init__(self, kind, low, high):
        self.kind, self.low, self.high = kind, low, high

    def natural(self, y):
        if self.kind == "positive":
            return np.exp(y)
        if self.kind == "bounded":
            return self.low + (self.high - self.low) * _below(y)
        return self.low + np.mod(y - self.low, self.high - self.low) if self.kind == "periodic" else y

    def coordinate(self, x):
        if self.kind == "positive":
            return np.log(x)
        return _quantile((np.asarray(x) - self.low) / (self.high - self.low)) if self.kind == "bounded" else x

    def apart(self, difference):
        """On a circle, the shorter way round."""
        period = self.high - self.low
        return difference - period * np.round(difference / period) if self.kind == "periodic" else difference


def charts_of(model):
    return [Chart(p.chart, p.low, p.high) for p in model.parameters]


# ---- One Gaussian, its moments without sampling error; arrays by trial ----


def closed_form(mean, variance, t, x_, outcome):
    """The exact moments after a record of a precession, P(1) = cos²((x − x_) t/2), and P(E)."""
    angle, s = t * (mean - x_), np.where(outcome, 1.0, -1.0)
    e = np.exp(-0.5 * t * t * variance)
    half = np.where(outcome, np.cos(0.5 * angle), np.sin(0.5 * angle))
    twice = -np.expm1(-0.5 * t * t * variance) + 2 * e * half * half  # 2 P(E), a sum of two terms that are not negative
    shift = -s * t * variance * e * np.sin(angle) / twice
    return mean + shift, variance - s * t * t * variance**2 * e * np.cos(angle) / twice - shift**2, twice / 2


def rule(points):
    """Gauss and Hermite's fixed points for N(0, 1) and their weights. Three are the unscented transformation."""
    z, weight = np.polynomial.hermite_e.hermegauss(points)
    return z, weight / weight.sum()


def by_rule(fixed, likelihood, mean, variance):
    """Moments of a Gaussian times a likelihood of places, from fixed points. What has no likelihood there stays as it is."""
    z, weight = fixed
    mean, variance = np.asarray(mean, dtype=float), np.asarray(variance, dtype=float)
    sd = np.sqrt(variance)
    w = weight * likelihood(mean[..., None] + sd[..., None] * z)
    total = w.sum(-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        first = (w * z).sum(-1) / total
        left = (w * z * z).sum(-1) / total - first**2
    good = total > 0
    return np.where(good, mean + sd * np.where(good, first, 0), mean), np.where(good & (left > 1e-6), variance * left, variance)


class Kalman:
    """Exact for weighted sums of parameters with Gaussian noise."""

    def __init__(self, mean, covariance):
        self.mean, self.covariance = np.array(mean, dtype=float), np.array(covariance, dtype=float)

    def predict(self, q):
        self.covariance = self.covariance + q

    def learn(self, h, noise_variance, outcome):
        along = self.covariance @ h
        gain = along / (h @ along + noise_variance)
        self.mean = self.mean + gain * (outcome - h @ self.mean)
        rest = np.eye(len(h)) - np.outer(gain, h)
        self.covariance = rest @ self.covariance @ rest.T + noise_variance * np.outer(gain, gain)


# ---- The grid ----


class Axis:
    """Equal cells of one parameter, in its chart; on a circle all of it."""

    def __init__(self, chart, low, high, cells):
        self.chart = chart
        if chart.kind == "periodic":
            low, high = chart.low, chart.high
        self.width = (high - low) / cells
        self.y = low + self.width * (np.arange(cells) + 0.5)
        self.x = chart.natural(self.y)


def log_likelihood(model, x, setting, outcome):
    """ln P(outcome | x; setting), whatever the model returns."""
    p = model.likelihood(x, setting, outcome)
    if model.is_log or not isinstance(model.outcomes, int):
        return p
    with np.errstate(divide="ignore"):
        return np.log(p)


class Grid:
    """The exact posterior of any model with up to three parameters, on fixed cells of its charts.

    model: a rejfilt.Model. axes: an Axis for each parameter. prior: densities by axis. hazard: the chance, a record, that the truth is drawn
    anew from its prior; `jumped` is then the probability that it was, since the jump was last believed."""

    def __init__(self, model, axes, prior, hazard=0.0):
        self.model, self.axes, self.hazard = model, axes, hazard
        self.x = np.stack([m.ravel() for m in np.meshgrid(*(a.x for a in axes), indexing="ij")])
        self.shape = tuple(len(a.y) for a in axes)
        first = prior[0]
        for p in prior[1:]:
            first = np.multiply.outer(first, p)
        self.prior = first / first.sum()
        self.restart()

    def restart(self):
        self.stay, self.jump, self.log_evidence = self.prior.copy(), np.zeros(self.shape), 0.0

    @property
    def p(self):
        return self.stay + self.jump

    @property
    def jumped(self):
        return self.jump.sum()

    def walk(self, *sds):
        """A step of the walk, by parameter; mass that leaves the grid stays at its end. Steps below a cell keep their variance."""
        for i, (axis, sd) in enumerate(zip(self.axes, sds)):
            if sd > 0:
                self.stay = self._spread(self.stay, i, axis, sd / axis.width)
                self.jump = self._spread(self.jump, i, axis, sd / axis.width) if self.hazard else self.jump
        if self.hazard:
            self.jump = self.jump * (1 - self.hazard) + self.hazard * self.prior
            self.stay = self.stay * (1 - self.hazard)

    def _spread(self, p, i, axis, sd):
        if sd > 0.7:
            reach = min(math.ceil(5 * sd), len(axis.y) - 1)
            taps = np.exp(-0.5 * (np.arange(-reach, reach + 1) / sd) ** 2)
        else:
            reach, taps = 1, np.array([sd * sd / 2, 1 - sd * sd, sd * sd / 2])
        p, taps = np.moveaxis(p, i, -1), taps / taps.sum()
        n = p.shape[-1]
        if p.ndim == 1:
            wide = np.convolve(p, taps)  # not by FFT, whose rounding would be a hazard of its own where the density is tiny
        else:
            wide = np.zeros((*p.shape[:-1], n + 2 * reach))
            for k, tap in enumerate(taps):
                wide[..., k : k + n] += tap * p
        found = wide[..., reach : reach + n].copy()
        if axis.chart.kind == "periodic":
            found[..., -reach:] += wide[..., :reach]
            found[..., :reach] += wide[..., n + reach :]
        else:
            found[..., 0] += wide[..., :reach].sum(-1)
            found[..., -1] += wide[..., n + reach :].sum(-1)
        return np.moveaxis(found, -1, i)

    def revert(self, centre, sd, time):
        """A step of a parameter that reverts to a centre: mass moves, is shared by two cells, and spreads."""
        axis, keep = self.axes[0], math.exp(-1 / time)
        at = np.clip((keep * axis.y + centre * (1 - keep) - axis.y[0]) / axis.width, 0, len(axis.y) - 1.001)
        whole, part = at.astype(int), at - at.astype(int)
        for name in ("stay", "jump"):
            p = getattr(self, name)
            setattr(self, name, np.bincount(whole, p * (1 - part), len(p)) + np.bincount(whole + 1, p * part, len(p)))
        self.walk(axis.width * math.sqrt(max(sd**2 * (1 - keep**2) / axis.width**2 - 1 / 6, 0)))

    def learn(self, setting, outcome):
        """Returns ln P of the record."""
        log = log_likelihood(self.model, self.x, setting, outcome).reshape(self.shape)
        most = log.max()
        like = np.exp(log - most) if most > -math.inf else np.zeros(self.shape)
        total = (self.p * like).sum()
        if not total > 0:
            self.restart()
            return -math.inf
        self.stay, self.jump = self.stay * like / total, self.jump * like / total
        self.log_evidence += most + math.log(total)
        return most + math.log(total)

    def learn_all(self, settings, outcomes):
        """All records at once, of a truth that stands still."""
        with np.errstate(divide="ignore"):
            log = np.log(self.prior)
        for setting, outcome in zip(settings, outcomes):
            log = log + log_likelihood(self.model, self.x, setting, outcome).reshape(self.shape)
        most = log.max()
        p = np.exp(log - most)
        self.stay, self.log_evidence = p / p.sum(), most + math.log(p.sum())

    def believe_jump(self):
        self.stay, self.jump = self.p, np.zeros(self.shape)

    def of(self, i):
        """The marginal of parameter i."""
        return self.p.sum(axis=tuple(k for k in range(len(self.axes)) if k != i))

    def moments(self, i=0):
        """Mean and standard deviation in the chart."""
        axis, p = self.axes[i], self.of(i)
        p, centre = p / p.sum(), 0.0
        if axis.chart.kind == "periodic":
            centre = np.angle((p * np.exp(2j * math.pi * (axis.y - axis.y[0]) / (axis.chart.high - axis.chart.low))).sum()) / (2 * math.pi) * (axis.chart.high - axis.chart.low) + axis.y[0]
        off = axis.chart.apart(axis.y - centre)
        mean = (p * off).sum()
        return centre + mean, math.sqrt(max((p * (off - mean) ** 2).sum(), axis.width**2 / 12))

    def natural_mean(self, i=0):
        p = self.of(i)
        return (p * self.axes[i].x).sum() / p.sum()

    def below(self, y, i=0):
        """The probability of values below y, in the chart; within a cell it rises evenly."""
        axis, p = self.axes[i], self.of(i)
        return float(np.interp(y, axis.y + axis.width / 2, np.cumsum(p) / p.sum(), left=0))


def chart_prior(model, i, prior=None):
    """Mean and standard deviation, in the chart, of the Gaussian that a tracker takes for its prior."""
    import rejfilt

    tracker = rejfilt.Tracker(model, **({"prior": prior} if prior else {}), design=None, belief="gaussian")
    return tracker.chart_mean[i], tracker.chart_sd[i]


def gaussian(axis, mean, sd):
    return np.exp(-0.5 * (axis.chart.apart(axis.y - mean) / sd) ** 2)
