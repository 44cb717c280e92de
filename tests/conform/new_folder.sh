#!/usr/bin/env bash
# new_folder.sh SOURCE COMPILER CONFORM_OPS CONFORM_RULES - copies the sources to a scratch folder, copies the how-to's
# example operator into libcore/ops and an update rule under another name, builds the conformance programs, and sees
# exactly one more operator and one more rule conform.
set -euo pipefail
source=$1 compiler=$2 program=$3 rule_program=$4 operator=laplace rule=heavy_ball
scratch=$(mktemp -d "${TMPDIR:-/tmp}/weir-new-folder-XXXXXX")
trap 'rm -rf "$scratch"' EXIT

names() { sed -n "s/^$1: //p" | tr ' ' '\n' | sort; } # of the operators or rules that a program knows

# Without a compiler on PATH the programs leave the native tier out, which is measured elsewhere.
mkdir "$scratch/tree"
tar -C "$source" --exclude=./build --exclude=./.git --exclude=./out -cf - . | tar -C "$scratch/tree" -xf -
cp -r "$scratch/tree/docs/how-to/example-op/$operator" "$scratch/tree/libcore/ops/"
folder=$scratch/tree/libcore/optim/rule
cp -r "$folder/momentum" "$folder/$rule"
(cd "$folder/$rule" && for f in momentum*; do mv "$f" "${f/momentum/$rule}"; done &&
  sed -i "s/momentum/$rule/g; s/MOMENTUM/${rule^^}/g" ./*)
cmake -S "$scratch/tree" -B "$scratch/build" -DCMAKE_C_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_C_FLAGS_RELEASE="-O0" -DWEIR_WITH_NETCDF=OFF -DWEIR_WITH_CBLAS=OFF -DWEIR_WITH_YAML=OFF \
  -DWEIR_WITH_CMOCKA=OFF >"$scratch/log" || { cat "$scratch/log"; exit 1; }
cmake --build "$scratch/build" -j2 --target conform_ops "ops_${operator}_${operator}_test" \
  conform_rules "optim_rule_${rule}_${rule}_test" >"$scratch/log" 2>&1 ||
  { tail -n 40 "$scratch/log"; exit 1; }
"$scratch/build/test/ops_${operator}_${operator}_test" >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }

# Those that the build had are tested by the build itself: here the new ones are, and one old one for the names.
see() { # KIND NEW OLD PROGRAM NEW_PROGRAM
  env PATH=/nowhere "$5" "$2" >"$scratch/after" 2>&1 || { cat "$scratch/after"; exit 1; }
  env PATH=/nowhere "$4" "$3" >"$scratch/before" 2>&1 || { tail -n 40 "$scratch/before"; exit 1; }
  local added
  added=$(comm -13 <(names "$1" <"$scratch/before") <(names "$1" <"$scratch/after"))
  grep "^$2 " "$scratch/after" || { echo "$2 was not tested"; exit 1; }
  if [ "$added" != "$2" ]; then
    echo "the $1 that were added are \"$added\", not \"$2\""
    exit 1
  fi
  echo "$(names "$1" <"$scratch/before" | wc -l) $1, and with the folder $(names "$1" <"$scratch/after" | wc -l)"
}
see operators $operator reshape "$program" "$scratch/build/test/conform_ops"
"$scratch/build/test/optim_rule_${rule}_${rule}_test" >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
see rules $rule momentum "$rule_program" "$scratch/build/test/conform_rules"
