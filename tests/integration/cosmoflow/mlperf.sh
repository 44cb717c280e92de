#!/usr/bin/env bash
# mlperf.sh COSMOFLOW SOURCE: workflows/cosmoflow/mlperf.sh on small universes whose only parameter is easy to estimate, with the target of
# the benchmark: a log for each number of ranks that `inspect` takes and, where mlperf-logging is there (of
# ./workflows/setup.sh bench, /usr/bin/python3 or WEIR_PYTHON), the official checker, a row of each, and a run that misses its target fails.
set -euo pipefail
program=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/small.yaml" <<'YAML'
simulate:
  universes: 120
  side: 8
  particles: 16
  box: 64
  redshifts: [0]
  preset: custom
  range: {omega_m: [0.3, 0.3], sigma_8: [0.2, 1.4], n_s: [0.96, 0.96], h: [0.7, 0.7]}
  fixed: true
  counts: cic
  values: f32
data: {scale: log1p, split: {valid: 20, test: 0}}
model: {net: {gap: {blocks: 2, base: 4, border: wrap, hidden1: 8, hidden2: 8}}}
train:
  epochs: 100
  batch: 4
  target: {metric: mae, value: 0.124}
  optim: {rule: adam, schedule: {lr: 0.01}}
mllog: {write: true, division: open}
YAML
status=0
"$program" describe --config "$work/small.yaml" >/dev/null
"$program" prepare --config "$work/small.yaml" --out "$work/probe" 2>"$work/log" || status=$?
[ $status != 7 ] || { echo "skipped: this build has no FFTW or NetCDF"; exit 77; }
ranks=(1)
[ "${WEIR_TEST_HAS_MPI:-TRUE}" != TRUE ] || ranks=(1 2)
python=$source/build/bench-python/bin/python official='not installed'
"$python" -c 'import mlperf_logging' 2>/dev/null || python=/usr/bin/python3
python=${WEIR_PYTHON:-$python}
! "$python" -c 'import mlperf_logging' 2>/dev/null || official=passed
PYTHON=$python bash "$source/workflows/cosmoflow/mlperf.sh" "$program" "$work/small.yaml" "$work/out" "${ranks[@]}"
[ "$(wc -l <"$work/out/time_to_train.csv")" = $((${#ranks[@]} + 1)) ] || { echo "rows are missing" && exit 1; }
grep -q "^1,4,.*,$official\$" "$work/out/time_to_train.csv"
grep -q 'open division' "$work/out/ranks_1.inspect"
sed -i 's/value: 0.124/value: 0.001/; s/epochs: 100/epochs: 2/' "$work/small.yaml"
! PYTHON=none bash "$source/workflows/cosmoflow/mlperf.sh" "$program" "$work/small.yaml" "$work/missed" 1 2>"$work/log" || exit 1
grep -q 'inspect refuses' "$work/log"
