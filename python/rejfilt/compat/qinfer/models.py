"""Models of QInfer, and what own models inherit from."""

from __future__ import annotations

from math import lgamma
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._model import Floats
from ..._rejfilt import Refused
from .distributions import NormalDistribution, moments


class IntegerDomain:
    """Outcomes min to max."""

    is_finite = is_discrete = True
    is_continuous = False
    dtype = np.dtype(int)

    def __init__(self, min: int = 0, max: int = 1) -> None:  # noqa: A002
        self.min, self.max = int(min), int(max)

    @property
    def n_members(self) -> int:
        return self.max - self.min + 1

    @property
    def values(self) -> NDArray[np.int64]:
        return np.arange(self.min, self.max + 1)

    def in_domain(self, points: Any) -> bool:
        return bool(np.isin(points, self.values).all())


class Simulatable:
    """What all models have. Q weighs squared errors of parameters; `distance` is for heuristics."""

    n_modelparams: Any
    expparams_dtype: Any
    is_n_outcomes_constant: Any = True
    _sim_count = _call_count = 0
    _Q: Any = None

    def __init__(self, allow_identical_outcomes: bool = False, outcome_warning_threshold: float = 0.99, n_outcomes_cutoff: int | None = None) -> None:
        pass

    @property
    def Q(self) -> Any:  # noqa: N802
        return np.ones(self.n_modelparams) if self._Q is None else self._Q

    @property
    def modelparam_names(self) -> Any:
        return [f"x_{i}" for i in range(self.n_modelparams)]

    @property
    def model_chain(self) -> tuple[Any, ...]:
        return ()

    @property
    def base_model(self) -> Any:
        return self

    @property
    def sim_count(self) -> int:
        return self._sim_count

    @property
    def call_count(self) -> int:
        return self._call_count

    def n_outcomes(self, expparams: Any) -> Any:
        return 2

    def domain(self, expparams: Any) -> Any:
        if expparams is None:
            return IntegerDomain(0, int(self.n_outcomes(None)) - 1)
        ends = np.broadcast_to(self.n_outcomes(expparams), np.shape(expparams)[:1])
        return [IntegerDomain(0, int(end) - 1) for end in ends]

    def are_models_valid(self, modelparams: Floats) -> Any:
        return np.ones(len(modelparams), dtype=bool)

    def is_model_valid(self, modelparams: Floats) -> bool:
        return bool(self.are_models_valid(np.asarray(modelparams)[np.newaxis])[0])

    def clear_cache(self) -> None:
        pass

    def experiment_cost(self, expparams: Any) -> Any:
        return np.ones(np.shape(expparams))

    def distance(self, a: Any, b: Any) -> Floats:
        away: Floats = np.abs(np.asarray(self.Q) * (np.asarray(a) - np.asarray(b))).sum(axis=1)
        return away

    def canonicalize(self, modelparams: Any) -> Any:
        return modelparams

    def update_timestep(self, modelparams: Any, expparams: Any) -> Any:
        """Where parameters are after the next step, an array of (models, parameters, experiments): where they were."""
        return np.repeat(np.asarray(modelparams)[:, :, np.newaxis], len(expparams), axis=2)


class Model(Simulatable):
    """Of models with a likelihood."""

    def likelihood(self, outcomes: Any, modelparams: Floats, expparams: Any) -> Any:
        """Models have their own, which may call this one first: it counts."""
        self._call_count += np.size(outcomes) * len(modelparams) * np.size(expparams)

    def simulate_experiment(self, modelparams: Any, expparams: Any, repeat: int = 1) -> Any:
        """Outcomes, drawn with numpy's global generator: an array of (repeat, models, experiments), or one number."""
        outcomes = simulate(self, modelparams, expparams, repeat)
        self._sim_count += np.size(outcomes)
        return outcomes

    @staticmethod
    def pr0_to_likelihood_array(outcomes: Any, pr0: Any) -> Floats:
        """From the probabilities of outcome 0, by model and experiment."""
        zero = np.asarray(pr0, dtype=np.float64)
        return np.stack([zero if k == 0 else 1 - zero for k in np.atleast_1d(outcomes)])


class FiniteOutcomeModel(Model):
    """What a model written for QInfer inherits from. It has two outcomes unless it says otherwise."""


class DifferentiableModel(Model):
    """A name to inherit from: scores are not used."""


