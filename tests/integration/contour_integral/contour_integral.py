#!/usr/bin/env python3
"""contour_integral.py PROGRAM WORK SIZE... - npbench's kernel contour_integral at its sizes: what the program makes of npbench's own
input against the kernel with numpy's solve."""
import os
import subprocess
import sys
import time

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # of both
try:
    import numpy as np
except ImportError:
    print("skipped: this Python has no numpy")
    sys.exit(77)

program, work = sys.argv[1], sys.argv[2]
SIZES = {"S": (50, 150), "M": (200, 400), "L": (600, 1000), "paper": (500, 1000)}  # NR, NM
SLAB_PER_BC, POINTS = 2, 32


def initialize(nr, nm):
    """As npbench: the generator with seed 42, one array after the other."""
    rng = np.random.default_rng(42)

    def complex_numbers(shape):
        return rng.random(shape) + rng.random(shape) * 1j

    return complex_numbers((SLAB_PER_BC + 1, nr, nr)), complex_numbers((POINTS,)), complex_numbers((nr, nm))


def contour_integral(ham, int_pts, y):
    p0, p1 = np.zeros(y.shape, complex), np.zeros(y.shape, complex)
    for z in int_pts:
        tz = sum(np.power(z, SLAB_PER_BC / 2 - n) * ham[n] for n in range(SLAB_PER_BC + 1))
        x = np.linalg.solve(tz, y)
        if abs(z) < 1.0:
            x = -x
        p0 += x
        p1 += z * x
    return p0, p1


for size in sys.argv[3:]:
    nr, nm = SIZES[size]
    arrays = dict(zip(("Ham", "int_pts", "Y"), initialize(nr, nm)))
    for name, array in arrays.items():
        array.tofile(os.path.join(work, name))
    seconds = float(subprocess.run([program, work, str(nr), str(nm)], check=True, capture_output=True).stdout)
    began = time.perf_counter()
    expected = contour_integral(*arrays.values())
    print(f"{size}: numpy {time.perf_counter() - began:.3f} s, here {seconds:.3f} s")
    for name, array in zip(("P0", "P1"), expected):
        here = np.fromfile(os.path.join(work, name), complex).reshape(nr, nm)
        worst = np.abs(here - array).max() / np.abs(array).max()
        print(f"{size}: {name} differs by {worst:.3g} of its largest element, at most 1e-10")
        assert worst <= 1e-10
