#!/usr/bin/env bash
# policies.sh COSMOFLOW SOURCE: configs/cosmoflow/compare.yaml, smaller and with one seed: every exchange policy trains on 4 ranks of
# which one is late, to a loss near that of allreduce. docs/science/exchange.md has the whole of it.
set -u
program=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  cat "$work/log"
  cat "$work/out/compare.csv"
  echo "failed: $*"
  exit 1
}
status=0
"$program" compare --config "$source/configs/cosmoflow/compare.yaml" --config "$source/configs/networks/infiniband_hdr.yaml" \
  --set simulate.universes=112 --set data.split.valid=16 --set data.split.test=0 --set train.batch=4 --set train.epochs=8 --set scaling.ranks=[4] \
  --set scaling.runs=1 --log warn --out "$work/out" >"$work/log" 2>&1 || status=$?
[ $status != 7 ] || { echo "skipped: this build has no FFTW"; exit 77; }
[ $status = 0 ] || fail "status $status"
loss() { awk -F, -v policy="$1" '$1 == policy { print $3 }' "$work/out/compare.csv"; } # POLICY
policies=$(cd "$source/libcore/optim/exchange" && find . -mindepth 1 -maxdepth 1 -type d -printf '%f\n' | sort)
[ "$(tail -n +2 "$work/out/compare.csv" | cut -d, -f1 | sort)" = "$policies" ] || fail "other rows than policies"
first=$(awk -F, '$1 == "allreduce" { print $6; exit }' "$work/out/losses.csv") # after an epoch
awk -v x="$(loss allreduce)" -v y="$first" 'BEGIN { exit !(x < 0.9 * y) }' || fail "allreduce learns nothing: $(loss allreduce) of $first"
for policy in $policies; do
  awk -v x="$(loss "$policy")" -v y="$(loss allreduce)" 'BEGIN { exit !(x < 1.5 * y) }' || fail "$policy: $(loss "$policy")"
done
cut -d, -f1,3,5,7 "$work/out/compare.csv"
