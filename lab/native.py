"""lab/native.c and the integer filters (src/fixed/), which CMake's targets rejfilt_lab and rf_integers build."""

import ctypes
import functools
import os
import pathlib

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("BUILD", "build"))
BUILD = BUILD if BUILD.is_absolute() else ROOT / BUILD
COMMAND = str(BUILD / "rejfilt")


@functools.cache
def library(name, mode=ctypes.DEFAULT_MODE):
    found = list((BUILD / "lab").rglob(f"{name}.so")) + list(BUILD.glob(f"{name}.so"))
    if not found:
        raise SystemExit(f"lab: {BUILD} has no {name}.so: cmake --build {BUILD} --target {name.removeprefix('lib')}")
    return ctypes.CDLL(str(found[0]), mode)


def update(kind, dim, seed, attempts, record=(), number=0, nodes=0, begin=0, mean=None, factor=None):
    """A strict update of a Gaussian, by default N(0, 1). kind 0: all draws are accepted; 1: a fringe; 2: Gaussian noise. record: the number of
    parameters, a phase or a noise, weights, the outcome. Returns mean, factor (a lower triangle, by rows), the number accepted."""
    rows, columns = np.tril_indices(dim)
    mean = np.zeros(dim) if mean is None else np.array(mean, dtype=float)
    factor = (rows == columns).astype(float) if factor is None else np.array(factor, dtype=float)
    f = library("librejfilt_lab").lab_update
    f.restype = ctypes.c_int64
    accepted = f(kind, dim, ctypes.c_uint64(seed), number, attempts, nodes, begin, np.array(record, dtype=float).ctypes, mean.ctypes, factor.ctypes)
    if accepted < 0:
        raise RuntimeError(f"an update of {dim} parameters was refused")
    return mean, factor, accepted


def update_float(dim, seed, attempts, mean, factor):
    mean, factor = np.array(mean, dtype=np.float32), np.array(factor, dtype=np.float32)
    f = library("librejfilt_lab").lab_update_float
    f.restype = ctypes.c_int64
    if f(dim, ctypes.c_uint64(seed), attempts, mean.ctypes, factor.ctypes) < 0:
        raise RuntimeError(f"an update of {dim} parameters was refused")
    return mean.astype(float), factor.astype(float)


def draws(seed, dim, attempts):
    """The library's standard normal draws of a first update."""
    z = np.empty((attempts, dim))
    library("librejfilt_lab").lab_draws(ctypes.c_uint64(seed), dim, attempts, z.ctypes)
    return z


def tally_bytes(dim):
    return library("librejfilt_lab").lab_tally_bytes(dim)


def full(factor, dim):
    """The matrix of a lower triangle by rows."""
    matrix = np.zeros((dim, dim))
    matrix[np.tril_indices(dim)] = factor
    return matrix
