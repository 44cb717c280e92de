"""summaries.py PROGRAM SCRATCH - summary statistics of the command `summaries` against NumPy: one-point distribution and
peak counts of periodic boxes and of parts of boxes, several channels and smoothings, and what is refused.

Exit 77: NumPy is not here."""
import csv
import os
import subprocess
import sys

try:
    import numpy as np
except ImportError as missing:
    print("skipped: this Python has no", missing.name)
    sys.exit(77)

program, scratch = sys.argv[1:]
os.chdir(scratch)


def run(*words):
    return subprocess.run([program, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def passes(*words):
    done = run(*words)
    assert done.returncode == 0, done.stdout
    return done.stdout


def smoothed(rho, sigma, periodic):
    """Weighted means along each axis, as matrices over whole lines."""
    n = len(rho)
    radius = int(4 * sigma + 0.5)
    weights = np.zeros((n, n))
    for i in range(n):
        for d in range(-radius, radius + 1):
            if periodic or 0 <= i + d < n:
                weights[i, (i + d) % n] += np.exp(-(d**2) / (2 * sigma**2)) if radius > 0 else 1
    weights /= weights.sum(axis=1, keepdims=True)
    return np.einsum("ai,bj,ck,ijk->abc", weights, weights, weights, rho)


def counted(values, lo, hi, bins):
    edges = np.concatenate([[-np.inf], lo + (hi - lo) / bins * np.arange(bins + 1), [np.inf]])
    return np.histogram(values, edges)[0]


def peaks_of(rho, periodic):
    largest = np.full(rho.shape, -np.inf)
    for shift in np.ndindex(3, 3, 3):
        if shift != (1, 1, 1):
            largest = np.maximum(largest, np.roll(rho, [s - 1 for s in shift], axis=(0, 1, 2)))
    peaks = rho > largest
    if not periodic:
        inner = np.zeros(rho.shape, bool)
        inner[1:-1, 1:-1, 1:-1] = True
        peaks &= inner
    return rho[peaks]


def ln(rho):
    return np.log(rho, out=np.full(rho.shape, -np.inf), where=rho > 0)


def read(path, column):
    with open(path) as f:
        return np.array([float(row[column]) for row in csv.DictReader(f)])


ONE_POINT = {"lo": -2.05, "hi": 1.93, "bins": 13}
PEAKS = {"lo": -1.11, "hi": 2.03, "bins": 9}
STATED = [w for name, of in (("one_point", ONE_POINT), ("peaks", PEAKS)) for k, v in of.items()
          for w in ("--set", f"summaries.{name}.{k}={v}")]  # fmt: skip


def compare(folder, voxels, periodic, cell, smoothings):
    shares, peaks = read(folder + "/one_point.csv", "share"), read(folder + "/peaks.csv", "peaks")
    expected_shares, expected_peaks = [], []
    for c in range(voxels.shape[-1]):
        rho = voxels[..., c].astype("f8")
        rho /= rho.mean()
        for sigma in smoothings:
            field = smoothed(rho, sigma / cell, periodic) if sigma > 0 else rho
            expected_shares.append(counted(ln(field), **ONE_POINT) / field.size)
            expected_peaks.append(counted(ln(peaks_of(field, periodic)), **PEAKS))
    assert np.abs(shares - np.concatenate(expected_shares)).max() < 1e-8, folder
    assert (peaks == np.concatenate(expected_peaks)).all(), (folder, peaks, expected_peaks)
    assert peaks.sum() > 0
    return int(peaks.sum())


# Two channels of a cube with an odd side, which does not state its box: nothing is known beyond its faces.
n = 15
draw = np.random.default_rng(3)
samples = [draw.poisson(3 * np.exp(draw.standard_normal((n, n, n, 2)))).astype("i2") for _ in range(2)]
os.mkdir("samples")
for i, voxels in enumerate(samples):
    np.save(f"samples/s{i}_data.npy", voxels)
    np.save(f"samples/s{i}_label.npy", np.zeros(1, "f4"))
smoothing = ["--set", "summaries.one_point.smoothing=[0,3,9]", "--set", "summaries.peaks.smoothing=[0,3,9]"]
cell = ["--set", "summaries.cell=2.5"]
for boundary in ("auto", "periodic", "cut"):
    out = ["--set", "summaries.boundary=" + boundary, "--out", boundary]
    passes("summaries", "samples", "--set", "summaries.sample=1", *STATED, *smoothing, *cell, *out)
    found = compare(boundary, samples[1], boundary == "periodic", 2.5, (0, 3, 9))
    print(f"{boundary}: {found} peaks as by NumPy")
report = open("auto/report.html").read()
assert "cut: not continued" in report and "smoothed by 9 Mpc/h" in report

# Files of prepare state box and voxel: a box is periodic, a part of it is not.
universes = ["--set", "simulate.universes=1", "--set", "simulate.side=16", "--set", "simulate.box=128",
             "--set", "simulate.particles=32", "--set", "simulate.redshifts=[0]"]  # fmt: skip
smoothing = ["--set", "summaries.one_point.smoothing=[12]", "--set", "summaries.peaks.smoothing=[12]"]
if run("prepare", *universes, "--out", "box").returncode == 0:
    passes("prepare", *universes, "--set", "simulate.block=8", "--out", "parts")
    for name, side in (("box", 16), ("parts", 8)):
        passes("convert", name, "--set", "convert.format=npy", "--out", name + "_npy")
        first = sorted(f for f in os.listdir(name + "_npy") if f.endswith("_data.npy"))[0]
        passes("summaries", name, *STATED, *smoothing, "--out", name + "_out")
        voxels = np.load(name + "_npy/" + first).reshape(side, side, side, 1)
        compare(name + "_out", voxels, name == "box", 8, (12,))
    done = run("summaries", "parts", "--set", "summaries.boundary=periodic", "--out", "refused")
    assert done.returncode == 2 and "a part of a box is not periodic" in done.stdout, done.stdout
    done = run("summaries", "box", "--set", "summaries.cell=4", "--out", "refused")
    assert done.returncode == 2 and "the files state voxels of 8 Mpc/h" in done.stdout, done.stdout

# Refused by name.
for words, text in (
    (["--set", "summaries.sample=2"], "summaries.sample: 2: there are 2 samples"),
    (["--set", "summaries.peaks.smoothing=[3]"], "state summaries.cell"),
    (["--set", "summaries.peaks.lo=5"], "summaries.peaks: the bins from lo 5 to hi 4 are empty"),
):
    done = run("summaries", "samples", *words, "--out", "refused")
    assert done.returncode == 2 and text in done.stdout, done.stdout
spoilt = samples[0].astype("f4")
spoilt[3, 2, 1, 0] = np.nan
np.save("samples/s0_data.npy", spoilt)
np.save("samples/s1_data.npy", samples[1].astype("f4"))
done = run("summaries", "samples", "--set", "files.voxels=density", "--out", "refused")
assert done.returncode == 3 and f"voxel {((3 * n + 2) * n + 1) * 2} is nan" in done.stdout, done.stdout
