"""beside_numpy.py PROGRAM SCRATCH - compares complex arrays that numpy_cases computed with NumPy's, by the norm of all elements:

    norm(weir - numpy) <= 4 eps bound

bound is by case the norm of NumPy's result; `half`, of a transform back from half an array, that times sqrt(2); `whole`,
of a sum of all elements with factors of magnitude 1 or 2, twice their norm times the root of their number; `magnitudes`,
of sums, the norm of the same sums of magnitudes; `condition`, of linear systems, the result's norm times the matrix's
condition; `values`, of eigenvalues, the norm of the matrix times the root of its rows: what LAPACK's reduction adds to
the matrix (Hoffman and Wielandt 1953); `none`: the elements are the same, but for the rounding of NumPy's results to the
dtype.

Exit 77: this Python has no NumPy."""
import os
import secrets
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: this Python has no NumPy")
    sys.exit(77)

program = sys.argv[1]
types = {"c64": "c8", "c128": "c16", "f32": "f4", "f64": "f8", "i64": "i8", "bool": "?"}
engines = ["reference", "vector", "native"]


def split(data, rows):
    """Arrays by name, of elements one behind the other."""
    arrays, at = {}, 0
    for row in rows:
        dtype, shape = np.dtype(types[row[4]]), [int(n) for n in row[5].split(",") if n]
        count = int(np.prod(shape))
        arrays[row[3]] = np.frombuffer(data, dtype, count, at).reshape(shape)
        at += count * dtype.itemsize
    assert at == len(data)
    return arrays


def bound_of(kind, wanted, numpy, inputs):
    norm = np.linalg.norm(wanted)
    if kind == "result":
        return norm
    if kind == "half":
        return norm * 2 ** 0.5
    if kind == "whole":
        return 2 * np.linalg.norm(inputs["a"]) * wanted.size ** 0.5
    if kind == "magnitudes":
        return np.linalg.norm(eval(numpy, {"np": np}, {k: np.abs(v) for k, v in inputs.items()}))
    if kind == "condition":
        return norm * (np.linalg.cond(inputs["q"]) if inputs["q"].size else 1)
    return np.linalg.norm(inputs["q"]) * len(inputs["q"]) ** 0.5 if kind == "values" else 0


def compare(folder, dtype, n, rows):
    def read(what):
        with open(os.path.join(folder, "_".join((dtype, n, what))), "rb") as f:
            return f.read()

    wide = {"f": "f8", "c": "c16"}
    inputs = {name: a.astype(wide.get(a.dtype.kind, a.dtype))
              for name, a in split(read("inputs"), [r for r in rows if r[2] == "input"]).items()}
    results = [r for r in rows if r[2] == "result"]
    eps = np.finfo(types[dtype]).eps
    wrong, compared, worst = 0, 0, {}
    for engine in engines:
        try:
            got = split(read(engine), results)
        except FileNotFoundError:
            continue
        for row in results:
            kind, numpy = row[6:]
            wanted = np.asarray(eval(numpy, {"np": np}, inputs))
            ours = got[row[3]]
            compared += 1
            same = ours.shape == wanted.shape
            bound = bound_of(kind, wanted, numpy, inputs)
            if same and kind == "none":
                same = np.array_equal(ours, wanted.astype(ours.dtype))
            elif same:
                error = np.linalg.norm(ours.astype(wanted.dtype) - wanted)
                same = error <= 4 * eps * bound
                worst[kind] = max(worst.get(kind, 0), error / bound / eps if bound else 0)
            if not same:
                wrong += 1
                print(f"FAIL {engine} {dtype} n = {n}: {numpy} {wanted.shape}: bound {4 * eps * bound}")
                print(ours, wanted, sep="\n")
    return wrong, compared, worst


with tempfile.TemporaryDirectory(dir=sys.argv[2]) as folder:
    seed = os.environ.get("WEIR_SEED") or str(secrets.randbelow(1 << 32))
    made = subprocess.run([program, folder, seed], stdout=subprocess.PIPE, text=True)
    print(f"seed {seed}")
    if made.returncode != 0:
        print(made.stdout)
        sys.exit(f"failed: {program} ended with {made.returncode}")
    table = [line.split("\t") for line in made.stdout.splitlines() if "\t" in line]
    total, wrong, worst = 0, 0, {}
    for dtype, n in dict.fromkeys((row[0], row[1]) for row in table):
        w, c, most = compare(folder, dtype, n, [r for r in table if r[:2] == [dtype, n]])
        wrong, total = wrong + w, total + c
        for kind, error in most.items():
            worst[dtype, kind] = max(worst.get((dtype, kind), 0), error)
    for (dtype, kind), error in sorted(worst.items()):
        print(f"{dtype:5} {kind:10} worst {error:.2f} eps")
    print(f"{total} arrays compared, {wrong} wrong")
    sys.exit(wrong > 0 or total == 0)
