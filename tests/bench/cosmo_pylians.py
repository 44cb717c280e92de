"""cosmo_pylians.py - rows of cosmo_comparison.py: meshes, P(k), its multipoles and the bispectrum of the same particles by Pylians.

    python3 tests/bench/cosmo_pylians.py     # the values of Pylians in multipoles_test.c and bispectrum_test.c

Pylians computes in single precision. Its P(k) has bins from one whole number of fundamental waves to the next, its bispectrum shells of
two fundamental waves, for which it has P(k) too: Weir is given options that have the same."""

import contextlib
import csv
import io

import netCDF4
import numpy as np
from comparison_table import optional

MASL, PKL = optional("MAS_library"), optional("Pk_library")
swiftsimio = optional("swiftsimio")

BOX, HUBBLE = 128.0, 0.7  # Mpc/h
SCHEMES = ("ngp", "cic", "tsc")
MESH, POWER, TRIANGLES = 1e-6, 1e-5, 1e-5  # goals: both compute P and B in single precision, Pylians also the mesh; of the largest voxel


def golden(count, *ratios):
    """Numbers in [0, 1) that every machine computes alike: [count, ratios]."""
    return np.arange(1, count + 1)[:, None] ** 2 * np.array(ratios) % 1


def particles(count):
    """Positions (Mpc/h), half of them in clumps that are longer along z, and masses, both f32. Positions are odd multiples of 2^-9, which
    single precision holds and which no mesh of 2^n points has at an edge between points."""
    u = golden(count, 0.618033988749895, 0.414213562373095, 0.732050807568877)
    clump = np.arange(count) % 50
    centre = golden(50, 0.236067977499790, 0.302775637731995, 0.645751311064591)[clump]
    x = np.where(np.arange(count)[:, None] % 2 == 0, u, centre + (u - 0.5) ** 3 * [0.15, 0.15, 0.6])
    position = (np.floor(x % 1 * BOX * 256) + 0.5) / 256
    return position.astype("f4"), (1 + np.arange(count) % 3).astype("f4")


def write_snapshot(path, position, mass):
    """In the layout of Gadget, lengths in Mpc/h."""
    with netCDF4.Dataset(path, "w") as file:
        header, count = file.createGroup("Header"), np.array([0, len(mass), 0, 0, 0, 0])
        header.setncatts({"NumPart_ThisFile": count.astype("i4"), "NumPart_Total": count.astype("u4"), "BoxSize": BOX, "Redshift": 0.0,
                          "NumPart_Total_HighWord": np.zeros(6, "u4"), "NumFilesPerSnapshot": np.int32(1), "MassTable": np.zeros(6)})
        group = file.createGroup("PartType1")
        group.createDimension("n", len(mass))
        group.createDimension("axis", 3)
        group.createVariable("Coordinates", "f4", ("n", "axis"))[:] = position
        group.createVariable("Masses", "f4", ("n",))[:] = mass


def quietly(function, *words, **named):
    with contextlib.redirect_stdout(io.StringIO()):
        return function(*words, **named)


# ---- theirs ----


def mesh_of(position, mass, n, scheme):
    """1 + delta."""
    mesh = np.zeros((n, n, n), "f4")
    MASL.MA(np.ascontiguousarray(position, "f4"), mesh, BOX, scheme.upper(), W=mass, verbose=False)
    return mesh / mesh.mean(dtype="f8")


def delta_of(density):
    return np.ascontiguousarray(density - 1, "f4")


def power_of(density, scheme, axis=2):
    """k, modes (+k and -k), P_0, P_2, P_4 of bins of whole numbers that end at the Nyquist wave number of an axis."""
    p = quietly(PKL.Pk, delta_of(density), BOX, axis, scheme, 1, False)
    end = len(density) // 2 - 1
    return np.c_[p.k3D, 2 * p.Nmodes3D, p.Pk][:end]


def triangle_of(density, a, b, scheme="None"):
    """P of shell a, P of shell b, B and Q of triangles with one side in shell a and two in shell b, two fundamental waves wide."""
    first, other = (2 * np.pi / BOX * (1.5 + 2 * s) for s in (a, b))
    theta = np.array([np.arccos(-first / (2 * other))])
    t = quietly(PKL.Bk, delta_of(density), BOX, first, other, theta, scheme, 1)
    return np.array([t.Pk[0], t.Pk[1], t.B[0], t.Q[0]])


# ---- ours ----


def rows_of(path, *columns):
    with open(path, newline="") as file:
        return np.array([[float(row[c]) for c in columns] for row in csv.DictReader(file)])


def columns_of(path):
    with open(path, newline="") as file:
        return next(csv.reader(file))


def painted(folder):
    with netCDF4.Dataset(f"{folder}/samples-00000000.nc") as file:
        file.set_auto_mask(False)
        return next(v for v in file.variables.values() if v.ndim == 5)[0, ..., 0].astype("f8")


def paint(c, out, n, scheme, *sets):
    c.run("paint", "snapshot.hdf5", "snapshot.length_unit=Mpc/h", f"paint.side={n}", f"paint.scheme={scheme}", *sets, out=out)
    return painted(out)


