#!/usr/bin/env bash
# run_python.sh PROGRAM TEST.PY [ARGUMENT...] - runs the test of the program in a scratch folder by /usr/bin/python3, or by
# WEIR_PYTHON, as one that has kwant or sisl. Exit 77: no Python with what it needs is here.
set -euo pipefail
python=${WEIR_PYTHON:-/usr/bin/python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ -x "$python" ] || { echo "skipped: there is no $python"; exit 77; }
PYTHONDONTWRITEBYTECODE=1 "$python" "$2" "$1" "$work" "${@:3}"
