#!/usr/bin/env bash
# quantum_transport.sh PROGRAM RANKS_SH: spectra of 2 and 4 ranks have the bits of one rank on one and on two threads; one rank
# writes; a run that is stopped on one of 2 ranks goes on on 4; a point that fails on another rank than the first is named.
# Wave functions (PETSc) of 1, 2 and 4 ranks agree to 1e-12.
set -u
program=$1
ranks=$2
. "$(dirname "$0")/script.sh"

# run RANKS FOLDER FLAGS...
run() {
  local n=$1 out=$2
  shift 2
  bash "$ranks" "$n" "$program" run --out "$work/$out" "$@" >"$work/log" 2>&1
}
cat >"$work/compare.py" <<'END_OF_PYTHON'
import sys, netCDF4
with netCDF4.Dataset(sys.argv[1]) as a, netCDF4.Dataset(sys.argv[2]) as b:
    assert a.variables.keys() == b.variables.keys()
    other = [k for k in a.variables if a[k][...].tobytes() != b[k][...].tobytes()]
    print(sys.argv[2], "other bits:", other)
    sys.exit(len(other) > 0)
END_OF_PYTHON
cat >"$work/near.py" <<'END_OF_PYTHON'
import sys, netCDF4, numpy
with netCDF4.Dataset(sys.argv[1]) as a, netCDF4.Dataset(sys.argv[2]) as b:
    assert a.variables.keys() == b.variables.keys() and "transmission_eigenvalues" in a.variables
    other = [k for k in a.variables if not numpy.allclose(a[k][...], b[k][...], rtol=1e-12, atol=1e-12, equal_nan=True)]
    print(sys.argv[2], "other numbers:", other)
    sys.exit(len(other) > 0)
END_OF_PYTHON
# same FOLDER OTHER: all spectra are the same bits.
same() {
  cmp "$work/$1/spectra.csv" "$work/$2/spectra.csv" >"$work/log" 2>&1 || fail "$2: other means than $1"
  [ ! -e "$work/$1/transport.nc" ] || /usr/bin/python3 "$work/compare.py" "$work/$1/transport.nc" "$work/$2/transport.nc" >"$work/log" 2>&1 ||
    fail "$2: other spectra than $1"
}

ribbon=(--set 'device={agnr: {width: 7, length: 6, disorder: 1}}' --set energy.points=41 --set output.bond_currents=true)
slab=(--set 'device={silicon_fin: {length: 3, height: 1}}' --set k.nz=3 --set energy.min=1.5 --set energy.max=1.6 --set energy.points=3)
status=0
run 1 ribbon1 "${ribbon[@]}" --threads 1 || status=$?
[ $status != 77 ] || { cat "$work/log"; exit 77; }
[ $status = 0 ] || fail "one rank: status $status"
run 1 slab1 "${slab[@]}" --threads 1 || fail "one rank, k"
run 1 ribbon1x2 "${ribbon[@]}" --threads 2 || fail "one rank of 2 threads"
same ribbon1 ribbon1x2
for n in 2 4; do
  run $n ribbon$n "${ribbon[@]}" --threads 1 || fail "$n ranks"
  grep -q "41 points, $n ranks" "$work/log" || fail "$n ranks: their number is not reported"
  [ "$(grep -c '^report: ' "$work/log")" = 1 ] || fail "$n ranks: not one of them reports results"
  [ "$(find "$work/ribbon$n" -name 'run*.jsonl' | wc -l)" = 1 ] || fail "$n ranks: not one log"
  same ribbon1 ribbon$n
  run $n slab$n "${slab[@]}" --threads 1 || fail "$n ranks, k"
  same slab1 slab$n
done
run 2 warned "${slab[@]}" --set k.nz=1 --threads 1 || fail "2 ranks, one wave vector"
[ "$(grep -c 'periodic along z and k.nz is 1' "$work/log")" = 1 ] || fail "a warning is not printed once"
run 2 budget "${ribbon[@]}" --threads 2 --set memory.budget=1 || fail "2 ranks within 1 MiB"
same ribbon1 budget
run 4 few "${ribbon[@]}" --set energy.points=3 --threads 1 || fail "4 ranks, 3 points"
run 2 ribbon2x2 "${ribbon[@]}" --threads 2 || fail "2 ranks of 2 threads"
same ribbon1 ribbon2x2

# Rank 0 decides what energies are added.
refined=("${ribbon[@]}" --set energy.tolerance=1e-3)
run 1 refined1 "${refined[@]}" --threads 2 || fail "energies are added on one rank"
grep -q 'energy.tolerance: [1-9][0-9]* energies are added to 41' "$work/log" || fail "no energies are added"
for n in 2 4; do
  run $n refined$n "${refined[@]}" --threads 1 || fail "energies are added on $n ranks"
  same refined1 refined$n
done

