"""make_grib.py FOLDER - the stored GRIB files of times.py, written with the Python interface of ecCodes 2.50:
python3 -m venv v && v/bin/pip install eccodes && v/bin/python make_grib.py .

Fields are 2 x 4 points; the value is given by kind and valid time (see `truth` and `members`) plus the column.
times.py imports those two functions and needs no ecCodes."""
import datetime
import sys

COLUMNS, ROWS = 4, 2
DAY = datetime.datetime(2020, 1, 1)


def truth(valid):
    """What came true at so many hours after DAY."""
    return 10 + 3 * valid


def members(valid):
    """The three members that are valid then."""
    return [truth(valid) + 1, truth(valid) + 2, truth(valid) + 6]


def message(edition, keys, value):
    import eccodes as ec

    h = ec.codes_grib_new_from_samples(f"regular_ll_sfc_grib{edition}")
    grid = {"Ni": COLUMNS, "Nj": ROWS, "latitudeOfFirstGridPointInDegrees": 45,
            "latitudeOfLastGridPointInDegrees": 35, "longitudeOfFirstGridPointInDegrees": 0,
            "longitudeOfLastGridPointInDegrees": 30, "iDirectionIncrementInDegrees": 10,
            "jDirectionIncrementInDegrees": 10, "bitsPerValue": 16}
    for key, to in {**grid, **keys}.items():
        ec.codes_set(h, key, to)
    ec.codes_set_array(h, "values", [value + k % COLUMNS for k in range(ROWS * COLUMNS)])
    data = ec.codes_get_message(h)
    ec.codes_release(h)
    return data


def one(hour, span, param, indicator, value, number=None, day=20200101):
    """A message of edition 1 as ECMWF's MARS delivers it; span: (first, last) hour of the step range."""
    keys = {"centre": 98, "dataDate": day, "dataTime": 100 * hour, "indicatorOfParameter": param,
            "table2Version": 128, "indicatorOfTypeOfLevel": 1, "unitOfTimeRange": 1,
            "P1": span[0], "P2": span[1], "timeRangeIndicator": indicator}
    if number is not None:
        keys = {"setLocalDefinition": 1, "localDefinitionNumber": 1, "type": "pf", "stream": "enfo",
                "expver": "0001", "perturbationNumber": number, "numberOfForecastsInEnsemble": 3, **keys}
    return message(1, keys, value)


MAXIMUM = 2  # timeRangeIndicator


def gusts_of_era5(steps):
    """10fg of ERA5: forecasts from 06 and 18 UTC, the maximum of the hour before each step."""
    return [one(hour, (step - 1, step), 49, MAXIMUM, truth(hour + step)) for hour in (6, 18) for step in steps]


def gusts_of_ensemble():
    return [one(hour, (step - 1, step), 49, MAXIMUM, value, number + 1)
            for hour in (0, 12) for step in (12, 18) for number, value in enumerate(members(hour + step))]


FILES = {
    "gust_truth.grib": lambda: gusts_of_era5((1, 6, 12)),
    "gust_truth_twice.grib": lambda: gusts_of_era5((12, 13)) + [one(18, (0, 1), 49, MAXIMUM, truth(19))],
    "gust_ensemble.grib": gusts_of_ensemble,
}

if __name__ == "__main__":
    for name, make in FILES.items():
        with open(f"{sys.argv[1]}/{name}", "wb") as out:
            for data in make():
                out.write(data)
