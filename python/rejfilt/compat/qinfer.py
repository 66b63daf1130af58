"""QInfer's names on rejfilt's beliefs: models written for QInfer run as they are.

A model is a class with `n_modelparams`, `expparams_dtype`, `n_outcomes(expparams)` and `likelihood(outcomes, modelparams, expparams)`, which
returns an array of shape (outcomes, models, experiments); `modelparam_names` and `are_models_valid(modelparams)` are used where they are
there. docs/qinfer.md goes through it name by name.

>>> import numpy as np
>>> from rejfilt.compat.qinfer import SMCUpdater, SimplePrecessionModel, UniformDistribution
>>> model, rng = SimplePrecessionModel(), np.random.default_rng(1)
>>> updater = SMCUpdater(model, 1000, UniformDistribution([0, 1]), seed=1)
>>> for k in range(100):
...     t = np.array([1 + 0.5 * k])
...     updater.update(int(rng.random() > np.cos(0.7 * t[0] / 2) ** 2), t)
>>> bool(abs(updater.est_mean()[0] - 0.7) < 0.01)
True
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._model import Floats, Model, Parameter, Range, Setting, seed_of, whole
from .._model import model as make_model
from .._rejfilt import Refused
from .._tracker import Normal, Tracker

__all__ = [
    "BinomialModel", "CoinModel", "ExpSparseHeuristic", "FiniteOutcomeModel", "NormalDistribution", "PGH", "RandomWalkModel", "RandomizedBenchmarkingModel", "SMCUpdater", "SimpleInversionModel",
    "SimplePrecessionModel", "UniformDistribution", "perf_test", "simple_est_prec", "to_model",
]  # fmt: skip


# ---- Distributions ----


class UniformDistribution:
    """Independent uniform parameters; ranges are pairs [low, high], or one pair."""

    def __init__(self, ranges: Any) -> None:
        given = np.asarray(ranges, dtype=np.float64)
        if given.shape[-1:] != (2,) or given.ndim > 2 or not (np.isfinite(given).all() and (given[..., 0] < given[..., 1]).all()):
            raise Refused(f"ranges are pairs [low, high], low < high, not {ranges!r}")
        self.ranges = given.reshape(-1, 2)

    @property
    def n_rvs(self) -> int:
        return len(self.ranges)

    def sample(self, n: int = 1) -> Floats:
        low, high = self.ranges.T
        drawn: Floats = np.random.default_rng().uniform(low, high, (n, self.n_rvs))
        return drawn


class NormalDistribution:
    """Independent Gaussian parameters: means and, as in QInfer, variances."""

    def __init__(self, mean: Any, var: Any) -> None:
        self.mean, self.var = np.atleast_1d(np.asarray(mean, dtype=np.float64)), np.atleast_1d(np.asarray(var, dtype=np.float64))
        if not (self.var >= 0).all():
            raise Refused(f"a variance is from 0 on, not {var!r}")
        if self.mean.ndim > 1 or self.var.shape not in ((1,), self.mean.shape):
            raise Refused(f"a mean and a variance for each parameter are needed, not arrays of shape {self.mean.shape} and {self.var.shape}")

    @property
    def n_rvs(self) -> int:
        return len(self.mean)

    def sample(self, n: int = 1) -> Floats:
        drawn: Floats = np.random.default_rng().normal(self.mean, np.sqrt(self.var), (n, self.n_rvs))
        return drawn


def _priors(prior: Any, count: int) -> list[tuple[Parameter, Any]]:
    """The range and the prior of each parameter. A distribution unknown here becomes a Gaussian with the moments of 20,000 draws."""
    ranges = getattr(prior, "ranges", getattr(prior, "_ranges", None))
    if not hasattr(prior, "sample"):
        raise TypeError(f"a prior has a method sample(n), and {prior!r} has none")
    has = int(np.size(np.asarray(prior.sample(1))))
    if has != count:
        raise Refused(f"a prior of {has} parameters was given; the model has {count}")
    if ranges is not None:
        return [(Parameter("real", float(a), float(b)), (float(a), float(b))) for a, b in np.asarray(ranges, dtype=np.float64).reshape(-1, 2)]
    if isinstance(prior, NormalDistribution):
        mean, sd = prior.mean, np.sqrt(np.broadcast_to(prior.var, prior.mean.shape))
    else:
        drawn = np.asarray(prior.sample(20_000), dtype=np.float64).reshape(20_000, count)
        mean, sd = drawn.mean(axis=0), drawn.std(axis=0)
    return [(Parameter("real", float(m - 4 * s), float(m + 4 * s)), Normal(float(m), float(s))) for m, s in zip(mean, sd)]


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
    constant = getattr(model, "is_n_outcomes_constant", True)
    return int(np.max(model.n_outcomes(np.zeros(1, dtype=dtype)))) if constant else 0


def to_model(model: Any, prior: Any, settings: dict[str, Setting] | None = None) -> Model:
    """A rejfilt model of a QInfer-style one. settings: what designers should know of its experiment parameters, by name."""
    if isinstance(model, type):
        raise TypeError(f"a model is an object, {model.__name__}(), not its class")
    for needed in ("n_modelparams", "expparams_dtype", "n_outcomes", "likelihood"):
        if not hasattr(model, needed):
            raise TypeError(f"a model of QInfer has {needed}, and {type(model).__name__} has none")
    dtype = model.expparams_dtype
    dim = int(model.n_modelparams)
    names = [str(n).strip("\\$ ") for n in getattr(model, "modelparam_names", [f"x{i}" for i in range(dim)])]
    names = names if len(set(names)) == dim and all(names) else [f"x{i}" for i in range(dim)]
    known = settings or {}
    count = _outcome_count(model, dtype)

    def likelihood(x: Floats, setting: Any, outcome: float) -> Floats:
        candidates = np.ascontiguousarray(x.T)
        found = np.asarray(model.likelihood(np.array([int(outcome)]), candidates, _experiment(dtype, setting)), dtype=np.float64)
        if found.shape != (1, len(candidates), 1):
            raise ValueError(f"likelihood returned shape {found.shape}; of one outcome, {len(candidates)} models and one experiment it is {(1, len(candidates), 1)}")
        values: Floats = found[0, :, 0]
        valid = model.are_models_valid(candidates) if hasattr(model, "are_models_valid") else None
        return values if valid is None else np.where(valid, values, 0.0)

    def simulate(x: Sequence[float], setting: Any, normal: float) -> float:
        """Draws an outcome of the experiment by inverting the cumulative distribution."""
        from math import erf

        experiment = _experiment(dtype, setting)
        outcomes = np.arange(int(np.max(model.n_outcomes(experiment))))
        p = np.asarray(model.likelihood(outcomes, np.array([x]), experiment))[:, 0, 0]
        return float(min(int(np.searchsorted(np.cumsum(p), 0.5 * (1 + erf(normal / 2**0.5)))), len(p) - 1))

    likelihood.__name__ = type(model).__name__
    likelihood.__doc__ = type(model).__doc__
    made: Model = make_model(
        parameters={n: p for n, (p, _) in zip(names, _priors(prior, dim))},
        settings={n: known.get(n, Range(0.0, 1.0)) for n in _fields(dtype)},
        outcomes=count,
        simulate=None if count else simulate,
        bound=None if count else 1.0,
    )(likelihood)
    return made


class FiniteOutcomeModel:
    """What a model written for QInfer inherits from. It has two outcomes unless it says otherwise."""

    n_modelparams: Any
    expparams_dtype: Any
    is_n_outcomes_constant: Any = True

    def __init__(self, *arguments: Any, **options: Any) -> None:
        pass

    @property
    def modelparam_names(self) -> Any:
        return [f"x_{i}" for i in range(self.n_modelparams)]

    def n_outcomes(self, expparams: Any) -> Any:
        return 2

    def are_models_valid(self, modelparams: Floats) -> Any:
        return np.ones(len(modelparams), dtype=bool)

    def likelihood(self, outcomes: Any, modelparams: Floats, expparams: Any) -> Any:
        """Models have their own, which may call this one first, as QInfer's do to count."""

    def simulate_experiment(self, modelparams: Any, expparams: Any, repeat: int = 1) -> Any:
        """Outcomes, drawn with numpy's global generator: an array of (repeat, models, experiments), or one number."""
        models, experiments = np.atleast_2d(np.asarray(modelparams, dtype=np.float64)), np.atleast_1d(expparams)
        p = np.asarray(self.likelihood(np.arange(int(np.max(self.n_outcomes(experiments)))), models, experiments))
        drawn = (np.cumsum(p, axis=0) < np.random.random_sample((repeat, 1, *p.shape[1:]))).sum(axis=1)
        outcomes = np.minimum(drawn, len(p) - 1)
        return int(outcomes[0, 0, 0]) if outcomes.size == 1 else outcomes

    @staticmethod
    def pr0_to_likelihood_array(outcomes: Any, pr0: Any) -> Floats:
        """From the probabilities of outcome 0, by model and experiment."""
        zero = np.asarray(pr0, dtype=np.float64)
        return np.stack([zero if k == 0 else 1 - zero for k in np.atleast_1d(outcomes)])


