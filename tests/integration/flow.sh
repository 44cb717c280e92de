#!/usr/bin/env bash
# flow.sh SOURCE - workflows/flow.sh on this machine, with a stub for a program: what follows what, what is repeated and what is not, what a
# failure, a signal and another flow do, and that wrong tables, sites and options are refused. tests/slurm/flow.sh has real programs.
set -u
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_JOB_ID=7 SLURM_JOB_ID=7 # where this runs in a job
fail() {
  cat log 2>/dev/null
  echo "failed: $*"
  exit 1
}

# The stub counts its starts, and writes what it was told and what the files that it was given hold. run resumes, eval does not.
mkdir bin
cat >bin/cosmoflow <<'TEXT'
#!/usr/bin/env bash
[ "$1" != --help ] || { printf '  resumes: prepare, run\n  starts again: eval\n  share the work of: run\n'; exit 0; }
[ "$1" != report ] || { echo "page of $(cat "$2/flow/order" | wc -l)" >"$2/index.html"; exit 0; }
words=("$@")
for ((i = 1; i < $#; i++)); do [ "${words[i]}" != --out ] || out=${words[i + 1]}; done
echo "$1 ${out##*/}" >>starts
case $* in
*crash=always*) kill -SEGV $$ ;;
*crash=1*) [ -e "crashed.${out##*/}" ] || { touch "crashed.${out##*/}" && kill -SEGV $$; } ;;
*crash=late*) mkdir -p "$out" && touch "$out/begun" && kill -SEGV $$ ;;
esac
[ -z "$(ls -A "$out" 2>/dev/null)" ] || [ "$1" = run ] || { echo "error: $out is not empty" >&2; exit 2; }
mkdir -p "$out"
case $* in
*fail=1*) [ -e mended ] || { echo "error: a file is malformed" >&2; exit 3; } ;;
*slow=1*)
  if [ ! -e "$out/checkpoint" ]; then
    echo '{"event": "start", "time_s": 0}' >"$out/run.jsonl"
    touch "$out/checkpoint" slow.runs
    trap 'exit 9' TERM
    while :; do sleep 0.05; done
  fi
  ;;
esac
{ printf '%s\n' "${words[@]}"; grep -h . /dev/null $(tr -s '[]{}=, ' '\n' <<<"$*" | grep '/result$\|given$'); } >"$out/result"
echo "table of $1"
TEXT
chmod +x bin/cosmoflow
flow() { "$source/workflows/flow.sh" cosmoflow --bin bin --steps ./steps "$@" >log 2>&1; }
starts() { sort starts 2>/dev/null | tr '\n' ';'; }
echo 'a: 1' >one.yaml
echo external >given
cat >steps <<'TEXT'
# A comment, and steps in another order than they need one another.
last     eval     -           once         serial
  all=[each(middle: {name: v $value, file: $middle/result})]
middle   run      ./one.yaml  a.seed=1,2   parallel
  from=$first/result
  external=[./given]
pair     eval     -           each:middle  serial
  $middle/result
first    prepare  ./one.yaml  once         serial
TEXT

# Nothing is done by --dry-run; then all, each after what it needs.
flow --out o --dry-run || fail "--dry-run: status $?"
[ ! -e o ] && [ ! -e starts ] || fail "--dry-run does something"
[ "$(grep -c '^bin/cosmoflow ' log)" = 6 ] && head -n 1 log | grep -q '^bin/cosmoflow prepare --config ./one.yaml --out o/first' || fail "--dry-run: the commands"
flow --out o --site slurm_cpu --dry-run || fail "--dry-run of jobs: status $?"
grep -q -- '--job-name=cosmoflow-middle .*--array=1\\,2%16 --dependency=afterok:JOB_OF_first' log || fail "--dry-run of jobs: the array"
grep -q -- '--job-name=cosmoflow-last .*--dependency=afterok:JOB_OF_middle' log && ! grep -q 'cosmoflow-last .*--array' log || fail "--dry-run of jobs: the fan-in"
flow --out o --site slurm_gpu --dry-run && grep -q -- 'cosmoflow-middle .*--partition=gpu .*--gpus-per-task=1' log || fail "--dry-run: GPUs"
flow --out o || fail "status $?"
[ "$(starts)" = "eval last;eval seed_1;eval seed_2;prepare first;run seed_1;run seed_2;" ] || fail "started: $(starts)"
grep -q "all=\[{name: v 1, file: o/middle/seed_1/result}, {name: v 2, file: o/middle/seed_2/result}\]" o/last/result || fail "the fan-in: $(cat o/last/result)"
grep -q '^o/middle/seed_2/result$' o/pair/seed_2/result && ! grep -q seed_1 o/pair/seed_2/result || fail "instances do not belong together"
grep -q '^A comment, and steps in another order than they need one another\.' log || fail "what the table does is not shown"
grep -q '^table of eval' log || fail "what the last steps print is not shown"
grep -q '^page of 6$' o/index.html && grep -q '^all steps: o/index.html$' log || fail "there is no page"
grep -q '^done 0 [^ ]* [0-9]* - 20[^ ]*Z 20[^ ]*Z$' o/flow/last.state || fail "the state of a step: $(cat o/flow/last.state)"
flow --out o --status && [ "$(grep -c ' done 20' log)" = 6 ] || fail "the status"

