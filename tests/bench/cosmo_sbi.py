"""cosmo_sbi.py - rows of cosmo_comparison.py: posteriors from the same summaries by cosmoflow and by neural posterior estimation of sbi.

Summaries are log10 P(k) in ten bins of NumPy's FFT and four moments of ln(1 + n) of universes of 16^3 voxels, standardised. cosmoflow
reads them as samples of one voxel with 14 channels, on which `mlperf` is its dense layers with two hidden layers of 64 units, and trains
a mixture of four Gaussians and a masked autoregressive flow; sbi trains a mixture density network of four and a masked autoregressive
flow. Training, validation and test universes are the same. Each is trained with several seeds; numbers are means over them."""

import contextlib
import csv
import glob
import io
import os
import sys
import types
import warnings

import netCDF4
import numpy as np
from comparison_table import optional

sys.modules.setdefault("tensorboard.compat.notf", types.ModuleType("notf"))  # or sbi loads TensorFlow, if it is installed, next to PyTorch
torch, sbi = optional("torch"), optional("sbi")
if torch and sbi and optional("zuko"):
    from cosmo_posterior import Density, flow_of
    from sbi.diagnostics.tarp import _run_tarp, check_tarp
    from sbi.inference import NPE
    from sbi.neural_nets import posterior_nn
else:
    sbi = None

HEADS = {"mixture of 4 Gaussians": ("{mixture: {components: 4}}", "mdn"), "masked autoregressive flow": ("flow", "maf")}
SPLINE = {"masked autoregressive and spline flow": ("flow", "nsf")}
LABELS, DRAWS, LEVELS = ("omega_m", "sigma_8"), 500, (68, 95)
PRIOR = 2 * np.log(2)  # density of the uniform prior on [-1, 1]^2
SAME = 1e-4  # nats: a density that both compute from the same weights, in single precision
RMSE = {False: 0.15, True: 0.3}  # by which our rmse may be larger than theirs; a tiny set has 100 universes to test
ERRORS = 3  # standard errors by which our gain may be below theirs
CONFIG = """
files: {names: [omega_m, sigma_8], voxels: any}
data: {scale: raw, split: {samples_per_universe: 1, valid: %d, test: %d, order: last}}
model: {net: {mlperf: {hidden1: 64, hidden2: 64, dropout: 0}}}
train: {epochs: %d, batch: 32, optim: {rule: adam, schedule: {lr: 0.002, shape: cosine, warmup: 50}}}
eval: {posterior: {draws: 499}, regressions: []}
"""


class Size:
    """Universes to train on, to validate on and to test, epochs, seeds."""

    def __init__(self, tiny, large):
        of = (240, 60, 100, 40, (1,)) if tiny else (1400, 200, 400, 60, (1,)) if large else (400, 100, 300, 60, (1, 2, 3))
        self.train, self.valid, self.test, self.epochs, self.seeds = of
        self.all = self.train + self.valid + self.test


# ---- Summaries ----


def summaries_of(counts):
    n = counts.shape[0]
    k = np.fft.fftfreq(n) * n
    bins = np.minimum(np.floor(np.sqrt(k[:, None, None] ** 2 + k[:, None] ** 2 + k**2) + 0.5).astype(int), 10).ravel()
    power = np.abs(np.fft.fftn(counts / counts.mean() - 1)).ravel() ** 2
    log = np.log1p(counts)
    z = (log - log.mean()) / log.std()
    return np.r_[np.log10(np.bincount(bins, power)[1:] / np.bincount(bins)[1:]), log.mean(), log.std(), (z**3).mean(), (z**4).mean()]


def make(c, size):
    """Summaries [universes, 14] and labels, f32, also as files."""
    c.run("prepare", "seed=3", f"simulate.universes={size.all}", "simulate.file=500", "simulate.side=16", "simulate.particles=32",
          "simulate.box=128", "simulate.redshifts=[0]", "simulate.preset=wide2", out="universes")
    summary, label = [], []
    for path in sorted(glob.glob("universes/*.nc")):
        with netCDF4.Dataset(path) as file:
            file.set_auto_mask(False)
            summary += [summaries_of(x) for x in file["full"][..., 0].astype(float)]
            label += list(file["unitPar"][:])
    x, y = np.array(summary), np.array(label, "f4")
    x = ((x - x[: size.train].mean(0)) / x[: size.train].std(0)).astype("f4")
    os.makedirs("summaries_of", exist_ok=True)
    for i in range(size.all):
        np.save("summaries_of/u%04d_data.npy" % i, x[i].reshape(1, 1, 1, -1))
        np.save("summaries_of/u%04d_label.npy" % i, y[i])
    return x, y


# ---- What both have: numbers of a posterior of the test universes ----


