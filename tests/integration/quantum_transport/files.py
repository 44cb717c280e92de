#!/usr/bin/env python3
"""files.py PROGRAM WORK - transport.nc, transport.TBT.nc and .PHT.nc as netCDF4 and, where it is installed, sisl read them; curves
of wannier90, where they are."""
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
out, spectra = run("ribbon", "--set", ribbon, "--set", "energy.points=120")

with netCDF4.Dataset(os.path.join(out, "transport.nc")) as nc:
    close("transmission", nc["mean_transmission"][:], spectra["transmission"], 1e-15)
    close("density of states", nc["dos"][0].sum(-1), spectra["dos_per_eV"], 1e-12)
    assert nc["energy"].units == "eV" and nc["dos"].units == "eV-1"
    assert "positive for mu_L > mu_R" in nc["current"].long_name and float(nc["current"][:]) > 0

with netCDF4.Dataset(os.path.join(out, "transport.TBT.nc")) as nc:
    nc.set_auto_mask(False)
    assert set(nc.groups) == {"Left", "Right"}
    close("energies in Ry", nc["E"][:] * RYDBERG, spectra["energy_eV"], 1e-12)
    close("transmission of TBT", nc["Left"]["Right.T"][0], spectra["transmission"], 1e-15)
    close("density of states of TBT", nc["DOS"][0].sum(-1) / RYDBERG, spectra["dos_per_eV"], 1e-11)
    close("parts of both leads", nc["Left"]["ADOS"][0] + nc["Right"]["ADOS"][0], nc["DOS"][0], 1e-9)
    assert nc["lasto"][-1] == len(nc.dimensions["no_u"]) == 84
    for side, first in ("Left", 1), ("Right", 71):
        lead = nc[side]
        close(f"bulk transmission of {side}", lead["T"][0], spectra["modes"], 0)
        assert lead["a"][0] == first and lead["lasto"][-1] == len(lead.dimensions["no_u"]) == len(lead.dimensions["na_u"]) == 14
        close(f"atoms of {side}", lead["xa"][:], nc["xa"][:][first - 1:first + 13], 0)
        close(f"cell of {side}", lead["cell"][:] - np.diag([0, *np.diag(nc["cell"][:])[1:]]), np.diag([4.26 / BOHR, 0, 0]), 1e-9)
        assert "Right.T.Eig" not in lead.variables
    close("bond length", np.linalg.norm(nc["xa"][:] - nc["xa"][0], axis=1)[1:].min() * BOHR, 1.42, 1e-9)

# Eigenvalues of the transmission, in a build that has PETSc.
try:
    waves, of_waves = run("waves", "--set", ribbon, "--set", "energy.points=60", "--set", "transport.method=qtbm", "--set", "lead.method=modes",
                          "--set", "output.channels=true")
except subprocess.CalledProcessError as refused:
    assert refused.returncode == 7, refused.stderr
    waves = None
if waves is not None:
    with netCDF4.Dataset(os.path.join(waves, "transport.TBT.nc")) as nc:
        nc.set_auto_mask(False)
        for side, name in ("Left", "Right.T.Eig"), ("Right", "Left.T.Eig"):
            eigenvalues = nc[side][name][0]
            assert eigenvalues.min() > -1e-9 and eigenvalues.max() < 1 + 1e-9 and np.all(np.diff(eigenvalues) <= 1e-12)
            close(f"eigenvalues of {side}", eigenvalues.sum(-1), of_waves["transmission"], 1e-9)

# Phonons: the squared energies of eta, occupations without chemical potential, a mass defect that reflects.
chain = "device={harmonic_chain: {sites: 12, defect_site: 5, defect_mass: 40}}"
phonons, heat = run("phonons", "--set", chain, "--set", "energy={min: 0.001, max: 0.05, points: 50}", "--set",
                    "contact={temperature: 300, difference: 20}")
