#!/usr/bin/env bash
# 1903.06681.sh [OPTION...] - spatial parallelism of convolutional networks and its performance model: steps of CosmoFlow on 64^3 voxels on one and
# two ranks of one thread, on every grid, as measured and as predicted. Half a minute; times count on two idle cores.
# shellcheck disable=SC1091,SC2154 # variables of claims.sh
set -euo pipefail
. "$(dirname "$0")/claims.sh"
begin 'Finer-grained parallelism of convolutional networks (arXiv:1903.06681)' "$@"

network=(--config configs/cosmoflow/demo.yaml --set simulate.side=64 --set 'model.net={mlperf: {base: 16, hidden1: 64, hidden2: 32, dropout: 0}}'
  --set 'data.sizes.sides=[]' --set train.batch=2)
training=("${network[@]}" --set simulate.universes=10 --set simulate.file=2 --set data.split.valid=1 --set data.split.test=1 --set train.epochs=4 --set train.optim.schedule.warmup=2 --threads 1)
app one cosmoflow run "${training[@]}" --ranks 1
app auto cosmoflow run "${training[@]}" --ranks 2 --grid auto
grids='2x1x1x1 1x2x1x1 1x1x2x1 1x1x1x2'
for grid in $grids; do app "grid_$grid" cosmoflow run "${training[@]}" --ranks 2 --grid "$grid"; done
for ranks in 1 2 4 8; do
  perform "ranks_$ranks" "$bin/cosmoflow" describe "${network[@]}" --set train.batch=1 --set describe.side=64 --set describe.channels=4 \
    --set describe.outputs=4 --grid auto --set "describe.ranks=$ranks"
done

two='CosmoFlow of 16 to 128 filters on 64^3 voxels, a batch of 2, ranks of one thread that share a machine of two cores'
measured() { event step_time measured_s "$out/$1/run.jsonl"; }
# Of the grid that the model chooses: MB of a rank, of what `describe` prints.
memory() { awk '$NF == "chosen" { print $(NF - 1) }' "$out/ranks_$1/out"; }
fastest() {
  local grid
  for grid in $grids; do measured "grid_$grid"; done | sort -g | head -n 1
}

row claim='strong scaling: a step of the same batch on 2 ranks is faster than on 1' source='abstract: "excellent strong scaling", no number' bound=2 is=near within=0.25 idle=no setting="$two" \
  why='2 is ideal; one rank leaves the second core to other programs, two do not' runs='one auto' -- quotient 'measured one' 'measured auto'
row claim='one sample can be shared: the same by depth alone' source='abstract: no number' bound=2 is=near within=0.25 idle=no setting="$two; grid 1x2x1x1" why='halos, and maps of few planes' \
  runs='one grid_1x2x1x1' -- quotient 'measured one' 'measured grid_1x2x1x1'
row claim='the performance model: time of a step, predicted / measured' source='abstract: no number' bound=1 is=near within=0.2 idle=no \
  setting="$two; the grid that is chosen; rates measured as the run begins, no profile" why='groups of loops and kernels by formulas; other programs on the machine' runs='auto' \
  -- quotient "event step_time predicted_s $out/auto/run.jsonl" 'measured auto'
row claim='the grid is chosen automatically: its time / that of the fastest of four grids' source='abstract: no number' bound=1 is=near within=0.1 idle=no setting="$two" \
  why='grids differ by less than two measurements of one of them' runs='auto grid_2x1x1x1 grid_1x2x1x1 grid_1x1x2x1 grid_1x1x1x2' -- quotient 'measured auto' fastest
for ranks in 2 4 8; do
  row claim="memory of a rank falls, so that larger samples fit: $ranks ranks that share a sample / one" source='abstract: no number' bound="$(awk "BEGIN { print 1 / $ranks }")" is=near within=0.25 \
    setting='the same network, one sample of 64^3 voxels, predicted by describe; the fastest grid' why='weights and their gradients are complete in every rank; the fastest grid is not that of least memory' \
    runs="ranks_1 ranks_$ranks" -- quotient "memory $ranks" 'memory 1'
done
row claim='weak and strong scaling to 2,048 GPUs; ResNet-50; the mesh-tangling data' source='abstract; numbers of the tables not read' why='needs GPUs; the data set is not public'
finish
