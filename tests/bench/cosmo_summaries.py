"""Reference values of apps/cosmoflow/eval/summary/scattering_test.c and eval/regression/boosting_test.c.

    pip install kymatio==0.3.0 scikit-learn==1.9.1 scipy==1.14.1 numpy==2.2.6     # in an environment of its own
    python3 tests/bench/cosmo_summaries.py

Prints scattering coefficients by HarmonicScattering3D of kymatio, which needs a SciPy that has sph_harm, and predictions of
GradientBoostingRegressor of scikit-learn, for numbers of a linear congruential generator that the tests share. The stored values are
of the versions above.
"""

import numpy as np
from kymatio.numpy import HarmonicScattering3D
from sklearn.ensemble import GradientBoostingRegressor

STATE = [1]


def uniform():
    STATE[0] = (1103515245 * STATE[0] + 12345) % 2**31
    return STATE[0] / 2**31


def numbers(n, scale):
    return np.array([scale * (2 * uniform() - 1) for _ in range(n)])


def show(name, values):
    rows = [", ".join("%.7g" % v for v in values[i : i + 6]) for i in range(0, len(values), 6)]
    print(name + " = {" + ",\n    ".join(rows) + "};")


def scattering(n, scales, orders, sigma, powers=(0.5, 1.0, 2.0)):
    """Means over the voxels, [paths, orders + 1, powers]; the transform takes sums."""
    STATE[0] = 1
    delta = numbers(n**3, 1).astype("f4").reshape(1, n, n, n)
    of = HarmonicScattering3D(J=scales - 1, shape=(n, n, n), L=orders, sigma_0=sigma, integral_powers=list(powers))
    return np.asarray(of(delta))[0] / n**3


def boosting(rows, features, **of):
    """Predictions of the training rows: a function of three features with noise, in single precision like the trees."""
    STATE[0] = 1
    x = numbers(rows * features, 1).astype("f4").astype("f8").reshape(rows, features)
    y = np.sin(3 * x[:, 0]) + x[:, 1] * x[:, 2] + 0.1 * numbers(rows, 1)
    tree = GradientBoostingRegressor(random_state=0, **of).fit(x, y)
    assert len(np.unique(x)) == x.size  # no ties, which scikit-learn breaks at random
    return tree, x, y


if __name__ == "__main__":
    for sigma, scales in ((2, 2), (1, 3)):
        found = scattering(16, scales, 3, sigma)
        print(found.shape)
        show("/* sigma %g */ kymatio" % sigma, found.ravel())
    for depth, leaf in ((1, 1), (3, 5)):
        tree, x, y = boosting(120, 4, n_estimators=40, learning_rate=0.1, max_depth=depth, min_samples_leaf=leaf)
        show("/* depth %d */ predicted" % depth, tree.predict(x)[:24])
        print("mean square error", "%.10g" % ((tree.predict(x) - y) ** 2).mean())
        root = tree.estimators_[0, 0].tree_
        print("first split: feature", root.feature[0], "at", "%.9g" % root.threshold[0])
