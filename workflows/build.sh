#!/usr/bin/env bash
# build.sh PRESET [TARGET...] - configures build/PRESET where that has not been done, and builds it.
# Ninja where it is installed, else make. Messages go to stderr, the details to build/PRESET/build.log.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:?build.sh: name a preset of CMakePresets.json}
shift
folder=build/$preset
log=$folder/build.log
mkdir -p "$folder"

generator=()
if [ ! -f "$folder/CMakeCache.txt" ] && command -v ninja >/dev/null; then
  generator=(-G Ninja)
fi
targets=()
[ $# = 0 ] || targets=(--target "$@")

start=$SECONDS
if ! cmake --preset "$preset" "${generator[@]}" >"$log" 2>&1 ||
  ! cmake --build "$folder" -j "$(nproc)" "${targets[@]}" >>"$log" 2>&1; then
  grep -nE -A 6 'error|Error|undefined reference' "$log" | head -n 60 >&2 || tail -n 30 "$log" >&2
  echo "build: $preset failed; the whole log is $log" >&2
  exit 1
fi
echo "build: $preset in $((SECONDS - start)) s" >&2
