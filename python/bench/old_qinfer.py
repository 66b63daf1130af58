"""QInfer 1.0, of 2018, made to run on today's numpy and scipy: names that these no longer have are put back before it is imported."""

import collections
import collections.abc
import importlib
import sys
import types
import warnings

import numpy as np
import scipy.integrate
import scipy.linalg


def qinfer():
    """The module qinfer, patched; ImportError where it is not installed."""
    if "qinfer" in sys.modules:
        return sys.modules["qinfer"]
    for name, now in {
        "float": float, "int": int, "bool": bool, "object": object, "complex": complex, "product": np.prod, "cumproduct": np.cumprod,
        "alltrue": np.all, "sometrue": np.any, "in1d": np.isin, "trapz": getattr(np, "trapezoid", None), "infty": np.inf, "Inf": np.inf,
        "float_": np.float64, "complex_": np.complex128, "row_stack": np.vstack, "bool8": np.bool_,
        "issctype": lambda kind: isinstance(kind, (type, np.dtype)) and np.dtype(kind).names is None,
    }.items():  # fmt: skip
        if name not in np.__dict__:
            setattr(np, name, now)
    for name in ("Iterable", "Callable", "Mapping", "Sequence", "Iterator"):
        if not hasattr(collections, name):
            setattr(collections, name, getattr(collections.abc, name))
    for name, now in {"cumtrapz": "cumulative_trapezoid", "trapz": "trapezoid", "simps": "simpson"}.items():
        if not hasattr(scipy.integrate, name):
            setattr(scipy.integrate, name, getattr(scipy.integrate, now))
    root = scipy.linalg.sqrtm

    def sqrtm(a, disp=True, blocksize=64):  # it had an argument for its error, and a second answer
        answer = root(a)
        return answer if disp else (answer, np.linalg.norm(answer @ answer - a))

    scipy.linalg.sqrtm = sqrtm
    if "distutils" not in sys.modules:
        try:
            importlib.import_module("distutils.version")
        except ImportError:
            distutils, version = types.ModuleType("distutils"), types.ModuleType("distutils.version")

            class LooseVersion(tuple):
                def __new__(cls, text):
                    return tuple.__new__(cls, (int(part) for part in str(text).split(".") if part.isdigit()))

            version.LooseVersion = LooseVersion
            distutils.version = version
            sys.modules |= {"distutils": distutils, "distutils.version": version}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module("qinfer")
