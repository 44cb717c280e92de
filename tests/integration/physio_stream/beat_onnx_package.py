#!/usr/bin/env python3
"""beat_onnx_package.py PROGRAM WORK - the classifier of beats that `train` makes, exported by PyTorch with the program of
docs/how-to/load-weights-in-python.md: `beat_class` gives the same class of every beat with both files, and probabilities within 1e-6. The
patients are those of the guide."""
import csv
import os
import pathlib
import subprocess
import sys

program, work = sys.argv[1:3]
try:
    import netCDF4
    import onnx
    import onnxscript
    import torch
except ImportError as missing:
    print(f"skipped: {missing} (torch, onnx, onnxscript, netCDF4: PyPI)")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[3]
CONFIG = ROOT / "configs/physio_stream/beats_ds1_ds2.yaml"
os.chdir(work)


def block(page, name):
    """Writes a block of a page, whose first line is "# NAME", as a file of that name."""
    text = (ROOT / page).read_text(encoding="utf-8")
    begin = text.index(f"# {name}\n")
    pathlib.Path(name).write_text(text[begin : text.index("```", begin)], encoding="utf-8")


def python(*words):
    subprocess.run([sys.executable, *words], check=True, env={**os.environ, "PYTHONPATH": str(ROOT / "python")}, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


def physio(command, out, *sets, config=CONFIG):
    subprocess.run([program, command, "--config", config, *sum((["--set", text] for text in sets), []), "--out", out, "--log", "error"],
                   check=True, stdout=subprocess.DEVNULL)


def rows(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


block("docs/guide/physio_stream.md", "patients.py")
block("docs/how-to/load-weights-in-python.md", "beats_to_onnx.py")
python("patients.py")
physio("run", "features", "input.records=[p0,p1,p2,p3,p4,p5]")
for kind in "rr", "all":
    physio("train", f"trained_{kind}", "beats.records=[p0,p1,p2,p3,p4]", "beats.test=[p5]", "beats.folder=features", "train.epochs=3",
           f"beats.network.features={kind}")
    python("beats_to_onnx.py", f"trained_{kind}/weights.nc", f"{kind}.onnx")
    for name, path in ("weights", f"trained_{kind}/weights.nc"), ("onnx", f"{kind}.onnx"):
        physio("run", f"{name}_{kind}", "input.records=[p5]", f"query.steps[2].do.beat_class.network={path}")
    ours, theirs = (rows(f"{name}_{kind}/p5/features.csv") for name in ("weights", "onnx"))
    assert len(ours) == len(theirs) > 60 and len({row["class"] for row in ours}) == 2
    worst = 0.0
    for a, b in zip(ours, theirs):
        assert a["time_s"] == b["time_s"] and a["class"] == b["class"], (a, b)
        worst = max(worst, abs(float(a["probability"] or 0) - float(b["probability"] or 0)))
    print(f"features {kind}: {len(ours)} beats, probabilities within {worst:.2g} of those of PyTorch {torch.__version__}'s file")
    assert worst <= 1e-6
