/* check.c - see check.h. */
#include "check.h"
#include <stdio.h>

wx_model_opts wx_bias_model(const wx_bias_cfg *bias)
{
  wx_model_opts model = bias->model;

  model.head = WX_HEAD_MEAN;
  model.loss = bias->loss;
  model.coupling = WX_COUPLING_MEAN;
  return model;
}

weir_status wx_bias_data_failed(weir_status status)
{
  char reason[1024];

  if (status == WEIR_OK) {
    return WEIR_OK;
  }
  (void)snprintf(reason, sizeof reason, "%s", weir_last_message());
  return weir_fail(status, "bias.data: %s", reason);
}

/* ---- Networks on samples ---- */

/* One of the stages. train: NULL where it is not trained; validates: samples may be of the subset
 * valid. */
static weir_status check_stage(const char *name, const wx_model_opts *model, bool of_spread,
                               const wx_standard_opts *standard, const weir_train_cfg *train,
                               bool validates)
{
  const weir_train_task task = {.name = name,
                                .metric = wx_metric,
                                .n_metrics = WX_METRICS,
                                .n_train = -1,
                                .n_valid = validates ? -1 : 0};

  WEIR_TRY(wx_network_check(name, model, of_spread));
  WEIR_TRY(wx_standard_check(standard));
  return train != NULL ? weir_train_suits(&task, train) : WEIR_OK;
}

/* The truth is a file, or made up with the forecast; y: samples need it. */
static weir_status check_data(const wx_cfg *cfg, bool truth, bool y)
{
  const wx_data_opts own = wx_data_with(&cfg->data, &cfg->bias.data);

  WEIR_TRY(wx_data_check(&cfg->data, truth, y));
  return cfg->bias.use ? wx_bias_data_failed(wx_data_check(&own, truth, y)) : WEIR_OK;
}

/* Nothing that the network sees is made of several members. */
static weir_status check_coupling(const wx_cfg *cfg)
{
  const wx_data_opts *const d = &cfg->data;
  const bool alone = cfg->model.head == WX_HEAD_MEMBERS && cfg->model.coupling == WX_COUPLING_NONE;

  if (alone &&
      (d->mean || d->spread || d->trajectory || d->missing == WX_MISSING_MASK || cfg->bias.use)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "model.coupling: none corrects each member from itself alone: set data.mean, "
                     "data.spread, data.trajectory and bias.use to false, data.missing to refuse, "
                     "and give other inputs, as data.position: true");
  }
  if (cfg->model.coupling == WX_COUPLING_ATTENTION && d->missing == WX_MISSING_MASK) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "data.missing: mask with model.coupling attention: a member that is missing "
                     "would be taken for the mean by all others: set data.missing to refuse, or "
                     "model.coupling to mean");
  }
  if (cfg->bias.use && cfg->bias.model.coupling == WX_COUPLING_ATTENTION) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "bias.model.coupling: the bias network takes no members: set it to mean");
  }
  return alone && cfg->normalization.bias == WX_BIAS_NONE
             ? weir_fail(WEIR_ERR_CONFIG,
                         "normalization.bias: with model.coupling none, members and truth are "
                         "counted from their mean over the training samples: set it to local or "
                         "global")
             : WEIR_OK;
}

static weir_status check_predict(const wx_cfg *cfg)
{
  const bool model = cfg->predict.model.use.name != NULL;

  if (!model && cfg->predict.weights[0] == 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "predict.weights names no file: give the weights.nc of a run with --set "
                     "predict.weights=RUN/weights.nc, and the network with --config "
                     "RUN/resolved.yaml; or a statistical correction, --set "
                     "'predict.model={use: {emos: {}}}'");
  }
  if (model && cfg->predict.weights[0] != 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "predict.weights and predict.model are both set: predictions are of one of "
                     "them");
  }
  return model ? wx_model_check(&cfg->predict.model) : WEIR_OK;
}

