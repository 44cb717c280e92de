#!/usr/bin/env bash
# job.sh COSMOFLOW SOURCE, on the cluster of cluster.sh: workflows/job.sbatch. A run that is asked to stop waits in the queue again and ends
# with the losses of one that was left alone, bit for bit; the walltime asks; the job has the status of the run; scancel ends it.
side=16
. "$(dirname "$0")/small.sh"
script=$source/workflows/job.sbatch

# site NAME CHANGES...: a site file of this cluster.
site() {
  local name=$1 changes=(-e 's/^nodes=[^ ]*/nodes=2/; s/^ranks=[^ ]*/ranks=2/; s/^threads=[^ ]*/threads=1/')
  shift
  for change in "$@"; do
    changes+=(-e "s/^${change%%=*}=[^ ]*/$change/")
  done
  sed "${changes[@]}" "$source/workflows/sites/slurm_cpu.env" >"$name.env"
}
# submit SITE ARGUMENTS...: sets job.
submit() {
  local name=$1
  shift
  "$script" "$name.env" "$@" >submitted 2>&1 || fail "$name: $(cat submitted)"
  job=$(sed -n 's/^Submitted batch job //p' submitted)
}
shows() { scontrol show job "$1" | grep -q "$2"; }
# requeued JOB SECONDS: it was, and starts again without the pause after which it would.
requeued() {
  within "$2" shows "$1" 'Restarts=1' || fail "job $1 is not in the queue again"
  sleep 2 # a start in the second in which the piece before was ended is taken for that
  within 60 started "$1" || fail "job $1 does not start again"
}
started() {
  scontrol update jobid="$1" StartTime=now
  shows "$1" 'JobState=RUNNING' || gone "$1"
}
# ends JOB STATUS
ends() {
  within 120 gone "$1" || fail "job $1 does not end"
  shows "$1" "ExitCode=$2:0" || fail "job $1 does not end with status $2: $(scontrol show job "$1" | grep ExitCode)"
}
gone() {
  local state
  state=$(squeue -h -j "$1" -o %t) && [ -z "$state" ]
}

# A run which the walltime asks after half a minute (Slurm looks twice a minute), while the others are tested, and that fails in its
# second piece.
cat >stub.sh <<'TEXT'
#!/usr/bin/env bash
echo "$(printf '<%s>' "$@")" >>stub.words
[ ! -e stub.asked ] || exit 3
trap 'touch stub.asked; exit 9' TERM
while :; do sleep 0.1; done
TEXT
chmod +x stub.sh
site wall walltime=1 margin=20 nodes=1 ranks=1
submit wall ./stub.sh run 'two words'
wall=$job

site two
submit two "$program" $(run 100) --grid 2x1 --out whole
ends "$job" 0
submit two "$program" $(run 100) --grid 2x1 --out cut
within 60 grep -q '"epoch_end"' cut/run.jsonl || fail "the run to be cut does not start"
scancel --signal=TERM "$job"
requeued "$job" 60
ends "$job" 0
for word in 'piece 1 of' 'stopped by signal 15 after step' 'goes on in another piece' 'piece 2 of' 'train: resumed after step'; do
  grep -q "$word" "slurm-$job.out" || fail "the log of both pieces lacks '$word'"
done
[ "$(losses whole | wc -l)" = 100 ] || fail "not 100 epochs"
[ "$(losses cut)" = "$(losses whole)" ] || fail "cut and gone on: other losses"

requeued "$wall" 90
ends "$wall" 3
[ "$(sort stub.words | uniq -c | sed 's/^ *//')" = "2 <run><two words><--threads><1>" ] || fail "the words of the command: $(cat stub.words)"

# What scancel ends stays away; a run that is cut too often ends with the status of one that was stopped.
rm stub.asked
site few nodes=1 ranks=1 requeues=0
submit few ./stub.sh run ended
within 30 grep -q ended stub.words || fail "the run to be ended does not start"
scancel "$job"
within 30 gone "$job" || fail "scancel: the job stays"
shows "$job" 'JobState=CANCELLED' && shows "$job" 'Restarts=0' || fail "scancel: the job is in the queue again"
rm -f stub.asked
submit few ./stub.sh run often
within 30 grep -q often stub.words || fail "the run to be stopped does not start"
scancel --signal=TERM "$job"
ends "$job" 9
grep -q "more often than 'requeues'" "slurm-$job.out" || fail "too often: no reason"

# refused REASON WORDS...: nothing is submitted.
refused() {
  local reason=$1 status=0
  shift
  "$script" "$@" >log 2>&1 || status=$?
  [ $status = 2 ] && grep -q "$reason" log || fail "not refused: $reason (status $status)"
}
refused 'give a site file' two.env "$program"
refused 'no site file' nowhere.env "$program" run
refused 'no program' two.env ./nothing run
refused 'does not share its work' two.env "$program" prepare
refused 'overwrite would begin anew' two.env "$program" run --out whole --overwrite
[ -z "$(squeue -h)" ] || fail "jobs are left"
echo "cut by a signal and by the walltime: $(losses cut | tail -n 1)"
