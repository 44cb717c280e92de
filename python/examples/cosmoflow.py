"""cosmoflow.py RUN PREDICT - the arrays of trained weights, and the errors of predictions by parameter on the test universes.

F=out/demo/cosmoflow; python3 cosmoflow.py $F/finetune $F/predict"""

import sys

import numpy as np

import weir

if len(sys.argv) != 3:
    sys.exit(__doc__)
run, predict = map(weir.open_run, sys.argv[1:])
weights = weir.load_weights(run.folder / "weights.nc")
weights = {name: array for name, array in weights.items() if array.dtype.kind == "f"}  # "samples" is a digest
print(f"{len(weights)} arrays, {sum(array.size for array in weights.values())} parameters:")
for name, array in list(weights.items())[:4]:
    print(f"  {name} {list(array.shape)}, standard deviation {array.std():.3g}")
data = weir.open_predictions(predict.folder / "predictions.nc")
test = data.where((data["part"] == 2) & (data["predicted"] == 1), drop=True)
for name in data["parameter"].values:
    error = (test["physPredicted"] - test["physPar"]).sel(parameter=name)
    print(f"  {name}: mean absolute error {np.abs(error).mean().item():.4g} on {error.size} samples")
