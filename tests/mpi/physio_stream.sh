#!/usr/bin/env bash
# physio_stream.sh PHYSIO_STREAM ROOT RANKS_SH: records that ranks share are scored and converted as by one process.
set -u
program=$1
root=$2
ranks=$3
. "$(dirname "$0")/script.sh"
. "$(dirname "$0")/shared.sh"

mkdir "$work/db"
for seed in 1 2 3 4; do
  "$program" prepare --seed $seed --set ecgsyn.duration=40 --set ecgsyn.model.heart_rate=$((50 + 10 * seed)) --out "$work/p$seed" 2>"$work/log" || fail "prepare"
  sed "s/^ecgsyn /rec$seed /; s/^ecgsyn\.dat/rec$seed.dat/" "$work/p$seed/ecgsyn.hea" >"$work/db/rec$seed.hea"
  for suffix in dat atr; do cp "$work/p$seed/ecgsyn.$suffix" "$work/db/rec$seed.$suffix"; done
  echo "rec$seed" >>"$work/db/RECORDS"
done
on 1 run --set "input.records=[$work/db/RECORDS]" --out "$work/beats" || fail "run"

# Beats that are wrong and missing in some records: there is something to list.
cp "$work/beats/rec1/rec1.qrs" "$work/beats/rec3/rec3.qrs"
same_on_ranks scored eval --set "eval.records=[$work/db/RECORDS]" --set "eval.folder=$work/beats" --set eval.start=5
[ "$(wc -l <"$work/scored-3/errors.csv")" -gt 10 ] || fail "nothing is missed"
grep -q '^rec3,' "$work/scored-2/scores.csv" || fail "a record is not scored"
pairs=
for k in 1 2 3 4; do pairs+="{reference: $work/db/rec$k.atr, test: $work/beats/rec$k/rec$k.qrs},"; done
same_on_ranks pairs eval --set "eval.pairs=[$pairs]" --set eval.start=5

# A record that cannot be scored stops no other, and is named in the end; a pair stops all.
rm "$work/beats/rec2/rec2.qrs"
for n in 1 2 3; do
  ! on $n eval --set "eval.records=[$work/db/RECORDS]" --set "eval.folder=$work/beats" --set eval.start=5 --out "$work/three-$n" || fail "a record is missed"
  grep -q '1 of 4 records could not be scored (rec2)' "$work/log" || fail "the record is not named"
  [ "$(grep -c 'eval: error: rec2: ' "$work/log")" = 1 ] || fail "the reason is not given once"
  results "$work/three-$n" >"$work/results-$n"
  cmp "$work/results-1" "$work/results-$n" || fail "$n ranks: other results"
done
fails_on_ranks missing 3 'rec2.qrs: there is no such file' eval --set "eval.pairs=[$pairs]" --set eval.start=5
fails_on_ranks early 3 'record' eval --set "eval.pairs=[$pairs]" --set eval.start=500

# Each rank writes the files of its records.
for format in wfdb csv; do
  same_on_ranks "$format" convert --set "input.records=[$work/db/RECORDS]" --set convert.format=$format
  [ -s "$work/$format-3/rec4.hea" ] || [ $format = csv ] || fail "rec4 is not converted"
done
cmp "$work/db/rec2.dat" "$work/wfdb-2/rec2.dat" || fail "other samples than those of the record"
grep -q '"name": "rec2.dat"' "$work/wfdb-2/run-rank1.jsonl" || fail "the log of rank 1 does not list its files"
# A second conversion finds what ranks have written, and replaces nothing that is not theirs.
! on 2 convert --set "input.records=[$work/db/RECORDS]" --set convert.format=wfdb --out "$work/wfdb-2" || fail "a folder in use"
mkdir "$work/mixed-2"
cp "$work/db/rec1.hea" "$work/mixed-2/rec2.hea"
! on 2 convert --overwrite --set "input.records=[$work/db/RECORDS]" --set convert.format=wfdb --out "$work/mixed-2" || fail "a stranger's file"
cmp "$work/db/rec1.hea" "$work/mixed-2/rec2.hea" || fail "a stranger's file is replaced"
rm "$work/db/rec3.hea"
fails_on_ranks gone 3 'rec3' convert --set "input.records=[$work/db/rec3]" --set convert.format=wfdb
echo "4 records: the same on 1, 2 and 3 ranks"
