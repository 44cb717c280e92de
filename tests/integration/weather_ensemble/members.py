"""members.py PROGRAM SCRATCH - networks that correct each member (model.head members): members in another order, missing
ones, one or two of them, weights applied to fewer; the files of predict, read by netCDF4, and the scores of eval by hand.
The same of members that attend to one another (model.coupling attention), also under a head that makes a distribution.
Forecasts and truth are written by netCDF4: waves with a bias, and too little spread.

Exit 77: this Python has no netCDF4, or the program was built without NetCDF."""
import csv
import json
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
DAYS, MEMBERS, ROWS, COLUMNS = 90, 5, 4, 8
TRAIN, TEST = 60, 70  # days: training up to the first, the test from the second
ORDER = [3, 0, 4, 2, 1]
CONFIG = ["data.target=[z500,t500]", "data.split={train: {to: '2020-03-01'}, valid: {from: '2020-03-01', to: '2020-03-10'}, "
          "test: {from: '2020-03-11'}, gap: 0}", "model.head=members", "model.unet={preset: tiny, border: {x: wrap}}",
          "normalization={bias: local, bias_smooth: 1}", "train.batch=5", "train.optim.rule={adam: {}}",
          "train.optim.schedule={lr: 0.01, shape: cosine}"]
ATTENTION = ["model.net=transformer", "model.coupling=attention",
             "model.transformer={preset: tiny, patch: {y: 2, x: 2}, border: {x: wrap}}"]
GAUSS = [*ATTENTION, "model.head=gauss", "predict.members=true"]
DISTRIBUTIONS = [["model.distributions=[{quantity: z500, family: truncated_normal, lower: 0}]"],
                 ["model.distributions=[{quantity: z500, family: censored_shifted_gamma, lower: 40000, shift: 10000}]", "bias.use=true",
                  "bias.folds=2"]]
ALONE = ["data.mean=false", "data.spread=false", "data.position=true", "model.coupling=none"]


def at(*name):
    return os.path.join(scratch, *name)


def write(name, days, member, fields):
    """Fields {short name: [days, member, rows, columns]}; member None: a truth, [days, rows, columns]."""
    with netCDF4.Dataset(at(name), "w") as out:
        axes = {"time": days.astype("f8")}
        if member is not None:
            axes["prediction_timedelta"] = np.array([24.0])
            axes["number"] = np.asarray(member)
        axes["level"] = np.array([500.0])
        axes["latitude"] = np.linspace(60, -60, ROWS)
        axes["longitude"] = np.arange(COLUMNS) * 360 / COLUMNS
        units = {"time": "days since 2020-01-01", "prediction_timedelta": "hours", "level": "hPa",
                 "latitude": "degrees_north", "longitude": "degrees_east"}
        for key, values in axes.items():
            out.createDimension(key, len(values))
            v = out.createVariable(key, values.dtype, (key,))
            v[:] = values
            if key in units:
                v.units = units[key]
        for key, (values, unit) in fields.items():
            v = out.createVariable(key, "f4", tuple(axes))
            v.units = unit
            v[:] = values[:, None, :, None] if member is not None else values[:, None]


def write_archives():
    rng = np.random.default_rng(11)
    x, y = np.arange(COLUMNS) * 2 * np.pi / COLUMNS, np.linspace(0, np.pi, ROWS)[:, None]
    basis = np.array([np.cos(k * x + p) * (0.5 + np.sin(y)) for k in (1, 2) for p in (0, np.pi / 2)])
    waves = lambda *n: np.einsum("...k,kij->...ij", rng.standard_normal((*n, 4)), basis)
    state = waves(DAYS + 1)
    common = 0.5 * waves(DAYS)  # an error of all members
    forecast = (state[1:] + common)[:, None] + 0.25 * waves(DAYS, MEMBERS) + 0.4
    fields = {"z": (54000 + 800 * forecast, "m2 s-2"), "t": (255 + 4 * forecast + 0.3 * waves(DAYS, MEMBERS), "K")}
    write("forecast.nc", np.arange(DAYS), np.arange(1, MEMBERS + 1), fields)
    write("permuted.nc", np.arange(DAYS), np.arange(1, MEMBERS + 1), {k: (v[:, ORDER], u) for k, (v, u) in fields.items()})
    hole = fields["z"][0].copy()
    hole[75, 2, 1, 3] = np.nan  # of the test
    hole[5, 0, 0, 0] = np.nan   # of the training
    write("hole.nc", np.arange(DAYS), np.arange(1, MEMBERS + 1), {**fields, "z": (hole, "m2 s-2")})
    write("truth.nc", np.arange(DAYS + 1), None, {"z": (54000 + 800 * state, "m2 s-2"), "t": (255 + 4 * state, "K")})


