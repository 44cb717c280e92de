"""distributions.py PROGRAM SCRATCH - distributions that are not normal, by EMOS and by a network, on fields of the built-in simulation.
Quantiles, probabilities and members that predict writes of each family, by SciPy from the location and the scale of the same files. Heads
of four families that train together (logistic, log-normal, truncated logistic, censored normal), each scored in one table next to raw
members and EMOS of its family; their CRPS is integrated from SciPy's distribution, and the truth has a uniform place in it.

Exit 77: this Python has no netCDF4 or scipy, or the program was built without NetCDF or FFTW."""
import csv
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

try:
    import netCDF4
    import numpy as np
    from scipy import stats
except ImportError:
    print("skipped: this Python has no netCDF4 or scipy")
    sys.exit(77)

program, scratch = sys.argv[1:]
TINY = str(pathlib.Path(__file__).resolve().parents[3] / "configs/weather_ensemble/tiny.yaml")
MEMBERS, DAY = 5, 86400
FILES, TRUTH = ["data.forecast=[sim/forecast.nc]", f"data.members={MEMBERS}"], "data.truth=[sim/truth.nc]"
HEADS = {"z500": "logistic", "ws500": "log_normal", "ws750": "truncated_logistic", "tprate": "censored_normal"}
LEVELS = [0.02, 0.3, 0.5, 0.9]
MM = 1e-6  # kg m-2 s-1: precipitation of the simulation is of that size
LOWER, UPPER, SHIFT, EVENT = 0.0, 8 * MM, 1 * MM, 3 * MM
FAMILIES = ["normal", "logistic", "truncated_normal", "truncated_logistic", "log_normal", "censored_normal", "censored_logistic",
            "censored_shifted_gamma", "censored_normal to upper", "censored_logistic to upper"]