def spectra(c, folder, out, *sets, axis="z"):
    c.run("summaries", folder, "files.voxels=any", "summaries.use=[multipoles]", "summaries.multipoles.from=1",
          f"summaries.multipoles.line_of_sight={axis}", *sets, out=out)
    return rows_of(f"{out}/multipoles.csv", *columns_of(f"{out}/multipoles.csv")[2:7])


def triangles(c, folder, out):
    """{(shell of one side, of two): (P, P, B, Q)}: P from the multipoles of the same shells."""
    c.run("summaries", folder, "files.voxels=any", "summaries.use=[bispectrum,multipoles]", "summaries.bispectrum.width=2",
          "summaries.bispectrum.ratio=2", "summaries.multipoles.width=2", out=out)
    names = columns_of(f"{out}/bispectrum.csv")
    power = rows_of(f"{out}/multipoles.csv", columns_of(f"{out}/multipoles.csv")[4])[:, 0]
    found = {}
    for first, other, b, q in rows_of(f"{out}/bispectrum.csv", names[3], names[5], names[7], names[9]):
        at = tuple(int(round((k * BOX / (2 * np.pi) - 1.5) / 2)) for k in (first, other))
        found[at] = np.array([power[at[0]], power[at[1]], b, q])
    return found


# ---- rows ----


def compare_powers(c, what, data, theirs, reference, ours):
    """P_0, P_2, P_4 and modes of the same bins; differences of all P_l in units of P_0 of the bin."""
    theirs = theirs.reshape(ours.shape)
    assert np.abs(theirs[:, 0] / ours[:, 0] - 1).max() < 1e-5 and (theirs[:, 1] == ours[:, 1]).all(), "k and modes"
    for column, l in ((2, 0), (3, 2), (4, 4)):
        difference = (np.abs(ours - theirs)[:, column] / theirs[:, 2]).max()
        means = theirs[:, column].mean(), ours[:, column].mean()
        c.table.add(f"{what}: P_{l}, {len(ours)} bins", data, reference, *means, difference, POWER)


def compare_mesh(c, what, data, theirs, ours, goal=MESH):
    """The largest voxel, and differences in units of it."""
    if theirs is None:
        c.leave(what, data, "Pylians")
        return
    difference = np.abs(theirs[0] - ours.ravel()).max() / theirs[0].max()
    c.table.add(f"{what}: largest voxel", data, theirs[1], theirs[0].max(), ours.max(), difference, goal)


def score_meshes(c, n, position, mass):
    picked = slice(None, None, 61 if c.tiny else 1)
    data = f"{len(mass)} particles, {n}^3"
    for scheme in SCHEMES:
        ours = paint(c, scheme, n, scheme)
        got = c.theirs("mesh " + scheme, "Pylians", MASL, lambda: mesh_of(position, mass, n, scheme).ravel()[picked])
        compare_mesh(c, f"mesh, {scheme.upper()}", data, got, ours.ravel()[picked])
    ours = paint(c, "interlaced", n, "cic", "paint.interlaced=true")
    got = c.theirs("mesh interlaced", "Pylians", MASL, lambda: interlaced_of(position, mass, n).ravel()[picked])
    compare_mesh(c, "mesh, CIC, interlaced (two meshes of theirs, combined by NumPy)", data, got, ours.ravel()[picked], 3 * MESH)


