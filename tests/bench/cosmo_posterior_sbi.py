"""cosmo_posterior_sbi.py PROGRAM SCRATCH - posteriors of cosmoflow compared with those of sbi, from the same summaries.

    python3 tests/bench/cosmo_posterior_sbi.py build/release/bin/cosmoflow SCRATCH     # after pip install sbi==0.27.0 netCDF4

2000 universes of 16^3 voxels; summaries: log10 P(k) in ten bins of NumPy's FFT and four moments of ln(1 + n), standardised. cosmoflow
reads them as samples of one voxel with 14 channels, on which `mlperf` is its dense layers with two hidden layers of 64 units, and trains
each head: a mixture of four Gaussians, a masked autoregressive flow, and moments, which are scored as Gaussians; sbi trains a mixture
density network with as many, a masked autoregressive flow and a neural spline flow. 1400 universes train, 200 validate, 400 test. Prints
the expected information gain over the uniform prior on the test universes, and the mean difference of the same universes to cosmoflow's
mixture and flow, each with its standard error over universes; of cosmoflow, also the root mean square error of the means and the area
of TARP.
"""

import csv
import glob
import os
import subprocess
import sys

import netCDF4
import numpy as np
import torch
from cosmo_posterior import Density, flow_of
from sbi.inference import NPE
from sbi.neural_nets import posterior_nn

UNIVERSES, TRAIN, VALID = 2000, 1400, 200
SIMULATE = ["seed=3"] + ["simulate." + s for s in ("universes=2000", "file=500", "side=16", "particles=32", "box=128", "redshifts=[0]",
                                                   "preset=wide2")]
CONFIG = """
files: {names: [omega_m, sigma_8], voxels: any}
data: {scale: raw, split: {samples_per_universe: 1, valid: 200, test: 400, order: last}}
model: {net: {mlperf: {hidden1: 64, hidden2: 64, dropout: 0}}}
train: {epochs: 60, batch: 32, optim: {rule: adam, schedule: {lr: 0.002, shape: cosine, warmup: 50}}}
"""


