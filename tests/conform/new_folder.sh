#!/usr/bin/env bash
# new_folder.sh SOURCE BUILD - copies the sources to a scratch folder, adds an operator (the how-to's example), an
# operator on streams, an update rule, an exchange policy, a record format, a device, a pass, an app and a format of the files
# of two apps, each a folder or a file, and builds and tests them there. Of the files that were there, none is edited: the
# build finds the folders. What did not change is not compiled again, but taken from BUILD, of which the scratch build has the
# options.
set -euo pipefail
source=$1 build=$2
scratch=$(mktemp -d "${TMPDIR:-/tmp}/weir-new-folder-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
tree=$scratch/tree
mkdir "$tree"
tar -C "$source" --exclude=./build --exclude=./.git --exclude=./out -cf - . | tar -C "$tree" -xf -

fail() { echo "$*" >&2; exit 1; }

# A folder again under another name, and all names in it.
again() { # FOLDER OLD NEW
  cp -r "$tree/$1/$2" "$tree/$1/$3"
  (cd "$tree/$1/$3" && find . -type f -name "*$2*" | while read -r f; do mv "$f" "${f//$2/$3}"; done &&
    find . -type f -exec sed -i "s/$2/$3/g; s/${2^^}/${3^^}/g" {} +)
}

# The same of a source that is alone.
again_alone() { # FOLDER OLD NEW
  sed "s/$2/$3/g; s/${2^^}/${3^^}/g" "$tree/$1/$2.c" >"$tree/$1/$3.c"
}

cp -r "$tree/docs/how-to/example-op/laplace" "$tree/libcore/ops/"
again libcore/optim/rule momentum heavy_ball
again libcore/optim/exchange local distant
again libcore/stream/op clip crop
again libcore/device emulated simulated
again libcore/io csv dsv
sed -i 's/\.txt/.tdv/g; s/dsv_fs/csv_fs/g' "$tree"/libcore/io/dsv/* # a setting of records keeps its name
again apps physio_stream heart_stream
again_alone apps/cosmoflow/data/format tfrecord tfseries
again apps/weather_ensemble/data/format grib brig
# The core's readers keep their names, and so do options.
sed -i 's/weir_tfseries/weir_tfrecord/g' "$tree/apps/cosmoflow/data/format/tfseries.c"
sed -i 's/weir_brig/weir_grib/g; s/WEIR_BRIG/WEIR_GRIB/g; s/data\.brig/data.grib/g' "$tree"/apps/weather_ensemble/data/format/brig/*
mkdir "$tree/libcore/pass/linger"
cat >"$tree/libcore/pass/linger/linger.c" <<'PASS'
/* linger.c - a pass that has nothing to do. */
#include "pass/weir_pass.h"

static weir_status run(weir_graph *g, const weir_pass_opts *opts)
{
  (void)opts;
  return weir_graph_status(g);
}

const weir_pass weir_pass_linger = {.name = "linger", .cite = "none", .order = 31, .run = run};
PASS
cat >"$tree/libcore/pass/linger/linger_test.c" <<'PASS'
/* linger_test.c - the pass is in the table, and runs. */
#include "pass/weir_pass.h"
#include "base/weir_check.h"

static void it_is_found_by_its_name(void **state)
{
  const weir_pass_opts opts = {0};
  weir_graph *g;

  assert_ok(weir_graph_create(&g));
  assert_ok(weir_pass_run(g, "linger", &opts));
  weir_graph_destroy(&g);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(it_is_found_by_its_name)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
PASS

cat >"$scratch/launch" <<LAUNCH
#!/usr/bin/env bash
# The object of the same name in BUILD, where the source is the same (of the app that was copied for the new one); else
# the compiler's.
set -euo pipefail
from='' to='' arguments=("\$@")
while [ \$# -gt 0 ]; do
  case \$1 in
  -o) to=\$PWD/\$2; [[ \$2 != /* ]] || to=\$2; shift ;;
  -c) from=\$2; shift ;;
  esac
  shift
done
old=$build\${to#$scratch/build} was=$source\${from#$tree}
old=\${old//heart_stream/physio_stream} was=\${was//heart_stream/physio_stream}
if [[ \$to = *.o && -f \$old && \$from = $tree/* ]] && cmp -s "\$from" "\$was"; then
  cp "\$old" "\$to"
else
  echo "\$from" >>$scratch/compiled
  exec "\${arguments[@]}"
fi
LAUNCH
chmod +x "$scratch/launch"
options=()
while read -r line; do
  options+=("-D$line")
done < <(grep -E '^(WEIR_[A-Z_]+|CMAKE_BUILD_TYPE|CMAKE_C_COMPILER|CMAKE_C_FLAGS|CMAKE_C_FLAGS_[A-Z]+|CMAKE_GENERATOR):[A-Z]+=' \
  "$build/CMakeCache.txt" | grep -v '^CMAKE_GENERATOR')
generator=$(sed -n 's/^CMAKE_GENERATOR:INTERNAL=//p' "$build/CMakeCache.txt")
cmake -S "$tree" -B "$scratch/build" -G "$generator" "${options[@]}" -DCMAKE_C_COMPILER_LAUNCHER="$scratch/launch" \
  >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
tests=(ops_laplace_laplace_test optim_rule_heavy_ball_heavy_ball_test optim_exchange_distant_distant_test
  stream_op_crop_crop_test stream_series_test io_dsv_dsv_test device_simulated_simulated_test pass_linger_linger_test
  apps_cosmoflow_data_volume_volume_test apps_cosmoflow_data_convert_test)
cmake --build "$scratch/build" -j2 --target "${tests[@]}" conform_ops conform_rules conform_devices heart_stream weather_ensemble \
  >"$scratch/log" 2>&1 ||
  { tail -n 40 "$scratch/log"; exit 1; }
data=${WEIR_TEST_DATA:-$source/../shared/data} # recorded data have other names, too
if [ -d "$data/physio/csv" ]; then
  mkdir -p "$scratch/data/physio/dsv"
  for file in "$data"/physio/csv/*; do
    ln -s "$(realpath "$file")" "$scratch/data/physio/dsv/$(basename "$file" | sed 's/\.txt$/.tdv/; s/csv/dsv/g')"
  done
  export WEIR_TEST_DATA=$scratch/data
fi
for test in "${tests[@]}"; do
  "$scratch/build/test/$test" >"$scratch/log" 2>&1 || { cat "$scratch/log"; fail "$test fails"; }
done

# Those that the build had are tested by the build itself: here the new ones are, and one old one for the names.
# Without a compiler on PATH the programs leave the native engine out, which is measured elsewhere.
names() { sed -n "s/^$1: //p" | tr ' ' '\n' | sort; }
conforms() { # KIND NEW OLD PROGRAM
  env PATH=/nowhere "$scratch/build/test/$4" "$2" >"$scratch/after" 2>&1 || { cat "$scratch/after"; exit 1; }
  env PATH=/nowhere "$build/test/$4" "$3" >"$scratch/before" 2>&1 || { tail -n 40 "$scratch/before"; exit 1; }
  local added
  added=$(comm -13 <(names "$1" <"$scratch/before") <(names "$1" <"$scratch/after"))
  grep "^$2 " "$scratch/after" || fail "$2 was not tested"
  [ "$added" = "$2" ] || fail "the $1 that were added are \"$added\", not \"$2\""
}
conforms operators laplace reshape conform_ops
conforms rules heavy_ball momentum conform_rules
"$scratch/build/test/conform_devices" >"$scratch/after" 2>&1 || { cat "$scratch/after"; exit 1; }
grep '^simulated: ' "$scratch/after" || fail "the device simulated was not tested"

"$scratch/build/bin/heart_stream" options --markdown >"$scratch/after" || fail "heart_stream does not start"
grep -qx '# Options of heart_stream' "$scratch/after" || fail "heart_stream is another app: $(head -n 1 "$scratch/after")"
"$build/bin/physio_stream" options --markdown | # the new operator on streams, rule and policy are choices of both
  diff <(grep -vE '\.(crop|heavy_ball|distant)[.`]' "$scratch/after" | sed 's/heart_stream/physio_stream/g') - >"$scratch/log" ||
  { cat "$scratch/log"; fail "heart_stream has other options than the app it is a copy of"; }

echo "no archive" >"$scratch/archive.txt"
"$scratch/build/bin/weather_ensemble" prepare --set data.forecast="[$scratch/archive.txt]" \
  --set data.truth="[$scratch/archive.txt]" --out "$scratch/prepared" >"$scratch/after" 2>&1 && fail "a text is an archive"
grep -q 'begins like no file of BRIG or CSV or GRIB or NetCDF' "$scratch/after" ||
  { cat "$scratch/after"; fail "the format brig of archives is not found"; }

# The tables, which the build makes, have one more row each, and no file that was there has changed.
edited=$(diff -rq "$source" "$tree" --exclude=build --exclude=.git --exclude=out | grep -c '^Files' || true)
apps_of() { find "$1/apps" -mindepth 1 -maxdepth 1 -type d ! -name CMakeFiles | wc -l; } # BUILD
added() { # WHAT TABLE FOLDER
  local before after
  before=$(grep -c '^  &' "$build/$2") after=$(grep -c '^  &' "$scratch/build/$2")
  [ "$after" = $((before + 1)) ] || fail "$1: $before rows, now $after"
  printf '%-22s %3d, with the folder %3d; files in it %d, others edited %d\n' "$1" "$before" "$after" \
    "$(find "$tree/$3" -type f | wc -l)" "$edited"
}
added operators libcore/ops/weir_op_table.c libcore/ops/laplace
added 'operators on streams' libcore/stream/weir_series_op_table.c libcore/stream/op/crop
added 'update rules' libcore/optim/weir_rule_table.c libcore/optim/rule/heavy_ball
added 'exchange policies' libcore/optim/weir_exchange_table.c libcore/optim/exchange/distant
added 'record formats' libcore/io/weir_record_format_table.c libcore/io/dsv
added 'formats of samples' apps/cosmoflow/cf_volume_format_table.c apps/cosmoflow/data/format/tfseries.c
added 'formats of archives' apps/weather_ensemble/wx_format_table.c apps/weather_ensemble/data/format/brig
added devices libcore/device/weir_device_row_table.c libcore/device/simulated
added passes libcore/pass/weir_pass_table.c libcore/pass/linger
printf '%-22s %3d, with the folder %3d; files in it %d, others edited %d\n' apps "$(apps_of "$build")" \
  "$(apps_of "$scratch/build")" "$(find "$tree/apps/heart_stream" -type f | wc -l)" "$edited"
[ "$(apps_of "$scratch/build")" = $(($(apps_of "$build") + 1)) ] || fail "the build does not find the new app"

# An operator without cases is not left out: a test fails and names it.
rm "$tree/libcore/ops/laplace/laplace_cases.c"
cmake --build "$scratch/build" -j2 --target conform_ops >"$scratch/log" 2>&1 || { tail -n 40 "$scratch/log"; exit 1; }
if env PATH=/nowhere "$scratch/build/test/conform_ops" laplace >"$scratch/log" 2>&1; then
  fail "an operator without cases passes"
fi
grep 'operator laplace: no cases' "$scratch/log" || fail "an operator without cases is not named"
echo "compiled: $(wc -l <"$scratch/compiled") of $(find "$scratch/build" -name '*.o' | wc -l)"
[ "$edited" = 0 ]
