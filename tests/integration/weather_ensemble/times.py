"""times.py PROGRAM SCRATCH - valid times and periods of forecast and truth: GRIB files made by ecCodes (times/,
written by make_grib.py) and NetCDF files written by netCDF4 are scored by the program; the CRPS is computed here,
and what cannot be compared is refused with a reason.

Exit 77: this Python has no netCDF4, or the program was built without NetCDF or ecCodes."""
import csv
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "times"))
import make_grib as made  # noqa: E402

try:
    import netCDF4
    import numpy as np
except ImportError:
    print("skipped: this Python has no netCDF4")
    sys.exit(77)

program, scratch = sys.argv[1:]
stored = os.path.dirname(os.path.abspath(made.__file__))


def grib(name):
    return os.path.join(stored, name)


def run(command, *options, out="out"):
    """The exit status and all that was printed."""
    settings = [word for option in options for word in ("--set", option)]
    done = subprocess.run([program, command, *settings, "--out", os.path.join(scratch, out), "--overwrite"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def evaluate(forecast, truth, *options):
    return run("eval", f"data.forecast=[{forecast}]", f"data.truth=[{truth}]", "eval.part=all", "eval.starts=all",
               "eval.models=[{use: raw}]", *options)


def crps(member, truth):
    """The CRPS of equally likely members (Gneiting and Raftery 2007, equation 21)."""
    n = len(member)
    pairs = sum(abs(a - b) for a in member for b in member)
    return sum(abs(a - truth) for a in member) / n - pairs / (2 * n * n)


def netcdf(name):
    return os.path.join(scratch, name)


def write(name, dims, coords, fields):
    """A NetCDF file: {dimension: length}, and {variable: (dimensions, values, attributes)} of both kinds."""
    with netCDF4.Dataset(netcdf(name), "w") as out:
        grid = {"latitude": [45.0, 35.0], "longitude": [0.0, 10.0, 20.0, 30.0]}
        for dim, n in {**dims, "latitude": 2, "longitude": 4}.items():
            out.createDimension(dim, n)
        for dim, values in grid.items():
            line = out.createVariable(dim, "f8", (dim,))
            line.units = "degrees_north" if dim == "latitude" else "degrees_east"
            line[:] = values
        for variable, (over, values, attributes) in {**coords, **fields}.items():
            at = out.createVariable(variable, np.asarray(values).dtype, over)
            at.setncatts(attributes)
            at[...] = values
    return netcdf(name)


HOURS = "hours since 2020-01-01 00:00:00"


def spread_out(value):
    """Values as fields: each plus the number of the column, as those of make_grib.py."""
    return np.asarray(value, dtype="f4")[..., None, None] + np.tile(np.arange(4, dtype="f4"), (2, 1))


def cfgrib_layout(name, variable, starts, steps, values, attributes, number=None):
    """What xarray with cfgrib writes: time is that of the start, with step and valid_time beside it."""
    dims = {} if number is None else {"number": len(number)}
    dims |= {"time": len(starts), "step": len(steps)}
    coords = {"time": (("time",), np.array(starts, "i8"),
                       {"units": HOURS, "calendar": "proleptic_gregorian",
                        "standard_name": "time", "long_name": "initial time of forecast"}),
              "step": (("step",), np.array(steps, "f8"), {"units": "hours", "standard_name": "forecast_period"}),
              "valid_time": (("time", "step"), np.add.outer(starts, steps).astype("i8"),
                             {"units": HOURS, "standard_name": "time"})}
    if number is not None:
        coords["number"] = (("number",), np.array(number), {"units": "1", "standard_name": "realization"})
    over = tuple(dims) + ("latitude", "longitude")
    return write(name, dims, coords, {variable: (over, spread_out(values), attributes)})


class Times(unittest.TestCase):
    def scored(self, forecast, truth, *options):
        """{lead: CRPS} of scores.csv."""
        status, text = evaluate(forecast, truth, *options)
        self.assertEqual(status, 0, text)
        with open(os.path.join(scratch, "out", "scores.csv"), encoding="utf-8") as table:
            return {float(row["lead_h"]): float(row["crps"]) for row in csv.DictReader(table)}

    def refused(self, forecast, truth, *words, options=()):
        status, text = evaluate(forecast, truth, *options)
        self.assertEqual(status, 3, text)
        for word in words:
            self.assertIn(word, text)
        return text

    def test_a_truth_of_steps_is_matched_by_valid_time(self):
        """ERA5 gusts: forecasts from 06 and 18 UTC, hourly steps. All leads of both starts have a truth."""
        found = self.scored(grib("gust_ensemble.grib"), grib("gust_truth.grib"))
        self.assertEqual(sorted(found), [12, 18])
        for value in found.values():
            self.assertAlmostEqual(value, crps(made.members(24), made.truth(24)), places=4)

    def test_a_netcdf_truth_with_time_and_step_is_matched_by_valid_time(self):
        kelvin = {"units": "K", "GRIB_paramId": 167, "GRIB_shortName": "2t"}
        forecast = cfgrib_layout("f.nc", "t2m", [0, 12], [12, 18],
                                 [[[made.members(t + s)[m] for s in (12, 18)] for t in (0, 12)] for m in range(3)],
                                 kelvin, number=[1, 2, 3])
        truth = cfgrib_layout("t.nc", "t2m", [6, 18], [1, 6, 12],
                              [[made.truth(t + s) for s in (1, 6, 12)] for t in (6, 18)], kelvin)
        found = self.scored(forecast, truth)
        self.assertEqual(sorted(found), [12, 18])
        for value in found.values():
            self.assertAlmostEqual(value, crps(made.members(24), made.truth(24)), places=4)

    def test_two_truths_of_a_time_are_refused(self):
        self.refused(grib("gust_ensemble.grib"), grib("gust_truth_twice.grib"),
                     "two fields of 10fg are valid at 2020-01-01 19:00", "step of 13 h", "step of 1 h")

    def test_prepare_keeps_valid_times(self):
        """The truth that prepare writes scores as the files that it was made of."""
        status, text = run("prepare", f"data.forecast=[{grib('gust_ensemble.grib')}]",
                           f"data.truth=[{grib('gust_truth.grib')}]", out="kept")
        self.assertEqual(status, 0, text)
        direct = self.scored(grib("gust_ensemble.grib"), grib("gust_truth.grib"))
        kept = self.scored(os.path.join(scratch, "kept", "forecast.nc"), os.path.join(scratch, "kept", "truth.nc"))
        self.assertEqual(sorted(direct), sorted(kept))
        for lead, value in direct.items():
            self.assertAlmostEqual(value, kept[lead], places=4)


if __name__ == "__main__":
    answer = evaluate(grib("gust_ensemble.grib"), grib("gust_truth.grib"))
    if answer[0] == 7 or "begins like no file" in answer[1]:
        print("skipped: the program was built without NetCDF or ecCodes")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=2)
