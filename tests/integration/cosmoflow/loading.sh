#!/usr/bin/env bash
# loading.sh COSMOFLOW SOURCE: trainings simulated under every policy of loading, on the machine of configs/cosmoflow/loading.yaml; the
# samples of a folder and the predicted step of a network in place of numbers; what is refused. What tune measures and chooses is a
# configuration of loading, which predicts the same time, and of run, whose samples come from where they are predicted to.
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
small=(--config "$source/configs/cosmoflow/loading.yaml" --set loading.samples=2048 --set load.memory.bytes=4294967296
  --set load.directory.bytes=4294967296)
simulate() { # NAME OPTION...
  name=$1
  shift
  "$program" loading "$@" --out "$work/$name" >"$work/$name.out" 2>"$work/err" || fail "$name: status $?"
}
value() { # NAME POLICY WORKERS COLUMN
  awk -F, -v policy="$2" -v workers="$3" -v column="$4" '$1 == policy && $2 == workers { print $column }' "$work/$1/loading.csv"
}
between() { awk -v x="$1" -v lo="$2" -v hi="$3" 'BEGIN { exit !(x != "" && x >= lo && x <= hi) }'; }

# 2048 samples on 4 workers with room for 256 in memory and 256 in the directory of each: LBANN's store holds half, shards all.
simulate small "${small[@]}"
grep -q 'on 4 workers: lbann: its store holds samples in memory alone' "$work/err" || fail "nothing is said of lbann"
[ -z "$(value small lbann 4 3)" ] || fail "lbann has a row"
between "$(value small naive 4 4)" 1.485 1.488 || fail "naive takes $(value small naive 4 4) times the time without stalls"
for policy in double_buffering locality_aware nopfs weir; do
  between "$(value small $policy 4 4)" 1 1.001 || fail "$policy takes $(value small $policy 4 4) times the time without stalls"
done
between "$(value small sharding 4 11)" 100 100 || fail "shards reach $(value small sharding 4 11) % of the samples"
between "$(value small double_buffering 4 9)" 100 100 || fail "double buffering reads from elsewhere than the source"
[ -s "$work/small/report.html" ] && [ -s "$work/small/figures/slowdown.svg" ] || fail "there is no page"
simulate again "${small[@]}"
cmp -s "$work/again/loading.csv" "$work/small/loading.csv" || fail "a second run gives other numbers"
simulate chosen "${small[@]}" --set 'loading.policies=[weir, naive]' --set 'loading.workers=[2, 4, 8]'
[ "$(wc -l <"$work/chosen/loading.csv")" = 7 ] || fail "two policies on 3 numbers of workers have not 6 rows"

# What is refused.
refused() { # TEXT OPTION...
  text=$1
  shift
  "$program" loading "${small[@]}" "$@" --out "$work/none" >"$work/out" 2>"$work/err" && fail "accepted: $*"
  grep -q "$text" "$work/err" || fail "not said: $text"
}
refused "there is no policy 'dali'" --set 'loading.policies=[dali]'
refused 'load.source.speed: is empty' --set 'load.source.speed=[]'
refused 'loading.workers: list them in ascending order' --set 'loading.workers=[4, 2]'
refused 'source.input names no samples' --set loading.samples=0

# Speeds of this machine, and what takes them.
"$program" prepare --config "$source/configs/cosmoflow/tiny.yaml" --out "$work/made" >"$work/out" 2>"$work/err"
status=$?
[ $status != 7 ] || { echo "skipped: this build has no FFTW or NetCDF"; exit 77; }
[ $status = 0 ] || fail "prepare: status $status"
"$program" convert "$work/made" --set convert.format=cfbin --out "$work/samples" >"$work/out" 2>"$work/err" || fail "convert"
near="$work/near: #1" # as a scalar without quotes it would be a key and a comment
# Computation so fast that every read from the source is waited for; room for 14 samples: the 10 of the training, and 2 batches of 2.
tuning=(tune "$work/samples" --config "$source/configs/cosmoflow/tiny.yaml" --threads 1 --set tune.bytes=4194304 --set 'tune.threads=[1, 2]'
  --set load.directory.path="$near" --set loading.compute_speed=1e6 --set loading.epochs=3 --set tune.max_memory_bytes=1900000)
