#!/usr/bin/env bash
# 2101.08734.sh [OPTION...] - NoPFS: a loader that knows the order of samples, by tests/bench/cosmo_loader: how long steps wait for a slow source,
# with it and without. Seconds; on an idle machine.
# shellcheck disable=SC1091,SC2154 # variables of claims.sh
set -euo pipefail
. "$(dirname "$0")/claims.sh"
begin 'NoPFS: clairvoyant prefetching (arXiv:2101.08734)' "$@"

bench loader cosmo_loader
loaders='loader_1 loader_2 loader_3'
step='a step computes for 10 ms on one processor, samples of 2 MB of a source that sleeps; three runs of the program'

row claim='steps wait little: close to the bound without I/O' source='section 10.7 of the notes: simulator, "close to the no-stall bound", no number' bound=5 unit=% is=most idle=no \
  setting="0.8 steps a read; time that a step waits, of what it computes; $step" why='one process and one source here' runs="$loaders" \
  -- cell weir_value work='loader: wait of a step at 0.8 steps a read' -- "$out"/loader_*/rows.csv
row claim='the same where samples stay in memory after the first epoch' source='the same' bound=5 unit=% is=most idle=no setting="3 steps a read; $step" \
  why='no time at all counts as 0.01 %' runs="$loaders" -- cell weir_value work='loader: wait of a step at 3 steps a read (kept)' -- "$out"/loader_*/rows.csv
row claim='naive loading takes longer, MNIST: 1.7 times' source='simulator, as read' published=1.7 is=near idle=no setting="each sample read when it is due, / with the loader; 0.8 steps a read; $step" \
  why='a property of reading time / computing time, which is 1.25 / 1 here' runs="$loaders" \
  -- cell ratio work='loader: a step at 0.8 steps a read' -- "$out"/loader_*/rows.csv
row claim='CosmoFlow, 262,144 samples of 16 MB: over PyTorch on 1,024 GPUs' source='evaluation, as read' published=2.1 \
  why='needs 1,024 GPUs and a parallel file system; on ranks: mpiexec -n 2 build/release/bench/cosmo_loader'
row claim='ImageNet-1k: over PyTorch on 1,024 GPUs' source='evaluation, as read' published=5.4 why='needs 1,024 GPUs and images'
row claim='samples of ImageNet-1k that one of 16 workers reads more than 10 times in 90 epochs' source='section 3, as read' published=31635 unit=samples \
  why='no command prints it; a unit test has the same number (libcore/load/sampler_test.c)'
finish
