#!/usr/bin/env bash
# alone.sh PROGRAM RANKS_SH: what is not made for ranks is refused on two, by each of them and before a folder is made.
set -u
program=$1
ranks=$2
. "$(dirname "$0")/script.sh"

case ${program##*/} in
  cosmoflow) commands="inspect power describe" made=run ;;
  weather_ensemble) commands="check describe" made=run ;;
  quantum_transport) commands=describe made=run ;;
  physio_stream) commands="prepare bench replay describe" made=run ;;
esac
n=0
for command in $commands "site stats"; do
  [ "$command" != "site stats" ] || [ "${program##*/}" = physio_stream ] || continue
  status=0
  timeout 60 bash "$ranks" 2 bash -c '"$@"; status=$?; echo "rank ends with $status"; sleep 0.2; exit $status' \
    -- "$program" $command --out "$work/out" >"$work/log" 2>&1 || status=$?
  [ $status != 77 ] || { cat "$work/log"; exit 77; }
  [ $status = 2 ] || fail "$command: status $status"
  grep -q "${command%% *}: started as 2 processes, each of which would do the whole work.*${made:-no command of this program}" "$work/log" ||
    fail "$command: the reason is missing"
  ! grep 'rank ends with' "$work/log" | grep -v 'with 2$' || fail "$command: another status"
  [ ! -e "$work/out" ] || fail "$command: a folder was made"
  n=$((n + 1))
done
echo "$n commands refused"