def interlaced_of(position, mass, n):
    moved = (position.astype("f8") + BOX / n / 2) % BOX
    one, two = (np.fft.rfftn(mesh_of(p, mass, n, "cic").astype("f8")) for p in (position, moved))
    w = np.meshgrid(np.fft.fftfreq(n, 1 / n), np.fft.fftfreq(n, 1 / n), np.arange(n // 2 + 1), indexing="ij")
    inner = np.all([np.abs(x) != n / 2 for x in w], axis=0)
    return np.fft.irfftn(np.where(inner, (one + two * np.exp(1j * np.pi * sum(w) / n)) / 2, one), (n, n, n))


def score_powers(c, n, position, mass):
    data = f"{len(mass)} particles, {n}^3"
    for scheme in SCHEMES:
        ours = spectra(c, scheme, "power_" + scheme, f"summaries.multipoles.window={scheme}")
        got = c.theirs("power " + scheme, "Pylians", PKL, lambda: power_of(mesh_of(position, mass, n, scheme), scheme.upper()))
        if got is None:
            c.leave(f"P(k), multipoles, {scheme.upper()}", data, "Pylians")
        else:
            compare_powers(c, f"{scheme.upper()} divided out", data, *got, ours)
    ours = spectra(c, "cic", "power_x", axis="x")
    got = c.theirs("power x", "Pylians", PKL, lambda: power_of(mesh_of(position, mass, n, "cic"), "None", 0))
    if got is not None:
        compare_powers(c, "along x, CIC, not divided out", data, *got, ours)


def each(c, what, data, theirs, ours, goal):
    """The largest relative difference of any number, not in units of the mean."""
    if theirs is None:
        c.leave(what, data, "Pylians")
        return
    t, o = np.ravel(theirs[0]), np.ravel(ours)
    c.table.add(what, data, theirs[1], t.mean(), o.mean(), np.abs(o / t - 1).max(), goal)


def score_triangles(c, n, position, mass):
    found, data = triangles(c, "cic", "triangles"), f"{len(mass)} particles, CIC, {n}^3"
    at = sorted(found, key=lambda ab: (ab[0] != ab[1], ab))
    got = c.theirs("triangles", "Pylians", PKL, lambda: [triangle_of(mesh_of(position, mass, n, "cic"), *ab) for ab in at])
    same = sum(a == b for a, b in at)
    ours = np.array([found[ab] for ab in at])
    for what, rows, column, goal in (("B of equilateral triangles", slice(same), 2, TRIANGLES),
                                     ("Q of equilateral triangles", slice(same), 3, TRIANGLES),
                                     ("B of squeezed triangles", slice(same, None), 2, TRIANGLES),
                                     ("Q of squeezed triangles", slice(same, None), 3, TRIANGLES),
                                     ("P of their shells, multipoles", slice(same), 0, POWER)):
        theirs = got and (got[0].reshape(ours.shape)[rows, column], got[1])
        each(c, f"{what}, {len(ours[rows])}", data, theirs, ours[rows, column], goal)
    # `power` has bins of one wave; two together are a shell of Pylians.
    c.run("power", "cic", "files.voxels=any", out="spectrum")
    names = columns_of("spectrum/spectrum.csv")
    modes, power = rows_of("spectrum/spectrum.csv", names[5], names[6]).T
    both = (modes * power)[:-1] + (modes * power)[1:]
    ours = (both / (modes[:-1] + modes[1:]))[0 : n // 3 : 2]
    got = c.theirs("spectrum", "Pylians", PKL, lambda: [triangle_of(mesh_of(position, mass, n, "cic"), s, s)[0] for s in range(len(ours))])
    each(c, f"P(k) of `power`, {len(ours)} shells", data, got, ours, POWER)


def write_swift(path, position, mass):
    """By swiftsimio: comoving Mpc without h at a = 1/2, and the cosmology that runs of SWIFT add."""
    import h5py
    import unyt

    length = {"units": unyt.Mpc, "comoving": True, "scale_factor": 0.5, "scale_exponent": 1}
    array, units = swiftsimio.cosmo_array, unyt.UnitSystem("swift", "Mpc", 1e10 * unyt.Msun, 3.08567758e19 * unyt.s)
    writer = swiftsimio.Writer(unit_system=units, boxsize=array([BOX / HUBBLE] * 3, **length), scale_factor=0.5)
    of = writer.dark_matter
    of.coordinates = array(position.astype("f8") / HUBBLE, **length)
    still = {"comoving": True, "scale_factor": 0.5}
    of.velocities = array(np.zeros(position.shape), units=unyt.km / unyt.s, scale_exponent=1, **still)
    of.masses = array(mass * 1e10, units=unyt.Msun, scale_exponent=0, **still)
    writer.write(path)
    with h5py.File(path, "a") as file:
        file.create_group("Cosmology").attrs.update({"h": np.array([HUBBLE]), "Omega_m": 0.3})


def score_swiftsimio(c, n, position, mass):
    what, data = "mesh, TSC, of a file that swiftsimio wrote", f"{len(mass)} particles, {n}^3"
    if swiftsimio is None or MASL is None:
        c.leave(what, data, "Pylians, swiftsimio")
        return
    write_swift("swift.hdf5", position, mass)
    c.run("paint", "swift.hdf5", f"paint.side={n}", "paint.scheme=tsc", out="swift")
    got = c.theirs("swift", "Pylians", MASL, lambda: mesh_of(position, mass, n, "tsc"))
    c.kept.pop("swift")
    both = got[0], f"{got[1]}, swiftsimio {swiftsimio.__version__}"
    compare_mesh(c, what, data, both, painted("swift"))


def score(c):
    n, count = (16, 2000) if c.tiny else (32, 20000)
    position, mass = particles(count)
    write_snapshot("snapshot.hdf5", position, mass)
    score_meshes(c, n, position, mass)
    score_powers(c, n, position, mass)
    score_triangles(c, n, position, mass)
    score_swiftsimio(c, n, position, mass)


# ---- Stored values of unit tests ----


def stored_density(n):
    i = np.arange(1, n**3 + 1, dtype="f8")
    return (1 + (i * i * 0.618033988749895 % 1 - 0.5)).reshape(n, n, n)


def show(values):
    return "{" + ", ".join(f"{v:.9g}" for v in np.ravel(values)) + "}"


if __name__ == "__main__":
    BOX = 8.0  # side in voxels
    for axis, scheme in enumerate(("NGP", "CIC", "TSC")):
        print(scheme, "along axis", axis, show(power_of(stored_density(8), scheme, axis)[:, 2:].T))
    BOX = 16.0
    for a, b in ((0, 0), (1, 1), (0, 1)):
        print("shells", a, b, show(triangle_of(stored_density(16), a, b)))
