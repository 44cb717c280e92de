#!/usr/bin/env bash
# 1911.00630.sh [OPTION...] - the spread of a large ensemble from few members by a network, on the simulated atmosphere of 16 x 32 grid points.
# Two minutes.
# shellcheck disable=SC1091,SC2154 # variables of claims.sh
set -euo pipefail
. "$(dirname "$0")/claims.sh"
begin 'Ensemble spread from few members (arXiv:1911.00630)' "$@"

flow weather weather_ensemble
weather=$out/weather
setting='z500 at 48 h, two simulated climates with 160 forecasts each, U-Net of one level, 8 epochs; error of the spread of 10 members in the validation'
error() { cell rmse_network -- "$weather/$1"/*/validation.csv; }
dirs() { for step in "$@"; do printf 'weather/%s/seed_1 weather/%s/seed_2 ' "$step" "$step"; done; }

row claim='the spread of a larger ensemble can be estimated from few members: RMSE by a network / of the spread of 5 members itself' source='abstract, no number' \
  bound=1 is=most setting="$setting" why='the paper has ensembles of ERA5, temperature and leads of 3 and 6 h, and a linear regression as the reference' runs="$(dirs five)" \
  -- quotient 'error five' "cell rmse_raw -- $weather/five/*/validation.csv"
row claim='one unperturbed trajectory predicts spread better than four perturbed ones: RMSE / RMSE' source='reading notes, not verified' published=1 is=most setting="$setting" \
  why='four members have a spread of their own, which the trajectory must learn from the flow; few forecasts; the target of the four are the nine perturbed members' runs="$(dirs trajectory perturbed)" -- quotient 'error trajectory' 'error perturbed'
row claim='more lead times as inputs give no gain: RMSE / RMSE with one' source='reading notes, not verified' published=1 is=near within=0.05 setting="$setting; 24 and 48 h / 48 h" \
  why='other networks: times are channels here, as in one of the variants of the paper' runs="$(dirs two_leads five)" -- quotient 'error two_leads' 'error five'
row claim='ERA5 ensembles of data assimilation, 3D U-Net over levels' source='abstract' why='needs ERA5; data.depth=level has the network'
finish
