"""robustness.py PROGRAM SCRATCH - networks of two simulations tested on three: errors of the predictions with NumPy, regressions and
intervals as eval has them, every row and column, and what is refused.

Exit 77: NumPy or netCDF4 is not here, or the program has no NetCDF."""
import csv
import os
import shutil
import subprocess
import sys

try:
    import netCDF4
    import numpy as np
except ImportError as missing:
    print("skipped: this Python has no", missing.name)
    sys.exit(77)

program, scratch = sys.argv[1:]
os.chdir(scratch)
CONFIG = """
simulate: {universes: 60, side: 8, particles: 16, box: 64, redshifts: [0], preset: wide2}
data: {scale: mean, split: {valid: 10, test: 20}}
model: {net: {mlperf: {blocks: 1, base: 4, hidden1: 8, hidden2: 8, dropout: 0}}}
train: {epochs: 3, batch: 4, optim: {rule: adam, schedule: {lr: 0.003}}}
eval: {features: {scale: mean}, bootstrap: {resamples: 200}}
"""
SETS = "{name: lpt, samples: [lpt]}, {name: coarse, samples: [coarse]}, {name: tracers, samples: [tracers]}"
NETWORKS = ("{name: on_lpt, weights: run_lpt/weights.nc, trained_on: lpt}, "
            "{name: on_coarse, weights: run_coarse/weights.nc, trained_on: coarse}")


