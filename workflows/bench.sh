#!/usr/bin/env bash
# bench.sh [--judge|--counts] [NAME...] - builds the release preset and runs the programs of tests/bench (all, or those named),
# one after the other. Prints one CSV table to stdout (docs/how-to/add-a-measurement.md describes the columns); ratio > 1 means
# that Weir is better, and where the reference is `limit` the reference's value is an absolute goal. A program whose reference is
# not installed says so and exits with 77. Goals are judged by tests/bench/check_goals.awk with tests/bench/floors.csv:
#
#   without an option  rows of counts are judged (bytes, flops, reads); times are printed
#   --counts           those rows alone, which take seconds and need no reference implementation; all programs that have some
#   --judge            times as well; the machine must be idle
#
# Exit status 1: a program fails, or a judged row; 2: usage, or the machine is not idle.
set -euo pipefail
cd "$(dirname "$0")/.."

judge=counts arguments=() programs=()
for word in "$@"; do
  case "$word" in
  --judge) judge=all ;;
  --counts) arguments=(counts) ;;
  -*)
    echo "bench: unknown option $word (--judge, --counts)" >&2
    exit 2
    ;;
  *) programs+=("$word") ;;
  esac
done
if [ "$judge" = all ] && [ ${#arguments[@]} != 0 ]; then
  echo "bench: --counts judges no times: leave out --judge" >&2
  exit 2
fi

if [ ${#arguments[@]} = 0 ]; then
  workflows/setup.sh bench
else
  workflows/setup.sh core
fi
workflows/build.sh release

if [ ${#programs[@]} = 0 ]; then
  pattern='int main('
  [ ${#arguments[@]} = 0 ] || pattern='bench_counts_only('
  for source in $(grep -lF "$pattern" tests/bench/*.c); do
    programs+=("$(basename "$source" .c)")
  done
fi

# Share of the processors that was busy in the last second, in percent.
busy() {
  local before after
  before=$(head -n 1 /proc/stat)
  sleep 1
  after=$(head -n 1 /proc/stat)
  awk -v a="$before" -v b="$after" 'BEGIN {
    split(a, x); n = split(b, y)
    for (i = 2; i <= n && i <= 9; i++) { all += y[i] - x[i]; if (i != 5 && i != 6) work += y[i] - x[i] }
    if (all == 0) all = 1
    printf "%d", 100 * work / all
  }'
}

machine=$(awk -f tests/bench/machine.awk /proc/cpuinfo)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
echo 'work,reference,version,reference_value,weir_value,unit,ratio,goal,kind,machine' | tee "$work/table"
for name in "${programs[@]}"; do
  if [ ! -x "build/release/bench/$name" ]; then
    echo "bench: there is no tests/bench/$name.c; known: $(cd tests/bench && echo *.c | sed 's/\.c\b//g')" >&2
    exit 2
  fi
  if [ "$judge" = all ]; then
    others=$(busy)
    if [ "$others" -gt 10 ]; then
      echo "bench: other programs use $others % of the processors: times are judged on an idle machine only" >&2
      exit 2
    fi
  fi
  start=$SECONDS
  code=0
  "build/release/bench/$name" "${arguments[@]}" >"$work/rows" || code=$?
  if [ "$code" = 77 ]; then
    echo "bench: $name skipped" >&2
    continue
  elif [ "$code" != 0 ]; then
    echo "bench: $name failed" >&2
    status=1
  fi
  echo "bench: $name took $((SECONDS - start)) s" >&2
  [ -s "$work/rows" ] || { echo "bench: $name printed no row" >&2; status=1; }
  sed "s|\$|,$machine|" "$work/rows" | tee -a "$work/table"
done
awk -F, -v judge=$judge -f tests/bench/check_goals.awk tests/bench/floors.csv "$work/table" || status=1
exit $status
