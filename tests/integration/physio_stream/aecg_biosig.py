#!/usr/bin/env python3
"""aecg_biosig.py PROGRAM WORK - an annotated ECG of HL7 that save2gdf of BioSig (Debian: biosig-tools) writes from an EDF file, read
sample by sample; and the same file taken apart by ElementTree."""
import csv
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as tree

program, work = sys.argv[1:3]
if shutil.which("save2gdf") is None:
    print("skipped: there is no save2gdf (biosig-tools)")
    sys.exit(77)
os.chdir(work)


def run(*words):
    subprocess.run([program, *words, "--log", "error"], check=True)


def column(path, name):
    with open(path, encoding="utf-8") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return [float(row[name]) for row in rows]


run("prepare", "--set", "ecgsyn.duration=20", "--out", "record")
run("convert", "--input", "record/ecgsyn", "--set", "convert.format=edf", "--out", "edf")
subprocess.run(["save2gdf", "-f=HL7", "edf/ecgsyn.edf", "ecgsyn.xml"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
run("convert", "--input", "record/ecgsyn", "--set", "convert.format=csv", "--out", "before")
run("convert", "--input", "ecgsyn.xml", "--set", "convert.format=csv", "--out", "after")
before, after = column("before/ecgsyn.csv", "ECG (mV)"), column("after/ecgsyn.csv", "ECG (mV)")
assert len(before) == len(after) == 20 * 256
assert max(abs(a - b) for a, b in zip(before, after)) < 1e-6

names = {"h": "urn:hl7-org:v3"}
sequence = tree.parse("ecgsyn.xml").find(".//h:sequenceSet", names)[1].find("h:sequence", names)
value = {part: sequence.find(f"h:value/h:{part}", names) for part in ("origin", "scale", "digits")}
origin, scale = (float(value[part].get("value")) for part in ("origin", "scale"))
assert max(abs(origin + scale * int(text) - x) for text, x in zip(value["digits"].text.split(), after)) < 1e-6
run("run", "--input", "record/ecgsyn", "--out", "a")
run("run", "--input", "ecgsyn.xml", "--out", "b")
with open("a/beats.csv", encoding="utf-8") as a, open("b/beats.csv", encoding="utf-8") as b:
    assert [line.split(",")[0] for line in a] == [line.split(",")[0] for line in b]
print(f"{len(after)} samples of {sequence.find('h:code', names).get('code')}")
