#!/usr/bin/env bash
# 2007.00072.sh [OPTION...] - data movement in training: bytes and time of a step with and without fusion, classes of operators, and layouts that are
# chosen globally, by tests/bench/train_plan and format. A minute; times count on an idle machine.
# shellcheck disable=SC1091,SC2154 # variables of claims.sh
set -euo pipefail
. "$(dirname "$0")/claims.sh"
begin 'Data movement is all you need (arXiv:2007.00072)' "$@"

step=(train_plan unet 32 16 2)
bench fused "${step[@]}"
bench unfused "${step[@]}" fuse
bench layouts format

net='a training step of a U-Net on 32^3 voxels, 16 channels, batch of 2, one thread'
fused='fused_1 fused_2 fused_3'
both="$fused unfused_1 unfused_2 unfused_3"
# column NAME CLASS FIELD: of the table of kernel classes that a run prints, from the end: 1 seconds, 2 bytes, 3 flops.
column() {
  local i
  for i in 1 2 3; do
    cat "$out/$1_$i/out" "$out/$1_$i/log" | awk -v class="exec: $2 " -v field="$3" 'index($0, class) == 1 { x = $(NF + 1 - field) } END { if (x == "") exit 1; print x }'
  done
}
moved_less() { quotient 'column unfused all 2' 'column fused all 2' | awk '{ print 100 * (1 - 1 / $1) }'; }
percent() { quotient "$1" "$2" | awk '{ print 100 * $1 }'; }

row claim='less data movement by fusion, up to' source='abstract' published=22.91 unit=% setting="$net; bytes of all loops and kernels with the pass fuse / without" \
  why='stated for comparison: another network, and the reference is the same program without fusion, not a framework; the paper fuses an encoder layer of BERT' runs="$both" -- moved_less
row claim='an encoder layer is faster than the best framework' source='abstract' published=1.30 idle=no setting="$net; time without the pass fuse / with it" \
  why='stated for comparison: the reference is the same program without fusion, not a framework, and convolutions take most of the time here; against PyTorch: docs/science/engine.md' runs="$both" \
  -- quotient 'column unfused all 1' 'column fused all 1'
row claim='contractions have most of the flops' source='table 1, through a summary' published=99.80 unit=% is=near within=0.01 setting="$net; products of matrices are convolutions" \
  why='another network' runs="$fused" -- percent "column fused 'library kernel' 3" 'column fused all 3'
row claim='and a smaller share of the time' source='table 1, through a summary' published=61.0 unit=% is=near idle=no setting="$net" \
  why='convolutions of 27 taps do more work for a byte than the products of an encoder on a GPU; what follows them is fused' runs="$fused" \
  -- percent "column fused 'library kernel' 1" 'column fused all 1'
for work in 'attention places first' 'fields both ways'; do
  row claim="layouts chosen for all operators together: $work" source='section on layouts; published: 4 to 235 times between best and worst kernel' \
    idle=no setting='time of a training step as written / with the pass layout, one thread, three runs of the program' why='stated for comparison: time of a whole step, not of a kernel' \
    runs='layouts_1 layouts_2 layouts_3' -- cell ratio work="$work" reference='without the pass' -- "$out"/layouts_*/rows.csv
done
row claim='all of BERT is faster than the best framework' source='abstract' published=1.19 why='no BERT here, and no GPU'
finish
