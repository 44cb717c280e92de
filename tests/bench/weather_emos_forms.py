"""weather_emos_forms.py - the rows of weather_comparison.py on EMOS: forms of coefficients by `weir.fit_emos`, and forms that choose or
change their cases by date, and members of distributions, by the command `predict`."""

import shutil

import netCDF4
import numpy as np
import weir
from comparison_table import compare
from weather_fields import UNIT, Fields, run
from weather_theirs import FAMILIES, FEW, Cases, cut, distance, floor_of, options_of, quantile_of, regress, scipy, search, shift_of, sr

MINIMUM, SINGLE = 1e-7, 1e-5  # goals: a search; means of fields in f32
COEFFICIENTS = 1e-3  # goal: of two searches that reach the same minimum, in scales of the distribution
HOURS = 6  # forecasts from which the coefficients of a cell are recovered
EOFS = 2


class Emos:
    """What a form of EMOS reached for some sets of cases: theirs and ours."""

    def __init__(self, family, form="full", pool="global"):
        self.family, self.form, self.pool, self.score, self.coefficient = family, form, pool, [], []
        self.apart, self.flat = 0.0, 0

    def take(self, c, at):
        """at: our alpha, beta, gamma, delta."""
        theirs, reached = search(c, self.family, self.form, self.pool)
        self.put(c, theirs, at, reached, c.crps([at[0], at[1], at[2] ** 2, at[3] ** 2], self.family))

    def put(self, c, theirs, at, reached, ours):
        self.score.append((reached, ours))
        apart, same = distance(c, theirs, at), abs(ours - reached) <= MINIMUM * reached
        if "between" in self.family and len(c.x) <= FEW and (apart > COEFFICIENTS or not same):
            self.flat += 1  # nothing says which coefficients
            return
        self.coefficient.append(((theirs[0], theirs[1], *np.sqrt(theirs[2:])), at))
        self.apart = max(self.apart, apart)

    def add(self, table, name, quantity, one_of="", reference=None):
        reference = reference or f"SciPy {scipy.__version__} on scoringrules {sr.__version__}"
        theirs, ours = np.array(self.score).T
        less = (theirs - ours).max() / theirs.mean()
        if "between" in self.family and less > MINIMUM:  # of several minima ours may be lower than all of theirs, but not higher
            more = (ours - theirs).max() / theirs.mean()
            table.state(f"EMOS {name}: minimum CRPS", quantity, reference, f"{theirs.mean():.10g}", f"{ours.mean():.10g}",
                        f"{less:.1e} below", f"{MINIMUM:.0e}", bool(more <= MINIMUM))
        else:
            compare(table, f"EMOS {name}: minimum CRPS", quantity, reference, theirs, ours, MINIMUM)
        met = self.apart <= COEFFICIENTS
        text = [", ".join(f"{t:.6g}" for t in c) for c in self.coefficient[0]] if self.coefficient else ["-", "-"]
        of = f", {self.flat} of {len(self.score)} not determined" if self.flat else ""
        table.state(f"EMOS {name}{one_of}: coefficients", quantity, reference, *text, f"{self.apart:.1e} of the scale{of}",
                    f"{COEFFICIENTS:.0e}", met)


