"""Many records at once: replays, passes, simulations, comparisons."""

from __future__ import annotations

import contextlib
import importlib
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _rejfilt
from ._model import Floats, Model, _find, floats, motion_of, number, pair, seed_of, text, whole
from ._rejfilt import Refused
from ._tracker import HEALTH, SAMPLERS, Evidence, Interval, Tracker, _one_of, at_least, by_parameter, columns, learnt, moving, prior_of, seal, settings_rows, unseal

SLICE = 0.03  # seconds in the library between two looks at Ctrl-C and at the progress bar


class Run:
    """The results of a run, a row for every update; the columns are those of the command's CSV.

    >>> import rejfilt
    >>> run = rejfilt.simulate("precession", steps=50, seed=1)
    >>> run["x.mean"].shape, run.array.dtype.names[:3]
    ((50,), ('trial', 'step', 'time'))
    """

    def __init__(self, model: Model, names: Sequence[str], rows: Floats, tracker: Tracker | None = None) -> None:
        self.model = model
        self.tracker = tracker  #: the one that was followed, as it is after the run
        self._names = list(names)
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        return f"<rejfilt.Run {self.model.name}: {len(self)} updates>"

    def __getitem__(self, name: str) -> NDArray[Any]:
        """A column."""
        if name not in self._names:
            raise KeyError(f"{name}; there are {', '.join(self._names)}")
        numbers = self._rows[:, self._names.index(name)]
        return np.array([h.value for h in HEALTH])[numbers.astype(int)] if name == "health" else numbers

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        """All of them; without times and truths where there are none."""
        return {
            name: self[name]
            for name in self._names
            if not ((name == "time" or name.startswith("truth.")) and np.isnan(self._rows[:, self._names.index(name)]).all())
        }

    @property
    def array(self) -> NDArray[Any]:
        """A structured array."""
        out = np.empty(len(self), dtype=[(name, "U10" if name == "health" else np.float64) for name in self._names])
        for name in self._names:
            out[name] = self[name]
        return out

    def to_pandas(self) -> Any:
        """A DataFrame."""
        return importlib.import_module("pandas").DataFrame(self.columns)

    def to_polars(self) -> Any:
        """A polars DataFrame."""
        return importlib.import_module("polars").DataFrame(self.columns)

    def to_xarray(self) -> Any:
        """A Dataset: what there is for every parameter has the dimensions update and parameter."""
        of = [p.name for p in self.model.parameters]
        there = self.columns
        data: dict[str, Any] = {}
        for what in ("mean", "sd", "low", "high", "chart_mean", "chart_sd"):
            data[what] = (("update", "parameter"), np.stack([there.pop(f"{p}.{what}") for p in of], axis=1))
        truths = [there.pop(f"truth.{p}") for p in of if f"truth.{p}" in there]
        if len(truths) == len(of):
            data["truth"] = (("update", "parameter"), np.stack(truths, axis=1))
        data |= {name: ("update", values) for name, values in there.items()}
        return importlib.import_module("xarray").Dataset(data, coords={"parameter": of})


@contextlib.contextmanager
def _progress(wanted: bool, total: int, what: str) -> Iterator[Any]:
    """A function to call with the number of records done since its last call."""
    if not wanted:
        yield lambda more: None
        return
    with importlib.import_module("tqdm.auto").tqdm(total=total, unit=what) as bar:
        yield bar.update


def outcomes_of(model: Model, given: Any) -> Floats:
    """Outcomes as an array; NaN: nothing was measured. Raises Refused for one that the model does not have."""
    outcomes = floats("outcomes", given)
    if outcomes.ndim != 1:
        raise Refused(f"outcomes are a column of numbers, not an array of shape {outcomes.shape}")
    n = model.outcomes_end
    strange = np.isinf(outcomes) if n == 0 else ~(np.isnan(outcomes) | ((outcomes >= 0) & (outcomes < n) & (outcomes == np.floor(outcomes))))
    if strange.any():
        row = int(np.argmax(strange))
        wanted = "a finite number" if n == 0 else "0 or 1" if n == 2 else "a whole number from 0 on" if n == math.inf else f"a whole number from 0 to {n - 1:g}"
        raise Refused(f"row {row}: outcome {outcomes[row]:g} of model {model.name} is not {wanted}")
    return outcomes


