# The rows of tests/integration/refused.sh for physio_stream: commands, text, settings.
# shellcheck shell=bash disable=SC2154

plain=output.features=false
x='{name: x}'

# The detector, on the built-in recording and on one that is not there.
for input in input.signal=ECG input.record=none input.csv=none.csv; do
  refused run,describe 'detect.front.lo is 20 Hz and detect.front.hi 10 Hz' detect.front.lo=20 detect.front.hi=10 "$input"
done
refused bench 'detect.front.lo is 20 Hz and detect.front.hi 10 Hz' detect.front.lo=20 detect.front.hi=10
refused run,describe 'is not inside 0..25 Hz' ecgsyn.model.rate=50 detect.front.hi=40
refused run,describe 'stream.memory: the plan needs' stream.memory=1e-6

# The built-in recording.
refused run,describe,prepare,bench 'ecgsyn: low 2 mV is not below high 1.2 mV' ecgsyn.model.low=2
refused run,describe,prepare,bench 'ecgsyn.model.rate: 100.123456789' ecgsyn.model.rate=100.12345678912345
refused prepare 'ecgsyn.abp.rate: 33.5 Hz is not whole' ecgsyn.abp.on=true ecgsyn.abp.rate=33.5
refused prepare 'ecgsyn.abp.zero_min: more than zero_max' ecgsyn.abp.on=true ecgsyn.abp.zero_min=9 ecgsyn.abp.zero_max=8
refused run,describe "there is no signal 'ABP' in the built-in recording" input.signal=ABP
refused run,describe 'output.start: 1e+06 s is past the end of ecgsyn, which is 60 s long' output.start=1e6
refused run,describe 'output.strip: 600 s are 6000000 samples' output.strip=600 ecgsyn.model.rate=10000

# What is read.
refused run,describe,bench,prepare 'input.record is a and input.csv is b: only one of them' input.record=a input.csv=b
refused run,describe 'input.live is - and input.csv is b: only one of them' input.live=- input.csv=b
refused run,describe 'input.fs is 100 Hz, but it is for text files' input.fs=100
accepted prepare input.fs=100
refused convert 'convert: set input.record, input.csv or input.records' input.fs=100
refused run,describe,convert,eval 'input.records lists recordings, and input names another one too' 'input.records=[a,b]' input.record=c
refused run,describe,eval,convert 'input.from is 9 s and input.to 9 s: no time is between' input.record=a input.from=9 input.to=9
refused run,describe 'output.page.listen: the page is of live input' output.page.listen=tcp:0
refused run,describe 'output.viewer.annotations is for one recording at a time' "$plain" 'input.records=[a,b]' 'output.viewer.annotations=[a.atr]'
refused run,describe 'input.live is -: input.from and input.to are for recordings' input.live=- input.to=9
refused convert 'input.from and input.to are for run, describe and eval: convert takes whole recordings' input.record=a input.to=9
refused replay 'input.from and input.to are for run, describe and eval: replay takes whole recordings' input.record=a input.to=9
refused run,describe 'output.features is for one recording at a time' 'input.records=[a,b]'
refused convert 'convert: set input.record, input.csv or input.records' convert.format=csv
refused convert "'a/b' cannot name a file: set convert.name" input.record=none convert.name=a/b
refused replay 'replay: input.record or input.csv has to name a recording' replay.to=-

# The query, whatever it reads.
for input in input.signal=ECG input.record=none input.live=tcp:none:1 'input.records=[none]'; do
  refused run,describe 'query: 0 streams (1 to 16) and 0 steps' 'query.outputs=[{stream: x}]' "$plain" "$input"
  refused run,describe 'query.outputs is empty' "query.streams=[$x]" "$plain" "$input"
  refused run,describe "there is no stream 'z'" "query.streams=[$x]" 'query.outputs=[{stream: z}]' "$plain" "$input"
  refused run,describe "'1x': a name is a letter" 'query.streams=[{name: 1x}]' 'query.outputs=[{stream: 1x}]' "$plain" "$input"
  refused run,describe "step 'y' does nothing: it needs do" "query.streams=[$x]" 'query.steps=[{name: y, from: [x]}]' \
    'query.outputs=[{stream: y}]' "$plain" "$input"
  refused run,describe "'x' is written to the same file before" "query.streams=[$x]" 'query.outputs=[{stream: x}, {stream: x}]' "$plain" "$input"
  refused run,describe "'y' is defined later" "query.streams=[$x]" 'query.outputs=[{stream: y}]' "$plain" "$input" \
    'query.steps=[{name: y, from: [y], do: {select: {value: x}}}]'
done
refused run,describe 'expression' "query.streams=[$x]" 'query.steps=[{name: y, from: [x], do: {select: {value: "x +"}}}]' \
  'query.outputs=[{stream: y}]'
refused run,describe 'are in the wrong order' "query.streams=[$x]" 'query.outputs=[{stream: y}]' \
  'query.steps=[{name: y, from: [x], do: {filter: {kind: bandpass, lo: 30, hi: 10}}}]'

# What eval scores.
refused eval 'eval.test names no annotation file' eval.reference=x
refused eval 'eval.pairs[0]: reference and test are both needed' 'eval.pairs=[{test: a}]'
refused eval 'eval.records names what is scored, and eval.reference' 'eval.records=[a]' eval.reference=b eval.test=c
refused eval 'eval.annotators: neither suffix can be empty' 'eval.records=[a]' 'eval.annotators.test=""'
accepted describe
accepted run

# What compare trains, and how.
refused compare 'rhythm.length: the median, 30 s, is not between min, 40 s, and max, 120 s' rhythm.length.min=40
refused compare 'rhythm.heart_rate: min, 100, is above max, 95' rhythm.heart_rate.min=100
refused compare 'rhythm.window: 9 s are more than the shortest recording' rhythm.window=9
refused compare 'rhythm.window: 0.1 s are 26 samples at 256 Hz: the network needs 32' rhythm.window=0.1
refused compare "allreduse" 'scaling.policies=[allreduse]'
