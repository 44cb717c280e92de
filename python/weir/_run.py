"""The folder of a run: its tables, data sets, events and provenance."""

import functools
import json
import pathlib


def open_table(path):
    """A CSV file of Weir as a pandas.DataFrame; empty cells are NaN."""
    import pandas as pd

    return pd.read_csv(path, float_precision="round_trip")


class Run:
    """What a command wrote to its folder. Files are read when they are asked for."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        if not (self.folder / "run.jsonl").exists():
            raise FileNotFoundError(f"{self.folder}: there is no run.jsonl: name a folder given to --out of a Weir program, or a step of a flow")

    def __repr__(self):
        return f"<weir.Run {self.folder}: {self.provenance.get('program', 'unfinished')}; tables {self.tables}; data sets {self.datasets}>"

    @functools.cached_property
    def provenance(self):
        """Program, version, build, command, seed and digests of inputs; empty while a run has not got so far."""
        path = self.folder / "provenance.json"
        return json.loads(path.read_text()) if path.exists() else {}

    @property
    def tables(self):
        """Names for `table`."""
        return sorted(path.stem for path in self.folder.glob("*.csv"))

    @property
    def datasets(self):
        """Names for `dataset`."""
        return sorted(path.stem for path in self.folder.glob("*.nc"))

    def _path(self, name, suffix, known):
        path = self.folder / (name + suffix)
        if not path.exists():
            raise FileNotFoundError(f"{self.folder}: there is no {name}{suffix}; known: {', '.join(known) or 'none'}")
        return path

    def table(self, name="scores"):
        """A table as a pandas.DataFrame."""
        return open_table(self._path(name, ".csv", self.tables))

    def dataset(self, name):
        """A NetCDF file as an xarray.Dataset, in memory."""
        import xarray as xr

        with xr.open_dataset(self._path(name, ".nc", self.datasets)) as file:
            return file.load()

    def events(self, name=None):
        """Events of run.jsonl as a pandas.DataFrame: those of one name ("epoch_end", "score", ..), or all."""
        import pandas as pd

        rows = []
        with open(self.folder / "run.jsonl") as file:
            for line in file:
                if not line.endswith("\n"):
                    break  # of a run that is being written, or was killed
                row = json.loads(line)
                if name is None or row["event"] == name:
                    rows.append(row)
        return pd.DataFrame(rows)


def open_run(folder):
    """The folder of a run, of any command of any program."""
    return Run(folder)