def run(command, out, *options, files="forecast.nc", status=0):
    settings = [f"data.forecast=[{at(files)}]", f"data.truth=[{at('truth.nc')}]", *options]
    words = [word for option in settings for word in ("--set", option)]
    done = subprocess.run([program, command, *words, "--out", at(out), "--overwrite", "--threads", "1"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != status:
        raise AssertionError(f"status {done.returncode}, not {status}: {done.stdout}")
    return done.stdout


def predict(out, weights, *options, files="forecast.nc", members=True):
    """The members that predict writes, {variable: [days, member, rows, columns]}, and mean and standard deviation."""
    run("predict", out, *CONFIG, *options, f"predict.weights={at(weights, 'weights.nc')}", "predict.part=test", files=files)

    def read(name, variables):
        with netCDF4.Dataset(at(out, name)) as f:
            return {q: np.ma.filled(f[q][:].astype("f4"), np.nan).squeeze() for q in variables}

    return read("members.nc", ("z", "t")) if members else None, read("predictions.nc", ("z", "z_spread"))


def train(out, *options, files="forecast.nc", epochs=8):
    return run("run", out, *CONFIG, f"train.epochs={epochs}", *options, files=files)


class Members(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        write_archives()
        try:
            train("together")
        except AssertionError as reason:
            if "NetCDF" in str(reason):
                print("skipped: the program was built without NetCDF")
                sys.exit(77)
            raise
        cls.members, cls.moments = predict("plain", "together")

    def test_files_have_the_members_and_their_moments(self):
        z = self.members["z"]
        self.assertEqual(z.shape, (DAYS - TEST, MEMBERS, ROWS, COLUMNS))
        np.testing.assert_allclose(self.moments["z"], z.astype("f8").mean(1), rtol=3e-7)
        np.testing.assert_allclose(self.moments["z_spread"], z.astype("f8").std(1, ddof=1), rtol=1e-4)
        self.assertGreater(np.abs(z[:, 0] - z[:, 1]).min(), 0)

    def test_other_order_gives_the_same_values_in_that_order(self):
        other, moments = predict("other", "together", files="permuted.nc")
        for q, values in self.members.items():
            np.testing.assert_allclose(other[q], values[:, ORDER], rtol=3e-7)
        np.testing.assert_allclose(moments["z"], self.moments["z"], rtol=3e-7)

    def test_missing_member_stays_missing(self):
        message = run("run", "refused", *CONFIG, files="hole.nc", status=3)
        self.assertIn("data.missing to mask", message)
        train("masked", "data.missing=mask", files="hole.nc", epochs=1)
        values, moments = predict("mask", "masked", "data.missing=mask", files="hole.nc")
        missing = np.argwhere(np.isnan(values["z"]))
        np.testing.assert_array_equal(missing, [[75 - TEST, 2, 1, 3]])
        self.assertFalse(np.isnan(values["t"]).any() or np.isnan(moments["z"]).any())

    def test_weights_correct_fewer_members(self):
        few, _ = predict("few", "together", "data.members=3")
        self.assertEqual(few["z"].shape[1], 3)

    def test_one_and_two_members(self):
        message = run("run", "refused", *CONFIG, *ALONE, "data.members=1", "model.alpha=0.95", status=2)
        self.assertIn("the fair CRPS needs two", message)
        train("one", *ALONE, "data.members=1", "predict.members=true", epochs=1)
        values, _ = predict("single", "one", *ALONE, "data.members=1")
        self.assertEqual(values["z"].shape, (DAYS - TEST, ROWS, COLUMNS))
        train("two", "data.members=2", epochs=1)
        values, _ = predict("pair", "two", "data.members=2")
        self.assertTrue(np.isfinite(values["t"]).all() and values["t"].shape[1] == 2)

    def test_fair_score_of_members_that_know_of_each_other_is_refused(self):
        message = run("run", "refused", *CONFIG, "model.alpha=0.95", status=2)
        self.assertIn("model.coupling to none", message)
        message = run("run", "refused", *CONFIG, "model.coupling=none", status=2)
        self.assertIn("data.mean", message)

    def test_alone_a_member_depends_on_no_other(self):
        for alpha in "0.95", "1":  # almost fair and fair CRPS
            with self.subTest(alpha):
                train("alone", *ALONE, f"model.alpha={alpha}", "exec.tier=vector")  # no compiler for each alpha
                all_five, _ = predict("five", "alone", *ALONE)
                first, _ = predict("first", "alone", *ALONE, "data.members=2")
                np.testing.assert_allclose(first["z"], all_five["z"][:, :2], rtol=1e-6)
                self.compare("five", "crps_fair", "alone")
                self.compare_losses("alone", float(alpha))

    def compare_losses(self, name, alpha):
        """The loss of the validation, alpha times the fair CRPS plus 1 - alpha times that of the empirical distribution, by hand."""
        run("predict", f"{name}_valid", *CONFIG, *ALONE, f"predict.weights={at(name, 'weights.nc')}", "predict.part=valid")
        with open(at(name, "run.jsonl"), encoding="utf-8") as f:
            best = min(e["valid_loss"] for e in map(json.loads, f) if e["event"] == "epoch_end")
        area = np.diff(np.sin(np.radians([-80, -40, 0, 40, 80])))[:, None]
        loss = []
        with netCDF4.Dataset(at(f"{name}_valid", "members.nc")) as m, netCDF4.Dataset(at("truth.nc")) as t, \
                netCDF4.Dataset(at(name, "weights.nc")) as w:
            unit = np.ravel(w["standard.unit"][:])
            for k, q in enumerate("zt"):
                x = m[q][:].squeeze().astype("f8")
                y = t[q][:].squeeze()[TRAIN + 1:TRAIN + 1 + len(x)].astype("f8")
                apart = np.abs(x[:, :, None] - x[:, None]).sum((1, 2)) / 2 / MEMBERS
                crps = np.abs(x - y[:, None]).mean(1) - apart * (alpha / (MEMBERS - 1) + (1 - alpha) / MEMBERS)
                loss.append((area * crps).mean() / area.mean() / unit[k])
        self.assertAlmostEqual(np.mean(loss) / best, 1, delta=1e-5)

    def test_members_that_attend_to_one_another_have_no_order(self):
        train("attention", *ATTENTION)
        values, _ = predict("attended", "attention", *ATTENTION)
        other, _ = predict("attended_other", "attention", *ATTENTION, files="permuted.nc")
        for q in values:
            np.testing.assert_allclose(other[q], values[q][:, ORDER], rtol=1e-6)
        few, _ = predict("attended_few", "attention", *ATTENTION, "data.members=3")
        self.assertEqual(few["z"].shape[1], 3)
        self.assertGreater(np.abs(few["z"] - values["z"][:, :3]).max(), 1)
        self.compare("attended", "crps", "attention")

    def test_attention_makes_distributions(self):
        for distribution in DISTRIBUTIONS:
            options = [*GAUSS, *distribution]
            with self.subTest(distribution):
                train("distribution", *options, epochs=2)
                values, moments = predict("distributed", "distribution", *options)
                _, other = predict("distributed_other", "distribution", *options, files="permuted.nc")
                for name in moments:
                    np.testing.assert_allclose(other[name], moments[name], rtol=1e-5)
                _, lone = predict("distributed_lone", "distribution", *options, "predict.members=false", members=False)
                for name in moments:
                    np.testing.assert_array_equal(lone[name], moments[name])
                self.assertEqual(values["z"].shape, (DAYS - TEST, MEMBERS, ROWS, COLUMNS))
                self.assertTrue(np.isfinite(values["z"]).all() and (moments["z_spread"] > 0).all())

    def test_attention_needs_all_members_and_a_transformer(self):
        message = run("run", "refused", *CONFIG, *ATTENTION, "data.missing=mask", status=2)
        self.assertIn("data.missing to refuse", message)
        message = run("run", "refused", *CONFIG, *ATTENTION, "model.net=unet", status=2)
        self.assertIn("model.net to transformer", message)
        message = run("run", "refused", *CONFIG, "model.head=gauss", "model.coupling=none", status=2)
        self.assertIn("head gauss makes no members", message)
        message = run("run", "refused", *CONFIG, *ATTENTION, "model.alpha=0.95", status=2)
        self.assertIn("with coupling attention", message)
        message = run("run", "refused", *CONFIG, *ATTENTION, "data.inputs=[t500]", files="hole.nc", status=3)
        self.assertIn("model.coupling to mean", message)

    def test_members_are_better_than_raw_ones(self):
        self.compare("plain", "crps", "members")

    def compare(self, out, score, name):
        """The score of raw and corrected members by eval, and by hand from the files."""
        models = (f"[{{use: raw}}, {{name: {name}, use: {{predictions: {{files: ['{at(out, 'members.nc')}']}}}}}}]")
        run("eval", f"scores_{name}", CONFIG[1], f"eval.models={models}", "eval.quantities=[z500]", "eval.leads=[24]")
        with open(at(f"scores_{name}", "all_scores.csv"), newline="", encoding="utf-8") as f:
            value = {(row["model"], row["score"]): float(row["value"]) for row in csv.DictReader(f) if row["weights"] == "none"}
        raw = f"raw {MEMBERS}"
        self.assertLess(value[name, score], 0.9 * value[raw, score])
        for other in "energy_score", "variogram_score":
            self.assertLess(value[name, other], value[raw, other])
        with netCDF4.Dataset(at(out, "members.nc")) as m, netCDF4.Dataset(at("truth.nc")) as t:
            x = m["z"][:].squeeze().astype("f8")
            y = t["z"][TEST + 1:DAYS + 1].squeeze().astype("f8")
        pairs = MEMBERS if score == "crps" else MEMBERS - 1
        crps = np.abs(x - y[:, None]).mean(1) - np.abs(x[:, :, None] - x[:, None]).sum((1, 2)) / (2 * MEMBERS * pairs)
        self.assertAlmostEqual(value[name, score] / crps.mean(), 1, delta=1e-6)


unittest.main(argv=sys.argv[:1])
