#!/usr/bin/env bash
# auto.sh COSMOFLOW SOURCE: describe --grid auto of the benchmark for 16 ranks ends at the first signal, and takes well below the
# twelve minutes that it once took, on a machine that is busy with other tests.
set -u
program=$1
source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  cat "$work/err"
  echo "failed: $*"
  exit 1
}
describe=("$program" describe --config "$source/configs/cosmoflow/mlperf.yaml" --grid auto --set describe.ranks=16)
for signal in INT TERM; do
  status=0
  timeout --preserve-status -s $signal -k 20 0.5 "${describe[@]}" >"$work/out" 2>"$work/err" || status=$?
  [ $status = 9 ] || fail "SIG$signal: status $status"
  grep -q 'stopped by signal' "$work/err" || fail "SIG$signal: it does not say so"
done
timeout -k 1 240 "${describe[@]}" >"$work/out" 2>"$work/err" || fail "status $? after 240 s at most"
[ "$(grep -cE '^[0-9]+x[0-9]+x[0-9]+x[0-9]+ ' "$work/out")" = 31 ] || fail "not all 31 grids of 16 ranks are listed"
[ "$(grep -c 'chosen' "$work/out")" = 1 ] || fail "none is chosen"
