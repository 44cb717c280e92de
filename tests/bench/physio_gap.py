"""References of physio_gap.c: the best simple numpy forms known to us. Streams are float32 values, 0
where absent, and a bool presence. Results are kept from run to run, so that no run pays for pages."""

import numpy as np

KEPT = {}
BLOCK = 1 << 14  # samples whose intermediate arrays stay in a cache


def kept(name, shape, dtype):
    if name not in KEPT:
        KEPT[name] = np.zeros(shape, dtype)
    return KEPT[name]


def copies(x, present):
    y, q = kept("y", x.shape, x.dtype), kept("q", x.shape, bool)
    np.copyto(y, x)
    np.copyto(q, present)
    return y, q


def short_gaps(present, tolerance):
    """First slots and ends of the gaps between samples that are no farther apart than tolerance."""
    edge = np.flatnonzero(present[1:] != present[:-1]) + 1
    if len(edge) and not present[0]:
        edge = edge[1:]
    lo, hi = edge[0 : len(edge) // 2 * 2 : 2], edge[1::2]
    keep = hi - lo + 1 <= tolerance
    return lo[keep].tolist(), hi[keep].tolist()


def fill_const(x, present, tolerance, value):
    y, q = copies(x, present)
    for a, b in zip(*short_gaps(present, tolerance)):
        y[a:b] = value
        q[a:b] = True
    return y, q


def fill_mean(x, present, window, tolerance):
    y, q = copies(x, present)
    lo, hi = short_gaps(present, tolerance)
    mean = {}
    for a, b in zip(lo, hi):
        j = (a - 1) // window
        if j not in mean:
            part = slice(j * window, (j + 1) * window)
            mean[j] = x[part].sum() / np.count_nonzero(present[part])
        y[a:b] = mean[j]
        q[a:b] = True
    return y, q


def fill_mean_by_window(x, present, window, tolerance):
    """A mean and a choice per window, whether it has a gap or not; then the gaps that differ."""
    y, q = kept("y", x.shape, x.dtype), kept("q", x.shape, bool)
    mean = []
    for a in range(0, len(x), window):
        part, flags = x[a : a + window], present[a : a + window]
        count = np.count_nonzero(flags)
        mean.append(part.sum() / count if count else np.float32(0))
        y[a : a + window] = np.where(flags, part, mean[-1])
    q[:] = False
    edge = np.flatnonzero(present[1:] != present[:-1]) + 1
    short = dict(zip(*short_gaps(present, tolerance)))
    at = 0
    for run, end in zip([0, *edge.tolist()], [*edge.tolist(), len(x)]):
        if present[run]:
            continue
        if run not in short:
            y[run:end] = 0
            q[at:run] = True
            at = end
        elif (end - 1) // window > (run - 1) // window:
            y[run:end] = mean[(run - 1) // window]
    q[at:] = True
    return y, q


def resample(x, present, tolerance, up):
    lo, hi = short_gaps(present, tolerance)
    if lo:
        x, present = copies(x, present)
        for a, b in zip(lo, hi):
            step = (x[b] - x[a - 1]) / np.float32(b - a + 1)
            x[a:b] = x[a - 1] + step * np.arange(1, b - a + 1, dtype=np.float32)
            present[a:b] = True
    y = kept("many", (len(x), up), np.float32)
    q = kept("flags", (len(x), up), bool)
    for a in range(0, len(x) - 1, BLOCK):
        b = min(a + BLOCK, len(x) - 1)
        here = x[a:b]
        y[a:b, 0] = here
        if up == 2:
            y[a:b, 1] = (here + x[a + 1 : b + 1]) * np.float32(0.5)
        else:
            step = x[a + 1 : b + 1] - here
            for j in range(1, up):
                y[a:b, j] = here + step * np.float32(j / up)
        q[a:b] = present[a:b, None]
    q[-1] = present[-1]
    y[-1] = x[-1]
    for i in np.flatnonzero(present[1:] != present[:-1]).tolist():
        y[i] = x[i]  # beside a gap that stays
    return y.ravel(), q.ravel()
