#!/usr/bin/env bash
# thread_ranks.sh COSMOFLOW RANKS_SH: run --ranks N trains on threads of one process as mpiexec -n N does on processes, to the last digit
# of losses and norms; rank 0 writes the one log; SIGTERM leaves a checkpoint, from which the run goes on; a failure ends all ranks.
set -u
program=$1
ranks=$2
. "$(dirname "$0")/script.sh"
export XDG_CACHE_HOME=$work/cache

options=(--set simulate.universes=12 --set simulate.side=8 --set simulate.particles=16 --set simulate.box=128
  --set data.split.valid=2 --set data.split.test=2 --set 'model.net={mlperf: {blocks: 2, base: 4, hidden1: 8, hidden2: 4}}'
  --set train.epochs=3 --set train.batch=4 --set train.log_every=1 --set train.optim.schedule.lr=0.01 --set exec.tier=vector
  --threads 1)
status=0
"$program" prepare "${options[@]}" --out "$work/universes" >"$work/log" 2>&1 || status=$?
[ $status != 7 ] || { echo "skipped: this build has no FFTW or no NetCDF"; exit 77; }
[ $status = 0 ] || fail "prepare: status $status"
options+=(--set source.input="[$work/universes]")

# threads RANKS FOLDER FLAGS...: threads of one process; processes ...: mpiexec.
threads() { "$program" run "${options[@]}" --ranks "$1" --out "$work/$2" "${@:3}" >"$work/log" 2>&1; }
processes() { bash "$ranks" "$1" "$program" run "${options[@]}" --out "$work/$2" "${@:3}" >"$work/log" 2>&1; }
losses() {
  grep -E '"event": "(step|epoch_end)"' "$work/$1/run.jsonl" | sed -E 's/"(time_s|seconds)": [^,}]*,?//g'
}

threads 1 one || fail "one rank"
[ "$(losses one | wc -l)" = 9 ] || fail "one rank: not 6 steps and 3 epochs"
for policy in allreduce 'local: {period: 2}' 'dpsgd: {}'; do
  for n in 2 4; do
    name=${policy%%:*}$n
    [ "$name" != dpsgd2 ] || continue # a ring has 3 ranks at least
    set -- --set "train.optim.exchange={$policy}"
    [ "$policy" != allreduce ] || set -- --set train.optim.exchange=allreduce
    threads $n "threads_$name" "$@" || fail "$name on threads"
    [ "$(find "$work/threads_$name" -name 'run*.jsonl' | wc -l)" = 1 ] || fail "$name: not one log"
    [ "$(grep -c 'train: epoch' "$work/log")" = 3 ] || fail "$name: not one rank alone reports the run"
    status=0
    processes $n "processes_$name" "$@" || status=$?
    [ $status != 77 ] || continue
    [ $status = 0 ] || fail "$name on processes: status $status"
    diff <(losses "threads_$name") <(losses "processes_$name") >"$work/log" || fail "$name: threads and processes differ"
  done
done
paste <(losses one | grep epoch_end) <(losses threads_allreduce4 | grep epoch_end) |
  sed -E 's/.*"valid_loss": ([^,]*),.*"valid_loss": ([^,]*),.*/\1 \2/' >"$work/log"
awk '{ d = $1 - $2; n++; if (!(NF == 2 && (d < 0 ? -d : d) <= 1e-5 * $1)) bad = 1 } END { exit bad || n != 3 }' "$work/log" ||
  fail "allreduce on 4 ranks: other losses than one rank has"

# SIGTERM after the first steps: status 9 and a checkpoint; the same command goes on to the end.
long=(--set train.epochs=400 --set train.log_every=1 --set train.checkpoint.every=0)
"$program" run "${options[@]}" "${long[@]}" --ranks 2 --out "$work/stopped" >"$work/log" 2>&1 &
child=$!
for _ in $(seq 600); do
  grep -qs '"event": "step"' "$work/stopped/run.jsonl" && break
  sleep 0.05
done
kill -TERM $child
status=0
wait $child || status=$?
stopped=$(grep -o 'stopped by signal 15 after step [0-9]*' "$work/log" | grep -o '[0-9]*$')
[ $status != 0 ] && [ -n "$stopped" ] || fail "SIGTERM: status $status"
[ -n "$(find "$work/stopped" -name 'checkpoint-*')" ] || fail "SIGTERM: no checkpoint"
threads 2 stopped --set train.epochs=3 --set train.steps=$((stopped + 3)) || fail "the stopped run does not go on"
grep -q "resumed after step $stopped" "$work/log" || fail "it does not go on after step $stopped"

# What one rank alone finds wrong ends all with its message and status, before the run or in it.
status=0
threads 4 wrong --set train.optim.exchange='{wagma: {group: 3}}' || status=$?
[ $status = 2 ] || fail "a group of 3: status $status"
[ "$(grep -c 'error' "$work/log")" = 1 ] || fail "a group of 3: not one message"
status=0
OMPI_COMM_WORLD_SIZE=2 threads 2 beside || status=$?
[ $status = 2 ] && grep -q 'started as one of 2 processes by mpiexec or srun: leave out --ranks' "$work/log" ||
  fail "--ranks beside mpiexec: status $status"
[ ! -e "$work/beside" ] || fail "--ranks beside mpiexec: a folder is made"
status=0
threads 2 shape --grid 3 || status=$?
[ $status = 2 ] && grep -q 'does not fit 2 ranks' "$work/log" || fail "a grid of 3 on 2 ranks: status $status"
echo "threads and processes agree; stopped after step $stopped and resumed"