class SimplePrecessionModel(FiniteOutcomeModel):
    """P(0) = cos²(ω t / 2): a frequency, seen after times t."""

    n_modelparams = 1
    modelparam_names = ("omega",)
    expparams_dtype: Any = "float"

    def are_models_valid(self, modelparams: Floats) -> NDArray[np.bool_]:
        return np.asarray(modelparams[:, 0] >= 0)

    def phase(self, modelparams: Floats, expparams: Any) -> Floats:
        turned: Floats = modelparams[:, :1] * np.asarray(expparams, dtype=np.float64)[None, :]
        return turned

    def likelihood(self, outcomes: Any, modelparams: Floats, expparams: Any) -> Floats:
        zero = np.cos(self.phase(modelparams, expparams) / 2) ** 2
        return self.pr0_to_likelihood_array(outcomes, zero)


class SimpleInversionModel(SimplePrecessionModel):
    """The same against a guess: P(0) = cos²((ω − w_) t / 2)."""

    expparams_dtype: Any = [("t", "float"), ("w_", "float")]

    def phase(self, modelparams: Floats, expparams: Any) -> Floats:
        turned: Floats = (modelparams[:, :1] - expparams["w_"][None, :]) * expparams["t"][None, :]
        return turned


class CoinModel(FiniteOutcomeModel):
    """P(0) = p."""

    n_modelparams = 1
    modelparam_names = ("p",)
    expparams_dtype: Any = []

    def are_models_valid(self, modelparams: Floats) -> NDArray[np.bool_]:
        return np.asarray(((modelparams >= 0) & (modelparams <= 1)).all(axis=1))

    def likelihood(self, outcomes: Any, modelparams: Floats, expparams: Any) -> Floats:
        return self.pr0_to_likelihood_array(outcomes, np.repeat(modelparams[:, :1], np.size(expparams), axis=1))


