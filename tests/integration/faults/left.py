"""left.py RESULTS WHOLE FOLDER - that every file of a flow that was cut is whole and, but for logs and pages, what results.py has said
(RESULTS) of an uninterrupted one (in WHOLE), or a list of some of its files; prints those that are not."""
import contextlib
import io
import os
import runpy
import sys

support = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support")
sys.path.append(support)
import whole


def lines_of(folder, name):
    path = os.path.join(folder, name)
    return set(open(path, encoding="utf-8").read().splitlines()) if os.path.exists(path) else set()


def main(results, uncut, root):
    bad = []
    for folder, _, files in os.walk(root):
        for name in files:
            path = os.path.join(folder, name)
            if ".tmp-" in name or folder.endswith("/flow") and name.endswith(".log"):
                continue  # messages that found no space
            try:
                whole.read(path)
            except Exception as why:  # whatever a reader of such files says
                bad.append(f"{os.path.relpath(path, root)}: {why!r}")
    found = io.StringIO()
    sys.argv = ["results.py", root]
    try:
        with contextlib.redirect_stdout(found):
            runpy.run_path(os.path.join(support, "results.py"))
    except Exception as why:
        bad.append(f"{why!r}")
    expected = set(open(results, encoding="utf-8").read().splitlines())
    other = {line.split()[0] for line in found.getvalue().splitlines() if line not in expected and ".tmp-" not in line}
    other = {n for n in other if not (n.endswith(".sha256") and lines_of(root, n) <= lines_of(uncut, n))}
    bad += [f"{name}: not that of an uninterrupted flow" for name in sorted(other)]
    print("\n".join(bad))
    return 1 if bad else 0


sys.exit(main(*sys.argv[1:]))
