#!/usr/bin/env bash
# grids.sh COSMOFLOW SOURCE: describe.grids of configs/cosmoflow/oyama512.yaml: steps of a 512^3 network on 64 to 1024 ranks, halos of
# slabs in closed form, bytes of the update with its shards, refusals.
set -u
program=$1
source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  cat "$work/out" "$work/err"
  echo "failed: $*"
  exit 1
}
options=(--config "$source/configs/cosmoflow/oyama512.yaml" --set exec.machine="$source/configs/machines/epyc_9654.yaml" --threads 1)
describe() { "$program" describe "${options[@]}" "$@" >"$work/out" 2>"$work/err"; }
rows() { grep -E '^ *[0-9]+ [0-9]+x[0-9]+x[0-9]+x[0-9]+ ' "$work/out"; }
between() { awk -v x="$1" -v lo="$2" -v hi="$3" 'BEGIN { exit !(x >= lo && x <= hi) }'; }

status=0
describe || status=$?
[ $status != 7 ] || { echo "skipped: this build has no YAML"; exit 77; }
[ $status = 0 ] || fail "status $status"
[ "$(rows | wc -l)" = 14 ] || fail "not all 14 grids are listed"
rows | awk '/fastest/ { if (n++ && ($1 <= ranks || $3 >= last)) bad = 1; ranks = $1; last = $3 } END { exit bad || n != 5 }' ||
  fail "not one grid of each number of ranks is the fastest, or more ranks are slower"
# Activations of a rank: a half for twice the ranks, but for halos and coarse maps.
rows | awk '$1 == 64 && !a { a = $9 } $1 == 1024 { b = $9 } END { exit !(b > 0 && a / b > 8 && a / b < 16) }' || fail "memory of 1024 ranks"
cp "$work/out" "$work/all"
describe && cmp -s "$work/out" "$work/all" || fail "a second prediction has other numbers"

# The network of MLPerf on 128^3, slabs of a quarter, both neighbours: 2 x (256 + 512 + 256 + 128 + 64) KiB of maps; gradients of
# 2 x (1024 + 512 + 256 + 128) KiB come pooled, a value and the byte of its place for 4 x 4 bytes.
describe --set model.net=mlperf --set describe.side=128 --set train.batch=1 --set grid.replicate_below.depth=0 \
  --set 'describe.grids=[1x4]' || fail "slabs of 128^3"
between "$(rows | awk '{ print $7 }')" 3.718 3.72 || fail "halos of slabs: $(rows | awk '{ print $7 }') MB, not 3632 KiB"

# 9438644 elements, two states of adam: on 64 ranks 4 x 4, (2 / 64 + 2) x 4, (3 / 64 + 1) x 4, 4 / 64 x 4 bytes of each.
for stage in none:151.0 state:76.7 gradients:39.5 parameters:2.36; do
  describe --set train.optim.shard=${stage%:*} --set 'describe.grids=[16x4]' || fail "shards: ${stage%:*}"
  between "$(rows | awk '{ print $10 }')" "$(awk "BEGIN { print ${stage#*:} * 0.998 }")" "$(awk "BEGIN { print ${stage#*:} * 1.002 }")" ||
    fail "update of ${stage%:*}: $(rows | awk '{ print $10 }') MB"
done
describe --set exec.memory=4000000000 --set 'describe.grids=[16x4,16x8]' || fail "exec.memory"
[ "$(rows | grep -c 'exceeds exec.memory')" = 1 ] || fail "the grid of 7 GB is not marked"

refused() { # TEXT OPTION...
  status=0
  describe "${@:2}" || status=$?
  [ $status = 2 ] && grep -q -- "$1" "$work/err" || fail "not refused: $1"
}
refused "describe.grids: '16y4' is no grid" --set 'describe.grids=[16y4]'
refused "train.batch, 16, is no multiple of its 32 ranks along samples" --set 'describe.grids=[16x4,32x4]'
echo "14 grids of 64 to 1024 ranks, halos and shards in closed form"
