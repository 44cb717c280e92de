#!/usr/bin/env python3
"""kwant_ribbons.py PROGRAM WORK [kwant | FILE] - T(E) and local density of states of ribbons with disorder and magnetic flux against those
of kwant 1.5.0 for the same numbers: leads by modes, and by decimation. What kwant gave stands in kwant_ribbons.csv; `kwant` computes it
anew, which takes kwant, and FILE (of that name) writes it there."""
import csv
import os
import subprocess
import sys

os.environ["OMP_NUM_THREADS"] = "1"  # matrices are small
program, work, option = sys.argv[1], sys.argv[2], (sys.argv[3:] or [""])[0]
try:
    import netCDF4
    import numpy as np
    if option:
        import kwant
except ImportError as missing:
    print(f"skipped: {missing} (kwant: PyPI; netCDF4: Debian's python3-netcdf4)")
    sys.exit(77)

LENGTH, POINTS, EDGE = 12, 41, 5e-3  # cells; energies, and their distance in eV from a band edge
RESULTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kwant_ribbons.csv")
DENSITIES = 16  # of so many energies one has densities of states in the file


def square(width, flux):
    """Blocks of a cell and to the next one at larger x; the flux through a plaquette in h/e."""
    h0 = -np.eye(width, k=1) - np.eye(width, k=-1) + 0j
    return h0, -np.diag(np.exp(2j * np.pi * flux * np.arange(width)))


def honeycomb(width, flux):
    """The same of a brick wall, two columns a cell; the flux is that of half a hexagon."""
    along = -np.exp(2j * np.pi * flux * np.arange(width))
    column, _ = square(width, 0)
    even = np.arange(width) % 2 == 0
    first = np.diag(np.where(even, along, 0))
    zero = np.zeros((width, width))
    return np.block([[column, first], [first.conj().T, column]]), np.block([[zero, zero], [np.diag(np.where(even, 0, along)), zero]])


def device_of(h0, h1, rng):
    """H [LENGTH n, LENGTH n]: the wire with random energies (eV) and hoppings that vary by 20 %."""
    n = len(h0)
    upper = np.kron(np.eye(LENGTH), np.triu(h0, 1)) + np.kron(np.eye(LENGTH, k=1), h1)
    upper = upper * rng.uniform(0.8, 1.2, upper.shape)
    return upper + upper.conj().T + np.diag(rng.uniform(-0.4, 0.4, LENGTH * n))


def write(path, h):
    """Matrix Market; 17 digits are the number itself."""
    rows, columns = np.nonzero(h)
    with open(path, "w") as file:
        file.write(f"%%MatrixMarket matrix coordinate complex general\n{h.shape[0]} {h.shape[1]} {len(rows)}\n")
        for i, j in zip(rows, columns):
            file.write(f"{i + 1} {j + 1} {h[i, j].real:.17g} {h[i, j].imag:.17g}\n")


def fill(builder, h, site):
    for i, j in zip(*np.nonzero(h)):
        if i > j:
            builder[site(i), site(j)] = h[i, j]