class Scores:
    """gain [nats], rmse [labels], coverage [labels, levels], area of TARP; with PyTorch also of each universe: gains, means and standard
    deviations [universes, labels]."""

    def __init__(self, gain, rmse, coverage, area, gains=None, mean=None, sd=None):
        self.gain, self.rmse, self.coverage, self.area, self.gains, self.mean, self.sd = gain, rmse, coverage, area, gains, mean, sd

    def numbers(self):
        return np.r_[self.gain, self.rmse, np.ravel(self.coverage), self.area]


def density_of(file, rows, y):
    """By PyTorch and zuko, of what predict wrote."""
    if "flowFeature" in file.variables:
        features, weights = (torch.tensor(file[name][:], dtype=torch.float32) for name in ("flowFeature", "flowWeight"))
        flow, values = flow_of(weights, 2, features.shape[1], *(int(file["flowFeature"].getncattr(n)) for n in ("transforms", "hidden")))
        values = {"flow." + name: value for name, value in values.items()}
        return torch.func.functional_call(Density(flow), values, ("density", features[rows], y.float())).double()
    weight, mean, factor = (
        torch.tensor(file[name][:][rows], dtype=torch.float64) for name in ("mixtureWeight", "unitMixtureMean", "unitMixtureFactor")
    )
    parts = torch.distributions.MultivariateNormal(mean, scale_tril=factor)
    return torch.distributions.MixtureSameFamily(torch.distributions.Categorical(weight), parts).log_prob(y)


def ours_of(c, size, head, seed):
    given = ("model.head=" + head, f"train.seed={seed}")
    c.run("run", *given, "source.input=[summaries_of]", out="posterior", config="summaries.yaml")
    c.run("predict", "summaries_of", *given, "predict.weights=posterior/weights.nc", "predict.part=test", f"predict.draws={DRAWS}",
          out="estimates", config="summaries.yaml")
    c.run("eval", *given, "eval.sets=[{name: test, predictions: estimates/predictions.nc}]", out="scored", config="summaries.yaml")
    with open("scored/posterior.csv", newline="") as file:
        score = {(r["parameter"], r["score"]): float(r["value"]) for r in csv.DictReader(file)}
    with netCDF4.Dataset("estimates/predictions.nc") as file:
        file.set_auto_mask(False)
        rows = np.flatnonzero(file["part"][:] == 2)
        assert np.array_equal(file["sample_number"][:][rows], np.arange(size.train + size.valid, size.all)), "test universes are the last"
        y = file["unitPar"][:][rows]
        draws = file["physPosterior"][:][rows]  # in [-1, 1]: files of summaries state no ranges
        gains = density_of(file, rows, torch.tensor(y, dtype=torch.float64)).numpy() + PRIOR if sbi else None
        rmse = np.sqrt(((file["unitPredicted"][:][rows] - y) ** 2).mean(0))
    coverage = [[score[name, f"coverage_{level / 100:g}"] for level in LEVELS] for name in LABELS]
    return Scores(score["all", "information_gain"], rmse, coverage, score["all", "area"], gains, draws.mean(1), draws.std(1))


def theirs_of(size, kind, seed, x, y):
    torch.set_default_dtype(torch.float32)
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    x, y, fitted = torch.tensor(x), torch.tensor(y), size.train + size.valid
    prior = torch.distributions.Independent(torch.distributions.Uniform(-torch.ones(2), torch.ones(2)), 1)
    options = {"num_components": 4} if kind == "mdn" else {}
    network = posterior_nn(model=kind, hidden_features=64, z_score_theta="none", **options)
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trained = NPE(prior=prior, density_estimator=network, show_progress_bars=False).append_simulations(y[:fitted], x[:fitted]).train(
            training_batch_size=32, learning_rate=1e-3, validation_fraction=size.valid / fitted)
    truth = y[fitted:]
    with torch.no_grad():
        gains = trained.log_prob(truth.unsqueeze(0), x[fitted:])[0].double().numpy() + PRIOR
        draws = trained.sample((DRAWS,), x[fitted:])  # [draws, universes, labels]
    points = torch.rand(truth.shape) * 2 - 1
    ecp, alpha = _run_tarp(draws, truth, points, num_bins=20)
    share = (draws < truth).double().mean(0).numpy()
    coverage = [[(np.abs(share[:, k] - 0.5) < level / 200).mean() for level in LEVELS] for k in range(2)]
    mean, sd = draws.mean(0).numpy(), draws.std(0).numpy()
    rmse = np.sqrt(((mean - truth.numpy()) ** 2).mean(0))
    return Scores(gains.mean(), rmse, coverage, float(check_tarp(ecp, alpha)[0]), gains, mean, sd)


# ---- Rows ----


