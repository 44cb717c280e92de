"""The filters of scipy that physio_filter.c is compared with, in f32, at their best."""

import numpy as np
import scipy
from scipy import signal

BAND = (0.5, 40.0)
RATE = 360.0


def version():
    return scipy.__version__


def fir(x, taps):
    """Overlap-add; before the first sample stands its value for ever."""
    h = signal.firwin(taps, BAND, pass_zero=False, fs=RATE).astype(np.float32)
    y = signal.oaconvolve(x, h)[: len(x)]
    rest = np.cumsum(h[::-1])[::-1][1:]
    y[: taps - 1] += x[0] * rest
    return y


def sections():
    return signal.butter(4, BAND, "bandpass", fs=RATE, output="sos").astype(np.float32)


def causal(x):
    sos = sections()
    return signal.sosfilt(sos, x, zi=signal.sosfilt_zi(sos) * x[0])[0]


def zero_phase(x):
    return signal.sosfiltfilt(sections(), x)
