#!/usr/bin/env python3
"""aecg_written.py PROGRAM WORK - annotated ECGs that `convert` writes, taken apart by ElementTree: namespaces, times, increments, scales,
codes of leads, annotations; read back by this program; and records that the format cannot hold, refused."""
import subprocess
import sys
import os
import xml.etree.ElementTree as tree

program, work = sys.argv[1:3]
os.chdir(work)
HL7 = {"h": "urn:hl7-org:v3"}
TYPE = "{http://www.w3.org/2001/XMLSchema-instance}type"


def convert(source, kind, out, *settings):
    return subprocess.run([program, "convert", "--input", source, "--set", f"convert.format={kind}", "--out", out, "--log", "error",
                           *sum((["--set", text] for text in settings), [])], capture_output=True, text=True, check=False)


def lines(path):
    with open(path, encoding="utf-8") as file:
        return [line for line in file.read().splitlines() if not line.startswith("#")]


# Two leads at 250 Hz from a stated time; one misses samples 20 to 29, both miss 50 to 59, the last five of one are missing.
samples = [[(7 * k % 31 - 15) / 100 for k in range(100)], [(5 * k % 23 - 11) / 50 for k in range(100)]]
missing = [set(range(20, 30)) | set(range(50, 60)), set(range(50, 60)) | set(range(95, 100))]


def cell(lead, k):
    return "" if k in missing[lead] else f"{samples[lead][k]:.3f}"


with open("two.csv", "w", encoding="utf-8") as file:
    file.write("time,II (mV),aVF (mV)\n")
    file.writelines(f"2024-02-29T10:15:{k * 4 // 1000:02d}.{k * 4 % 1000:03d},{cell(0, k)},{cell(1, k)}\n" for k in range(100))
done = convert("two.csv", "aecg", "absolute", "convert.gain=1000")
assert done.returncode == 0, done.stderr
root = tree.parse("absolute/two.xml").getroot()
assert root.tag == "{urn:hl7-org:v3}AnnotatedECG"
series = root.find("h:component/h:series", HL7)
assert series.find("h:code", HL7).get("code") == "RHYTHM"
assert series.find("h:effectiveTime/h:low", HL7).get("value") == "20240229101500.000"
begins, found = [], [{}, {}]
for group in series.findall("h:component/h:sequenceSet", HL7):
    times, *leads = group.findall("h:component/h:sequence", HL7)
    value = times.find("h:value", HL7)
    assert times.find("h:code", HL7).get("code") == "TIME_ABSOLUTE" and value.get(TYPE) == "GLIST_TS"
    assert (value.find("h:increment", HL7).get("value"), value.find("h:increment", HL7).get("unit")) == ("0.004", "s")
    begin = value.find("h:head", HL7).get("value")
    assert begin.startswith("20240229101500.")
    first = round(float(begin[14:]) * 250)
    begins.append(first)
    for lead in leads:
        code, value = lead.find("h:code", HL7), lead.find("h:value", HL7)
        assert code.get("codeSystem") == "2.16.840.1.113883.6.24" and value.get(TYPE) == "SLIST_PQ"
        which = ["MDC_ECG_LEAD_II", "MDC_ECG_LEAD_AVF"].index(code.get("code"))
        origin, scale = (value.find(f"h:{part}", HL7) for part in ("origin", "scale"))
        assert origin.get("unit") == scale.get("unit") == "mV"
        for k, digit in enumerate(value.find("h:digits", HL7).text.split()):
            found[which][first + k] = float(origin.get("value")) + float(scale.get("value")) * int(digit)
assert begins == [0, 20, 30, 60, 95], begins
for which in range(2):
    assert set(found[which]) == set(range(100)) - missing[which]
    assert max(abs(samples[which][k] - x) for k, x in found[which].items()) < 1e-9
assert convert("absolute/two.xml", "csv", "back").returncode == 0
assert convert("two.csv", "csv", "same").returncode == 0
assert [line.split(",")[1:] for line in lines("back/two.csv")] == [line.split(",")[1:] for line in lines("same/two.csv")]

# A record that does not say when it began, with beats: relative times, every stored integer and annotation.
subprocess.run([program, "prepare", "--set", "ecgsyn.duration=10", "--out", "record", "--log", "error"], check=True)
atr = "convert.annotations=record/ecgsyn.atr"
assert convert("record/ecgsyn", "aecg", "relative", atr).returncode == 0
root = tree.parse("relative/ecgsyn.xml").getroot()
value = root.find(".//h:sequence/h:value", HL7)
assert value.get(TYPE) == "GLIST_PQ" and float(value.find("h:head", HL7).get("value")) == 0
notes = root.findall(".//h:annotation", HL7)
assert {note.find("h:code", HL7).get("code") for note in notes} == {"MDC_ECG_BEAT"}
assert convert("record/ecgsyn", "csv", "one", atr).returncode == 0 and convert("relative/ecgsyn.xml", "csv", "two").returncode == 0
assert lines("one/ecgsyn.csv") == lines("two/ecgsyn.csv")
assert lines("one/ecgsyn_events.csv") == lines("two/ecgsyn_events.csv") and len(notes) == len(lines("one/ecgsyn_events.csv")) - 1

refused = [("unit", "# sampling rate (Hz): 250\ntime_s,Pressure (mmHg)\n0,1\n0.004,2\n", "is in 'mmHg'"),
           ("rate", "# sampling rate (Hz): 62.4725\ntime_s,II (mV)\n" + "".join(f"{k / 62.4725:.9f},{k}\n" for k in range(9)),
            "has no exact decimal number"),
           ("names", "# sampling rate (Hz): 250\ntime_s,TIME_X (mV)\n0,1\n0.004,2\n", "does not begin with TIME_")]
for what, text, reason in refused:
    with open("refused.csv", "w", encoding="utf-8") as file:
        file.write(text)
    done = convert("refused.csv", "aecg", "refused")
    assert done.returncode in (2, 3, 7) and reason in done.stderr, (what, done.stderr)
    assert not os.path.exists("refused/refused.xml")
print(f"{len(begins)} sequence sets, {len(notes)} annotations")