static weir_status check_experiment(const weir_cli *cli, const wx_cfg *cfg, bool validates)
{
  const bool of_spread = cfg->data.label == WX_LABEL_SPREAD, files = cfg->data.forecast.count > 0;
  const bool allows_dummy = weir_cli_is(cli, "check") || weir_cli_is(cli, "describe");
  const bool watches = weir_cli_is(cli, "predict") && cfg->predict.watch.directory[0] != 0;
  const bool trains = weir_cli_is(cli, "run") || weir_cli_is(cli, "describe");
  const wx_model_opts bias = wx_bias_model(&cfg->bias);

  if (!files && !allows_dummy && !watches) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "data.forecast: names no file; prepare writes forecast.nc and truth.nc, then "
                     "--set data.forecast=[DIR/forecast.nc] --set data.truth=[DIR/truth.nc]");
  }
  if (weir_cli_is(cli, "predict")) {
    WEIR_TRY(check_predict(cfg));
  }
  WEIR_TRY(check_coupling(cfg));
  if (cfg->eecrps.weight > 0 && cfg->model.loss != WX_LOSS_CRPS) {
    return weir_fail(WEIR_ERR_CONFIG, "eecrps.weight: it is the CRPS that is weighted: set "
                                      "model.loss to crps, or leave eecrps.weight at 0");
  }
  WEIR_TRY(check_data(cfg, !files || cfg->data.truth.count > 0, !weir_cli_is(cli, "predict")));
  if (cfg->bias.train.initial_weights[0] != 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "bias.train.initial_weights: each bias network is trained without a fold, "
                     "which the weights of a file may have seen: leave it empty");
  }
  if (trains && cfg->bias.use && cfg->train.initial_weights[0] != 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "train.initial_weights: the bias networks of this run are new, and weights "
                     "belong to those that they were trained after: set bias.use to false");
  }
  if (cfg->bias.use) {
    WEIR_TRY(check_stage("bias", &bias, of_spread, &cfg->bias.normalization,
                         trains ? &cfg->bias.train : NULL, validates));
  }
  return check_stage("forecast", &cfg->model, of_spread, &cfg->normalization,
                     trains ? &cfg->train : NULL, validates);
}

/* ---- Other commands ---- */

static weir_status check_prepare(const wx_cfg *cfg)
{
  if (cfg->data.forecast.count == 0 && cfg->data.truth.count > 0) {
    return weir_fail(WEIR_ERR_CONFIG, "data.truth is given and data.forecast is not: prepare "
                                      "imports forecasts, with or without their truth");
  }
  if (cfg->data.forecast.count == 0) {
    return wx_qg_ensemble_check(&cfg->simulate);
  }
  return cfg->import.climate ? wx_model_climate_check(&cfg->climate) : WEIR_OK;
}

static weir_status check_inspect(const wx_cfg *cfg)
{
  return cfg->data.forecast.count > 0 || cfg->data.truth.count > 0
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG,
                         "data.forecast: no file is named: --set data.forecast=[FILE], or "
                         "data.truth for analyses, lists of GRIB or NetCDF files");
}

static weir_status check_eval(const wx_cfg *cfg)
{
  const bool forecast = cfg->data.forecast.count > 0;

  return forecast && cfg->data.truth.count > 0
             ? wx_verify_check(&cfg->eval)
             : weir_fail(WEIR_ERR_CONFIG,
                         "%s: no file is named: eval needs data.forecast and data.truth, lists of "
                         "GRIB or NetCDF files",
                         forecast ? "data.truth" : "data.forecast");
}

weir_status wx_check(const weir_cli *cli, const wx_cfg *cfg)
{
  bool validates = false;

  WEIR_TRY(wx_split_check(&cfg->data.split, &validates));
  return weir_cli_is(cli, "prepare")   ? check_prepare(cfg)
         : weir_cli_is(cli, "inspect") ? check_inspect(cfg)
         : weir_cli_is(cli, "eval")    ? check_eval(cfg)
                                       : check_experiment(cli, cfg, validates);
}
