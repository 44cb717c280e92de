"""physio_comparison.py PROGRAM WORK [--page FILE] [--only TABLE] [--tiny]

Compares physio_stream with XQRS of wfdb, NeuroKit2 and BioSPPy on the same inputs, in one run: beats of every recording at hand that has
reference annotations, beats in noise, heart rate variability of the same intervals, respiratory rate, electrodermal responses,
delineation. Prints tables, with --page into that file between its markers. --only waves: that table alone; --only steadiness: marks in
noise at more rates, which is printed only. --tiny: noise in one minute of each recording, one series, printed only.
WEIR_TEST_DATA: the folder of the shared recordings.

Exit 77: this Python lacks one of the packages."""

import argparse
import concurrent.futures
import contextlib
import csv
import functools
import importlib.metadata
import io
import os
import pathlib
import subprocess
import sys
import warnings

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
warnings.filterwarnings("ignore")
import physio_beats  # noqa: E402 - exits with 77 without wfdb

try:
    import neurokit2 as nk
    import numpy as np
    import wfdb
    from biosppy.signals import ecg as biosppy_ecg
    from biosppy.signals import eda as biosppy_eda
    from biosppy.signals import hrv as biosppy_hrv
    from biosppy.signals import resp as biosppy_resp
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

LEFT_OUT = {
    "mimic/03700181": "its annotations (gqrs, sqrs) are of detectors", "mimic/3000003_0003": "no annotations",
    "challenge2015/a103l": "no annotations of beats", "challenge2015/v102s_fixed/v102s": "no annotations of beats",
    "multiseg/041s": "no annotations", "multiseg/s25047, p000878": "no annotations", "formats, edf (all files)": "no annotations of beats",
    "mitdb/100-no-len, 100skew": "record 100 with other headers", "annotations (all files)": "annotations without their signals",
    "csv/biosppy_ecg": "no annotations"}
SHARES = "waves: {qrs_on: 0.5, qrs_off: 0.5, p_on: 0.4, p_off: 0.4, t_on: 0.6, t_off: 0.4}"  # of slopes, those of NeuroKit2
MARKS = {"p_on": "P_Onsets", "p": "P_Peaks", "p_off": "P_Offsets", "qrs_on": "R_Onsets", "qrs_off": "R_Offsets", "t_on": "T_Onsets",
         "t": "T_Peaks", "t_off": "T_Offsets"}
RATE = 10000  # 1/s, of the intervals
NOISE = {  # table: set and first seeds of physio_beats.py, levels, columns
    "noise": ("report", [520], physio_beats.LEVELS, 4),  # no constant of the detector was chosen with this seed
    "second_leads": ("tune", [300, 301, 302], physio_beats.LEVELS, 2)}


def quiet(function, *arguments, **options):
    with contextlib.redirect_stdout(io.StringIO()):
        return function(*arguments, **options)


def run(command, out, *sets):
    line = [program, command, *sum((["--set", text] for text in sets), []), "--out", out, "--overwrite", "--log", "error"]
    subprocess.run(line, check=True, stdout=subprocess.DEVNULL)


def query(signal, rate, header, steps, outputs):
    """Tables of a query of one signal, a dictionary of columns each."""
    np.savetxt("in.csv", signal, fmt="%.7f", header=header, comments="")
    run("run", "out", "input.csv=in.csv", f"input.fs={rate}", "query.streams=[{name: x, signal: 0}]", f"query.steps=[{steps}]",
        "query.outputs=[" + ", ".join(f"{{stream: {name}, format: csv}}" for name in outputs) + "]")
    tables = []
    for name in outputs:
        with open(f"out/{name}.csv", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        tables.append({key: np.array([float(row[key] or "nan") for row in rows]) for key in rows[0]})
    return tables


def markdown(head, rows):
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *rows]) + "\n"


# ---- Beats ----