def table(model: Model, data: Any, outcome: str = "outcome", time: str = "time") -> tuple[Floats, Floats, Floats | None]:
    """Settings by row, outcomes and times of records: by name, from a DataFrame of pandas or polars, a structured array, a mapping of columns or a
    list of records, which are mappings; or from a tuple (settings, outcomes) or (settings, outcomes, times). What may be read in two ways is refused."""
    if isinstance(data, (list, tuple)) and data and all(isinstance(record, Mapping) for record in data):
        without = [row for row, record in enumerate(data) if outcome not in record]
        if 0 < len(without) < len(data):
            raise Refused(f"record {without[0]} has no '{outcome}'; None says that nothing was measured")
        data = {name: [record.get(name, math.nan) for record in data] for name in {name: None for record in data for name in record}}
    if hasattr(data, "collect"):  # a lazy frame of polars
        data = data.collect()
    if isinstance(data, tuple) and len(data) in (2, 3):
        outcomes, given = outcomes_of(model, data[1]), data[0]
        times = floats("time", data[2]) if len(data) == 3 and data[2] is not None else None
    else:
        names = getattr(getattr(data, "dtype", None), "names", None)
        if names is None:
            names = data.columns if hasattr(data, "columns") else data.keys() if isinstance(data, Mapping) else None
        if names is None:
            raise TypeError("records are a DataFrame, a structured array, a mapping of columns, a list of mappings, or a tuple (settings, outcomes)")
        there = list(names)
        if outcome not in there:
            raise Refused(f"there is no column '{outcome}' among {', '.join(map(str, there)) or 'none'}; say which one is the outcome")
        if time not in [*there, "time"]:  # without a word there may be none
            raise Refused(f"there is no column '{time}' among {', '.join(map(str, there))}")
        outcomes, given = outcomes_of(model, data[outcome]), {s.name: data[s.name] for s in model.settings if s.name in there}
        times = floats("time", data[time]) if time in there and time not in [s.name for s in model.settings] else None
    settings = settings_rows(model, given, len(outcomes))
    strange = ~np.isfinite(settings) & ~np.isnan(outcomes)[:, None]
    if strange.any():
        row, column = (int(i) for i in np.argwhere(strange)[0])
        raise Refused(f"row {row}: setting {model.settings[column].name} is {settings[row, column]:g}")
    return settings, outcomes, times


def replay(
    what: Tracker | Model | str | os.PathLike[str], data: Any, *, outcome: str = "outcome", time: str = "time", progress: bool = False, **options: Any
) -> Run:
    """Learns from records, one after the other (`batch=` of them together), and returns the estimates after each update.

    what: a `Tracker`, which continues, or a model, for a new tracker with `options` and design=None.
    data: a DataFrame, a structured array or a mapping. It has a column for each setting, one for the outcome (NaN: nothing was
    measured), and possibly one for the time. Or a tuple (settings, outcomes) or
    (settings, outcomes, times), with settings by name or as rows. What may be read in two ways is refused.

    Outcomes and settings that are not of the model are refused before the first record is learnt. Ctrl-C ends a replay after the
    current update, and the tracker has learnt the records before. The same holds if a record is refused; the exception says which.

    >>> import rejfilt
    >>> records = {"t": [1.0, 2.0, 4.0], "x_": [0.3, 0.3, 0.5], "outcome": [1, 1, 0]}
    >>> rejfilt.replay("precession", records, belief="grid")["x.mean"].round(2)
    array([0.74, 0.57, 0.71])
    """
    tracker = what if isinstance(what, Tracker) else Tracker(what, **({"design": None} | options))
    if isinstance(what, Tracker) and options:
        raise TypeError("a tracker has its options already")
    settings, outcomes, times = table(tracker.model, data, outcome, time)
    names = columns(tracker.model)
    rows = np.empty((len(outcomes), len(names)))
    done = updates = 0
    with _progress(progress, len(outcomes), "record") as advance:
        while done < len(outcomes):
            to, more, before = tracker._replay(settings, outcomes, times, done, rows[updates:], SLICE, tracker.on_health is not None)
            advance(to - done)
            done, updates = to, updates + more
            if before is not None:
                tracker._health_changed(before)
    return Run(tracker.model, names, rows[:updates], tracker)


