"""Models: what is measured, and how probable an outcome is."""

from __future__ import annotations

import collections
import functools
import importlib
import math
import operator
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _rejfilt
from ._rejfilt import Refused

Floats = NDArray[np.float64]

CHARTS = ("real", "positive", "bounded", "periodic")
ROLES = ("fixed", "range", "logrange", "time", "guess")


class Reverting(NamedTuple):
    """A drift that reverts to `centre` (Ornstein-Uhlenbeck). After a long time its standard deviation is `sd`, in the parameter's
    chart. `time` is the correlation time in records."""

    centre: float
    sd: float
    time: float


class Telegraph(NamedTuple):
    """A drift that switches between two levels at random. It stays at each for `dwell` records on average; a pair gives each level its
    own. It needs the belief "mixture", which is the default, or particles."""

    first: float
    second: float
    dwell: float | tuple[float, float]


Drift = float | Reverting | Telegraph


def number(what: str, given: Any) -> float:
    """The value as a float. Raises TypeError if it is not a number."""
    try:
        if isinstance(given, (str, bytes)):
            raise TypeError
        return float(given)
    except (TypeError, ValueError):
        raise TypeError(f"{what} is a number, not {given!r}") from None


def text(what: str, given: Any) -> Any:
    """A name, or None."""
    if given is not None and not isinstance(given, str):
        raise TypeError(f"{what} is a name, not {given!r}")
    return given


def floats(what: str, given: Any) -> Floats:
    """An array of numbers. What is masked, None or NA is NaN."""
    is_date = False
    try:
        array = np.asarray(given)
        if isinstance(given, np.ma.MaskedArray):
            array = np.ma.filled(given.astype(np.float64), math.nan)
        elif array.dtype.kind == "O" and hasattr(given, "to_numpy"):  # pandas' NA is no number
            array = given.to_numpy(dtype=np.float64, na_value=math.nan)
        is_date = array.dtype.kind in "mM"
        if not is_date and array.dtype.kind != "c":
            return np.ascontiguousarray(array, dtype=np.float64) if array.ndim else np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError):
        pass
    if is_date:
        raise TypeError(f"{what}: numbers are needed, not dates; (d - d[0]) / np.timedelta64(1, 's') are seconds")
    raise TypeError(f"{what}: numbers are needed, not {' '.join(repr(given).split()):.60}")


def whole(what: str, given: Any, low: int, high: int) -> int:
    """As an int from low to high."""
    try:
        count = operator.index(given)
    except TypeError:
        raise TypeError(f"{what.rstrip(',')} is a whole number, not {given!r}") from None
    if not low <= count <= high:
        raise Refused(f"{what} {count} is not from {low} to {high}")
    return count


def pair(what: str, given: Any) -> tuple[float, float]:
    """(low, high), or two other numbers."""
    try:
        first, second = given
        return number(what, first), number(what, second)
    except (TypeError, ValueError):
        raise TypeError(f"{what} is a pair of numbers, not {given!r}") from None


