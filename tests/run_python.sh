#!/usr/bin/env bash
# run_python.sh PROGRAM TEST.PY [ARGUMENT...] - runs the test of the program in a scratch folder. Exit 77: no Python with what it needs
# is here.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ -x /usr/bin/python3 ] || { echo "skipped: there is no /usr/bin/python3"; exit 77; }
PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$2" "$1" "$work" "${@:3}"
