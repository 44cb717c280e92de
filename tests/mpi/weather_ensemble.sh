#!/usr/bin/env bash
# weather_ensemble.sh WEATHER_ENSEMBLE ROOT RANKS_SH: networks of the tiny configuration train on ranks: with the losses of one rank under
# allreduce, on threads of one process as on processes of mpiexec; and with policies that send gradients or weights.
set -u
program=$1
root=$2
ranks=$3
. "$(dirname "$0")/script.sh"

options=(--config "$root/configs/weather_ensemble/tiny.yaml" --threads 1)
status=0
"$program" prepare "${options[@]}" --set simulate.spin_up=1 --set simulate.init_times=40 --out "$work/data" >"$work/log" 2>&1 || status=$?
[ $status != 7 ] || { echo "skipped: this build has no FFTW or no NetCDF"; exit 77; }
[ $status = 0 ] || fail "prepare: status $status"
options+=(--set data.forecast="[$work/data/forecast.nc]" --set data.truth="[$work/data/truth.nc]" --set exec.tier=vector
  --set 'data.split={train: {to: 2000-02-20}, valid: {from: 2000-02-20, to: 2000-03-05}, test: {from: 2000-03-05}, gap: 4}'
  --set train.steps=4 --set train.log_every=1 --set 'train.optim.rule={momentum: {}}')
run() { "$program" run "${options[@]}" --out "$work/$1" "${@:2}" >"$work/log" 2>&1; }
numbers() { grep -E '"event": "(step|validation)", .*"(loss|valid_loss)"' "$work/$1/run.jsonl" |
  sed -E 's/.*"(valid_)?loss": ([^,}]*).*/\2/'; }
# same A B: losses of all steps and of the validation agree to 1e-5.
same() {
  paste <(numbers "$1") <(numbers "$2") >"$work/log"
  awk '{ d = $1 - $2; n++; if (!(NF == 2 && (d < 0 ? -d : d) <= 1e-5 * $1)) bad = 1 } END { exit bad || n < 5 }' "$work/log" ||
    fail "$2: other losses than $1"
}

run one || fail "one rank"
run two --ranks 2 || fail "two threads"
same one two
[ "$(find "$work/two" -name 'run*.jsonl' | wc -l)" = 1 ] || fail "two threads: not one log"
[ -e "$work/two/report.html" ] && [ -e "$work/two/provenance.json" ] || fail "two threads: no page, or no provenance"
status=0
bash "$ranks" 2 "$program" run "${options[@]}" --out "$work/processes" >"$work/log" 2>&1 || status=$?
if [ $status != 77 ]; then
  [ $status = 0 ] || fail "two processes: status $status"
  diff <(numbers two) <(numbers processes) >"$work/log" || fail "threads and processes have other losses"
  bash "$ranks" 2 "$program" run "${options[@]}" --grid 1x1x2 --out "$work/space2" >"$work/log" 2>&1 || fail "latitudes on two processes"
  same one space2
fi
for policy in '{wagma: {period: 2}}' '{eager: {mode: majority}}'; do
  run "${policy//[^a-z]/}" --ranks 2 --set "train.optim.exchange=$policy" || fail "$policy"
  grep -q '"event": "exchange".*"replicas": 2' "$work/${policy//[^a-z]/}/run.jsonl" || fail "$policy: not two replicas"
done
# Two stages: the corrected means are those of one rank, too.
stages=(--set bias.use=true --set bias.folds=1 --set bias.model.unet.preset=tiny --set bias.train.steps=1 --set bias.train.batch=4
  --set 'bias.train.optim.rule={momentum: {}}' --set train.steps=1)
run staged "${stages[@]}" || fail "two stages on one rank"
run staged2 "${stages[@]}" --ranks 2 || fail "two stages on two threads"
paste <(grep '"event": "run_end"' "$work/staged/run.jsonl") <(grep '"event": "run_end"' "$work/staged2/run.jsonl") |
  sed -E 's/.*"best_loss": ([^,}]*).*"best_loss": ([^,}]*).*/\1 \2/' >"$work/log"
awk '{ d = $1 - $2; n++; if (!(NF == 2 && (d < 0 ? -d : d) <= 1e-5 * $1)) bad = 1 } END { exit bad || n != 1 }' "$work/log" ||
  fail "two stages: other losses on two ranks"
# A loss that is no number on one rank alone ends all, with the status and the operator.
status=0
run diverged --ranks 2 --set train.steps=14 --set train.optim.rule=sgd --set train.optim.schedule.lr=1e6 \
  --set 'train.optim.exchange={local: {period: 4}}' || status=$?
[ $status = 6 ] || fail "a loss that is no number: status $status"
grep -q '^error: step [0-9]*: .* is NaN or infinite' "$work/log" || fail "a loss that is no number: no message"
run space --ranks 2 --grid 1x1x2 || fail "latitudes on two threads"
same one space
run staged_space "${stages[@]}" --ranks 2 --grid 1x1x2 || fail "two stages with latitudes on two threads"
echo "losses of one rank on two: $(numbers two | tr '\n' ' ')"
