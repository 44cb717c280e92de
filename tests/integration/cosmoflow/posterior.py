"""posterior.py PROGRAM SCRATCH - a network that computes posteriors, from training to scores: files, estimates and draws agree with
the mixtures, densities and information with NumPy, and what is refused.

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
data: {scale: mean, augment: {symmetry: octahedral, shift: true}, split: {valid: 10, test: 20}}
model: {net: {mlperf: {blocks: 1, base: 4, hidden1: 8, hidden2: 8, dropout: 0}}, head: {mixture: {components: 3}}}
train: {epochs: 4, batch: 4, optim: {rule: adam, schedule: {lr: 0.003}}}
"""


def run(*words):
    return subprocess.run([program, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def passes(*words):
    done = run(*words)
    assert done.returncode == 0, done.stdout


def refused(text, *words):
    done = run(*words, "--out", "refused")
    assert done.returncode == 2 and text in done.stdout, done.stdout


def log_density(weight, mean, factor, y):
    """Of a mixture with weights [k], means [k, d] and Cholesky factors [k, d, d], at y [d]."""
    covariance = factor @ factor.transpose(0, 2, 1)
    apart = y - mean
    square = np.einsum("ki,kij,kj->k", apart, np.linalg.inv(covariance), apart)
    return np.log(np.sum(weight * np.exp(-square / 2) / np.sqrt(np.linalg.det(2 * np.pi * covariance))))


with open("small.yaml", "w") as file:
    file.write(CONFIG)
done = run("prepare", "--config", "small.yaml", "--out", "universes")
if done.returncode == 7:
    print("skipped:", done.stdout)
    sys.exit(77)
assert done.returncode == 0, done.stdout
given = ("--config", "small.yaml", "--set", "source.input=[universes]")
passes("run", *given, "--out", "run")
passes("predict", "universes", "--set", "predict.weights=run/weights.nc", "--set", "predict.draws=2000", "--out", "predicted")
passes("eval", "--set", "eval.sets=[{name: test, predictions: predicted/predictions.nc}]", "--out", "scores")

with netCDF4.Dataset("predicted/predictions.nc") as file:
    file.set_auto_mask(False)
    weight, mean, factor = (file[name][:] for name in ("mixtureWeight", "unitMixtureMean", "unitMixtureFactor"))
    draws, truth, estimate, part = (file[name][:] for name in ("physPosterior", "unitPar", "unitPredicted", "part"))
    lo, hi = file["rangePar"][:].T
assert weight.shape == (60, 3) and draws.shape == (60, 2000, 2)
assert np.allclose(weight.sum(axis=1), 1, atol=1e-12)
average = np.einsum("nk,nkd->nd", weight, mean)
assert np.allclose(average, estimate, atol=1e-6)
unit = 2 * (draws - lo) / (hi - lo) - 1
spread = unit.std(axis=1)
assert np.all(np.abs(unit.mean(axis=1) - average) < 6 * spread / np.sqrt(2000)), "means of the draws"

with open("scores/posterior.csv") as file:
    score = {(row["parameter"], row["score"]): float(row["value"]) for row in csv.DictReader(file)}
density = np.mean([log_density(weight[i], mean[i], factor[i], truth[i]) for i in np.flatnonzero(part == 2)])
assert abs(score["all", "log_density_range"] - density) < 1e-6, (score, density)
assert abs(score["all", "information_gain"] - density - 2 * np.log(2)) < 1e-6
assert score["omega_m", "chi2_freedom"] == 3  # 20 universes: 4 bins

# Coverage is the share of truths within central intervals of the first 999 draws, which eval makes again from the same seed.
tested = np.flatnonzero(part == 2)
for k, name in enumerate(("omega_m", "sigma_8")):
    rank = np.sum(unit[tested, :999, k] < truth[tested, None, k], axis=1)
    for level in (0.5, 0.68, 0.9, 0.95):
        covered = np.mean(np.abs((rank + 0.5) / 1000 - 0.5) <= level / 2)
        assert abs(score[name, "coverage_%g" % level] - covered) < 1e-12, (name, level, score, covered)
figures = os.listdir("scores/figures")
for name in ("ranks_omega_m", "coverage", "corner_sigma_8_omega_m"):
    assert f"posterior_{name}_test.svg" in figures, figures

# Two samples a universe, which share the truth: means over 20 samples, ranks of 10 universes.
shutil.copy("predicted/predictions.nc", "pairs.nc")
with netCDF4.Dataset("pairs.nc", "a") as file:
    for name in ("universe", "unitPar", "physPar"):
        column = file[name][:]
        column[tested[1::2]] = column[tested[::2]]
        file[name][:] = column
passes("eval", "--set", "eval.sets=[{name: test, predictions: pairs.nc}]", "--out", "pairs")
with open("pairs/posterior.csv") as file:
    cases = {(row["parameter"], row["score"]): int(row["cases"]) for row in csv.DictReader(file)}
for (parameter, name), count in cases.items():
    of_samples = name in ("log_density_range", "information_gain", "outside", "sd_range", "reduced_chi2")
    assert count == (20 if of_samples else 10), (parameter, name, count)

# The same with the prior: draws are inside, densities larger.
passes("predict", "universes", "--set", "predict.weights=run/weights.nc", "--set", "predict.truncate=true", "--set",
       "predict.draws=50", "--out", "inside")
passes("eval", "--set", "eval.sets=[{name: test, predictions: inside/predictions.nc}]", "--out", "inside_scores")
with netCDF4.Dataset("inside/predictions.nc") as file:
    draws = file["physPosterior"][:]
    assert np.all((draws >= lo) & (draws <= hi))
with open("inside_scores/posterior.csv") as file:
    inside = {(row["parameter"], row["score"]): float(row["value"]) for row in csv.DictReader(file)}
assert inside["all", "log_density_range"] > score["all", "log_density_range"]

# A posterior that is all but outside: it is skipped, with the rest scored.
shutil.copy("inside/predictions.nc", "one_outside.nc")
with netCDF4.Dataset("one_outside.nc", "a") as file:
    file["unitMixtureMean"][tested[0]] = 50
done = run("eval", "--set", "eval.sets=[{name: test, predictions: one_outside.nc}]", "--out", "one_outside")
assert done.returncode == 0 and "1 of 20 posteriors are not scored" in done.stdout, done.stdout
with open("one_outside/posterior.csv") as file:
    rows = list(csv.DictReader(file))
assert len(rows) == len(inside) and all(row["cases"] == "19" for row in rows), rows
with open("one_outside/report.html") as file:
    page = file.read()
assert "1 of 20 samples are not scored" in page and "No corner plot" in page

refused("files.label_limit takes labels of up to 1.5", "predict", "universes", "--set", "predict.weights=run/weights.nc", "--set",
        "predict.truncate=true", "--set", "files.label_limit=1.5")
refused("model.loss: the head mixture", "run", *given, "--set", "model.loss=mse")
refused("model.head: unet makes a class", "run", *given, "--set", "model.net=unet")
passes("run", *given, "--set", "model.head=estimate", "--set", "train.epochs=1", "--out", "numbers")
refused("predict.draws: numbers/weights.nc estimates numbers", "predict", "universes", "--set",
        "predict.weights=numbers/weights.nc", "--set", "predict.draws=5")
