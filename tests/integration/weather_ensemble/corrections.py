"""corrections.py PROGRAM SCRATCH - statistical corrections applied to new forecasts: predict and eval agree on what
EMOS, ECC and quantile mapping give, and quantiles and probabilities are those of the distribution or of the members.
The forecasts are in the layout of WeatherBench 2, the truth has heights in m and one file a day.

Exit 77: this Python has no netCDF4 or scipy, or the program was built without NetCDF."""
import csv
import os
import subprocess
import sys
import unittest

try:
    import netCDF4
    import numpy as np
    from scipy.stats import norm
except ImportError:
    print("skipped: this Python has no netCDF4 or scipy")
    sys.exit(77)

try:
    import cfgrib
except ImportError:
    cfgrib = None  # another test looks at the keys of the messages

program, scratch = sys.argv[1:]
DAYS, TRAIN, MEMBERS, ROWS, COLUMNS = 40, 30, 4, 3, 6
GRAVITY = 9.80665
NAMES = "data.names={level_units: hPa, rename: [{from: gh, to: z}]}"
SPLIT = "data.split={train: {to: '2020-01-31'}, test: {from: '2020-01-31'}, gap: 0}"


def at(name):
    return os.path.join(scratch, name)


def variable(out, name, dims, values, **attributes):
    v = out.createVariable(name, "f8" if name in dims else "f4", dims)
    for key, value in attributes.items():
        setattr(v, key, value)
    v[:] = values


def file(name, days, dims, fields):
    """Dimensions {name: values} in addition to time, latitude and longitude; fields (name, dims, values, attributes)."""
    with netCDF4.Dataset(at(name), "w") as out:
        axes = {"time": (days, {"units": "days since 2020-01-01"}), **dims,
                "latitude": (np.linspace(60, -60, ROWS), {"units": "degrees_north"}),
                "longitude": (np.arange(COLUMNS) * 360 / COLUMNS, {"units": "degrees_east"})}
        for key, (values, attributes) in axes.items():
            out.createDimension(key, len(values))
            variable(out, key, (key,), values, **attributes)
        for key, over, values, attributes in fields:
            variable(out, key, over, values, **attributes)


def write_archives():
    rng = np.random.default_rng(7)
    day = np.arange(DAYS)
    truth = 5500 + rng.normal(0, 80, (DAYS + 1, ROWS, COLUMNS))  # m
    shape = (DAYS, 1, MEMBERS, 1, COLUMNS, ROWS)
    wrong = rng.normal(0, 30, (DAYS, 1, 1, 1, COLUMNS, ROWS))
    z = GRAVITY * (truth[1:].transpose(0, 2, 1)[:, None, None, None] + 40 + wrong) + rng.normal(0, 200, shape)
    file("forecast.nc", day, {"prediction_timedelta": ([24], {"units": "hours"}), "number": (range(1, MEMBERS + 1), {}),
                              "level": ([500], {})},
         [("geopotential", ("time", "prediction_timedelta", "number", "level", "longitude", "latitude"), z,
           {"units": "m**2 s**-2"})])
    for i in range(TRAIN + 1):  # the truth of the forecasts of the test is not known
        file(f"truth_{i:02}.nc", [i], {"plev": ([50000], {"units": "Pa"})},
             [("zg", ("time", "plev", "latitude", "longitude"), truth[i:i + 1, None],
               {"units": "m", "standard_name": "geopotential_height"})])
    file("all.nc", np.arange(DAYS + 1), {"level": ([500], {"units": "hPa"})},
         [("z", ("time", "level", "latitude", "longitude"), GRAVITY * truth[:, None], {"units": "m2 s-2"})])