def mapping(what: str, given: Any, example: str) -> Mapping[str, Any]:
    """The mapping; None is an empty one."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise TypeError(f"{what} is by name, as in {example}, not {given!r}")
    for name in given:
        if not isinstance(name, str) or not name.isprintable() or not name.strip():
            raise TypeError(f"{what}: {name!r} is no name")
    return given


def motion_of(given: Any) -> tuple[float, ...]:
    """A drift as numbers for the module: (0, sd of a step), (1, centre, sd, time) or (2, two levels, two times)."""
    if isinstance(given, Reverting):
        numbers = (1.0, given.centre, given.sd, given.time, given.time)
    elif isinstance(given, Telegraph):
        numbers = (2.0, given.first, given.second, *(pair("dwell", given.dwell) if isinstance(given.dwell, tuple) else (given.dwell, given.dwell)))
    elif 0 <= number("a drift", given) < 1e9:
        numbers = (0.0, given, 0.0, 0.0, 0.0)
    else:
        raise Refused(f"a standard deviation is from 0 on, not {given:g}")
    return tuple(number(f"what {type(given).__name__} holds", n) for n in numbers)


def drift_of(numbers: Sequence[float]) -> Drift:
    """A drift from these numbers."""
    kind, a, b, first, second = numbers
    return a if kind == 0 else Reverting(a, b, first) if kind == 1 else Telegraph(a, b, first if first == second else (first, second))


class Parameter(NamedTuple):
    """An unknown: its chart, its range, which is also its uniform prior, and its drift.

    Made by `Real`, `Positive`, `Bounded` and `Periodic`.
    """

    chart: str
    low: float
    high: float
    drift: Drift = 0.0
    name: str = ""
    unit: str = ""  #: shown beside numbers and on axes; nothing is converted

    @property
    def label(self) -> str:
        """For an axis: the name, and the unit if there is one."""
        return f"{self.name} ({self.unit})" if self.unit else self.name


def Real(low: float, high: float, *, drift: Drift = 0.0, unit: str = "") -> Parameter:  # noqa: N802
    """Any real number; the prior is uniform from low to high.

    >>> Real(0, 1).chart
    'real'
    """
    return Parameter("real", low, high, drift, unit=unit)


def Positive(low: float, high: float, *, drift: Drift = 0.0, unit: str = "") -> Parameter:  # noqa: N802
    """A positive number, Gaussian in its logarithm; the prior is uniform from low to high."""
    return Parameter("positive", low, high, drift, unit=unit)


def Bounded(low: float, high: float, *, drift: Drift = 0.0, unit: str = "") -> Parameter:  # noqa: N802
    """A number that is never outside low..high."""
    return Parameter("bounded", low, high, drift, unit=unit)


def Periodic(low: float, high: float, *, drift: Drift = 0.0, unit: str = "") -> Parameter:  # noqa: N802
    """An angle: low and high are the same."""
    return Parameter("periodic", low, high, drift, unit=unit)


class Setting(NamedTuple):
    """A number that the experimenter chooses, and how a design without other knowledge chooses it.

    Made by `Fixed`, `Range`, `LogRange`, `Time` and `Guess`.
    """

    role: str
    low: float = 0.0
    high: float = 0.0
    of: str = ""
    integer: bool = False
    cost: float = 0.0
    name: str = ""
    unit: str = ""  #: shown beside numbers and on axes; nothing is converted

    @property
    def label(self) -> str:
        """For an axis: the name, and the unit if there is one."""
        return f"{self.name} ({self.unit})" if self.unit else self.name


def Fixed(value: float, *, unit: str = "") -> Setting:  # noqa: N802
    """A setting with a fixed value."""
    return Setting("fixed", value, value, unit=unit)


def Range(low: float, high: float, *, integer: bool = False, cost: float = 0.0, unit: str = "") -> Setting:  # noqa: N802
    """A value from low to high. An experiment costs 1, and `cost` for each unit of it."""
    return Setting("range", low, high, "", integer, cost, unit=unit)


def LogRange(low: float, high: float, *, integer: bool = False, cost: float = 0.0, unit: str = "") -> Setting:  # noqa: N802
    """A value from low > 0 to high, chosen by its logarithm."""
    return Setting("logrange", low, high, "", integer, cost, unit=unit)


def Time(of: str, low: float = 0.0, high: float = 1e12, *, integer: bool = False, cost: float = 0.0, unit: str = "") -> Setting:  # noqa: N802
    """A time, about 1 / the standard deviation of parameter `of`, from low to high."""
    return Setting("time", low, high, of, integer, cost, unit=unit)


def Guess(of: str, *, unit: str = "") -> Setting:  # noqa: N802
    """A value that is compared with parameter `of`."""
    return Setting("guess", 0.0, 0.0, of, unit=unit)


class Counts(NamedTuple):
    """Outcomes 0, 1, 2, ...: without end, or up to `to`, a number or the name of a setting."""

    to: str | int = ""


class Poisson(NamedTuple):
    """Counts with a mean, which the model's function f(x, setting) returns. The share `outliers` of them is anything from low to high,
    all values equally likely."""

    outliers: float = 0.0
    low: float = 0.0
    high: float = 0.0


class Binomial(NamedTuple):
    """Counts of `n` shots, a number or the name of a setting. The model's function f(x, setting) returns the probability of each. The
    share `outliers` of the counts is anything from 0 to n."""

    n: str | int
    outliers: float = 0.0


class Gaussian(NamedTuple):
    """Real numbers with the standard deviation `sd`, a number or the name of a setting. The model's function f(x, setting) returns their
    mean. The share `outliers` of them is anything from low to high, all values equally likely."""

    sd: str | float
    outliers: float = 0.0
    low: float = 0.0
    high: float = 0.0


Outcomes = int | Counts | Poisson | Binomial | Gaussian


def _outcomes_code(given: Outcomes, settings: Sequence[str]) -> int:
    """Outcomes as the library's number."""
    if not isinstance(given, Counts | Poisson | Binomial | Gaussian):
        return given
    if isinstance(given, Poisson) or (isinstance(given, Counts) and given.to == ""):
        return _rejfilt.POISSON if isinstance(given, Poisson) else _rejfilt.COUNTS
    kind = _rejfilt.COUNTS_TO if isinstance(given, Counts) else _rejfilt.BINOMIAL if isinstance(given, Binomial) else _rejfilt.GAUSSIAN
    if given[0] not in settings:
        raise Refused(f"outcomes are about setting '{given[0]}', and there is none; settings are {', '.join(settings) or 'none'}")
    return kind + settings.index(str(given[0]))