class RandomizedBenchmarkingModel(FiniteOutcomeModel):
    """Zeroth-order randomized benchmarking: P(1) = A pᵐ + B after m gates; outcome 1 is survival."""

    n_modelparams = 3
    modelparam_names = ("p", "A", "B")
    expparams_dtype: Any = [("m", "uint")]

    def are_models_valid(self, modelparams: Floats) -> NDArray[np.bool_]:
        p, a, b = modelparams.T
        return np.asarray((0 <= p) & (p <= 1) & (0 <= a) & (a <= 1) & (0 <= b) & (b <= 1) & (a + b <= 1))

    def likelihood(self, outcomes: Any, modelparams: Floats, expparams: Any) -> Floats:
        p, a, b = (column[:, None] for column in modelparams.T)
        return self.pr0_to_likelihood_array(outcomes, 1 - (a * np.abs(p) ** expparams["m"].astype(np.float64)[None, :] + b))


class BinomialModel(FiniteOutcomeModel):
    """Several shots of a model with two outcomes: the outcome is how often 1 came in `n_meas` shots, a field of the experiment."""

    is_n_outcomes_constant = False

    def __init__(self, underlying_model: Any) -> None:
        self.underlying_model = underlying_model
        dtype = np.dtype(underlying_model.expparams_dtype)
        fields: list[Any] = [("x", dtype)] if dtype.names is None else [(name, dtype[name]) for name in dtype.names]
        self.expparams_dtype: Any = [*fields, ("n_meas", "uint")]
        self.n_modelparams = underlying_model.n_modelparams

    @property
    def modelparam_names(self) -> Any:
        return getattr(self.underlying_model, "modelparam_names", ())

    def n_outcomes(self, expparams: Any) -> NDArray[Any]:
        return np.asarray(expparams["n_meas"] + 1)

    def are_models_valid(self, modelparams: Floats) -> Any:
        return self.underlying_model.are_models_valid(modelparams)

    def likelihood(self, outcomes: Any, modelparams: Floats, expparams: Any) -> Floats:
        from math import lgamma

        dtype = np.dtype(self.underlying_model.expparams_dtype)
        under = expparams["x"] if dtype.names is None else np.array([tuple(e[n] for n in dtype.names) for e in expparams], dtype=dtype)
        one = self.underlying_model.likelihood(np.array([1]), modelparams, under)[0]
        out = np.zeros((len(np.atleast_1d(outcomes)), *one.shape))
        with np.errstate(divide="ignore"):
            log = np.log(np.stack([1 - one, one]))  # of outcomes 0 and 1: for thousands of shots, powers would underflow
        for j, n in enumerate(expparams["n_meas"].astype(int)):
            for i, k in enumerate(np.atleast_1d(outcomes).astype(int)):
                if 0 <= k <= n:
                    choose = lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
                    out[i, :, j] = np.exp(choose + (k * log[1, :, j] if k > 0 else 0) + ((n - k) * log[0, :, j] if k < n else 0))
        return out


