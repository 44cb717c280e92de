#!/usr/bin/env bash
# records.sh PHYSIO_STREAM RANKS_SH: recordings divided over 1, 2 and 4 ranks give the files that one process gives,
# a recording that fails fails the run of all ranks, and a run of one recording is refused.
set -eu
program=$1
ranks=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "failed: $*"
  exit 1
}

for seed in 1 2 3; do
  "$program" prepare --seed $seed --set ecgsyn.duration=30 --out "$work/p$seed" 2>/dev/null
  mkdir -p "$work/r$seed"
  sed "s/^ecgsyn /rec$seed /; s/^ecgsyn\.dat/rec$seed.dat/" "$work/p$seed/ecgsyn.hea" >"$work/r$seed/rec$seed.hea"
  cp "$work/p$seed/ecgsyn.dat" "$work/r$seed/rec$seed.dat"
done
records="$work/r1/rec1,$work/r2/rec2,$work/r3/rec3"
"$program" run --threads 1 --set "input.records=[$records]" --out "$work/alone" 2>/dev/null

for n in 1 2 4; do
  status=0
  bash "$ranks" $n "$program" run --threads 1 --set "input.records=[$records]" --out "$work/n$n" >"$work/log" 2>&1 || status=$?
  [ $status != 77 ] || { cat "$work/log"; exit 77; }
  [ $status = 0 ] || { cat "$work/log"; fail "$n ranks: status $status"; }
  cmp "$work/alone/records.csv" "$work/n$n/records.csv" || fail "$n ranks: another table"
  for k in 1 2 3; do
    for file in beats.csv rec$k.qrs; do
      cmp "$work/alone/rec$k/$file" "$work/n$n/rec$k/$file" || fail "$n ranks: another $file"
    done
  done
  [ "$(cat "$work/n$n"/run*.jsonl | grep -c '"record_end"')" = 3 ] || fail "$n ranks: not every recording once"
done
[ "$(grep -c '"record_end"' "$work/n2/run.jsonl")" = 2 ] || fail "rank 0 of two runs recordings 0 and 2"
[ "$(grep -c '"record_end"' "$work/n2/run-rank1.jsonl")" = 1 ] || fail "rank 1 of two runs recording 1"

# The recording that is missing is that of rank 1: all ranks end with its status, and rank 0 names it.
status=0
bash "$ranks" 2 "$program" run --threads 1 --set "input.records=[$work/r1/rec1,$work/nowhere,$work/r3/rec3]" \
  --out "$work/bad" >"$work/log" 2>&1 || status=$?
[ $status = 3 ] || { cat "$work/log"; fail "a missing recording: status $status"; }
grep -q '1 of 3 recordings failed (nowhere)' "$work/log" || { cat "$work/log"; fail "it is not named"; }
grep -q '^nowhere,failed,' "$work/bad/records.csv" || fail "it is not in the table"
[ -s "$work/bad/rec3/rec3.qrs" ] || fail "others were stopped"

# A folder in use is refused before anything is written, by all.
status=0
bash "$ranks" 2 "$program" run --set "input.records=[$records]" --out "$work/n2" >"$work/log" 2>&1 || status=$?
[ $status = 2 ] || { cat "$work/log"; fail "a folder in use: status $status"; }
status=0
bash "$ranks" 2 "$program" run --set input.record="$work/r1/rec1" --out "$work/one" >"$work/log" 2>&1 || status=$?
[ $status = 2 ] && [ ! -e "$work/one" ] || { cat "$work/log"; fail "one recording: status $status"; }
# With --overwrite what ranks of an earlier run left is gone.
"$program" run --overwrite --set "input.records=[$records]" --out "$work/n2" 2>/dev/null
[ ! -e "$work/n2/run-rank1.jsonl" ] || fail "the log of a rank is left behind"