def _fixed_by(given: Outcomes, chosen: dict[str, Setting]) -> Outcomes:
    """If outcomes have a number, as in Binomial(n=100), it becomes a fixed setting called `n`, `sd` or `to`."""
    if not isinstance(given, Counts | Binomial | Gaussian) or isinstance(given[0], str):
        return given
    of, value = given._fields[0], given[0]
    if of in chosen:
        raise Refused(f"outcomes: {of}={value!r}, and there is a setting {of}; {of}={of!r} is about that")
    if isinstance(given, Gaussian):
        if not 0 < number("outcomes: sd", value) < 1e30:
            raise Refused(f"outcomes: the standard deviation {value:g} is not positive")
    else:
        whole(f"outcomes: {of},", value, 1, 2**31 - 1)
    chosen[of] = Fixed(float(value))
    return given._replace(**{of: of})  # type: ignore[arg-type]


def _outliers_of(given: Outcomes) -> tuple[float, float, float]:
    """The share of outliers, and their range; a share of 0: none."""
    share = number("outcomes: outliers", getattr(given, "outliers", 0.0))
    low, high = pair("outcomes: low, high", (getattr(given, "low", 0.0), getattr(given, "high", 1.0)))
    if not 0 <= share <= 0.5:
        raise Refused(f"outcomes: outliers={share:g} is not a share from 0 to 0.5")
    if share > 0 and not (-1e30 < low < high < 1e30 and (isinstance(given, Gaussian) or (low >= 0 and low == int(low) and high == int(high)))):
        raise Refused(f"outcomes: outliers are from low={low:g} to high={high:g}, {'no range' if isinstance(given, Gaussian) else 'no range of counts'}")
    return share, low, high


def _outcomes_of(code: int, settings: Sequence[str]) -> Outcomes:
    """Outcomes from this number."""
    if code < _rejfilt.COUNTS:
        return code
    kind, of = code & ~0xFFFFFF, code & 0xFFFFFF
    if kind in (_rejfilt.COUNTS, _rejfilt.POISSON):
        return Counts() if kind == _rejfilt.COUNTS else Poisson()
    made = Counts if kind == _rejfilt.COUNTS_TO else Binomial if kind == _rejfilt.BINOMIAL else Gaussian
    return made(settings[of])


