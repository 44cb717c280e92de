#!/usr/bin/env bash
# reproduce.sh SOURCE BIN - the scripts of workflows/reproduce without their runs: --dry-run prints every claim and every command; tables that are
# stored have those claims, and values that name their run directories; the page has the numbers of the tables; means, spreads, ratios
# and outcomes are those of the values.
set -u
source=$1 bin=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$source" || exit 1
reproduce=$source/workflows/reproduce stored=docs/science/reproduction
fail() {
  cat "$work/log" 2>/dev/null
  echo "failed: $*"
  exit 1
}

for script in "$reproduce"/[0-9]*.sh; do
  paper=$(basename "$script" .sh)
  for size in '' --full; do
    [ "$size" = '' ] || [ -r "$reproduce/${paper}_full.steps" ] || continue
    "$script" --dry-run $size --bin "$bin" --out "$work/none" >"$work/log" 2>&1 || fail "$paper $size --dry-run: status $?"
    [ ! -e "$work/none" ] || fail "$paper $size --dry-run does something"
    grep -q '^run: [^ ]' "$work/log" || fail "$paper $size --dry-run prints no command"
    grep -q '^claim: ' "$work/log" || fail "$paper $size --dry-run prints no claim"
  done
  "$script" --dry-run --bin "$bin" >"$work/log" 2>&1 || fail "$paper"
  table=$stored/$paper.table.tsv runs=$stored/$paper.runs.tsv
  [ -r "$table" ] && [ -r "$runs" ] || fail "$paper has no stored table: workflows/reproduce/all.sh $paper"
  sed -n 's/^claim: //p' "$work/log" >"$work/claims"
  tail -n +3 "$table" | awk -F'\t' '{ print $1 " (" $2 "; published: " $3 " " $4 ")" ($8 == 0 ? ": not run here" : "") }' >"$work/rows"
  cmp -s "$work/claims" "$work/rows" || { diff "$work/claims" "$work/rows"; fail "$paper: claims of the script and of the stored table differ"; }
  # A value names its directories, each of which has a digest, a commit, a time and a machine.
  awk -F'\t' -v OFS='\t' '
    NR == FNR { if (FNR > 1) known[$1] = NF == 6 && $3 ~ /^[0-9a-f]+$/ && length($3) == 12 && $4 ~ /^[0-9a-f]+$/ && $5 ~ /^20..-..-..T/ && $6 != ""; next }
    FNR > 2 && NF != 12 { print "a row of " NF " columns: " $1; exit 1 }
    FNR > 2 && $8 > 0 { n = split($12, dir, " "); for (i = 1; i <= n; i++) if (!known[dir[i]]) { print dir[i] " is not among the runs"; exit 1 } }
    FNR > 2 && $8 > 0 && $12 == "-" { print "a value without a run: " $1; exit 1 }
    FNR > 2 && $8 == 0 && ($6 != "-" || $10 != "not run here") { print "a row without values that states some: " $1; exit 1 }
    FNR > 2 && $8 > 0 && $3 != "-" && ($9 / ($6 / $3) > 1.002 || $9 / ($6 / $3) < 0.998) { print "another ratio: " $1; exit 1 }' \
    "$runs" "$table" >"$work/log" || fail "$paper: the stored table"
done

"$reproduce/all.sh" --check docs/science || fail "the page"
cp -r docs/science/reproduction docs/science/reproduction.md "$work" || fail "the page cannot be copied"
"$reproduce/all.sh" --check "$work" || fail "a copy of the page"
sed -i '3s/\t[0-9.e+-]*\t\([^\t]*\t[0-9]*\t[^\t]*\t[^\t]*\t[^\t]*\t[^\t]*\)$/\t0.123\t\1/' "$(find "$work/reproduction" -name '*.table.tsv' | sort | head -n 1)"
! "$reproduce/all.sh" --check "$work" 2>/dev/null || fail "a changed number goes unnoticed"

# line IS PUBLISHED WITHIN VALUE...: what a claim makes of values: here, spread, number, ratio, outcome.
line() {
  printf '%s\n' "${@:4}" | awk -v claim=c -v source=s -v setting=- -v published="$2" -v unit=1 -v is="$1" -v within="$3" -v why=w -v runs=r -f "$reproduce/row.awk" | cut -f6-10 | tr '\t' ' '
}
expect() { [ "$1" = "$2" ] || fail "a row: '$1', not '$2'"; }
expect "$(line least 3 0 1 2 6)" '3 2.646 3 1 reached'
expect "$(line least 4 0 1 2 6)" '3 2.646 3 0.75 within the spread'
expect "$(line least 6 0 1 2 6)" '3 2.646 3 0.5 not reached'
expect "$(line most 2.5 0 3)" '3 - 1 1.2 not reached'
expect "$(line near 2 0.1 2.1)" '2.1 - 1 1.05 within 10 %'
expect "$(line near 2 0.01 2.1)" '2.1 - 1 1.05 differs'
expect "$(line - - 0 2)" '2 - 1 - -'
expect "$(line least 3 0 '')" '- - 0 - not run here'
for word in nan inf text '1,5'; do
  [ -z "$(line least 3 0 1 $word 2>/dev/null)" ] || fail "'$word' counts as a number"
done
printf 'a,b\n1,"x, y"\n2,z\n' >"$work/a.csv"
printf 'b,a\nz,3\n' >"$work/b.csv"
expect "$(awk -f "$reproduce/cell.awk" a 'b=x, y' -- "$work/a.csv")" 1
expect "$(awk -f "$reproduce/cell.awk" a b=z -- "$work/a.csv" "$work/b.csv" | tr '\n' ' ')" '2 3 '
! awk -f "$reproduce/cell.awk" a b=q -- "$work/a.csv" 2>/dev/null || fail "a missing row goes unnoticed"
! awk -f "$reproduce/cell.awk" c -- "$work/a.csv" 2>/dev/null || fail "a missing column goes unnoticed"
