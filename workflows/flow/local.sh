# local.sh - sourced by flow.sh: performs steps on this machine, at_once of them at a time, each as soon as what it needs is done.
# shellcheck shell=bash disable=SC2154 # variables of flow.sh

declare -A state_of=() running=() # of an instance: waiting, done, failed; of a process: its instance
failed=()

# may_start ID: whether all that it needs is done; what needs something that failed is given up.
may_start() {
  local other
  read_plan "$1" || exit 2
  for other in "${plan_needs[@]}"; do
    case ${state_of[$other]:-done} in
    done) ;;
    failed)
      state_of[$1]=failed
      echo "flow: $1: not started: it needs $other" >&2
      return 1
      ;;
    *) return 1 ;;
    esac
  done
}

# ended PID STATUS
ended() {
  local id=${running[$1]} log
  unset "running[$1]"
  log=$(file_of "$id" log)
  if [ "$2" = 0 ]; then
    state_of[$id]='done'
    echo "flow: $id: done" >&2
    return
  fi
  state_of[$id]=failed
  failed+=("$id")
  grep -v '^flow: ' "$log" | tail -n 3 >&2
  echo "flow: $id: ended with status $2$(cause_of "$2"); its log is $log" >&2
}

# stop_all SIGNAL
stop_all() {
  stopping=$1
  [ ${#running[@]} = 0 ] || kill -TERM "${!running[@]}" 2>/dev/null || true # one that has just ended
}

# run_local ID...: in the order of the steps.
run_local() {
  local id started pid status stopping=no
  for id in "$@"; do state_of[$id]=waiting; done
  on_signals stop_all
  while :; do
    started=no
    for id in "$@"; do
      [ "$stopping" = no ] && [ ${#running[@]} -lt "$at_once" ] || break
      [ "${state_of[$id]}" = waiting ] && may_start "$id" || continue
      env -u SLURM_ARRAY_TASK_ID -u SLURM_ARRAY_JOB_ID "$home/flow/step.sh" "$home" "$out" "$site" "$id" & # where this itself runs in a job
      running[$!]=$id
      [ "$stopping" = no ] || kill -TERM $! # a signal that came before it was known
      state_of[$id]=running started=yes
      echo "flow: $id: started" >&2
    done
    [ ${#running[@]} -gt 0 ] || { [ $started = no ] && break; }
    status=0 pid=''
    wait -n -p pid "${!running[@]}" || status=$?
    [ -z "${pid:-}" ] || ended "$pid" "$status" # -p leaves none where a signal ended the wait
  done
  on_signals stop
  [ "$stopping" = no ] || stop "$stopping"
  [ ${#failed[@]} = 0 ]
}
