#!/usr/bin/env bash
# new_folder.sh SOURCE COMPILER CONFORM_OPS CONFORM_RULES - copies the sources to a scratch folder, copies the how-to's
# example operator into libcore/ops and an update rule under another name, builds the conformance programs, and sees
# exactly one more operator and one more rule conform.
set -euo pipefail
source=$1 compiler=$2 program=$3 rule_program=$4 operator=laplace rule=heavy_ball
scratch=$(mktemp -d "${TMPDIR:-/tmp}/weir-new-folder-XXXXXX")
trap 'rm -rf "$scratch"' EXIT

rules() { awk '/of the loss is left/ { print $1 }' | sort -u; }
operators() { awk 'NF == 7 && $2 ~ /^(f32|f64|[iu][0-9]+|bool)$/ { print $1 }' | sort -u; }

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
env PATH=/nowhere "$scratch/build/test/conform_ops" >"$scratch/after" 2>&1 || { cat "$scratch/after"; exit 1; }
env PATH=/nowhere "$program" >"$scratch/before" 2>&1 || { tail -n 40 "$scratch/before"; exit 1; }
added=$(comm -13 <(operators <"$scratch/before") <(operators <"$scratch/after"))
grep "^$operator " "$scratch/after" || true
if [ "$added" != "$operator" ]; then
  echo "the operators that were added are \"$added\", not \"$operator\""
  exit 1
fi
echo "$(operators <"$scratch/before" | wc -l) operators, and with the folder $(operators <"$scratch/after" | wc -l)"

"$scratch/build/test/optim_rule_${rule}_${rule}_test" >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
env PATH=/nowhere "$scratch/build/test/conform_rules" >"$scratch/after" 2>&1 || { cat "$scratch/after"; exit 1; }
env PATH=/nowhere "$rule_program" >"$scratch/before" 2>&1 || { tail -n 40 "$scratch/before"; exit 1; }
added=$(comm -13 <(rules <"$scratch/before") <(rules <"$scratch/after"))
grep "^$rule " "$scratch/after" || true
if [ "$added" != "$rule" ]; then
  echo "the rules that were added are \"$added\", not \"$rule\""
  exit 1
fi
echo "$(rules <"$scratch/before" | wc -l) rules, and with the folder $(rules <"$scratch/after" | wc -l)"
