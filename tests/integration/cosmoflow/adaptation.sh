#!/usr/bin/env bash
# adaptation.sh COSMOFLOW - trainings adapted to another simulation: a weight of 0 changes nothing, any other does; grids of ranks, groups of
# samples or slabs, and graphs of several networks have the losses of one rank; a run resumes; what cannot be is refused.
set -u
program=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
cat >small.yaml <<'TEXT'
simulate: {universes: 20, side: 8, particles: 16, box: 64, redshifts: [0], preset: wide2}
data: {scale: mean, augment: {symmetry: octahedral, shift: true}, split: {valid: 4, test: 4}}
model: {net: {mlperf: {blocks: 1, base: 4, hidden1: 8, hidden2: 8, dropout: 0}}}
train: {epochs: 3, batch: 4, optim: {rule: adam, schedule: {lr: 0.003}}}
TEXT
run() {
  local name=$1
  shift
  "$program" run --config small.yaml --set 'source.input=[a]' --threads 1 "$@" --out "$name" >"$name.txt" 2>&1
}
# losses NAME: of training and validation, as the messages have them.
losses() { sed -n 's/^train: epoch \([0-9]*\), .*loss \([^,]*\), validation \([^ ,]*\).*/\1 \2 \3/p' "$1.txt"; }
# same A B: equal within the rounding of single precision.
same() {
  paste <(losses "$1") <(losses "$2") | awk '
    function near(a, b) { return (a - b) ^ 2 <= (1e-4 * b) ^ 2 }
    $1 != $4 || !near($2, $5) || !near($3, $6) { wrong = 1 } END { exit wrong || NR != 3 }'
}
fail() {
  echo "failed: $*"
  failed=1
}
# refused STATUS TEXT WORDS...
refused() {
  local status=$1 text=$2 found
  shift 2
  run refused "$@"
  found=$?
  [ $found = "$status" ] && grep -q -- "$text" refused.txt || { cat refused.txt && fail "$* has status $found, or does not say: $text"; }
  rm -rf refused
}

"$program" prepare --config small.yaml --out a >prepare.txt 2>&1 || { cat prepare.txt && grep -q 'this build' prepare.txt && echo "skipped: $(grep 'this build' prepare.txt)" && exit 77; }
"$program" prepare --config small.yaml --set simulate.tracers=0.02 --out b >prepare.txt 2>&1 || { cat prepare.txt && exit 1; }
"$program" prepare --config small.yaml --set simulate.side=16 --set simulate.universes=4 --out wide >prepare.txt 2>&1 || { cat prepare.txt && exit 1; }
"$program" prepare --config small.yaml --set simulate.values=f32 --out real >prepare.txt 2>&1 || { cat prepare.txt && exit 1; }
"$program" prepare --config small.yaml --set simulate.universes=40 --set simulate.file=20 --set simulate.tracers=0.02 --out more >prepare.txt 2>&1 || { cat prepare.txt && exit 1; }
"$program" prepare --config small.yaml --set seed=7 --set simulate.universes=40 --set simulate.tracers=0.02 --out new >prepare.txt 2>&1 || { cat prepare.txt && exit 1; }
for words in "late --set simulate.redshifts=[1]" "density --set simulate.counts=cic --set simulate.values=f32" \
  "boxes --set simulate.side=16 --set simulate.particles=32 --set simulate.box=128"; do
  # shellcheck disable=SC2086 # words
  "$program" prepare --config small.yaml --set seed=8 --set simulate.universes=12 --out $words >prepare.txt 2>&1 || { cat prepare.txt && exit 1; }
done
"$program" convert boxes --set convert.side=8 --set convert.format=cfbin --out cut >prepare.txt 2>&1 || { cat prepare.txt && exit 1; }
adapt=(--set 'adapt.samples=[b]')
for words in plain "zero ${adapt[*]} --set adapt.weight=0" "one ${adapt[*]}" "two ${adapt[*]} --grid 2 --ranks 2" \
  "slabs ${adapt[*]} --grid 1x2 --ranks 2" "half ${adapt[*]} --set train.epochs=2"; do
  # shellcheck disable=SC2086 # words
  run $words || { cat "${words%% *}.txt" && exit 1; }
done
same zero plain || fail "a weight of 0 changes the training"
! same one plain || fail "a weight of 1 changes nothing"
same two one || fail "two groups of samples have other losses"
same slabs one || fail "two slabs have other losses"
mv half.txt first.txt && run half "${adapt[@]}" || { cat half.txt && fail "the run does not resume"; }
cat half.txt >>first.txt && mv first.txt half.txt
same half one || fail "the resumed run has other losses"

# Universes of one seed are of one subset by their numbers, of however many: none is seen that predict takes for a test.
for words in "more 12" "new 32"; do
  run seen --overwrite --set "adapt.samples=[${words% *}]" --set train.epochs=1 &&
    grep -q "^adapt: to ${words#* } samples of ${words#* } universes" seen.txt || { cat seen.txt && fail "other samples are seen than $words"; }
done

cp -r one refused
refused 2 'take the source, data, adapt' "${adapt[@]}" --set adapt.weight=2
refused 2 'adapt.bandwidths: names none' "${adapt[@]}" --set 'adapt.bandwidths=[]'
refused 2 'train.batch: 1: adapt.samples compares the samples of a batch' "${adapt[@]}" --set train.batch=1
refused 2 'adaptation is of networks that estimate' "${adapt[@]}" --set model.net=unet --set 'simulate.redshifts=[0]' --set files.classes=2
refused 2 'closed division of MLPerf HPC has the loss of the reference alone' "${adapt[@]}" --set mllog.write=true --set mllog.division=closed
refused 2 'data.sizes mixes cubes of several sides' --set 'adapt.samples=[none]' --set 'data.sizes.sides=[4, 8]'
"$program" describe --config small.yaml "${adapt[@]}" --set 'data.sizes.sides=[4, 8]' >described.txt 2>&1 && fail "describe takes mixed sizes"
refused 3 'adapt.samples: wide: samples of 16 x 16 x 16 x 1' --set 'adapt.samples=[wide]'
refused 3 'adapt.samples: real: voxels of another type (f32)' --set 'adapt.samples=[real]'
refused 3 'adapt.samples: late: channel 1 is of redshift 1; that of the training is of 0' --set 'adapt.samples=[late]'
refused 3 'adapt.samples: density: voxels are density; those of the training are counts' --set 'adapt.samples=[density]'
refused 2 'adapt.samples: cut: data.augment.shift moves whole periodic boxes, and these 96 samples' --set 'adapt.samples=[cut]'
refused 2 'none of these universes has the number of one that is trained on' --set 'adapt.samples=[more/universes-00000020.nc]'
refused 3 'none' --set 'adapt.samples=[none]'
exit $failed
