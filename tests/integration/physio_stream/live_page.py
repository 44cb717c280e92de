"""live_page.py PROGRAM FOLDER SOURCE - the page of a live run: what it answers, that requests of any kind neither stop nor slow the run nor
change its results, who may ask, and the page in a headless Chromium."""

import base64
import http.client
import itertools
import json
import os
import resource
import socket
import subprocess
import sys
import tempfile
import time

RATE = 256
QUERY = """
query:
  streams: [{name: ecg, signal: ECG}, {name: slow, signal: SLOW}, {name: off, signal: OFF}]
  steps: [{name: beats, from: [ecg], do: {detect: {adaptive: {at_once: true}}}}]
  outputs: [{stream: beats.rr, format: csv}, {stream: slow, format: csv}, {stream: off, format: csv}]
"""


def equal(what, got, expected):
    if got != expected:
        sys.exit("%s: %r instead of %r" % (what, got, expected))


def wait_for(what, found):
    until = time.monotonic() + 60
    while time.monotonic() < until:
        value = found()
        if value:
            return value
        time.sleep(0.05)
    return sys.exit("%s: not in time" % what)


class Run:
    """A live run that reads its lines from a pipe, and shows them."""

    def __init__(self, program, out, *words):
        self.out = out
        self.process = subprocess.Popen([program, "run", "--input", "-", "--log", "warn", "--set", "output.page.listen=tcp:0", "--set",
                                         "output.follow=false", "--out", out, *words], stdin=subprocess.PIPE, stderr=subprocess.PIPE)

    def send(self, text):
        self.process.stdin.write(text.encode())
        self.process.stdin.flush()

    def port(self):
        def find():
            path = os.path.join(self.out, "run.jsonl")
            events = open(path, encoding="utf-8").read().splitlines() if os.path.exists(path) else []
            ports = [json.loads(line)["port"] for line in events if '"page_listen"' in line and line.endswith("}")]
            return ports[0] if ports else None
        return wait_for("a port", find)

    def end(self):
        self.process.stdin.close()
        error = self.process.stderr.read().decode()
        equal("status of the run (%s)" % error, self.process.wait(60), 0)