class Jump(NamedTuple):
    """A jump of the simulated truth. A tuple means the same.

    >>> import rejfilt
    >>> run = rejfilt.simulate("precession", steps=40, seed=1, jump=rejfilt.Jump(1.0, at=30))
    >>> bool(abs(run["truth.x"][30] - run["truth.x"][29]) > 0.9)
    True
    """

    size: float | tuple[float, float]  #: in the chart; a pair: drawn between the two, up or down
    at: int = 0  #: the jump is before this measurement, from 1,
    every: int = 0  #: or at random, before one measurement of so many on average
    parameter: str | None = None  #: which parameter jumps; by default the first


class Outage(NamedTuple):
    """A failure of the simulated detector for a while. A tuple means the same.

    >>> import rejfilt
    >>> run = rejfilt.simulate("precession", steps=150, seed=1, outage=rejfilt.Outage(0, at=50, length=40))
    >>> print(run["outcome"][50:90].max(), run["health"][85])
    0.0 fault
    """

    what: float | str  #: the outcome at which it is stuck; or "coin", "missing", "swapped"
    at: int  #: its first measurement, from 0
    length: int  #: how many measurements it lasts
    flips: float = 0.0  #: if it is stuck, the share of outcomes that differ all the same


def _events(what: str, given: Any, kind: type[Any]) -> list[Any]:
    """One event, or a list of them."""
    events = [] if given is None else given if isinstance(given, list) else [given]
    try:
        return [kind(*event) for event in events]
    except TypeError:
        raise Refused(f"{what}: {given!r} is no {kind.__name__}{kind._fields}, nor a list of them") from None


def _share(what: str, given: float) -> float:
    if not 0 <= number(what, given) <= 1:
        raise Refused(f"{what}: {given:g} is not from 0 to 1")
    return float(given)


def _jump_row(model: Model, jump: Jump) -> tuple[float, ...]:
    low, high = pair("jump: its size", jump.size if isinstance(jump.size, tuple) else (jump.size, jump.size))
    whole("jump: at", jump.at, 0, 2**31 - 1), whole("jump: every", jump.every, 0, 2**31 - 1)
    if not -math.inf < low <= high < math.inf:
        raise Refused(f"jump: {low:g} to {high:g} is an empty range")
    if min(jump.at, jump.every) != 0 or max(jump.at, jump.every) < 1:
        raise Refused("jump: it needs one of at and every, from 1 on")
    return 0, model.parameter_index(jump.parameter) if jump.parameter else 0, low, high, jump.at, jump.every


def _outage_row(model: Model, outage: Outage) -> tuple[float, ...]:
    kinds = ("coin", "missing", "swapped")
    what = outage.what
    if isinstance(what, str):
        if what not in kinds:
            raise Refused(f"outage: '{what}' is none of {', '.join(kinds)}, and no outcome")
        kind, stuck = 1 + kinds.index(what), 0.0
    else:
        kind, stuck = 0, number("outage: what", what)
    whole("outage: at", outage.at, 0, 2**31 - 1), whole("outage: length", outage.length, 1, 2**31 - 1)
    if not (0 <= stuck < model.outcomes_end if model.outcomes_end else math.isfinite(stuck)):
        raise Refused(f"outage: {stuck:g} is no outcome of model {model.name}")
    if kind and outage.flips:
        raise Refused("outage: flips are of a detector that is stuck")
    return 1, kind, stuck, _share("outage: flips", outage.flips), outage.at, outage.length


def _truth_of(given: Any) -> tuple[bool, float, float]:
    if np.ndim(given) > 0:
        return prior_of(given)
    if not math.isfinite(number("a truth", given)):
        raise Refused(f"a truth is a finite number, not {given:g}")
    return True, float(given), 0.0