def rows_of(model: Any, modelparams: Any) -> Floats:
    """Models as rows; numbers in a row are models of one parameter, or one model."""
    given = np.asarray(modelparams, dtype=np.float64)
    return given if given.ndim == 2 else given.reshape(-1, int(model.n_modelparams))


def simulate(model: Any, modelparams: Any, expparams: Any, repeat: int = 1) -> Any:
    """Outcomes of a model by its likelihood."""
    models, experiments = rows_of(model, modelparams), np.atleast_1d(expparams)
    p = np.asarray(model.likelihood(np.arange(int(np.max(model.n_outcomes(experiments)))), models, experiments))
    drawn = (np.cumsum(p, axis=0) < np.random.random_sample((repeat, 1, *p.shape[1:]))).sum(axis=1)
    outcomes = np.minimum(drawn, len(p) - 1)
    return int(outcomes[0, 0, 0]) if outcomes.size == 1 else outcomes


# ---- Models that QInfer brings ----


class SimpleInversionModel(FiniteOutcomeModel):
    """P(0) = cos²((ω − w_) t / 2): a frequency against a guess, seen after times t."""

    n_modelparams = 1
    modelparam_names = (r"\omega",)
    expparams_dtype: Any = [("t", "float"), ("w_", "float")]

    def __init__(self, min_freq: float = 0) -> None:
        super().__init__()
        self._min_freq = min_freq

    def are_models_valid(self, modelparams: Floats) -> NDArray[np.bool_]:
        return np.asarray(rows_of(self, modelparams)[:, 0] >= self._min_freq)

    def phase(self, modelparams: Floats, expparams: Any) -> Floats:
        turned: Floats = (modelparams[:, :1] - expparams["w_"][None, :]) * expparams["t"][None, :]
        return turned

    def likelihood(self, outcomes: Any, modelparams: Floats, expparams: Any) -> Floats:
        super().likelihood(outcomes, modelparams, expparams)
        zero = np.cos(self.phase(rows_of(self, modelparams), expparams) / 2) ** 2
        return self.pr0_to_likelihood_array(outcomes, zero)


class SimplePrecessionModel(SimpleInversionModel):
    """P(0) = cos²(ω t / 2)."""

    expparams_dtype: Any = "float"

    def phase(self, modelparams: Floats, expparams: Any) -> Floats:
        t = expparams["t"] if np.asarray(expparams).dtype.names else expparams
        turned: Floats = modelparams[:, :1] * np.asarray(t, dtype=np.float64)[None, :]
        return turned


class UnknownT2Model(FiniteOutcomeModel):
    """A precession that loses its contrast: P(0) = exp(−t / T2) cos²(ω t / 2) + (1 − exp(−t / T2)) / 2, of ω and 1 / T2."""

    n_modelparams = 2
    modelparam_names = (r"\omega", "T2_inv")
    expparams_dtype: Any = [("t", "float")]

    def are_models_valid(self, modelparams: Floats) -> NDArray[np.bool_]:
        return np.asarray((modelparams >= 0).all(axis=1))

    def likelihood(self, outcomes: Any, modelparams: Floats, expparams: Any) -> Floats:
        super().likelihood(outcomes, modelparams, expparams)
        omega, rate = (column[:, None] for column in modelparams.T)
        t = expparams["t"][None, :]
        return self.pr0_to_likelihood_array(outcomes, 0.5 + np.exp(-t * rate) * (np.cos(omega * t / 2) ** 2 - 0.5))


class CoinModel(FiniteOutcomeModel):
    """P(0) = p."""

    n_modelparams = 1
    modelparam_names = ("p",)
    expparams_dtype: Any = []

    def are_models_valid(self, modelparams: Floats) -> NDArray[np.bool_]:
        return np.asarray(((modelparams >= 0) & (modelparams <= 1)).all(axis=1))

    def likelihood(self, outcomes: Any, modelparams: Floats, expparams: Any) -> Floats:
        super().likelihood(outcomes, modelparams, expparams)
        return self.pr0_to_likelihood_array(outcomes, np.repeat(rows_of(self, modelparams), np.size(expparams), axis=1))


class NoisyCoinModel(CoinModel):
    """P(0) = p alpha + (1 − p) beta."""

    expparams_dtype: Any = [("alpha", "float"), ("beta", "float")]

    def likelihood(self, outcomes: Any, modelparams: Floats, expparams: Any) -> Floats:
        Model.likelihood(self, outcomes, modelparams, expparams)
        p = rows_of(self, modelparams)
        return self.pr0_to_likelihood_array(outcomes, p * expparams["alpha"] + (1 - p) * expparams["beta"])


