#!/usr/bin/env bash
# 2005.00124.sh [OPTION...] - WAGMA (arXiv:2005.00124), eager SGD (arXiv:1908.04207) and Ok-Topk (arXiv:2201.07598): throughput of exchange
# policies on ranks that are late, by the simulated network of `cosmoflow scaling`. A minute.
# shellcheck disable=SC1091,SC2154 # variables of claims.sh
set -euo pipefail
. "$(dirname "$0")/claims.sh"
begin 'Exchange between replicas: WAGMA, eager SGD, Ok-Topk (arXiv:2005.00124, 1908.04207, 2201.07598)' "$@"

flow cosmoflow cosmoflow
scaling=$out/cosmoflow

# faster POLICY OTHER DIR...: throughput relative to another policy, of each run.
faster() {
  local policy=$1 other=$2 dir
  shift 2
  for dir in "$@"; do
    quotient "cell 'time per step (s)' policy=$other -- $dir/scaling.csv" "cell 'time per step (s)' policy=$policy -- $dir/scaling.csv"
  done
}

notes='notes, not verified'
simulated='simulated ranks of a Cray Aries, three seeds of the delays'
seeds='seed_1 seed_2 seed_3'
# dirs STEP: its instances, as folders in OUT.
dirs() { local seed; for seed in $seeds; do printf 'cosmoflow/%s/%s ' "$1" "$seed"; done; }
for late in 200:1.50 300:1.75 400:2.01; do
  row claim="eager SGD, solo, hyperplane regression, 8 ranks of which one is late by ${late%:*} ms: faster than synchronous SGD" \
    source="1908.04207: $notes" published="${late#*:}" is=fitted setting="computing takes 0.31 s; $simulated" \
    why='the time of computing is not known and was fitted: one value gives all three ratios' runs="$(dirs "hyperplane_${late%:*}")" \
    -- cell 'speed-up over allreduce' policy=eager -- "$scaling/hyperplane_${late%:*}"/*/scaling.csv
done
row claim='eager SGD, ResNet-50, 64 ranks of which 4 are late by 0.3 s: faster than synchronous SGD' source='1908.04207: abstract; setting: reference notes' \
  published=1.27 is=fitted setting="102 MB, computing takes 0.8 s, majority; $simulated" runs="$(dirs resnet50)" \
  why='the time of computing is not known and was fitted: 0.55 s gives 1.37, 1.1 s 1.20 (docs/science/exchange.md)' \
  -- faster eager allreduce "$scaling"/resnet50/*
for other in sgp:2.10 dpsgd:1.88 local:2.33; do
  row claim="WAGMA, reinforcement learning, 1024 ranks: throughput over ${other%:*}" source="2005.00124: $([ "${other%:*}" = sgp ] && echo 'abstract (up to 2.1)' || echo "$notes")" \
    published="${other#*:}" is=least setting="34 MB, 1.7 s + exp(-1.6 + 1.3 N) s, at most 43.5 s; period 32; simulated ranks of a Cray Aries, one seed of the delays" \
    runs='cosmoflow/reinforcement/seed_1' why='late ranks are drawn anew in each step and links are not shared; the number of peers and the period are not in the abstract' \
    -- faster wagma "${other%:*}" "$scaling"/reinforcement/*
done
row claim='WAGMA, ResNet-50, 64 ranks of which 2 are late by 0.32 s: throughput over allreduce' source='2005.00124: setting of the published program; no number in the abstract' \
  setting="102 MB, computing takes 0.4 s, period 10, groups of 8; $simulated" runs="$(dirs wagma_resnet50)" \
  why='stated for comparison with other policies' -- faster wagma allreduce "$scaling"/wagma_resnet50/*
row claim='Ok-Topk, BERT, 256 GPUs: throughput over dense and sparse exchanges, at least' source='2201.07598: abstract (3.29 to 12.95)' published=3.29 unit=1 \
  why='the messages of 64 ranks with the bytes of BERT take half an hour of a core: docs/science/exchange.md, "Sparse gradients on many ranks"'
finish