def run(command, out, *options, configs=(TINY,)):
    words = [word for option in options for word in ("--set", option)] + [word for name in configs for word in ("--config", name)]
    done = subprocess.run([program, command, *words, "--out", out, "--overwrite", "--threads", "1"], cwd=scratch, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        raise AssertionError(f"status {done.returncode}: {done.stdout[-2000:]}")


def read(folder, file, *names):
    with netCDF4.Dataset(os.path.join(scratch, folder, file)) as f:
        return [np.ma.filled(f[name][:].astype("f8"), np.nan) for name in names]


class Distribution:
    """The distribution of a family by location and scale, between the bounds 0 and UPPER where the name of the family says so."""

    def __init__(self, name, location, scale):
        family = name.split()[0]
        self.censored, self.upper = "censored" in family, UPPER if "upper" in name else np.inf
        self.cut = "truncated" in family
        if family == "log_normal":
            size = np.log1p((scale / location) ** 2)
            self.whole = stats.lognorm(np.sqrt(size), scale=location * np.exp(-size / 2))
        elif family == "censored_shifted_gamma":
            mean = location + SHIFT
            self.whole = stats.gamma((mean / scale) ** 2, loc=-SHIFT, scale=scale**2 / mean)
        else:
            self.whole = (stats.logistic if "logistic" in family else stats.norm)(location, scale)

    def above(self, x):
        """P(X > x)."""
        p = self.whole.sf(x) / (self.whole.sf(LOWER) if self.cut else 1)
        return np.where(x >= self.upper, 0, np.where((x < LOWER) & (self.censored or self.cut), 1, p))

    def quantile(self, p):
        x = self.whole.isf((1 - p) * self.whole.sf(LOWER)) if self.cut else self.whole.ppf(p)
        return np.clip(x, LOWER, self.upper) if self.censored else x

    def crps(self, y, n=400):
        """Twice the integral of the quantile scores over the probability, by the midpoint rule in (1 - cos pi t) / 2."""
        t = (np.arange(n) + 0.5) / n
        total = 0
        for p, weight in zip((1 - np.cos(np.pi * t)) / 2, np.pi * np.sin(np.pi * t) / n):
            x = self.quantile(p)
            total = total + weight * np.where(y < x, (1 - p) * (x - y), p * (y - x))
        return total


def pick(array, k, level):
    """Of [time, lead, k, level or not, lat, lon] the fields of one k, at the level where there are any."""
    return array[:, 0, k] if level is None else array[:, 0, k, level]


def parameters(folder, variable, level=None):
    """Location and scale [time, lat, lon]; of a normal distribution mean and standard deviation."""
    with netCDF4.Dataset(os.path.join(scratch, folder, "predictions.nc")) as f:
        names = (f"{variable}_location", f"{variable}_scale") if f"{variable}_scale" in f.variables else (variable, f"{variable}_spread")
    return [pick(a, 0, level) for a in read(folder, "predictions.nc", *names)]


def raw_and_truth(folder, variable, level=None):
    """Raw members [time, member, lat, lon] and truth [time, lat, lon] of the initialisation times of the files of predict."""
    (start,) = read(folder, "predictions.nc", "forecast_reference_time")
    at, raw = read("sim", "forecast.nc", "forecast_reference_time", variable)
    valid, truth = read("sim", "truth.nc", "forecast_reference_time", variable)
    raw, truth = raw[np.searchsorted(at, start), 0], truth[np.searchsorted(valid, start + 2 * DAY), 0, 0]
    return (raw, truth) if level is None else (raw[:, :, level], truth[:, level])


class Values(unittest.TestCase):
    def check_quantiles(self, distribution, folder, variable, level=None):
        (found,) = read(folder, "quantiles.nc", variable)
        for k, p in enumerate(LEVELS):
            want = distribution.quantile(p)
            np.testing.assert_allclose(pick(found, k, level), want, rtol=2e-6, atol=3e-7 * np.abs(want).max())

    def check_members(self, distribution, folder, variable, raw, level=None):
        """Quantiles at k / (M + 1) in the order of the raw members; where two of these are equal, only what the values are."""
        (found,) = read(folder, "members.nc", variable)
        found = np.moveaxis(np.array([pick(found, k, level) for k in range(MEMBERS)]), 0, 1)
        sorted_want = np.array([distribution.quantile((k + 1) / (MEMBERS + 1)) for k in range(MEMBERS)]).swapaxes(0, 1)
        size = 3e-7 * np.abs(sorted_want).max()
        np.testing.assert_allclose(np.sort(found, 1), sorted_want, rtol=2e-6, atol=size)
        tied = (np.diff(np.sort(raw, 1), axis=1) == 0).any(1)[:, None]
        self.assertLess(tied.mean(), 0.7)
        want = np.take_along_axis(sorted_want, raw.argsort(1).argsort(1), 1)
        np.testing.assert_allclose(np.where(tied, 0, found), np.where(tied, 0, want), rtol=2e-6, atol=size)


class Emos(Values):
    def test_quantiles_probabilities_and_members_of_each_family(self):
        for name in FAMILIES:
            family, folder = name.split()[0], name.replace(" ", "_")
            fit = f"family: {family}" + (f", upper: {UPPER!r}" if "upper" in name else "")
            fit += f", shift: {SHIFT!r}" if "gamma" in name else ""
            common = [*FILES, "data.truth=[cut.nc]" if "upper" in name else TRUTH, "data.target=[tprate]", "predict.part=test"]
            with self.subTest(name):
                run("predict", folder, *common, f"predict.quantiles={LEVELS}",
                    f"predict.events=[{{quantity: tprate, value: {EVENT!r}, name: high}}]",
                    f"predict.model={{use: {{emos: {{fit: {{{fit}}}}}}}}}")
                distribution = Distribution(name, *parameters(folder, "tprate"))
                self.check_quantiles(distribution, folder, "tprate")
                (above,) = read(folder, "probabilities.nc", "tprate_high")
                np.testing.assert_allclose(above[:, 0, 0], distribution.above(EVENT), atol=2e-7)
                self.assertGreater(above.max() - above.min(), 0.5)
                run("predict", folder, *common, "predict.members=true",
                    f"predict.model={{use: {{emos: {{fit: {{{fit}}}, output: members}}}}}}")
                self.check_members(distribution, folder, "tprate", raw_and_truth(folder, "tprate")[0])


class Heads(Values):
    @classmethod
    def setUpClass(cls):
        rows = ", ".join(f"{{quantity: {q}, family: {f}}}" for q, f in HEADS.items())
        options = [*FILES, TRUTH, "data.target=[" + ",".join(HEADS) + "]", f"model.distributions=[{rows}]", "model.net=dense",
                   "model.dense={units: [16], embedding: 0}", "exec.tier=vector"]  # a compiler takes longer than the training
        run("run", "run", *options, "train.epochs=12")
        run("predict", "net", *options, "predict.weights=run/weights.nc", "predict.part=test", "predict.members=true",
            f"predict.quantiles={LEVELS}")
        emos = ", ".join(f"{{name: {f}, use: {{emos: {{fit: {{family: {f}}}}}}}}}" for f in HEADS.values())
        with open(os.path.join(scratch, "table.yaml"), "w", encoding="utf-8") as f:
            f.write(f"eval: {{quantities: [{', '.join(HEADS)}], leads: [48], references: [], bootstrap: {{resamples: 100}}, models: ["
                    f"{{use: raw}}, {emos}, {{name: network, use: {{predictions: {{files: [net/predictions.nc], members: {MEMBERS}}}}}}}]}}")
        run("eval", "scores", *options, configs=[TINY, "table.yaml"])
        with open(os.path.join(scratch, "scores/all_scores.csv"), newline="", encoding="utf-8") as f:
            cls.crps = {(r["variable"] + r["level"] * (r["level"] != "0"), r["model"]): float(r["value"]) for r in csv.DictReader(f)
                        if (r["score"], r["weights"], r["region"]) == ("crps", "none", "all")}

    def each(self):
        """Quantity, its variable and level in the files, the distributions of the network, raw members and truth."""
        for quantity, family in HEADS.items():
            variable, level = quantity.rstrip("0123456789"), {"z500": 0, "ws500": 0, "ws750": 1}.get(quantity)
            distribution = Distribution(family, *parameters("net", variable, level))
            yield quantity, variable, level, distribution, *raw_and_truth("net", variable, level)

    def test_scores_next_to_raw_members_and_emos_of_the_family(self):
        print("quantity, family: CRPS of raw members, EMOS, network")
        for quantity, _, _, distribution, _, truth in self.each():
            raw, emos, network = (self.crps[quantity, m] for m in (f"raw {MEMBERS}", HEADS[quantity], "network"))
            print(f"{quantity}, {HEADS[quantity]}: {raw:.4g}, {emos:.4g}, {network:.4g}")
            self.assertLess(network, 0.96 * raw)
            self.assertLess(network, 1.025 * emos)
            self.assertAlmostEqual(distribution.crps(truth).mean() / network, 1, delta=2e-4)

    def test_truth_has_a_uniform_place(self):
        rng = np.random.default_rng(3)
        for quantity, _, _, distribution, _, truth in self.each():
            place = 1 - distribution.above(truth)
            if distribution.censored:  # a random place within the probability of the bound
                place = np.where(truth > LOWER, place, place * rng.random(place.shape))
            share = np.histogram(place, 10, (0, 1))[0] / place.size
            self.assertLess(np.abs(share - 0.1).max(), 0.05, f"{quantity}: {share.round(3)}")

    def test_parameters_are_in_their_range(self):
        for quantity, variable, level, distribution, raw, truth in self.each():
            location, scale = parameters("net", variable, level)
            self.assertTrue(np.isfinite(location).all() and (scale > 0).all())
            if HEADS[quantity] == "log_normal":
                self.assertGreater(location.min(), LOWER)
            far = np.abs(location - raw.mean(1)) / (truth - raw.mean(1)).std()
            self.assertLess(far.max(), 5)
            if quantity != "z500":
                self.assertGreaterEqual(distribution.quantile(0.001).min(), LOWER)

    def test_quantiles_and_members(self):
        for _, variable, level, distribution, raw, _ in self.each():
            self.check_quantiles(distribution, "net", variable, level)
            self.check_members(distribution, "net", variable, raw, level)


if "netcdf: off" in subprocess.run([program, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout:
    print("skipped: this build has no NetCDF")
    sys.exit(77)
run("prepare", "sim", "simulate.quantities=[z500,ws500,ws750,tprate]", "simulate.leads=[48]")
shutil.copy(os.path.join(scratch, "sim/truth.nc"), os.path.join(scratch, "cut.nc"))
with netCDF4.Dataset(os.path.join(scratch, "cut.nc"), "a") as cut:  # of the distributions with an upper bound
    cut["tprate"][:] = np.minimum(cut["tprate"][:], np.float32(UPPER))
unittest.main(argv=sys.argv[:1])
