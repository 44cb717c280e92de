"""The references of physio_query.c: the same outputs by the fastest simple numpy program, f32 throughout.

Absent samples are 0 in `x` and False in `present`.
"""

import numpy as np


def windows(x, window):
    """x as whole windows, the last one filled up with zeros."""
    n = -(-len(x) // window)
    if n * window != len(x):
        x = np.concatenate([x, np.zeros(n * window - len(x), x.dtype)])
    return x.reshape(n, window)


def normalize(x, present, window):
    if present.all() and len(x) % window == 0:
        block = x.reshape(-1, window)
        mean = block.mean(axis=1, keepdims=True)
        z = block - mean
        std = np.sqrt(np.einsum("ij,ij->i", z, z) / np.float32(window))
        std[std == 0] = np.inf
        z /= std[:, None]
        return z.reshape(-1)
    block, there = windows(x, window), windows(present, window)
    count = np.maximum(there.sum(axis=1), 1).astype(np.float32)
    mean = block.sum(axis=1) / count
    z = (block - mean[:, None]) * there
    std = np.sqrt(np.einsum("ij,ij->i", z, z) / count)
    std[std == 0] = np.inf
    z /= std[:, None]
    return z.reshape(-1)[: len(x)]


def fill_mean(x, present, window, tolerance):
    """Gaps of up to `tolerance` slots get the mean of the window of the sample before them."""
    edge = np.flatnonzero(present[1:] != present[:-1]) + 1
    if len(edge) == 0:
        return x, present
    block, there = windows(x, window), windows(present, window)
    mean = block.sum(axis=1) / np.maximum(there.sum(axis=1), 1)
    y, q = x.copy(), present.copy()
    starts = edge[~present[edge]]
    ends = edge[present[edge]]
    if not present[0]:
        ends = ends[1:]
    for start, end in zip(starts, ends):
        if end - start + 1 <= tolerance:
            y[start:end] = mean[(start - 1) // window]
            q[start:end] = True
    return y, q


def upsample(x, present, up):
    """Lines between samples; the last one is held."""
    y = np.empty(len(x) * up, np.float32)
    step = np.empty_like(x)
    np.subtract(x[1:], x[:-1], out=step[:-1])
    step[-1] = 0
    if not present.all():
        step[:-1][~present[1:]] = 0
        step[~present] = 0
    y[0::up] = x
    for k in range(1, up):
        y[k::up] = x + step * np.float32(k / up)
    return y, np.repeat(present, up)


def end_to_end(ecg, ecg_present, abp, abp_present, rate, up, seconds):
    fast, slow = rate * seconds, rate // up * seconds
    x, p = fill_mean(ecg, ecg_present, fast, fast)
    y, q = fill_mean(abp, abp_present, slow, slow)
    y, q = upsample(y, q, up)
    x, y = normalize(x, p, fast), normalize(y, q, fast)
    both = p & q
    if not both.all():
        x *= both
        y *= both
    return x, y, both
