"""Updaters of QInfer on rejfilt's beliefs; heuristics, and estimates in one call."""

from __future__ import annotations

import contextlib
import importlib
import math
import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._model import Floats, Model, Parameter, Range, Setting, number, seed_of, whole
from ..._model import model as make_model
from ..._rejfilt import Refused
from ..._runs import passes
from ..._tracker import Tracker
from .distributions import Distribution, PostselectedDistribution, UniformDistribution, priors_of
from .models import BinomialModel, RandomizedBenchmarkingModel, SimplePrecessionModel, Simulatable, rows_of, simulate, walk_of

# ---- Models ----


def _fields(dtype: Any) -> list[str]:
    """Names of the settings; a plain dtype is one setting, a field of several numbers as many."""
    made = np.dtype(dtype)
    return ["expparams"] if made.names is None else [n for name in made.names for n in _numbered(name, made[name].shape)]


def _numbered(name: str, shape: tuple[int, ...]) -> list[str]:
    return [f"{name}_{i}" for i in range(int(np.prod(shape)))] if shape else [name]


def _experiment(dtype: Any, values: Sequence[float]) -> NDArray[Any]:
    """One experiment as QInfer's models take it."""
    made, at = np.zeros(1, dtype=dtype), 0
    if made.dtype.names is None:
        made[0] = values[0]
    for name in made.dtype.names or ():
        shape = made.dtype[name].shape
        count = int(np.prod(shape)) if shape else 1
        made[name] = np.reshape(values[at : at + count], shape)
        at += count
    return made


def _outcome_count(model: Any, dtype: Any) -> int:
    """How many outcomes there are; 0 where that depends on the experiment."""
    if not getattr(model, "is_n_outcomes_constant", True):
        return 0
    count = float(np.max(model.n_outcomes(np.zeros(1, dtype=dtype))))
    if not (math.isfinite(count) and count == int(count)):
        raise Refused(f"{type(model).__name__} has {count:g} outcomes: here a number of them is needed; real numbers and counts are for rejfilt.model")
    return int(count)


def _checked(model: Any) -> int:
    """The number of parameters of what is a model."""
    if isinstance(model, type):
        raise TypeError(f"a model is an object, {model.__name__}(), not its class")
    for needed in ("n_modelparams", "expparams_dtype", "n_outcomes", "likelihood"):
        if not hasattr(model, needed):
            raise TypeError(f"a model of QInfer has {needed}, and {type(model).__name__} has none")
    return int(model.n_modelparams)


def _are_valid(model: Any, x: Floats) -> NDArray[np.bool_]:
    """Which models are? Likelihoods need not stand the others."""
    if not hasattr(model, "are_models_valid"):
        return np.ones(len(x), dtype=bool)
    return np.broadcast_to(np.asarray(model.are_models_valid(x), dtype=bool).reshape(len(x), -1).all(axis=1), len(x))


def to_model(model: Any, prior: Any, settings: dict[str, Setting] | None = None) -> Model:
    """A rejfilt model of a QInfer-style one. settings: what designers should know of its experiment parameters, by name."""
    return _made_of(model, priors_of(prior, _checked(model), model), settings or {})


def _made_of(model: Any, priors: list[tuple[Parameter, Any]], known: dict[str, Setting]) -> Model:
    dtype, dim = model.expparams_dtype, len(priors)
    names = [str(n).strip("\\$ ") for n in getattr(model, "modelparam_names", [f"x{i}" for i in range(dim)])]
    names = names if len(set(names)) == dim and all(names) else [f"x{i}" for i in range(dim)]
    count = _outcome_count(model, dtype)

    def likelihood(x: Floats, setting: Any, outcome: float) -> Floats:
        candidates = np.ascontiguousarray(x.T)
        valid = _are_valid(model, candidates)
        good = candidates if valid.all() else candidates[valid]  # models need not stand what is not valid
        if len(good) == 0:
            return np.zeros(len(candidates))
        found = np.asarray(model.likelihood(np.array([int(outcome)]), good, _experiment(dtype, setting)), dtype=np.float64)
        if found.shape != (1, len(good), 1):
            raise ValueError(f"likelihood returned shape {found.shape}; of one outcome, {len(good)} models and one experiment it is {(1, len(good), 1)}")
        values = np.zeros(len(candidates))
        values[valid] = found[0, :, 0]
        return values

    def draw(x: Sequence[float], setting: Any, normal: float) -> float:
        """Draws an outcome of the experiment by inverting the cumulative distribution."""
        experiment = _experiment(dtype, setting)
        outcomes = np.arange(int(np.max(model.n_outcomes(experiment))))
        p = np.asarray(model.likelihood(outcomes, np.array([x]), experiment))[:, 0, 0]
        return float(min(int(np.searchsorted(np.cumsum(p), 0.5 * (1 + math.erf(normal / 2**0.5)))), len(p) - 1))

    likelihood.__name__ = type(model).__name__
    likelihood.__doc__ = type(model).__doc__
    made: Model = make_model(
        parameters={n: p for n, (p, _) in zip(names, priors)},
        settings={n: known.get(n, Range(0.0, 1.0)) for n in _fields(dtype)},
        outcomes=count,
        simulate=None if count else draw,
        bound=None if count else 1.0,
    )(likelihood)
    made._trust()  # QInfer's experiments have no ranges, and models need not stand any other
    return made



