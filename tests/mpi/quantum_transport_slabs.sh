#!/usr/bin/env bash
# quantum_transport_slabs.sh PROGRAM RANKS_SH: points that ranks share (parallel.ranks_per_point). Spectra have the bits of as many
# slabs on one rank, and are within 1e-12 of those without slabs: of ribbons, devices with overlap, wave vectors and phonons, and of the
# devices of configs/ in 2, 3 and 4 slabs; points that fail have the message of one rank; what is refused; checkpoints; memory of a rank.
set -u
program=$1
ranks=$2
. "$(dirname "$0")/script.sh"

# run RANKS FOLDER FLAGS...
run() {
  local n=$1 out=$2
  shift 2
  bash "$ranks" "$n" "$program" run --threads 1 --out "$work/$out" "$@" >"$work/log" 2>&1
}
cat >"$work/compare.py" <<'END_OF_PYTHON'
import sys, netCDF4, numpy
limit = float(sys.argv[3])
with netCDF4.Dataset(sys.argv[1]) as a, netCDF4.Dataset(sys.argv[2]) as b:
    assert a.variables.keys() == b.variables.keys()
    for name in a.variables:
        x, y = numpy.asarray(a[name][...]), numpy.asarray(b[name][...])
        size = max(numpy.abs(x).max(), abs(a["current"][...]) if name == "energy_current" and "current" in a.variables else 0) or 1
        apart = numpy.abs(x - y).max() / size if x.dtype.kind == "f" else float(not (x == y).all())
        if not (x.tobytes() == y.tobytes() or 0 < limit and apart <= limit):
            sys.exit(f"{sys.argv[2]}: {name}: {apart:g} apart")
END_OF_PYTHON
# near FOLDER OTHER LIMIT: spectra relative to the largest value; 0: the same bits.
near() {
  local columns
  columns=$(head -n 1 "$work/$1/spectra.csv")
  [ "$columns" = "$(head -n 1 "$work/$2/spectra.csv")" ] || fail "$2: other columns than $1"
  [ "$3" != 0 ] || cmp -s "$work/$1/spectra.csv" "$work/$2/spectra.csv" || fail "$2: other means than $1"
  [ ! -e "$work/$1/transport.nc" ] ||
    /usr/bin/python3 "$work/compare.py" "$work/$1/transport.nc" "$work/$2/transport.nc" "$3" >"$work/log" 2>&1 || fail "$2: other spectra than $1"
}

# A strip of 3 x 14 sites, random, with an overlap between and within its layers; the first and last 2 layers of each end are alike.
/usr/bin/python3 - "$work" <<'END_OF_PYTHON' || fail "no matrices"
import random, sys
random.seed(20)
width, layers = 3, 14
h, s = {}, {}
for x in range(layers):
    for i in range(width):
        at = x * width + i
        ends = x < 4 or x >= layers - 4
        h[at, at], s[at, at] = (0.2 * i if ends else random.uniform(-1, 1)), 1.0
        for other, hop, beside in ((at + 1, -0.8, 0.07), (at + width, -1.0, 0.11), (at + width + 1, -0.3, 0.04)):
            if other < layers * width and (other == at + width or i + 1 < width):
                scale = 1 if ends or other // width >= layers - 4 else random.uniform(0.7, 1.3)
                h[at, other] = h[other, at] = hop * scale
                s[at, other] = s[other, at] = beside * scale
for name, m in (("h", h), ("s", s)):
    with open(f"{sys.argv[1]}/{name}.mtx", "w") as f:
        print("%%MatrixMarket matrix coordinate real general", f"{width * layers} {width * layers} {len(m)}", sep="\n", file=f)
        for (i, j), value in sorted(m.items()):
            print(i + 1, j + 1, repr(value), file=f)
# A chain with a site that nothing couples, at 0.5 eV.
with open(f"{sys.argv[1]}/alone.mtx", "w") as f:
    print("%%MatrixMarket matrix coordinate real general", "12 12 32", sep="\n", file=f)
    for i in range(12):
        print(i + 1, i + 1, 0.5 if i == 6 else 0.0, file=f)
    for i, j in [(i, i + 1) for i in range(11) if i not in (5, 6)] + [(5, 7)]:
        print(i + 1, j + 1, -1.0, f"\n{j + 1} {i + 1} -1.0", file=f)
