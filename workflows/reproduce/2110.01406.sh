#!/usr/bin/env bash
# 2110.01406.sh [OPTION...] - MedPerf: the evaluation of a model on the data of hospitals that keep them, by `physio_stream site`: reports of
# counts that are pooled, next to the same evaluation in one place. Seconds.
# shellcheck disable=SC1091,SC2154 # variables of claims.sh
set -euo pipefail
. "$(dirname "$0")/claims.sh"
begin 'MedPerf: federated evaluation (arXiv:2110.01406)' "$@"

flow site physio_stream
study=$out/site
two='two hospitals with five simulated records of 2 min each, white noise at -4 dB; beat detection'

# What leaves a hospital, in percent of its records.
leaving() {
  local name
  for name in north south; do
    quotient "echo $((100 * $(wc -c <"$study/${name}_report/site_report.jsonl")))" "cat $study/${name}_data/r*.* | wc -c"
  done
}
same() { if cmp -s "$study/north_report/site_report.jsonl" "$study/north_again/site_report.jsonl"; then echo 1; else echo 0; fi; }

for count in tp:'detected beats' fn:'missed beats' fp:'false beats' rr_rms_ms:'error of RR intervals'; do
  row claim="results of a benchmark are those of the data, wherever they are: ${count#*:}, pooled from reports / of all records in one place" \
    source='abstract: federated evaluation' published=1 is=near within=0.001 setting="$two" \
    why='sums of counts are exact; intervals are rounded to a hundredth of a millisecond' runs='site/pool site/one' \
    -- quotient "cell ${count%%:*} site=gross -- $study/pool/merged.csv" "cell ${count%%:*} site=gross -- $study/one/merged.csv"
done
row claim='the data stay where they are: bytes of a report / bytes of the records' source='abstract: without moving patient data; no number published' unit=% \
  setting="$two; a value for each hospital" why='a report has sums of counts; records of hours are longer, reports are not' \
  runs='site/north_data site/south_data site/north_report site/south_report' -- leaving
row claim='an evaluation can be repeated: reports of the same data that have the same bytes' source='abstract: reproducible evaluation' published=1 is=near within=0 \
  setting="$two" why='a report has no time, path or machine' runs='site/north_report site/north_again' -- same
row claim='pilot study FeTS: 41 models at 32 sites on six continents' source='readme of the published program; number in the paper not verified' \
  published=32 unit=sites why='needs hospitals and their approval; any number of reports can be pooled (docs/guide/site.md)'
finish