def detectors(work):
    return {"physio_stream": lambda x, rate: physio_beats.weir(program, work, x, rate), "xqrs": physio_beats.xqrs,
            "neurokit": physio_beats.neurokit, "biosppy": physio_beats.biosppy}


def names():
    return ["physio_stream", f"XQRS of wfdb {wfdb.__version__}", f"NeuroKit2 {nk.__version__}",
            f"BioSPPy {importlib.metadata.version('biosppy')}"]


def recordings(data):
    """Name, mV, rate and beats: whole records, each lead, and simulated ones."""
    for name in "100", "119", "208":
        path = str(data / "physio/wfdb/mitdb" / name)
        record, marks = wfdb.rdrecord(path), wfdb.rdann(path, "atr")
        beats = np.array([s for s, c in zip(marks.sample, marks.symbol) if c in physio_beats.BEATS])
        for lead in range(2):
            yield f"MIT-BIH {name}, {record.sig_name[lead]}", record.p_signal[:, lead], 360, beats
    for _, name, x, rate, beats in physio_beats.sources(program, data, "report", pathlib.Path(".")):
        if name.startswith("ecgsyn"):
            yield f"ECGSYN, {rate} Hz, seed {name[6:]}", x, rate, beats


def score_beats(data):
    compared = detectors(pathlib.Path("."))
    rows, total = [], dict.fromkeys(compared, 0)
    for name, x, rate, beats in recordings(data):
        cells = []
        for key, detector in compared.items():
            n = physio_beats.count(beats, quiet(detector, x.astype(np.float32).astype(float), rate), rate)
            total[key] = total[key] + n
            cells.append(physio_beats.cell(n))
        rows.append([name, str(len(beats)), *cells])
    rows.append(["all", str(total["xqrs"][0]), *(physio_beats.cell(n) for n in total.values())])
    head = ["recording, lead", "beats", *names()]
    return markdown(head, rows) + "\n" + markdown(["left out", "reason"], list(LEFT_OUT.items()))


def score_in_noise(task):
    """One recording and first seed: counts by level, None: clean, which the first task of a recording has."""
    seed, clean, levels, columns, i, (group, _, x, rate, beats) = task
    work = pathlib.Path(f"noise{seed}_{i}")
    work.mkdir(exist_ok=True)
    power, totals = physio_beats.qrs_power(x, rate, beats), {}
    made = [(None, x)] if clean else []
    for kind in physio_beats.KINDS:
        unit = physio_beats.noise(kind, len(x), rate, seed + i)
        made += [(level, x + unit * np.sqrt(power * 10 ** (-level / 10))) for level in levels]
    for level, y in made:
        for key, detector in list(detectors(work).items())[:columns]:
            try:
                found = quiet(detector, y.astype(np.float32).astype(float), rate)
            except (ValueError, IndexError, ZeroDivisionError):  # of theirs, where they find too little
                found = []
            totals[level, key] = totals.get((level, key), 0) + physio_beats.count(beats, found, rate)
    return group, totals


def noise(data, table, tiny):
    """Series of physio_beats.py, pooled: all recordings, and those of MIT-BIH alone."""
    part, seeds, levels, columns = NOISE[table]
    made = list(physio_beats.sources(program, data, part, pathlib.Path(".")))
    if tiny:
        made = [(group, name, x[: 60 * rate], rate, beats[beats < 60 * rate]) for group, name, x, rate, beats in made]
    tasks = [(seed, seed == seeds[0], levels, columns, i, source) for seed in seeds for i, source in enumerate(made)]
    sums = {}
    with concurrent.futures.ProcessPoolExecutor(max_workers=len(made)) as pool:
        for group, totals in pool.map(score_in_noise, tasks):
            for (level, key), n in totals.items():
                for where in {group, "all"} - {"ECGSYN"}:
                    sums[where, level, key] = sums.get((where, level, key), 0) + n
    rows = [["all six" if where == "all" else where, "clean" if level is None else str(level),
             *(physio_beats.cell(sums[where, level, key]) for key in list(detectors(None))[:columns])]
            for where in ("all", "MIT-BIH") for level in [None, *levels]]
    return markdown(["recordings", "SNR (dB)", *names()[:columns]], rows)


