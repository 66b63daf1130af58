"""Trackers: ask what to measure, tell what was measured, read the estimates."""

from __future__ import annotations

import copy
import enum
import os
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _rejfilt
from ._model import CHARTS, Drift, Floats, Model, Parameter, _find, floats, mapping, motion_of, number, pair, seed_of, text, whole
from ._rejfilt import Refused


class Note(enum.IntFlag):
    """Notes of an update; mostly there are none.

    >>> bool(Note(0)), Note(9)
    (False, <Note.WIDENED|ABOVE: 9>)
    """

    WIDENED = 1  #: too few attempts were accepted: mean kept, covariance widened
    SINGLE = 2  #: one attempt was accepted: mean moved there, covariance kept
    SHORT = 4  #: the cap on attempts was reached before enough were accepted
    ABOVE = 8  #: some likelihoods were above the bound
    BAD = 16  #: some likelihoods were NaN, negative or infinite and counted as zero
    CLAMPED = 32  #: the new covariance was singular or beyond the limits, and was held at them
    COARSE = 64  #: a standard deviation was below the spacing of numbers near the mean, and was held there
    CAPPED = 128  #: a question was held at the end of a setting's range: a wider one would tell more
    FEW = 256  #: too few attempts were effective
    BROKEN = 512  #: nothing was left to learn from: likelihoods were NaN, negative or infinite
    RANGE = 1024  #: a setting was outside its range; learnt all the same

    @property
    def text(self) -> str:
        """In words."""
        return "; ".join(_rejfilt.status_text(bit) for bit in Note if self & bit) or "fine"


_rejfilt._set_notes(Note)


class Health(enum.StrEnum):
    """Does the belief still contain the truth?"""

    TRACKING = "tracking"
    SUSPICIOUS = "suspicious"
    RECOVERING = "recovering"
    LOST = "lost"
    FAULT = "fault"  #: outcomes do not vary as they should: nothing is learnt from them
    COARSE = "coarse"  #: tracking, but the belief's shape is too coarse: intervals may be wrong


HEALTH = tuple(Health)  # as the library numbers them; the last one is -1
SAMPLERS = ("reject", "lattice", "weight")


class Normal(NamedTuple):
    """A Gaussian prior, in natural units."""

    mean: float
    sd: float


class Uniform(NamedTuple):
    """A uniform prior; a pair of numbers means the same."""

    low: float
    high: float


class Evidence(NamedTuple):
    """ln P of all records so far, and the standard error of the estimate."""

    log: float
    sd: float


class Interval(NamedTuple):
    """Of one parameter, natural units."""

    low: float
    high: float


def columns(model: Model) -> list[str]:
    """Of a row of results: the names of the command's CSV, and `tested`: 1 a test failed, -1 it was passed, 0 there was none."""
    of = [p.name for p in model.parameters]
    return (
        ["step", "time"]
        + [f"truth.{p}" for p in of]
        + [f"{p}.{what}" for p in of for what in ("mean", "sd", "low", "high", "chart_mean", "chart_sd")]
        + [f"chart_covariance.{a}.{b}" for i, a in enumerate(of) for b in of[:i]]
        + [s.name for s in model.settings]
        + ["outcome", "records", "attempts", "accepted", "acceptance", "kappa", "delta", "log_evidence", "log_evidence_sd", "loss"]
        + ["widened", "restarts", "notes", "health", "tested"]
    )


def by_parameter(model: Model, what: str, given: Any, each: Any) -> tuple[Any, ...]:
    """One value for each parameter, from a mapping by name, or from one value for all. None where none is given."""
    if given is None:
        return (None,) * len(model.parameters)
    wishes: list[Any] = [None] * len(model.parameters)
    try:
        for name, value in given.items() if isinstance(given, Mapping) else ((p.name, given) for p in model.parameters):
            wishes[model.parameter_index(name)] = each(value)
    except (Refused, TypeError) as error:
        raise type(error)(f"{what}: {error}") from None
    return tuple(wishes)


