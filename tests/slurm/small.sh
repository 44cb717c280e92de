# small.sh - sourced by the tests of this folder: universes of $side^3 voxels, a network that trains on them in a second, its losses.
set -u
program=$1 source=$2
work=$WEIR_TEST_CLUSTER/work
mkdir "$work" && cd "$work" || exit 1
# Virtual nodes are one machine: shared memory has the same names on both, and there are more ranks than processors.
export OMPI_MCA_btl=tcp,self OMPI_MCA_mpi_yield_when_idle=1
[ "$(id -u)" != 0 ] || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

fail() {
  tail -n 40 log ./*.out 2>/dev/null
  echo "failed: $*"
  exit 1
}
# within SECONDS COMMAND...: waits until it succeeds.
within() {
  local end=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    [ $SECONDS -lt $end ] || return 1
    sleep 0.05
  done
}
# run EPOCHS: the words of a run, but for its folder and grid.
run() {
  echo run --set source.input=[universes] --set data.split.valid=2 --set data.split.test=2 --set data.augment.symmetry=octahedral \
    --config net.yaml --set train.epochs="$1" --set train.batch=2 --set train.optim.schedule.lr=0.01 \
    --set train.compare_every=1 --set exec.tier=vector
}
echo 'model: {net: {mlperf: {blocks: 2, base: 4, hidden1: 8, hidden2: 4, dropout: 0.1}}}' >net.yaml
losses() { grep '"epoch_end"' "$1/run.jsonl" | sed 's/.*"valid_loss": \([^,]*\),.*/\1/'; }

status=0
"$program" prepare --set simulate.universes=10 --set simulate.side="$side" --set simulate.particles="$side" --set simulate.box=128 \
  --set simulate.redshifts=[0,0.5] --set simulate.preset=wide2 --out universes >log 2>&1 || status=$?
[ $status != 7 ] || { echo "skipped: this build has no FFTW or no NetCDF"; exit 77; }
[ $status = 0 ] || fail "prepare: status $status"
