"""References of weather_emos.c: EMOS coefficients of one point after the other by scipy, from the same
least-squares start. Arrays are [points, dates]; the mean CRPS that is reached is compared."""

import numpy as np
import scipy
from scipy.optimize import minimize
from scipy.special import erf


def version():
    return scipy.__version__


def crps(theta, x, v, y):
    u = np.maximum(theta[2] ** 2 + theta[3] ** 2 * v, 1e-12)
    sigma = np.sqrt(u)
    z = (y - theta[0] - theta[1] * x) / sigma
    density = np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi)
    e = erf(z / np.sqrt(2))
    value = np.mean(sigma * (z * e + 2 * density - 1 / np.sqrt(np.pi)))
    by_u = (2 * density - 1 / np.sqrt(np.pi)) / sigma
    slopes = [-np.mean(e), -np.mean(e * x), theta[2] * np.mean(by_u), theta[3] * np.mean(by_u * v)]
    return value, np.array(slopes)


def fit(mean, variance, truth, points, search):
    x, v, y = (a.reshape(points, -1).astype(float) for a in (mean, variance, truth))
    reached = np.empty(points, np.float32)
    for p in range(points):
        middle = x[p].mean()
        slope, offset = np.polyfit(x[p] - middle, y[p], 1)
        start = [offset, slope, 0.5, 1.0]
        reached[p] = search(start, (x[p] - middle, v[p], y[p])).fun
    return reached


def nelder_mead(mean, variance, truth, points):
    options = {"maxiter": 2000, "fatol": 1e-6, "xatol": 1e-4}

    def search(start, data):
        return minimize(lambda t: crps(t, *data)[0], start, method="Nelder-Mead", options=options)

    return fit(mean, variance, truth, points, search)


def bfgs(mean, variance, truth, points):
    def search(start, data):
        return minimize(crps, start, args=data, jac=True, method="BFGS", options={"gtol": 1e-5})

    return fit(mean, variance, truth, points, search)