def finalized(h, h0, h1):
    """kwant's system; site (x, y): orbital y of cell x."""
    n = len(h0)
    lattice = kwant.lattice.square(norbs=1)
    system = kwant.Builder()
    for i in range(len(h)):
        system[lattice(i // n, i % n)] = h[i, i].real
    fill(system, h, lambda i: lattice(i // n, i % n))
    for direction in (-1, 1):
        lead = kwant.Builder(kwant.TranslationalSymmetry((direction, 0)))
        for i in range(n):
            lead[lattice(0, i)] = h0[i, i].real
        fill(lead, h0, lambda i: lattice(0, i))
        for i, j in zip(*np.nonzero(h1)):
            lead[lattice(0, i), lattice(1, j)] = h1[i, j]
        system.attach_lead(lead)
    result = system.finalized()
    index = np.array([n * site.tag[0] + site.tag[1] for site in result.sites])
    return result, index


def modes(system, energy):
    return len(system.leads[0].modes(energy)[0].momenta) // 2


def run(name, method):
    """Energies, T, modes; density of states and the part that the left lead fills, [energies, orbitals]."""
    out = os.path.join(work, name + method)
    matrix, lead = os.path.join(work, name + ".mtx"), os.path.join(work, name + "_lead.mtx")
    settings = [f"device={{matrices: {{h: '{matrix}', left: {{h: '{lead}'}}, right: {{h: '{lead}'}}}}}}", f"lead.method={method}",
                f"energy={{min: -2.3, max: 2.21, points: {POINTS}, shift: 0}}"]
    subprocess.run([program, "run", *[word for setting in settings for word in ("--set", setting)], "--out", out], check=True,
                   capture_output=True)
    with open(os.path.join(out, "spectra.csv")) as file:
        rows = list(csv.DictReader(file))
    with netCDF4.Dataset(os.path.join(out, "transport.nc")) as nc:
        nc.set_auto_mask(False)
        return (*[np.array([float(row[key]) for row in rows]) for key in ("energy_eV", "transmission", "modes")], nc["dos"][0],
                nc["dos_left"][0])


def close(what, a, b, tolerance):
    worst = np.abs(a - b).max()
    print(f"{what}: differs by {worst:.3g}, at most {tolerance:.3g}")
    assert worst <= tolerance, what


def of_kwant(h, h0, h1, energies):
    """Rows of an energy each, more than EDGE off a band edge: energy, T, modes; density of states and the left lead's part."""
    system, index = finalized(h, h0, h1)
    rows = []
    for energy in energies:
        count = modes(system, energy)
        if not modes(system, energy - EDGE) == count == modes(system, energy + EDGE) > 0:
            continue
        dos, dos_left = np.empty((2, len(h)))
        dos[index] = kwant.ldos(system, energy)
        dos_left[index] = (np.abs(kwant.wave_function(system, energy)(0)) ** 2).sum(0) / (2 * np.pi)
        rows.append((energy, kwant.smatrix(system, energy).transmission(1, 0), count, dos, dos_left))
    return rows


def fingerprint(h):
    return float(np.sum((h.real + 2 * h.imag) * np.arange(1, 1 + h.size).reshape(h.shape)) / h.size)


def write_rows(file, name, h, rows):
    for i, (energy, t, count, *densities) in enumerate(rows):
        texts = [" ".join(f"{x:.12g}" for x in d) if i % DENSITIES == 0 else "" for d in densities]
        file.write(f"{name},{fingerprint(h):.12g},{energy:.17g},{t:.12g},{count},{texts[0]},{texts[1]}\n")


def of_file(name, h):
    with open(RESULTS) as file:
        rows = [row for row in csv.DictReader(file) if row["ribbon"] == name]
    for row in rows:
        assert abs(float(row["fingerprint"]) - fingerprint(h)) < 1e-9, "NumPy draws other numbers than it did: compute the file anew"
    return [(float(row["energy_eV"]), float(row["transmission"]), int(row["modes"]),
             *[np.array([float(x) for x in row[key].split()]) for key in ("dos", "dos_left")]) for row in rows]


def compare(name, method, tolerance, results, rows):
    energies, t, n_modes, dos, dos_left = results
    at = [int(np.abs(energies - row[0]).argmin()) for row in rows]
    close(f"{name}, {method}: energies", energies[at], np.array([row[0] for row in rows]), 1e-12)
    close(f"{name}, {method}: modes", n_modes[at], np.array([row[2] for row in rows]), 0)
    close(f"{name}, {method}: T", t[at], np.array([row[1] for row in rows]), tolerance)
    for what, own, column in ("density of states", dos, 3), ("density of states of the left lead", dos_left, 4):
        with_it = [i for i, row in enumerate(rows) if len(row[column]) > 0]
        assert len(with_it) > 1
        close(f"{name}, {method}: {what}", own[[at[i] for i in with_it]], np.array([rows[i][column] for i in with_it]), tolerance)


rng = np.random.default_rng(17)
cases = {"square": square(9, 0), "square_flux": square(9, 0.03), "honeycomb": honeycomb(6, 0), "honeycomb_flux": honeycomb(6, 0.02)}
written = open(option, "w") if option.endswith(".csv") else None
if written:
    written.write("ribbon,fingerprint,energy_eV,transmission,modes,dos,dos_left\n")
for name, (h0, h1) in cases.items():
    h = device_of(h0, h1, rng)
    write(os.path.join(work, name + ".mtx"), h)
    write(os.path.join(work, name + "_lead.mtx"), np.block([[h0, h1], [h1.conj().T, h0]]))
    results = {method: run(name, method) for method in ("modes", "decimation")}
    rows = of_kwant(h, h0, h1, results["modes"][0]) if option else of_file(name, h)
    assert len(rows) > 0.7 * POINTS
    assert np.mean([abs(row[1] - round(row[1])) > 1e-3 for row in rows]) > 0.5, "the disorder scatters"
    for method, tolerance in (("modes", 1e-10), ("decimation", 1e-3)):
        compare(name, method, tolerance, results[method], rows)
    if written:
        write_rows(written, name, h, rows)
if written:
    written.close()
