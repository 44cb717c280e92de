"""weather_comparison.py PROGRAM SCRATCH [--tiny] [--page FILE]

Compares weather_ensemble with other software on the same inputs, fields of its built-in simulation: scores with scoringrules, EMOS with
minimisations by SciPy and with the coefficients that IMPROVER stored, the loss of a network and its gradient with PyTorch. Ours are files of
the program and calls of python/weir; theirs are the packages. Prints a table, with --page into that file between its markers, and ends with
status 1 if a difference exceeds its goal. What this Python lacks has a row that says so: scoringrules is then represented by the values of
weather_comparison.csv, which --store writes. --tiny: small, seconds. WEIR_TEST_DATA: the folder with IMPROVER's test data.

Exit 77: this Python has no NumPy or netCDF4."""

import argparse
import csv
import importlib
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(ROOT / "python"), str(HERE)]


def optional(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


np, netCDF4 = optional("numpy"), optional("netCDF4")
if np is None or netCDF4 is None:
    print("skipped: this Python has no NumPy or netCDF4")
    sys.exit(77)
sr, scipy, torch = optional("scoringrules"), optional("scipy"), optional("torch")
import weir  # noqa: E402

EXACT, PRINTED, MINIMUM, SINGLE = 1e-10, 1e-8, 1e-7, 1e-5  # goals: f64; nine digits of a file; a search; a network in f32
KINK, SEEDS = 5e-7, 8  # least distance of an activation from 0; seeds that are tried
COEFFICIENTS = 1e-3  # goal: of two searches that reach the same minimum, in scales of the distribution
UNIT = {"z500": 1, "ws500": 1, "tprate": 1e6}  # precipitation in 1e-6 kg m-2 s-1
LOGISTIC = np.sqrt(3) / np.pi
SHIFT = 1.0  # of the gamma distribution, in the unit of the table


class Table:
    def __init__(self):
        self.rows, self.failed = [], 0

    def add(self, what, data, reference, theirs, ours, difference, goal):
        """difference: relative; it may not exceed the goal."""
        met = bool(difference <= goal)
        self.failed += not met
        cells = [what, data, reference, f"{theirs:.10g}", f"{ours:.10g}", f"{difference:.1e}", f"{goal:.0e}" + ("" if met else " missed")]
        self.rows.append(cells)

    def leave(self, what, data, reference, reason):
        self.rows.append([what, data, reference, "-", "-", reason, "-"])

    def text(self):
        head = ["computed", "of", "compared with", "theirs", "Weir", "relative difference", "goal"]
        lines = ["| " + " | ".join(r) + " |" for r in [head, ["---"] * len(head), *self.rows]]
        return "\n".join(lines) + "\n"


def compare(table, what, data, reference, theirs, ours, goal):
    """Arrays: their means, and the largest difference relative to the mean size of theirs."""
    theirs, ours = np.asarray(theirs, "f8"), np.asarray(ours, "f8")
    assert theirs.shape == ours.shape and np.isfinite(theirs).all() and np.isfinite(ours).all(), what
    difference = np.abs(ours - theirs).max() / np.abs(theirs).mean()
    table.add(what, data, reference, theirs.mean(), ours.mean(), difference, goal)


# ---- Data ----


def run(command, out, *sets, configs=("tiny.yaml",)):
    line = [program, command, "--out", out, "--overwrite"]
    for name in configs:
        line += ["--config", str(ROOT / "configs/weather_ensemble" / name) if "/" not in name else name]
    for value in sets:
        line += ["--set", value]
    done = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, f"{line}:\n{done.stdout[-2000:]}"


class Fields:
    """Members [dates, member, lat, lon] and truth [dates, lat, lon] of a quantity at 48 h, f32 as the files have them."""

    def __init__(self, quantity, dates=None):
        name = quantity.rstrip("0123456789")
        with netCDF4.Dataset("data/forecast.nc") as f, netCDF4.Dataset("data/truth.nc") as t:
            start, valid = f["forecast_reference_time"][:], t["forecast_reference_time"][:]
            lead = list(np.asarray(f["forecast_period"][:], int)).index(48)
            self.units, self.area = f["forecast_reference_time"].units, np.asarray(f["cell_area"][:], "f8")
            self.lead = 48 * (1 if "hours" in self.units else 3600)  # in the units of time
            at = np.searchsorted(valid, start + self.lead)
            keep = at < len(valid)
            self.start = np.asarray(start)[keep][:dates]
            shape = (-1, f.dimensions["realization"].size, *self.area.shape)
            self.members = np.asarray(f[name][:, lead]).reshape(shape)[keep][:dates]
            self.truth = np.asarray(t[name][:]).reshape(-1, *self.area.shape)[at[keep]][:dates]

    def moments(self, scale=1.0):
        """Mean and variance over members and truth in f32, as EMOS takes them, in a unit of 1 / scale."""
        x = scale * self.members.astype("f8")
        return [np.asarray(a, "f4") for a in (x.mean(1), x.var(1, ddof=1), scale * self.truth.astype("f8"))]


# ---- Scores ----


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
        "log_normal": (log_normal(sr.crps_lognormal), log_normal(sr.logs_lognormal)),
        "censored_shifted_gamma": (gamma_score, None),
    }[family]


