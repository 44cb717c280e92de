"""whole.py - read(path): raises where a file of an application is cut, or is none of its format."""
import json
import os

import netCDF4


def read(path):
    name = os.path.basename(path)
    if name.endswith(".nc"):
        with netCDF4.Dataset(path) as f:
            for v in f.variables.values():
                v[...]
    elif name.endswith(".jsonl"):
        lines = open(path, encoding="utf-8").read()
        if not lines.endswith("\n"):
            raise ValueError("the last line has no end")
        return [json.loads(line) for line in lines.splitlines()]
    elif name.endswith(".json"):
        json.load(open(path, encoding="utf-8"))
    elif name.endswith((".yaml", ".csv", ".log")):
        if not open(path, encoding="utf-8").read().endswith("\n"):
            raise ValueError("the last line has no end")
    elif name.endswith((".html", ".svg")):
        if not open(path, encoding="utf-8").read().rstrip().endswith(">"):
            raise ValueError("cut")
    return None
