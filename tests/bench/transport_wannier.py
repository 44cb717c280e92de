"""The transport of a square ribbon by wannier90, which transport_wannier.c is compared with."""

import atexit
import os
import shutil
import subprocess
import tempfile
import time

import numpy as np

K = 5  # wave vectors along the ribbon: hoppings to the next cell need 3
CELL = np.array([20.0, 20.0, 20.0 / K])  # Angstrom: the same steps between wave vectors in all directions
folders, least = {}, {}


def in_folder(width):
    """Where the ribbon's files are, made once."""
    if width not in folders:
        folders[width] = tempfile.mkdtemp()
        atexit.register(shutil.rmtree, folders[width])
        make_checkpoint(folders[width], width)
    return folders[width]


def write_input(folder, width, settings):
    points = "\n".join(f"0 0 {k / K:.12f}" for k in range(K))
    with open(os.path.join(folder, "ribbon.win"), "w") as file:
        file.write(f"num_wann = {width}\nnum_bands = {width}\nnum_iter = 0\nmp_grid = 1 1 {K}\n"
                   "transport = true\ntransport_mode = bulk\none_dim_axis = z\ndist_cutoff_mode = one_dim\ndist_cutoff = 1000\n"
                   f"hr_cutoff = 1e-4\nfermi_energy = 0\n{settings}\n"
                   f"begin unit_cell_cart\nang\n{CELL[0]} 0 0\n0 {CELL[1]} 0\n0 0 {CELL[2]}\nend unit_cell_cart\n"
                   f"begin atoms_cart\nang\nH 1 1 1\nend atoms_cart\nbegin kpoints\n{points}\nend kpoints\n")


def run(folder, *arguments):
    subprocess.run(["wannier90.x", *arguments, "ribbon"], cwd=folder, check=True, capture_output=True)


def version():
    text = subprocess.run(["wannier90.x", "-v"], capture_output=True, text=True).stdout
    return text.split()[-1]


def neighbours(folder):
    """Wave vector, that beside it and the reciprocal lattice vector between them, of each pair that wannier90 asks for."""
    with open(os.path.join(folder, "ribbon.nnkp")) as file:
        lines = [line.strip() for line in file]
    first = lines.index("begin nnkpts") + 1
    return np.array([line.split() for line in lines[first + 1:first + 1 + K * int(lines[first])]], dtype=int)


def make_checkpoint(folder, width):
    """Bands of the ribbon, and Wannier functions that are its sites: H = U E U^H, projections U^H (no iterations)."""
    write_input(folder, width, "")
    run(folder, "-pp")
    across = -np.eye(width, k=1) - np.eye(width, k=-1)
    bands = [np.linalg.eigh(across - 2 * np.cos(2 * np.pi * k / K) * np.eye(width)) for k in range(K)]
    place = np.stack([np.linspace(5, 15, width), np.full(width, 5.0), np.ones(width)], axis=1)
    with open(os.path.join(folder, "ribbon.eig"), "w") as file:
        file.writelines(f"{b + 1} {k + 1} {energy:.15f}\n" for k in range(K) for b, energy in enumerate(bands[k][0]))
    with open(os.path.join(folder, "ribbon.amn"), "w") as file:
        file.write(f"sites\n{width} {K} {width}\n")
        for k in range(K):
            file.writelines(f"{b + 1} {n + 1} {k + 1} {bands[k][1][n, b]:.15f} 0\n" for n in range(width) for b in range(width))
    pairs = neighbours(folder)
    with open(os.path.join(folder, "ribbon.mmn"), "w") as file:
        file.write(f"sites\n{width} {K} {len(pairs) // K}\n")
        for one, other, *g in pairs:
            step = (np.array([0, 0, (other - one) / K]) + g) * 2 * np.pi / CELL
            overlap = bands[one - 1][1].T @ (np.exp(-1j * place @ step)[:, None] * bands[other - 1][1])
            file.write(f"{one} {other} {g[0]} {g[1]} {g[2]}\n")
            np.savetxt(file, np.stack([overlap.T.real.ravel(), overlap.T.imag.ravel()], axis=1), fmt="%.15f")
    write_input(folder, width, "tran_win_min = 0\ntran_win_max = 0.1\ntran_energy_step = 1")
    run(folder)


def compute(folder, width, start, step, n):
    """T and density of states at n energies, and the seconds of the whole program."""
    write_input(folder, width, f"restart = transport\ntran_win_min = {start:.12f}\n"
                f"tran_win_max = {start + (n - 0.5) * step:.12f}\ntran_energy_step = {step:.12f}")
    began = time.perf_counter()
    run(folder)
    seconds = time.perf_counter() - began
    return [np.loadtxt(os.path.join(folder, f"ribbon_{name}.dat"), skiprows=1, ndmin=2)[:n, 1] for name in ("qc", "dos")], seconds


def conduct(width, start, step, n):
    """T [n], density of states [n] of a cell, and the least seconds so far that n energies took: what n + 1 take longer than 1."""
    folder = in_folder(width)
    alone = min(compute(folder, width, start, step, 1)[1] for _ in range(2))
    (t, dos), seconds = compute(folder, width, start, step, n + 1)
    least[width] = min(seconds - alone, least.get(width, np.inf))
    return t[:n], dos[:n], np.array([least[width]])
