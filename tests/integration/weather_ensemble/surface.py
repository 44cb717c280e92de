"""surface.py PROGRAM SCRATCH - height of the surface, land-sea mask, season and time of day as inputs of networks: files of
ecCodes (surface/, written by make_surface.py) and of xarray become invariants.nc, or are refused; weights know their surface.

Exit 77: this Python has no xarray with netCDF4, or the program was built without NetCDF or ecCodes."""
import os
import subprocess
import sys
import unittest

try:
    import netCDF4
    import numpy as np
    import xarray as xr
except ImportError:
    print("skipped: this Python has no xarray with netCDF4")
    sys.exit(77)

program, scratch = sys.argv[1:]
stored = os.path.join(os.path.dirname(os.path.abspath(__file__)), "surface")
LAT, LON = np.linspace(90, -90, 9), np.arange(16) * 22.5
RNG = np.random.default_rng(5)
GRAVITY = 9.80665


def run(command, *options, out="out"):
    """The exit status and all that was printed."""
    settings = [word for option in options for word in ("--set", option)]
    done = subprocess.run([program, command, *settings, "--out", os.path.join(scratch, out), "--overwrite"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def height(lat, lon):
    """The surface of surface/make_surface.py."""
    return 800 + 700 * np.sin(np.radians(2 * lon)) * np.cos(np.radians(lat))


HEIGHT = height(*np.meshgrid(LAT, LON, indexing="ij"))
LAND = np.broadcast_to((np.sin(np.radians(LON)) > 0) * 1.0, HEIGHT.shape)


def grid(**more):
    return {"latitude": ("latitude", LAT, {"units": "degrees_north"}),
            "longitude": ("longitude", LON, {"units": "degrees_east"}), **more}


def save(name, fields, **coords):
    """A file of xarray; fields: {name: (dimensions, values, attributes)}."""
    path = os.path.join(scratch, name)
    xr.Dataset(fields, coords=grid(**coords)).to_netcdf(path)
    return path


def plane(name, field, values, **notes):
    return save(name, {field: (("latitude", "longitude"), values, notes)})


def archives(days=40):
    """Forecasts of 3 members, 24 h ahead, whose error is that of the height, and their truth, which has waves of the same
    length, so that the forecasts alone do not tell the error."""
    start = np.datetime64("2020-01-01", "ns") + np.arange(days) * np.timedelta64(24, "h")
    lat, lon = np.meshgrid(np.radians(LAT), np.radians(LON), indexing="ij")
    wave = np.stack([np.sin(2 * lon) * np.cos(lat), np.cos(2 * lon) * np.cos(lat)])
    truth = 280 + np.tensordot(20 * RNG.normal(size=(days + 1, 2)), wave, 1) + RNG.normal(size=(days + 1, 9, 16))
    members = truth[1:, None, None] + RNG.normal(size=(days, 1, 3, 9, 16)) + (HEIGHT - 800) / 100
    forecast = save("f.nc", {"t2m": (("time", "step", "number", "latitude", "longitude"), members, {"units": "K"})},
                    time=("time", start), step=("step", np.array([24.0]), {"units": "hours"}), number=("number", [1, 2, 3]))
    time = np.append(start, start[-1:] + np.timedelta64(24, "h"))
    return forecast, save("t.nc", {"t2m": (("time", "latitude", "longitude"), truth, {"units": "K"})}, time=("time", time))


FORECAST, TRUTH = archives()


class Surface(unittest.TestCase):
    def written(self, files, *options):
        """Height and land-sea mask of invariants.nc, NaN where it has none."""
        status, text = run("prepare", f"data.forecast=[{FORECAST}]", f"data.invariants=[{','.join(files)}]", *options)
        self.assertEqual(status, 0, text)
        with netCDF4.Dataset(os.path.join(scratch, "out", "invariants.nc")) as data:
            fields = {name: data[name][:].squeeze().astype(float) for name in ("orog", "lsm") if name in data.variables}
            for name, units in (("orog", "m"), ("lsm", "1")):
                self.assertEqual(data[name].units if name in fields else units, units)
        return fields.get("orog", np.array(np.nan)), fields.get("lsm", np.array(np.nan))

    def refused(self, path, *words, status=3):
        found, text = run("prepare", f"data.forecast=[{FORECAST}]", f"data.invariants=[{path}]")
        self.assertEqual(found, status, text)
        for word in ("data.invariants", os.path.basename(path), *words):
            self.assertIn(word, text)

    def test_heights_and_masks_are_told_by_their_metadata(self):
        files = {name: os.path.join(stored, f"{name}.grib") for name in ("geopotential", "height")}
        orog, lsm = self.written([files["geopotential"]])
        np.testing.assert_allclose(orog, HEIGHT, atol=2e-4)  # of packing
        np.testing.assert_array_equal(lsm, LAND)
        orog, lsm = self.written([files["height"]])
        np.testing.assert_allclose(orog, HEIGHT, atol=2e-4)
        self.assertTrue(np.isnan(lsm))
        time = {"time": ("time", np.array(["2016-01-01"], "datetime64[ns]"))}
        era5 = save("era5.nc", {"z": (("time", "latitude", "longitude"), GRAVITY * HEIGHT[None],
                                      {"units": "m**2 s**-2", "standard_name": "geopotential"}),
                                "lsm": (("time", "latitude", "longitude"), LAND[None], {"units": "(0 - 1)"})}, **time)
        cmip = [plane("orog.nc", "orog", HEIGHT, units="m", standard_name="surface_altitude"),
                plane("sftlf.nc", "sftlf", 100 * LAND, units="%", standard_name="land_area_fraction")]
        bench = save("wb2.nc", {name: (("latitude", "longitude"), values, {"units": units}) for name, values, units in (
            ("geopotential_at_surface", GRAVITY * HEIGHT, "m**2 s**-2"), ("land_sea_mask", LAND, "(0 - 1)"))})
        kilometres = [plane("km.nc", "orography", HEIGHT / 1000, units="km"), cmip[1]]
        for files in ([era5], cmip, [bench], kilometres):
            orog, lsm = self.written(files)
            np.testing.assert_allclose(orog, HEIGHT, atol=2e-4)
            np.testing.assert_allclose(lsm, LAND, atol=1e-7)

    def test_the_surface_comes_to_the_grid_of_the_forecast(self):
        orog, _ = self.written([os.path.join(stored, "height.grib")], "import.grid.spacing=30")
        rows = np.array([np.interp(np.arange(12) * 30.0, np.append(LON, 360), np.append(row, row[0])) for row in HEIGHT])
        wanted = [[np.interp(-y, -LAT, rows[:, i]) for i in range(12)] for y in np.arange(90, -91, -30)]
        np.testing.assert_allclose(orog, wanted, atol=3e-4)
        lat = np.linspace(88, -88, 23)
        other = os.path.join(scratch, "other.nc")
        xr.Dataset({"orog": (("lat", "lon"), np.outer(lat, np.ones(10)) * 10, {"units": "m"})},
                   coords={"lat": ("lat", lat, {"units": "degrees_north"}),
                           "lon": ("lon", np.arange(10) * 36.0, {"units": "degrees_east"})}).to_netcdf(other)
        orog, _ = self.written([other])  # linear between rows; the cap has the mean of its row
        np.testing.assert_allclose(orog, np.outer(np.clip(LAT, -88, 88), np.ones(16)) * 10, atol=1e-3)

    def test_what_is_no_surface_is_refused(self):
        hole = HEIGHT.copy()
        hole[2, 3] = np.nan
        self.refused(plane("a.nc", "orog", HEIGHT, units="K"), "is in 'K'", "m2 s-2")
        self.refused(plane("b.nc", "z", HEIGHT), "is in ''")
        self.refused(plane("c.nc", "orog", 10 * HEIGHT, units="m"), "no height of the surface")
        self.refused(plane("d.nc", "lsm", 3 * LAND, units="1"), "no share of land")
        self.refused(plane("e.nc", "orog", hole, units="m"), "has no value at cell 35")
        self.refused(plane("f1.nc", "t2m", HEIGHT, units="K"), "no field is the height")
        both = {"orog": (("latitude", "longitude"), HEIGHT, {"units": "m"}),
                "z": (("latitude", "longitude"), HEIGHT, {"units": "m2 s-2"})}
        self.refused(save("g.nc", both), "leave one out")
        days = {"time": ("time", np.array(["2016-01-01", "2016-01-02"], "datetime64[ns]"))}
        moving = np.stack([HEIGHT, HEIGHT + 1])
        self.refused(save("h.nc", {"z": (("time", "latitude", "longitude"), moving, {"units": "m2 s-2"})}, **days), "changes")

    def trained(self, out, *options):
        """Options of the run, its status, all that was printed."""
        common = [f"data.forecast=[{FORECAST}]", f"data.truth=[{TRUTH}]", "data.target=[2t]", "data.lead=[24]",
                  "data.split.train.to=2020-01-27", "data.split.valid.from=2020-01-27", "normalization.bias=none",
                  "model.unet.preset=tiny", "model.unet.border.x=wrap", "train.epochs=15", "train.batch=4",
                  "train.optim.schedule.lr=0.005", *options]
        return (common, *run("run", *common, out=out))

    def loss(self, out):
        with open(os.path.join(scratch, out, "validation.csv"), encoding="utf-8") as table:
            names, *rows = [line.strip().split(",") for line in table]
            return float(dict(zip(names, rows[-1]))["crps_network"])

    def test_networks_learn_from_the_surface_and_weights_know_it(self):
        surface = plane("s.nc", "orog", HEIGHT, units="m")
        options, status, text = self.trained("with", f"data.invariants=[{surface}]", "data.orography=true",
                                             "data.day_of_year=true", "data.local_time=true")
        self.assertEqual(status, 0, text)
        _, status, text = self.trained("without")
        self.assertEqual(status, 0, text)
        self.assertLess(self.loss("with"), 0.6 * self.loss("without"))
        weights = os.path.join(scratch, "with", "weights.nc")
        with netCDF4.Dataset(weights) as data:
            self.assertTrue(data.x_channels.endswith("orography / 1000 m, sin day of year, cos day of year, "
                                                     "sin local time, cos local time"), data.x_channels)
            self.assertIn("orography: mean ", data.invariants)
        predict = [*options, f"predict.weights={weights}"]
        self.assertEqual(run("predict", *predict)[0], 0)
        again = plane("again.nc", "z", np.float32(GRAVITY) * HEIGHT.astype("f4"), units="m2 s-2")  # the same surface
        self.assertEqual(run("predict", *predict, f"data.invariants=[{again}]")[0], 0)
        for change, code, words in (
                ("data.invariants=[]", 2, "data.invariants: no file is given, and data.orography needs the orography"),
                ("data.orography=false", 2, "x_channels"),
                (f"data.invariants=[{plane('o.nc', 'orog', HEIGHT + 50, units='m')}]", 3, "trained with another orography"),
                (f"data.invariants=[{plane('l.nc', 'lsm', LAND, units='1')}]", 3, "has no orography")):
            status, text = run("predict", *predict, change)
            self.assertEqual(status, code, text)
            self.assertIn(words, text)
        other = os.path.join(scratch, "small.nc")
        xr.open_dataset(surface).isel(latitude=slice(0, 5)).to_netcdf(other)
        status, text = run("predict", *predict, f"data.invariants=[{other}]")
        self.assertEqual(status, 3, text)
        self.assertIn("is not on the grid of the forecasts", text)


if __name__ == "__main__":
    status, text = run("prepare", f"data.forecast=[{FORECAST}]", f"data.invariants=[{os.path.join(stored, 'height.grib')}]")
    if status == 7:
        print(f"skipped: {text}")
        sys.exit(77)
    unittest.main(argv=["surface"])
