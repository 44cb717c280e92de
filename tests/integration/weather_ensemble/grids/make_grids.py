"""make_grids.py FOLDER - writes the files of this folder again: fields on grids that are no latitudes and longitudes
of rows and columns, as other programs write them: forecasts of 2 m temperature from 2020-01-01 00 UTC, 24 h; and a
field with a bitmap. Made with ecCodes 2.50 and its Python interface, cfgrib 0.9.15, xarray 2026.9
and CDO 2.1.1 and NCO 5.1.4 (Debian packages cdo and nco):
python3 -m venv v && v/bin/pip install eccodes cfgrib xarray netCDF4 && v/bin/python make_grids.py ."""
import os
import subprocess
import sys

import eccodes as ec
import numpy as np
import xarray as xr

FOLDER = sys.argv[1]
SHAPE = {"Ni": 6, "Nj": 5}
GRIDS = {
    "lambert": {"gridType": "lambert", "Nx": 6, "Ny": 5, "LaD": 45000000, "LoV": 5000000, "Latin1": 45000000,
                "Latin2": 45000000, "DxInMetres": 50000, "DyInMetres": 50000,
                "latitudeOfFirstGridPoint": 44000000, "longitudeOfFirstGridPoint": 4000000},
    "polar_stereographic": {"gridType": "polar_stereographic", "Nx": 6, "Ny": 5, "LaD": 60000000,
                            "orientationOfTheGrid": 0, "DxInMetres": 50000, "DyInMetres": 50000,
                            "latitudeOfFirstGridPoint": 60000000, "longitudeOfFirstGridPoint": 0},
    "rotated_ll": {"gridType": "rotated_ll", **SHAPE, "latitudeOfFirstGridPointInDegrees": 4,
                   "longitudeOfFirstGridPointInDegrees": 0, "latitudeOfLastGridPointInDegrees": 0,
                   "longitudeOfLastGridPointInDegrees": 5, "iDirectionIncrementInDegrees": 1,
                   "jDirectionIncrementInDegrees": 1, "latitudeOfSouthernPoleInDegrees": -40,
                   "longitudeOfSouthernPoleInDegrees": 10},
    "mercator": {"gridType": "mercator", **SHAPE, "LaD": 20000000, "DiInMetres": 50000, "DjInMetres": 50000,
                 "latitudeOfFirstGridPoint": 20000000, "longitudeOfFirstGridPoint": 0,
                 "latitudeOfLastGridPoint": 22000000, "longitudeOfLastGridPoint": 3000000},
}


def message(name, keys):
    sample = "reduced_gg_pl_32_grib2" if name == "reduced_gg" else "regular_ll_sfc_grib2"
    h = ec.codes_grib_new_from_samples(sample)
    for key, value in keys.items():
        ec.codes_set(h, key, value)
    for key, value in {"dataDate": 20200101, "dataTime": 0, "step": 24, "shortName": "2t"}.items():
        ec.codes_set(h, key, value)
    n = ec.codes_get(h, "numberOfDataPoints") if name == "reduced_gg" else 30
    ec.codes_set(h, "numberOfDataPoints", n)
    ec.codes_set(h, "bitsPerValue", 1)
    ec.codes_set_values(h, 280.0 + np.arange(n) % 2)
    with open(os.path.join(FOLDER, f"{name}.grib"), "wb") as file:
        ec.codes_write(h, file)
    ec.codes_release(h)


def bitmap():
    """9991 .. 10001 on 3 x 4 points after one that is missing: 9999, the code of the library, is a value."""
    keys = {"Ni": 4, "Nj": 3, "latitudeOfFirstGridPointInDegrees": 60, "latitudeOfLastGridPointInDegrees": 0,
            "longitudeOfFirstGridPointInDegrees": 0, "longitudeOfLastGridPointInDegrees": 270,
            "iDirectionIncrementInDegrees": 90, "jDirectionIncrementInDegrees": 30, "dataDate": 20200101,
            "shortName": "z", "typeOfLevel": "isobaricInhPa", "level": 850, "bitsPerValue": 16,
            "bitmapPresent": 1, "missingValue": -5}
    h = ec.codes_grib_new_from_samples("regular_ll_sfc_grib2")
    for key, value in keys.items():
        ec.codes_set(h, key, value)
    values = 9990.0 + np.arange(12)
    values[0] = -5
    ec.codes_set_values(h, values)
    with open(os.path.join(FOLDER, "bitmap.grib"), "wb") as file:
        ec.codes_write(h, file)
    ec.codes_release(h)


