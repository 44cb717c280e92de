"""ecg_exports.py - writes exports of ECG systems from the descriptions alone, for tests of their readers: MUSE of GE (base64, CRC-32) and
Philips (LZW of ten bits over second differences). Samples are lists of integers by lead."""
import base64
import struct
import zlib

LIMB = ["I", "II", "III", "aVR", "aVL", "aVF"]


def muse(leads, rate=500, scale="4.88", date="02-29-2024", time="10:15:00", qrs=(), encoding="utf-8", median=True, edit=lambda text: text):
    """An export of MUSE as bytes; `qrs` are pairs of a time in ms and a type."""
    def lead(name, samples):
        data = struct.pack(f"<{len(samples)}h", *samples)
        text = base64.encodebytes(data).decode()
        return (f"<LeadData><LeadByteCountTotal>{len(data)}</LeadByteCountTotal><LeadTimeOffset>0</LeadTimeOffset>"
                f"<LeadSampleCountTotal>{len(samples)}</LeadSampleCountTotal>"
                f"<LeadAmplitudeUnitsPerBit>{scale}</LeadAmplitudeUnitsPerBit><LeadAmplitudeUnits>MICROVOLTS</LeadAmplitudeUnits>"
                f"<LeadHighLimit>32767</LeadHighLimit><LeadLowLimit>-32768</LeadLowLimit><LeadID>{name}</LeadID>"
                "<LeadOffsetFirstSample>0</LeadOffsetFirstSample><FirstSampleBaseline>0</FirstSampleBaseline>"
                f"<LeadSampleSize>2</LeadSampleSize><LeadOff>FALSE</LeadOff><LeadDataCRC32>{zlib.crc32(data)}</LeadDataCRC32>"
                f"<WaveFormData>\n{text}</WaveFormData></LeadData>\n")

    def waveform(kind, of):
        return (f"<Waveform><WaveformType>{kind}</WaveformType><WaveformStartTime>0</WaveformStartTime><NumberofLeads>{len(of)}"
                "</NumberofLeads><SampleType>CONTINUOUS_SAMPLES</SampleType>"
                f"<SampleBase>{rate}</SampleBase><SampleExponent>0</SampleExponent>\n"
                + "".join(lead(*item) for item in of.items()) + "</Waveform>\n")
    beats = "".join(f"<QRS><Number>{k + 1}</Number><Type>{kind}</Type><Time>{at}</Time></QRS>" for k, (at, kind) in enumerate(qrs))
    text = (f'<?xml version="1.0" encoding="{encoding.upper()}"?>\n<!DOCTYPE RestingECG SYSTEM "restecg.dtd">\n<RestingECG>\n'
            "<PatientDemographics><PatientLastName>Doe</PatientLastName></PatientDemographics>\n"
            f"<TestDemographics><AcquisitionTime>{time}</AcquisitionTime><AcquisitionDate>{date}</AcquisitionDate></TestDemographics>\n"
            f"<QRSTimesTypes>{beats}<GlobalRR>800</GlobalRR></QRSTimesTypes>\n"
            + (waveform("Median", {name: samples[:4] for name, samples in leads.items()}) if median else "")
            + waveform("Rhythm", leads) + "</RestingECG>\n")
    return edit(text).encode(encoding)


