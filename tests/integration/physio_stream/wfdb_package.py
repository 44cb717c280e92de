#!/usr/bin/env python3
"""wfdb_package.py PROGRAM WORK - files as the wfdb package of PyPI writes and reads them: the clock of NAME.qrs where no header
lies next to it, annotations of a query, and comments of a header that `convert` keeps."""
import os
import subprocess
import sys

program, work = sys.argv[1:3]
try:
    import numpy as np
    import wfdb
except ImportError as missing:
    print(f"skipped: {missing} (wfdb: PyPI)")
    sys.exit(77)

COMMENTS = ["69 M 1085 1629 x1", "Aldomet, Inderal", "Ventricular_Tachycardia", "True alarm"]
os.chdir(work)


def weir(*arguments):
    subprocess.run([program, *arguments, "--log", "error"], check=True)


def table(path):
    return np.genfromtxt(path, delimiter=",", names=True)


for rate in "256", "62.4725", "333.25", "1000", "250.1":
    made, found = "made" + rate, "found" + rate
    weir("prepare", "--set", "ecgsyn.duration=60", "--set", "ecgsyn.model.rate=" + rate, "--out", made)
    weir("run", "--input", made + "/ecgsyn", "--out", found)
    marks, beats = wfdb.rdann(found + "/ecgsyn", "qrs"), table(found + "/beats.csv")
    assert abs(marks.fs - float(rate)) < 1e-9, (rate, marks.fs)
    assert len(beats) > 40 and np.array_equal(marks.sample, beats["sample"]), rate
    assert np.abs(marks.sample / marks.fs - beats["time_s"]).max() * marks.fs < 1, rate

weir("run", "--input", "made256/ecgsyn", "--out", "query", "--set",
     "query={streams: [{name: ecg}], steps: [{name: beats, from: [ecg], do: detect}], "
     "outputs: [{stream: beats.beat, format: annotations}]}")
marks = wfdb.rdann("query/ecgsyn", "beats_beat")
assert marks.fs == 256 and np.array_equal(marks.sample, table("found256/beats.csv")["sample"])

signal = np.sin(np.arange(2500) / 30)[:, None]
wfdb.wrsamp("t100", fs=250, units=["mV"], sig_name=["II"], p_signal=signal, fmt=["16"], comments=COMMENTS)
weir("convert", "--input", "t100", "--out", "netcdf")
weir("convert", "--input", "netcdf/t100.nc", "--set", "convert.format=wfdb", "--out", "back")
back = wfdb.rdrecord("back/t100")
assert back.comments == COMMENTS, back.comments
assert np.array_equal(back.p_signal, wfdb.rdrecord("t100").p_signal)
# Frames of 5 Hz, annotations of 360: `convert` keeps their times, also through NetCDF and from EDF+.
rows = np.arange(3000 * 97).reshape(3000, 97) % 50
with open("m.dat", "wb") as file:
    file.write(rows.astype("<i2").tobytes())
with open("m.hea", "w", encoding="ascii") as file:
    file.write("m 2 5 3000\nm.dat 16x72 200/mV 16 0 0 0 0 ECG\nm.dat 16x25 10/mmHg 16 0 0 0 0 ABP\n")
times = 90 + 215 * np.arange(1000)
wfdb.wrann("m", "atr", times, symbol=["N"] * len(times), fs=360)
weir("convert", "--input", "m", "--set", "convert.annotations=m.atr", "--set", "convert.format=wfdb", "--out", "direct")
weir("convert", "--input", "m", "--set", "convert.annotations=m.atr", "--out", "m_netcdf")
weir("convert", "--input", "m_netcdf/m.nc", "--set", "convert.format=wfdb", "--out", "through")
for folder in "direct", "through":
    marks = wfdb.rdann(folder + "/m", "atr")
    assert marks.fs == 360 and np.array_equal(marks.sample, times), (folder, marks.fs)
wfdb.wrann("late", "qrs", times + 18, symbol=["N"] * len(times), fs=360)
weir("eval", "--set", "eval.start=0", "--set", "eval.reference=m.atr", "--set", "eval.test=late.qrs", "--out", "scored")
with open("scored/scores.csv", encoding="utf-8") as file:
    head, row = (line.strip().split(",") for line in file)
assert dict(zip(head, row))["se"] == "100.00", row

print("clocks of five rates, annotations and comments are read as they were meant")