with netCDF4.Dataset(os.path.join(phonons, "transport.PHT.nc")) as nc:
    nc.set_auto_mask(False)
    assert set(nc.groups) == {"Left", "Right"}
    close("phonon energies in Ry", nc["E"][:] * RYDBERG, heat["energy_eV"], 1e-14)
    close("transmission of PHT", nc["Left"]["Right.T"][0], heat["transmission"], 1e-15)
    assert 0.1 < heat["transmission"][5] < 0.999 < heat["modes"][5]
    close("density of states of PHT", nc["DOS"][0].sum(-1) / RYDBERG, heat["dos_per_eV"], 1e-9)
    close("parts of both leads of PHT", nc["Left"]["ADOS"][0] + nc["Right"]["ADOS"][0], nc["DOS"][0], 1e-9)
    assert nc["Left"]["eta"].unit == "Ry**2" and nc["Left"]["mu"][0] == 0
    close("eta of PHT", nc["Left"]["eta"][0] * RYDBERG**2, 1e-8, 1e-20)
    close("temperatures of PHT", [nc[side]["kT"][0] * RYDBERG / 8.617333262e-5 for side in ("Left", "Right")], [310, 290], 1e-9)
with netCDF4.Dataset(os.path.join(phonons, "transport.nc")) as nc:
    assert not any("spin" in v.long_name for v in nc.variables.values())
    assert "current" not in nc.variables and nc["energy_current"].long_name == "heat current from the left to the right lead"
    assert nc["thermal_conductance"].units == "W K-1" and nc["temperature"].units == "K"
    quanta = nc["thermal_conductance"][:] / (9.4643e-13 * nc["temperature"][:])
    assert np.all(quanta > 0) and np.all(quanta < 1) and np.all(np.diff(quanta) < 0)

# Scattering: spectra that integrate to the currents, a current that no cut changes, what electrons lose and phonons carry away.
scattered, _ = run("scattered", "--config", os.path.join(os.path.dirname(__file__), "../../../configs/quantum_transport/chain20.yaml"))
with netCDF4.Dataset(os.path.join(scattered, "scattering.nc")) as nc:
    nc.set_auto_mask(False)
    step = nc["energy"][1] - nc["energy"][0]
    for side, sign in ("left", 1), ("right", -1):
        close(f"spectrum of the {side} lead", step * nc[f"spectrum_{side}"][:].sum(), nc[f"current_{side}"][-1], 1e-18)
        close(f"cuts and the {side} lead", nc["current_elastic"][:] + nc["current_hop"][:], sign * nc[f"current_{side}"][-1], 4e-13)
    close("spectra of cuts", step * nc["spectrum_cut"][:].sum(0), nc["current_elastic"][:], 1e-18)
    power = nc["energy_left"][-1] + nc["energy_right"][-1]
    close("power of phonons", nc["atom_gain_of_phonons"][:].sum(), power, 1e-6 * power)
    close("heat of the leads", nc["heat_left"][-1] + nc["heat_right"][-1], -power, 1e-6 * power)
    assert nc["temperature"].units == "K" and len(nc["temperature"][:]) == len(nc["x"][:]) == 20
    assert nc["temperature"][:].max() > 300 and nc["change"][-1] < 1e-8 and len(nc["change"][:]) == 31

try:
    import sisl
except ImportError:
    sisl = None
    print("skipped: no sisl")
if sisl is not None:
    tbt = sisl.get_sile(os.path.join(out, "transport.TBT.nc"))
    close("sisl: transmission", tbt.transmission(), spectra["transmission"], 1e-12)
    close("sisl: density of states", tbt.DOS(), spectra["dos_per_eV"], 1e-10)
    close("sisl: chemical potential", tbt.mu(0), 0.05, 1e-12)
    close("sisl: bulk transmission", tbt.transmission_bulk(1), spectra["modes"], 0)
    if waves is not None:
        tbt = sisl.get_sile(os.path.join(waves, "transport.TBT.nc"))
        close("sisl: eigenvalues of the transmission", tbt.transmission_eig().sum(-1), of_waves["transmission"], 1e-9)
        assert np.all(tbt.fano() < 1 + 1e-9)
    pht = sisl.get_sile(os.path.join(phonons, "transport.PHT.nc"))
    close("sisl: transmission of PHT", pht.transmission(), heat["transmission"], 1e-12)
    close("sisl: density of states of PHT", pht.DOS(), heat["dos_per_eV"], 1e-9)

