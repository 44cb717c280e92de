#!/usr/bin/env python3
"""sisl_spinors.py PROGRAM WORK - .TSHS of sisl with collinear and non-collinear spins and spin-orbit coupling: a perfect wire of random
matrices transmits as many waves as cross in the bands that sisl computes, at each wave vector across it."""
import os
import subprocess
import sys

os.environ["OMP_NUM_THREADS"] = "1"  # matrices are small
try:
    import netCDF4
    import numpy as np
    import sisl
except ImportError as missing:
    print(f"skipped: {missing} (sisl: PyPI; netCDF4: Debian's python3-netcdf4)")
    sys.exit(77)

program, work = sys.argv[1], sys.argv[2]
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


for kind in COMPONENTS:
    h, path = random_matrix(kind), os.path.join(work, kind + ".TSHS")
    sisl.get_sile(path, "w").write_hamiltonian(h)
    for spin in range(2 if kind == "polarized" else 1):
        out = os.path.join(work, f"{kind}{spin}")
        options = [f"device={{matrices: {{h: '{path}', cells: 3, spin: {spin}}}}}", "lead.method=modes", "k.ny=2",
                   "energy={min: -2.9, max: 2.9, points: 24, shift: 0}", "output.dos=false"]
        subprocess.run([program, "run", *[word for option in options for word in ("--set", option)], "--out", out], check=True,
                       capture_output=True)
        with netCDF4.Dataset(os.path.join(out, "transport.nc")) as nc:
            nc.set_auto_mask(False)
            k, energy, t = nc["wave_vector"][:], nc["energy"][:], nc["transmission"][:]
        expected = np.array([channels(h, k_y, energy, **({"spin": spin} if kind == "polarized" else {})) for k_y in k[:, 0]])
        worst = np.abs(t - expected).max()
        print(f"{kind}, spin {spin}: up to {expected.max()} channels, differs by {worst:.3g}")
        assert expected.sum() > 10 and worst < 1e-8
