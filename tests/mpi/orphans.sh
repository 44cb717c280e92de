#!/usr/bin/env bash
# orphans.sh COSMOFLOW SOURCE RANKS_SH: where mpiexec is killed with SIGKILL, its ranks end within a minute, the folder is free, and
# the run is resumed.
set -u
program=$1
source=$2
ranks=$3
. "$(dirname "$0")/script.sh"
run=(run --config "$source/configs/cosmoflow/tiny.yaml" --threads 1 --set train.epochs=100000 --set train.checkpoint.every=5 --out "$work/out")
bash "$ranks" 2 "$program" "${run[@]}" >"$work/log" 2>&1 &
launcher=$!
for ((i = 0; i < 600; i++)); do
  compgen -G "$work/out/checkpoint-*" >/dev/null && break
  kill -0 $launcher 2>/dev/null || { wait $launcher; status=$?; [ $status != 77 ] || { cat "$work/log"; exit 77; }; fail "status $status"; }
  sleep 0.1
done
[ $i -lt 600 ] || fail "no checkpoint in a minute"
orphans=$(pgrep -f -- "--out $work/out" | grep -v "^$launcher$" | tr '\n' ' ')
[ "$(echo $orphans | wc -w)" -ge 2 ] || fail "two ranks are not found: $orphans"
kill -KILL $launcher
for ((i = 0; i < 600; i++)); do
  left=0
  for pid in $orphans; do [ "$(ps -o stat= -p "$pid" | cut -c1)" = "" ] || [ "$(ps -o stat= -p "$pid" | cut -c1)" = Z ] || left=1; done
  [ $left = 1 ] || break
  sleep 0.1
done
[ $i -lt 600 ] || { kill -KILL $orphans; fail "ranks run on: $orphans"; }
timeout -s INT -k 20 10 "$program" "${run[@]}" >"$work/log" 2>&1
status=$?
[ $status = 124 ] || [ $status = 9 ] || fail "resumed: status $status"
grep -q '"event": "train_begin".*"step": [1-9]' "$work/out/run.jsonl" || fail "it was not resumed from a checkpoint"
echo "ranks ended after $((i / 10)) s"
