#!/usr/bin/env bash
# exchange.sh PROGRAM RANKS_SH RANKS: the tests of exchange policies on so many ranks, in a folder of their own.
set -u
. "$(dirname "$0")/script.sh"

mkdir "$work/tests"
bash "$2" "$3" "$1" "$3" "$work/tests"
