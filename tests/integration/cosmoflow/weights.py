"""weights.py PROGRAM SCRATCH PAGE - the programs of docs/how-to/load-weights-in-python.md on the weights of
a training: predictions by NumPy are those of the program.

Exit 77: NumPy or netCDF4 is not here."""
import os
import re
import subprocess
import sys

try:
    import netCDF4
    import numpy as np
except ImportError as missing:
    print("skipped: this Python has no", missing.name)
    sys.exit(77)

program, scratch, page = sys.argv[1:]
os.environ["PYTHONPATH"] = page.partition("/docs/")[0] + "/python"
os.chdir(scratch)
with open(page) as f:
    for block in re.findall(r"```python\n(.*?)```", f.read(), re.S):
        name = block.splitlines()[0][2:]
        with open(name, "w") as out:
            out.write(block)


def run(*words):
    subprocess.run([program, *words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def sets(**of):
    return [word for key, value in of.items() for word in ("--set", key.replace("__", ".") + "=" + value)]


UNIVERSES = sets(simulate__universes="10", simulate__file="10", simulate__side="16", simulate__particles="16",
                 simulate__box="128", simulate__redshifts="[0,0.5]", simulate__preset="wide2")  # fmt: skip
NETWORK = sets(model__net="{mlperf: {base: 4, hidden1: 8, hidden2: 4}}", data__split__valid="2",
               data__split__test="2", train__epochs="2", train__batch="2")  # fmt: skip
run("prepare", *UNIVERSES, "--out", "universes")
for scale in ("log1p", "mean", "raw", "log_density"):
    run("run", "--set", "source.input=[universes]", *NETWORK, "--set", "data.scale=" + scale, "--out", scale)
    run("predict", "universes", "--set", f"predict.weights={scale}/weights.nc", "--out", scale + "_predicted")
    said = subprocess.run(
        [sys.executable, "cosmoflow_numpy.py", scale + "/weights.nc", "universes/universes-00000000.nc"],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout
    rows = np.array([[float(x) for x in line.split()] for line in said.splitlines()])
    with netCDF4.Dataset(scale + "_predicted/predictions.nc") as nc:
        predicted = np.asarray(nc["unitPredicted"][:])
    assert rows.shape == predicted.shape == (10, 2), (rows.shape, predicted.shape)
    worst = abs(rows - predicted).max()
    print(f"data.scale {scale}: NumPy and predict differ by {worst:.1e} at most")
    assert worst < 1e-5, worst
    assert predicted.std(axis=0).min() > 1e-4, "all predictions are the same"
