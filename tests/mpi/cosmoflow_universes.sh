#!/usr/bin/env bash
# cosmoflow_universes.sh COSMOFLOW ROOT RANKS_SH: universes that ranks simulate together (simulate.ranks) are those of one process; a
# run that is stopped is resumed on other ranks; what does not fit is refused.
set -u
program=$1
root=$2
ranks=$3
. "$(dirname "$0")/script.sh"
. "$(dirname "$0")/shared.sh"

# The universes of a folder; chunks of a file may come in another order.
universes() { results "$1" | grep -v files.sha256; }
# same NAME RANKS TOGETHER WORDS...: on that many ranks, in groups, the universes of NAME-1.
same() {
  on "$2" prepare "${@:4}" --set simulate.ranks="$3" --out "$work/$1-$2-$3" || fail "$1: $2 ranks in groups of $3"
  diff <(universes "$work/$1-1") <(universes "$work/$1-$2-$3") >"$work/log" || fail "$1: $2 ranks in groups of $3: other universes"
}

# Particles of uneven slabs that leave them, in samples of half a box.
mesh=(--set simulate.universes=3 --set simulate.file=2 --set simulate.side=12 --set simulate.particles=18 --set simulate.box=60
  --set simulate.block=6 --set simulate.method=pm --set simulate.steps=3 --set 'simulate.redshifts=[0,1]')
on 1 prepare "${mesh[@]}" --out "$work/mesh-1" || fail "mesh: one rank"
for n in 2 3 4; do
  same mesh $n $n "${mesh[@]}"
done
same mesh 4 2 "${mesh[@]}" # two files at a time
density=("${mesh[@]}" --set simulate.counts=cic --set simulate.values=f32 --set simulate.line_of_sight=z)
on 1 prepare "${density[@]}" --out "$work/density-1" || fail "density: one rank"
same density 3 3 "${density[@]}"

# A file is lost, one damaged: one rank makes both again.
rm "$work/mesh-3-3/universes-00000000.nc"
printf x >>"$work/mesh-3-3/universes-00000002.nc"
on 1 prepare "${mesh[@]}" --out "$work/mesh-3-3" || fail "resumed on one rank"
grep -q '3 universes in 2 files; 0 files existed already' "$work/log" || fail "resumed on one rank: not two files"
diff <(universes "$work/mesh-1") <(universes "$work/mesh-3-3") >"$work/log" ||
  fail "resumed on one rank: other universes"
# And four keep what three have made.
on 4 prepare "${mesh[@]}" --set simulate.ranks=4 --out "$work/mesh-3-3" || fail "resumed on 4 ranks"
grep -q '0 universes in 0 files; 2 files existed already' "$work/log" || fail "resumed on 4 ranks: files are made again"

# Rank 1 of 2 is asked to stop once there is a file: both stop, and 3 ranks go on with the next one.
long=(--set simulate.universes=4000 --set simulate.file=2 --set simulate.side=16 --set simulate.box=60)
bash "$ranks" 2 bash -c 'echo $$ >"$1-${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}"; shift; exec "$@"' -- "$work/process" \
  "$program" prepare "${long[@]}" --set simulate.ranks=2 --threads 1 --out "$work/long" >"$work/log" 2>&1 &
job=$!
while kill -0 $job 2>/dev/null && [ ! -e "$work/long/universes-00000002.nc" ]; do
  sleep 0.01
done
kill -TERM "$(cat "$work/process-1")" || fail "stopped: rank 1 has ended before"
status=0
wait $job || status=$?
[ $status = 9 ] || fail "stopped: status $status"
grep -q 'stopped before .* is whole; [0-9]* of 2000 files are complete; repeat the command to resume' "$work/log" ||
  fail "stopped: it is not reported"
files=$(grep -c 'universes-.*nc$' "$work/long/files.sha256")
(cd "$work/long" && sha256sum --quiet -c files.sha256 >"$work/log" && [ "$(ls universes-*.nc | wc -l)" = "$files" ]) ||
  fail "stopped: files are not whole"
long+=(--set simulate.universes=$((2 * files + 1)))
on 3 prepare "${long[@]}" --set simulate.ranks=3 --out "$work/long" || fail "resumed after a stop"
grep -q "1 universes in 1 files; $files files existed already" "$work/log" || fail "resumed after a stop: not one universe"
on 1 prepare "${long[@]}" --set simulate.first=$((2 * files)) --set simulate.universes=1 --out "$work/last" || fail "the last one"
diff <(results "$work/last" | grep universes-) <(results "$work/long" | grep "$(printf 'universes-%08d' $((2 * files)))") >"$work/log" ||
  fail "resumed after a stop: another universe"

# Universes that run makes for itself are made by one rank.
on 2 run --config "$root/configs/cosmoflow/tiny.yaml" --grid 2 --set train.epochs=1 --set simulate.ranks=2 --out "$work/own" || fail "run makes its universes"

# refused TEXT RANKS WORDS...: status 2, and nothing is written.
refused() {
  on "$2" prepare "${@:3}" --out "$work/refused" && fail "'$1': it is done"
  grep -q -- "$1" "$work/log" || fail "not the reason '$1'"
  [ ! -e "$work/refused" ] || fail "'$1': a folder is made"
}
refused 'simulate.ranks: universes are simulated on groups of 2 ranks, which the 3 of this run do not make' 3 --set simulate.ranks=2
refused 'such as mpiexec -n 2' 1 --set simulate.ranks=2
refused 'simulate.ranks: 65 ranks cannot share the 64 planes of simulate.side' 1 --set simulate.ranks=65
echo "universes on 2, 3 and 4 ranks: those of one; stopped after $files files and resumed"