# Rank 1 of 2 is asked to stop once there is a checkpoint: all stop, and 4 ranks go on where they did.
long=(--set 'device={agnr: {width: 5, length: 4, disorder: 1}}' --set energy.points=1201)
run 1 long1 "${long[@]}" --threads 2 || fail "one rank, many energies"
bash "$ranks" 2 bash -c 'echo $$ >"$1-${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}"; shift; exec "$@"' -- "$work/process" \
  "$program" run "${long[@]}" --threads 1 --set checkpoint.interval=0.000001 --out "$work/long4" >"$work/log" 2>&1 &
job=$!
while kill -0 $job 2>/dev/null && ! grep -qs '"event": "checkpoint"' "$work/long4/run.jsonl"; do
  sleep 0.01
done
kill -TERM "$(cat "$work/process-1")" || fail "stopped: rank 1 has ended before"
status=0
wait $job || status=$?
[ $status = 9 ] || fail "stopped: status $status"
grep -q 'stopped after [0-9]* of 1201 points: repeat the command to resume it' "$work/log" || fail "stopped: it is not reported"
run 4 long4 "${long[@]}" --threads 1 || fail "resumed on 4 ranks"
grep -q 'resumed: [0-9]* of 1201 points are done' "$work/log" || fail "4 ranks begin again"
same long1 long4

# The last of 4 energies is a band edge, which rank 1 of 2 has.
status=0
run 2 edge --set device=chain --set energy.min=-1 --set energy.max=2 --set energy.points=4 --set energy.shift=0 \
  --set lead.method=modes --threads 1 || status=$?
[ $status = 6 ] || fail "a band edge: status $status"
grep -q 'k (0, 0), energy 2 eV: lead: no surface' "$work/log" || fail "a band edge is not named"
find "$work/edge" -type f ! -name 'run*.jsonl' ! -name resolved.yaml ! -name .weir.lock | grep . && fail "a band edge: results are written"

# Scattering: currents and energies of every iteration within 1e-10 of the largest one; one rank reports what was sent.
scattering=(--config "$(dirname "$0")/../../configs/quantum_transport/chain20.yaml" --set scattering.tolerance=1e-3)
run 1 scattering1 "${scattering[@]}" --threads 1 || fail "scattering on one rank"
run 2 scattering2 "${scattering[@]}" --threads 1 --set scattering.tiles.atoms=2 || fail "scattering on 2 ranks"
grep -q '2 ranks, self-energies in 2 ranges of atoms x 1 of energies' "$work/log" || fail "scattering on 2 ranks: the ranges are not reported"
[ "$(grep -c '"event": "scattering_ranks"' "$work/scattering2/run.jsonl")" = 1 ] || fail "scattering on 2 ranks: no event"
paste -d, "$work/scattering1/scattering.csv" "$work/scattering2/scattering.csv" | awk -F, '
  NR > 1 { n++; for (i = 3; i <= 8; i++) { d = $i - $(i + NF / 2); s = $3; if (i > 4) s = $5; if (d * d > 1e-20 * s * s) wrong = 1 } }
  END { exit wrong || n < 5 }' || fail "scattering on 2 ranks: other numbers"
status=0
run 2 scattering_wrong "${scattering[@]}" --set scattering.tiles.atoms=3 || status=$?
[ $status = 2 ] && [ ! -e "$work/scattering_wrong" ] || fail "scattering in 3 ranges of atoms on 2 ranks: status $status"

# Wave functions; a budget of memory; a band edge that is named.
waves=("${ribbon[@]}" --set transport.method=qtbm --set lead.method=modes --set output.channels=true)
status=0
run 1 waves1 "${waves[@]}" --threads 1 || status=$?
if [ $status = 7 ]; then
  grep -q 'set transport.method: rgf' "$work/log" || fail "waves: what lacks is not reported"
else
  [ $status = 0 ] || fail "waves on one rank: status $status"
  for n in 2 4; do
    run $n waves$n "${waves[@]}" --threads $((n / 2)) || fail "waves on $n ranks"
    [ ! -e "$work/waves1/transport.nc" ] || /usr/bin/python3 "$work/near.py" "$work/waves1/transport.nc" "$work/waves$n/transport.nc" \
      >"$work/log" 2>&1 || fail "waves on $n ranks: other spectra"
  done
  run 2 waves_budget "${waves[@]}" --threads 2 --set memory.budget=8 || fail "waves on 2 ranks within 8 MiB"
  status=0
  run 2 waves_edge --set device=chain --set energy.min=-1 --set energy.max=2 --set energy.points=4 --set energy.shift=0 \
    --set lead.method=modes --set transport.method=qtbm --threads 1 || status=$?
  [ $status = 6 ] || fail "a band edge of waves: status $status"
  grep -q 'k (0, 0), energy 2 eV: lead: no surface' "$work/log" || fail "a band edge of waves is not named"
fi
# What the configuration shows to be wrong makes no folder.
status=0
run 2 wrong --set energy.min=1 --set energy.max=0 || status=$?
[ $status = 2 ] && [ ! -e "$work/wrong" ] || fail "a wrong grid of energies: status $status"
echo "the same bits on 1, 2 and 4 ranks"