tuned() { # NAME: what was measured
  grep -q 'memory: {.*speed: \[1, [0-9.e+]*, 2, [0-9.e+]*\]}' "$work/$1/load.yaml" || fail "$1: no speed of memory"
  grep -q 'directory: {.*speed: \[1, [0-9.e+]*, 2, [0-9.e+]*\]}' "$work/$1/load.yaml" || fail "$1: no speed of the directory"
  [ -z "$(ls "$near")" ] || fail "$1: files stay in load.directory.path"
}
"$program" "${tuning[@]}" --out "$work/one" >"$work/out" 2>"$work/err" || fail "tune: status $?"
tuned one
grep -q 'source: {speed: \[1, [0-9.e+]*\]}' "$work/one/load.yaml" || fail "no speed of the source"
here=(--config "$source/configs/cosmoflow/tiny.yaml" --config "$work/one/load.yaml" --set source.input="[$work/samples]")
event() { # FILE EVENT KEY: its value
  sed -n "s/^{\"event\": \"$2\",.*\"$3\": \"\{0,1\}\([^,\"}]*\).*/\1/p" "$1" | tail -1
}
chosen="$work/one/run.jsonl"
[ "$(event "$chosen" tuned memory_bytes)" = 1311360 ] || fail "memory of $(event "$chosen" tuned memory_bytes) bytes, not of the 10 samples"
[ "$(event "$chosen" tuned staging_bytes)" = 524544 ] || fail "a staging buffer of $(event "$chosen" tuned staging_bytes) bytes"
[ "$(event "$chosen" tuned directory_bytes)" = 0 ] || fail "a directory is used without need"
simulate predicted --config "$work/one/load.yaml" --set 'loading.policies=[weir]'
same() { # X Y: as loading.csv writes them
  awk -v x="$1" -v y="$2" 'BEGIN { exit !(y != "" && (x - y)^2 <= (1e-8 * y)^2) }'
}
same "$(value predicted weir 1 3)" "$(event "$chosen" tuned seconds)" || fail "loading predicts $(value predicted weir 1 3) s with load.yaml"
simulate simulated "${here[@]}" --set loading.network_speed=1000 --set 'loading.workers=[2]'
between "$(value simulated naive 2 4)" 1.00001 1e6 || fail "naive takes $(value simulated naive 2 4) times the time without stalls"
"$program" run "${here[@]}" --out "$work/run" >"$work/out" 2>"$work/err" || fail "run with load.yaml: status $?"
ours=$(sed -n 's/^# measured .* samples of \([0-9]*\) bytes.*/\1/p' "$work/one/load.yaml")
grep '"load_begin"' "$work/run/run.jsonl" | grep -Eq "\"sample_bytes\": ?$ours[,}]" || fail "a run keeps other samples than of $ours bytes"
for of in memory=20 directory=0 remote=0 source=10; do # of 3 epochs
  [ "$(event "$work/run/run.jsonl" load_end "${of%=*}")" = "${of#*=}" ] || fail "not ${of#*=} samples from ${of%=*}"
  [ "$(event "$work/predicted/run.jsonl" loading "${of%=*}")" = "${of#*=}" ] || fail "not predicted: ${of#*=} samples from ${of%=*}"
done
[ "$(event "$work/run/run.jsonl" load_end reads)" = 10 ] || fail "samples are read more than once"
"$program" "${tuning[@]}" --set tune.max_memory_bytes=131135 --out "$work/none" >"$work/out" 2>"$work/err" && fail "a limit below a sample"
grep -q 'tune.max_memory_bytes: 131135 bytes do not hold a sample of 131136' "$work/err" || fail "the limit is not named"
"$program" tune synth:// --out "$work/none" >"$work/out" 2>"$work/err" && fail "synth:// is measured"
grep -q 'synth:// is not read from files' "$work/err" || fail "it is not said why synth:// is refused"

# MPI keeps memory of its own.
export LSAN_OPTIONS=detect_leaks=0
bash "$source/tests/mpi/ranks.sh" 2 "$program" "${tuning[@]}" --set loading.network_speed=1e6 --set tune.max_memory_bytes=1300000 \
  --out "$work/two" >"$work/out" 2>"$work/err"
status=$?
[ $status != 77 ] || { echo "without several ranks: no MPI"; exit 0; }
[ $status = 0 ] || fail "on two ranks: status $status"
tuned two
grep -q 'source: {speed: \[1, [0-9.e+]*, 2, [0-9.e+]*\]}' "$work/two/load.yaml" || fail "no speed of two ranks"
# Room for 9 samples of each: 2 staged, 2 on their way, and the half of the data set that each reads for both.
grep -q 'workers: \[2\]' "$work/two/load.yaml" && grep -q 'remote: auto' "$work/two/load.yaml" || fail "no exchange between the two ranks"
[ "$(event "$work/two/run.jsonl" tuned memory_bytes)" = 655680 ] || fail "each rank keeps $(event "$work/two/run.jsonl" tuned memory_bytes) bytes"
bash "$source/tests/mpi/ranks.sh" 2 "$program" run --config "$source/configs/cosmoflow/tiny.yaml" --config "$work/two/load.yaml" --grid 2 \
  --threads 1 --set source.input="[$work/samples]" --out "$work/run2" >"$work/out" 2>"$work/err" || fail "run on two ranks: status $?"
simulate predicted2 --config "$work/two/load.yaml" --set 'loading.policies=[weir]'
[ "$(event "$work/predicted2/run.jsonl" loading source)" = 10 ] || fail "two ranks are not predicted to read 10 samples"
[ "$(event "$work/run2/run.jsonl" load_end source)" = 5 ] || fail "the first of two ranks does not read half of the samples"
[ "$(event "$work/run2/run.jsonl" load_end visits)" = 15 ] || fail "the first of two ranks has not half of the accesses"