def _world(model: Model, jump: Any, outage: Any, truth: Any, true_drift: Any, flips: float, contrast: float, true_t2: float) -> Floats:
    """Seven numbers a row, as the module reads them."""
    if not number("true_t2", true_t2) > 0:
        raise Refused(f"true_t2: {true_t2:g} is not positive")
    if true_t2 < math.inf and not any(s.role == "time" for s in model.settings):
        raise Refused(f"true_t2: model {model.name} has no time among its settings")
    drifts = by_parameter(model, "true_drift", true_drift, motion_of)
    if model.moves and moving(drifts):
        raise Refused(f"true_drift: model {model.name} moves by its own dynamics")
    rows: list[tuple[float, ...]] = [(4, _share("flips", flips), 1 - _share("contrast", contrast), 1 / true_t2)]
    rows += [_jump_row(model, event) for event in _events("jump", jump, Jump)]
    rows += [_outage_row(model, event) for event in _events("outage", outage, Outage)]
    rows += [(2, i, *first) for i, first in enumerate(by_parameter(model, "truth", truth, _truth_of)) if first is not None]
    rows += [(3, i, *drift) for i, drift in enumerate(drifts) if drift is not None]
    return np.array([[*row, *[0.0] * (7 - len(row))] for row in rows], dtype=float).ravel()


def simulate(
    model: Tracker | Model | str | os.PathLike[str],
    *,
    steps: int = 300,
    trials: int = 1,
    first: int = 0,
    batch: int = 1,
    jump: Any = None,
    outage: Any = None,
    truth: Any = None,
    true_drift: Any = None,
    flips: float = 0.0,
    contrast: float = 1.0,
    true_t2: float = math.inf,
    gaussian_truth: bool = False,
    progress: bool = False,
    **options: Any,
) -> Run:
    """Simulates a truth that walks, measurements of it, and a tracker that follows. With `trials` it does so many times, and the
    first column is `trial`. `options` are those of `Tracker`. These describe a world that is not as the tracker believes:

    jump, outage: a `Jump`, an `Outage`, or a list of them.
    truth: where parameters begin, by name or one for all: a number, or the range or Gaussian from which it is drawn.
    true_drift: how the truth moves, in the form of `drift`.
    flips: the share of outcomes that are replaced by another one.
    contrast, true_t2: contrast and decoherence of the fringes. The other outcomes are random.

    >>> import rejfilt
    >>> run = rejfilt.simulate("precession", steps=100, trials=20, seed=1)
    >>> bool(abs(run["x.mean"] - run["truth.x"])[run["step"] == 99].mean() < 0.1)
    True
    """
    whole("steps", steps, 1, 2**31 - 1), whole("trials", trials, 0, 2**31 - 1), whole("first", first, 0, 2**32 - 1 - trials)
    whole("batch", batch, 1, _rejfilt.ASK_MAX)
    if isinstance(model, Tracker) and options:
        raise TypeError("a tracker has its options already")
    tracker = model if isinstance(model, Tracker) else Tracker(model, **options)
    world = _world(tracker.model, jump, outage, truth, true_drift, flips, contrast, true_t2)
    names = ["trial", *columns(tracker.model)]
    parts = []
    with _progress(progress, trials, "trial") as advance:
        for trial in range(first, first + trials):
            rows = np.empty((math.ceil(steps / batch), len(names)))
            count = tracker._simulate(steps, batch, world, gaussian_truth, trial, 1, rows)
            parts.append(rows[:count])
            advance(1)
    return Run(tracker.model, names, np.concatenate(parts) if parts else np.empty((0, len(names))))


class Posterior(NamedTuple):
    """The result of passes over all records. mean, sd and intervals are named tuples in natural units."""

    model: Model
    mean: Any
    sd: Any
    interval95: Any
    chart_mean: Floats
    chart_cov: Floats
    evidence: Evidence  #: ln P of all records, and its standard error
    effective: float  #: effective points of the last pass
    points: int
    passes: int
    bad: int  #: points whose likelihood was NaN, negative or infinite for a record
    trustworthy: bool
    quantiles: dict[float, Any]


