"""The quasi-geostrophic model of weather_ensemble in NumPy, as weather_simulate.c calls it: the same equations,
truncation and steps, all members in one array, real transforms of numpy.fft (f64) or scipy.fft (f32)."""

import numpy as np
import scipy
from scipy import fft as scipy_fft

made = {}


class Model:
    def __init__(self, nx, ny, single, lx, ly, coupling, beta, tau_d, tau_f, jet, width, mountain, nu, dt):
        self.fft = scipy_fft if single else np.fft
        self.real, self.complex = (np.float32, np.complex64) if single else (np.float64, np.complex128)
        self.shape = (ny, nx)
        kx = 2 * np.pi * np.fft.rfftfreq(nx, lx / nx)[None, :]
        ky = 2 * np.pi * np.fft.fftfreq(ny, ly / ny)[:, None]
        k2 = kx**2 + ky**2
        self.kept = (np.arange(nx // 2 + 1)[None, :] * 3 < nx) & (abs(np.fft.fftfreq(ny, 1 / ny))[:, None] * 3 < ny)
        safe = np.where(k2 > 0, k2, 1)
        mean = np.where(k2 > 0, -0.5 / safe, 0) * self.kept
        apart = np.where(k2 > 0, -0.5 / (safe + 2 * coupling), 0) * self.kept
        x = lx * np.arange(nx)[None, :] / nx
        y = ly * (np.arange(ny)[:, None] / ny - 0.5)
        circle = lambda a: np.minimum(abs(x - a), lx - abs(x - a))
        h = np.exp(-(circle(0.3 * lx) ** 2 + (y - 1) ** 2) / 8)
        h = mountain * (h + 0.6 * np.exp(-circle(0.75 * lx) ** 2 / 18 - (y + 2) ** 2 / 8))
        h = np.fft.rfft2(h) * self.kept
        h[0, 0] = 0
        wind = np.fft.rfft2(jet / np.cosh(y / width) ** 2 * np.ones_like(x))
        relaxed = np.zeros_like(wind)
        relaxed[1:, 0] = 1j * wind[1:, 0] / ky[1:, 0]
        u = 2 * width / ly * jet * np.tanh(ly / (2 * width))
        to = lambda a: np.ascontiguousarray(a.astype(self.complex if np.iscomplexobj(a) else self.real))
        self.own, self.other = to(mean + apart), to(mean - apart)
        self.ikx, self.iky = to(1j * kx * self.kept), to(1j * ky * self.kept)
        self.q1x, self.psi1x, self.psi2x = to(u * 1j * kx), to((beta + coupling * u) * 1j * kx), to((beta - coupling * u) * 1j * kx)
        self.h, self.relaxed, self.drag = to(h), to(relaxed * self.kept / tau_d), to(k2 * self.kept / tau_f)
        self.rate = self.real(1 / tau_d)
        self.decay = to(np.exp(-nu * k2**4 * dt / 2))
        self.k2, self.coupling, self.dt = k2, coupling, self.real(dt)

    def state(self, psi):
        one, two = np.fft.rfft2(psi[:, 0]) * self.kept, np.fft.rfft2(psi[:, 1]) * self.kept
        one[:, 0, 0] = two[:, 0, 0] = 0
        apart = self.coupling * (one - two)
        return (-self.k2 * one - apart).astype(self.complex), (-self.k2 * two + apart).astype(self.complex)

    def psi(self, q1, q2):
        return self.own * q1 + self.other * q2, self.other * q1 + self.own * q2

    def flux(self, psi, q):
        to = self.fft.irfft2
        u, v, q = to(-self.iky * psi, self.shape), to(self.ikx * psi, self.shape), to(q, self.shape)
        return self.ikx * self.fft.rfft2(u * q) + self.iky * self.fft.rfft2(v * q)

    def tendency(self, q1, q2):
        psi1, psi2 = self.psi(q1, q2)
        warmed = self.rate * (psi1 - psi2) - self.relaxed
        k1 = warmed - self.flux(psi1, q1) - self.q1x * q1 - self.psi1x * psi1
        k2 = self.drag * psi2 - warmed - self.flux(psi2, q2 + self.h) - self.psi2x * psi2
        return k1, k2

    def step(self, q):
        e, dt = self.decay, self.dt
        k = self.tendency(*q)
        total = [e * (e * (a + dt / 6 * b)) for a, b in zip(q, k)]
        k = self.tendency(*[e * (a + dt / 2 * b) for a, b in zip(q, k)])
        total = [s + dt / 3 * (e * b) for s, b in zip(total, k)]
        k = self.tendency(*[e * a + dt / 2 * b for a, b in zip(q, k)])
        total = [s + dt / 3 * (e * b) for s, b in zip(total, k)]
        k = self.tendency(*[e * (e * a + dt * b) for a, b in zip(q, k)])
        return [s + dt / 6 * b for s, b in zip(total, k)]


def version():
    """Of what the model of the last call transformed with."""
    library = scipy if made["fft"] is scipy_fft else np
    return library.__version__


def run(psi, members, steps, **options):
    """psi [members, 2, ny, nx] after so many steps."""
    key = (members,) + tuple(sorted(options.items()))
    if key not in made:
        model = Model(**options)
        made[key] = model, model.state(psi.reshape((members, 2) + model.shape))
    model, q = made[key]
    made["fft"] = model.fft
    for _ in range(steps):
        q = model.step(q)
    back = lambda a: np.fft.irfft2(a.astype(np.complex128), model.shape)
    return lambda: np.stack([back(a) for a in model.psi(*q)], axis=1).astype(np.float32)
