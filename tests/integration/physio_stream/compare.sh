#!/usr/bin/env bash
# compare.sh PHYSIO_STREAM SOURCE: configs/physio_stream/compare.yaml, smaller: a rank computes as long as its recordings are; under
# allreduce every step takes as long as that of the rank with the longest ones, and losses are those of one rank; eager takes less time;
# repeated, the same bytes.
set -u
program=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  cat "$work/log"
  cat "$work/one/compare.csv"
  echo "failed: $*"
  exit 1
}
compare() {
  "$program" compare --config "$source/configs/physio_stream/compare.yaml" --config "$source/configs/networks/infiniband_hdr.yaml" \
    --set rhythm.train=64 --set rhythm.valid=16 --set 'rhythm.length={median: 15, sigma: 0.7, min: 4, max: 45}' --set rhythm.fibrillation.irregular=0.2 \
    --set rhythm.fibrillation.p=0 --set train.epochs=4 --set train.validate_every=2 --set train.shuffle=false \
    --set 'train.optim.schedule={lr: 0.01, warmup: 2}' --set scaling.runs=1 --set scaling.ranks=[1,4,8] \
    --set 'scaling.policies=[allreduce,eager,wagma,oktopk]' --log warn "${@:2}" --out "$work/$1" >"$work/log" 2>&1
}
compare one || fail "status $?"
[ ! -e "$work/one/trainings" ] || fail "trainings are left behind"
[ "$(wc -l <"$work/one/recordings.csv")" = 81 ] || fail "not 80 recordings"

# 8 batches of 8 in an epoch, in order: a rank has 8 / ranks neighbours of each. Messages take 1 % at most.
awk -F, -v OFS=, '
  FNR == 1 { file++; next }
  file == 1 { length_s[$1] = $4; next }
  file == 2 {
    sum = 0
    for (b = 0; b < 8; b++) for (i = 0; i < 8 / $2; i++) sum += length_s[8 * b + $4 * 8 / $2 + i]
    if (($5 / (4 * 0.001 * sum) - 1) ^ 2 > 1e-10) { print "rank " $0 ": not " 4 * 0.001 * sum; bad = 1 }
    computed[$1, $2] += $5; rows++
  }
  file == 3 {
    slowest = 0
    for (b = 0; b < 8; b++) {
      most = 0
      for (r = 0; r < $2; r++) {
        sum = 0
        for (i = 0; i < 8 / $2; i++) sum += length_s[8 * b + r * 8 / $2 + i]
        most = sum > most ? sum : most
      }
      slowest += 4 * 0.001 * most
    }
    if ($1 == "allreduce" && ($5 < slowest - 1e-6 || $5 > 1.01 * slowest)) { print $0 ": not " slowest " s"; bad = 1 }
    wait = 1 - computed[$1, $2] / $2 / $5
    if ($1 == "allreduce" && ($11 - wait) ^ 2 > 1e-6) { print $0 ": waits " wait; bad = 1 }
    time[$1, $2] = $5
  }
  END {
    if (rows != 4 * 13) { print rows " ranks"; bad = 1 }
    for (n = 4; n <= 8; n += 4) if (!(time["eager", n] < 0.97 * time["allreduce", n])) { print "eager is not faster on " n; bad = 1 }
    exit bad
  }' "$work/one/recordings.csv" "$work/one/computing.csv" "$work/one/compare.csv" || fail "times"

awk -F, '$1 == "allreduce" && $2 == 1 { loss[$4] = $6 }
  $1 == "allreduce" && $2 > 1 { n++; d = $6 / loss[$4] - 1; if (d < -1e-4 || d > 1e-4) { print; bad = 1 } }
  END { exit bad || n != 4 }' "$work/one/losses.csv" || fail "allreduce has other losses than one rank"
awk -F, '($1 == "allreduce" || $1 == "eager") && $3 > 0.4 { print; exit 1 }' "$work/one/compare.csv" || fail "nothing is learnt"

compare two || fail "the second time"
for file in compare losses computing recordings; do
  cmp "$work/one/$file.csv" "$work/two/$file.csv" || fail "the same command gives another $file.csv"
done

# Other seconds of computing: other times, the same losses.
compare slow --set compare.compute_s=0.002 --set 'scaling.policies=[allreduce]' --set scaling.ranks=[4] || fail "slower"
awk -F, 'FNR == 1 { next } $1 != "allreduce" || $2 != 4 { next } NR == FNR { s[$4] = $5; loss[$4] = $6; next }
  { n++; if ($6 != loss[$4] || $5 < 1.98 * s[$4] || $5 > 2.001 * s[$4]) exit 1 } END { exit n != 2 }' "$work/one/losses.csv" "$work/slow/losses.csv" ||
  fail "twice the time of computing"
