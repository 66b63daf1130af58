"""The integer filters of src/fixed/ on simulated worlds, through ctypes. A library that is loaded before (LD_PRELOAD) may take their place (ports/hdl)."""

import ctypes
import functools
import math

import numpy as np
import rejfilt as rf

from . import native
from .draws import OUTCOME, seed_of, unit, words
from .trust.judging import Tracks, judge

UNIT, TURN, STUCK, QUADRATURE, STEP = 2.0**-15, 2 * math.pi, 255, 0, math.pi / 120


class Filter(ctypes.Structure):
    """rfi_filter (src/fixed/fixed.h)."""

    _fields_ = [("random", ctypes.c_uint16), ("mean", ctypes.c_int32), ("sd", ctypes.c_uint16), ("widest", ctypes.c_uint16), ("slope", ctypes.c_uint8), ("phase", ctypes.c_int8),
                ("due", ctypes.c_uint8), ("alike", ctypes.c_uint8), ("home", ctypes.c_int32), ("evidence", ctypes.c_int32)]  # fmt: skip


@functools.cache
def library():
    native.library("librf_integers", ctypes.RTLD_GLOBAL)
    found = ctypes.CDLL(None)
    for name in ("rfi_time", "rfi_learn", "rfi_decay_learn", "rfi_decay_time"):
        getattr(found, name).restype = ctypes.c_uint32 if name == "rfi_decay_time" else ctypes.c_uint16 if name == "rfi_time" else ctypes.c_uint8
    found.rfi_reference.restype = ctypes.c_int32
    return found


def follow(run, trials, steps, seed, outages=()):
    """Tracks of the integer filter on the truths of a simulated precession; it chooses its own measurements. During an outage the outcome is
    the run's."""
    own, f = library(), Filter()
    pointer = ctypes.byref(f)
    truth, given = (run[name].reshape(trials, steps) for name in ("truth.x", "outcome"))
    luck = unit(words(seed_of(seed, np.arange(trials))[:, None], np.arange(steps), 0, 0, OUTCOME)[..., 0])
    seeds, sd = seed_of(seed, np.arange(trials)), math.pi / 2 / math.sqrt(12)
    out = {k for first, length in outages for k in range(first, first + length)}
    error, sds, alarm = (np.empty((trials, steps)) for _ in range(3))
    q = round((STEP / UNIT) ** 2)
    for i in range(trials):
        own.rfi_init(pointer, round(math.pi / 4 / UNIT), round(sd / UNIT), int(seeds[i]) & 0xFFFF)
        for k in range(steps):
            if k:
                own.rfi_diffuse(pointer, q)
            own.rfi_ask(pointer, QUADRATURE)
            due, accepted = f.due, 0
            t, x_ = own.rfi_time(pointer) * 2.0**-26 * TURN / UNIT, own.rfi_reference(pointer) * UNIT
            outcome = given[i, k] if k in out else float(luck[i, k] > math.sin((truth[i, k] - x_) * t / 2) ** 2)
            if not math.isnan(outcome):
                accepted = own.rfi_learn(pointer, int(outcome != 0))
            error[i, k], sds[i, k] = f.mean * UNIT - truth[i, k], f.sd * UNIT
            alarm[i, k] = accepted == STUCK or f.due != due  # a failed test sets it to 0
    return Tracks(error[..., None], sds[..., None], alarm.astype(bool))


def summary(given, trials, seed):
    """The numbers of `rejfilt track --summary` for the integer filter in such a world."""
    steps = given.pop("steps", 300)
    outages = [(o.at, o.length) for o in given["outage"]]
    run = rf.simulate("precession", steps=steps, trials=trials, seed=seed, sampler="reject", **given)
    return judge(follow(run, trials, steps, seed, outages), [STEP], [math.pi / 2 / math.sqrt(12)], [j.at for j in given["jump"]], outages)
