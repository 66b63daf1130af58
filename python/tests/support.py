"""What the tests share. REJFILT is the command, which some are compared with."""

import contextlib
import json
import os
import pathlib
import subprocess
import unittest

import numpy as np

import rejfilt

LONG = bool(os.environ.get("REJFILT_LONG"))  # `make check KIND=python WORDS=all`; otherwise a sample of each family
COMMAND = os.environ.get("REJFILT", "")
ROOT = pathlib.Path(__file__).resolve().parents[2]

needs_command = unittest.skipUnless(COMMAND, "REJFILT does not say where the command is")


def command(*arguments, given="", code=0):
    done = subprocess.run([COMMAND, *arguments], input=given, capture_output=True, text=True)
    if done.returncode != code:
        raise AssertionError(f"{arguments}: {done.returncode}, {done.stderr}")
    return done.stdout


def command_rows(*arguments, given=""):
    """Lines of CSV as lists of (name, number)."""
    head, *rows = command(*arguments, "--format=csv", given=given).splitlines()
    return [{n: v for n, v in zip(head.split(","), row.split(","))} for row in rows]


def command_json(*arguments, given=""):
    return json.loads(command(*arguments, "--json", given=given))


def same_rows(case, run, rows):
    """Every number of the command's CSV is that of the run, to the bit."""
    case.assertEqual(len(run), len(rows))
    for name in rows[0]:
        column = run[name]
        for k, row in enumerate(rows):
            if name == "health":
                case.assertEqual(column[k], row[name])
            elif row[name] != "":
                case.assertEqual(float(column[k]), float(row[name]), (name, k))


@rejfilt.model(parameters={"x": (0, 1.5707963267948966)}, settings={"t": rejfilt.Time(of="x"), "x_": rejfilt.Guess("x")}, fringe=6.283185307179586)
def in_numpy(x, setting, outcome):
    """The model `precession`, in numpy."""
    p = np.cos((x[0] - setting.x_) * (setting.t / 2)) ** 2
    return p if outcome else 1 - p


def in_numba():
    """The same with numba; None where that is not installed."""
    try:
        import numba
    except ImportError:
        return None

    @numba.cfunc(rejfilt.block_signature())
    def block(x, n, setting, outcome, out, data):
        half, reference = setting[0] / 2, setting[1]
        for k in range(n):
            p = np.cos((x[k] - reference) * half) ** 2
            out[k] = p if outcome != 0 else 1 - p
        return 0

    declared = {"parameters": {"x": (0, 1.5707963267948966)}, "settings": {"t": rejfilt.Time(of="x"), "x_": rejfilt.Guess("x")}}
    return rejfilt.model(**declared, fringe=6.283185307179586, name="in_numba")(block)


def records(model, count, seed, truth=None):
    """Settings in random places, and outcomes of a truth that stays."""
    rng = np.random.default_rng(seed)
    model = rejfilt.model(model)
    truth = [rng.uniform(p.low, p.high) for p in model.parameters] if truth is None else truth
    table = {}
    for s in model.settings:
        if s.role == "fixed":
            table[s.name] = np.full(count, s.low)
        elif s.role == "guess":
            p = next(p for p in model.parameters if p.name == s.of)
            table[s.name] = rng.uniform(p.low, p.high, count)
        else:
            low, high = s.low, min(s.high, 20.0)
            table[s.name] = rng.uniform(low, high, count)
        if s.integer:
            table[s.name] = np.round(table[s.name])
    table["outcome"] = np.array([model.draw(truth, {k: v[i] for k, v in table.items()}, seed=int(rng.integers(2**60))) for i in range(count)], dtype=float)
    return table


def as_csv(table):
    names = list(table)
    return "\n".join([",".join(names), *(",".join("" if np.isnan(v) else repr(float(v)) for v in row) for row in zip(*table.values()))]) + "\n"


@contextlib.contextmanager
def environment(**values):
    before = dict(os.environ)
    os.environ.update(values)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
