"""package.py PROGRAM SCRATCH ROOT - the Python package on what the program writes: readers give what the files say, calls what the commands
compute and what a formula in NumPy gives, wrong input is refused by name, and the example of the app runs.

Exit 77: xarray, pandas or netCDF4 is not here."""

import os
import subprocess
import sys

try:
    import netCDF4
    import numpy as np
    import pandas
    import xarray
except ImportError as missing:
    print("skipped: this Python has no", missing.name)
    sys.exit(77)

program, scratch, root = sys.argv[1:]
app = os.path.basename(program)
sys.path.insert(0, os.path.join(root, "python"))
import weir  # noqa: E402

config = f"{root}/configs/{app}/tiny.yaml"
os.chdir(scratch)


def run(command, out, *sets, config=config, words=()):
    line = [program, command, *words, *(["--config", config] if config else []), "--out", out]
    for value in sets:
        line += ["--set", value]
    done = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, f"{line}:\n{done.stdout[-2000:]}"


def example(*words):
    line = [sys.executable, f"{root}/python/examples/{app}.py", *words]
    done = subprocess.run(line, env=dict(os.environ, PYTHONPATH=f"{root}/python"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, f"{line}:\n{done.stdout}"
    alone = subprocess.run(line[:2], env=dict(os.environ, PYTHONPATH=f"{root}/python"), stderr=subprocess.PIPE, text=True)
    assert alone.returncode == 1 and f"python3 {app}.py " in alone.stderr and "Traceback" not in alone.stderr, alone.stderr
    return done.stdout


def refused(kind, text, call, *words, **named):
    try:
        call(*words, **named)
    except kind as error:
        assert text in str(error), f"{error!r} does not say '{text}'"
    else:
        raise AssertionError(f"{call.__name__}{words} is not refused")


def same_beats(found, table):
    assert len(table) > 30
    assert np.array_equal(found["sample"], table["sample"]) and np.array_equal(found["gap"], table["gap"])
    for name in ("time", "rr"):
        assert np.allclose(found[name], table[name], rtol=0, atol=6e-7, equal_nan=True), name  # the file has microseconds


def physio_stream():
    noise = ("ecgsyn.duration=90", "ecgsyn.noise.white_snr=4", "seed=5")
    run("prepare", "record", *noise)
    run("convert", "nc", "convert.format=netcdf", "input.record=record/ecgsyn", config=None)
    with netCDF4.Dataset("nc/ecgsyn.nc") as nc:
        masked = nc["ECG"][:]
        mv = masked.astype("f8").filled(np.nan)
        fs = float(nc["ECG"].sampling_rate)
    found = {}
    for out, options in (("usual", {}), ("strict", {"detect.threshold": 0.9, "detect.at_once": True})):
        run("run", out, "input.record=record/ecgsyn", *(f"{k}={str(v).lower()}" for k, v in options.items()), config=None)
        for threads in (1, 2):
            found[out] = weir.detect_beats(mv, fs, options, threads=threads)
            same_beats(found[out], weir.open_beats(out))
    assert masked.mask.any()
    same_beats(weir.detect_beats(masked, fs), weir.open_beats("usual"))
    assert found["usual"]["gap"].sum() > 1 and len(found["strict"]) < len(found["usual"])

    run("eval", "eval", "eval.reference=usual/ecgsyn.qrs", "eval.test=strict/ecgsyn.qrs", "input.record=record/ecgsyn", "eval.start=10", config=None)
    score = weir.compare_beats(found["usual"]["sample"], found["strict"]["sample"], fs, len(mv), {"eval.start": 10})
    row = weir.open_run("eval").table().iloc[0]
    assert score["fn"] > 0 and [score[k] for k in ("tp", "fn", "fp")] == [row["tp"], row["fn"], row["fp"]]
    assert abs(score["sensitivity"] - row["se"]) < 0.0051 and abs(score["predictivity"] - row["ppv"]) < 0.0051

    # Counts that are known: the third beat is missed, one is false, and one is a tenth of a second late.
    score = weir.compare_beats([100, 200, 300, 400], [110, 200, 250, 400], 100, options={"eval.start": 0})
    assert (score["tp"], score["fn"], score["fp"], score["sensitivity"]) == (3, 1, 1, 75), score
    score = weir.compare_beats([], [50], 100, options={"eval.start": 0})
    assert score["fp"] == 1 and np.isnan(score["sensitivity"]), score

    for length in (0, 1, 257):
        assert len(weir.detect_beats(np.full(length, np.nan), 250)) == 0
    refused(weir.Error, "nearest known key: wait", weir.detect_beats, mv, fs, {"detect.wat": 1})
    refused(weir.Error, "is outside [0.05, 0.95]", weir.detect_beats, mv, fs, {"detect.threshold": 2})
    refused(weir.Error, "the rate positive", weir.detect_beats, mv, 0)
    refused(ValueError, "signal: 2 dimensions", weir.detect_beats, mv[None], fs)
    refused(TypeError, "complex", weir.detect_beats, mv * 1j, fs)
    refused(TypeError, "test: [n] integers", weir.compare_beats, [1], [1.5], fs)
    refused(ValueError, "test: some samples are masked", weir.compare_beats, [1], np.ma.masked_equal([1, 2], 2), fs)
    refused(weir.Error, "ascending", weir.compare_beats, [9, 5], [1], fs, options={"eval.start": 0})
    refused(ValueError, "expected ['sample'", weir.open_beats, "eval/scores.csv")
    refused(FileNotFoundError, "run.jsonl", weir.open_run, "nc/none")
    refused(FileNotFoundError, "known: beats", weir.open_run("usual").table, "bats")
    assert weir.open_run("usual").dataset("beats").sizes["beat"] == len(found["usual"])
    assert weir.open_run("usual").provenance["program"] == "physio_stream run"
    assert "gross" in example("usual", "eval") or "ecgsyn" in example("usual", "eval")


def brute_crps(x, y, share):
    """[m, ..] and [..], by the definition with all pairs."""
    m = len(x)
    skill = np.abs(x - y).mean(0)
    pairs = np.abs(x[:, None] - x[None]).sum((0, 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        fair = skill - pairs / np.float64(2 * m * (m - 1))
    empirical = skill - pairs / (2 * m * m)
    return empirical if share == 0 else share * fair + (1 - share) * empirical


def distributions():
    """Normal distributions by their formula; others by the integral of (P(X <= x) - step)^2 of their own probabilities."""
    normal = weir.crps_normal([1.0, 2], 0.5, [[1.2], [3.0]])
    assert np.allclose(weir.crps_distribution([1.0, 2], 0.5, [[1.2], [3.0]]), normal, rtol=1e-14) and normal.shape == (2, 2)
    x = np.linspace(0, 60, 600001)
    for family, shift, upper in (("truncated_normal", 0, np.inf), ("censored_logistic", 0, np.inf), ("log_normal", 0, np.inf),
                                 ("censored_shifted_gamma", 0.5, np.inf), ("censored_normal", 0, 3)):
        of = {"family": family, "shift": shift, "upper": upper}
        above = weir.probability_above(1.5, 0.8, x, **of)
        crps = ((1 - above - (x >= 2.1)) ** 2).sum() * (x[1] - x[0])
        assert abs(weir.crps_distribution(1.5, 0.8, 2.1, **of) - crps) < 1e-4, (family, crps)
        density = (weir.probability_above(1.5, 0.8, 2.1 - 1e-5, **of) - weir.probability_above(1.5, 0.8, 2.1 + 1e-5, **of)) / 2e-5
        assert abs(weir.log_score_distribution(1.5, 0.8, 2.1, **of) + np.log(density)) < 1e-6, family
        assert abs(weir.probability_above(1.5, 0.8, weir.quantile_distribution(1.5, 0.8, 0.9, **of), **of) - 0.1) < 1e-9, family
    assert np.array_equal(np.isnan(weir.crps_distribution([np.nan, 0, 0, 0], [1, -1, np.nan, 1], [0, 0, 0, np.nan])), [True] * 4)
    assert weir.crps_distribution([], [], []).shape == (0,)
    refused(weir.Error, "family", weir.crps_distribution, 0, 1, 0, family="triangular")
    refused(weir.Error, "needs a shift above 0", weir.crps_distribution, 0, 1, 0, family="censored_shifted_gamma")
    assert weir.quantile_distribution(0.5, 1, 0.9, family="censored_normal", upper=1) == 1
    refused(weir.Error, "have an upper bound", weir.crps_distribution, 0, 1, 0, family="truncated_normal", upper=1)
    refused(weir.Error, "above the lower one, 0", weir.crps_distribution, 0, 1, 0, family="censored_normal", upper=0)
    refused(weir.Error, "probability 1 is outside (0, 1)", weir.quantile_distribution, 0, 1, 1)


def vectors(random):
    x, y = random.normal(size=(3, 6, 4)), random.normal(size=(3, 4))
    skill = np.sqrt(((x - y[:, None]) ** 2).sum(-1)).mean(-1)
    pairs = np.sqrt(((x[:, :, None] - x[:, None]) ** 2).sum(-1)).sum((1, 2))
    assert np.allclose(weir.energy_score(x, y), skill - pairs / (2 * 6 * 6), rtol=1e-13)
    assert np.allclose(weir.energy_score(x, y, fair=True), skill - pairs / (2 * 6 * 5), rtol=1e-13)
    assert np.allclose(weir.energy_score(x[..., :1], y[:, :1])[..., None], weir.crps(x[..., :1], y[:, :1], axis=1), rtol=1e-13)
    for order in (0.5, 1.3):
        apart = (np.abs(y[:, :, None] - y[:, None]) ** order - (np.abs(x[..., :, None] - x[..., None, :]) ** order).mean(1)) ** 2
        assert np.allclose(weir.variogram_score(x, y, order), apart.sum((1, 2)) / 12, rtol=1e-12)
    assert np.isnan(weir.energy_score(x[:, :1], y, fair=True)).all() and (weir.variogram_score(x[..., :1], y[:, :1]) == 0).all()
    x[1, 2, 3] = np.nan
    assert np.array_equal(np.isnan(weir.energy_score(x, y)), [False, True, False]) and np.isnan(weir.variogram_score(x, y)[1])
    refused(ValueError, "truth: shape (3, 5)", weir.energy_score, x, np.zeros((3, 5)))
    refused(weir.Error, "order: 0", weir.variogram_score, x, y, 0)
    refused(weir.Error, "0 members", weir.energy_score, np.zeros((2, 0, 3)), np.zeros((2, 3)))


def emos(random):
    """Coefficients that made the truth are found again, of all cells and of each; more spread never lowers the score there."""
    m, v = random.normal(size=(400, 2, 3)), random.gamma(2, 0.5, size=(400, 2, 3))
    y = 1.5 + 0.8 * m + np.sqrt(0.25 + 0.64 * v) * random.normal(size=m.shape)
    found = weir.fit_emos(m, v, y)
    assert found.shape == (4,) and np.allclose(found, [1.5, 0.8, 0.5, 0.8], atol=0.12), found
    point = weir.fit_emos(m, v, y, {"pool": "point"})
    assert point.shape == (2, 3, 4) and np.allclose(point.mean((0, 1)), found, atol=0.1) and point[..., 0].std() > 0
    x, u, truth = (np.asarray(a, "f4").astype("f8") for a in (m, v, y))

    def score(c):
        return weir.crps_normal(c[0] + c[1] * x, np.sqrt(c[2] ** 2 + c[3] ** 2 * u), truth).mean()

    for k in range(4):
        for step in (-0.01, 0.01):
            assert score(found + step * (np.arange(4) == k)) > score(found)
    weight = np.zeros((2, 3))
    weight[1, 2] = 1
    assert np.allclose(weir.fit_emos(m, v, y, weight=weight), point[1, 2], rtol=1e-3)
    refused(weir.Error, "nearest known key: pool", weir.fit_emos, m, v, y, {"pol": "point"})
    refused(weir.Error, "below the bound", weir.fit_emos, m, v, y, {"family": "truncated_normal"})
    refused(ValueError, "differ", weir.fit_emos, m, v, y[:3])
    refused(ValueError, "weight: shape (2,)", weir.fit_emos, m, v, y, weight=[1, 1])
    refused(weir.Error, "0 dates", weir.fit_emos, m[:0], v[:0], y[:0])


def weather_ensemble():
    random = np.random.default_rng(7)
    distributions()
    vectors(random)
    emos(random)
    for shape in ((1, 3), (2, 1), (7, 0), (9, 2, 3), (5,)):
        x, y = random.normal(size=shape), random.normal(size=shape[1:])
        for share in (0, 0.95, 1):
            got, want = weir.crps(x, y, share=share), brute_crps(x, y, share)
            assert got.shape == want.shape and np.allclose(got, want, rtol=1e-12, atol=1e-13, equal_nan=True), (shape, share, got, want)
            assert np.array_equal(weir.crps(np.moveaxis(x, 0, -1), y, axis=-1, share=share), got, equal_nan=True)
    x[2] = np.nan
    assert np.isnan(weir.crps(x, y))
    assert np.isnan(weir.crps(np.ma.masked_invalid(x), y))
    z = np.linspace(-5, 5, 200001)  # the integral of (F - step)^2
    below = np.cumsum(np.exp(-z * z / 2)) / np.exp(-z * z / 2).sum()
    assert abs(weir.crps_normal(2, 3, 2 + 3 * 0.7) - 3 * ((below - (z >= 0.7)) ** 2).sum() * (z[1] - z[0])) < 1e-4
    assert np.array_equal(weir.crps_normal(0, [0, -1], 2), [2, np.nan], equal_nan=True)
    refused(ValueError, "truth: shape (2,), expected (3,)", weir.crps, np.zeros((4, 3)), np.zeros(2))
    refused(ValueError, "no ensemble", weir.crps, 1.0, 1.0)
    refused(weir.Error, "0 members", weir.crps, np.zeros((0, 3)), np.zeros(3))
    refused(weir.Error, "outside [0, 1]", weir.crps, np.zeros((2, 3)), np.zeros(3), share=2)

    run("prepare", "prepare")
    files = ("data.forecast=[prepare/forecast.nc]", "data.truth=[prepare/truth.nc]")
    run("run", "run", *files, "train.epochs=1")
    run("predict", "predict", *files, "predict.weights=run/weights.nc", "predict.part=test", config="run/resolved.yaml")
    run("eval", "eval", *files)
    # The raw ensemble, from the archives.
    starts = weir.open_run("eval").table("init_times").query("model == 'raw 5' and lead_h == 48 and variable == 'z'")["start"]
    times = np.array(starts, dtype="M8[ns]")
    with xarray.open_dataset("prepare/forecast.nc") as forecast, xarray.open_dataset("prepare/truth.nc") as truth:
        lead = np.timedelta64(48, "h")
        members = forecast["z"].sel(forecast_reference_time=times, forecast_period=lead).transpose("realization", ...)
        known = truth["z"].isel(forecast_period=0, realization=0).sel(forecast_reference_time=times + lead)
        got = [weir.crps(members.values, known.values, share=share).mean() for share in (0, 1)]
    scores = weir.open_run("eval").table("all_scores").query("model == 'raw 5' and lead_h == 48 and variable == 'z' and weights == 'none' and region == 'all'")
    for name, value in zip(("crps", "crps_fair"), got):
        want = scores.query("score == @name")["value"].item()
        assert len(times) > 10 and abs(value / want - 1) < 1e-6, (name, value, want)
    predictions = weir.open_predictions("predict/predictions.nc")
    assert {"z", "z_spread"} <= set(predictions) and np.issubdtype(predictions["forecast_reference_time"].dtype, np.datetime64)
    maps = weir.open_maps("eval/maps.nc")
    assert maps["crps"].sel(model="raw 5", variable="z500").shape == (2, 16, 32)
    assert "raw 5" in example("run", "eval", "prepare/forecast.nc", "prepare/truth.nc")


def cosmoflow():
    run("prepare", "prepare")
    run("run", "run", "source.input=[prepare]", "train.epochs=1")
    run("predict", "predict", "predict.weights=run/weights.nc", config=None, words=("prepare",))
    weights = weir.load_weights("run/weights.nc")
    with netCDF4.Dataset("run/weights.nc", "a") as nc:
        nc.set_auto_mask(False)
        assert set(weights) == set(nc.variables) and all(np.array_equal(weights[name], nc[name][...]) for name in weights)
    data = weir.open_predictions("predict/predictions.nc")
    table = weir.open_run("predict").table("predictions")
    assert list(data["parameter"].values) == ["omega_m", "sigma_8"] and len(table) > 0
    assert np.isfinite(data["physPredicted"]).all() and data.sizes["sample"] == 16
    printed = example("run", "predict")
    assert "omega_m: mean absolute error" in printed
    assert f" {weir.open_run('run').events('run_end')['parameters'].item()} parameters:" in printed, printed
    with netCDF4.Dataset("run/weights.nc", "a") as nc:
        nc["conv1.bias"][1] += 1
    refused(ValueError, "conv1.bias is damaged", weir.load_weights, "run/weights.nc")
    refused(ValueError, "has no digest", weir.load_weights, "predict/predictions.nc")


def quantum_transport():
    run("run", "run")
    data = weir.open_transport("run/transport.nc")
    table = weir.open_run("run").table("spectra")
    assert np.array_equal(data["energy"], table["energy_eV"]) and np.allclose(data["mean_transmission"], table["transmission"], rtol=1e-15)
    energy = data["energy"].values  # of one impurity in a chain
    assert np.allclose(data["mean_transmission"], 1 / (1 + 0.7**2 / (4 - energy**2)), rtol=2e-5)  # energy.eta broadens
    try:
        import sisl  # noqa: F401
    except ImportError:
        print("left out: this Python has no sisl")
        refused(ImportError, "sisl is not installed", weir.open_tbtrans, "run/transport.TBT.nc")
    else:
        assert np.allclose(weir.open_tbtrans("run/transport.TBT.nc").transmission(), data["mean_transmission"])
    assert "mean_transmission" in example("run")


globals()[app]()
print("as the files and commands say:", app)
