"""Results of the Weir programs as xarray, pandas and NumPy objects, and some of their computations on NumPy arrays.

Readers need netCDF4, xarray and pandas; calls need NumPy and the libraries that the build puts next to this package. Each is imported when
it is used, so that one works without the other.
"""

from ._beats import compare_beats, detect_beats, open_beats
from ._forecasts import (
    crps,
    crps_distribution,
    crps_normal,
    energy_score,
    fit_emos,
    log_score_distribution,
    open_maps,
    open_predictions,
    probability_above,
    quantile_distribution,
    variogram_score,
)
from ._library import Error
from ._run import Run, open_run, open_table
from ._transport import open_tbtrans, open_transport
from ._weights import load_weights

__all__ = [
    "Error",
    "Run",
    "compare_beats",
    "crps",
    "crps_distribution",
    "crps_normal",
    "detect_beats",
    "energy_score",
    "fit_emos",
    "load_weights",
    "log_score_distribution",
    "open_beats",
    "open_maps",
    "open_predictions",
    "open_run",
    "open_table",
    "open_tbtrans",
    "open_transport",
    "probability_above",
    "quantile_distribution",
    "variogram_score",
]
