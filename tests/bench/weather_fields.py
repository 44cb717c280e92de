"""weather_fields.py - what weather_comparison.py and its parts share: runs of the program, and fields of its simulation."""

import pathlib
import subprocess

import netCDF4
import numpy as np

CONFIGS = pathlib.Path(__file__).resolve().parent.parent.parent / "configs/weather_ensemble"
PROGRAM = None  # path; set once
UNIT = {"z500": 1, "ws500": 1, "tprate": 1e6, "tcc": 1}  # precipitation in 1e-6 kg m-2 s-1


def run(command, out, *sets):
    line = [PROGRAM, command, "--out", out, "--overwrite", "--config", str(CONFIGS / "tiny.yaml")]
    for value in sets:
        line += ["--set", value]
    done = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, f"{line}:\n{done.stdout[-2000:]}"


class Fields:
    """Members [dates, member, lat, lon] and truth [dates, lat, lon] of a quantity at 48 h, f32 as the files have them."""

    def __init__(self, quantity, dates=None):
        name = quantity.rstrip("0123456789")
        with netCDF4.Dataset("data/forecast.nc") as f, netCDF4.Dataset("data/truth.nc") as t:
            start, valid = f["forecast_reference_time"][:], t["forecast_reference_time"][:]
            lead = list(np.asarray(f["forecast_period"][:], int)).index(48)
            self.units, self.area = f["forecast_reference_time"].units, np.asarray(f["cell_area"][:], "f8")
            self.lead = 48 * (1 if "hours" in self.units else 3600)  # in the units of time
            at = np.searchsorted(valid, start + self.lead)
            keep = at < len(valid)
            self.start = np.asarray(start)[keep][:dates]
            shape = (-1, f.dimensions["realization"].size, *self.area.shape)
            self.members = np.asarray(f[name][:, lead]).reshape(shape)[keep][:dates]
            self.truth = np.asarray(t[name][:]).reshape(-1, *self.area.shape)[at[keep]][:dates]

    def moments(self, scale=1.0):
        """Mean and variance over members and truth in f32, as EMOS takes them, in a unit of 1 / scale."""
        x = scale * self.members.astype("f8")
        return [np.asarray(a, "f4") for a in (x.mean(1), x.var(1, ddof=1), scale * self.truth.astype("f8"))]
