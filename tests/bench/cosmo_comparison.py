"""cosmo_comparison.py PROGRAM SCRATCH [--tiny | --large] [--store] [--page FILE] [--part NAME] [--python PART=PATH]...

Compares cosmoflow with other software on the same inputs: meshes, P(k), multipoles and bispectra of particles with Pylians
(cosmo_pylians.py); network, training, records and log of MLPerf HPC's reference with Keras, tf.data and the official checker
(cosmo_mlperf.py); posteriors from the same summaries with sbi (cosmo_sbi.py). Ours are files of the program. Prints a table, with --page
into that file between its marks, and ends with status 1 if a difference exceeds its goal.

--tiny: small, seconds; numbers of packages that this Python lacks are then those of cosmo_comparison.csv, which --tiny --store writes.
Without --tiny, and for files (swiftsimio, TFRecords, the log checker), a row says what is missing. --large: of posteriors, 1600 universes
to train and validate on, one seed, and the spline flow of sbi.
Each part is a process of its own: TensorFlow and PyTorch do not bear each other. --python: the Python of a part, where no one environment
has all packages (this one). --part: pylians, mlperf or sbi alone, in this process.

Exit 77: this Python has no NumPy or netCDF4, or the program no FFTW or NetCDF."""

import argparse
import csv
import importlib
import importlib.metadata
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(ROOT / "python"), str(HERE)]
from comparison_table import Table, compare, optional, write  # noqa: E402

np, netCDF4 = optional("numpy"), optional("netCDF4")
if np is None or netCDF4 is None:
    print("skipped: this Python has no NumPy or netCDF4")
    sys.exit(77)
STORED = HERE / "cosmo_comparison.csv"
PARTS = ("pylians", "mlperf", "sbi")


class Comparison:
    """The program, the table, and values of packages, computed or stored."""

    def __init__(self, program, tiny, large):
        self.program, self.tiny, self.large, self.table, self.kept = str(program), tiny, large, Table(), {}
        self.stored = stored() if tiny else {}

    def run(self, command, *sets, out=None, config=None):
        """Words with `=` are --set, others inputs. Returns what was printed."""
        line = [self.program, command]
        for word in sets:
            line += ["--set", word] if "=" in word else [word]
        line += ["--threads", "1"] if command == "run" else []
        line += (["--config", config] if config else []) + (["--out", out, "--overwrite"] if out else [])
        done = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode == 7:
            raise NotImplementedError(done.stdout[-500:])
        assert done.returncode == 0, f"{line}:\n{done.stdout[-2000:]}"
        return done.stdout

    def theirs(self, key, package, module, compute):
        """The numbers of a package and its name, or None where they cannot be had."""
        if module is not None:
            version = getattr(module, "__version__", None) or importlib.metadata.version(package)
            values = np.asarray(compute(), "f8").ravel()
            self.kept[key] = (f"{package} {version}", values)
            return values, self.kept[key][0]
        if key not in self.stored:
            return None
        reference, values = self.stored[key]
        return values, reference + ", stored"

    def compare(self, what, data, package, theirs, ours, goal):
        """theirs: of theirs()."""
        if theirs is None:
            self.leave(what, data, package)
        else:
            compare(self.table, what, data, theirs[1], theirs[0], np.asarray(ours, "f8").ravel(), goal)

    def leave(self, what, data, package):
        self.table.leave(what, data, package, "not to be had here: this Python has none")


def stored():
    with open(STORED, newline="") as file:
        return {r[0]: (r[1], np.array(r[2:], "f8")) for r in csv.reader(file)}


def store(kept):
    both = {**stored(), **kept}
    with open(STORED, "w", newline="") as file:
        for key, (reference, values) in both.items():
            csv.writer(file, lineterminator="\n").writerow([key, reference, *(f"{v:.9g}" for v in values)])


def score_part(words, part):
    """Computes a part here, in the scratch folder; its rows, number of goals missed and values of packages are kept in PART.json."""
    c = Comparison(words.program, words.tiny, words.large)
    importlib.import_module("cosmo_" + part).score(c)
    kept = {key: (reference, list(values)) for key, (reference, values) in c.kept.items()}
    with open(part + ".json", "w") as file:
        json.dump([c.table.rows, c.table.failed, kept], file)


def start_part(words, part):
    """This script again, for a part, by the Python of the part. Ends with its status where it fails."""
    python = dict(words.python).get(part, sys.executable)
    line = [python, str(HERE / "cosmo_comparison.py"), words.program, ".", "--part", part]
    line += [flag for flag, given in (("--tiny", words.tiny), ("--large", words.large)) if given]
    done = subprocess.run(line, stdout=subprocess.PIPE, text=True)
    if not os.path.exists(part + ".json"):
        print(done.stdout, end="")
        sys.exit(done.returncode or 1)


def python_of(word):
    part, _, path = word.partition("=")
    if part not in PARTS or not os.access(path, os.X_OK):
        raise argparse.ArgumentTypeError(f"PART=PATH with a part of {', '.join(PARTS)} and a program, not {word}")
    return part, os.path.abspath(path)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("program")
    parser.add_argument("scratch")
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--page", type=pathlib.Path)
    parser.add_argument("--store", action="store_true")
    parser.add_argument("--part", choices=PARTS)
    parser.add_argument("--python", type=python_of, action="append", default=[])
    words = parser.parse_args()
    if words.part and (words.page or words.python):
        parser.error("--part is one part, by this Python; a page has all of them")
    page, words.program = words.page and words.page.resolve(), str(pathlib.Path(words.program).resolve())
    os.environ.setdefault("WEIR_LIBRARIES", str(pathlib.Path(words.program).parent.parent / "lib"))
    os.makedirs(words.scratch, exist_ok=True)
    os.chdir(words.scratch)
    table, kept = Table(), {}
    for part in [words.part] if words.part else PARTS:
        pathlib.Path(part + ".json").unlink(missing_ok=True)
        try:
            (score_part if words.part else start_part)(words, part)
        except NotImplementedError as missing:
            print("skipped: this build has no FFTW or NetCDF:", missing)
            return 77
        with open(part + ".json") as file:
            rows, failed, values = json.load(file)
        table.rows += rows
        table.failed += failed
        kept.update(values)
    print(table.text())
    if page:
        write(page, "cosmo_comparison.py", table.text())
    if words.store:
        store(kept)
    return min(table.failed, 1)


if __name__ == "__main__":
    sys.exit(main())
