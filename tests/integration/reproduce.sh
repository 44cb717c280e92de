#!/usr/bin/env bash
# reproduce.sh SOURCE BIN - the scripts of workflows/reproduce without their runs: --dry-run prints every claim and every command; tables that are
# stored have those claims, and values that name their run directories; the page has the numbers of the tables; means, spreads, ratios
# and outcomes are those of the values; a flow without a status ends a script, and a program that lacks a library leaves rows that say so. Steps of
# weather_ensemble give the files of predictions to rows of eval.models that take them.
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
  for file in "$table" "$runs"; do [ -r "$file" ] || fail "$paper has no stored table: workflows/reproduce/all.sh $paper"; done
  sed -n 's/^claim: //p' "$work/log" >"$work/claims"
  tail -n +3 "$table" | awk -F'\t' '{ print $1 " (" $2 "; published: " $3 ", own bound: " $4 ", unit: " $5 ")" ($11 == "not run here" ? ": not run here" : "") }' >"$work/rows"
  cmp -s "$work/claims" "$work/rows" || { diff "$work/claims" "$work/rows"; fail "$paper: claims of the script and of the stored table differ"; }
  # A value names its directories, each of which has a digest, a commit, a time and a machine.
  awk -F'\t' -v OFS='\t' '
    NR == FNR { if (FNR > 1) known[$1] = NF == 6 && $3 ~ /^[0-9a-f]+$/ && length($3) == 12 && $4 ~ /^[0-9a-f]+( \(.*\))?$/ && $5 ~ /^20..-..-..T/ && $6 != ""; next }
    FNR > 2 && NF != 13 { print "a row of " NF " columns: " $1; exit 1 }
    FNR > 2 && $9 > 0 { n = split($13, dir, " "); for (i = 1; i <= n; i++) if (!known[dir[i]]) { print dir[i] " is not among the runs"; exit 1 } }
    FNR > 2 && $9 > 0 && $13 == "-" { print "a value without a run: " $1; exit 1 }
    FNR > 2 && $9 == 0 && ($7 != "-" || $11 !~ /^not run here(: |$)/) { print "a row without values that states some: " $1; exit 1 }
    FNR > 2 && $3 != "-" && $4 != "-" { print "a published number and an own bound: " $1; exit 1 }
    FNR > 2 && $9 > 0 && $11 != "-" && ($4 != "-") != ($11 ~ /^own bound/) { print "an outcome that takes an own bound for a published number: " $1; exit 1 }
    FNR > 2 && $6 ~ /; other programs ran$/ && $11 != "-" { print "a time of a busy machine that counts: " $1; exit 1 }
    FNR > 2 && $3 == "-" && $10 != "-" { print "a ratio to nothing: " $1; exit 1 }
    FNR > 2 && $9 > 0 && $3 != "-" && $11 != "-" && $10 == "-" { print "no ratio: " $1; exit 1 }
    FNR > 2 && $10 != "-" && ($10 / ($7 / $3) > 1.002 || $10 / ($7 / $3) < 0.998) { print "another ratio: " $1; exit 1 }' \
    "$runs" "$table" >"$work/log" || fail "$paper: the stored table"
done

# Every setting of a row of eval.models in steps of weather_ensemble fits its configurations: what is refused then are the missing data alone.
awk '/^[a-z]/ { config = $3 }
  $1 ~ /^eval\.models\[[0-9]+\]/ { gsub(/\$[a-z_]+/, "none"); print config, $1 }' workflows/weather_ensemble/*.steps "$reproduce"/*.steps >"$work/rows"
[ "$(wc -l <"$work/rows")" -ge 11 ] || fail "few settings of rows of eval.models: $(cat "$work/rows")"
while read -r config setting; do
  read -ra files <<<"${config//,/ }"
  "$bin/weather_ensemble" eval "${files[@]/#/--config=configs/weather_ensemble/}" --set "$setting" --set data.forecast=[none.nc] \
    --set data.truth=[none.nc] --out "$work/eval" >"$work/log" 2>&1
  [ $? = 3 ] || fail "$config takes no $setting"
done <"$work/rows"

