"""physio_stream.py RUN EVAL - heart rate by minute of a run, and the scores of its evaluation.

python3 physio_stream.py out/demo/physio_stream/run out/demo/physio_stream/eval"""

import sys

import weir

if len(sys.argv) != 3:
    sys.exit(__doc__)
run, evaluation = map(weir.open_run, sys.argv[1:])
beats = weir.open_beats(run.folder)
rate = 60 / beats.groupby((beats["time"] // 60).astype(int))["rr"].median()
print(f"{len(beats)} beats, {beats['gap'].sum()} after gaps; heart rate by minute (1/min):")
print(rate.head(10).round(1).to_string())
print(evaluation.table("scores").to_string(index=False))
