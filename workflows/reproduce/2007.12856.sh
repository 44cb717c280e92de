#!/usr/bin/env bash
# 2007.12856.sh [OPTION...] - hybrid-parallel training of 3D networks (arXiv:2007.12856) and CosmoFlow of MLPerf HPC (arXiv:2110.11466): results on
# grids of ranks, errors by the size of samples, numbers of parameters. Three minutes.
# shellcheck disable=SC1091,SC2154 # variables of claims.sh
set -euo pipefail
. "$(dirname "$0")/claims.sh"
begin 'Hybrid-parallel 3D networks and MLPerf HPC (arXiv:2007.12856, 2110.11466)' "$@"

flow sizes cosmoflow
for grid in 1x1x1x1 2x1x1x1 1x2x1x1 1x1x2x1; do
  ranks=2
  [ $grid != 1x1x1x1 ] || ranks=1
  app "grid_$grid" cosmoflow run --config configs/cosmoflow/tiny.yaml --threads 1 --ranks $ranks --grid $grid
done
for side in 128 256 512; do
  perform "oyama_$side" "$bin/cosmoflow" describe --set model.net=oyama --set "describe.side=$side" --set describe.channels=4 --set describe.outputs=4
done
perform mlperf "$bin/cosmoflow" describe --set model.net=mlperf --set describe.side=128 --set describe.channels=4 --set describe.outputs=4

loss() { event run_end best_loss "$out/$1/run.jsonl"; }
# The largest relative difference of losses on grids of two ranks from those on one.
apart() {
  local grid
  for grid in 2x1x1x1 1x2x1x1 1x1x2x1; do paste <(loss "grid_$grid") <(loss grid_1x1x1x1); done |
    awk '{ d = $1 / $2 - 1; d = d < 0 ? -d : d; if (d > most) most = d } END { print most + 1e-12 }'
}
errors() { event run_end best_loss "$out/sizes/run_$1"/*/run.jsonl; }
parameters() { sed -n 's/^# a sample of .*: \([0-9]*\) parameters;.*/\1/p' "$out/$1/out"; }

row claim='spatial and sample parallelism change results by rounding alone: losses on 3 grids of 2 ranks / on one, largest difference' source='2007.12856: abstract, no number' \
  bound=1e-4 is=most setting='CosmoFlow on 32^3 voxels, 2 redshifts, 15 steps; 1e-12 is added' why='sums over ranks have another order' \
  runs='grid_1x1x1x1 grid_2x1x1x1 grid_1x2x1x1 grid_1x1x2x1' -- apart
row claim='larger samples are predicted better: mean square error of an eighth of a box / of the whole' source='2007.12856: abstract (order of magnitude, 512^3 / 128^3: 64 times the voxels)' \
  published=10 is=least setting='160 universes of 32^3 cells, 128 Mpc/h, 2LPT, 2 parameters, 10 epochs; validation of 32 universes; two seeds' \
  why='8 times the voxels, not 64; few universes and steps, in which neither network learns all that its samples hold' \
  runs='sizes/run_whole/seed_1 sizes/run_whole/seed_2 sizes/run_eighths/seed_1 sizes/run_eighths/seed_2' -- quotient 'errors eighths' 'errors whole'
for side in 128 256 512; do
  row claim="parameters of the network for $side^3 voxels" source='2007.12856: published program (LBANN, 2023-01), counted in the notes' published=9438644 is=near within=0 \
    setting='model.net oyama, 4 channels, 4 outputs' why='the paper'"'"'s own table was not read' runs="oyama_$side" -- parameters "oyama_$side"
done
row claim='parameters of the network of the benchmark' source='2110.11466: reference implementation, counted in the notes' published=8907556 is=near within=0 \
  setting='model.net mlperf, 128^3 voxels, 4 channels, 4 outputs' why='the same layers' runs='mlperf' -- parameters mlperf
row claim='strong and weak scaling to 2,048 GPUs, samples of 512^3' source='2007.12856: abstract' why='needs GPUs; memory of a rank and time by grid: 1903.06681 on this page'
row claim='validation error of 0.124 on the data of MLPerf HPC' source='2110.11466: rules' published=0.124 \
  why='needs 589,824 samples (5 TB); configs/cosmoflow/mlperf.yaml runs it on a cluster'
row claim='512 to 8,192 nodes of Fugaku at the same batch (4 x 4 spatially): faster by' source='2110.11466: public logs, recomputed in the notes' published=2.23 why='needs 8,192 nodes'
finish
