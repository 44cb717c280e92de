"""weather_theirs.py - what weather_comparison.py compares with: scores of scoringrules, the search of SciPy for coefficients of EMOS
on these scores, and a regression on EOFs in NumPy. Without scoringrules or SciPy, what needs them is not to be called."""

import numpy as np

try:
    import scipy
    import scipy.optimize
    import scipy.special
except ImportError:
    scipy = None
try:
    import scoringrules as sr
except ImportError:
    sr = None

LOGISTIC = np.sqrt(3) / np.pi
SHIFT = 1.0  # of the gamma distribution, in the unit of the table
UPPER = 4.0  # upper bound of names with "between": members' mean and truth are cut there

FAMILIES = {
    "normal": "z500",
    "logistic": "z500",
    "truncated_normal": "ws500",
    "truncated_logistic": "ws500",
    "log_normal": "ws500",
    "censored_normal": "tprate",
    "censored_logistic": "tprate",
    "censored_shifted_gamma": "tprate",
    "censored_normal between bounds": "tprate",
    "censored_logistic between bounds": "tprate",
}


def scale_of(family, sd):
    return sd * (LOGISTIC if "logistic" in family else 1)


def shift_of(family):
    return SHIFT if family == "censored_shifted_gamma" else 0.0


def options_of(family):
    """Those of Weir that say which distribution it is."""
    upper = {"upper": UPPER} if "between" in family else {}
    return {"family": family.split()[0], "shift": shift_of(family), **upper}


def cut(family, y):
    """Values, none of which is above the upper bound of the family: theirs are NaN 40 scales beyond it."""
    return np.minimum(y, np.asarray(UPPER, y.dtype)) if "between" in family else y


def gamma_of(location, scale, shift):
    """Shape and unit of a gamma distribution of that mean above its beginning, and standard deviation."""
    return ((location + shift) / scale) ** 2, scale**2 / (location + shift)


def far(m, s, y):
    """An upper bound that cuts nothing: with an infinite one the logistic scores of scoringrules 0.10.0 are NaN."""
    return np.maximum(m, y) + 200 * s


def theirs_of(family):
    """CRPS of scoringrules as a function of location, scale and truth as Weir has them, with the bound 0; and the logarithmic score."""
    def bound(f):
        return lambda m, s, y: f(y, m, s, lower=0.0)

    def between(f, reach):  # scales from the bounds: beyond, all is at a bound to rounding, and theirs NaN
        return lambda m, s, y: f(y, np.clip(m, -reach * s, UPPER + reach * s), s, lower=0.0, upper=UPPER)

    def logistic(f):
        return lambda m, s, y: f(y, m, s, lower=0.0, upper=far(m, s, y))

    def log_normal(f):
        return lambda m, s, y: f(y, np.log(m) - 0.5 * np.log1p((s / m) ** 2), np.sqrt(np.log1p((s / m) ** 2)))

    return {
        "normal": (lambda m, s, y: sr.crps_normal(y, m, s), lambda m, s, y: sr.logs_normal(y, m, s)),
        "logistic": (lambda m, s, y: sr.crps_logistic(y, m, s), lambda m, s, y: sr.logs_logistic(y, m, s)),
        "truncated_normal": (bound(sr.crps_tnormal), bound(sr.logs_tnormal)),
        "truncated_logistic": (logistic(sr.crps_tlogistic), bound(sr.logs_tlogistic)),
        "censored_normal": (bound(sr.crps_cnormal), None),
        "censored_logistic": (logistic(sr.crps_clogistic), None),
        "censored_normal between bounds": (between(sr.crps_cnormal, 7), None),
        "censored_logistic between bounds": (between(sr.crps_clogistic, 30), None),
        "log_normal": (log_normal(sr.crps_lognormal), log_normal(sr.logs_lognormal)),
        "censored_shifted_gamma": (gamma_score, None),
    }[family]


def gamma_score(m, s, y):
    """Where the mean is below the beginning of the gamma distribution, which theirs refuses with NaN, all is at the bound."""
    above = m + SHIFT > 0
    shape, unit = gamma_of(np.where(above, m, 0.0), s, SHIFT)
    return np.where(above, sr.crps_csg0(y, shape, scale=unit, shift=SHIFT), y)


