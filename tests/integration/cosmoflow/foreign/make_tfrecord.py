"""make_tfrecord.py FOLDER - samples as the PyPI package tfrecord (1.14.6, with protobuf and crc32c) writes them:
python3 -m venv v && v/bin/pip install tfrecord && v/bin/python make_tfrecord.py .  The files beside this script were made
by it; tests read them.

bytes.tfrecord   three records as MLPerf HPC has them: x, 4 x 4 x 4 x 2 counts as bytes, and y, two floats
floats.tfrecord  one record: x as a list of floats, and z, a key that nobody reads, in front of it
"""
import sys

import numpy as np
from tfrecord import TFRecordWriter


def counts(seed):
    """Channel c of sample s at voxel i: (7 s + 3 i + 5 c) mod 11, as those of make.py."""
    i = np.arange(64).reshape(4, 4, 4, 1)
    return ((7 * seed + 3 * i + 5 * np.arange(2)) % 11).astype("<i2")


LABELS = [[0.5, -0.25], [-0.5, 0.75], [0.25, -1.0]]
w = TFRecordWriter(f"{sys.argv[1]}/bytes.tfrecord")
for k in range(3):
    w.write({"x": (counts(k).tobytes(), "byte"), "y": (LABELS[k], "float")})
w.close()
w = TFRecordWriter(f"{sys.argv[1]}/floats.tfrecord")
w.write({"z": ([1, 2], "int"), "x": (counts(0).astype("f4").ravel().tolist(), "float"), "y": (LABELS[0], "float")})
w.close()