def wave(lat, lon):
    """A field that bilinear interpolation nearly keeps."""
    lat, lon = np.radians(lat), np.radians(lon)
    return 280 + 20 * np.sin(lat) + 5 * np.cos(lat) * np.cos(lon - 0.5)


def points(name, sample, keys, pl=None):
    """`wave` at the points of a grid, which the library computes from the keys."""
    h = ec.codes_grib_new_from_samples(sample)
    if pl is not None:
        ec.codes_set_array(h, "pl", pl)
        ec.codes_set(h, "numberOfDataPoints", sum(pl))
        ec.codes_set(h, "longitudeOfLastGridPointInDegrees", 360 - 360 / max(pl))
    for key, value in {"shortName": "2t", **keys, "dataDate": 20200101, "dataTime": 0}.items():
        ec.codes_set(h, key, value)
    if "Ni" in keys:
        ec.codes_set(h, "numberOfDataPoints", keys["Ni"] * keys["Nj"])
    ec.codes_set_values(h, np.arange(float(ec.codes_get(h, "numberOfDataPoints"))))
    ec.codes_set(h, "bitsPerValue", 24)
    ec.codes_set_values(h, wave(ec.codes_get_array(h, "latitudes"), ec.codes_get_array(h, "longitudes")))
    with open(os.path.join(FOLDER, f"{name}.grib"), "wb") as file:
        ec.codes_write(h, file)
    ec.codes_release(h)


def regridded():
    """O32, N32, and a region of 20 x 20 degrees around 50 N, 10 E, with winds that are eastward or along its rows."""
    rows = [20 + 4 * i for i in range(32)]
    points("octahedral", "reduced_gg_pl_32_grib2", {"level": 2, "typeOfLevel": "heightAboveGround"}, rows + rows[::-1])
    points("reduced", "reduced_gg_pl_32_grib1", {})
    region = {"latitudeOfSouthernPoleInDegrees": -40, "longitudeOfSouthernPoleInDegrees": 10,
              "latitudeOfFirstGridPointInDegrees": -10, "latitudeOfLastGridPointInDegrees": 10,
              "longitudeOfFirstGridPointInDegrees": 350, "longitudeOfLastGridPointInDegrees": 10, "Ni": 41, "Nj": 41,
              "iDirectionIncrementInDegrees": 0.5, "jDirectionIncrementInDegrees": 0.5, "jScansPositively": 1}
    points("rotated", "rotated_ll_sfc_grib2", {"level": 2, "typeOfLevel": "heightAboveGround", **region})
    for name, along in (("wind_along", 1), ("wind_east", 0)):
        points(name, "rotated_ll_pl_grib2", {**region, "Ni": 5, "Nj": 5, "iDirectionIncrementInDegrees": 5,
                                             "jDirectionIncrementInDegrees": 5, "shortName": "u",
                                             "uvRelativeToGrid": along})


def by_cfgrib(name):
    """What `xarray.open_dataset(..., engine='cfgrib').to_netcdf` makes of the GRIB file."""
    path = os.path.join(FOLDER, f"{name}.grib")
    data = xr.open_dataset(path, engine="cfgrib", backend_kwargs={"indexpath": ""})
    if name == "reduced_gg":
        data = data.isel(values=slice(0, 60))  # its first rows, of 20 points and more
    data.to_netcdf(os.path.join(FOLDER, f"{name}.nc"), format="NETCDF3_64BIT")


