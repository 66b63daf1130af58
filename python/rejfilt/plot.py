"""Pictures with matplotlib: a run, posterior marginals, health, questions.

Every function takes `ax` (or makes a figure), draws with colours that print well in grey, and returns the axes.

>>> import matplotlib
>>> matplotlib.use("agg")
>>> import rejfilt, rejfilt.plot
>>> axes = rejfilt.plot.run(rejfilt.simulate("precession", steps=100, seed=1))
>>> axes[0].get_ylabel()
'x'
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from ._rejfilt import Refused
from ._runs import Run
from ._tracker import HEALTH, Tracker

plt: Any = importlib.import_module("matplotlib.pyplot")

ESTIMATE, TRUTH, BAND, DATA, ALARM = "#1f5a8a", "#222222", "#9cc3e2", "#8a8a8a", "#d9820f"
COLOURS = {"tracking": "#2d7d46", "suspicious": "#e2b33c", "recovering": "#d9820f", "lost": "#b3261e", "fault": "#444444", "coarse": "#7b5aa6"}
LEGEND: dict[str, Any] = {"loc": "lower right", "bbox_to_anchor": (1, 1), "ncols": 4, "fontsize": "small", "frameon": False, "borderaxespad": 0.2}


def _axes(count: int, axes: Any, height: float = 2.0) -> list[Any]:
    if axes is None:
        _, axes = plt.subplots(count, 1, sharex=True, squeeze=False, figsize=(7, max(2.6, height * count)), layout="constrained")
    return list(np.atleast_1d(np.asarray(axes, dtype=object)).reshape(-1))


def _one_trial(run: Run) -> Any:
    """Rows of the first trial, where there are several."""
    if not isinstance(run, Run):
        raise TypeError(f"a run is drawn, as replay and simulate return it, not {run!r}")
    there = run.columns
    return there["trial"] == there["trial"][0] if "trial" in there and len(run) else np.ones(len(run), dtype=bool)


def run(what: Run, *, parameters: Sequence[str] | None = None, title: str = "", axes: Any = None) -> list[Any]:
    """Estimates with their 95 % intervals over the records, truths where they are known, and alarms of health as ticks below."""
    labels = {p.name: p.label for p in what.model.parameters}
    rows = _one_trial(what)
    names = list(parameters or [p.name for p in what.model.parameters])
    for name in names:
        what.model.parameter_index(name)
    drawn = _axes(len(names), axes)
    there = {name: values[rows] for name, values in what.columns.items()}
    at = there["time"] if "time" in there else there["step"]
    alarm = there["tested"] > 0
    for ax, name in zip(drawn, names):
        low, high, mean = there[f"{name}.low"], there[f"{name}.high"], there[f"{name}.mean"]
        ax.fill_between(at, low, high, color=BAND, alpha=0.6, linewidth=0, label="95 %")
        ax.plot(at, mean, color=ESTIMATE, linewidth=1.2, label="estimate")
        if f"truth.{name}" in there:
            ax.plot(at, there[f"truth.{name}"], color=TRUTH, linewidth=0.9, linestyle=(0, (4, 2)), label="truth")
        ax.set_ylabel(labels[name])
        ax.margins(x=0.01)
        shown = np.concatenate([np.quantile(low, [0.02]), np.quantile(high, [0.98]), *([there[f"truth.{name}"]] if f"truth.{name}" in there else [mean])])
        pad = 0.06 * (np.nanmax(shown) - np.nanmin(shown) or 1)
        ax.set_ylim(np.nanmin(shown) - pad, np.nanmax(shown) + pad)
        if alarm.any():
            ax.plot(at[alarm], np.full(alarm.sum(), 0.02), "|", color=ALARM, markersize=8, transform=ax.get_xaxis_transform(), label="failed test")
    if title:
        drawn[0].set_title(title, loc="left")
    drawn[0].legend(**LEGEND)
    drawn[-1].set_xlabel("time" if "time" in there else "record")
    return drawn


def marginals(tracker: Tracker, *, draws: int = 4000, truth: Sequence[float] | None = None, axes: Any = None) -> Any:
    """The posterior of every parameter and of every pair, by draws from the belief."""
    if not isinstance(tracker, Tracker):
        raise TypeError(f"marginals are of a tracker, not of {tracker!r}")
    names = [p.label for p in tracker.model.parameters]
    dim = len(names)
    if truth is not None and len(truth) != dim:
        raise Refused(f"truth has {len(truth)} numbers; model {tracker.model.name} has {dim} parameters")
    x = tracker.sample(draws)
    if axes is None:
        _, axes = plt.subplots(dim, dim, squeeze=False, figsize=(1.5 + 2.1 * dim, 1.2 + 2.0 * dim), layout="constrained")
    axes = np.asarray(axes, dtype=object).reshape(dim, dim)
    ends = np.quantile(x, [0.0005, 0.9995], axis=0)
    edges = [np.linspace(ends[0, i], ends[1, i], 49) for i in range(dim)]
    for i in range(dim):
        for j in range(dim):
            ax = axes[i, j]
            if j > i:
                ax.set_visible(False)
                continue
            if i == j:
                ax.hist(x[:, i], bins=edges[i], density=True, color=BAND)
                low, high = tracker.interval()[i]
                ax.axvline(tracker.mean[i], color=ESTIMATE, linewidth=1.2, label="mean")
                for edge, label in ((low, "95 %"), (high, None)):
                    ax.axvline(edge, color=ESTIMATE, linewidth=0.9, linestyle=":", label=label)
                ax.set_yticks([])
            else:
                ax.hist2d(x[:, j], x[:, i], bins=(edges[j], edges[i]), cmap="Blues")
            if truth is not None:
                ax.axvline(truth[j], color=TRUTH, linewidth=0.9, linestyle=(0, (4, 2)), label="truth")
                if i != j:
                    ax.axhline(truth[i], color=TRUTH, linewidth=0.9, linestyle=(0, (4, 2)))
            if i == dim - 1:
                ax.set_xlabel(names[j])
            else:
                ax.set_xticklabels([])
            if j == 0 and i > 0:
                ax.set_ylabel(names[i])
            elif j > 0:
                ax.set_yticklabels([])
            ax.locator_params(axis="x", nbins=4)
    where = {"loc": "upper left", "bbox_to_anchor": (1, 1), "ncols": 1} if dim > 1 else {}
    axes[0, 0].legend(**(LEGEND | where)).set_in_layout(dim == 1)  # of more it lies where there is no panel
    return axes


def health(what: Run, *, ax: Any = None) -> Any:
    """Health record by record, and the loss as a line."""
    rows = _one_trial(what)
    ax = _axes(1, ax)[0]
    step, words = what["step"][rows], what["health"][rows]
    order = [h.value for h in HEALTH if (words == h.value).any()]
    for level, word in enumerate(order):
        chosen = words == word
        ax.plot(step[chosen], np.full(chosen.sum(), level), "|", color=COLOURS[word], markersize=14)
    ax.set_yticks(range(len(order)), order)
    ax.set_ylim(-0.7, len(order) - 0.3)
    ax.set_xlabel("record")
    loss = what["loss"][rows]
    if (loss > 0).any():
        other = ax.twinx()
        other.plot(step, loss, color=DATA, linewidth=1)
        other.set_ylabel("loss, nats", color=DATA)
        other.set_ylim(0)
    return ax


def questions(what: Run, *, axes: Any = None) -> list[Any]:
    """The settings that were chosen, and their outcomes. If there are two, 1 is filled; else the colour is the outcome."""
    rows = _one_trial(what)
    names = [s.name for s in what.model.settings if s.role != "fixed"]
    if not names:
        raise Refused(f"model {what.model.name} has no settings to choose")
    labels = {s.name: s.label for s in what.model.settings}
    drawn = _axes(len(names), axes)
    step, outcome = what["step"][rows], what["outcome"][rows]
    for ax, name in zip(drawn, names):
        values = what[name][rows]
        if what.model.outcomes_end == 2:
            for result, face in ((0, "none"), (1, ESTIMATE)):
                chosen = outcome == result
                ax.scatter(step[chosen], values[chosen], s=12, facecolors=face, edgecolors=ESTIMATE, linewidths=0.7, label=f"outcome {result}")
        else:
            ax.figure.colorbar(ax.scatter(step, values, s=12, c=outcome, cmap="viridis"), ax=ax, label="outcome")
        if (missed := np.isnan(outcome)).any():
            ax.scatter(step[missed], values[missed], s=14, marker="x", color=ALARM, linewidths=0.9, label="no outcome")
        positive = values[values > 0]
        if len(positive) == len(values) and len(values) and positive.max() > 50 * positive.min():
            ax.set_yscale("log")
        ax.set_ylabel(labels[name])
        ax.margins(x=0.01)
    if drawn[0].get_legend_handles_labels()[0]:
        drawn[0].legend(**LEGEND)
    drawn[-1].set_xlabel("record")
    return drawn
