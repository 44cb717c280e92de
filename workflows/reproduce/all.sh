#!/usr/bin/env bash
# all.sh [PAPER...] [OPTION...] - runs the scripts of papers (all, or those named, one after the other), stores their tables in
# docs/science/reproduction/ and makes the page docs/science/reproduction.md of all that are stored. Options are those of the scripts.
#
#   --page       make the page of what is stored; run nothing
#   --check DIR  compare the page of DIR (docs/science) with what is stored there; status 1 where they differ
set -euo pipefail
home=$(cd "$(dirname "$0")" && pwd)
science=docs/science papers=() options=() run=yes dry_run=no

print_page() {
  local table pairs=()
  for table in "$1"/reproduction/*.table.tsv; do
    pairs+=("$table" "${table%.table.tsv}.runs.tsv")
  done
  cat "$home/page.head"
  awk -f "$home/page.awk" "${pairs[@]}"
}

while [ $# -gt 0 ]; do
  case $1 in
  -h | --help) sed -n '2,/^set /{/^set /d; s/^# \{0,1\}//; p}' "$0" && exit 0 ;;
  --page) run=no ;;
  --check)
    print_page "${2:?all.sh: --check needs a folder}" | diff "$2/reproduction.md" - >&2 && exit 0
    echo "all: $2/reproduction.md is not the page of the stored tables: workflows/reproduce/all.sh --page makes it" >&2
    exit 1
    ;;
  --out) echo "all: leave out --out: tables are stored from out/reproduce/PAPER" >&2 && exit 2 ;;
  --bin | --site) options+=("$1" "${2:?all.sh: $1 needs a value}") && shift ;;
  --dry-run) dry_run=yes options+=("$1") ;;
  -*) options+=("$1") ;;
  *) papers+=("$1") ;;
  esac
  shift
done
cd "$home/../.."
if [ ${#papers[@]} = 0 ]; then
  for script in "$home"/[0-9]*.sh; do papers+=("$(basename "$script" .sh)"); done
fi
status=0
for paper in "${papers[@]}"; do
  [ $run = yes ] || continue
  [ -x "$home/$paper.sh" ] || { echo "all: there is no $paper.sh; known: $(cd "$home" && echo [0-9]*.sh | sed 's/\.sh//g')" >&2 && exit 2; }
  "$home/$paper.sh" "${options[@]}" || { status=1 && continue; }
  [ $dry_run = no ] || continue
  [[ " ${options[*]} " != *" --full "* ]] || paper=${paper}_full
  mkdir -p $science/reproduction
  cp "out/reproduce/$paper/table.tsv" "$science/reproduction/$paper.table.tsv"
  cp "out/reproduce/$paper/runs.tsv" "$science/reproduction/$paper.runs.tsv"
done
[ $dry_run = yes ] || print_page $science >$science/reproduction.md
exit $status
