#!/usr/bin/env python3
"""tables_netcdf.py PROGRAM WORK SOURCE - tables of `eval` and `train` as NetCDF: each column of each CSV file, cell by cell, with its units
and meaning. Exit 77: netCDF4 for Python is not here."""
import csv
import glob
import math
import os
import subprocess
import sys

program, work, source = sys.argv[1:4]
try:
    import netCDF4
except ImportError:
    print("skipped: this Python has no netCDF4")
    sys.exit(77)
os.chdir(work)


def run(command, out, *settings):
    subprocess.run([program, command, "--out", out, "--log", "error", *sum((["--set", text] for text in settings), [])],
                   check=True, stdout=subprocess.DEVNULL)


def compare(folder, tables):
    for path in sorted(glob.glob(f"{folder}/*.csv")):
        name = os.path.basename(path)[:-4]
        with open(path, encoding="utf-8") as file:
            head, *rows = list(csv.reader(file))
        with netCDF4.Dataset(f"{folder}/{name}.nc") as nc:
            nc.set_auto_mask(False)
            assert nc.Conventions == "CF-1.8" and nc.title == f"physio_stream: table {name}"
            assert len(nc.dimensions["row"]) == len(rows)
            for k, column in enumerate(head):
                var = nc["".join(c if c.isalnum() else "_" for c in column)]
                assert var.dimensions == ("row",) and var.long_name
                cells = [row[k] for row in rows]
                if var.dtype == str:
                    assert list(var[:]) == cells, (name, column)
                    continue
                assert var.dtype == "f8" and var.units, (name, column)
                for text, value in zip(cells, var[:]):
                    assert math.isnan(value) if text == "" else float(text) == value, (name, column, text, value)
        tables.append(f"{folder}/{name}")


# A record with noise in which beats are missed or false.
tables = []
run("prepare", "loud", "ecgsyn.duration=60", "ecgsyn.noise.white=true", "ecgsyn.noise.white_snr=-6")
run("run", "found", "input.record=loud/ecgsyn")
run("eval", "score", "eval.start=0", "eval.reference=loud/ecgsyn.atr", "eval.test=found/ecgsyn.qrs")
compare("score", tables)
assert len(tables) == 5, tables
with netCDF4.Dataset("score/scores.nc") as nc:
    assert nc["se"].units == "percent" and nc["se"].long_name == "sensitivity"
    assert nc["record"][0] == "ecgsyn" and nc["rr_rms_ms"].units == "ms"
with netCDF4.Dataset("score/hrv.nc") as nc:
    assert nc["lf_ms2"].units == "ms2" and nc["annotations"].dtype == str

# Classes of beats, learnt from a few minutes of two recordings.
data = os.environ.get("WEIR_TEST_DATA", os.path.join(source, "../shared/data")) + "/physio/wfdb/mitdb"
if os.path.isdir(data):
    records = f"[{data}/119,{data}/208]"
    subprocess.run([program, "run", "--config", f"{source}/configs/physio_stream/query_classes.yaml", "--set", f"input.records={records}",
                    "--set", "input.to=240", "--out", "features", "--log", "error"], check=True, stdout=subprocess.DEVNULL)
    run("train", "trained", f"beats.records={records}", "beats.folder=features")
    compare("trained", tables)
    with netCDF4.Dataset("trained/confusion.nc") as nc:
        assert set(nc["record"][:]) >= {"119", "208"} and nc["V"].units == "1"
print(" ".join(tables))
