"""zarr_stores.py PROGRAM SCRATCH - Zarr stores as archives: version 2, as xarray lays them out, gives the numbers that were
stored; what the NetCDF library misreads is refused by name. One store is xarray's (zarr/, written by make_store.py), the
others are written here, byte by byte (Zarr Storage Specification Version 2).

Exit 77: this Python has no NumPy, or the program was built without NetCDF."""
import csv
import json
import os
import shutil
import subprocess
import sys
import unittest
import zlib

try:
    import numpy as np
except ImportError:
    print("skipped: this Python has no NumPy")
    sys.exit(77)

program, scratch = sys.argv[1:]
SHAPE = (3, 2, 5, 4, 8)
X = (280 + 9 * np.random.default_rng(7).standard_normal(SHAPE)).astype("<f4")
DIMS = ["time", "prediction_timedelta", "number", "latitude", "longitude"]


def put(root, name, values, dims, chunks=None, attrs=None, **changes):
    """An array; changes: entries of .zarray that are not as usual."""
    values = np.asarray(values)
    chunks = chunks or values.shape
    folder, sep = os.path.join(root, name), changes.get("dimension_separator", ".")
    os.makedirs(folder)
    meta = {"zarr_format": 2, "shape": list(values.shape), "chunks": list(chunks), "dtype": values.dtype.str,
            "compressor": None, "fill_value": "NaN" if values.dtype.kind == "f" else None, "order": "C", "filters": None}
    with open(os.path.join(folder, ".zarray"), "w") as f:
        json.dump({**meta, **changes}, f)
    with open(os.path.join(folder, ".zattrs"), "w") as f:
        json.dump({"_ARRAY_DIMENSIONS": dims, **(attrs or {})}, f)
    for index in np.ndindex(*[-(-n // c) for n, c in zip(values.shape, chunks)]):
        block = np.zeros(chunks, values.dtype)
        part = values[tuple(slice(i * c, (i + 1) * c) for i, c in zip(index, chunks))]
        block[tuple(slice(n) for n in part.shape)] = part
        path = os.path.join(folder, sep.join(map(str, index)) or "0")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        data = block.tobytes(changes.get("order", "C"))
        with open(path, "wb") as f:
            f.write(zlib.compress(data) if meta["compressor"] or changes.get("compressor") else data)


def store(name, **changes):
    root = os.path.join(scratch, name)
    shutil.rmtree(root, ignore_errors=True)
    os.makedirs(root)
    for file, content in ((".zgroup", {"zarr_format": 2}), (".zattrs", {"institution": "a centre"})):
        with open(os.path.join(root, file), "w") as f:
            json.dump(content, f)
    put(root, "time", np.arange(3), ["time"], attrs={"units": "days since 2020-01-01"})
    put(root, "prediction_timedelta", np.array([24, 48]), ["prediction_timedelta"], attrs={"units": "hours"})
    put(root, "number", np.arange(5), ["number"])
    put(root, "latitude", np.linspace(60, -60, 4), ["latitude"], attrs={"units": "degrees_north"})
    put(root, "longitude", np.arange(0, 360, 45.0), ["longitude"], attrs={"units": "degrees_east"})
    put(root, "2m_temperature", X, DIMS, (2, 1, 5, 4, 3), {"units": "K"}, **changes)
    return root


def run(command, root, out="out", *more):
    done = subprocess.run([program, command, "--set", f"data.forecast=['{root}']", *more, "--out", os.path.join(scratch, out),
                           "--overwrite"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


class Zarr(unittest.TestCase):
    def check(self, root, x=X):
        status, text = run("inspect", root)
        self.assertEqual(status, 0, text)
        with open(os.path.join(scratch, "out", "inspect.csv"), newline="") as f:
            for row in csv.DictReader(f):
                at = slice(None) if row["lead_h"] == "all" else slice(int(row["lead_h"]) // 24 - 1, int(row["lead_h"]) // 24)
                part = x[:, at].astype("f8")
                self.assertEqual(int(row["missing"]), np.isnan(part).sum())
                for column, value in (("min", np.nanmin(part)), ("max", np.nanmax(part)), ("mean", np.nanmean(part)),
                                      ("sd", np.nanstd(part))):
                    self.assertLess(abs(float(row[column]) / value - 1), 2e-9, (row, column))
        self.assertIn("institution: a centre", text)

    def refused(self, root, status, *words):
        got, text = run("inspect", root)
        self.assertEqual(got, status, text)
        for word in words:
            self.assertIn(word, text)

    def test_stores_of_version_2_are_read(self):
        self.check(store("plain.zarr"))
        self.check(store("nested.zarr", dimension_separator="/"))
        self.check(store("a b,[c]%.zarr"))

    def test_a_store_of_xarray_is_read(self):
        self.check(os.path.join(os.path.dirname(os.path.abspath(__file__)), "zarr", "by_xarray.zarr"))

    def test_a_chunk_that_is_not_there_is_missing(self):
        root, x = store("holes.zarr"), X.copy()
        os.remove(os.path.join(root, "2m_temperature", "1.0.0.0.0"))
        x[2:, :1, :, :, :3] = np.nan
        self.check(root, x)

    def test_fields_become_those_of_netcdf(self):
        root = store("plain.zarr")
        status, text = run("prepare", root, "imported")
        self.assertEqual(status, 0, text)
        self.check_copy(os.path.join(scratch, "imported", "forecast.nc"))

    def check_copy(self, path):
        try:
            import netCDF4
        except ImportError:
            self.skipTest("this Python has no netCDF4")
        with netCDF4.Dataset(path) as f:
            self.assertTrue(np.array_equal(f["t2m"][:].reshape(X.shape), X))

    def test_what_the_library_misreads_is_refused(self):
        remedy = "copy it to NetCDF"
        self.refused(store("a.zarr", compressor={"id": "zlib", "level": 1}), 7, "the compressor 'zlib'", remedy)
        self.refused(store("b.zarr", compressor={"id": "blosc", "cname": "lz4"}), 7, "the compressor 'blosc'", remedy)
        self.refused(store("c.zarr", filters=[{"id": "delta"}]), 7, "filters", remedy)
        self.refused(store("d.zarr", order="F"), 7, "its order is 'F'", remedy)
        self.refused(store("e.zarr", dtype=">f4"), 7, "its dtype '>f4'", remedy)
        self.refused(store("f.zarr", fill_value=-999.0), 7, "fill_value is neither null nor NaN", remedy)
        self.refused(store("g.zarr", zarr_format=3), 7, "Zarr of version 3", "zarr_format=2")
        root = store("h.zarr")
        with open(os.path.join(root, "zarr.json"), "w") as f:
            json.dump({"zarr_format": 3, "node_type": "group"}, f)
        self.refused(root, 7, "h.zarr: Zarr of version 3 (zarr.json)", "zarr_format=2")
        for name, values in (("scalar", np.float64(3)), ("flag", np.array([True, False, True])),
                             ("text", np.array(["a", "b", "c"]))):
            root = store("i.zarr")
            put(root, name, values, ["time"][:values.ndim])
            self.refused(root, 7, f"i.zarr/{name}: ", remedy)
        self.refused(store("j#.zarr"), 7, "rename it")
        self.refused(os.path.join(store("k.zarr"), "time"), 3, "a single Zarr array")
        os.makedirs(os.path.join(scratch, "folder"), exist_ok=True)
        self.refused(os.path.join(scratch, "folder"), 3, "is no regular file")

    def test_damage_is_refused(self):
        root = store("cut.zarr")
        with open(os.path.join(root, "2m_temperature", "0.1.0.0.0"), "r+b") as f:
            f.truncate(100)
        self.refused(root, 3, "cut.zarr/2m_temperature: chunk 0.1.0.0.0 has not the size of its numbers")
        root = store("cut.zarr")
        os.remove(os.path.join(root, "time", "0"))
        self.refused(root, 3, "cut.zarr/time: chunk 0 is missing")
        for shape in ([-3, 2, 5, 4, 8], [3] * 20, "x", None, [2**62, 2**62, 5, 4, 8], [10**18, 2, 5, 4, 8], [[3], 2]):
            self.refused(store("bad.zarr", shape=shape), 3, "bad.zarr/2m_temperature: ")
        for chunks in ([0, 1, 5, 4, 3], [2, 1], [2**40, 1, 5, 4, 3], []):
            self.refused(self.with_chunks(chunks), 3, "bad.zarr/")
        path = os.path.join(store("bad.zarr"), "2m_temperature", ".zarray")
        with open(path) as f:
            text = f.read()
        for n in range(len(text) - 1):  # ended early, wherever: refused, and never a crash
            with open(path, "w") as f:
                f.write(text[:n])
            if n % 17 == 0:
                status, said = run("inspect", os.path.dirname(os.path.dirname(path)))
                self.assertIn(status, (3, 7), said)
        for text in ("[" * 100000, '{"a": ' * 1000, '{"shape": [1,', '"', "{", ""):
            with open(path, "w") as f:
                f.write(text)
            status, said = run("inspect", os.path.dirname(os.path.dirname(path)))
            self.assertIn(status, (3, 7), said)

    def with_chunks(self, chunks):
        root = store("bad.zarr")
        path = os.path.join(root, "2m_temperature", ".zarray")
        with open(path) as f:
            meta = json.load(f)
        with open(path, "w") as f:
            json.dump({**meta, "chunks": chunks}, f)
        return root


code, said = run("inspect", store("first.zarr"))
if code == 7 or "no regular file" in said:
    print("skipped: this build has no NetCDF that reads Zarr:", said)
    sys.exit(77)
unittest.main(argv=[sys.argv[0]])
