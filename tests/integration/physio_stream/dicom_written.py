#!/usr/bin/env python3
"""dicom_written.py PROGRAM WORK - waveforms of DICOM that `convert` writes, taken apart here: modules, groups, scales, samples,
annotations; read back by this program, and by pydicom and dcmdump where they are there; and records that the format cannot hold,
refused."""
import os
import re
import shutil
import struct
import subprocess
import sys

program, work = sys.argv[1:3]
os.chdir(work)
LONG = ("OB", "OW", "SQ")


def convert(source, kind, out, *settings):
    return subprocess.run([program, "convert", "--input", source, "--set", f"convert.format={kind}", "--out", out, "--log", "error",
                           *sum((["--set", text] for text in settings), [])], capture_output=True, text=True, check=False)


def lines(path):
    with open(path, encoding="utf-8") as file:
        return [line for line in file.read().splitlines() if not line.startswith("#")]


def parse(data, at, end):
    """Elements of a data set in explicit VR little endian: {tag: value}, of a sequence a list of such."""
    found = {}
    last = 0
    while at < end:
        tag = struct.unpack_from("<HH", data, at)
        if tag[0] == 0xFFFE:
            return found, at + 8
        assert tag[0] << 16 | tag[1] > last, (tag, "not in ascending order")
        last = tag[0] << 16 | tag[1]
        vr = data[at + 4:at + 6].decode()
        length = struct.unpack_from("<I" if vr in LONG else "<H", data, at + (8 if vr in LONG else 6))[0]
        at += 12 if vr in LONG else 8
        if vr == "SQ" and length:
            items = []
            while struct.unpack_from("<HH", data, at) == (0xFFFE, 0xE000):
                item, at = parse(data, at + 8, end)
                items.append(item)
            assert struct.unpack_from("<HH", data, at) == (0xFFFE, 0xE0DD)
            at += 8
            value = items
        else:
            assert length % 2 == 0
            value = data[at:at + length]
            at += length
            if vr not in ("OB", "OW", "US", "UL", "SQ"):
                value = value.decode().rstrip(" \0")
            elif vr in ("US", "UL"):
                value = struct.unpack(f"<{length // (2 if vr == 'US' else 4)}{'H' if vr == 'US' else 'I'}", value)
        found[tag] = value
    return found, at


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    assert data[:132] == bytes(128) + b"DICM"
    length = struct.unpack_from("<I", data, 140)[0]
    meta, _ = parse(data, 132, 144 + length)
    assert meta[2, 0x10] == "1.2.840.10008.1.2.1"
    found, end = parse(data, 144 + length, len(data))
    assert end == len(data) and meta[2, 2] == found[8, 0x16] and meta[2, 3] == found[8, 0x18]
    return found


def check_others(path):
    """pydicom, of `setup.sh bench`, and dcmdump, which setup.sh does not install, read the same."""
    told = []
    if shutil.which("dcmdump"):
        done = subprocess.run(["dcmdump", "-q", path], capture_output=True, text=True, check=False)
        assert done.returncode == 0 and not done.stderr and "WaveformData" in done.stdout, done.stderr
        told.append("dcmdump")
    try:
        import numpy as np
        import pydicom
    except ImportError:
        return told
    data, mine = pydicom.dcmread(path), read(path)
    for number, group in enumerate(mine[0x5400, 0x100]):
        n = group[0x3A, 5][0]
        raw = np.frombuffer(group[0x5400, 0x1010], "<i2").reshape(-1, n)
        scales = [(float(c[0x3A, 0x210]), float(c[0x3A, 0x213])) for c in group[0x3A, 0x200]]
        theirs = data.waveform_array(number)
        assert theirs.shape == raw.shape
        assert np.array_equal(theirs, np.column_stack([raw[:, k] * np.float64(s) + b for k, (s, b) in enumerate(scales)]))
    return told + [f"pydicom {pydicom.__version__}"]


# Two leads at 250 Hz from a stated time; both miss samples at different places.
samples = [[(7 * k % 31 - 15) / 100 for k in range(100)], [(5 * k % 23 - 11) / 50 for k in range(100)]]
missing = [set(range(20, 30)) | set(range(50, 60)), set(range(50, 60)) | set(range(95, 100))]
with open("two.csv", "w", encoding="utf-8") as file:
    file.write("time,II (mV),aVF (mV)\n")
    file.writelines(f"2024-02-29T10:15:{k * 4 // 1000:02d}.{k * 4 % 1000:03d},"
                    + ",".join("" if k in missing[i] else f"{samples[i][k]:.3f}" for i in range(2)) + "\n" for k in range(100))
