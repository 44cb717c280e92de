#!/usr/bin/env bash
# steps.sh BIN OUT - the demo of quantum_transport: a disordered graphene ribbon, electrons and phonons of a silicon nanowire, and a
# Hamiltonian of Wannier90.
set -euo pipefail
bin=$1 out=$2
qt=$bin/quantum_transport

for study in ribbon nanowire heat wannier; do
  "$qt" run --config configs/quantum_transport/$study.yaml --out "$out/$study" --overwrite
done

echo
echo "spectra and currents: $out/STUDY/transport.nc, spectra.csv, transport.TBT.nc (sisl)"
echo "reports: $(cd "$out" && pwd)/{ribbon,nanowire,heat,wannier}/report.html"