class RandomWalkModel:
    """A model whose parameters walk: each step is a draw of `step_distribution`. Its standard deviation becomes rejfilt's drift."""

    def __init__(self, underlying_model: Any, step_distribution: Any) -> None:
        self.underlying_model = underlying_model
        self.step_sd = np.asarray(step_distribution.sample(20_000)).reshape(20_000, -1).std(axis=0)
        if isinstance(step_distribution, NormalDistribution):
            self.step_sd = np.sqrt(np.broadcast_to(step_distribution.var, (underlying_model.n_modelparams,)))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "underlying_model":
            raise AttributeError(name)
        return getattr(self.underlying_model, name)


# ---- Updating ----


class SMCUpdater:
    """QInfer's SMCUpdater on a belief of rejfilt. n_particles is the number of candidates in an update, or of particles with belief="particles".

    belief, seed and everything else of `rejfilt.Tracker` may be given; `tracker` is that tracker.
    """

    def __init__(self, model: Any, n_particles: int, prior: Any, *, belief: str = "auto", seed: Any = None, settings: dict[str, Setting] | None = None,
                 **options: Any) -> None:  # fmt: skip
        self.model, self.prior, self.n_particles = model, prior, whole("n_particles", n_particles, 2, 2**24)
        drift = getattr(model, "step_sd", None)
        made = to_model(model, prior, settings)
        names = [p.name for p in made.parameters]
        self._open: dict[str, Any] = {
            "belief": f"particles:{self.n_particles}" if belief == "particles" else belief,
            "prior": {n: p for n, (_, p) in zip(names, _priors(prior, len(names)))},
            "drift": dict(zip(names, map(float, drift))) if drift is not None else 0.0,
            "design": None, "on_lost": "ignore",
        } | options  # fmt: skip
        if belief == "gaussian" and "attempts" not in options:
            self._open["attempts"] = self.n_particles
        self.tracker = Tracker(made, seed=seed, **self._open)
        self.data_record: list[Any] = []

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
        return (float(experiment),) if names is None else tuple(float(v) for n in names for v in np.ravel(experiment[n]))

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
        return np.mean(fn(self.sample(n)), axis=0)

    def est_credible_region(self, level: float = 0.95, n: int = 2000) -> Floats:
        """Draws that lie in the ellipsoid with that probability."""
        x = self.sample(n)
        away = x - x.mean(axis=0)
        distance = np.einsum("ni,ij,nj->n", away, np.linalg.pinv(np.atleast_2d(np.cov(x.T))), away)
        inside: Floats = x[distance <= np.quantile(distance, level)]
        return inside

    @property
    def log_total_likelihood(self) -> float:
        """ln P of all data so far."""
        return self.tracker.evidence.log

    @property
    def n_rvs(self) -> int:
        return int(self.model.n_modelparams)

    def sample(self, n: int = 1) -> Floats:
        """Draws of what is believed, as rows."""
        return self.tracker.sample(n)

    @property
    def particle_locations(self) -> Floats:
        """n_particles draws of what is believed; all weigh the same."""
        return self.sample(self.n_particles)

    @property
    def particle_weights(self) -> Floats:
        return np.full(self.n_particles, 1 / self.n_particles)

    def posterior_marginal(self, idx_param: int = 0, res: int = 100, range_min: float | None = None, range_max: float | None = None) -> tuple[Floats, Floats]:
        """Places of one parameter and the density there, by draws."""
        x = self.sample(20_000)[:, idx_param]
        low, high = x.min() if range_min is None else range_min, x.max() if range_max is None else range_max
        density, edges = np.histogram(x, bins=res, range=(low, high), density=True)
        return (edges[1:] + edges[:-1]) / 2, density

    def plot_posterior_marginal(self, idx_param: int = 0, res: int = 100, **plot_arguments: Any) -> Any:
        """The same with matplotlib."""
        plt: Any = importlib.import_module("matplotlib.pyplot")
        lines = plt.plot(*self.posterior_marginal(idx_param, res), **plot_arguments)
        plt.xlabel(self.tracker.model.parameters[idx_param].name)
        return lines

    def reset(self, n_particles: int | None = None) -> None:
        """Back to the prior."""
        self.tracker.restart()
        self.data_record = []

    def _expected(self, expparams: Any, n: int) -> tuple[Floats, Floats, Floats]:
        """Draws, P(outcome | draw) by outcome, draw and experiment, and P(outcome)."""
        experiments = np.atleast_1d(np.asarray(expparams, dtype=self.model.expparams_dtype))
        x = self.sample(n)
        outcomes = np.arange(int(np.max(self.model.n_outcomes(experiments))))
        likelihood = np.asarray(self.model.likelihood(outcomes, x, experiments), dtype=np.float64)
        return x, likelihood, likelihood.mean(axis=1)

    def bayes_risk(self, expparams: Any, n: int = 2000) -> Floats:
        """The variance, summed over parameters, that each experiment is expected to leave."""
        x, likelihood, total = self._expected(expparams, n)
        mean = np.einsum("okj,ki->oji", likelihood, x) / n / np.maximum(total, 1e-300)[..., None]
        square = np.einsum("okj,ki->oji", likelihood, x**2) / n / np.maximum(total, 1e-300)[..., None]
        risk: Floats = (total * (square - mean**2).sum(axis=-1)).sum(axis=0)
        return risk

    def expected_information_gain(self, expparams: Any, n: int = 2000) -> Floats:
        """Nats that each experiment is expected to tell."""
        _, likelihood, total = self._expected(expparams, n)
        with np.errstate(divide="ignore", invalid="ignore"):
            gain: Floats = np.nansum(likelihood * np.log(likelihood / total[:, None, :]), axis=0).mean(axis=0)
        return gain