def quantile_of(family, location, scale, p):
    """Quantiles by SciPy, with the bound 0."""
    of = scipy.special
    if family == "truncated_normal":
        return location - scale * of.ndtri((1 - p) * of.ndtr(location / scale))
    if family == "censored_shifted_gamma":
        above = location + SHIFT > 0
        shape, unit = gamma_of(np.where(above, location, 0.0), scale, SHIFT)
        return np.where(above, np.maximum(unit * of.gammaincinv(shape, p) - SHIFT, 0), 0)
    assert family == "normal", family
    return location + scale * of.ndtri(p)


def theirs_of_vectors(a, b):
    """Scores of scoringrules. It has the sum over both orders of a pair, Weir the mean over pairs."""
    d = a.shape[-1]
    return {
        "energy_score": sr.es_ensemble(b, a, m_axis=-2, v_axis=-1, estimator="nrg"),
        "energy_score_fair": sr.es_ensemble(b, a, m_axis=-2, v_axis=-1, estimator="fair"),
        "variogram_score": sr.vs_ensemble(b, a, m_axis=-2, v_axis=-1, p=0.5) / (d * (d - 1)),
    }


# ---- EMOS ----


class Cases:
    """Mean and variance of members, truth and weights of cases, f64 [cases]."""

    def __init__(self, mean, variance, truth, weight=None):
        self.x, self.v, self.y = (np.asarray(a, "f8").ravel() for a in (mean, variance, truth))
        self.w = np.ones_like(self.x) if weight is None else np.broadcast_to(weight, np.shape(truth)).ravel()
        self.w = self.w / self.w.mean()

    def mean(self, values):
        return float((self.w * values).mean())

    def crps(self, at, family):
        """Mean of a distribution's coefficients alpha, beta, gamma^2 and delta^2, by scoringrules. Infinite where one is no score: far
        beyond a bound the formulas of scoringrules subtract numbers that are nearly the same, and give NaN or less than 0."""
        with np.errstate(all="ignore"):
            values = theirs_of(family)[0](at[0] + at[1] * self.x, np.sqrt(at[2] + at[3] * self.v), self.y)
        return self.mean(values) if (values >= -1e-9 * np.abs(self.y).max()).all() else np.inf


def least_squares(c, floor, form):
    """alpha, beta, gamma^2, delta^2 from which both searches begin; the last two not below the floor and 0."""
    x0, y0, v0 = (c.mean(a) for a in (c.x, c.y, c.v))
    min_c = floor**2 * c.mean((c.y - y0) ** 2)
    beta = 1.0 if form == "scale" else c.mean((c.x - x0) * (c.y - y0)) / c.mean((c.x - x0) ** 2)
    r2 = (c.y - y0 - beta * (c.x - x0)) ** 2
    delta2 = max(0.0, c.mean(r2 * (c.v - v0)) / c.mean((c.v - v0) ** 2))
    gamma2 = c.mean(r2) - delta2 * v0
    if gamma2 < min_c or form == "scale":
        gamma2, delta2 = min_c, max(0.0, (c.mean(r2) - min_c) / v0)
    return np.array([y0 - beta * x0, beta, gamma2, delta2]), min_c


def floor_of(family, pool="global"):
    """Minimum gamma in standard deviations of the truth. It keeps theirs from NaN: logistic scores of scoringrules more than 700 scales
    from the location, and censored ones beyond 38 scales below the bound, which dry forecasts of single cells reach."""
    return 0.05 if "logistic" in family or "censored" in family and pool != "global" else 1e-3


FEW, STARTS = 256, 12  # cases up to which the CRPS may have several minima; random points that theirs then begins from as well
NONE = 1e6  # in place of an infinite cost, of which no derivative can be made
MOST = 1e3  # of Weir: gamma and delta sqrt(mean v) at most, in standard deviations of the truth or of the residuals


def random_starts(c, family, first, size, count):
    """Lines through two random points within the range of the data and a quarter beyond, with random scales, in the units of the search.
    A generator of one seed: every run has the same ones."""
    random = np.random.default_rng(20261130)
    low, high = c.y.min(), c.y.max()
    sx, x0 = np.sqrt(c.mean((c.x - c.mean(c.x)) ** 2)), c.mean(c.x)
    for _ in range(count):
        x1, x2 = x0 + sx * 2 * (random.random(2) * 2 - 1)
        y1, y2 = low + (high - low) * (1.5 * random.random(2) - 0.25)
        slope, spread, share = (y2 - y1) / (x2 - x1), 0.03 * 500 ** random.random(), random.choice([0, random.random(), 1])
        scale = (spread * (high - low) / size) ** 2
        yield np.array([(y1 + slope * (x0 - x1)) / size, slope * sx / size, scale * (1 - share), scale * share])


