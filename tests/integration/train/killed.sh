#!/usr/bin/env bash
# SIGKILL at 20 random moments, half of them while a checkpoint is written: what a training ends with
# is what it ends with when it is left alone.
set -u
program=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
steps=150

begin=$(date +%s%N)
whole=$("$program" "$work/whole" $steps 1) || { echo "FAIL: the training alone ends with $?"; exit 1; }
took=$((($(date +%s%N) - begin) / 1000)) # microseconds
kills=0
early=0
newest() { find "$work/killed" -name 'checkpoint-*' ! -name '*.tmp-*' 2> "$work/no" | sort | tail -n 1; }
while [ $kills -lt 20 ]; do
  # Twenty of them sum up to half of the time; every second one is counted from a new checkpoint on, so
  # that a slow start does not keep all of them from getting anywhere.
  delay=$(((RANDOM * 32768 + RANDOM) % (took / 20 + 1)))
  before=$(newest)
  "$program" "$work/killed" $steps 2 > "$work/out" 2> "$work/err" &
  child=$!
  while [ $((kills % 2)) -eq 1 ] && [ "$(newest)" = "$before" ] && kill -0 $child 2> "$work/no"; do
    sleep 0.002
  done
  sleep "$(printf '%d.%06d' $((delay / 1000000)) $((delay % 1000000)))"
  if kill -9 $child 2> "$work/no"; then
    kills=$((kills + 1))
  else
    early=1
  fi
  wait $child 2> "$work/no"
  [ $early -eq 1 ] && { echo "FAIL: it ended after $kills kills: $(cat "$work/err")"; exit 1; }
done
left=$(find "$work/killed" -name '*.tmp-*' 2> "$work/no" | wc -l)
killed=$("$program" "$work/killed" $steps 2 2> "$work/err") || { cat "$work/err"; exit 1; }
echo "alone: $((took / 1000)) ms; killed $kills times, $left unfinished files; $(cat "$work/err")"
[ "$whole" = "$killed" ] || { echo "FAIL: $whole is not $killed"; exit 1; }
grep -q 'began after step [1-9]' "$work/err" || { echo "FAIL: nothing was gone on from"; exit 1; }
[ -z "$(find "$work/killed" -name '*.tmp-*')" ] || { echo "FAIL: unfinished files stay"; exit 1; }
[ "$(find "$work/killed" -name 'checkpoint-*' | wc -l)" -eq 2 ] || { echo "FAIL: not 2 checkpoints"; exit 1; }
