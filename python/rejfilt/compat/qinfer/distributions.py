"""Priors of QInfer: what can be drawn from. They draw with numpy's global generator, so `np.random.seed` repeats a script."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._model import Floats, Parameter
from ..._rejfilt import Refused
from ..._tracker import Normal

MOMENTS = 20_000  # draws of a prior for its moments
CORRELATED = 0.1  # a correlation that 20,000 draws cannot have by chance


class Distribution:
    """What own priors inherit from: they have `n_rvs`, the number of parameters, and `sample(n)`, an array of n rows."""

    @property
    def n_rvs(self) -> int:
        raise TypeError(f"{type(self).__name__} has no n_rvs of its own")

    def sample(self, n: int = 1) -> Any:
        raise TypeError(f"{type(self).__name__} has no sample(n) of its own")


class SingleSampleMixin:
    """A prior whose `_sample()` draws one row."""

    _sample: Callable[[], Any]

    def sample(self, n: int = 1) -> Floats:
        return np.array([self._sample() for _ in range(n)], dtype=np.float64)


class UniformDistribution(Distribution):
    """Independent uniform parameters; ranges are pairs [low, high], or one pair. Where both are equal, the parameter is known."""

    def __init__(self, ranges: Any) -> None:
        given = np.asarray(ranges, dtype=np.float64)
        if given.shape[-1:] != (2,) or given.ndim > 2 or not (np.isfinite(given).all() and (given[..., 0] <= given[..., 1]).all()):
            raise Refused(f"ranges are pairs [low, high], not {ranges!r}")
        self.ranges = given.reshape(-1, 2)

    @property
    def n_rvs(self) -> int:
        return len(self.ranges)

    def sample(self, n: int = 1) -> Floats:
        low, high = self.ranges.T
        drawn: Floats = np.random.uniform(low, high, (n, self.n_rvs))
        return drawn


class NormalDistribution(Distribution):
    """Independent Gaussian parameters: means and, as in QInfer, variances. trunc=(low, high) leaves out what is outside."""

    def __init__(self, mean: Any, var: Any, trunc: Any = None) -> None:
        self.mean, self.var = np.atleast_1d(np.asarray(mean, dtype=np.float64)), np.atleast_1d(np.asarray(var, dtype=np.float64))
        if not (self.var >= 0).all():
            raise Refused(f"a variance is from 0 on, not {var!r}")
        if self.mean.ndim > 1 or self.var.shape not in ((1,), self.mean.shape):
            raise Refused(f"a mean and a variance for each parameter are needed, not arrays of shape {self.mean.shape} and {self.var.shape}")
        self.trunc = None if trunc is None else (float(trunc[0]), float(trunc[1]))

    @property
    def n_rvs(self) -> int:
        return len(self.mean)

    def sample(self, n: int = 1) -> Floats:
        def draw(count: int) -> Floats:
            drawn: Floats = np.random.normal(self.mean, np.sqrt(self.var), (count, self.n_rvs))
            return drawn

        def inside(x: Floats) -> NDArray[np.bool_]:
            low, high = self.trunc or (-np.inf, np.inf)
            return np.asarray(((x >= low) & (x <= high)).all(axis=1))

        return _selected(draw, inside, n)


def _selected(draw: Callable[[int], Any], is_good: Callable[[Any], Any], n: int, most: int = 100) -> Floats:
    """n rows that are good, of as many draws as it takes."""
    rows: Floats = np.asarray(draw(n), dtype=np.float64)
    for _ in range(most):
        bad = np.flatnonzero(~np.asarray(is_good(rows)))
        if len(bad) == 0:
            return rows
        rows[bad] = draw(len(bad))
    raise Refused(f"{len(bad)} of {n} draws of the prior are still outside, after {most} tries")


class ConstantDistribution(Distribution):
    """Parameters that are known."""

    def __init__(self, values: Any) -> None:
        self.values = np.atleast_1d(np.asarray(values, dtype=np.float64)).reshape(-1)

    @property
    def n_rvs(self) -> int:
        return len(self.values)

    def sample(self, n: int = 1) -> Floats:
        return np.tile(self.values, (n, 1))


class MultivariateNormalDistribution(Distribution):
    """A Gaussian with a covariance matrix. Trackers begin with independent parameters: correlations are left out, with a warning."""

    def __init__(self, mean: Any, cov: Any) -> None:
        self.mean, self.cov = np.asarray(mean, dtype=np.float64).reshape(-1), np.asarray(cov, dtype=np.float64)
        if self.cov.shape != (len(self.mean),) * 2 or not np.array_equal(self.cov, self.cov.T):
            raise Refused(f"a covariance matrix of {len(self.mean)} parameters is needed, not an array of shape {self.cov.shape}")

    @property
    def n_rvs(self) -> int:
        return len(self.mean)

    def sample(self, n: int = 1) -> Floats:
        drawn: Floats = np.random.multivariate_normal(self.mean, self.cov, n)
        return drawn


class LogNormalDistribution(Distribution):
    """mu + sigma · exp(a standard normal): a shifted log-normal, as in QInfer."""

    n_rvs = 1

    def __init__(self, mu: float = 0, sigma: float = 1) -> None:
        self.mu, self.sigma = mu, sigma

    def sample(self, n: int = 1) -> Floats:
        drawn: Floats = self.mu + self.sigma * np.random.lognormal(0, 1, (n, 1))
        return drawn


class _OfShape(Distribution):
    """One parameter, by alpha and beta, or by its mean and variance."""

    n_rvs = 1

    def __init__(self, alpha: float | None = None, beta: float | None = None, mean: float | None = None, var: float | None = None) -> None:
        if alpha is not None and beta is not None:
            self.alpha, self.beta = alpha, beta
        elif mean is not None and var is not None:
            self.alpha, self.beta = self._shape(mean, var)
        else:
            raise Refused(f"{type(self).__name__} takes alpha and beta, or mean and var")

    def _shape(self, mean: float, var: float) -> tuple[float, float]:
        raise NotImplementedError


class BetaDistribution(_OfShape):
    """A beta distribution, by alpha and beta, or by mean and var."""

    def _shape(self, mean: float, var: float) -> tuple[float, float]:
        count = mean * (1 - mean) / var - 1
        return mean * count, (1 - mean) * count

    def sample(self, n: int = 1) -> Floats:
        drawn: Floats = np.random.beta(self.alpha, self.beta, (n, 1))
        return drawn


class GammaDistribution(_OfShape):
    """A gamma distribution, by alpha and the rate beta, or by mean and var."""

    def _shape(self, mean: float, var: float) -> tuple[float, float]:
        return mean**2 / var, mean / var

    def sample(self, n: int = 1) -> Floats:
        drawn: Floats = np.random.gamma(self.alpha, 1 / self.beta, (n, 1))
        return drawn


class InterpolatedUnivariateDistribution(Distribution):
    """One parameter with that density, up to a factor."""

    n_rvs = 1

    def __init__(self, pdf: Callable[[Floats], Any], compactification_scale: float = 1, n_interp_points: int = 1500) -> None:
        self._at = -compactification_scale * np.log(1 / np.linspace(0, 1, n_interp_points + 2)[1:-1] - 1)
        density = np.asarray(pdf(self._at), dtype=np.float64)
        parts = np.diff(self._at) * (density[1:] + density[:-1]) / 2
        self._below = np.concatenate([[0.0], np.cumsum(parts) / parts.sum()])

    def sample(self, n: int = 1) -> Floats:
        return np.interp(np.random.random_sample((n, 1)), self._below, self._at)


class ProductDistribution(Distribution):
    """Independent distributions, one after the other."""

    def __init__(self, *factors: Any) -> None:
        self.factors = factors[0] if len(factors) == 1 and isinstance(factors[0], (list, tuple)) else factors

    @property
    def n_rvs(self) -> int:
        return sum(int(f.n_rvs) for f in self.factors)

    def sample(self, n: int = 1) -> Floats:
        return np.hstack([np.asarray(f.sample(n), dtype=np.float64).reshape(n, -1) for f in self.factors])


class PostselectedDistribution(Distribution):
    """Draws of a distribution that are valid for a model."""

    def __init__(self, distribution: Any, model: Any, maxiters: int = 100) -> None:
        self.distribution, self.model, self.maxiters = distribution, model, maxiters

    @property
    def n_rvs(self) -> int:
        return int(self.distribution.n_rvs)

    def sample(self, n: int = 1) -> Floats:
        return _selected(self.distribution.sample, self.model.are_models_valid, n, self.maxiters)


# ---- What a tracker takes ----


def _uniform(low: float, high: float) -> tuple[Parameter, Any]:
    return (Parameter("real", low, high), (low, high)) if low < high else _normal(low, 0.0)


def _normal(mean: float, sd: float) -> tuple[Parameter, Any]:
    sd = max(sd, 1e-9 * max(abs(mean), 1.0))  # of a constant
    return Parameter("real", mean - 4 * sd, mean + 4 * sd), Normal(mean, sd)


def moments(what: str, prior: Any, count: int) -> tuple[Floats, Floats]:
    """Means and standard deviations of draws; correlations are warned of, and a sum that is fixed is refused."""
    drawn = np.asarray(prior.sample(MOMENTS), dtype=np.float64).reshape(MOMENTS, count)
    if not np.isfinite(drawn).all():
        raise Refused(f"{what}: some draws are not finite")
    mean, sd = drawn.mean(axis=0), drawn.std(axis=0)
    moving = np.flatnonzero(sd > 1e-9 * np.maximum(abs(mean), 1))
    if len(moving) > 1:
        correlations = np.corrcoef(drawn[:, moving].T)
        if np.linalg.eigvalsh(correlations)[0] < 1e-9:
            raise Refused(f"{what}: one parameter follows from the others (do they sum to 1?); declare one less")
        largest = float(abs(correlations - np.eye(len(moving))).max())
        if largest > CORRELATED:
            warnings.warn(f"{what}: parameters are correlated ({largest:.2f}), and are taken as independent", stacklevel=5)
    return mean, sd


def priors_of(prior: Any, count: int, model: Any) -> list[tuple[Parameter, Any]]:
    """For every parameter its range, and what is known of it. Of a distribution that is not known here, two moments of draws."""
    if not hasattr(prior, "sample"):
        raise TypeError(f"a prior has a method sample(n), and {prior!r} has none")
    has = int(np.size(np.asarray(prior.sample(1))))
    if has != count:
        raise Refused(f"a prior of {has} parameters was given; the model has {count}")
    if isinstance(prior, ProductDistribution):
        return [one for f in prior.factors for one in priors_of(f, int(f.n_rvs), None)]
    if isinstance(prior, PostselectedDistribution) and prior.model is model:  # others have no likelihood
        return priors_of(prior.distribution, count, None)
    ranges = getattr(prior, "ranges", getattr(prior, "_ranges", None))
    if ranges is not None:
        return [_uniform(float(a), float(b)) for a, b in np.asarray(ranges, dtype=np.float64).reshape(-1, 2)]
    if isinstance(prior, NormalDistribution) and prior.trunc is None:
        mean, sd = prior.mean, np.sqrt(np.broadcast_to(prior.var, prior.mean.shape))
    else:
        mean, sd = moments("prior", prior, count)
    return [_normal(float(m), float(s)) for m, s in zip(mean, sd)]
