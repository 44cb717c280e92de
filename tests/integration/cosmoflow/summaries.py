"""summaries.py PROGRAM SCRATCH - summary statistics of the command `summaries` against NumPy: one-point distribution,
peak counts and bispectrum of periodic boxes and of parts of boxes, several channels and smoothings, and what is refused.

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


def bispectrum_of(rho, width=1, squeezed=1, ratio=3):
    """Mean k of the sides (per voxel), triangles, B and Q, from the full complex transform of each shell."""
    n = len(rho)
    waves = np.meshgrid(*[np.fft.fftfreq(n, 1 / n)] * 3, indexing="ij")
    length = np.sqrt(sum(w**2 for w in waves))
    c = np.fft.fftn(rho - 1) / n**3
    shells = [(length >= 0.5 + s * width) & (length < 0.5 + (s + 1) * width) for s in range(n)
              if 0.5 + (s + 1) * width <= n / 3 + 1e-9]  # fmt: skip
    fields = [np.fft.ifftn(np.where(inside, c, 0)).real * n**3 for inside in shells]
    ones = [np.fft.ifftn(inside).real * n**3 for inside in shells]
    k = [length[inside].mean() * 2 * np.pi / n for inside in shells]
    power = [n**3 * (abs(c[inside]) ** 2).mean() for inside in shells]
    middle = [0.5 + (s + 0.5) * width for s in range(len(shells))]
    rows = []
    for a, b in [(s, s) for s in range(len(shells))] + [
        (a, b) for a in range(min(squeezed, len(shells))) for b in range(a + 1, len(shells)) if middle[b] >= ratio * middle[a]
    ]:  # fmt: skip
        closed = (ones[a] * ones[b] ** 2).mean()
        value = n**6 * (fields[a] * fields[b] ** 2).mean() / closed
        rows.append([k[a], k[b], closed, value, value / (2 * power[a] * power[b] + power[b] ** 2)])
    return np.array(rows)


def compare_bispectrum(folder, voxels, cell, **of):
    with open(folder + "/bispectrum.csv") as f:
        rows = list(csv.reader(f))
    found = np.array([[float(row[i]) for i in (3, 5, 6, 7, 8, 9)] for row in rows[1:]])
    expected = []
    for c in range(voxels.shape[-1]):
        rho = voxels[..., c].astype("f8")
        expected.append(bispectrum_of(rho / rho.mean(), **of))
    expected = np.concatenate(expected)
    sigma = found[:, 4]
    assert found.shape == (len(expected), 6), (found.shape, expected.shape)
    assert np.abs(found[:, :2] * cell / expected[:, :2] - 1).max() < 1e-6
    assert np.abs(found[:, 2] - expected[:, 2]).max() < 1e-6
    worst = np.abs((found[:, 3] - expected[:, 3] * cell**6) / sigma).max()
    assert worst < 1e-5, (folder, worst)
    assert (np.abs(found[:, 5] - expected[:, 4]) < 1e-5 * sigma / cell**6 * abs(expected[:, 4] / expected[:, 3]) + 1e-6).all()
    print(f"{folder}: B of {len(expected)} triangles differs from NumPy by {worst:.1e} of its deviation at most")
    return rows[0]


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
    done = run("summaries", "samples", "--set", "summaries.sample=1", *STATED, *smoothing, *cell, *out)
    if done.returncode == 7:
        assert "this build has no FFTW" in done.stdout, done.stdout
        print("skipped:", done.stdout)
        sys.exit(77)
    assert done.returncode == 0, done.stdout
    head = compare_bispectrum(boundary, samples[1], 2.5)
    assert head[3:8] == ["k1_h_per_Mpc", "k2_h_per_Mpc", "k3_h_per_Mpc", "triangles", "B_Mpc6_h-6"], head
    found = compare(boundary, samples[1], boundary == "periodic", 2.5, (0, 3, 9))
    print(f"{boundary}: {found} peaks as by NumPy")
report = open("auto/report.html").read()
assert "cut: not continued" in report and "smoothed by 9 Mpc/h" in report

# Wider shells, more squeezed triangles, in units of voxels where none are stated; and some statistics alone.
passes("summaries", "samples", "--set", "summaries.bispectrum.width=2", "--set", "summaries.bispectrum.squeezed=3",
       "--set", "summaries.bispectrum.ratio=1.5", "--set", "summaries.use=[bispectrum]", "--out", "wide")  # fmt: skip
assert compare_bispectrum("wide", samples[0], 1.0, width=2, squeezed=3, ratio=1.5)[3:8:4] == ["k1_per_voxel", "B_voxel6"]
assert not os.path.exists("wide/peaks.csv")

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
        compare_bispectrum(name + "_out", voxels, 8)
    done = run("summaries", "parts", "--set", "summaries.boundary=periodic", "--out", "refused")
    assert done.returncode == 2 and "a part of a box is not periodic" in done.stdout, done.stdout
    done = run("summaries", "box", "--set", "summaries.cell=4", "--out", "refused")
    assert done.returncode == 2 and "the files state voxels of 8 Mpc/h" in done.stdout, done.stdout

# Refused by name.
for words, text in (
    (["--set", "summaries.sample=2"], "summaries.sample: 2: there are 2 samples"),
    (["--set", "summaries.peaks.smoothing=[3]"], "state summaries.cell"),
    (["--set", "summaries.use=[voids]"], "summaries.use: there is no statistic 'voids'"),
    (["--set", "summaries.bispectrum.width=9"], "summaries.bispectrum: samples of 15^3 voxels have no shell"),
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