# ---- Updating ----

RESAMPLING = ("resample_a", "resampler", "resample_thresh", "debug_resampling", "track_resampling_divergence", "zero_weight_policy", "zero_weight_thresh")
ABSENT = {
    "resample": "beliefs here do not resample",
    "n_ess": "`updater.tracker.health` and `.loss` say how well the belief does",
    "min_n_ess": "`updater.tracker.health` and `.loss` say how well the belief does",
    "resampling_divergences": "beliefs here do not resample",
    "normalization_record": "`log_total_likelihood` is the sum of its logarithms",
    "particle_mean": "est_mean()",
    "particle_covariance_mtx": "est_covariance_mtx()",
    "est_entropy": "`updater.tracker.cov` says how wide the belief is",
    "est_kl_divergence": "compare draws, `updater.sample(n)`",
    "est_cluster_moments": "`updater.sample(n)` are draws, which any clustering takes",
    "est_cluster_covs": "`updater.sample(n)` are draws, which any clustering takes",
    "est_cluster_metric": "`updater.sample(n)` are draws, which any clustering takes",
    "region_est_hull": "scipy.spatial.ConvexHull takes `updater.est_credible_region()`",
}


class ApproximationWarning(RuntimeWarning):
    """A name for scripts that filter warnings."""


class ResamplerWarning(RuntimeWarning):
    """Likewise."""


class ResamplerError(RuntimeError):
    """Likewise."""


class LiuWestResampler:
    """A name for scripts: beliefs here do not resample."""

    def __init__(self, a: float = 0.98, h: float | None = None, **options: Any) -> None:
        self.a, self.h = a, h


