"""make_surface.py FOLDER - writes the files of this folder again: the surface of a forecast model as ecCodes packs it, on
9 x 16 points of the globe: geopotential (ERA5's: z on the surface, edition 1), height (orog, edition 2), land-sea mask.
Made with ecCodes 2.50 and its Python interface:
python3 -m venv v && v/bin/pip install eccodes && v/bin/python make_surface.py ."""
import os
import sys

import eccodes as ec
import numpy as np

LAT, LON = np.linspace(90, -90, 9), np.arange(16) * 22.5


def height(lat, lon):
    """The surface, m: surface.py has the same."""
    return 800 + 700 * np.sin(np.radians(2 * lon)) * np.cos(np.radians(lat))


def message(edition, name, values):
    h = ec.codes_grib_new_from_samples(f"regular_ll_sfc_grib{edition}")
    for key, value in {"Ni": 16, "Nj": 9, "latitudeOfFirstGridPointInDegrees": 90, "longitudeOfFirstGridPointInDegrees": 0,
                       "latitudeOfLastGridPointInDegrees": -90, "longitudeOfLastGridPointInDegrees": 337.5,
                       "iDirectionIncrementInDegrees": 22.5, "jDirectionIncrementInDegrees": 22.5, "dataDate": 20160101,
                       "dataTime": 0, "step": 0, "shortName": name, "bitsPerValue": 24}.items():
        ec.codes_set(h, key, value)
    ec.codes_set_values(h, values.ravel())
    return h


lat, lon = np.meshgrid(LAT, LON, indexing="ij")
land = (np.sin(np.radians(lon)) > 0) * 1.0
for file, messages in {"geopotential.grib": [(1, "z", 9.80665 * height(lat, lon)), (1, "lsm", land)],
                       "height.grib": [(2, "orog", height(lat, lon))]}.items():
    with open(os.path.join(sys.argv[1], file), "wb") as out:
        for one in messages:
            ec.codes_write(message(*one), out)