# ---- Heart rate variability ----


def formula():
    """Half an hour of intervals: those of apps/physio_stream/model/hrv_test.c."""
    lengths, end = [], 0
    while end < 1800 * RATE:
        t, k = end / RATE, len(lengths) + 1
        ms = 800 + 40 * np.sin(0.2 * np.pi * t) + 25 * np.sin(0.5 * np.pi * t) + 60 * np.sin(np.pi * t / 600)
        lengths.append(int(np.floor(10 * (ms + 20 * (k * k * 0.618033988749895 % 1 - 0.5)) + 0.5)))
        end += lengths[-1]
    return np.concatenate([[0], np.cumsum(lengths)])


def variability(data):
    rows = []
    made = formula()
    wfdb.wrann("formula", "atr", made, ["N"] * len(made), fs=RATE)
    path = str(data / "physio/wfdb/mitdb/100")
    marks = wfdb.rdann(path, "atr")
    beats = [(s, c) for s, c in zip(marks.sample, marks.symbol) if c in physio_beats.BEATS]
    at, codes = np.array([b[0] for b in beats]), np.array([b[1] for b in beats])
    normal = (codes[1:] == "N") & (codes[:-1] == "N")
    recorded = ("MIT-BIH 100, NN", path + ".atr", 360, np.diff(at)[normal] * 1000 / 360, at[1:][normal] / 360)
    for name, file, rate, rri, time in (("formula, 30 min", "formula.atr", RATE, np.diff(made) * 1000 / RATE, made[1:] / RATE), recorded):
        run("eval", "score", f"eval.reference={file}", f"eval.test={file}", "eval.start=0", f"eval.fs={rate}")
        with open("score/hrv.csv", encoding="utf-8") as opened:
            ours = next(csv.DictReader(opened))
        theirs = {"RRI": rri, "RRI_Time": time}
        t, f = nk.hrv_time(theirs).iloc[0], nk.hrv_frequency(theirs, normalize=False).iloc[0]
        b = {**quiet(biosppy_hrv.hrv_timedomain, rri, detrend_rri=False).as_dict(),
             **quiet(biosppy_hrv.hrv_frequencydomain, rri, detrend_rri=False).as_dict()}
        for what, key, theirs, also in (
                ("mean NN (ms)", "mean_nn_ms", t["HRV_MeanNN"], b["rr_mean"]), ("SDNN (ms)", "sdnn_ms", t["HRV_SDNN"], b["sdnn"]),
                ("RMSSD (ms)", "rmssd_ms", t["HRV_RMSSD"], b["rmssd"]), ("pNN50 (%)", "pnn50_percent", t["HRV_pNN50"], b["pnn50"]),
                ("SDANN, 5 min (ms)", "sdann_ms", t["HRV_SDANN5"], None), ("LF (ms²)", "lf_ms2", f["HRV_LF"], b["lf_pwr"]),
                ("HF (ms²)", "hf_ms2", f["HRV_HF"], b["hf_pwr"]), ("LF/HF", None, f["HRV_LFHF"], b["lf_hf"])):
            own = float(ours[key]) if key else float(ours["lf_ms2"]) / float(ours["hf_ms2"])
            rows.append([name, what, f"{own:.4f}", f"{theirs:.4f}", "-" if also is None else f"{also:.4f}"])
    return markdown(["intervals", "measure", "physio_stream", "NeuroKit2", "BioSPPy"], rows)


# ---- Respiration, electrodermal activity, waves ----


