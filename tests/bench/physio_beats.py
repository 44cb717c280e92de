"""Beat detection in noise: sensitivity and positive predictivity of physio_stream, of XQRS of wfdb, NeuroKit2 and BioSPPy.

    python3 physio_beats.py PROGRAM DATA [--set report|tune] [--seed N] [--detectors xqrs,neurokit,biosppy] [--work FOLDER]

PROGRAM is physio_stream, DATA the folder of the shared recordings. The series is made here, always the same: ten minutes
of three records of ECGSYN and of MIT-BIH 100, 119 and 208, clean and with noise of three kinds at the levels of the
MIT-BIH noise stress test (Moody, Muldrow and Mark, Computers in Cardiology 11 (1984) 381). SNR is that of its program nst:
squared mean peak-to-peak amplitude of the QRS complexes over 8, over the variance of the noise. `tune` is the half that
the detector's constants were chosen on: second leads, from 5 to 15 min, other seeds; `report`: first leads, 15 to 25 min.
Beats match within 150 ms (ANSI/AAMI EC57), from the first sample on.
"""

import argparse
import pathlib
import subprocess

import numpy as np
import wfdb
from scipy import signal
from wfdb import processing

LEVELS = [24, 12, 6, 0, -6]  # dB
KINDS = ["white", "emg", "motion"]
BEATS = "NLRaVFJASEj/QBenfr?"
SETS = {  # simulated: seed, Hz, beats a minute, irregularity; recorded: lead, from and to in s; first seed of the noise
    "tune": ([(11, 256, 60, 0), (12, 360, 85, 0), (13, 360, 70, 0.15)], (1, 300, 900), 100),
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


def series(program, data, name, seed, work):
    """Yields group, level (None: clean), samples, rate and beats."""
    for i, (group, _, x, rate, beats) in enumerate(sources(program, data, name, work)):
        yield group, None, x, rate, beats
        power = qrs_power(x, rate, beats)
        for kind in KINDS:
            unit = noise(kind, len(x), rate, seed + i)
            for level in LEVELS:
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--set", choices=sorted(SETS), default="report")
    parser.add_argument("--seed", type=int, help="first seed of the noise, one for each record; without: that of the set")
    parser.add_argument("--detectors", default="xqrs,neurokit,biosppy")
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("physio_beats"))
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    names = [n for n in options.detectors.split(",") if n]
    detectors = {"physio_stream": lambda x, rate: weir(options.program, options.work, x, rate)}
    detectors.update({n: {"xqrs": xqrs, "neurokit": neurokit, "biosppy": biosppy}[n] for n in names})
    seed = SETS[options.set][2] if options.seed is None else options.seed
    sums = {}
    for group, level, x, rate, beats in series(options.program, options.data, options.set, seed, options.work):
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
    for group in ["ECGSYN", "MIT-BIH", "all"]:
        for level in [None, *LEVELS]:
            cells = [sums[group, level, name] for name in detectors]
            text = " | ".join(f"{100 * c[2] / c[0]:.2f}/{100 * c[2] / max(1, c[1]):.2f}" for c in cells)
            print(f"| {group} | {'clean' if level is None else level} | {text} |")


if __name__ == "__main__":
    main()
