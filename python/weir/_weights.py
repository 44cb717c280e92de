"""Trained weights."""

import hashlib


def load_weights(path):
    """The arrays of weights.nc or of a checkpoint by their names, each compared with its digest.

    Raises ValueError for an array that is damaged, or a file without digests.
    """
    import netCDF4

    arrays = {}
    with netCDF4.Dataset(path) as nc:
        nc.set_auto_mask(False)  # a number that looks like a fill value is a weight
        for name, variable in nc.variables.items():
            if "sha256" not in variable.ncattrs():
                raise ValueError(f"{path}: {name} has no digest: name weights.nc or a checkpoint of a training")
            array = variable[...]
            if hashlib.sha256(array.astype(variable.dtype).tobytes()).hexdigest() != variable.sha256:
                raise ValueError(f"{path}: {name} is damaged")
            arrays[name] = array
    return arrays
