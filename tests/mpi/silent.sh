#!/usr/bin/env bash
# silent.sh PROGRAM RANKS_SH: where a rank fails, falls silent, is killed or stopped, all end, with a message and a status.
set -u
program=$1
ranks=$2
. "$(dirname "$0")/script.sh"

for how in agree silent killed stopped; do
  status=0
  # Of two that wait, either may be the first to give up, and one of them waits for the other: for its words, one waits.
  case $how in silent | stopped) count=2 ;; *) count=3 ;; esac
  timeout 60 bash "$ranks" $count "$program" $how >"$work/log" 2>&1 || status=$?
  [ $status != 77 ] || { cat "$work/log"; exit 77; }
  [ $status != 124 ] || fail "$how: the ranks hang"
  [ $status != 0 ] || fail "$how: no status"
  case $how in
    agree)
      [ $status = 6 ] || fail "$how: status $status"
      [ "$(grep -c 'rank 2 of 3 failed: loss of step 7 is no number' "$work/log")" = 2 ] || fail "$how: not both others say so"
      ;;
    silent)
      grep -q "'sum of a step' timed out after 1 s.*for rank 1 (8 bytes to \(come\|go\))" "$work/log" || fail "$how: what is missing is not reported"
      ;;
    stopped)
      grep -q "rank 0 of 2: 'sum of a step' stalls.*for rank 1 (8 bytes to \(come\|go\))" "$work/log" || fail "$how: the stall is not reported"
      grep -q "rank 0 of 2: 'sum of a step' timed out after [0-9.]* s.*for rank 1 (8 bytes to \(come\|go\))" "$work/log" || fail "$how: what is missing is not reported"
      [ $status = 8 ] || fail "$how: status $status"
      ;;
  esac
done
echo "four ways to fail"
