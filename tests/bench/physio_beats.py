"""Beat detection in noise: sensitivity and positive predictivity of physio_stream, of XQRS of wfdb, NeuroKit2 and BioSPPy.

    python3 physio_beats.py PROGRAM WORK [--set report|tune|formula] [--seed N[,N...]]
        [--detectors xqrs,neurokit,biosppy] [--levels 24,18,12,6,0,-6] [--check]

PROGRAM is physio_stream, WORK a folder for files, WEIR_TEST_DATA the folder of the shared recordings. The series is made
here, always the same: ten minutes of three records of ECGSYN and of MIT-BIH 100, 119 and 208, clean and with noise of three
kinds at the levels of the MIT-BIH noise stress test (Moody, Muldrow and Mark, Computers in Cardiology 11 (1984) 381). SNR:
squared mean peak-to-peak amplitude of the QRS complexes over 8, as its program nst has it, over the variance of the noise.
`tune` is the half that the detector's constants were chosen on: second leads, from 5 to 15 min, other seeds; `report`: first
leads, 15 to 25 min. `formula`: five minutes of MIT-BIH 100, 119 and 208 with the noise of noise_test.c of the step detect,
whose stored values come from here. --seed: several series are pooled. --check: status 1 if sensitivity or positive predictivity
of physio_stream is below that of XQRS at a level, over all records or over those of MIT-BIH. Exit 77: this Python has no wfdb
or SciPy.
Beats match within 150 ms (ANSI/AAMI EC57), from the first sample on.
"""

import argparse
import itertools
import os
import pathlib
import subprocess
import sys

try:
    import numpy as np
    import wfdb
    from scipy import signal
    from wfdb import processing
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

LEVELS = [24, 18, 12, 6, 0, -6]  # dB
KINDS = ["white", "emg", "motion"]
BEATS = "NLRaVFJASEj/QBenfr?"
SETS = {  # simulated: seed, Hz, beats a minute, irregularity; recorded: lead, from and to in s; first seed of the noise
    "tune": ([(11, 256, 60, 0), (12, 360, 85, 0), (13, 360, 70, 0.15)], (1, 300, 900), 100),
    "formula": ([], (0, 900, 1200), None),
    "report": ([(1, 256, 60, 0), (2, 360, 110, 0), (3, 360, 75, 0.15)], (0, 900, 1500), 200),
}


def noise(kind, n, rate, seed):
    """n samples of unit variance: white; muscles, 20 to 100 Hz; electrode motion, 1/f from 0.5 Hz, in bursts."""
    random = np.random.default_rng([seed, 1 + KINDS.index(kind)])
    x = random.standard_normal(n + int(20 * rate))
    if kind == "emg":
        x = signal.sosfilt(signal.butter(4, [20, min(100, 0.45 * rate)], "band", fs=rate, output="sos"), x)
    elif kind == "motion":
        f = np.fft.rfftfreq(len(x), 1 / rate)
        x = np.fft.irfft(np.fft.rfft(x) * np.where(f >= 0.5, 1 / np.maximum(f, 0.5), 0), len(x))
        slow = signal.sosfilt(signal.butter(1, 0.5, fs=rate, output="sos"), random.standard_normal(len(x)))
        x = x * np.exp(0.5 * slow / slow.std())
    return x[-n:] / x[-n:].std()


def formula(kind, n, rate, record):
    """n samples of unit power from splitmix64: as noise_test.c has them."""

    def white(key):
        golden, z = 0x9E3779B97F4A7C15, np.arange(1, n + 1, dtype=np.uint64)
        z = z * np.uint64(golden) + np.uint64(key)
        z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
        return sum((z >> np.uint64(k) & np.uint64(0xFFFF)).astype(float) for k in (0, 16, 32, 48)) / 65536 - 2

    def low(x, f):
        a = 1 - np.exp(-2 * np.pi * f / rate)
        return signal.lfilter([a], [1, a - 1], x)

    key = 100 * record + 10 * KINDS.index(kind)
    x, slow = white(key), white(key + 1)
    if kind == "emg":
        for _ in range(2):
            x = x - low(x, 20)
        x = low(low(x, 100), 100)
    elif kind == "motion":
        x, slow = low(x, 0.5), low(slow, 0.5)
        x = (x - low(x, 0.5)) * np.exp(0.5 * slow / np.sqrt(np.mean(slow**2)))
    return x / np.sqrt(np.mean(x**2))


def qrs_power(x, rate, beats):
    """As nst: of the first 300 complexes, without the largest and smallest twentieth."""
    half = int(0.05 * rate)
    heights = np.sort([np.ptp(x[max(0, b - half) : b + half + 1]) for b in beats[:300]])
    cut = len(heights) // 20
    return np.mean(heights[cut : len(heights) - cut]) ** 2 / 8


