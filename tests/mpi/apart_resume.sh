#!/usr/bin/env bash
# apart_resume.sh COSMOFLOW SOURCE RANKS_SH: ranks that train apart and get SIGTERM save a checkpoint and end with status 9; the run is
# resumed on other numbers of ranks and with other policies.
set -u
program=$1
source=$2
ranks=$3
. "$(dirname "$0")/script.sh"

# run RANKS EPOCHS POLICY: in the background; `launcher` is its process.
run() {
  bash "$ranks" "$1" "$program" run --config "$source/configs/cosmoflow/tiny.yaml" --threads 1 --set exec.tier=vector \
    --set train.batch=8 --set train.epochs="$2" --set train.checkpoint.every=4 --set train.agree_every=2 --set train.optim.exchange="$3" --out "$work/out" \
    >"$work/log" 2>&1 &
  launcher=$!
}
newest() { ls "$work/out" 2>/dev/null | sed -n 's/^checkpoint-0*\([0-9]*\)\..*/\1/p' | sort -n | tail -n 1; }
# The ranks: what has the folder among its arguments, but for the launcher and the scripts.
ranks_of_run() { pgrep -f -- "^$program run .*--out $work/out"; }

run 4 100000 '{eager: {mode: quorum}}'
for ((i = 0; i < 900; i++)); do
  [ -z "$(newest)" ] || break
  kill -0 $launcher 2>/dev/null || { wait $launcher; status=$?; [ $status != 77 ] && [ $status != 7 ] || { cat "$work/log"; exit 77; }; fail "status $status"; }
  sleep 0.1
done
[ "$(ranks_of_run | wc -l)" = 4 ] || { kill $launcher; fail "four ranks are not found"; }
kill -TERM $(ranks_of_run)
wait $launcher
status=$?
[ $status = 9 ] || fail "SIGTERM: status $status"
first=$(newest)
[ -n "$first" ] || fail "SIGTERM: no checkpoint"
# mpiexec ends the others when the first one has ended: they may not come to say so.
grep -q "repeat the command to resume from the checkpoint" "$work/log" || fail "SIGTERM: no rank says so"
echo "4 ranks, eager with a quorum: SIGTERM after step $first, status 9"

# resume RANKS POLICY NAME: two more epochs, of 2 steps, from the checkpoint there is.
resume() {
  local from epochs status=0
  from=$(newest)
  epochs=$(((from + 1) / 2 + 2))
  run "$1" $epochs "$2"
  wait $launcher || status=$?
  [ $status = 0 ] || fail "$3 on $1 ranks: status $status"
  grep '"event": "train_begin"' "$work/out/run.jsonl" | tail -n 1 | grep -q "\"step\": $from," || fail "$3 on $1 ranks: it begins anew"
  [ "$(newest)" = $((2 * epochs)) ] || fail "$3 on $1 ranks: it ends at step $(newest), not $((2 * epochs))"
  if [ "$3" != allreduce ]; then
    grep '"event": "exchange"' "$work/out/run.jsonl" | tail -n 1 | grep -q "\"policy\": \"$3\", \"ranks\": $1," ||
      fail "$3 on $1 ranks: the event exchange is missing"
  fi
  echo "$1 ranks, $3: from step $from to $(newest), $(grep -o 'validation [0-9.]*' "$work/log" | tail -n 1)"
}
resume 2 '{wagma: {period: 3}}' wagma
resume 3 '{local: {period: 2}}' local
resume 1 allreduce allreduce
resume 4 '{eager: {mode: solo}}' eager