def tidy(name: str, answer: Any, count: int) -> Floats:
    """What a model's function returned, as `count` numbers."""
    if answer is None:
        raise TypeError(f"model {name} returned None: it has to return its probabilities")
    kind = getattr(getattr(answer, "dtype", None), "kind", "")
    if np.iscomplexobj(answer):
        raise TypeError(f"model {name} returned complex numbers: probabilities are real")
    if kind == "O":
        raise TypeError(f"model {name} returned an array of objects: probabilities are numbers, so let it end with .astype(float)")
    if kind in ("i", "u") and len(np.unique(answer)) > 2:
        raise TypeError(f"model {name} returned whole numbers ({answer.dtype}): were they cut? Let it compute with float numbers")
    try:
        numbers = floats("an answer", answer)
    except TypeError:
        raise TypeError(f"model {name} returned {' '.join(repr(answer).split()):.60}: probabilities are numbers") from None
    if numbers.shape not in ((count,), (1, count)) and (count > 1 or numbers.size != 1):
        what = f"an array of shape {numbers.shape}" if numbers.ndim else "one number"
        raise ValueError(f"model {name} returned {what} for {count} candidates, the columns of x: one number for each is needed, of shape ({count},)")
    return np.ascontiguousarray(numbers.reshape(-1))


@functools.lru_cache(maxsize=256)
def tuple_type(name: str, fields: tuple[str, ...]) -> type[Any]:
    """A named tuple; fields that are no identifiers of Python get a number instead. They can be pickled."""
    made: type[Any] = collections.namedtuple(name, fields, rename=True)  # type: ignore[misc]

    def reduce(self: Any) -> tuple[Any, ...]:
        return _named, (name, fields, tuple(self))

    made.__reduce__ = reduce  # type: ignore[method-assign]
    return made


def _named(name: str, fields: tuple[str, ...], values: tuple[Any, ...]) -> Any:
    return tuple_type(name, fields)(*values)


