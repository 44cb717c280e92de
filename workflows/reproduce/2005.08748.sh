#!/usr/bin/env bash
# 2005.08748.sh [OPTION...] - ensemble post-processing by networks: 5 corrected members next to 10 raw ones and EMOS, on the simulated atmosphere of
# 16 x 32 grid points; --full: 64 x 128. Three minutes.
# shellcheck disable=SC1091,SC2154 # variables of claims.sh
set -euo pipefail
. "$(dirname "$0")/claims.sh"
begin 'Deep learning for ensemble weather post-processing (arXiv:2005.08748)' "$@"

flow weather weather_ensemble
scores=$out/weather/eval
dirs='weather/eval/seed_1 weather/eval/seed_2 weather/eval/seed_3'
setting='z500 at 48 h, three simulated climates and networks; CRPS of normal distributions'
percent() { "$@" | awk '{ print 100 * $1 }'; }
# gain REFERENCE: CRPS skill score of the network with 5 members.
gain() { cell skill model='network 5' region=all reference="$1" score=crps_gauss -- "$scores"/*/skill.csv; }

row claim='5 members after correction have a lower CRPS than 10 raw ones, by more than' source='abstract' published=13 unit=% is=least setting="$setting" \
  why='a simulated atmosphere in place of ENS-10 and ERA5; 16 x 32 grid points, few forecasts and a small network without the analysis as input: on 64 x 128, as with --full, docs/science/weather_ensemble.md has more' runs="$dirs" -- percent gain 'raw 10'
row claim='half of the trajectories suffice: CRPS of 5 corrected members / of 10 raw ones' source='abstract' published=1 is=most setting="$setting" why='as above' runs="$dirs" \
  -- quotient "cell crps_gauss model='network 5' -- $scores/*/scores.csv" "cell crps_gauss model='raw 10' -- $scores/*/scores.csv"
row claim='the network is better than a statistical correction of the same 5 members (EMOS): lower CRPS by' source='not in the abstract' unit=% setting="$setting" \
  why='stated for comparison: EMOS needs no network' runs="$dirs" -- percent gain 'EMOS 5'
row claim='spread / error of 5 corrected members' source='not in the abstract; 1 is calibrated' bound=1 is=near setting="$setting" why='few forecasts' runs="$dirs" \
  -- cell ssr model='network 5' -- "$scores"/*/scores.csv
row claim='CRPS on selected extreme events lower by up to (tropical cyclone Winston)' source='abstract' published=26 unit=% \
  why='one event of ENS-10 and ERA5 (3 TB): configs/weather_ensemble/paper.yaml runs on these archives'
row claim='the experiment at full size, 361 x 720 grid points' source='section 2 of the published program' why='270 hours of a GPU of 10 Tflop/s: weather_ensemble describe --config configs/weather_ensemble/paper.yaml'
finish
