#!/usr/bin/env bash
# times.sh PROGRAM TIMES.PY - runs it in a scratch folder. Exit 77: no Python with NumPy and netCDF4 is here.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ -x /usr/bin/python3 ] || { echo "skipped: there is no /usr/bin/python3"; exit 77; }
PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$2" "$1" "$work"
