"""weather_comparison.py PROGRAM SCRATCH [--tiny] [--page FILE]

Compares weather_ensemble with other software on the same inputs, fields of its built-in simulation: scores with scoringrules, EMOS in
all its forms with minimisations by SciPy and with the coefficients that IMPROVER stored, the loss of a network and its gradient with
PyTorch. Ours are files of the program and calls of python/weir; theirs are the packages (weather_theirs.py, weather_network.py). Prints
a table, with --page into that file between its markers, and ends with status 1 if a difference exceeds its goal. What this Python lacks
has a row that says so: scoringrules is then represented by the values of weather_comparison.csv, which --store writes. --tiny: small,
seconds. WEIR_TEST_DATA: the folder with IMPROVER's test data.

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
import weir  # noqa: E402
from weather_theirs import (FAMILIES, Cases, cut, distance, floor_of, options_of, regress, scale_of, scipy, search, shift_of, sr,  # noqa: E402
                            theirs_of, theirs_of_vectors)

torch = optional("torch")

EXACT, PRINTED, MINIMUM, SINGLE = 1e-10, 1e-8, 1e-7, 1e-5  # goals: f64; nine digits of a file; a search; a network in f32
KINK, SEEDS = 5e-7, 8  # least distance of an activation from 0; seeds that are tried
COEFFICIENTS = 1e-3  # goal: of two searches that reach the same minimum, in scales of the distribution
UNIT = {"z500": 1, "ws500": 1, "tprate": 1e6, "tcc": 1}  # precipitation in 1e-6 kg m-2 s-1
COVER = 1.0  # upper bound of distributions between bounds that a network makes: of cloud cover


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


def score_distributions(table, fields):
    reference = f"scoringrules {sr.__version__}"
    for family, quantity in FAMILIES.items():
        mean, variance, y = (np.asarray(a, "f8") for a in fields[quantity].moments(UNIT[quantity]))
        sd = 0.05 * mean.std() + 1.3 * np.sqrt(variance)  # more than 700 scales from the location theirs are NaN
        s, options, mean, y = scale_of(family, sd), options_of(family), cut(family, mean), cut(family, y)
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


def vectors_of(fields):
    """Members [dates, patches, member, numbers] and truth [dates, patches, numbers] of quantities together, each divided by the standard
    deviation of its truth over the dates (n - 1), the root of a mean of variances over points by area."""
    members, truth = [], []
    for f in fields:
        x, y = f.members.astype("f8"), f.truth.astype("f8")
        scale = np.sqrt(np.average(y.var(0, ddof=1), weights=f.area))
        members.append(np.moveaxis(patches(x / scale), 1, 2))
        truth.append(patches(y / scale))
    return np.concatenate(members, -1), np.concatenate(truth, -1)


VECTOR_SCORES = {"energy_score": "energy score, empirical", "energy_score_fair": "energy score, fair",
                 "variogram_score": "variogram score, order 0.5"}


def score_vectors(table, what, reference, a, b, theirs):
    ours = {"energy_score": weir.energy_score(a, b), "energy_score_fair": weir.energy_score(a, b, fair=True),
            "variogram_score": weir.variogram_score(a, b)}
    for score, value in theirs.items():
        compare(table, VECTOR_SCORES[score], what, reference, value, ours[score], EXACT)


def score_ensembles(table, fields):
    reference = f"scoringrules {sr.__version__}"
    x, y = fields["z500"].members.astype("f8"), fields["z500"].truth.astype("f8")
    for name, share, estimator in (("empirical", 0, "nrg"), ("fair", 1, "fair")):
        want = sr.crps_ensemble(y, x, m_axis=1, estimator=estimator)
        compare(table, f"CRPS of members, {name}", "z500", reference, want, weir.crps(x, y, axis=1, share=share), EXACT)
    a, b = np.moveaxis(patches(x), 1, 2), patches(y)
    score_vectors(table, "z500, 4 x 4 points", reference, a, b, theirs_of_vectors(a, b))
    a, b = vectors_of([fields["z500"], fields["ws500"]])
    score_vectors(table, "z500 and ws500, 4 x 4 points", reference, a, b, theirs_of_vectors(a, b))


def csv_value(path, column, **where):
    with open(path, newline="") as file:
        rows = [r for r in csv.DictReader(file) if all(r[k] == v for k, v in where.items())]
    assert len(rows) == 1, (path, where, len(rows))
    return float(rows[0][column])


def score_files(table, fields):
    """Means that `eval` writes, with nine digits."""
    files = ("data.forecast=[data/forecast.nc]", "data.truth=[data/truth.nc]")
    f, both = fields["ws500"], "z500+ws500"
    threshold = float(np.quantile(f.truth, 0.8))
    run("eval", "eval", *files, "eval.part=all", "eval.leads=[48]", "eval.quantities=[ws500,z500]",
        "eval.joint=[{quantity: z500}, {quantity: ws500}]", "eval.models=[{use: {raw: {first: 0}}}]",
        f"eval.events=[{{quantity: ws500, value: {threshold!r}, name: strong}}]", "eval.quantiles=[]", "eval.bootstrap.resamples=100")
    reference = f"scoringrules {sr.__version__}"
    x, y = f.members.astype("f8"), f.truth.astype("f8")
    a, b, m = np.moveaxis(patches(x), 1, 2), patches(y), x.shape[1]
    area = np.broadcast_to(f.area / f.area.mean(), y.shape)
    lo, hi = x.min(1), x.max(1)  # the widest interval that members have
    want = {
        "crps": sr.crps_ensemble(y, x, m_axis=1, estimator="nrg"),
        "crps_fair": sr.crps_ensemble(y, x, m_axis=1, estimator="fair"),
        "crps_gauss": sr.crps_normal(y, x.mean(1), x.std(1, ddof=1)),
        "interval_score": sr.interval_score(y, lo, hi, 2 / (m + 1)),
        **theirs_of_vectors(a, b),
    }
    rows = [(name, "ws", "ws500", value) for name, value in want.items()]
    rows += [(name, both, "z500 and ws500", value) for name, value in theirs_of_vectors(*vectors_of([fields["z500"], f])).items()]
    for name, variable, what, value in rows:
        ours = csv_value("eval/all_scores.csv", "value", score=name, region="all", weights="none", variable=variable)
        compare(table, f"`{name}` of eval", what, reference, value.mean(), ours, PRINTED)
    p = (x > np.float64(np.float32(threshold))).mean(1)
    brier = sr.brier_score((y > np.float64(np.float32(threshold))).astype("f8"), p)
    compare(table, "`brier` of eval, weighted by area", f"ws500 > {threshold:.1f} m s-1", reference, (area * brier).sum() / area.sum(),
            csv_value("eval/events.csv", "brier", event="strong", region="all", variable="ws"), PRINTED)


# ---- EMOS ----


class Emos:
    """What a form of EMOS reached for some sets of cases: theirs and ours."""

    def __init__(self, family, form="full"):
        self.family, self.form, self.score, self.coefficient, self.apart = family, form, [], [], 0.0

    def take(self, c, at):
        """at: our alpha, beta, gamma, delta."""
        theirs, reached = search(c, self.family, self.form)
        self.put(c, theirs, at, reached, c.crps([at[0], at[1], at[2] ** 2, at[3] ** 2], self.family))

    def put(self, c, theirs, at, reached, ours):
        self.score.append((reached, ours))
        self.coefficient.append(((theirs[0], theirs[1], *np.sqrt(theirs[2:])), at))
        self.apart = max(self.apart, distance(c, theirs, at))

    def add(self, table, name, quantity, one_of="", reference=None):
        reference = reference or f"SciPy {scipy.__version__} on scoringrules {sr.__version__}"
        compare(table, f"EMOS {name}: minimum CRPS", quantity, reference, *np.array(self.score).T, MINIMUM)
        met = self.apart <= COEFFICIENTS
        table.failed += not met
        text = [", ".join(f"{t:.6g}" for t in c) for c in self.coefficient[0]]
        table.rows.append([f"EMOS {name}{one_of}: coefficients", quantity, reference, *text, f"{self.apart:.1e} of the scale",
                           f"{COEFFICIENTS:.0e}" + ("" if met else " missed")])


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
    forms = [(f, "global", "full") for f in FAMILIES] + [(f, "global", "scale") for f in ("normal", "truncated_normal")]
    forms += [(f, p, "full") for f in ("normal", "truncated_normal") for p in ("point", "window")]
    for family, pool, form in forms:
        quantity = FAMILIES[family]
        mean, variance, y = fields[quantity].moments(UNIT[quantity])
        moments = [cut(family, mean), variance, cut(family, y)]
        options = {**options_of(family), "pool": pool, "radius": 1, "floor": floor_of(family), "form": form}
        found = weir.fit_emos(*moments, options | {"tolerance": 1e-13, "min_cases": 2}, wraps=True)
        both = Emos(family, form)
        for cell in cells_of(pool, moments[0].shape[1:], tiny):
            both.take(Cases(*(cases_of(pool, a, cell, 1) for a in moments)), found if pool == "global" else found[cell])
        n = len(both.score)
        name = {"global": "all cells", "point": f"{n} cells", "window": f"{n} windows of 3 x 3 cells"}[pool]
        what = f"{family.replace('_', ' ')}{', form scale' if form == 'scale' else ''}, {name}"
        both.add(table, what, quantity, "" if pool == "global" else ", one of them")


# ---- Forms of EMOS that depend on dates ----


def recover(location, scale, x, v):
    """alpha, beta, gamma, delta of a predicted field, whose location and squared scale are linear in mean and variance."""
    beta, alpha = np.polyfit(x - x.mean(), location, 1)
    delta2, gamma2 = np.polyfit(v, scale**2, 1)
    return alpha - beta * x.mean(), beta, np.sqrt(max(gamma2, 0)), np.sqrt(max(delta2, 0))


def fit_dated(table, tiny):
    """`predict` with coefficients of the dates that an option chooses; theirs are fitted to the dates that the script chooses."""
    f, n, lead = Fields("z500"), 6 if tiny else 24, 2
    day = np.asarray(f.start, "f8") * lead / f.lead  # from the units of time
    day, now = day - day[0], n + 2  # every second day; the forecast is 6 d after the last of n that are fitted to
    x, v, y = (a.reshape(len(day), -1).astype("f8") for a in f.moments())
    season, past = (24, 10) if tiny else (60, 26)
    dates = [str(np.datetime64("2000-01-01") + int(k)) for k in (day[n - 1] + 1, day[now], day[now] + 1)]
    split = [f"data.split.{k}={t}" for k, t in zip(("train.to", "test.from", "test.to", "gap"), (*dates, 0))]
    for name, options, rows in (
            (f"season of {season} d", f"dates: {{kind: season, window: {season}, min_count: 2}}", np.abs(day[:n] - day[now]) <= season / 2),
            (f"past {past} d", f"dates: {{kind: past, window: {past}, min_count: 2}}", day[:n] >= day[now] - past),
            ("anomalies", "anomalies: true", np.full(n, True)),
            ("after regression on 2 EOFs", "eofs: {count: 2}", np.full(n, True))):
        train, at = np.flatnonzero(rows), x[now]
        mean, usual = x[train], y[train].mean(0) if "anomalies" in options else 0.0
        if "eofs" in options:
            mean, at = regress(mean, y[train], f.area.ravel(), 2, at)
        run("predict", "dated", "data.forecast=[data/forecast.nc]", "data.truth=[data/truth.nc]", "data.target=[z500]", "data.lead=[48]",
            "predict.part=test", *split, f"predict.model={{use: {{emos: {{fit: {{tolerance: 1e-13}}, {options}}}}}}}")
        with netCDF4.Dataset("dated/predictions.nc") as file:
            location, scale = (np.asarray(file[k][:], "f8").ravel() for k in ("z", "z_spread"))
        assert location.shape == at.shape, "one date"
        both = Emos("normal")
        both.take(Cases(mean - usual, v[train], y[train] - usual, f.area.ravel()), recover(location - usual, scale, at - usual, v[now]))
        both.add(table, f"normal, {name}, all cells by area", "z500")


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
    score = [Cases(mean, variance, truth).crps([c[0], c[1], c[2] ** 2, c[3] ** 2], "normal") for c in (known, at)]
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

    between = ["between" in f for f in families]
    extra = [COVER if b else shift_of(f) / UNIT[q] for q, f, b in zip(quantities, families, between)]
    rows = ", ".join(f"{{quantity: {q}, family: {f.split()[0]}, {'upper' if b else 'shift'}: {e!r}}}"
                     for q, f, e, b in zip(quantities, families, extra, between))
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
        inputs = network_inputs(before, fields, dates, members, extra)
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


def network_inputs(weights, fields, dates, members, extra):
    """x, y, s, w, bound and shift or width between bounds [dates, lat, lon, channels], of the archives and the weights' statistics, f32 as
    networks take them."""
    mean = np.stack([f.members[dates, :members].astype("f8").mean(1) for f in fields], -1)
    sd = np.stack([f.members[dates, :members].astype("f8").std(1, ddof=1) for f in fields], -1)
    mean, sd = mean.astype("f4").astype("f8"), sd.astype("f4").astype("f8")
    truth = np.stack([f.truth[dates].astype("f8") for f in fields], -1)
    unit, bias = weights["standard.unit"].ravel(), weights["standard.bias"].reshape(len(fields), *truth.shape[1:3])
    bias = np.moveaxis(bias, 0, -1)
    x = (np.concatenate([mean, sd], -1) - weights["standard.x_mean"].ravel()) / weights["standard.x_sd"].ravel()
    area = np.broadcast_to(fields[0].area[..., None], truth.shape)
    extra = np.broadcast_to(np.array(extra) / unit, truth.shape)
    all_of = (x, (truth - mean - bias) / unit, sd / unit, area / area.mean(), (0 - mean - bias) / unit, extra)
    return tuple(a.astype("f4") for a in all_of)


# ---- Stored values ----


def stored_cases():
    """Locations, scales and truths that every Python computes alike."""
    k = np.arange(1, 17)
    return 4 * (k * 0.618033988749895 % 1) + 0.05, 0.3 + 2 * (k * 0.414213562373095 % 1), 6 * (k * 0.732050807568877 % 1) + 0.1


def stored_vectors():
    """Four cases of five members and a truth of six numbers."""
    k = np.arange(4 * 6 * 6).reshape(4, 6, 6)
    x = 5 * ((k + 1) ** 2 * 0.618033988749895 % 1) + np.arange(6)
    return x[:, :5], x[:, 5]


def stored_emos(family):
    """Mean and variance of members and truth of 96 cases, the values of f32, on or above 0."""
    k = np.arange(1, 97)
    a, b, c = (k * t % 1 for t in (0.618033988749895, 0.414213562373095, 0.732050807568877))
    y = 0.3 + 0.9 * (x := 1 + 5 * a) + 3 * np.sqrt(0.3 + b) * (c - 0.5)
    less = 2 if "censored" in family else 0
    return [np.asarray(t, "f4").reshape(1, 8, 12) for t in (x, 0.2 + b, cut(family, np.maximum(y - less, 0.0)))]


EMOS_STORED = [(f, "full") for f in FAMILIES] + [("normal", "scale")]


def store(path):
    m, s, y = stored_cases()
    with open(path, "w") as file:
        file.write("family,score," + ",".join(f"case_{i}" for i in range(len(m))) + "\n")
        for family in FAMILIES:
            for name, score in zip(("crps", "log_score"), theirs_of(family)):
                if score is not None:
                    file.write(f"{family},{name}," + ",".join(f"{v:.17g}" for v in score(m, s, cut(family, y))) + "\n")
        for score, value in theirs_of_vectors(*stored_vectors()).items():
            file.write(f"vectors,{score}," + ",".join(f"{v:.17g}" for v in value) + "\n")
        for family, form in EMOS_STORED:
            at, reached = search(Cases(*stored_emos(family)), family, form)
            file.write(f"{family},emos_{form}," + ",".join(f"{v:.17g}" for v in (reached, *at)) + "\n")


def score_stored(table, path):
    m, s, y = stored_cases()
    theirs_is = "scoringrules 0.10.0, stored"
    with open(path, newline="") as file:
        rows = [(r["family"], r["score"], [float(v) for k, v in r.items() if k.startswith("case_") and v]) for r in csv.DictReader(file)]
    for family, score, theirs in rows:
        if family == "vectors":
            score_vectors(table, "4 vectors of 6 numbers", theirs_is, *stored_vectors(), {score: theirs})
        elif score.startswith("emos"):
            emos_stored(table, family, score[5:], theirs)
        else:
            of = weir.crps_distribution if score == "crps" else weir.log_score_distribution
            ours = of(m, s, cut(family, y), **options_of(family))
            name = score.replace("crps", "CRPS").replace("_", " ")
            compare(table, f"{name}, {family.replace('_', ' ')}", "16 cases", theirs_is, theirs, ours, EXACT)


def emos_stored(table, family, form, theirs):
    """theirs: minimum CRPS, alpha, beta, gamma^2, delta^2."""
    moments = stored_emos(family)
    options = {**options_of(family), "floor": floor_of(family), "form": form, "tolerance": 1e-13}
    at, c = weir.fit_emos(*moments, options), Cases(*moments)
    score = weir.crps_distribution(at[0] + at[1] * c.x, np.sqrt(at[2] ** 2 + at[3] ** 2 * c.v), c.y, **options_of(family))
    both = Emos(family, form)
    both.put(c, theirs[1:], at, theirs[0], c.mean(score))
    both.add(table, f"{family.replace('_', ' ')}, form {form}", "96 cases", reference="SciPy 1.17.1 on scoringrules 0.10.0, stored")


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
    fewer = ["simulate.init_times=100"] if words.tiny else []
    run("prepare", "data", "simulate.quantities=[z500,ws500,tprate,tcc]", "simulate.leads=[48]", *fewer)
    fields = {q: Fields(q, 4 if words.tiny else 12) for q in UNIT}
    table = Table()
    if sr is None or words.tiny:
        score_stored(table, stored)
    if sr is None or scipy is None:
        table.leave("scores and EMOS", "fields", "scoringrules, SciPy", "not to be had here: this Python has none")
    else:
        score_distributions(table, fields)
        score_ensembles(table, fields)
        score_files(table, {q: Fields(q) for q in ("ws500", "z500")})
        fit_emos(table, fields, words.tiny)
        fit_dated(table, words.tiny)
    improver(table)
    network(table, ["z500"], ["normal"])
    network(table, ["ws500", "tprate"], ["truncated_normal", "censored_logistic"])
    network(table, ["tprate", "z500"], ["censored_shifted_gamma", "normal"])
    network(table, ["tcc"], ["censored_normal between bounds"])
    network(table, ["tcc", "z500"], ["censored_logistic between bounds", "normal"])
    print(table.text())
    if page:
        write(page, table.text())
    return min(table.failed, 1)


if __name__ == "__main__":
    sys.exit(main())