END_OF_PYTHON
strip="h: $work/h.mtx, s: $work/s.mtx, left: {layer: 3}, right: {layer: 3}"
ribbon=(--set 'device={agnr: {width: 7, length: 6, disorder: 1}}' --set energy.min=0.3 --set energy.max=2.7 --set energy.points=40 --set contact.mu=1 --set output.bond_currents=true)
overlap=(--set "device={matrices: {$strip}}" --set energy.points=32 --set output.bond_currents=true)
fin=(--set 'device={silicon_fin: {length: 3, height: 1}}' --set k.nz=3 --set energy.min=1.5 --set energy.max=1.6 --set energy.points=2)
heat=(--set 'device={harmonic_chain: {}}' --set energy.min=0.001 --set energy.max=0.03 --set energy.points=24 --set output.bond_currents=true)
corner=("${ribbon[@]}" --set output.bond_currents=false --set output.dos=false)
status=0
run 1 ribbon1 "${ribbon[@]}" || status=$?
[ $status != 77 ] || { cat "$work/log"; exit 77; }
[ $status = 0 ] || fail "one rank: status $status"

# alike NAME FLAGS...: 2 and 4 ranks of which 2 or 4 share a point.
alike() {
  local name=$1 n of
  shift
  [ -e "$work/${name}1" ] || run 1 "${name}1" "$@" || fail "$name: one rank"
  for of in 2 4; do
    run 1 "${name}s$of" "$@" --set parallel.slabs=$of || fail "$name: $of slabs on one rank"
    near "${name}1" "${name}s$of" 1e-12
  done
  for n in "2 2" "4 2" "4 4"; do
    of=${n#* }
    run "${n% *}" "$name$n" "$@" --set parallel.ranks_per_point="$of" || fail "$name: $n ranks"
    near "${name}s$of" "$name$n" 0
  done
}
alike ribbon "${ribbon[@]}"
alike overlap "${overlap[@]}"
alike heat "${heat[@]}"
alike corner "${corner[@]}"
# shipped NAME RANKS FLAGS...: a device of configs/, with parallel.slab_error as it is there, on so many ranks.
configs=$(dirname "$0")/../../configs/quantum_transport
shipped() {
  local name=$1 ranks_of=$2 of
  shift 2
  set -- --config "$configs/$name.yaml" "$@"
  run 1 "$name.1" "$@" || fail "$name.yaml: one rank"
  for of in 2 3 4; do
    run 1 "$name.$of" "$@" --set parallel.slabs=$of || fail "$name.yaml: $of slabs on one rank"
    near "$name.1" "$name.$of" 1e-12
  done
  for of in $ranks_of; do
    run "$of" "$name.of$of" "$@" --set parallel.ranks_per_point="$of" || fail "$name.yaml: $of ranks"
    near "$name.$of" "$name.of$of" 0
  done
}
shipped ribbon "2 4" --set energy.points=81
shipped wannier 4 --set energy.points=81 --set device.wannier.seed="$configs/data/sq5"
# Near the band edge, where surfaces have states, and above it.
shipped nanowire 2 --set energy.min=2.27 --set energy.max=2.4 --set energy.points=2 --set output.bands=2
run 1 fins3 "${fin[@]}" --set parallel.slabs=3 || fail "wave vectors: one rank"
run 4 fin "${fin[@]}" --set parallel.ranks_per_point=2 --set parallel.slabs=3 || fail "wave vectors: 4 ranks"
near fins3 fin 0
run 4 few "${ribbon[@]}" --set energy.points=1 --set parallel.ranks_per_point=2 || fail "more groups than points"

# refused RANKS TEXT FLAGS...
refused() {
  local n=$1 text=$2
  shift 2
  status=0
  run "$n" refused "$@" || status=$?
  [ $status = 2 ] && [ ! -e "$work/refused" ] || fail "$text: status $status"
  grep -q "$text" "$work/log" || fail "$text: it is not reported"
}
refused 3 'parallel.ranks_per_point: groups of 2 ranks cannot be made of 3' --set parallel.ranks_per_point=2
refused 1 'parallel.ranks_per_point: groups of 2 ranks cannot be made of 1' --set parallel.ranks_per_point=2
refused 4 'parallel.ranks_per_point: 4 ranks share a device of 3 blocks' --set 'device={agnr: {width: 4, length: 3}}' --set parallel.ranks_per_point=4
refused 4 'parallel.slabs: 3 slabs for 4 ranks' "${ribbon[@]}" --set parallel.ranks_per_point=4 --set parallel.slabs=3

# fails FOLDER FLAGS...: the text of 4 ranks of which 2 share a point is that of one rank with two slabs.
fails() {
  local n
  for n in 1 4; do
    status=0
    run $n "fails$n" "$@" --set parallel.slabs=2 --set parallel.ranks_per_point=$((n > 1 ? 2 : 1)) || status=$?
    [ $status = 6 ] || fail "$n ranks: a point that fails: status $status"
    # mpiexec may end the job before the rank that failed has written; the others name it
    sed -n -E 's/^error: (rank [0-9]+ of [0-9]+ failed: )?(k \(0.*)/\2/p' "$work/log" | sort -u >"$work/text$n"
    rm -rf "$work/fails$n"
  done
  [ -s "$work/text1" ] && cmp -s "$work/text1" "$work/text4" || fail "a point that fails: $(cat "$work/text1" "$work/text4")"
}
# The last of 4 energies, of the second group, is a band edge; the isolated site, at 0.5 eV, is found by ranks that share a point.
fails --set device=chain --set energy.min=-1 --set energy.max=2 --set energy.points=4 --set energy.shift=0 --set lead.method=modes
for dos in false true; do
  fails --set "device={matrices: {h: $work/alone.mtx, left: {layer: 1}, right: {layer: 1}}}" --set energy.min=-1 --set energy.max=1 \
    --set energy.points=5 --set energy.shift=0 --set output.dos=$dos
  grep -q 'energy 0.5 eV: the Green.s function of the device is singular at block' "$work/text4" || fail "an isolated site is not named"
done
# With a shift it is computed there.
run 1 shifted1 --set "device={matrices: {h: $work/alone.mtx, left: {layer: 1}, right: {layer: 1}}}" --set energy.points=5 --set energy.min=-1 \
  --set energy.max=1 --set parallel.slabs=2 || fail "an isolated site on one rank"
run 2 shifted2 --set "device={matrices: {h: $work/alone.mtx, left: {layer: 1}, right: {layer: 1}}}" --set energy.points=5 --set energy.min=-1 \
  --set energy.max=1 --set parallel.ranks_per_point=2 || fail "an isolated site"
grep -q '1 of 5 points lie on a band edge' "$work/log" || fail "a shift is not reported"
near shifted1 shifted2 0

# Stopped on 2 ranks that share points: another number of slabs is refused, the same one resumes on other ranks.
long=(--set 'device={agnr: {width: 5, length: 4, disorder: 1}}' --set energy.points=801)
run 1 whole "${long[@]}" --set parallel.slabs=2 || fail "two slabs on one rank"
bash "$ranks" 2 bash -c 'echo $$ >"$1-${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}"; shift; exec "$@"' -- "$work/process" \
  "$program" run "${long[@]}" --threads 1 --set checkpoint.interval=0.000001 --set parallel.ranks_per_point=2 --out "$work/long" >"$work/log" 2>&1 &
job=$!
while kill -0 $job 2>/dev/null && ! grep -qs '"event": "checkpoint"' "$work/long/run.jsonl"; do
  sleep 0.01
done
kill -TERM "$(cat "$work/process-1")" || fail "stopped: rank 1 has ended before"
status=0
wait $job || status=$?
[ $status = 9 ] || fail "stopped: status $status"
status=0
run 4 long "${long[@]}" --set parallel.ranks_per_point=4 || status=$?
[ $status = 2 ] && grep -q 'other slabs of the device' "$work/log" || fail "other slabs: status $status"
run 4 long "${long[@]}" --set parallel.ranks_per_point=2 || fail "resumed on 4 ranks"
grep -q 'resumed: [0-9]* of 801 points are done' "$work/log" || fail "4 ranks begin again"
near whole long 0

# A rank holds its blocks alone, as is predicted: by the run, and without ranks.
wide=(--set 'device={agnr: {width: 40, length: 40}}' --set energy.points=2)
for of in 1 2; do
  run $of "memory$of" "${wide[@]}" --set parallel.slabs=2 --set parallel.ranks_per_point=$of || fail "memory of $of ranks"
  grep -h '"event": "memory"' "$work/memory$of/run.jsonl" >"$work/memory$of.json" || fail "memory is not reported"
done
"$program" describe "${wide[@]}" --threads 1 --set parallel.ranks_per_point=2 >"$work/log" 2>&1 || fail "describe"
/usr/bin/python3 - "$work"/memory[12].json "$work/log" <<'END_OF_PYTHON' >"$work/compared" 2>&1 || { cat "$work/compared"; fail "memory"; }
import json, re, sys
one, two = (json.load(open(path)) for path in sys.argv[1:3])
described = float(re.search(r"memory: (\d+) bytes", open(sys.argv[3]).read())[1])
print(one, two, described)
for run in one, two:
    assert abs(run["predicted_bytes"] - run["peak_bytes"]) <= 0.05 * run["peak_bytes"]
assert two["peak_bytes"] <= 0.7 * one["peak_bytes"]
assert abs(described - two["predicted_bytes"]) <= 0.05 * described
END_OF_PYTHON
cat "$work/compared"
echo "points that 2 and 4 ranks share are those of one rank"
