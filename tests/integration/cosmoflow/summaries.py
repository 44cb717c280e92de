"""summaries.py PROGRAM SCRATCH - summary statistics of the command `summaries` against NumPy: one-point distribution,
peak counts, bispectrum, multipoles of P(k) and scattering coefficients of periodic boxes and of parts of boxes, several channels
and smoothings, and what is refused.

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


def compare_multipoles(folder, voxels, cell, axis=2):
    """P_l from the full complex transform; bins end before the Nyquist wave number."""
    with open(folder + "/multipoles.csv") as f:
        rows = list(csv.reader(f))
    found = np.array([[float(row[i]) for i in range(2, 7)] for row in rows[1:]])
    n = len(voxels)
    waves = np.meshgrid(*[np.fft.fftfreq(n, 1 / n)] * 3, indexing="ij")
    length = np.sqrt(sum(w**2 for w in waves))
    mu = waves[axis] / np.where(length > 0, length, 1)
    legendre = [np.polynomial.legendre.legval(mu, [0] * l + [2 * l + 1]) for l in (0, 2, 4)]
    expected = []
    for c in range(voxels.shape[-1]):
        rho = voxels[..., c].astype("f8")
        power = n**3 * abs(np.fft.fftn(rho / rho.mean()) / n**3) ** 2
        for b in range(int(n / 2 - 0.5)):
            inside = (length >= b + 0.5) & (length < b + 1.5)
            expected.append([length[inside].mean() * 2 * np.pi / (n * cell), inside.sum()])
            expected[-1] += [cell**3 * (power * of)[inside].mean() for of in legendre]
    expected = np.array(expected)
    assert found.shape == expected.shape, (found.shape, expected.shape)
    worst = np.abs(found - expected)[:, 2:] / expected[:, 2:3]
    assert np.abs(found[:, :2] / expected[:, :2] - 1).max() < 1e-6 and worst.max() < 1e-5, (folder, worst.max())
    print(f"{folder}: P_l of {len(expected)} bins differ from NumPy by {worst.max():.1e} of P_0 at most")
    return rows


def harmonics(w, l):
    """Real spherical harmonics of l = 0, 1, 2 of unit vectors w, in units in which that of l = 0 is 1."""
    x, y, z = w
    a, b = np.sqrt(3 / (4 * np.pi)), np.sqrt(15 / (4 * np.pi))
    return {
        0: [np.ones_like(x)],
        1: [a * x, a * y, a * z],
        2: [b * x * y, b * y * z, b * x * z, b / 2 * (x**2 - y**2), b / np.sqrt(12) * (3 * z**2 - 1)],
    }[l]


def scattering_of(delta, scales, sigma, powers):
    """The definition for l = 0, 1, 2, by full complex transforms, of an odd side, which has no Nyquist wave."""
    n = len(delta)
    waves = 2 * np.pi * np.array(np.meshgrid(*[np.fft.fftfreq(n)] * 3, indexing="ij"))
    length = np.sqrt((waves**2).sum(axis=0))
    unit = waves / np.where(length > 0, length, 1)
    norm = [1, (2 * np.pi) ** 1.5 / (4 * np.sqrt(3 * np.pi)), np.sqrt(2 * np.pi) / (np.sqrt(2.5) * 3)]

    def modulus(field, j, l):
        x = sigma * 2**j * length
        radial = norm[l] * x**l * np.exp(-(x**2) / 2) * (length > 0 if l else 1)
        c = np.fft.fftn(field)
        return np.sqrt(sum(abs(np.fft.ifftn(c * radial * y)) ** 2 for y in harmonics(unit, l)))

    first = [[modulus(delta, j, l) for l in range(3)] for j in range(scales)]
    second = [[modulus(first[j][l], k, l) for l in range(3)] for j in range(scales) for k in range(j + 1, scales)]
    return np.array([[[(u**q).mean() for q in powers] for u in path] for path in first + second])


def compare_scattering(folder, voxels, scales, sigma, powers=(0.5, 1, 2)):
    found = read(folder + "/scattering.csv", "S")
    expected = [scattering_of(voxels[..., c] / voxels[..., c].astype("f8").mean() - 1, scales, sigma, powers).ravel()
                for c in range(voxels.shape[-1])]  # fmt: skip
    worst = np.abs(found / np.concatenate(expected) - 1).max()
    assert worst < 1e-4, (folder, worst)
    print(f"{folder}: {len(found)} scattering coefficients differ from NumPy by {worst:.1e} at most")


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
    out = ["--set", "summaries.boundary=" + boundary, "--set", "summaries.scattering.scales=2", "--out", boundary]
    done = run("summaries", "samples", "--set", "summaries.sample=1", *STATED, *smoothing, *cell, *out)
    if done.returncode == 7:
        assert "this build has no FFTW" in done.stdout, done.stdout
        print("skipped:", done.stdout)
        sys.exit(77)
    assert done.returncode == 0, done.stdout
    head = compare_bispectrum(boundary, samples[1], 2.5)
    assert compare_multipoles(boundary, samples[1], 2.5)[1][7:] == ["", "", ""]  # the cosmology is not stated
    assert head[3:8] == ["k1_h_per_Mpc", "k2_h_per_Mpc", "k3_h_per_Mpc", "triangles", "B_Mpc6_h-6"], head
    found = compare(boundary, samples[1], boundary == "periodic", 2.5, (0, 3, 9))
    print(f"{boundary}: {found} peaks as by NumPy")
    compare_scattering(boundary, samples[1], 2, 1)
report = open("auto/report.html").read()
assert "cut: not continued" in report and "smoothed by 9 Mpc/h" in report

# Wider shells, more squeezed triangles, in units of voxels where none are stated; and some statistics alone.
passes("summaries", "samples", "--set", "summaries.bispectrum.width=2", "--set", "summaries.bispectrum.squeezed=3",
       "--set", "summaries.bispectrum.ratio=1.5", "--set", "summaries.use=[bispectrum]", "--out", "wide")  # fmt: skip
assert compare_bispectrum("wide", samples[0], 1.0, width=2, squeezed=3, ratio=1.5)[3:8:4] == ["k1_per_voxel", "B_voxel6"]
assert not os.path.exists("wide/peaks.csv")
passes("summaries", "samples", "--set", "summaries.multipoles.line_of_sight=x", "--set", "summaries.scattering.sigma=1.8",
       "--set", "summaries.scattering.scales=2", "--set", "summaries.scattering.powers=[1,3]",
       "--set", "summaries.use=[multipoles,scattering]", "--out", "sight")  # fmt: skip
assert compare_multipoles("sight", samples[0], 1.0, axis=0)[0][2:5] == ["k_per_voxel", "modes", "P0_voxel3"]
compare_scattering("sight", samples[0], 2, 1.8, (1, 3))

# Files of prepare state box and voxel: a box is periodic, a part of it is not.
small = ["--set", "summaries.scattering.scales=2"]
universes = ["--set", "simulate.universes=1", "--set", "simulate.side=16", "--set", "simulate.box=128",
             "--set", "simulate.particles=32", "--set", "simulate.redshifts=[0]"]  # fmt: skip
smoothing = ["--set", "summaries.one_point.smoothing=[12]", "--set", "summaries.peaks.smoothing=[12]"]
if run("prepare", *universes, "--out", "box").returncode == 0:
    passes("prepare", *universes, "--set", "simulate.block=8", "--out", "parts")
    for name, side in (("box", 16), ("parts", 8)):
        passes("convert", name, "--set", "convert.format=npy", "--out", name + "_npy")
        first = sorted(f for f in os.listdir(name + "_npy") if f.endswith("_data.npy"))[0]
        passes("summaries", name, *STATED, *smoothing, *small, "--out", name + "_out")
        voxels = np.load(name + "_npy/" + first).reshape(side, side, side, 1)
        compare(name + "_out", voxels, name == "box", 8, (12,))
        compare_bispectrum(name + "_out", voxels, 8)
        compare_multipoles(name + "_out", voxels, 8)

    # Redshift space amplifies the waves along the line of sight: P_0 and P_2 of long ones as in linear theory.
    large = ["--set", "simulate.universes=1", "--set", "simulate.side=32", "--set", "simulate.particles=96", "--set", "simulate.box=3000",
             "--set", "simulate.redshifts=[1]", "--set", "simulate.line_of_sight=x", "--set", "simulate.fixed=true",
             "--set", "simulate.counts=cic", "--set", "simulate.values=f32"]  # fmt: skip
    passes("prepare", *large, "--out", "redshift")
    sight = ["--set", "summaries.multipoles.line_of_sight=x", "--set", "summaries.multipoles.window=cic"]
    passes("summaries", "redshift", "--set", "summaries.use=[multipoles]", *sight, "--out", "sight_of_box")
    done = run("summaries", "redshift", "--set", "summaries.use=[multipoles]", "--out", "refused")
    assert done.returncode == 2 and "line_of_sight: z: the files state samples in redshift space along x" in done.stdout, done.stdout
    of = {name: read("sight_of_box/multipoles.csv", name)[:6] for name in
          ("modes", "P0_Mpc3_h-3", "P2_Mpc3_h-3", "kaiser_P0", "kaiser_P2")}  # fmt: skip
    sums = {name: (of["modes"] * of[name]).sum() for name in of}
    ratios = [sums[f"P{l}_Mpc3_h-3"] / sums[f"kaiser_P{l}"] for l in (0, 2)]
    print("P_0, P_2 / linear theory in redshift space: %.3f, %.3f" % tuple(ratios))
    assert abs(ratios[0] - 1) < 0.05 and abs(ratios[1] - 1) < 0.1
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
    (["--set", "summaries.multipoles.width=9"], "summaries.multipoles: samples of 15^3 voxels have no bin"),
    (["--set", "summaries.scattering.scales=4"], "summaries.scattering: the widest of 4 scales is 8 voxels, above half"),
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
