#!/usr/bin/env python3
"""neurokit2_package.py PROGRAM WORK - nonlinear measures of heart rate variability as NeuroKit2 of PyPI computes them, of one run of
intervals and, SD1 and SD2, of runs between ectopic beats; respiratory rate of an ECG. docs/science/physio_stream.md names the definitions
that differ. Tonic and phasic electrodermal activity, and its responses."""
import csv
import os
import subprocess
import sys
import warnings

program, work = sys.argv[1:3]
try:
    import neurokit2 as nk
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing} (neurokit2: PyPI)")
    sys.exit(77)

warnings.filterwarnings("ignore")
os.chdir(work)
NORMAL, VENTRICULAR, SKIP = 1, 5, 59
RATE = 10000  # 1/s: no box of DFA has equal intervals, which NeuroKit2 leaves out


def write_annotations(path, times, codes):
    """A file of MIT annotations, without a resolution of time."""
    words = []
    for step, code in zip(np.diff(times, prepend=0), codes):
        if step > 1023:
            words += [SKIP << 10, int(step) >> 16, int(step) & 0xFFFF]
            step = 0
        words.append(code << 10 | int(step))
    with open(path, "wb") as file:
        file.write(np.array(words + [0], dtype="<u2").tobytes())


def table(path):
    """Rows with numbers, NaN of an empty cell; of the reference, not of the test, which is the same file."""
    with open(path, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    texts = "annotations", "beat_types", "gaps"
    return [{key: float(cell or "nan") for key, cell in row.items() if key not in texts} for row in rows[:len(rows) // 2]]


def measures(times, codes, **options):
    """hrv.csv, and the column of mse.csv."""
    write_annotations("a.atr", times, codes)
    sets = ["eval.reference=a.atr", "eval.test=a.atr", "eval.start=0", f"eval.fs={RATE}", "eval.nn.exclude=0"]
    sets += [f"eval.nn.{key.replace('__', '.')}={value}" for key, value in options.items()]
    subprocess.run([program, "eval", *sum((["--set", text] for text in sets), []), "--out", "score", "--overwrite", "--log", "error"],
                   check=True, stdout=subprocess.DEVNULL)
    return table("score/hrv.csv")[0], [row["sampen"] for row in table("score/mse.csv")]


def expect(what, value, reference, tolerance=6e-5):
    """Tables have four digits after the point."""
    assert abs(value - reference) <= tolerance * max(1, abs(reference)), (what, value, reference)


def series(kind, n, random):
    noise = random.normal(size=n)
    if kind == "white":
        return 800 + 40 * noise
    if kind == "autoregressive":
        for i in range(1, n):
            noise[i] += 0.8 * noise[i - 1]
        return 800 + 30 * noise
    walk = np.cumsum(noise)  # Brownian
    return 800 + 300 * (walk - walk.mean()) / np.ptp(walk)


def beats(kind, n, random):
    """Times in samples, and intervals in ms."""
    times = np.cumsum(np.concatenate([[500], np.round(series(kind, n, random) * RATE / 1000)])).astype(int)
    return times, np.diff(times) * 1000 / RATE


def compare(kind, n, seed):
    times, intervals = beats(kind, n, np.random.default_rng(seed))
    codes = [NORMAL] * len(times)
    row, mse = measures(times, codes, dfa__ratio=1, entropy__min_templates=30)
    reference = nk.hrv_nonlinear(times, sampling_rate=RATE).iloc[0]
    for ours, theirs in ("sd1_ms", "SD1"), ("sd2_ms", "SD2"), ("sd1_sd2", "SD1SD2"), ("ellipse_ms2", "S"), ("apen", "ApEn"), \
            ("sampen", "SampEn"):
        expect((kind, n, ours), row[ours], reference["HRV_" + theirs])
    scales = nk.entropy_multiscale(intervals, scale=5, dimension=2, tolerance=0.2 * np.std(intervals, ddof=1))[1]["Value"]
    for k in range(5):
        assert np.isnan(mse[k]) if n // (k + 1) < 32 or not np.isfinite(scales[k]) else abs(mse[k] - scales[k]) < 6e-5, (kind, n, k)
    if np.isfinite(mse).all():
        expect((kind, n, "mse_ci"), row["mse_ci"], scales.sum())
    expect((kind, n, "alpha1"), row["dfa_alpha1"], nk.fractal_dfa(intervals, scale=np.arange(4, 12), overlap=False)[0])
    if n < 240:
        assert np.isnan(row["dfa_alpha2"])
        return
    expect((kind, n, "alpha2"), row["dfa_alpha2"], nk.fractal_dfa(intervals, scale=np.arange(12, n // 10 + 1), overlap=False)[0])
    # hrv_nonlinear overlaps boxes, and leaves out one that ends with the series.
    row, _ = measures(times, codes, dfa__ratio=1, dfa__overlap="true")
    for ours, theirs in ("dfa_alpha1", "DFA_alpha1"), ("dfa_alpha2", "DFA_alpha2"):
        difference = row[ours] - reference["HRV_" + theirs]
        print(f"{kind}, {n} intervals: {ours} {row[ours]:.4f}, {difference:+.4f} from hrv_nonlinear")
        assert abs(difference) < 0.03, (kind, n, ours)


for kind in "white", "autoregressive", "Brownian":
    for n in 101, 301, 1004:
        compare(kind, n, n)

# Ectopic beats: pairs of successive normal intervals alone.
random = np.random.default_rng(5)
times, intervals = beats("autoregressive", 600, random)
codes = np.where(random.uniform(size=len(times)) < 0.03, VENTRICULAR, NORMAL)
counts = (codes[1:] == NORMAL) & (codes[:-1] == NORMAL)
row, _ = measures(times, codes)
assert row["nn"] == counts.sum() < 580
reference = nk.hrv_nonlinear({"RRI": intervals[counts], "RRI_Time": times[1:][counts] / RATE}).iloc[0]
for ours, theirs in ("sd1_ms", "SD1"), ("sd2_ms", "SD2"):
    expect(("ectopic", ours), row[ours], reference["HRV_" + theirs])
print(f"NeuroKit2 {nk.__version__}: with ectopic beats SampEn {row['sampen']:.4f}, and {reference['HRV_SampEn']:.4f} across them")


def pulses(breaths, rate, seconds, random):
    """An ECG of Gaussian R waves and noise: breathing of a known rate modulates amplitude, intervals and baseline."""
    time = np.arange(seconds * rate) / rate
    phase = 2 * np.pi * breaths / 60
    signal = 0.1 * np.sin(phase * time) + 0.01 * random.normal(size=len(time))
    at = 0.5
    while at < seconds - 0.5:
        near = slice(int((at - 0.1) * rate), int((at + 0.1) * rate))
        signal[near] += (1 + 0.15 * np.sin(phase * at)) * np.exp(-0.5 * ((time[near] - at) / 0.01) ** 2)
        at += 0.8 + 0.04 * np.sin(phase * at)
    return signal


def respiration(breaths, rate, random):
    """Rates in windows, and that of NeuroKit2: of the heart rate between 0.1 and 0.4 Hz."""
    signal = pulses(breaths, rate, 300, random)
    np.savetxt("resp.csv", signal, fmt="%.5f", header="ecg (mV)", comments="")
    steps = "{name: r, from: [ecg], do: {detect: {}}}, {name: resp, from: [ecg, r.rr], do: {resp_rate: {}}}"
    sets = ["input.csv=resp.csv", f"input.fs={rate}", "query.streams=[{name: ecg}]", f"query.steps=[{steps}]",
            "query.outputs=[{stream: resp, format: csv}]"]
    subprocess.run([program, "run", *sum((["--set", text] for text in sets), []), "--out", "resp", "--overwrite", "--log", "error"],
                   check=True, stdout=subprocess.DEVNULL)
    with open("resp/resp.csv", encoding="utf-8") as file:
        ours = [float(row["rate"]) for row in csv.DictReader(file) if row["rate"]]
    peaks = nk.ecg_peaks(nk.ecg_clean(signal, sampling_rate=rate), sampling_rate=rate)[1]["ECG_R_Peaks"]
    derived = nk.ecg_rsp(nk.ecg_rate(peaks, sampling_rate=rate, desired_length=len(signal)), sampling_rate=rate)
    troughs = nk.rsp_findpeaks(nk.rsp_clean(derived, sampling_rate=rate))["RSP_Troughs"]
    theirs = 60 * rate / np.median(np.diff(troughs))
    print(f"breaths {breaths}/min: {min(ours):.2f} to {max(ours):.2f} in {len(ours)} windows; NeuroKit2 {theirs:.2f}")
    assert len(ours) > 30 and max(abs(x - breaths) for x in ours) < 0.2
    assert abs(np.median(ours) - theirs) < 0.3, (breaths, theirs)


for breaths in 8, 12, 15, 20:
    respiration(breaths, 250, np.random.default_rng(breaths))


def electrodermal(rate, seed):
    """Components by the filters of a query, and responses, of which NeuroKit2 takes those above 0.1 of the largest."""
    signal = nk.eda_simulate(duration=240, sampling_rate=rate, scr_number=20, noise=0.005, drift=-0.002, random_state=seed)
    np.savetxt("eda.csv", signal, fmt="%.7f", header="eda (uS)", comments="")
    clean = nk.eda_clean(np.loadtxt("eda.csv", skiprows=1), sampling_rate=rate)
    parts = nk.eda_phasic(clean, sampling_rate=rate, method="highpass")
    _, info = nk.eda_peaks(parts["EDA_Phasic"].values, sampling_rate=rate, method="neurokit", amplitude_min=0.1)
    filters = {"clean": "from: [eda], do: {filter: {kind: lowpass, hi: 3, order: 4, zero_phase: true}}",
               "tonic": "from: [clean], do: {filter: {kind: lowpass, hi: 0.05, order: 2, zero_phase: true}}",
               "phasic": "from: [clean], do: {filter: {kind: highpass, lo: 0.05, order: 2, zero_phase: true}}",
               "scr": "from: [phasic], do: {scr: {min_amplitude: 0.1}}"}
    steps = ", ".join(f"{{name: {name}, {text}}}" for name, text in filters.items())
    sets = ["input.csv=eda.csv", f"input.fs={rate}", "query.streams=[{name: eda}]", f"query.steps=[{steps}]",
            "query.outputs=[{stream: tonic, format: csv}, {stream: phasic, format: csv}, {stream: scr}]"]
    subprocess.run([program, "run", *sum((["--set", text] for text in sets), []), "--out", "eda", "--overwrite", "--log", "error"],
                   check=True, stdout=subprocess.DEVNULL)

    def column(file, name):
        with open(f"eda/{file}.csv", encoding="utf-8") as opened:
            return np.array([float(row[name] or "nan") for row in csv.DictReader(opened)])

    worst = max(np.abs(column(name, "value") - parts[key].values).max() for name, key in (("tonic", "EDA_Tonic"), ("phasic", "EDA_Phasic")))
    assert worst < 1e-6, worst
    assert np.array_equal(np.round(column("scr", "time_s") * rate), info["SCR_Peaks"]) and len(info["SCR_Peaks"]) > 10
    for name, key, tolerance in ("amplitude", "SCR_Amplitude", 1e-6), ("rise", "SCR_RiseTime", 1e-5), ("recovery", "SCR_RecoveryTime", 1e-5):
        assert np.allclose(column("scr", name), info[key], atol=tolerance, equal_nan=True), (rate, name)
    print(f"electrodermal activity, {rate} Hz: {len(info['SCR_Peaks'])} responses; components within {worst:.1e} uS")


for rate in 20, 100, 250:
    electrodermal(rate, rate)


def waves(rate):
    """Peaks and borders of waves of an ECG that NeuroKit2 simulates, beside those of its discrete wavelet transform. Borders of the
    QRS complex are half of its steepest slope in NeuroKit2, and the end of the P wave 0.4 of its slope, so that these differ."""
    signal = nk.ecg_simulate(duration=60, sampling_rate=rate, heart_rate=72, noise=0, random_state=3)
    np.savetxt("ecg.csv", signal, fmt="%.6f", header="ecg (mV)", comments="")
    steps = "{name: r, from: [ecg], do: {detect: {}}}, {name: waves, from: [ecg, r.rr], do: {delineate: {}}}"
    sets = ["input.csv=ecg.csv", f"input.fs={rate}", "query.streams=[{name: ecg}]", f"query.steps=[{steps}]",
            "query.outputs=[{stream: waves, format: csv}]"]
    subprocess.run([program, "run", *sum((["--set", text] for text in sets), []), "--out", "waves", "--overwrite", "--log", "error"],
                   check=True, stdout=subprocess.DEVNULL)
    with open("waves/waves.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    beats = np.array([round(float(row["time_s"]) * rate) for row in rows])
    theirs = nk.ecg_delineate(signal, beats, sampling_rate=rate, method="dwt")[1]
    for name, other, limit in (("p", "P_Peaks", 4), ("t", "T_Peaks", 4), ("p_on", "P_Onsets", 15), ("t_off", "T_Offsets", 15)):
        ours = np.array([float(row[name] or "nan") for row in rows])
        difference = 1000 * (ours - (np.array(theirs["ECG_" + other], dtype=float) - beats) / rate)
        found = np.isfinite(difference)
        print(f"{rate} Hz, {name}: median difference {np.median(difference[found]):.1f} ms of {sum(found)} in {len(rows)} beats")
        assert sum(found) >= len(rows) - 2 and abs(np.median(difference[found])) <= limit, (name, rate)


for rate in 250, 500, 1000:
    waves(rate)
