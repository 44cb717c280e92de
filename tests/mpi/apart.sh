#!/usr/bin/env bash
# apart.sh PROGRAM RANKS_SH: where one of the ranks that train apart fails alone or hangs, all end, with the message of that rank or
# with its number, what is exchanged and its version.
set -u
program=$1
ranks=$2
. "$(dirname "$0")/script.sh"

for policy in eager '{eager: {mode: quorum}}' wagma '{local: {period: 1}}' dpsgd; do
  for how in fails stopped; do
    mkdir -p "$work/$how"
    rm -rf "$work/$how"/*
    status=0
    timeout 100 bash "$ranks" 2 "$program" 2 "$work/$how" "$policy" $how >"$work/log" 2>&1 || status=$?
    [ $status != 77 ] || { cat "$work/log"; exit 77; }
    [ $status != 124 ] || fail "$policy, $how: the ranks hang"
    if [ $how = fails ]; then
      [ $status = 3 ] || fail "$policy, $how: status $status"
      grep -q 'rank 1 of 2 ends the run: .*sample 15 is not there' "$work/log" || fail "$policy, $how: the reason is not named"
    else
      [ $status = 8 ] || fail "$policy, $how: status $status"
      who='for \(rank 1 \|posts of 1 of the ranks 1\)'
      case $policy in *eager* | wagma) version="version [0-9]* of " ;; *) version= ;; esac
      grep -q "rank 0 of 2: $version'[a-z ]*' stalls: .*$who" "$work/log" || fail "$policy, $how: the stall is not reported"
      grep -q "rank 0 of 2: $version'[a-z ]*' timed out after .*$who.*(comm.stall)" "$work/log" ||
        fail "$policy, $how: the rank is not named"
    fi
    echo "$policy, $how: $(grep -o "rank 0 of 2: .*timed out.*\|rank 1 of 2 ends.*" "$work/log" | head -n 1)"
  done
done
