#!/usr/bin/env bash
# query_invariance.sh PROGRAM SOURCE - what a query writes does not depend on how it is run: chunks of 1 s, 60 s, the
# planner's choice and random cuts, one to three threads, gaps skipped and passed, vector and native engine: every two of these settings meet.
# Queries: one of many operators on the built-in recording with half of it missing, and, where DATA is, the shipped
# ones on real records.
# Every file that is no report is compared byte for byte.
set -euo pipefail
program=$1 source=$2
data=${WEIR_TEST_DATA:-$source/../shared/data}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

run() { # NAME SETTINGS...
  local name=$1
  shift
  "$program" run --log error "$@" --out "$work/$name" >"$work/log" 2>&1 ||
    { cat "$work/log" >&2; echo "query_invariance: $name: $*" >&2; exit 1; }
}

results() { # NAME: what a run wrote, without what tells of the run itself
  (cd "$work/$1" && find . -maxdepth 1 -type f ! -name run.jsonl ! -name resolved.yaml ! -name provenance.json \
    ! -name report.html | sort)
}

vary() { # LABEL GAPS ARGUMENTS...
  local label=$1 gaps=$2 k=0 skipped=0 files cut threads tiers=(vector native) skips=(true false)
  local cuts=("window=1" "window=0" "window=20 cut_seed=2" "window=3 cut_seed=3")
  shift 2
  [ "$gaps" != no ] || skips=(true true) # without a chunk to skip both do the same
  run reference "$@" --set stream.window=60 --set stream.skip=false --set exec.tier=vector --threads 1
  files=$(results reference)
  [ -n "$files" ] || { echo "query_invariance: $label wrote nothing" >&2; exit 1; }
  ! grep -q '"event": "result".*"present": 0,' "$work/reference/run.jsonl" ||
    { echo "query_invariance: $label: a result holds nothing" >&2; exit 1; }
  for cut in 0 1 2 3; do
    for threads in 1 2 3; do
      local sets=() tier=${tiers[(cut + threads) % 2]} skip=${skips[(cut / 2 + threads) % 2]}
      for s in ${cuts[cut]}; do sets+=(--set "stream.$s"); done
      k=$((k + 1))
      run other "$@" "${sets[@]}" --set "stream.skip=$skip" --set "exec.tier=$tier" --threads $threads
      [ "$(results other)" = "$files" ] || { echo "query_invariance: $label: other files" >&2; exit 1; }
      for file in $files; do
        cmp "$work/reference/$file" "$work/other/$file" ||
          { echo "query_invariance: $label differs: ${cuts[cut]} skip=$skip tier=$tier threads=$threads" >&2; exit 1; }
      done
      skipped=$((skipped + $(sed -n 's/.*"event": "stream_end".*"skipped": \([0-9]*\).*/\1/p' "$work/other/run.jsonl")))
      rm -rf "$work/other"
    done
  done
  [ "$gaps" = no ] || [ $skipped -gt 0 ] || { echo "query_invariance: $label: nothing was ever skipped" >&2; exit 1; }
  rm -rf "$work/reference"
  echo "$label: same bytes in $k runs, $skipped chunks skipped"
}

cat >"$work/many.yaml" <<'YAML'
ecgsyn: {duration: 600, gaps: {missing: 0.5, mean: 20}, noise: {white: true, white_snr: 20}}
query:
  streams: [{name: ecg, signal: ECG}]
  steps:
    - {name: clean, from: [ecg], do: {filter: {kind: bandpass, lo: 0.5, hi: 40}}}
    - {name: full, from: [clean], do: {fill_mean: {window: 10, tolerance: 2}}}
    - {name: slow, from: [full], do: {resample: {rate: 128, tolerance: 1}}}
    - {name: z, from: [slow], do: {normalize: {window: 30}}}
    - {name: late, from: [z], do: {shift: {by: 0.25}}}
    - {name: early, from: [late], do: {shift: {by: -1}}}
    - {name: level, from: [clean], do: {aggregate: {kind: mean, window: 30, hop: 10}}}
    - {name: local, from: [ecg], do: {moving: {kind: max, window: 2}}}
    - {name: beats, from: [ecg], do: detect}
    - {name: pair, from: [ecg, early, level], do: join}
  outputs:
    - {stream: pair}
    - {stream: local, format: csv}
    - {stream: clean.flags, format: csv}
    - {stream: beats}
    - {stream: beats.beat, format: annotations}
    - {stream: pair, format: wfdb}
YAML
cat >"$work/few.yaml" <<'YAML'
ecgsyn: {duration: 600, gaps: {missing: 0.5, mean: 40}}
query:
  streams: [{name: ecg, signal: ECG}]
  steps:
    - {name: late, from: [ecg], do: {shift: {by: 0.5}}}
    - {name: local, from: [late], do: {moving: {kind: mean, window: 1}}}
    - {name: held, from: [local], do: {fill_hold: {tolerance: 1}}}
    - {name: pair, from: [ecg, held], do: join}
  outputs: [{stream: pair}]
YAML
vary "many operators, half missing" no --config "$work/many.yaml"
vary "few operators, half missing" yes --config "$work/few.yaml"
if [ -d "$data/physio" ]; then
  mimic=$data/physio/wfdb/mimic/03700181
  vary "query_lifestream" no --config "$source/configs/physio_stream/query_lifestream.yaml" --set "input.record=$mimic"
  vary "query_bedside" no --config "$source/configs/physio_stream/query_bedside.yaml" --set "input.record=$mimic"
  vary "query_vitals" no --config "$source/configs/physio_stream/query_vitals.yaml" --set "input.record=$mimic"
  # pressure in two of twenty segments: the join has results there alone
  vary "query_lifestream on segments" no --config "$source/configs/physio_stream/query_lifestream.yaml" \
    --set "query.streams[0].signal=II" --set "query.steps[1].do={resample: {rate: 125}}" \
    --set "input.record=$data/physio/wfdb/multiseg/s25047/s25047-2704-05-04-10-44"
else
  echo "no test data beside the checkout or in WEIR_TEST_DATA: the real records were left out"
fi