class SMCUpdater(Distribution):
    """QInfer's SMCUpdater on a belief of rejfilt. n_particles is the number of candidates in an update, or of particles with belief="particles".

    belief, seed and everything else of `rejfilt.Tracker` may be given; `tracker` is that tracker. Without a seed one is drawn from numpy's
    global generator, so that `np.random.seed` repeats a script.
    """

    resample_count = 0
    just_resampled = False

    def __init__(
        self,
        model: Any,
        n_particles: int,
        prior: Any,
        resample_a: Any = None,
        resampler: Any = None,
        resample_thresh: Any = None,
        debug_resampling: Any = None,
        track_resampling_divergence: Any = None,
        zero_weight_policy: Any = None,
        zero_weight_thresh: Any = None,
        canonicalize: bool = True,
        *,
        belief: str = "mixture",
        seed: Any = None,
        settings: dict[str, Setting] | None = None,
        **options: Any,
    ) -> None:
        given = (resample_a, resampler, resample_thresh, debug_resampling, track_resampling_divergence, zero_weight_policy, zero_weight_thresh)
        if idle := [name for name, value in zip(RESAMPLING, given) if value is not None and value is not False]:
            warnings.warn(f"{', '.join(idle)}: beliefs here have no particles to resample or to lose, so this changes nothing", stacklevel=2)
        if canonicalize and _has_own(model, "canonicalize"):
            warnings.warn(f"{type(model).__name__}.canonicalize is not used: rejfilt.model(interchangeable=) orders parameters", stacklevel=2)
        self.model, self.prior, self._belief = model, prior, belief
        self._seed = int(np.random.randint(0, 2**62, dtype=np.int64)) if seed is None else seed_of(seed)
        priors, drift = priors_of(prior, _checked(model), model), walk_of(model)
        made = _made_of(model, priors, settings or {})
        names = [p.name for p in made.parameters]
        self._open: dict[str, Any] = {
            "prior": {n: p for n, (_, p) in zip(names, priors)},
            "drift": dict(zip(names, map(float, drift))) if drift is not None else 0.0,
            "design": None, "on_lost": "ignore",
        } | options  # fmt: skip
        self._begin(made, n_particles)

    def _begin(self, made: Model, n_particles: int) -> None:
        self.n_particles = whole("n_particles", n_particles, 2, 2**24)
        options = {"belief": f"particles:{self.n_particles}" if self._belief == "particles" else self._belief} | self._open
        if options["belief"] == "gaussian" and "attempts" not in options:
            options["attempts"] = self.n_particles
        self.tracker = Tracker(made, seed=self._seed, **options)
        self._drawn = 0
        self.data_record: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        if name in ABSENT:
            raise AttributeError(f"QInfer's SMCUpdater.{name} is not here: {ABSENT[name]}")
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def update(self, outcome: Any, expparams: Any, check_for_resample: bool = True) -> None:
        """Learns from one outcome of one experiment."""
        experiments, outcomes = self._experiments(expparams), np.asarray(outcome, dtype=np.float64).reshape(-1)
        if len(experiments) != 1 or len(outcomes) != 1:
            raise Refused(f"update takes one outcome of one experiment, not {len(outcomes)} of {len(experiments)}: batch_update takes many")
        if not self.tracker.model.outcomes_end:  # it depends on the experiment
            end = int(np.max(self.model.n_outcomes(experiments)))
            if not (0 <= outcomes[0] < end and outcomes[0] == int(outcomes[0])):
                raise Refused(f"outcome {outcomes[0]:g} is not a whole number from 0 to {end - 1}")
        self.tracker.tell(float(outcomes[0]), self._setting(experiments[0]))
        self.data_record.append(outcome)

    def batch_update(self, outcomes: Any, expparams: Any, resample_interval: int = 5) -> None:
        """Learns from one outcome after the other."""
        told, experiments = np.asarray(outcomes).reshape(-1), self._experiments(expparams)
        if len(told) != len(experiments):
            raise Refused(f"{len(told)} outcomes of {len(experiments)} experiments were given")
        for outcome, experiment in zip(told, experiments):
            self.update(outcome, experiment)

    def _experiments(self, given: Any) -> NDArray[Any]:
        """As QInfer's models have them. A number would be all fields of an experiment at once."""
        dtype = np.dtype(self.model.expparams_dtype)
        fields = len(dtype.names or ())
        if fields > 1 and getattr(given, "dtype", np.dtype(float)).names is None and not isinstance(given, (tuple, list)):
            raise Refused(f"an experiment has {', '.join(dtype.names or ())}: an array of dtype {self.model.expparams_dtype} is needed, not {given!r:.60}")
        return np.atleast_1d(np.asarray(given, dtype=dtype))

    def _setting(self, experiment: Any) -> tuple[float, ...]:
        names = experiment.dtype.names
        return (
            (number("an experiment", experiment),)
            if names is None
            else tuple(number(f"an experiment's {n}", v) for n in names for v in np.ravel(experiment[n]))
        )

    def est_mean(self) -> Floats:
        """The posterior mean."""
        return np.array(self.tracker.mean)

    def est_covariance_mtx(self, corr: bool = False) -> Floats:
        """The posterior covariance, or correlations."""
        cov = self.tracker.cov
        sd = np.sqrt(np.diag(cov))
        scaled: Floats = cov / np.outer(sd, sd)
        return scaled if corr else cov

    def est_meanfn(self, fn: Callable[[Floats], Any], n: int = 4000) -> Any:
        """The posterior mean of a function of models, by draws."""
        return np.mean(fn(self.tracker.sample(n)), axis=0)

    def _ellipsoid(self, level: float, modelparam_slice: Any, n: int = 2000) -> tuple[Floats, Floats, Floats]:
        """Draws; the centre of the ellipsoid with that share of them, and its matrix."""
        if not 0 < number("level", level) < 1:
            raise Refused(f"a level of {level:g} is not between 0 and 1")
        x = self.tracker.sample(n)[:, slice(None) if modelparam_slice is None else modelparam_slice]
        centre, shape = x.mean(axis=0), np.atleast_2d(np.cov(x.T))
        scaled: Floats = shape * np.quantile(_distances(x, centre, shape), level)
        return x, centre, scaled

    def est_credible_region(self, level: float = 0.95, return_outside: bool = False, modelparam_slice: Any = None) -> Any:
        """Draws that lie in the ellipsoid with that probability; with return_outside, also the others."""
        x, centre, shape = self._ellipsoid(level, modelparam_slice)
        inside = _distances(x, centre, shape) <= 1
        return (x[inside], x[~inside]) if return_outside else x[inside]

    def region_est_ellipsoid(self, level: float = 0.95, tol: float = 1e-4, modelparam_slice: Any = None) -> tuple[Floats, Floats]:
        """A and c of the ellipsoid (x − c)ᵀ A⁻¹ (x − c) ≤ 1 with that probability."""
        _, centre, shape = self._ellipsoid(level, modelparam_slice)
        return shape, centre

    def in_credible_region(self, points: Any, level: float = 0.95, modelparam_slice: Any = None, method: str = "pce", tol: float = 1e-4) -> NDArray[np.bool_]:
        """Which points lie in that ellipsoid?"""
        shape, centre = self.region_est_ellipsoid(level, tol, modelparam_slice)
        return np.asarray(_distances(np.asarray(points, dtype=np.float64).reshape(-1, len(centre)), centre, shape) <= 1)

    @property
    def log_total_likelihood(self) -> float:
        """ln P of all data so far."""
        return self.tracker.evidence.log

    @property
    def n_rvs(self) -> int:
        return int(self.model.n_modelparams)

    def sample(self, n: int = 1) -> Floats:
        """Draws of what is believed, as rows; every call gives others."""
        first = self._drawn if self._drawn + whole("n", n, 0, 2**31) < 2**32 - 1 else 0
        self._drawn = first + n
        return self.tracker.sample(n, first=first)

    @property
    def particle_locations(self) -> Floats:
        """n_particles draws of what is believed, the same until it is updated; all weigh the same."""
        return self.tracker.sample(self.n_particles)

    @property
    def particle_weights(self) -> Floats:
        return np.full(self.n_particles, 1 / self.n_particles)

    def hypothetical_update(self, outcomes: Any, expparams: Any, return_likelihood: bool = False, return_normalization: bool = False) -> Any:
        """Weights that `particle_locations` would have after each outcome of each experiment: (outcomes, experiments, particles)."""
        x, told, experiments = self.particle_locations, np.atleast_1d(outcomes), self._experiments(expparams)
        valid = _are_valid(self.model, x)
        likelihood = np.zeros((len(told), len(experiments), len(x)))
        if valid.any():
            likelihood[:, :, valid] = np.asarray(self.model.likelihood(told, x[valid], experiments)).transpose(0, 2, 1)
        total = likelihood.mean(axis=2, keepdims=True)
        weights = likelihood / self.n_particles / np.where(total > 0, total, 1)
        more = [part for part, wanted in ((likelihood, return_likelihood), (total, return_normalization)) if wanted]
        return (weights, *more) if more else weights

    def posterior_marginal(
        self, idx_param: int = 0, res: int = 100, smoothing: float = 0, range_min: float | None = None, range_max: float | None = None
    ) -> tuple[Floats, Floats]:
        """Places of one parameter and the density there, by draws; smoothing is the standard deviation of a Gaussian that smoothes it."""
        x = self.tracker.sample(20_000)[:, idx_param]
        low, high = float(x.min() if range_min is None else range_min), float(x.max() if range_max is None else range_max)
        counts, edges = np.histogram(x, bins=res, range=(low, high))
        places, density = (edges[1:] + edges[:-1]) / 2, counts / (len(x) * (edges[1] - edges[0]))
        if smoothing > 0:
            kernel = np.exp(-0.5 * ((places[:, None] - places) / smoothing) ** 2)
            density = kernel @ density / kernel.sum(axis=1)
        return places, density

    def plot_posterior_marginal(
        self, idx_param: int = 0, res: int = 100, smoothing: float = 0, range_min: float | None = None, range_max: float | None = None,
        label_xaxis: bool = True, other_plot_args: Mapping[str, Any] | None = None, true_model: Any = None, **plot_arguments: Any,
    ) -> Any:  # fmt: skip
        """The same with matplotlib."""
        plt: Any = importlib.import_module("matplotlib.pyplot")
        lines = plt.plot(*self.posterior_marginal(idx_param, res, smoothing, range_min, range_max), **{**(other_plot_args or {}), **plot_arguments})
        if label_xaxis:
            plt.xlabel(self.tracker.model.parameters[idx_param].name)
        if true_model is not None:
            plt.axvline(float(rows_of(self.model, true_model)[0, idx_param]), color="k", linestyle="--")
        return lines

    def plot_covariance(self, corr: bool = False, param_slice: Any = None, tick_labels: Any = None, tick_params: Mapping[str, Any] | None = None) -> Any:
        """The covariance matrix, or correlations, as colours."""
        plt: Any = importlib.import_module("matplotlib.pyplot")
        which = slice(None) if param_slice is None else param_slice
        cov = self.est_covariance_mtx(corr)[which, which]
        names = tick_labels if tick_labels is not None else [p.name for p in self.tracker.model.parameters][which]
        picture = plt.imshow(cov, cmap="RdBu", vmin=-abs(cov).max(), vmax=abs(cov).max())
        plt.xticks(range(len(names)), names, **(tick_params or {}))
        plt.yticks(range(len(names)), names, **(tick_params or {}))
        plt.colorbar(picture)
        return picture

    def posterior_mesh(self, idx_param1: int = 0, idx_param2: int = 1, res1: int = 100, res2: int = 100, smoothing: float = 0.01) -> tuple[Floats, Floats, Floats]:
        """Places of two parameters, and the density there, by draws that a Gaussian smoothes."""
        x = self.tracker.sample(5000)[:, [idx_param1, idx_param2]]
        axes = [np.linspace(x[:, i].min(), x[:, i].max(), res) for i, res in enumerate((res1, res2))]
        first, second = (np.exp(-0.5 * ((at[:, None] - x[:, i]) / smoothing) ** 2) / (smoothing * math.sqrt(2 * math.pi)) for i, at in enumerate(axes))
        one, other = np.meshgrid(*axes)
        density: Floats = second @ first.T / len(x)
        return one, other, density

    def plot_posterior_contour(self, idx_param1: int = 0, idx_param2: int = 1, res1: int = 100, res2: int = 100, smoothing: float = 0.01) -> Any:
        """The same with matplotlib."""
        plt: Any = importlib.import_module("matplotlib.pyplot")
        return plt.contour(*self.posterior_mesh(idx_param1, idx_param2, res1, res2, smoothing))

    def reset(self, n_particles: int | None = None, only_params: Any = None, reset_weights: bool = True) -> None:
        """Back to the prior, possibly with another number of particles."""
        if only_params is not None or not reset_weights:
            raise Refused("reset: all parameters go back to the prior; only_params and reset_weights are not here")
        self._begin(self.tracker.model, self.n_particles if n_particles is None else n_particles)

    def _expected(self, expparams: Any, n: int) -> tuple[Floats, Floats, Floats]:
        """Draws, P(outcome | draw) by outcome, draw and experiment, and P(outcome)."""
        experiments = self._experiments(expparams)
        x = self.tracker.sample(n)
        x = x[_are_valid(self.model, x)]
        if len(x) == 0:
            raise Refused(f"none of {n} draws of what is believed is a valid model")
        outcomes = np.arange(int(np.max(self.model.n_outcomes(experiments))))
        likelihood = np.asarray(self.model.likelihood(outcomes, x, experiments), dtype=np.float64)
        return x, likelihood, likelihood.mean(axis=1)

    def bayes_risk(self, expparams: Any, n: int = 2000) -> Floats:
        """The variance, summed over parameters as the model's Q weighs them, that each experiment is expected to leave."""
        x, likelihood, total = self._expected(expparams, n)
        x = x * np.sqrt(_weights(self.model))
        mean = np.einsum("okj,ki->oji", likelihood, x) / len(x) / np.maximum(total, 1e-300)[..., None]
        square = np.einsum("okj,ki->oji", likelihood, x**2) / len(x) / np.maximum(total, 1e-300)[..., None]
        risk: Floats = (total * (square - mean**2).sum(axis=-1)).sum(axis=0)
        return risk

    def risk(self, x0: Any) -> Floats:
        """The Bayes risk of an experiment with one field."""
        return self.bayes_risk(np.array([(x0,)], dtype=self.model.expparams_dtype))

    def expected_information_gain(self, expparams: Any, n: int = 2000) -> Floats:
        """Nats that each experiment is expected to tell."""
        _, likelihood, total = self._expected(expparams, n)
        with np.errstate(divide="ignore", invalid="ignore"):
            gain: Floats = np.nansum(likelihood * np.log(likelihood / total[:, None, :]), axis=0).mean(axis=0)
        return gain


