#!/usr/bin/env bash
# invariance.sh PROGRAM SOURCE - beats and features do not depend on how a record is run: chunks of 1 s,
# the planner's choice and random cuts, one to three threads, gaps skipped and passed,
# vector and native engine: every two of these settings meet.
# Inputs: the built-in recording with half of it missing, and, where DATA is, a real record and one of
# several segments with gaps. Every file is compared byte for byte; run.jsonl must count work.
set -euo pipefail
program=$1 source=$2
data=${WEIR_TEST_DATA:-$source/../shared/data}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
detect=$source/configs/physio_stream/detect.yaml
cases=0

# Number after "key": in the events of one name, summed.
sum() { awk -v name="\"event\":\"$2\"" -v key="\"$3\":" '{ gsub(/": /, "\":") }
  index($0, name) && (at = index($0, key)) { n += substr($0, at + length(key)) + 0 } END { print n + 0 }' "$1/run.jsonl"; }

run() { # NAME SETTINGS...
  local name=$1
  shift
  "$program" run --config "$detect" --log error --set output.features=true "$@" --out "$work/$name" >"$work/log" 2>&1 ||
    { cat "$work/log" >&2; echo "invariance: $name: $*" >&2; exit 1; }
}

compare() { # NAME THREADS SKIP
  local name=$1
  for file in "$work"/reference/*.qrs "$work/reference/beats.csv" "$work/reference/features.nc"; do
    cmp "$file" "$work/$name/${file##*/}" || { echo "invariance: $name differs" >&2; exit 1; }
  done
  [ "$(sum "$work/$name" stream_end computed)" -gt 0 ] || { echo "invariance: $name computed nothing" >&2; exit 1; }
  # A graph is cut in two where there is a thread for each part and one for reading.
  [ "$(sum "$work/$name" stream_end stages)" = "$((1 + $2 / 3))" ] || { echo "invariance: $name has other stages" >&2; exit 1; }
  grep -q '"event": *"stream_thread".*"thread": *0,' "$work/$name/run.jsonl" ||
    { echo "invariance: $name: the caller did nothing" >&2; exit 1; }
  # On a busy machine a worker may come too late for a short run, but not for all of them.
  helped=$((helped + $(grep -c '"event": *"stream_thread".*"thread": *[1-9]' "$work/$name/run.jsonl" || true)))
  skipped=$(sum "$work/$name" stream_end skipped)
  if [ "$3" = false ]; then
    [ "$skipped" = 0 ] || { echo "invariance: $name skipped $skipped" >&2; exit 1; }
  fi
  total_skipped=$((total_skipped + skipped))
  rm -rf "${work:?}/$name"
  cases=$((cases + 1))
}

vary() { # LABEL GAPS INPUT...
  local label=$1 gaps=$2 tiers=(vector native) skips=(true false)
  local cuts=("window=1" "window=0" "window=20 cut_seed=2" "window=2 cut_seed=3")
  shift 2
  [ "$gaps" != no ] || skips=(true true) # without a chunk to skip both do the same
  total_skipped=0 helped=0
  run reference "$@" --set stream.window=60 --set stream.skip=false --set exec.tier=vector --threads 1
  [ "$(wc -l <"$work/reference/beats.csv")" -gt 10 ] || { echo "invariance: $label: hardly a beat" >&2; exit 1; }
  local k=0 cut threads
  for cut in 0 1 2 3; do
    for threads in 1 2 3; do
      local sets=() skip=${skips[(cut / 2 + threads) % 2]}
      for s in ${cuts[cut]}; do sets+=(--set "stream.$s"); done
      k=$((k + 1))
      run "case$k" "$@" "${sets[@]}" --set "stream.skip=$skip" --set "exec.tier=${tiers[(cut + threads) % 2]}" --threads $threads
      compare "case$k" $threads "$skip"
    done
  done
  [ "$gaps" = no ] || [ "$total_skipped" -gt 0 ] || { echo "invariance: $label: nothing was ever skipped" >&2; exit 1; }
  [ "$helped" -gt 0 ] || { echo "invariance: $label: no worker ever did anything" >&2; exit 1; }
  rm -rf "$work/reference"
  echo "$label: same beats and features in $k runs, $total_skipped chunks skipped"
}

vary "built-in recording, half missing" yes --set ecgsyn.duration=600 --set ecgsyn.gaps.missing=0.5
if [ -d "$data/physio" ]; then
  vary "record 100" no --set "input.record=$data/physio/wfdb/mitdb/100"
  vary "record of segments" yes --set "input.record=$data/physio/wfdb/multiseg/s25047/s25047-2704-05-04-10-44"
else
  echo "no test data beside the checkout or in WEIR_TEST_DATA: the real records were left out"
fi
echo "$cases runs"