# Bond currents of a strip of WIDTH x LENGTH sites with flux, disorder and overlap, whose Hamiltonian comes from a file: as NumPy has them.
WIDTH, LENGTH, ETA = 3, 9, 1e-6
n = WIDTH * LENGTH
rng = np.random.default_rng(7)
h, s = np.zeros((n, n), complex), np.eye(n, dtype=complex)
for x in range(LENGTH):
    inner = 2 <= x < LENGTH - 3
    for y in range(WIDTH):
        i = x * WIDTH + y
        h[i, i] = rng.uniform(-1, 1) if inner else 0
        if y + 1 < WIDTH:
            h[i, i + 1] = -1
        if x + 1 < LENGTH:
            h[i, i + WIDTH], s[i, i + WIDTH] = -np.exp(0.4j * y * inner), 0.05
h, s = h + np.triu(h, 1).conj().T, s + np.triu(s, 1).conj().T
for name, matrix in ("h", h), ("s", s):
    rows, columns = np.nonzero(np.tril(matrix))
    with open(os.path.join(work, name + ".mtx"), "w") as file:
        file.write(f"%%MatrixMarket matrix coordinate complex hermitian\n{n} {n} {len(rows)}\n")
        for i, j in zip(rows, columns):
            file.write(f"{i + 1} {j + 1} {matrix[i, j].real:.17g} {matrix[i, j].imag:.17g}\n")
files = f"device={{matrices: {{h: '{work}/h.mtx', s: '{work}/s.mtx', left: {{layer: {WIDTH}}}, right: {{layer: {WIDTH}}}}}}}"
out, spectra = run("bonds", "--set", files, "--set", f"lead.eta={ETA}", "--set", "energy={min: -1.57, max: 1.93, points: 8}", "--set",
                   "output.bond_currents=true", "--set", "output.dos=false")


def decimate(a0, up, down):
    """Self-energies of the lead at smaller and that at larger x."""
    e, left, right, a, c = a0, 0, 0, up, down
    while np.abs(a).max() > 1e-14:
        x = np.linalg.inv(e)
        left, right, e, a, c = left + c @ x @ a, right + a @ x @ c, e - a @ x @ c - c @ x @ a, a @ x @ a, c @ x @ c
    return left, right


def bond_currents(energy):
    """J [i, j] of both leads."""
    z, cell, next_cell = energy + 1j * ETA, slice(0, WIDTH), slice(WIDTH, 2 * WIDTH)
    lead = decimate(*(z * s[block] - h[block] for block in ((cell, cell), (cell, next_cell), (next_cell, cell))))
    sigma, gamma = np.zeros((2, n, n), complex), np.zeros((2, n, n), complex)
    sigma[0, :WIDTH, :WIDTH], sigma[1, -WIDTH:, -WIDTH:] = lead
    g = np.linalg.inv(energy * s - h - sigma.sum(0))
    gamma = 1j * (sigma - sigma.conj().transpose(0, 2, 1))
    return 2 * ((h - energy * s).T * (g @ gamma @ g.conj().T)).imag


expected = np.array([bond_currents(energy) for energy in spectra["energy_eV"]])  # [energy, lead, n, n]
with netCDF4.Dataset(os.path.join(out, "transport.nc")) as nc:
    nc.set_auto_mask(False)
    ends = nc["bond_from"][:], nc["bond_to"][:]
    assert len(ends[0]) == np.count_nonzero(np.triu(h, 1))
    for lead, name in enumerate(("bond_current_left", "bond_current_right")):
        close(f"{name} of NumPy", nc[name][0], expected[:, lead][:, ends[0], ends[1]], 1e-9)
        for cut in range(WIDTH, n, WIDTH):
            through = nc[name][0][:, (ends[0] < cut) & (ends[1] >= cut)].sum(-1)
            close(f"{name} through a cut", through, (1 - 2 * lead) * spectra["transmission"], 1e-10)
