#!/usr/bin/env bash
# steps.sh BIN OUT - the demo of physio_stream: make an ECG whose beats are known, find them, score them.
set -euo pipefail
bin=$1 out=$2
ps=$bin/physio_stream
configs=configs/physio_stream

"$ps" prepare --config $configs/ecgsyn.yaml --out "$out/record" --overwrite
"$ps" run --config $configs/detect.yaml --set input.record="$out/record/ecgsyn" --out "$out/beats" --overwrite
scored=$("$ps" eval --config $configs/detect.yaml --set eval.reference="$out/record/ecgsyn.atr" \
  --set eval.test="$out/beats/ecgsyn.qrs" --out "$out/score" --overwrite | grep '^scored from')

echo
echo "$scored"
awk -F, '{ for (i = 1; i <= NF; i++) printf "%-12s", $i; print "" }' "$out/score/scores.csv"
echo "record, beats and scores: $out"
echo "scores: $(cd "$out/score" && pwd)/report.html"
echo "report: $(cd "$out/beats" && pwd)/report.html"