def sources(program, data, name, work):
    """Yields group, name, samples in mV, rate and beats of the recordings without noise."""
    simulated, (lead, start, stop), _ = SETS[name]
    for seed, rate, heart, irregular in simulated:
        folder = work / f"ecgsyn{seed}"
        options = [f"model.rate={rate}", f"model.heart_rate={heart}", f"model.irregular={irregular}", "duration=600"]
        run(program, "prepare", "--overwrite", "--seed", str(seed), *[a for o in options for a in ("--set", "ecgsyn." + o)],
            "--out", str(folder))
        record = wfdb.rdrecord(str(folder / "ecgsyn"))
        yield "ECGSYN", f"ecgsyn{seed}", record.p_signal[:, 0], rate, wfdb.rdann(str(folder / "ecgsyn"), "atr").sample
    for mit in ["100", "119", "208"]:
        path = str(data / "physio/wfdb/mitdb" / mit)
        record = wfdb.rdrecord(path, sampfrom=start * 360, sampto=stop * 360)
        marks = wfdb.rdann(path, "atr")
        beats = np.array([s for s, c in zip(marks.sample, marks.symbol) if c in BEATS])
        beats = beats[(beats >= start * 360) & (beats < stop * 360)] - start * 360
        yield "MIT-BIH", f"mit{mit}", record.p_signal[:, lead], 360, beats


def series(program, data, name, seeds, work, levels):
    """Yields group, level (None: clean), samples, rate and beats."""
    for i, (group, _, x, rate, beats) in enumerate(sources(program, data, name, work)):
        yield group, None, x, rate, beats
        power = qrs_power(x, rate, beats)
        for kind, seed in itertools.product(KINDS, seeds):
            unit = formula(kind, len(x), rate, i) if name == "formula" else noise(kind, len(x), rate, seed + i)
            for level in levels:
                yield group, level, x + unit * np.sqrt(power * 10 ** (-level / 10)), rate, beats


def run(program, *arguments):
    subprocess.run([program, *arguments], check=True, stdout=subprocess.DEVNULL)


def weir(program, work, x, rate):
    np.savetxt(work / "x.csv", x, fmt="%.6g", header="ecg (mV)", comments="")
    run(program, "run", "--overwrite", "--set", f"input.csv={work}/x.csv", "--set", f"input.fs={rate}",
        "--out", str(work / "out"))
    return wfdb.rdann(str(work / "out/x"), "qrs").sample


def xqrs(x, rate):
    return processing.xqrs_detect(x, rate, verbose=False)


def neurokit(x, rate):
    import neurokit2

    return neurokit2.ecg_peaks(neurokit2.ecg_clean(x, sampling_rate=rate), sampling_rate=rate)[1]["ECG_R_Peaks"]


def biosppy(x, rate):
    from biosppy.signals import ecg

    return ecg.ecg(x, sampling_rate=rate, show=False)["rpeaks"]


def count(beats, found, rate):
    """Beats, found beats, matches."""
    if len(found) == 0:
        return np.array([len(beats), 0, 0])
    match = processing.compare_annotations(np.asarray(beats), np.asarray(found, np.int64), int(0.15 * rate))
    return np.array([len(beats), len(found), match.tp])


def cell(n):
    """Sensitivity/positive predictivity (missed, false)."""
    return f"{100 * n[2] / n[0]:.2f}/{100 * n[2] / max(1, n[1]):.2f} ({n[0] - n[2]}, {n[1] - n[2]})"


def shared_data():
    root = pathlib.Path(__file__).resolve().parents[2]
    return pathlib.Path(os.environ.get("WEIR_TEST_DATA", root.parent / "shared/data")).resolve()


def integers(text):
    return [int(word) for word in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--set", choices=sorted(SETS), default="report")
    parser.add_argument("--seed", type=integers, help="first seed of the noise, one for each record; without: that of the set")
    parser.add_argument("--levels", type=integers, default=LEVELS, help="SNR in dB")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--detectors", default="xqrs,neurokit,biosppy")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    data = shared_data()
    names = [n for n in options.detectors.split(",") if n]
    detectors = {"physio_stream": lambda x, rate: weir(options.program, options.work, x, rate)}
    detectors.update({n: {"xqrs": xqrs, "neurokit": neurokit, "biosppy": biosppy}[n] for n in names})
    seeds = options.seed or [SETS[options.set][2]]
    sums = {}
    for group, level, x, rate, beats in series(options.program, data, options.set, seeds, options.work, options.levels):
        x = x.astype(np.float32).astype(float)
        for name, detector in detectors.items():
            try:
                found = detector(x, rate)
            except (ValueError, IndexError, ZeroDivisionError) as error:  # of theirs, where they find too little
                print(f"{name}: {error}", flush=True)
                found = []
            for key in [(group, level, name), ("all", level, name)]:
                sums[key] = sums.get(key, 0) + count(beats, found, rate)
    print("| records | SNR (dB) | " + " | ".join(detectors) + " |\n|---|---|" + "---|" * len(detectors))
    for group in ["ECGSYN", "MIT-BIH", "all"] if SETS[options.set][0] else ["MIT-BIH"]:
        for level in [None, *options.levels]:
            text = " | ".join(cell(sums[group, level, name]) for name in detectors)
            print(f"| {group} | {'clean' if level is None else level} | {text} |")
    return options.check and behind(sums, options.levels)


def behind(sums, levels):
    """1 if physio_stream misses more of the beats, or has more false ones of its own, than XQRS at a level."""
    status = 0
    for group, level in itertools.product(("all", "MIT-BIH"), [None, *levels]):
        ours, theirs = (sums[group, level, name] for name in ("physio_stream", "xqrs"))
        for what, of in ("sensitivity", 0), ("positive predictivity", 1):
            if ours[2] * theirs[of] < theirs[2] * ours[of]:
                print(f"{group}, {'clean' if level is None else f'{level} dB'}: {what} is below that of XQRS")
                status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
