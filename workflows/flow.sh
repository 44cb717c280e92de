#!/usr/bin/env bash
# flow.sh APP [OPTION...] - performs the steps of a workflow here, or submits them to Slurm. Results are the same.
# flow.sh APP [OPTION...] -- COMMAND ARGUMENT... - the same for one command of APP, without --out: a run of any length on a cluster.
#
#   --steps NAME   the table of steps: workflows/APP/NAME.steps, or the path of a file (demo)
#   --site NAME    the machine: workflows/sites/NAME.env, or the path of a file (local)
#   --out DIR      results go to DIR/STEP, or DIR/STEP/INSTANCE; what is known of the steps to DIR/flow, for a browser to DIR/index.html (out/APP)
#   --bin DIR      folder of the programs (build/release/bin, or bin of an installation)
#   --class NAME   resource class of the one command (parallel where it shares its work, else serial)
#   --only STEP    no other step; those that it needs must be done
#   --resume       goes on with a flow that was begun in DIR: what was done with the same program, configurations and inputs stays
#   --dry-run      prints the commands, or the lines of sbatch, and does nothing
#   --status       prints what is known of the flow in DIR; reads files only
#
# docs/how-to/run-on-a-cluster.md explains tables and sites. Exit status: 0 done (Slurm: submitted), 1 a step failed, 2 wrong input,
# 9 stopped by a signal.
set -euo pipefail
home=$(cd "$(dirname "$0")" && pwd)
. "$home/flow/table.sh"
. "$home/flow/site.sh"
. "$home/flow/plan.sh"
. "$home/flow/state.sh"
. "$home/flow/local.sh"
. "$home/flow/slurm.sh"

app='' table=demo site=local out='' bin='' class='' only='' resume=no dry_run=no status=no command=() plans=''

read_options() {
  [ $# -gt 0 ] || fail "name an application: $(known_apps); flow.sh --help says more"
  case $1 in -h | --help) sed -n '2,/^set /{/^set /d; s/^# \{0,1\}//; p}' "$0" && exit 0 ;; esac
  app=$1
  shift
  while [ $# -gt 0 ]; do
    case $1 in
    --steps | --site | --out | --bin | --class | --only)
      [ $# -gt 1 ] && [ -n "$2" ] || fail "$1 needs a value"
      case $1 in --steps) table=$2 ;; --site) site=$2 ;; --out) out=${2%/} ;; --bin) bin=${2%/} ;; --class) class=$2 ;; *) only=$2 ;; esac
      shift
      ;;
    --resume) resume=yes ;;
    --dry-run) dry_run=yes ;;
    --status) status=yes ;;
    --)
      shift
      [ $# -gt 0 ] || fail "a command of $app must follow --"
      command=("$@")
      break
      ;;
    *) fail "'$1' is no option: flow.sh --help lists them" ;;
    esac
    shift
  done
}
known_apps() { (cd "$home" && echo */demo.steps | sed 's,/demo.steps,,g'); }

find_files() {
  [ -d "$home/$app" ] && compgen -G "$home/$app/*.steps" >/dev/null || fail "there is no application '$app'; known: $(known_apps)"
  case $site in */*) ;; *) site=$home/sites/$site.env ;; esac
  case $table in */*) ;; *) table=$home/$app/$table.steps ;; esac
  [ ${#command[@]} -gt 0 ] || [ -r "$table" ] ||
    fail "there is no table '$table'; known: $(cd "$home/$app" && echo *.steps | sed 's/\.steps//g'), or the path of a file"
  out=${out:-out/$app}
  if [ -z "$bin" ] && [ ! -d "$home/../build" ] && [ -x "$home/../../../bin/$app" ]; then # $home is PREFIX/share/weir/workflows
    bin=$(cd "$home/../../../bin" && pwd)
  fi
  program=${bin:-build/release/bin}/$app
}

# The one command after --: its words are those of the plan.
plan_command() {
  local name=${command[0]} word last='' text=''
  steps=("$name") row_of[$name]="command line" command_of[$name]=$name instances_of[$name]=once after_of[$name]='' ids_of[$name]=$name
  root_of[$name]=
  for word in "${command[@]}"; do
    case $word in
    --overwrite*) fail "--overwrite would begin anew after every walltime: --resume decides what is repeated" ;;
    --out* | --threads* | --device*) fail "leave out ${word%%=*}: flow.sh and the site decide" ;;
    *[[:cntrl:]]*) fail "a word with a control character: '$word'" ;;
    esac
    [ "$last" != --config ] || text+="config $word"$'\n'
    [[ $word != --config=* ]] || text+="config ${word#--config=}"$'\n'
    text+="word $word"$'\n'
    last=$word
  done
  class_of[$name]=${class:-serial}
  [ -n "$class" ] || ! listed 'share the work of' "$name" || class_of[$name]=parallel
  check_step "$name"
  value_of[$name]=-
  put_plan "$name" "$name" - "$text"
}

write_plans() {
  local id step
  for step in "${steps[@]}"; do
    for id in ${ids_of[$step]}; do
      echo "${plan_of[$id]}" | put "${plans:-$out/flow}/${id//\//.}.plan" || exit 2
      all+=("$id")
    done
  done
  [ -n "$plans" ] || printf '%s\n' "${all[@]}" | put "$out/flow/order"
}

