"""snapshots.py PROGRAM SCRATCH - `paint` and `haloes` on snapshots in the layouts of Gadget, AREPO (CAMELS) and SWIFT against NumPy: units,
several files, particle types, mass assignment, interlacing, deconvolution, maps, haloes, labels of tables, and what is refused.

Files are written by netCDF4, and by h5py too where that is here. Exit 77: netCDF4 is not here, or no FFTW or NetCDF."""
import csv
import os
import subprocess
import sys

try:
    import netCDF4
    import numpy as np
except ImportError as missing:
    print("skipped: this Python has no", missing.name)
    sys.exit(77)
try:
    import h5py
except ImportError:
    h5py = None

program, scratch = sys.argv[1:]
os.chdir(scratch)
KPC = 3.085678e21  # cm, as AREPO and Gadget state it


def run(*words):
    return subprocess.run([program, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def passes(*words):
    done = run(*words)
    assert done.returncode == 0, done.stdout
    return done.stdout


def refuses(code, text, *words):
    done = run(*words, "--out", "refused_" + words[0])
    assert done.returncode == code and text in done.stdout, (words, done.returncode, done.stdout)


def write_h5py(path, groups):
    """groups: {name: (attributes, {variable: (values, attributes)})}."""
    with h5py.File(path, "w") as f:
        for name, (attributes, variables) in groups.items():
            g = f.create_group(name)
            g.attrs.update(attributes)
            for of, (values, about) in variables.items():
                d = g.create_dataset(of, data=values, **({"compression": "gzip"} if len(values) > 100 else {}))
                d.attrs.update(about)


def write_netcdf(path, groups):
    with netCDF4.Dataset(path, "w") as f:
        for name, (attributes, variables) in groups.items():
            g = f.createGroup(name)
            g.setncatts(attributes)
            for of, (values, about) in variables.items():
                dims = []
                for length in values.shape:
                    dims.append("d%d" % length)
                    if dims[-1] not in g.dimensions:
                        g.createDimension(dims[-1], length)
                v = g.createVariable(of, values.dtype, dims)
                v[:] = values
                v.setncatts(about)


write = write_netcdf if h5py is None else write_h5py


def header(counts, total=None, files=1, box=100.0, masses=None, **more):
    total = np.array(counts if total is None else total)
    return {
        "NumPart_ThisFile": np.array(counts, "i4"), "NumPart_Total": (total % 2**32).astype("u4"),
        "NumPart_Total_HighWord": (total // 2**32).astype("u4"), "NumFilesPerSnapshot": np.int32(files), "BoxSize": box,
        "MassTable": np.array(masses if masses is not None else [0.0] * len(counts)), "Redshift": 0.5, "Time": 1 / 1.5,
        **more,
    }  # fmt: skip


def painted(position, mass, n, box, order, shift=0.0, axes=(0, 1, 2)):
    """Mass on the mesh, in double precision: points, and weights of NGP, CIC and TSC along each axis."""
    weights = []
    for d in axes:
        u = position[:, d] / box * n + shift
        first = np.floor(u if order == 2 else u + 0.5)
        x = u - first
        w = {1: [np.ones_like(x)], 2: [1 - x, x], 3: [(0.5 - x) ** 2 / 2, 0.75 - x**2, (0.5 + x) ** 2 / 2]}[order]
        weights.append([((first.astype(int) + k - (order == 3)) % n, share) for k, share in enumerate(w)])
    mesh = np.zeros((n,) * len(axes))
    for parts in np.ndindex(*[order] * len(axes)):
        chosen = [weights[d][k] for d, k in enumerate(parts)]
        np.add.at(mesh, tuple(at for at, _ in chosen), mass * np.prod([w for _, w in chosen], axis=0))
    return mesh


def corrected(first, second, order, deconvolve):
    n = len(first)
    wave = np.array([i if i <= n / 2 else i - n for i in range(n)])
    w = np.meshgrid(wave, wave, wave[: n // 2 + 1], indexing="ij")
    c = np.fft.rfftn(first)
    if second is not None:
        inner = np.all([abs(x) != n / 2 for x in w], axis=0)
        both = (c + np.fft.rfftn(second) * np.exp(1j * np.pi * sum(w) / n)) / 2
        c = np.where(inner, both, c)
    if deconvolve:
        c = c / np.prod([np.sinc(x / n) ** order for x in w], axis=0)
    return np.fft.irfftn(c, first.shape)


def read(folder, number=0):
    with netCDF4.Dataset(f"{folder}/samples-{number:08d}.nc") as f:
        f.set_auto_mask(False)
        volume = next(v for v in f.variables.values() if v.ndim == 5)
        about = {k: f.variables[k][0] for k in ("unitPar", "physPar", "universe", "cosmology") if k in f.variables}
        about.update(redshift=f.variables["redshifts"][:] if "redshifts" in f.variables else None, box=f.box_size_mpc_h,
                     cell=f.cell_size_mpc_h, quantity=getattr(volume, "quantity", ""))  # fmt: skip
        return volume[0].astype("f8"), about


def near(name, found, expected, limit=3e-6):
    worst = np.abs(found - expected).max() / np.abs(expected).max()
    assert found.shape == expected.shape and worst < limit, (name, worst)
    return worst


draw = np.random.default_rng(5)
n, side = 4000, 12
position = draw.random((n, 3)) * 100
position[:4] = [[0, 0, 0], [99.9999999, 50, 25], [100 / 24, 100 / 24, 100 / 24], [-0.5, 100.5, 3]]  # edges, and outside
mass = draw.random(n) + 0.5
S = ["--set", f"paint.side={side}"]

# Gadget-2 as Quijote has it: kpc/h that the file does not state, one mass of all, two files, f32.
os.makedirs("quijote/7/snapdir_004")
cut = 1500
f32 = (position * 1000).astype("f4")
for i, part in enumerate((slice(0, cut), slice(cut, n))):
    count = len(f32[part])
    write(f"quijote/7/snapdir_004/snap_004.{i}.hdf5", {
        "Header": (header([0, count, 0, 0, 0, 0], [0, n, 0, 0, 0, 0], 2, 100000.0, [0, 65.6, 0, 0, 0, 0], HubbleParam=0.7), {}),
        "PartType1": ({}, {"Coordinates": (f32[part], {}), "ParticleIDs": (np.arange(count, dtype="u4"), {})})})  # fmt: skip
inside = f32.astype("f8") / 1000
gadget = ["quijote/7/snapdir_004", "--set", "snapshot.length_unit=kpc/h"]
done = run("paint", *gadget, *S, "--out", "ngp", "--set", "paint.scheme=ngp")
if done.returncode == 7:
    print("skipped:", done.stdout)
    sys.exit(77)
assert done.returncode == 0 and "the samples have no labels" in done.stdout, done.stdout
for order, scheme in enumerate(("ngp", "cic", "tsc"), 1):
    words = ["--set", "paint.scheme=" + scheme]
    if scheme != "ngp":
        passes("paint", *gadget, *S, *words, "--out", scheme)
    found, about = read(scheme)
    mesh = painted(inside, np.full(n, 65.6), side, 100, order)
    worst = near(scheme, found[..., 0], mesh / mesh.mean(), 1e-6)
    assert abs(found.mean() - 1) < 1e-7 and about["quantity"] == "density", about
    assert about["box"] == 100 and abs(about["cell"] - 100 / side) < 1e-12 and list(about["redshift"]) == [0.5], about
    assert about["universe"] == -1
    second = painted(inside, np.full(n, 65.6), side, 100, order, 0.5) / mesh.mean()
    for interlaced, deconvolve in ((1, 0), (0, 1), (1, 1)):
        more = ["--set", f"paint.interlaced={bool(interlaced)}".lower(), "--set", f"paint.deconvolve={bool(deconvolve)}".lower()]
        out = f"{scheme}{interlaced}{deconvolve}"
        done = run("paint", *gadget, *S, *words, *more, "--out", out)
        if done.returncode == 7:
            print("skipped without FFTW:", out)
            continue
        assert done.returncode == 0, done.stdout
        found, about = read(out)
        worst = max(worst, near(out, found[..., 0], corrected(mesh / mesh.mean(), second if interlaced else None, order, deconvolve)))
        assert about["quantity"] == ""
    print(f"{scheme}: differs from NumPy by {worst:.1e} of the largest density")
whole = passes("paint", "quijote/7/snapdir_004/snap_004.1.hdf5", *gadget[1:], *S, "--out", "by_part")
assert "1 snapshots with 4000 particles" in whole and (read("by_part")[0] == read("cic")[0]).all()

# CAMELS: AREPO, which states its units (kpc/h), gas and stars with masses of their own.
arepo = {"UnitLength_in_cm": KPC, "UnitMass_in_g": 1.989e43, "HubbleParam": 0.6711, "Omega0": 0.3}
scaling = {"h_scaling": -1.0, "a_scaling": 1.0}
gas = draw.random((500, 3)) * 100
gas_mass = (draw.random(500) * 0.1).astype("f4")
for name in ("LH_0", "LH_2"):
    os.makedirs("camels/" + name)
    write(f"camels/{name}/snapshot_090.hdf5", {
        "Header": (header([500, n, 0, 0, 3, 0], box=100000.0, masses=[0, 0.5, 0, 0, 0, 0], **arepo), {}),
        "PartType0": ({}, {"Coordinates": (gas * 1000, scaling), "Masses": (gas_mass, {"h_scaling": -1.0, "a_scaling": 0.0})}),
        "PartType1": ({}, {"Coordinates": (position * 1000, scaling)}),
        "PartType4": ({}, {"Coordinates": (gas[:3] * 1000, scaling), "Masses": (gas_mass[:3], {})})})  # fmt: skip
with open("CosmoAstroSeed.txt", "w") as f:
    f.write("#Name  Omega_m  sigma_8  A_SN1     A_AGN1  A_SN2  A_AGN2  seed\n")
    f.write("   LH_0 0.30900 0.97900   3.11234   1.12194 0.66841 0.53182 5000\n")
    f.write("   LH_1 0.10000 0.60000   0.25000   0.25000 0.50000 0.50000 5001\n")
    f.write("   LH_2 0.50000 1.00000   4.00000   4.00000 2.00000 2.00000 5002\n\n")
camels = ["camels/LH_0/snapshot_090.hdf5", "camels/LH_2", "--set", "paint.parameters.table=CosmoAstroSeed.txt"]
passes("paint", *camels, *S, "--set", "paint.types=[0,1,4]", "--out", "total")
passes("paint", *camels, *S, "--set", "paint.types=[0,1,4]", "--set", "paint.separate=true", "--out", "separate")
meshes = [painted(*of, side, 100, 2) for of in ((gas, gas_mass.astype("f8")), (position, np.full(n, 0.5)),
                                                (gas[:3], gas_mass[:3].astype("f8")))]  # fmt: skip
found, about = read("total")
near("total", found[..., 0], sum(meshes) / sum(meshes).mean())
near("physPar", about["physPar"], np.array([0.309, 0.979, 3.11234, 1.12194, 0.66841, 0.53182]), 1e-12)
near("unitPar", about["unitPar"][:2].astype("f8"), np.array([2 * 0.209 / 0.4 - 1, 2 * 0.379 / 0.4 - 1]), 1e-6)
assert about["universe"] == 0 and "cosmology" not in about and read("total", 1)[1]["universe"] == 2
found = read("separate")[0]
for c, mesh in enumerate(meshes):
    near("channel", found[..., c], mesh / mesh.mean())
with open("separate/samples.csv") as f:
    rows = list(csv.DictReader(f))
assert [r["universe"] for r in rows] == ["0", "2"] and rows[0]["particles"] == str(n + 503), rows
shown = passes("inspect", "total", "--set", "inspect.samples=2")
assert "2 samples of 12 x 12 x 12 x 1 f32 with 6 labels" in shown and "omega_m" in shown and "checked:  2 of 2" in shown, shown
again = passes("paint", *camels, *S, "--set", "paint.types=[0,1,4]", "--out", "total")
assert "0 snapshots with 0 particles painted; 2 files existed already" in again, again
os.utime("camels/LH_0/snapshot_090.hdf5", (0, 0))
other = run("paint", *camels, *S, "--set", "paint.types=[0,1,4]", "--out", "total")
assert other.returncode == 2 and "another input or other options of paint" in other.stdout, other.stdout

# The table of Quijote has no names, and lines by number; all of a cosmology is known then.
np.savetxt("latin.txt", draw.random((9, 5)) * [0.4, 0.04, 0.4, 0.4, 0.4] + [0.1, 0.03, 0.5, 0.8, 0.6])
names = ["--set", "paint.parameters.columns=[Omega_m,Omega_b,h,n_s,sigma_8]", "--set", "paint.parameters.table=latin.txt"]
ranges = ["--set", "paint.parameters.range=[0.1,0.5,0.6,1]", "--set", "paint.parameters.labels=[Om,s8]"]
passes("paint", *gadget, *names, *ranges, *S, "--out", "labelled")
found, about = read("labelled")
row = np.loadtxt("latin.txt")[7]
near("cosmology", about["cosmology"], row, 1e-12)
near("labels", about["physPar"], row[[0, 4]], 1e-12)
near("units", about["unitPar"].astype("f8"), (row[[0, 4]] - [0.1, 0.6]) / 0.2 - 1, 1e-6)
assert about["universe"] == 7
assert "omega_m" in passes("inspect", "labelled")

# SWIFT: Mpc without h, arrays of one number, three sides of the box, seven types; masses in the file.
h = 0.6777
swift = {
    "Header": (header([0, n, 0, 0, 0, 0, 0], box=np.full(3, 100.0 / h), Code="SWIFT", NumFilesPerSnapshot=np.array([1], "i4"),
                      Redshift=np.array([1.25])), {}),
    "Units": ({"Unit length in cgs (U_L)": np.array([3.08567758e24]), "Unit mass in cgs (U_M)": np.array([1.98841e43])}, {}),
    "Cosmology": ({"h": np.array([h]), "Omega_m": np.array([0.307])}, {}),
    "PartType1": ({}, {"Coordinates": (position / h, {"h-scale exponent": 0.0, "a-scale exponent": 1.0}),
                       "Masses": (mass.astype("f4"), {"h-scale exponent": 0.0, "a-scale exponent": 0.0})}),
}  # fmt: skip
for kind in (write_netcdf, write_h5py):
    if kind is write_h5py and h5py is None:
        continue
    kind("swift.hdf5", swift)
    passes("paint", "swift.hdf5", *S, "--overwrite", "--out", "swift")
    found, about = read("swift")
    mesh = painted(position, mass.astype("f4").astype("f8"), side, 100, 2)
    near("swift", found[..., 0], mesh / mesh.mean())
    assert abs(about["box"] - 100) < 1e-6 and list(about["redshift"]) == [1.25], about

# Maps: the projected density of a slab over the mean of the box, and the convergence of a single lens plane.
slab = ["--set", "paint.map.axis=y", "--set", "paint.map.from=20", "--set", "paint.map.to=70"]
passes("paint", "swift.hdf5", *S, *slab, "--out", "map")
wrapped = position % 100
kept = mass.astype("f4").astype("f8") * ((wrapped[:, 1] >= 20) & (wrapped[:, 1] < 70))
expected = painted(position, kept, side, 100, 2, axes=(0, 2)) / (mass.astype("f4").astype("f8").sum() * 0.5 / side**2)
found, about = read("map")
near("map", found[0, :, :, 0], expected)
assert found.shape == (1, side, side, 1) and about["quantity"] == "density"
assert "1 x 12 x 12 x 1" in passes("inspect", "map")
passes("paint", "swift.hdf5", *S, *slab, "--set", "paint.map.source=2", "--out", "lens")


def distance(z):  # Mpc/h, Gauss-Legendre
    x, w = np.polynomial.legendre.leggauss(60)
    x, w = z * (x + 1) / 2, w * z / 2
    return 2997.92458 * (w / np.sqrt(0.307 * (1 + x) ** 3 + 0.693)).sum()


lens, source = distance(1.25), distance(2.0)
factor = 1.5 * 0.307 / 2997.92458**2 * lens * (source - lens) / source * 2.25 * 50
found, about = read("lens")
near("lens", found[0, :, :, 0], factor * (expected - 1), 1e-5)
print(f"lens: 1 + delta of the slab times {factor:.4g}")

# Haloes: clumps and a background in a box of 50 Mpc/h, against all pairs.
count = 1500
clumps = draw.random((20, 3)) * 50
cloud = np.concatenate([draw.random((500, 3)) * 50, clumps[draw.integers(20, size=1000)] + 0.4 * draw.standard_normal((1000, 3))]) % 50
own = (draw.random(count) + 0.5).astype("f4")
units = {**arepo, "UnitMass_in_g": 1.98848e43}
write("haloes.hdf5", {"Header": (header([0, count, 0, 0, 0, 0], box=50000.0, **units), {}),
                      "PartType1": ({}, {"Coordinates": (cloud * 1000, scaling), "Masses": (own, {})})})  # fmt: skip
passes("haloes", "haloes.hdf5", "--set", "haloes.particles=5", "--out", "haloes")
gap = cloud[:, None] - cloud[None]
gap -= 50 * np.round(gap / 50)
friends = (gap**2).sum(axis=2) <= (0.2 * 50 / count ** (1 / 3)) ** 2
group = np.arange(count)
while True:
    least = np.where(friends, group[None], count).min(axis=1)
    if (least == group).all():
        break
    group = least
of = [group == g for g in np.unique(group)]
of = sorted((own[m].astype("f8").sum() * 1e10, m.sum(), m) for m in of if m.sum() >= 5)[::-1]
with open("haloes/haloes-00000000.csv") as f:
    rows = [[float(x) for x in r.values()] for r in csv.DictReader(f)]
assert len(rows) == len(of) > 10 and [r[1] for r in rows] == [k for _, k, _ in of], (len(rows), len(of))
for (m, x, *centre), (expected, _, members) in zip(rows, of):
    first = cloud[members][0]
    offset = cloud[members] - first
    offset -= 50 * np.round(offset / 50)
    middle = (first + np.average(offset, axis=0, weights=own[members].astype("f8"))) % 50
    assert abs(m / expected - 1) < 1e-6 and np.abs((centre - middle + 25) % 50 - 25).max() < 1e-5, (m, expected, centre, middle)
print(f"haloes: {len(rows)} as by all pairs, the largest of {rows[0][0]:.3g} Msun/h")

# A run that fails leaves the results of an earlier one, as those of other commands do.
before = {name: open("haloes/" + name, "rb").read() for name in os.listdir("haloes")}
done = run("haloes", "haloes.hdf5", "--set", "haloes.type=0", "--overwrite", "--out", "haloes")
assert done.returncode == 3 and "has no particles of type 0" in done.stdout, done.stdout
after = {name: open("haloes/" + name, "rb").read() for name in os.listdir("haloes")}
assert after == before, (sorted(before), sorted(after))

# Refused, with file and reason.
refuses(2, "does not state its unit of mass", "haloes", *gadget)
refuses(3, "has no particles of type 0", "haloes", "haloes.hdf5", "--set", "haloes.type=0")
plain = header([0, n, 0, 0, 0, 0], masses=[0, 1.0, 0, 0, 0, 0])
good = {"Header": (plain, {}), "PartType1": ({}, {"Coordinates": (position, {})})}
unit = ["--set", "snapshot.length_unit=Mpc/h"]


def variant(head=None, **groups):
    write("bad.hdf5", {**good, "Header": ({**plain, **(head or {})}, {}), **groups})


variant()
passes("paint", "bad.hdf5", *unit, *S, "--out", "plain")
refuses(2, "does not state its unit of length (a box of 100)", "paint", "bad.hdf5")
done = run("paint", "bad.hdf5", "--overwrite", "--out", "plain")
assert done.returncode == 2 and "samples-00000000.nc" in os.listdir("plain"), (done.stdout, os.listdir("plain"))
refuses(2, "states a unit of length of", "paint", "swift.hdf5", "--set", "snapshot.length_unit=kpc/h")
refuses(3, "there is no particle type 6", "paint", "bad.hdf5", *unit, "--set", "paint.types=[6]")
refuses(3, "has no mass in particles of type 4", "paint", "bad.hdf5", *unit, "--set", "paint.types=[4]")
refuses(2, "has 1 twice", "paint", "bad.hdf5", *unit, "--set", "paint.types=[1,1]")
refuses(2, "is of maps: set paint.map.axis", "paint", "bad.hdf5", *unit, "--set", "paint.map.to=3")
refuses(2, "is of meshes, not of maps", "paint", "bad.hdf5", *unit, "--set", "paint.map.axis=z", "--set", "paint.interlaced=true")
refuses(2, "the slab is from 0 to 300", "paint", "bad.hdf5", *unit, "--set", "paint.map.axis=z", "--set", "paint.map.to=300")
refuses(2, "a lens has a redshift above 0", "paint", "bad.hdf5", *unit, "--set", "paint.map.axis=z", "--set", "paint.map.source=0.2")
variant({"Redshift": 0.1, "Omega0": 0.0})
refuses(2, "and an Omega_m above 0", "paint", "bad.hdf5", *unit, "--set", "paint.map.axis=z", "--set", "paint.map.source=0.2")
variant()
refuses(3, "no folder of its path is a name", "paint", "bad.hdf5", *unit, *camels[2:])
refuses(2, "does not name its 5 columns", "paint", *gadget, *names[2:])
refuses(2, "has no column Mnu", "paint", *gadget, *names, "--set", "paint.parameters.labels=[Mnu]")
refuses(2, "set paint.parameters.range", "paint", *gadget, *names, "--set", "paint.parameters.labels=[h]",
        "--set", "paint.parameters.range=[0.8,0.9]")  # fmt: skip
with open("short.txt", "w") as f:
    f.write("#Name Omega_m sigma_8\nLH_0 0.3 0.8\nLH_2 0.3\n")
refuses(3, "short.txt: line 3: has 1 numbers", "paint", camels[0], "--set", "paint.parameters.table=short.txt")
for head, text in (
    ({"BoxSize": 40.0}, "outside of the box of 40 Mpc/h"),
    ({"BoxSize": np.array([100.0, 100.0, 50.0])}, "the box is no cube"),
    ({"BoxSize": -1.0}, "the box is no cube"),
    ({"NumPart_Total": np.array([0, n + 1, 0, 0, 0, 0], "u4")}, "NumPart_Total states 4001"),
    ({"NumPart_ThisFile": np.array([0, n + 1, 0, 0, 0, 0], "i4"), "NumPart_Total": np.array([0, n + 1, 0, 0, 0, 0], "u4")},
     "each of the 4001 particles"),
    ({"NumPart_ThisFile": np.array([0, -1, 0, 0, 0, 0], "i4")}, "NumPart_ThisFile of type 1 is -1"),
    ({"MassTable": np.zeros(6)}, "has no masses of type 1"),
    ({"MassTable": np.zeros(5)}, "no attribute MassTable of 6 numbers"),
    ({"NumFilesPerSnapshot": np.int32(2)}, "its name has no number"),
    ({"UnitLength_in_cm": -1.0}, "states units of -1 cm"),
):  # fmt: skip
    variant(head)
    refuses(3, text, "paint", "bad.hdf5", *unit)
variant({"UnitLength_in_cm": 3.0857e24}, PartType1=({}, {"Coordinates": (position, {"h_scaling": 0.0})}))
refuses(3, "does not state h", "paint", "bad.hdf5")
variant(PartType1=({}, {"Coordinates": (position, {"a_scaling": 0.0})}))
refuses(3, "scale with a^0, and have to be comoving", "paint", "bad.hdf5", *unit)
spoilt = position.copy()
spoilt[77, 1] = np.nan
variant(PartType1=({}, {"Coordinates": (spoilt, {})}))
refuses(3, "particle 77 of type 1 is at nan", "paint", "bad.hdf5", *unit)
variant(PartType1=({}, {"Coordinates": (position[:, :2].copy(), {})}))
refuses(3, "PartType1/Coordinates is not 3 floats", "paint", "bad.hdf5", *unit)
os.rename("quijote/7/snapdir_004/snap_004.1.hdf5", "away")
refuses(3, "snap_004.1.hdf5: is missing: the snapshot has 2 files", "paint", *gadget)
os.makedirs("fastpm/Header")
refuses(3, "is a bigfile (FastPM, MP-Gadget)", "paint", "fastpm")
with open("snap_000", "wb") as f:
    f.write(np.array([256], "<i4").tobytes() + bytes(300))
refuses(3, "Gadget's binary format 1", "paint", "snap_000")
print("refused by name")
