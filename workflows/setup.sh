#!/usr/bin/env bash
# setup.sh [core|test|bench|checker] - makes sure that what Weir needs is installed. Quick when it is.
#
#   core   to build and run (the default)
#   test   also what the tests, the style checks and the fuzzers need
#   bench  core, and what measurements and tests labelled `study` compare with: into build/bench-python
#          the packages of tests/bench/requirements.txt (5 GB), into build/dace-python DaCe; rows against
#          them are left out, and those tests skipped, where no package index answers
#   checker  core, and into build/checker the compliance-checker of the CF conventions (PyPI): the
#          tests cf_checker_* are skipped without
#
# Installs with apt where it can (root, or sudo without a password); otherwise prints what to install
# and stops with status 2. What counts is whether a thing works, not where it came from: a compiler of
# an environment module will do.
set -euo pipefail

# One line a package: name, then a command that succeeds where it is usable.
multiarch() { gcc -print-multiarch 2>/dev/null || echo "$(uname -m)-linux-gnu"; }
have() { command -v "$1" >/dev/null 2>&1; }
pkg() { have pkg-config && pkg-config --exists "$1" 2>/dev/null; }
header() { echo "#include <$1>" | "$2" -E -x c "${@:3}" - >/dev/null 2>&1; }
build_tools() { have gcc && have g++ && have make && header stdio.h gcc; }
new_cmake() { have cmake && printf 'cmake version 3.25\n%s\n' "$(cmake --version | head -n 1)" | sort -CV; }
# Debian's pthread variant alone will not do: inside OpenMP regions it is up to four times slower.
openblas_openmp() {
  pkg openblas || return 1
  local folder
  folder=/usr/lib/$(multiarch)
  [ -d "$folder/openblas-openmp" ] || [ ! -d "$folder/openblas-pthread" ]
}
netcdf_parallel() { [ -f "/usr/lib/$(multiarch)/netcdf/mpi/include/netcdf_par.h" ] && have mpicc; }
fftw() { pkg fftw3 && pkg fftw3f; }
fuzzer() { have clang && [ -n "$(compgen -G "$(clang -print-resource-dir)/lib/linux/libclang_rt.fuzzer-*")" ]; }
clang_openmp() { have clang && header omp.h clang -fopenmp; }

core_packages=(
  'build-essential build_tools'
  'cmake new_cmake'
  'ninja-build have ninja'
  'pkg-config have pkg-config'
  'libyaml-dev pkg yaml-0.1'
  'libopenblas-openmp-dev openblas_openmp'
  'liblapacke-dev header lapacke.h gcc'
  'libdnnl-dev header dnnl.h gcc'
  'libfftw3-dev fftw'
  'libnetcdf-mpi-dev netcdf_parallel'
  'libflac-dev pkg flac'
  'libexpat1-dev pkg expat'
  'libdcmtk-dev header dcmtk/config/osconfig.h gcc'
  'zlib1g-dev pkg zlib'
  'libeccodes-dev header eccodes.h gcc'
  'libpetsc-complex-dev pkg PETSc'
  'libslepc-complex3.18-dev pkg SLEPc'
)
scipy() { [ -x /usr/bin/python3 ] && /usr/bin/python3 -c 'import scipy.signal' >/dev/null 2>&1; }
torch() { [ -x /usr/bin/python3 ] && /usr/bin/python3 -c 'import importlib.util as u; assert u.find_spec("torch")' >/dev/null 2>&1; }
python_has() { [ -x /usr/bin/python3 ] && /usr/bin/python3 -c "import $1" >/dev/null 2>&1; }
netcdf4() { [ -x /usr/bin/python3 ] && /usr/bin/python3 -c 'import netCDF4' >/dev/null 2>&1; }
venv() { [ -x /usr/bin/python3 ] && /usr/bin/python3 -c 'import ensurepip' >/dev/null 2>&1; }
bench_packages=(
  'python3-venv venv'
  'wannier90 have wannier90.x'
)
system() { PATH=$PATH:/usr/sbin:/sbin have "$1"; }
slurm() { have srun && have sbatch && system slurmctld && system slurmd; }
test_packages=(
  'libedf-dev header edflib.h gcc'
  'libcmocka-dev header cmocka.h gcc'
  'python3-netcdf4 netcdf4'
  'python3-pandas python_has pandas'
  'python3-xarray python_has xarray'
  'python3-scipy scipy'
  'python3-torch torch'
  'clang have clang'
  'libclang-rt-14-dev fuzzer'
  'libomp-dev clang_openmp'
  'clang-format have clang-format'
  'slurm-wlm slurm'
  'munge system munged'
)
# In which tests open reports. Elsewhere than on Debian a package of this name may be another thing, and the tests are skipped without.
browser() { have chromium || have chromium-browser || have google-chrome; }
! grep -qx 'ID=debian' /etc/os-release 2>/dev/null || test_packages+=('chromium browser')
pip() { [ -x /usr/bin/python3 ] && /usr/bin/python3 -m pip --version >/dev/null 2>&1; }
# NVRTC, the compiler of the tests of GPU kernels, which need no GPU: of a toolkit, or of NVIDIA's Python packages.
nvidia=$(dirname "$0")/../build/nvidia
nvrtc() { [ -n "$(compgen -G '/usr/local/cuda*/include/nvrtc.h')" ] || header nvrtc.h gcc || [ -d "$nvidia/nvidia" ]; }
nvrtc || test_packages+=('python3-pip pip')