class PGH:
    """The particle guess heuristic: t = 1 / |x − x'| of two draws, and the guess x'."""

    def __init__(self, updater: SMCUpdater, inv_field: str = "w_", t_field: str = "t") -> None:
        self.updater, self.inv_field, self.t_field = updater, inv_field, t_field
        self._drawn = 0

    def __call__(self) -> NDArray[Any]:
        """The next experiment."""
        first, second = self.updater.tracker.sample(2, first=self._drawn)
        self._drawn += 2
        experiment = np.zeros(1, dtype=self.updater.model.expparams_dtype)
        t = 1 / max(float(np.linalg.norm(first - second)), 1e-300)
        if experiment.dtype.names is None:
            experiment[0] = t
        else:
            experiment[self.t_field] = t
            if self.inv_field in experiment.dtype.names:
                experiment[self.inv_field] = second[0]
        return experiment


class ExpSparseHeuristic:
    """Times that grow as scale · baseᵏ, whatever was measured. If a model has more settings, t_field names the time, and other_fields has the others."""

    def __init__(self, updater: SMCUpdater, scale: float = 1.0, base: float = 9 / 8, t_field: str | None = None, other_fields: Mapping[str, float] | None = None) -> None:
        self.updater, self.scale, self.base, self.t_field, self.other_fields = updater, scale, base, t_field, dict(other_fields or {})

    def __call__(self) -> NDArray[Any]:
        """The next experiment."""
        experiment = np.zeros(1, dtype=self.updater.model.expparams_dtype)
        t = self.scale * self.base ** len(self.updater.data_record)
        if self.t_field is None:
            experiment[0] = t
        else:
            experiment[self.t_field] = t
        for name, value in self.other_fields.items():
            experiment[name] = value
        return experiment


