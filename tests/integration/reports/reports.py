"""reports.py PROGRAM FOLDER SOURCE - every page of the flow `tiny` of a program, and of one that fails, in a headless Chromium: on a desk
and on a telephone, light, dark and printed. No complaint on the console, nothing wider than the window, names for what is drawn, readable
colours, headings in order, links that lead somewhere (check.js). A page that has all these faults shows before that each is found.
PROGRAM -: the pages that are in FOLDER already."""

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.parse

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import browser  # noqa: E402

# Width, height, scheme of colours, medium. A page on paper is as wide as A4 at 96 pixels to the inch, without its margins.
VIEWS = {
    "desktop, light": (1280, 900, "light", "screen"),
    "desktop, dark": (1280, 900, "dark", "screen"),
    "telephone, light": (360, 740, "light", "screen"),
    "telephone, dark": (360, 740, "dark", "screen"),
    "print": (718, 1040, "light", "print"),
    "print of a dark page": (718, 1040, "dark", "print"),
}


# A page with a fault of each kind, and what is to be said of it.
WRONG = """<!DOCTYPE html><html><head><meta charset="utf-8"></head><body><h2 id="a">one</h2><h1>two</h1><h4></h4>
<p id="a" style="color:#888;background:#999">gray on gray</p><p style="opacity:.3">faint</p><p style="font-size:5px">small</p>
<div style="background:#fff;color:#777">nearly</div><p style="width:3000px">wide</p><p style="width:20px">overflowing</p>
<svg width="200" height="40"><rect width="200" height="40" fill="#000"></rect><text x="5" y="20" fill="#222">on a bar</text></svg>
<img src="nowhere.png"><a href="nowhere.html"></a><a href="#nowhere">part</a><a href="https://example.org">away</a>
<table><tr><th>head</th></tr></table><script>console.error("said"); undefined_function()</script></body></html>
"""
EXPECTED = [
    "no title", "no language", "no viewport", "not one <main>", 'contrast .*: p#a "gray on gray"', 'contrast .*: p "faint"',
    'contrast 4.48 of 4.5: div "nearly"', 'contrast .*: text "on a bar"', 'letters of 5px: p "small"', "wider than the window",
    'ends outside of it: p "wide"', 'text that is wider than its place, .*"overflowing"', "an image without alternative text, nowhere.png",
    "a drawing without role=img", "a drawing without a title", "a link without text, nowhere.html", "a head without scope",
    "an id that is there twice: a", "a heading of level 2 after one of 0", "a heading of level 4 after one of 1", "a heading without text",
    "a link that leads nowhere: .*/nowhere.html", "a link that leads nowhere: .*/nowhere.png", "a link to a part that is not there: .*#nowhere",
    "a link that leaves the machine: https://example.org/", "said", "Uncaught",
]