def respiration(data):
    """Median rates of respiration signals, simulated and recorded."""
    signals = {f"`rsp_simulate`, {b}/min": nk.rsp_simulate(duration=300, sampling_rate=125, respiratory_rate=b, noise=0.01, random_state=b)
               for b in (8, 12, 15, 20)}
    record = wfdb.rdrecord(str(data / "physio/wfdb/mimic/03700181"), smooth_frames=True)
    x = record.p_signal[:, record.sig_name.index("RESP")]
    signals["MIMIC 03700181, RESP, 10 min"] = np.interp(np.arange(len(x)), np.flatnonzero(np.isfinite(x)), x[np.isfinite(x)])
    rows = []
    for name, x in signals.items():
        ours = query(x, 125, "resp (NU)", "{name: resp, from: [x], do: {resp_rate: {}}}", ["resp"])[0]["value"]
        troughs = nk.rsp_findpeaks(nk.rsp_clean(x, sampling_rate=125))["RSP_Troughs"]
        theirs = quiet(biosppy_resp.resp, x, sampling_rate=125, show=False)["resp_rate"]
        rates = np.nanmedian(ours), 60 * 125 / np.median(np.diff(troughs)), 60 * np.median(theirs)
        rows.append([name, *(f"{rate:.2f}" for rate in rates)])
    return markdown(["respiratory rate (1/min)", "physio_stream", "NeuroKit2", "BioSPPy"], rows)


def electrodermal():
    filters = {"clean": "from: [x], do: {filter: {kind: lowpass, hi: 3, order: 4, zero_phase: true}}",
               "phasic": "from: [clean], do: {filter: {kind: highpass, lo: 0.05, order: 2, zero_phase: true}}",
               "scr": "from: [phasic], do: {scr: {min_amplitude: 0.1}}"}
    steps, rows = ", ".join(f"{{name: {name}, {text}}}" for name, text in filters.items()), []
    for rate in 20, 100, 250:
        x = nk.eda_simulate(duration=240, sampling_rate=rate, scr_number=20, noise=0.005, drift=-0.002, random_state=rate)
        ours = query(x, rate, "eda (uS)", steps, ["scr"])[0]
        phasic = nk.eda_phasic(nk.eda_clean(x, sampling_rate=rate), sampling_rate=rate, method="highpass")["EDA_Phasic"].values
        info = nk.eda_peaks(phasic, sampling_rate=rate, method="neurokit", amplitude_min=0.1)[1]
        theirs = quiet(biosppy_eda.eda, x, sampling_rate=rate, show=False)
        same = np.isin(np.round(ours["time_s"] * rate), info["SCR_Peaks"]).sum()
        rows.append([f"`eda_simulate`, 240 s, 20 responses, {rate} Hz", f"{len(ours['time_s'])}; {np.mean(ours['amplitude']):.4f}",
                     f"{len(info['SCR_Peaks'])}, {same} at the same sample; {np.mean(info['SCR_Amplitude']):.4f}",
                     f"{len(theirs['peaks'])}; {np.mean(theirs['amplitudes']):.4f}"])
    return markdown(["responses; mean amplitude (uS)", "physio_stream", "NeuroKit2", "BioSPPy"], rows)


@functools.lru_cache
def simulated(rate, heart_rate):
    return nk.ecg_simulate(duration=60, sampling_rate=rate, heart_rate=heart_rate, noise=0, random_state=3)


def series(rate, heart_rate, noise, seed):
    """R waves of an ECG in noise, and marks, s from R: here, here with NeuroKit2's shares of slopes, and with NeuroKit2; NaN: none."""
    clean = simulated(rate, heart_rate)
    x = clean + noise * np.random.default_rng(seed).normal(size=len(clean))
    found = []
    for options in "", SHARES:
        found.append(query(x, rate, "ecg (mV)", "{name: r, from: [x], do: {detect: {}}}, {name: waves, from: [x, r.rr], "
                           f"do: {{delineate: {{{options}}}}}}}", ["waves"])[0])
    beats = np.round(found[0]["time_s"] * rate).astype(int)
    info = nk.ecg_delineate(x, beats, sampling_rate=rate, method="dwt")[1]
    return beats, *found, {name: (np.array(info["ECG_" + theirs], float) - beats) / rate for name, theirs in MARKS.items()}


