"""Scores of scoringrules that weather_scores.c is compared with. Of the compilers of scoringrules (NumPy, numba, jax) and of the
estimators that give the same number, the fastest is found in the first call."""

import time

import jax
import numpy as np
import scoringrules

BACKENDS = ("numpy", "numba", "jax")
chosen = {}


def version():
    return "%s %s" % (scoringrules.__version__, chosen["name"])


def fastest(forms, *arguments):
    """What the fastest form returns; {name: function}."""
    if not chosen:
        best = np.inf
        for name, form in forms.items():
            np.asarray(form(*arguments))  # compiles
            start = time.perf_counter()
            np.asarray(form(*arguments))
            seconds = time.perf_counter() - start
            if seconds < best:
                best = seconds
                chosen.update(name=name, form=form)
    return np.asarray(chosen["form"](*arguments), np.float32)


def form_of(backend, score):
    """score(backend=...) of arrays; jax compiles it as a whole."""
    return jax.jit(lambda *a: score(*a, backend="jax")) if backend == "jax" else lambda *a: score(*a, backend=backend)


def fair(x, y, members):
    """Fair CRPS [cases] of x [cases, members]."""

    def scored(estimator):
        return lambda x, y, backend: scoringrules.crps_ensemble(y, x, estimator=estimator, backend=backend)

    forms = {b + " " + e: form_of(b, scored(e)) for b in BACKENDS for e in ("pwm", "fair")}
    return fastest(forms, x.reshape(-1, members), y)


def normal(mean, variance, truth, alpha, beta, gamma, delta):
    """Mean CRPS of normal distributions with EMOS coefficients."""

    def scored(x, v, y, backend):
        sd = (gamma**2 + delta**2 * v) ** 0.5
        return scoringrules.crps_normal(y, alpha + beta * x, sd, backend=backend).mean()

    return fastest({b: form_of(b, scored) for b in BACKENDS}, mean, variance, truth)
