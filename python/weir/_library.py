"""The libraries of the programs, by ctypes: structs as their headers apps/NAME/api/calls.h declare them."""

import ctypes
import functools
import os
import pathlib

import numpy as np


class Error(RuntimeError):
    """A call that failed; `status` is the weir_status, the exit status of a program that fails in the same way."""

    def __init__(self, message, status):
        super().__init__(message)
        self.status = status


@functools.lru_cache(maxsize=None)
def library(program):
    """libweir_PROGRAM: in the folder WEIR_LIBRARIES if that is set, else next to this package, else where the loader finds it."""
    name = f"libweir_{program}.so"
    places = [os.environ.get("WEIR_LIBRARIES"), pathlib.Path(__file__).parent]
    path = next((str(pathlib.Path(place, name)) for place in places if place and pathlib.Path(place, name).exists()), name)
    try:
        found = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(
            f"{name} cannot be loaded ({error}): install Weir (cmake --install), or set WEIR_LIBRARIES to the folder lib of a build"
        ) from error
    found.weir_last_message.restype = ctypes.c_char_p
    level = ctypes.c_int()
    if found.weir_log_level_find(b"warn", ctypes.byref(level)) == 0:
        found.weir_log_set_level(level)
    return found


def call(program, name, *arguments):
    """Calls a function that returns a weir_status; what it refuses is an Error."""
    found = library(program)
    status = getattr(found, name)(*arguments)
    if status != 0:
        raise Error(found.weir_last_message().decode(), status)


def doubles(array):
    return array.ctypes.data_as(ctypes.POINTER(ctypes.c_double))


def integers(array):
    return array.ctypes.data_as(ctypes.POINTER(ctypes.c_int64))


def settings(options):
    """Options as the texts of --set, and how many: {"detect.wait": 1, "exec.tier": "vector"}."""
    texts = [f"{key}={str(value).lower() if isinstance(value, bool) else value}".encode() for key, value in (options or {}).items()]
    return (ctypes.c_char_p * max(len(texts), 1))(*texts), len(texts)


def is_masked_real(values):
    """A masked array of real numbers, as netCDF4 returns."""
    return isinstance(values, np.ma.MaskedArray) and values.dtype.kind in "fiub"


def real_array(values, name, ndim=None):
    """Contiguous f64, NaN where an array is masked; anything that is not real numbers is refused by name."""
    array = np.ma.asarray(values, dtype="f8").filled(np.nan) if is_masked_real(values) else np.asarray(values)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name}: an array of {array.dtype} is no array of real numbers")
    if ndim is not None and array.ndim != ndim:
        raise ValueError(f"{name}: {array.ndim} dimensions, expected {ndim}")
    return np.asarray(array, dtype="f8", order="C")