def _has_own(model: Any, method: str) -> bool:
    """Is there a method that is not the base's?"""
    own = getattr(type(model), method, None)
    return own is not None and getattr(own, "__qualname__", "") not in (f"Simulatable.{method}", f"DerivedModel.{method}")


def _weights(model: Any) -> Floats:
    return np.asarray(getattr(model, "Q", np.ones(int(model.n_modelparams))), dtype=np.float64)


def _distances(x: Floats, centre: Floats, shape: Floats) -> Floats:
    away = x - centre
    squares: Floats = np.einsum("ni,ij,nj->n", away, np.linalg.pinv(shape), away)
    return squares


# ---- Heuristics ----


class Heuristic:
    """What own heuristics inherit from: called, they return the next experiment."""

    def __init__(self, updater: Any) -> None:
        self._updater = updater

    def __call__(self, *arguments: Any) -> Any:
        raise TypeError(f"{type(self).__name__} chooses no experiment: it has no __call__ of its own")


def _same(value: Any) -> Any:
    return value


class PGH(Heuristic):
    """The particle guess heuristic: t = 1 / |x − x'| of two draws, and the guess x'."""

    def __init__(
        self, updater: Any, inv_field: str | None = None, t_field: str = "t", inv_func: Callable[[Any], Any] = _same, t_func: Callable[[Any], Any] = _same,
        maxiters: int = 10, other_fields: Mapping[str, Any] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(updater)
        fields = np.dtype(updater.model.expparams_dtype).names or ()
        guess = inv_field or next((name for name in ("x_", "w_") if name in fields), None)
        for name in (guess, t_field if fields else None, *(other_fields or {})):
            if name is not None and name not in fields:
                raise Refused(f"experiments have no field '{name}'; they have {', '.join(fields) or 'one number'}")
        self._guess, self._t, self._functions, self._others = guess, t_field, (inv_func, t_func), dict(other_fields or {})

    def __call__(self, *arguments: Any) -> NDArray[Any]:
        """The next experiment."""
        model = self._updater.model
        first, second = self._updater.sample(2)
        distance = getattr(model, "distance", lambda a, b: np.abs(a - b).sum(axis=1))
        experiment = np.zeros(1, dtype=model.expparams_dtype)
        t = self._functions[1](1 / max(float(distance(first[None], second[None])[0]), 1e-300))
        if experiment.dtype.names is None:
            experiment[0] = t
            return experiment
        experiment[self._t] = t
        if self._guess is not None:
            guess = np.ravel(self._functions[0](second[None]))
            experiment[self._guess] = guess if experiment.dtype[self._guess].shape else guess[0]
        for name, value in self._others.items():
            experiment[name] = value
        return experiment


class ExpSparseHeuristic(Heuristic):
    """Times that grow as scale · baseᵏ, whatever was measured. If a model has more settings, t_field names the time, and other_fields has the others."""

    def __init__(self, updater: Any, scale: float = 1.0, base: float = 9 / 8, t_field: str | None = None, other_fields: Mapping[str, Any] | None = None) -> None:
        super().__init__(updater)
        self._scale, self._base, self._t, self._others = scale, base, t_field, dict(other_fields or {})

    def __call__(self, *arguments: Any) -> NDArray[Any]:
        """The next experiment."""
        experiment = np.zeros(1, dtype=self._updater.model.expparams_dtype)
        t = self._scale * self._base ** len(self._updater.data_record)
        if self._t is None:
            experiment[0] = t
        else:
            experiment[self._t] = t
        for name, value in self._others.items():
            experiment[name] = value
        return experiment


class EnsembleHeuristic(Heuristic):
    """Pairs of a heuristic and its probability: one of them, at random, chooses."""

    def __init__(self, ensemble: Sequence[tuple[Any, float]]) -> None:
        self._heuristics, self._probabilities = [h for h, _ in ensemble], [p for _, p in ensemble]

    def __call__(self, *arguments: Any) -> Any:
        return self._heuristics[np.random.choice(len(self._heuristics), p=self._probabilities)](*arguments)


# ---- Estimates in one call ----


def _columns(data: Any, names: Sequence[str]) -> Floats:
    """Columns of an array, of a DataFrame by name, or of a file of numbers between commas."""
    if isinstance(data, (str, os.PathLike)) or hasattr(data, "read"):
        data = np.loadtxt(data, delimiter=",")
    there = getattr(getattr(data, "dtype", None), "names", None) or getattr(data, "columns", None)
    if there is not None and set(names) <= set(there):
        data = np.column_stack([np.asarray(data[name], dtype=np.float64) for name in names])
    rows = np.asarray(data, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != len(names):
        raise Refused(f"data are rows ({', '.join(names)}), not an array of shape {rows.shape}")
    if not ((rows[:, 0] >= 0) & (rows[:, 0] <= rows[:, 2]) & (rows[:, [0, 2]] == np.floor(rows[:, [0, 2]])).all(axis=1)).all():
        raise Refused("counts are whole numbers from 0 to the number of shots")
    return rows


def simple_est_prec(data: Any, freq_min: float = 0.0, freq_max: float = 1.0, n_particles: int = 6000, return_all: bool = False, seed: Any = None) -> Any:
    """A precession frequency from rows (counts, t, n_shots): how often 1 was seen in so many shots after a time t. Mean and variance; with
    return_all, also {"updater": ...}. data: an array, a DataFrame, or a file of numbers between commas."""
    rows = _columns(data, ("counts", "t", "n_shots"))
    model = BinomialModel(SimplePrecessionModel(freq_min))
    updater = SMCUpdater(model, n_particles, UniformDistribution([freq_min, freq_max]), seed=seed, belief="mixture")
    updater.batch_update(rows[:, 0], np.array([(t, int(shots)) for _, t, shots in rows], dtype=model.expparams_dtype))
    found = updater.est_mean()[0], updater.est_covariance_mtx()[0, 0]
    return (*found, {"updater": updater}) if return_all else found


def _plausible(rows: Floats, low: float, high: float) -> tuple[float, float]:
    """Where p can be, by the best A and B for each: a prior of half the unit cube leaves no point near a posterior this thin."""
    counts, m, shots = rows.T
    at = 1 - np.geomspace(1e-9, 1, 1000)
    at = np.unique(np.concatenate([[low, high], at[(at > low) & (at < high)]]))
    best = np.empty(len(at))
    for k, p in enumerate(at):
        fit = np.linalg.lstsq(np.column_stack([p**m, np.ones(len(m))]), counts / shots, rcond=None)[0]
        live = np.clip(fit[0] * p**m + fit[1], 1e-9, 1 - 1e-9)
        best[k] = (counts * np.log(live) + (shots - counts) * np.log(1 - live)).sum()
    good = np.flatnonzero(best > best.max() - 30)
    return float(at[max(good[0] - 1, 0)]), float(at[min(good[-1] + 1, len(at) - 1)])


def simple_est_rb(
    data: Any, interleaved: bool = False, p_min: float = 0.0, p_max: float = 1.0, n_particles: int = 8000, return_all: bool = False, seed: Any = None
) -> Any:
    """Randomized benchmarking from rows (counts, m, n_shots): how many of so many shots survived m gates; interleaved, also whether that was the
    reference. Means and covariance of p, A and B, by `rejfilt.passes`, since that posterior is thin and bent; with return_all, also
    {"updater": ...}, whose mixture learns record by record."""
    rows = _columns(data, ("counts", "m", "n_shots", "reference")[: 3 + interleaved])
    model = BinomialModel(RandomizedBenchmarkingModel(interleaved))
    experiments = np.zeros(len(rows), dtype=model.expparams_dtype)
    for name, column in zip(("m", "n_meas", "reference"), rows.T[1:]):
        experiments[name] = column
    if not 0 <= p_min < p_max <= 1:
        raise Refused(f"p is from {p_min:g} to {p_max:g}: no range within 0 to 1")
    is_reference = rows[:, 3] != 0 if interleaved else np.ones(len(rows), dtype=bool)
    ranges = [_plausible(rows[is_reference, :3], p_min, p_max)]
    if interleaved:
        both = _plausible(rows[~is_reference, :3], 0, p_max)
        ranges.insert(0, (max(p_min, both[0] / ranges[0][1]), min(p_max, both[1] / ranges[0][0])))
    prior = PostselectedDistribution(UniformDistribution([*ranges, [0, 1], [0, 1]]), model)
    updater = SMCUpdater(model, n_particles, prior, seed=seed, belief="mixture")
    settings = {name: experiments[name].astype(np.float64) for name in experiments.dtype.names or ()}
    exact = passes(updater.tracker.model, (settings, rows[:, 0]), seed=updater.tracker.seed)
    if not exact.trustworthy:
        warnings.warn("so few points hold this posterior that its mean is a guess", ApproximationWarning, stacklevel=2)
    found = np.array(exact.mean), exact.chart_cov
    if not return_all:
        return found
    updater.batch_update(rows[:, 0], experiments)
    return (*found, {"updater": updater})


# ---- How well does it do? ----


class Timer:
    """Seconds since it was made, or until it was stopped."""

    def __init__(self) -> None:
        self._begin, self._end = time.perf_counter(), math.nan

    def stop(self) -> None:
        self._end = time.perf_counter()

    @property
    def delta_t(self) -> float:
        return (time.perf_counter() if math.isnan(self._end) else self._end) - self._begin

    def __str__(self) -> str:
        return f"{self.delta_t:.3g} seconds elapsed"


@contextlib.contextmanager
def timing() -> Iterator[Timer]:
    """How long a block takes: `with timing() as t: ...; t.delta_t`."""
    timer = Timer()
    try:
        yield timer
    finally:
        timer.stop()


def perf_test(
    model: Any, n_particles: int, prior: Any, n_exp: int, heuristic_class: Callable[[Any], Any], true_model: Any = None, true_prior: Any = None, true_mps: Any = None,
    extra_updater_args: Mapping[str, Any] | None = None, *, seed: Any = None, **options: Any,
) -> NDArray[Any]:  # fmt: skip
    """One run against a simulated truth: a row for every experiment, with the squared error (`loss`), the estimate, the truth, the outcome and
    the experiment. Truths and outcomes are drawn with numpy's global generator."""
    world = model if true_model is None else true_model
    truth = rows_of(world, (true_prior or prior).sample() if true_mps is None else true_mps)
    updater = SMCUpdater(model, n_particles, prior, seed=seed, **{**(extra_updater_args or {}), **options})
    heuristic, weights = heuristic_class(updater), _weights(model)
    dtype = np.dtype(model.expparams_dtype)
    fields = [("experiment", dtype)] if dtype.names is None else [(name, dtype[name]) for name in dtype.names]
    both = min(len(weights), truth.shape[1])
    found = np.zeros(
        n_exp, dtype=[("loss", float), ("resample_count", int), ("elapsed_time", float), ("outcome", int), ("true", float, truth.shape[1:]), ("est", float, weights.shape), *fields]
    )
    for row in found:
        experiment = heuristic()
        outcome = getattr(world, "simulate_experiment", lambda x, e: simulate(world, x, e))(truth, experiment)
        row["true"], row["outcome"] = truth[0], outcome
        with timing() as timer:
            updater.update(outcome, experiment)
        truth = np.asarray(getattr(world, "update_timestep", lambda x, e: Simulatable.update_timestep(world, x, e))(truth, experiment))[:, :, 0]
        row["elapsed_time"], row["est"] = timer.delta_t, updater.est_mean()
        row["loss"] = (weights[-both:] * (row["est"][-both:] - truth[0, -both:]) ** 2).sum()
        for name, _ in fields:
            row[name] = experiment[0] if dtype.names is None else experiment[name][0]
    return found


def perf_test_multiple(n_trials: int, model: Any, n_particles: int, prior: Any, n_exp: int, heuristic_class: Callable[[Any], Any], *arguments: Any, **options: Any) -> NDArray[Any]:
    """So many runs of `perf_test`, as rows."""
    for name in ("apply", "progressbar", "allow_failures"):
        if options.pop(name, None):
            raise Refused(f"perf_test_multiple has no {name}: trials run here, one after the other")
    return np.stack([perf_test(model, n_particles, prior, n_exp, heuristic_class, *arguments, **options) for _ in range(whole("n_trials", n_trials, 1, 2**31))])
