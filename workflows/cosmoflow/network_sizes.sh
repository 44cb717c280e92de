#!/usr/bin/env bash
# network_sizes.sh COSMOFLOW CONFIG OUT [SIZE...]: trains networks of other sizes than that of CONFIG, which has model.net mlperf, on one
# thread, otherwise as it states. A SIZE is a list of options of model.net.mlperf, `epochs` (24) and `seed` (train.seed, 1) with commas
# between them: base=12, or hidden1=32,hidden2=16; the default ones are of configs/cosmoflow/demo.yaml, base=8 its own. Writes
# OUT/network_sizes.csv: parameters, processor time of the training, and mean absolute errors (in units of labels in [-1, 1], no means
# over symmetries) of the validation set and of 1000 universes of another seed (7). The test set is not read. A training that is complete
# is kept. The default sizes take a quarter of an hour of processor time.
set -euo pipefail
[ $# -ge 3 ] || { echo "usage: network_sizes.sh COSMOFLOW CONFIG OUT [SIZE...]; sizes: see its head" >&2; exit 2; }
program=$1 config=$2 out=$3
shift 3
[ $# -gt 0 ] || set -- base=8 base=8,seed=2 base=8,seed=3 base=4 base=12 base=16 blocks=2 blocks=4 hidden1=32,hidden2=16 \
  hidden1=128,hidden2=64
mkdir -p "$out"
exec 3>&2
perform() { # NAME COMMAND ARGUMENT...
  "$program" "$2" --config "$config" --threads 1 "${@:3}" >"$out/$1.out" 2>"$out/$1.log" || {
    echo "network_sizes.sh: $1: $2 ended with status $?:" >&3
    tail -n 5 "$out/$1.log" >&3
    exit 1
  }
}
value() { sed -n "s/.*\"event\": \"run_end\".*\"$1\": \([0-9.]*\).*/\1/p" "$out/$2/run.jsonl" | tail -n 1; } # KEY SIZE

perform universes prepare --out "$out/universes"
perform others prepare --set seed=7 --set simulate.universes=1000 --out "$out/others"
TIMEFORMAT='%U %S'
for size in "$@"; do
  if [ ! -e "$out/$size.mae" ]; then
    sets=()
    for option in epochs=24 ${size//,/ }; do
      case $option in
      seed=* | epochs=*) sets+=(--set "train.$option") ;;
      *) sets+=(--set "model.net.mlperf.$option") ;;
      esac
    done
    { time perform "$size" run --set "source.input=[$out/universes]" "${sets[@]}" --set train.validate_every=8 --overwrite \
      --out "$out/$size"; } 2>"$out/$size.time"
    perform "$size-others" predict --set "predict.weights=$out/$size/weights.nc" --set predict.part=all --set predict.symmetry=none \
      --set predict.shift=false --set predict.external_universes=true --overwrite --out "$out/$size-others" "$out/others"
    sed -n 's/.* error \([0-9.]*\) of labels.*/\1/p' "$out/$size-others.log" "$out/$size-others.out" >"$out/$size.part"
    [ -s "$out/$size.part" ] || { echo "network_sizes.sh: $size: predict states no error" >&2; exit 1; }
    mv "$out/$size.part" "$out/$size.mae"
  fi
done
echo 'size,parameters,processor_s,validation_mae,others_mae' | tee "$out/network_sizes.csv"
for size in "$@"; do
  printf '"%s",%d,%.1f,%.4f,%.4f\n' "$size" "$(value parameters "$size")" "$(awk '{ print $1 + $2 }' "$out/$size.time")" \
    "$(value best_mae "$size")" "$(cat "$out/$size.mae")"
done | tee -a "$out/network_sizes.csv"
