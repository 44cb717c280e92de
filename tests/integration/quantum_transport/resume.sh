#!/usr/bin/env bash
# resume.sh PROGRAM: a run that is stopped, killed, or killed with its newest checkpoint damaged afterwards is resumed by the same
# command, with the bits of one that nobody disturbed; checkpoints of another configuration are refused.
set -u
program=$1
work=$(mktemp -d)
process=
trap '[ -z "$process" ] || kill -KILL "$process" 2>/dev/null; rm -rf "$work"' EXIT
fail() {
  [ ! -s "$work/log" ] || cat "$work/log"
  echo "failed: $*"
  exit 1
}
points=601
# command_of FOLDER FLAGS...: makes it the array `line`.
command_of() {
  local out=$1
  shift
  line=("$program" run --set 'device={agnr: {width: 5, length: 4, disorder: 1}}' --set energy.points=$points
    --set output.bond_currents=true --out "$work/$out" "$@")
}
run() {
  command_of "$@"
  "${line[@]}" >"$work/log" 2>&1
}
written() { grep -c '"event": "checkpoint"' "$work/$1/run.jsonl" 2>/dev/null || true; }
newest() { find "$work/$1" -name 'checkpoint-*' ! -name '*.tmp-*' ! -name '*.damaged' | sort | tail -n 1; }

# interrupted SIGNAL FOLDER COUNT FLAGS...: the run gets the signal once it has written COUNT checkpoints; 1: it had ended before.
interrupted() {
  local signal=$1 out=$2 count=$3
  shift 3
  rm -rf "${work:?}/$out"
  command_of "$out" --threads 1 --set checkpoint.interval=0.000001 "$@"
  "${line[@]}" >"$work/log" 2>&1 &
  process=$!
  while kill -0 "$process" 2>/dev/null && { n=$(written "$out"); [ "${n:-0}" -lt "$count" ]; }; do
    sleep 0.01
  done
  kill -"$signal" "$process" 2>/dev/null
  status=0
  wait "$process" 2>/dev/null || status=$?
  process=
  [ $status != 0 ]
}

# With more points where a fast machine had ended before the signal.
interrupt() {
  for _ in 1 2 3 4; do
    interrupted "$@" && return
    points=$((points * 2))
    rm -rf "$work/whole"
    run whole --threads 1 || fail "a run of $points energies"
  done
  fail "the run cannot be interrupted in time"
}
# resumed FOLDER FLAGS...: the same command ends as an undisturbed run and leaves no checkpoint.
resumed() {
  local out=$1
  shift
  run "$out" --threads 2 "$@" || fail "$out: it cannot be resumed"
  grep -q 'resumed: [0-9]* of' "$work/log" || fail "$out: it begins again"
  cmp -s "$work/whole/spectra.csv" "$work/$out/spectra.csv" || fail "$out: other spectra"
  [ -z "$(newest "$out")" ] || fail "$out: a checkpoint is left"
  [ "$(grep -c '"event": "resume"' "$work/$out/run.jsonl")" = 1 ] || fail "$out: the log does not tell of it"
  if [ -e "$work/whole/transport.nc" ] && /usr/bin/python3 -c 'import netCDF4' 2>/dev/null; then
    /usr/bin/python3 - "$work/whole/transport.nc" "$work/$out/transport.nc" <<'END_OF_PYTHON' || fail "$out: other arrays"
import sys, netCDF4
with netCDF4.Dataset(sys.argv[1]) as a, netCDF4.Dataset(sys.argv[2]) as b:
    sys.exit(a.variables.keys() != b.variables.keys() or any(a[k][...].tobytes() != b[k][...].tobytes() for k in a.variables))
END_OF_PYTHON
  fi
}

run whole --threads 1 || fail "a run"

interrupt TERM stopped 1
[ "$status" = 9 ] || fail "stopped: status $status"
done=$(sed -n 's/^stopped after \([0-9]*\) of [0-9]* points: repeat the command to resume it$/\1/p' "$work/log")
[ -n "$done" ] || fail "stopped: what was done is not reported"
case $(newest stopped) in
  *checkpoint-$(printf %09d "$done").*) ;;
  *) fail "stopped after $done points: the newest checkpoint is $(newest stopped)" ;;
esac

# What another configuration says is refused, and changes nothing.
before=$(newest stopped; cksum "$(newest stopped)")
refused() {
  local text=$1
  shift
  status=0
  run stopped --threads 1 "$@" || status=$?
  [ $status = 2 ] || fail "$*: status $status"
  grep -q "error: .*checkpoint-.*: a checkpoint of a run with $text.*--overwrite" "$work/log" || fail "$*: the reason is missing"
  [ "$before" = "$(newest stopped; cksum "$(newest stopped)")" ] || fail "$*: the checkpoint is changed"
}
refused "another device" --set 'device={agnr: {width: 5, length: 4, disorder: 1.1}}'
refused "other options of leads" --set lead.eta=1e-5
refused "other energies" --set energy.max=2.4
refused "other energies or another energy.shift" --set energy.shift=1e-7
refused "other outputs" --set output.dos=false
refused "other slabs" --set parallel.slabs=2
refused "other slabs of the device" --set parallel.slabs=3
status=0
run stopped --set checkpoint.resume=false || status=$?
[ $status = 2 ] && grep -q 'is not empty' "$work/log" || fail "checkpoint.resume=false: status $status"
resumed stopped

interrupt KILL killed 1
resumed killed

interrupt KILL raw 1 --set checkpoint.format=raw
resumed raw --set checkpoint.format=raw

# The newest of two is cut short: the one before is taken.
interrupt KILL damaged 2
truncate -s 4096 "$(newest damaged)"
run damaged --threads 1 || fail "damaged: it cannot be resumed"
grep -q 'this checkpoint is skipped' "$work/log" || fail "damaged: it is not reported"
cmp -s "$work/whole/spectra.csv" "$work/damaged/spectra.csv" || fail "damaged: other spectra"

# --overwrite begins again.
interrupt KILL again 1
run again --threads 1 --overwrite || fail "again: status $?"
! grep -q 'resumed: ' "$work/log" || fail "again: it is resumed"
cmp -s "$work/whole/spectra.csv" "$work/again/spectra.csv" || fail "again: other spectra"
echo "stopped, killed and damaged runs of $points energies are resumed"
