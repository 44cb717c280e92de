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
    return run("eval", f"data.forecast=[{forecast}]", f"data.truth=[{truth}]", "eval.part=all", "eval.init_times=all",
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


def cfgrib_layout(name, variable, init_times, steps, values, attributes, number=None):
    """What xarray with cfgrib writes: time is that of the start, with step and valid_time as well."""
    dims = {} if number is None else {"number": len(number)}
    dims |= {"time": len(init_times), "step": len(steps)}
    coords = {"time": (("time",), np.array(init_times, "i8"),
                       {"units": HOURS, "calendar": "proleptic_gregorian",
                        "standard_name": "time", "long_name": "initial time of forecast"}),
              "step": (("step",), np.array(steps, "f8"), {"units": "hours", "standard_name": "forecast_period"}),
              "valid_time": (("time", "step"), np.add.outer(init_times, steps).astype("f8"),
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
        """ERA5 gusts: forecasts from 06 and 18 UTC, hourly steps. All leads of both initialisation times have a truth."""
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

    def layout(self, name, times, variable="t2m", lead=None, **more):
        """Truths of 24 h valid at hour 24 and 36, with these coordinates over their one dimension."""
        coords = {key: (("time",), np.array(values, "i8"), {"units": HOURS, **more.get(key, {})})
                  for key, values in times.items()}
        if lead is not None:
            coords["step"] = (("time",), np.array(lead, "f8"), {"units": "hours"})
        kelvin = {"units": "K", "GRIB_paramId": 167, "GRIB_shortName": "2t"}
        return write(name, {"time": 2}, coords, {variable: (("time", "latitude", "longitude"), spread_out(
            [made.truth(24), made.truth(36)]), kelvin)})

    def instants(self):
        kelvin = {"units": "K", "GRIB_paramId": 167, "GRIB_shortName": "2t"}
        return cfgrib_layout("f.nc", "t2m", [0, 12], [24],
                             [[[made.members(t + 24)[m]] for t in (0, 12)] for m in range(3)], kelvin, number=[1, 2, 3])

    def test_time_beside_valid_time_is_that_of_the_start(self):
        """A truth of one step that lost its step: read as valid times, the initialisation times would score other days."""
        for said in ({}, {"time": {"standard_name": "time"}},
                     {"time": {"standard_name": "time"}, "valid_time": {"standard_name": "time"}}):
            found = self.scored(self.instants(), self.layout("t.nc", {"time": [0, 12], "valid_time": [24, 36]}, **said))
            self.assertEqual(sorted(found), [24])
            self.assertAlmostEqual(found[24], crps(made.members(24), made.truth(24)), places=4)

    def test_times_that_contradict_each_other_are_refused(self):
        self.refused(self.instants(), self.layout("t.nc", {"time": [0, 12], "valid_time": [24, 48]}, lead=[24, 24]),
                     "t.nc: variable t2m: a field is valid at 2020-01-03 00:00 by valid_time, and at 2020-01-02 12:00 by")
        self.refused(self.layout("w.nc", {"time": [24, 36], "forecast_reference_time": [0, 24], "valid_time": [24, 36]},
                                 lead=[24, 24]),
                     grib("warm_truth.grib"), "w.nc: variable t2m: a field is valid at 2020-01-02 12:00 by time")

    def expect(self, found, wanted):
        """CRPS of every lead is that of members whose differences to the truth are those of `members`."""
        self.assertEqual(sorted(found), wanted)
        for value in found.values():
            self.assertAlmostEqual(value, crps(made.members(24), made.truth(24)), places=3)

    def test_sums_of_one_period_are_scored(self):
        """Edition 2 against edition 1, each 0 to 24 h."""
        self.expect(self.scored(grib("rain_ensemble.grib"), grib("rain_truth_24.grib"), "eval.leads=[24]"), [24])

    def test_sums_of_two_periods_are_refused(self):
        for command in ("eval", "run"):
            options = ["eval.leads=[48]"] if command == "eval" else ["data.lead=[48]", "data.target=[tp]"]
            status, text = run(command, f"data.forecast=[{grib('rain_ensemble.grib')}]",
                               f"data.truth=[{grib('rain_truth_24.grib')}]", "eval.part=all", *options)
            self.assertEqual(status, 3, text)
            self.assertIn("tp at lead 48 h is the sum of 48 h in", text)
            self.assertIn("rain_ensemble.grib and the sum of 24 h in", text)
            self.assertIn("rain_truth_24.grib, which cannot be compared: choose leads", text)

    def test_sums_of_an_hour_are_no_truth_of_sums_from_the_start(self):
        """ERA5 against a forecast: neither summed nor compared, in any command."""
        said = ("tp at lead 24 h is the sum of 24 h", "and the sum of 1 h in", "make the same sums")
        self.refused(grib("rain_ensemble.grib"), grib("rain_truth_1.grib"), *said)
        status, text = run("prepare", f"data.forecast=[{grib('rain_ensemble.grib')}]",
                           f"data.truth=[{grib('rain_truth_1.grib')}]")
        self.assertEqual(status, 3, text)
        for word in said:
            self.assertIn(word, text)

    def test_a_truth_has_one_period(self):
        self.refused(grib("rain_ensemble.grib"), grib("rain_truth_mixed.grib"), "step 24 h covers 24 h",
                     "step 48 h of", "covers 48 h", "so that a truth has one period")

    def test_a_sum_without_its_period_is_refused(self):
        """Edition 1 has precipitation at a step, without a range: from the start, or of the last hours?"""
        self.refused(grib("rain_ensemble.grib"), grib("rain_truth_unstated.grib"),
                     "the sum of a time that is not stated in", "GRIB: a step range", options=["eval.leads=[24]"])

    def test_a_mean_is_no_truth_of_an_instant(self):
        """Newer versions of ecCodes call the mean another parameter: then there is none in common."""
        text = self.refused(grib("warm_ensemble.grib"), grib("warm_truth_mean.grib"))
        self.assertRegex(text, "2t at lead 24 h is the value of an instant|has no quantity")

    def rain(self, name, init_times, leads, members, attributes, point=1.0, cover=None):
        """CF as many write it: initialisation times, periods with bounds, members; times at a share of the period."""
        shape = [len(init_times), len(leads)]
        last = np.add.outer(init_times, leads).astype("f8")
        first = last - (cover or np.asarray(leads, "f8"))
        coords = {"forecast_reference_time": (("start",), np.array(init_times, "f8"),
                                              {"units": HOURS, "standard_name": "forecast_reference_time"}),
                  "time": (("start", "lead"), first + point * (last - first),
                           {"units": HOURS, "standard_name": "time", "bounds": "time_bnds"}),
                  "time_bnds": (("start", "lead", "nv"), np.stack([first, last], -1), {})}
        dims = dict(zip(("start", "lead"), shape)) | {"nv": 2}
        over, values = ("start", "lead"), np.vectorize(made.truth)(last)
        if members:
            dims["realization"] = 3
            coords["realization"] = (("realization",), np.array([1, 2, 3]), {"standard_name": "realization"})
            over, values = ("start", "lead", "realization"), np.stack(made.members(last), -1)
        attributes = {"units": "m", "coordinates": "forecast_reference_time time", **attributes}
        return write(name, dims, coords, {"tp": (over + ("latitude", "longitude"), spread_out(values), attributes)})

    def test_bounds_and_cell_methods_of_netcdf(self):
        """Equal bounds are scored wherever the time stands in them; others are refused."""
        total = {"cell_methods": "time: sum (interval: 1 hour) area: mean"}
        forecast = self.rain("f.nc", [0, 24], [24, 48], True, total, point=0.5)
        day = self.rain("t.nc", [24, 48, 72], [0], False, total, cover=24)
        self.expect(self.scored(forecast, day, "eval.leads=[24]"), [24])
        self.expect(self.scored(grib("rain_ensemble.grib"), day, "eval.leads=[24]"), [24])
        self.refused(forecast, day, "tp at lead 48 h is the sum of 48 h", "the sum of 24 h")
        mean = self.rain("m.nc", [24, 48, 72], [0], False, {"cell_methods": "time: mean"}, cover=24)
        self.refused(forecast, mean, "is the sum of 24 h", "the mean of 24 h", options=["eval.leads=[24]"])
        known = self.rain("k.nc", [24, 48, 72], [0], False, {}, cover=24)  # tp is a sum by its name
        self.expect(self.scored(forecast, known, "eval.leads=[24]"), [24])

    def test_bounds_that_are_missing_or_wrong(self):
        total = {"cell_methods": "time: sum"}
        forecast = self.rain("f.nc", [0, 24], [24, 48], True, total)
        for edit, said in (
                (lambda out: out["time"].delncattr("bounds"), "a time that is not stated"),
                (lambda out: out["time"].setncattr("bounds", "gone"), "a time that is not stated"),
                (lambda out: out["time_bnds"].setncattr("units", "hours since 2019-01-01"),
                 "does not lie between its bounds"),
                (lambda out: out["time"].setncattr("climatology", "time_bnds"), "those of a climatology"),
        ):
            truth = self.rain("t.nc", [24, 48, 72], [0], False, total, cover=24)
            with netCDF4.Dataset(truth, "a") as out:
                edit(out)
            self.refused(forecast, truth, said, options=["eval.leads=[24]"])

    def test_bounds_without_a_method_are_no_instants(self):
        """Temperature with bounds of a day may be a mean, or an instant within them: it has to say."""
        kelvin = {"units": "K", "GRIB_paramId": 167, "GRIB_shortName": "2t"}
        forecast = cfgrib_layout("f.nc", "t2m", [0, 24], [24], [[[made.members(t + 24)[m]] for t in (0, 24)]
                                                                for m in range(3)], kelvin, number=[1, 2, 3])

        def truth(method):
            bounds = np.array([[0.0, 24.0], [24.0, 48.0]])
            return write("t.nc", {"time": 2, "nv": 2},
                         {"time": (("time",), bounds[:, 1], {"units": HOURS, "bounds": "time_bnds"}),
                          "time_bnds": (("time", "nv"), bounds, {})},
                         {"t2m": (("time", "latitude", "longitude"), spread_out([made.truth(24), made.truth(48)]),
                                  kelvin | method)})

        self.refused(forecast, truth({}), "the value of an instant", "without cell_methods")
        self.refused(forecast, truth({"cell_methods": "time: mean"}), "the value of an instant", "the mean of 24 h")
        self.expect(self.scored(forecast, truth({"cell_methods": "time: point"})), [24])

    def test_steps_of_cfgrib_do_not_state_a_period(self):
        """GRIB_stepType says that it is a sum, and nothing of when it begins; bounds of the step do."""
        total = {"units": "m", "GRIB_paramId": 228, "GRIB_shortName": "tp", "GRIB_stepType": "accum"}
        values = [[[made.members(t + 24)[m]] for t in (0, 24)] for m in range(3)]
        forecast = cfgrib_layout("f.nc", "tp", [0, 24], [24], values, total, number=[1, 2, 3])
        self.refused(forecast, grib("rain_truth_24.grib"), "the sum of a time that is not stated in", "f.nc")
        with netCDF4.Dataset(forecast, "a") as out:
            out.createDimension("nv", 2)
            out["step"].bounds = "step_bnds"
            out.createVariable("step_bnds", "f8", ("step", "nv"))[:] = [[0, 24]]
        self.expect(self.scored(forecast, grib("rain_truth_24.grib")), [24])

    def test_periods_are_written(self):
        """prepare: bounds of times that end when the values are valid, and cell_methods."""
        status, text = run("prepare", f"data.forecast=[{grib('rain_ensemble.grib')}]",
                           f"data.truth=[{grib('rain_truth_24.grib')}]", out="kept")
        self.assertEqual(status, 0, text)
        self.assertIn("1 of 2 leads: tp at lead 48 h is the sum of 48 h", text)
        for name, periods in (("forecast.nc", [24, 48]), ("truth.nc", [24])):
            with netCDF4.Dataset(os.path.join(scratch, "kept", name)) as found:
                self.assertEqual(found["tp"].cell_methods, "time: sum")
                times = found[found["tp"].coordinates]
                bounds = found[times.bounds][:]
                self.assertEqual(times.standard_name, "time")
                self.assertTrue((bounds[..., 1] == times[:]).all())
                self.assertTrue((bounds[..., 1] - bounds[..., 0] == 3600 * np.array(periods)).all())

    def refused_alone(self, name, *words):
        """By prepare, without a truth."""
        status, text = run("prepare", f"data.forecast=[{name}]")
        self.assertEqual(status, 3, text)
        for word in words:
            self.assertIn(word, text)

    def test_steps_and_levels_of_grib(self):
        """Steps in minutes; an analysis at the surface is the truth of a forecast at 2 m, of edition 2."""
        self.expect(self.scored(grib("warm_minutes.grib"), grib("warm_truth.grib")), [24])
        self.refused_alone(grib("warm_months.grib"), "indicatorOfUnitOfTimeRange=3: months and years")
        self.refused_alone(grib("warm_hybrid.grib"), "typeOfLevel=hybrid", "leave such messages out")
        self.refused(grib("warm_80m.grib"), grib("warm_truth.grib"), "has no quantity of")

    def test_bytes_between_messages_of_grib(self):
        """Padding and headings of bulletins are passed over; a message that lost its first word is damaged."""
        with open(grib("warm_ensemble.grib"), "rb") as file:
            sound = file.read()
        ends = [at + 4 for at in range(len(sound)) if sound.startswith(b"7777GRIB", at)]
        path, truth = netcdf("between.grib"), grib("warm_truth.grib")

        def between(extra, at=ends[0]):
            with open(path, "wb") as file:
                file.write(sound[:at] + extra + sound[at:])
            return path

        for extra in (bytes(1000), b"\r\r\n\x03\x01\r\r\n012\r\r\nHTXE85 ECMF 010000\r\r\n",
                      b"****0000018340****\nYTQE99 KWBC 010000\r\r\n"):
            for at in (0, ends[0], len(sound))[extra[0] == 0:]:
                self.expect(self.scored(between(extra, at), truth), [24])
        for extra in (b"\0\0\0\x1c", sound[ends[0]:ends[1]].replace(b"GRIB", b"GRXB")):
            refusal = (f"between.grib: message 2 (byte {ends[0]}) is damaged: identifier: {len(extra)} bytes neither begin",
                       "set data.grib.skip_damaged")
            self.refused(between(extra), truth, *refusal)
            self.refused_alone(path, *refusal)
            status, text = evaluate(path, truth, "data.grib.skip_damaged=true")
            self.assertEqual(status, 0, text)
            self.assertIn("is damaged and skipped: identifier", text)

    def temperature(self, name, edit=None, leads=(24,), lead=None, time=None, kelvin=None, level=None):
        """Three members from two times; attributes of its step, time, variable and a level can be others."""
        attributes = {"units": "K", "standard_name": "air_temperature"} if kelvin is None else kelvin
        init_times = [0, 24]
        values = [[[made.members(t + 24)[m]] * len(leads) for t in init_times] for m in range(3)]
        path = cfgrib_layout(name, "t" if level else "t2m", init_times, leads, values, attributes, number=[1, 2, 3])
        with netCDF4.Dataset(path, "a") as out:
            for variable, to in (("step", lead), ("time", time)):
                if to is not None:
                    numbers, units = to
                    out[variable][:] = numbers
                    out[variable].delncattr("units")
                    if units:
                        out[variable].units = units
            if edit:
                edit(out)
        return path

    def test_steps_of_netcdf(self):
        """A day is a day in every unit, also as a fraction; a step without units, or of months, is none."""
        truth = grib("warm_truth.grib")
        for hours, units in ((1440, "minutes"), (86400, "seconds"), (1, "days"), (24.0, "h"), (8.64e13, "nanoseconds")):
            self.expect(self.scored(self.temperature("f.nc", lead=([hours], units)), truth), [24])
        for hours, units in ((24, None), (1, "months"), (1, "D")):
            refused = [f"its units '{units or ''}' are no units of a lead"]
            if units != "D":
                self.refused(self.temperature("f.nc", lead=([hours], units)), truth, *refused)
        half = self.temperature("f.nc", leads=(0.5, 24), lead=([0.5 / 24, 1.0], "days"))
        self.assertEqual(sorted(self.scored(half, truth)), [24])

    def test_units_of_times(self):
        truth = grib("warm_truth.grib")
        for numbers, units in (([0, 86400], "seconds since 2020-01-01"), ([0, 1440], "minutes since 2020-1-1 00:00"),
                               ([0, 1], "days since 2020-01-01T00:00:00Z"),
                               ([0, 24], "Hours Since 2020-1-1 0:0:0.0 UTC"), ([-24, 0], "hours since 2020-01-02")):
            self.expect(self.scored(self.temperature("f.nc", time=(numbers, units)), truth), [24])
        self.refused(self.temperature("f.nc", time=([0, 24], "hours since 2020-01-01 00:00 +02:00")), truth,
                     "are not in UTC, but in the time zone '+02:00'")
        for units in ("months since 2020-01-01", "hours", "hours since yesterday"):
            self.refused(self.temperature("f.nc", time=([0, 24], units)), truth, f"its units '{units}' are not")
        self.refused(self.temperature("f.nc", time=([0, 24], None)), truth, "has no units, and its values are no years")

    def test_calendars(self):
        """Only days of the Gregorian calendar; the standard one is another before 1582."""
        truth = grib("warm_truth.grib")

        def calendar(name):
            return lambda out: out["time"].setncattr("calendar", name)

        for name in ("standard", "gregorian", "proleptic_gregorian"):
            self.expect(self.scored(self.temperature("f.nc", calendar(name)), truth), [24])
        for name in ("360_day", "noleap", "365_day", "julian", "all_leap", "none"):
            self.refused(self.temperature("f.nc", calendar(name)), truth, f"'calendar' is '{name}'")
        days = netCDF4.date2num(made.DAY, "days since 0001-01-01", "proleptic_gregorian")
        old = ([days, days + 1], "days since 0001-01-01")
        self.expect(self.scored(self.temperature("f.nc", calendar("proleptic_gregorian"), time=old), truth), [24])
        self.refused(self.temperature("f.nc", calendar("standard"), time=old), truth, "before 1582-10-15")
        self.refused(self.temperature("f.nc", lambda out: out["time"].delncattr("calendar"), time=old), truth,
                     "before 1582-10-15")

    def test_units_of_forecast_and_truth(self):
        """Those that are not known are not converted, and none is taken for granted, in any command that compares."""
        truth = grib("warm_truth.grib")
        for units in ("degF", "degrees", ""):
            kelvin = {"standard_name": "air_temperature", "GRIB_paramId": 167} | ({"units": units} if units else {})
            forecast = self.temperature("f.nc", kelvin=kelvin)
            self.refused(forecast, truth, f"'{units}'", "'K'", "convert one, or state its units")
            for command, options in (("prepare", []), ("run", ["data.target=[2t]", "data.lead=[24]"])):
                status, text = run(command, f"data.forecast=[{forecast}]", f"data.truth=[{truth}]", *options)
                self.assertEqual(status, 3, text)
                self.assertIn(f"'{units}'", text)
        self.expect(self.scored(self.temperature("f.nc", kelvin={"GRIB_paramId": 167, "units": "kelvin"}), truth), [24])

    def normal(self, spread, variable="t2m", value=2.0):
        """The score of mean and spread that another program wrote, with these attributes of the spread."""
        kelvin = {"units": "K", "standard_name": "air_temperature", "cell_methods": "realization: mean"}
        path = cfgrib_layout("mean.nc", variable, [0, 24], [24], [[made.truth(t + 24)] for t in (0, 24)], kelvin)
        with netCDF4.Dataset(path, "a") as out:
            at = out.createVariable(variable + "_spread", "f4", out[variable].dimensions)
            at.setncatts({"cell_methods": "realization: standard_deviation", **spread})
            at[:] = value
        forecast = self.temperature("f.nc")
        if variable != "t2m":
            with netCDF4.Dataset(forecast, "a") as out:
                out.renameVariable("t2m", variable)
                for key in ("GRIB_paramId", "GRIB_shortName"):
                    if key in out[variable].ncattrs():
                        out[variable].delncattr(key)
        truth = self.layout("t.nc", {"time": [24, 48]}, variable="t2m")
        with netCDF4.Dataset(truth, "a") as out:
            out["t2m"].setncatts({"standard_name": "air_temperature"})
            if variable != "t2m":
                out.renameVariable("t2m", variable)
                out[variable].delncattr("GRIB_paramId")
                out[variable].delncattr("GRIB_shortName")
        return run("eval", f"data.forecast=[{forecast}]", f"data.truth=[{truth}]", "eval.part=all", "eval.init_times=all",
                   f"eval.models=[{{use: {{predictions: {{files: [{path}]}}}}}}]")

    def test_units_of_a_spread_are_those_of_its_quantity(self):
        """Of a variance no root is taken, and degC is no unit of a difference; nor is none."""
        for variable, name in (("t2m", "2t"), ("t", "t")):
            status, text = self.normal({"units": "K"}, variable)
            self.assertEqual(status, 0, text)
            for units in ("K2", "K**2", "degC", ""):
                status, text = self.normal({"units": units} if units else {}, variable)
                self.assertEqual(status, 3, text)
                self.assertRegex(text, f"mean.nc: (2t|t2m|t)_spread has units '{units.replace('**', '')}', and {name}, "
                                 "of which it is the spread, has 'K'")

    def test_a_spread_below_0_is_refused(self):
        status, text = self.normal({"units": "K"}, value=-1.0)
        self.assertEqual(status, 3, text)
        self.assertIn("mean.nc: 2t_spread of initialisation time 2020-01-01 00:00, lead 24 h: -1 at point 0", text)

    def level(self, name, attributes, value=85000.0, coordinate="plev"):
        """A forecast on one level, which is a dimension."""
        path = self.temperature("flat.nc")
        with netCDF4.Dataset(path) as flat:
            dims = {"number": 3, "time": 2, "step": 1, coordinate: 1}
            coords = {key: ((key,), flat[key][:], dict(flat[key].__dict__)) for key in ("number", "time", "step")}
            coords[coordinate] = ((coordinate,), np.array([value]), attributes)
            fields = {"t": (tuple(dims) + ("latitude", "longitude"), flat["t2m"][:][:, :, :, None],
                            {"units": "K", "standard_name": "air_temperature"})}
            return write(name, dims, coords, fields)

    def test_levels_of_netcdf(self):
        """Pressure in Pa and hPa, height in m; a level without units may be anything."""
        for attributes, value, coordinate, named in (
                ({"units": "Pa"}, 85000.0, "plev", "t850"), ({"units": "millibars"}, 850.0, "level", "t850"),
                ({}, 850.0, "isobaricInhPa", "t850"), ({}, 85000.0, "isobaricInPa", "t850"),
                ({"units": "m"}, 80.0, "height", "t_80m"), ({"units": "m"}, 2.0, "height", "2t")):
            status, text = run("prepare", f"data.forecast=[{self.level('f.nc', attributes, value, coordinate)}]")
            self.assertEqual(status, 0, text)
            self.assertRegex(text, f"(?m)^{named} ")
        for attributes, coordinate in (({}, "level"), ({}, "plev"), ({"units": "1"}, "level"), ({}, "height")):
            self.refused_alone(self.level("f.nc", attributes, 100.0, coordinate),
                               "are none of a pressure or height: set its attribute 'units'")

    def test_two_truths_of_a_time_are_refused(self):
        self.refused(grib("gust_ensemble.grib"), grib("gust_truth_twice.grib"),
                     "two fields of 10fg are valid at 2020-01-01 19:00", "step of 13 h", "step of 1 h")

    def test_forecasts_without_units_are_named_by_predict(self):
        """Its weights are of K; that the file states none is said, not that it is in '1'."""
        truth = grib("warm_truth.grib")
        chosen = ("data.target=[2t]", "data.lead=[24]", "model.unet.levels=0")
        status, text = run("run", f"data.forecast=[{self.temperature('f.nc')}]", f"data.truth=[{truth}]", *chosen,
                           "train.epochs=1", out="learnt")
        self.assertEqual(status, 0, text)
        bare = self.temperature("bare.nc", kelvin={"standard_name": "air_temperature", "GRIB_paramId": 167})
        status, text = run("predict", f"data.forecast=[{bare}]", *chosen, f"predict.weights={os.path.join(scratch, 'learnt', 'weights.nc')}")
        self.assertEqual(status, 2, text)
        self.assertRegex(text, "its x_units are \"K, K\", and .*bare.nc states no units of 2t")

    def test_strange_values_are_warned_of_by_all_that_read_them(self):
        """As by prepare: values in degC that are labelled K, codes that are not declared."""
        truth = grib("warm_truth.grib")
        for value, said in ((10.0, "2t, lead 24 h: values out of the range of its name: are its units as stated?"),
                            (9999.0, "2t, lead 24 h: values that look like a code for missing ones"),
                            (1e20, "2t, lead 24 h: values that look like a code for missing ones")):
            forecast = self.temperature("f.nc", lambda out: out["t2m"].__setitem__((0, 0, 0, 0, 0), value))  # noqa: B023
            both = (f"data.forecast=[{forecast}]", f"data.truth=[{truth}]")
            for text in (evaluate(forecast, truth)[1], run("prepare", *both)[1],
                         run("run", *both, "data.target=[2t]", "data.lead=[24]", "model.unet.levels=0",
                             "train.epochs=1")[1]):
                self.assertEqual(text.count(f"f.nc: {said}"), 1, text)

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
        print("skipped: this build has no NetCDF or no ecCodes")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=2)