def cells_of(pool, truth, upper, tiny):
    """The cells that are compared; of a global fit any, of others some everywhere. Cells go first where three quarters of truth [dates,
    lat, lon] or more are between the bounds: of others the minimum may be at no finite coefficients."""
    if pool == "global":
        return [(0, 0)]
    n_lat, n_lon = truth.shape[1:]
    some = [(j, i) for j in (0, n_lat // 2, n_lat - 1) for i in (0, n_lon // 3)]
    every = some + [c for c in np.ndindex(n_lat, n_lon) if c not in some]
    inside = ((truth > 0) & (truth < upper)).mean(0)
    return sorted(every, key=lambda c: -min(inside[c], 0.75))[: 2 if tiny else 6]


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
    forms += [(f, p, "full") for f in FAMILIES for p in ("point", "window")]
    if tiny:  # all families have stored minima
        forms = [("truncated_normal", "global", "scale"), ("normal", "point", "full"), ("truncated_normal", "window", "full"),
                 ("censored_shifted_gamma", "window", "full")]
    for family, pool, form in forms:
        quantity = FAMILIES[family]
        mean, variance, y = (a[: 2 if tiny and pool == "global" else None] for a in fields[quantity].moments(UNIT[quantity]))
        moments = [cut(family, mean), variance, cut(family, y)]
        options = {**options_of(family), "pool": pool, "radius": 1, "floor": floor_of(family, pool), "form": form}
        found = weir.fit_emos(*moments, options | {"tolerance": 1e-13, "min_cases": 2}, wraps=True)
        both = Emos(family, form, pool)
        for cell in cells_of(pool, moments[2], options_of(family).get("upper", np.inf), tiny):
            both.take(Cases(*(cases_of(pool, a, cell, 1) for a in moments)), found if pool == "global" else found[cell])
        n = len(both.score)
        name = {"global": "all cells", "point": f"{n} cells", "window": f"{n} windows of 3 x 3 cells"}[pool]
        what = f"{family.replace('_', ' ')}{', form scale' if form == 'scale' else ''}, {name}"
        both.add(table, what, quantity, "" if pool == "global" else ", one of them")


# ---- Forms that depend on dates ----


def write_dated(f, now):
    """data/dated.nc: the archive with the fields of HOURS dates from `now` on as forecasts of one day, an hour apart, so that all have one
    set of training dates."""
    shutil.copy("data/forecast.nc", "data/dated.nc")
    with netCDF4.Dataset("data/dated.nc", "r+") as file:
        for time in (file["forecast_reference_time"], file["time"]):
            later = np.arange(HOURS).reshape(-1, *[1] * (time.ndim - 1)) * f.lead / 48
            time[now : now + HOURS] = np.asarray(time[now]) + later


def recover(location, scale, x, v):
    """alpha, beta, gamma, delta of predicted fields, whose location and squared scale are linear in mean and variance."""
    location, scale, x, v = (np.ravel(a) for a in (location, scale, x, v))
    beta, alpha = np.polyfit(x - x.mean(), location, 1)
    delta2, gamma2 = np.polyfit(v, scale**2, 1)
    return alpha - beta * x.mean(), beta, np.sqrt(max(gamma2, 0)), np.sqrt(max(delta2, 0))


def forms_of(family, tiny, day, now, n):
    """Name, options, which of n training dates, and pools."""
    season, past = (25, 11) if tiny else (61, 27)
    near, known, every = np.abs(day[:n] - day[now]) <= season / 2, day[:n] >= day[now] - past, np.full(n, True)
    by_season, eofs = f"dates: {{kind: season, window: {season}, min_count: 2}}", f"eofs: {{count: {EOFS}}}"
    seasons, regressed = f"season of {season} d", f"regression on {EOFS} EOFs"
    if tiny:
        forms = [(seasons, by_season, near, ["window"]), (f"after {regressed}", eofs, every, ["window"])]
        if family == "normal":
            forms[1] = (f"{seasons} after {regressed}", f"{by_season}, {eofs}", near, ["window"])
    else:
        pools = ["global", "point", "window"]
        forms = [(seasons, by_season, near, pools), (f"after {regressed}", eofs, every, pools),
                 (f"{seasons} after {regressed}", f"{by_season}, {eofs}", near, pools)]
    if family == "normal" or not tiny:
        forms.append((f"past {past} d", f"dates: {{kind: past, window: {past}, min_count: 2}}", known, ["global"]))
    if family == "normal":  # others have bounds, and anomalies none
        forms.append(("anomalies", "anomalies: true", every, ["global"]))
    return forms


class Dated:
    """Fits to the first n dates, and forecasts 6 days after the last of them, by `predict`."""

    def __init__(self, quantity, family, tiny):
        self.quantity, self.family, self.tiny, self.f = quantity, family, tiny, Fields(quantity)
        self.n = 6 if tiny else 24
        self.now = self.n + 2
        self.then = slice(self.now, self.now + HOURS)
        day = np.asarray(self.f.start, "f8") * 2 / self.f.lead  # from the units of time
        self.day = day - day[0]  # every second
        self.x, self.v, self.y = (a.astype("f8") for a in self.f.moments(UNIT[quantity]))
        write_dated(self.f, self.now)

    def predict(self, form, pool, *sets):
        """Fields of the forecasts by name, in the unit of the table."""
        dates = [str(np.datetime64("2000-01-01") + int(k)) for k in (self.day[self.n - 1] + 1, self.day[self.now], self.day[self.now] + 1)]
        split = [f"data.split.{k}={t}" for k, t in zip(("train.to", "test.from", "test.to", "gap"), (*dates, 0))]
        shift = shift_of(self.family) / UNIT[self.quantity]
        fit = f"family: {self.family}, shift: {shift!r}, floor: {floor_of(self.family, pool)}, tolerance: 1e-13, min_cases: 2"
        fit += f", pool: {pool}, radius: 1"
        run("predict", "dated", "data.forecast=[data/dated.nc]", "data.truth=[data/truth.nc]", f"data.target=[{self.quantity}]",
            "data.lead=[48]", "predict.part=test", *split, f"predict.model={{use: {{emos: {{fit: {{{fit}}}, {form}}}}}}}", *sets)
        fields, shape = {}, (HOURS, -1, *self.y.shape[1:])
        for path in ("predictions", "members")[: 1 + len(sets)]:
            with netCDF4.Dataset(f"dated/{path}.nc") as file:
                fields |= {(path, k): UNIT[self.quantity] * np.asarray(v[:], "f8").reshape(shape) for k, v in file.variables.items()
                           if v.ndim > 2}
        return fields

    def compare(self, table, name, form, rows, pool):
        """Rows of a form; returns its coefficients by cell (theirs) and the means that they are applied to."""
        train, variable, normal = np.flatnonzero(rows), self.quantity.rstrip("0123456789"), self.family == "normal"
        usual, mean, at = 0.0, self.x[: self.n], self.x[self.then]
        if "anomalies" in form:
            usual = self.y[: self.n].mean(0)
        if "eofs" in form:
            flat = [a.reshape(len(a), -1) for a in (mean, self.y[: self.n], at)]
            mean, at = (a.reshape(-1, *self.y.shape[1:]) for a in regress(*flat[:2], self.f.area.ravel(), EOFS, flat[2]))
        fields = self.predict(form, pool)
        location, scale = (fields["predictions", variable + k][:, 0]
                           for k in (("", "_spread") if normal else ("_location", "_scale")))
        moments = [mean[train] - usual, self.v[train], self.y[train] - usual, np.broadcast_to(self.f.area, mean[train].shape)]
        ours, both = (location - usual, scale, at - usual, self.v[self.then]), Emos(self.family, pool=pool)
        cells = cells_of(pool, self.y[train], np.inf, self.tiny)
        for cell in cells:
            of = ours if pool == "global" else [a[:, cell[0], cell[1]] for a in ours]
            both.take(Cases(*(cases_of(pool, a, cell, 1) for a in moments)), recover(*of))
        what = {"global": "all cells by area", "point": f"{len(cells)} cells", "window": f"{len(cells)} windows of 3 x 3 cells"}[pool]
        both.add(table, f"{self.family.replace('_', ' ')}, {name}, {what}", self.quantity, "" if pool == "global" else ", one of them")
        return dict(zip(cells, (theirs for theirs, _ in both.coefficient))), at

    def couple(self, table, name, form, kind, levels, fitted, at):
        """Members of the distributions of cells: quantiles in the order of the raw members, or these moved and stretched."""
        variable, pool, m = self.quantity.rstrip("0123456789"), "window", self.f.members.shape[1]
        form += f", output: members, couple: {{kind: {kind}, levels: {levels}}}"
        made, apart, scores = self.predict(form, pool, "predict.members=true")["members", variable], 0.0, []
        for (j, i), (alpha, beta, gamma, delta) in fitted.items():
            ours, raw = made[:, :, j, i], UNIT[self.quantity] * self.f.members[self.then, :, j, i].astype("f8")
            location, scale = alpha + beta * at[:, j, i, None], np.sqrt(gamma**2 + delta**2 * self.v[self.then, j, i, None])
            if kind == "ecc":
                p = np.arange(1, m + 1) / (m + 1) if levels == "equidistant" else (np.arange(m) + 0.5) / m
                theirs = np.empty_like(ours)
                np.put_along_axis(theirs, np.lexsort((ours, raw)), quantile_of(self.family, location, scale, p), 1)  # equal ones: any order
            else:
                theirs = location + scale * (raw - raw.mean(1, keepdims=True)) / raw.std(1, ddof=1, keepdims=True)
            apart = max(apart, (np.abs(ours - theirs) / scale).max())
            scores.append([sr.crps_ensemble(self.y[self.then, j, i], a, m_axis=1, estimator="nrg").mean() for a in (theirs, ours)])
        how = f"ECC, {levels} quantiles" if kind == "ecc" else "raw members moved and stretched"
        what = f"EMOS {self.family.replace('_', ' ')}, {name}, windows, {how}"
        reference = f"SciPy {scipy.__version__} on scoringrules {sr.__version__}"
        crps = np.array(scores).mean(0)
        goal = max(SINGLE, np.spacing(np.float32(made.max() / UNIT[self.quantity])) * UNIT[self.quantity] / crps[0])
        compare(table, f"{what}: CRPS of members", self.quantity, reference, *crps, goal)
        met = apart <= COEFFICIENTS
        texts = [", ".join(f"{x:.6g}" for x in a[0]) for a in (theirs, ours)]
        table.state(f"{what}: members of a cell", self.quantity, reference, *texts, f"{apart:.1e} of the scale", f"{COEFFICIENTS:.0e}", met)


COUPLES = {"normal": [("ecc", "equidistant"), ("ecc", "hazen"), ("member", "equidistant")],
           "truncated_normal": [("ecc", "hazen")], "censored_shifted_gamma": [("ecc", "equidistant")]}


def fit_dated(table, tiny, family):
    """`predict` with coefficients of the dates that an option chooses; theirs are fitted to the dates that the script chooses."""
    d = Dated(FAMILIES[family], family, tiny)
    for name, form, rows, pools in forms_of(family, tiny, d.day, d.now, d.n):
        for pool in pools:
            fitted, at = d.compare(table, name, form, rows, pool)
        if "eofs" in form and pools[-1] == "window" and ("dates" in form or family != "normal" and tiny):
            for kind, levels in COUPLES[family][: 1 if tiny else None]:
                d.couple(table, name, form, kind, levels, fitted, at)
