"""A universe by second-order Lagrangian perturbation theory in NumPy with scipy.fft, as cosmo_generate.c calls
it: f32, the same noise, transforms, cloud-in-cell and bins. What does not depend on the noise is made once."""

import numpy as np
import scipy
from scipy import fft

made = {}


def version():
    return scipy.__version__


class Waves:
    def __init__(self, n):
        w = np.fft.fftfreq(n, 1 / n).astype(np.float32)
        half = np.arange(n // 2 + 1, dtype=np.float32)
        k = [w[:, None, None], w[None, :, None], half[None, None, :]]
        self.k2 = k[0] ** 2 + k[1] ** 2 + k[2] ** 2
        self.inverse = np.where(self.k2 > 0, 1 / np.where(self.k2 > 0, self.k2, 1), 0).astype(np.float32)
        self.k = k
        self.slope = [np.where(2 * abs(a) == n, 0, a).astype(np.float32) for a in k]
        self.square = self.k2.astype(np.int64)
        x = [np.pi * a / n for a in k]
        sinc = [np.where(a == 0, 1, np.sin(a) / np.where(a == 0, 1, a)) for a in x]
        self.seen = ((sinc[0] * sinc[1] * sinc[2]) ** -4).astype(np.float32)
        self.bin = np.rint(np.sqrt(self.square)).astype(np.int64)
        self.twice = np.where((half == 0) | (2 * half == n), 1, 2).astype(np.float32)[None, None, :] * np.ones_like(self.k2)
        self.modes = np.bincount(self.bin.ravel(), self.twice.ravel())
        self.lattice = np.arange(n, dtype=np.float32)


def cloud_in_cell(x, n):
    low = [np.floor(a) for a in x]
    far = [a - b for a, b in zip(x, low)]
    low = [b.astype(np.int32) % n for b in low]
    high = [(b + 1) % n for b in low]
    count = np.zeros(n**3)
    for a, fa in ((low[0], 1 - far[0]), (high[0], far[0])):
        for b, fb in ((low[1], 1 - far[1]), (high[1], far[1])):
            row, share = (a * n + b) * n, fa * fb
            for c, fc in ((low[2], 1 - far[2]), (high[2], far[2])):
                count += np.bincount((row + c).ravel(), (share * fc).ravel(), n**3)
    return count.reshape(n, n, n).astype(np.float32)


def universe(noise, root, n, box, first, second):
    """Density [n, n, n] by CIC, and its power in bins 1 to n / 2."""
    if n not in made:
        made[n] = Waves(n)
    w = made[n]
    back = lambda a: fft.irfftn(a, (n, n, n))
    delta = fft.rfftn(noise.reshape(n, n, n)) * (root[w.square] * np.float32(np.sqrt(n**3 / box**3)))
    phi = delta * w.inverse
    xx, yy, zz = (back(k * k * phi) for k in w.k)
    source = xx * yy + (xx + yy) * zz
    for i, j in ((0, 1), (0, 2), (1, 2)):
        source -= back(w.slope[i] * w.slope[j] * phi) ** 2
    moved = np.complex64(1j * n / (2 * np.pi)) * w.inverse * (np.float32(first) * delta - np.float32(second) * fft.rfftn(source))
    at = w.lattice
    q = (at[:, None, None], at[None, :, None], at[None, None, :])
    density = cloud_in_cell([back(s * moved) + a for s, a in zip(w.slope, q)], n)
    c = fft.rfftn(density)
    power = np.bincount(w.bin.ravel(), (w.twice * w.seen * (c.real**2 + c.imag**2)).ravel())
    power = power[1 : n // 2 + 1] / w.modes[1 : n // 2 + 1] * (box**3 / float(n) ** 6)
    return lambda: (density, power.astype(np.float32))
