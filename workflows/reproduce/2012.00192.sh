#!/usr/bin/env bash
# 2012.00192.sh [OPTION...] - LifeStream: throughput of the end-to-end query and of its operators, and the skipping of what cannot produce output,
# by tests/bench/physio_query and physio_gap. Needs NumPy (workflows/setup.sh bench); half a minute on an idle core.
# shellcheck disable=SC1091,SC2154 # variables of claims.sh
set -euo pipefail
. "$(dirname "$0")/claims.sh"
begin 'LifeStream: queries on physiological streams (arXiv:2012.00192)' "$@"

bench query physio_query
once='one thread, streams in memory, three runs of the program'
queries='query_1 query_2 query_3'

row claim='end to end (fill, resample, normalise, join) over numeric libraries, up to' source='abstract' published=3.2 is=least \
  idle=no setting="over NumPy in f32; $once" runs="$queries" \
  why='the reference is not theirs: NumPy by windows of a minute, in single precision, which takes a fraction of the time of the published program with lists of Python' \
  -- cell ratio work='end to end' reference='NumPy f32' -- "$out"/query_*/rows.csv
row claim='the same with gaps of a second' source='abstract: no number' idle=no setting="over NumPy in f32; $once" runs="$queries" why='stated for comparison' \
  -- cell ratio work='end to end with gaps of 1 s' reference='NumPy f32' -- "$out"/query_*/rows.csv
row claim='targeted query processing: a join of signals of which one is absent for 90 % of the time is faster' source='abstract: no number' \
  idle=no setting="over the same without skipping; $once" runs="$queries" why='chunks in which a signal is absent are not computed; ten times less work, and chunks that stay in the cache' \
  -- cell ratio work='join with 90 % gaps' -- "$out"/query_*/rows.csv
row claim='memory is bounded before a run: that of 100 h above that of 1 h' source='abstract: static memory plan, no number' unit=MB setting="$once" runs="$queries" \
  why='at least 0.001 is printed' -- cell weir_value work='memory of 100 h above 1 h' -- "$out"/query_*/rows.csv
row claim='end to end over streaming engines, up to' source='abstract' published=7.5 \
  why='Trill needs .NET Core, which Debian 12 does not have; LifeStream itself has no package either'
row claim='cardiac-arrest prediction on recordings of a hospital' source='evaluation, number not read' why='the recordings of SickKids are not public; configs/physio_stream/query_cap.yaml is the query'
finish
