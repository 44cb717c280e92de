"""make.py FOLDER - universes as h5py (3.16) writes them, in the layout of the ExaLearn sets: full [d, h, w, redshift]
counts, unitPar, physPar, namePar, redshifts. The files beside this script were made by it; tests read them.

a.h5, c.h5  labels Om, H0, sigma8 at z = 0, 1.5; the names of a are texts of any length
b.h5        the same kind of universe, labels and redshifts in another order, big-endian counts
names.h5    other names; redshifts.h5 another redshift
raw.h5      labels in their own units where labels in [-1, 1] are meant
phys.h5     physPar that does not belong to unitPar
bytes.h5    counts written in the other byte order without saying so; swapped.h5 the same as floats
log.h5      log(1 + count)
"""
import sys

import h5py
import numpy as np

LO, HI = np.array([0.1, 50, 0.6]), np.array([0.5, 90, 1.0])
NAMES = ["Om", "H0", "sigma8"]


def counts(seed):
    """Channel c of universe s at voxel i: (7 s + 3 i + 5 c) mod 11, so that channels and universes differ."""
    i = np.arange(64).reshape(4, 4, 4, 1)
    return ((7 * seed + 3 * i + 5 * np.arange(2)) % 11).astype("i2")


def write(name, seed, unit, order=(0, 1, 2), channels=(0, 1), **other):
    unit = np.array(unit)
    phys = LO + (unit + 1) / 2 * (HI - LO)
    order, channels = list(order), list(channels)
    names = [NAMES[k] for k in order]
    data = {
        "full": counts(seed)[..., channels].astype(">i2" if name == "b" else "<i2"),
        "unitPar": unit[order].astype("f4"),
        "physPar": phys[order],
        "namePar": np.array(names, dtype=h5py.string_dtype()) if name == "a" else np.array(names, dtype="S8"),
        "redshifts": np.array([0, 1.5])[channels],
    }
    data.update(other)
    with h5py.File(f"{sys.argv[1]}/{name}.h5", "w") as f:
        for key, value in data.items():
            f.create_dataset(key, data=value, track_times=False)


A = [0.5, -0.25, 0.125]
write("a", 0, A)
write("b", 1, [-0.5, 0.75, -0.625], order=(1, 2, 0), channels=(1, 0))
write("c", 2, [0.25, 0.5, -0.75])
write("names", 4, A, namePar=np.array(["Om", "ns", "sigma8"], "S8"))
write("redshifts", 4, A, redshifts=np.array([0, 3.0]))
write("raw", 4, A, unitPar=np.array([0.4, 65, 0.825], "f4"))
write("phys", 4, A, physPar=np.array([0.4, 66, 0.825]))
write("bytes", 4, A, full=counts(4).byteswap())
write("log", 4, A, full=np.log1p(counts(4)).astype("f4"))
write("swapped", 4, A, full=counts(4).astype("f4").byteswap())