def by_xarray():
    """A rotated pole as regional models write it: 1-D rlat and rlon, 2-D lat and lon."""
    rlat, rlon = np.linspace(-2, 2, 5), np.linspace(-2, 3, 6)
    lat = 50 + rlat[:, None] + 0.01 * rlon[None, :]
    lon = 10 + rlon[None, :] / np.cos(np.radians(lat))
    data = xr.Dataset(
        {"t2m": (("time", "step", "rlat", "rlon"), np.full((1, 1, 5, 6), 280.0, "f4"),
                 {"units": "K", "grid_mapping": "rotated_pole"}),
         "rotated_pole": ((), 0, {"grid_mapping_name": "rotated_latitude_longitude",
                                  "grid_north_pole_latitude": 39.25, "grid_north_pole_longitude": -162.0})},
        coords={"time": ("time", [np.datetime64("2020-01-01", "ns")]),
                "step": ("step", [24], {"units": "hours", "standard_name": "forecast_period"}),
                "rlat": ("rlat", rlat, {"standard_name": "grid_latitude", "units": "degrees"}),
                "rlon": ("rlon", rlon, {"standard_name": "grid_longitude", "units": "degrees"}),
                "lat": (("rlat", "rlon"), lat, {"standard_name": "latitude", "units": "degrees_north"}),
                "lon": (("rlat", "rlon"), lon, {"standard_name": "longitude", "units": "degrees_east"})})
    data.to_netcdf(os.path.join(FOLDER, "rotated_pole.nc"), format="NETCDF3_64BIT")


def by_cdo():
    """Weights in the form of SCRIP from a grid of 22.5 x 30 degrees to one of 30 x 45, and fields made with them."""
    lat, lon = np.arange(78.75, -79, -22.5), np.arange(0, 360, 30.0)
    field = wave(lat[:, None], lon[None])[None].astype("f4")
    xr.Dataset({"t2m": (("time", "latitude", "longitude"), field, {"units": "K"})},
               coords={"time": ("time", [np.datetime64("2020-01-01", "ns")]),
                       "latitude": ("latitude", lat, {"units": "degrees_north"}),
                       "longitude": ("longitude", lon, {"units": "degrees_east"})}
               ).to_netcdf(os.path.join(FOLDER, "cdo_source.nc"), format="NETCDF3_CLASSIC")
    with open(os.path.join(FOLDER, "target.txt"), "w", encoding="utf-8") as out:
        out.write("gridtype=lonlat\nxsize=8\nysize=6\nxfirst=0\nxinc=45\nyfirst=75\nyinc=-30\n")
    cdo = ["cdo", "-s", "--no_history", "-f", "nc"]
    for kind in ("bil", "ycon"):
        weights = f"cdo_weights_{kind}.nc"
        for words in ([f"gen{kind},target.txt", "cdo_source.nc", weights],
                      [f"remap,target.txt,{weights}", "cdo_source.nc", f"cdo_{kind}.nc"]):
            subprocess.run(cdo + words, check=True, cwd=FOLDER)
    os.remove(os.path.join(FOLDER, "target.txt"))


def by_nco():
    """Conservative weights in the form of ESMF between the grids of by_cdo, rows from south to north, without the attributes that tell of
    the machine."""
    def grid(name, size):
        subprocess.run(["ncks", "-O", "--rgr", f"grid={name}", "--rgr", f"latlon={size}", "--rgr", "lat_typ=uni", "--rgr",
                        "lon_typ=Grn_ctr", "cdo_source.nc", "unused.nc"], check=True, cwd=FOLDER)

    grid("from.nc", "8,12")
    grid("to.nc", "6,8")
    weights = "nco_weights_con.nc"
    subprocess.run(["ncremap", "-a", "nco", "-s", "from.nc", "-g", "to.nc", "-m", weights], check=True, cwd=FOLDER)
    for name in ("history", "created_by", "grid_file_src", "grid_file_dst", "nco_openmp_thread_number", "remap_script",
                 "remap_hostname", "remap_version", "NCO"):
        subprocess.run(["ncatted", "-O", "-h", "-a", f"{name},global,d,,", weights], check=True, cwd=FOLDER)
    subprocess.run(["ncks", "-O", "-h", "--hdr_pad=0", weights, weights], check=True, cwd=FOLDER)
    for name in ("from.nc", "to.nc", "unused.nc"):
        os.remove(os.path.join(FOLDER, name))


def main():
    for name, keys in GRIDS.items():
        message(name, keys)
    regridded()
    message("reduced_gg", {})
    bitmap()
    for name in ("lambert", "rotated_ll", "reduced_gg"):
        by_cfgrib(name)
    by_xarray()
    by_cdo()
    by_nco()
    os.remove(os.path.join(FOLDER, "reduced_gg.grib"))  # the shared data have one


if __name__ == "__main__":
    main()