def cosmoflow(*words):
    subprocess.run([PROGRAM, *words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def summaries_of(counts):
    n = counts.shape[0]
    k = np.fft.fftfreq(n) * n
    bins = np.minimum(np.floor(np.sqrt(k[:, None, None] ** 2 + k[:, None] ** 2 + k**2) + 0.5).astype(int), 10).ravel()
    power = np.abs(np.fft.fftn(counts / counts.mean() - 1)).ravel() ** 2
    log = np.log1p(counts)
    z = (log - log.mean()) / log.std()
    return np.r_[np.log10(np.bincount(bins, power)[1:] / np.bincount(bins)[1:]), log.mean(), log.std(), (z**3).mean(), (z**4).mean()]


def make():
    cosmoflow("prepare", *[w for s in SIMULATE for w in ("--set", s)], "--out", "universes")
    summary, label = [], []
    for path in sorted(glob.glob("universes/*.nc")):
        with netCDF4.Dataset(path) as file:
            file.set_auto_mask(False)
            summary += [summaries_of(x) for x in file["full"][..., 0].astype(float)]
            label += list(file["unitPar"][:])
    x, y = np.array(summary), np.array(label)
    x = ((x - x[:TRAIN].mean(0)) / x[:TRAIN].std(0)).astype("float32")
    os.makedirs("summaries", exist_ok=True)
    for i in range(UNIVERSES):
        np.save("summaries/u%04d_data.npy" % i, x[i].reshape(1, 1, 1, -1))
        np.save("summaries/u%04d_label.npy" % i, y[i].astype("float32"))
    return torch.tensor(x), torch.tensor(y, dtype=torch.float32)


HEADS = {"mixture": "{mixture: {components: 4}}", "flow": "flow", "moments": "moments"}


def log_density(file, rows, y):
    """By PyTorch and zuko, of what predict wrote."""
    if "flowFeature" in file.variables:
        features, weights = (torch.tensor(file[name][:], dtype=torch.float32) for name in ("flowFeature", "flowWeight"))
        shape = [int(file["flowFeature"].getncattr(name)) for name in ("transforms", "hidden")]
        flow, values = flow_of(weights, 2, features.shape[1], *shape)
        values = {"flow." + name: value for name, value in values.items()}
        return torch.func.functional_call(Density(flow), values, ("density", features[rows], y.float())).double()
    weight, mean, factor = (
        torch.tensor(file[name][:][rows], dtype=torch.float64) for name in ("mixtureWeight", "unitMixtureMean", "unitMixtureFactor")
    )
    parts = torch.distributions.MultivariateNormal(mean, scale_tril=factor)
    return torch.distributions.MixtureSameFamily(torch.distributions.Categorical(weight), parts).log_prob(y)


def of_cosmoflow(head):
    with open("summaries.yaml", "w") as file:
        file.write(CONFIG)
    given = ("--config", "summaries.yaml", "--set", "model.head=" + HEADS[head], "--overwrite")
    cosmoflow("run", *given, "--set", "source.input=[summaries]", "--out", "run_" + head)
    cosmoflow("predict", "summaries", *given, "--set", "predict.weights=run_%s/weights.nc" % head, "--set", "predict.part=test",
              "--out", "predicted_" + head)
    cosmoflow("eval", *given, "--set", "eval.sets=[{name: test, predictions: predicted_%s/predictions.nc}]" % head, "--out", "scores")
    with open("scores/posterior.csv") as file:
        score = {(r["parameter"], r["score"]): float(r["value"]) for r in csv.DictReader(file)}
    with netCDF4.Dataset("predicted_%s/predictions.nc" % head) as file:
        file.set_auto_mask(False)
        rows = np.flatnonzero(file["part"][:] == 2)
        assert np.array_equal(file["sample_number"][:][rows], np.arange(TRAIN + VALID, UNIVERSES)), "test universes are the last"
        y = torch.tensor(file["unitPar"][:][rows], dtype=torch.float64)
        gain = log_density(file, rows, y).numpy() + 2 * np.log(2)
        error = file["unitPredicted"][:][rows] - file["unitPar"][:][rows]
    assert abs(gain.mean() - score["all", "information_gain"]) < 1e-4, "information_gain of eval"
    print("cosmoflow %s: %s; rmse %s, reduced chi-square %s, area of TARP %.3f (p of ks %.2g)" % (
        head, of_mean(gain), " ".join("%.4f" % x for x in np.sqrt((error**2).mean(0))),
        " ".join("%.2f" % score[name, "reduced_chi2"] for name in ("omega_m", "sigma_8")), score["all", "area"], score["all", "ks_p"]),
        flush=True)
    return gain


def of_mean(gain):
    return "%.3f nats (standard error %.3f)" % (gain.mean(), gain.std(ddof=1) / len(gain) ** 0.5)


def of_sbi(kind, x, y):
    prior = torch.distributions.Independent(torch.distributions.Uniform(-torch.ones(2), torch.ones(2)), 1)
    options = {"num_components": 4} if kind == "mdn" else {}
    network = posterior_nn(model=kind, hidden_features=64, z_score_theta="none", **options)
    trained = NPE(prior=prior, density_estimator=network, show_progress_bars=False).append_simulations(
        y[: TRAIN + VALID], x[: TRAIN + VALID]
    ).train(training_batch_size=32, learning_rate=1e-3, validation_fraction=VALID / (TRAIN + VALID))
    with torch.no_grad():
        gain = trained.log_prob(y[TRAIN + VALID :].unsqueeze(0), x[TRAIN + VALID :])[0].double().numpy() + 2 * np.log(2)
    print("sbi %s: %s" % (kind, of_mean(gain)), flush=True)
    return gain


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv[1])
    os.makedirs(sys.argv[2], exist_ok=True)
    os.chdir(sys.argv[2])
    torch.set_default_dtype(torch.float32)
    torch.manual_seed(0)
    x, y = make()
    gains = {"cosmoflow " + head: of_cosmoflow(head) for head in HEADS}
    gains.update({"sbi " + kind: of_sbi(kind, x, y) for kind in ("mdn", "maf", "nsf")})
    for head in ("mixture", "flow"):
        for name, gain in gains.items():
            if name != "cosmoflow " + head:
                print("cosmoflow %s less %s: %s" % (head, name, of_mean(gains["cosmoflow " + head] - gain)))
