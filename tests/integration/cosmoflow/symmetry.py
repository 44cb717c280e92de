"""symmetry.py PROGRAM SCRATCH - what estimates do when a sample is rotated, mirrored or shifted: means over the octahedral group do not
depend on it, and those of model.net gap with periodic borders not on shifts; both against NumPy. Moved images are other images.

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

# Moved images: pooling of 2^3 makes 8 shifts of an image different, and the mean is of one of them for each image, the first as it is.
moved = estimates("views", "--set", "predict.symmetry=octahedral", "--set", "predict.shift=true")[0]
with netCDF4.Dataset("predicted/predictions.nc") as file:
    assert "means over 48 symmetries of each sample, moved around the box" in file.source, file.source
os.mkdir("corners")
for k, (view, by) in enumerate(itertools.product(views[:48], itertools.product((0, 1), repeat=3))):
    np.save("corners/c%03d_data.npy" % k, np.ascontiguousarray(np.roll(view, by, (0, 1, 2))))
corners = estimates("corners").reshape(48, 8, -1)
corners[0] = corners[0, 0]
assert np.all(corners.min(axis=1).mean(axis=0) < moved) and np.all(moved < corners.max(axis=1).mean(axis=0)), moved
assert np.abs(moved - means[0]).max() > 1e-5, "no image was moved"
done = run("predict", "views", "--set", "predict.weights=run/weights.nc", "--set", "predict.shift=true", "--out", "refused")
assert done.returncode == 2 and "predict.shift: moves the images of predict.symmetry" in done.stdout, done.stdout
passes("prepare", "--config", "small.yaml", "--set", "simulate={universes: 3, side: 16, particles: 16, box: 128, block: 8}", "--out", "cut")
done = run("predict", "cut", "--set", "predict.weights=run/weights.nc", "--set", "predict.external_universes=true", "--set",
           "predict={symmetry: mirror, shift: true}", "--out", "refused")
assert done.returncode == 2 and "predict.shift: only whole periodic boxes can be moved" in done.stdout, done.stdout

# Samples without labels are moved where those of the training were whole boxes, as above, or where they are stated to be.
passes("run", "--config", "small.yaml", "--set", "source.input=[cut]", "--set", "data.split={valid: 1, test: 1}", "--set", "train.epochs=1",
       "--out", "of_cut")
words = ("predict", "views", "--set", "predict.weights=of_cut/weights.nc", "--set", "predict={symmetry: mirror, shift: true}")
done = run(*words, "--out", "refused")
assert done.returncode == 2 and "50 samples of unknown universes" in done.stdout, done.stdout
passes(*words, "--set", "files.box=64", "--out", "stated")

# Posteriors are not averaged.
passes("run", "--config", "small.yaml", "--set", "source.input=[universes]", "--set", "model.head=mixture", "--out", "posterior")
done = run("predict", "views", "--set", "predict.weights=posterior/weights.nc", "--set", "predict.symmetry=mirror", "--out", "refused")
assert done.returncode == 2 and "predict.symmetry: numbers for each parameter are averaged" in done.stdout, done.stdout
print("largest scatter over 48 positions: %g of [-1, 1]" % scatter.max())
