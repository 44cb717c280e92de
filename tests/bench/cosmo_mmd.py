"""cosmo_mmd.py - reference values of apps/cosmoflow/model/mmd_test.c: the unbiased estimate of the squared maximum mean discrepancy
(Gretton et al., JMLR 13 (2012) 723, eq. 3) and its gradients, written out in NumPy, double precision.

Cases: points, bandwidths, value, sums of squares of the gradients by source and by target."""
import numpy as np

FEATURES, BANDWIDTHS = 3, (0.2, 0.5, 1.5)


def congruential(n):
    """tests/support/cosmoflow/congruential.h, scale 1."""
    state, x = 1, []
    for _ in range(n):
        state = (1103515245 * state + 12345) & 0x7FFFFFFF
        x.append(2 * (state / 2147483648.0) - 1)
    return np.array(x)


def kernel(a, b, bandwidths):
    """k(a, b) and its derivative by a, [n, m] and [n, m, f]."""
    apart = a[:, None] - b[None]
    square = np.mean(apart**2, axis=2)
    each = [np.exp(-square / (2 * s * s)) for s in bandwidths]
    slope = -sum(e / (s * s) for e, s in zip(each, bandwidths))[:, :, None] * apart / a.shape[1]
    return sum(each) / len(bandwidths), slope / len(bandwidths)


def discrepancy(x, y, bandwidths):
    n = len(x)
    if n == 1:  # no estimate
        return 0, 0, 0
    other = 1 - np.eye(n)
    within = 1 / (n * (n - 1))
    (xx, dxx), (yy, dyy) = kernel(x, x, bandwidths), kernel(y, y, bandwidths)
    (xy, dxy), (_, dyx) = kernel(x, y, bandwidths), kernel(y, x, bandwidths)
    value = within * (np.sum(xx * other) + np.sum(yy * other)) - 2 * np.mean(xy)
    by_x = 2 * within * np.sum(dxx, axis=1) - 2 / n**2 * np.sum(dxy, axis=1)
    by_y = 2 * within * np.sum(dyy, axis=1) - 2 / n**2 * np.sum(dyx, axis=1)
    return value, np.sum(by_x**2), np.sum(by_y**2)


print("NumPy", np.__version__)
for n, bandwidths in ((5, 3), (5, 1), (2, 2), (1, 3)):
    x = congruential(2 * n * FEATURES).reshape(2, n, FEATURES)
    print("{%d, %d, %.17g, {%.17g, %.17g}}," % (n, bandwidths, *discrepancy(x[0], x[1] + 0.4, BANDWIDTHS[:bandwidths])))
