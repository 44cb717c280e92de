#!/usr/bin/env bash
# bench.sh [NAME...] - builds the release preset and runs the programs of tests/bench (all, or those
# named), one after the other. Prints one CSV table to stdout; ratio > 1 means that Weir is better, and
# where the reference is `limit` the reference's value is an absolute goal. A program whose reference is not installed
# says so and exits with 77. Exit status 1 when a program fails, or when a ratio is under its goal, unless
# tests/bench/known_shortfalls.csv lists the row with the ratio that it does reach (less an eighth, for noise) and what stops it.
set -euo pipefail
cd "$(dirname "$0")/.."

workflows/setup.sh bench
workflows/build.sh release

programs=()
if [ $# = 0 ]; then
  for source in $(grep -l '^int main(' tests/bench/*.c); do
    programs+=("$(basename "$source" .c)")
  done
else
  programs=("$@")
fi

rows=$(mktemp)
trap 'rm -f "$rows"' EXIT
status=0
echo 'work,reference,reference_value,weir_value,unit,ratio,goal'
for name in "${programs[@]}"; do
  if [ ! -x "build/release/bench/$name" ]; then
    echo "bench: there is no tests/bench/$name.c; known: $(cd tests/bench && echo *.c | sed 's/\.c\b//g')" >&2
    exit 2
  fi
  start=$SECONDS
  code=0
  "build/release/bench/$name" >"$rows" || code=$?
  if [ "$code" = 77 ]; then
    echo "bench: $name skipped" >&2
    continue
  elif [ "$code" != 0 ]; then
    echo "bench: $name failed" >&2
    status=1
  fi
  echo "bench: $name took $((SECONDS - start)) s" >&2
  cat "$rows"
  awk -F, -v name="$name" -f tests/bench/check_targets.awk tests/bench/known_shortfalls.csv "$rows" || status=1
  [ -s "$rows" ] || { echo "bench: $name printed no row" >&2; status=1; }
done
exit $status
