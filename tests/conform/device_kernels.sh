#!/usr/bin/env bash
# device_kernels.sh CHECK BIN BENCH SOURCE - kernels that plans write for a GPU, compiled for three generations of GPUs that this
# machine need not have: of the tiny configurations of the applications, and of the training steps of the measurements.
set -euo pipefail
check=$1 bin=$2 bench=$3 source=$4
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
on=(--device emulated --threads 1)

"$check" --probe || exit 77
chain=(--config "$source/configs/quantum_transport/chain20.yaml" --set 'device={chain: {sites: 6, onsite: 0.2, hopping: -0.1}}'
  --set 'scattering.phonons.device={harmonic_chain: {sites: 6, spring: 104.41705927, mass: 28.0855}}'
  --set scattering.phonons.frequencies=3 --set energy.points=31 --set scattering.tolerance=0.5)
{
  "$bin/weather_ensemble" describe --config "$source/configs/weather_ensemble/tiny.yaml" "${on[@]}" --set exec.kernel_dir="$dir/all"
  "$bin/physio_stream" run --config "$source/configs/physio_stream/tiny.yaml" --set ecgsyn.duration=10 "${on[@]}" \
    --set exec.kernel_dir="$dir/all" --out "$dir/physio"
  "$bin/quantum_transport" run "${chain[@]}" "${on[@]}" --set exec.kernel_dir="$dir/all" --out "$dir/quantum"
  "$bench" texts="$dir/lean"
  "$bench" bf16 texts="$dir/lean"
} >"$dir/log" 2>&1 || { tail -n 20 "$dir/log"; exit 1; }

"$check" "$dir/all" &
"$check" --lean "$dir/lean"
wait $!
