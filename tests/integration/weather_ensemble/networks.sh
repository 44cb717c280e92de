#!/usr/bin/env bash
# networks.sh PROGRAM SOURCE: workflows/weather_ensemble/networks.steps at a small size: all of its steps succeed, and its scores by
# season and window have every network next to EMOS. All of heads.steps but its simulation, on the same archive: every distribution is next
# to EMOS of all forms, and the predictions of every network are those that eval calls by its distribution.
set -euo pipefail
program=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "networks: $*" >&2
  exit 1
}

cat >"$work/small.yaml" <<'YAML'
simulate:
  {lat: 16, lon: 32, step: 0.12, spin_up: 60, library: {states: 40}, every: 48, init_times: 120, members: 5,
   quantities: [z500, t500, ws500, tprate, tcc]}
data:
  split:
    train: {to: 2000-06-01}
    valid: {from: 2000-06-01, to: 2000-07-10}
    test: {from: 2000-07-10}
model: {unet: {preset: tiny}, inception: {preset: tiny}}
bias: {folds: 1, model: {unet: {preset: tiny}}, train: {epochs: 1}}
train: {epochs: 1}
eval: {bootstrap: {resamples: 100}}
YAML
# It follows those of the steps, whose own settings (two stages, convolutions, learning rate and epochs of tuned networks) follow all.
sed "s|^\([a-z].* networks\.yaml[a-z_.,]*\)  *once|\1,$work/small.yaml once|" "$source/workflows/weather_ensemble/networks.steps" \
  >"$work/small.steps"
[ "$(grep -c 'small.yaml once' "$work/small.steps")" = 9 ] ||
  fail "other steps than those of prepare, seven networks and eval have networks.yaml"

cd "$source"
workflows/flow.sh weather_ensemble --bin "${program%/*}" --steps "$work/small.steps" --out "$work/out" >"$work/log" 2>&1 ||
  fail "the flow: $(cat "$work/log")"
[ "$(workflows/flow.sh weather_ensemble --bin "${program%/*}" --out "$work/out" --status | grep -c ' done ')" = 16 ] ||
  fail "not every step is done"
for model in EMOS 'EMOS season' 'EMOS windows season' 'EMOS EOFs' 'EMOS EOFs windows' 'EMOS EOFs season' 'EMOS EOFs windows season' \
  'one stage' 'two stages' 'spread separable' 'spread separable tuned' 'spread affine' 'spread affine tuned'; do
  grep -q "^z,500,both,all,$model,5,EMOS windows,crps_gauss,-\?[0-9]" "$work/out/eval/strata_skill.csv" ||
    fail "no skill of $model in both lead times"
done
grep -q '^z,500,48 h,all,two stages published,5,EMOS windows,crps_gauss,-\?[0-9]' "$work/out/eval/strata_skill.csv" ||
  fail "no skill of the published two stages at 48 h"
awk -F, -v window='48 h' -f workflows/weather_ensemble/skill_table.awk "$work/out/eval"/strata.csv "$work/out/eval"/strata_skill.csv \
  >"$work/table"
[ "$(grep -cE '^\| (one stage|two stages|spread [a-z ]+) \|( -?[0-9].*\|)+$' "$work/table")" = 12 ] ||
  fail "not six networks in both tables: $(cat "$work/table")"
[ "$(grep -cE '^\| two stages published \|  \|  \|( -?[0-9][^|]*\|){2}  \|  \|$' "$work/table")" = 1 ] ||
  fail "the published two stages have scores of other lead times than 48 h: $(cat "$work/table")"
for name in affine:tuned separable:septuned; do
  grep -q "$(sha256sum "$work/out/${name%:*}/weights.nc" | cut -c -64)" "$work/out/${name##*:}/provenance.json" ||
    fail "${name##*:} from other weights"
done

cat >"$work/few.yaml" <<'YAML'
data:
  split:
    train: {to: 2000-03-01}
    valid: {from: 2000-03-01, to: 2000-03-15}
    test: {from: 2000-03-15, to: 2000-04-01}
train: {steps: 2}
eval: {bootstrap: {resamples: 100}}
exec: {tier: vector} # nothing to compile
YAML
heads=workflows/weather_ensemble/heads.steps
sed -e '/^prepare /,/^[a-z]/ { /^prepare /d }' -e "s#^\([a-z].* heads[a-z_.,]*\.yaml\)  *once#\1,$work/few.yaml once#" \
  -e "s,\$prepare,$work/out/prepare," "$heads" >"$work/heads.steps"
[ "$(grep -c 'few.yaml once' "$work/heads.steps")" = 14 ] || fail "other steps than those of ten networks and four evals have heads.yaml"
workflows/flow.sh weather_ensemble --bin "${program%/*}" --steps "$work/heads.steps" --out "$work/heads" >"$work/log" 2>&1 ||
  fail "the flow of heads.steps: $(cat "$work/log")"
awk -F, -f workflows/weather_ensemble/heads_table.awk "$work/heads"/{height,wind,rain,cloud}/{scores,skill}.csv >"$work/table"
beside='( \**[0-9.e-]+\** \|){7} -?[0-9.]+ \(-?[0-9.]+ to -?[0-9.]+\) \|$'
both='(normal|logistic)'
families="[zt]500, $both|ws500, (truncated $both|log-normal)|tprate, (censored $both|gamma)|tcc, censored $both"
[ "$(grep -cE "^\| ($families) \|$beside" "$work/table")" = 12 ] ||
  fail "not twelve distributions next to EMOS of six forms: $(cat "$work/table")"
[ "$(grep -o '\*\*[^*]*\*\*' "$work/table" | wc -l)" = 5 ] || fail "not one best EMOS of each quantity: $(cat "$work/table")"

# The models of a configuration, counted from 0, with the predictions of the steps that an eval puts there.
awk '/ eval / { split($3, file, ","); config = file[2] == "" ? file[1] : file[2] }
  /eval.models\[/ { split($1, part, /[][$]/); print config, part[2], part[5] }' "$heads" | sort >"$work/steps"
for config in heads heads_precipitation heads_cloud heads_wind; do
  awk -v config=$config.yaml '/^  models:/ { on = 1; next } on && /^    - / { if (match($0, /files: \[[^]]*/)) print config, n + 0,
    substr($0, RSTART + 8, RLENGTH - 8); n++ }' "configs/weather_ensemble/$config.yaml"
done | sort >"$work/models"
diff "$work/steps" "$work/models" >"$work/difference" && [ "$(wc -l <"$work/models")" = 10 ] ||
  fail "predictions of other networks than those of the names: $(cat "$work/difference")"
