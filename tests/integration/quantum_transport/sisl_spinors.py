#!/usr/bin/env python3
"""sisl_spinors.py PROGRAM WORK [sisl | FOLDER] - .TSHS of sisl 0.14.3 with collinear and non-collinear spins and spin-orbit coupling: a
perfect wire of random matrices transmits as many waves as cross in the bands that sisl computes, at each wave vector across it. The files
and the numbers of waves stand in spinors/; `sisl` makes them anew, which takes sisl, and FOLDER writes them there."""
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
        import sisl
except ImportError as missing:
    print(f"skipped: {missing} (sisl: PyPI; netCDF4: Debian's python3-netcdf4)")
    sys.exit(77)

KEPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "spinors")
FILES = (work if option == "sisl" else option) or KEPT
ORBITALS, STEPS = 3, 800  # orbitals of the cell; steps in which kx goes once round
COMPONENTS = {"unpolarized": 1, "polarized": 2, "non-colinear": 4, "spin-orbit": 8}
rng = np.random.default_rng(5)


def random_matrix(kind):
    """Random hermitian H with an overlap, of neighbouring cells along x and y."""
    geometry = sisl.Geometry([[0, 0, 0]], sisl.Atom(1, [1.1] * ORBITALS), sisl.Lattice([1.5, 1.5, 10], nsc=[3, 3, 1]))
    h = sisl.Hamiltonian(geometry, spin=kind, orthogonal=False, dtype=np.float64)
    for offset in (0, 0, 0), (1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0):
        image = geometry.lattice.sc_index(offset)
        for i in range(ORBITALS):
            for j in range(ORBITALS):
                column = image * ORBITALS + j
                overlap = float(i == j) if offset == (0, 0, 0) else rng.uniform(-0.05, 0.05)
                h[i, column] = [*rng.uniform(-1, 1, COMPONENTS[kind]), overlap]
    return (h + h.transpose(hermitian=True)) / 2


def channels(h, k_y, energy, **spin):
    """Bands that cross each energy upwards as kx goes once round."""
    below = np.array([[np.sum(h.eigh([kx, k_y, 0], **spin) < e) for e in energy] for kx in (np.arange(STEPS + 1) + 0.3) / STEPS])
    return np.maximum(below[:-1] - below[1:], 0).sum(0)


def transmit(path, spin, out):
    """Wave vectors, energies, T [wave vectors, energies]."""
    settings = [f"device={{matrices: {{h: '{path}', cells: 3, spin: {spin}}}}}", "lead.method=modes", "k.ny=2",
                "energy={min: -2.9, max: 2.9, points: 24, shift: 0}", "output.dos=false"]
    subprocess.run([program, "run", *[word for setting in settings for word in ("--set", setting)], "--out", out], check=True,
                   capture_output=True)
    with netCDF4.Dataset(os.path.join(out, "transport.nc")) as nc:
        nc.set_auto_mask(False)
        return nc["wave_vector"][:], nc["energy"][:], nc["transmission"][:]


rows = []  # kind, spin, wave vector, energy, waves
if not option:
    with open(os.path.join(KEPT, "channels.csv")) as file:
        rows = [(row["kind"], int(row["spin"]), *[float(row[key]) for key in ("k_y", "energy_eV", "channels")]) for row in csv.DictReader(file)]
for kind in COMPONENTS:
    path = os.path.join(FILES, kind + ".TSHS")
    if option:
        h = random_matrix(kind)
        sisl.get_sile(path, "w").write_hamiltonian(h)
    for spin in range(2 if kind == "polarized" else 1):
        k, energy, t = transmit(path, spin, os.path.join(work, f"{kind}{spin}"))
        if option:
            of_sisl = np.array([channels(h, k_y, energy, **({"spin": spin} if kind == "polarized" else {})) for k_y in k[:, 0]])
            rows += [(kind, spin, k_y, e, of_sisl[i, j]) for i, k_y in enumerate(k[:, 0]) for j, e in enumerate(energy)]
        mine = np.array([row[2:] for row in rows if row[:2] == (kind, spin)])
        points = np.array([(k_y, e) for k_y in k[:, 0] for e in energy])
        assert mine.shape == (t.size, 3) and np.abs(mine[:, :2] - points).max() < 1e-12
        worst = np.abs(t.ravel() - mine[:, 2]).max()
        print(f"{kind}, spin {spin}: up to {mine[:, 2].max():g} channels, differs by {worst:.3g}")
        assert mine[:, 2].sum() > 10 and worst < 1e-8
if FILES == option:
    with open(os.path.join(option, "channels.csv"), "w") as file:
        file.write("kind,spin,k_y,energy_eV,channels\n")
        file.writelines(f"{kind},{spin},{k_y:.17g},{e:.17g},{n:g}\n" for kind, spin, k_y, e, n in rows)
