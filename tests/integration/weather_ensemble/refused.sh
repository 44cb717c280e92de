# The rows of tests/integration/refused.sh for weather_ensemble: commands, text, settings.
# shellcheck shell=bash disable=SC2154

# Nothing is opened: these files are not there.
files=('data.forecast=[none/forecast.nc]' 'data.truth=[none/truth.nc]')
all=run,predict,eval,check,describe,prepare
network=run,predict,check,describe
weights=predict.weights=none/weights.nc

# The subsets.
refused "$all" "data.split.valid.to: '2000-13-45' is no date such as 2001-02-03" data.split.valid.to=2000-13-45 "${files[@]}" "$weights"
refused "$all" "data.split.test.from: 'soon' is no date such as 2001-02-03" data.split.test.from=soon "${files[@]}" "$weights"
refused "$all" "data.split.valid: it ends ('2000-01-01') before it begins ('2000-06-01')" data.split.valid.to=2000-01-01 "${files[@]}" "$weights"
refused "$all" 'data.split: train and valid share times' data.split.train.to=2000-06-05 "${files[@]}" "$weights"
refused prepare,check,describe "data.split.valid.to: '2000-13-45' is no date" data.split.valid.to=2000-13-45

# The training.
none='data.split.valid={from: "", to: ""}'
refused run,describe "train: target.metric: 'forecast' has no such metric: choose one of: mse" train.target.metric=nothing "${files[@]}"
refused run,describe "train: target.metric: 'bias' has no such metric: choose one of: mse" bias.train.target.metric=nothing bias.use=true "${files[@]}"
refused run,describe 'train: target.metric needs validation samples' train.target.metric=mse "$none" "${files[@]}"
refused run,describe 'train: patience 3 needs validation samples' train.patience=3 "$none" "${files[@]}"
refused run,describe 'schedule: warmup: 9 epochs exceed the run of 8' train.optim.schedule.unit=epochs train.optim.schedule.warmup=9 "${files[@]}"
refused run,describe 'schedule: warmup: 9 steps exceed the run of 5' train.steps=5 train.optim.schedule.warmup=9 "${files[@]}"
refused run,describe 'schedule: lr_min, 0.5, is above lr' train.optim.schedule.lr_min=0.5 "${files[@]}"
refused run,describe 'schedule: every is 0, which would change the rate without end' train.optim.schedule.shape=exponential "${files[@]}"
refused run,describe 'schedule: lr_min, 0.5, is above lr' bias.use=true bias.train.optim.schedule.lr_min=0.5 "${files[@]}"

refused "$network" 'bias.train.initial_weights: each bias network is trained without a fold' bias.train.initial_weights=w.nc "${files[@]}" \
  "$weights"
refused run,describe 'several networks (models.seeds) do not take initial_weights' 'train.models.seeds=[1,2]' train.initial_weights=w.nc \
  "${files[@]}"

# The networks.
refused "$network" 'forecast: head mean takes loss mse or mae, heads gauss and members crps' model.loss=mse "${files[@]}" "$weights"
refused "$network" 'bias: head mean takes loss mse or mae' bias.use=true data.label=spread model.head=spread "${files[@]}" "$weights"
refused "$network" 'forecast.unet.residual: the network makes what the forecast lacks anyway' model.unet.residual=true "${files[@]}" "$weights"
refused "$network" 'forecast: head mean makes no location and scale of distributions' model.head=mean model.loss=mse \
  'model.distributions=[{family: logistic}]' "${files[@]}" "$weights"
refused "$network" 'distributions[0].shift: 0: family censored_shifted_gamma needs one above 0' \
  'model.distributions=[{family: censored_shifted_gamma}]' "${files[@]}" "$weights"
refused "$network" 'distributions[0].upper: 1: families censored_normal and censored_logistic alone have an upper bound' \
  'model.distributions=[{family: truncated_normal, upper: 1}]' "${files[@]}" "$weights"
refused "$network" 'eecrps.weight: it is the CRPS that is weighted' eecrps.weight=1 model.head=mean model.loss=mse "${files[@]}" "$weights"
refused "$network" 'normalization.window: 4 is even: a window has a middle' normalization.window=4 "${files[@]}" "$weights"
refused "$network" 'normalization.window: 4 is even' bias.use=true bias.normalization.window=4 "${files[@]}" "$weights"