def spread(v):
    return f"{1000 * np.nanmedian(v):.1f} ± {1000 * np.nanstd(v):.1f} ({np.isfinite(v).sum()})"


def waves():
    """Medians of the places of marks from the R wave: the paper's shares of slopes, NeuroKit2's, and NeuroKit2."""
    rows = []
    for noise in 0, 0.02:
        beats, *found = series(500, 72, noise, 500)
        rows += [[f"`{name}`, noise {noise} mV", *(spread(table[name]) for table in found)] for name in MARKS]
    return markdown([f"mark (ms from R; {len(beats)} beats)", "physio_stream", "with NeuroKit2's shares", "NeuroKit2 (dwt)"], rows)


def steadiness():
    """Mean of medians and largest standard deviation of three seeds, ms, and the smallest share of beats with a mark here."""
    rows = []
    for rate, heart_rate in (250, 72), (500, 72), (1000, 72), (500, 50), (500, 110):
        for noise in 0, 0.02, 0.05:
            runs = [series(rate, heart_rate, noise, seed) for seed in ((rate, 1, 2) if noise else (rate,))]
            cells = []
            for name in "qrs_on", "qrs_off", "t_off":
                for k in 1, 3:
                    medians = [1000 * np.nanmedian(r[k][name]) for r in runs]
                    worst = max(1000 * np.nanstd(r[k][name]) for r in runs)
                    cells.append(f"{np.mean(medians):.0f} ± {worst:.1f}")
            qt = [1000 * (r[1]["t_off"] - r[1]["qrs_on"]) for r in runs]
            cells.append(f"{np.mean([np.nanmedian(v) for v in qt]):.0f} ± {max(np.nanstd(v) for v in qt):.1f}")
            share = min(100 * np.isfinite(r[1][name]).mean() for r in runs for name in ("p_on", "t_on", "t_off"))
            rows.append([f"{rate}, {heart_rate}, {noise}", *cells, f"{share:.0f}"])
    head = ["Hz, beats/min, mV"] + [f"{mark}, {who}" for mark in ("QRS onset", "QRS end", "T end") for who in ("here", "NeuroKit2")]
    return markdown([*head, "QT, here", "found"], rows)


def write(page, texts):
    text = page.read_text()
    for name, table in texts.items():
        head, rest = text.split(f"<!-- {name} of tests/bench/physio_comparison.py: begin -->\n")
        text = head + f"<!-- {name} of tests/bench/physio_comparison.py: begin -->\n\n" + table + "\n<!-- end -->\n" + \
            rest.split("<!-- end -->\n", 1)[1]
    page.write_text(text)


def main():
    global program
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("program")
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--page", type=pathlib.Path)
    parser.add_argument("--only")
    parser.add_argument("--tiny", action="store_true")
    words = parser.parse_args()
    program, page = str(pathlib.Path(words.program).resolve()), words.page and words.page.resolve()
    data = physio_beats.shared_data()
    words.work.mkdir(parents=True, exist_ok=True)
    os.chdir(words.work)
    makers = {"beats": lambda: score_beats(data), "noise": lambda: noise(data, "noise", words.tiny),
              "second_leads": lambda: noise(data, "second_leads", words.tiny), "variability": lambda: variability(data),
              "respiration": lambda: respiration(data), "responses": electrodermal, "waves": waves, "steadiness": steadiness}
    if words.only and words.only not in makers:
        parser.error(f"--only {words.only}: there is no such table; there are {', '.join(makers)}")
    only = "noise" if words.tiny else words.only
    texts = {name: make() for name, make in makers.items() if name == only or (not only and name != "steadiness")}
    for table in texts.values():
        print(table)
    if page and not words.tiny and words.only != "steadiness":
        write(page, texts)


if __name__ == "__main__":
    main()
