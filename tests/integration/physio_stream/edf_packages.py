#!/usr/bin/env python3
"""edf_packages.py PROGRAM WORK - EDF+ and BDF+ files of `convert` as pyedflib and MNE of PyPI read them: values within a step, rates, dates,
annotations; and a file of pyedflib, with transducer and prefilter, through this program and back."""
import os
import subprocess
import sys

program, work = sys.argv[1:3]
try:
    import mne
    import numpy as np
    import pyedflib
except ImportError as missing:
    print(f"skipped: {missing} (pyedflib, mne: PyPI)")
    sys.exit(77)

os.chdir(work)
mne.set_log_level("error")


def convert(source, out, *settings):
    subprocess.run([program, "convert", "--input", source, "--out", out, "--log", "error",
                    *sum((["--set", text] for text in settings), [])], check=True)


def quantum(reader, signal):
    return (reader.getPhysicalMaximum(signal) - reader.getPhysicalMinimum(signal)) / \
        (reader.getDigitalMaximum(signal) - reader.getDigitalMinimum(signal))


# Text of two signals, as numbers.
rng = np.random.default_rng(3)
time = np.arange(10 * 250) / 250
columns = np.column_stack([np.round(np.sin(7 * time) + 0.01 * rng.normal(size=len(time)), 6), np.round(1000 + 20 * np.cos(time), 4)])
with open("two.csv", "w", encoding="utf-8") as file:
    file.write("time (s),ECG (mV),Pressure (hPa)\n")
    file.writelines(f"{t:.3f},{a:.6f},{b:.4f}\n" for t, (a, b) in zip(time, columns))
for suffix, steps in ("edf", 65534), ("bdf", 16777214):
    convert("two.csv", suffix, f"convert.format={suffix}")
    with pyedflib.EdfReader(f"{suffix}/two.{suffix}") as reader:
        assert reader.getSignalLabels() == ["ECG", "Pressure"] and list(reader.getSampleFrequencies()) == [250, 250]
        assert reader.getPhysicalDimension(1) == "hPa"
        for k in range(2):
            step = quantum(reader, k)
            off = np.abs(reader.readSignal(k) - columns[:, k]).max()
            assert off <= 0.5001 * step + 1.2e-7 * np.abs(columns[:, k]).max(), (suffix, k, off, step)
            assert step < 1.002 * np.ptp(columns[:, k]) / steps, (suffix, k, step)
    raw = getattr(mne.io, f"read_raw_{suffix}")(f"{suffix}/two.{suffix}", preload=True)
    assert raw.info["sfreq"] == 250 and np.abs(raw.get_data(["ECG"])[0] * 1e3 - columns[:, 0]).max() < 4e-5

# A recording with gaps and beats; continuous for pyedflib, interrupted for MNE.
subprocess.run([program, "prepare", "--set", "ecgsyn.duration=60", "--set", "ecgsyn.gaps.missing=0.2", "--set", "ecgsyn.gaps.mean=3",
                "--out", "record", "--log", "error"], check=True)
convert("record/ecgsyn", "continuous", "convert.format=edf", "convert.continuous=true", "convert.annotations=record/ecgsyn.atr")
convert("record/ecgsyn", "interrupted", "convert.format=edf", "convert.annotations=record/ecgsyn.atr")
stored = np.fromfile("record/ecgsyn.dat", dtype="<i2")
with pyedflib.EdfReader("continuous/ecgsyn.edf") as reader:
    assert np.array_equal(reader.readSignal(0, digital=True)[:len(stored)], stored)
    onsets, durations, texts = reader.readAnnotations()
missing = [(onset, length) for onset, length, text in zip(onsets, durations, texts) if text == "BAD_missing@@ECG"]
absent = np.zeros(len(stored), dtype=bool)
for onset, length in missing:
    absent[round(onset * 256):round((onset + length) * 256)] = True
assert np.array_equal(absent, stored == -32768) and absent.any()
assert sum(text == "N" for text in texts) > 30
raw = mne.io.read_raw_edf("interrupted/ecgsyn.edf", preload=True)
kept = np.flatnonzero(raw.get_data()[0] * 1e3 > -6.55335)
assert np.allclose(raw.get_data()[0][kept] * 1e3, stored[stored != -32768] / 5000, atol=1e-4)
assert "N" in raw.annotations.description and "BAD_missing" in raw.annotations.description

# Of pyedflib: header texts and a date.
writer = pyedflib.EdfWriter("theirs.edf", 1, file_type=pyedflib.FILETYPE_EDFPLUS)
writer.setSignalHeaders([{"label": "EMG", "dimension": "uV", "sample_frequency": 200, "physical_max": 500.5, "physical_min": -499.5,
                          "digital_max": 2047, "digital_min": -2048, "transducer": "AgAgCl electrodes", "prefilter": "HP:10Hz LP:90Hz"}])
writer.setStartdatetime(__import__("datetime").datetime(2019, 3, 4, 5, 6, 7))
values = 400 * np.sin(np.arange(2000) / 9)
writer.writeSamples([values])
writer.writeAnnotation(1.5, 2.25, "contraction")
writer.close()
convert("theirs.edf", "ours", "convert.format=edf")
with pyedflib.EdfReader("theirs.edf") as first, pyedflib.EdfReader("ours/theirs.edf") as second:
    assert np.array_equal(first.readSignal(0, digital=True), second.readSignal(0, digital=True))
    assert np.allclose(first.readSignal(0), second.readSignal(0), atol=1e-9)
    assert second.getTransducer(0) == "AgAgCl electrodes" and second.getPrefilter(0) == "HP:10Hz LP:90Hz"
    assert first.getStartdatetime() == second.getStartdatetime()
    assert [list(x) for x in second.readAnnotations()] == [[1.5], [2.25], ["contraction"]]
print(f"pyedflib {pyedflib.__version__}, MNE {mne.__version__}: {len(missing)} gaps, {len(stored)} samples")