def passes(
    model: Model | str | os.PathLike[str],
    data: Any,
    *,
    outcome: str = "outcome",
    quantiles: Sequence[float] = (0.025, 0.25, 0.5, 0.75, 0.975),
    **options: Any,
) -> Posterior:
    """The posterior of static parameters, to three digits, by a few passes over all records. Options are those of
    `Tracker` about the prior (prior, chart), seed and engine. The drift is 0.

    >>> import rejfilt
    >>> result = rejfilt.passes("coin", {"outcome": [1, 1, 0, 1, 0, 1, 1, 1]}, seed=1)
    >>> round(result.mean.p, 2), result.trustworthy
    (0.7, True)
    """
    tracker = Tracker(_find(model), **({"design": None, "drift": None if _find(model).moves else 0.0} | options))
    tracker._check_passes()
    settings, outcomes, _ = table(tracker.model, data, outcome)
    known = ~np.isnan(outcomes)
    rows = np.ascontiguousarray(np.column_stack([settings[known], outcomes[known]]))
    levels = floats("quantiles", quantiles).reshape(-1)
    if not ((levels > 0) & (levels < 1)).all():
        raise Refused(f"quantiles are between 0 and 1, not {quantiles!r:.60}")
    mean, sd, low, high, chart_mean, triangle, log, log_sd, effective, points, count, bad, verdict, at = tracker._passes(rows, levels)
    dim = len(tracker.model.parameters)
    cov = np.zeros((dim, dim))
    cov[np.tril_indices(dim)] = triangle
    named = tracker.model.Parameters
    return Posterior(
        tracker.model, named(*mean), named(*sd), named(*map(Interval._make, zip(low, high))), np.array(chart_mean), cov + np.tril(cov, -1).T,
        Evidence(log, log_sd), effective, points, count, bad, verdict == 0, {float(p): named(*values) for p, values in zip(levels, at)},
    )  # fmt: skip


CONCLUSIONS = ("within noise", "undecided", "slightly favoured", "favoured")


class Candidate(NamedTuple):
    """A model among others. log_factor is ln K against the best: 0 for that one, else negative."""

    name: str
    evidence: Evidence
    log_factor: float
    log_factor_sd: float
    probability: float  #: if all were equally probable before
    by_passes: bool
    trustworthy: bool  #: enough points, or attempts of each update, were possible, and no likelihood was NaN, negative or infinite


class Comparison(NamedTuple):
    """Which model do the records favour? The candidates in the given order, the names `best` and `second`, and the conclusion."""

    candidates: tuple[Candidate, ...]
    best: str
    second: str
    log_factor: float  #: ln K of the best over the second
    log_factor_sd: float
    conclusion: str

    def __str__(self) -> str:
        lines = [
            f"{c.name:<24} ln evidence {c.evidence.log:9.3f} ± {c.evidence.sd:.3f}   ln K {c.log_factor:9.3f} ± {c.log_factor_sd:.3f}   {100 * c.probability:5.1f} %"
            + ("" if c.trustworthy else "   not trustworthy")
            for c in self.candidates
        ]
        return "\n".join([*lines, f"{self.best} against {self.second}: {self.conclusion}, ln K = {self.log_factor:.2f} ± {self.log_factor_sd:.2f}"])