def lzw(data):
    """LZW with codes of ten bits, high bit first: 256 to 1022 are strings, 1023 ends the text."""
    table = {bytes([k]): k for k in range(256)}
    codes, string = [], b""
    for byte in data:
        longer = string + bytes([byte])
        if longer in table:
            string = longer
            continue
        codes.append(table[string])
        if len(table) < 1023:
            table[longer] = len(table)
        string = bytes([byte])
    bits = "".join(f"{code:010b}" for code in codes + ([table[string]] if string else []) + [1023])
    bits += "0" * (-len(bits) % 8)
    return int(bits, 2).to_bytes(len(bits) // 8, "big")


def xli(samples):
    """One lead: head, then the compressed high and low bytes of x_0, x_1 and of 64 + the negative second differences, each of them
    one place behind its sample; the first of them is in the head."""
    second = [2 * samples[k - 1] - samples[k - 2] - samples[k] for k in range(2, len(samples))]
    numbers = samples[:2] + [e + 64 for e in second[1:]] + [64]
    raw = [struct.pack(">h", r) for r in numbers[:len(samples)]]
    body = lzw(bytes(r[0] for r in raw) + bytes(r[1] for r in raw))
    return struct.pack("<iHh", len(body), 1, second[0]) + body


def towards_zero(n):
    return -(-n // 2) if n < 0 else n // 2


def predicted(leads):
    """What is stored of the limb leads: differences from what I and II predict, halves rounded towards 0."""
    one, two, three = leads["I"], leads["II"], leads["III"]
    rows = range(len(one))
    stored = dict(leads)
    stored["III"] = [two[k] - one[k] - three[k] for k in rows]
    stored["aVR"] = [-towards_zero(one[k] + two[k]) - leads["aVR"][k] for k in rows]
    stored["aVL"] = [towards_zero(one[k] - three[k]) - leads["aVL"][k] for k in rows]
    stored["aVF"] = [towards_zero(two[k] + three[k]) - leads["aVF"][k] for k in rows]
    return stored


def sierra(leads, version="1.04", rate=500, resolution="5", date="2024-02-29", time="10:15:00", pulses=(), encoding="utf-16",
           edit=lambda text: text):
    """A Philips ECG as bytes; `leads` begin with the six limb leads. `pulses` are times in ms."""
    n = len(leads["I"])
    data = b"".join(xli(samples) for samples in predicted(leads).values())
    text = base64.encodebytes(data).decode()
    if version == "1.03":
        signal = f"<signalresolution>{resolution}</signalresolution><acquisitiontype>STD-12</acquisitiontype>"
        attributes = f'compressflag="True" compressmethod="XLI" durationperchannel="{n * 1000 // rate}" nbitspersample="16"'
    else:
        signal = "<resolution>1</resolution><acquisitiontype>10-WIRE</acquisitiontype>"
        attributes = (f'compression="XLI" numberofleads="{len(leads)}" leadlabels="{" ".join(leads)} " durationperchannel='
                      f'"{n * 1000 // rate}" samplespersecond="{rate}" resolution="{resolution}" signalsigned="True" bitspersample="16"')
    text = (f'<?xml version="1.0" encoding="{encoding.upper()}"?>\n'
            '<restingecgdata xmlns="http://www3.medical.philips.com" status="New" lang="en">\n'
            f"<documentinfo><documenttype>{'SierraECG' if version == '1.03' else 'PhilipsECG'}</documenttype>"
            f"<documentversion>{version}</documentversion></documentinfo>\n"
            f'<dataacquisition date="{date}" time="{time}"><signalcharacteristics><samplingrate>{rate}</samplingrate>{signal}'
            "<bitspersample>16</bitspersample><signaloffset>0</signaloffset><signalsigned>True</signalsigned>"
            f"<numberchannelsallocated>{len(leads)}</numberchannelsallocated></signalcharacteristics></dataacquisition>\n"
            "<patient><generalpatientdata><name><lastname>Doe</lastname></name></generalpatientdata></patient>\n<pacepulses>"
            + "".join(f'<pacepulse starttime="{at}"/>' for at in pulses) + "</pacepulses>\n"
            f'<waveforms><parsedwaveforms dataencoding="Base64" {attributes}>{text}</parsedwaveforms></waveforms></restingecgdata>\n')
    return edit(text).encode(encoding)


def twelve(n, seed=1):
    """Leads of the standard twelve: I, II and V1 to V6 by a generator of Park and Miller, the others as an amplifier rounds them."""
    state = seed

    def walk():
        nonlocal state
        value, out = 0, []
        for _ in range(n):
            state = state * 48271 % 2147483647
            value = max(-9000, min(9000, value + state % 81 - 40))
            out.append(value)
        return out
    leads = {"I": walk(), "II": walk()}
    pairs = list(zip(leads["I"], leads["II"]))
    leads["III"] = [b - a for a, b in pairs]
    leads["aVR"] = [-((a + b) // 2) for a, b in pairs]
    leads["aVL"] = [(2 * a - b) // 2 for a, b in pairs]
    leads["aVF"] = [(2 * b - a + 1) // 2 for a, b in pairs]
    leads.update({f"V{k}": walk() for k in range(1, 7)})
    return leads