profile=${1:-core}
packages=("${core_packages[@]}")
case "$profile" in
core | checker) ;;
test) packages+=("${test_packages[@]}") ;;
bench) packages+=("${bench_packages[@]}") ;;
*)
  echo "setup: unknown profile '$profile' (core, test, bench, checker)" >&2
  exit 2
  ;;
esac

missing=()
find_missing() {
  local row name probe
  missing=()
  for row in "${packages[@]}"; do
    read -r name probe <<<"$row"
    $probe || missing+=("$name")
  done
}

# make_python NAME REQUIREMENTS [OPTION...] - a virtual environment build/NAME of /usr/bin/python3, kept while that and the
# packages of tests/bench/REQUIREMENTS are the same. Nothing fails without it: rows are skipped.
make_python() {
  local folder packages made
  folder=$(cd "$(dirname "$0")/.." && pwd)/build/$1
  packages=$(dirname "$0")/../tests/bench/$2
  made="$(/usr/bin/python3 --version) $(cat "$packages")"
  [ "$(cat "$folder/made" 2>/dev/null)" != "$made" ] || return 0
  echo "setup: installing what $2 lists into build/$1" >&2
  rm -rf "$folder"
  if /usr/bin/python3 -m venv "$folder" >&2 &&
    "$folder/bin/python" -m pip install --quiet -r "$packages" "${@:3}" >&2; then
    printf '%s\n' "$made" >"$folder/made"
  else
    rm -rf "$folder"
    echo "setup: pip failed (above), so there is no build/$1: rows against what it holds are skipped" >&2
  fi
}
install_bench() {
  local python
  make_python bench-python requirements.txt --no-deps
  make_python dace-python requirements_dace.txt
  python=$(dirname "$0")/../build/bench-python/bin/python
  [ ! -x "$python" ] || "$python" - >&2 <<'TEXT'
from importlib.metadata import version
names = "torch numpy scipy jax scoringrules wfdb neurokit2 biosppy onnx onnxruntime pyEDFlib mne pydicom mlcube"
names = (names + " mlperf-logging sisl sierraecg").split()
print("setup: in build/bench-python:", ", ".join(name + " " + version(name) for name in names))
TEXT
}

# With its own netCDF4 and numpy, which the tests of other things do not see.
install_checker() {
  local folder
  folder=$(dirname "$0")/../build/checker
  [ ! -d "$folder/compliance_checker" ] || return 0
  echo "setup: installing compliance-checker 6.1.0 into build/checker" >&2
  /usr/bin/python3 -m pip install --quiet --target "$folder" compliance-checker==6.1.0 >&2
}
[ "${1:-core}" != checker ] || install_checker

# Tests of GPU kernels are skipped without.
install_nvrtc() {
  nvrtc && return 0
  echo "setup: installing NVRTC 13.0.88 into build/nvidia" >&2
  /usr/bin/python3 -m pip install --quiet --target "$nvidia.part" nvidia-cuda-nvrtc==13.0.88 nvidia-cuda-runtime==13.0.96 >&2 &&
    mv "$nvidia.part" "$nvidia" || echo "setup: no NVRTC: tests of GPU kernels will be skipped" >&2
}

# What no apt command installs comes last.
finish() {
  local rc=$?
  rm -f "${log:-}"
  if [ $rc = 0 ] && [ "$profile" = test ]; then install_nvrtc; fi
  if [ $rc = 0 ] && [ "$profile" = bench ]; then install_bench; fi
}
trap finish EXIT
find_missing
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
can_install=no
if have apt-get; then
  if [ "$(id -u)" = 0 ]; then
    can_install=yes
  elif have sudo && sudo -n true 2>/dev/null; then
    can_install=yes
    as_root=(sudo -n)
  fi
fi
install=(apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=300)
if [ $can_install = no ]; then
  cat >&2 <<TEXT
setup: these are missing and cannot be installed from here: ${missing[*]}
setup: on Debian 12, as root:
  apt-get update
  ${install[*]} ${missing[*]}
setup: elsewhere, install what these Debian packages hold, then start again
TEXT
  exit 2
fi

echo "setup: installing ${missing[*]}" >&2
log=$(mktemp)
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive "$@" </dev/null >"$log" 2>&1; }
apt apt-get update -o DPkg::Lock::Timeout=300 ||
  echo "setup: apt-get update failed; going on with the package lists at hand" >&2
if ! apt "${install[@]}" "${missing[@]}"; then
  tail -n 15 "$log" >&2
  echo "setup: apt could not install: ${missing[*]}" >&2
  exit 2
fi
wanted="${missing[*]}"
hash -r
find_missing
if [ ${#missing[@]} -gt 0 ]; then
  echo "setup: installed $wanted, but this still does not work: ${missing[*]}" >&2
  exit 2
fi