def flow(program, folder, source, name, steps):
    """The folder of a flow and its exit status; stops where it cannot start."""
    out = os.path.join(folder, name)
    words = [os.path.join(source, "workflows/flow.sh"), os.path.basename(program), "--steps", steps, "--bin", os.path.dirname(program),
             "--out", out]
    done = subprocess.run(words, cwd=source, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if not os.path.exists(os.path.join(out, "index.html")):
        sys.exit("the flow %s has no page; it ends with status %d:\n%s" % (name, done.returncode, done.stdout))
    return out, done.returncode


def check_provenance(out):
    """Stops where provenance.json of a step lacks files of a step that it needs, or has other digests than the files."""
    with open(os.path.join(out, "flow/order"), encoding="utf-8") as file:
        names = file.read().split()
    for name in names:
        with open(os.path.join(out, name, "provenance.json"), encoding="utf-8") as file:
            inputs = json.load(file)["inputs"]
        for entry in inputs:
            with open(entry["path"], "rb") as file:
                if hashlib.sha256(file.read()).hexdigest() != entry["sha256"]:
                    sys.exit("%s: provenance.json has another digest of %s" % (name, entry["path"]))
        with open(os.path.join(out, "flow", name.replace("/", ".") + ".plan"), encoding="utf-8") as file:
            needs = [line.split()[1] for line in file if line.startswith("needs ")]
        for other in needs:
            if not any(entry["path"].startswith(os.path.join(out, other) + "/") for entry in inputs):
                sys.exit("%s: provenance.json has no file of %s, which it needs" % (name, other))


def make(program, folder, source):
    """Makes all pages."""
    out, status = flow(program, folder, source, "tiny", "tiny")
    index = os.path.join(out, "index.html")
    with open(index, "rb") as file:
        text = file.read()
    if status != 0 or b"not started" in text or text.count(b'<td class="good">done</td>') < 4:
        sys.exit("the flow tiny ends with status %d, or its page does not say that all is done" % status)
    check_provenance(out)
    subprocess.run([program, "report", out], check=True)
    with open(index, "rb") as file:
        if file.read() != text:
            sys.exit("the page of the same files has other bytes")
    table = os.path.join(folder, "wrong.steps")
    with open(table, "w", encoding="utf-8") as file:
        file.write("wrong eval - once serial\n  no.such=1\nafter eval - once serial\n  a=$wrong\n")
    out, status = flow(program, folder, source, "wrong", table)
    with open(os.path.join(out, "index.html"), encoding="utf-8") as file:
        text = file.read()
    for part in ("failed (status 2)", '<a href="flow/wrong.log">log</a>', "not started: it needs wrong", "no.such"):
        if status != 1 or part not in text:
            sys.exit("the flow that fails ends with status %d, or its page lacks '%s'" % (status, part))


def pages_of(folder):
    """All pages below a folder."""
    return sorted(os.path.join(at, name) for at, _, names in os.walk(folder) for name in names if name.endswith(".html"))


def follow(page, link, ids):
    """What is wrong with a link of a page that has these ids, or None."""
    parts = urllib.parse.urlsplit(link)
    if parts.scheme != "file":
        return "a link that leaves the machine: " + link
    path = urllib.parse.unquote(parts.path)
    if not os.path.exists(path):
        return "a link that leads nowhere: " + link
    if parts.fragment:
        known = ids
        if os.path.abspath(path) != os.path.abspath(page):
            with open(path, encoding="utf-8") as file:
                known = re.findall(r'\bid="([^"]*)"', file.read())
        if urllib.parse.unquote(parts.fragment) not in known:
            return "a link to a part that is not there: " + link
    return None


def check(window, page, script):
    """All that is wrong with a page: texts with the views that have it."""
    faults = {}
    for view, how in VIEWS.items():
        found = window.show("file://" + urllib.parse.quote(page), *how)
        if not found:
            result = window.evaluate(script)
            links = (follow(page, link, result["ids"]) for link in result["links"])
            found = result["found"] + [fault for fault in links if fault] + window.complaints()
        for fault in found:
            faults.setdefault(fault, []).append(view)
    return ["%s (%s)" % (fault, "; ".join(views) if len(views) < len(VIEWS) else "all") for fault, views in faults.items()]


def prove(window, folder, script):
    """Stops where a fault of the page WRONG is not found."""
    page = os.path.join(folder, "wrong-page.htm")
    with open(page, "w", encoding="utf-8") as file:
        file.write(WRONG)
    faults = check(window, page, script)
    for text in EXPECTED:
        if not any(re.match(text, fault) for fault in faults):
            sys.exit("not found: %s; found: %s" % (text, "\n  ".join([""] + faults)))


def main(program, folder, source):
    """Exit status 1: something is wrong; 77: there is no browser."""
    path = browser.find()
    if path is None:
        print("skipped: there is no Chromium (workflows/setup.sh test installs it on Debian)")
        sys.exit(77)
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "check.js"), encoding="utf-8") as file:
        script = file.read()
    if program != "-":
        make(program, folder, source)
    pages = pages_of(folder)
    wrong = 0
    with tempfile.TemporaryDirectory() as scratch:
        window = browser.Browser(path, scratch)
        try:
            prove(window, scratch, script)
            for page in pages:
                faults = check(window, page, script)
                wrong += len(faults)
                print("%s: %s" % (os.path.relpath(page, folder), "right" if not faults else "%d faults" % len(faults)))
                for fault in faults:
                    print("  " + fault)
        finally:
            window.close()
    print("%d pages in %d views: %d faults" % (len(pages), len(VIEWS), wrong))
    sys.exit(1 if wrong or not pages else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
