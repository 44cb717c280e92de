# claims.sh - sourced by the script of each paper: options, runs, claims, and the table that they make. A script names a paper, runs
# flows and programs in OUT, states a row for each claim, and ends with `finish`. Nothing is computed here but means, spreads and ratios.
# shellcheck shell=bash

home=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
out='' bin=build/release/bin full=no site=local dry_run=no title='' pending=no
rows=() used=()
declare -A absent=() # run folders without a library to compare with: the reason

fail() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 2
}

# begin TITLE OPTION...: reads the options of a script and goes to the root of the checkout.
begin() {
  title=$1
  shift
  paper=$(basename "$0" .sh)
  while [ $# -gt 0 ]; do
    case $1 in
    --out | --bin | --site)
      [ -n "${2:-}" ] || fail "$1 needs a value"
      printf -v "${1#--}" %s "${2%/}"
      shift
      ;;
    --full) full=yes ;;
    --dry-run) dry_run=yes ;;
    -h | --help)
      sed -n '2,/^set /{/^set /d; /^# shellcheck/d; s/^# \{0,1\}//; p}' "$0"
      cat <<'HELP'

  --out DIR    runs and table (out/reproduce/PAPER); repeated, what is done there stays
  --bin DIR    folder of the programs (build/release/bin)
  --full       the size of the paper, of PAPER_full.steps, on a cluster
  --site NAME  the machine, of workflows/sites (local); jobs are submitted: repeat the command when they have ended
  --dry-run    print every claim and every command, and do nothing
HELP
      exit 0
      ;;
    *) fail "'$1' is no option: --help lists them" ;;
    esac
    shift
  done
  cd "$home/../.." || exit 2
  out=${out:-out/reproduce/$paper}
  if [ $full = yes ]; then
    [ -r "$home/${paper}_full.steps" ] || fail "there is no size of the paper for a cluster: the rows that are not run say why"
    out=${out}_full
  fi
  echo "== $title"
}

# flow NAME APP: performs the steps of PAPER.steps, or with --full of PAPER_full.steps, in OUT/NAME by flow.sh. What is done stays.
flow() {
  local table=$home/$paper.steps words status
  [ $full = no ] || table=$home/${paper}_full.steps
  words=("$home/../flow.sh" "$2" --steps "$table" --site "$site" --bin "$bin" --out "$out/$1")
  if [ $dry_run = yes ]; then
    "${words[@]}" --dry-run | sed 's/^/run: /'
    return
  fi
  "${words[@]}" --resume >/dev/null
  status=$("${words[@]:0:2}" --out "$out/$1" --status) || fail "$out/$1: flow.sh --status ended with status $?"
  [ -n "$status" ] || fail "$out/$1: flow.sh --status prints no step"
  awk '$2 != "done" { exit 1 }' <<<"$status" || pending=yes
}

# perform NAME PROGRAM ARGUMENT...: a program in OUT/NAME, once: its standard output in `out`, with provenance.json. Status 77 says
# that a library to compare with is absent: the rows of this run say that they are not run here, and the next time tries again.
perform() {
  local name=$1 dir=$out/$1 status=0
  shift
  if [ $dry_run = yes ]; then
    printf 'run: %s\n' "$*"
    return
  fi
  [ ! -e "$dir/out" ] || return 0
  mkdir -p "$dir"
  "$@" >"$dir/out.tmp" 2>"$dir/log" || status=$?
  case $status in
  0) ;;
  77)
    absent[$name]=$(sed -n 's/^SKIP: //p' "$dir/log" | tail -n 1)
    absent[$name]=${absent[$name]:-$(basename "$1") lacks a library to compare with}
    rm "$dir/out.tmp"
    return
    ;;
  *) fail "$* ended with status $status: $dir/log" ;;
  esac
  {
    printf '{\n  "program": "%s",\n' "$(basename "$1")"
    printf '  "build": "%s",\n' "$("$bin/cosmoflow" --version | sed -n 's/^\(commit: .*\)/\1\\n/p')"
    printf '  "written_utc": "%s",\n  "command": "%s",\n  "host": "%s"\n}\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$*" "$(uname -n)"
  } >"$dir/provenance.json"
  printf '%s\n' "$*" >"$dir/resolved.yaml" # what its results depend on
  mv "$dir/out.tmp" "$dir/out"
}
# bench NAME PROGRAM [ARGUMENT...]: a program of tests/bench three times, in OUT/NAME_1 to NAME_3; its rows become rows.csv.
bench() {
  local name=$1 i
  shift
  for i in 1 2 3; do
    perform "${name}_$i" "$bin/../bench/$1" "${@:2}"
    if [ $dry_run = yes ] || [ -n "${absent[${name}_$i]:-}" ]; then continue; fi
    { echo 'work,reference,version,reference_value,weir_value,unit,ratio,goal,kind' && cat "$out/${name}_$i/out"; } >"$out/${name}_$i/rows.csv"
  done
}
# app NAME APP COMMAND ARGUMENT...: a command of an application in OUT/NAME, once, where a flow cannot give its flags.
app() {
  local dir=$out/$1 name=$2
  shift 2
  if [ $dry_run = yes ]; then
    printf 'run: %s\n' "$bin/$name $* --out $dir"
    return
  fi
  [ ! -e "$dir.done" ] || return 0
  mkdir -p "$out"
  "$bin/$name" "$@" --overwrite --out "$dir" >"$dir.out" 2>"$dir.log" || fail "$name $* ended with status $?: $dir.log"
  touch "$dir.done"
}

