#!/usr/bin/env bash
# demo.sh [APP...] - sets up, builds, and performs the main job of each app (default: all), without network data. What it does for an
# app stands in workflows/APP/demo.steps; results go to out/demo/APP. Repeated, it does what is not done yet.
set -euo pipefail
cd "$(dirname "$0")/.."

apps=("$@")
if [ $# = 0 ]; then
  for table in workflows/*/demo.steps; do
    apps+=("$(basename "$(dirname "$table")")")
  done
fi
for app in "${apps[@]}"; do
  if [ ! -f "workflows/$app/demo.steps" ]; then
    echo "demo: there is no app '$app'; known: $(cd workflows && echo */demo.steps | sed 's,/demo.steps,,g')" >&2
    exit 2
  fi
done

workflows/setup.sh core
workflows/build.sh release programs
for app in "${apps[@]}"; do
  echo "== $app"
  workflows/flow.sh "$app" --out "out/demo/$app" --resume
done
