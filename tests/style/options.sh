#!/usr/bin/env bash
# options.sh ROOT PROGRAM - the options of one app: every file of configs/APP loads, without former names of keys, the complete
# configuration that the program prints loads too, no option stands twice in the table, and the reference page is what
# the program prints.
set -euo pipefail
cd "$1"
program=$2 app=$(basename "$2")
page=docs/reference/options/$app.md
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

"$program" options --yaml >"$scratch/complete.yaml"
tier=() # of programs that compile loops
grep -q '^  tier: ' "$scratch/complete.yaml" && tier=(--set exec.tier=vector)
for config in configs/"$app"/*.yaml "$scratch/complete.yaml"; do
  # A query may need a recording or several, or signals that only real ones have: it has been read then. No loops are compiled.
  "$program" describe --config "$config" "${tier[@]}" >"$scratch/log" 2>&1 ||
    grep -q -e "stream '.*': there is no signal .* in the built-in recording" -e "^error: no recording is named" \
      -e "^error: input.records: a plan is that of one recording" "$scratch/log" || {
    echo "$config does not load:"
    tail -n 5 "$scratch/log"
    failed=1
  }
  ! grep 'was renamed to' "$scratch/log" || failed=1
done
"$program" options --markdown >"$scratch/page.md"
if awk -F'`' '/^\| `/ && seen[$2]++ { print $2 }' "$scratch/page.md" | grep . >"$scratch/twice"; then
  echo "options that stand twice in the table:"
  cat "$scratch/twice"
  failed=1
fi
if ! diff -u "$page" "$scratch/page.md" >"$scratch/diff" 2>&1; then
  head -n 20 "$scratch/diff"
  echo "the reference page is old: build/release/bin/$app options --markdown >$page"
  failed=1
fi
exit $failed
