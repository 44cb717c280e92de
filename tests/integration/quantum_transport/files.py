#!/usr/bin/env python3
"""files.py PROGRAM WORK - transport.nc and transport.TBT.nc as netCDF4 and, where it is installed, sisl read them; curves of
wannier90."""
import csv
import os
import subprocess
import sys

try:
    import netCDF4
    import numpy as np
except ImportError:
    print("skipped: this Python has no netCDF4")
    sys.exit(77)

program, work = sys.argv[1], sys.argv[2]
RYDBERG, BOHR = 13.605693122994, 0.529177210903


def run(name, *arguments):
    out = os.path.join(work, name)
    subprocess.run([program, "run", *arguments, "--out", out], check=True, capture_output=True)
    with open(os.path.join(out, "spectra.csv")) as file:
        rows = list(csv.DictReader(file))
    return out, {key: np.array([float(row[key] or 'nan') for row in rows]) for key in rows[0]}


def close(what, a, b, tolerance):
    worst = np.abs(np.asarray(a) - np.asarray(b)).max()
    print(f"{what}: differs by {worst:.3g}, at most {tolerance:.3g}")
    assert worst <= tolerance, what


ribbon = "device={agnr: {width: 7, length: 6, disorder: 0.5}}"
out, spectra = run("ribbon", "--set", ribbon, "--set", "energy.points=60")

with netCDF4.Dataset(os.path.join(out, "transport.nc")) as nc:
    close("transmission", nc["mean_transmission"][:], spectra["transmission"], 1e-15)
    close("density of states", nc["dos"][0].sum(-1), spectra["dos_per_eV"], 1e-12)
    assert nc["energy"].units == "eV" and nc["dos"].units == "eV-1"
    current = float(nc["current"][:])

with netCDF4.Dataset(os.path.join(out, "transport.TBT.nc")) as nc:
    nc.set_auto_mask(False)
    assert set(nc.groups) == {"Left", "Right"}
    close("energies in Ry", nc["E"][:] * RYDBERG, spectra["energy_eV"], 1e-12)
    close("transmission of TBT", nc["Left"]["Right.T"][0], spectra["transmission"], 1e-15)
    close("density of states of TBT", nc["DOS"][0].sum(-1) / RYDBERG, spectra["dos_per_eV"], 1e-11)
    close("parts of both leads", nc["Left"]["ADOS"][0] + nc["Right"]["ADOS"][0], nc["DOS"][0], 1e-9)
    assert nc["lasto"][-1] == len(nc.dimensions["no_u"]) == 84
    close("bond length", np.linalg.norm(nc["xa"][:] - nc["xa"][0], axis=1)[1:].min() * BOHR, 1.42, 1e-9)

try:
    import sisl
except ImportError:
    sisl = None
if sisl is not None:
    tbt = sisl.get_sile(os.path.join(out, "transport.TBT.nc"))
    close("sisl: transmission", tbt.transmission(), spectra["transmission"], 1e-12)
    close("sisl: density of states", tbt.DOS(), spectra["dos_per_eV"], 1e-10)
    close("sisl: chemical potential", tbt.mu(0), 0.05, 1e-12)

# wannier90's own transport of two ribbons, eta 5e-4 eV; energies of the curve nearer than 10 eta to a band edge are left out:
# there the number of modes changes.
data = os.environ.get("WEIR_TEST_DATA", os.path.join(os.path.dirname(__file__), "../../../../shared/data"))
for name in ("sq5", "agnr7"):
    seed = os.path.join(data, "quantum", "wannier90_transport", name)
    if not os.path.exists(seed + "_qc.dat"):
        print(f"{name}: the curve of wannier90 is not here")
        continue
    curve = np.loadtxt(seed + "_qc.dat", comments="#", skiprows=1)
    arguments = ["--set", f"device={{wannier: {{seed: '{seed}', direction: 3, cells: 4}}}}", "--set", "lead.eta=5e-4", "--set",
                 "output.dos=false"]
    grid = f"energy={{min: {curve[0, 0]}, max: {curve[-1, 0]}, points: {len(curve)}}}"
    _, here = run(name, *arguments, "--set", grid)
    step = 10 * 5e-4
    sides = [run(f"{name}{k}", *arguments, "--set",
                 f"energy={{min: {curve[0, 0] + d}, max: {curve[-1, 0] + d}, points: {len(curve)}}}")[1]["modes"]
             for k, d in enumerate((-step, step))]
    inside = (sides[0] == here["modes"]) & (sides[1] == here["modes"])
    assert inside.sum() > 0.8 * len(curve)
    close(f"{name}: wannier90", here["transmission"][inside], curve[inside, 1], 1e-3)
