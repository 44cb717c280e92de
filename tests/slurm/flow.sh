#!/usr/bin/env bash
# flow.sh BIN SOURCE, on the cluster of cluster.sh: workflows/flow.sh. The flows tiny of all applications give the same results here and as
# jobs, arrays and dependencies. A flow that was cancelled, a run that was asked to stop, that exceeded its walltime or whose node was
# lost ends, resumed, with the results of one that was left alone, bit for bit. Every job has the status of its program.
side=16
apps="cosmoflow weather_ensemble physio_stream quantum_transport"
bin=$1
set -- "$1/cosmoflow" "$2"
. "$(dirname "$0")/small.sh"
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none

# site NAME CHANGES...: a site file of this cluster.
site() {
  local name=$1 changes=(-e 's/^serial .*/serial main 00:10:00 1 1 1 0/; s/^parallel .*/parallel main 00:10:00 2 2 1 0/')
  shift
  for change in "$@"; do
    changes+=(-e "s/^${change%%[= ]*}[= ][^#]*/$change /")
  done
  sed "${changes[@]}" "$source/workflows/sites/slurm_cpu.env" >"$name.env"
}
# flow APP SITE FOLDER ARGUMENTS...: in the folder of the sources, as configurations are named from there.
flow() {
  local app=$1 name=$2 out=$3
  shift 3
  (cd "$source" && workflows/flow.sh "$app" --bin "${folder:-$bin}" --site "$work/$name.env" --out "$work/$out" "$@")
}
submit() { flow "$@" >submitted 2>&1 || fail "$3: $(cat submitted)"; }
# job_of FOLDER ID: sets job.
job_of() { job=$(cat "$1/flow/${2//\//.}.job"); }
shows() { scontrol show job "$1" | grep -q "$2"; }
started() {
  scontrol update jobid="$1" StartTime=now
  shows "$1" 'JobState=RUNNING' || gone "$1"
}
# requeued JOB SECONDS: it was, and starts again without the pause after which it would.
requeued() {
  within "$2" shows "$1" 'Restarts=1' || fail "job $1 is not in the queue again"
  sleep 2 # a start in the second in which the piece before was ended is taken for that
  within 60 started "$1" || fail "job $1 does not start again"
}
gone() {
  local state
  state=$(squeue -h -j "$1" -o %t) && [ -z "$state" ]
}
# ends JOB STATUS
ends() {
  within 120 gone "$1" || fail "job $1 does not end"
  shows "$1" "ExitCode=$2:0" || fail "job $1 does not end with status $2: $(scontrol show job "$1" | grep ExitCode)"
}
all_gone() { [ -z "$(squeue -h)" ]; }
# same ONE OTHER: the results of two folders, which are some.
same() {
  /usr/bin/python3 "$source/tests/support/results.py" "$1" >one && /usr/bin/python3 "$source/tests/support/results.py" "$2" >other || fail "results.py"
  [ -s one ] && diff one other >log || fail "$1 and $2 have other results"
}
/usr/bin/python3 "$source/tests/support/results.py" universes >log || { cat log; exit 77; }

# long GRID: the words of a run of some seconds, or half a minute on a busy machine.
long() { echo "$(run 60)${1:+ --grid $1}" | sed "s,\[universes\],[$work/universes],; s,net.yaml,$work/net.yaml,"; }
# workers JOB: the processes of the program in this job.
workers() {
  grep -lzsxF "SLURM_JOB_ID=$1" /proc/[0-9]*/environ | cut -d/ -f3 | while read -r pid; do
    [ "$(readlink "/proc/$pid/exe")" != "$(readlink -f "$program")" ] || echo "$pid"
  done
}

# A run that takes longer than its walltime: from its first epoch on it works for 20 ms in two seconds, until it has been asked to
# stop, as the stub below, which ends later, will have been.
site wall 'margin=20' 'serial main 00:01:00 1 1 1 0'
submit cosmoflow wall slow --class serial -- $(long)
job_of slow run
slow=$job
(
  within 60 grep -q '"epoch_end"' slow/run/run.jsonl
  pids=$(workers "$slow")
  while [ ! -e run.asked ] && kill -STOP $pids; do
    sleep 1.9
    kill -CONT $pids
    sleep 0.02
  done
) 2>/dev/null &

