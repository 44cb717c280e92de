"""stations.py PROGRAM SCRATCH - observations at stations, written by xarray and pandas, and forecasts on a grid: paired by
prepare, corrected for height, scored with missing observations, corrected by EMOS at each station and pooled; what is
not understood is refused. Numbers are computed here again.

Exit 77: this Python has no xarray with netCDF4 and pandas, or the program was built without NetCDF."""
import csv
import os
import subprocess
import sys
import unittest

try:
    import netCDF4
    import numpy as np
    import pandas as pd
    import xarray as xr
except ImportError:
    print("skipped: this Python has no xarray with netCDF4 and pandas")
    sys.exit(77)

program, scratch = sys.argv[1:]
LAT, LON = np.linspace(60, 40, 9), np.arange(-10.0, 20.1, 2.5)
RNG = np.random.default_rng(7)
DAYS, MEMBERS, STATIONS = 60, 5, 12
START = np.datetime64("2020-01-01", "ns") + np.arange(DAYS) * np.timedelta64(24, "h")
TIME = np.append(START, START[-1:] + np.timedelta64(24, "h"))
PLACE = {"lat": RNG.uniform(41, 59, STATIONS), "lon": RNG.uniform(-9, 19, STATIONS), "alt": RNG.uniform(0, 2000, STATIONS)}
HEIGHT = RNG.uniform(0, 1500, (9, 13))


