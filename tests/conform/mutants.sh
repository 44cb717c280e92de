#!/usr/bin/env bash
# mutants.sh SOURCE BUILD COMPILER - negative controls of exchange policies and schedules: a source is changed in one place, as someone
# may get it wrong, and loaded in front of the library; the test that is named fails. With the source as it is, it passes.
# Status 77 (skipped) where a sanitizer forbids to load something in front of it.
set -euo pipefail
source=$1 build=$2 compiler=$3
scratch=$(mktemp -d "${TMPDIR:-/tmp}/weir-mutants-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
n=0

fail() {
  cat "$scratch/log"
  echo "failed: $*"
  exit 1
}

# Runs a test program with the changed source; its status.
run() { # SOURCE PROGRAM
  "$compiler" -std=c11 -O1 -fPIC -shared -D_GNU_SOURCE -I"$source/libcore" -I"$build/generated" "$1" -o "$scratch/changed.so" \
    >"$scratch/log" 2>&1 || fail "$1 does not compile"
  local status=0
  timeout 200 env LD_PRELOAD="$scratch/changed.so" "$build/test/$2" >"$scratch/log" 2>&1 || status=$?
  return $status
}

# Replaces what stands once in a source, and expects that a test fails.
mutant() { # NAME SOURCE PROGRAM FROM TO TEST
  local file=$source/libcore/$2 changed=$scratch/$1.c text
  text=$(cat "$file")
  : >"$scratch/log"
  [ "$(grep -cF -- "$4" "$file")" = 1 ] || fail "$1: $2 has '$4' not once"
  printf '%s\n' "${text/"$4"/"$5"}" >"$changed"
  if [ ! -e "$scratch/passes-$3" ]; then
    run "$file" "$3" || fail "$3 fails with $2 as it is"
    : >"$scratch/passes-$3"
  fi
  ! run "$changed" "$3" || fail "$1: $3 does not notice it"
  grep -q "FAILED.* $6\$" "$scratch/log" || fail "$1: not $6 fails"
  echo "$1: $6 fails"
  n=$((n + 1))
}

! nm -D --undefined-only "$build/lib/libweir.so" | grep -e __asan_init -e __tsan_init >/dev/null || { echo "skipped: a sanitizer"; exit 77; }

eager=optim/exchange/eager/eager.c eager_test=optim_exchange_eager_eager_test
wagma=optim/exchange/wagma/wagma.c wagma_test=optim_exchange_wagma_wagma_test
schedule=comm/schedule.c

# What is late is overwritten, or what came meanwhile; it is given twice.
mutant overwritten_gradients $eager $eager_test 'exchange_buffer_add(&x->b, x->kept);' 'exchange_buffer_get(&x->b, x->kept);' \
  no_gradient_is_lost_or_counted_twice
mutant overwritten_sums $eager $eager_test 'x->b.sum->merge(x->results, x->moving, x->b.count);' \
  'memcpy(x->results, x->moving, (size_t)x->b.count * x->b.sum->size);' no_gradient_is_lost_or_counted_twice
mutant gradients_given_twice $eager $eager_test 'memset(x->kept, 0, bytes);' '' no_gradient_is_lost_or_counted_twice
mutant overwritten_in_any_order $eager conform_interleavings 'exchange_buffer_add(&x->b, x->kept);' \
  'exchange_buffer_get(&x->b, x->kept);' every_order_of_turns
# Versions are not compared: an old average is merged again.
mutant version_of_averages $wagma $wagma_test 'if (from->version > x->merged) {' 'if (from->version >= 0) {' \
  a_late_rank_merges_the_newest_average_once
# Divided by S where own weights were added to those of S ranks.
mutant divisor_of_late_ranks $wagma $wagma_test 'divisor++;' '' a_late_rank_merges_the_newest_average_once
# Slots of a schedule are swapped: groups of another version; averages with and without own weights.
mutant swapped_groups $wagma $wagma_test '[(x->first + version) % x->cycle]' '[(x->first + version + 1) % x->cycle]' \
  groups_go_round_the_bits
mutant swapped_averages $wagma $wagma_test 'x->posted ? &x->fresh : &x->stale' 'x->posted ? &x->stale : &x->fresh' \
  a_late_rank_merges_the_newest_average_once
# Rank 0 counts twice for a quorum; an end that does not wait for messages under way.
mutant double_post $schedule $eager_test 'int posts = s->posted > version;' 'int posts = 2 * (s->posted > version);' \
  gradients_in_time_are_as_many_as_expected
mutant early_end $schedule comm_schedule_test 's->version >= s->wanted && s->received == s->expected' 's->version >= s->wanted' \
  finish_receives_late_activations
echo "$n mutants fail"
