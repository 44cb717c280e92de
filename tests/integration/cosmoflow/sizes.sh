#!/usr/bin/env bash
# sizes.sh COSMOFLOW - mixed sizes of cubes: the same training on one and two threads, on two ranks and after an interruption; weights that
# predict; more crops, more samples or another rate; what is refused, before samples are read where it can be.
set -u
program=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
fail() {
  cat log
  echo "failed: $*"
  exit 1
}

cat >config.yaml <<'END'
simulate: {universes: 14, side: 8, particles: 16, box: 64, redshifts: [0], preset: wide2}
data: {scale: mean, augment: {symmetry: octahedral, shift: true}, split: {valid: 3, test: 3}, sizes: {sides: [4, 6, 8], calibrate: 2}}
model: {net: {lbann: {blocks: 2, base: 2, hidden1: 4, hidden2: 4, dropout: 0.2, norm: batch, global_mean: true}}}
train: {epochs: 4, batch: 2, log_every: 1, optim: {rule: adam, schedule: {lr: 0.01}}}
exec: {tier: vector}
END
"$program" prepare --config config.yaml --out universes >log 2>&1 || {
  grep -q 'this build' log && echo "skipped: $(grep 'this build' log)" && exit 77
  fail prepare
}
threads=1
# run NAME FLAGS...
run() { "$program" run --config config.yaml --set source.input=[universes] --threads $threads --out "$1" "${@:2}" >log 2>&1; }
steps() { grep -E '"event": "(step|epoch_end)"' "$1/run.jsonl" | sed -E 's/"(time_s|seconds)": [^,}]*,?//g'; }
losses() { grep '"epoch_end"' "$1/run.jsonl" | sed 's/.*"valid_loss": \([^,]*\),.*/\1/'; }
sides() { grep '"event": "step"' "$1/run.jsonl" | sed 's/.*"side": \([0-9]*\).*/\1/' | sort -n | uniq -c | tr -s ' \n' ' '; }
# refused TEXT FLAGS...
refused() {
  local status=0
  run refused "${@:2}" || status=$?
  [ $status = 2 ] || [ $status = 7 ] || fail "${*:2}: status $status"
  grep -qF -- "$1" log || fail "${*:2}: does not say: $1"
}

run one || fail "one thread"
[ "$(steps one | grep -c '"side"')" = 16 ] || fail "not 4 steps an epoch: crops change no number of samples"
for side in 4 6 8; do
  sides one | grep -q " $side " || fail "no step with cubes of $side: $(sides one)"
done
threads=2
run two || fail "two threads"
threads=1
[ "$(steps one)" = "$(steps two)" ] || fail "two threads: another training"
run half --set train.epochs=2 || fail "two epochs"
run half || fail "two epochs, resumed"
grep -q 'resumed after step 8' log || fail "it is not resumed"
[ "$(steps one)" = "$(steps half)" ] || fail "resumed: another training"
run ranks --ranks 2 --grid 2 || fail "two ranks"
paste <(losses one) <(losses ranks) >log
awk '{ d = $1 - $2; if (!(NF == 2 && (d < 0 ? -d : d) <= 1e-4 * $1)) bad = 1 } END { exit bad || NR != 4 }' log ||
  fail "two ranks: other losses than one has"
"$program" predict universes --set predict.weights=one/weights.nc --out predicted >log 2>&1 || fail "predict"
# Statistics of whole samples: what is predicted is what the best validation saw.
mae=$(grep '"best": true' one/run.jsonl | tail -n 1 | sed 's/.*"mae": \([0-9.]*\).*/\1/')
grep -q "valid: 3 samples, mean absolute error $(printf %.4f "$mae") " log || fail "predict: not the error of the best validation, $mae"

run batch --set data.sizes.scale=batch || fail "more samples"
[ "$(steps batch | grep -c '"side"')" -lt 16 ] || fail "more samples: as many steps"
run average --set data.sizes='{sides: [4, 8], kind: average, scale: rate}' || fail "means"
run rate --set data.sizes.scale=rate --set data.sizes.rate_power=1 || fail "another rate"
grep '"side": 4' rate/run.jsonl | grep -q '"lr": 0.00125' || fail "another rate: no eighth of it with an eighth of the volume"
run most --set train.epochs=1 --set data.sizes.sides=[4,6,8,4,6,8,4,6,8,4,6,8,4,6,8,4] || fail "as many sides as can be"
grep -q 'cubes of 4^3: 6.25 % of the steps, 8 of each sample' log || fail "as many sides: not 8 cubes of the first"
"$program" describe --config config.yaml >log 2>&1 || fail "describe"

refused 'the network lbann has other weights (dense1/weight)' --set model.net.lbann.global_mean=false
refused 'the network lbann has other weights' --set model.net.lbann.blocks=0 --set data.sizes.sides=[3,8]
refused 'the network mlperf has other weights' --set 'model.net={mlperf: {blocks: 2}}'
refused 'this one makes classes of voxels' --set 'model.net={unet: {levels: 1, base: 2}}' --set data.scale=log1p
refused '17 sides, at most 16' --set data.sizes.sides=[4,6,8,4,6,8,4,6,8,4,6,8,4,6,8,4,6]
refused '16: samples have 8 voxels a side' --set data.sizes.sides=[16]
refused '3 does not divide the 8 voxels' --set data.sizes='{sides: [3], kind: average, scale: batch}'
refused 'data.sizes.scale: crops' --set data.sizes='{sides: [4], kind: average}'
refused '1 shares for 3 sides' --set data.sizes.shares=[1]
refused 'several sizes are shared by ranks along the samples alone' --ranks 2 --grid 1x2
refused 'do not go with ranks that train apart' --ranks 2 --grid 2 --set 'train.optim.exchange={local: {period: 2}}'
refused 'do not take samples of several sizes' --set train.models.seeds=[1,2]
run one --set data.sizes.sides=[4,8] && fail "a run of other sizes is resumed"
grep -q 'was trained on other samples' log || fail "other sizes: no reason"
echo "steps by side: $(sides one); with more samples: $(sides batch)"
