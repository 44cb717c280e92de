"""weather_comparison.py PROGRAM SCRATCH [--tiny] [--page FILE]

Compares weather_ensemble with other software on the same inputs, fields of its built-in simulation: scores with scoringrules, EMOS in all
its forms with minimisations by SciPy and with the coefficients that IMPROVER stored, losses of networks, a gradient and steps with
PyTorch. Ours are files of the program and calls of python/weir; theirs are the packages (weather_theirs.py, weather_network.py). Rows on
EMOS are made by weather_emos_forms.py, those on networks by weather_steps.py. Prints a table, with --page into that file between its
markers, and ends with status 1 if a difference exceeds its goal. What this Python lacks has a row that says so: scoringrules is then
represented by the values of weather_comparison.csv, which --store writes. --tiny: small, seconds. WEIR_TEST_DATA: the folder with
IMPROVER's test data.

Exit 77: this Python has no NumPy or netCDF4."""

import argparse
import csv
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(ROOT / "python"), str(HERE)]
from comparison_table import Table, compare, optional, write  # noqa: E402

np, netCDF4 = optional("numpy"), optional("netCDF4")
if np is None or netCDF4 is None:
    print("skipped: this Python has no NumPy or netCDF4")
    sys.exit(77)
if "--tiny" in sys.argv:
    sys.modules["numba"] = None  # scoringrules computes with NumPy then: with Numba, it compiles for longer than all else takes
import weir  # noqa: E402
import weather_fields  # noqa: E402
from weather_emos_forms import Emos, fit_dated, fit_emos  # noqa: E402
from weather_fields import UNIT, Fields, run  # noqa: E402
from weather_steps import descents, members, network  # noqa: E402
from weather_theirs import (FAMILIES, Cases, cut, floor_of, options_of, scale_of, scipy, search, sr, theirs_of,  # noqa: E402
                            theirs_of_vectors)

EXACT, PRINTED = 1e-10, 1e-8  # goals: f64; nine digits of a file

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
        want = sr.quantile_score(y, scipy.special.ndtri(level) * np.sqrt(variance) + mean, level)
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


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("program")
    parser.add_argument("scratch")
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--page", type=pathlib.Path)
    parser.add_argument("--store", action="store_true")
    words = parser.parse_args()
    weather_fields.PROGRAM = program = str(pathlib.Path(words.program).resolve())
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
        for family in ("normal", "truncated_normal", "censored_shifted_gamma")[: 2 if words.tiny else None]:
            fit_dated(table, words.tiny, family)
    improver(table)
    if not words.tiny:
        network(table, words.tiny, ["z500"], ["normal"])
    network(table, words.tiny, ["ws500", "tprate"], ["truncated_normal", "censored_logistic"])
    network(table, words.tiny, ["tprate", "z500"], ["censored_shifted_gamma", "normal"])
    network(table, words.tiny, ["tcc"], ["censored_normal between bounds"])
    network(table, words.tiny, ["tcc", "z500"], ["censored_logistic between bounds", "normal"])
    members(table, words.tiny)
    descents(table, words.tiny)
    print(table.text())
    if page:
        write(page, "weather_comparison.py", table.text())
    return min(table.failed, 1)


if __name__ == "__main__":
    sys.exit(main())
