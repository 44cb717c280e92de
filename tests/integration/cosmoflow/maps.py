"""maps.py PROGRAM SCRATCH - maps against NumPy in double precision: P(k), one-point distribution and peaks of a map, the outputs
of a network that was trained on a stack of maps with a table of parameters, its split by simulation; and what is refused.

Exit 77: NumPy or netCDF4 is not here."""
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
N, EACH, LINES, BOX, UNIT = 16, 3, 24, 25.0, 1e10


def run(*words):
    return subprocess.run([program, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def passes(*words):
    done = run(*words)
    assert done.returncode == 0, done.stdout
    return done.stdout


def refused(status, text, *words):
    done = run(*words)
    assert done.returncode == status and text in done.stdout, (done.returncode, done.stdout)


def table(path):
    with open(path) as f:
        rows = list(csv.reader(f))
    return rows[0], rows[1:]


# As the CAMELS Multifield Dataset has them: map i of simulation i // 3, masses above 1e10, a line of six parameters for each.
rng = np.random.default_rng(3)
low, high = np.array([0.1, 0.6, 0.25, 0.25, 0.5, 0.5]), np.array([0.5, 1, 4, 4, 2, 2])
params = rng.uniform(low, high, (LINES, 6)).round(5)
width = np.repeat(params[:, 1], EACH)[:, None, None]
maps = (UNIT * np.exp(width * rng.standard_normal((LINES * EACH, N, N)))).astype("f4")
np.save("Maps_Mcdm_IllustrisTNG_LH_z=0.00.npy", maps)
np.savetxt("params_LH_IllustrisTNG.txt", params, fmt="%.5f")
stack = ["Maps_Mcdm_IllustrisTNG_LH_z=0.00.npy", "--set", "files.voxels=density", "--set", "files.unit=1e10", "--set",
         "files.box=25", "--set", "files.parameters.table=params_LH_IllustrisTNG.txt", "--set",
         "files.parameters.columns=[Omega_m,sigma_8,A_SN1,A_AGN1,A_SN2,A_AGN2]"]  # fmt: skip
nyx = ["--set", "files.axes=nyx", "--set", "files.samples_per_line=3"]
refused(3, "files.axes states nyx", "inspect", *stack)
refused(2, "of which each has 3, not 1", "inspect", *stack, "--set", "files.axes=nyx")

# P(k) of a map, A mean |delta(k)|^2 of bins one fundamental wave wide, from the full transform.
passes("power", *stack, *nyx, "--set", "power.sample=4", "--set", "power.reach=1.7321", "--set", "power.window=cic", "--out", "power")
delta = np.fft.fft2(maps[4].astype("f8") / maps[4].astype("f8").mean() - 1) / N**2
waves = np.meshgrid(*[np.fft.fftfreq(N, 1 / N)] * 2, indexing="ij")
length = np.hypot(*waves)
power = abs(delta) ** 2 * BOX**2 / np.prod([np.sinc(w / N) for w in waves], axis=0) ** 4
head, rows = table("power/spectrum.csv")
assert head[6] == "P_Mpc2_h-2" and len(rows) == round(np.sqrt(2) * N / 2), (head, len(rows))
worst = 0
for b, row in enumerate(rows, 1):
    inside = (length >= b - 0.5) & (length < b + 0.5)
    expected = [length[inside].mean() * 2 * np.pi / BOX, inside.sum(), power[inside].mean()]
    worst = max(worst, abs(np.array([float(x) for x in row[4:7]]) / expected - 1).max())
    assert row[8] == "", row
assert worst < 2e-5, worst
print(f"P(k) differs from NumPy by {worst:.1e} at most")
with netCDF4.Dataset("power/spectrum.nc") as nc:
    assert nc["power"].units == "megaparsec2"

# One-point distribution and peaks of the same map, smoothed by 2 Mpc/h around the box.
passes("summaries", *stack, *nyx, "--set", "summaries.sample=4", "--set", "summaries.use=[one_point,peaks]", "--set",
       "summaries.one_point.smoothing=[0,2]", "--set", "summaries.peaks.smoothing=[0,2]", "--out", "summaries")  # fmt: skip
sigma, radius = 2 / (BOX / N), int(4 * 2 / (BOX / N) + 0.5)
weight = np.exp(-0.5 * np.arange(-radius, radius + 1) ** 2 / sigma**2)
weight /= weight.sum()
rho = maps[4].astype("f8") / maps[4].astype("f8").mean()
smooth = rho
for axis in range(2):
    smooth = sum(w * np.roll(smooth, d, axis) for w, d in zip(weight, range(-radius, radius + 1)))
for name, lo, hi, bins in (("one_point", -3, 4, 28), ("peaks", -1, 4, 20)):
    found = np.array([float(row[5]) for row in table(f"summaries/{name}.csv")[1]]).reshape(2, bins + 2)
    for field, numbers in zip((rho, smooth), found):
        neighbours = [np.roll(field, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j]
        u = np.log(field if name == "one_point" else field[field > np.max(neighbours, axis=0)])
        edges = np.concatenate([[-np.inf], np.linspace(lo, hi, bins + 1), [np.inf]])
        expected = np.histogram(u, edges)[0] / (N**2 if name == "one_point" else 1)
        assert abs(numbers - expected).max() < 1e-8, (name, numbers, expected)
refused(2, "bispectrum is of cubes", "summaries", *stack, *nyx, "--out", "refused")

# A network on maps, whose borders are periodic: its outputs from its weights, as the header of model/cnn.h states them.
passes("run", "--set", "source.input=[" + stack[0] + "]", *stack[1:], *nyx, "--set", "data.split={valid: 4, test: 4}", "--set",
       "data.augment={symmetry: octahedral, shift: true}", "--set", "model.net={gap: {base: 4, border: wrap, hidden1: 8, hidden2: 6}}",
       "--set", "train={epochs: 3, batch: 4, optim: {rule: adam}}", "--out", "run")  # fmt: skip
passes("predict", *stack, *nyx, "--set", "predict.weights=run/weights.nc", "--out", "predicted")
with netCDF4.Dataset("run/weights.nc") as nc:
    assert float(nc.voxel_unit) == UNIT
    weights = {name: variable[:].filled().astype("f8") for name, variable in nc.variables.items()}


def leaky(x):
    return np.where(x > 0, x, 0.3 * x)


def network(x):
    """Convolutions of 3 x 3, means of each map, means of 2 x 2; then dense layers. x: [N, N, 1]."""
    means = []
    for i in range(1, 4):
        kernel = weights[f"conv{i}.weight"][0]
        x = sum(np.roll(x, (1 - a, 1 - b), (0, 1)) @ kernel[a, b] for a in range(3) for b in range(3))
        x = leaky(x + weights[f"conv{i}.bias"])
        means.append(x.mean(axis=(0, 1)))
        x = 0.25 * (x[::2, ::2] + x[1::2, ::2] + x[::2, 1::2] + x[1::2, 1::2])
    x = np.concatenate(means)
    for i in range(1, 4):
        x = x @ weights[f"dense{i}.weight"] + weights[f"dense{i}.bias"]
        x = leaky(x) if i < 3 else 1.2 * np.tanh(x)
    return x


assert weights["conv1.weight"].shape == (1, 3, 3, 1, 4)
lowest, highest = params.min(axis=0), params.max(axis=0)
with netCDF4.Dataset("predicted/predictions.nc") as nc:
    found, truth, universe, subset = (nc[k][:] for k in ("unitPredicted", "unitPar", "universe", "part"))
expected = np.array([network(np.log1p(m.astype("f8") / UNIT)[..., None]) for m in maps])
worst = abs(found - expected).max()
assert worst < 1e-5, worst
print(f"outputs of the network differ from NumPy by {worst:.1e} at most")
assert (universe == np.arange(LINES * EACH) // EACH).all()
assert abs(truth - np.repeat(2 * (params - lowest) / (highest - lowest) - 1, EACH, axis=0)).max() < 1e-6
assert all(len(set(subset[universe == u])) == 1 for u in range(LINES))
assert [int((subset == k).sum()) for k in sorted(set(subset))] == [16 * EACH, 4 * EACH, 4 * EACH]
refused(3, "was trained on voxels divided by 1e+10", "predict", *stack, *nyx, "--set", "files.unit=1e9", "--set",
        "predict.weights=run/weights.nc", "--out", "other")  # fmt: skip

# Converted, voxels are divided, which the files state: predictions are the same, with the unit or without. Cubes alone fit a TFRecord.
for kind in ("cfbin", "npy", "netcdf"):
    passes("convert", *stack, *nyx, "--set", "convert.format=" + kind, "--out", kind)
    for words in ([], ["--set", "files.unit=1e10"]):
        passes("predict", kind, "--set", "files.voxels=density", *words, "--set", "predict.weights=run/weights.nc", "--out", "again",
               "--overwrite")  # fmt: skip
        with netCDF4.Dataset("again/predictions.nc") as nc:
            assert (nc["unitPredicted"][:] == found).all() and (nc["universe"][:] == universe).all()
refused(2, "not by 1e+09", "predict", "cfbin", "--set", "files.unit=1e9", "--set", "predict.weights=run/weights.nc", "--out", "other")
refused(2, "convert.dtype: voxels that are divided", "convert", *stack, *nyx, "--set", "convert.format=npy", "--set", "convert.dtype=i16",
        "--out", "whole")  # fmt: skip
passes("convert", *[w.replace("files.unit=1e10", "files.unit=1") for w in stack], *nyx, "--set", "convert.format=cfbin", "--out", "plain")
refused(3, "plain: voxels are divided by 1 (voxel_unit); those of the training by 1e+10", "run", "--set", "source.input=[cfbin]", "--set",
        "adapt.samples=[plain]", "--set", "files.voxels=density", "--set", "data.split={valid: 4, test: 4}", "--set",
        "model.net={gap: {base: 4, border: wrap}}", "--out", "adapted")  # fmt: skip
refused(2, "TFRecord has cubes alone", "convert", *stack, *nyx, "--out", "records")

# Scores beside the regressions on P(k), one-point distribution and peaks of maps.
passes("eval", *stack[1:], *nyx, "--set", "eval.sets=[{name: test, predictions: predicted/predictions.nc, truth: [" + stack[0] + "]}]",
       "--set", "eval.regressions=[one_point,peaks]", "--out", "scores")  # fmt: skip
models = {row[1] for row in table("scores/scores.csv")[1]}
assert {"network", "mean", "ridge", "one_point", "peaks"} <= models, models
refused(2, "bispectrum is of cubes", "eval", *stack[1:], *nyx, "--set",
        "eval.sets=[{name: test, predictions: predicted/predictions.nc, truth: [" + stack[0] + "]}]", "--set",
        "eval.regressions=[bispectrum]", "--out", "refused")  # fmt: skip

# Grids likewise; one grid a file, as Quijote has them, by the number of its folder.
np.save("Grids_Mcdm.npy", np.repeat(maps[::EACH, None], N, axis=1))
text = passes("inspect", "Grids_Mcdm.npy", *stack[1:], "--set", "files.axes=nzyx", "--set", "inspect.samples=2")
assert "24 samples of 16 x 16 x 16 x 1 f32 with 6 labels" in text and "sample 2: universe 1, labels" in text, text
os.makedirs("quijote/7")
np.save("quijote/7/df_m_128_z=0.npy", np.repeat(maps[:1], N, axis=0) / UNIT)
text = passes("inspect", "quijote/7/df_m_128_z=0.npy", *stack[1:], "--set", "files.unit=1", "--set", "files.axes=zyx")
assert "sample 1: universe 7, labels" in text, text
