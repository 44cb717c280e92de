#!/usr/bin/env bash
# weather_shared.sh WEATHER_ENSEMBLE ROOT RANKS_SH: simulations, predictions and scores that ranks share are those of one
# process.
set -u
program=$1
root=$2
ranks=$3
. "$(dirname "$0")/script.sh"
. "$(dirname "$0")/shared.sh"

# Of a page what is drawn, and of the provenance the files that were read.
drawn() { grep -o '<svg.*' "$1/report.html" | sed "s,$1,OUT,g"; }
read_files() { grep -o '"[^"]*\.nc"' "$1/provenance.json" | LC_ALL=C sort; }
options=(--config "$root/configs/weather_ensemble/tiny.yaml")
simulation=(prepare "${options[@]}" --set simulate.spin_up=1 --set simulate.init_times=25)
on 1 "${simulation[@]}" --out "$work/data" || {
  grep -q 'does not have' "$work/log" && { echo "skipped: this build has no FFTW or no NetCDF"; exit 77; }
  fail "prepare"
}
# Three batches of initialisation times, the last one smaller.
same_on_ranks simulated "${simulation[@]}" --set simulate.batch=6
fails_on_ranks broken 6 'a forecast broke down' "${simulation[@]}" --set simulate.step=0.36 \
  --set 'simulate.forecast={preset: custom, jet: 10, mountain: 10, nu: 0}'
options+=(--set data.forecast="[$work/data/forecast.nc]" --set data.truth="[$work/data/truth.nc]"
  --set 'data.split={train: {to: 2000-02-01}, valid: {from: 2000-02-01, to: 2000-02-10}, test: {from: 2000-02-10}, gap: 0}')
on 1 run "${options[@]}" --set train.steps=4 --set bias.use=true --set bias.folds=1 --set bias.model.unet.preset=tiny \
  --set bias.train.steps=1 --set bias.train.batch=4 --out "$work/run" || fail "run"
stages=(--set bias.use=true --set bias.model.unet.preset=tiny --set predict.weights="$work/run/weights.nc")
same_on_ranks fields predict "${options[@]}" "${stages[@]}" --set predict.part=all
same_on_ranks members predict "${options[@]}" "${stages[@]}" --set predict.part=train --set predict.members=true \
  --set 'predict.quantiles=[0.1, 0.9]'
# Members that a network makes, and distributions that are not normal.
networks=(--set train.steps=2 --set train.batch=2)
attention=(--set model.head=members --set model.coupling=attention --set model.net=transformer --set model.transformer.preset=tiny
  --set model.transformer.width=8)
truncated=(--set model.net=dense --set 'model.distributions=[{quantity: z500, family: truncated_normal, lower: 0}]')
on 1 run "${options[@]}" "${networks[@]}" "${attention[@]}" --out "$work/attention" || fail "run with attention"
same_on_ranks corrected predict "${options[@]}" "${attention[@]}" --set predict.weights="$work/attention/weights.nc" --set predict.part=test
on 1 run "${options[@]}" "${networks[@]}" "${truncated[@]}" --out "$work/truncated" || fail "run of a truncated normal distribution"
same_on_ranks drawn predict "${options[@]}" "${truncated[@]}" --set predict.weights="$work/truncated/weights.nc" --set predict.part=test \
  --set predict.members=true
# A statistical correction is fitted by rank 0, which says so.
for n in 1 2; do
  on $n predict "${options[@]}" --set predict.part=train --set predict.model.use=raw --out "$work/raw-$n" || fail "raw: $n ranks"
  results "$work/raw-$n" >"$work/results-$n"
done
[ "$(grep -c 'rank 0 does all of the work' "$work/log")" = 1 ] || fail "raw: not said once that rank 0 works alone"
diff "$work/results-1" "$work/results-2" >"$work/log" || fail "raw: other results"
fails_on_ranks weights 3 'no-such.nc' predict "${options[@]}" --set predict.weights="$work/no-such.nc"
# Quantities and leads in turn, and both quantities together: fitted models, coefficients that are saved and loaded again, maps and the case
# of the page.
options+=(--set 'eval.joint=[{quantity: z500}, {quantity: t500}]')
scored() { same_on_ranks "$1" eval "${options[@]}" --set eval.part=test --set eval.models="$2"; }
scored scores "[{use: raw}, {use: climatology}, {use: persistence}, {use: {emos: {save: $work/saved}}}]"
scored loaded "[{use: raw}, {use: {emos: {load: $work/saved}}}]"
for n in 2 3; do
  diff <(drawn "$work/scores-1") <(drawn "$work/scores-$n") >"$work/log" || fail "scores: $n ranks: another page"
  diff <(read_files "$work/loaded-1") <(read_files "$work/loaded-$n") >"$work/log" || fail "loaded: $n ranks: other files"
done
[ "$(read_files "$work/loaded-1" | grep -c emos_)" -gt 1 ] || fail "loaded: the coefficients are not in the provenance"
echo "simulation, predictions and scores: the same on 1, 2 and 3 ranks"