def moving(drifts: Iterable[Any]) -> bool:
    """Does any parameter move?"""
    return any(drift is not None and any(drift) for drift in drifts)


def learnt(given: Any) -> tuple[bool, Any]:
    """(is the drift learnt, the drift given to begin with)"""
    if isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], str) and given[0] == "learn":
        return True, given[1]
    return (True, None) if isinstance(given, str) and given == "learn" else (False, given)


def prior_of(given: Any) -> tuple[bool, float, float]:
    """(is it a Gaussian, mean or low, sd or high)"""
    if isinstance(given, Normal):
        if not number("a standard deviation", given.sd) > 0:
            raise Refused(f"the standard deviation {given.sd:g} is not positive")
        return True, number("a mean", given.mean), float(given.sd)
    low, high = pair("a range", given)
    if not high > low:
        raise Refused(f"{low:g} to {high:g} is an empty range")
    return False, float(low), float(high)


def chart_of(given: Any) -> tuple[int, float, float]:
    """(kind, low, high)"""
    if not isinstance(given, Parameter):
        raise TypeError(f"it is one of Real, Positive, Bounded and Periodic, not {given!r}")
    return CHARTS.index(given.chart), float(given.low), float(given.high)


def at_least(what: str, least: float, given: float | None) -> float:
    """The number, which must be at least `least`. None becomes -1, which the library takes for its default."""
    if given is None:
        return -1.0
    if not least <= number(what, given) < 1e9:
        raise Refused(f"{what} {given:g} is not {'positive' if least else 'from 0 on'}")
    return float(given)


def each(model: Model, name: str, values: Iterable[Any], spell: Callable[[Any], str]) -> Iterator[tuple[str, str]]:
    """Options of the library for each parameter that has a value."""
    return ((name, f"{p.name}={spell(value)}") for p, value in zip(model.parameters, values) if value is not None)


def drift_text(numbers: tuple[float, ...]) -> str:
    """A drift as the command writes it."""
    kind, a, b, first, second = map(float, numbers)
    return repr(a) if kind == 0 else f"{a!r}+-{b!r}~{first!r}" if kind == 1 else f"{a!r}:{b!r}~{first!r}:{second!r}"


def _one_of(what: str, given: str | None, names: tuple[str, ...]) -> int:
    if text(what, given) is None:
        return -1
    if given not in names:
        raise Refused(f"{what} '{given}' is none of {', '.join(names)}")
    return names.index(given)