# Stubs of a program: a run that fails in its second piece, and a command that does not resume. The walltime asks them after half a
# minute (Slurm looks twice a minute), while the others are tested.
mkdir stubs
cat >stubs/cosmoflow <<TEXT
#!/usr/bin/env bash
[ "\$1" != --help ] || { printf '  resumes: run\n  starts again: eval\n  share the work of: run\n'; exit 0; }
[ "\$1" != report ] || exit 0
echo "\$(printf '<%s>' "\$@")" >>"$work/\$1.words"
[ ! -e "$work/\$1.asked" ] || { [ "\$1" = eval ] && mkdir -p "\${@: -3:1}" && touch "\${@: -3:1}/done" && exit 0; exit 3; }
trap 'touch "$work/\$1.asked"; exit 9' TERM
while :; do sleep 0.1; done
TEXT
chmod +x stubs/cosmoflow
folder=$work/stubs submit cosmoflow wall walled --class serial -- run 'two words'
folder=$work/stubs submit cosmoflow wall tooshort -- eval
job_of walled run
wall=$job
job_of tooshort eval
short=$job

# The flows: here at the same time as in jobs.
site two
sed 's/^parallel .*/parallel - - 1 2 1 0/; s/^serial .*/serial - - 1 1 1 0/' "$source/workflows/sites/local.env" >here.env
for app in $apps; do submit "$app" two "jobs/$app" --steps tiny; done
for app in $apps; do
  flow "$app" here "here/$app" --steps tiny >log 2>&1 || fail "$app here: status $?"
done
flows_gone() { [ -z "$(squeue -h -o %i | grep -vxF -e "$wall" -e "$short" -e "$slow")" ]; }
within 120 flows_gone || fail "the flows do not end: $(squeue)"
for app in $apps; do
  flow "$app" two "jobs/$app" --status >status 2>&1 || fail "$app: no status"
  ! grep -v ' done ' status >log || fail "$app: not done"
  same "here/$app" "jobs/$app"
done
grep -q 'run/seed_1 ' <(flow cosmoflow two jobs/cosmoflow --status) || fail "no instance of the array"
flow cosmoflow two jobs/cosmoflow --steps tiny --resume >log 2>&1 && grep -q 'everything is done' log || fail "what is done is not known"

# A run that is asked to stop, and one whose node is lost while it works, on their own and with what needs them.
submit cosmoflow two whole -- $(long 2x1)
job_of whole run
ends "$job" 0
submit cosmoflow two cut -- $(long 2x1)
job_of cut run
within 60 grep -q '"epoch_end"' cut/run/run.jsonl || fail "the run to be cut does not start"
scancel --signal=TERM "$job"
requeued "$job" 60
ends "$job" 0
for word in 'piece 1 of' 'stopped by signal 15 after step' 'goes on in another piece' 'piece 2 of' 'run: resumes in' 'train: resumed after step'; do
  grep -q "$word" cut/flow/run.log || fail "the log of both pieces lacks '$word'"
done
[ "$(losses whole/run | wc -l)" = 60 ] || fail "not 60 epochs"
[ "$(losses cut/run)" = "$(losses whole/run)" ] || fail "cut and gone on: other losses"
same cut/run whole/run

# Cancelled: what needs the run is given up; --resume does what is left.
cat >long.steps <<TEXT
run      run      $work/net.yaml  once  parallel
$(long 2x1 | sed 's/ --set /\n/g' | sed -n 's/ --\(config\|grid\).*//; s/^[a-z_.]*=/  &/p')
predict  predict  -               once  serial
  $work/universes
  predict.weights=\$run/weights.nc
