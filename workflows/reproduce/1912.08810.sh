#!/usr/bin/env bash
# 1912.08810.sh [OPTION...] - the data-centric solver of quantum transport (arXiv:1912.08810 and 1912.10024): flops, memory, exchange, time and
# half precision, by `quantum_transport bench` and `run`. A minute on an idle core; times count only where nothing else runs.
# shellcheck disable=SC1091,SC2154 # variables of claims.sh
set -euo pipefail
. "$(dirname "$0")/claims.sh"
begin 'Data-centric quantum transport (arXiv:1912.08810, 1912.10024)' "$@"

flow transport quantum_transport
transport=$out/transport

notes='notes, not verified'
# paper PART QUANTITY SETTING: what is counted, predicted or measured here, of papers.csv.
paper() { cell here part="$1" quantity="$2" setting="$3" -- "$transport/papers/papers.csv"; }
# 1,792 ranks stand in both of their tables.
volume() { paper exchange 'tiles of atoms and energies; here: tiles that exchange least' "$1" | head -n 1; }
current() { sed -n 's/^{"event": "scattering", .*"current_A": \([-0-9.e]*\),.*/\1/p' "$@"; }
# Relative difference of the currents of two runs.
apart() { paste <(current "$transport/$1/run.jsonl") <(current "$transport/$2/run.jsonl") | awk '{ d = $1 / $2 - 1; print d < 0 ? -d : d }'; }

for n in 3:24.41:12.38:52.95 7:132.89:66.85:123.55 11:328.15:164.71:194.15; do
  IFS=: read -r momenta original restructured recursion <<<"$n"
  device="4864 atoms, N_kz $momenta"
  row claim="flops of self-energies, original, $momenta momenta" source="1912.08810: $notes" published="$original" unit=Pflop is=near setting="$device; counted from the graph" \
    why='G beyond the grid of energies counts as 0 and is not computed: 5.0 % of the pairs' runs='transport/papers' \
    -- paper flops 'self-energies of electrons, original; here: map fission' "$device"
  row claim="flops of self-energies, restructured, $momenta momenta" source="1912.08810: $notes" published="$restructured" unit=Pflop is=near within=0.01 \
    setting="$device; counted from the graph" why='what the published totals count beyond their formula is not known' runs='transport/papers' \
    -- paper flops 'self-energies of electrons, restructured; here: windows' "$device"
  row claim="flops of recursive Green's functions, $momenta momenta" source="1912.08810: $notes" published="$recursion" unit=Pflop is=most setting="$device; counted" \
    why='fewer products in a block: an inverse is a factorisation with solutions, G^> follows from G^<' runs='transport/papers' \
    -- paper flops "recursive Green's functions" "$device"
done
for n in 3:768:0.54 7:1792:2.17 11:2816:4.86; do
  IFS=: read -r momenta ranks volume <<<"$n"
  row claim="exchange of an iteration by tiles, $momenta momenta, $ranks ranks" source="1912.08810: $notes" published="$volume" unit=TiB is=near within=0.05 \
    setting='4864 atoms; the tiles that exchange least, of all divisors' why='tiles that exchange less than those of the paper' runs='transport/papers' \
    -- volume "4864 atoms, N_kz $momenta, $ranks ranks"
done
row claim='array nabla H G after redundancy removal, / after map fission' source='1912.08810: shapes' published=0.00204 is=near within=0.02 setting='4864 atoms, 7 momenta; counted' \
  why='7 momenta and 70 energies are removed, and the energy that no phonon reaches' runs='transport/papers' \
  -- quotient "paper memory 'nabla H G^< after redundancy removal' '4864 atoms, N_kz 7'" "paper memory 'nabla H G^< after map fission' '4864 atoms, N_kz 7' | awk '{ print 1000 * \$1 }'"
row claim='flops of self-energies of one node, original / restructured' source="1912.08810: $notes" published=2 is=near setting='12 orbitals, 16 energies, 4 phonon energies' \
  why='few energies: more pairs beyond the grid, and phonons count; 1.89 for the device of the paper' runs='transport/papers' \
  -- paper measured 'self-energies, original / restructured: flops' 'published: one node; here: 1 thread, 12 orbitals'
row claim='time of self-energies of one node, original / restructured (965.45 s / 29.93 s)' source="1912.08810: $notes" published=32.26 is=least idle=no setting='one thread; 12 orbitals, 16 energies, 4 phonon energies' \
  why='the original multiplied small matrices on a GPU; map fission alone runs here as compiled loops' runs='transport/papers' \
  -- paper measured 'self-energies, original / restructured: time' 'published: one node; here: 1 thread, 12 orbitals'
row claim='an iteration, original / restructured, up to (Piz Daint)' source="1912.08810: $notes" published=16.3 is=near setting='predicted by the published rates of a node' \
  why='a model: flops, bytes, messages and the rates of their node' runs='transport/papers' \
  -- paper time 'an iteration, original / restructured, published rates of a node' 'most of all settings; published: Piz Daint'
row claim='an iteration, original / restructured, up to (Summit)' source="1912.08810: $notes" published=24.5 is=near setting='predicted by the published rates of a node of Piz Daint' \
  why='rates of a node of Summit are not known' runs='transport/papers' \
  -- paper time 'an iteration, original / restructured, published rates of a node' 'most of all settings; published: Summit'
row claim='time of exchange, original / restructured, up to (Piz Daint)' source="1912.08810: $notes" published=417 is=least setting='predicted: bytes / 10 GB/s + messages of 2 us' \
  why='what their network and collectives cost is not known' runs='transport/papers' \
  -- paper time 'exchange, original / restructured' 'most of all settings; published: Piz Daint'
for n in f16 bf16; do
  row claim="current with self-energies in half precision, scaled: relative to double precision ($n)" source="1912.10024: $notes (about 1e-6)" published=1e-6 is=most \
    setting='chain of 20 atoms, 0.15 eV/Angstrom' why='another device; products nabla H G and nabla H C stay in double precision here; bf16 has 8 bits, f16 11' \
    runs="transport/band/precision_f64 transport/band/precision_$n" -- apart "band/precision_$n" band/precision_f64
done
row claim='the same where electrons are rare, with scales' source='1912.10024: no number for this case' bound=1e-5 is=most setting='chain of 20 atoms, 0.3 eV/Angstrom, electrons 0.45 eV below the band' \
  why='rounding to 11 bits; another device' runs='transport/below/precision_f64 transport/below/precision_f16' -- apart below/precision_f16 below/precision_f64
row claim='without scales the current diverges from double precision: more than 1 %' source="1912.10024: $notes" published=0.01 is=least \
  setting='chain of 20 atoms, 0.3 eV/Angstrom, electrons 0.45 eV below the band' why='operands of other devices lie within the range of f16 in eV and Angstrom' \
  runs='transport/below/precision_f64 transport/unscaled/precision_f16' -- apart unscaled/precision_f16 below/precision_f64
row claim='85.45 Pflop/s in double precision on 4,560 nodes, 42.55 % of the peak; 90.89 Pflop/s in mixed precision' source='1912.10024: abstract' published=85.45 unit=Pflop/s \
  why='needs 4,560 nodes with GPUs; scattering runs on CPUs alone here'
row claim='10,240 atoms in a 14 times shorter time than 1,064 atoms before' source='1912.10024: abstract' published=14 \
  why='needs 4,560 nodes; grids, blocks and iterations of these runs are not known'
finish
