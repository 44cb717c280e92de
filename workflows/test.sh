#!/usr/bin/env bash
# test.sh [PRESET[@MACHINE]...] - sets up, then builds and tests each preset (default: release; dev with the constants
# of small caches and AVX2; bare). PRESET@MACHINE runs the tests with the constants of
# tests/machines/MACHINE.yaml, so that none depends on the caches or the vector width of the processor at hand. Tests
# labelled `slow` and `style` run in release only; `conform` in release and dev; what runs on ranks in release, and on two
# of them in dev; of whole programs dev has those that read files of others, refuse input or stop, not those whose numbers
# are compared, which only repeat what unit tests run. dev has gcc and the sanitizers; it leaves out silicon with phonons
# and ranks that are threads, which take minutes there. bare has clang, no library and the unit tests alone, without the
# longest of those that use no library, tsan those of threads and of ranks that are threads; `study` is for hand: minutes
# of science. One more test runs than there are processors, since
# many wait. The last line counts single tests, summed over presets. Exit status 1 when one fails, or when one is skipped
# although the test data is there (WEIR_TEST_DATA, or the data folder beside the checkout); only CUDA tests may always be
# skipped, what says that `this processor has no` instruction that it tests or `this kernel has no` user namespaces (they
# are refused in a chroot and in some containers), and in the presets that leave libraries out (bare, tsan) what says that
# `this build` lacks one.
set -euo pipefail
cd "$(dirname "$0")/.."
presets=("$@")
[ $# -gt 0 ] || presets=(release dev@small bare)

passed=0 failed=0 skipped=0
table=$(printf '%-18s %8s %8s %8s %8s' preset passed failed skipped seconds)
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
        [[ ! "$preset: $why" =~ ^(bare|tsan)(@[^:]*)?:.*\ this\ build\  ]] && [[ ! $why =~ this\ (processor|kernel)\ has\ no ]]; then
        problems+=("skipped although the test data is there: $preset: $name: $why")
      fi
      ;;
    esac
  done
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
  table+=$'\n'$(printf '%-18s %8d %8d %8d %8d' "$preset" $p $f $s $((SECONDS - start)))
}

# Under a set of constants; where it names the widest instructions, the libraries get them, too. What one test has the
# compiler make, others find in a cache, those of other presets too: its keys are texts, compiler, flags and processor.
run_tests() {
  local folder=$1 machine=$2
  shift 2
  export XDG_CACHE_HOME=$PWD/build/cache
  if [ -n "$machine" ]; then
    export WEIR_MACHINE=$PWD/tests/machines/$machine.yaml
    ! grep -q '^simd: avx2' "$WEIR_MACHINE" || export DNNL_MAX_CPU_ISA=AVX2 OPENBLAS_CORETYPE=Haswell
  fi
  ctest --test-dir "$folder" -j $(($(nproc) + 1)) "$@" --no-tests=error --output-junit junit.xml \
    --test-output-size-passed 1000000 --test-output-size-failed 1000000 >"$folder/test.log" 2>&1 || true
}

numbers='^integration_(cosmoflow_(compare|eval|origin|prepare|scaling|spheres)|physio_stream_(compare|several)|quantum_transport_scattering|'
numbers+='weather_ensemble_(members|predict|scores|times|verdict))$'
without_library='_(born_silicon|grid_select|native_cache|channels|oktopk)_test$|_step_detect_detect_test$'

test_preset() {
  local preset=${1%@*} machine='' folder=build/${1%@*} select=()
  [[ $1 != *@* ]] || machine=${1#*@}
  if [ -n "$machine" ] && [ ! -f "tests/machines/$machine.yaml" ]; then
    printf 'fail\tthere is no tests/machines/%s.yaml\n' "$machine"
    return
  fi
  case $preset@$machine in
  release@) select=(-LE '^study$') ;;
  release@*) select=(-LE '^(slow|style|study|slurm|mpi)$') ;;
  bare@) select=(-L '^unit$' -LE '^slow$' -E "$without_library") ;;
  tsan@*) select=(-L '^tsan$') ;;
  dev@*) select=(-LE '^(slow|style|study)$' -E "^mpi_(.*_[1348]\$|thread)|_born_silicon_test\$|$numbers") ;;
  *) select=(-LE '^(slow|style|study)$' -E '^mpi_(.*_[1348]$|thread)|_born_silicon_test$') ;;
  esac
  if ! workflows/build.sh "$preset"; then
    printf 'fail\tthe build\n'
    return
  fi
  rm -f "$folder/junit.xml"
  (run_tests "$folder" "$machine" "${select[@]}")
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
