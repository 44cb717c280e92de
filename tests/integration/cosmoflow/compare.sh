#!/usr/bin/env bash
# compare.sh COSMOFLOW: compare trains on simulated ranks: under allreduce to the losses of a run on one rank, in the time of its
# computing and delays; repeated, to the same numbers; late ranks cost eager less. What does not fit a policy has no row.
set -u
program=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  cat "$work/log"
  echo "failed: $*"
  exit 1
}
cat >"$work/small.yaml" <<'YAML'
simulate: {universes: 16, side: 8, particles: 16, box: 128, preset: wide2}
data: {scale: mean, split: {valid: 3, test: 1}}
model:
  net: {mlperf: {blocks: 2, base: 4, hidden1: 8, hidden2: 4}}
train:
  epochs: 2
  batch: 6
  optim: {rule: adam, schedule: {lr: 0.003}}
scaling:
  ranks: [2, 3]
  runs: 2
  policies: [allreduce, eager, wagma]
  compute_s: 0.01
  imbalance: {family: random, ranks: 1, delay_s: 0.04}
YAML
compare() { "$program" compare --config "$work/small.yaml" --config "$work/network.yaml" --log warn "${@:2}" --out "$work/$1" >"$work/log" 2>&1; }
echo 'scaling: {network: {latency: 1e-6, overhead: 3e-7, gap: 1e-7, link_bw: 25e9}}' >"$work/network.yaml"
status=0
compare one || status=$?
[ $status != 7 ] || { echo "skipped: this build has no FFTW"; exit 77; }
[ $status = 0 ] || fail "status $status"
grep -q 'wagma on 3 ranks: ' "$work/log" || fail "what wagma refuses is not said"
! grep -q '^wagma,3,' "$work/one/losses.csv" || fail "wagma has losses on 3 ranks"
[ "$(cut -d, -f1,2 "$work/one/compare.csv" | tail -n +2 | tr '\n' ' ')" = "allreduce,2 allreduce,3 eager,2 eager,3 wagma,2 " ] || fail "other rows"
[ "$(wc -l <"$work/one/losses.csv")" = 21 ] || fail "not 5 rows of 2 runs with 2 validations" # and the head

# A rank is late in every step of allreduce; 4 steps in 2 epochs of 12 universes.
awk -F, '$1 == "allreduce" && $4 == 4 { n++; if ($5 < 0.2 || $5 > 0.205) exit 1 } END { exit n != 4 }' "$work/one/losses.csv" ||
  fail "allreduce does not take 0.05 s a step"
awk -F, '$1 == "eager" && $4 == 4 && $5 > 0.199 { exit 1 }' "$work/one/losses.csv" || fail "eager is not faster"
# Of the 0.05 s of a step, one rank computes them all and the others 0.01 s.
awk -F, '$1 == "allreduce" { n++; wait = $2 == 2 ? 0.4 : 1.6 / 3; if ($11 < wait - 0.01 || $11 > wait + 0.01) exit 1 } END { exit n != 2 }' \
  "$work/one/compare.csv" || fail "ranks of allreduce wait for another part of the time"

[ ! -e "$work/one/trainings" ] || fail "trainings are left behind"
"$program" run --config "$work/small.yaml" --threads 1 --log warn --out "$work/alone" >"$work/log" 2>&1 ||
  fail "run"
alone=$(sed -n 's/.*"event": "epoch_end".*"step": 4,.*"valid_loss": \([^,]*\),.*/\1/p' "$work/alone/run.jsonl")
awk -F, -v alone="$alone" '$1 == "allreduce" && $3 == 0 && $4 == 4 { n++; d = $6 / alone - 1; if (d < -1e-4 || d > 1e-4) exit 1 } END { exit n != 2 }' \
  "$work/one/losses.csv" || fail "allreduce has another loss than one rank: $alone"

compare two || fail "the second time"
cmp "$work/one/losses.csv" "$work/two/losses.csv" || fail "the same command gives other losses"
cmp "$work/one/compare.csv" "$work/two/compare.csv" || fail "the same command gives another table"

status=0
compare none --set data.split.valid=0 || status=$?
[ $status = 3 ] && grep -q 'there was no validation' "$work/log" || fail "without validation: status $status"
status=0
compare nobody --set scaling.ranks=[3] --set scaling.policies=[wagma] || status=$?
[ $status = 2 ] && grep -q 'no policy trains' "$work/log" || fail "no policy: status $status"
status=0
compare unknown --set 'scaling.policies=[allreduse]' || status=$?
[ $status = 2 ] && [ ! -e "$work/unknown" ] || fail "an unknown policy: status $status"
