"""viewer.py PROGRAM FOLDER SOURCE [wfdb] - viewer.html in a headless Chromium: columns of the drawing against all samples, gaps, keys and mouse,
and annotation files that are edited and saved, read back by a reader of this test and by the program, and with `wfdb` by that package; a day
of two signals, whose page and memory are bounded."""

import array
import base64
import csv
import importlib.util
import json
import math
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time

QUERY = """
input: {record: record/ecgsyn}
query:
  streams: [{name: ecg, signal: ECG}]
  steps:
    - {name: clean, from: [ecg], do: {filter: {kind: bandpass, lo: 0.5, hi: 40}}}
    - {name: beats, from: [ecg], do: detect}
    - {name: slow, from: [beats.rr], do: {where: {keep: "beats.rr > 1.03"}}}
    - {name: slow_beats, from: [slow, beats.beat], do: join}
  outputs:
    - {stream: ecg, format: csv}
    - {stream: clean, format: csv}
    - {stream: beats.beat, format: annotations}
    - {stream: slow, format: csv}
    - {stream: slow_beats, format: csv}
"""
RATE, SLOTS = 256, 600 * 256

DAY_QUERY = """
input: {record: day}
query:
  streams: [{name: ecg, signal: ECG}, {name: abp, signal: ABP}]
  steps:
    - {name: top, from: [ecg], do: {aggregate: {kind: max, window: 600}}}
    - {name: level, from: [abp], do: {aggregate: {kind: mean, window: 10}}}
    - {name: low, from: [level], do: {alarm: {kind: low, limit: 60}}}
    - {name: alarms, from: [low.onset, low.value], do: join}
  outputs: [{stream: top, format: csv}, {stream: alarms, format: csv}]
output: {viewer: {annotations: [day.atr]}}
"""
DAY_RATE, DAY_SLOTS = 62.5, 24 * 3600 * 125 // 2
EVENT, EVENT_END = 83700, 83760  # s: a minute of fibrillation, at 23:15:00
DAY_MARKS = [(3600, b"zero"), (43200, b"noon"), (EVENT, b"(VFIB")]


