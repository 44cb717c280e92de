#!/usr/bin/env bash
# mlperf.sh COSMOFLOW SOURCE: workflows/cosmoflow/mlperf.sh on small universes with an easy target: a log for each number of ranks that
# `inspect` takes, a row of each, and a run that misses its target fails.
set -euo pipefail
program=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/small.yaml" <<'YAML'
simulate: {universes: 24, side: 8, particles: 16, box: 64, redshifts: [0], preset: wide2}
data: {scale: log_density, split: {valid: 8, test: 0}}
model: {net: {gap: {blocks: 2, base: 4, border: wrap, hidden1: 8, hidden2: 8}}}
train:
  epochs: 3
  batch: 4
  target: {metric: mae, value: 0.9}
  optim: {rule: adam, schedule: {lr: 0.003}}
mllog: {write: true, division: open}
YAML
status=0
"$program" describe --config "$work/small.yaml" >/dev/null
"$program" prepare --config "$work/small.yaml" --out "$work/probe" 2>"$work/log" || status=$?
[ $status != 7 ] || { echo "skipped: this build has no FFTW or NetCDF"; exit 77; }
ranks=(1)
[ "${WEIR_TEST_HAS_MPI:-TRUE}" != TRUE ] || ranks=(1 2)
PYTHON=none bash "$source/workflows/cosmoflow/mlperf.sh" "$program" "$work/small.yaml" "$work/out" "${ranks[@]}"
[ "$(wc -l <"$work/out/time_to_train.csv")" = $((${#ranks[@]} + 1)) ] || { echo "rows are missing" && exit 1; }
grep -q '^1,4,1,.*,not installed$' "$work/out/time_to_train.csv"
grep -q 'open division' "$work/out/ranks_1.inspect"
sed -i 's/value: 0.9/value: 0.001/' "$work/small.yaml"
! PYTHON=none bash "$source/workflows/cosmoflow/mlperf.sh" "$program" "$work/small.yaml" "$work/missed" 1 2>"$work/log" || exit 1
grep -q 'inspect refuses' "$work/log"
