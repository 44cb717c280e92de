#!/usr/bin/env bash
# files.sh PROGRAM FILES.PY - runs it in a scratch folder. Exit 77: no Python with NumPy is here.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ -x /usr/bin/python3 ] || { echo "skipped: there is no /usr/bin/python3"; exit 77; }
/usr/bin/python3 "$2" "$1" "$work"
