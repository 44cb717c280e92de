"""The kernel scattering_self_energies of npbench (spcl/npbench, BSD-3) in DaCe, optimised by it, which sse_npbench.c is compared with."""

import contextlib
import sys
import tempfile

import dace
import numpy as np
from dace.transformation.auto.auto_optimize import auto_optimize

from sse_npbench import inputs


NK, NE, NQ, NW, ND, NA, NB, NO = (dace.symbol(s, dtype=dace.int64) for s in ("NK", "NE", "NQ", "NW", "ND", "NA", "NB", "NO"))
made = []


@dace.program
def self_energies(neighbours: dace.int32[NA, NB], dh: dace.complex128[NA, NB, ND, NO, NO],
                  g: dace.complex128[NK, NE, NA, NO, NO], d: dace.complex128[NQ, NW, NA, NB, ND, ND],
                  sigma: dace.complex128[NK, NE, NA, NO, NO]):
    left = np.empty((NO, NO), dtype=np.complex128)
    right = np.empty((NO, NO), dtype=np.complex128)
    for k in range(NK):
        for e in range(NE):
            for q in range(NQ):
                for w in range(NW):
                    for i in range(ND):
                        for j in range(ND):
                            for a in range(NA):
                                for b in range(NB):
                                    if e - w >= 0:
                                        left[:] = g[k, e - w, neighbours[a, b]] @ dh[a, b, i]
                                        right[:] = dh[a, b, j] * d[q, w, a, b, i, j]
                                        sigma[k, e, a] += left @ right


def version():
    return dace.__version__


def compiled():
    if not made:
        folder = tempfile.TemporaryDirectory()
        dace.Config.set("default_build_folder", value=folder.name)
        with contextlib.redirect_stdout(sys.stderr):
            graph = self_energies.to_sdfg(simplify=True)
            auto_optimize(graph, dace.DeviceType.CPU)
            made.extend((graph.compile(), folder))
    return made[0]


def optimised(**sizes):
    dh, g, d, neighbours = inputs(**sizes)
    sigma = np.zeros_like(g)
    symbols = {key.upper(): value for key, value in sizes.items()}
    compiled()(neighbours=neighbours, dh=dh, g=g, d=d, sigma=sigma, **symbols)
    return sigma, dh, g, d, neighbours