def gamma_score(m, s, y):
    shape, unit = gamma_of(m, s, SHIFT)
    return sr.crps_csg0(y, shape, scale=unit, shift=SHIFT)


FAMILIES = {
    "normal": "z500",
    "logistic": "z500",
    "truncated_normal": "ws500",
    "truncated_logistic": "ws500",
    "log_normal": "ws500",
    "censored_normal": "tprate",
    "censored_logistic": "tprate",
    "censored_shifted_gamma": "tprate",
}


def scale_of(family, sd):
    return sd * (LOGISTIC if "logistic" in family else 1)


def shift_of(family):
    return SHIFT if family == "censored_shifted_gamma" else 0.0


def score_distributions(table, fields):
    reference = f"scoringrules {sr.__version__}"
    for family, quantity in FAMILIES.items():
        mean, variance, y = (np.asarray(a, "f8") for a in fields[quantity].moments(UNIT[quantity]))
        sd = 0.05 * mean.std() + 1.3 * np.sqrt(variance)  # more than 700 scales from the location theirs are NaN
        s, options = scale_of(family, sd), {"family": family, "shift": shift_of(family)}
        crps, log_score = theirs_of(family)
        ours = weir.crps_distribution(mean, s, y, **options)
        compare(table, f"CRPS, {family.replace('_', ' ')}", quantity, reference, crps(mean, s, y), ours, EXACT)
        if log_score is not None:
            ours = weir.log_score_distribution(mean, s, y, **options)
            compare(table, f"log score, {family.replace('_', ' ')}", quantity, reference, log_score(mean, s, y), ours, EXACT)
    for level in (0.1, 0.9):
        mean, variance, y = (np.asarray(a, "f8") for a in fields["z500"].moments())
        quantile = weir.quantile_distribution(mean, np.sqrt(variance), level)
        want = sr.quantile_score(y, scipy.stats.norm.ppf(level, mean, np.sqrt(variance)), level)
        ours, both = sr.quantile_score(y, quantile, level), f"{reference}, SciPy {scipy.__version__}"
        compare(table, f"quantile score of quantile {level}, normal", "z500", both, want, ours, EXACT)


