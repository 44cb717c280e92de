#!/usr/bin/env bash
# twice.sh PROGRAM SOURCE: starts every command that writes a folder twice in one folder. The first is stopped (SIGSTOP) while it
# holds the folder, so that nothing but the second can change it: that one is refused at once, names the first and changes no byte.
# Then the first goes on, and gives what one that nobody disturbed gives. Also: what a killed process leaves locks nothing.
set -u
program=$1
source=$2
app=${program##*/}
work=$(mktemp -d)
first=
trap '[ -z "$first" ] || kill -KILL "$first" 2>/dev/null; rm -rf "$work"' EXIT
failed=0 cases=0
/usr/bin/python3 "$source/tests/support/results.py" "$work" || exit $? # 77: it has no netCDF4
fail() {
  echo "failed: $*"
  failed=1
}

# Names, sizes, times of change and digests of all that is in a folder.
contents() {
  (cd "$1" && find . -exec stat -c '%n %s %y' {} + | sort && find . -type f ! -name .weir.lock -exec sha256sum {} + | sort -k 2)
}

compare() {
  /usr/bin/python3 "$source/tests/support/results.py" "$1" >"$work/one" && /usr/bin/python3 "$source/tests/support/results.py" "$2" >"$work/other" &&
    [ -s "$work/one" ] && diff "$work/one" "$work/other"
}

# Starts "$@" --out $work/busy and stops it while it holds the folder. 1: it had ended before, on a busy machine: the next tries.
start_and_stop() {
  for ((try = 0; try < 50; try++)); do
    rm -rf "$work/busy"
    try_to_stop "$@" && return 0
    wait "$first" || { first=; return 1; }
    first=
  done
  return 1
}

try_to_stop() {
  "$program" "$@" --out "$work/busy" >"$work/first" 2>&1 &
  first=$!
  for ((i = 0; i < 20000; i++)); do
    if [ -s "$work/busy/.weir.lock" ] || [ -e "$work/busy/run.jsonl" ]; then
      kill -STOP "$first" 2>/dev/null && return 0
    fi
    kill -0 "$first" 2>/dev/null || return 1
    [ $((i % 50)) != 49 ] || sleep 0.01
  done
  return 1
}

# NAME ARGUMENTS...
twice() {
  local name=$1 status
  shift
  cases=$((cases + 1))
  rm -rf "$work/alone"
  start_and_stop "$@" || { cat "$work/first"; fail "$name: the first could not be stopped in time"; return; }
  for more in "" --overwrite; do
    contents "$work/busy" >"$work/before"
    status=0
    timeout 60 "$program" "$@" $more --out "$work/busy" >"$work/second" 2>&1 || status=$?
    contents "$work/busy" >"$work/after"
    [ $status = 2 ] || { cat "$work/second"; fail "$name $more: the second ends with $status"; }
    grep -q "another run writes into this folder ($app.*pid $first on $(uname -n)" "$work/second" ||
      { cat "$work/second"; fail "$name $more: the holder is not named"; }
    cmp -s "$work/before" "$work/after" || { diff "$work/before" "$work/after"; fail "$name $more: the second changed the folder"; }
  done
  kill -CONT "$first"
  status=0
  wait "$first" || status=$?
  first=
  [ $status = 0 ] || { cat "$work/first"; fail "$name: the first ends with $status"; return; }
  [ ! -e "$work/busy/.weir.lock" ] || fail "$name: the lock is left behind"
  "$program" "$@" --out "$work/alone" >"$work/second" 2>&1 || { cat "$work/second"; fail "$name: alone it fails"; }
  compare "$work/busy" "$work/alone" || fail "$name: another result than alone"
}

# NAME ARGUMENTS...: killed while it holds the folder, with lines in its log that are no events, the same command goes on, or
# replaces what is left, with the same result.
killed() {
  local name=$1 status
  shift
  cases=$((cases + 1))
  start_and_stop "$@" || { cat "$work/first"; fail "$name: it could not be stopped in time"; return; }
  kill -KILL "$first"
  wait "$first" 2>/dev/null
  first=
  status=0
  printf '{"event": "epoch_end", "ti{"event": "step"}\n\n\1\2\3\n{"event": "half", "x": 1' >>"$work/busy/run.jsonl"
  "$program" "$@" --out "$work/busy" >"$work/second" 2>&1 || status=$?
  if [ $status = 2 ] && grep -q 'not empty\|no log of an earlier' "$work/second"; then # killed before its first event
    status=0
    "$program" "$@" --overwrite --out "$work/busy" >"$work/second" 2>&1 || status=$?
  fi
  [ $status = 0 ] || { cat "$work/second"; fail "$name, killed: the next ends with $status"; }
  ! grep -q 'half' "$work/busy/run.jsonl" || fail "$name, killed: an event is glued to half a line"
  compare "$work/busy" "$work/alone" || fail "$name, killed: another result than alone"
}

quiet() {
  "$@" >"$work/log" 2>&1 || { cat "$work/log"; fail "$*"; exit 1; }
}

case $app in
  cosmoflow)
    tiny="--config $source/configs/cosmoflow/tiny.yaml --threads 1"
    twice prepare prepare $tiny
    killed prepare prepare $tiny
    quiet "$program" prepare $tiny --out "$work/u"
    twice run run $tiny --set "source.input=[$work/u]"
    killed run run $tiny --set "source.input=[$work/u]"
    quiet "$program" run $tiny --set "source.input=[$work/u]" --out "$work/r"
    predict="$tiny --set predict.weights=$work/r/weights.nc"
    twice predict predict $predict "$work/u"
    quiet "$program" predict $predict "$work/u" --out "$work/p"
    twice convert convert $tiny "$work/u"
    twice power power $tiny "$work/u"
    twice compare compare $tiny --set "source.input=[$work/u]" --set scaling.ranks=[2] --set scaling.runs=1 --set scaling.policies=[local] \
      --set scaling.compute_s=0.01
    twice eval eval $tiny --set "eval.sets=[{name: a, predictions: $work/p/predictions.nc, truth: [$work/u]}]"
    ;;
  weather_ensemble)
    tiny="--config $source/configs/weather_ensemble/tiny.yaml --threads 1 --set train.epochs=2"
    twice prepare prepare $tiny
    killed prepare prepare $tiny
    quiet "$program" prepare $tiny --out "$work/a"
    data="$tiny --set data.forecast=[$work/a/forecast.nc] --set data.truth=[$work/a/truth.nc]"
    twice run run $data
    killed run run $data
    quiet "$program" run $data --out "$work/r"
    twice predict predict $data --set "predict.weights=$work/r/weights.nc"
    twice import prepare $data
    twice eval eval $data --set "eval.models=[{use: raw}, {use: {emos: {}}}]"
    ;;
  quantum_transport)
    long="--config $source/configs/quantum_transport/tiny.yaml --threads 1 --set energy.points=2000 --set output.bond_currents=true"
    twice run run $long
    killed run run $long
    twice saving run $long --set checkpoint.interval=0.01
    killed saving run $long --set checkpoint.interval=0.01
    ;;
  physio_stream)
    tiny="--config $source/configs/physio_stream/tiny.yaml --threads 1"
    long="$tiny --set ecgsyn.duration=3600"
    twice prepare prepare $long
    killed prepare prepare $long
    quiet "$program" prepare $long --out "$work/rec"
    record="$tiny --set input.record=$work/rec/ecgsyn"
    twice run run $record
    killed run run $record
    quiet "$program" run $record --out "$work/r"
    twice records run $tiny --set "input.records=[$work/rec/ecgsyn]" --set output.features=false
    twice query run $record --set output.features=false --set 'query={streams: [{name: ecg}], steps: [{name: r, from: [ecg], do: {detect: {}}}, {name: hr, from: [r.rr], do: {hr: {beats: 8}}}], outputs: [{stream: hr}]}'
    twice convert convert $record
    twice bench bench $tiny --set bench.duration=600
    twice compare compare $tiny --set rhythm.train=16 --set rhythm.valid=8 --set train.batch=4 --set train.epochs=2 --set scaling.ranks=[2] \
      --set scaling.runs=1 --set scaling.policies=[local]
    twice eval eval $tiny --set "eval.reference=$work/rec/ecgsyn.atr" --set "eval.test=$work/r/ecgsyn.qrs" --set eval.start=0
    twice prepare_site site prepare $tiny --set "site.records=[$work/rec/ecgsyn]"
    quiet "$program" site prepare $tiny --set "site.records=[$work/rec/ecgsyn]" --out "$work/site"
    twice check_site site check $tiny --set "site.dataset=$work/site"
    twice stats_site site stats $tiny --set "site.dataset=$work/site"
    twice eval_site site eval $tiny --set "site.dataset=$work/site" --set site.approve=true
    ;;
esac
[ $failed = 0 ] || exit 1
echo "$cases commands twice in one folder"
