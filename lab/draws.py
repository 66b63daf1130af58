"""The library's random numbers, in numpy: functions of a seed and of what they are for; and statistics of samples."""

import math

import numpy as np

DESIGN, TRUTH, OUTCOME, USER = 1, 2, 3, 16  # purposes (include/rejfilt/philox.h)


def words(seed, update, index=0, block=0, purpose=USER):
    """Philox4x32-10: four random words for each element of the arguments, in the last axis."""
    c = np.broadcast_arrays(*(np.asarray(x, dtype=np.uint64) for x in (index, block, update, purpose)))
    seed = np.asarray(seed, dtype=np.uint64)
    mask, shift = np.uint64(0xFFFFFFFF), np.uint64(32)
    k0, k1 = seed & mask, seed >> shift
    for _ in range(10):
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [(b >> shift) ^ c[1] ^ k0, b & mask, (a >> shift) ^ c[3] ^ k1, a & mask]
        k0, k1 = (k0 + np.uint64(0x9E3779B9)) & mask, (k1 + np.uint64(0xBB67AE85)) & mask
    return np.stack(np.broadcast_arrays(*c), axis=-1)


def unit(word):
    """Uniform in (0, 1], from a word."""
    return (np.asarray(word, dtype=np.uint64) >> np.uint64(1)) * 2.0**-31 + 2.0**-32


def pair(radius, angle):
    """Two standard normals, from two words."""
    angle = np.asarray(angle, dtype=np.uint64)
    r, turn = np.sqrt(-2 * np.log(unit(radius))), angle.astype(np.uint32).astype(np.int32) * (math.pi * 2.0**-32)
    return r * np.cos(turn) * np.where(angle & np.uint64(1), -1, 1), r * np.sin(turn)


def seed_of(seed, *member):
    """The seed of a member of a family: of one trial, or of item i of part p."""
    w = words(seed, *member)
    return w[..., 1] << np.uint64(32) | w[..., 0]


def uniforms(seed, index):
    return unit(words(seed, 1, index)[..., 0])


def normals(seed, index):
    w = words(seed, 2, index)
    return pair(w[..., 0], w[..., 1])[0]


def direction(seed, first, dim):
    """A random unit vector."""
    h = normals(seed, first + np.arange(dim))
    return h / np.sqrt(np.sum(h * h))


# ---- Statistics ----


def median(values):
    """The median and its standard error: the number of values below the true median is binomial."""
    values = np.sort(np.asarray(values, dtype=float))
    n = len(values)
    if not n:
        return math.nan, math.nan
    at = lambda rank: np.interp(np.clip(rank, 0, n - 1), np.arange(n), values)  # noqa: E731
    return float(at((n - 1) / 2)), float(at((n - 1 + math.sqrt(n)) / 2) - at((n - 1 - math.sqrt(n)) / 2)) / 2


def share(flags, count=None):
    """A fraction and its standard error, of flags or of so many out of `count`."""
    n = len(flags) if count is None else count
    p = float(np.sum(flags)) / n if n else math.nan
    return p, math.sqrt(p * (1 - p) / n) if n else math.nan
