#!/usr/bin/env bash
# scaling_validation.sh COSMOFLOW CONFIG OUT [RANKS...]: predicted against measured steps of the exchange policies that are simulated on 2, 4 and 8 ranks
# (or RANKS) that mpiexec starts here, for every kind of imbalance. A rank computes for 10 ms, which it sleeps, so that ranks may share
# cores. Writes OUT/validation.csv and prints the median and the largest error. What is measured counts only on a machine without
# other load; prefix the command with `nice -n -10` where there is some.
set -eu
program=$1 config=$2 out=$3
shift 3
[ $# -gt 0 ] || set -- 2 4 8
mkdir -p "$out"
out=$(cd "$out" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
printf 'ranks,bytes,imbalance,policy,predicted (s),measured (s),error (%%)\n' >"$out/validation.csv"

# NAME RANKS BYTES STEPS OPTION...: a row for each policy
compare() {
  local name=$1 ranks=$2 bytes=$3 steps=$4
  shift 4
  local dir=$out/${name}_${ranks}_$bytes
  bash "$here/../../tests/mpi/ranks.sh" "$ranks" "$program" scaling --config "$config" --threads 1 --overwrite --out "$dir" \
    --set "scaling.bytes=$bytes" --set "scaling.steps=$steps" --set scaling.compute_s=0.01 --set scaling.runs=1 \
    --set scaling.imbalance.delay_s=0.04 "$@" >"$dir.out" 2>"$dir.err" || { tail -3 "$dir.err"; exit 1; }
  awk -F, -v OFS=, -v name="$name" -v bytes="$bytes" \
    'NR > 1 { print $2, bytes, name, $1, $3, $11, $12 }' "$dir/scaling.csv" | tee -a "$out/validation.csv"
}

for ranks in "$@"; do
  compare none "$ranks" 8192 50 --set scaling.imbalance.family=none
  compare one_drawn "$ranks" 8192 50
  [ "$ranks" -le 2 ] || compare two_drawn "$ranks" 8192 50 --set scaling.imbalance.ranks=2
  compare one_fixed "$ranks" 8192 50 --set scaling.imbalance.family=fixed
  compare one_slow "$ranks" 8192 50 --set scaling.imbalance.family=slow --set scaling.imbalance.factor=3
  compare tail "$ranks" 8192 50 --set scaling.imbalance.family=tail --set scaling.imbalance.mu=-4.6 --set scaling.imbalance.sigma=1
  compare bursts "$ranks" 8192 50 --set scaling.imbalance.family=bursts
  compare one_drawn "$ranks" 1048576 50
  compare one_drawn "$ranks" 33554432 10
done
awk -F, 'NR > 1 { x = $7 < 0 ? -$7 : $7; print x }' "$out/validation.csv" | sort -g |
  awk '{ x[NR] = $1 } END { printf "%d comparisons: median error %.1f %%, largest %.1f %%\n", NR, x[int((NR + 1) / 2)], x[NR] }'
