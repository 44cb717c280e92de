"""flat_files.py PROGRAM SCRATCH - .cfbin and NoPFS files written by Python alone, by their definitions
(docs/science/cosmoflow_files.md; hdf5_to_bin.py of NoPFS: labels.tofile, voxels.tofile), read, converted
and trained on by the program; what it writes is compared in Python, byte by byte.

Exit 77: NumPy is not here."""
import glob
import json
import os
import struct
import subprocess
import sys

try:
    import numpy as np
except ImportError:
    print("skipped: this Python has no NumPy")
    sys.exit(77)

program, scratch = sys.argv[1:]


def run(*args):
    return subprocess.run([program, *args], capture_output=True, text=True, timeout=100)


def settings(**options):
    return [word for key, value in options.items() for word in ("--set", f"{key.replace('__', '.')}={value}")]


def done(*args):
    result = run(*args)
    assert result.returncode == 0, result.stderr
    return result.stdout + result.stderr


def cfbin(x, y, universe=-1, text=b""):
    kind = {"int16": 1, "float32": 2}[x.dtype.name]
    head = b"\x89CFBIN\r\n" + struct.pack("<II4IIIq16x", 1, kind, *x.shape, len(y), len(text), universe)
    head += np.asarray(y, "<f4").tobytes() + text
    return head + b"\0" * (-len(head) % 64) + x.astype(x.dtype.newbyteorder("<")).tobytes()


rng = np.random.default_rng(5)
names = ["omega_m", "sigma_8", "n_s", "h"]
text = b"labels " + " ".join(names).encode() + b" \nquantity counts \n"
x = rng.poisson(1.0, (8, 8, 8, 8, 2)).astype("i2")
y = rng.uniform(-1, 1, (8, 4)).astype("f4")
own, foreign, last = (f"{scratch}/{name}" for name in ("own", "foreign", "last"))
for folder in (own, foreign, last):
    os.mkdir(folder)
for k in range(8):
    open(f"{own}/s{k}.cfbin", "wb").write(cfbin(x[k], y[k], k, text))
    with open(f"{foreign}/s{k}.bin", "wb") as f:  # channels first, as split_hdf5_cosmoflow.py has them
        y[k].tofile(f)
        np.ascontiguousarray(x[k].transpose(3, 0, 1, 2)).tofile(f)
    with open(f"{last}/s{k}.bin", "wb") as f:
        y[k].tofile(f)
        x[k].tofile(f)
first_axes, last_axes = (settings(files__axes=axes) for axes in ("czyx", "zyxc"))

# What they look like.
for folder, axes, layout in ((own, [], ".cfbin"), (foreign, first_axes, "NoPFS"), (last, last_axes, "NoPFS")):
    seen = done("inspect", folder, *axes)
    assert "8 x 8 x 8 x 2 i16" in seen and layout in seen, seen
    assert f"sum {int(x[0].sum())}," in seen, seen
assert "universe 0, labels omega_m=" in done("inspect", own)

# From one to another: the same voxels and labels, and the same bytes.
for folder, axes in ((own, []), (foreign, first_axes), (last, last_axes)):
    out = f"{folder}.pairs"
    done("convert", folder, "--out", out, *axes, *settings(convert__format="npy"))
    for k in range(8):
        data, label = (np.load(f"{out}/samples-{k:08d}_{part}.npy") for part in ("data", "label"))
        assert data.dtype == "i2" and np.array_equal(data, x[k])
        assert label.dtype == "f4" and np.array_equal(label, y[k])
done("convert", f"{own}.pairs", "--out", f"{own}.back", *settings(convert__format="cfbin"))
for k in range(8):
    assert open(f"{own}.back/samples-{k:08d}.cfbin", "rb").read() == open(f"{own}/s{k}.cfbin", "rb").read()
z = rng.normal(size=(3, 3, 3, 5)).astype("f4")
open(f"{scratch}/z.cfbin", "wb").write(cfbin(z, []))
done("convert", f"{scratch}/z.cfbin", "--out", f"{scratch}/z", *settings(convert__format="cfbin"))
assert open(f"{scratch}/z/samples-00000000.cfbin", "rb").read() == open(f"{scratch}/z.cfbin", "rb").read()
done("convert", own, "--out", f"{scratch}/cubes", *settings(convert__format="cfbin", convert__side=4))
assert len(glob.glob(f"{scratch}/cubes/*.cfbin")) == 64
cut = open(f"{scratch}/cubes/samples-00000001.cfbin", "rb").read()
assert cut.endswith(x[0][:4, :4, 4:].astype("<i2").tobytes())

# They are trained on: a training of either has the losses of the same samples as NumPy pairs, digit by digit.
config = f"{scratch}/config.yaml"
open(config, "w").write("""
files: {names: [%s], redshifts: [0, 0.5], voxels: counts}
data: {split: {valid: 2, test: 1, samples_per_universe: 1}}
model: {net: {mlperf: {blocks: 2, base: 2, hidden1: 4, hidden2: 4, dropout: 0}}}
train: {epochs: 2, batch: 2}
""" % ", ".join(names))


def losses(folder, *axes):
    out = f"{folder}.run"
    done("run", "--config", config, "--threads", "1", "--out", out, *axes, *settings(source__input=f"[{folder}]"))
    events = [json.loads(line) for line in open(f"{out}/run.jsonl")]
    return [e["loss"] for e in events if e["event"] == "epoch_end"]


expected = losses(f"{own}.pairs")
assert len(expected) == 2, expected
assert losses(foreign, *first_axes) == expected and losses(last, *last_axes) == expected
assert losses(own, *settings(data__split__samples_per_universe=0)) == expected

# What is refused, by name.
for name, content, axes, code, *said in (
        ("cut.cfbin", cfbin(x[0], y[0])[:-1], [], 3, "8 x 8 x 8 voxels of 2 channels of i16", "truncated"),
        ("long.cfbin", cfbin(x[0], y[0]) + b"!", [], 3, "truncated, or damaged"),
        ("new.cfbin", b"\x89CFBIN\r\n\2" + bytes(200), [], 3, "another version"),
        ("odd.bin", bytes(16 + 2 * 7 * 11), first_axes, 3, "no cube of up to 7 channels"),
        ("axes.bin", y[0].tobytes() + x[0].tobytes(), [], 2, "files.axes states czyx or zyxc")):
    open(f"{scratch}/{name}", "wb").write(content)
    result = run("inspect", f"{scratch}/{name}", *axes)
    assert result.returncode == code, (name, result.returncode, result.stderr)
    for words in (name, *said):
        assert words in result.stderr, f"{words!r} is not in {result.stderr!r}"
result = run("convert", own, "--out", f"{scratch}/no", *settings(convert__format="nopfs"))
assert result.returncode == 2 and "no format 'nopfs' of samples to write" in result.stderr, result.stderr
