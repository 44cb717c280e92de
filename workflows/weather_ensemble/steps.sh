#!/usr/bin/env bash
# steps.sh BIN OUT - the demo of weather_ensemble: simulate ensembles and what came true, train a U-Net on 5 of the 10
# members, correct forecasts that it has not seen, score it with the raw members and EMOS.
set -euo pipefail
bin=$1 out=$2
we=$bin/weather_ensemble
config=configs/weather_ensemble/demo.yaml
archives=(--set "data.forecast=[$out/archives/forecast.nc]" --set "data.truth=[$out/archives/truth.nc]")

"$we" prepare --config $config --out "$out/archives" --overwrite
"$we" run --config $config "${archives[@]}" --out "$out/run" --overwrite
"$we" predict --config "$out/run/resolved.yaml" --set predict.weights="$out/run/weights.nc" --set predict.part=test \
  --out "$out/fields" --overwrite
"$we" eval --config $config "${archives[@]}" --set "eval.models[4].use.predictions.files=[$out/fields/predictions.nc]" \
  --out "$out/scores" --overwrite

echo
echo "archives, weights, predictions, scores.csv: $out"
echo "reports: $(cd "$out/run" && pwd)/report.html, $(cd "$out/scores" && pwd)/report.html"
