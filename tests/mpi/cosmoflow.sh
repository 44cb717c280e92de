#!/usr/bin/env bash
# cosmoflow.sh COSMOFLOW RANKS_SH SPHERES: a network trained on 2 ranks, cut along samples or depth or as chosen, has the losses of one
# rank; a run goes on from one rank on two and then on four; a grid of other ranks is refused. Classes of voxels are cut like the voxels.
set -u
program=$1
ranks=$2
spheres=$3
. "$(dirname "$0")/script.sh"

status=0
"$program" prepare --set simulate.universes=10 --set simulate.side=8 --set simulate.particles=16 --set simulate.box=128 \
  --set simulate.redshifts=[0,0.5] --set simulate.preset=wide2 --out "$work/universes" >"$work/log" 2>&1 || status=$?
[ $status != 7 ] || { echo "skipped: this build has no FFTW or no NetCDF"; exit 77; }
[ $status = 0 ] || fail "prepare: status $status"

# run RANKS FOLDER EPOCHS FLAGS...
run() {
  local n=$1 out=$2 epochs=$3
  shift 3
  bash "$ranks" "$n" "$program" run --set source.input="[$work/universes]" --set data.split.valid=2 --set data.split.test=2 \
    --set data.augment.symmetry=octahedral --set 'model.net={mlperf: {blocks: 2, base: 4, hidden1: 8, hidden2: 4, dropout: 0.1}}' \
    --set train.epochs="$epochs" --set train.batch=2 --set train.optim.schedule.lr=0.01 --set train.compare_every=1 \
    --set exec.tier=vector --threads 1 --out "$work/$out" "$@" >"$work/log" 2>&1
}
losses() { grep '"epoch_end"' "$work/$1/run.jsonl" | sed 's/.*"valid_loss": \([^,]*\),.*/\1/'; }
# same FOLDER: the validation losses of three epochs are those of one rank.
same() {
  paste <(losses one) <(losses "$1") >"$work/log"
  awk '{ d = $1 - $2; n++; if (!(NF == 2 && (d < 0 ? -d : d) <= 1e-5 * $1)) bad = 1 } END { exit bad || n != 3 }' "$work/log" ||
    fail "$1: other losses than one rank has"
}

status=0
run 1 one 3 || status=$?
[ $status != 77 ] || { cat "$work/log"; exit 77; }
[ $status = 0 ] || fail "one rank: status $status"
for grid in 2x1 1x2; do
  run 2 "$grid" 3 --grid $grid || fail "grid $grid"
  grep -q "grid ${grid%x*} x ${grid#*x} x 1 x 1" "$work/log" || fail "the grid is not reported"
  [ "$(grep -c 'train: epoch' "$work/log")" = 3 ] || fail "not one rank alone reports the run"
  [ "$(find "$work/$grid" -name 'run*.jsonl' | wc -l)" = 1 ] || fail "not one log"
  same "$grid"