# again REASON STARTS WORDS...: these are started when the flow is resumed.
again() {
  local reason=$1 expected=$2
  shift 2
  rm -f starts
  flow --out o --resume "$@" || fail "$reason: status $?"
  [ "$(starts)" = "$expected" ] || fail "$reason: started: $(starts), not $expected"
  [ -z "$reason" ] || grep -q "$reason" log || fail "no reason: $reason"
}
everything="eval last;eval seed_1;eval seed_2;prepare first;run seed_1;run seed_2;"
again '' ''
touch one.yaml given
again '' ''
echo other >given
again 'input ./given is another one now' 'eval last;eval seed_1;eval seed_2;run seed_1;run seed_2;'
[ "$(ls o/old | wc -l)" = 5 ] && [ -e o/old/middle.seed_1.1/result ] || fail "results that were replaced are not kept: $(ls o/old)"
echo 'a: 2' >one.yaml
again 'configuration ./one.yaml is another one now' 'prepare first;run seed_1;run seed_2;' # with the same results: no more
echo '# built again' >>bin/cosmoflow
again 'the program is another one now' "$everything"
echo x >>o/middle/seed_2/result
again 'its results were changed or removed' 'run seed_2;'
rm -r o/pair/seed_1
again 'its results were changed or removed' 'eval seed_1;'
sed -i 's/a.seed=1,2/a.seed=1,2,3/' steps
again '' 'eval last;eval seed_3;run seed_3;'
rm -r o/last
again 'its results' '' --only first
again 'its results' 'eval last;' --only last
cp -r o moved && rm starts
flow --out moved --resume && [ ! -e starts ] || fail "a flow that was moved is repeated: $(starts)"
echo y >>o/first/result
flow --out o --resume --only last && fail "--only: a step is done whose inputs are not"
grep -q 'first, which last needs, is not done\|middle.*, which last needs, is not done' log || fail "--only: no reason"

# A failure names its log; what does not need the step is done, and the rest when the cause is mended.
cat >steps <<'TEXT'
wrong  eval  -  once  serial
  fail=1
right  eval  -  once  serial
after  eval  -  once  serial
  $wrong/result
TEXT
status=0
flow --out f || status=$?
[ $status = 1 ] && grep -q '^error: a file is malformed' log && grep -q 'wrong: ended with status 3; its log is f/flow/wrong.log' log || fail "a failure: status $status"
grep -q 'after: not started: it needs wrong' log && [ -e f/right/result ] && [ ! -e f/after ] || fail "after a failure"
flow --out f --status
grep -q '^wrong .*failed with status 3, .*; log: f/flow/wrong.log' log && grep -q '^after .*not started: it needs wrong' log || fail "the status of a failure"
touch mended
rm starts
flow --out f --resume && [ "$(starts)" = "eval after;eval wrong;" ] || fail "mended: $(starts)"

# What crashes before it wrote anything is started once more, as ranks do while MPI connects them; not twice, and not what had begun.
cat >steps <<'TEXT'
once    eval  -  once  serial
  crash=1
always  eval  -  once  serial
  crash=always
late    eval  -  once  serial
  crash=late
TEXT
rm starts
flow --out crash && fail "a crash is no failure"
[ "$(starts)" = "eval always;eval always;eval late;eval once;eval once;" ] || fail "crashes: started: $(starts)"
[ -e crash/once/result ] && grep -q 'once: ended with status 139: SIGSEGV, before it wrote anything: it is started once more' crash/flow/once.log || fail "a crash"
grep -q 'always: ended with status 139: SIGSEGV$' crash/flow/always.log && grep -q 'late: ended with status 139: SIGSEGV$' crash/flow/late.log || fail "crashes: no reason"

# Ctrl-C (which a command in the background of a script ignores unless told otherwise) and SIGTERM stop the programs; what resumes goes on in its folder. Killed altogether, too. Two flows are not at work in one folder.
cat >steps <<'TEXT'
long   run   ./one.yaml  once  serial
  slow=1
after  eval  -           once  serial
  $long/result
TEXT
for signal in TERM INT KILL; do
  rm -rf s slow.runs
  setsid env --default-signal=INT "$source/workflows/flow.sh" cosmoflow --bin bin --steps ./steps --out s >first 2>&1 &
  first=$!
  for try in {1..1200}; do [ ! -e slow.runs ] || break; sleep 0.05; done
  [ -e slow.runs ] || fail "the long step does not start: $(cat first)"
  if [ $signal = TERM ]; then
    flow --out s --resume && fail "two flows in one folder"
    grep -q 'another flow.sh is at work in s' log || fail "two flows: no reason"
  fi
  if [ $signal = KILL ]; then kill -KILL -- -$first; else kill -$signal $first; fi
  for try in {1..300}; do kill -0 $first 2>/dev/null || break; sleep 0.1; done
  ! kill -0 $first 2>/dev/null || { kill -KILL -- -$first; fail "SIG$signal: it does not end"; }
  status=0
  wait $first || status=$?
  [ $signal = KILL ] || [ $status = 9 ] || fail "SIG$signal: status $status: $(cat first)"
  [ ! -e s/after ] && [ ! -e s/flow/long.done ] || fail "SIG$signal: done"
  for try in {1..100}; do # what is killed is gone a little later
    flow --out s --status
    ! grep -q '^long .*\(stopped\|interrupted\)' log || break
    [ "$try" -lt 100 ] || fail "the status after SIG$signal"
    sleep 0.1
  done
  flow --out s --resume && grep -q 'long: resumes in s/long' s/flow/long.log && [ -e s/after/result ] && [ ! -e s/old ] || fail "resumed after SIG$signal"
