"""heads.py PROGRAM SCRATCH - networks that compute a flow or moments, from training to scores: densities, draws and information agree
with NumPy, the first network of several with a single one, and what is refused.

Exit 77: NumPy or netCDF4 is not here, or the program has no NetCDF."""
import csv
import os
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
model: {net: {mlperf: {blocks: 1, base: 4, hidden1: 8, hidden2: 8, dropout: 0}}, head: {flow: {transforms: 3, hidden: 16, features: 8}}}
train: {epochs: 4, batch: 4, optim: {rule: adam, schedule: {lr: 0.003}}}
"""
LABELS, FEATURES, TRANSFORMS, HIDDEN = 2, 8, 3, 16


def run(*words):
    return subprocess.run([program, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def passes(*words):
    done = run(*words)
    assert done.returncode == 0, done.stdout
    return done.stdout


def refused(text, *words):
    done = run(*words, "--out", "refused")
    assert done.returncode == 2 and text in done.stdout, done.stdout


def scores_of(name):
    with open(name + "/posterior.csv") as file:
        return {(row["parameter"], row["score"]): float(row["value"]) for row in csv.DictReader(file)}


def forward(weights, x, y):
    """z and ln |dz / dy| of y [n, labels] with features x [n, features]: docs/science/cosmoflow.md."""
    sizes = [TRANSFORMS * n for n in (LABELS * HIDDEN, FEATURES * HIDDEN, HIDDEN, 2 * HIDDEN * LABELS, 2 * LABELS)]
    label, feature, bias, out, out_bias = (p.reshape(TRANSFORMS, -1) for p in np.split(weights, np.cumsum(sizes)[:-1]))
    assert len(weights) == sum(sizes)
    u, log = y, 0
    for t in range(TRANSFORMS):
        degree = np.arange(LABELS) if t % 2 == 0 else np.arange(LABELS)[::-1]
        unit = np.arange(HIDDEN) % LABELS
        seen = label[t].reshape(LABELS, HIDDEN) * (degree[:, None] < unit)
        h = np.tanh(x @ feature[t].reshape(FEATURES, HIDDEN) + bias[t] + u @ seen)
        shift, s = (h @ (out[t].reshape(HIDDEN, 2, LABELS)[:, c] * (unit[:, None] <= degree)) + out_bias[t].reshape(2, LABELS)[c]
                    for c in range(2))
        s = s / (1 + np.abs(s) / np.log(1000))
        u, log = u * np.exp(s) + shift, log + s.sum(axis=1)
    return u, log


def predictions(name, *variables):
    with netCDF4.Dataset(name + "/predictions.nc") as file:
        file.set_auto_mask(False)
        return [file[v][:] for v in (*variables, "unitPar", "unitPredicted", "part")] + [file["rangePar"][:].T]


with open("small.yaml", "w") as file:
    file.write(CONFIG)
done = run("prepare", "--config", "small.yaml", "--out", "universes")
if done.returncode == 7:
    print("skipped:", done.stdout)
    sys.exit(77)
assert done.returncode == 0, done.stdout
given = ("--config", "small.yaml", "--set", "source.input=[universes]")

# A flow: draws go back to a standard normal distribution, densities are those of the formula.
passes("run", *given, "--out", "run")
passes("predict", "universes", "--set", "predict.weights=run/weights.nc", "--set", "predict.draws=2000", "--out", "predicted")
report = passes("eval", "--set", "eval.sets=[{name: test, predictions: predicted/predictions.nc}]", "--out", "scores")
weights, x, draws, truth, estimate, part, (lo, hi) = predictions("predicted", "flowWeight", "flowFeature", "physPosterior")
unit = 2 * (draws - lo) / (hi - lo) - 1
for i in range(0, 60, 7):
    z, log = forward(weights, np.repeat(x[i : i + 1], 2000, axis=0), unit[i])
    assert np.all(np.abs(z.mean(axis=0)) < 6 / np.sqrt(2000)) and np.all(np.abs(z.std(axis=0) - 1) < 6 / np.sqrt(4000)), "draws"
    error = unit[i].std(axis=0) * np.sqrt(1 / 2000 + 1 / 1000)
    assert np.all(np.abs(unit[i].mean(axis=0) - estimate[i]) < 6 * error), "means of the draws"
z, log = forward(weights, x, truth)
density = log - (z**2).sum(axis=1) / 2 - np.log(2 * np.pi)
score = scores_of("scores")
assert abs(score["all", "log_density_range"] - density[part == 2].mean()) < 1e-6, score
assert abs(score["all", "information_gain"] - density[part == 2].mean() - 2 * np.log(2)) < 1e-6
assert score["omega_m", "reduced_chi2"] > 0 and "posterior_corner_sigma_8_omega_m_test.svg" in os.listdir("scores/figures")

# Restricted to the ranges: draws are inside.
passes("predict", "universes", "--set", "predict.weights=run/weights.nc", "--set", "predict.truncate=true", "--set",
       "predict.draws=50", "--out", "inside")
draws = predictions("inside", "physPosterior")[0]
assert np.all((draws >= lo) & (draws <= hi))

# As the first network of two: the same weights.
passes("run", *given, "--set", "train.models.seeds=[1,5]", "--out", "both")
with netCDF4.Dataset("run/weights.nc") as one, netCDF4.Dataset("both/weights.nc") as first:
    assert {"flow.label", "flow.out_bias"} <= set(one.variables)
    for name in one.variables:
        assert np.array_equal(one[name][:], first[name][:]), name

# Moments: one Gaussian, whose means are the estimates.
moments = ("--set", "model.head=moments")
passes("run", *given, *moments, "--out", "moments")
passes("predict", "universes", "--set", "predict.weights=moments/weights.nc", "--out", "moments_predicted")
passes("eval", "--set", "eval.sets=[{name: test, predictions: moments_predicted/predictions.nc}]", "--out", "moments_scores")
weight, mean, factor, truth, estimate, part, _ = predictions(
    "moments_predicted", "mixtureWeight", "unitMixtureMean", "unitMixtureFactor")
assert np.all(weight == 1) and np.allclose(mean[:, 0], estimate, atol=1e-6)
variance = np.einsum("nij,nij->ni", factor[:, 0], factor[:, 0])
square = ((truth - mean[:, 0]) ** 2 / variance)[part == 2].mean(axis=0)
score = scores_of("moments_scores")
for k, name in enumerate(("omega_m", "sigma_8")):
    assert abs(score[name, "reduced_chi2"] / square[k] - 1) < 0.1, (score, square)
with open("moments_scores/report.html") as file:
    assert "not their shape" in file.read()
for option in ("draws=5", "truncate=true"):
    refused("estimates mean and covariance, no density", "predict", "universes", "--set", "predict.weights=moments/weights.nc", "--set",
            "predict." + option)
refused("model.loss: the head flow", "run", *given, "--set", "model.loss=mse")
refused("a flow of one parameter is one Gaussian", "describe", "--config", "small.yaml", "--set", "describe.outputs=1")
