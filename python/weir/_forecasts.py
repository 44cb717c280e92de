"""Predictions and maps of scores as xarray objects, and the CRPS on arrays."""

import ctypes

import numpy as np

from ._library import call, doubles, library, real_array


class _Cases(ctypes.Structure):
    _fields_ = [
        ("members", ctypes.POINTER(ctypes.c_double)),
        ("truth", ctypes.POINTER(ctypes.c_double)),
        ("cases", ctypes.c_int64),
        ("m", ctypes.c_int64),
    ]


def _texts(array):
    """Names that a file keeps as bytes."""
    return [value.decode().strip("\0 ") if isinstance(value, bytes) else str(value) for value in np.asarray(array).ravel()]


def _name(data, dimension, variable):
    """The texts of a variable become the labels of its dimension."""
    if variable not in data:
        return data
    return data.assign_coords({dimension: _texts(data[variable].values)}).drop_vars(variable)


def open_predictions(path):
    """predictions.nc of weather_ensemble or cosmoflow, as an xarray.Dataset.

    weather_ensemble: as the file is, with dates and lead times. cosmoflow: labels of the dimension `parameter` are the names of the parameters,
    `part` is train, valid or test; physPredicted is in the parameter's own unit, NaN where its range is unknown.
    """
    import xarray as xr

    with xr.open_dataset(path) as file:
        data = file.load()
    return _name(data, "parameter", "namePar")


def open_maps(path):
    """maps.nc of weather_ensemble eval: scores at each grid point, with the names of variables and models as labels."""
    import xarray as xr

    with xr.open_dataset(path) as file:
        data = file.load()
    if "variable_units" in data:
        data = data.assign_coords(units=("variable", _texts(data["variable_units"].values))).drop_vars("variable_units")
    return _name(_name(data, "variable", "variable_name"), "model", "model_name")


def crps(members, truth, axis=0, share=0.0):
    """CRPS of ensembles, as `weather_ensemble eval` computes it.

    members: the ensemble along `axis`, whose other dimensions are those of truth. share: of the fair score, 0 for the empirical distribution, 1
    for the fair CRPS (NaN for one member), 0.95 for the almost fair one. Returns an array like truth, in the unit of the forecast;
    NaN where the truth or a member is NaN.
    """
    x = real_array(members, "members")
    y = real_array(truth, "truth")
    if x.ndim == 0:
        raise ValueError("members: a number is no ensemble: give an array with a dimension of members")
    x = np.ascontiguousarray(np.moveaxis(x, axis, -1))
    if x.shape[:-1] != y.shape:
        raise ValueError(f"truth: shape {y.shape}, expected {x.shape[:-1]}, that of members without axis {axis}")
    out = np.empty(y.shape)
    cases = _Cases(doubles(x), doubles(y), y.size, x.shape[-1])
    call("weather_ensemble", "wx_call_crps", ctypes.byref(cases), ctypes.c_double(share), doubles(out))
    return out


def crps_normal(mean, sd, truth):
    """CRPS of normal distributions; the three broadcast. sd 0 gives |truth - mean|, a negative sd NaN."""
    arrays = [np.array(a, order="C") for a in np.broadcast_arrays(*(real_array(a, n) for a, n in ((mean, "mean"), (sd, "sd"), (truth, "truth"))))]
    out = np.empty(arrays[0].shape)
    library("weather_ensemble").wx_call_crps_normal(*map(doubles, arrays), ctypes.c_int64(out.size), doubles(out))
    return out
