#!/usr/bin/env python3
"""cf_files.py PROGRAM WORK CONFIGS [CHECKER] - one file of each kind of data that the program writes in NetCDF keeps the rules of
CF 1.8 that are checked here: Conventions and title, types, times that are exact, units that are read, coordinates and other
names that are there, once. With CHECKER, the folder where `workflows/setup.sh checker` puts compliance-checker (PyPI), that
program reads them too and must find no error.

No data for others, and not checked: weights and checkpoints (state of the programs), NAME.TBT.nc and NAME.PHT.nc (the format of
TBtrans, with its names and types)."""
import os
import subprocess
import sys

try:
    import netCDF4
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing} (python3-netcdf4)")
    sys.exit(77)

program, work, configs = sys.argv[1:4]
checker = sys.argv[4] if len(sys.argv) > 4 else None
app = os.path.basename(program)
tiny = os.path.join(configs, app, "tiny.yaml")
os.chdir(work)
if checker and not os.path.exists(os.path.join(checker, "bin", "compliance-checker")):
    print(f"skipped: {checker} has no compliance-checker (workflows/setup.sh checker)")
    sys.exit(77)


def weir(command, *arguments):
    subprocess.run([program, command, *arguments, "--log", "error"], check=True, stdout=subprocess.DEVNULL)


def sets(*options):
    return [word for option in options for word in ("--set", option)]


def weather_ensemble():
    use = ["--config", tiny]
    archives = sets("data.forecast=[a/forecast.nc]", "data.truth=[a/truth.nc]")
    weir("prepare", *use, "--out", "a")
    weir("run", *use, *archives, *sets("train.epochs=1"), "--out", "r")
    weir("predict", *use, *archives, *sets("predict.weights=r/weights.nc"), "--out", "p")
    weir("prepare", *use, *archives, *sets("import.climate=true", "import.convert=false"), "--out", "c")
    os.mkdir("coefficients")
    weir("eval", *use, *archives, *sets("eval.quantities=[z500]", "eval.leads=[48]",
         "eval.models=[{use: raw}, {use: {emos: {save: coefficients}}}]"), "--out", "e")
    return ["a/forecast.nc", "a/truth.nc", "p/predictions.nc", "c/climate.nc", "e/maps.nc", "coefficients/emos_z500_48h.nc"]


def cosmoflow():
    use = ["--config", tiny]
    weir("prepare", *use, *sets("simulate.universes=8", "simulate.side=16", "simulate.particles=16"), "--out", "u")
    parts = ["source.input=[u]", "train.epochs=1", "data.split.valid=2", "data.split.test=2"]
    weir("run", *use, *sets(*parts), "--out", "r")
    weir("predict", "u", *sets("predict.weights=r/weights.nc"), "--out", "p")
    weir("convert", "u/universes-00000000.nc", *sets("convert.format=netcdf"), "--out", "c")
    weir("run", *sets(*parts, "model.net={unet: {levels: 1, base: 2}}", "train.batch=2"), "--out", "s")
    weir("predict", "u", *sets("predict.weights=s/weights.nc"), "--out", "m")
    converted = [os.path.join("c", name) for name in sorted(os.listdir("c")) if name.endswith(".nc")]
    return ["u/universes-00000000.nc", "p/predictions.nc", "m/classes.nc", *converted[:1]]


def physio_stream():
    use = ["--config", tiny]
    weir("prepare", *use, "--out", "a")
    weir("run", *use, "--out", "b")
    weir("convert", "--input", "a/ecgsyn", *sets("convert.annotations=a/ecgsyn.atr"), "--out", "c")
    weir("run", *use, *sets(
        "query={streams: [{name: ecg}], steps: [{name: slow, from: [ecg], do: {resample: {rate: 62.5}}}], "
        "outputs: [{stream: ecg, format: netcdf}, {stream: slow, format: netcdf}]}"), "--out", "q")
    return ["b/beats.nc", "b/features.nc", "c/ecgsyn.nc", "q/results.nc"]


