#!/usr/bin/env bash
# ranks.sh COSMOFLOW SOURCE, on the cluster of cluster.sh: ranks under srun, on one node and on two, and under mpiexec in a job have the
# losses of one rank; exchange policies train under srun as under mpiexec; where srun makes no ranks of the tasks, it is said what to do;
# where a rank is killed, all end.
side=8
. "$(dirname "$0")/small.sh"

# trained FOLDER COMMAND...: it succeeds, and its losses are those of one rank.
trained() {
  local out=$1
  shift
  "$@" >log 2>&1 || fail "$out: status $?"
  paste <(losses one) <(losses "$out") >pairs
  awk '{ d = $1 - $2; n++; if (!(NF == 2 && (d < 0 ? -d : d) <= 1e-5 * $1)) bad = 1 } END { exit bad || n != 2 }' pairs ||
    fail "$out: other losses than one rank has: $(cat pairs)"
}

trained one "$program" $(run 2) --threads 1 --out one
trained node srun --mpi=pmix -N1 -n2 "$program" $(run 2) --threads 1 --grid 1x2 --out node
trained nodes srun --mpi=pmix -N2 -n4 "$program" $(run 2) --threads 1 --grid 2x2 --out nodes
trained auto srun --mpi=pmix -N2 -n2 "$program" $(run 2) --threads 1 --grid auto --out auto
[ "$(grep -c ' chosen$' log)" = 1 ] || fail "auto: not one grid of the table is chosen"
trained batch sbatch --wait -n2 -o batch.out --wrap "mpiexec -n 2 $program $(run 2) --threads 1 --grid 1x2 --out batch"
[ "$(losses batch)" = "$(losses node)" ] || fail "mpiexec and srun differ on one grid"
trained shell srun --mpi=none -n1 bash -c "$program $(run 2) --threads 1 --out shell; exit \$?"

# Replicas that train apart: the losses of a policy that waits are the same bits under srun on two nodes and under mpiexec; one that does
# not wait for late ranks trains as well, and reports its exchange.
apart() { echo "$(run 2) --threads 1 --grid 4 --set train.batch=4 --set train.optim.exchange=$1 --out $2"; }
srun --mpi=pmix -N2 -n4 "$program" $(apart local local) >log 2>&1 || fail "local under srun: status $?"
sbatch --wait -n4 -o batch_local.out --wrap "mpiexec -n 4 $program $(apart local batch_local)" >log 2>&1 || fail "local under mpiexec: status $?"
[ "$(losses local | wc -l)" = 2 ] && [ "$(losses local)" = "$(losses batch_local)" ] || fail "local: srun and mpiexec differ"
srun --mpi=pmix -N2 -n4 "$program" $(apart wagma wagma) >log 2>&1 || fail "wagma under srun: status $?"
[ "$(losses wagma | grep -c '^[0-9.e-]*$')" = 2 ] || fail "wagma: no losses: $(losses wagma)"
grep '"event": "exchange"' wagma/run.jsonl | grep -q '"messages": [1-9]' || fail "wagma: no messages are reported"

# Tasks that know of no other are refused before anything is written.
status=0
timeout 60 srun --mpi=none -n2 "$program" $(run 2) --out apart >log 2>&1 || status=$?
[ $status = 2 ] || fail "--mpi=none: status $status"
grep -q 'one of 2 tasks but not as an MPI rank.*--mpi=pmix' log || fail "--mpi=none: no reason"
[ ! -e apart ] || fail "--mpi=none: a folder is made"
# An MPI that does not know PMI-2 ends the program itself.
status=0
timeout 60 srun --mpi=pmi2 -n2 "$program" $(run 2) --threads 1 --grid 1x2 --out pmi2 >log 2>&1 || status=$?
[ $status != 124 ] || fail "--mpi=pmi2: it hangs"
if [ $status != 0 ]; then
  grep -q 'needs --mpi=pmix' log || fail "--mpi=pmi2: no reason"
fi

# Rank 2 is killed.
export words
words="$program $(run 1000000) --threads 1 --grid 2x2 --out killed"
timeout 200 srun --mpi=pmix -N2 -n4 bash -c '[ "$SLURM_PROCID" != 2 ] || echo $$ >pid; exec $words' >log 2>&1 &
within 120 grep -q '"train_begin"' killed/run.jsonl || fail "the run to be killed does not start"
kill -KILL "$(cat pid)"
status=0
wait $! || status=$?
[ $status != 124 ] || fail "killed: the others hang"
[ $status != 0 ] || fail "killed: no status"
grep -qE 'task 2: Killed|:2\]$' log || fail "killed: the rank is not named"
no_job() { [ -z "$(squeue -h)" ]; }
within 30 no_job || fail "killed: the job stays"
echo "losses of one rank under srun and mpiexec: $(losses nodes | tr '\n' ' ')"
