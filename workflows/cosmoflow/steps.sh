#!/usr/bin/env bash
# steps.sh BIN OUT - the demo of cosmoflow: make universes, train a network on 1200 of them, and score what it says of 150
# that it has not seen beside regressions on power spectra and the mean.
set -euo pipefail
bin=$1 out=$2
cf=$bin/cosmoflow
config=configs/cosmoflow/demo.yaml

"$cf" prepare --config $config --out "$out/universes" --overwrite
"$cf" run --config $config --set "source.input=[$out/universes]" --out "$out/run" --overwrite
"$cf" predict "$out/universes" --set predict.weights="$out/run/weights.nc" --out "$out/said" --overwrite
"$cf" eval --config $config --set "eval.sets=[{name: test, predictions: $out/said/predictions.nc, truth: [$out/universes]}]" \
  --out "$out/scores" --overwrite

echo
echo "universes, weights, predictions, scores.csv: $out"
echo "reports: $(cd "$out/run" && pwd)/report.html, $(cd "$out/scores" && pwd)/report.html"
