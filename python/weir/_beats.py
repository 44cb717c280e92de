"""Heart beats: files of physio_stream, and its detection and scoring on arrays."""

import ctypes
import fractions
import pathlib

import numpy as np

from ._library import call, doubles, integers, library, real_array, settings
from ._run import open_table


class _Signal(ctypes.Structure):
    _fields_ = [
        ("mv", ctypes.POINTER(ctypes.c_double)),
        ("n", ctypes.c_int64),
        ("fs_num", ctypes.c_int64),
        ("fs_den", ctypes.c_int64),
        ("sets", ctypes.POINTER(ctypes.c_char_p)),
        ("n_sets", ctypes.c_int64),
        ("threads", ctypes.c_int64),
    ]


class _Beats(ctypes.Structure):
    _fields_ = [
        ("sample", ctypes.POINTER(ctypes.c_int64)),
        ("position", ctypes.POINTER(ctypes.c_double)),
        ("gap", ctypes.POINTER(ctypes.c_int64)),
        ("n", ctypes.c_int64),
        ("capacity", ctypes.c_int64),
    ]


class _Pair(ctypes.Structure):
    _fields_ = [
        ("reference", ctypes.POINTER(ctypes.c_int64)),
        ("test", ctypes.POINTER(ctypes.c_int64)),
        ("n_reference", ctypes.c_int64),
        ("n_test", ctypes.c_int64),
        ("fs", ctypes.c_double),
        ("length", ctypes.c_int64),
        ("sets", ctypes.POINTER(ctypes.c_char_p)),
        ("n_sets", ctypes.c_int64),
    ]


class _Score(ctypes.Structure):
    _fields_ = [
        ("tp", ctypes.c_int64),
        ("fn", ctypes.c_int64),
        ("fp", ctypes.c_int64),
        ("sensitivity", ctypes.c_double),
        ("predictivity", ctypes.c_double),
        ("rr_error", ctypes.c_double),
    ]


def open_beats(path):
    """The beats of `physio_stream run`: beats.csv, or the folder that has it. (beats.nc is the same with dates: Run.dataset("beats").)

    Returns a DataFrame: `sample` (from 0), `time` (s from the first sample of the signal), `rr` (s since the beat before; NaN for the first
    and after a gap), `gap` (samples are absent between the beat before and it).
    """
    import pandas as pd

    path = pathlib.Path(path)
    path = path / "beats.csv" if path.is_dir() else path
    table = open_table(path)
    expected = ["sample", "time_s", "rr_s", "gap_before"]
    if list(table.columns) != expected:
        raise ValueError(f"{path}: columns {list(table.columns)}, expected {expected}: name beats.csv of physio_stream run")
    return pd.DataFrame({"sample": table["sample"], "time": table["time_s"], "rr": table["rr_s"], "gap": table["gap_before"] != 0})


def detect_beats(signal, fs, options=None, threads=0):
    """Finds the beats of an ECG as `physio_stream run` does.

    signal: [n] mV, rounded to f32; what is not finite is absent. fs: samples per second, a number or a Fraction (a number is taken as the
    nearest fraction with a denominator of at most 1,000,000). options: of physio_stream, {"detect.wait": 1}. threads: 0 for all cores.
    Returns a DataFrame as open_beats. Raises Error for options that are refused.
    """
    import pandas as pd

    mv = real_array(signal, "signal", ndim=1)
    rate = fs if isinstance(fs, fractions.Fraction) else fractions.Fraction(float(fs)).limit_denominator(1_000_000)
    sets, n_sets = settings(options)
    given = _Signal(doubles(mv), mv.size, rate.numerator, rate.denominator, sets, n_sets, threads)
    found = _Beats()
    call("physio_stream", "ps_call_detect", ctypes.byref(given), ctypes.byref(found))
    try:
        columns = [np.ctypeslib.as_array(pointer, (found.n,)).copy() if found.n else np.empty(0) for pointer in (found.sample, found.position, found.gap)]
    finally:
        library("physio_stream").ps_call_beats_free(ctypes.byref(found))
    sample, position, gap = columns[0].astype("i8"), columns[1], columns[2] != 0
    seconds = position * rate.denominator / rate.numerator
    rr = np.full(sample.size, np.nan)
    rr[1:] = np.where(gap[1:], np.nan, np.diff(position) * rate.denominator / rate.numerator)
    return pd.DataFrame({"sample": sample, "time": seconds, "rr": rr, "gap": gap})


def compare_beats(reference, test, fs, length=0, options=None):
    """Scores beats against a reference as `physio_stream eval` does (ANSI/AAMI EC57, counts of bxb).

    reference, test: samples of beats, ascending. fs: samples per second. length: samples of the record, 0: up to the last beat.
    options: {"eval.start": 0} (s that are not scored at the beginning, 300 by default), {"eval.window": 0.15}.
    Returns a dict: tp, fn, fp, sensitivity and predictivity (%), rr_error (s); NaN where nothing is defined.
    """
    sides = []
    for name, values in (("reference", reference), ("test", test)):
        if np.ma.is_masked(values):
            raise ValueError(f"{name}: some samples are masked: leave them out")
        array = np.asarray(values)
        if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
            raise TypeError(f"{name}: [n] integers, samples of beats, are expected, not {array.dtype} of {array.ndim} dimensions")
        sides.append(np.ascontiguousarray(array, dtype="i8"))
    sets, n_sets = settings(options)
    pair = _Pair(integers(sides[0]), integers(sides[1]), sides[0].size, sides[1].size, float(fs), length, sets, n_sets)
    score = _Score()
    call("physio_stream", "ps_call_compare", ctypes.byref(pair), ctypes.byref(score))
    return {name: getattr(score, name) for name, _ in _Score._fields_}
