"""former_names.py PROGRAM SCRATCH - options and files under the names that they had before: a run
begun under former keys, values, metrics and attributes is resumed under the present ones to the
same weights, and weights with former keys and attributes predict the same.

Exit 77: netCDF4 for Python is not here."""
import os
import subprocess
import sys

try:
    import netCDF4
    import numpy as np
except ImportError:
    print("skipped: this Python has no netCDF4")
    sys.exit(77)

program, scratch = sys.argv[1:]
COMMON = ("simulate.universes=10", "simulate.file=4", "simulate.side=8", "simulate.particles=16",
          "simulate.box=128", "simulate.preset=wide2", "data.split.valid=2", "data.split.test=2",
          "train.batch=2", "exec.tier=vector")
FORMER = ("data.augment.turn=all", "model.loss=own", "comm.patience=60", "data.keep=1000000",
          "model.net={mlperf: {blocks: 2, base: 4, most: 6, hidden1: 8, hidden2: 4}}",
          "train.optim.rule={momentum: {keeps: steps}}")
PRESENT = ("data.augment.symmetry=octahedral", "model.loss=default", "comm.timeout=60",
           "data.cache_bytes=1000000",
           "model.net={mlperf: {blocks: 2, base: 4, max_filters: 6, hidden1: 8, hidden2: 4}}",
           "train.optim.rule={momentum: {form: keras}}")
CLASSES = ("model.net={unet: {levels: 1, base: 2}}", "mllog.write=false", "train.target.value=2",
           "simulate.redshifts=[0, 2]")


def run(command, sets, *arguments):
    command = [program, command] + [word for s in sets for word in ("--set", s)] + list(arguments)
    done = subprocess.run(command, cwd=scratch, capture_output=True, text=True)
    if "this build has no" in done.stderr:
        print("skipped:", done.stderr.split("error: ")[-1].splitlines()[0])
        sys.exit(77)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def arrays(path):
    with netCDF4.Dataset(os.path.join(scratch, path)) as nc:
        nc.set_auto_mask(False)
        return {name: v[...] for name, v in nc.variables.items() if v.dtype.kind in "fiu"}


said = run("run", COMMON + FORMER + ("train.epochs=1",), "--out", "former")
for old, new in (("data.augment.turn", "augment.symmetry"), ("comm.patience", "timeout"),
                 ("model.loss", "default"), ("most", "max_filters")):
    assert f"{old}" in said and f"renamed to {new}" in said, (old, new, said)
run("run", COMMON + PRESENT + ("train.epochs=3",), "--out", "former")
said = run("run", COMMON + PRESENT + ("train.epochs=3",), "--out", "present")
assert "renamed to" not in said, said
a, b = arrays("former/weights.nc"), arrays("present/weights.nc")
assert a.keys() == b.keys() and len(a) > 3
for name in a:
    assert np.array_equal(a[name], b[name]), name

# A file of weights as it was written before.
run("prepare", COMMON[:6], "--out", "universes")
run("predict", ("predict.weights=present/weights.nc",), "universes", "--out", "p")
with netCDF4.Dataset(os.path.join(scratch, "present/weights.nc"), "a") as nc:
    text = nc.getncattr("network")
    before = text.replace("max_filters:", "most:").replace("loss: default", "loss: own").replace("      global_mean: false\n", "")
    assert before != text and "most:" in before and "own" in before and "global_mean" not in before, text
    nc.setncattr("network", before)
    nc.renameAttribute("samples_per_universe", "siblings")
said = run("predict", ("predict.weights=present/weights.nc",), "universes", "--out", "q")
a, b = arrays("p/predictions.nc"), arrays("q/predictions.nc")
for name in a:
    assert np.array_equal(a[name], b[name], equal_nan=a[name].dtype.kind == "f"), name
run("run", COMMON + PRESENT + ("train.epochs=1", "source.input=[universes]", "train.initial_weights=present/weights.nc"), "--out", "tuned")

# A training of classes as it was written before: metrics of run.jsonl, attributes of its checkpoints.
said = run("run", COMMON + CLASSES + ("train.epochs=1", "train.target.metric=overlap_1"), "--out", "before")
assert "overlap_1 of train.target.metric was renamed to iou_1" in said, said
log = os.path.join(scratch, "before/run.jsonl")
with open(log) as file:
    text = file.read()
assert '"mean_iou": ' in text and '"iou_1": ' in text and '"iou_2": ' in text, text
with open(log, "w") as file:
    file.write(text.replace('"mean_iou"', '"overlap"').replace('"iou_', '"overlap_'))
checkpoints = [name for name in os.listdir(os.path.join(scratch, "before")) if name.startswith("checkpoint")]
assert checkpoints
for name in checkpoints:
    with netCDF4.Dataset(os.path.join(scratch, "before", name), "a") as nc:
        nc.renameAttribute("samples_per_universe", "siblings")
run("run", COMMON + CLASSES + ("train.epochs=2", "train.target.metric=iou_1"), "--out", "before")
with open(log) as file:
    text = file.read()
assert '"overlap_1": ' in text and '"iou_1": ' in text, text
said = run("run", COMMON + CLASSES + ("train.epochs=2", "train.target.metric=iou_1"), "--out", "after")
assert "renamed to" not in said, said
a, b = arrays("before/weights.nc"), arrays("after/weights.nc")
assert a.keys() == b.keys() and len(a) > 3
for name in a:
    assert np.array_equal(a[name], b[name]), name
print("former names are understood")
