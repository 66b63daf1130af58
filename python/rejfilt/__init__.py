"""Bayesian inference by rejection filtering: track what drifts, say how sure you are, choose the next measurement.

>>> import rejfilt
>>> tracker = rejfilt.Tracker("precession", seed=1)   # what is measured: by name, in C, with numba or in numpy
>>> for _ in range(100):
...     setting = tracker.ask()                        # what to measure next
...     outcome = tracker.model.draw([0.7], setting, seed=tracker.records)
...     note = tracker.tell(outcome)
>>> abs(tracker.mean.x - 0.7) < 0.2
True
"""

from ._model import (
    Binomial,
    Bounded,
    Counts,
    Fixed,
    Gaussian,
    Guess,
    LogRange,
    Model,
    Parameter,
    Periodic,
    Poisson,
    Positive,
    Range,
    Real,
    Reverting,
    Setting,
    Telegraph,
    Time,
    block_signature,
    model,
    models,
)
from ._arviz import to_inference_data
from ._rejfilt import VERSION as __version__
from ._rejfilt import Refused
from ._runs import Candidate, Comparison, Fleet, Jump, Outage, Posterior, Run, compare, passes, replay, simulate
from ._tracker import Evidence, Health, Interval, Normal, Note, Tracker, Uniform

__all__ = [
    "Binomial", "Bounded", "Candidate", "Comparison", "Counts", "Evidence", "Fixed", "Fleet", "Gaussian", "Guess", "Health", "Interval", "Jump", "LogRange", "Model", "Normal", "Note",
    "Outage", "Parameter", "Periodic", "Poisson", "Positive", "Posterior", "Range", "Real", "Refused", "Reverting", "Run", "Setting", "Telegraph", "Time", "Tracker", "Uniform",
    "__version__", "block_signature", "compare", "model", "models", "passes", "replay", "simulate", "to_inference_data",
]  # fmt: skip
