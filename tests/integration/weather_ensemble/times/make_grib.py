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


def two(start, span, statistic, param, value, number=None):
    """A message of edition 2 (templates 4.8 and 4.11; instants 4.0); span in hours, of table 4.10 `statistic`."""
    interval = statistic is not None
    keys = {"centre": 98, "dataDate": 20200101 + start // 24, "dataTime": 100 * (start % 24),
            "productDefinitionTemplateNumber": (8 if interval else 0) if number is None else (11 if interval else 1)}
    if interval:
        keys["typeOfStatisticalProcessing"] = statistic
    if number is not None:
        keys |= {"perturbationNumber": number, "numberOfForecastsInEnsemble": 3}
    keys |= {"paramId": param, "startStep": span[0], "endStep": span[1]}
    return message(2, keys, value)


MEAN, SUM = 0, 1
TEMPERATURE, PRECIPITATION = 167, 228


def sums_of_ensemble(spans):
    """Precipitation of three members from two initialisation times; valid when the span ends."""
    return [two(start, span, SUM, PRECIPITATION, value, number + 1)
            for start in (0, 24) for span in spans for number, value in enumerate(members(start + span[1]))]


def sums(init_times, spans, make=two):
    return [make(start, span, SUM, PRECIPITATION, truth(start + span[1])) for start in init_times for span in spans]


def one_sum(start, span, statistic, param, value):
    """Edition 1; 4 is its code for accumulations, 0 for what it has of no range."""
    indicator = 4 if statistic == SUM else 0
    return one(start % 24, span, param, indicator, value, day=20200101 + start // 24)


MINUTES, HOURS, MONTHS = 0, 1, 3  # code table 4.4


def warm(unit, steps, level=None):
    """Temperature of three members from two initialisation times, 24 h, which is so many steps of the unit."""
    keys = {"centre": 98, "dataTime": 0, "productDefinitionTemplateNumber": 1, "numberOfForecastsInEnsemble": 3,
            "indicatorOfUnitOfTimeRange": unit, "forecastTime": steps, **(level or {"paramId": TEMPERATURE})}
    return [message(2, {"dataDate": 20200101 + start // 24, **keys, "perturbationNumber": number + 1}, value)
            for start in (0, 24) for number, value in enumerate(members(start + 24))]


FILES = {
    "warm_minutes.grib": lambda: warm(MINUTES, 1440),
    "warm_months.grib": lambda: warm(MONTHS, 1),
    "warm_hybrid.grib": lambda: warm(HOURS, 24, {"shortName": "t", "typeOfFirstFixedSurface": 105,
                                                 "scaleFactorOfFirstFixedSurface": 0,
                                                 "scaledValueOfFirstFixedSurface": 100}),
    "warm_80m.grib": lambda: warm(HOURS, 24, {"shortName": "t", "typeOfFirstFixedSurface": 103,
                                              "scaleFactorOfFirstFixedSurface": 0,
                                              "scaledValueOfFirstFixedSurface": 80}),
    "warm_truth.grib": lambda: [one(0, (0, 0), TEMPERATURE, 0, truth(24 * day), day=20200101 + day)
                                for day in (1, 2)],
    "rain_ensemble.grib": lambda: sums_of_ensemble([(0, 24), (0, 48)]),
    "rain_truth_24.grib": lambda: sums((0, 24, 48), [(0, 24)], one_sum),
    "rain_truth_1.grib": lambda: sums((6, 18, 30, 42, 54, 66), [(5, 6)], one_sum),
    "rain_truth_mixed.grib": lambda: sums((0,), [(0, 24), (0, 48)]),
    "rain_truth_unstated.grib": lambda: [one(0, (24, 0), PRECIPITATION, 0, truth(24 + day * 24), day=20200101 + day)
                                         for day in range(3)],
    "warm_ensemble.grib": lambda: [two(start, (24, 24), None, TEMPERATURE, value, number + 1) for start in (0, 24)
                                   for number, value in enumerate(members(start + 24))],
    "warm_truth_mean.grib": lambda: [two(start, (0, 24), MEAN, TEMPERATURE, truth(start + 24))
                                     for start in (0, 24)],
    "gust_truth.grib": lambda: gusts_of_era5((1, 6, 12)),
    "gust_truth_twice.grib": lambda: gusts_of_era5((12, 13)) + [one(18, (0, 1), 49, MAXIMUM, truth(19))],
    "gust_ensemble.grib": gusts_of_ensemble,
}

if __name__ == "__main__":
    for name, make in FILES.items():
        with open(f"{sys.argv[1]}/{name}", "wb") as out:
            for data in make():
                out.write(data)