TEXT
submit cosmoflow two cancelled --steps "$work/long.steps"
job_of cancelled run
within 60 grep -q '"epoch_end"' cancelled/run/run.jsonl || fail "the run to be cancelled does not start"
flow cosmoflow two cancelled --steps "$work/long.steps" --resume >log 2>&1 && fail "a flow whose jobs run is submitted again"
grep -q "jobs of this flow are in the queue: .*$job" log || fail "jobs that run: no reason"
scancel "$job"
within 30 gone "$job" || fail "scancel: the job stays"
shows "$job" 'JobState=CANCELLED' && shows "$job" 'Restarts=0' || fail "scancel: the job is in the queue again"
job_of cancelled predict
within 30 gone "$job" || fail "what needs a cancelled step stays in the queue"
flow cosmoflow two cancelled --status >log 2>&1
grep -q '^run .*stopped' log && grep -q '^predict .*not started: it needs run' log || fail "the status of a cancelled step: $(cat log)"
submit cosmoflow two cancelled --steps "$work/long.steps" --resume
job_of cancelled predict
ends "$job" 0
grep -q 'train: resumed after step' cancelled/flow/run.log || fail "cancelled: the run begins anew"
[ "$(losses cancelled/run)" = "$(losses whole/run)" ] || fail "cancelled and resumed: other losses"

# The walltime has asked the run, and both stubs. The run is in the queue again, and ends with its status; the other has to be given more time.
requeued "$slow" 90
grep -q 'goes on in another piece' slow/flow/run.log || fail "the walltime: no reason"
requeued "$wall" 90
ends "$wall" 3
[ "$(sort run.words | uniq -c | sed 's/^ *//')" = "2 <run><two words><--out><$work/walled/run><--threads><1>" ] || fail "the words of the command: $(cat run.words)"
ends "$short" 9
grep -q "too short for 'eval', which does not resume" tooshort/flow/eval.log || fail "a walltime that is too short: no reason"
folder=$work/stubs submit cosmoflow two tooshort --resume -- eval
job_of tooshort eval
ends "$job" 0
[ -e tooshort/eval/done ] || fail "with a longer walltime there is no result"

# What scancel ends stays away; a run that is cut too often ends with the status of one that was stopped.
rm run.asked
site few requeues=0
folder=$work/stubs submit cosmoflow few often --class serial -- run often
job_of often run
within 30 grep -q often run.words || fail "the run to be stopped does not start"
scancel --signal=TERM "$job"
ends "$job" 9
grep -q "more often than 'requeues'" often/flow/run.log || fail "too often: no reason"

# The daemon of a node is killed with all that works there for the job, which then starts on the other node.
site one 'parallel main 00:10:00 1 1 1 0'
submit cosmoflow one lost -- $(long)
job_of lost run
within 60 grep -q '"checkpoint"' lost/run/run.jsonl || fail "the run to be lost does not start"
node=$(squeue -h -j "$job" -o %N)
killed=0
for pid in $(grep -lzsxF "SLURM_CONF=$SLURM_CONF" /proc/[0-9]*/environ | cut -d/ -f3); do
  words=$(tr '\0' ' ' <"/proc/$pid/cmdline")
  case $words in
  *slurmd\ *\ "$node "*) killed=$((killed + 1)) ;;
  *slurmstepd*"[$job."*) ;;
  *) grep -qzsxF "SLURM_JOB_ID=$job" "/proc/$pid/environ" || continue ;;
  esac
  kill -KILL "$pid"
done 2>/dev/null
[ $killed = 1 ] || fail "there is no daemon of $node"
scontrol update nodename="$node" state=down reason=lost
requeued "$job" 60
ends "$job" 0
grep -q 'train: resumed after step' lost/flow/run.log || fail "node lost: the run begins anew"
submit cosmoflow one alone -- $(long)
job_of alone run
ends "$job" 0
same lost/run alone/run
ends "$slow" 0
grep -q 'train: resumed after step' slow/flow/run.log || fail "the walltime: the run begins anew"
same slow/run alone/run

# refused REASON WORDS...: nothing is submitted.
refused() {
  local reason=$1 status=0
  shift
  flow cosmoflow "$@" >log 2>&1 || status=$?
  [ $status = 2 ] && grep -q "$reason" log || fail "not refused: $reason (status $status)"
}
refused 'no site' nowhere new -- run
refused 'does not share its work' two new --class parallel -- describe
refused 'overwrite would begin anew' two new -- run --overwrite
all_gone || fail "jobs are left"
echo "flows of $apps: the same here and in jobs; cut by a signal, the walltime, scancel and a lost node: $(losses cut/run | tail -n 1)"
