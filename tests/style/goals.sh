#!/usr/bin/env bash
# goals.sh ROOT - how tests/bench/check_goals.awk judges rows, the lines of tests/bench/floors.csv, and the machines that
# tests/bench/machine.awk names.
set -euo pipefail
root=${1:?goals.sh: name the folder of the sources}
bench=$root/tests/bench
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

cat >"$work/floors" <<'TEXT'
work,reference,machine,version,floor,date,reason
step,PyTorch,Zen 4,2.15.0,1.2,2026-11-28,convolutions, of 64 channels
step,PyTorch,Zen 5,2.15.0,1.1,2026-11-28,convolutions
arena,bound,Zen 4,,0.8,2026-11-28,alignment
TEXT
heading='work,reference,version,reference_value,weir_value,unit,ratio,goal,kind,machine'

# judge NAME JUDGE EXIT-STATUS TEXT [FLOORS] - judges the rows of stdin; TEXT is said, or nothing where it is empty.
judge() {
  local code=0
  { echo "$heading"; cat; } >"$work/rows"
  awk -F, -v judge="$2" -f "$bench/check_goals.awk" "${5:-$work/floors}" "$work/rows" 2>"$work/said" || code=$?
  if [ "$code" != "$3" ] || { [ -n "$4" ] && ! grep -qF -- "$4" "$work/said"; } || { [ -z "$4" ] && [ -s "$work/said" ]; }; then
    echo "goals: $1: exit status $code, not $3, or not '$4' in:"
    cat "$work/said"
    failures=$((failures + 1))
  fi
}

judge 'goal met' all 0 'Zen 4: 1 of 1 goals hold' <<<'step,PyTorch,2.15.0 compiled,1,1,s,1.500,1.5,measured,Zen 4'
judge 'goal met, with a floor' all 0 'its floor of 2026-11-28 can go' <<<'step,PyTorch,2.15.0 eager,1,1,s,1.600,1.5,measured,Zen 4'
judge 'on the floor' all 0 'of 2026-11-28: convolutions, of 64 channels' <<<'step,PyTorch,2.15.0 eager,1,1,s,1.200,1.5,measured,Zen 4'
judge 'under the floor' all 1 'under its goal 1.5 and its floor 1.2' <<<'step,PyTorch,2.15.0 eager,1,1,s,1.199,1.5,measured,Zen 4'
judge 'floor of another machine' all 0 'not under its floor 1.1' <<<'step,PyTorch,2.15.0,1,1,s,1.150,1.5,measured,Zen 5'
judge 'no floor on the machine' all 1 'has no floor on Sapphire Rapids' <<<'step,PyTorch,2.15.0,1,1,s,1.400,1.5,measured,Sapphire Rapids'
judge 'no floor against the version' all 1 'has no floor on Zen 4' <<<'step,PyTorch,2.16.0,1,1,s,1.400,1.5,measured,Zen 4'
judge 'no version' all 0 'not under its floor 0.8' <<<'arena,bound,,1,1,bytes,0.850,0.9,counted,Zen 4'
judge 'no goal' all 0 '' <<<'step,memcpy,,1,1,s,0.100,,measured,Zen 4'
judge 'times are not judged' counts 0 'Zen 4: 0 of 1 goals hold; 0 rows are between floor and goal, 1 under both' \
  <<<'step,PyTorch,2.15.0,1,1,s,0.500,1.5,measured,Zen 4'
judge 'counts are judged' counts 1 'under its goal 0.9 and its floor 0.8' <<<'arena,bound,,1,1,bytes,0.700,0.9,counted,Zen 4'
judge 'summary by machine' all 1 'Zen 5: 1 of 2 goals hold; 1 rows are between floor and goal, 0 under both' <<'TEXT'
step,PyTorch,2.15.0,1,1,s,1.150,1.5,measured,Zen 5
arena,bound,,1,1,bytes,0.950,0.9,counted,Zen 5
arena,bound,,1,1,bytes,0.700,0.9,counted,Zen 4
TEXT
judge 'floor above the goal' all 2 'its floor 1.2 is not under its goal 1.1' <<<'step,PyTorch,2.15.0,1,1,s,1.000,1.1,measured,Zen 4'
judge 'a row of nine columns' all 2 'not the ten columns' <<<'step,PyTorch,2.15.0,1,1,s,1.500,1.5,measured'
judge 'a ratio that is NaN' all 2 'the ratio is no number' <<<'step,PyTorch,2.15.0,1,1,s,-nan,1.5,measured,Zen 4'
judge 'an infinite ratio' all 2 'the ratio is no number' <<<'step,PyTorch,2.15.0,1,1,s,inf,1.5,measured,Zen 4'

# Floors that are no floors.
for line in 'step,PyTorch,Zen 4,2.15.0,1.2,2026-11-28,' 'step,PyTorch,Zen 4,2.15.0,1.2,today,why' \
  'step,PyTorch,,2.15.0,1.2,2026-11-28,why' 'step,PyTorch,Zen 4,2.15.0,0,2026-11-28,why' 'step,PyTorch,1.2,why'; do
  printf '%s\n' 'work,reference,machine,version,floor,date,reason' "$line" >"$work/malformed"
  judge "floor '$line'" all 2 'not work,reference,machine,version,floor,date,reason' "$work/malformed" </dev/null
done
sed -n '1p;2p;2p' "$work/floors" >"$work/twice"
judge 'two floors of a row' all 2 'has a floor already' "$work/twice" </dev/null
judge 'the floors of this project' all 0 '' "$bench/floors.csv" </dev/null

# machine VENDOR FAMILY MODEL NAME
machine() {
  local name
  name=$(printf 'vendor_id\t: %s\ncpu family\t: %s\nmodel\t\t: %s\nmodel name\t: some processor\n' "$1" "$2" "$3" |
    awk -f "$bench/machine.awk")
  [ "$name" = "$4" ] || { echo "goals: $1 $2/$3 is named '$name', not '$4'"; failures=$((failures + 1)); }
}
machine AuthenticAMD 25 17 'Zen 4'
machine AuthenticAMD 25 33 'Zen 3'
machine AuthenticAMD 26 2 'Zen 5'
machine GenuineIntel 6 143 'Sapphire Rapids'
machine GenuineIntel 6 1 'GenuineIntel 6/1'
[ "$(awk -f "$bench/machine.awk" </dev/null)" = unknown ] || { echo 'goals: a machine without a name'; failures=$((failures + 1)); }

[ "$failures" = 0 ]
