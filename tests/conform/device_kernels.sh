#!/usr/bin/env bash
# device_kernels.sh CHECK BIN BENCH SOURCE - kernels that plans write for a GPU, compiled for three generations of GPUs that this
# machine need not have: a training of weather_ensemble's tiny configuration, a query of physio_stream, self-energies of
# quantum_transport, a training of cosmoflow, random graphs and reductions, random systems of equations, and the training steps of the
# measurements (U-Net and CosmoFlow, f32 and bf16).
set -euo pipefail
check=$1 bin=$2 bench=$3 source=$4
gpu=$source/tests/conform/h100.json # an H100 SXM, from public numbers, in the form that cuDNN 9.19 reads
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
on=(--device emulated --threads 1)

rc=0
"$check" --probe || rc=$?
[ $rc = 0 ] || exit $rc

chain=(--config "$source/configs/quantum_transport/chain20.yaml" --set 'device={chain: {sites: 6, onsite: 0.2, hopping: -0.1}}'
  --set 'scattering.phonons.device={harmonic_chain: {sites: 6, spring: 104.41705927, mass: 28.0855}}'
  --set scattering.phonons.frequencies=3 --set energy.points=31 --set scattering.tolerance=0.5)

# Into the folder named first, which the command must fill.
write() {
  local folder=$1
  shift
  "$@" >"$dir/log" 2>&1 || { tail -n 20 "$dir/log"; echo "failed: $*"; exit 1; }
  compgen -G "$folder/*.cu" >/dev/null || { echo "no kernels: $*"; exit 1; }
}
write "$dir/weather" "$bin/weather_ensemble" describe --config "$source/configs/weather_ensemble/tiny.yaml" "${on[@]}" \
  --set exec.kernel_dir="$dir/weather"
write "$dir/physio" "$bin/physio_stream" run --config "$source/configs/physio_stream/tiny.yaml" --set ecgsyn.duration=10 "${on[@]}" \
  --set exec.kernel_dir="$dir/physio" --out "$dir/physio_run"
write "$dir/quantum" "$bin/quantum_transport" run "${chain[@]}" "${on[@]}" --set exec.kernel_dir="$dir/quantum" --out "$dir/quantum_run"
write "$dir/cosmo" "$bin/cosmoflow" run --set simulate.universes=10 --set simulate.file=4 --set simulate.side=8 \
  --set simulate.particles=16 --set simulate.box=128 --set 'simulate.redshifts=[0,0.5]' --set simulate.preset=wide2 \
  --set data.split.valid=2 --set data.split.test=2 --set train.epochs=1 --set train.batch=2 \
  --set 'model.net={mlperf: {blocks: 2, base: 4, hidden1: 8, hidden2: 4, dropout: 0.1}}' "${on[@]}" \
  --set exec.kernel_dir="$dir/cosmo" --out "$dir/cosmo_run"
write "$dir/random" env WEIR_TEST_KERNEL_DIR="$dir/random" "${check%/*}/exec_backend_device_backend_test"
rc=0 # transforms of a simulation of one step, where the build writes archives
"$bin/weather_ensemble" prepare --set simulate.lat=8 --set simulate.lon=16 --set simulate.step=0.12 --set simulate.spin_up=0.125 \
  --set simulate.library.states=2 --set simulate.library.every=0.125 --set simulate.every=12 --set simulate.init_times=1 \
  --set simulate.members=2 --set 'simulate.leads=[6]' --set 'simulate.quantities=[z500]' "${on[@]}" \
  --set exec.kernel_dir="$dir/simulation" --out "$dir/simulated" >"$dir/log" 2>&1 || rc=$?
[ $rc = 0 ] || [ $rc = 7 ] || { tail -n 20 "$dir/log"; echo "failed: prepare"; exit 1; }
[ $rc = 7 ] || mv "$dir/simulation"/* "$dir/weather"
rc=0
write "$dir/systems" env WEIR_TEST_KERNEL_DIR="$dir/systems" "${check%/*}/exec_backend_device_backend_systems_test"
write "$dir/steps" "$bench" texts="$dir/steps"
write "$dir/half" "$bench" bf16 texts="$dir/half"
find "$dir/half" -name '*.cu' -print0 | while IFS= read -r -d '' text; do # those of f32 again are compiled once
  [ ! -e "$dir/steps/${text##*/}" ] || rm "$text"
done

"$check" --gpu "$gpu" "$dir/weather" "$dir/physio" "$dir/quantum" "$dir/cosmo" "$dir/random" "$dir/systems" &
"$check" --lean --gpu "$gpu" "$dir/steps" "$dir/half" || rc=$?
wait $! || rc=$?
exit $rc
