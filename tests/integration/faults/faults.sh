#!/usr/bin/env bash
# faults.sh SOURCE APP BIN POINTS [some|all [ID...]|one ID FAULT MOMENT] - what can happen to a machine while workflows/flow.sh is at work, at each step of the flow
# `tiny` of an application:
#   interrupt    Ctrl-C: SIGINT to all processes
#   terminate    SIGTERM to flow.sh
#   shutdown     SIGTERM to all processes, as from systemd and from batch systems
#   limit        SIGTERM to the program alone, as from Slurm before the end of the walltime
#   killed       SIGKILL to the program alone, as for want of memory
#   lost         SIGKILL to all processes: the node is gone
#   full         no space left on the device after a share of what the step writes
# Signals are raised before what the program does to its folder (POINTS is points.c as a library: opening, syncing and naming a file),
# and amid its computation. flow.sh must end with the right status and name the cause; every file must be whole and have the contents of
# an uninterrupted flow; only processes that were killed leave unfinished files. With --resume the flow ends with the results of an
# uninterrupted one, and without any unfinished file. `some`: one moment of some faults of each step; `all`: the whole matrix, and a table.
# Where no tmpfs can be mounted `full` is left out. Exit status 77, with the reason, without Python's netCDF4.
set -uo pipefail
source=$(cd "$1" && pwd) app=$2 bin=$(cd "$3" && pwd) points=$4 extent=${5:-some}
. "$source/tests/support/device.sh"
enter_device "$0" "$@"
/usr/bin/python3 "$source/tests/support/results.py" "$device" >/dev/null || { echo "skipped: no python3 with netCDF4"; exit 77; }
out=$device/o folder=$source/tests/integration/faults
export XDG_CACHE_HOME=$work/cache
sed 's/^\(serial\|parallel\) .*/\1 - - 1 1 1 0/' "$source/workflows/sites/local.env" >"$work/site.env"
cd "$source" || exit 77
faults=0 runs=0 rows=()

# start SETTINGS... -- WORDS...: flow.sh as the leader of a session, with what POINTS is told; sets leader.
start() {
  local settings=()
  while [ "$1" != -- ]; do settings+=("$1") && shift; done
  shift
  rm -f "$work/list"
  setsid env --default-signal=INT LD_PRELOAD="$points" POINTS_OUT="$out" POINTS_LIST="$work/list" "${settings[@]}" \
    workflows/flow.sh "$app" --bin "$bin" --steps tiny --site "$work/site.env" --out "$out" "$@" >"$work/log" 2>&1 &
  leader=$!
}
# flow WORDS...: nothing happens to it.
flow() {
  start -- "$@"
  wait "$leader"
}

bad=
wrong() {
  bad+="${bad:+; }$*"
}

# ---- The flow that is left alone ----

empty_device $((1 << 20))
flow || { cat "$work/log"; echo "failed: the flow itself: status $?"; exit 1; }
cp -a "$out" "$work/base"
cp "$work/list" "$work/points"
mapfile -t ids <"$out/flow/order"
declare -A room=() # KiB on this device of the results of each instance and of what is noted of it
for id in "${ids[@]}"; do
  room[$id]=$(du -ck "$out/$id" "$out/flow/${id//\//.}".* "$out/index.html" | tail -n 1 | cut -f 1)
done
/usr/bin/python3 "$source/tests/support/results.py" "$out" >"$work/results"

# count_points ID: how many it has; seconds_of ID: how long it took, from its log.
count_points() { grep -c " $out/$1[/ ]" "$work/points"; }
seconds_of() { sed -n 's/.*"time_s": \([0-9.]*\).*/\1/p' "$work/base/$1/run.jsonl" | tail -n 1; }

# put_back ID: the flow as it was before this instance was started, on a device with much room.
put_back() {
  local undone=" $1 " id other
  empty_device $((1 << 20))
  cp -a "$work/base" "$out"
  for id in "${ids[@]}"; do
    for other in $(sed -n 's/^needs //p' "$out/flow/${id//\//.}.plan"); do
      [[ $undone != *" $other "* ]] || undone+="$id "
    done
  done
  for id in $undone; do
    rm -rf "${out:?}/$id" "$out/flow/${id//\//.}".{state,done,begun,log,out,lock}
    rmdir "$(dirname "$out/$id")" 2>/dev/null
  done
}

# ---- After a fault ----

unfinished() { find "$out" \( -name '*.tmp-*' -o -name '*.earlier-*' -o -name '*.before-*' \) "$@"; }

