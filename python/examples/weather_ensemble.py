"""weather_ensemble.py RUN EVAL FORECAST TRUTH - loss by epoch, CRPS by model, and the CRPS of the forecasts computed from the archives.

F=out/demo/weather_ensemble; python3 weather_ensemble.py $F/run $F/eval $F/prepare/forecast.nc $F/prepare/truth.nc"""

import sys

import xarray as xr

import weir

if len(sys.argv) != 5:
    sys.exit(__doc__)
run, evaluation = map(weir.open_run, sys.argv[1:3])
print(run.events("epoch_end").filter(["epoch", "loss", "valid_loss"]).tail(3).to_string(index=False))
scores = evaluation.table("scores")
print(scores.pivot_table(index=["variable", "lead_h"], columns="model", values="crps").round(3))
with xr.open_dataset(sys.argv[3]) as forecast, xr.open_dataset(sys.argv[4]) as truth:
    name = next(name for name in forecast.data_vars if "realization" in forecast[name].dims)
    members = forecast[name].isel(forecast_period=0)
    lead = forecast["forecast_period"][0].values
    start = forecast["forecast_reference_time"].values
    known = truth[name].isel(forecast_period=0, realization=0)
    there = [t for t in start if t + lead in known["forecast_reference_time"]]
    members = members.sel(forecast_reference_time=there).transpose("realization", ...)
    y = known.sel(forecast_reference_time=[t + lead for t in there])
    crps = weir.crps(members.values, y.transpose(*members.dims[1:]).values)
    print(f"{name}, {lead.astype('timedelta64[h]')}, {len(there)} initialisation times, all points alike: CRPS {crps.mean():.4g}")
