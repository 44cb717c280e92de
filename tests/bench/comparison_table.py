"""comparison_table.py - the table of weather_comparison.py and cosmo_comparison.py: a row for each thing that both compute, and a page that
has it between two marks."""

import importlib


def optional(name):
    """The module, or None where this Python has none."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


np = optional("numpy")


class Table:
    def __init__(self):
        self.rows, self.failed = [], 0

    def add(self, what, data, reference, theirs, ours, difference, goal):
        """difference: relative; it may not exceed the goal."""
        met = bool(difference <= goal)
        self.failed += not met
        cells = [what, data, reference, f"{theirs:.10g}", f"{ours:.10g}", f"{difference:.1e}", f"{goal:.0e}" + ("" if met else " missed")]
        self.rows.append(cells)

    def state(self, what, data, reference, theirs, ours, reason, goal="-", met=True):
        """A row of words."""
        self.failed += not met
        self.rows.append([what, data, reference, theirs, ours, reason, goal + ("" if met else " missed")])

    def leave(self, what, data, reference, reason):
        self.rows.append([what, data, reference, "-", "-", reason, "-"])

    def text(self):
        head = ["computed", "of", "compared with", "theirs", "Weir", "relative difference", "goal"]
        lines = ["| " + " | ".join(r) + " |" for r in [head, ["---"] * len(head), *self.rows]]
        return "\n".join(lines) + "\n"


def compare(table, what, data, reference, theirs, ours, goal):
    """Arrays: their means, and the largest difference relative to the mean size of theirs."""
    theirs, ours = np.asarray(theirs, "f8"), np.asarray(ours, "f8")
    assert theirs.shape == ours.shape and np.isfinite(theirs).all() and np.isfinite(ours).all(), what
    difference = np.abs(ours - theirs).max() / np.abs(theirs).mean()
    table.add(what, data, reference, theirs.mean(), ours.mean(), difference, goal)


def write(page, script, text):
    """Puts the table into the page, between the marks of the script."""
    marks = [f"<!-- table of tests/bench/{script}: begin -->\n", "<!-- end -->\n"]
    old = page.read_text()
    head, rest = old.split(marks[0])
    page.write_text(head + marks[0] + "\n" + text + "\n" + marks[1] + rest.split(marks[1])[1])