# cell COLUMN [KEY=VALUE...] -- FILE...: the column of the rows of CSV files in which the others have these values, one a line.
cell() { awk -f "$home/cell.awk" "$@"; }
# event NAME KEY FILE...: the last value of KEY in the events NAME of each run.jsonl.
event() {
  local name=$1 key=$2 file
  shift 2
  for file in "$@"; do
    sed -n "s/^{\"event\": \"$name\", .*\"$key\": \\([-+0-9.eE]*\\)[,}].*/\\1/p" "$file" | tail -n 1
  done
}
# quotient A B: of the numbers that two commands print (texts, split into words), a line each.
quotient() { paste <(eval "$1") <(eval "$2") | awk 'NF != 2 { exit 1 } { printf "%.17g\n", $1 / $2 }'; }

# check_row: that the properties of `row` fit one another.
check_row() {
  if [ -z "$claim" ] || [ -z "$source" ] || [ -z "$why" ]; then fail "row '$claim' needs claim, source and why"; fi
  if [ "$published" != - ] && [ "$bound" != - ]; then fail "row '$claim' has a published number, so that no bound of our own counts"; fi
  case $is in
  -) [ "$bound" = - ] || fail "row '$claim': a bound needs is=least, most or near" ;;
  least | most | near) [ "$published$bound" != -- ] || fail "row '$claim': is=$is needs published or bound" ;;
  fitted) [ "$published" != - ] || fail "row '$claim': is=fitted needs the published number of the fit" ;;
  *) fail "row '$claim': is='$is' is not least, most, near or fitted" ;;
  esac
  case $idle in - | yes | no) ;; *) fail "row '$claim': idle='$idle' is not yes or no" ;; esac
}

# row KEY=TEXT... [-- COMMAND...]: a claim. claim, source, setting and why are sentences. The number to compare with, in `unit`, is
# `published`, or where the paper has none `bound`, the project's own. is: what is claimed of our number: least, most, or near (`within` a
# share); fitted where a parameter was fitted to the published number; without it nothing is decided. idle: for a time or rate that is
# measured, whether nothing else ran (yes, no). runs: folders in OUT, separated by blanks. COMMAND prints our values, one for each
# seed; without one the row says that it is not run here.
row() {
  local claim='' source='' setting='' published=- bound=- unit=1 is=- within=0.1 idle=- why='' runs='' values='' run folders=''
  local limit=- skipped=''
  local -A phrase=([least]='at least' [most]='at most' [near]=about)
  while [ $# -gt 0 ] && [ "$1" != -- ]; do
    case $1 in
    claim=* | source=* | setting=* | published=* | bound=* | unit=* | is=* | within=* | idle=* | why=* | runs=*) printf -v "${1%%=*}" %s "${1#*=}" ;;
    *) fail "row: '$1' is no property" ;;
    esac
    shift
  done
  check_row
  [ "$bound" = - ] || limit="${phrase[$is]} $bound"
  [ $# = 0 ] || shift
  if [ $dry_run = yes ]; then
    echo "claim: $claim ($source; published: $published, own bound: $limit, unit: $unit)$([ $# -gt 0 ] || echo ': not run here')"
    return
  fi
  [ $pending = no ] || return 0
  for run in $runs; do skipped=${skipped:-${absent[$run]:-}}; done
  if [ $# -gt 0 ] && [ -z "$skipped" ]; then
    [ -n "$runs" ] || fail "row '$claim' needs runs"
    values=$("$@") || fail "row '$claim': no value: $*"
    [ -n "$values" ] || fail "row '$claim': no value: $*"
    for run in $runs; do
      used+=("$out/$run")
      folders+="${folders:+ }$out/$run"
    done
  fi
  rows+=("$(awk -v claim="$claim" -v source="$source" -v setting="$setting" -v published="$published" -v bound="$bound" -v limit="$limit" \
    -v unit="$unit" -v is="$is" -v within="$within" -v idle="$idle" -v why="$why" -v skipped="$skipped" -v runs="$folders" -f "$home/row.awk" \
    <<<"$values")") || fail "row '$claim'"
}

# A line for each run directory: folder, command, digest of its resolved configuration, version, date, machine.
print_runs() {
  local dir host machine
  machine="$(awk -f "$home/../../tests/bench/machine.awk" /proc/cpuinfo), $(nproc) processors"
  printf 'run\tprogram\tconfiguration\tcommit\tdate\tmachine\n'
  [ ${#used[@]} = 0 ] || printf '%s\n' "${used[@]}" | sort -u | while IFS= read -r dir; do
    [ -r "$dir/provenance.json" ] || fail "$dir has no provenance.json"
    host=$(sed -n 's/^ *"host": "\(.*\)",\{0,1\}$/\1/p' "$dir/provenance.json")
    printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$dir" \
      "$(sed -n 's/^ *"program": "\(.*\)",$/\1/p' "$dir/provenance.json")" \
      "$(sha256sum "$dir/resolved.yaml" | cut -c1-12)" \
      "$(sed -n 's/^ *"build": ".*commit: \([^\\"]*\).*/\1/p' "$dir/provenance.json")" \
      "$(sed -n 's/^ *"written_utc": "\(.*\)",$/\1/p' "$dir/provenance.json")" \
      "$([ "$host" = "$(uname -n)" ] && echo "$machine" || echo "$host")"
  done
}

# finish: prints and stores the table.
finish() {
  [ $dry_run = no ] || return 0
  if [ $pending = yes ]; then
    echo "not all runs are done (workflows/flow.sh APP --out $out/NAME --status): repeat the command when they are" >&2
    exit 1
  fi
  mkdir -p "$out"
  { printf '# %s\n' "$title" && cat "$home/columns" && printf '%s\n' "${rows[@]}"; } >"$out/table.tsv"
  print_runs >"$out/runs.tsv"
  awk -f "$home/page.awk" "$out/table.tsv" "$out/runs.tsv"
}
