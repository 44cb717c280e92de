#!/usr/bin/env bash
# counts.sh PROGRAM - runs a program of this folder with the argument `counts` and judges its rows as `workflows/bench.sh --counts` does.
# Fails where the program does, where a counted row is under its goal, and where no row has one.
set -euo pipefail
program=$1 folder=${0%/*}
table=$(mktemp)
trap 'rm -f "$table"' EXIT
echo 'work,reference,version,reference_value,weir_value,unit,ratio,goal,kind,machine' > "$table"
"$program" counts | sed "s|\$|,$(awk -f "$folder/machine.awk" /proc/cpuinfo)|" >> "$table"
cat "$table"
awk -F, -v judge=counts -f "$folder/check_goals.awk" "$folder/floors.csv" "$table"
awk -F, 'NR > 1 && $8 != "" && $9 == "counted" { goals++ } END { exit !goals }' "$table"
