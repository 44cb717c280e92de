"""The kernel scattering_self_energies of npbench (spcl/npbench, BSD-3) in NumPy, which sse_npbench.c is compared with."""

import numpy as np

made = {}


def inputs(nk, ne, nq, nw, nd, na, nb, no):
    """dH, G, D, neighbours: uniform in [0, 1) + i [0, 1), in this order, from one generator; made once."""
    key = (nk, ne, nq, nw, nd, na, nb, no)
    if key not in made:
        rng = np.random.default_rng(42)

        def uniform(*shape):
            return rng.random(shape) + 1j * rng.random(shape)

        dh = uniform(na, nb, nd, no, no)
        g = uniform(nk, ne, na, no, no)
        d = uniform(nq, nw, na, nb, nd, nd)
        first = np.arange(na)[:, None] - nb / 2
        neighbours = ((first + np.arange(nb)) % na).astype(np.int32)
        made[key] = dh, g, d, neighbours
    return made[key]


def loop(**sizes):
    """As npbench describes it: eight loops around two products of matrices and an addition."""
    dh, g, d, neighbours = inputs(**sizes)
    sigma = np.zeros_like(g)
    nq, nw, na, nb, nd, _ = d.shape
    for k in range(g.shape[0]):
        for e in range(g.shape[1]):
            for q in range(nq):
                for w in range(nw):
                    for i in range(nd):
                        for j in range(nd):
                            for a in range(na):
                                for b in range(nb):
                                    if e - w >= 0:
                                        left = g[k, e - w, neighbours[a, b]] @ dh[a, b, i]
                                        right = dh[a, b, j] * d[q, w, a, b, i, j]
                                        sigma[k, e, a] += left @ right
    return sigma, dh, g, d, neighbours


def restructured(**sizes):
    """The same sums as products of large matrices: D summed over q, one product of G and dH for all w."""
    dh, g, d, neighbours = inputs(**sizes)
    nk, ne, na, no, _ = g.shape
    nb, nd = dh.shape[1:3]
    left = g[:, :, neighbours][:, :, :, :, None] @ dh  # [k, e, a, b, i, m, r]
    left = left.transpose(2, 0, 1, 5, 3, 4, 6).reshape(na, nk, ne, no, nb * nd * no)
    right = np.einsum("abjrn,wabij->wabirn", dh, d.sum(axis=0)).reshape(-1, na, nb * nd * no, no)
    sigma = np.zeros((na, nk, ne, no, no), dtype=complex)
    for w in range(right.shape[0]):
        rows = left[:, :, : ne - w].reshape(na, -1, nb * nd * no)
        sigma[:, :, w:] += (rows @ right[w]).reshape(na, nk, ne - w, no, no)
    return np.ascontiguousarray(sigma.transpose(1, 2, 0, 3, 4)), dh, g, d, neighbours


def product(n):
    """Of two n x n matrices."""
    if n not in made:
        made[n] = np.random.default_rng(1).random((2, n, n)) * (1 + 2j)
    return made[n][0] @ made[n][1]
