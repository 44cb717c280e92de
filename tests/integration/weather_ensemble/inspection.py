"""inspection.py PROGRAM SCRATCH - the command inspect on files of netCDF4: statistics as NumPy computes them, missing and
incomplete initialisation times.

Exit 77: this Python has no netCDF4, or the program was built without NetCDF."""
import csv
import os
import subprocess
import sys
import unittest

try:
    import netCDF4
    import numpy as np
except ImportError:
    print("skipped: this Python has no netCDF4")
    sys.exit(77)

program, scratch = sys.argv[1:]
LAT, LON, LEADS = np.arange(60.0, -61.0, -30.0), np.arange(0.0, 360.0, 45.0), [12, 24, 36]


def run(*options, out="out"):
    """The exit status and what was printed."""
    settings = [word for option in options for word in ("--set", option)]
    to = ["--out", os.path.join(scratch, out), "--overwrite"] if out else []
    done = subprocess.run([program, "inspect", *settings, *to], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)
    return done.returncode, done.stdout


def rows(name, out="out"):
    with open(os.path.join(scratch, out, name), newline="") as f:
        return list(csv.DictReader(f))


def write(name, days, members, values):
    """values: {variable: (units, numbers[days, leads, members, latitudes, longitudes])}"""
    path = os.path.join(scratch, name)
    with netCDF4.Dataset(path, "w") as f:
        f.institution = "a centre"
        for dim, (of, units) in {"time": (days, "days since 2021-01-01"), "step": (LEADS, "hours"),
                                 "number": (np.arange(members), None), "latitude": (LAT, "degrees_north"),
                                 "longitude": (LON, "degrees_east")}.items():
            f.createDimension(dim, len(of))
            v = f.createVariable(dim, np.asarray(of).dtype, (dim,))
            v[:] = of
            if units:
                v.units = units
        for variable, (units, numbers) in values.items():
            v = f.createVariable(variable, "f4", ("time", "step", "number", "latitude", "longitude"), fill_value=-9e9)
            v.units = units
            v[:] = np.ma.masked_invalid(numbers)
    return path


class Inspect(unittest.TestCase):
    def setUp(self):
        rng = np.random.default_rng(5)
        shape = (4, len(LEADS), 5, len(LAT), len(LON))
        self.t = (280 + 9 * rng.standard_normal(shape)).astype("f4")
        self.t[rng.random(shape) < 0.07] = np.nan
        self.msl = (1e5 + 900 * rng.standard_normal(shape)).astype("f4")

    def archive(self):
        both = {"t2m": ("K", self.t), "msl": ("Pa", self.msl)}
        one = write("one.nc", [0, 1, 2], 5, {k: (u, x[:3]) for k, (u, x) in both.items()})
        two = write("two.nc", [6], 4, {k: (u, x[3:, :, :4]) for k, (u, x) in both.items()})
        return f"data.forecast=[{one}, {two}]", os.path.getsize(one) + os.path.getsize(two)

    def test_statistics_are_those_of_numpy(self):
        forecast, size = self.archive()
        status, text = run(forecast)
        self.assertEqual(status, 0, text)
        for quantity, x in (("2t", self.t), ("msl", self.msl)):
            for lead in ["all"] + LEADS:
                at = slice(None) if lead == "all" else slice(LEADS.index(lead), LEADS.index(lead) + 1)
                all_ = np.concatenate([x[:3, at].ravel(), x[3:, at, :4].ravel()]).astype("f8")
                row = [r for r in rows("inspect.csv") if r["quantity"] == quantity and r["lead_h"] == str(lead)]
                self.assertEqual(len(row), 1)
                row = row[0]
                self.assertEqual(int(row["values"]), np.isfinite(all_).sum())
                self.assertEqual(int(row["missing"]), np.isnan(all_).sum())
                self.assertAlmostEqual(float(row["share"]), np.isnan(all_).mean(), places=7)
                for column, value in (("min", np.nanmin(all_)), ("max", np.nanmax(all_)), ("mean", np.nanmean(all_)),
                                      ("sd", np.nanstd(all_))):
                    self.assertLess(abs(float(row[column]) / value - 1), 2e-9, (quantity, lead, column))
                self.assertEqual(int(row["fields"]), 19 * (3 if lead == "all" else 1))
                self.assertEqual(int(row["fields_expected"]), 20 * (3 if lead == "all" else 1))
        self.assertIn("30 degrees between rows, 45 degrees between columns; full circle", text)
        self.assertIn(f"{size / 1024:.4g} KiB on disk" if size < 2**20 else "MiB on disk", text)
        self.assertIn("institution: a centre", text)

    def test_missing_and_incomplete_times_are_listed(self):
        forecast, _ = self.archive()
        status, text = run(forecast, "inspect.statistics=false")
        self.assertEqual(status, 0, text)
        self.assertIn("every 1 d, 3 missing; intervals: 1 d (2 times), 4 d (1 times)", text)
        self.assertIn("missing: 2021-01-04 00:00 to 2021-01-06 00:00, 3 times", text)
        self.assertIn("incomplete: 2021-01-07 00:00, 1 time, 6 fields absent", text)
        got = [(r["first"], r["last"], int(r["times"]), r["state"], int(r["fields"]), int(r["fields_expected"]))
               for r in rows("init_times.csv")]
        self.assertEqual(got, [("2021-01-01 00:00", "2021-01-03 00:00", 3, "complete", 90, 90),
                               ("2021-01-04 00:00", "2021-01-06 00:00", 3, "missing", 0, 90),
                               ("2021-01-07 00:00", "2021-01-07 00:00", 1, "incomplete", 24, 30)])
        self.assertTrue(all(r["mean"] == "" and r["share"] == "" and r["values"] == "0" for r in rows("inspect.csv")))

    def test_nothing_is_written_without_a_folder(self):
        forecast, _ = self.archive()
        before = sorted(os.listdir(scratch))
        status, text = run(forecast, "inspect.listed=0", out=None)
        self.assertEqual(status, 0, text)
        self.assertIn("and 2 more such times in a row", text)
        self.assertEqual(before, sorted(os.listdir(scratch)))

    def test_files_that_are_none_are_refused(self):
        status, text = run()
        self.assertEqual((status, "data.forecast: no file is named" in text), (2, True), text)
        path = os.path.join(scratch, "none.nc")
        with open(path, "w") as f:
            f.write("no archive")
        status, text = run(f"data.truth=[{path}]")
        self.assertEqual((status, "none.nc: begins like no file of" in text), (3, True), text)


code, said = run(f"data.forecast=[{write('first.nc', [0], 1, {'t2m': ('K', np.full((1, 3, 1, len(LAT), len(LON)), 280.0))})}]")
if code == 7:
    print("skipped: this build has no NetCDF")
    sys.exit(77)
unittest.main(argv=[sys.argv[0]])
