#!/usr/bin/env bash
# mlperf_target.sh COSMOFLOW SOURCE SIDE: the command of docs/guide/cosmoflow.md that trains configs/cosmoflow/mlperf_SIDE.yaml until it
# reaches the target of MLPerf HPC, by default on 1 and 2 ranks: each run ends at an error of 0.124 or less, and the official checker
# (mlperf-logging, of ./workflows/setup.sh bench, /usr/bin/python3 or WEIR_PYTHON) takes its log as it was written. Minutes: ctest -L study.
set -euo pipefail
program=$1 source=$2 side=$3
python=$source/build/bench-python/bin/python
"$python" -c 'import mlperf_logging' 2>/dev/null || python=/usr/bin/python3
python=${WEIR_PYTHON:-$python}
"$python" -c 'import mlperf_logging' 2>/dev/null || { echo "skipped: $python has no mlperf_logging (./workflows/setup.sh bench)"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ranks=(1)
[ "${WEIR_TEST_HAS_MPI:-TRUE}" != TRUE ] || ranks=(1 2)
PYTHON=$python bash "$source/workflows/cosmoflow/mlperf.sh" "$program" "$source/configs/cosmoflow/mlperf_$side.yaml" "$work/out" \
  "${ranks[@]}"
awk -F, -v ranks=${#ranks[@]} '
  NR == 1 { next }
  { rows++ }
  !($6 > 0 && $6 <= 0.124) || $7 != "passed" { print "misses the target, or is refused: " $0; bad = 1 }
  END { exit bad || rows != ranks }
' "$work/out/time_to_train.csv"