def quantum_transport():
    chain = sets("device={chain: {sites: 20, onsite: 4.4561, hopping: -2.22806, spacing: 3}}",
                 "energy={min: -0.4, max: 0.6, points: 41}", "contact.bias=0.1")
    weir("run", "--config", tiny, *sets("output.bond_currents=true"), "--out", "t")
    weir("run", *chain, *sets("scattering={kind: born, phonons: {frequencies: 4, device: "
         "{harmonic_chain: {sites: 20, spacing: 3, spring: 104.417, mass: 28.0855}}}, gradient: {exponent: 1}}"), "--out", "s")
    found = ["t/transport.nc"]
    return found + [os.path.join("s", name) for name in sorted(os.listdir("s")) if name.endswith(".nc") and name.count(".") == 1]


TYPES = {"S1", "int8", "int16", "int32", "float32", "float64"}
NAMES = ("coordinates", "ancillary_variables", "bounds", "grid_mapping")


def check_names(path, data, name, variable):
    for attribute in NAMES:
        words = getattr(variable, attribute, "").split()
        assert len(set(words)) == len(words), f"{path}: {name}: {attribute} names one twice: {words}"
        for word in words:
            assert word in data.variables, f"{path}: {name}: {attribute}: there is no {word}"
            assert attribute != "coordinates" or word not in variable.dimensions, \
                f"{path}: {name}: coordinates names a dimension, {word}"
    if hasattr(variable, "bounds"):
        limits = data[variable.bounds]
        assert limits.dimensions[:-1] == variable.dimensions and limits.shape[-1] == 2, f"{path}: {variable.bounds}"
    for word in getattr(variable, "cell_methods", "").split():
        known = {*data.variables, *data.dimensions, *(getattr(v, "standard_name", "") for v in data.variables.values()), "area", "time"}
        assert not word.endswith(":") or word[:-1] in known, f"{path}: {name}: cell_methods is of {word}"


def check_file(path):
    with netCDF4.Dataset(path) as data:
        data.set_auto_mask(False)
        assert "CF-1.8" in data.Conventions.split(), path
        assert app == "weather_ensemble" or data.title.strip(), path  # archives have that of their source
        for name, variable in data.variables.items():
            kind = "S1" if variable.dtype == "S1" else "text" if variable.dtype is str else str(variable.dtype)
            assert kind in TYPES or (kind == "text" and variable.ndim == 0), f"{path}: {name} is {kind}"
            for attribute in ("flag_masks", "flag_values", "_FillValue", "valid_range"):
                value = getattr(variable, attribute, None)
                assert value is None or np.asarray(value).dtype == variable.dtype, f"{path}: {name}: type of {attribute}"
            units = getattr(variable, "units", "1")
            assert units.strip() and "variable_units" not in units, f"{path}: {name}: units '{units}'"
            if " since " in units and variable.size:
                first = np.asarray(variable[:]).flat[0]
                netCDF4.num2date(first, units, getattr(variable, "calendar", "standard"))
                assert variable.dtype == "float64" and first == np.round(first), f"{path}: {name}: no exact times"
            check_names(path, data, name, variable)


def check_clock(path, name, rate):
    """Slot k of a stream is at k / rate, to the microsecond that is nearest."""
    with netCDF4.Dataset(path) as data:
        time = np.asarray(data[name][:])
        assert data[name].units.startswith("microseconds since")
        exact = [(2000000 * k * rate[1] + rate[0]) // (2 * rate[0]) for k in range(len(time))]
        assert len(time) > 1000 and np.array_equal(time.astype(np.int64) - int(time[0]), exact), f"{path}: {name}"


files = globals()[app]()
for file in files:
    check_file(file)
if app == "physio_stream":
    check_clock("b/features.nc", "time", (256, 1))
    check_clock("c/ecgsyn.nc", "time", (256, 1))
    check_clock("q/results.nc", "time_125_2", (125, 2))
for file in files if checker else []:
    found = subprocess.run(["/usr/bin/python3", os.path.join(checker, "bin", "compliance-checker"), "--test", "cf:1.8", file],
                           env={**os.environ, "PYTHONPATH": checker}, capture_output=True, text=True)
    report = found.stdout + found.stderr
    # Its status counts warnings, too: of features that are no time series, and of orders of dimensions.
    assert "Compliance Checker Report" in report and "Errors" not in report.split(), f"{file}\n{report}"
print(f"{len(files)} files of {app} keep the rules{' and pass compliance-checker' if checker else ''}")