# What is to be done: what is not, and what needs something that is to be done.
choose() {
  local id other again
  for id in "${all[@]}"; do
    again=no
    if ! is_done "$id"; then
      again=yes
      [ ! -e "$(file_of "$id" 'done')" ] || echo "flow: $id: again: $why" >&2
    fi
    for other in "${plan_needs[@]}"; do
      [[ " ${todo[*]} ${missing[*]} " != *" $other "* ]] || again=yes
    done
    if [ -n "$only" ] && [ "$plan_step" != "$only" ]; then
      [ $again = no ] || missing+=("$id")
    elif [ $again = yes ]; then
      todo+=("$id")
    fi
  done
}

check_only() {
  local other
  for other in "${missing[@]}"; do
    [[ " ${after_of[$only]} " != *" ${other%%/*} "* ]] || fail "$other, which $only needs, is not done: start it first, or all steps"
  done
}

# The first of those that an instance needs, and these need, that has failed.
find_broken() {
  local other
  read_plan "$1" || return 0
  for other in "${plan_needs[@]}"; do
    if grep -qs '^\(failed\|stopped\) ' "$(file_of "$other" state)"; then
      echo "$other"
      return 0
    fi
    [ -e "$(file_of "$other" 'done')" ] || find_broken "$other"
  done | head -n 1
}

# describe_state ID: its state in words. A process that is no more on this machine has not been able to say so.
describe_state() {
  local id=$1 broken
  read_state "$id"
  case $state_word in
  done) echo "done $state_changed" ;;
  failed) echo "failed with status $state_status, $state_changed; log: $(file_of "$id" log)" ;;
  stopped) echo "stopped $state_changed; log: $(file_of "$id" log)" ;;
  queued) echo "in the queue again since $state_changed, job $state_job" ;;
  running)
    if [ "$state_host" = "$(uname -n)" ] && [ "$state_job" = - ] && ! kill -0 "$state_process" 2>/dev/null; then
      echo "interrupted: its process is no more; log: $(file_of "$id" log)"
    elif [ "$state_job" = - ]; then
      echo "running since $state_begun, process $state_process on $state_host"
    else
      echo "running since $state_begun, job $state_job on $state_host"
    fi
    ;;
  *)
    if [ -e "$(file_of "$id" 'done')" ]; then
      echo "done"
    elif broken=$(find_broken "$id") && [ -n "$broken" ]; then
      echo "not started: it needs $broken"
    elif [ -r "$(file_of "$id" job)" ]; then
      echo "submitted, job $(<"$(file_of "$id" job)")"
    else
      echo "not started"
    fi
    ;;
  esac
}

print_status() {
  local id
  [ -r "$out/flow/order" ] || fail "there is no flow in $out: --out names its folder"
  while IFS= read -r id; do
    printf '%-32s %s\n' "$id" "$(describe_state "$id")"
  done <"$out/flow/order"
}

# What was done, what the last steps printed, and the pages.
print_results() {
  local id step
  [ -z "$about" ] || printf '\n%s\n\n' "${about% }" | fold -s -w 100
  for step in "${steps[@]}"; do
    [[ " ${after_of[*]} " != *" $step "* ]] || continue
    for id in ${ids_of[$step]}; do
      [ ! -s "$(file_of "$id" out)" ] || cat "$(file_of "$id" out)"
    done
  done
  put_page "$program"
  echo
  for id in "${all[@]}"; do
    [ ! -e "$out/$id/report.html" ] || echo "report of $id: $out/$id/report.html"
  done
  [ ! -e "$out/index.html" ] || echo "all steps: $out/index.html"
}

# on_signals COMMAND: it is called with the name of the signal.
on_signals() {
  local signal
  for signal in INT TERM HUP; do
    # shellcheck disable=SC2064 # the names of now
    trap "$1 SIG$signal" $signal
  done
}
stop() {
  echo "flow: stopped by $1; the same command with --resume goes on" >&2
  exit 9
}

show_local() {
  local id
  for id in "${todo[@]}"; do
    read_plan "$id"
    launch_words "$id"
    printf '%q ' "${launch[@]}"
    echo
  done
}

start() {
  if [ "$scheduler" = slurm ]; then
    run_slurm
  elif [ $dry_run = yes ]; then
    show_local
  else
    run_local "${todo[@]}" || exit 1
    print_results
  fi
}

read_options "$@"
find_files
[ $status = no ] || { print_status && exit 0; }
read_site "$site"
ask_program "$program"
if [ ${#command[@]} -gt 0 ]; then
  plan_command
else
  read_table "$table"
  make_plans
fi
[ -z "$only" ] || [[ " ${steps[*]} " == *" $only "* ]] || fail "there is no step '$only'; known: ${steps[*]}"
all=() todo=() missing=()
if [ $dry_run = yes ]; then
  plans=$(mktemp -d)
  trap 'rm -rf "$plans"' EXIT
else
  [ ! -e "$out/flow" ] || [ $resume = yes ] || fail "a flow was begun in $out: --resume goes on with it, --out names another folder"
  mkdir -p "$out/flow" || fail "$out cannot be made"
  exec 9>"$out/flow/lock"
  flock -n 9 || fail "another flow.sh is at work in $out: wait for it, or end it"
  [ "$scheduler" = none ] || refuse_jobs
  sweep
  on_signals stop
  trap 'rm -f "$out"/flow/*.tmp-$$' EXIT
fi
write_plans
choose
[ -z "$only" ] || check_only
if [ ${#todo[@]} = 0 ]; then
  echo "flow: everything is done" >&2
  [ "$dry_run" = yes ] || print_results
else
  start
fi