def get(port, path, method="GET", **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request(method, path, headers={"Host": "127.0.0.1:%d" % port, **headers})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, answer, body


def raw(port, data):
    """The first line that is answered; "" where the connection is closed without one."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as s:
        try:
            s.sendall(data)
            s.shutdown(socket.SHUT_WR)
            return s.recv(4096).split(b"\r\n")[0].decode("latin-1")
        except OSError: # it was closed before all was sent
            return ""


def lines_of(values, first):
    return "".join("ECG,%.9f,%s\n" % ((first + i) / RATE, "" if v is None else "%.6f" % v) for i, v in enumerate(values))


def signal(first, n):
    """A beat a second, one of 50 samples is missing."""
    def value(i):
        u = i % RATE / RATE
        return None if i % 50 == 7 else 1.0 - abs(u - 0.5) / 0.02 if abs(u - 0.5) < 0.02 else 0.05 * ((i * 7919 % 101) / 101 - 0.5)
    return [value(i) for i in range(first, first + n)]


def newest(port, end):
    """The data, once they reach a time."""
    def find():
        data = json.loads(get(port, "/data")[2])
        return data if data.get("end", 0) >= end else None
    return wait_for("data up to %g s" % end, find)


def samples_of(s):
    equal("slots of a bin", s["bin"], 1)
    values = []
    for number, tile in enumerate(s["tiles"]):
        n = min(4096, s["slots"] - 4096 * number)
        if tile == 0:
            values += [None] * n
            continue
        codes = base64.b64decode(tile[2])
        for k in range(n):
            code = codes[2 * k] | codes[2 * k + 1] << 8
            values.append(None if code == 65535 else tile[0] + code * tile[1])
    return values


def check_data(data, seconds):
    first = data["signals"][0]["first"]
    got = samples_of(data["signals"][0])
    expected = signal(first, len(got))
    if len(got) < 10 * RATE or not -1e-5 <= first / RATE - data["begin"] < 1 / RATE or abs((first + len(got)) / RATE - data["end"]) > 1e-5 or \
            data["end"] < seconds:
        sys.exit("the data are of %g to %g s, with %d samples" % (data["begin"], data["end"], len(got)))
    for i, (g, e) in enumerate(zip(got, expected)):
        if (g is None) != (e is None) or (g is not None and abs(g - e) > 1e-4):
            sys.exit("sample %d is %r instead of %r" % (i, g, e))
    beats = list(itertools.accumulate(data["marks"][0]["t"]))
    if len(beats) < 5 or any(not first <= t < first + len(got) or abs(t % RATE - RATE / 2) > 0.1 * RATE for t in beats):
        sys.exit("beats at %r in samples from %d on" % (beats, first))


def check_times(signals):
    """Slots of a signal whose rate has no common multiple with the others are where they belong; an electrode that is off is no rare event."""
    slow, off = ([s for s in signals if s["name"] == name][0] for name in ("slow", "off"))
    for k, value in enumerate(samples_of(slow)):
        if value is None or abs(value - (slow["first"] + k)) > 1e-3:
            sys.exit("slot %d of a slow signal is %r" % (slow["first"] + k, value))
    equal("a signal without samples", (off["sparse"], set(samples_of(off))), (False, {None}))


def check_answers(port):
    status, answer, body = get(port, "/")
    equal("the page", (status, b"<canvas" in body, b"http" in body.replace(b"http-equiv", b"")), (200, True, False))
    equal("what may read it", answer.getheader("Access-Control-Allow-Origin"), None)
    equal("where it loads from", "default-src 'none'" in answer.getheader("Content-Security-Policy"), True)
    for path in ("/data/", "/data?x=1", "/../etc/passwd", "/%2e%2e/etc/passwd", "//", "/index.html", "/" + "a" * 3000):
        equal(path, get(port, path)[0], 404)
    for method in ("POST", "PUT", "DELETE", "HEAD", "OPTIONS", "get", "TRACE"):
        status, answer, _ = get(port, "/data", method)
        equal(method, (status, answer.getheader("Allow")), (405, "GET"))
    for host in ("evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "127.0.0.1:80:80", "", "10.0.0.1", "localhost:x", "127.evil:80"):
        equal("Host: " + host, get(port, "/data", Host=host)[0], 403)
    for host in ("localhost", "LOCALHOST:%d" % port, "127.0.0.1", "127.9.9.9:1"):
        equal("Host: " + host, get(port, "/data", Host=host)[0], 200)
    equal("no Host", raw(port, b"GET / HTTP/1.1\r\n\r\n"), "HTTP/1.1 403 Forbidden")
    equal("two Hosts", raw(port, b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n"), "HTTP/1.1 403 Forbidden")
    for data in (b"\r\n\r\n", b"GET\r\n\r\n", b"GET /\r\n\r\n", b"GET / HTTP/2.0\r\n\r\n", b"GET  / HTTP/1.1\r\n\r\n", b" / HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1 \r\n\r\n",
                 b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", b"GET /\x00 HTTP/1.1\r\n\r\n", b"GET http://localhost/ HTTP/1.1\r\n\r\n",
                 "GET /\u00e4 X\r\n\r\n".encode()):
        equal(repr(data), raw(port, data), "HTTP/1.1 400 Bad Request")
    for data in (b"", b"GET / HTTP/1.1\r\nHost: localhost\r\n", b"\r\n", b"G"):
        equal(repr(data), raw(port, data), "")
    if raw(port, b"GET / HTTP/1.1\r\nX: " + b"a" * 20000) not in ("HTTP/1.1 431 Request Header Fields Too Large", ""):
        sys.exit("a request that is too long is answered")


def check_crowd(port):
    """Clients that say nothing, or read nothing, are dropped, and others are served then."""
    start = time.monotonic()
    silent = [socket.create_connection(("127.0.0.1", port), timeout=30) for _ in range(12)]
    for s in silent[::2]:
        s.sendall(b"GET /data HTTP/1.1\r\nHost: localhost\r\n")
    equal("a browser after all others", get(port, "/data")[0], 200)
    if time.monotonic() - start > 30:
        sys.exit("clients are not dropped in time")
    for s in silent:
        s.close()


def check_descriptors(pid, port):
    """A run that has no descriptor left for a client waits, without using the processor, and serves it later."""
    def used():
        with open("/proc/%d/stat" % pid, encoding="utf-8") as file:
            words = file.read().rsplit(")", 1)[1].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
    silent = [socket.create_connection(("127.0.0.1", port), timeout=20) for _ in range(7)] # so that poll may ask for as many as it does
    time.sleep(0.5)
    open_ones = set(map(int, os.listdir("/proc/%d/fd" % pid)))
    free = next(i for i in range(len(open_ones) + 1) if i not in open_ones)
    limits = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (free, limits[1]))
    silent.append(socket.create_connection(("127.0.0.1", port), timeout=20))
    before = used()
    time.sleep(1)
    busy = used() - before
    resource.prlimit(pid, resource.RLIMIT_NOFILE, limits)
    for s in silent:
        s.close()
    if busy > 0.2:
        sys.exit("a run without descriptors used the processor for %g s of one" % busy)
    equal("a client after that", get(port, "/data")[0], 200)


def check_refused(program):
    for words, text, status in ((["output.page.listen=tcp:0.0.0.0:0"], "not on this machine", 2), (["output.page.listen=8080"], "tcp:[HOST:]PORT", 2),
                                (["output.page.listen=unix:x"], "tcp:[HOST:]PORT", 2), (["output.page.listen=tcp:localhost:70000"], "tcp:[HOST:]PORT", 2)):
        done = subprocess.run([program, "run", "--input", "-", "--set", *words, "--out", "no"], input="#weir 1\n#stream ECG fs=256 unit=mV\n" +
                              lines_of(signal(0, 10), 0), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        equal("%s (%s)" % (words, done.stdout), (done.returncode, text in done.stdout), (status, True))


def check_browser(source, port, send):
    sys.path.insert(0, os.path.join(source, "tests/integration/reports"))
    import browser # pylint: disable=import-outside-toplevel
    path = browser.find()
    if path is None:
        return False
    with tempfile.TemporaryDirectory() as scratch:
        window = browser.Browser(path, scratch)
        try:
            equal("faults of the page", window.show("http://127.0.0.1:%d/" % port, 1000, 800, "light", "screen"), [])
            end = wait_for("data in the page", lambda: window.evaluate("live.drawing.data.end"))
            send()
            wait_for("newer data in the page", lambda: window.evaluate("live.drawing.data.end") > end)
            equal("signals in the page", window.evaluate("live.drawing.signals.map((s) => s.name)"), ["ECG"])
            if window.evaluate("live.drawing.marks[0].items.length") < 5:
                sys.exit("the page shows no beats")
            equal("colours of the trace", window.evaluate("""(() => { const d = live.drawing, c = d.pen.getImageData(LEFT, d.top, d.width - LEFT, d.row).data;
              for (let i = 0; i < c.length; i += 4) if (c[i] === 27 && c[i + 1] === 63 && c[i + 2] === 139) return true; return false; })()"""), True)
            window.evaluate("document.getElementById('pause').click()")
            end = window.evaluate("live.drawing.data.end")
            for _ in range(2): # longer than it takes to say that there are no new samples
                send()
            state = window.evaluate("document.getElementById('state').textContent")
            equal("while it is paused (%s)" % state, (window.evaluate("live.drawing.data.end"), "paused" in state, "no new samples" in state), (end, True, False))
            equal("complaints", window.complaints(), [])
        finally:
            window.close()
    return True


def main(program, folder, source):
    os.chdir(folder)
    head = "#weir 1 record=bed7 start=2026-01-31T12:00:00Z\n#stream ECG fs=256 unit=mV\n"
    text = head + lines_of(signal(0, 120 * RATE), 0)
    alone = subprocess.run([program, "run", "--input", "-", "--log", "warn", "--set", "output.follow=false", "--out", "alone"], input=text, text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    equal("a run alone (%s)" % alone.stdout, alone.returncode, 0)
    check_refused(program)
    run = Run(program, "shown", "--set", "output.page.window=30")
    run.send(head + lines_of(signal(0, RATE), 0))
    port = run.port()
    get(port, "/data")
    sent = 1
    while sent < 100: # in pieces, as a connection has them
        run.send(lines_of(signal(sent * RATE, RATE), sent * RATE))
        sent += 1
        time.sleep(0.01)
    get(port, "/data")
    time.sleep(0.7)
    run.send(lines_of(signal(sent * RATE, RATE), sent * RATE))
    sent += 1
    data = newest(port, 90)
    check_data(data, 90)
    equal("a record", data["record"], "bed7")
    check_answers(port)
    check_crowd(port)
    check_descriptors(run.process.pid, port)

    def more():
        nonlocal sent
        for _ in range(5):
            time.sleep(0.6)
            run.send(lines_of(signal(sent * RATE, RATE), sent * RATE))
            sent += 1
    shown = check_browser(source, port, more)
    run.send(lines_of(signal(sent * RATE, (120 - sent) * RATE), sent * RATE))
    run.end()
    for name in ("beats.csv", "bed7.qrs"):
        with open("alone/" + name, "rb") as one, open("shown/" + name, "rb") as other:
            equal(name + " of a run that is looked at", one.read() == other.read(), True)
    with open("query.yaml", "w", encoding="utf-8") as file:
        file.write(QUERY)
    run = Run(program, "query", "--config", "query.yaml", "--set", "output.page.window=20")
    run.send(head + "#stream SLOW fs=1/7 unit=1\n#stream OFF fs=50 unit=mV\nOFF,0,1\nSLOW,0,0\n" + lines_of(signal(0, 2 * RATE), 0))
    port = run.port()
    get(port, "/data")
    for sent in range(2, 40):
        run.send("SLOW,%d,%d\n" % (sent, sent // 7) if sent % 7 == 0 else "")
        run.send(lines_of(signal(sent * RATE, RATE), sent * RATE))
        time.sleep(0.05)
    get(port, "/data")
    time.sleep(0.7)
    run.send(lines_of(signal(40 * RATE, RATE), 40 * RATE))
    data = newest(port, 30)
    equal("signals of a query", [(s["name"], s["unit"], s["sparse"]) for s in data["signals"] if s["name"] not in ("slow", "off")],
          [("ecg", "mV", False), ("beats.rr", "s", True)])
    check_times(data["signals"])
    run.end()
    print("answers, hostile requests, results%s are right" % (" and the page in a browser" if shown else ""))


if __name__ == "__main__":
    main(*sys.argv[1:])
