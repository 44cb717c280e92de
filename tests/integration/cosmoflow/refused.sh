# The rows of tests/integration/refused.sh for cosmoflow: commands, text, settings.
# shellcheck shell=bash disable=SC2154

# The parts of universes that are made here.
refused run,describe 'data.split: 16 universes, of which 16 are to validate on and 3 for tests: none is left' data.split.valid=16
refused run,describe 'data.split: 16 universes, of which 16 are' data.split.valid=16 'source.input=[synth://]'
refused run,describe 'data.augment.shift: only whole periodic boxes can be moved, and 128 samples' data.augment.shift=true simulate.block=16

# The training.
refused run,describe "train: target.metric: 'mlperf' has no such metric: choose one of: mae, mse" train.target.metric=nothing
refused run,describe "train: target.metric: 'mlperf' has no such metric" train.target.metric=nothing 'source.input=[none]'
refused run,describe "train: target.metric: 'unet' has no such metric: choose one of: accuracy, mean_iou, iou_0" 'model.net={unet: {}}' \
  mllog.write=false train.target.metric=mae 'source.input=[none]'
accepted describe 'model.net={unet: {}}' mllog.write=false train.target.metric=iou_1 'source.input=[none]'
accepted describe 'model.net={unet: {}}' mllog.write=false train.target.metric=overlap_1 'source.input=[none]'
refused run,describe 'train: target.metric needs validation samples' train.target.metric=mae data.split.valid=0
refused run,describe 'train: patience 3 needs validation samples' train.patience=3 data.split.valid=0
refused run,describe 'train: with drop_last, 10 samples are fewer than one update of 100' train.drop_last=true train.batch=100
refused run,describe 'train: the number of steps overflows' train.epochs=1000000 train.batch=1 data.split.valid=0 data.split.test=0 \
  simulate.universes=100000000 simulate.side=512 simulate.block=4 data.augment.symmetry=none model.net='{mlperf: {blocks: 1, base: 4}}'
refused run,describe 'schedule: warmup: 9 epochs exceed the run of 3' train.optim.schedule.shape=cosine train.optim.schedule.warmup=9
refused run,describe 'schedule: warmup: 9 epochs exceed the run of 3' train.optim.schedule.shape=cosine train.optim.schedule.warmup=9 \
  'source.input=[none]'
refused run,describe 'schedule: lr_min, 0.5, is above lr' train.optim.schedule.lr_min=0.5
refused run,describe 'schedule: unit: mlperf has one rate per epoch' train.optim.schedule.unit=steps
refused run,describe 'schedule: factors has 1 entries and at has 2' 'train.optim.schedule.factors=[0.5]' 'train.optim.schedule.at=[1,2]'
refused run,describe 'schedule: at: 1 follows 2' 'train.optim.schedule.at=[2,1]'
refused run,describe 'load.memory.speed is not a list of pairs' 'load.memory.speed=[1]'
refused run,describe 'load.directory.bytes is 5, but load.directory.path is empty' load.directory.bytes=5
refused run,describe 'load.staging.bytes, 9, is smaller than a sample' load.staging.bytes=9

refused run,describe 'several networks (models.seeds) do not take initial_weights' 'train.models.seeds=[1,2]' train.initial_weights=w.nc

# The network.
refused run,describe 'model.loss: mlperf makes numbers, whose loss is mse or mae' model.loss=cross_entropy
refused run,describe 'model.loss: mlperf makes numbers, whose loss is mse or mae' model.loss=cross_entropy 'source.input=[none]'
refused run,describe 'mllog.write: the log of MLPerf HPC has the error of estimates' 'model.net={unet: {}}'
refused run,describe 'model.net: unet sees other channels than the one that it classifies' 'model.net={unet: {}}' mllog.write=false \
  'simulate.redshifts=[0]'
refused run,describe 'model.segment.low: 9 is above model.segment.high' 'model.net={unet: {}}' mllog.write=false model.segment.low=9

# The log of the closed division.
refused run,describe 'model.net.mlperf.blocks: 4: the closed division' mllog.division=closed model.net='{mlperf: {blocks: 4}}'
refused run,describe 'train.optim.rule: adam: the closed division' mllog.division=closed model.net=mlperf data.augment.symmetry=none \
  train.optim.rule=adam 'source.input=[none]'
refused run,describe 'data.augment.symmetry: the closed division' mllog.division=closed model.net=mlperf
refused run,describe 'source.input: the closed division' mllog.division=closed model.net=mlperf data.augment.symmetry=none \
  'train.target={metric: mae, value: 0.124}'
accepted describe mllog.division=closed model.net=mlperf data.augment.symmetry=none 'train.target={metric: mae, value: 0.124}' \
  'source.input=[none]'

# The grid: on the ranks that there are, and on those that describe is for.
refused run,describe 'grid: 3 x 1 x 1 x 1 (samples, depth, height, width; 0: remaining) does not fit 1 rank' \
  grid.samples=3 describe.ranks=1
refused run,describe 'grid: samples and depth are both 0' grid.depth=0
refused describe 'does not fit 8 ranks' grid.samples=3 describe.ranks=8
refused run,describe 'load.remote is on, but there is only one rank' load.remote=on
accepted describe load.remote=on grid.samples=2
accepted describe grid.samples=2 grid.depth=2
accepted describe grid.samples=0 grid.depth=2 describe.ranks=4

# The universes.
for commands in run,prepare,describe 'run,predict,convert,inspect,power'; do
  [ "$commands" = run,prepare,describe ] && made=() || made=('source.input=[synth://]' predict.weights=weights.nc)
  refused "$commands" 'simulate.block: 5 does not divide simulate.side=32' simulate.block=5 "${made[@]}"
  refused "$commands" 'simulate.counts: cic gives no whole numbers' simulate.counts=cic "${made[@]}"
  refused "$commands" 'simulate.range.omega_m: has to be two numbers' simulate.preset=custom 'simulate.range.omega_m=[0.3]' "${made[@]}"
  refused "$commands" 'simulate.redshifts: 30 is before simulate.start' simulate.method=pm 'simulate.redshifts=[30]' "${made[@]}"
  refused "$commands" 'simulate.particles: 3 along a side' simulate.particles=3 "${made[@]}"
done

refused run,describe 'files.range: 1 are stated, and what simulate makes takes lo and hi of each label: 4' 'files.range=[1]'

# What is read, and what is named for it.
refused run,describe,predict,convert,inspect,power 'synth://: is a whole source' 'source.input=[synth://,files]' predict.weights=weights.nc
refused predict 'predict.weights names no file' 'source.input=[none]'
refused predict 'predict: name files, folders or lists of samples' predict.weights=weights.nc
refused convert 'convert: name files, folders or lists of samples'
refused inspect 'inspect: name files, folders or lists of samples'
refused power 'power: name files, folders or lists of samples'
refused convert "there is no format 'grib' of samples" convert.format=grib 'source.input=[synth://]'
refused eval 'eval.sets is empty' eval.part=test
refused eval 'eval.sets: a set needs name and predictions' 'eval.sets=[{name: a}]'
refused eval "eval.sets: two sets have the name 'a'" 'eval.sets=[{name: a, predictions: p.nc}, {name: a, predictions: q.nc}]'
refused eval 'ridge: penalties is empty' 'eval.sets=[{name: a, predictions: p.nc}]' 'eval.ridge.penalties=[]'
refused eval 'eval.fisher.box: how many cells a sample has' 'eval.sets=[{name: a, predictions: p.nc}]' eval.fisher.box=100