def search(c, family, form="full", pool="global"):
    """Coefficients and minimum by SciPy, in units in which all four count alike; with few cases the least minimum that searches from
    several points reach."""
    start, min_c = least_squares(c, floor_of(family, pool), form)
    x0, v0 = c.mean(c.x), c.mean(c.v)
    sx, size = np.sqrt(c.mean((c.x - x0) ** 2)), np.sqrt(start[2] + start[3] * v0)
    free = [0, 3] if form == "scale" else [0, 1, 2, 3]
    first = np.array([(start[0] + start[1] * x0) / size, start[1] * sx / size, start[2] / size**2, start[3] * v0 / size**2])

    def back(t):
        full = first.copy()
        full[free] = t
        beta = full[1] * size / sx
        return np.array([size * full[0] - beta * x0, beta, size**2 * full[2], size**2 * full[3] / v0])

    def cost(t):
        reached = c.crps(back(t), family) / size
        return reached if np.isfinite(reached) else NONE

    most = (MOST * max(1, np.sqrt(c.mean((c.y - c.mean(c.y)) ** 2)) / size)) ** 2
    lower, upper = np.array([-np.inf, -np.inf, min_c / size**2, 0])[free], np.array([np.inf, np.inf, most, most])[free]
    limits, fine = list(zip(lower, upper)), {"ftol": 1e-15, "gtol": 1e-9, "maxiter": 300}

    def descend(t, times):
        for _ in range(times):
            t = scipy.optimize.minimize(cost, t, method="L-BFGS-B", jac="3-point", bounds=limits, options=fine).x
        return t

    points = [descend(first[free], 3)]
    if len(c.x) <= FEW:
        points += [descend(np.clip(t[free], lower, upper), 1) for t in random_starts(c, family, first, size, STARTS)]
        points = sorted(points, key=cost)
        points[0] = descend(points[0], 2)
    simplex = {"xatol": 1e-9, "fatol": 1e-14, "maxiter": 400}
    t = scipy.optimize.minimize(cost, points[0], method="Nelder-Mead", bounds=limits, options=simplex).x
    return back(t), c.crps(back(t), family)


def distance(c, theirs, at):
    """Of alpha, beta, gamma^2, delta^2 of a search and alpha, beta, gamma, delta of ours, in scales of the distribution."""
    spread = np.sqrt(theirs[2] + theirs[3] * c.mean(c.v))
    x0 = c.mean(c.x)
    sx = np.sqrt(c.mean((c.x - x0) ** 2))
    at_mean = theirs[0] + theirs[1] * x0 - at[0] - at[1] * x0
    ratio = np.sqrt(at[2] ** 2 + at[3] ** 2 * c.mean(c.v)) / spread
    return max(abs(at_mean) / spread, abs(theirs[1] - at[1]) * sx / spread, abs(ratio - 1))


def regress(members_mean, truth, area, count, at):
    """The means of training dates [n, cells], each corrected without it, and those of other dates, by a regression of the error at each
    cell on the coefficients of the leading EOFs (singular vectors of the anomalies, weighted by area)."""
    usual = members_mean.mean(0)
    w = np.sqrt(area / area.sum())
    pattern = np.linalg.svd((members_mean - usual) * w, full_matrices=False)[2][:count]
    u = np.c_[np.ones(len(truth)), (members_mean - usual) * w @ pattern.T]
    error = truth - members_mean
    corrected = np.empty_like(members_mean)
    for k in range(len(truth)):
        rest = np.arange(len(truth)) != k
        corrected[k] = members_mean[k] + u[k] @ np.linalg.lstsq(u[rest], error[rest], rcond=None)[0]
    slope = np.linalg.lstsq(u, error, rcond=None)[0]
    return corrected, at + np.c_[np.ones(len(at)), (at - usual) * w @ pattern.T] @ slope
