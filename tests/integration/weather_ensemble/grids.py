"""grids.py PROGRAM SCRATCH - grids, members, missing values and truth: files of ecCodes, cfgrib and xarray (grids/, written
by make_grids.py) and of netCDF4 are refused by name, or scored; the scores are computed here.

Exit 77: this Python has no netCDF4, or the program was built without NetCDF or ecCodes."""
import csv
import os
import subprocess
import sys
import unittest

try:
    import netCDF4
    import numpy as np
except ImportError:
    print("skipped: this Python has no netCDF4")
    sys.exit(77)

program, scratch = sys.argv[1:]
stored = os.path.join(os.path.dirname(os.path.abspath(__file__)), "grids")
LAT, LON = [60.0, 30.0, 0.0], [0.0, 90.0, 180.0, 270.0]
VALUES = np.add.outer(np.arange(3.0), 10 * np.arange(4.0)) + 280


def run(command, *options, out="out"):
    """The exit status and all that was printed."""
    settings = [word for option in options for word in ("--set", option)]
    done = subprocess.run([program, command, *settings, "--out", os.path.join(scratch, out), "--overwrite"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def write(name, dims, variables, members=None, init_times=(0,), kind="NETCDF4", **attributes):
    """A file with the field t2m over `dims`; variables: {name: (dimensions, values, attributes)}; the field is the
    entry t2m, over time, member and dims."""
    path = os.path.join(scratch, name)
    with netCDF4.Dataset(path, "w", format=kind) as out:
        out.setncatts(attributes)
        for dim, n in {"time": len(init_times), **({"member": members} if members else {}), **dims}.items():
            out.createDimension(dim, n)
        time = out.createVariable("time", "f8", ("time",))
        time.setncatts({"units": "hours since 2020-01-01 00:00:00", "standard_name": "time"})
        time[:] = init_times
        for variable, (over, values, notes) in variables.items():
            values = np.asarray(values)
            fill = notes.pop("_FillValue", None)
            at = out.createVariable(variable, values.dtype, over, fill_value=fill)
            at.set_auto_maskandscale(False)
            at.setncatts(notes)
            at[...] = values
    return path


def lines(lat=LAT, lon=LON):
    return {"latitude": (("latitude",), np.array(lat), {"units": "degrees_north"}),
            "longitude": (("longitude",), np.array(lon), {"units": "degrees_east"})}


def field(values, dims=("latitude", "longitude"), member=False, dtype="f4", **notes):
    over = ("time",) + (("member",) if member else ()) + tuple(dims)
    return {"t2m": (over, np.asarray(values, dtype)[None], {"units": "K", **notes})}


def regular(name, values, lat=LAT, lon=LON, member=False, dtype="f4", **notes):
    n = np.shape(values)[0] if member else None
    return write(name, {"latitude": len(lat), "longitude": len(lon)},
                 {**lines(lat, lon), **field(values, member=member, dtype=dtype, **notes)}, members=n)


def wave(lat, lon):
    """The field of grids/octahedral.grib and others (make_grids.py)."""
    lat, lon = np.radians(lat), np.radians(lon)
    return 280 + 20 * np.sin(lat) + 5 * np.cos(lat) * np.cos(lon - 0.5)


class Grids(unittest.TestCase):
    def refused(self, path, *words):
        status, text = run("prepare", f"data.forecast=[{path}]")
        self.assertEqual(status, 3, text)
        for word in (os.path.basename(path), *words):
            self.assertIn(word, text)

    def scored(self, forecast, truth, *options):
        """The first row of scores.csv, and all that was printed."""
        status, text = run("eval", f"data.forecast=[{forecast}]", f"data.truth=[{truth}]", "eval.part=all", *options)
        self.assertEqual(status, 0, text)
        with open(os.path.join(scratch, "out", "scores.csv"), encoding="utf-8") as table:
            return next(csv.DictReader(table)), text

    def report(self):
        with open(os.path.join(scratch, "out", "report.html"), encoding="utf-8") as page:
            return page.read()

    def test_grids_of_grib_other_than_regular_are_refused_by_type(self):
        for name in ("lambert", "polar_stereographic", "mercator"):
            self.refused(os.path.join(stored, f"{name}.grib"), f"gridType={name}", "interpolate it")
        self.refused(os.path.join(stored, "rotated_ll.grib"), "gridType=rotated_ll", "import.grid.spacing")

    def regridded(self, name, *options, out="regridded"):
        """Latitudes, longitudes, the field of forecast.nc, and all that was printed."""
        status, text = run("prepare", f"data.forecast=[{os.path.join(stored, name)}.grib]", *options, out=out)
        self.assertEqual(status, 0, text)
        with netCDF4.Dataset(os.path.join(scratch, out, "forecast.nc")) as data:
            field = next(v for v in data.variables.values() if v.ndim >= 5)
            values = np.ma.filled(field[:].astype(float), np.nan).squeeze()
            return data["latitude"][:].data, data["longitude"][:].data, values, text

    def test_reduced_and_rotated_grids_come_to_a_regular_one(self):
        rows = {"octahedral": [20 + 4 * i for i in range(32)],
                "reduced": [20, 27, 36, 40, 45, 50, 60, 64, 72, 75, 80, 90, 90, 96, 100, 108, 108, 120, 120, 120, 128,
                            128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128]}
        gaussian = np.degrees(np.arcsin(np.polynomial.legendre.leggauss(64)[0]))[::-1]
        for name, half in rows.items():
            lat, lon, values, text = self.regridded(name, "import.grid.spacing=5")
            self.assertIn("bilinear interpolation", text)
            self.assertEqual(values.shape, (37, 72))
            lines = []  # every row at the longitudes of the target, and the means of the outermost at the poles
            for y, n in zip(gaussian, half + half[::-1]):
                x = 360 * np.arange(n + 1) / n
                lines.append(np.interp(lon, x, wave(y, x)))
            n = 360 * np.arange(half[0]) / half[0]
            lines = np.array([np.full(72, wave(gaussian[0], n).mean()), *lines, np.full(72, wave(gaussian[-1], n).mean())])
            south = -np.array([90, *gaussian, -90])
            wanted = np.array([[np.interp(-y, south, lines[:, i]) for i in range(72)] for y in lat])
            np.testing.assert_allclose(values, wanted, atol=5e-5)  # single precision and 24 bits
        lat, lon, values, text = self.regridded("rotated", "import.grid.spacing=1", "import.grid.area=[60, 0, 40, 20]")
        there = np.isfinite(values)
        self.assertIn("20 of 441 cells lie outside", text)
        self.assertEqual(np.count_nonzero(~there), 20)
        np.testing.assert_allclose(values[there], wave(lat[:, None], lon[None])[there], atol=4e-4)  # of interpolation

    def test_conservative_means_keep_the_mean_of_the_globe(self):
        gaussian = np.degrees(np.arcsin(np.polynomial.legendre.leggauss(64)[0]))[::-1]
        edges = np.array([90, *(gaussian[1:] + gaussian[:-1]) / 2, -90])
        mean, weight = 0, -np.diff(np.sin(np.radians(edges))) / 2
        for y, w, n in zip(gaussian, weight, [20 + 4 * min(i, 63 - i) for i in range(64)]):
            mean += w * wave(y, 360 * np.arange(n) / n).mean()
        lat, _, values, text = self.regridded("octahedral", "import.grid.spacing=7.5", "import.regrid.method=conservative")
        self.assertIn("first-order conservative means", text)
        edges = np.array([90, *(lat[1:] + lat[:-1]) / 2, -90])
        own = (-np.diff(np.sin(np.radians(edges))) / 2 * values.mean(axis=1)).sum()
        self.assertAlmostEqual(own, mean, delta=3e-5)

    def test_weights_of_cdo_give_the_fields_of_cdo(self):
        for kind in ("bil", "ycon"):
            weights, there = (os.path.join(stored, f"cdo_{name}.nc") for name in (f"weights_{kind}", kind))
            status, text = run("prepare", f"data.forecast=[{os.path.join(stored, 'cdo_source.nc')}]",
                               f"import.grid.file={there}", "import.regrid.method=weights", f"import.regrid.weights={weights}")
            self.assertEqual(status, 0, text)
            with netCDF4.Dataset(os.path.join(scratch, "out", "forecast.nc")) as data, netCDF4.Dataset(there) as theirs:
                values = next(v for v in data.variables.values() if v.ndim >= 5)[:].filled(np.nan).squeeze()
                np.testing.assert_allclose(values, theirs["t2m"][:].filled(np.nan).squeeze(), rtol=1e-7)

    def with_weights(self, weights):
        """The field of cdo_source.nc on the grid of cdo_ycon.nc, and what was printed."""
        status, text = run("prepare", f"data.forecast=[{os.path.join(stored, 'cdo_source.nc')}]", "import.regrid.method=weights",
                           f"import.grid.file={os.path.join(stored, 'cdo_ycon.nc')}", f"import.regrid.weights={weights}")
        self.assertEqual(status, 0, text)
        with netCDF4.Dataset(os.path.join(scratch, "out", "forecast.nc")) as data:
            return next(v for v in data.variables.values() if v.ndim >= 5)[:].filled(np.nan).squeeze(), text

    def test_conservative_weights_of_nco_in_the_form_of_esmf_give_the_fields_of_cdo(self):
        values, _ = self.with_weights(os.path.join(stored, "nco_weights_con.nc"))
        with netCDF4.Dataset(os.path.join(stored, "cdo_ycon.nc")) as theirs:
            np.testing.assert_allclose(values, theirs["t2m"][:].filled(np.nan).squeeze(), rtol=1e-7)

    def esmf(self, name, covered=1.0, **attributes):
        """The weights of NCO as ESMF_RegridWeightGen writes them (ESMF 8, src/Infrastructure/IO/interface/ESMF_IOScrip.F90,
        ESMF_OutputScripWeightFile): its global attributes, units "degrees", areas in steradians; `covered`: the share of the first target
        cell that sources cover, with normalization destarea."""
        path = os.path.join(scratch, name)
        with netCDF4.Dataset(os.path.join(stored, "nco_weights_con.nc")) as nco, \
                netCDF4.Dataset(path, "w", format="NETCDF3_64BIT_OFFSET") as out:
            for key, value in {"title": "ESMF Offline Regridding Weight Generator", "normalization": "destarea",
                               "map_method": "Conservative remapping", "ESMF_regrid_method": "First-order Conservative",
                               "conventions": "NCAR-CSM", "domain_a": "from.nc", "domain_b": "to.nc", "grid_file_src": "from.nc",
                               "grid_file_dst": "to.nc", "CVS_revision": "8.4.2", **attributes}.items():
                out.setncattr(key, value)
            for key, dimension in nco.dimensions.items():
                out.createDimension(key, len(dimension))
            for key in ("src_grid_dims", "dst_grid_dims", "yc_a", "yc_b", "xc_a", "xc_b", "yv_a", "xv_a", "yv_b", "xv_b", "mask_a",
                        "mask_b", "area_a", "area_b", "frac_a", "frac_b", "col", "row", "S"):
                v = out.createVariable(key, nco[key].dtype, nco[key].dimensions)
                v[:] = nco[key][:]
                if key[:2] in ("xc", "yc", "xv", "yv"):
                    v.units = "degrees"
                elif key[:4] in ("mask", "frac", "area"):
                    v.units = {"m": "unitless", "f": "unitless", "a": "square radians"}[key[0]]
            first = out["row"][:] == 1
            out["S"][:] = np.where(first, covered * out["S"][:], out["S"][:])
            out["frac_b"][0] = covered
        return path

    def test_weights_as_esmf_documents_them_are_read(self):
        whole, _ = self.with_weights(os.path.join(stored, "nco_weights_con.nc"))
        for method in ({}, {"map_method": "Bilinear remapping", "ESMF_regrid_method": "Higher-order Patch"}):
            values, _ = self.with_weights(self.esmf("esmf.nc", **method))
            np.testing.assert_array_equal(values, whole)
        values, _ = self.with_weights(self.esmf("esmf.nc", covered=0.75))  # cell 1 is the south-western one
        self.assertTrue(np.isnan(values[-1, 0]))
        np.testing.assert_array_equal(np.delete(values.ravel(), 40), np.delete(whole.ravel(), 40))
        path = self.esmf("areas.nc", normalization="none")
        status, text = run("prepare", f"data.forecast=[{os.path.join(stored, 'cdo_source.nc')}]", "import.regrid.method=weights",
                           f"import.grid.file={os.path.join(stored, 'cdo_ycon.nc')}", f"import.regrid.weights={path}")
        self.assertEqual(status, 3, text)
        self.assertIn("normalization none", text)

    def test_components_along_a_rotated_grid_are_refused(self):
        area = ("import.grid.spacing=1", "import.grid.area=[52, 8, 48, 12]")
        self.regridded("wind_east", *area)
        status, text = run("prepare", f"data.forecast=[{os.path.join(stored, 'wind_along.grib')}]", *area)
        self.assertEqual(status, 3, text)
        self.assertIn("uvRelativeToGrid=1: components along the rows and columns of a rotated grid", text)

    def rotated(self, name, pole=(39.25, -162.0), located=True, **notes):
        """A file of a regional model around 50.75 N, 18 E: `wave` on rlat and rlon, with the locations of the cells."""
        north, line = np.radians(pole[0]), np.arange(-4, 4.01, 0.25)
        y, x = np.radians(np.meshgrid(line, line, indexing="ij"))
        lat = np.arcsin(np.sin(north) * np.sin(y) + np.cos(north) * np.cos(y) * np.cos(x))
        lon = np.arctan2(np.cos(y) * np.sin(x), np.sin(north) * np.cos(y) * np.cos(x) - np.cos(north) * np.sin(y))
        lat, lon = np.degrees(lat), np.degrees(lon) + pole[1] + 180
        dims = ("rlat", "rlon")
        places = {"lat": (dims, lat, {"units": "degrees_north"}), "lon": (dims, lon, {"units": "degrees_east"})}
        return write(name, {"rlat": 33, "rlon": 33}, {
            **(places if located else {}),
            "rlat": (("rlat",), line, {"units": "degrees", "standard_name": "grid_latitude"}),
            "rlon": (("rlon",), line, {"units": "degrees", "standard_name": "grid_longitude"}),
            "pole": ((), np.int32(0), {"grid_mapping_name": "rotated_latitude_longitude",
                                       "grid_north_pole_latitude": 39.25, "grid_north_pole_longitude": -162.0}),
            **field(wave(lat, lon), dims, grid_mapping="pole", **notes)})

    def test_a_rotated_pole_of_netcdf_comes_to_a_regular_grid(self):
        options = ("import.grid.spacing=0.5", "import.grid.area=[53, 15, 48, 21]")
        for located in (True, False):
            status, text = run("prepare", f"data.forecast=[{self.rotated('r.nc', located=located)}]", *options)
            self.assertEqual(status, 0, text)
            self.assertIn("rotated lat-lon, 1089 cells", text)
            with netCDF4.Dataset(os.path.join(scratch, "out", "forecast.nc")) as data:
                values = next(v for v in data.variables.values() if v.ndim >= 5)[:].filled(np.nan).squeeze()
            wanted = wave(np.arange(53, 47.9, -0.5)[:, None], np.arange(15, 21.1, 0.5)[None])
            np.testing.assert_allclose(values, wanted, atol=2e-4)  # of interpolation
        for path, *words in ((self.rotated("other.nc", pole=(39.75, -162.0)), "elsewhere by its grid mapping"),
                             (self.rotated("wind.nc", units="m s-1", standard_name="x_wind"), "eastward or northward"),
                             (self.rotated("grid.nc", units="m s-1", standard_name="grid_eastward_wind"), "eastward")):
            status, text = run("prepare", f"data.forecast=[{path}]", *options)
            self.assertEqual(status, 3, text)
            for word in words:
                self.assertIn(word, text)
        path = self.rotated("east.nc", units="m s-1", standard_name="eastward_wind")
        status, text = run("prepare", f"data.forecast=[{path}]", *options)
        self.assertEqual(status, 0, text)

    def test_forecast_and_truth_come_to_one_grid(self):
        truth = regular("t.nc", wave(*np.meshgrid(LAT, LON, indexing="ij")))
        for target, n in ((f"import.grid.file={truth}", 12), ("import.grid.spacing=30", 84)):
            *_, values, text = self.regridded("octahedral", f"data.truth=[{truth}]", target, "import.incomplete=keep")
            self.assertEqual(values.size, n)
            self.assertEqual(text.count("regridded from"), 1 if n == 12 else 2)
            folder = os.path.join(scratch, "regridded")
            _, text = self.scored(f"{folder}/forecast.nc", f"{folder}/truth.nc")
            self.assertNotIn("regridded", text)

    def test_targets_that_do_not_fit_are_refused(self):
        path = f"data.forecast=[{os.path.join(stored, 'rotated.grib')}]"
        for status, words, *options in (
                (2, "do not divide", "import.grid.spacing=7"),
                (2, "no cell of import.grid lies in its grid", "import.grid.spacing=1", "import.grid.area=[-10, 0, -20, 10]"),
                (2, "leave one out", "import.grid.spacing=1", "import.grid.file=x.nc"),
                (2, "belong together", "import.grid.spacing=1", "import.regrid.weights=x.nc"),
                (7, "is rotated", "import.grid.spacing=1", "import.regrid.method=conservative")):
            found, text = run("prepare", path, *options)
            self.assertEqual(found, status, text)
            self.assertIn(words, text)

    def test_directions_are_refused(self):
        path = regular("direction.nc", 10 * VALUES, units="degree", standard_name="wind_from_direction")
        status, text = run("prepare", f"data.forecast=[{path}]", "import.grid.spacing=30")
        self.assertEqual(status, 2, text)
        self.assertIn("is a direction, which import.grid cannot interpolate", text)
        path = os.path.join(scratch, "direction.nc")
        status, text = run("prepare", f"data.forecast=[{path}]", f"import.grid.file={path}")
        self.assertEqual(status, 0, text)  # on that grid already

    def test_grids_that_cfgrib_unrolled_are_refused_by_type(self):
        self.refused(os.path.join(stored, "lambert.nc"), "GRIB_gridType=lambert", "regrid it to a regular")
        self.refused(os.path.join(stored, "rotated_ll.nc"), "GRIB_gridType=rotated_ll", "regrid")
        self.refused(os.path.join(stored, "reduced_gg.nc"), "GRIB_gridType=reduced_gg", "regrid")

    def test_a_rotated_pole_is_refused_by_name(self):
        self.refused(os.path.join(stored, "rotated_pole.nc"), "rotated_latitude_longitude", "rlat and rlon", "regrid")

    def test_curvilinear_grids_are_refused_by_their_coordinates(self):
        lat, lon = np.meshgrid(np.linspace(50, 40, 3), np.linspace(0, 10, 4), indexing="ij")
        for dims in (("y", "x"), ("j", "i"), ("nlat", "nlon")):
            for name in ("lat", "nav_lat"):
                other = name.replace("lat", "lon")
                path = write("c.nc", dict(zip(dims, (3, 4))),
                             {name: (dims, lat, {"units": "degrees_north"}),
                              other: (dims, lon, {"units": "degrees_east"}),
                              **field(VALUES, dims, coordinates=f"{name} {other}")})
                self.refused(path, "curvilinear", f"{name} and {other}", "regrid")

    def test_planes_without_coordinates_are_refused(self):
        path = write("p.nc", {"y": 3, "x": 4}, field(VALUES, ("y", "x")))
        self.refused(path, "its dimension y has no values", "t2m")

    def plane(self, name, values, mapping, step=(2000.0, 2000.0), areas=None, member=False):
        notes = {"grid_mapping": "crs"} if mapping else {}
        extra = {"crs": ((), np.int32(0), {"grid_mapping_name": mapping})} if mapping else {}
        if areas is not None:
            notes["cell_measures"] = "area: cell_area"
            extra["cell_area"] = (("y", "x"), np.asarray(areas), {"units": "m2", "standard_name": "cell_area"})
        metres = {"y": "projection_y_coordinate", "x": "projection_x_coordinate"}
        coords = {k: ((k,), np.cumsum([0.0] + list(np.resize(step, n - 1))), {"units": "m", "standard_name": metres[k]})
                  for k, n in (("y", 3), ("x", 4))}
        return write(name, {"y": 3, "x": 4}, {**coords, **extra, **field(values, ("y", "x"), member, **notes)},
                     members=np.shape(values)[0] if member else None)

    def test_projections_are_read_where_the_areas_of_cells_are_known(self):
        for mapping in ("lambert_conformal_conic", "polar_stereographic", "mercator", "transverse_mercator"):
            self.refused(self.plane("m.nc", VALUES, mapping), f"grid mapping {mapping} of variable crs", "cell_measures")
        self.refused(self.plane("m.nc", VALUES, None), "without a grid mapping", "cell_measures")
        equal = "lambert_azimuthal_equal_area"
        self.refused(self.plane("m.nc", VALUES, equal, step=(1000.0, 2000.0)), equal)
        areas = np.add.outer([1.0, 2.0, 4.0], [0.0, 1.0, 2.0, 3.0])
        error = np.add.outer([3.0, 1.0, 0.5], [0.0, 1.0, 0.0, 2.0])
        for mapping, weight in ((equal, None), ("lambert_conformal_conic", areas)):
            forecast = self.plane("f.nc", [VALUES + error, VALUES + error], mapping, areas=weight, member=True)
            truth = self.plane("t.nc", VALUES, mapping, areas=weight)
            found, _ = self.scored(forecast, truth)
            self.assertAlmostEqual(float(found["crps"]), np.average(error, weights=weight), places=4)
            self.assertIn("Weighted by area.", self.report())
            # What is written is read again, with the same areas.
            status, text = run("prepare", f"data.forecast=[{forecast}]", f"data.truth=[{truth}]", out="again")
            self.assertEqual(status, 0, text)
            again = [os.path.join(scratch, "again", f"{side}.nc") for side in ("forecast", "truth")]
            found, _ = self.scored(*again)
            self.assertAlmostEqual(float(found["crps"]), np.average(error, weights=weight), places=4)

    def sites(self, name, values, dim="station", units=("degrees_north", "degrees_east"), member=False, **notes):
        n = np.shape(values)[-1]
        lat, lon = np.linspace(10, 60, n), np.linspace(0, 5, n)
        bounds = notes.pop("bounds", None)
        extra = {"bounds": bounds} if bounds else {}
        return write(name, {dim: n}, {"lat": ((dim,), lat, {"units": units[0], **extra}),
                                      "lon": ((dim,), lon, {"units": units[1]}),
                                      **field(values, (dim,), member, **notes)},
                     members=np.shape(values)[0] if member else None)

    def test_cells_of_unstructured_grids_are_no_sites(self):
        values = np.arange(5.0)
        self.refused(self.sites("u.nc", values, "ncells"), "its dimension ncells", "regrid", "site")
        self.refused(self.sites("u.nc", values, "ncol"), "its dimension ncol")
        self.refused(self.sites("u.nc", values, "values"), "its dimension values")
        self.refused(self.sites("u.nc", values, "n", bounds="lat_bnds"), "unstructured or reduced grid")
        self.refused(self.sites("u.nc", values, "n", CDI_grid_type="unstructured"), "CDI_grid_type=unstructured")
        self.refused(self.sites("u.nc", values, "n", mesh="Mesh2", location="face"), "mesh=Mesh2")
        self.refused(self.sites("u.nc", values, units=("radian", "radian")), "radian", "degrees_north")

    def test_sites_count_equally_and_the_report_says_so(self):
        error = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
        forecast = self.sites("f.nc", [280 + error, 280 + error], member=True)
        found, _ = self.scored(forecast, self.sites("t.nc", np.full(5, 280.0)))
        self.assertAlmostEqual(float(found["crps"]), error.mean(), places=4)
        self.assertIn("Sites count equally.", self.report())
        self.assertNotIn("by area", self.report())

    def test_rows_and_columns_may_stand_in_any_order(self):
        """A forecast from the north and from Greenwich on, a truth from the south and from -180 on."""
        error = np.add.outer([1.0, 2.0, 4.0], [0.0, 1.0, 2.0, 3.0])
        forecast = regular("f.nc", [VALUES + error, VALUES + error], member=True)
        truth = regular("t.nc", np.roll(VALUES, 2, axis=1)[::-1], lat=LAT[::-1], lon=[-180.0, -90.0, 0.0, 90.0])
        found, _ = self.scored(forecast, truth)
        edges = np.radians([75.0, 45.0, 15.0, -15.0])
        weight = np.sin(edges[:-1]) - np.sin(edges[1:])
        self.assertAlmostEqual(float(found["crps"]), np.average(error.mean(axis=1), weights=weight), places=4)
        self.assertIn("Weighted by area.", self.report())

    def test_a_box_over_greenwich_is_the_same_on_both_sides(self):
        error = np.add.outer([1.0, 2.0, 4.0], [0.0, 1.0, 2.0])
        values = VALUES[:, :3]
        forecast = regular("f.nc", [values + error] * 2, lon=[350.0, 0.0, 10.0], member=True)
        found, _ = self.scored(forecast, regular("t.nc", values, lon=[-10.0, 0.0, 10.0]))
        edges = np.radians([75.0, 45.0, 15.0, -15.0])
        weight = np.sin(edges[:-1]) - np.sin(edges[1:])
        self.assertAlmostEqual(float(found["crps"]), np.average(error.mean(axis=1), weights=weight), places=4)
        self.refused_pair(forecast, regular("t.nc", values, lon=[0.0, 10.0, 20.0]), "columns are elsewhere")

    def refused_pair(self, forecast, truth, *words):
        for command in ("prepare", "eval"):
            status, text = run(command, f"data.forecast=[{forecast}]", f"data.truth=[{truth}]", "eval.part=all")
            self.assertNotEqual(status, 0, text)
            for word in words:
                self.assertIn(word, text)

    def surveyed(self, path):
        """Values, missing values, least and greatest of import.csv."""
        status, text = run("prepare", f"data.forecast=[{path}]")
        self.assertEqual(status, 0, text)
        with open(os.path.join(scratch, "out", "import.csv"), encoding="utf-8") as table:
            row = next(csv.DictReader(table))
        return int(row["values"]), int(row["values_missing"]), float(row["least"]), float(row["greatest"])

    def test_codes_for_missing_values_are_understood(self):
        """The code in place of the first value, as writers state it; packed integers with scale and offset."""
        for notes in ({"_FillValue": np.float32(9999)}, {"missing_value": np.float32(9999)},
                      {"valid_max": np.float32(1000)}, {"valid_range": np.array([200, 400], "f4")}):
            values = VALUES.copy()
            values[0, 0] = 9999
            self.assertEqual(self.surveyed(regular("v.nc", values, **notes))[1:], (1, 281, 312), notes)
        packed = np.round((VALUES - 300) / 0.01)
        packed[0, 0] = -32768
        scale = {"scale_factor": 0.01, "add_offset": 300.0}
        for notes in ({"_FillValue": np.int16(-32768)}, {"missing_value": np.int16(-32768)},
                      {"valid_min": np.int16(-32767)}, {"valid_range": np.array([-32767, 32767], "i2")},
                      {"valid_min": np.float32(100)}, {"valid_range": np.array([281.0, 312.0])},
                      {"missing_value": 300 - 327.68}):
            found = self.surveyed(regular("v.nc", packed, dtype="i2", **scale, **notes))
            self.assertEqual(found[:2], (11, 1), notes)
            self.assertAlmostEqual(found[2], 281, places=3)
            self.assertAlmostEqual(found[3], 312, places=3)

    def test_the_bitmap_of_grib_says_what_is_missing(self):
        """A value of 9999, which the library takes for its code of a missing one, is a value."""
        self.assertEqual(self.surveyed(os.path.join(stored, "bitmap.grib")), (11, 1, 9991, 10001))

    def test_integers_without_a_sign_by_attribute_are_refused(self):
        self.refused(regular("v.nc", VALUES - 280, dtype="i1", _Unsigned="true"), "_Unsigned", "t2m")

    def test_a_range_that_leaves_nothing_is_refused(self):
        self.refused(regular("v.nc", VALUES, valid_range=np.array([400, 200], "f4")), "leave no value")
        self.refused(regular("v.nc", VALUES, missing_value="9999"), "missing_value")


def series(name, values, member=False, init_times=None):
    """The field of several initialisation times, a day apart: [start, (member,) latitude, longitude]."""
    values = np.asarray(values, "f4")
    hours = [24.0 * k for k in range(len(values))] if init_times is None else init_times
    over = ("time",) + (("member",) if member else ()) + ("latitude", "longitude")
    return write(name, {"latitude": 3, "longitude": 4}, {**lines(), "t2m": (over, values, {"units": "K"})},
                 members=values.shape[1] if member else None, init_times=hours)


class Coverage(unittest.TestCase):
    """Five initialisation times, whose two members are k + 1 too high at start k."""

    truth = np.broadcast_to(VALUES, (5, 3, 4)).copy()
    forecast = np.stack([truth + np.arange(1.0, 6.0)[:, None, None]] * 2, axis=1)

    def evaluate(self, forecast, truth, models="{use: raw}"):
        status, text = run("eval", f"data.forecast=[{forecast}]", f"data.truth=[{truth}]", "eval.part=all",
                           f"eval.models=[{models}]", "eval.bootstrap.block=1")
        return status, " ".join(text.split())

    def scores(self):
        with open(os.path.join(scratch, "out", "scores.csv"), encoding="utf-8") as table:
            return {row["model"]: float(row["crps"]) for row in csv.DictReader(table)}

    def report(self):
        with open(os.path.join(scratch, "out", "report.html"), encoding="utf-8") as page:
            return " ".join(page.read().split())

    def with_predictions(self, values, init_times):
        made = series("p.nc", values, member=True, init_times=init_times)
        return self.evaluate(series("f.nc", self.forecast, True), series("t.nc", self.truth),
                             "{use: raw}, {use: {predictions: {files: [" + made + "]}}}")

    def test_init_times_that_predictions_lack_are_named_and_left_out_for_all_models(self):
        status, text = self.with_predictions(self.forecast[1:4] + 10, [24.0, 48.0, 72.0])
        self.assertEqual(status, 0, text)
        said = "2 of 5 initialisation times are left out for all models: predictions has no forecast of them, " \
               "the first 2020-01-01 00:00"
        self.assertIn(said, text)
        self.assertIn(said, self.report())
        self.assertIn("3 initialisation times from 2020-01-02", self.report())
        found = self.scores()
        self.assertAlmostEqual(found["raw 2"], 3, places=4)
        self.assertAlmostEqual(found["predictions"], 13, places=4)
        with open(os.path.join(scratch, "out", "init_times.csv"), encoding="utf-8") as table:
            self.assertEqual(len(list(csv.DictReader(table))), 6)

    def test_predictions_of_no_start_are_refused(self):
        status, text = self.with_predictions(self.forecast, [2400.0 + 24 * k for k in range(5)])
        self.assertEqual(status, 3, text)
        self.assertIn("predictions has no forecast of 5 of the 5 initialisation times", text)
        self.assertIn("none is left to score 2t at 0 h", text)

    def test_a_table_without_a_valid_case_is_refused(self):
        for side in (0, 1):
            values = [self.forecast.copy(), self.truth.copy()]
            values[side][...] = np.nan
            status, text = self.evaluate(series("f.nc", values[0], True), series("t.nc", values[1]))
            self.assertEqual(status, 3, text)
            self.assertIn("at none of 5 initialisation times is there a point", text)

    def test_init_times_without_a_valid_point_are_left_out_and_counted(self):
        truth = self.truth.copy()
        truth[4] = np.nan
        truth[0, 0] = np.nan  # some points of an initialisation time
        status, text = self.evaluate(series("f.nc", self.forecast, True), series("t.nc", truth))
        self.assertEqual(status, 0, text)
        self.assertIn("1 of 5 initialisation times are left out for all models (2t at 0 h): they have no point", text)
        self.assertIn("4 initialisation times from 2020-01-01", self.report())
        edges = np.sin(np.radians([75.0, 45.0, 15.0, -15.0]))
        weight = edges[:-1] - edges[1:]
        first = weight[1:].sum() / weight.sum()
        self.assertAlmostEqual(self.scores()["raw 2"], (first * 1 + 2 + 3 + 4) / (first + 3), places=4)

    def test_init_times_without_truth_are_counted(self):
        status, text = self.evaluate(series("f.nc", self.forecast, True), series("t.nc", self.truth[:2]))
        self.assertEqual(status, 0, text)
        self.assertIn("3 of 5 initialisation times are left out for all models: "
                      "the archive has no forecast or no truth of them, "
                      "the first 2020-01-03 00:00", text)
        self.assertAlmostEqual(self.scores()["raw 2"], 1.5, places=4)


if not os.path.exists(stored):
    sys.exit("the folder grids is not next to this file")
code, said = run("prepare", f"data.forecast=[{os.path.join(stored, 'lambert.grib')}]")
if code == 7 or "build" in said:
    print("skipped: this build has no ecCodes")
    sys.exit(77)
code, said = run("prepare", f"data.forecast=[{os.path.join(stored, 'lambert.nc')}]")
if code == 7:
    print("skipped: this build has no NetCDF")
    sys.exit(77)
unittest.main(argv=[sys.argv[0]])
