#!/usr/bin/env bash
# fuzz.sh SECONDS [NAME...] - fuzzes every target of tests/fuzz (or those named) for SECONDS each, two at
# a time, with libFuzzer under the address and undefined-behaviour sanitizers. First checks that each
# seed of tests/fuzz/seeds/NAME reaches the decoder. Prints executions a target and the minimum. Fails on
# a crash, a leak, a time-out or an oversized allocation, printing the path of the input that did it; a
# missing clang is a failure too. What a run learns stays in build/fuzz/corpus for the next.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:?fuzz.sh: give the seconds for each target}
shift

workflows/setup.sh test
command -v clang >/dev/null || { echo "fuzz: clang is not installed" >&2; exit 1; }
workflows/build.sh fuzz fuzz_programs

names=("$@")
if [ $# = 0 ]; then
  for source in tests/fuzz/*.c; do
    names+=("$(basename "$source" .c)")
  done
fi

export ASAN_OPTIONS=${ASAN_OPTIONS:-allocator_may_return_null=1} UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
for name in "${names[@]}"; do
  "build/fuzz/fuzz/${name}_seeds" tests/fuzz/seeds/"$name"/*
done

# Fuzzes one target; its log is out/fuzz/NAME.log and a failing input is put into out/fuzz/NAME/.
fuzz_one() {
  local name=$1 corpus=build/fuzz/corpus/$1 found=out/fuzz/$1
  rm -rf "$found"
  mkdir -p "$corpus" "$found"
  cp tests/fuzz/seeds/"$name"/* "$corpus"/
  timeout -k 10 $((seconds + 120)) "build/fuzz/fuzz/$name" -max_total_time="$seconds" -timeout=20 \
    -rss_limit_mb=2048 -malloc_limit_mb=256 -print_final_stats=1 -artifact_prefix="$found/" "$corpus" \
    >"$found.log" 2>&1
}

# The two that run; a finished one makes room for the next.
declare -A running=()
failures=()
reap() {
  local pid rc=0
  wait -n -p pid || rc=$?
  [ $rc = 0 ] || failures+=("${running[$pid]}")
  unset "running[$pid]"
}
mkdir -p out/fuzz
for name in "${names[@]}"; do
  [ ${#running[@]} -lt 2 ] || reap
  fuzz_one "$name" &
  running[$!]=$name
done
while [ ${#running[@]} -gt 0 ]; do
  reap
done

minimum=
printf '%-16s %12s %12s\n' target executions per_second
for name in "${names[@]}"; do
  executions=$(awk '/^stat::number_of_executed_units:/ { n = $2 } END { print n + 0 }' "out/fuzz/$name.log")
  printf '%-16s %12d %12d\n' "$name" "$executions" $((executions / (seconds > 0 ? seconds : 1)))
  if [ -z "$minimum" ] || [ "$executions" -lt "$minimum" ]; then
    minimum=$executions
  fi
done
echo "minimum executions: $minimum"

for name in "${failures[@]}"; do
  grep -hE '^(==[0-9]+==)?ERROR|SUMMARY|runtime error' "out/fuzz/$name.log" | head -n 5 >&2 || true
  echo "fuzz: $name failed; log out/fuzz/$name.log; input: $(find "out/fuzz/$name" -type f | head -n 3 | tr '\n' ' ')" >&2
done
[ ${#failures[@]} = 0 ] && [ "${minimum:-0}" -gt 0 ]
