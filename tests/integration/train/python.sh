#!/usr/bin/env bash
# The program of docs/how-to/load-weights-in-python.md, on the weights of a training: the arrays that
# the file has, and a damaged one refused. Exit 77: netCDF4 for Python is not here.
set -u
program=$1
page=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python=${3:-/usr/bin/python3}
export PYTHONPATH=${page%/docs/*}/python PYTHONDONTWRITEBYTECODE=1

"$python" -c 'import netCDF4' 2> "$work/no" || { echo "skipped: $python has no netCDF4"; exit 77; }
"$program" "$work/run" 5 1 > "$work/out" 2> "$work/err" || { cat "$work/err"; exit 1; }
[ -e "$work/run/weights.nc" ] || { echo "skipped: this build has no NetCDF"; exit 77; }
awk '/^```/ { on = 0 } /^# load_weights.py$/ { on = 1 } on' "$page" > "$work/load_weights.py"
"$python" "$work/load_weights.py" "$work/run/weights.nc" > "$work/arrays" || exit 1
cut -d' ' -f1-4 "$work/arrays"
[ "$(wc -l < "$work/arrays")" -eq 7 ] || { echo "FAIL: not 7 arrays"; exit 1; }
grep -q '^enter.weight float32 \[2, 30\] ' "$work/arrays" || { echo "FAIL: enter.weight"; exit 1; }
cat > "$work/damage.py" << 'END'
import sys, netCDF4
with netCDF4.Dataset(sys.argv[1], "a") as nc:
    nc["enter.bias"][3] += 1
END
"$python" "$work/damage.py" "$work/run/weights.nc" || exit 1
if "$python" "$work/load_weights.py" "$work/run/weights.nc" > "$work/arrays" 2> "$work/err"; then
  echo "FAIL: damage is not seen"
  exit 1
fi
grep -q 'enter.bias is damaged' "$work/err" || { cat "$work/err"; exit 1; }
