"""noise_table.py PROGRAM WORK - the table of beats in noise of docs/science/physio_comparison.md, as its script makes it of one minute of
each recording (`--tiny`): every row is there, and has fewer missed and false beats of physio_stream than of XQRS. Exit 77: no packages."""

import pathlib
import re
import subprocess
import sys

LEVELS = ("clean", "24", "18", "12", "6", "0", "-6")
program, work = sys.argv[1:3]
script = pathlib.Path(__file__).resolve().parents[2] / "bench/physio_comparison.py"
done = subprocess.run([sys.executable, script, program, work, "--tiny"], stdout=subprocess.PIPE, text=True, check=False)
if done.returncode == 77:
    print(done.stdout)
    sys.exit(77)
assert done.returncode == 0, done.returncode
rows = {}
for line in done.stdout.splitlines():
    if re.match(r"\| (all six|MIT-BIH) \|", line):
        where, level, *cells = (word.strip() for word in line.strip("|").split("|"))
        assert (where, level) not in rows, line
        rows[where, level] = [tuple(int(n) for n in re.search(r"\((\d+), (\d+)\)", cell).groups()) for cell in cells]
assert list(rows) == [(where, level) for where in ("all six", "MIT-BIH") for level in LEVELS], list(rows)
for row, counts in rows.items():
    assert len(counts) == 4, row
    ours, xqrs = counts[:2]
    assert ours[0] <= xqrs[0] and sum(ours) < sum(xqrs), (row, ours, xqrs)
for level in LEVELS:  # those of MIT-BIH are among all six
    assert all(part <= whole for a, b in zip(rows["MIT-BIH", level], rows["all six", level]) for part, whole in zip(a, b)), level
print(f"{len(rows)} rows")
