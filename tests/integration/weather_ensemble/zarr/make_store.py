"""make_store.py - writes by_xarray.zarr of this folder again, a Zarr store of version 2 without compression. Made with xarray 2026.9
and zarr 3.1.6: python3 -m venv v && v/bin/pip install xarray zarr && v/bin/python make_store.py"""
import os

import numpy as np
import xarray as xr

SHAPE = (3, 2, 5, 4, 8)
X = (280 + 9 * np.random.default_rng(7).standard_normal(SHAPE)).astype("<f4")
DIMS = ["time", "prediction_timedelta", "number", "latitude", "longitude"]

data = xr.Dataset(
    {"2m_temperature": (DIMS, X, {"units": "K"})},
    coords={"time": np.datetime64("2020-01-01", "ns") + np.arange(3) * np.timedelta64(1, "D"),
            "prediction_timedelta": np.array([24, 48]) * np.timedelta64(1, "h").astype("timedelta64[ns]"),
            "number": np.arange(5),
            "latitude": ("latitude", np.linspace(60, -60, 4), {"units": "degrees_north"}),
            "longitude": ("longitude", np.arange(0, 360, 45.0), {"units": "degrees_east"})},
    attrs={"institution": "a centre"})
path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "by_xarray.zarr")
data.to_zarr(path, mode="w", zarr_format=2, encoding={name: {"compressors": None} for name in data.variables})
