#!/usr/bin/env bash
# fine_tuning.sh COSMOFLOW - a training that starts from weights: steps of length 0 leave them; others are refused where they are of
# another network, another scale, or of another split of the same universes.
set -u
program=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
universes=(--set 'simulate.universes=12' --set simulate.side=16 --set simulate.particles=16 --set simulate.box=128
  --set 'simulate.redshifts=[0]' --set simulate.preset=wide2)
network=(--set 'source.input=[a]' --set 'model.net={mlperf: {base: 4, hidden1: 8, hidden2: 4, dropout: 0}}' --set data.split.test=3
  --set data.split.valid=3 --set train.batch=2 --set train.epochs=1 --threads 1)

run() {
  local name=$1
  shift
  "$program" run "${network[@]}" "$@" --out "$name" >"$name.txt" 2>&1
}
# refused NAME TEXT SETTINGS...
refused() {
  local name=$1 text=$2
  shift 2
  ! run "$name" --set train.initial_weights=first/weights.nc "$@" || { echo "failed: $name is not refused" && failed=1; }
  grep -q -- "$text" "$name.txt" || { cat "$name.txt" && echo "failed: $name does not say: $text" && failed=1; }
}

"$program" prepare "${universes[@]}" --out a >prepare.txt 2>&1 || { cat prepare.txt && exit 1; }
if ! run first; then
  grep -q 'this build' first.txt && echo "skipped: $(grep 'this build' first.txt)" && exit 77
  cat first.txt
  exit 1
fi
run same --set train.initial_weights=first/weights.nc --set train.optim.schedule.lr=0 || { cat same.txt && exit 1; }
for name in first same; do
  "$program" predict a --set predict.weights=$name/weights.nc --out $name.predicted >predict.txt 2>&1 || { cat predict.txt && exit 1; }
done
cut -d , -f 1-5 first.predicted/predictions.csv >first.csv
cut -d , -f 1-5 same.predicted/predictions.csv >same.csv
cmp first.csv same.csv || { echo "failed: steps of length 0 change predictions" && failed=1; }
grep -q "$(sha256sum first/weights.nc | cut -c -64)" same/provenance.json || { echo "failed: provenance has no digest" && failed=1; }
refused net 'weights of another network' --set 'model.net={mlperf: {base: 4, hidden1: 8, hidden2: 5, dropout: 0}}'
refused scale 'was trained with data.scale' --set data.scale=mean
refused split 'trained on these samples with another split' --set data.split.valid=2
refused file 'none.nc' --set train.initial_weights=none.nc
# Weights of a, tuned on b, and then on a with another split.
"$program" prepare "${universes[@]}" --set seed=7 --out b >prepare.txt 2>&1 || { cat prepare.txt && exit 1; }
run on_b --set 'source.input=[b]' --set train.initial_weights=first/weights.nc || { cat on_b.txt && exit 1; }
refused chain 'was itself fine-tuned from weights that were trained on these samples' --set train.initial_weights=on_b/weights.nc \
  --set data.split.valid=2
refused first 'another network or training' --set train.epochs=2
exit $failed
