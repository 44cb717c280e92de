#!/usr/bin/env bash
# scaling.sh COSMOFLOW SOURCE: steps on simulated ranks of every network of configs/networks, the same in every run; a policy that
# refuses a number of ranks has no row; on two ranks of mpiexec, the network and the steps are measured, and the measured network
# is a configuration. SIGTERM and SIGINT end the command at once, without a table.
set -u
program=$1
source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  tail -5 "$work/err"
  echo "failed: $*"
  exit 1
}
options=(--config "$source/configs/cosmoflow/tiny.yaml" --set scaling.compute_s=0.02 --set scaling.steps=10 --set scaling.runs=1
  --set scaling.imbalance.delay_s=0.1 --set 'scaling.ranks=[4, 6, 8]')
scale() { # NAME OPTION...
  name=$1
  shift
  "$program" scaling "${options[@]}" "$@" --out "$work/$name" >"$work/$name.out" 2>"$work/err" || fail "$name: status $?"
}
value() { # NAME POLICY RANKS COLUMN
  awk -F, -v policy="$2" -v ranks="$3" -v column="$4" '$1 == policy && $2 == ranks { print $column }' "$work/$1/scaling.csv"
}
between() { awk -v x="$1" -v lo="$2" -v hi="$3" 'BEGIN { exit !(x >= lo && x <= hi) }'; }

for network in "$source"/configs/networks/*.yaml; do
  name=$(basename "$network" .yaml)
  scale "$name" --config "$network"
  # allreduce: computing, the delay of one rank, and messages
  between "$(value "$name" allreduce 8 3)" 0.12 0.125 || fail "$name: a step of allreduce takes $(value "$name" allreduce 8 3) s"
  grep -q 'wagma on 6 ranks: .*no power of 2' "$work/err" || fail "$name: nothing is said of wagma on 6 ranks"
  [ -z "$(value "$name" wagma 6 3)" ] || fail "$name: wagma has a row of 6 ranks"
  between "$(value "$name" wagma 8 7)" 1.5 6 || fail "$name: wagma is $(value "$name" wagma 8 7) times as fast as allreduce"
  between "$(value "$name" local 8 9)" 1 1e6 || fail "$name: local sends $(value "$name" local 8 9) bytes"
  [ -s "$work/$name/report.html" ] && [ -s "$work/$name/figures/step.svg" ] || fail "$name: there is no page"
done
scale again --config "$source/configs/networks/aries.yaml"
cmp -s "$work/again/scaling.csv" "$work/aries/scaling.csv" || fail "a second run gives other numbers"
between "$(value loggopsim allreduce 8 8)" "$(value aries allreduce 8 8)" 1 || fail "ranks wait less on a slower network"
scale given --set scaling.policies=[local] --set scaling.bytes=4000000 --set 'train.optim.exchange={local: {period: 5}}'
[ "$(wc -l <"$work/given/scaling.csv")" = 4 ] || fail "one policy on 3 numbers of ranks has not 3 rows"
between "$(value given local 4 9)" 1200000 1200000 || fail "local sends $(value given local 4 9) bytes, not 6/4 of 4 MB every 5 steps"
"$program" scaling "${options[@]}" --set scaling.policies=[gossip] --out "$work/none" >"$work/out" 2>"$work/err" &&
  fail "an unknown policy is accepted"
grep -q "unknown exchange policy 'gossip'" "$work/err" || fail "an unknown policy is not named"
"$program" scaling "${options[@]}" --set scaling.ranks=[8,4] --out "$work/none" >"$work/out" 2>"$work/err" &&
  fail "numbers of ranks that descend are accepted"
grep -q 'scaling.ranks: 4 stands after 8' "$work/err" || fail "numbers of ranks that descend are not named"
"$program" scaling "${options[@]}" --set scaling.policies=[oktopk] --out "$work/none" >"$work/out" 2>"$work/err" &&
  fail "a policy is simulated that chooses elements by gradients"
grep -q "exchange policy 'oktopk': its messages depend on the gradients" "$work/err" || fail "it is not said why oktopk is refused"

# Within one simulation, which would take minutes.
ends() { # SIGNAL NAME PROCESS: status 9 soon after the signal
  local from=$(date +%s%N) status=0
  kill -"$1" "$3" || fail "$2: it has ended before"
  wait "$child" || status=$?
  local ms=$((($(date +%s%N) - from) / 1000000))
  echo "$2: ended $ms ms after SIG$1"
  [ $status = 9 ] || fail "$2: status $status after SIG$1"
  [ $ms -lt 5000 ] || fail "$2: it ended $ms ms after SIG$1"
  [ -z "$(find "$work/$2" -name '*.tmp-*')" ] || fail "$2: unfinished files stay"
}
long=(--set scaling.policies=[eager] --set 'scaling.ranks=[256]' --set scaling.steps=1000000)
"$program" scaling "${options[@]}" "${long[@]}" --out "$work/stopped" >"$work/out" 2>"$work/err" &
child=$!
sleep 0.7
ends INT stopped $child
grep -q 'stopped by signal 2 at eager on 256 ranks; nothing is written' "$work/err" || fail "stopped: it does not say where"
[ ! -e "$work/stopped/scaling.csv" ] || fail "stopped: there is a table"
cp "$work/given/scaling.csv" "$work/earlier.csv"
"$program" scaling "${options[@]}" "${long[@]}" --overwrite --out "$work/given" >"$work/out" 2>"$work/err" &
child=$!
sleep 0.7
ends TERM given $child
cmp -s "$work/given/scaling.csv" "$work/earlier.csv" || fail "given: the earlier table has changed"
scale stopped --set scaling.policies=[local]

# MPI keeps memory of its own.
LSAN_OPTIONS=detect_leaks=0 bash "$source/tests/mpi/ranks.sh" 2 "$program" scaling "${options[@]}" --threads 1 --set scaling.policies=[allreduce,eager] \
  --out "$work/two" >"$work/two.out" 2>"$work/err"
status=$?
[ $status != 77 ] || { echo "without several ranks: no MPI"; exit 0; }
[ $status = 0 ] || fail "on two ranks: status $status"
[ "$(wc -l <"$work/two/scaling.csv")" = 3 ] || fail "on two ranks: $(wc -l <"$work/two/scaling.csv") lines"
# a sleep is never shorter than asked for
between "$(value two allreduce 2 11)" 0.12 60 || fail "a step of allreduce was measured as $(value two allreduce 2 11) s"
scale measured --config "$work/two/network.yaml"
between "$(value measured allreduce 4 3)" 0.12 60 || fail "the measured network is no configuration"

# Within a sleep of a measurement: one rank ends all.
LSAN_OPTIONS=detect_leaks=0 bash "$source/tests/mpi/ranks.sh" 2 "$program" scaling "${options[@]}" --threads 1 --set scaling.policies=[local] \
  --set scaling.compute_s=600 --out "$work/asleep" >"$work/out" 2>"$work/err" &
child=$!
for ((i = 0; i < 300; i++)); do
  grep -qs 'measured network' "$work/err" && break
  sleep 0.1
done
sleep 0.5
rank=$(pgrep -f -- "^$program scaling .*--out $work/asleep" | tail -n 1)
ends TERM asleep "$rank"
[ ! -e "$work/asleep/scaling.csv" ] || fail "asleep: there is a table"
