#!/usr/bin/env python3
"""dicom_package.py PROGRAM WORK - DICOM waveforms that pydicom reads and writes: its 12-lead ECG and objects made here, in every
transfer syntax of waveforms; each value is compared with pydicom's multiplex_array."""
import csv
import os
import subprocess
import sys

program, work = sys.argv[1:3]
try:
    import numpy as np
    import pydicom
    from pydicom.dataset import Dataset, FileMetaDataset
    from pydicom.uid import (DeflatedExplicitVRLittleEndian, ExplicitVRBigEndian, ExplicitVRLittleEndian, ImplicitVRLittleEndian,
                             generate_uid)
except ImportError as missing:
    print(f"skipped: there is no {missing.name}")
    sys.exit(77)
os.chdir(work)


def table(path):
    out = os.path.splitext(os.path.basename(path))[0]
    subprocess.run([program, "convert", "--input", path, "--set", "convert.format=csv", "--out", out, "--log", "error"], check=True)
    with open(f"{out}/{out}.csv", encoding="utf-8") as file:
        rows = list(csv.reader(line for line in file if not line.startswith("#")))
    return rows[0][1:], np.array([[float(x) if x else np.nan for x in row[1:]] for row in rows[1:]])


def code(value, scheme, meaning):
    item = Dataset()
    item.CodeValue, item.CodingSchemeDesignator, item.CodeMeaning = value, scheme, meaning
    return [item]


def write(path, syntax, bits, sample_type, dtype):
    """A General ECG of three leads, 4 s of 250 Hz; the third value of the first lead is missing."""
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    samples = np.random.default_rng(1).integers(low + 1, high, (1000, 3), dtype=dtype)
    samples[2, 0] = low
    data = Dataset()
    data.SOPClassUID, data.SOPInstanceUID = "1.2.840.10008.5.1.4.1.1.9.1.2", generate_uid()
    data.AcquisitionDateTime = "20240229101500.125"
    group = Dataset()
    group.WaveformOriginality, group.NumberOfWaveformChannels, group.NumberOfWaveformSamples = "ORIGINAL", 3, 1000
    group.SamplingFrequency, group.ChannelDefinitionSequence = 250, []
    for number, (lead, scale) in enumerate((("I", "0.5"), ("II", "1.25"), ("V1", "-2"))):
        channel = Dataset()
        channel.ChannelLabel, channel.ChannelSourceSequence = lead, code(f"2:{number + 1}", "MDC", "Lead " + lead)
        channel.ChannelSensitivity, channel.ChannelSensitivityCorrectionFactor, channel.ChannelBaseline = scale, "1.02", "-3.5"
        channel.ChannelSensitivityUnitsSequence, channel.ChannelSampleSkew = code("uV", "UCUM", "microvolt"), "0"
        channel.WaveformBitsStored = bits
        group.ChannelDefinitionSequence.append(channel)
    group.WaveformBitsAllocated, group.WaveformSampleInterpretation = bits, sample_type
    order = ">" if syntax == ExplicitVRBigEndian else "<"
    stored = np.dtype(dtype).newbyteorder(order)
    group.add_new("WaveformPaddingValue", "OB" if bits == 8 else "OW", np.array([low], stored).tobytes() + b"\0" * (bits == 8))
    group.add_new("WaveformData", "OB" if bits == 8 else "OW", samples.astype(stored).tobytes())
    data.WaveformSequence = [group]
    data.file_meta = FileMetaDataset()
    data.file_meta.TransferSyntaxUID = syntax
    pydicom.dcmwrite(path, data, enforce_file_format=True)
    return samples


sample = pydicom.data.get_testdata_file("waveform_ecg.dcm", download=False)
names, values = table(sample)
theirs = pydicom.dcmread(sample).waveform_array(0)
assert names == [f"{lead} (uV)" for lead in "I II III aVR aVL aVF V1 V2 V3 V4 V5 V6".split()], names
assert values.shape == theirs.shape == (10000, 12)
assert np.abs(values - theirs).max() <= 1e-6 * np.abs(theirs).max()
with open("waveform_ecg/waveform_ecg_events.csv", encoding="utf-8") as file:
    events = [(float(row["time_s"]), row["text"]) for row in csv.DictReader(file)]
notes = [note for note in pydicom.dcmread(sample).WaveformAnnotationSequence
         if "TemporalRangeType" in note and note.ReferencedWaveformChannels[0] == 1]
assert len(events) == len(notes) > 0
for (time, text), note in zip(events, notes):
    assert abs(time - (note.ReferencedSamplePositions - 1) / 1000) < 1e-9 and text == note.ConceptNameCodeSequence[0].CodeMeaning

for syntax in (ImplicitVRLittleEndian, ExplicitVRLittleEndian, DeflatedExplicitVRLittleEndian, ExplicitVRBigEndian):
    for bits, sample_type, dtype in ((8, "SB", np.int8), (8, "UB", np.uint8), (16, "SS", np.int16), (16, "US", np.uint16)):
        path = f"{syntax.name.replace(' ', '_')}_{sample_type}.dcm"
        samples = write(path, syntax, bits, sample_type, dtype)
        names, values = table(path)
        assert names == ["I (uV)", "II (uV)", "V1 (uV)"], names
        theirs = samples * np.array([0.5, 1.25, -2]) * 1.02 - 3.5
        if syntax != ExplicitVRBigEndian:  # pydicom takes little-endian data of it only
            assert np.allclose(pydicom.dcmread(path).waveform_array(0), theirs, rtol=1e-12, atol=1e-9)
        assert np.isnan(values[2, 0]) and np.isnan(values).sum() == 1
        theirs[2, 0] = values[2, 0] = 0
        assert np.abs(values - theirs).max() <= 1e-6 * np.abs(theirs).max(), path
print(f"pydicom {pydicom.__version__}: {len(events)} annotations, {10000 * 12} samples and 16 files")
