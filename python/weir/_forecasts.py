"""Predictions and maps of scores as xarray objects, and the CRPS on arrays."""

import ctypes

import numpy as np

from ._library import call, doubles, library, real_array, settings


class _Cases(ctypes.Structure):
    _fields_ = [
        ("members", ctypes.POINTER(ctypes.c_double)),
        ("truth", ctypes.POINTER(ctypes.c_double)),
        ("cases", ctypes.c_int64),
        ("m", ctypes.c_int64),
    ]


class _Distributions(ctypes.Structure):
    _fields_ = [
        ("location", ctypes.POINTER(ctypes.c_double)),
        ("scale", ctypes.POINTER(ctypes.c_double)),
        ("n", ctypes.c_int64),
        ("sets", ctypes.POINTER(ctypes.c_char_p)),
        ("n_sets", ctypes.c_int64),
    ]


class _Vectors(ctypes.Structure):
    _fields_ = [
        ("members", ctypes.POINTER(ctypes.c_double)),
        ("truth", ctypes.POINTER(ctypes.c_double)),
        ("cases", ctypes.c_int64),
        ("m", ctypes.c_int64),
        ("d", ctypes.c_int64),
    ]


class _Emos(ctypes.Structure):
    _fields_ = [
        ("mean", ctypes.POINTER(ctypes.c_float)),
        ("variance", ctypes.POINTER(ctypes.c_float)),
        ("truth", ctypes.POINTER(ctypes.c_float)),
        ("weight", ctypes.POINTER(ctypes.c_double)),
        ("dates", ctypes.c_int64),
        ("n_lat", ctypes.c_int64),
        ("n_lon", ctypes.c_int64),
        ("wraps", ctypes.c_int64),
        ("sets", ctypes.POINTER(ctypes.c_char_p)),
        ("n_sets", ctypes.c_int64),
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


def _broadcast(**named):
    """Arrays of one shape, contiguous, of f64."""
    return [np.array(a, order="C") for a in np.broadcast_arrays(*(real_array(a, n) for n, a in named.items()))]


def crps_normal(mean, sd, truth):
    """CRPS of normal distributions; the three broadcast. sd 0 gives |truth - mean|, a negative sd NaN."""
    arrays = _broadcast(mean=mean, sd=sd, truth=truth)
    out = np.empty(arrays[0].shape)
    library("weather_ensemble").wx_call_crps_normal(*map(doubles, arrays), ctypes.c_int64(out.size), doubles(out))
    return out


NO_UPPER = 1e30  # the option `upper` where there is no upper bound


def _distribution(of, location, scale, at, family, lower, shift, upper):
    """Number `of` of the enumeration wx_call_of."""
    x, s, y = _broadcast(location=location, scale=scale, at=at)
    sets, n = settings({"family": family, "lower": repr(float(lower)), "shift": repr(float(shift)), "upper": repr(min(float(upper), NO_UPPER))})
    out = np.empty(x.shape)
    of_all = _Distributions(doubles(x), doubles(s), x.size, sets, n)
    call("weather_ensemble", "wx_call_distribution", ctypes.byref(of_all), ctypes.c_int64(of), doubles(y), doubles(out))
    return out


def crps_distribution(location, scale, truth, family="normal", lower=0.0, shift=0.0, upper=np.inf):
    """CRPS of distributions of a family, as `weather_ensemble eval` scores EMOS and networks; location, scale and truth broadcast.

    family: normal, logistic; truncated_normal, truncated_logistic, censored_normal or censored_logistic at the bound `lower`, with location and
    scale of the whole distribution, the censored ones up to `upper`; log_normal above `lower`, and censored_shifted_gamma, which begins `shift` below it, with mean and standard
    deviation as location and scale. NaN where the scale is negative or a number is NaN.
    """
    return _distribution(0, location, scale, truth, family, lower, shift, upper)


def log_score_distribution(location, scale, truth, family="normal", lower=0.0, shift=0.0, upper=np.inf):
    """-ln of the density at truth, or of the probability of truth at the bound of a censored family; NaN where there is no density."""
    return _distribution(1, location, scale, truth, family, lower, shift, upper)


def quantile_distribution(location, scale, probability, family="normal", lower=0.0, shift=0.0, upper=np.inf):
    """Smallest x with P(X <= x) >= probability, which is in (0, 1)."""
    return _distribution(2, location, scale, probability, family, lower, shift, upper)


def probability_above(location, scale, threshold, family="normal", lower=0.0, shift=0.0, upper=np.inf):
    """Probability of values above a threshold."""
    return _distribution(3, location, scale, threshold, family, lower, shift, upper)


def _vectors(members, truth):
    """members [.., m, d] and truth [.., d]."""
    x, y = real_array(members, "members"), real_array(truth, "truth")
    if x.ndim < 2 or x.shape[:-2] + x.shape[-1:] != y.shape:
        raise ValueError(f"truth: shape {y.shape}; members of shape {x.shape} are [.., members, numbers], and truth [.., numbers]")
    out = np.empty(y.shape[:-1])
    return out, (x, y), _Vectors(doubles(x), doubles(y), out.size, *x.shape[-2:])


def energy_score(members, truth, fair=False):
    """Energy score of vectors, members [.., m, d] and truth [.., d], as `eval` computes it of squares of points; fair: of infinitely many
    members on average, NaN for one."""
    out, kept, vectors = _vectors(members, truth)
    call("weather_ensemble", "wx_call_energy_score", ctypes.byref(vectors), ctypes.c_int64(fair), doubles(out))
    return out


def variogram_score(members, truth, order=0.5):
    """Variogram score of vectors, members [.., m, d] and truth [.., d]: mean over pairs of their numbers (Scheuerer and Hamill 2015)."""
    out, kept, vectors = _vectors(members, truth)
    call("weather_ensemble", "wx_call_variogram_score", ctypes.byref(vectors), ctypes.c_double(order), doubles(out))
    return out


def fit_emos(mean, variance, truth, options=None, weight=None, wraps=False):
    """EMOS coefficients alpha, beta, gamma, delta as the model `emos` of `eval` fits them.

    mean, variance (divisor members - 1) and truth [dates, lat, lon] are rounded to f32, as files have them; the distribution has the location
    alpha + beta mean and the scale sqrt(gamma^2 + delta^2 variance). options: of the section `fit`, such as {"family": "truncated_normal",
    "pool": "window"}. weight [lat, lon]: areas of cells; wraps: the last longitude is next to the first. Returns [4] where all cells share
    coefficients (pool global, the default), else [lat, lon, 4].
    """
    arrays = [np.ascontiguousarray(real_array(a, n, 3), "f4") for a, n in ((mean, "mean"), (variance, "variance"), (truth, "truth"))]
    shape = arrays[0].shape
    if any(a.shape != shape for a in arrays):
        raise ValueError(f"mean, variance and truth: shapes {[a.shape for a in arrays]} differ")
    w = None if weight is None else real_array(weight, "weight")
    if w is not None and w.shape != shape[1:]:
        raise ValueError(f"weight: shape {w.shape}, expected {shape[1:]}")
    sets, n = settings(options)
    found, different = np.empty((*shape[1:], 4)), ctypes.c_int64()
    pointers = [a.ctypes.data_as(ctypes.POINTER(ctypes.c_float)) for a in arrays]
    cases = _Emos(*pointers, None if w is None else doubles(w), *shape, wraps, sets, n)
    call("weather_ensemble", "wx_call_emos_fit", ctypes.byref(cases), doubles(found), ctypes.byref(different))
    return found[0, 0] if different.value == 1 and (options or {}).get("pool", "global") == "global" else found
