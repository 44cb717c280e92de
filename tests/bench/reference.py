"""reference.py FOLDER SCRIPT FUNCTION RUNS NAME:DTYPE... KEY=NUMBER...

Calls FUNCTION of SCRIPT with the arrays FOLDER/in_NAME and the numbers as keyword arguments, once
unmeasured and RUNS times measured, writes what it returns (an array or a tuple of arrays) to
FOLDER/out_0, out_1, ... and prints the seconds of the best run, the number of outputs, and what version()
of SCRIPT returns, or NumPy's version. FUNCTION may
also return a function without arguments that, called once after the last run, returns them.
"""

import importlib.util
import os
import sys
import time

import numpy as np


def load(script):
    spec = importlib.util.spec_from_file_location("operations", script)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main():
    folder, script, function, runs = sys.argv[1:5]
    sys.dont_write_bytecode = True
    arguments = {}
    for word in sys.argv[5:]:
        if ":" in word:
            name, dtype = word.split(":")
            array = np.fromfile(os.path.join(folder, "in_" + name), dtype="<" + dtype)
            arguments[name] = array.view(bool) if dtype == "u1" else array
        else:
            name, value = word.split("=")
            number = float(value)
            arguments[name] = int(number) if number == int(number) else number
    module = load(script)
    call = getattr(module, function)
    result = call(**arguments)
    best = float("inf")
    for _ in range(int(runs)):
        start = time.perf_counter()
        result = call(**arguments)
        best = min(best, time.perf_counter() - start)
    result = result() if callable(result) else result
    outputs = result if isinstance(result, tuple) else (result,)
    for k, array in enumerate(outputs):
        np.ascontiguousarray(array).tofile(os.path.join(folder, "out_%d" % k))
    print(best, len(outputs), module.version() if hasattr(module, "version") else np.__version__)


main()