class Tracker(_rejfilt.Session):
    """A model, the belief about its parameters, the design of experiments, and tests whether the belief still contains the truth.

    >>> import rejfilt
    >>> tracker = rejfilt.Tracker("precession", seed=1)
    >>> question = tracker.ask()
    >>> question
    Settings(t=2.1..., x_=1.53...)
    >>> tracker.tell(1)
    <Note: 0>
    >>> tracker.mean.x > 0.8, tracker.health  # it was near the reference x_
    (True, <Health.TRACKING: 'tracking'>)

    model: a name, a C source, or a `Model`.
    prior: by name of a parameter, or one for all: `(low, high)` or `Normal(mean, sd)`.
    drift: likewise: the standard deviation of a step per unit of time, "learn" (("learn", 0.1) begins with 0.1), `Reverting(...)` or `Telegraph(...)`.
    chart: by name of a parameter: `Real(...)`, `Positive(...)`, `Bounded(...)`, `Periodic(...)`.
    range, cost: by name of a setting.
    belief: "mixture", "gaussian", "particles:2000" or "grid". By default a mixture, or one Gaussian if another option
    needs it (attempts, sampler, ...).
    design: "auto", "risk", "pgh", "quadrature", ..., or None if settings come with the records.
    engine: "simd", "serial", "threads:2", ...: the bits are the same.
    sampler: "weight", "reject" or "lattice".
    seed: None, a whole number (the command's --seed), or one of numpy's.
    `rejfilt track --help` explains the other options.

    on_health(before, tracker) is called after each `tell`, or record of `replay`, that changes `tracker.health`. It may use the
    tracker. If it raises an exception, `tell` ends with it, and the record is learnt. It may be set later. A copy keeps it, a pickle
    does not.

    >>> tracker = rejfilt.Tracker("precession", seed=1, on_health=lambda before, t: print(f"{before.value} -> {t.health.value}"))
    >>> for _ in range(25):  # a detector that always says 0
    ...     question, note = tracker.ask(), tracker.tell(0)
    tracking -> fault
    >>> question, note = tracker.ask(), tracker.tell(1)
    fault -> recovering

    For built-in models and models in C, the same seed gives the command's bits.

    tell(outcome, setting=None, *, time=None) learns from an outcome. It is the answer to `ask`, or with `setting` (a mapping, a
    sequence, or a number) an experiment of your own. None means that nothing was measured. Several outcomes, with a row of settings
    each, are learnt from together. `time` is when it was measured; by default one unit after the previous record. The result is a
    `Note`; the first setting outside its range is also a warning. If it raises `Refused`, or an exception of the model's function, nothing has changed.

    >>> tracker = rejfilt.Tracker("precession", seed=1)
    >>> tracker.tell(1, {"t": 2.0, "x_": 0.3})
    <Note: 0>
    >>> tracker.tell([0, 1, 1], [(1.0, 0.5), (2.0, 0.5), (3.0, 0.5)], time=[2.0, 3.0, 3.5])
    <Note: 0>
    >>> tracker.records
    4
    >>> tracker.tell(1, {"t": 2.0})
    Traceback (most recent call last):
    ...
    rejfilt.Refused: setting x_ is missing: nothing was asked, so an outcome needs its settings
    """

    model: Model
    on_health: Callable[[Health, Tracker], object] | None
    _options: dict[str, Any]
    _columns: dict[str, int]

    def __init__(
        self,
        model: str | os.PathLike[str] | Model,
        *,
        prior: Any = None,
        drift: Drift | str | tuple[str, Drift | Mapping[str, Drift]] | Mapping[str, Drift] | None = None,
        chart: Mapping[str, Parameter] | None = None,
        range: Mapping[str, tuple[float, float]] | None = None,  # noqa: A002
        cost: Mapping[str, float] | None = None,
        belief: str | None = None,
        design: str | None = "auto",
        engine: str = "simd",
        sampler: str | None = None,
        attempts: int = 0,
        accepted: int = 0,
        kappa: float | str | None = None,
        recovery: float | None = None,
        shrink: float | None = None,
        strict: bool = False,
        on_lost: str | None = None,
        anchors: int | None = None,
        batch: int = 1,
        precision: str = "double",
        seed: Any = None,
        trial: int = 0,
        on_health: Callable[[Health, Tracker], object] | None = None,
    ) -> None:
        if hasattr(self, "_options"):
            raise Refused("this tracker is open already")
        if on_health is not None and not callable(on_health):
            raise TypeError(f"on_health: a function is needed, not {on_health!r}")
        self.on_health = on_health
        self.model = made = _find(model)
        self._options = {
            "prior": prior, "drift": drift, "chart": chart, "range": range, "cost": cost, "belief": belief, "design": design, "engine": engine,
            "sampler": sampler, "attempts": attempts, "accepted": accepted, "kappa": kappa, "recovery": recovery, "shrink": shrink, "strict": strict,
            "on_lost": on_lost, "anchors": anchors, "batch": batch, "precision": precision, "seed": seed_of(seed), "trial": trial,
        }  # fmt: skip
        self._columns = {name: i for i, name in enumerate(columns(made))}
        _one_of("precision", precision, ("double", "float"))
        if isinstance(kappa, str) and kappa != "auto":
            raise Refused(f"kappa '{kappa}' is neither a number nor auto")
        whole("batch", batch, 1, _rejfilt.ASK_MAX)
        whole("attempts", attempts, 0, 2**31 - 1)
        whole("accepted", accepted, 0, 2**31 - 1)
        whole("trial", trial, 0, 2**32 - 1)
        learns, begin = learnt(drift)
        drifts = by_parameter(made, "drift", begin, motion_of)
        if made.moves and moving(drifts):
            raise Refused(f"drift: model {made.name} moves by its own dynamics")
        self._ranges(mapping("range", range, "{'t': (0, 10)}"), mapping("cost", cost, "{'t': 1.5}"))
        told: list[tuple[str, Any]] = [
            ("belief", text("belief", belief)), ("design", text("design", design) or "given"), ("seed", self._options["seed"]), ("trial", trial or None),
            ("strict", "yes" if strict else None), ("sampler", text("sampler", sampler)), ("precision", precision), ("attempts", attempts or None),
            ("kappa", kappa if isinstance(kappa, str) or at_least("kappa", 1e-9, kappa) < 0 else float(kappa or 0)),
            ("shrink", None if at_least("shrink", 0, shrink) < 0 else float(shrink or 0)), ("accepted", accepted or None),
            ("recovery", None if at_least("recovery", 0, recovery) < 0 else float(recovery or 0)), ("on-lost", text("on_lost", on_lost)),
            ("anchors", None if anchors is None else whole("anchors", anchors, 0, 10**6)),
            *each(made, "chart", by_parameter(made, "chart", chart, chart_of), lambda c: f"{CHARTS[c[0]]}:{c[1]!r}:{c[2]!r}" if c[0] > 1 else CHARTS[c[0]]),
            *each(made, "prior", by_parameter(made, "prior", prior, prior_of), lambda p: f"{p[1]!r}{'+-' if p[0] else ':'}{p[2]!r}"),
            *each(made, "drift", drifts, drift_text), ("drift", "learn" if learns else None),
            *(("range", f"{name}={float(low)!r}:{float(high)!r}") for name, (low, high) in (range or {}).items()),
            *(("cost", f"{name}={float(price)!r}") for name, price in (cost or {}).items()),
        ]  # fmt: skip
        options = tuple(part for name, value in told if value is not None for part in (name, value if isinstance(value, str) else repr(value)))
        self._open(made, text("engine", engine) or "simd", batch, options)

    def _ranges(self, ranges: Mapping[str, tuple[float, float]], costs: Mapping[str, float]) -> None:
        unknown = (set(ranges) | set(costs)) - {s.name for s in self.model.settings}
        if unknown:
            raise Refused(f"range, cost: no setting '{sorted(unknown)[0]}' in model {self.model.name}")
        for s in self.model.settings:
            low, high = pair(f"range: that of {s.name}", ranges.get(s.name, (s.low, s.high)))
            price = number(f"cost: that of {s.name}", costs.get(s.name, s.cost))
            if s.name in ranges and s.role == "guess":
                raise Refused(f"range: {s.name} is a guess of a parameter and has no range")
            if not -1e300 < low <= high < 1e300 or (s.role == "logrange" and low <= 0) or (s.role == "time" and low < 0):
                raise Refused(f"range: {low:g} to {high:g} is no range for setting {s.name}")
            if not 0 <= price < 1e30:
                raise Refused(f"cost: {price:g} of setting {s.name} is not from 0 on")

    def __repr__(self) -> str:
        about = ", ".join(f"{name} = {mean:.6g} ± {sd:.2g}" for name, mean, sd in zip((p.name for p in self.model.parameters), self.mean, self.sd))
        return f"<rejfilt.Tracker {self.model.name}: {about}; {self.records} records, {self.health.value}>"

    # ---- Asking and telling ----

    def ask(self, n: int | None = None) -> Any:
        """The next experiment: its settings, as a named tuple. Or the next n, 1 to 1024, as a record array.

        >>> import rejfilt
        >>> rejfilt.Tracker("coin", seed=1).ask()
        Settings()
        >>> rejfilt.Tracker("precession", seed=1).ask(3).t.shape
        (3,)
        """
        asked = self._ask(1 if n is None else whole("the number of questions,", n, 1, _rejfilt.ASK_MAX))
        self.anchors = tuple(bool(q[-1]) for q in asked)
        if n is None:
            return self.model.Settings(*asked[0][:-1])
        fields = [(s.name, np.float64) for s in self.model.settings]
        return np.array([q[:-1] for q in asked], dtype=fields).view(np.recarray)

    #: for each of the latest questions: is it an anchor, which tests the belief?
    anchors: tuple[bool, ...] = ()

    def unask(self) -> None:
        """Forgets the open questions, as if they had not been asked."""
        self._unask()

    if TYPE_CHECKING:  # the method itself is the base's, which costs nothing

        def tell(self, outcome: Any, setting: Any = None, *, time: Any = None) -> Note:
            """Learns from an outcome, or from several together: see the class."""

    def _tell_many(self, outcomes: Any, setting: Any, time: Any) -> Any:
        if isinstance(outcomes, (str, bytes)):
            raise TypeError(f"outcome: a number is needed, not {outcomes!r}")
        told = floats("outcome", outcomes)
        if told.ndim != 1:
            raise Refused(f"outcomes are a row of numbers, not an array of shape {told.shape}")
        times = None if time is None else floats("time", time)
        if times is not None and times.shape not in ((), told.shape):
            raise Refused(f"time has shape {times.shape}, and there are {len(told)} outcomes")
        times = None if times is None else np.ascontiguousarray(np.broadcast_to(times, told.shape))
        return self._tell_batch(told, None if setting is None else settings_rows(self.model, setting, len(told)), times)

    def pass_time(self, elapsed: float) -> None:
        """Time passes without a record."""
        self._pass(number("elapsed", elapsed))

    def restart(self) -> None:
        """The belief goes back to its prior."""
        self._restart()

    def _health_changed(self, before: int) -> None:
        if self.on_health is not None:
            self.on_health(HEALTH[before], self)

    # ---- What is known ----

    def _column(self, name: str) -> float:
        return self._show()[0][self._columns[name]]

    def _by_name(self, values: Iterable[Any]) -> Any:
        return self.model.Parameters(*values)

    def _of_each(self, what: str) -> Any:
        row = self._show()[0]
        return self._by_name(row[self._columns[f"{p.name}.{what}"]] for p in self.model.parameters)

    if TYPE_CHECKING:  # attributes of the base, which completers of notebooks look into

        @property
        def mean(self) -> Any:
            """Posterior means, natural units; of a periodic parameter the circular mean."""

        @property
        def sd(self) -> Any:
            """Posterior standard deviations, natural units; of a periodic parameter sqrt(-2 ln R), R being the length of the mean of points on
            the circle, and at most 3/4 of the period."""

        @property
        def median(self) -> Any:
            """Posterior medians, natural units."""

    def _mean(self) -> Any:
        return self._of_each("mean")

    def _sd(self) -> Any:
        return self._of_each("sd")

    def _median(self) -> Any:
        return self._by_name(self._quantiles(0.5))

    @property
    def cov(self) -> Floats:
        """The covariance matrix, natural units: standard deviations are those of `sd`, correlations those in the charts."""
        scale: Floats = np.array(self.sd) / self.chart_sd
        natural: Floats = scale[:, None] * self.chart_cov * scale
        return natural

    @property
    def chart_mean(self) -> Floats:
        """Means in the charts, in which the belief is stored."""
        return np.array(self._show()[1])

    @property
    def chart_sd(self) -> Floats:
        """Standard deviations in the charts."""
        return np.array(self._of_each("chart_sd"))

    @property
    def chart_cov(self) -> Floats:
        """The covariance matrix in the charts."""
        dim = len(self.model.parameters)
        matrix = np.zeros((dim, dim))
        matrix[np.tril_indices(dim)] = self._show()[2]
        return matrix + np.tril(matrix, -1).T

    def interval(self, probability: float = 0.95) -> Any:
        """The central interval that holds each parameter with that probability.

        >>> import rejfilt
        >>> rejfilt.Tracker("coin", seed=1, belief="gaussian").interval(0.5)
        Parameters(p=Interval(low=0.25, high=0.75))
        """
        if not 0 < number("a probability", probability) < 1:
            raise Refused(f"a probability of {probability:g} is not between 0 and 1")
        tail = round((1 - probability) / 2, 15)
        low, high = self._quantiles(tail), self._quantiles(1 - tail)
        return self._by_name(Interval(*pair) for pair in zip(low, high))

    def sample(self, n: int, *, first: int = 0) -> Floats:
        """n draws of the parameters, natural units, as the rows of an array. They are a function of the belief, of the seed and of
        the draw's number, from `first` on."""
        out = np.empty((whole("the number of draws,", n, 0, 2**31), len(self.model.parameters)))
        whole("first", first, 0, 2**32 - 1 - n)
        for k in range(0, n, 2**15):  # in parts, for Ctrl-C
            self._draw(out[k : k + 2**15], first + k)
        return out

    @property
    def health(self) -> Health:
        """The result of the tests of the belief."""
        return HEALTH[int(self._column("health"))]

    @property
    def evidence(self) -> Evidence:
        """ln P of all records so far, and the standard error of that estimate."""
        return Evidence(self._column("log_evidence"), self._column("log_evidence_sd"))

    @property
    def loss(self) -> float:
        """Nats that the updates lost because the posterior does not have the belief's shape."""
        return self._column("loss")

    @property
    def records(self) -> int:
        """The number of records so far."""
        return int(self._column("step")) + 1

    @property
    def belief(self) -> str:
        """The belief: "mixture", "gaussian", "particles" or "grid".

        >>> import rejfilt
        >>> rejfilt.Tracker("precession").belief, rejfilt.Tracker("precession", attempts=100).belief
        ('mixture', 'gaussian')
        """
        return self._show()[3]

    @property
    def because(self) -> str | None:
        """The option that made the belief one Gaussian, if no belief was asked for and one did.

        >>> import rejfilt
        >>> rejfilt.Tracker("precession", attempts=100).because, rejfilt.Tracker("precession").because
        ('attempts', None)
        """
        return self._because

    @property
    def seed(self) -> int:
        """The seed, with which the run can be repeated."""
        return self._options["seed"]  # type: ignore[no-any-return]

    def report(self) -> dict[str, Any]:
        """The latest update and the estimates: the columns of a line of the command's CSV."""
        return {name: HEALTH[int(value)] if name == "health" else value for name, value in zip(self._columns, self._show()[0])}

    # ---- Bytes ----

    def _parts(self) -> tuple[Any, ...]:
        return self._options, self._save(), self._asked

    def _added(self) -> dict[str, Any]:
        """Attributes of a subclass, or from outside."""
        return {name: value for name, value in vars(self).items() if name not in _OWN}

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (type(self), self.model, seal(self.model, self._parts())), self._added() or None

    def __copy__(self) -> Tracker:
        other = _made(type(self), self.model, *self._parts())
        vars(other).update(self._added())
        other.on_health = self.on_health
        return other

    def __deepcopy__(self, memo: dict[int, Any]) -> Tracker:
        memo[id(self)] = other = _made(type(self), self.model, *self._parts())
        vars(other).update(copy.deepcopy(self._added(), memo))
        other.on_health = self.on_health
        return other

    def copy(self) -> Tracker:
        """A copy in the same state, open questions included."""
        return self.__copy__()

    def save(self, path: str | os.PathLike[str], *, durable: bool = True) -> None:
        """Writes a checkpoint. `load`, and `rejfilt track --state` with the same options, continue from it byte for byte. At every
        instant there is the old file or the new one; a file that is no checkpoint is not replaced. It does not contain open questions."""
        _rejfilt.write_state(path, self._save(), durable)

    def load(self, path: str | os.PathLike[str]) -> Tracker:
        """Continues from a checkpoint that `save` or `rejfilt track --state` wrote, with the same options. Returns itself.

        The command's options are this class's arguments; of records from a file, `design=None`."""
        contents = _rejfilt.read_state(path)
        try:
            self._load(contents)
        except Refused as error:
            raise Refused(f"{os.fsdecode(path)}: {error}") from None
        return self