def compare(
    models: Sequence[Any] | Mapping[str, Any],
    data: Any,
    *,
    outcome: str = "outcome",
    time: str = "time",
    seed: Any = 1,
    repeats: int | None = None,
    attempts: int | None = None,
    passes: bool | None = None,
    engine: str = "simd",
) -> Comparison:
    """Which model do the records favour? The numbers are those of `rejfilt compare`.

    models: at least two, each a model, or a pair of a model and a dict of its options (prior, drift, ...). A mapping gives them names.
    passes: the exact evidence of candidates without drift. It is the default, unless `attempts` or `repeats` are given.

    >>> import rejfilt
    >>> records = {"t": [1.0, 2.0, 3.0, 5.0] * 10, "x_": [0.3] * 40, "outcome": [1, 1, 0, 1] * 10}
    >>> result = rejfilt.compare({"still": ("precession", {"drift": 0}), "drifting": "precession"}, records)
    >>> result.best, result.conclusion
    ('still', 'slightly favoured')
    """
    if isinstance(models, (str, Model)) or not isinstance(models, (Sequence, Mapping)):
        raise TypeError(f"models are a list or a mapping by name, not {models!r}")
    given = list(models.items()) if isinstance(models, Mapping) else [(None, m) for m in models]
    if len(given) < 2:
        raise Refused("one model has nothing to be compared with")
    by_passes = passes if passes is not None else attempts is None and repeats is None
    count = 4 if repeats is None else whole("repeats", repeats, 1, 1_000_000)
    common = seed_of(seed)
    names: list[str] = []
    scores: list[list[Any]] = []
    passed: list[bool] = []
    trusted: list[bool] = []
    kinds: set[float] = set()
    for label, one in given:
        model, options = one if isinstance(one, tuple) and len(one) == 2 else (one, {})
        if not isinstance(options, Mapping):
            raise TypeError(f"options of a model are a mapping by name, not {options!r}")
        tracker = Tracker(
            model, **({"design": None, "seed": common, "attempts": attempts or 1000, "sampler": "reject", "engine": engine} | dict(options))
        )
        kinds.add(tracker.model.outcomes_end)
        if len(kinds) > 1:
            raise Refused(f"{names[0]} and {tracker.model.name} cannot be compared: they speak of different outcomes")
        names.append(str(label) if label is not None else tracker.model.name)
        settings, outcomes, times = table(tracker.model, data, outcome, time)
        still = not tracker.model.moves and not moving(_drifts(tracker))
        passed.append(by_passes and still)
        if passed[-1]:
            known = ~np.isnan(outcomes)
            found = tracker._passes(np.ascontiguousarray(np.column_stack([settings[known], outcomes[known]])), np.array([0.5]))
            scores.append([(found[6], found[7] ** 2)] * count)
            trusted.append(found[12] == 0 and found[11] == 0)
        else:
            scores.append(tracker._score(settings, outcomes, times, count))
            trusted.append(not any(starved or bad for _, _, starved, bad, _ in scores[-1]))
    logs = [_rejfilt.evidence(s, s)[:2] for s in scores]
    order = sorted(range(len(logs)), key=lambda i: (-logs[i][0], i))
    best, second = order[0], order[1]
    factors = [_rejfilt.evidence(s, scores[best])[2:4] if i != best else (0.0, 0.0) for i, s in enumerate(scores)]
    weights = np.exp([factor for factor, _ in factors])
    candidates = tuple(
        Candidate(name, Evidence(*log), factor[0], factor[1], float(weight / weights.sum()), was, is_trusted)
        for name, log, factor, weight, was, is_trusted in zip(names, logs, factors, weights, passed, trusted)
    )
    _, _, factor, sd, verdict = _rejfilt.evidence(scores[best], scores[second])
    return Comparison(candidates, names[best], names[second], factor, sd, CONCLUSIONS[verdict])


def _drifts(tracker: Tracker) -> list[tuple[float, ...]]:
    wish = learnt(tracker._options["drift"])[1]
    of = {p.name: p.drift for p in tracker.model.parameters}
    if isinstance(wish, Mapping):
        of |= wish
    return [motion_of(drift) for drift in (of.values() if wish is None or isinstance(wish, Mapping) else [wish])]


def _walk_of(given: Any) -> float:
    """The standard deviation of a step."""
    kind, sd, *_ = motion_of(given)
    if kind:
        raise Refused("a fleet's parameters walk")
    return sd