# judge STATUSES TEXT: how flow.sh ended, what it said, and what lies in its folder.
judge() {
  local statuses=$1 text=$2 left
  [[ " $statuses " == *" $status "* ]] || wrong "status $status instead of $statuses"
  grep -q -- "$text" "$work/log" || wrong "the cause '$text' is not named"
  if [ "$fault" != lost ] && [ "$fault" != killed ]; then
    left=$(unfinished)
    [ -z "$left" ] || wrong "left $(tr '\n' ' ' <<<"${left//"$out/"/}")"
  fi
  left=$(/usr/bin/python3 "$folder/left.py" "$work/results" "$work/base" "$out") || wrong "$(tr '\n' ' ' <<<"$left")"
}

# resume: there is room again.
resume() {
  local left
  resize_device $((1 << 20))
  cp "$work/log" "$work/log.fault"
  flow --resume || wrong "--resume: status $?"
  flow --status
  ! grep -v ' done ' "$work/log" || wrong "--resume: not everything is done"
  left=$(unfinished)
  [ -z "$left" ] || wrong "--resume: left $(tr '\n' ' ' <<<"${left//"$out/"/}")"
  left=$(/usr/bin/python3 "$source/tests/support/results.py" "$out" | diff "$work/results" -) ||
    wrong "--resume: other results: $(grep '^[<>]' <<<"$left" | cut -c 1-120 | head -n 6 | tr '\n' ' ')"
}

# report ID FAULT MOMENT
report() {
  local verdict=passed
  runs=$((runs + 1))
  if [ -n "$bad" ]; then
    verdict="FAILED: $bad"
    faults=$((faults + 1))
    [ "$extent" = all ] || sed 's/^/  /' "$work/log.fault" "$out"/flow/*.log
  fi
  printf '%-18s %-18s %-10s %-22s %s\n' "$app" "$1" "$2" "$3" "$verdict"
  bad=
}

# signalled ID FAULT MOMENT: MOMENT is the number of a point, or amid.
signalled() {
  local id=$1 fault=$2 moment=$3 number=15 to=self statuses=1 text=SIGTERM what=amid settings=() status=0
  case $fault in
  interrupt) number=2 to=group statuses=9 text='stopped by SIGINT' ;;
  terminate) to=leader statuses=9 text='stopped by SIGTERM' ;;
  shutdown) to=group statuses=9 text='stopped by SIGTERM' ;;
  limit) statuses='0 1' text='stopped by a signal\|SIGTERM' ;;
  killed) number=9 text=SIGKILL ;;
  lost) number=9 to=group statuses=137 text='' ;;
  esac
  put_back "$id"
  if [ "$moment" = amid ]; then
    start POINTS_OUT="$out/$id" -- --resume
    strike_amid "$id" "$number" "$to"
  else
    what="$moment: $(grep " $out/$id[/ ]" "$work/points" | sed -n "${moment}s,^[0-9]* \([a-z]*\) $out/$id\(.*\) [0-9]*$,\1 \2,p")"
    start POINTS_OUT="$out/$id" POINTS_AT="$moment" POINTS_SIGNAL="$number" POINTS_TO="$to" -- --resume
  fi
  { wait "$leader" || status=$?; } 2>/dev/null
  [ "$fault" != limit ] || [ $status != 0 ] || text='done'
  judge "$statuses" "$text"
  [ "$fault" != lost ] || is_known "$id"
  resume
  report "$id" "$fault" "${what//.tmp-*/}"
}

# is_known ID: that the step was interrupted. What is killed is gone a little later.
is_known() {
  local try
  for try in {1..100}; do
    flow --status
    ! grep -q "^$1 .*\(interrupted\|not started\)" "$work/log" || return 0
    sleep 0.1
  done
  wrong "--status does not know that it is interrupted"
}

# strike_amid ID SIGNAL TO: after a quarter of the time that the step takes from its first point on.
strike_amid() {
  local id=$1 number=$2 to=$3 try
  for try in {1..4000}; do
    [ ! -s "$work/list" ] && kill -0 "$leader" || break
    sleep 0.005
  done
  sleep "$(awk -v s="$(seconds_of "$id")" 'BEGIN { print s / 4 }')"
  case $to in
  group) kill -"$number" -- "-$leader" ;;
  leader) kill -"$number" "$leader" ;;
  self) kill -"$number" "$(sed -n '1s/.* //p' "$work/list")" ;;
  esac
} 2>/dev/null

# full ID EIGHTHS: so many of what it needs.
full() {
  local id=$1 fault=full need size status=0
  [ "$mode" = tmpfs ] || { echo "$app $id full: left out, as no tmpfs can be mounted here"; return; }
  need=${room[$id]}
  size=$((need * $2 / 8))
  [ $size -ge 4 ] || size=4
  put_back "$id"
  resize_device $(($(used_of_device) + size))
  start POINTS_OUT= -- --resume
  wait "$leader" || status=$?
  judge '1 2' 'no space\|is there space'
  resume
  report "$id" full "$size of $need KiB"
}

# ---- Which ----

signals=(interrupt terminate shutdown limit killed lost)
# one_of_each_step: sets chosen: the last instance of each step, so that little has to be repeated.
one_of_each_step() {
  local id
  declare -A last=()
  chosen=()
  for id in "${ids[@]}"; do last[${id%%/*}]=$id; done
  for id in "${ids[@]}"; do [ "${last[${id%%/*}]}" != "$id" ] || chosen+=("$id"); done
}

# Every signal at some step of some application.
some() {
  local i n
  for i in "${!chosen[@]}"; do
    n=$(count_points "${chosen[i]}")
    signalled "${chosen[i]}" "${signals[(i + ${#app}) % 6]}" $((i % 2 == 0 ? n : (n + 1) / 2))
  done
  full "${chosen[-1]}" 4
}

# takes_long ID: so that a signal amid its computation comes in time.
takes_long() { awk -v s="$(seconds_of "$1")" 'BEGIN { exit !(s >= 1) }'; }

# all [ID...]: signals that ask are heard where something is written and amid computation; what kills leaves what was there.
all() {
  local id name n k amid
  [ $# = 0 ] || chosen=("$@")
  for id in "${chosen[@]}"; do
    n=$(count_points "$id")
    amid=
    ! takes_long "$id" || amid=amid
    for name in interrupt terminate shutdown limit; do
      for k in $((n / 2)) $n $amid; do signalled "$id" "$name" "$k"; done
    done
    signalled "$id" killed "$n"
    for k in 1 $((n / 2)) "$n"; do signalled "$id" lost "$k"; done
    for k in 0 2 4 6; do full "$id" $k; done
  done
}

# one ID FAULT MOMENT: for those who look for what is wrong; of `full` the eighths.
one() {
  if [ "$2" = full ]; then full "$1" "$3"; else signalled "$@"; fi
}

one_of_each_step
"$extent" "${@:6}"
echo "$app: $runs faults, $faults of them handled wrongly"
[ $faults = 0 ]
