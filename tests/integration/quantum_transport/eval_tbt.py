#!/usr/bin/env python3
"""eval_tbt.py PROGRAM WORK - eval against transmissions of .TBT.nc files as TBtrans lays them out, written here by netCDF4."""
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
RYDBERG = 13.605693122994


def run(command, name, *arguments):
    result = subprocess.run([program, command, *arguments, "--out", os.path.join(work, name), "--overwrite"], capture_output=True,
                            text=True)
    return result.returncode, result.stdout + result.stderr


def chain(energy):
    """T(E) of a chain of hopping 1 with an impurity of 0.7 eV."""
    return 1 / (1 + 0.49 / (4 - energy**2))


def write(name, energy, transmission, unit="Ry", factor=1 / RYDBERG, weights=(1,), electrodes=("Source", "Drain"), backwards=False,
          dtype="f4", attribute="unit", suffix=".T"):
    """A file of TBtrans without densities of states; transmission [k, E]."""
    path = os.path.join(work, name)
    with netCDF4.Dataset(path, "w") as nc:
        for dim, n in ("ne", len(energy)), ("nkpt", len(weights)), ("xyz", 3), ("one", 1), ("na_u", 2), ("no_u", 2):
            nc.createDimension(dim, n)
        e = nc.createVariable("E", "f8", ("ne",))
        if unit is not None:
            e.setncattr(attribute, unit)
        e.info = "Energy"
        e[:] = np.asarray(energy) * factor
        nc.createVariable("kpt", "f8", ("nkpt", "xyz"))[:] = 0
        nc.createVariable("wkpt", "f8", ("nkpt",))[:] = weights
        nc.createVariable("lasto", "i4", ("na_u",))[:] = [1, 2]
        for i, electrode in enumerate(electrodes):
            group = nc.createGroup(electrode)
            group.createVariable("mu", "f8", ("one",))[:] = 0
            if i == (len(electrodes) - 1 if backwards else 0):
                other = electrodes[0] if backwards else electrodes[1]
                group.createVariable(other + suffix, dtype, ("nkpt", "ne"))[:] = transmission
    return path


def evaluate(reference, tolerance, *more):
    return run("eval", "score", "--set", f"eval.result={work}/run/spectra.csv", "--set", f"eval.reference={reference}", "--set",
               f"eval.tolerance={tolerance}", "--set", "eval.step=100", *more)


device = "device={chain: {impurity: 0.7, impurity_site: 10}}"
status, text = run("run", "run", "--set", device, "--set", "energy={min: -1.5, max: 1.5, points: 301}", "--set", "lead.method=modes")
assert status == 0, text

# Energies in no order and finer than those of the run, three wave vectors of unequal weights whose mean is that of the chain.
rng = np.random.default_rng(3)
energy = rng.permutation(np.linspace(-1.6, 1.6, 3201))
weights = np.array([0.5, 0.3, 0.2])
noise = rng.uniform(0, 1, len(energy))
several = np.array([chain(energy) + noise, chain(energy) - noise, chain(energy) - noise])
for name, reference, tolerance in (
        ("single.TBT.nc", dict(transmission=[chain(energy)]), 1e-6),
        ("double.TBT.nc", dict(transmission=[chain(energy)], dtype="f8"), 1e-8),
        ("mean.TBT.nc", dict(transmission=several, weights=weights, dtype="f8"), 1e-8),
        ("back.TBT.nc", dict(transmission=[chain(energy)], backwards=True), 1e-6),
        ("ev.TBT.nc", dict(transmission=[chain(energy)], unit="eV", factor=1, attribute="units"), 1e-6),
        ("hartree.TBT.nc", dict(transmission=[chain(energy)], unit="Ha", factor=0.5 / RYDBERG), 1e-6)):
    status, text = evaluate(write(name, energy, **reference), tolerance)
    assert status == 0, (name, text)
status, text = evaluate(write("other.TBT.nc", energy, [chain(energy + 0.05)]), 1e-3)
assert status == 6 and "the transmission differs by" in text, text

# The file of the run itself.
status, text = run("eval", "own", "--set", f"eval.result={work}/run/transport.TBT.nc", "--set",
                   f"eval.reference={work}/run/spectra.csv", "--set", "eval.tolerance=1e-9", "--set", "eval.step=100")
assert status == 0, text

for name, reference, said in (
        ("unit.TBT.nc", dict(transmission=[chain(energy)], unit="kcal/mol"),
         "the energies 'E' are in 'kcal/mol', which is none of Ry, Rydberg, Ha, Hartree, eV, meV"),
        ("none.TBT.nc", dict(transmission=[chain(energy)], unit=None), "the energies 'E' have no attribute 'unit'"),
        ("three.TBT.nc", dict(transmission=[chain(energy)], electrodes=("A", "B", "C")), "has 3 groups, each of an electrode"),
        ("weight.TBT.nc", dict(transmission=[chain(energy)], weights=(0.7,)), "sum to 0.7, not 1"),
        ("lost.TBT.nc", dict(transmission=[chain(energy)], dtype="i4"), "'Drain.T' is no array of real numbers"),
        ("pair.TBT.nc", dict(transmission=[chain(energy)], suffix=".R"),
         "no transmission between electrodes 'Source' and 'Drain'"),
        ("nan.TBT.nc", dict(transmission=[np.where(energy > 1, np.nan, 1)]), "is not finite")):
    status, text = evaluate(write(name, energy, **reference), 1e-3)
    assert status == 3 and said in text, (name, status, text)