def patches(field, edge=4):
    """[.., lat, lon] to [.., patches, numbers]."""
    *head, n_lat, n_lon = field.shape
    cut = field.reshape(*head, n_lat // edge, edge, n_lon // edge, edge)
    return np.moveaxis(cut, -3, -2).reshape(*head, -1, edge * edge)


def score_ensembles(table, fields):
    reference = f"scoringrules {sr.__version__}"
    x, y = fields["z500"].members.astype("f8"), fields["z500"].truth.astype("f8")
    for name, share, estimator in (("empirical", 0, "nrg"), ("fair", 1, "fair")):
        want = sr.crps_ensemble(y, x, m_axis=1, estimator=estimator)
        compare(table, f"CRPS of members, {name}", "z500", reference, want, weir.crps(x, y, axis=1, share=share), EXACT)
    a, b = np.moveaxis(patches(x), 1, 2), patches(y)
    for fair in (False, True):
        want = sr.es_ensemble(b, a, m_axis=-2, v_axis=-1, estimator="fair" if fair else "nrg")
        ours = weir.energy_score(a, b, fair=fair)
        compare(table, f"energy score, {'fair' if fair else 'empirical'}", "z500, 4 x 4 points", reference, want, ours, EXACT)
    d = a.shape[-1]  # scoringrules has the sum over both orders of a pair, Weir the mean over pairs
    want = sr.vs_ensemble(b, a, m_axis=-2, v_axis=-1, p=0.5) / (d * (d - 1))
    compare(table, "variogram score, order 0.5", "z500, 4 x 4 points", reference, want, weir.variogram_score(a, b), EXACT)


def csv_value(path, column, **where):
    with open(path, newline="") as file:
        rows = [r for r in csv.DictReader(file) if all(r[k] == v for k, v in where.items())]
    assert len(rows) == 1, (path, where, len(rows))
    return float(rows[0][column])


def score_files(table, fields):
    """Means that `eval` writes, with nine digits."""
    files = ("data.forecast=[data/forecast.nc]", "data.truth=[data/truth.nc]")
    f = fields["ws500"]
    threshold = float(np.quantile(f.truth, 0.8))
    run("eval", "eval", *files, "eval.part=all", "eval.leads=[48]", "eval.quantities=[ws500]", "eval.models=[{use: {raw: {first: 0}}}]",
        f"eval.events=[{{quantity: ws500, value: {threshold!r}, name: strong}}]", "eval.quantiles=[]", "eval.bootstrap.resamples=100")
    reference = f"scoringrules {sr.__version__}"
    x, y = f.members.astype("f8"), f.truth.astype("f8")
    a, b, m = np.moveaxis(patches(x), 1, 2), patches(y), x.shape[1]
    area = np.broadcast_to(f.area / f.area.mean(), y.shape)
    lo, hi = x.min(1), x.max(1)  # the widest interval that members have
    d = a.shape[-1]
    want = {
        "crps": sr.crps_ensemble(y, x, m_axis=1, estimator="nrg"),
        "crps_fair": sr.crps_ensemble(y, x, m_axis=1, estimator="fair"),
        "crps_gauss": sr.crps_normal(y, x.mean(1), x.std(1, ddof=1)),
        "interval_score": sr.interval_score(y, lo, hi, 2 / (m + 1)),
        "energy_score": sr.es_ensemble(b, a, m_axis=-2, v_axis=-1),
        "variogram_score": sr.vs_ensemble(b, a, m_axis=-2, v_axis=-1, p=0.5) / (d * (d - 1)),
    }
    for name, value in want.items():
        ours = csv_value("eval/all_scores.csv", "value", score=name, region="all", weights="none")
        compare(table, f"`{name}` of eval", "ws500", reference, value.mean(), ours, PRINTED)
    p = (x > np.float64(np.float32(threshold))).mean(1)
    brier = sr.brier_score((y > np.float64(np.float32(threshold))).astype("f8"), p)
    compare(table, "`brier` of eval, weighted by area", f"ws500 > {threshold:.1f} m s-1", reference, (area * brier).sum() / area.sum(),
            csv_value("eval/events.csv", "brier", event="strong", region="all"), PRINTED)


# ---- EMOS ----


def least_squares(x, v, y, floor):
    """alpha, beta, gamma^2, delta^2 from which both searches begin; the last two not below the floor and 0."""
    x0, v0, min_c = x.mean(), v.mean(), (floor * y.std()) ** 2
    beta = ((x - x0) * (y - y.mean())).mean() / ((x - x0) ** 2).mean()
    r2 = (y - y.mean() - beta * (x - x0)) ** 2
    d = max(0.0, (r2 * (v - v0)).mean() / ((v - v0) ** 2).mean())
    c = r2.mean() - d * v0
    if c < min_c:
        c, d = min_c, max(0.0, (r2.mean() - min_c) / v0)
    return np.array([y.mean() - beta * x0, beta, c, d]), min_c


def mean_crps(at, x, v, y, family):
    return float(np.mean(theirs_of(family)[0](at[0] + at[1] * x, np.sqrt(at[2] + at[3] * v), y)))


def floor_of(family):
    """Minimum gamma in standard deviations of the truth: more than 700 scales from the location logistic scores of scoringrules are NaN."""
    return 0.05 if "logistic" in family else 1e-3


def search(x, v, y, family):
    """Coefficients and minimum by SciPy, in units in which all four count alike."""
    start, min_c = least_squares(x, v, y, floor_of(family))
    x0, sx, sv, size = x.mean(), x.std(), v.mean(), np.sqrt(start[2] + start[3] * v.mean())

    def back(t):
        beta = t[1] * size / sx
        return np.array([size * t[0] - beta * x0, beta, size**2 * t[2], size**2 * t[3] / sv])

    def cost(t):
        return mean_crps(back(t), x, v, y, family) / size

    t = np.array([(start[0] + start[1] * x0) / size, start[1] * sx / size, start[2] / size**2, start[3] * sv / size**2])
    limits = [(None, None), (None, None), (min_c / size**2, None), (0, None)]
    for _ in range(3):
        t = scipy.optimize.minimize(cost, t, method="L-BFGS-B", jac="3-point", bounds=limits, options={"ftol": 1e-15, "gtol": 1e-9, "maxiter": 300}).x
    t = scipy.optimize.minimize(cost, t, method="Nelder-Mead", bounds=limits, options={"xatol": 1e-9, "fatol": 1e-14, "maxiter": 400}).x
    at = back(t)
    return at, mean_crps(at, x, v, y, family)


def cells_of(pool, shape, tiny):
    """The cells that are compared; of a global fit any, of others some everywhere."""
    if pool == "global":
        return [(0, 0)]
    n_lat, n_lon = shape
    return [(j, i) for j in (0, n_lat // 2, n_lat - 1) for i in (0, n_lon // 3)][: 2 if tiny else 6]


def cases_of(pool, field, cell, radius):
    """Cases that a cell's coefficients are fitted to; longitudes wrap."""
    if pool == "global":
        return field.ravel()
    r = radius if pool == "window" else 0
    rows = [j for j in range(cell[0] - r, cell[0] + r + 1) if 0 <= j < field.shape[1]]
    columns = [i % field.shape[2] for i in range(cell[1] - r, cell[1] + r + 1)]
    return field[:, rows][:, :, columns].ravel()


def fit_emos(table, fields, tiny):
    reference = f"SciPy {scipy.__version__} on scoringrules {sr.__version__}"
    forms = [(f, "global") for f in FAMILIES] + [(f, p) for f in ("normal", "truncated_normal") for p in ("point", "window")]
    for family, pool in forms:
        if family == "truncated_logistic":
            continue  # one logistic distribution with a bound is enough
        quantity = FAMILIES[family]
        moments = fields[quantity].moments(UNIT[quantity])
        options = {"family": family, "shift": shift_of(family), "pool": pool, "radius": 1, "floor": floor_of(family)}
        options |= {"tolerance": 1e-13, "min_cases": 2}
        found = weir.fit_emos(*moments, options, wraps=True)
        score, coefficient, apart = [], [], 0.0
        for cell in cells_of(pool, moments[0].shape[1:], tiny):
            x, v, y = (cases_of(pool, np.asarray(a, "f8"), cell, 1) for a in moments)
            at = found if pool == "global" else found[cell]
            theirs, reached = search(x, v, y, family)
            ours = mean_crps([at[0], at[1], at[2] ** 2, at[3] ** 2], x, v, y, family)
            score.append((reached, ours))
            spread = np.sqrt(theirs[2] + theirs[3] * v.mean())
            at_mean = theirs[0] + theirs[1] * x.mean() - at[0] - at[1] * x.mean()
            ratio = np.sqrt(at[2] ** 2 + at[3] ** 2 * v.mean()) / spread
            apart = max(apart, abs(at_mean) / spread, abs(theirs[1] - at[1]) * x.std() / spread, abs(ratio - 1))
            coefficient.append((theirs, at))
        reached, ours = np.array(score).T
        name = {"global": "all cells", "point": f"{len(score)} cells", "window": f"{len(score)} windows of 3 x 3 cells"}[pool]
        form = f"EMOS {family.replace('_', ' ')}"
        compare(table, f"{form}, {name}: minimum CRPS", quantity, reference, reached, ours, MINIMUM)
        table.failed += apart > COEFFICIENTS
        theirs, at = coefficient[0]
        text = [", ".join(f"{t:.6g}" for t in c) for c in ((theirs[0], theirs[1], *np.sqrt(theirs[2:])), at)]
        where = "" if pool == "global" else ", one of them"
        table.rows.append([f"{form}, {name}{where}: coefficients", quantity, reference, *text, f"{apart:.1e} of the scale", f"{COEFFICIENTS:.0e}"])


def improver(table):
    """IMPROVER's own coefficients of its own data, MOGREPS-UK screen temperature."""
    what, data = "EMOS normal, all cells: CRPS", "screen temperature, MOGREPS-UK"
    reference = "IMPROVER, coefficients of improver_test_data c80506338cb2"
    folder = pathlib.Path(os.environ.get("WEIR_TEST_DATA", "/nowhere")) / "weather/netcdf/emos_grid"
    if not folder.is_dir() or sr is None:
        lacking = "this Python has no scoringrules" if folder.is_dir() else "WEIR_TEST_DATA has no emos_grid"
        table.leave(what, data, reference, f"not to be had here: {lacking}")
        return
    x, y = [], []
    for day in (2, 3, 4):
        for into, name in ((x, f"history_2017060{day}T0300Z-PT0012H"), (y, f"truth_2017060{day}T1500Z-PT0000H")):
            with netCDF4.Dataset(folder / f"{name}-temperature_at_screen_level.nc") as file:
                into.append(np.asarray(file["air_temperature"][:], "f8"))
    members, truth = np.stack(x), np.stack(y)
    mean, variance = (np.asarray(a, "f4") for a in (members.mean(1), members.var(1, ddof=1)))
    at = weir.fit_emos(mean, variance, truth, {"tolerance": 1e-13})
    with netCDF4.Dataset(folder / "kgo_coefficients.nc") as file:
        known = [float(file[f"emos_coefficient_{n}"][...]) for n in ("alpha", "beta", "gamma", "delta")]
    cases = [a.astype("f8").ravel() for a in (mean, variance, truth)]
    score = [mean_crps([c[0], c[1], c[2] ** 2, c[3] ** 2], *cases, "normal") for c in (known, at)]
    compare(table, what, data, reference, score[0], score[1], 1e-6)
    text = [", ".join(f"{t:.6g}" for t in c) for c in (known, at)]
    table.rows.append(["EMOS normal: alpha, beta, gamma, delta", data, reference, *text, "its search stops earlier", "-"])


# ---- Network ----


def network(table, quantities, families):
    """Weights before and after one step of gradient descent with rate 1 differ by the gradient. Where an activation is so close to 0 that
    single precision may see its other side, the gradients differ by what this one passes on: then another seed is trained."""
    what, data = f"of a network, {', '.join(f.replace('_', ' ') for f in families)}", ", ".join(quantities)
    if torch is None:
        table.leave("loss and gradient " + what, data, "PyTorch", "not to be had here: this Python has no PyTorch")
        return
    import weather_network

    rows = ", ".join(f"{{quantity: {q}, family: {f}}}" for q, f in zip(quantities, families))
    listed = "[" + ",".join(quantities) + "]"
    sets = ["data.forecast=[data/forecast.nc]", "data.truth=[data/truth.nc]", f"data.target={listed}", f"data.inputs={listed}"]
    sets += [f"model.distributions=[{rows}]", "train.epochs=1"]
    fields, members = [Fields(q) for q in quantities], 3
    for seed in range(SEEDS):
        out = f"{quantities[0]}{seed}"
        run("run", f"{out}_before", *sets, f"seed={seed}")
        before = weir.load_weights(f"{out}_before/weights.nc")
        dates = training_dates(f"{out}_before/weights.nc", fields[0])
        names = [n for n in before if not n.startswith("standard.")]
        inputs = network_inputs(before, fields, dates, members)
        theirs, gradient, nearest = weather_network.loss_and_gradient({n: before[n] for n in names}, *inputs, families, 1e-3, 0.01)
        if nearest > KINK:
            break
    run("run", f"{out}_after", *sets, f"train.initial_weights={out}_before/weights.nc", f"train.batch={len(dates)}",
        "train.optim.rule={sgd: {}}", "train.optim.schedule={lr: 1, shape: constant}")
    after = weir.load_weights(f"{out}_after/weights.nc")
    ours = weir.open_run(f"{out}_after").events("epoch_end")["loss"].item()
    reference = f"PyTorch {torch.__version__.split('+')[0]}, f64"
    compare(table, "loss " + what, data, reference, theirs, ours, SINGLE)
    ours = np.concatenate([(before[n].astype("f8") - after[n].astype("f8")).ravel() for n in names])
    want = np.concatenate([gradient[n].ravel() for n in names])
    size = np.linalg.norm(want)
    difference = np.linalg.norm(ours - want) / size
    table.add(f"gradient of it by {len(want)} parameters: norm", data, reference, size, np.linalg.norm(ours), difference, 10 * SINGLE)


def training_dates(weights, fields):
    """Numbers of the dates that the file says it was trained on: from the first initialisation to the last valid time."""
    with netCDF4.Dataset(weights) as file:
        text = file.dates.split(";")[0].split(": ")[1]
    first, last = (netCDF4.date2num(netCDF4.num2date(0, f"seconds since {t}"), fields.units) for t in text.split(" to "))
    return [k for k, t in enumerate(fields.start) if first <= t and t + fields.lead <= last]


def network_inputs(weights, fields, dates, members):
    """x, y, s, w and the bound [dates, lat, lon, channels], from the archives and the statistics of the weights, f32 as networks take them."""
    mean = np.stack([f.members[dates, :members].astype("f8").mean(1) for f in fields], -1)
    sd = np.stack([f.members[dates, :members].astype("f8").std(1, ddof=1) for f in fields], -1)
    mean, sd = mean.astype("f4").astype("f8"), sd.astype("f4").astype("f8")
    truth = np.stack([f.truth[dates].astype("f8") for f in fields], -1)
    unit, bias = weights["standard.unit"].ravel(), weights["standard.bias"].reshape(len(fields), *truth.shape[1:3])
    bias = np.moveaxis(bias, 0, -1)
    x = (np.concatenate([mean, sd], -1) - weights["standard.x_mean"].ravel()) / weights["standard.x_sd"].ravel()
    area = np.broadcast_to(fields[0].area[..., None], truth.shape)
    return tuple(a.astype("f4") for a in (x, (truth - mean - bias) / unit, sd / unit, area / area.mean(), (0 - mean - bias) / unit))


# ---- Stored values ----


def stored_cases():
    """Locations, scales and truths that every Python computes alike."""
    k = np.arange(1, 17)
    return 4 * (k * 0.618033988749895 % 1) + 0.05, 0.3 + 2 * (k * 0.414213562373095 % 1), 6 * (k * 0.732050807568877 % 1) + 0.1


def store(path):
    m, s, y = stored_cases()
    with open(path, "w") as file:
        file.write("family,score," + ",".join(f"case_{i}" for i in range(len(m))) + "\n")
        for family in FAMILIES:
            for name, score in zip(("crps", "log_score"), theirs_of(family)):
                if score is not None:
                    file.write(f"{family},{name}," + ",".join(f"{v:.17g}" for v in score(m, s, y)) + "\n")


def score_stored(table, path):
    m, s, y = stored_cases()
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            score = weir.crps_distribution if row["score"] == "crps" else weir.log_score_distribution
            ours = score(m, s, y, family=row["family"], shift=shift_of(row["family"]))
            name = row["score"].replace("crps", "CRPS").replace("_", " ")
            theirs = [float(row[f"case_{i}"]) for i in range(len(m))]
            compare(table, f"{name}, {row['family'].replace('_', ' ')}", "16 cases", "scoringrules 0.10.0, stored", theirs, ours, EXACT)


# ---- The page ----


def write(page, text):
    marks = ["<!-- table of tests/bench/weather_comparison.py: begin -->\n", "<!-- end -->\n"]
    old = page.read_text()
    head, rest = old.split(marks[0])
    page.write_text(head + marks[0] + "\n" + text + "\n" + marks[1] + rest.split(marks[1])[1])


def main():
    global program
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("program")
    parser.add_argument("scratch")
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--page", type=pathlib.Path)
    parser.add_argument("--store", action="store_true")
    words = parser.parse_args()
    program = str(pathlib.Path(words.program).resolve())
    page = words.page and words.page.resolve()
    os.environ.setdefault("WEIR_LIBRARIES", str(pathlib.Path(program).parent.parent / "lib"))
    stored = HERE / "weather_comparison.csv"
    if words.store:
        store(stored)
    os.makedirs(words.scratch, exist_ok=True)
    os.chdir(words.scratch)
    run("prepare", "data", "simulate.quantities=[z500,ws500,tprate]", "simulate.leads=[48]", *(["simulate.init_times=100"] if words.tiny else []))
    fields = {q: Fields(q, 4 if words.tiny else 12) for q in UNIT}
    table = Table()
    if sr is None or words.tiny:
        score_stored(table, stored)
    if sr is None or scipy is None:
        table.leave("scores and EMOS", "fields", "scoringrules, SciPy", "not to be had here: this Python has none")
    else:
        for name in ("optimize", "stats"):
            importlib.import_module(f"scipy.{name}")
        score_distributions(table, fields)
        score_ensembles(table, fields)
        score_files(table, {q: Fields(q) for q in ("ws500",)})
        fit_emos(table, fields, words.tiny)
    improver(table)
    network(table, ["z500"], ["normal"])
    network(table, ["ws500", "tprate"], ["truncated_normal", "censored_logistic"])
    print(table.text())
    if page:
        write(page, table.text())
    return min(table.failed, 1)


if __name__ == "__main__":
    sys.exit(main())
