#!/usr/bin/env bash
# gpu.sh - on a machine with an NVIDIA driver, the CUDA toolkit, CMake and a C compiler (no other library): builds the
# preset gpu, runs what every device must do on each that there is, once more under compute-sanitizer where that is
# installed, and prints tables of what copies, launches, events and plans cost. Fails where the GPU cannot be used.
set -euo pipefail
cd "$(dirname "$0")/.."

nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null || true)
if [ -n "$nvcc" ]; then # where the headers and NVRTC are; nvcc itself is not needed
  CMAKE_PREFIX_PATH=$(dirname "$(dirname "$(readlink -f "$nvcc")")"):${CMAKE_PREFIX_PATH:-}
  export CMAKE_PREFIX_PATH
fi
targets=(conform_devices conform_device_loops device_costs device_plans device_cuda_cuda_test exec_backend_device_backend_test
  exec_backend_device_backend_plant_test weir_cuda)
workflows/build.sh gpu "${targets[@]}"

log=$(mktemp)
trap 'rm -f "$log"' EXIT
build/gpu/test/conform_devices 2>&1 | tee "$log"
if grep '^cuda: not available' "$log" >&2; then
  echo "gpu: nothing was run on a GPU" >&2
  exit 1
fi
build/gpu/test/conform_device_loops
build/gpu/test/device_cuda_cuda_test
build/gpu/test/exec_backend_device_backend_test
build/gpu/test/exec_backend_device_backend_plant_test
if command -v compute-sanitizer >/dev/null; then
  for test in conform_devices conform_device_loops exec_backend_device_backend_test; do # calls that the driver refuses on purpose are no errors
    compute-sanitizer --tool memcheck --report-api-errors no --error-exitcode 1 "build/gpu/test/$test" >"$log" 2>&1 ||
      { tail -n 40 "$log" >&2; echo "gpu: compute-sanitizer found errors, or cannot run here" >&2; exit 1; }
    grep 'ERROR SUMMARY' "$log"
  done
else
  echo "gpu: no compute-sanitizer on this machine: not run" >&2
fi
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader >&2 || true
build/gpu/test/device_costs
build/gpu/test/device_plans cuda