done
# Along the samples, what one rank has read the other has from it; cut along the depth, both need all of a turned sample.
grep -q '"load_end".*"remote": [1-9]' "$work/2x1/run.jsonl" || fail "2x1: no sample came from the other rank"
grep -q '"load_end".*"remote": 0,' "$work/1x2/run.jsonl" || fail "1x2: samples came from another rank"
# The files state universes, which contradicts the option: one rank warns of it.
run 2 own 3 --grid 2x1 --set load.remote=off --set data.split.samples_per_universe=2 || fail "each rank reads for itself"
[ "$(grep -c 'samples_per_universe=2 is not used' "$work/log")" = 1 ] || fail "not one rank alone warns of universes"
[ "$(losses own)" = "$(losses 2x1)" ] || fail "other losses where each rank reads for itself"
run 2 auto 3 --grid auto || fail "grid auto"
grep -q '"grid_choice".*"gather_depth": [0-9]' "$work/auto/run.jsonl" || fail "the choice is not reported"
grep -q '"step_time".*"predicted_s": [0-9]' "$work/auto/run.jsonl" || fail "no prediction beside the measured step"
[ "$(grep -c ' chosen$' "$work/log")" = 1 ] || fail "not one grid of the table is chosen"
same auto
# The same by measured times: what the first run measured the second reads, and a table that was cut short is refused by its line.
table() {
  local rates=()
  for rate in kernels=1 flops=1e9 bandwidth=1e10 group_overhead=1e-6 latency=1e-5 link_bw=1e9 reduce_bw=1e9 overlap=0.5; do
    rates+=(--set "grid.machine.$rate")
  done
  run 2 "$1" "$2" --grid auto --set grid.machine.profile="$work/table" "${rates[@]}"
}
table timed 3 || fail "grid auto with a table"
grep -q 'timing steps on grid' "$work/log" || fail "no grid is timed for a table"
same timed
cp "$work/table" "$work/before"
table known 1 || fail "grid auto with a table that is there"
grep -q 'timing steps on grid' "$work/log" && fail "groups that were measured are measured again"
grep -q '"grid_choice".*"untimed": 0' "$work/known/run.jsonl" || fail "the table has not all groups"
cmp -s "$work/table" "$work/before" || fail "a table that is complete is written anew"
head -n 5 "$work/before" >"$work/table"
status=0
run 2 short 1 --grid auto --set grid.machine.profile="$work/table" || status=$?
[ $status = 3 ] || fail "a table that was cut short: status $status"
grep -q "/table:6: the table is truncated" "$work/log" || fail "a table that was cut short: no line"
run 2 gathered 3 --grid 1x2 --set grid.replicate_below.depth=4 || fail "a map that is gathered"
grep -q 'no more than 4 elements along the depth are replicated' "$work/log" || fail "where cuts end is not reported"
same gathered
run 1 on 1 || fail "the first epoch"
run 2 on 2 --grid 1x2 --set grid.replicate_below.depth=4 || fail "the second epoch, on 2 ranks"
run 4 on 3 --grid 2x2 || fail "the third epoch, on 4 ranks"
grep -q 'resumed after step 6' "$work/log" || fail "it does not go on"
same on

status=0
run 2 other 3 --grid 3 || status=$?
[ $status = 2 ] || fail "a grid of 3 on 2 ranks: status $status"
grep -q 'does not fit 2 ranks' "$work/log" || fail "a grid of 3 on 2 ranks: no reason"
[ ! -e "$work/other" ] || fail "a grid of 3 on 2 ranks: a folder is made"

# segment RANKS FOLDER FLAGS...: the U-Net on volumes with classes.
segment() {
  local n=$1 out=$2
  shift 2
  bash "$ranks" "$n" "$program" run --set source.input="[$work/volumes.nc]" --set data.scale=raw --set data.split.valid=2 \
    --set data.split.test=0 --set data.augment.symmetry=octahedral --set 'model.net={unet: {levels: 1, base: 2}}' --set train.epochs=2 \
    --set train.batch=2 --set train.optim.schedule.lr=0.01 --set train.compare_every=1 --set exec.tier=vector --threads 1 \
    --out "$work/$out" "$@" >"$work/log" 2>&1
}
scores() { grep '"epoch_end"' "$work/$1/run.jsonl" | sed 's/.*"valid_loss": \([^,]*\),.*"iou_1": \([^,}]*\).*/\1 \2/'; }
"$spheres" "$work/volumes" || fail "volumes are not written"
segment 1 classes || fail "classes on one rank"
segment 2 cut --grid 1x2 || fail "classes on grid 1x2"
paste <(scores classes) <(scores cut) >"$work/log"
awk '{ d = $1 - $3; e = $2 - $4; n++; if (!(NF == 4 && d * d <= 1e-10 * $1 * $1 && e * e <= 1e-4)) bad = 1 }
  END { exit bad || n != 2 }' "$work/log" || fail "classes on grid 1x2: other losses than one rank has"
# The wrong class is one that rank 1 looks at: both end before the training.
"$spheres" "$work/volumes" 5 || fail "volumes with a wrong class are not written"
status=0
segment 2 wrong --grid 2x1 || status=$?
[ $status = 3 ] || fail "a wrong class: status $status"
grep -q 'sample 6: the class of voxel 511 is 5, and there are 3' "$work/log" || fail "a wrong class is not named"
echo "losses of one rank on 2x1, 1x2, a grid that was chosen and from 1 over 1x2 to 2x2: $(losses on | tr '\n' ' ')"
