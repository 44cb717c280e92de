"""full_disk.py WORK - what full_disk.sh left: every file is whole, every log ends by saying what failed, and a run that was
resumed has the weights, or spectra, of one that was not."""
import os
import sys

import netCDF4
import numpy

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import whole

bad = []


def read(path):
    events = whole.read(path)
    if path.endswith("/run.jsonl") and (events[-1]["event"], events[-1]["status"]) != ("failed", 10):
        raise ValueError("the last event is no failure for want of space")


def arrays(folder, name):
    with netCDF4.Dataset(os.path.join(folder, name)) as f:
        return {name: v[...] for name, v in f.variables.items()}


def main(work):
    for folder, _, files in os.walk(os.path.join(work, "left")):
        for name in files:
            path = os.path.join(folder, name)
            try:
                read(path)
            except Exception as why:  # whatever a reader of such files says
                bad.append(f"{path}: {why!r}")
    base = os.path.join(work, "base")
    for name in os.listdir(base):
        whole = os.path.join(base, name.split("-again-")[0])
        for file in ("weights.nc", "transport.nc"):
            if "-again-" not in name or not os.path.exists(os.path.join(whole, file)):
                continue
            one, other = arrays(whole, file), arrays(os.path.join(base, name), file)
            if one.keys() != other.keys() or any(not numpy.array_equal(one[k], other[k]) for k in one):
                bad.append(f"{name}: another {file} than that of {whole}")
    print("\n".join(bad))
    return 1 if bad else 0


sys.exit(main(sys.argv[1]))