class RandomizedBenchmarkingModel(FiniteOutcomeModel):
    """Zeroth-order randomized benchmarking: P(1) = A pᵐ + B after m gates; outcome 1 is survival. interleaved: with a gate in between, of
    which the first parameter tells; experiments have `reference`, which is true without it."""

    def __init__(self, interleaved: bool = False, order: int = 0) -> None:
        super().__init__()
        if order != 0:
            raise Refused(f"benchmarking of order {order}: only 0 is there, as in QInfer")
        self._is_interleaved = interleaved
        self.modelparam_names = (r"\tilde{p}", "p", "A", "B")[not interleaved :]
        self.n_modelparams = len(self.modelparam_names)
        self.expparams_dtype = [("m", "uint"), ("reference", bool)][: 1 + interleaved]

    modelparam_names: Any = ()

    def are_models_valid(self, modelparams: Floats) -> NDArray[np.bool_]:
        a, b = modelparams[:, -2], modelparams[:, -1]
        return np.asarray(((modelparams >= 0) & (modelparams <= 1)).all(axis=1) & (a + b <= 1))

    def likelihood(self, outcomes: Any, modelparams: Floats, expparams: Any) -> Floats:
        super().likelihood(outcomes, modelparams, expparams)
        p, a, b = (column[:, None] for column in modelparams.T[-3:])
        if self._is_interleaved:
            p = np.where(expparams["reference"][None, :], p, p * modelparams[:, :1])
        return self.pr0_to_likelihood_array(outcomes, 1 - (a * np.abs(p) ** expparams["m"].astype(np.float64)[None, :] + b))


# ---- Models of models ----


class DerivedModel(FiniteOutcomeModel):
    """A model that has everything of another one, but for what it says itself."""

    def __init__(self, underlying_model: Any) -> None:
        super().__init__()
        self.underlying_model = underlying_model

    @property
    def model_chain(self) -> tuple[Any, ...]:
        return (*getattr(self.underlying_model, "model_chain", ()), self.underlying_model)

    @property
    def base_model(self) -> Any:
        return self.model_chain[0]

    @property
    def n_modelparams(self) -> Any:
        return self.underlying_model.n_modelparams

    @property
    def modelparam_names(self) -> Any:
        return getattr(self.underlying_model, "modelparam_names", super().modelparam_names)

    @property
    def expparams_dtype(self) -> Any:
        return self.underlying_model.expparams_dtype

    @property
    def is_n_outcomes_constant(self) -> Any:
        return getattr(self.underlying_model, "is_n_outcomes_constant", True)

    @property
    def Q(self) -> Any:  # noqa: N802
        return getattr(self.underlying_model, "Q", super().Q)

    def n_outcomes(self, expparams: Any) -> Any:
        return self.underlying_model.n_outcomes(expparams)

    def are_models_valid(self, modelparams: Floats) -> Any:
        valid = getattr(self.underlying_model, "are_models_valid", super().are_models_valid)
        return valid(modelparams)

    def canonicalize(self, modelparams: Any) -> Any:
        return getattr(self.underlying_model, "canonicalize", super().canonicalize)(modelparams)

    def update_timestep(self, modelparams: Any, expparams: Any) -> Any:
        return getattr(self.underlying_model, "update_timestep", super().update_timestep)(modelparams, self._under(expparams))

    def likelihood(self, outcomes: Any, modelparams: Floats, expparams: Any) -> Any:
        super().likelihood(outcomes, modelparams, expparams)
        return self.underlying_model.likelihood(outcomes, modelparams, self._under(expparams))

    def _under(self, expparams: Any) -> Any:
        """Experiments as the underlying model has them."""
        return expparams


