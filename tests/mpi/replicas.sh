#!/usr/bin/env bash
# replicas.sh PROGRAM RANKS_SH RANKS: trainings on so many threads and on as many ranks of MPI end with the same bits.
set -u
. "$(dirname "$0")/script.sh"

mkdir "$work/threads" "$work/ranks"
"$1" threads "$3" "$work/threads" >"$work/of_threads" || fail "on threads"
status=0
bash "$2" "$3" "$1" ranks "$3" "$work/ranks" >"$work/of_ranks" || status=$?
[ $status != 77 ] || { cat "$work/of_ranks"; exit 77; }
[ $status = 0 ] || fail "on ranks of MPI"
grep ^grid "$work/of_ranks" >"$work/log" # MPI may print as well
[ -s "$work/log" ] || fail "no digest"
diff "$work/of_threads" "$work/log" || fail "other bits"
cat "$work/log"
