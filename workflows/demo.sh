#!/usr/bin/env bash
# demo.sh [APP...] - sets up, builds, and runs the main job of each app (default: all), without network
# data. What it does for an app stands in workflows/APP/steps.sh; results go to out/demo/APP.
set -euo pipefail
cd "$(dirname "$0")/.."

apps=("$@")
if [ $# = 0 ]; then
  for steps in workflows/*/steps.sh; do
    apps+=("$(basename "$(dirname "$steps")")")
  done
fi
for app in "${apps[@]}"; do
  if [ ! -f "workflows/$app/steps.sh" ]; then
    echo "demo: there is no app '$app'; known: $(cd workflows && echo */steps.sh | sed 's,/steps.sh,,g')" >&2
    exit 2
  fi
done

workflows/setup.sh core
workflows/build.sh release
for app in "${apps[@]}"; do
  echo "== $app"
  "workflows/$app/steps.sh" build/release/bin "out/demo/$app"
done
