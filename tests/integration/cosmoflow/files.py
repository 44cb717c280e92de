"""files.py PROGRAM SCRATCH - samples written by Python alone, TFRecord with sums of its own and NumPy
pairs, converted by the program and compared in Python, bit by bit; damage is refused by name.

Exit 77: NumPy is not here."""
import gzip
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


def make_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


TABLE = make_table()


def masked(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 255]
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def message(number, body):
    return varint(number << 3 | 2) + varint(len(body)) + body


def feature(key, kind, body):
    return message(1, message(1, key) + message(2, message(kind, body)))


def record(payload):
    head = struct.pack("<Q", len(payload))
    return head + masked(head) + payload + masked(payload)


def mlperf(x, y):
    floats = message(1, y.astype("<f4").tobytes())
    return record(message(1, feature(b"y", 2, floats) + feature(b"x", 1, message(1, x.astype("<i2").tobytes()))))


def run(*args):
    return subprocess.run([program, *args], capture_output=True, text=True, timeout=100)


def convert(what, out, **options):
    sets = [word for key, value in options.items() for word in ("--set", f"convert.{key}={value}")]
    done = run("convert", what, "--out", out, *sets)
    assert done.returncode == 0, done.stderr


def refused(what, *said):
    done = run("inspect", what)
    assert done.returncode == 3, (done.returncode, done.stderr)
    for text in (what, *said):
        assert text in done.stderr, f"{text!r} is not in {done.stderr!r}"


def read_record(path):
    """Payload bytes of the only record of a plain or compressed file."""
    data = open(path, "rb").read()
    data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    size = struct.unpack("<Q", data[:8])[0]
    assert data[8:12] == masked(data[:8]) and len(data) == size + 16
    assert data[-4:] == masked(data[12:-4])
    return data[12:-4]


rng = np.random.default_rng()
x = rng.poisson(1.0, (3, 9, 9, 9, 4)).astype("i2")
y = rng.uniform(-1, 1, (3, 4)).astype("f4")
records = [mlperf(x[k], y[k]) for k in range(3)]
inspected = run("inspect", "--version").stdout
packed = "zlib: zlib" in inspected
plain, zipped = f"{scratch}/three.tfrecord", f"{scratch}/zipped.tfrecord"
open(plain, "wb").write(b"".join(records))
open(zipped, "wb").write(gzip.compress(b"".join(records)))

# What it looks like.
seen = run("inspect", plain)
assert seen.returncode == 0, seen.stderr
assert "9 x 9 x 9 x 4 i16" in seen.stdout, seen.stdout
assert f"sum {int(x[0].sum())}," in seen.stdout, seen.stdout

# To NumPy and back.
for source in [plain] + [zipped] * packed:
    out = f"{source}.pairs"
    convert(source, out, format="npy")
    for k in range(3):
        data, label = (np.load(f"{out}/samples-{k:08d}_{part}.npy") for part in ("data", "label"))
        assert data.dtype == "i2" and np.array_equal(data, x[k])
        assert label.dtype == "f4" and np.array_equal(label, y[k])
level = 6 if packed else 0
convert(f"{plain}.pairs", f"{scratch}/back", level=level)
for k in range(3):
    payload = read_record(f"{scratch}/back/samples-{k:08d}.tfrecord")
    assert message(1, x[k].astype("<i2").tobytes()) in payload
    assert message(1, y[k].tobytes()) in payload

# Into its own folder: nothing of it is lost.
done = run("convert", f"{plain}.pairs", "--out", f"{plain}.pairs", "--overwrite", "--set", "convert.side=3")
assert done.returncode != 0 and "holds the input" in done.stderr, done.stderr
assert np.array_equal(np.load(f"{plain}.pairs/samples-00000002_data.npy"), x[2])

# Floats in the other byte order, with a dimension in front.
np.save(f"{scratch}/many_data.npy", rng.normal(size=(2, 4, 4, 4, 2)).astype(">f4"))
np.save(f"{scratch}/many_label.npy", y[:2].astype("f8"))
convert(f"{scratch}/many_data.npy", f"{scratch}/many", level=level)
many = np.load(f"{scratch}/many_data.npy").astype("<f4")
for k in range(2):
    assert message(1, many[k].tobytes()) in read_record(f"{scratch}/many/samples-{k:08d}.tfrecord")

# What is refused, by name.
bad = bytearray(b"".join(records))
bad[len(records[0]) + 100] ^= 1
open(f"{scratch}/crc.tfrecord", "wb").write(bad)
done = run("convert", f"{scratch}/crc.tfrecord", "--out", f"{scratch}/crc", "--set", "convert.level=0")
assert done.returncode == 3 and "record 2 (byte" in done.stderr and "CRC" in done.stderr, done.stderr
nan = y[0].copy()
nan[2] = np.nan
open(f"{scratch}/nan.tfrecord", "wb").write(mlperf(x[0], nan))
refused(f"{scratch}/nan.tfrecord", "sample 1", "label 3 is nan")
open(f"{scratch}/shape.tfrecord", "wb").write(mlperf(x[0, :8], y[0]))
refused(f"{scratch}/shape.tfrecord", "record 1 (byte", "key 'x'", "are no cube")
if packed:
    whole = gzip.compress(b"".join(records))
    open(f"{scratch}/cut.tfrecord", "wb").write(whole[:-20])
    refused(f"{scratch}/cut.tfrecord", "the compressed stream ends early")
    swapped = mlperf(x[0].byteswap(), y[0])
    open(f"{scratch}/swapped.tfrecord", "wb").write(swapped)
    assert "the bytes look exchanged" in run("inspect", f"{scratch}/swapped.tfrecord").stdout
# Parameters in their own units that all lie in [-1, 1], too, are recognised by their ranges.
config = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../configs/cosmoflow/tiny.yaml")
for low, warned in ((0.1, True), (-0.9, False)):
    some = rng.uniform((low, low), (0.5, 1.0), (16, 2)).astype("f4")
    some[0] = low
    open(f"{scratch}/some.tfrecord", "wb").write(b"".join(
        mlperf(rng.poisson(1.0, (32, 32, 32, 1)).astype("i2"), labels) for labels in some))
    done = run("run", "--config", config, "--out", f"{scratch}/run{low}", *(word for setting in (
        f"source.input=[{scratch}/some.tfrecord]", "files.names=[omega_m,sigma_8]", "files.range=[0.1,0.5,0.1,1.0]",
        "files.redshifts=[0]", "data.split.samples_per_universe=1", "train.steps=1") for word in ("--set", setting)))
    assert done.returncode == 0, done.stderr
    assert ("files.label_scale=physical if" in done.stderr) == warned, done.stderr

print("files of Python and of the program agree")
