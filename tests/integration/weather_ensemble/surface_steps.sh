#!/usr/bin/env bash
# surface_steps.sh PROGRAM SOURCE: workflows/weather_ensemble/surface.steps at a small size: all of its steps succeed, networks see the surface, on the
# grid and at stations, and the tables of its scores have them next to EMOS.
set -euo pipefail
program=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "surface_steps: $*" >&2
  exit 1
}

cat >"$work/small.yaml" <<'YAML'
simulate:
  {lat: 16, lon: 32, step: 0.24, spin_up: 20, library: {states: 10}, init_times: 120, members: 3, leads: [24, 36], surface: {stations: {count: 12}}}
data:
  lead: [24, 36]
  members: 3
  split:
    train: {to: 2000-07-01}
    valid: {from: 2000-07-01, to: 2000-08-15}
    test: {from: 2000-08-15}
train: {epochs: 1}
eval:
  bootstrap: {resamples: 100}
  leads: [24, 36]
  lead_windows: [{name: all leads, from: 24, to: 36}]
  models:
    - {use: {raw: {members: 3}}}
    - {name: EMOS, use: {emos: {members: 3}}}
    - {name: EMOS point, use: {emos: {members: 3, fit: {pool: point}}}}
    - {name: EMOS point season, use: {emos: {members: 3, fit: {pool: point}, dates: {kind: season, window: 90}}}}
    - {name: EMOS EOFs, use: {emos: {members: 3, eofs: {count: 5}}}}
    - {name: EMOS EOFs point, use: {emos: {members: 3, eofs: {count: 5}, fit: {pool: point}}}}
    - {name: EMOS EOFs point season, use: {emos: {members: 3, eofs: {count: 5}, fit: {pool: point}, dates: {kind: season, window: 90}}}}
    - {name: network, use: {predictions: {files: [x.nc], members: 3}}}
    - {name: network with surface, use: {predictions: {files: [x.nc], members: 3}}}
YAML
sed "s,^\([a-z].* surface\.yaml[a-z.\,]*\)  *once,\1\,$work/small.yaml once," "$source/workflows/weather_ensemble/surface.steps" >"$work/small.steps"
[ "$(grep -c 'small.yaml once' "$work/small.steps")" = 8 ] || fail "other steps than eight have surface.yaml"

cd "$source"
workflows/flow.sh weather_ensemble --bin "${program%/*}" --steps "$work/small.steps" --out "$work/out" >"$work/log" 2>&1 ||
  fail "the flow: $(cat "$work/log")"
grep -q 'orography / 1000 m' "$work/out/surface/weights.nc" && grep -q 'altitude / 1000 m' "$work/out/st_surface/weights.nc" ||
  fail "networks do not see the surface"
for eval in eval st_eval; do
  awk -F, -f workflows/weather_ensemble/skill_table.awk "$work/out/$eval"/strata.csv "$work/out/$eval"/strata_skill.csv >"$work/table"
  for model in 'raw 3' EMOS 'EMOS point' 'EMOS EOFs' 'EMOS EOFs point' 'EMOS EOFs point season' network 'network with surface'; do
    grep -Eq "^\| $model \|( [0-9.]+ \([0-9.]+ to [0-9.]+\) \| -?[0-9.]+ \(-?[0-9.]+ to -?[0-9.]+\) \|){3}$" "$work/table" ||
      fail "no scores of $model in three windows: $(cat "$work/table")"
  done
  grep -q '^| skill relative to EMOS point season (%), all leads | ' "$work/table" || fail "no seasons: $(cat "$work/table")"
done
