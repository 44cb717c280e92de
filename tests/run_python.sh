#!/usr/bin/env bash
# run_python.sh [--packages] PROGRAM TEST.PY [ARGUMENT...] - runs the test of the program in a scratch folder by /usr/bin/python3, or by
# WEIR_PYTHON, as one that has kwant. --packages: the test compares with packages of tests/bench/requirements.txt; it is run by
# build/bench-python where ./workflows/setup.sh bench has made that. Exit 77: no Python with what it needs is here.
set -euo pipefail
python=/usr/bin/python3
if [ "$1" = --packages ]; then
  shift
  packages=$(cd "${BASH_SOURCE[0]%/*}/.." && pwd)/build/bench-python/bin/python
  [ ! -x "$packages" ] || python=$packages
fi
python=${WEIR_PYTHON:-$python}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ -x "$python" ] || { echo "skipped: there is no $python"; exit 77; }
PYTHONDONTWRITEBYTECODE=1 "$python" "$2" "$1" "$work" "${@:3}"