# The samples.
refused "$network" 'data.target: names no quantity, such as [z500]' 'data.target=[]' "${files[@]}" "$weights"
refused "$network" 'data.lead: 24 h after 48 h: give them ascending' 'data.lead=[48,24]' "${files[@]}" "$weights"
refused "$network" 'data.input_lead: 24 h after 24 h: give them ascending' 'data.input_lead=[24,24]' "${files[@]}" "$weights"
refused "$network" 'bias.data: data.input_lead: 24 h after 48 h' bias.use=true 'bias.data.input_lead=[48,24]' "${files[@]}" "$weights"
refused "$network" 'data.levels: a depth of levels needs some' data.depth=level "${files[@]}" "$weights"
refused "$network" 'data.inputs: a depth of levels needs variables' data.depth=level 'data.levels=[500]' "${files[@]}" "$weights"
refused "$network" 'early.members: no lead of input_lead is up to early.until, 12 h' data.early.members=5 data.early.until=12 \
  'data.input_lead=[24]' "${files[@]}" "$weights"
refused "$network" 'early.until: early.members does not say' data.early.until=12 "${files[@]}" "$weights"
refused "$network" 'data.analysis: the analysis is the truth at the initialisation time' data.analysis=true "${files[0]}" "$weights"
refused run,check,describe 'data.truth: names no file of what came true' "${files[0]}"
refused run,predict 'data.forecast: names no file' train.epochs=1
refused predict 'predict.weights names no file' "${files[@]}"

# What prepare makes.
refused prepare 'simulate.begin: "2000-02-30" is no date' simulate.begin=2000-02-30
refused prepare 'simulate.leads: 24 h after 48 h; give them ascending' 'simulate.leads=[48,24]'
refused prepare 'simulate.leads: 1800 s are no whole number' 'simulate.leads=[0.5]'
refused prepare 'simulate.quantities: z500 is there twice' 'simulate.quantities=[z500,z500]'
refused prepare 'the simulation has no quantity rain' 'simulate.quantities=[rain]'
refused prepare 'simulate: leads and quantities have to name at least one' 'simulate.leads=[]'
refused prepare 'qg: a grid of 32 x 15 points; even numbers' simulate.lat=15
refused prepare 'data.truth is given and data.forecast is not' "${files[1]}"
refused prepare 'climate.window: 4 is even: a window has a middle' climate.window=4 import.climate=true "${files[@]}"

# What eval scores.
refused eval 'data.truth: no file is named: eval needs data.forecast and data.truth' "${files[0]}"
refused eval 'eval.models: a row says no model' 'eval.models=[{name: a}]' "${files[@]}"
refused eval "eval.models: rows 0 and 1 are both called 'a'" 'eval.models=[{name: a, use: {raw: {}}}, {name: a, use: {raw: {}}}]' "${files[@]}"
refused eval 'eval.models: predictions name no file' 'eval.models=[{name: a, use: {predictions: {}}}]' "${files[@]}"
refused eval 'load and save know coefficients alone' 'eval.models=[{use: {emos: {eofs: {count: 2}, load: none}}}]' "${files[@]}"
refused eval 'censored_shifted_gamma needs fit.shift above 0' 'eval.models=[{use: {emos: {fit: {family: censored_shifted_gamma}}}}]' "${files[@]}"
refused eval 'and no other family has it' 'eval.models=[{use: {emos: {fit: {family: log_normal, shift: 1}}}}]' "${files[@]}"
refused eval 'fit.upper is of fit.family censored_normal and censored_logistic alone' 'eval.models=[{use: {emos: {fit: {family: truncated_normal, upper: 1}}}}]' "${files[@]}"
refused eval 'fit.upper has to be above fit.lower' 'eval.models=[{use: {emos: {fit: {family: censored_normal, lower: 1, upper: 1}}}}]' "${files[@]}"
refused eval 'couple.kind member keeps the shape of the raw members' 'eval.models=[{use: {emos: {fit: {family: log_normal}, output: members, couple: {kind: member}}}}]' "${files[@]}"
refused eval 'anomalies have no bound at fit.lower' 'eval.models=[{use: {emos: {fit: {family: log_normal}, anomalies: true}}}]' "${files[@]}"
refused eval 'eval.regions: a region needs a name that no other has' 'eval.regions=[{name: all}]' "${files[@]}"
refused eval 'eval.climate.file: it is of all its initialisation times, and eval.climate.window' eval.climate.file=none eval.climate.window=10 "${files[@]}"
accepted describe train.batch=100000