def run(command, *options, out="out"):
    """The exit status and all that was printed."""
    settings = [word for option in options for word in ("--set", option)]
    done = subprocess.run([program, command, *settings, "--out", os.path.join(scratch, out), "--overwrite"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    return done.returncode, done.stdout


def save(name, data):
    path = os.path.join(scratch, name)
    data.to_netcdf(path)
    return path


def lines():
    return {"latitude": ("latitude", LAT, {"units": "degrees_north"}),
            "longitude": ("longitude", LON, {"units": "degrees_east"})}


def bilinear(field):
    """A field at the stations: along both rows, then between them."""
    rows = np.array([np.interp(PLACE["lon"], LON, row) for row in field])
    return np.array([np.interp(-y, -LAT, rows[:, i]) for i, y in enumerate(PLACE["lat"])])


def nearest(field):
    """A field at the stations: of the cell with the shortest great circle."""
    y, x = np.meshgrid(np.radians(LAT), np.radians(LON), indexing="ij")
    at = []
    for lat, lon in zip(np.radians(PLACE["lat"]), np.radians(PLACE["lon"])):
        at.append(np.argmax(np.sin(lat) * np.sin(y) + np.cos(lat) * np.cos(y) * np.cos(x - lon)))
    return field.ravel()[at]


FIELD = 285 + RNG.normal(size=(DAYS, MEMBERS, 9, 13)).cumsum(axis=3)
FORECAST = save("f.nc", xr.Dataset(
    {"t2m": (("time", "step", "number", "latitude", "longitude"), FIELD[:, None], {"units": "K"})},
    {"time": START, "step": ("step", [24.0], {"units": "hours"}), "number": np.arange(1, MEMBERS + 1), **lines()}))
SURFACE = save("s.nc", xr.Dataset({"orog": (("latitude", "longitude"), HEIGHT, {"units": "m"})}, lines()))
OFFSET = 6.5e-3 * (bilinear(HEIGHT) - PLACE["alt"])
AT_STATIONS = np.array([[bilinear(m) for m in day] for day in FIELD]) + OFFSET
BIAS = RNG.normal(0, 3, STATIONS)
TRUTH = np.concatenate([np.full((1, STATIONS), 285.0), AT_STATIONS.mean(axis=1) + BIAS + RNG.normal(0, 1, (DAYS, STATIONS))])
TRUTH[RNG.random(TRUTH.shape) < 0.1] = np.nan  # not observed


def observations(name="o.nc", values=None, units="K", time=TIME, alt=None, notes=None, **more):
    """A time series of each station as xarray writes it: names, places and times as CF's discrete sampling geometry."""
    values = TRUTH if values is None else values
    alt = PLACE["alt"] if alt is None else alt
    data = xr.Dataset(
        {"t2m": (("station", "time"), values.T, {"units": units, **more})},
        {"station": ("station", [f"S{i:02}" for i in range(STATIONS)], {"cf_role": "timeseries_id"}), "time": time,
         "lat": ("station", PLACE["lat"], {"units": "degrees_north", "standard_name": "latitude"}),
         "lon": ("station", PLACE["lon"], {"units": "degrees_east", "standard_name": "longitude"}),
         "alt": ("station", alt, notes or {"units": "m", "standard_name": "altitude", "positive": "up", "axis": "Z"})},
        {"featureType": "timeSeries", "Conventions": "CF-1.8"})
    return save(name, data)


OBSERVED = observations()


def table(**more):
    """The same observations as pandas has them: a row for each station and time, but for what was not observed."""
    names = np.array([f"S{i:02}" for i in range(STATIONS)])
    at = np.tile(np.arange(STATIONS), len(TIME))
    rows = pd.DataFrame({"station": names[at], "time": np.repeat(TIME, STATIONS), "lat": PLACE["lat"][at],
                         "lon": PLACE["lon"][at], "alt (m)": PLACE["alt"][at], "t2m (degC)": TRUTH.ravel() - 273.15})
    return rows.assign(**more)


def save_table(name, rows, **how):
    path = os.path.join(scratch, name)
    rows.to_csv(path, index=False, **how)
    return path


class Stations(unittest.TestCase):
    def prepared(self, *options, truth=OBSERVED, out="paired", surface=SURFACE):
        """Forecasts [day, member, station] and observations [time, station] of prepare, and all that was printed."""
        given = [f"data.invariants=[{surface}]"] if surface else []
        status, text = run("prepare", f"data.forecast=[{FORECAST}]", f"data.truth=[{truth}]", f"import.grid.file={truth}",
                           *given, *options, out=out)
        self.assertEqual(status, 0, text)
        found = []
        for side in ("forecast", "truth"):
            with netCDF4.Dataset(os.path.join(scratch, out, f"{side}.nc")) as data:
                found.append(data["t2m"][:].filled(np.nan).squeeze())
                np.testing.assert_allclose(data["altitude"][:], PLACE["alt"])
        return (*found, text)

    def refused(self, status, words, *options, truth=OBSERVED):
        found, text = run("prepare", f"data.forecast=[{FORECAST}]", f"data.truth=[{truth}]", *options)
        self.assertEqual(found, status, text)
        for word in words:
            self.assertIn(word, text)

    def test_forecasts_come_to_stations_and_their_height(self):
        forecast, truth, text = self.prepared()
        self.assertIn("bilinear interpolation", text)
        self.assertIn("temperatures corrected for height by 6.5 K/km", text)
        np.testing.assert_allclose(forecast, AT_STATIONS, atol=1e-4)
        np.testing.assert_allclose(truth, TRUTH, atol=5e-5)
        with netCDF4.Dataset(os.path.join(scratch, "paired", "invariants.nc")) as data:
            np.testing.assert_allclose(data["orog"][:].squeeze(), bilinear(HEIGHT), atol=1e-3)
        forecast, *_ = self.prepared("import.regrid.method=nearest", "import.height.lapse_rate=5")
        wanted = np.array([[nearest(m) for m in day] for day in FIELD]) + 5e-3 * (nearest(HEIGHT) - PLACE["alt"])
        np.testing.assert_allclose(forecast, wanted, atol=1e-4)
        forecast, _, text = self.prepared("import.height.lapse_rate=0", surface=None)
        self.assertNotIn("corrected", text)
        np.testing.assert_allclose(forecast, AT_STATIONS - OFFSET, atol=1e-4)

    def test_observations_in_other_units_are_converted(self):
        for units in ("degC", "degree_Celsius"):
            _, truth, _ = self.prepared(truth=observations("c.nc", TRUTH - 273.15, units))
            np.testing.assert_allclose(truth, TRUTH, atol=5e-5)

    def scores(self, *options, models="[{use: {raw: {}}}]"):
        self.prepared()
        paired = [f"{key}=[{os.path.join(scratch, 'paired', side)}.nc]"
                  for key, side in (("data.forecast", "forecast"), ("data.truth", "truth"))]
        status, text = run("eval", *paired, f"eval.models={models}", *options, out="scores")
        self.assertEqual(status, 0, text)
        with open(os.path.join(scratch, "scores", "scores.csv"), encoding="utf-8") as table:
            return list(csv.DictReader(table))

    def test_scores_are_of_what_was_observed(self):
        row, = self.scores("eval.part=all")
        y = TRUTH[1:]
        error = np.abs(AT_STATIONS - y[:, None]).mean(axis=1)
        apart = np.abs(AT_STATIONS[:, :, None] - AT_STATIONS[:, None]).mean(axis=(1, 2)) / 2
        self.assertAlmostEqual(float(row["crps"]), np.nanmean(error - apart), places=4)
        rmse = np.sqrt(np.nanmean((AT_STATIONS.mean(axis=1) - y) ** 2))
        self.assertAlmostEqual(float(row["rmse"]), rmse, places=4)

    def test_emos_of_each_station_knows_its_bias_and_pooled_emos_does_not(self):
        models = ("[{name: raw, use: {raw: {}}}, {name: pooled, use: {emos: {fit: {pool: global}}}}, "
                  "{name: local, use: {emos: {fit: {pool: point}}}}]")
        rows = self.scores("data.split.train.to=2020-02-10", "data.split.test.from=2020-02-12", models=models)
        crps = {row["model"]: float(row["crps"]) for row in rows}
        self.assertLess(crps["pooled"], crps["raw"])
        self.assertLess(crps["local"], 0.5 * crps["pooled"])
        self.assertAlmostEqual(crps["local"], 1 / np.sqrt(np.pi), delta=0.08)  # of the noise, 1 K
        paired = [f"data.{name}=[{os.path.join(scratch, 'paired', name)}.nc]" for name in ("forecast", "truth")]
        status, text = run("eval", *paired, "data.split.train.to=2020-02-10", "data.split.test.from=2020-02-12",
                           "eval.models=[{use: {emos: {fit: {pool: window}}}}]", out="window")
        self.assertEqual(status, 2, text)
        self.assertIn("stations have none: take point", text)

    def test_what_is_not_understood_is_refused(self):
        twice = TIME.copy()
        twice[5] = twice[4]
        at = f"import.grid.file={OBSERVED}"
        surface = f"data.invariants=[{SURFACE}]"
        self.refused(3, ["is there twice"], surface, truth=observations("twice.nc", time=twice))
        self.refused(3, ["'hPa'"], surface, at, truth=observations("hpa.nc", units="hPa"))
        self.refused(2, ["data.invariants", "import.height.lapse_rate to 0"], at)
        feet = observations("feet.nc", alt=PLACE["alt"] / 0.3048, notes={"units": "ft", "standard_name": "altitude"})
        self.refused(2, ["no altitude in m"], surface, f"import.grid.file={feet}", truth=feet)
        self.refused(2, ["take bilinear or nearest"], surface, at, "import.regrid.method=conservative")
        self.refused(3, ["not on the same grid", "import.grid.file"], surface)
        other = save("coarse.nc", xr.open_dataset(SURFACE).isel(latitude=slice(0, 8)))
        self.refused(3, ["is not on the grid of the forecasts"], f"data.invariants=[{other}]", at)
        own = save("own.nc", xr.Dataset(
            {"t2m": (("station", "obs"), TRUTH.T, {"units": "K"})},
            {"time": (("station", "obs"), np.tile(TIME, (STATIONS, 1))),
             "lat": ("station", PLACE["lat"], {"units": "degrees_north"}),
             "lon": ("station", PLACE["lon"], {"units": "degrees_east"})}))
        self.refused(3, ["another at each of its sites", "orthogonal"], truth=own)
        ragged = save("ragged.nc", xr.Dataset(
            {"t2m": ("obs", TRUTH.T.ravel(), {"units": "K"}),
             "row_size": ("station", np.full(STATIONS, len(TIME)), {"sample_dimension": "obs"})},
            {"time": ("obs", np.tile(TIME, STATIONS)),
             "lat": ("station", PLACE["lat"], {"units": "degrees_north"}),
             "lon": ("station", PLACE["lon"], {"units": "degrees_east"})}))
        self.refused(3, ["sample_dimension", "ragged", "orthogonal"], truth=ragged)

    def test_tables_are_the_same_observations(self):
        rows = table()
        first = rows.groupby("station", sort=False).head(1)  # stations are numbered by their first rows
        rest = rows.drop(first.index).dropna().sample(frac=1, random_state=1)
        utc = rows.assign(time=rows.time.dt.tz_localize("UTC"))
        for path in (save_table("all.csv", rows), save_table("some.csv", pd.concat([first, rest])),
                     save_table("semicolon.csv", rows, sep=";"), save_table("quoted.csv", rows, quoting=csv.QUOTE_ALL),
                     save_table("utc.csv", utc, encoding="utf-8-sig"),
                     save_table("dos.csv", rows.rename(columns={"t2m (degC)": "2t [degC]"}), lineterminator="\r\n")):
            forecast, truth, _ = self.prepared(truth=path)
            np.testing.assert_allclose(truth, TRUTH, atol=5e-5)
            np.testing.assert_allclose(forecast, AT_STATIONS, atol=1e-4)

    def test_tables_that_are_not_understood_are_refused(self):
        rows = table()
        surface = f"data.invariants=[{SURFACE}]"
        moved = rows.assign(lat=rows.lat.where(rows.index != 30, 50.0))
        odd = rows.astype({"t2m (degC)": object})
        odd.loc[3, "t2m (degC)"] = "warm"
        zone = rows.assign(time=rows.time.dt.tz_localize("Europe/Rome"))
        for name, data, *words in (
                ("twice.csv", pd.concat([rows, rows.iloc[[7]]]), "is there twice", "station S07"),
                ("moved.csv", moved, "is at two places"),
                ("nounits.csv", rows.rename(columns={"t2m (degC)": "t2m"}), "column t2m states no units"),
                ("wrong.csv", rows.rename(columns={"t2m (degC)": "t2m (hPa)"}), "in 'hPa'"),
                ("feet.csv", rows.rename(columns={"alt (m)": "alt (ft)"}), "is in 'ft'"),
                ("noplace.csv", rows.drop(columns="lon"), "names no column lon"),
                ("word.csv", odd, "line 5: t2m is 'warm'"),
                ("zone.csv", zone, "line 2: time is", "in UTC"),
                ("empty.csv", rows.head(0), "no observation"),
                ("far.csv", rows.assign(lat=100.0), "line 2: lat is '100")):
            path = save_table(name, data)
            self.refused(3, [name, *words], surface, f"import.grid.file={path}", truth=path)
        path = os.path.join(scratch, "short.csv")
        with open(path, "w", encoding="utf-8") as out:
            out.write("station,time,lat,lon,2t (K)\nA,2020-01-01,1,2\n")
        self.refused(3, ["line 2: 4 fields, and the first line has 5"], truth=path)

    def test_damaged_tables_are_refused(self):
        with open(save_table("whole.csv", table().head(40)), "rb") as file:
            whole = file.read()
        for i in range(24):  # a byte changed, or cut off: read or refused, never a crash
            damaged = bytearray(whole)
            damaged[RNG.integers(len(whole))] = RNG.integers(256)
            path = os.path.join(scratch, "damaged.csv")
            with open(path, "wb") as out:
                out.write(damaged if i % 2 else damaged[:RNG.integers(len(whole))])
            status, printed = run("prepare", f"data.forecast=[{path}]", "import.incomplete=keep")
            self.assertIn(status, (0, 2, 3), printed)

    def test_unknown_altitudes_make_values_missing(self):
        alt = PLACE["alt"].copy()
        alt[3] = np.nan
        truth = observations("unknown.nc", alt=alt)
        status, text = run("prepare", f"data.forecast=[{FORECAST}]", f"data.truth=[{truth}]", f"import.grid.file={truth}",
                           f"data.invariants=[{SURFACE}]", out="unknown")
        self.assertEqual(status, 0, text)
        self.assertIn("1 of 12 stations have no altitude", text)
        with netCDF4.Dataset(os.path.join(scratch, "unknown", "forecast.nc")) as data:
            missing = np.isnan(data["t2m"][:].filled(np.nan).squeeze())
        self.assertTrue(missing[..., 3].all())
        self.assertEqual(missing.sum(), DAYS * MEMBERS)


class Networks(unittest.TestCase):
    """A fully connected network with an embedding of each station: errors have a mean of each station, and a course over
    the year that grows with the altitude, which EMOS does not know."""

    @classmethod
    def setUpClass(cls):
        days, rng = 700, np.random.default_rng(11)
        start = np.datetime64("2020-01-01", "ns") + np.arange(days) * np.timedelta64(24, "h")
        place = {"latitude": rng.uniform(41, 59, 20), "longitude": rng.uniform(-9, 19, 20), "altitude": rng.uniform(0, 2000, 20)}
        season = np.sin(2 * np.pi * (np.arange(days) + 1) / 365.25)[:, None] * (place["altitude"] - 1000) / 400
        state = 280 + 5 * rng.normal(size=(days, 20))
        members = state[:, None, None] + rng.normal(size=(days, 1, 5, 20))
        truth = state + rng.normal(0, 2, 20) + season + rng.normal(size=(days, 20))
        units = {"latitude": "degrees_north", "longitude": "degrees_east", "altitude": "m"}
        coords = {name: ("station", values, {"units": units[name]}) for name, values in place.items()}
        forecast = save("nf.nc", xr.Dataset(
            {"t2m": (("time", "step", "number", "station"), members, {"units": "K"})},
            {"time": start, "step": ("step", [24.0], {"units": "hours"}), "number": np.arange(1, 6), **coords}))
        observed = save("nt.nc", xr.Dataset({"t2m": (("time", "station"), truth, {"units": "K"})},
                                            {"time": start + np.timedelta64(24, "h"), **coords}))
        cls.options = [f"data.forecast=[{forecast}]", f"data.truth=[{observed}]", "data.target=[2t]", "data.lead=[24]",
                       "data.altitude=true", "data.day_of_year=true", "data.split.train.to=2021-02-01",
                       "data.split.valid.from=2021-02-01", "data.split.valid.to=2021-04-01",
                       "data.split.test.from=2021-04-01", "model.dense.units=[32]", "train.epochs=30", "train.batch=8",
                       "train.optim.schedule.lr=0.01"]

    def test_an_embedding_of_stations_beats_emos(self):
        status, text = run("run", *self.options, "model.net=dense", out="network")
        self.assertEqual(status, 0, text)
        with netCDF4.Dataset(os.path.join(scratch, "network", "weights.nc")) as data:
            self.assertIn("altitude / 1000 m", data.x_channels)
        status, text = run("predict", *self.options, "model.net=dense", "predict.part=test",
                           f"predict.weights={os.path.join(scratch, 'network', 'weights.nc')}", out="fields")
        self.assertEqual(status, 0, text)
        models = ("[{name: each station, use: {emos: {fit: {pool: point}}}}, {name: pooled, use: {emos: {}}}, {name: network, "
                  "use: {predictions: {files: [%s]}}}]" % os.path.join(scratch, "fields", "predictions.nc"))
        status, text = run("eval", *self.options, f"eval.models={models}", out="scores")
        self.assertEqual(status, 0, text)
        with open(os.path.join(scratch, "scores", "skill.csv"), encoding="utf-8") as table:
            skill = {row["model"]: row for row in csv.DictReader(table) if row["score"] == "crps" and row["region"] == "all"}
        self.assertLess(float(skill["pooled"]["skill_hi"]), 0)  # reference: EMOS of each station
        self.assertGreater(float(skill["network"]["skill_lo"]), 0.15)

    def test_gradients_are_those_of_differences(self):
        status, text = run("check", "model.net=dense", "model.dense.activation=tanh", "dummy.quantities=[z500]",
                           "dummy.init_times=20", "data.position=true", out="check")
        self.assertEqual(status, 0, text)
        self.assertRegex(text, r"embedding +256 ")

    def test_convolutions_over_stations_are_refused(self):
        status, text = run("run", *self.options, "model.net=unet", out="unet")
        self.assertEqual(status, 2, text)
        self.assertIn("no neighbours to convolve: set model.net to dense", text)


if __name__ == "__main__":
    status, text = run("prepare", f"data.forecast=[{FORECAST}]")
    if status == 7:
        print(f"skipped: {text}")
        sys.exit(77)
    unittest.main(argv=["stations"])