"$reproduce/all.sh" --check docs/science || fail "the page"
cp -r docs/science/reproduction docs/science/reproduction.md "$work" || fail "the page cannot be copied"
"$reproduce/all.sh" --check "$work" || fail "a copy of the page"
sed -i '3s/\t[0-9.e+-]*\t\([^\t]*\t[0-9]*\t[^\t]*\t[^\t]*\t[^\t]*\t[^\t]*\)$/\t0.123\t\1/' "$(find "$work/reproduction" -name '*.table.tsv' | sort | head -n 1)"
! "$reproduce/all.sh" --check "$work" 2>/dev/null || fail "a changed number goes unnoticed"

# judged PROPERTY=TEXT... -- VALUE...: what a claim makes of values: here, spread, number, ratio, outcome, of published, bound, is, within, idle.
judged() {
  local given=() default
  while [ "$1" != -- ]; do given+=(-v "$1") && shift; done
  for default in claim=c source=s setting=- published=- bound=- limit=- unit=1 is=- within=0.1 idle=- why=w skipped= runs=r; do
    [[ " ${given[*]} " == *" ${default%%=*}="* ]] || given+=(-v "$default")
  done
  printf '%s\n' "${@:2}" | awk "${given[@]}" -f "$reproduce/row.awk" | cut -f7-11 | tr '\t' ' '
}
expect() { [ "$1" = "$2" ] || fail "a row: '$1', not '$2'"; }
expect "$(judged is=least published=0.1 -- 1 2 6)" '3 2.646 3 30 reached'
expect "$(judged is=least published=3 -- 1 2 6)" '3 2.646 3 1 within the spread'
expect "$(judged is=least published=1 -- 1 2 6)" '3 2.646 3 3 within the spread'
expect "$(judged is=least published=4 -- 1 2 6)" '3 2.646 3 0.75 within the spread'
expect "$(judged is=least published=6 -- 1 2 6)" '3 2.646 3 0.5 not reached'
expect "$(judged is=least published=3 -- 3)" '3 - 1 1 reached'
expect "$(judged is=most published=3 -- 3 3)" '3 0 2 1 reached'
expect "$(judged is=most published=6 -- 1 2 6)" '3 2.646 3 0.5 reached'
expect "$(judged is=most published=4 -- 1 2 6)" '3 2.646 3 0.75 within the spread'
expect "$(judged is=most published=2 -- 1 2 6)" '3 2.646 3 1.5 within the spread'
expect "$(judged is=most published=0.1 -- 1 2 6)" '3 2.646 3 30 not reached'
expect "$(judged is=most published=2.5 -- 3)" '3 - 1 1.2 not reached'
expect "$(judged is=near published=2 -- 2.1)" '2.1 - 1 1.05 within 10 %'
expect "$(judged is=near published=2 within=0.01 -- 2.1)" '2.1 - 1 1.05 differs'
expect "$(judged is=fitted published=2 -- 2)" '2 - 1 1 fitted'
expect "$(judged published=2 -- 2)" '2 - 1 - -'
expect "$(judged -- 2)" '2 - 1 - -'
expect "$(judged is=least published=3 -- '')" '- - 0 - not run here'
expect "$(judged is=least published=3 skipped='no NumPy' -- '')" '- - 0 - not run here: no NumPy'
expect "$(judged is=least bound=2 -- 3)" '3 - 1 - own bound kept'
expect "$(judged is=most bound=2 -- 3)" '3 - 1 - own bound missed'
expect "$(judged is=most bound=2 -- 1 2 6)" '3 2.646 3 - own bound: within the spread'
expect "$(judged is=near bound=2 -- 2.1)" '2.1 - 1 - own bound kept (within 10 %)'
expect "$(judged is=near bound=2 -- 3)" '3 - 1 - own bound missed'
expect "$(judged is=least published=3 idle=no -- 4)" '4 - 1 1.333 -'
expect "$(judged is=least published=3 idle=yes -- 4)" '4 - 1 1.333 reached'
for word in nan inf text '1,5'; do
  [ -z "$(judged is=least published=3 -- 1 "$word" 2>/dev/null)" ] || fail "'$word' counts as a number"