def gain_row(c, what, data, reference, theirs, ours):
    """Differences of the same universes, with the standard error over universes."""
    difference = np.mean([s.gains for s in ours], 0) - np.mean([s.gains for s in theirs], 0)
    error = difference.std(ddof=1) / np.sqrt(len(difference))
    each = [", ".join(f"{s.gain:.3f}" for s in of) for of in (theirs, ours)]
    c.table.state(f"expected information gain (nats), {what}, seeds {len(ours)}", data, reference, *each,
                  f"{difference.mean():+.3f} nats, standard error {error:.3f}", f"above -{ERRORS} errors",
                  difference.mean() > -ERRORS * error)


def words_of(values, form):
    return ", ".join(format(v, form) for v in np.ravel(values))


def number_rows(c, what, data, reference, theirs, ours, test):
    """theirs, ours: numbers() over seeds [seeds, 8]. Differences of rmse in per cent, of shares in standard errors of a share."""
    t, o = (np.mean(n, 0) for n in (theirs, ours))
    worst = (o[1:3] / t[1:3] - 1).max()
    c.table.state(f"rmse of the means (half ranges): {', '.join(LABELS)}; {what}", data, reference, words_of(t[1:3], ".4f"),
                  words_of(o[1:3], ".4f"), f"{100 * worst:+.1f} % at most", f"below +{100 * RMSE[c.tiny]:.0f} %", worst < RMSE[c.tiny])
    nominal = np.tile(np.array(LEVELS) / 100, 2)
    error = np.sqrt(nominal * (1 - nominal) / test)
    off = [np.abs((n[3:7] - nominal) / error).max() for n in (t, o)]
    c.table.state(f"coverage of central {LEVELS[0]} and {LEVELS[1]} % intervals: {', '.join(LABELS)}; {what}", data, reference,
                  words_of(t[3:7], ".3f"), words_of(o[3:7], ".3f"),
                  f"from nominal by {off[0]:.1f} (theirs) and {off[1]:.1f} (Weir) standard errors", "none")
    c.table.state(f"area of TARP (0: calibrated); {what}", data, reference, f"{t[7]:.4f}", f"{o[7]:.4f}", "-", "none")


def judged(c, goal, met):
    """Of numbers that a tiny set does not determine: no goal there."""
    return ("none", True) if c.tiny else (goal, met)


def score_head(c, size, name, head, kind, x, y, data):
    ours = [ours_of(c, size, head, seed) for seed in size.seeds]
    key = "sbi " + kind
    theirs = []

    def train():
        theirs.extend(theirs_of(size, kind, seed, x, y) for seed in size.seeds)
        return [s.numbers() for s in theirs]

    got = c.theirs(key, "sbi", sbi, train)
    if got is None:
        c.leave("posteriors, " + name, data, "sbi")
        return
    numbers, reference = got[0].reshape(len(size.seeds), -1), got[1]
    if theirs:
        mine = np.mean([s.gains.mean() for s in ours])
        c.table.add(f"information gain of our weights by {'zuko' if head == 'flow' else 'PyTorch'}, {name}", data,
                    f"zuko {optional('zuko').__version__}" if head == "flow" else f"PyTorch {torch.__version__.split('+')[0]}", mine,
                    np.mean([s.gain for s in ours]), abs(np.mean([s.gain for s in ours]) - mine), SAME)
        gain_row(c, name, data, reference, theirs, ours)
    else:
        lower = numbers[0, 0] - ours[0].gain
        c.table.state(f"expected information gain (nats), {name}", data, reference, f"{numbers[0, 0]:.3f}", f"{ours[0].gain:.3f}",
                      f"{-lower:+.3f} nats", "above -0.3 nats", lower < 0.3)
    number_rows(c, name, data, reference, numbers, [s.numbers() for s in ours], size.test)
    if theirs:
        one, other = theirs[0], ours[0]
        apart = np.sqrt((((other.mean - one.mean) / one.sd) ** 2).mean(0))
        c.table.state(f"posterior means of each universe: {', '.join(LABELS)}; {name}, first seed", data, reference, "-", "-",
                      f"rms difference {words_of(apart, '.2f')} of their standard deviation", *judged(c, "below 0.5", apart.max() < 0.5))
        ratio = np.median(other.sd / one.sd, 0)
        c.table.state(f"posterior standard deviations: {', '.join(LABELS)}, medians; {name}, first seed", data, reference,
                      words_of(np.median(one.sd, 0), ".3f"), words_of(np.median(other.sd, 0), ".3f"),
                      f"median ratio {words_of(ratio, '.2f')}", *judged(c, "within 25 %", np.abs(ratio - 1).max() < 0.25))


def score(c):
    size = Size(c.tiny, c.large)
    with open("summaries.yaml", "w") as file:
        file.write(CONFIG % (size.valid, size.test, size.epochs))
    x, y = make(c, size)
    data = f"{size.train} + {size.valid} universes to train on, {size.test} test"
    for name, (head, kind) in {**HEADS, **(SPLINE if c.large else {})}.items():
        score_head(c, size, name, head, kind, x, y, data)