def _write_source(text: str) -> str:
    """The source as a file in the loader's cache, whose name is the same for the same text: it is compiled once."""
    import hashlib

    chosen, xdg = os.environ.get("REJFILT_CACHE"), os.environ.get("XDG_CACHE_HOME", "")
    folder = chosen or os.path.join(xdg if xdg.startswith("/") else os.path.expanduser("~/.cache"), "rejfilt")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    path = os.path.join(folder, f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.c")
    if not os.path.exists(path):
        _rejfilt.write_file(path, text.encode())
    return path


class Model(_rejfilt.Model):
    """A model: what is measured. `rejfilt.model` makes one from a name, a C source or a function; do not call this class.

    >>> import rejfilt
    >>> rejfilt.model("ramsey")
    <rejfilt.Model ramsey: w, g; settings t, w_, contrast; 2 outcomes>
    >>> rejfilt.model("ramsey").formula
    'P(1) = (1 + contrast exp(-g t) cos((w - w_) t)) / 2'
    """

    name: str
    summary: str
    formula: str
    parameters: tuple[Parameter, ...]
    settings: tuple[Setting, ...]
    outcomes: Outcomes
    is_log: bool
    moves: bool  #: by dynamics of its own
    Parameters: type[Any]
    Settings: type[Any]
    function: Callable[..., Any] | None
    _origin: tuple[Any, ...]

    def _finish(self, origin: tuple[Any, ...], function: Callable[..., Any] | None = None) -> Model:
        name, summary, formula, parameters, settings, outcomes, is_log, _fringe, _interchangeable, moves, _design = self._describe()
        self.name, self.summary, self.formula, self.is_log, self.moves = name, summary, formula, bool(is_log), bool(moves)
        self.outcomes = _outcomes_of(outcomes, [s[0] for s in settings])
        self.parameters = tuple(Parameter(CHARTS[chart], low, high, drift_of(moves), of, unit) for of, chart, low, high, *moves, unit in parameters)
        self.settings = tuple(
            Setting(ROLES[role], low, high, parameters[of][0] if role > 2 else "", bool(integer), cost, called, unit)
            for called, role, of, integer, low, high, cost, unit in settings
        )
        self.Parameters = tuple_type("Parameters", tuple(p.name for p in self.parameters))
        self.Settings = tuple_type("Settings", tuple(s.name for s in self.settings))
        self.function, self._origin = function, origin
        self.__doc__ = (function.__doc__ if function else None) or summary
        return self

    @property
    def outcomes_end(self) -> float:
        """Outcomes are 0, 1, ... and below this number, whatever the settings; infinite for counts, 0 for real numbers."""
        if isinstance(self.outcomes, int):
            return self.outcomes
        return 0 if isinstance(self.outcomes, Gaussian) else math.inf

    def __repr__(self) -> str:
        outcomes = "real outcomes" if self.outcomes_end == 0 else "counts" if self.outcomes_end == math.inf else f"{self.outcomes} outcomes"
        names = ", ".join(p.name for p in self.parameters)
        settings = ", ".join(s.name for s in self.settings) or "none"
        return f"<rejfilt.Model {self.name}: {names}; settings {settings}; {outcomes}>"

    def __reduce__(self) -> tuple[Any, ...]:
        function = self.function
        if function is not None:
            module = sys.modules.get(getattr(function, "__module__", "") or "")
            path = getattr(function, "__qualname__", "")
            if module is not None and getattr(module, path, None) is self:
                return _by_name, (module.__name__, path)
            return _remake, (self._origin[0], function)
        return model, self._origin

    def __copy__(self) -> Model:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Model:
        return self

    def likelihood(self, x: ArrayLike, setting: Any = (), outcome: float = 0) -> Floats:
        """P(outcome | x; setting) of candidates, whose parameters are the rows of x, of shape (dim, n).

        >>> import rejfilt
        >>> rejfilt.model("coin").likelihood([[0.2, 0.7]], outcome=1)
        array([0.2, 0.7])
        """
        candidates = floats("x", x)
        if candidates.ndim < 2 and candidates.size % len(self.parameters) == 0:
            candidates = candidates.reshape(len(self.parameters), -1)
        if candidates.ndim != 2:
            raise Refused(f"x has shape {candidates.shape}; model {self.name} takes {len(self.parameters)} rows, one for each parameter")
        rows = np.ascontiguousarray(candidates.T)
        if rows.shape[1] != len(self.parameters):
            raise Refused(f"x has {rows.shape[1]} rows; model {self.name} has {len(self.parameters)} parameters")
        number("outcome", outcome)
        if self.outcomes_end and not (0 <= outcome < self.outcomes_end and outcome == math.floor(outcome)):
            wanted = "on" if self.outcomes_end == math.inf else f"to {self.outcomes_end - 1:g}"
            raise Refused(f"outcome {outcome} of model {self.name} is not a whole number from 0 {wanted}")
        out = np.empty(rows.shape[0])
        self._likelihoods(rows, self.setting(setting), float(outcome), out)
        return out

    def check(self, setting: Any = None) -> None:
        """Tries the model at many places of the parameters' ranges, with one setting or (by default) with several of their ranges. Refuses what is
        no probability: NaN, a negative number, or outcomes whose probabilities do not sum to 1, as when `1 - p` was forgotten. A tracker does this
        when it opens, and with the settings of its first record.

        >>> import rejfilt
        >>> rejfilt.model("ramsey").check()
        >>> rejfilt.model(parameters={"p": (0, 1)}, name="wrong")(lambda x, setting, outcome: x[0]).check()
        Traceback (most recent call last):
        ...
        rejfilt.Refused: model wrong: the probabilities of its 2 outcomes sum to ..., not to 1, at p = ...; it is the same for every outcome: return 1 - p for the other one
        """
        self._check(None if setting is None else self.setting(setting))

    def draw(self, x: Any, setting: Any = (), seed: Any = None) -> float:
        """An outcome that might be measured if the parameters were x: numbers in their order, or a mapping by name.

        >>> import rejfilt
        >>> rejfilt.model("coin").draw([1.0], seed=1)
        1
        """
        if isinstance(x, Mapping):
            if set(x) != {p.name for p in self.parameters}:
                raise Refused(f"parameters {', '.join(map(str, x))} were given; model {self.name} has {', '.join(p.name for p in self.parameters)}")
            x = [x[p.name] for p in self.parameters]
        place = np.atleast_1d(floats("parameters", x))
        if not np.isfinite(place).all():
            raise Refused(f"parameters are finite numbers, not {x!r}")
        return self._outcome(tuple(place.tolist()), self.setting(setting), seed_of(seed), 0)

    def setting(self, given: Any = ()) -> tuple[float, ...]:
        """Settings as a tuple of the model's: from a mapping, a sequence, or a number. What is fixed may be left out."""
        if isinstance(given, Mapping):
            unknown = set(given) - {s.name for s in self.settings}
            if unknown:
                raise Refused(f"model {self.name} has no setting {', '.join(sorted(map(str, unknown)))}")
            missing = [s.name for s in self.settings if s.name not in given and s.role != "fixed"]
            if missing:
                raise Refused(f"setting {missing[0]} is missing")
            values = [given.get(s.name, s.low) for s in self.settings]
        else:
            values = list(np.atleast_1d(floats("setting", given)))
            free = [s for s in self.settings if s.role != "fixed"]
            if len(values) == len(free) < len(self.settings):
                rest = iter(values)
                values = [s.low if s.role == "fixed" else next(rest) for s in self.settings]
            if len(values) != len(self.settings):
                raise Refused(f"{len(values)} settings were given; model {self.name} has {len(self.settings)}: {', '.join(s.name for s in self.settings)}")
        return self.Settings(*(number(f"setting {s.name}", v) for s, v in zip(self.settings, values)))  # type: ignore[no-any-return]

    def parameter_index(self, name: str) -> int:
        """The number of the parameter with that name."""
        for i, p in enumerate(self.parameters):
            if p.name == name:
                return i
        raise Refused(f"no parameter '{name}' in model {self.name}; it has {', '.join(p.name for p in self.parameters)}")


def _by_name(module: str, path: str) -> Any:
    return getattr(importlib.import_module(module), path)


def _remake(declared: dict[str, Any], function: Callable[..., Any]) -> Any:
    return model(**declared)(function)


_builtin: dict[str, Model] = {}


def models() -> list[str]:
    """The names of the built-in models.

    >>> import rejfilt
    >>> rejfilt.models()[:2]
    ['precession', 'ramsey']
    """
    return _rejfilt.models()


@overload
def model(what: str | os.PathLike[str] | Model) -> Model: ...
@overload
def model(
    what: None = None,
    *,
    parameters: Mapping[str, Parameter | tuple[float, float]],
    settings: Mapping[str, Setting | float] | None = None,
    outcomes: Outcomes = 2,
    log: bool = False,
    bound: float | Callable[[Any, float], float] | None = None,
    simulate: Callable[[Any, Any, float], float] | None = None,
    fringe: float = 0.0,
    interchangeable: int = 0,
    name: str | None = None,
) -> Callable[[Callable[..., Any]], Model]: ...
def model(
    what: str | os.PathLike[str] | Model | None = None,
    *,
    parameters: Mapping[str, Parameter | tuple[float, float]] | None = None,
    settings: Mapping[str, Setting | float] | None = None,
    outcomes: Outcomes = 2,
    log: bool = False,
    bound: float | Callable[[Any, float], float] | None = None,
    simulate: Callable[[Any, Any, float], float] | None = None,
    fringe: float = 0.0,
    interchangeable: int = 0,
    name: str | None = None,
) -> Any:
    """A built-in model by its name; a model from C source, which is a path that ends in .c, or the text itself; or, as a decorator, a
    model from a function.

    The function is f(x, setting, outcome). x is an array of shape (dim, n), the parameters of n candidates. setting is a named tuple.
    The result is the n probabilities of that outcome, or with log=True their logarithms. A numba `cfunc` of `block_signature()` will
    do, too.

    parameters: a range for each name. `(0, 1)` means `Real(0, 1)`. Plots show a unit: `Real(0, 1, unit="MHz")`.
    settings: `Time`, `Guess`, `Range`, `LogRange`, `Fixed`, or a number, which is fixed.
    outcomes: how many there are. With `Poisson()`, `Binomial(n="shots")` or `Gaussian(sd=0.1)` (a number, or the name of a setting) the
    function is f(x, setting), the expected value. `Counts()` are counts without end with a likelihood of your own. 0 is a real number. It
    needs `simulate(x, setting, normal)`, an outcome for parameters x and a standard normal, and a `bound` of the density, a number or
    f(setting, outcome).
    Those three take a share of outliers: `Gaussian(sd=0.1, outliers=0.02, low=-5, high=8)`.
    fringe: the period, if the likelihood is a cosine of (parameter - guess) * time.
    interchangeable: how many of the first parameters may change places.

    >>> import numpy as np
    >>> import rejfilt as rf
    >>> @rf.model(parameters={"f": (0, 1)}, settings={"t": rf.Time(of="f", high=100)})
    ... def fringe(x, setting, outcome):
    ...     p = np.cos(np.pi * x[0] * setting.t) ** 2
    ...     return p if outcome else 1 - p
    >>> fringe
    <rejfilt.Model fringe: f; settings t; 2 outcomes>
    >>> fringe.likelihood([[0.0, 0.5]], setting=1.0, outcome=1).round(3)
    array([1., 0.])
    """
    if what is not None:
        if parameters is not None or settings is not None:
            raise TypeError("a model that has a name or a source brings its own parameters and settings")
        return _find(what)
    if parameters is None:
        raise TypeError("model() needs a name, a source, or parameters")
    declared = {k: _parameter(k, p) for k, p in mapping("parameters", parameters, "{'x': (0, 1)}").items()}
    for of, p in declared.items():
        try:
            motion_of(p.drift)
        except Refused as error:
            raise Refused(f"drift of {of}: {error}") from None
    chosen = {k: _setting(k, s) for k, s in mapping("settings", settings, "{'t': Range(0, 10)}").items()}
    if not isinstance(outcomes, Counts | Poisson | Binomial | Gaussian):
        whole("the number of outcomes,", outcomes, 0, 65536)
    outliers = _outliers_of(outcomes)
    outcomes = _fixed_by(outcomes, chosen)
    if outcomes == 0 and simulate is None:
        raise Refused("outcomes=0, a real number, needs simulate=f(x, setting, normal)")
    if simulate is not None and not callable(simulate):
        raise TypeError(f"simulate is a function f(x, setting, normal), not {simulate!r}")
    if bound is not None and not callable(bound) and not (log or 0 < number("bound", bound) < 1e30):
        raise Refused(f"bound: {bound:g} is not a positive number")
    names = list(declared)
    origin = {
        "parameters": declared, "settings": chosen, "outcomes": outcomes, "log": log, "bound": bound, "simulate": simulate, "fringe": fringe,
        "interchangeable": interchangeable, "name": name,
    }  # fmt: skip

    def index(called: str, s: Setting) -> int:
        if s.role not in ("time", "guess"):
            return 0
        if s.of not in names:
            raise Refused(f"setting {called} is about parameter '{s.of}', and there is none; parameters are {', '.join(names)}")
        return names.index(s.of)

    def make(function: Callable[..., Any]) -> Model:
        made = Model()
        called = name or getattr(function, "__name__", "model")
        address = getattr(function, "address", 0) or 0
        if not address and not callable(function):
            raise TypeError(f"a model is a function f(x, setting, outcome), not {function!r}")
        if not isinstance(called, str) or not called.isprintable():
            raise TypeError(f"name: {called!r} is no name")
        summary = ((function.__doc__ or "").strip().splitlines() or [""])[0]
        try:
            made._use_functions(
                called,
                summary,
                "",
                tuple((k, CHARTS.index(p.chart), float(p.low), float(p.high), *motion_of(p.drift), p.unit) for k, p in declared.items()),
                tuple((k, ROLES.index(s.role), index(k, s), s.integer, s.low, s.high, s.cost, s.unit) for k, s in chosen.items()),
                _outcomes_code(outcomes, list(chosen)),
                outliers,
                log,
                number("fringe", fringe),
                interchangeable,
                None if address else function,
                address,
                function,
                bound,
                simulate,
                tuple_type("Settings", tuple(chosen)),
                np.empty,
                tidy,
            )
        except Refused as error:
            raise Refused(f"model {_in_python(str(error))}") from None
        made._finish((origin,), function)
        made.outcomes = outcomes if outliers[0] > 0 else made.outcomes
        return made

    return make


def _parameter(name: str, given: Any) -> Parameter:
    if isinstance(given, Parameter):
        pair(f"the range of parameter {name}", given[1:3])
        return given._replace(unit=text(f"the unit of parameter {name}", given.unit) or "")
    return Real(*pair(f"the range of parameter {name}", given))


def _setting(name: str, given: Any) -> Setting:
    if not isinstance(given, Setting):
        return Fixed(number(f"setting {name}", given))
    low, high = pair(f"the range of setting {name}", (given.low, given.high))
    cost, unit = number(f"the cost of setting {name}", given.cost), text(f"the unit of setting {name}", given.unit)
    return given._replace(low=low, high=high, of=text(f"the parameter of setting {name}", given.of), integer=bool(given.integer), cost=cost, unit=unit or "")


def _in_python(message: str) -> str:
    """A message of the library about a description in C, in the words of this module."""
    message = re.sub(r"description\.(parameter|setting)\[\d+\] \((.*?)\):", r"\1 \2:", message)
    message = re.sub(r"low\.\.high is (\S+)\.\.(\S+), not a range", r"\1 to \2 is no range", message)
    return message.replace("description.dim is 0", "the number of parameters is 0").replace("description.", "")


def _find(what: str | os.PathLike[str] | Model) -> Model:
    if isinstance(what, Model):
        return what
    if not isinstance(what, (str, os.PathLike)):
        hint = "; rejfilt.model(parameters=...) makes one of it" if callable(what) else ""
        raise TypeError(f"a model is a name, a C source or a rejfilt.Model, not {what!r}{hint}")
    text = os.fspath(what)
    if "\n" in text or text.endswith(".c") or "/" in text:
        path = _write_source(text) if "\n" in text else text
        made = Model()
        made._use_file(path)
        return made._finish((text,))
    if text not in _builtin:
        if text not in models():
            raise Refused(f"there is no model '{text}'; there are {', '.join(models())}")
        made = Model()
        made._use_builtin(text)
        _builtin[text] = made._finish((text,))
    return _builtin[text]


def block_signature() -> Any:
    """The signature of a numba `cfunc` that is a model: f(x, n, setting, outcome, out, data).

    x[i * n + k] is parameter i of candidate k, out[k] becomes its likelihood; it returns 0, or a negative number if it fails.
    """
    types = importlib.import_module("numba").types
    numbers = types.CPointer(types.float64)
    return types.int32(numbers, types.uint32, numbers, types.float64, numbers, types.voidptr)


def seed_of(seed: Any) -> int:
    """A seed as numpy has them: None for a new one, a whole number, a sequence of them, a SeedSequence, a BitGenerator or a Generator.

    >>> seed_of(7)
    7
    >>> seed_of(np.random.SeedSequence(7)) == seed_of(np.random.SeedSequence(7))
    True
    """
    if seed is None:
        seed = np.random.SeedSequence()
    if isinstance(seed, np.random.SeedSequence):
        return int(seed.generate_state(1, np.uint64)[0])
    if isinstance(seed, np.random.BitGenerator):
        seed = np.random.Generator(seed)
    if isinstance(seed, np.random.Generator):
        return int(seed.integers(0, 2**64, dtype=np.uint64))
    if isinstance(seed, np.random.RandomState):
        return int(seed.randint(0, 2**32, dtype=np.uint64))
    if isinstance(seed, (Sequence, np.ndarray)) and not isinstance(seed, (str, bytes)) and np.ndim(seed):
        return seed_of(np.random.SeedSequence(seed))
    try:
        value = operator.index(seed)
    except TypeError:
        raise TypeError(f"a seed is None, a whole number, or one of numpy's, not {seed!r}") from None
    if not 0 <= value < 2**64:
        raise Refused(f"seed {value} is not from 0 to 2**64 - 1")
    return value
