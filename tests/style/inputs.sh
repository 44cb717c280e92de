#!/usr/bin/env bash
# inputs.sh ROOT - the tables of docs/reference/files.md that say how input is understood: no cell is empty or says
# "assumed", and each row names tests that exist in the tree.
set -euo pipefail
cd "$1"
page=docs/reference/files.md
failed=0

complain() {
  echo "$page: $1"
  failed=1
}

# NUMBER, a tab, the row without its outer bars; the heads of tables and their rules are left out.
rows=$(awk '/^# Metadata of input files/ { on = 1 }
  on && /^\| *quantity *\|/ { next }
  on && /^\|[-|: ]*\|$/ { next }
  on && /^\|/ { gsub(/^\| *| *\|$/, ""); print NR "\t" $0 }' "$page")
[ -n "$rows" ] || complain "no table says how input is understood"

sources=(libcore apps tests)
while IFS=$'\t' read -r number row; do
  IFS='|' read -ra cells <<<"${row//\\|/ }"
  [ ${#cells[@]} = 5 ] || complain "line $number: ${#cells[@]} cells instead of 5"
  for cell in "${cells[@]}"; do
    [ -n "${cell// /}" ] || complain "line $number: an empty cell"
  done
  ! grep -qi 'assum' <<<"$row" || complain "line $number: something is assumed"
  names=$(grep -o '`[^`]*`' <<<"${cells[-1]}" | tr -d '`' || true)
  [ -n "$names" ] || complain "line $number: no test is named"
  for name in $names; do
    grep -rqw --include='*.c' --include='*.sh' --include='*.py' -e "$name" "${sources[@]}" || [ -f "$name" ] ||
      complain "line $number: no test is called '$name'"
  done
done <<<"$rows"
exit $failed
