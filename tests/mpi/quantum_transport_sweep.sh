#!/usr/bin/env bash
# quantum_transport_sweep.sh PROGRAM RANKS_SH: sweeps of self-consistent potentials (PETSc) have the same bits on 1, 2 and 4 ranks,
# and agree to 1e-9 where ranks share the Poisson equation; one rank writes; a sweep that is stopped on one of 2 ranks goes on on 4;
# a budget of memory is kept on 2; what does not converge fails on all.
set -u
program=$1
ranks=$2
. "$(dirname "$0")/script.sh"

# run RANKS FOLDER FLAGS...
run() {
  local n=$1 out=$2
  shift 2
  bash "$ranks" "$n" "$program" run --out "$work/$out" "${chain[@]}" "$@" >"$work/log" 2>&1
}
# same FOLDER OTHER
same() {
  for file in iv.csv convergence.csv spectra.csv; do
    cmp "$work/$1/$file" "$work/$2/$file" >"$work/log" 2>&1 || fail "$2: another $file than $1"
  done
}
cat >"$work/near.py" <<'END_OF_PYTHON'
import sys, numpy
a, b = (numpy.genfromtxt(path + "/iv.csv", delimiter=",", names=True) for path in sys.argv[1:])
for name in ("current_A", "electrons", "gate_charge_e"):
    error = numpy.max(numpy.abs(b[name] / a[name] - 1))
    print(name, error)
    assert error < 1e-9
END_OF_PYTHON

chain=(--set 'device={chain: {sites: 40, onsite: 4.4561, hopping: -2.22806, spacing: 3}}' --set energy.min=-0.5 --set energy.max=0.7
  --set energy.points=25 --set electrostatics.enabled=true --set electrostatics.mid_gap=-1 --set electrostatics.spacing=3
  --set 'electrostatics.semiconductor={margin: 4, permittivity: 10}' --set electrostatics.oxide.thickness=6
  --set 'electrostatics.doping=[{from: 0, to: 48, concentration: 3e20}, {from: 72, to: 120, concentration: 3e20}]'
  --set 'electrostatics.gates=[{from: 48, to: 72}]' --threads 1)
sweep=(--set 'sweep.drain=[0.05, 0.15]' --set 'sweep.gate=[-0.4, 0]')
status=0
run 1 one "${sweep[@]}" || status=$?
[ $status != 77 ] || { cat "$work/log"; exit 77; }
if [ $status = 7 ]; then
  grep -q 'this build has no PETSc' "$work/log" || fail "what lacks is not reported"
  echo "this build has no PETSc"
  exit 77
fi
[ $status = 0 ] || fail "one rank: status $status"
for n in 2 4; do
  run $n ranks$n "${sweep[@]}" || fail "$n ranks"
  [ "$(grep -c '^report: ' "$work/log")" = 1 ] || fail "$n ranks: not one of them reports results"
  same one ranks$n
  run $n shared$n "${sweep[@]}" --set electrostatics.poisson_ranks=$n || fail "$n ranks that share the potential"
  /usr/bin/python3 "$work/near.py" "$work/one" "$work/shared$n" >"$work/log" 2>&1 || fail "$n ranks that share the potential: other results"
done
run 2 budget "${sweep[@]}" --set memory.budget=1 || fail "2 ranks within 1 MiB"
same one budget

# Rank 1 of 2 is asked to stop once there is a bias point: all stop, and 4 ranks compute the next ones.
gates=$(seq -s , -0.4 0.002 -0.36)
many=(--set "sweep.gate=[$gates]")
run 1 long "${many[@]}" || fail "many gate voltages"
bash "$ranks" 2 bash -c 'echo $$ >"$1-${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}"; shift; exec "$@"' -- "$work/process" \
  "$program" run "${chain[@]}" "${many[@]}" --out "$work/stopped" >"$work/log" 2>&1 &
job=$!
while kill -0 $job 2>/dev/null && [ ! -e "$work/stopped/bias/0000.npy" ]; do
  sleep 0.01
done
kill -TERM "$(cat "$work/process-1")" || fail "stopped: rank 1 has ended before"
status=0
wait $job || status=$?
[ $status = 9 ] || fail "stopped: status $status"
grep -q ' of 21 bias points .* kept in .*repeat the command to compute' "$work/log" || fail "stopped: what stays is not reported"
run 4 stopped "${many[@]}" || fail "resumed on 4 ranks"
grep -q ' 0 of an earlier run' "$work/log" && fail "4 ranks begin again"
same long stopped

status=0
run 2 short --set electrostatics.max_iterations=1 --set electrostatics.tolerance=1e-9 || status=$?
[ $status = 6 ] || fail "no convergence: status $status"
grep -q 'no self-consistent potential after 1 iterations' "$work/log" || fail "no convergence: it is not reported"
echo "the same bits on 1, 2 and 4 ranks"