done = convert("two.csv", "dicom", "dicom", "convert.gain=1000")
assert done.returncode == 0, done.stderr
found = read("dicom/two.dcm")
assert found[8, 0x16] == "1.2.840.10008.5.1.4.1.1.9.1.2" and found[8, 0x60] == "ECG"
assert found[8, 0x2A].startswith("20240229101500.000000") and found[8, 0x23] == "20240229"
assert all(found[tag] == "" for tag in ((0x10, 0x10), (0x10, 0x20), (0x10, 0x30), (0x10, 0x40), (8, 0x50), (8, 0x90), (0x20, 0x10)))
uids = [found[tag] for tag in ((8, 0x18), (0x20, 0xD), (0x20, 0xE))]
assert len(set(uids)) == 3 and all(uid.startswith("2.25.") and int(uid[5:]) >> 76 & 15 == 8 and int(uid[5:]) >> 62 & 3 == 2 for uid in uids)
(group,) = found[0x5400, 0x100]
assert group[0x3A, 4] == "ORIGINAL" and float(group[0x3A, 0x1A]) == 250 and group[0x3A, 5] == (2,) and group[0x3A, 0x10] == (100,)
assert group[0x5400, 0x1006] == "SS" and group[0x5400, 0x1004] == (16,)
codes = [(c[0x3A, 0x208][0][8, 0x100], c[0x3A, 0x208][0][8, 0x102], c[0x3A, 0x211][0][8, 0x100]) for c in group[0x3A, 0x200]]
assert codes == [("2:2", "MDC", "mV"), ("2:64", "MDC", "mV")], codes
raw = struct.unpack("<200h", group[0x5400, 0x1010])
padding = struct.unpack("<h", group[0x5400, 0x100A])[0]
for i, channel in enumerate(group[0x3A, 0x200]):
    assert {k for k in range(100) if raw[2 * k + i] == padding} == missing[i]
    scale, origin = float(channel[0x3A, 0x210]) * float(channel[0x3A, 0x212]), float(channel[0x3A, 0x213])
    assert all(abs(raw[2 * k + i] * scale + origin - samples[i][k]) < 1e-9 for k in set(range(100)) - missing[i])
assert convert("dicom/two.dcm", "csv", "back").returncode == 0 and convert("two.csv", "csv", "same").returncode == 0
assert [line.split(",")[1:] for line in lines("back/two.csv")] == [line.split(",")[1:] for line in lines("same/two.csv")]
others = check_others("dicom/two.dcm")

# A record that does not say when it began, with beats: every stored integer and annotation.
subprocess.run([program, "prepare", "--set", "ecgsyn.duration=10", "--out", "record", "--log", "error"], check=True)
atr = "convert.annotations=record/ecgsyn.atr"
done = convert("record/ecgsyn", "dicom", "beats", atr)
assert done.returncode == 0, done.stderr
found = read("beats/ecgsyn.dcm")
assert found[8, 0x2A] == "1900"
notes = found[0x40, 0xB020]
assert {note[0x40, 0xA043][0][8, 0x102] for note in notes} == {"MDC"} and {note[0x40, 0xA130] for note in notes} == {"POINT"}
assert convert("record/ecgsyn", "csv", "one", atr).returncode == 0 and convert("beats/ecgsyn.dcm", "csv", "again").returncode == 0
assert lines("one/ecgsyn.csv") == lines("again/ecgsyn.csv")
assert lines("one/ecgsyn_events.csv") == lines("again/ecgsyn_events.csv") and len(notes) == len(lines("one/ecgsyn_events.csv")) - 1
check_others("beats/ecgsyn.dcm")

# The offset from UTC goes from an annotated ECG to DICOM, to NetCDF and back.
assert convert("two.csv", "aecg", "zone", "convert.gain=1000").returncode == 0
with open("zone/two.xml", encoding="utf-8") as file:
    text = file.read()
with open("two.xml", "w", encoding="utf-8") as file:
    file.write(re.sub(r'"(2024\d{10}[.]\d+)"', r'"\1-0330"', text))
for source, kind, out in (("two.xml", "dicom", "d"), ("d/two.dcm", "netcdf", "n"), ("n/two.nc", "aecg", "a")):
    done = convert(source, kind, out)
    assert done.returncode == 0, done.stderr
found = read("d/two.dcm")
assert found[8, 0x2A] == "20240229101500.000000-0330" and found[8, 0x201] == "-0330"
with open("two.xml", encoding="utf-8") as one, open("a/two.xml", encoding="utf-8") as other:
    times = [re.findall(r'"(2024\d{10}[.]\d+-0330)"', file.read()) for file in (one, other)]
assert len(times[0]) == 7 and times[0] == times[1], times

refused = [("unit", "# sampling rate (Hz): 250\ntime_s,Pressure (mmHg)\n0,1\n0.004,2\n", "the name of no pressure"),
           ("rate", "# sampling rate (Hz): 25\ntime_s,II (mV)\n0,1\n0.04,2\n", "200 to 1000 Hz"),
           ("names", "# sampling rate (Hz): 250\ntime_s,EMG (mV)\n0,1\n0.004,2\n", "the name of no lead")]
for what, text, reason in refused:
    with open("refused.csv", "w", encoding="utf-8") as file:
        file.write(text)
    done = convert("refused.csv", "dicom", "refused")
    assert done.returncode in (2, 3, 7) and reason in done.stderr, (what, done.stderr)
    assert not os.path.exists("refused/refused.dcm")
print(f"{len(notes)} annotations; read by {', '.join(['this program'] + others)}")