_OWN = ("model", "on_health", "anchors", "_options", "_columns")


def _made(of: type[Tracker], model: Model, options: dict[str, Any], contents: bytes, asked: int, is_old: bool = False) -> Tracker:
    tracker = of.__new__(of)
    Tracker.__init__(tracker, model, **options)  # a subclass may have other arguments
    tracker._load(contents, is_old)
    if asked:
        tracker.ask(asked)
    return tracker


def _reopen(of: type[Tracker], model: Model, sealed: Any, *older: Any) -> Tracker:
    if older:  # older versions pickled the parts
        contents, asked = older
        return _made(of, model, sealed, contents, asked, is_old=True)
    return _made(of, model, *unseal(model, sealed))


def seal(model: Model, parts: Any) -> bytes:
    """The parts of a pickled object, with a checksum of them and of what the model says of itself. The model is pickled by whoever pickles
    the object, which may know how to pickle its functions."""
    return _rejfilt.seal(pickle.dumps((repr(model._describe()), parts)))


def unseal(model: Model, sealed: bytes) -> Any:
    about, parts = pickle.loads(_rejfilt.unseal(sealed))
    if about != repr(model._describe()):
        raise Refused(f"it was pickled with another model {model.name}")
    return parts


def settings_rows(model: Model, given: Any, count: int) -> Floats:
    """Settings of `count` records as rows: from a mapping, a record array or a DataFrame by name; from rows, or one row (or one number) for all;
    or from one number for each record, if one setting is not fixed. What may be read in two ways is refused."""
    names = getattr(getattr(given, "dtype", None), "names", None)
    if names is None and hasattr(given, "columns"):
        names = list(given.columns)
    if names or isinstance(given, Mapping):
        there = set(names or given)
        missing = [s.name for s in model.settings if s.name not in there and s.role != "fixed"]
        if missing:
            raise Refused(f"setting {missing[0]} is missing")
        rows = np.empty((count, len(model.settings)))
        for i, s in enumerate(model.settings):
            column = floats(f"setting {s.name}", given[s.name] if s.name in there else s.low)
            if column.shape not in ((), (count,)):
                raise Refused(f"setting {s.name} has shape {column.shape}, and there are {count} outcomes")
            rows[:, i] = column
    else:
        rows = floats("settings", [tuple(g) for g in given] if isinstance(given, list) and given and isinstance(given[0], tuple) else given)
        width = len(model.settings)
        rows = np.atleast_1d(rows)
        free = [i for i, s in enumerate(model.settings) if s.role != "fixed"]
        has_names = hasattr(given, "_fields")
        is_one_row = rows.ndim == 1 and len(rows) in (width, len(free)) and not has_names  # or a column
        are_columns = rows.ndim == 2 and rows.shape[1] == count and isinstance(given, tuple)  # or rows
        if len(rows) == count > 1 and width > 1 and (is_one_row or are_columns):
            named = ", ".join(f"'{s.name}': ..." for s in model.settings if s.role != "fixed")
            raise Refused(f"{count} settings for {count} outcomes may be a row for all records or a column; give them by name, {{{named}}}, or a list of {count} rows")
        if rows.ndim == 1 and len(rows) == count and 1 in (width, len(free)) and not has_names:
            rows = rows[:, None]
        if rows.ndim == 1:
            rows = np.broadcast_to(rows, (count, len(rows)))
        if rows.ndim == 2 and rows.shape[1] == len(free) < width:
            complete = np.empty((len(rows), width))
            complete[:] = [s.low for s in model.settings]
            complete[:, free] = rows
            rows = complete
        if rows.shape != (count, width):
            raise Refused(f"settings of shape {rows.shape} were given; {count} records of model {model.name} have {(count, width)}")
    return np.ascontiguousarray(rows)
