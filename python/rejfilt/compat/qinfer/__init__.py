"""QInfer's names on rejfilt's beliefs: models written for QInfer run as they are.

A model is a class with `n_modelparams`, `expparams_dtype`, `n_outcomes(expparams)` and `likelihood(outcomes, modelparams, expparams)`, which
returns an array of shape (outcomes, models, experiments); `modelparam_names` and `are_models_valid(modelparams)` are used where they are
there. docs/qinfer.md goes through it name by name. What is not here says so, and what to use instead.

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

import sys
from typing import Any

from ..._rejfilt import Refused
from . import distributions, models, rb, smc
from .distributions import (
    BetaDistribution,
    ConstantDistribution,
    Distribution,
    GammaDistribution,
    InterpolatedUnivariateDistribution,
    LogNormalDistribution,
    MultivariateNormalDistribution,
    NormalDistribution,
    PostselectedDistribution,
    ProductDistribution,
    SingleSampleMixin,
    UniformDistribution,
)
from .models import (
    BinomialModel,
    CoinModel,
    DerivedModel,
    DifferentiableModel,
    FiniteOutcomeModel,
    IntegerDomain,
    MLEModel,
    Model,
    NoisyCoinModel,
    RandomizedBenchmarkingModel,
    RandomWalkModel,
    SimpleInversionModel,
    SimplePrecessionModel,
    Simulatable,
    UnknownT2Model,
)
from .smc import (
    PGH,
    ApproximationWarning,
    EnsembleHeuristic,
    ExpSparseHeuristic,
    Heuristic,
    LiuWestResampler,
    ResamplerError,
    ResamplerWarning,
    SMCUpdater,
    perf_test,
    perf_test_multiple,
    simple_est_prec,
    simple_est_rb,
    timing,
    to_model,
)

__all__ = [
    "ApproximationWarning", "BetaDistribution", "BinomialModel", "CoinModel", "ConstantDistribution", "DerivedModel", "DifferentiableModel", "Distribution", "EnsembleHeuristic", "ExpSparseHeuristic",
    "FiniteOutcomeModel", "GammaDistribution", "Heuristic", "IntegerDomain", "InterpolatedUnivariateDistribution", "LiuWestResampler", "LogNormalDistribution", "MLEModel", "Model",
    "MultivariateNormalDistribution", "NoisyCoinModel", "NormalDistribution", "PGH", "PostselectedDistribution", "ProductDistribution", "RandomWalkModel", "RandomizedBenchmarkingModel",
    "ResamplerError", "ResamplerWarning", "SMCUpdater", "SimpleInversionModel", "SimplePrecessionModel", "Simulatable", "SingleSampleMixin", "UniformDistribution", "UnknownT2Model", "perf_test", "perf_test_multiple",
    "simple_est_prec", "simple_est_rb", "timing", "to_model",
]  # fmt: skip

_TOMOGRAPHY = "rejfilt has no tomography"
_OWN_PRIOR = "any class with n_rvs and sample(n) is a prior, taken as independent Gaussians"
_SUMS = "declare one parameter less, and have the likelihood compute the last"
_PLACES = "outcomes are 0, 1, ... here; rejfilt.model takes counts and real numbers, too"
_ENGINES = 'engine="threads" of SMCUpdater, and docs/engines.md'
_HEALTH = "`updater.tracker.health` and `.loss` say how well the belief does"
ABSENT = {
    "ALEApproximateModel": "write the likelihood down", "ale": "write the likelihood down", "utils": "numpy and scipy have what it did", "PoisonedModel": "rejfilt.simulate has worlds that misbehave",
    "GaussianHyperparameterizedModel": "outcomes=rejfilt.Gaussian(sd) of rejfilt.model", "GaussianRandomWalkModel": 'RandomWalkModel, or SMCUpdater(..., drift="learn")',
    "MultinomialModel": _PLACES, "DifferentiableBinomialModel": "BinomialModel", "NDieModel": _SUMS, "LinearCostModelMixin": "cost= of rejfilt.Tracker",
    "DirectViewParallelizedModel": _ENGINES, "AcceleratedPrecessionModel": _ENGINES, "ScoreMixin": "scores are not used",
    "ParticleDistribution": "SMCUpdater has its verbs", "MixtureDistribution": _OWN_PRIOR, "DiscreteUniformDistribution": _OWN_PRIOR, "SlantedNormalDistribution": _OWN_PRIOR,
    "BetaBinomialDistribution": _OWN_PRIOR, "MVUniformDistribution": _SUMS, "DirichletDistribution": _SUMS, "ConstrainedSumDistribution": _SUMS,
    "HaarUniform": _TOMOGRAPHY, "HilbertSchmidtUniform": _TOMOGRAPHY, "GinibreUniform": _TOMOGRAPHY, "tomography": _TOMOGRAPHY,
    "SMCUpdaterBCRB": _HEALTH, "MixedApproximateSMCUpdater": "SMCUpdater", "ExperimentDesigner": 'Tracker.ask() of a rejfilt.Tracker with design="risk"',
    "OptimizationAlgorithms": 'Tracker.ask() of a rejfilt.Tracker with design="risk"', "ClusteringResampler": "beliefs here do not resample",
    "Resampler": "beliefs here do not resample", "Domain": _PLACES, "ProductDomain": _PLACES, "RealDomain": _PLACES, "MultinomialDomain": _PLACES,
    "IPythonProgressBar": "progress=True of rejfilt.replay and rejfilt.simulate", "UnstructuredFrequencyModel": "rejfilt.model takes any function",
    "particle_meanfn": "SMCUpdater.est_meanfn", "particle_covariance_mtx": "SMCUpdater.est_covariance_mtx",
}  # fmt: skip

# QInfer's modules by their names
abstract_model = derived_models = test_models = domains = models
resamplers = expdesign = simple_est = perf_testing = smc
sys.modules |= {f"{__name__}.{name}": models for name in ("abstract_model", "derived_models", "test_models", "domains")}
sys.modules |= {f"{__name__}.{name}": smc for name in ("resamplers", "expdesign", "simple_est", "perf_testing")}


def __getattr__(name: str) -> Any:
    """Names that are absent can be imported, and say so where they are used."""
    if name not in ABSENT:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}': docs/qinfer.md has QInfer's names")

    def refuse(*arguments: Any, **options: Any) -> Any:
        raise Refused(f"QInfer's {name} is not here: {ABSENT[name]}")

    return type(name, (), {"__new__": refuse, "__init_subclass__": refuse, "__doc__": f"Not here: {ABSENT[name]}."})
