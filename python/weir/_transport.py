"""Spectra of quantum_transport."""


def open_transport(path):
    """transport.nc as an xarray.Dataset: transmission and densities of states over `energy` (eV), by wave vector `k` and orbital."""
    import xarray as xr

    with xr.open_dataset(path) as file:
        return file.load()


def open_tbtrans(path):
    """transport.TBT.nc as sisl's object of a TBtrans file, with geometry and orbital-resolved densities of states. Needs sisl."""
    try:
        import sisl
    except ImportError as error:
        raise ImportError("sisl is not installed (pip install sisl); weir.open_transport reads transport.nc without it") from error
    return sisl.get_sile(path)
