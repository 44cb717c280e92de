"""The transmission of a square ribbon by kwant, which transport_ribbon.c is compared with."""

import kwant
import numpy as np

if "mumps" in kwant.solvers.default.smatrix.__self__.__class__.__module__:
    from kwant.solvers import mumps as solver
else:
    from kwant.solvers import sparse as solver

made = {}


def ribbon(onsite, width, length):
    """The finalized system, made once: onsite [length, width] in eV, hopping -1 eV, leads without disorder."""
    if (width, length) not in made:
        lattice = kwant.lattice.square(norbs=1)
        device = kwant.Builder()
        for i, energy in enumerate(onsite):
            device[lattice(i // width, i % width)] = energy
        device[lattice.neighbors()] = -1
        for direction in (-1, 1):
            lead = kwant.Builder(kwant.TranslationalSymmetry((direction, 0)))
            lead[(lattice(0, y) for y in range(width))] = 0
            lead[lattice.neighbors()] = -1
            device.attach_lead(lead)
        made[width, length] = device.finalized()
    return made[width, length]


def version():
    """With what solves the equations: MUMPS, else SuperLU of scipy."""
    return kwant.__version__ + (" MUMPS" if solver.__name__.endswith("mumps") else " SuperLU")


def transmission(onsite, energy, width, length):
    """T [energies]."""
    device = ribbon(onsite, width, length)
    t = [solver.smatrix(device, e, in_leads=[0], out_leads=[1], check_hermiticity=False).transmission(1, 0) for e in energy]
    return np.array(t)
