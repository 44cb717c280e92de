#!/usr/bin/env bash
# auto.sh COSMOFLOW SOURCE: describe --grid auto of the benchmark ends at the first signal; undisturbed it lists all grids.
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
# Whether SIGINT and SIGTERM have their handlers: on a busy machine that takes its time.
handles_signals() {
  [ "$(readlink /proc/$1/exe)" = "$(realpath "$program")" ] &&
    [ $((0x$(awk '/^SigCgt/ { print $2 }' /proc/$1/status) & 0x4002)) = $((0x4002)) ]
}
describe=("$program" describe --config "$source/configs/cosmoflow/mlperf.yaml" --grid auto --set)
for signal in INT TERM; do
  status=0
  "${describe[@]}" describe.ranks=4 >"$work/out" 2>"$work/err" &
  pid=$!
  until handles_signals $pid || ! kill -0 $pid; do sleep 0.05; done
  sleep 0.2
  kill -s $signal $pid
  wait $pid || status=$?
  [ $status = 9 ] || fail "SIG$signal: status $status"
  grep -q 'stopped by signal' "$work/err" || fail "SIG$signal: it does not say so"
done
timeout -k 1 240 "${describe[@]}" describe.ranks=2 >"$work/out" 2>"$work/err" || fail "status $? after 240 s at most"
[ "$(grep -cE '^[0-9]+x[0-9]+x[0-9]+x[0-9]+ ' "$work/out")" = 4 ] || fail "not all 4 grids of 2 ranks are listed"
[ "$(grep -c 'chosen' "$work/out")" = 1 ] || fail "none is chosen"