def run(command, out, *options, status=0):
    settings = [word for option in options for word in ("--set", option)]
    done = subprocess.run([program, command, *settings, "--out", at(out), "--overwrite"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != status:
        raise AssertionError(f"status {done.returncode}, not {status}: {done.stdout}")
    return done.stdout


FILES = (f"data.forecast=[{at('fore*.nc')}]", f"data.truth=['{at('truth_*.nc')}']", NAMES, SPLIT)


def predict(out, model, *options, status=0):
    return run("predict", out, *FILES, f"predict.model={{use: {model}}}", *options, status=status)


def read(folder, file_name, name):
    with netCDF4.Dataset(at(os.path.join(folder, file_name))) as f:
        return np.ma.filled(f[name][:].astype("f8"), np.nan)


class Corrections(unittest.TestCase):
    def test_quantiles_and_probabilities_of_a_distribution(self):
        predict("emos", "{emos: {}}", "predict.quantiles=[0.1,0.5,0.9]", "predict.part=test",
                "predict.events=[{value: 54000}, {quantity: z500, value: 53500, above: false, name: low}]")
        mean, sd = read("emos", "predictions.nc", "z")[:, 0, 0], read("emos", "predictions.nc", "z_spread")[:, 0, 0]
        self.assertEqual(mean.shape, (DAYS - TRAIN, 1, ROWS, COLUMNS))
        self.assertTrue(np.isfinite(mean).all() and (sd > 0).all())
        quantile = read("emos", "quantiles.nc", "z")
        for k, p in enumerate(read("emos", "quantiles.nc", "quantile")):
            np.testing.assert_allclose(quantile[:, 0, k], norm.ppf(p, mean, sd), rtol=2e-7)
        np.testing.assert_allclose(read("emos", "probabilities.nc", "z_above_54000")[:, 0, 0],
                                   norm.sf(54000, mean, sd), atol=1e-6)
        np.testing.assert_allclose(read("emos", "probabilities.nc", "z_low")[:, 0, 0], norm.cdf(53500, mean, sd),
                                   atol=1e-6)

    def test_members_of_ecc(self):
        predict("ecc", "{emos: {output: members}}", "predict.members=true", "predict.quantiles=[0.25,0.75]",
                "predict.events=[{value: 54000}]")
        member = read("ecc", "members.nc", "z")
        self.assertEqual(member.shape[2], MEMBERS)
        raw = read(".", "forecast.nc", "geopotential")[:, :, :, :].transpose(0, 1, 2, 3, 5, 4)
        self.assertTrue((member.argsort(axis=2) == raw.argsort(axis=2)).all())
        np.testing.assert_allclose(read("ecc", "quantiles.nc", "z"),
                                   np.quantile(member, [0.25, 0.75], axis=2).transpose(1, 2, 0, 3, 4, 5), rtol=2e-7)
        np.testing.assert_allclose(read("ecc", "predictions.nc", "z")[:, :, 0], member.mean(axis=2), rtol=2e-7)
        np.testing.assert_allclose(read("ecc", "predictions.nc", "z_spread")[:, :, 0], member.std(axis=2, ddof=1),
                                   rtol=1e-4)
        np.testing.assert_allclose(read("ecc", "probabilities.nc", "z_above_54000")[:, :, 0],
                                   (member > 54000).mean(axis=2), atol=1e-7)

    def test_what_is_applied_scores_as_what_eval_fits(self):
        saved = at("coefficients/of/emos")  # made with its parents
        predict("applied", "{emos: {save: %s}}" % saved, "predict.part=test")
        mapping = at("coefficients/of/mapping")
        predict("mapped", "{quantile: {save: %s}}" % mapping, "predict.part=test", "predict.members=true")
        predict("mapped_again", "{quantile: {load: %s}}" % mapping, "predict.part=test", "predict.members=true",
                "data.truth=[]")
        np.testing.assert_array_equal(read("mapped", "members.nc", "z"), read("mapped_again", "members.nc", "z"))
        predict("loaded", "{emos: {load: %s}}" % saved, "predict.part=test", "data.truth=[]")
        applied, loaded = read("applied", "predictions.nc", "z"), read("loaded", "predictions.nc", "z")
        np.testing.assert_allclose(applied, loaded, rtol=1e-6)  # coefficients of f32
        rows = ["{name: emos, use: {emos: {}}}", "{name: mapping, use: {quantile: {}}}",
                "{name: emos2, use: {predictions: {files: [%s], members: 4}}}" % at("applied/predictions.nc"),
                "{name: mapping2, use: {predictions: {files: [%s], members: 4}}}" % at("mapped/members.nc")]
        run("eval", "scores", FILES[0], f"data.truth=[{at('all.nc')}]", NAMES, SPLIT,
            f"eval.models=[{', '.join(rows)}]", "eval.bootstrap.resamples=100")
        with open(at("scores/scores.csv"), encoding="utf-8") as f:
            crps = {row["model"]: float(row["crps"]) for row in csv.DictReader(f)}
        for name in ("emos", "mapping"):  # fitted to the same truth, of which one is rounded in m
            self.assertLess(abs(crps[name] / crps[name + "2"] - 1), 1e-5)

    @unittest.skipUnless(cfgrib, "this Python has no cfgrib")
    def test_cfgrib_opens_each_file_whole(self):
        predict("grib", "{emos: {output: members}}", "predict.members=true", "predict.format=both")
        for file_name, name, like in (("predictions.grib", "z", "predictions.nc"), ("members.grib", "z", "members.nc"),
                                      ("spread.grib", "z_spread", "predictions.nc")):
            data = cfgrib.open_dataset(at(os.path.join("grib", file_name)), indexpath="", errors="raise")
            self.assertEqual(list(data.data_vars), ["z"])
            values = data["z"].transpose("time", ..., "latitude", "longitude").values.reshape(-1, ROWS, COLUMNS)
            wanted = read("grib", like, name).reshape(-1, ROWS, COLUMNS)
            self.assertEqual(values.shape, wanted.shape)
            max_error = np.abs(wanted).max() * 2.0**-15
            np.testing.assert_allclose(np.sort(values, 0), np.sort(wanted, 0), atol=max_error)

    def test_what_cannot_be_is_refused(self):
        text = predict("bad", "{emos: {}}", "predict.members=true", status=2)
        self.assertIn("gives distributions", text)
        text = predict("bad", "{emos: {save: %s}}" % at("forecast.nc/coefficients"), status=2)
        self.assertIn("forecast.nc: cannot create the directory", text)
        text = predict("bad", "{emos: {}}", "data.truth=[]", status=3)
        self.assertIn("name data.truth", text)
        text = predict("bad", "{emos: {}}", "predict.events=[{quantity: t500}]", status=2)
        self.assertIn("'t500' is none of data.target", text)
        text = predict("bad", "{emos: {}}", "predict.quantiles=[0.5,0.1]", status=2)
        self.assertIn("they have to ascend", text)
        text = predict("bad", "{emos: {}}", "predict.weights=w.nc", status=2)
        self.assertIn("are both set", text)
        text = predict("bad", "{emos: {}}", "data.names.rename=[]", status=3)
        self.assertIn("data.truth", text)


if "netcdf: off" in subprocess.run([program, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout:
    print("skipped: this build has no NetCDF")
    sys.exit(77)
write_archives()
unittest.main(argv=[sys.argv[0]])