with netCDF4.Dataset(os.path.join(out, "transport.TBT.nc")) as nc:
    nc.set_auto_mask(False)
    row, column = np.repeat(np.arange(n), nc["n_col"][:]), nc["list_col"][:] - 1
    assert np.all(np.diff(row * n + column) > 0)
    for lead, name in enumerate(("Left", "Right")):
        close(f"J of {name}", nc[name]["J"][0], expected[:, lead][:, row, column], 1e-9)

if sisl is not None:
    tbt = sisl.get_sile(os.path.join(out, "transport.TBT.nc"))
    for lead in range(2):
        for k, energy in enumerate(spectra["energy_eV"]):
            close("sisl: orbital transmission", tbt.orbital_transmission(energy, lead).toarray(), expected[k, lead], 1e-9)
        mu = np.array([tbt.mu(lead), tbt.mu(1 - lead)])[:, None]
        window = np.subtract(*(1 / (np.exp((spectra["energy_eV"] - mu) / tbt.kT(0)) + 1)))
        integral = np.tensordot(window * np.diff(spectra["energy_eV"])[0], expected[:, lead], 1)
        close("sisl: bond current", tbt.bond_current(lead, 1 - lead).toarray(), integral * 1.602176634e-19 / 4.135667696e-15, 1e-12)

# wannier90's own transport of two ribbons, eta 5e-4 eV; energies of the curve nearer than 10 eta to a band edge are left out.
# Densities of states, of a cell, also differ as wannier90 broadens the device, too. Edges by closed form: a strip of 5 sites with hopping
# -1 eV has bands -2 cos q - 2 cos k, an armchair ribbon of 7 dimer lines with -2.7 eV has +-2.7 |1 + 2 cos q exp(ik)|, q = p pi / (N + 1),
# whose largest and smallest values lie at cos k = +-1 (at q = pi / 2 the band is flat).
ACROSS = {"sq5": 2 * np.cos(np.arange(1, 6) * np.pi / 6), "agnr7": 2.7 * (1 + 2 * np.cos(np.arange(1, 8) * np.pi / 8))}
EDGES = {"sq5": np.concatenate((ACROSS["sq5"] - 2, ACROSS["sq5"] + 2)), "agnr7": np.concatenate((ACROSS["agnr7"], -ACROSS["agnr7"]))}
data = os.environ.get("WEIR_TEST_DATA", os.path.join(os.path.dirname(__file__), "../../../../shared/data"))
for name in ("sq5", "agnr7"):
    seed = os.path.join(data, "quantum", "wannier90_transport", name)
    if not os.path.exists(seed + "_qc.dat"):
        print(f"skipped: no curve of wannier90 for {name}")
        continue
    curve = np.loadtxt(seed + "_qc.dat", comments="#", skiprows=1)
    arguments = ["--set", f"device={{wannier: {{seed: '{seed}', direction: 3, cells: 4}}}}", "--set", "lead.eta=5e-4"]
    grid = f"energy={{min: {curve[0, 0]}, max: {curve[-1, 0]}, points: {len(curve)}}}"
    _, here = run(name, *arguments, "--set", grid)
    inside = np.abs(curve[:, :1] - EDGES[name]).min(1) > 10 * 5e-4
    assert inside.sum() > 0.8 * len(curve)
    close(f"{name}: wannier90", here["transmission"][inside], curve[inside, 1], 1e-3)
    dos = np.genfromtxt(seed + "_dos.dat", skip_header=1, delimiter=(16, 16))[:, 1]  # stars, which are no number, at a flat band
    inside &= np.isfinite(dos)
    scale = np.maximum(1, dos[inside])
    close(f"{name}: density of states of wannier90", here["dos_per_eV"][inside] / 4 / scale, dos[inside] / scale, 3e-2)
