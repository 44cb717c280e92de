"""quantum_transport.py RUN - current, transmission and density of states of a run; with sisl also the file of TBtrans.

python3 quantum_transport.py out/demo/quantum_transport/ribbon"""

import importlib.util
import sys

import weir

if len(sys.argv) != 2:
    sys.exit(__doc__)
run = weir.open_run(sys.argv[1])
data = weir.open_transport(run.folder / "transport.nc")
print(f"current {data['current'].item():.4g} A between {data['chemical_potential_left'].item()} and {data['chemical_potential_right'].item()} eV")
dos = data["dos"].weighted(data["weight"]).mean("k").sum("orbital") if "dos" in data else None
table = data[["mean_transmission"]].to_dataframe()
if dos is not None:
    table["dos"] = dos.values
print(table.iloc[:: max(len(table) // 8, 1)].to_string())
if importlib.util.find_spec("sisl") and (run.folder / "transport.TBT.nc").exists():
    print(weir.open_tbtrans(run.folder / "transport.TBT.nc"))
