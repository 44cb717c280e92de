#!/usr/bin/env bash
# step.sh HOME OUT SITE ID... - performs one instance of a step as its plan in OUT/flow says: the first ID, or that of the task of a Slurm
# array. flow.sh starts it, here or in a job. Where it was done before with the same program, configurations and inputs, nothing is
# done; what an interrupted command left is resumed or set aside. Status: that of the program; 2 where it may not start.
set -u
home=$1 out=$2 site=$3 # HOME: the folder of flow.sh; Slurm starts a copy of this file elsewhere
shift 3
ids=("$@")
id=${ids[$((${SLURM_ARRAY_TASK_ID:-1} - 1))]}
. "$home/flow/state.sh"
. "$home/flow/site.sh"
log=$(file_of "$id" log)
exec >>"$log" 2>&1
job=${SLURM_JOB_ID:--} asked=no pid='' begun=- resumed=no plan_program=''
[ -z "${SLURM_ARRAY_JOB_ID:-}" ] || job=${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID

now() { date -u +%Y-%m-%dT%H:%M:%SZ; }
# say WORD STATUS: the state, for those who read files.
say() { undisturbed put_state "$@"; }
put_state() { echo "$1 $2 $(uname -n) $$ $job $begun $(now)" | put "$(file_of "$id" state)"; }
put_begun() { key_of | put "$(file_of "$id" begun)"; }
# leave STATUS: the end of this script.
leave() {
  [ -z "$plan_program" ] || undisturbed put_page "$plan_program"
  exit "$1"
}
fail() {
  echo "flow: $id: $*"
  say failed 2
  leave 2
}
# The status says so where the log finds no space either.
fail_to_write() {
  echo "flow: $id: $out/flow cannot be written"
  say failed 10
  leave 10
}
# A signal to this script ends the step here; one to the program alone, before the walltime ends, does not.
stop() {
  asked=yes
  [ -z "$pid" ] || kill -TERM "$pid" 2>/dev/null
}
trap stop TERM INT HUP
# undisturbed COMMAND...: signals to all processes do not end it half-way; this script hears them.
undisturbed() { (trap '' TERM INT HUP && "$@"); }

# One process at a time; a job that takes the place of one whose node was lost waits for its lock to end.
lock() {
  local status=0 patience=0
  exec 8>"$(file_of "$id" lock)"
  [ "$scheduler" = none ] || patience=60
  flock -E 75 -w "$patience" 8 || status=$?
  [ $status != 75 ] || { echo "flow: $id: another process is at work on it (lock $(file_of "$id" lock)): end it, or wait"; exit 2; }
  [ $status = 0 ] || echo "flow: $id: this file system knows no locks: two flows in one folder would go unnoticed"
}

# What is in the folder is resumed where the command can and it was begun with the same inputs; otherwise it gets another name, in OUT/old.
clear_folder() {
  local begun
  begun=$(file_of "$id" begun)
  [ -n "$(ls -A "$out/$id" 2>/dev/null)" ] || return 0
  # A program that was killed before the first event of its log has nothing to resume, and says so.
  if [ "$plan_resumes" = yes ] && [ -r "$begun" ] && [ ! -e "$(file_of "$id" 'done')" ] && grep -qs '^{"event": .*}$' "$out/$id/run.jsonl" &&
    cmp -s <(grep -v '^program ' "$begun") <(key_of | grep -v '^program '); then
    echo "flow: $id: resumes in $out/$id"
    resumed=yes
    return 0
  fi
  set_aside
}
set_aside() {
  local old number=1
  find "$out/$id" -name '*.tmp-*' -delete # of a process that was killed
  old=$out/old/${id//\//.}
  while [ -e "$old.$number" ]; do number=$((number + 1)); done
  mkdir -p "$out/old" && mv "$out/$id" "$old.$number" || fail "$out/$id cannot be renamed to $old.$number"
  echo "flow: $id: what was in its folder is now in $old.$number"
}

# prepare: the steps that it needs are done; the folder and the files that say so are made.
prepare() {
  local other
  for other in "${plan_needs[@]}"; do
    [ -e "$(file_of "$other" 'done')" ] || fail "$other, which it needs, is not finished"
  done
  clear_folder
  rm -f "$(file_of "$id" 'done')"
  mkdir -p "$(dirname "$out/$id")" && undisturbed put_begun || fail_to_write
}

# perform: runs the program in the background, so that signals are heard meanwhile.
perform() {
  local status=0
  read_state "$id"
  begun=$(now)
  [ "$state_word" != queued ] || begun=$state_begun # of the first piece
  say running - || return 10
  undisturbed put_page "$plan_program"
  printf 'flow: %s: %s\n' "$(now)" "$(printf '%q ' "${launch[@]}")"
  [ $asked = no ] || return 143
  "${launch[@]}" >"$(file_of "$id" out)" &
  pid=$!
  [ $asked = no ] || kill -TERM $pid # a signal that came before it was known
  wait $pid || status=$?
  while kill -0 $pid 2>/dev/null; do # a signal ended the wait, not the program
    status=0
    wait $pid || status=$?
  done
  return $status
}

# A run that was stopped with a checkpoint, by the end of its walltime, goes on in another piece of the job.
requeue() {
  local piece=${SLURM_RESTART_COUNT:-0}
  if [ "$plan_resumes" = no ]; then
    echo "flow: $id: the walltime of class '$plan_class' in $site is too short for '${plan_words[0]}', which does not resume: make it longer"
  elif [ "$piece" -ge "$requeues" ]; then
    echo "flow: $id: cut $((piece + 1)) times, more often than 'requeues' of $site allows"
  else
    echo "flow: $id: goes on in another piece" # before it: Slurm may end this script at once
    say queued -
    put_page "$plan_program"
    scontrol requeue "$job" && exit 9
    echo "flow: $id: Slurm does not put job $job into the queue again"
  fi
}

read_site "$site"
[ "$scheduler" = slurm ] || job=-
read_plan "$id" || fail "its plan cannot be read"
lock
if is_done "$id"; then
  echo "flow: $id: done before with the same program, configurations and inputs"
  read_state "$id"
  [ "$state_word" = 'done' ] || say 'done' 0
  leave 0
fi
[ ${#modules[@]} = 0 ] || module load "${modules[@]}" || fail "module load ${modules[*]}"
launch_words "$id"
prepare
[ "$scheduler" = none ] || echo "flow: $id: piece $((${SLURM_RESTART_COUNT:-0} + 1)) of job $job on $SLURM_JOB_NODELIST, ${ranks_of[$plan_class]} ranks"
status=0
perform || status=$?
# Where many jobs start at once, ranks crash now and then while MPI connects them (Open MPI 4.1 under srun), and nothing is lost.
case $status in 134 | 135 | 139)
  if [ $asked = no ] && [ -z "$(ls -A "$out/$id" 2>/dev/null)" ]; then
    echo "flow: $id: ended with status $status$(cause_of $status), before it wrote anything: it is started once more"
    status=0
    perform || status=$?
  fi
  ;;
esac
# A program that was killed early, or while it wrote its results, has left no checkpoint. What has one is kept: other ranks or another program may
# be why it was refused.
if { [ $status = 2 ] || [ $status = 3 ]; } && [ $resumed = yes ] && [ -z "$(find "$out/$id" -type f -name 'checkpoint*' ! -name '*.tmp-*' -print -quit)" ]; then
  echo "flow: $id: what is in its folder cannot be resumed"
  set_aside
  status=0
  perform || status=$?
fi
if [ $status = 0 ]; then
  undisturbed put_done "$id" && say 'done' 0 && leave 0
  status=10
fi
# 9: stopped with a checkpoint; 143: before there was anything to keep.
if { [ $status = 9 ] || [ $status = 143 ]; } && [ $asked = no ] && [ "$scheduler" = slurm ]; then
  requeue
fi
if [ $asked = yes ]; then
  say stopped $status
else
  say failed $status
fi
echo "flow: $id: ended with status $status$(cause_of $status)"
leave $status
