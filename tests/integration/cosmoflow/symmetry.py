"""symmetry.py PROGRAM SCRATCH - what estimates do when a sample is rotated, mirrored or shifted: means over the octahedral group do not
depend on it, and those of model.net gap with periodic borders not on shifts; both against NumPy.

Exit 77: NumPy or netCDF4 is not here, or the program has no NetCDF."""
import itertools
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
simulate: {universes: 12, side: 8, particles: 16, box: 64, redshifts: [0], preset: wide2}
data: {scale: log_density, split: {valid: 2, test: 2}}
model: {net: {gap: {blocks: 2, base: 4, border: wrap, hidden1: 8, hidden2: 8}}}
train: {epochs: 2, batch: 2, optim: {rule: adam, schedule: {lr: 0.01}}}
"""


def run(*words):
    return subprocess.run([program, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def passes(*words):
    done = run(*words)
    assert done.returncode == 0, done.stdout


def estimates(name, *options):
    """Of all samples of a folder, in [-1, 1]."""
    passes("predict", name, "--set", "predict.weights=run/weights.nc", *options, "--overwrite", "--out", "predicted")
    with netCDF4.Dataset("predicted/predictions.nc") as file:
        return file["unitPredicted"][:].filled().astype("f8")


with open("small.yaml", "w") as file:
    file.write(CONFIG)
done = run("prepare", "--config", "small.yaml", "--out", "universes")
if done.returncode == 7:
    print("skipped: this build has no", done.stdout)
    sys.exit(77)
assert done.returncode == 0, done.stdout
passes("run", "--config", "small.yaml", "--set", "source.input=[universes]", "--out", "run")

# A cube in its 48 positions, then shifted: by 2 voxels, which pooling does not see, and by 1.
with netCDF4.Dataset("universes/universes-00000000.nc") as file:
    cube = file["full"][0].filled()
views = [np.flip(cube.transpose(*axes, 3), [d for d in range(3) if flips[d]])
         for axes in itertools.permutations(range(3)) for flips in itertools.product((False, True), repeat=3)]
views += [np.roll(cube, by, (0, 1, 2)) for by in ((2, 0, 4), (1, 0, 0))]
os.mkdir("views")
for k, view in enumerate(views):
    np.save("views/v%02d_data.npy" % k, np.ascontiguousarray(view))
as_they_are, means = estimates("views"), estimates("views", "--set", "predict.symmetry=octahedral")
mirrored = estimates("views", "--set", "predict.symmetry=mirror")
scatter = as_they_are[:48].std(axis=0)
assert np.all(scatter > 1e-4), "the network sees no orientation: nothing is tested"
assert np.allclose(as_they_are[48], as_they_are[0], atol=1e-6) and np.abs(as_they_are[49] - as_they_are[0]).max() > 1e-5
assert np.allclose(means[:49], as_they_are[:48].mean(axis=0), atol=1e-6), np.abs(means[:49] - as_they_are[:48].mean(axis=0)).max()
assert np.allclose(mirrored[:8], as_they_are[:8].mean(axis=0), atol=1e-6)
with netCDF4.Dataset("predicted/predictions.nc") as file:
    assert "means over 8 symmetries of each sample" in file.source, file.source

# Posteriors are not averaged.
passes("run", "--config", "small.yaml", "--set", "source.input=[universes]", "--set", "model.head=mixture", "--out", "posterior")
done = run("predict", "views", "--set", "predict.weights=posterior/weights.nc", "--set", "predict.symmetry=mirror", "--out", "refused")
assert done.returncode == 2 and "predict.symmetry: numbers for each parameter are averaged" in done.stdout, done.stdout
print("largest scatter over 48 positions: %g of [-1, 1]" % scatter.max())