def simple_est_prec(data: Any, freq_min: float = 0.0, freq_max: float = 1.0, n_particles: int = 6000, return_all: bool = False, seed: Any = None) -> Any:
    """A precession frequency from rows (counts, t, n_shots): after a time t, 1 was seen `counts` times in n_shots shots.
    Returns mean and covariance; with return_all also {"updater": ...}."""
    rows = np.asarray(data, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != 3:
        raise Refused(f"data are rows (counts, t, n_shots), not an array of shape {rows.shape}")
    if not ((rows[:, 0] >= 0) & (rows[:, 0] <= rows[:, 2])).all():
        raise Refused("counts are from 0 to the number of shots")
    model = BinomialModel(SimplePrecessionModel())
    updater = SMCUpdater(model, n_particles, UniformDistribution([freq_min, freq_max]), seed=seed, belief="mixture")
    for counts, t, shots in rows:
        updater.update(int(counts), np.array([(t, int(shots))], dtype=model.expparams_dtype))
    mean, cov = updater.est_mean(), updater.est_covariance_mtx()
    return (mean, cov, {"updater": updater}) if return_all else (mean, cov)


def perf_test(model: Any, n_particles: int, prior: Any, n_exp: int, heuristic_class: Callable[[SMCUpdater], Any], *, true_mps: Any = None, seed: Any = None,
              **options: Any) -> NDArray[Any]:  # fmt: skip
    """One run against a simulated truth: squared errors (`loss`) and estimates after every experiment."""
    rng = np.random.default_rng(seed_of(seed))
    truth = np.asarray(prior.sample() if true_mps is None else true_mps, dtype=np.float64).reshape(1, -1)
    updater = SMCUpdater(model, n_particles, prior, seed=rng, **options)
    heuristic = heuristic_class(updater)
    found = np.zeros(n_exp, dtype=[("loss", np.float64), ("est", np.float64, (truth.shape[1],)), ("true", np.float64, (truth.shape[1],)), ("outcome", np.int64)])
    for row in found:
        experiment = heuristic()
        p = np.asarray(model.likelihood(np.arange(int(np.max(model.n_outcomes(experiment)))), truth, experiment))[:, 0, 0]
        outcome = int(rng.choice(len(p), p=p / p.sum()))
        updater.update(outcome, experiment)
        row["outcome"], row["est"], row["true"] = outcome, updater.est_mean(), truth[0]
        row["loss"] = float(((updater.est_mean() - truth[0]) ** 2).sum())
    return found