done
printf 'a,b\n1,"x, y"\n2,z\n' >"$work/a.csv"
printf 'b,a\nz,3\n' >"$work/b.csv"
expect "$(awk -f "$reproduce/cell.awk" a 'b=x, y' -- "$work/a.csv")" 1
expect "$(awk -f "$reproduce/cell.awk" a b=z -- "$work/a.csv" "$work/b.csv" | tr '\n' ' ')" '2 3 '
! awk -f "$reproduce/cell.awk" a b=q -- "$work/a.csv" 2>/dev/null || fail "a missing row goes unnoticed"
! awk -f "$reproduce/cell.awk" c -- "$work/a.csv" 2>/dev/null || fail "a missing column goes unnoticed"

# A script of our own, next to a flow.sh that prints what it is told, and programs that end with the status that they are told.
copy=$work/copy
mkdir -p "$copy/workflows" "$copy/tests" "$copy/programs/bin" "$copy/programs/bench"
cp -r "$reproduce" "$copy/workflows"
ln -s "$source/tests/bench" "$copy/tests/bench"
cat >"$copy/workflows/flow.sh" <<'FLOW'
#!/usr/bin/env bash
[[ " $* " != *" --status "* ]] || { printf "$FLOW_PRINTS" && exit "$FLOW_STATUS"; }
FLOW
cat >"$copy/programs/bench/speed" <<'SPEED'
#!/usr/bin/env bash
[ "$SPEED_STATUS" != 77 ] || echo 'SKIP: no library' >&2
echo 'work a,other,1,2,3,s,1.5,1,measured'
exit "$SPEED_STATUS"
SPEED
printf '#!/bin/sh\necho "commit: 0123abc (when configured)"\n' >"$copy/programs/bin/cosmoflow"
cat >"$copy/workflows/reproduce/own.sh" <<'OWN'
#!/usr/bin/env bash
set -euo pipefail
. "$(dirname "$0")/claims.sh"
begin 'Own' "$@"
[ -z "${FLOW_PRINTS+x}" ] || flow steps app
bench speed speed
row claim=c source=s why=w published=1 is=least idle=yes setting=t runs='speed_1 speed_2 speed_3' -- cell ratio work='work a' -- "$out"/speed_*/rows.csv
row claim=d source=s why=w ${OWN_ROW:-}
finish
OWN
chmod +x "$copy/workflows/flow.sh" "$copy/programs"/*/* "$copy/workflows/reproduce/own.sh"
# own VARIABLE=TEXT...: its table and runs, in OUT.
own() { env SPEED_STATUS=0 "$@" "$copy/workflows/reproduce/own.sh" --bin "$copy/programs/bin" --out "$work/own" >"$work/log" 2>&1; }
# ends STATUS VARIABLE=TEXT...: that it ends so.
ends() { own "${@:2}"; [ $? = "$1" ]; }
row_of() { awk -F'\t' -v claim=c '$1 == claim { print $7 " " $11 }' "$work/own/table.tsv"; }

own SPEED_STATUS=77 || fail "an absent library ends a script"
expect "$(row_of)" '- not run here: no library'
own || fail "a library that has come is not used"
expect "$(row_of)" '1.5 reached'
[ "$(cut -f4 "$work/own/runs.tsv" | sort -u | head -n 1)" = '0123abc (when configured)' ] || fail "another commit than that of the runs"
own FLOW_PRINTS='a  done 2026\nb  done\n' FLOW_STATUS=0 || fail "a flow that is done"
ends 1 FLOW_PRINTS='a  done 2026\nb  running since\n' FLOW_STATUS=0 || fail "a flow that is not done counts"
ends 2 FLOW_PRINTS= FLOW_STATUS=0 || fail "a flow without steps counts"
ends 2 FLOW_PRINTS='a  done 2026\n' FLOW_STATUS=2 || fail "a flow whose status is not known counts"
for property in is=lest is=near bound=1 idle=maybe is=fitted 'published=1 bound=1 is=near'; do
  ends 2 OWN_ROW="$property" || fail "a row with $property"
done
own OWN_ROW='bound=1 is=near' || fail "a row with a bound of its own"
