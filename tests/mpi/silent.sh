#!/usr/bin/env bash
# silent.sh PROGRAM RANKS_SH: where a rank fails, falls silent or is killed, all end, with a message and a status.
set -u
program=$1
ranks=$2
. "$(dirname "$0")/script.sh"

for how in agree silent killed; do
  status=0
  # Of two that wait, either may be the first to give up, and one of them waits for the other: for its words, one waits.
  [ $how = silent ] && count=2 || count=3
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
  esac
done
echo "three ways to fail"