class Fleet(_rejfilt.Fleet):
    """Many Gaussians of one model, updated together: arrays in, arrays out.

    >>> import numpy as np
    >>> import rejfilt
    >>> fleet = rejfilt.Fleet("precession", 1000, seed=1)
    >>> settings = fleet.ask()
    >>> settings.shape
    (1000, 2)
    >>> fleet.tell(np.ones(1000), settings)
    <Note: 0>
    >>> fleet.mean.shape
    (1000, 1)

    Filter i has the bits of `Tracker(model, seed=seed, trial=i, belief="gaussian", on_lost="ignore", ...)`, but it may become wider than
    three times its prior, because fleets have no tests of health.
    design: the rule that chooses experiments; by default `pgh`.
    """

    model: Model
    _arguments: tuple[Any, ...]

    def __init__(
        self,
        model: Model | str | os.PathLike[str],
        count: int,
        *,
        prior: Any = None,
        drift: float | Mapping[str, float] | None = None,
        design: str | None = "pgh",
        engine: str = "threads",
        sampler: str | None = None,
        attempts: int = 0,
        accepted: int = 0,
        kappa: float | None = None,
        recovery: float | None = None,
        seed: Any = None,
    ) -> None:
        self.model = made = _find(model)
        self.count = whole("count", count, 1, 2**32 - 1)
        self.design = text("design", design)
        self._arguments = (
            made, self.count, text("engine", engine) or "threads", seed_of(seed), whole("attempts", attempts, 0, 2**31 - 1),
            whole("accepted", accepted, 0, 2**31 - 1), _one_of("sampler", sampler, SAMPLERS), at_least("kappa", 1e-30, kappa),
            at_least("recovery", 0, recovery), by_parameter(made, "prior", prior, prior_of), by_parameter(made, "drift", drift, _walk_of),
        )  # fmt: skip
        self._open(*self._arguments)

    def __len__(self) -> int:
        return self.count

    def __repr__(self) -> str:
        return f"<rejfilt.Fleet {self.model.name}: {self.count} filters, told {self._told} times>"

    def ask(self) -> Floats:
        """The settings of every filter's next experiment, as rows."""
        if self.design is None:
            raise Refused("this fleet has no design: it was made with design=None")
        out = np.empty((self.count, len(self.model.settings)))
        self._ask(self.design, out)
        return out

    def tell(self, outcomes: ArrayLike, settings: Any = (), *, elapsed: float | None = None) -> Any:
        """Every filter learns from its outcome; NaN: there was none. settings: a row for each, one for all, or columns by name. elapsed: how
        much time passed since the outcomes before; one unit, and none before the first."""
        told = floats("outcomes", outcomes)
        if told.shape != (self.count,):
            raise Refused(f"outcomes of shape {told.shape} were given; this fleet has {self.count} filters")
        rows = settings_rows(self.model, settings, self.count)
        try:
            return self._tell(told, rows, float(self._told > 0) if elapsed is None else number("elapsed", elapsed))
        except Refused:
            strange = np.argwhere(~np.isfinite(rows) & ~np.isnan(told)[:, None])
            if len(strange) == 0:
                raise
            row, column = strange[0]
            raise Refused(f"filter {row}: setting {self.model.settings[column].name} is {rows[row, column]:g}") from None

    def _moments(self, natural: bool) -> tuple[Floats, Floats]:
        mean, sd = np.empty((2, self.count, len(self.model.parameters)))
        self._read(mean, sd, natural)
        return mean, sd

    @property
    def mean(self) -> Floats:
        """Means, natural units; a row for each filter."""
        return self._moments(True)[0]

    @property
    def sd(self) -> Floats:
        """Standard deviations, natural units; a row for each filter."""
        return self._moments(True)[1]

    @property
    def chart_mean(self) -> Floats:
        """Means in the chart."""
        return self._moments(False)[0]

    @property
    def chart_sd(self) -> Floats:
        """Standard deviations in the chart."""
        return self._moments(False)[1]

    def _parts(self) -> tuple[Any, ...]:
        return self._arguments[1:], self.design, self._save()

    def __reduce__(self) -> tuple[Any, ...]:
        return _refleet, (type(self), self.model, seal(self.model, self._parts()))

    def __copy__(self) -> Fleet:
        return _fleet(type(self), self.model, *self._parts())

    def __deepcopy__(self, memo: dict[int, Any]) -> Fleet:
        return self.__copy__()


def _fleet(of: type[Fleet], made: Model, arguments: tuple[Any, ...], design: str | None, saved: bytes) -> Fleet:
    fleet = of.__new__(of)
    fleet.model, fleet.count = made, arguments[0]
    fleet.design, fleet._arguments = design, (made, *arguments)
    fleet._open(*fleet._arguments)
    fleet._load(saved)
    return fleet


def _refleet(of: type[Fleet], made: Model, sealed: Any, *older: Any) -> Fleet:
    if older:
        raise Refused("this fleet was pickled by an older version, as memory without a checksum: make it again")
    return _fleet(of, made, *unseal(made, sealed))
