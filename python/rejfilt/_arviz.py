"""For ArviZ."""

from __future__ import annotations

import importlib
from typing import Any

from ._runs import Run
from ._tracker import Tracker


def to_inference_data(tracker: Tracker, *, draws: int = 2000, chains: int = 4, run: Run | None = None) -> Any:
    """Draws from the posterior in natural units, for ArviZ. The records of a run become its observed data. The draws are independent, and
    chains are parts of them.

    >>> import rejfilt
    >>> data = rejfilt.to_inference_data(rejfilt.Tracker("ramsey", seed=1), draws=100)  # doctest: +SKIP
    """
    arviz = importlib.import_module("arviz")
    x = tracker.sample(draws * chains).reshape(chains, draws, -1)
    posterior = {p.name: x[:, :, i] for i, p in enumerate(tracker.model.parameters)}
    if run is None:
        return arviz.from_dict({"posterior": posterior}) if _is_new(arviz) else arviz.from_dict(posterior=posterior)
    observed = {"outcome": run["outcome"]}
    settings = {s.name: run[s.name] for s in tracker.model.settings}
    groups = {"posterior": posterior, "observed_data": observed} | ({"constant_data": settings} if settings else {})
    return arviz.from_dict(groups) if _is_new(arviz) else arviz.from_dict(**groups)


def _is_new(arviz: Any) -> bool:
    """ArviZ 1 takes groups as one dict."""
    return int(arviz.__version__.split(".")[0]) >= 1
