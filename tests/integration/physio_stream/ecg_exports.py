#!/usr/bin/env python3
"""ecg_exports.py PROGRAM WORK SOURCE - exports of MUSE (GE) and of Philips that a writer of their descriptions makes, read sample by
sample in both encodings, and damaged ones refused. Where sierraecg of PyPI is there, it reads the same Philips files. Where
WEIR_ECG_FILES names a folder with the unpacked source packages SPxml 1.1 and ecg2dcm 1.3.1 of PyPI, their files of devices are read."""
import base64
import csv
import glob
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as tree

program, work, source = sys.argv[1:4]
sys.path.insert(0, os.path.join(source, "tests/support/physio_stream"))
import ecg_exports as make  # noqa: E402
os.chdir(work)


def convert(path, out, *settings):
    return subprocess.run([program, "convert", "--input", path, "--set", "convert.format=csv", "--out", out, "--log", "warn",
                           *sum((["--set", text] for text in settings), [])], capture_output=True, text=True, check=False)


def table(path):
    with open(path, encoding="utf-8") as file:
        rows = list(csv.reader(line for line in file if not line.startswith("#")))
    return {name: [row[k] for row in rows[1:]] for k, name in enumerate(rows[0])}


def read(path, *settings):
    out = f"out{len(glob.glob('out*'))}"
    done = convert(path, out, *settings)
    assert done.returncode == 0, done.stderr
    name = os.path.splitext(os.path.basename(path))[0]
    events = f"{out}/{name}_events.csv"
    return table(f"{out}/{name}.csv"), table(events) if os.path.exists(events) else None


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)
    return path


def same(columns, leads, scale, unit="uV"):
    for name, samples in leads.items():
        got = columns[f"{name} ({unit})"]
        assert len(got) == len(samples), name
        worst = max(abs(float(a) - scale * b) for a, b in zip(got, samples))
        assert worst < 1e-9, (name, worst)


leads = make.twelve(3000)
stored = {name: leads[name] for name in ("I", "II", "V1", "V2", "V3", "V4", "V5", "V6")}
for encoding in "utf-8", "utf-16":
    columns, events = read(write("muse.xml", make.muse(stored, qrs=[(398, 0), (992, 1)], encoding=encoding)))
    assert len(columns) == 9
    same(columns, stored, 4.88)
    assert events["time_s"] == ["0.398", "0.992"] and events["text"] == ["QRS type 0", "QRS type 1"]
    columns, _ = read("muse.xml", "input.derived_leads=true")
    pairs = list(zip(leads["I"], leads["II"]))
    same(columns, stored | {"III": [b - a for a, b in pairs], "aVR": [-(a + b) / 2 for a, b in pairs],
                            "aVL": [a - b / 2 for a, b in pairs], "aVF": [b - a / 2 for a, b in pairs]}, 4.88)
    for version in "1.03", "1.04", "1.04.01", "1.04.02":
        columns, events = read(write("sierra.xml", make.sierra(leads, version, pulses=[120], encoding=encoding)))
        assert len(columns) == 13
        same(columns, leads, 5)
        assert events["time_s"] == ["0.12"] and events["text"] == ["pace pulse"]

damaged = [
    ("<LeadDataCRC32>", make.muse(stored, edit=lambda t: t.replace("<LeadDataCRC32>", "<LeadDataCRC32>1")), "LeadDataCRC32"),
    ("LeadSampleCountTotal", make.muse(stored, edit=lambda t: t.replace("Total>3000<", "Total>2999<")), "has 3000 samples"),
    ("!", make.muse(stored, edit=lambda t: t.replace("<WaveFormData>\n", "<WaveFormData>\n!")), "is no base64"),
    ("Hex", make.sierra(leads, edit=lambda t: t.replace('"Base64"', '"Hex"')), "only Base64 is read"),
    ("Huffman", make.sierra(leads, edit=lambda t: t.replace('"XLI"', '"Huffman"')), "only XLI is read"),
    ("1.05", make.sierra(leads, "1.05"), "version '1.05'"),
    ("duration", make.sierra(leads, edit=lambda t: t.replace('="6000"', '="5998"')), "more samples than durationperchannel"),
    ("cut", make.sierra(leads, edit=lambda t: re.sub(r"(XLI[^>]*>)[^<]*<", r"\1AAAA<", t)), "ends within the head"),
]
for what, data, reason in damaged:
    done = convert(write("damaged.xml", data), "refused")
    assert done.returncode == 3 and reason in done.stderr, (what, done.stderr)
print(f"{len(stored)} and {len(leads)} leads of {len(leads['I'])} samples, {len(damaged)} damaged files")

try:
    import sierraecg
except ImportError:
    print("sierraecg (PyPI) is not here")
else:
    write("sierra.xml", make.sierra(leads, encoding="utf-8"))
    for lead in sierraecg.read_file("sierra.xml").leads:
        # It rounds halves of negative sums down, which files of devices do not: up to one step of aVR, aVL and aVF.
        off = max(abs(int(a) - b) for a, b in zip(lead.samples, leads[lead.label]))
        assert off <= (1 if lead.label in ("aVR", "aVL", "aVF") else 0), (lead.label, off)
    print("sierraecg reads the same leads")

folder = os.environ.get("WEIR_ECG_FILES", "")
for path in glob.glob(f"{folder}/SPxml-1.1/libsierraecg/129DYPRG.XML") if folder else []:
    columns, _ = read(path)
    assert len(columns) == 13 and all(len(column) == 5500 for column in columns.values())
    # Of 100 samples of calibration, 1 mV; and Einthoven's law within the steps of an amplifier.
    names = ["I (uV)", "II (uV)", "III (uV)"]
    off = [abs(float(b) - float(a) - float(c)) for a, b, c in zip(*(columns[name] for name in names))]
    assert sorted(off)[int(0.98 * len(off)) - 1] <= 15
    off = [abs(float(r) + (float(a) + float(b)) / 2)
           for r, a, b in zip(columns["aVR (uV)"], columns["I (uV)"], columns["II (uV)"])]
    assert sorted(off)[int(0.98 * len(off)) - 1] <= 5
    print(f"{os.path.basename(path)}: {len(off)} samples of {len(columns) - 1} leads")
for path in glob.glob(f"{folder}/ecg2dcm-1.3.1/examples/guangxi_*.xml") if folder else []:
    columns, events = read(path)
    rhythm = [w for w in tree.parse(path).iter("Waveform") if w.findtext("WaveformType") == "Rhythm"][0]
    for lead in rhythm.findall("LeadData"):
        data = base64.b64decode(lead.findtext("WaveFormData"))
        samples = [int.from_bytes(data[k:k + 2], "little", signed=True) for k in range(0, len(data), 2)]
        same(columns, {lead.findtext("LeadID"): samples}, 4.88)
    assert len(events["time_s"]) == 16
    print(f"{os.path.basename(path)}: {len(samples)} samples of {len(columns) - 1} leads, 16 QRS complexes")
