#!/usr/bin/env python3
"""kwant_ribbons.py PROGRAM WORK - T(E) and local density of states of ribbons with disorder and magnetic flux, as kwant computes them from
the same numbers: leads by modes, and by decimation."""
import csv
import os
import subprocess
import sys

os.environ["OMP_NUM_THREADS"] = "1"  # matrices are small
try:
    import kwant
    import netCDF4
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing} (kwant: PyPI; netCDF4: Debian's python3-netcdf4)")
    sys.exit(77)

program, work = sys.argv[1], sys.argv[2]
LENGTH, POINTS, EDGE = 12, 41, 5e-3  # cells; energies, and their distance in eV from a band edge


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
    place = np.array([n * site.tag[0] + site.tag[1] for site in result.sites])
    return result, place


def modes(system, energy):
    return len(system.leads[0].modes(energy)[0].momenta) // 2


def run(name, method):
    """Energies, T, modes; density of states and the part that the left lead fills, [energies, orbitals]."""
    out = os.path.join(work, name + method)
    matrix, lead = os.path.join(work, name + ".mtx"), os.path.join(work, name + "_lead.mtx")
    options = [f"device={{matrices: {{h: '{matrix}', left: {{h: '{lead}'}}, right: {{h: '{lead}'}}}}}}", f"lead.method={method}",
               f"energy={{min: -2.3, max: 2.21, points: {POINTS}, shift: 0}}"]
    subprocess.run([program, "run", *[word for option in options for word in ("--set", option)], "--out", out], check=True)
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


rng = np.random.default_rng(17)
cases = {"square": square(9, 0), "square_flux": square(9, 0.03), "honeycomb": honeycomb(6, 0), "honeycomb_flux": honeycomb(6, 0.02)}
for name, (h0, h1) in cases.items():
    h = device_of(h0, h1, rng)
    system, place = finalized(h, h0, h1)
    write(os.path.join(work, name + ".mtx"), h)
    write(os.path.join(work, name + "_lead.mtx"), np.block([[h0, h1], [h1.conj().T, h0]]))
    results = {method: run(name, method) for method in ("modes", "decimation")}
    energies = results["modes"][0]
    inside = [i for i, e in enumerate(energies) if modes(system, e - EDGE) == modes(system, e) == modes(system, e + EDGE) > 0]
    assert len(inside) > 0.7 * POINTS
    transmission = np.array([kwant.smatrix(system, energies[i]).transmission(1, 0) for i in inside])
    dos, dos_left = np.empty((2, len(inside), len(h)))
    for row, i in enumerate(inside):
        dos[row, place] = kwant.ldos(system, energies[i])
        dos_left[row, place] = (np.abs(kwant.wave_function(system, energies[i])(0)) ** 2).sum(0) / (2 * np.pi)
    assert (np.abs(transmission - np.round(transmission)) > 1e-3).mean() > 0.5, "the disorder scatters"
    for method, tolerance in (("modes", 1e-10), ("decimation", 1e-3)):
        _, t, n_modes, own, own_left = results[method]
        close(f"{name}, {method}: modes", n_modes[inside], [modes(system, energies[i]) for i in inside], 0)
        close(f"{name}, {method}: T", t[inside], transmission, tolerance)
        close(f"{name}, {method}: density of states", own[inside], dos, tolerance)
        close(f"{name}, {method}: density of states of the left lead", own_left[inside], dos_left, tolerance)