def run(*words):
    return subprocess.run([program, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def passes(*words):
    done = run(*words)
    assert done.returncode == 0, done.stdout


def command(sets=SETS, networks=NETWORKS):
    return ("robustness", "--config", "small.yaml", "--set", "robustness.sets=[%s]" % sets, "--set", "robustness.networks=[%s]" % networks)


def refused(text, *words):
    done = run(*words, "--out", "refused")
    assert done.returncode == 2 and text in done.stdout, done.stdout
    shutil.rmtree("refused", ignore_errors=True)


def rows(path):
    with open(path) as file:
        return list(csv.DictReader(file))


with open("small.yaml", "w") as file:
    file.write(CONFIG)
done = run("prepare", "--config", "small.yaml", "--out", "lpt")
if done.returncode == 7:
    print("skipped:", done.stdout)
    sys.exit(77)
assert done.returncode == 0, done.stdout
passes("prepare", "--config", "small.yaml", "--set", "simulate.particles=8", "--out", "coarse")
passes("prepare", "--config", "small.yaml", "--set", "simulate.tracers=0.01", "--set", "seed=9", "--out", "tracers")
for folder, counted in (("lpt", "particles"), ("tracers", "tracers")):
    with netCDF4.Dataset(folder + "/universes-00000000.nc") as f:
        assert f["full"].long_name == counted + " in a cell" and ("0.01 tracers" in f.simulation) == (folder == "tracers")
passes("run", "--config", "small.yaml", "--set", "source.input=[lpt]", "--set", "model.head={mixture: {components: 1}}", "--out", "run_lpt")
passes("run", "--config", "small.yaml", "--set", "source.input=[coarse]", "--out", "run_coarse")
passes(*command(), "--out", "table")

# Every model of every row on every set.
found = rows("table/robustness.csv")
models = {"lpt": ["on_lpt", "ridge", "ridge+moments", "mean"], "coarse": ["on_coarse", "ridge", "ridge+moments", "mean"]}
key = {(r["trained_on"], r["tested_on"], r["model"], r["parameter"], r["score"]): r for r in found}
assert len(key) == len(found)
for trained, names in models.items():
    for tested in ("lpt", "coarse", "tracers"):
        for name in names:
            for parameter in ("all", "omega_m", "sigma_8"):
                r = key[trained, tested, name, parameter, "mae"]
                assert r["unit"] == "range" and float(r["lo"]) <= float(r["value"]) <= float(r["hi"]), r
                assert int(r["universes"]) == (60 if tested == "tracers" else 20), r  # all of another seed are new
                assert (trained, tested, name, parameter, "r2") in key or parameter == "all"
assert {k[0] for k in key} == set(models) and {k[2] for k in key} == {"on_lpt", "on_coarse", "ridge", "ridge+moments", "mean"}

# Errors of the networks by NumPy.
for network, trained in (("on_lpt", "lpt"), ("on_coarse", "coarse")):
    for tested in ("lpt", "coarse", "tracers"):
        with netCDF4.Dataset("table/predictions-%s-%s.nc" % (network, tested)) as f:
            variables = {name: np.ma.filled(f[name][:], np.nan) for name in ("part", "unitPar", "unitPredicted")}
            test = variables["part"] == 2
            truth, made = variables["unitPar"][test].astype(float), variables["unitPredicted"][test].astype(float)
        for k, parameter in enumerate(("omega_m", "sigma_8")):
            error = made[:, k] - truth[:, k]
            spread = truth[:, k] - truth[:, k].mean()
            for score, expected in (("mae", np.abs(error).mean()), ("bias", error.mean()), ("r2", 1 - (error**2).sum() / (spread**2).sum())):
                value = float(key[trained, tested, network, parameter, score]["value"])
                assert abs(value - expected) < 1e-5 * max(1, abs(expected)), (network, tested, parameter, score, value, expected)
        value = float(key[trained, tested, network, "all", "mae"]["value"])
        assert abs(value - np.abs(made - truth).mean()) < 1e-5

# Calibration of the one that has posteriors.
assert ("lpt", "coarse", "on_lpt", "omega_m", "coverage_0.68") in key and ("lpt", "tracers", "on_lpt", "all", "information_gain") in key
assert ("coarse", "lpt", "on_coarse", "omega_m", "coverage_0.68") not in key

# The same scores, regressions and intervals as eval.
passes("eval", "--config", "small.yaml", "--set", "eval.sets=[%s]" % ", ".join(
    "{name: %s, predictions: table/predictions-on_lpt-%s.nc, truth: [%s]}" % (s, s, s) for s in ("lpt", "coarse", "tracers")),
    "--out", "scores")
checked = 0
for r in rows("scores/scores.csv"):
    k = ("lpt", r["set"], r["model"], r["parameter"], r["score"])
    if r["of"] == "sample" and k in key and r["unit"] == key[k]["unit"]:
        assert (r["value"], r["lo"], r["hi"]) == (key[k]["value"], key[k]["lo"], key[k]["hi"]), (r, key[k])
        checked += 1
assert checked > 100, checked
with open("table/report.html") as file:
    page = file.read()
assert "trained on" in page and "on_coarse" in page and "table_mae_0" in page

# What cannot be.
refused("robustness.sets is empty", *command(sets=""))
refused("robustness.networks is empty", *command(networks=""))
refused("'a/b' is no name", *command(sets="{name: a/b, samples: [lpt]}"))
refused("two have the name 'lpt'", *command(sets="{name: lpt, samples: [lpt]}, {name: lpt, samples: [coarse]}"))
refused("names no samples", *command(sets="{name: lpt}"))
refused("is trained_on 'pm', which is no name", *command(networks="{name: n, weights: run_lpt/weights.nc, trained_on: pm}"))
refused("names no weights", *command(networks="{name: n, trained_on: lpt}"))
refused("'ridge' is the name of a regression", *command(networks="{name: ridge, weights: run_lpt/weights.nc, trained_on: lpt}"))
refused("have one file of predictions, predictions-a-b-lpt.nc", *command(
    sets="{name: lpt, samples: [lpt]}, {name: b-lpt, samples: [coarse]}",
    networks="{name: a, weights: run_lpt/weights.nc, trained_on: lpt}, {name: a-b, weights: run_lpt/weights.nc, trained_on: lpt}"))
refused('"2lpt of 16^3 particles" and "2lpt of 8^3 particles"',
        *command(networks="{name: n, weights: run_lpt/weights.nc, trained_on: coarse}"))
passes("run", "--config", "small.yaml", "--set", "source.input=[lpt]", "--set", "train.epochs=1", "--set", "data.split.seed=5", "--out", "run_split")
two = "{name: n, weights: run_lpt/weights.nc, trained_on: lpt}, {name: m, weights: run_split/weights.nc, trained_on: %s}"
refused("'n' and 'm' are trained on different universes of 'lpt'", *command(networks=two % "lpt"))
passes(*command(sets="{name: lpt, samples: [lpt]}, {name: again, samples: [lpt]}", networks=two % "again"), "--out", "splits")
fitted = {(r["trained_on"], r["model"]): r["value"] for r in rows("splits/robustness.csv")
          if (r["tested_on"], r["parameter"], r["score"]) == (r["trained_on"], "all", "mae")}
assert fitted["lpt", "ridge"] != fitted["again", "ridge"]
done = run(*command(), "--set", "eval.regressions=[none]", "--out", "table", "--overwrite")
assert done.returncode == 2 and "there is no regression on 'none'" in done.stdout, done.stdout
assert rows("table/robustness.csv") == found  # earlier results remain
done = run(*command(networks=NETWORKS + ", {name: n, weights: none.nc, trained_on: lpt}"), "--out", "table", "--overwrite")
assert done.returncode == 3 and "none.nc" in done.stdout, done.stdout
assert rows("table/robustness.csv") == found  # earlier results remain
