#!/usr/bin/env bash
# weather_shared.sh WEATHER_ENSEMBLE ROOT RANKS_SH: predictions of samples that ranks share are those of one process.
set -u
program=$1
root=$2
ranks=$3
. "$(dirname "$0")/script.sh"
. "$(dirname "$0")/shared.sh"

options=(--config "$root/configs/weather_ensemble/tiny.yaml")
on 1 prepare "${options[@]}" --set simulate.spin_up=1 --set simulate.init_times=25 --out "$work/data" || {
  grep -q 'does not have' "$work/log" && { echo "skipped: this build has no FFTW or no NetCDF"; exit 77; }
  fail "prepare"
}
options+=(--set data.forecast="[$work/data/forecast.nc]" --set data.truth="[$work/data/truth.nc]"
  --set 'data.split={train: {to: 2000-02-01}, valid: {from: 2000-02-01, to: 2000-02-10}, test: {from: 2000-02-10}, gap: 0}')
on 1 run "${options[@]}" --set train.steps=4 --set bias.use=true --set bias.folds=1 --set bias.model.unet.preset=tiny \
  --set bias.train.steps=1 --set bias.train.batch=4 --out "$work/run" || fail "run"
stages=(--set bias.use=true --set bias.model.unet.preset=tiny --set predict.weights="$work/run/weights.nc")
same_on_ranks fields predict "${options[@]}" "${stages[@]}" --set predict.part=all
same_on_ranks members predict "${options[@]}" "${stages[@]}" --set predict.part=train --set predict.members=true \
  --set 'predict.quantiles=[0.1, 0.9]'
# A statistical correction is fitted by rank 0, which says so.
for n in 1 2; do
  on $n predict "${options[@]}" --set predict.part=train --set predict.model.use=raw --out "$work/raw-$n" || fail "raw: $n ranks"
  results "$work/raw-$n" >"$work/results-$n"
done
[ "$(grep -c 'rank 0 does all of the work' "$work/log")" = 1 ] || fail "raw: not said once that rank 0 works alone"
diff "$work/results-1" "$work/results-2" >"$work/log" || fail "raw: other results"
fails_on_ranks weights 3 'no-such.nc' predict "${options[@]}" --set predict.weights="$work/no-such.nc"
echo "predictions: the same on 1, 2 and 3 ranks"
