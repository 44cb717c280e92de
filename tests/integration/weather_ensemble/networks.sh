#!/usr/bin/env bash
# networks.sh PROGRAM SOURCE: workflows/weather_ensemble/networks.steps at a small size: all of its steps succeed, and its scores by
# season and window have every network next to EMOS.
set -euo pipefail
program=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "networks: $*" >&2
  exit 1
}

cat >"$work/small.yaml" <<'YAML'
simulate: {lat: 16, lon: 32, step: 0.12, spin_up: 60, library: {states: 40}, every: 48, init_times: 120, members: 5}
data:
  split:
    train: {to: 2000-06-01}
    valid: {from: 2000-06-01, to: 2000-07-10}
    test: {from: 2000-07-10}
model: {unet: {preset: tiny}}
bias: {model: {unet: {preset: tiny}}, train: {epochs: 1}}
train: {epochs: 1}
eval: {bootstrap: {resamples: 100}}
YAML
# It follows that of the steps, whose own settings (two stages, convolutions, learning rate and epochs of the last network) follow both.
sed "s,^\([a-z].* \)networks\.yaml  *once,\1networks.yaml\,$work/small.yaml once," "$source/workflows/weather_ensemble/networks.steps" \
  >"$work/small.steps"
[ "$(grep -c 'small.yaml once' "$work/small.steps")" = 7 ] ||
  fail "other steps than those of prepare, five networks and eval have networks.yaml"

cd "$source"
workflows/flow.sh weather_ensemble --bin "${program%/*}" --steps "$work/small.steps" --out "$work/out" >"$work/log" 2>&1 ||
  fail "the flow: $(cat "$work/log")"
[ "$(workflows/flow.sh weather_ensemble --bin "${program%/*}" --out "$work/out" --status | grep -c ' done ')" = 12 ] ||
  fail "not every step is done"
for model in EMOS 'EMOS season' 'EMOS windows season' 'one stage' 'two stages' 'spread separable' 'spread affine' 'spread affine tuned'; do
  grep -q "^z,500,both,all,$model,5,EMOS windows,crps_gauss,-\?[0-9]" "$work/out/eval/strata_skill.csv" ||
    fail "no skill of $model in both lead times"
done
awk -F, -f workflows/weather_ensemble/skill_table.awk "$work/out/eval"/strata.csv "$work/out/eval"/strata_skill.csv >"$work/table"
[ "$(grep -cE '^\| (one stage|two stages|spread [a-z ]+) \|( -?[0-9].*\|)+$' "$work/table")" = 10 ] ||
  fail "not five networks in both tables: $(cat "$work/table")"
grep -q "$(sha256sum "$work/out/affine/weights.nc" | cut -c -64)" "$work/out/tuned/provenance.json" || fail "tuned from other weights"
