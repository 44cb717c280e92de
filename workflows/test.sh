#!/usr/bin/env bash
# test.sh [PRESET...] - sets up, then builds and tests each preset (default: release dev minimal).
# Tests labelled `slow` and `style` run in release only, `conform` in release and dev, and bare has the unit
# tests alone, but for those of numbers (minimal has run them and the others without the libraries); `study` is
# for hand: minutes of science. The last line counts single tests, summed over presets. Exit status 1 when one fails, or when one is skipped although the test data is there (WEIR_TEST_DATA, or the data folder beside
# the checkout); only CUDA tests may always be skipped, and in the presets that leave libraries out
# (minimal, bare) what says that `this build` lacks one.
set -euo pipefail
cd "$(dirname "$0")/.."
presets=("$@")
[ $# -gt 0 ] || presets=(release dev minimal)

passed=0 failed=0 skipped=0
table=$(printf '%-10s %8s %8s %8s %8s' preset passed failed skipped seconds)
problems=()
data=no
[ -z "${WEIR_TEST_DATA:-}" ] && [ ! -d ../shared ] || data=yes

# Reads the lines of count_tests.awk for one preset into the totals.
count() {
  local preset=$1 kind name why p=0 f=0 s=0
  while IFS=$'\t' read -r kind name why; do
    case $kind in
    pass) p=$((p + 1)) ;;
    fail)
      f=$((f + 1))
      problems+=("failed: $preset: $name")
      ;;
    skip)
      s=$((s + 1))
      echo "skipped: $preset: $name: $why"
      if [ $data = yes ] && [[ ! $name =~ [Cc][Uu][Dd][Aa] ]] &&
        [[ ! "$preset: $why" =~ ^(minimal|bare):.*\ this\ build\  ]]; then
        problems+=("skipped although the test data is there: $preset: $name: $why")
      fi
      ;;
    esac
  done
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
  table+=$'\n'$(printf '%-10s %8d %8d %8d %8d' "$preset" $p $f $s $((SECONDS - start)))
}

test_preset() {
  local preset=$1 folder=build/$1 select=()
  case $preset in
  release) select=(-LE '^study$') ;;
  bare) select=(-L '^unit$' -LE '^slow$') ;;
  minimal) select=(-LE '^(slow|style|conform|study)$') ;;
  *) select=(-LE '^(slow|style|study)$') ;;
  esac
  if ! workflows/build.sh "$preset"; then
    printf 'fail\tthe build\n'
    return
  fi
  rm -f "$folder/junit.xml"
  ctest --test-dir "$folder" -j "$(nproc)" "${select[@]}" --no-tests=error --output-junit junit.xml \
    --test-output-size-passed 1000000 --test-output-size-failed 1000000 >"$folder/test.log" 2>&1 || true
  if [ -s "$folder/junit.xml" ]; then
    awk -f workflows/count_tests.awk "$folder/junit.xml"
  else
    tail -n 15 "$folder/test.log" >&2
    printf 'fail\tctest wrote no results; see %s\n' "$folder/test.log"
  fi
}

workflows/setup.sh test
for preset in "${presets[@]}"; do
  start=$SECONDS
  results=$(test_preset "$preset")
  count "$preset" <<<"$results"
done

echo
echo "$table"
[ ${#problems[@]} = 0 ] || printf '%s\n' "${problems[@]}"
echo "$passed passed, $failed failed, $skipped skipped"
[ ${#problems[@]} = 0 ]