class BinomialModel(DerivedModel):
    """Several shots of a model with two outcomes: the outcome is how often 1 came in `n_meas` shots, a field of the experiment."""

    is_n_outcomes_constant = False

    def __init__(self, underlying_model: Any) -> None:
        super().__init__(underlying_model)
        dtype = np.dtype(underlying_model.expparams_dtype)
        if not getattr(underlying_model, "is_n_outcomes_constant", True) or int(underlying_model.n_outcomes(np.zeros(1, dtype=dtype))) != 2:
            raise Refused(f"{type(underlying_model).__name__} has not always two outcomes, which BinomialModel counts")
        self._fields = dtype.names

    @property
    def expparams_dtype(self) -> Any:
        dtype = np.dtype(self.underlying_model.expparams_dtype)
        fields: list[Any] = [("x", dtype)] if self._fields is None else [(name, dtype[name]) for name in self._fields]
        return [*fields, ("n_meas", "uint")]

    def n_outcomes(self, expparams: Any) -> NDArray[Any]:
        return np.asarray(expparams["n_meas"] + 1)

    def _under(self, expparams: Any) -> Any:
        if self._fields is None:
            return expparams["x"]
        return np.array([tuple(e[n] for n in self._fields) for e in expparams], dtype=self.underlying_model.expparams_dtype)

    def likelihood(self, outcomes: Any, modelparams: Floats, expparams: Any) -> Floats:
        Model.likelihood(self, outcomes, modelparams, expparams)
        one = self.underlying_model.likelihood(np.array([1]), modelparams, self._under(expparams))[0]
        out = np.zeros((len(np.atleast_1d(outcomes)), *one.shape))
        with np.errstate(divide="ignore"):
            log = np.log(np.stack([1 - one, one]))  # of outcomes 0 and 1: for thousands of shots, powers would underflow
        for j, n in enumerate(expparams["n_meas"].astype(int)):
            for i, k in enumerate(np.atleast_1d(outcomes).astype(int)):
                if 0 <= k <= n:
                    choose = lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
                    out[i, :, j] = np.exp(choose + (k * log[1, :, j] if k > 0 else 0) + ((n - k) * log[0, :, j] if k < n else 0))
        return out


class MLEModel(DerivedModel):
    """Likelihoods to a power, which narrows the posterior around the largest."""

    def __init__(self, underlying_model: Any, likelihood_power: float) -> None:
        super().__init__(underlying_model)
        self._power = likelihood_power

    def likelihood(self, outcomes: Any, modelparams: Floats, expparams: Any) -> Any:
        return np.asarray(super().likelihood(outcomes, modelparams, expparams)) ** self._power

    def simulate_experiment(self, modelparams: Any, expparams: Any, repeat: int = 1) -> Any:
        return simulate(self.underlying_model, modelparams, expparams, repeat)


class RandomWalkModel(DerivedModel):
    """A model whose parameters walk: each step is a draw of `step_distribution`. Its standard deviation becomes rejfilt's drift."""

    def __init__(self, underlying_model: Any, step_distribution: Any) -> None:
        super().__init__(underlying_model)
        self.step_distribution = step_distribution
        count = int(underlying_model.n_modelparams)
        if np.size(step_distribution.sample(1)) not in (count, *((1,) if isinstance(step_distribution, NormalDistribution) else ())):
            raise Refused(f"steps of {np.size(step_distribution.sample(1))} parameters were given; the model has {count}")
        if isinstance(step_distribution, NormalDistribution) and step_distribution.trunc is None:
            mean, sd = (np.broadcast_to(a, count) for a in (step_distribution.mean, np.sqrt(step_distribution.var)))
        else:
            mean, sd = moments("steps", step_distribution, count)
        if (abs(mean) > 0.05 * sd).any():
            raise Refused(f"steps have the mean {', '.join(f'{m:g}' for m in mean)}: a tracker's parameters walk in no direction")
        self.step_sd: Floats = np.asarray(sd)

    def update_timestep(self, modelparams: Any, expparams: Any) -> Any:
        moved = super().update_timestep(modelparams, expparams)
        steps = np.asarray(self.step_distribution.sample(moved.shape[0] * moved.shape[2]))
        return moved + steps.reshape(moved.shape[0], moved.shape[2], -1).transpose(0, 2, 1)


def walk_of(model: Any) -> Floats | None:
    """The standard deviations of steps; None if parameters stand still. What moves in another way is refused."""
    moves = getattr(getattr(type(model), "update_timestep", None), "__qualname__", "")
    if moves == "RandomWalkModel.update_timestep" and hasattr(model, "step_sd"):
        under = walk_of(model.underlying_model)
        steps: Floats = model.step_sd if under is None else np.hypot(model.step_sd, under)
        return steps
    if moves == "DerivedModel.update_timestep":
        return walk_of(model.underlying_model)
    if moves not in ("", "Simulatable.update_timestep"):
        raise Refused(f"{type(model).__name__}.update_timestep moves parameters in its own way; here they walk: RandomWalkModel, or drift=")
    return None
