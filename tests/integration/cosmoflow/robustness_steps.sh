#!/usr/bin/env bash
# robustness_steps.sh PROGRAM SOURCE: workflows/cosmoflow/robustness.steps at a small size: all of its steps succeed, and the table of scores
# has every network on every set, its own one too.
set -euo pipefail
program=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "robustness_steps: $*" >&2
  exit 1
}

# 32^3 particles, as in the table's configuration: the step `coarse` has fewer.
cat >"$work/small.yaml" <<'YAML'
simulate: {universes: 24, file: 24, side: 8}
data: {split: {valid: 4, test: 8}}
model: {net: {mlperf: {blocks: 1, base: 2, hidden1: 8, hidden2: 8}}}
train: {epochs: 2, optim: {schedule: {warmup: 1}}}
eval: {bootstrap: {resamples: 100}}
YAML
sed "s,^\([a-z].* \)robustness\.yaml  *once,\1robustness.yaml\,$work/small.yaml once," "$source/workflows/cosmoflow/robustness.steps" \
  >"$work/small.steps"
[ "$(grep -c 'small.yaml once' "$work/small.steps")" = 13 ] || fail "other steps than six sets, six networks and their table have robustness.yaml"

cd "$source"
workflows/flow.sh cosmoflow --bin "${program%/*}" --steps "$work/small.steps" --out "$work/out" >"$work/log" 2>&1 ||
  fail "the flow: $(cat "$work/log")"
[ "$(workflows/flow.sh cosmoflow --bin "${program%/*}" --out "$work/out" --status | grep -c ' done ')" = 13 ] || fail "not every step is done"
for score in mae coverage_0.68; do
  awk -F, -v score=$score '
    NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
    $column["model"] ~ /^net_/ && $column["parameter"] == "sigma_8" && $column["score"] == score {
      value = $column["value"]
      if ($column["model"] != "net_" $column["trained_on"] || value !~ /^[0-9.]+(e[-+][0-9]+)?$/) wrong++
      rows++
      own += $column["trained_on"] == $column["tested_on"]
    }
    END { if (wrong || rows != 36 || own != 6) { print rows " rows of " score ", " own " of own sets, " wrong + 0 " wrong"; exit 1 } }
  ' "$work/out/robustness/robustness.csv" || fail "not six networks on six sets: $(cat "$work/out/robustness/robustness.csv")"
done
# Sets differ as their steps state: a network has another error on each.
[ "$(grep '^lpt,[a-z0-9]*,net_lpt,all,mae,' "$work/out/robustness/robustness.csv" | cut -d, -f7 | sort -u | wc -l)" = 6 ] ||
  fail "two sets are the same"
grep -q '<svg\|<table' "$work/out/robustness/report.html" || fail "the report has no table"
