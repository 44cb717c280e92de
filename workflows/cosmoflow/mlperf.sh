#!/usr/bin/env bash
# mlperf.sh COSMOFLOW CONFIG OUT [RANKS...]: time to train of MLPerf HPC's CosmoFlow on universes that prepare makes, as CONFIG
# (configs/cosmoflow/mlperf_32.yaml, mlperf_64.yaml) states network, universes and target, on 1 and 2 ranks (or RANKS), which share
# the samples of a batch, a thread each. Each log is checked by `inspect` and, where the Python of PYTHON (python3) has
# mlperf-logging, by the official checker, as it was written. Writes OUT/time_to_train.csv, in minutes from run_start to run_stop.
# A run that is complete is kept.
set -euo pipefail
program=$1 config=$2 out=$3
shift 3
[ $# -gt 0 ] || set -- 1 2
here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-python3}
mkdir -p "$out"
fail() {
  tail -n 5 "$out/log" >&2
  echo "mlperf.sh: $*" >&2
  exit 1
}
value() { sed -n "s/.*\"key\": \"$1\", \"value\": \([^,]*\),.*/\1/p" "$2" | tail -n 1; } # KEY LOG: the last one

"$program" prepare --config "$config" --out "$out/universes" 2>"$out/log" || fail "prepare ended with status $?"
echo 'ranks,samples_per_step,epochs,minutes,samples_per_s,eval_error,official_checker' | tee "$out/time_to_train.csv"
for ranks in "$@"; do
  dir=$out/ranks_$ranks log=$out/ranks_$ranks/mllog.txt
  start=("$program")
  [ "$ranks" = 1 ] || start=(bash "$here/../../tests/mpi/ranks.sh" "$ranks" "$program")
  if ! grep -q '"key": "run_stop"' "$log" 2>/dev/null; then
    "${start[@]}" run --config "$config" --grid "${ranks}x1" --threads 1 --set "source.input=[$out/universes]" --overwrite --out "$dir" \
      >"$dir.out" 2>"$out/log" || fail "run on $ranks ranks ended with status $?"
  fi
  "$program" inspect --config "$config" "$log" >"$dir.inspect" 2>"$out/log" || fail "inspect refuses $log"
  official='not installed'
  if "$python" -c 'import mlperf_logging' 2>/dev/null; then
    "$python" -m mlperf_logging.compliance_checker --usage hpc --ruleset 3.0.0 --werror --log_output "$dir.checker" "$log" \
      >"$dir.official" 2>&1 || {
      cp "$dir.official" "$out/log"
      fail "the official checker refuses $log"
    }
    official=passed
  fi
  awk -v OFS=, -v ranks="$ranks" -v batch="$(value global_batch_size "$log")" -v n="$(value train_samples "$log")" \
    -v error="$(value eval_error "$log")" -v official="$official" '
    match($0, /"time_ms": [0-9]+/) { time = substr($0, RSTART + 11, RLENGTH - 11) }
    /"key": "run_start"/ { start = time }
    /"key": "run_stop"/ { stop = time }
    /"key": "epoch_stop"/ { epochs++ }
    END { s = (stop - start) / 1000; printf "%s,%s,%d,%.2f,%.1f,%.4f,%s\n", ranks, batch, epochs, s / 60, epochs * n / s, error, official }
  ' "$log" | tee -a "$out/time_to_train.csv"
done
