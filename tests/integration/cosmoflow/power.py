"""power.py PROGRAM SCRATCH - power spectra of the command `power` against NumPy's FFT: bins, modes, units,
the windows of mass assignment, several channels, and what is refused.

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


def run(*words):
    return subprocess.run([program, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def passes(*words):
    done = run(*words)
    assert done.returncode == 0, done.stdout
    return done.stdout


def spectrum_of(field, cell, reach=1, order=0):
    """Edges, mean k, modes and P of bins one fundamental wave wide, from the full complex transform."""
    n = field.shape[0]
    delta = np.fft.fftn(field / field.mean() - 1) / n**3
    waves = np.meshgrid(*[np.fft.fftfreq(n, 1 / n)] * 3, indexing="ij")
    length = np.sqrt(sum(w**2 for w in waves))
    window = np.prod([np.sinc(w / n) for w in waves], axis=0) ** (2 * order)
    power = abs(delta) ** 2 * (n * cell) ** 3 / window
    fundamental = 2 * np.pi / (n * cell)
    rows = []
    for b in range(1, round(reach * n / 2) + 1):
        inside = (length >= b - 0.5) & (length < b + 0.5)
        rows.append(
            [(b - 0.5) * fundamental, (b + 0.5) * fundamental, length[inside].mean() * fundamental, inside.sum(),
             power[inside].mean()]
        )  # fmt: skip
    return np.array(rows)


def read(folder):
    with open(folder + "/spectrum.csv") as f:
        rows = list(csv.reader(f))
    return rows[0], rows[1:]


def compare(folder, field, channel, **of):
    expected = spectrum_of(field, **of)
    found = np.array([[float(x) for x in row[2:8]] for row in read(folder)[1] if int(row[0]) == channel])
    assert found.shape == (len(expected), 6), found.shape
    worst = abs(found[:, :5] / expected - 1).max()
    assert worst < 2e-5, (folder, channel, worst)
    assert abs(found[:, 5] / (expected[:, 4] * np.sqrt(2 / expected[:, 3])) - 1).max() < 2e-5
    return worst


# Two channels of counts, clustered along one axis; samples 0 and 1.
n = 16
draw = np.random.default_rng(7)
clustered = 5 + 4 * np.sin(2 * np.pi * 2 * np.arange(n) / n)[:, None, None, None] * np.ones((n, n, n, 2))
samples = [draw.poisson(clustered).astype("i2") for _ in range(2)]
os.mkdir("samples")
for i, voxels in enumerate(samples):
    np.save(f"samples/s{i}_data.npy", voxels)
    np.save(f"samples/s{i}_label.npy", np.zeros(1, "f4"))

passes("power", "samples", "--set", "power.cell=4", "--out", "one")
head, rows = read("one")
assert head[2:7] == ["k_min_h_per_Mpc", "k_max_h_per_Mpc", "k_h_per_Mpc", "modes", "P_Mpc3_h-3"], head
for c in range(2):
    print(f"channel {c}: differs from NumPy by {compare('one', samples[0][..., c], c, cell=4.0):.1e} at most")
passes("power", "samples", "--set", "power.sample=1", "--set", "power.reach=1.5", "--out", "other")
assert read("other")[0][6] == "P_voxel3"
compare("other", samples[1][..., 1], 1, cell=1.0, reach=1.5)
for order, window in enumerate(("none", "ngp", "cic")):
    passes("power", "samples", "--set", "power.cell=4", "--set", "power.window=" + window, "--out", window)
    compare(window, samples[0][..., 0], 0, cell=4.0, order=order)

# NetCDF has the numbers of the CSV.
with netCDF4.Dataset("one/spectrum.nc") as nc:
    assert nc["power"].dimensions == ("channel", "k") and nc["power"].units == "megaparsec3"
    columns = np.array([[float(x) for x in row[2:7]] for row in rows]).reshape(2, -1, 5)
    for values, column in ((nc["k_bounds"][:, 0], 0), (nc["k_bounds"][:, 1], 1), (nc["k"][:], 2), (nc["modes"][:], 3)):
        assert abs(values / columns[0, :, column] - 1).max() < 1e-6
    assert abs(nc["power"][:] / columns[:, :, 4] - 1).max() < 1e-6
    assert np.isnan(nc["linear"][:].filled(np.nan)).all()
    assert np.allclose(nc["mean"][:], [samples[0][..., c].mean() for c in range(2)])

# An overdensity has the spectrum of its density; divided by its mean of about 0 it would have any.
os.mkdir("delta")
delta = (samples[0] / samples[0].mean(axis=(0, 1, 2)) - 1).astype("f4")
np.save("delta/d_data.npy", delta)
np.save("delta/d_label.npy", np.zeros(1, "f4"))
stated = ["--set", "files.voxels=any", "--set", "files.dtype=f32", "--set", "power.cell=4"]
done = run("power", "delta", *stated, "--out", "refused")
assert done.returncode == 3 and "state power.field=overdensity" in done.stdout, done.stdout
passes("power", "delta", *stated, "--set", "power.field=overdensity", "--out", "overdensity")
for c in range(2):
    compare("overdensity", samples[0][..., c], c, cell=4.0)

# Files of prepare state cell, redshifts and cosmology: large waves of fixed amplitude follow linear theory.
universes = ["--set", "simulate.universes=2", "--set", "simulate.side=32", "--set", "simulate.particles=32", "--set",
             "simulate.box=512", "--set", "simulate.redshifts=[0,3]", "--set", "simulate.preset=wide2",
             "--set", "simulate.fixed=true", "--set", "simulate.counts=cic", "--set", "simulate.values=f32"]  # fmt: skip
passes("prepare", *universes, "--out", "universes")
passes("power", "universes", "--set", "power.sample=1", "--set", "power.window=cic", "--out", "theory")
with netCDF4.Dataset("universes/universes-00000000.nc") as nc:
    compare("theory", nc["full"][1, ..., 1].filled().astype("f8"), 1, cell=16.0, order=2)
with netCDF4.Dataset("theory/spectrum.nc") as nc:
    assert list(nc["redshift"][:]) == [0, 3]
    ratio = (nc["power"][:] / nc["linear"][:])[:, 0]
    print("P / linear theory of the largest waves at z = 0 and 3:", ratio)
    assert abs(ratio - 1).max() < 0.05, ratio
report = open("theory/report.html").read()
assert "linear theory, z = 3" in report and "spectrum" in report

# Refused by name.
for words, text in (
    (["samples", "--set", "power.sample=2"], "power.sample: 2: there are 2 samples"),
    (["samples", "--set", "power.reach=2"], "power.reach"),
):
    done = run("power", *words, "--out", "refused")
    assert done.returncode == 2 and text in done.stdout, done.stdout
np.save("samples/s0_data.npy", np.zeros((n, n, n, 2), "i2"))
done = run("power", "samples", "--out", "refused")
assert done.returncode == 3 and "channel 0 has a mean of 0" in done.stdout, done.stdout