done

rm s/flow/long.done
sed -i 's/^{//' s/long/run.jsonl
timeout 60 "$source/workflows/flow.sh" cosmoflow --bin bin --steps ./steps --out s --resume >log 2>&1 & # begins anew, and waits
anew=$!
for try in {1..1200}; do [ ! -e s/old/long.1/checkpoint ] || break; sleep 0.05; done
kill $anew
wait $anew
[ -e s/old/long.1/checkpoint ] || fail "a folder without a log is resumed"

# One command; its results stand in a folder of its name.
"$source/workflows/flow.sh" cosmoflow --bin bin --out c -- run 'two words' --config one.yaml >log 2>&1 && grep -q '^two words$' c/run/result || fail "one command"

# refused TEXT REASON WORDS...: a table of this text (\n: a new line) and these words are refused, and nothing is made.
refused() {
  local text=$1 reason=$2 status=0
  shift 2
  printf "$text" >steps
  flow --out refused "$@" || status=$?
  [ $status = 2 ] && grep -q -e "$reason" log && [ "$(wc -l <log)" = 1 ] && [ ! -e refused/flow ] || fail "not refused: $reason (status $status)"
}
right='a run - once serial\n'
refused '' 'steps: no step in it'
refused 'a run - once\n' 'steps:1: 4 words: a row has 5'
refused '  in=1\n' 'steps:1: an input before the first step'
refused 'A run - once serial\n' "steps:1: 'A' is no name of a step"
refused 'flow run - once serial\n' 'a meaning of its own'
refused "$right$right" "steps:2: step 'a' is at ./steps:1 already"
refused "$right  --overwrite\n" 'overwrite would replace results'
refused "$right  x=\$b\n" 'there is no such step; known: a'
refused "$right  x=\$value\n" 'in a step that runs once'
refused 'a run - once serial\n  x=$b\nb run - once serial\n  x=$c\nc run - once serial\n  x=$a\n' 'a cycle: .*: a b c'
refused "$right  x=\$a\n" 'a cycle'
refused 'a run - once serial\nb run - each:a serial\n' "'a' runs once"
refused 'a run - x=1,2 serial\nb run - once serial\n  x=$a\n' 'has 2 instances: take all of them by each'
refused 'a run - x=1,2 serial\nb run - once serial\n  x=each(a: no)\n' 'does not use $a'
refused 'a run - x=p/1,q/1 serial\n' 'two values give the folder'
refused 'a run - many serial\n' 'instances are '
refused 'a run - x=@nowhere serial\n' "there is no file 'nowhere'"
refused 'a run nowhere.yaml once serial\n' "there is no configuration 'configs/cosmoflow/nowhere.yaml'"
refused 'a walk - once serial\n' "has no command 'walk'; known: prepare, run, eval"
refused 'a run - once huge\n' "has no class 'huge'; known: "
refused "$right" "there is no step 'b'" --only b
refused "$right" "there is no site .*known: local" --site nowhere
refused "$right" "there is no program 'nowhere/cosmoflow'" --bin nowhere
refused "$right" "'--fast' is no option" --fast
refused "$right" "there is no flow in refused" --status
refused "$right" "leave out --out" -- run --out x
refused "$right" "overwrite would begin anew" -- run --overwrite
for change in 's/^scheduler=.*/scheduler=fast/;scheduler is .fast.' 's/^at_once=.*/at_once=0/;at_once is 0' 's/^serial .*/serial 1/;7 words' \
  's/^serial .*/serial - - 1 many 1 0/;ranks is .many.' 's/^parallel .*/parallel - - 1 4 1 0/;does not share its work'; do
  sed "${change%%;*}" "$source/workflows/sites/local.env" >site.env
  refused 'a eval - once parallel\n' "${change#*;}" --site ./site.env
done
"$source/workflows/flow.sh" nowhere >log 2>&1 && fail "an unknown application"
grep -q "there is no application 'nowhere'; known: cosmoflow physio_stream" log || fail "an unknown application: no reason"
flow --out o && fail "a flow is begun in the folder of another"
grep -q 'a flow was begun in o: --resume' log || fail "the folder of another flow: no reason"
[ -z "$(find . -name '*.tmp-*')" ] || fail "temporary files are left: $(find . -name '*.tmp-*')"
echo "flows on this machine"
