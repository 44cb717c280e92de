#!/usr/bin/env bash
# train.sh PROGRAM RANKS_SH RANKS: trainings on so many ranks against one; where one is killed, all end, and the run goes on
# from its checkpoint, on the same grid to the same numbers and on another.
set -u
program=$1
ranks=$2
n=$3
. "$(dirname "$0")/script.sh"

mkdir "$work/tests"
bash "$ranks" "$n" "$program" "$n" "$work/tests"
status=$?
[ $status = 0 ] || exit $status
[ "$n" -gt 1 ] || exit 0

mkdir "$work/whole" "$work/killed"
bash "$ranks" "$n" "$program" "$n" "$work/whole" again >"$work/log" 2>&1 || fail "the run alone"
whole=$(grep 'after step 0: ' "$work/log" | sed 's/.*: //')
[ -n "$whole" ] || fail "it reports no loss"
status=0
timeout 60 bash "$ranks" "$n" "$program" "$n" "$work/killed" killed >"$work/log" 2>&1 || status=$?
[ $status != 124 ] || fail "killed: the others hang"
[ $status != 0 ] || fail "killed: no status"
[ -s "$work/log" ] || fail "killed: no message"
ls "$work/killed/run"/checkpoint-*6.* >"$work/log" 2>&1 || fail "killed: no checkpoint of the step before"
cp -r "$work/killed" "$work/other"
bash "$ranks" "$n" "$program" "$n" "$work/killed" again >"$work/log" 2>&1 || fail "it does not go on"
[ "$(grep 'after step 6: ' "$work/log" | sed 's/.*: //')" = "$whole" ] || fail "it does not end with $whole"
bash "$ranks" 1 "$program" 1 "$work/other" again >"$work/log" 2>&1 || fail "one rank does not go on"
one=$(grep 'after step 6: ' "$work/log" | sed 's/.*: //')
awk -v a="$one" -v b="$whole" 'BEGIN { d = a - b; exit !(a != "" && (d < 0 ? -d : d) <= 1e-9 * (b < 0 ? -b : b)) }' ||
  fail "one rank ends with $one, not $whole"
echo "a killed rank of $n: $whole in the end"