def run(program, *words):
    done = subprocess.run([program, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        sys.exit("%s ends with status %d:\n%s" % (" ".join(words), done.returncode, done.stdout))
    return done.stdout


def equal(what, got, expected):
    if got != expected:
        sys.exit("%s: %r instead of %r" % (what, got, expected))


def samples_of(path):
    """All slots, NaN where there is no sample."""
    values = [math.nan] * SLOTS
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            values[round(float(row["time_s"]) * RATE)] = float(row["value"])
    return values


def data_of(path):
    with open(path, encoding="utf-8") as file:
        return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', file.read(), re.S).group(1))


def read_annotations(data):
    """Annotations of a file in the MIT format, annot(5): [time, code, subtype, channel, number, aux]; the notes at its head too."""
    items, at, now, channel, number = [], 0, 0, 0, 0
    while True:
        word = data[at] | data[at + 1] << 8
        at += 2
        kind, value = word >> 10, word & 1023
        byte = value & 255
        if word == 0:
            equal("bytes after the end of the file", len(data) - at, 0)
            return items
        if kind <= 49:
            now += value
            if kind:
                items.append([now, kind, 0, channel, number, None])
        elif kind == 59:
            step = data[at] << 16 | data[at + 1] << 24 | data[at + 2] | data[at + 3] << 8
            now += step - (1 << 32) if step >= 1 << 31 else step
            at += 4
        elif kind == 60:
            number = items[-1][4] = byte - 256 if byte > 127 else byte
        elif kind == 61:
            items[-1][2] = byte - 256 if byte > 127 else byte
        elif kind == 62:
            channel = items[-1][3] = byte
        elif kind == 63:
            items[-1][5] = bytes(data[at:at + byte])
            at += byte + (byte & 1)
        else:
            sys.exit("a word of kind %d" % kind)


def read_by_program(program, path):
    """The same, as the program reads the file: without the notes at its head."""
    run(program, "run", "--input", "record/ecgsyn", "--set", "output.viewer.annotations=[%s]" % path, "--overwrite", "--out", "again")
    marks = data_of("again/viewer.html")["marks"][0]
    items, now = [], 0
    for step, code in zip(marks["t"], marks["code"]):
        now += step
        items.append([now, code, 0, 0, 0, None])
    for place, name in enumerate(("subtype", "channel", "number"), 2):
        for index, value in marks[name]:
            items[index][place] = value
    for index, text in marks["aux"]:
        items[index][5] = text.encode("latin-1")
    return items


def read_by_wfdb(name, suffix):
    """The same, as the wfdb package reads it, and the resolution that the file states."""
    import wfdb # pylint: disable=import-outside-toplevel
    a = wfdb.rdann(name, suffix, return_label_elements=["label_store"])
    texts = [text.encode("latin-1") or None for text in a.aux_note]
    return [list(item) for item in zip(map(int, a.sample), map(int, a.label_store), map(int, a.subtype), map(int, a.chan), map(int, a.num), texts)], a.fs


def make_segment(name, signals):
    """A segment of a WFDB record in format 16: [name, gain, integers] of each signal."""
    with open(name + ".dat", "wb") as file:
        file.write(struct.pack("<%dh" % sum(len(s[2]) for s in signals), *[v for frame in zip(*(s[2] for s in signals)) for v in frame]))
    with open(name + ".hea", "w", encoding="utf-8") as file:
        file.write("%s %d 250 %d\n" % (name, len(signals), len(signals[0][2])))
        for label, gain, values in signals:
            checksum = (sum(values) + 32768) % 65536 - 32768
            file.write("%s.dat 16 %s 16 0 %d %d 0 %s\n" % (name, gain, values[0], checksum, label))


def check_skipped(program):
    """Chunks without a result are not computed, and the signals in them are shown nevertheless."""
    for name, n, both in (("s1", 5000, True), ("s2", 15000, False), ("s3", 5000, True)):
        ecg = ["ECG", "200/mV", [i * 37 % 251 - 100 for i in range(n)]]
        make_segment(name, [ecg, ["ABP", "10/mmHg", [800 + i * 11 % 400 for i in range(n)]]] if both else [ecg])
    with open("two_layout.hea", "w", encoding="utf-8") as file:
        file.write("two_layout 2 250 0\n~ 0 200/mV 16 0 0 0 0 ECG\n~ 0 10/mmHg 16 0 0 0 0 ABP\n")
    with open("two.hea", "w", encoding="utf-8") as file:
        file.write("two/4 2 250 25000\ntwo_layout 0\ns1 5000\ns2 15000\ns3 5000\n")
    query = ("query={streams: [{name: ecg, signal: ECG}, {name: abp, signal: ABP}], steps: [{name: pair, from: [ecg, abp], do: join}], "
             "outputs: [{stream: pair, format: csv}]}")
    run(program, "run", "--input", "two", "--set", query, "--set", "stream.window=5", "--out", "skipped")
    with open("skipped/run.jsonl", encoding="utf-8") as file:
        equal("chunks are skipped", [json.loads(line)["skipped"] > 5 for line in file if '"query_end"' in line], [True])
    ecg, abp = (s["tiles"] for s in data_of("skipped/viewer.html")["signals"][:2])
    equal("tiles without a sample", ([t == 0 for t in ecg], [t == 0 for t in abp]), ([False] * 7, [False, False, True, True, False, False, False]))
    equal("bins with gaps of a signal without any", [t[3] for t in ecg], [""] * 7)


def make_day():
    """24 h of an ECG and a pressure with 75 beats a minute, whose samples repeat every 50 slots but for a minute; and three annotations."""
    ecg = [{19: -40, 20: 200, 21: -40}.get(i, 0) for i in range(50)]
    abp = [800 + 40 * i if i <= 10 else 1210 - 10 * i for i in range(50)]
    data = array.array("h", [v for pair in zip(ecg, abp) for v in pair] * (DAY_SLOTS // 50))
    for i in range(int(EVENT * DAY_RATE), int(EVENT_END * DAY_RATE)):
        data[2 * i], data[2 * i + 1] = i * 7 % 50 * 8 - 200, 400
    with open("day.dat", "wb") as file:
        data.tofile(file)
    with open("day.hea", "w", encoding="utf-8") as file:
        file.write("day 2 62.5 %d\n" % DAY_SLOTS)
        for k, (gain, name) in enumerate((("200/mV", "ECG"), ("10/mmHg", "ABP"))):
            file.write("day.dat 16 %s 16 0 %d %d 0 %s\n" % (gain, data[k], (sum(data[k::2]) + 32768) % 65536 - 32768, name))
    with open("day.atr", "wb") as file:
        for before, (t, text) in zip([0] + [t for t, _ in DAY_MARKS], DAY_MARKS):
            step = int((t - before) * DAY_RATE)
            file.write(struct.pack("<5H", 59 << 10, step >> 16, step & 65535, 28 << 10, 63 << 10 | len(text)) + text + bytes(len(text) & 1))
        file.write(bytes(2))
    return data


def peak_memory(program, *words):
    """MiB that a run has resident at most. A process of its own starts it: a child has what its parent had before as its peak, too."""
    text = ("import resource, subprocess as s, sys; s.run(sys.argv[1:], check=True, stdout=s.DEVNULL, stderr=s.DEVNULL); "
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
    return int(run(sys.executable, "-c", text, program, "run", "--config", "day.yaml", *words)) / 1024


def check_day(program, window):
    """A day of two signals: bounded memory and page, every level, and what it shows at 23:15:00."""
    data = make_day()
    with open("day.yaml", "w", encoding="utf-8") as file:
        file.write(DAY_QUERY)
    without = peak_memory(program, "--set", "output.viewer.size=0", "--out", "day_without")
    grown = peak_memory(program, "--out", "day_page") - without
    if grown > 2 * 7 * 2 + 4:
        sys.exit("the page of two signals of 2 MiB takes %.1f MiB of memory" % grown)
    size = os.path.getsize("day_page/viewer.html") / 2**20
    if not 2 < size < 2 * 3 + 0.25:  # of each signal 2 MiB at most, and half as much around events
        sys.exit("the page has %.2f MiB" % size)
    slots = -(-DAY_SLOTS // (2 * 2**20 // 8 * 3 // 2))  # of a bin: two codes of 16 bits in base64 are 16 / 3 bytes
    bins = -(-DAY_SLOTS // slots)
    for signal in data_of("day_page/viewer.html")["signals"][:2]:
        equal("bins and tiles of a day", (signal["bin"], signal["slots"], len(signal["tiles"])), (slots, DAY_SLOTS, -(-bins // 4096)))
    page = Page(window, "day_page/viewer.html", "#t=0&span=86400")
    equal("levels of a day", page.run("viewer.signals.slice(0, 2).map((s) => s.levels.length)"), [1 + math.ceil(math.log2(bins))] * 2)
    near("a whole day", page.run("viewer.signals.slice(0, 2).flatMap((s) => s.columns(0, 86400, 24).map((c) => c.least).slice(22))"),
         (-0.2, -1, 72, 40), 0.02)
    page.run('viewer.show(0, 60); document.getElementById("place").value = "23:00:00"; document.getElementById("do_go").click()')
    page.settle()
    near("hour 23", page.view(), (23 * 3600 - 30, 60))
    for mark, name in ((0, "day.atr"), (1, "day.alarms")):
        equal("marks", page.run("viewer.marks[%d].name" % mark), name)
        page.run("viewer.show(82770, 60); viewer.view.file = %d; viewer.view.mark = -1; viewer.view.cursor = 82800" % mark)
        page.key("n")
        near("the next mark of " + name, [page.run("viewer.view.cursor"), *page.view()], (EVENT, EVENT - 30, 60))
    texts = page.run("""(() => { const texts = [], pen = viewer.drawing.pen, fill = pen.fillText;
      pen.fillText = (text) => texts.push(String(text));
      viewer.drawing.draw({...viewer.view, t: %d, span: 60});
      pen.fillText = fill;
      return texts; })()""" % (EVENT - 30))
    for text in ("ECG", "ABP", "23:15:00", "+ (VFIB"):
        equal("%s among %r" % (text, texts), text in texts or text.lower() in texts, True)
    for number, gain in enumerate((200, 10)):
        begin = int((EVENT - 4) * DAY_RATE)
        span = page.run("viewer.signals[%d].runs(%d, %d).map(([slot, v]) => Array.from(v).slice(%d - slot, %d - slot))" %
                        (number, begin, begin + 500, begin, begin + 500))
        equal("stretches of samples at the event", [len(part) for part in span], [500])
        near("samples at the event", span[0], [data[2 * i + number] / gain for i in range(begin, begin + 500)], 2e-3)
    equal("complaints of the day", window.complaints(), [])


class Page:
    """A page in a window of the browser."""

    def __init__(self, window, path, fragment=""):
        self.window = window
        window.call("Page.navigate", url="about:blank")
        faults = window.show("file://" + os.path.abspath(path) + fragment, 1000, 900, "light", "screen")
        equal("faults of " + path, faults, [])
        self.settle()

    def settle(self):
        """Waits until the page has drawn what it was told to."""
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def run(self, text):
        return self.window.evaluate(text)

    def key(self, key, **more):
        self.run('document.getElementById("view").focus()')
        for kind in ("keyDown", "keyUp"):
            self.window.call("Input.dispatchKeyEvent", type=kind, key=key, **more)
        self.settle()

    def mouse(self, kind, x, y, **more):
        self.window.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def view(self):
        return self.run("[viewer.view.t, viewer.view.span]")

    def bytes(self, marks):
        text = self.run("btoa(Array.from(viewer.marks[%d].bytes(), (b) => String.fromCharCode(b)).join(''))" % marks)
        return base64.b64decode(text)


def near(what, got, expected, tolerance=1e-6):
    for g, e in zip(got, expected):
        if abs(g - e) > tolerance:
            sys.exit("%s: %r instead of %r" % (what, got, expected))


def check_columns(page, number, values):
    """Columns of views of any width against all samples, in whole bins; a bin of more than one is rounded outwards by 1/65534 of its tile."""
    size = page.run("viewer.signals[%d].bin" % number)
    least, most = min(v for v in values if v == v), max(v for v in values if v == v)
    step = (most - least) / 65534 + 1e-6
    views = [(0, 600, 900), (0, 600, 7), (100.3, 401.7, 777), (33.123, 35.5, 11), (599, 600, 100), (200, 500, 1)]
    for t0, t1, n in views:
        columns = page.run("viewer.signals[%d].columns(%r, %r, %d).map((c) => [c.least, c.most, c.state])" % (number, t0, t1, n))
        for k, (low, high, state) in enumerate(columns):
            lo, hi = (math.ceil((t0 + (t1 - t0) * j / n) * RATE - 1e-9) for j in (k, k + 1))
            part = values[lo // size * size:min(SLOTS, -(-hi // size) * size)] if hi > lo else []
            present = [v for v in part if v == v]
            equal("state of column %d of %r, signal %d" % (k, (t0, t1, n), number), state, 0 if not present else 2 if len(present) == len(part) else 1)
            if present and not (-step <= low - min(present) <= 1e-6 and -1e-6 <= high - max(present) <= step) and size > 1:
                sys.exit("column %d of %r: %r, samples %r" % (k, (t0, t1, n), (low, high), (min(present), max(present))))
            if present and size == 1:
                near("column %d of %r" % (k, (t0, t1, n)), (low, high), (min(present), max(present)), step)
    return size


def check_samples(page, values):
    """The stretches of all samples: those around marks, and right."""
    spans = page.run("viewer.signals[0].spans.map((s) => [s.slot, Array.from(s.value, (v) => Number.isNaN(v) ? null : v)])")
    for slot, span in spans:
        for k, value in enumerate(span):
            expected = values[slot + k]
            if (value is None) != (expected != expected) or (value is not None and abs(value - expected) > 1e-3):
                sys.exit("sample %d is %r instead of %r" % (slot + k, value, expected))
    return spans


def check_gap(page, values):
    """The longest gap is tinted, with no trace in it; the signal next to it has one."""
    runs, start = [], None
    for i, v in enumerate(values + [0.0]):
        if v != v and start is None:
            start = i
        elif v == v and start is not None:
            runs.append((i - start, start))
            start = None
    length, start = max(runs)
    for factor in (1.5, 40):
        span = factor * length / RATE
        page.run("viewer.show(%r, %r)" % ((start + length / 2) / RATE - span / 2, span))
        page.settle()
        colours = page.run("""(() => {
          const d = viewer.drawing, at = (t) => Math.round(d.x(t) * (window.devicePixelRatio || 1));
          const strip = (t0, t1) => Array.from(d.pen.getImageData(at(t0), Math.round(d.top + 2), Math.max(1, at(t1) - at(t0)), Math.round(d.row - 8)).data);
          return [strip(%r, %r), strip(%r, %r)].map((c) => { const seen = new Set();
            for (let i = 0; i < c.length; i += 4) seen.add(c.slice(i, i + 3).join(",")); return [...seen]; });
        })()""" % ((start + 0.3 * length) / RATE, (start + 0.7 * length) / RATE, (start - 0.2 * length) / RATE, start / RATE))
        equal("colours in a gap", [c for c in colours[0] if c not in ("232,221,208", "230,230,230")], [])
        if "27,63,139" not in colours[1]:
            sys.exit("no trace next to the gap: %r" % colours[1])


def check_controls(page):
    page.run("viewer.show(100, 20)")
    page.key("ArrowRight")
    near("arrow right", page.view(), (102, 20))
    page.key("ArrowLeft")
    near("arrow left", page.view(), (100, 20))
    page.key("+")
    near("plus", page.view(), (105, 10))
    page.key("-")
    near("minus", page.view(), (100, 20))
    page.key("End")
    near("end", page.view(), (580, 20))
    page.key("0")
    near("0", page.view(), (0, 600))
    page.key("Home")
    page.run("viewer.show(100, 20)")
    page.settle()
    left, width, top = page.run("[LEFT, viewer.drawing.width, viewer.drawing.canvas.getBoundingClientRect().top]")
    middle = left + (width - left) / 2
    offset = page.run("viewer.drawing.canvas.getBoundingClientRect().left + 1") # its border
    page.mouse("mouseWheel", offset + middle, top + 100, deltaX=0, deltaY=-100)
    page.settle()
    near("wheel", page.view(), (102, 16), 0.05)
    page.run("viewer.show(100, 20)")
    page.settle()
    page.mouse("mousePressed", offset + middle, top + 100, button="left", buttons=1, clickCount=1)
    page.mouse("mouseMoved", offset + middle - (width - left) / 4, top + 100, button="left", buttons=1)
    page.mouse("mouseReleased", offset + middle - (width - left) / 4, top + 100, button="left", clickCount=1)
    page.settle()
    near("drag", page.view(), (105, 20), 0.05)
    time.sleep(0.5)
    if not page.run("location.hash").startswith("#t=10"):
        sys.exit("the address does not follow: " + page.run("location.hash"))
    page.run('document.getElementById("place").value = "0:05:00"; document.getElementById("do_go").click()')
    page.settle()
    near("a time", page.view(), (290, 20))


def check_marks(page, name, times):
    """Next and previous go through the marks, in order."""
    index = page.run("viewer.marks.findIndex((m) => m.name === %r)" % name)
    page.run("viewer.view.file = %d; viewer.view.mark = -1; viewer.view.cursor = 0" % index)
    for t in times[:3]:
        page.key("n")
        near("next mark", [page.run("viewer.view.cursor")], [t])
    page.key("p")
    near("previous mark", [page.run("viewer.view.cursor")], [times[1]])
    start, span = page.view()
    if not start <= times[1] <= start + span:
        sys.exit("a mark that was gone to is out of the view")
    return index


def check_editing(program, page, index, original, with_wfdb):
    """Adds, relabels, deletes and undoes; the file that is saved has these changes and all that was there."""
    equal("an unchanged file", page.bytes(index), original)
    before = read_annotations(original)
    head = [item for item in before if item[1] == 22 and item[0] == 0]
    expected = before[len(head):]
    page.run("viewer.view.file = %d; viewer.view.cursor = 100.5" % index)
    page.run('document.getElementById("code").value = 28; document.getElementById("text").value = "(AFIB \u00e4"')
    page.key("a")
    place = sum(item[0] <= 25728 for item in expected)
    expected.insert(place, [25728, 28, 0, 0, 0, "(AFIB \u00e4".encode()])
    page.run("viewer.choose(5, true)")
    page.run('document.getElementById("code").value = 5; document.getElementById("text").value = ""')
    page.key("r")
    expected[5][1] = 5
    page.run("viewer.choose(7, true)")
    page.key("Delete")
    page.key("u")
    page.run("viewer.choose(9, true)")
    page.key("Delete")
    del expected[9]
    equal("edits that are not saved", page.run("viewer.marks[%d].edited()" % index), True)
    page.run('document.getElementById("text").value = "x".repeat(256)')
    page.key("a")
    equal("a text that is too long", "256 bytes" in page.run('document.getElementById("state").textContent'), True)
    page.window.call("Page.setDownloadBehavior", behavior="allow", downloadPath=os.path.abspath("saved"))
    page.run('document.getElementById("file").value = "edited.atr"; document.getElementById("do_save").click()')
    until = time.monotonic() + 30
    while not os.path.exists("saved/edited.atr") and time.monotonic() < until:
        time.sleep(0.05)
    with open("saved/edited.atr", "rb") as file:
        saved = file.read()
    equal("what is saved", saved, page.bytes(index))
    equal("edits that are saved", page.run("viewer.marks[%d].edited()" % index), False)
    equal("the saved file", read_annotations(saved), head + expected)
    equal("the saved file, as the program reads it", read_by_program(program, "saved/edited.atr"), expected)
    if with_wfdb:
        equal("the saved file, as wfdb reads it", read_by_wfdb("saved/edited", "atr")[0], expected)


def check_format(program, page, with_wfdb):
    """Times beyond 2^31, every field, texts of odd and of 255 bytes, codes of one's own."""
    items = [[3, 1, 0, 0, 0, None], [1026, 5, -3, 0, 0, None], [1027, 22, 0, 1, 7, b"odd"], [2051, 49, 127, 1, -128, b"a" * 255],
             [5_000_000_000, 28, 0, 255, -1, b"(N\0"], [10_000_000_000, 14, -1, 0, 0, b"\xff even"]]
    sparse = {name: [[i, item[place]] for i, item in enumerate(items) if item[place]] for place, name in enumerate(("subtype", "channel", "number"), 2)}
    sparse["aux"] = [[i, item[5].decode("latin-1")] for i, item in enumerate(items) if item[5] is not None]
    times = [item[0] for item in items]
    data = {"name": "made", "fs": [999, 2], "resolution": "499.5", "types": [[49, "c", "a \"code\""]], "code": [item[1] for item in items],
            "t": [b - a for a, b in zip([0] + times, times)], **sparse}
    text = page.run("btoa(Array.from(new Marks(%s).bytes(), (b) => String.fromCharCode(b)).join(''))" % json.dumps(data))
    with open("made.atr", "wb") as file:
        file.write(base64.b64decode(text))
    got = read_annotations(base64.b64decode(text))
    notes = [b"## time resolution: 499.5", b"## annotation type definitions", b"49 c a \"code\"", b"## end of definitions"]
    equal("notes", [item[5] for item in got[:4]], notes)
    equal("a file of all fields", got[4:], items)
    equal("a file of all fields, as the program reads it", read_by_program(program, "made.atr"), items)
    if with_wfdb:
        equal("a file of all fields, as wfdb reads it", read_by_wfdb("made", "atr"), (items, 499.5))


def check_kept(page, index):
    """A new code leaves a text as it is, line ends included, which the field of the page cannot hold."""
    page.run("viewer.view.file = %d; viewer.marks[%d].items[3].aux = 'two\\r\\nlines\\xff\\0'; viewer.choose(3, true)" % (index, index))
    page.run('document.getElementById("code").value = 9')
    page.key("r")
    equal("a text with lines", page.run("[viewer.marks[%d].items[3].code, viewer.marks[%d].items[3].aux]" % (index, index)), [9, "two\r\nlines\xff\0"])


def check_texts(page):
    """Clock times of a start between two seconds, and before midnight; numbers at the axis of a large value."""
    for start, t, step, text in (({"kind": 1, "us": 43200500000}, 2, 2, "12:00:02.500"), ({"kind": 1, "us": 43200000000}, 2, 2, "12:00:02"),
                                 ({"kind": 2, "us": 0}, 86399.9996, 1e-3, "1970-01-02 0:00:00.000")):
        equal("clock time %g s after %r" % (t, start), page.run("clockText(%s, %r, %r)" % (json.dumps(start), t, step)), text)
    texts = page.run("""(() => { const d = viewer.drawing, texts = [];
      d.signals = [new Signal({name: "", unit: "", fs: [1, 1], bin: 1, slots: 2, tiles: [[1234567, 1 / 65534, "AAD+/w==", ""]], samples: []})];
      d.pen.fillText = (text) => texts.push(String(text));
      d.draw({...viewer.view, t: 0, span: 2});
      return texts.filter((text) => text.startsWith("1234567")); })()""")
    equal("numbers at the axis", ("1234567.5" in texts, len(set(texts))), (True, len(texts)))


def main(program, folder, source, with_wfdb=""):
    sys.path.insert(0, os.path.join(source, "tests/integration/reports"))
    import browser # pylint: disable=import-outside-toplevel
    path = browser.find()
    if path is None:
        print("skipped: there is no Chromium (workflows/setup.sh test installs it on Debian)")
        sys.exit(77)
    if with_wfdb and importlib.util.find_spec("wfdb") is None:
        print("skipped: there is no package wfdb (PyPI)")
        sys.exit(77)
    os.chdir(folder)
    with open("query.yaml", "w", encoding="utf-8") as file:
        file.write(QUERY)
    run(program, "prepare", "--set", "ecgsyn.duration=600", "--set", "ecgsyn.gaps.missing=0.1", "--set", "ecgsyn.gaps.mean=2",
        "--set", "ecgsyn.noise.white=true", "--out", "record")
    run(program, "run", "--config", "query.yaml", "--set", "output.viewer.annotations=[record/ecgsyn.atr]", "--out", "fine")
    os.mkdir("former")
    shutil.copy("record/ecgsyn.atr", "former/ecgsyn.beats_beat")
    run(program, "run", "--config", "query.yaml", "--set", "output.viewer.size=0.05", "--set", "output.viewer.around=1", "--out", "coarse")
    run(program, "run", "--config", "query.yaml", "--set", "output.viewer.annotations=[former/ecgsyn.beats_beat]", "--out", "latter")
    equal("a file of a former run and the same of this one", [m["name"] for m in data_of("latter/viewer.html")["marks"]],
          ["ecgsyn.beats_beat", "ecgsyn.beats_beat", "ecgsyn.slow_beats"])
    missing = [program, "run", "--config", "query.yaml", "--set", "output.viewer.annotations=[record/none.atr]", "--out", "refused"]
    done = subprocess.run(missing, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    equal("a file that is missing", (done.returncode, "record/none.atr" in done.stdout), (3, True))
    check_skipped(program)
    for words, expected in (([], False), (["--set", "output.viewer.size=1"], True)):
        run(program, "run", "--set", "input.records=[record/ecgsyn]", *words, "--overwrite", "--out", "several")
        equal("a page for each of several recordings", os.path.exists("several/ecgsyn/viewer.html"), expected)
    ecg, clean = samples_of("fine/ecg.csv"), samples_of("fine/clean.csv")
    slow = [float(row["time_s"]) for row in csv.DictReader(open("fine/slow.csv", encoding="utf-8"))]
    with open("record/ecgsyn.atr", "rb") as file:
        reference = file.read()
    with open("fine/ecgsyn.beats_beat", "rb") as file:
        beats = file.read()
    with tempfile.TemporaryDirectory() as scratch:
        window = browser.Browser(path, scratch)
        try:
            page = Page(window, "coarse/viewer.html", "#t=10&span=30")
            near("the address", page.view(), (10, 30))
            equal("signals", page.run("viewer.signals.map((s) => s.name + ' ' + s.sparse)"), ["ecg false", "clean false", "slow true"])
            equal("marks", page.run("viewer.marks.map((m) => m.name)"), ["ecgsyn.beats_beat", "ecgsyn.slow_beats"])
            for number, values in enumerate((ecg, clean)):
                if check_columns(page, number, values) < 4:
                    sys.exit("no level is left out")
            if not check_samples(page, ecg):
                sys.exit("there are no samples around events")
            equal("what is said of levels", "Finer levels than those below" in page.run("document.body.innerText"), True)
            check_day(program, window)
            page = Page(window, "fine/viewer.html")
            for number, values in enumerate((ecg, clean)):
                equal("slots of a bin", check_columns(page, number, values), 1)
            check_gap(page, ecg)
            check_controls(page)
            check_marks(page, "ecgsyn.slow_beats", slow)
            equal("beats as they were written", page.bytes(page.run("viewer.marks.findIndex((m) => m.name === 'ecgsyn.beats_beat')")), beats)
            check_editing(program, page, 0, reference, with_wfdb)
            check_format(program, page, with_wfdb)
            check_kept(page, 0)
            check_texts(page)
            equal("complaints", [text for text in window.complaints() if "getImageData" not in text], []) # of this test
        finally:
            window.close()
    print("columns, gaps, controls and annotation files are right")


if __name__ == "__main__":
    main(*sys.argv[1:])
