#!/usr/bin/env bash
# steps.sh BIN OUT - the demo of weather_ensemble: simulate forecasts and what came true, train a U-Net on a part of
# them, correct the rest.
set -euo pipefail
bin=$1 out=$2
we=$bin/weather_ensemble
config=configs/weather_ensemble/tiny.yaml

"$we" prepare --config $config --out "$out/archives" --overwrite
"$we" run --config $config --set data.forecast="[$out/archives/forecast.nc]" --set data.truth="[$out/archives/truth.nc]" \
  --out "$out/run" --overwrite
"$we" predict --config "$out/run/resolved.yaml" --set predict.weights="$out/run/weights.nc" --set predict.part=test \
  --out "$out/fields" --overwrite

echo
echo "scores on the samples of the validation"
awk -F, '{ for (i = 1; i <= NF; i++) printf "%-15s", $i; print "" }' "$out/run/validation.csv"
echo "archives, weights and predictions: $out"
echo "report: $(cd "$out/run" && pwd)/report.html"
