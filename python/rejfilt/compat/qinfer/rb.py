"""Randomized benchmarking: the model, and from its p to fidelities and back."""

from __future__ import annotations

from .models import RandomizedBenchmarkingModel

__all__ = ["F", "RandomizedBenchmarkingModel", "p"]


def p(F: float, d: int = 2) -> float:  # noqa: N803
    """The strength of depolarizing, of an average gate fidelity in d dimensions.

    >>> p(0.99)
    0.98
    """
    return (d * F - 1) / (d - 1)


def F(p: float, d: int = 2) -> float:  # noqa: N802
    """And back."""
    return 1 - (1 - p) * (d - 1) / d
