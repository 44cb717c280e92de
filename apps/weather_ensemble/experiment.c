/* experiment.c - see experiment.h. */
#include "experiment.h"
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "data/date.h"
#include "io/weir_netcdf.h"

enum { MODEL = 4 };
static const char *const note_name[WX_NOTES] = {"x_channels", "x_units", "y_channels", "y_units",
                                                "model"};

static weir_status fetch(void *context, weir_train_split split, const int64_t *sample, int64_t n,
                         weir_tensor *const *tensor)
{
  wx_experiment *e = context;
  const int64_t *number = e->split.sample[split == WEIR_VALID_SAMPLES ? WX_VALID : WX_TRAIN];
  float *x = tensor[0]->data, *y = tensor[1]->data;

  for (int64_t i = 0; i < n; i++) {
    WEIR_TRY(wx_samples_read(e->samples, WX_X, number[sample[i]], e->x));
    WEIR_TRY(wx_samples_read(e->samples, WX_Y, number[sample[i]], e->y));
    wx_standard_x(&e->standard, e->x, x + i * e->facts.cells * e->standard.n_x);
    wx_standard_y(&e->standard, e->x, e->y, y + i * e->facts.cells * e->standard.n_y);
  }
  return WEIR_OK;
}

static weir_status describe_channels(wx_experiment *e)
{
  for (int k = 0; k < WX_NOTES; k++) {
    const wx_side side = k < 2 ? WX_X : WX_Y;
    void *memory = NULL;

    WEIR_TRY(weir_alloc(WX_LIST, 1, &memory));
    e->text[k] = memory;
    e->note[k] = (weir_note){note_name[k], e->text[k]};
    if (k != MODEL) {
      wx_channels_text(e->facts.channel[side], e->facts.n_channels[side], k % 2 == 1, e->text[k]);
    }
  }
  return WEIR_OK;
}

weir_status wx_experiment_append(const wx_experiment *e, int64_t batch, weir_graph *g)
{
  const weir_train_input *x = &e->input[WX_X];
  weir_array_desc d = {.dtype = x->dtype, .rank = x->rank + 1, .shape = {batch}};
  weir_value mean, raw;
  weir_net net;

  memcpy(d.shape + 1, x->shape, sizeof *d.shape * (size_t)x->rank);
  weir_net_init(&net, g, e->params, false);
  wx_network_apply(&net, &e->network, weir_input(g, "x", &d), &mean, &raw);
  weir_output(g, "mean", mean);
  if (e->cfg->model.loss == WX_LOSS_CRPS) {
    weir_output(g, "spread", weir_spread(g, &e->cfg->model.spread, raw));
  }
  weir_net_fini(&net);
  return weir_graph_status(g);
}

/* What weights are of: options that change no shape change what they mean. */
static weir_status describe_model(wx_experiment *e)
{
  weir_graph *g = NULL;
  weir_status status = WEIR_OK;
  char digest[65];

  WEIR_TRY(weir_graph_create(&g));
  WEIR_TRY_GOTO(wx_experiment_append(e, 1, g), done);
  WEIR_TRY_GOTO(weir_graph_digest(g, digest), done);
  (void)snprintf(e->text[MODEL], WX_LIST, "%s %s",
                 e->cfg->model.target == WX_TARGET_FIELD ? "field" : "difference", digest);
done:
  weir_graph_destroy(&g);
  return status;
}

/* The task, once the channels are known; the network declared, its first weights in the store. */
static weir_status set_up(wx_experiment *e)
{
  const wx_facts *f = &e->facts;
  static const char *const names[] = {"x", "y"};

  WEIR_TRY(describe_channels(e));
  for (int k = 0; k < WX_SIDES; k++) {
    e->input[k] = (weir_train_input){.name = names[k], .dtype = WEIR_F32, .rank = f->rank + 1};
    for (int d = 0; d < f->rank; d++) {
      e->input[k].shape[d] = f->axis[d].length;
    }
    e->input[k].shape[f->rank] = f->n_channels[k];
  }
  e->network = (wx_network){.opts = &e->cfg->model, .n_y = f->n_channels[WX_Y]};
  e->task = (weir_train_task){.name = "unet",
                              .dtype = WEIR_F32,
                              .input = e->input,
                              .n_inputs = WX_SIDES,
                              .n_train = e->split.n[WX_TRAIN],
                              .n_valid = e->split.n[WX_VALID],
                              .opts = &e->network,
                              .build = wx_network_build,
                              .metric = wx_metric,
                              .n_metrics = WX_METRICS,
                              .fetch = fetch,
                              .context = e,
                              .note = e->note,
                              .n_notes = WX_NOTES};
  WEIR_TRY(weir_alloc(f->n_channels[WX_X] * f->cells, sizeof *e->x, (void **)&e->x));
  WEIR_TRY(weir_alloc(f->n_channels[WX_Y] * f->cells, sizeof *e->y, (void **)&e->y));
  WEIR_TRY(weir_params_create(WEIR_F32, &e->params));
  WEIR_TRY(weir_store_create(&e->store));
  WEIR_TRY(weir_train_prepare(&e->task, wx_experiment_train(e).seed, e->params, e->store));
  WEIR_TRY(describe_model(e));
  return wx_standard_open(f, (wx_target)e->cfg->model.target, e->store, &e->standard);
}

/* What is wrong with a sample is said before the training, not in the midst of it. */
static weir_status look_at(wx_experiment *e, const int64_t *sample, int64_t n)
{
  for (int64_t i = 0; i < n; i++) {
    WEIR_TRY(wx_samples_read(e->samples, WX_X, sample[i], e->x));
    WEIR_TRY(wx_samples_read(e->samples, WX_Y, sample[i], e->y));
  }
  return WEIR_OK;
}

static weir_status refuse_split(const wx_facts *f)
{
  char first[32], last[32];

  wx_date_text(f->time[0], first, sizeof first);
  wx_date_text(f->time[f->n - 1], last, sizeof last);
  return weir_fail(WEIR_ERR_CONFIG,
                   "data.split: no sample is left to train on; the first of %s is of %s, the last "
                   "of %s",
                   f->name, first, last);
}

static weir_status open_training(wx_experiment *e, bool fit)
{
  const wx_cfg *cfg = e->cfg;

  WEIR_TRY(wx_samples_open(cfg->data.file, true, &cfg->simulate, (uint64_t)cfg->seed, &e->samples));
  e->facts = *wx_samples_get(e->samples);
  WEIR_TRY(wx_split_create(&cfg->data.split, &e->facts, &e->split));
  if (e->split.n[WX_TRAIN] == 0) {
    return refuse_split(&e->facts);
  }
  WEIR_TRY(set_up(e));
  if (fit) {
    WEIR_TRY(wx_standard_fit(&e->standard, e->samples, e->split.sample[WX_TRAIN],
                             e->split.n[WX_TRAIN], e->x, e->y));
    WEIR_TRY(look_at(e, e->split.sample[WX_VALID], e->split.n[WX_VALID]));
  }
  return WEIR_OK;
}

weir_status wx_experiment_open(const wx_cfg *cfg, bool fit, wx_experiment *out)
{
  *out = (wx_experiment){.cfg = cfg};
  const weir_status status = open_training(out, fit);

  if (status != WEIR_OK) {
    wx_experiment_close(out);
  }
  return status;
}

/* ---- With weights ---- */

/* The lists of channels that the weights are of. */
static weir_status read_notes(const char *path, char *text[WX_NOTES])
{
  weir_netcdf *nc = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_netcdf_open(path, &nc));
  for (int k = 0; k < WX_NOTES && status == WEIR_OK; k++) {
    if (!weir_netcdf_has(nc, WEIR_NETCDF_FILE, note_name[k]) ||
        weir_netcdf_get_text(nc, WEIR_NETCDF_FILE, note_name[k], &text[k]) != WEIR_OK) {
      status = weir_fail(WEIR_ERR_DATA,
                         "%s: no weights of weather_ensemble: there is no text attribute %s", path,
                         note_name[k]);
    }
  }
  weir_netcdf_close(&nc);
  return status;
}

/* That x is what the network was trained on; y is what it makes. */
static weir_status take_notes(wx_experiment *e, char *const text[WX_NOTES])
{
  const char *path = e->cfg->predict.weights;
  char is[WX_LIST];

  for (int k = 0; k < 2; k++) {
    wx_channels_text(e->facts.channel[WX_X], e->facts.n_channels[WX_X], k == 1, is);
    if (strcmp(is, text[k]) != 0) {
      return weir_fail(WEIR_ERR_CONFIG,
                       "%s: x has the %s \"%s\", and the weights of %s want \"%s\", in this order",
                       e->facts.name, k == 0 ? "channels" : "units", is, path, text[k]);
    }
  }
  void *memory = NULL;

  WEIR_TRY(weir_alloc(WX_CHANNELS, sizeof *e->truth, &memory));
  e->truth = memory;
  e->facts.n_channels[WX_Y] = wx_channels_parse(text[2], false, e->truth);
  e->facts.channel[WX_Y] = e->truth;
  if (e->facts.n_channels[WX_Y] < 1 ||
      wx_channels_parse(text[3], true, e->truth) != e->facts.n_channels[WX_Y]) {
    return weir_fail(WEIR_ERR_DATA, "%s: its channels of y are no list of names and units", path);
  }
  return WEIR_OK;
}

static weir_status open_weights(wx_experiment *e, char *text[WX_NOTES])
{
  const wx_cfg *cfg = e->cfg;

  if (cfg->predict.weights[0] == 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "predict.weights names no file: give the weights.nc of a run with --set "
                     "predict.weights=RUN/weights.nc, and the network with --config "
                     "RUN/resolved.yaml");
  }
  WEIR_TRY(
      wx_samples_open(cfg->data.file, false, &cfg->simulate, (uint64_t)cfg->seed, &e->samples));
  e->facts = *wx_samples_get(e->samples);
  WEIR_TRY(read_notes(cfg->predict.weights, text));
  WEIR_TRY(take_notes(e, text));
  if (cfg->predict.part != WX_PREDICT_ALL) {
    WEIR_TRY(wx_split_create(&cfg->data.split, &e->facts, &e->split));
  }
  WEIR_TRY(set_up(e));
  if (strcmp(text[MODEL], e->text[MODEL]) != 0) {
    return weir_fail(
        WEIR_ERR_CONFIG,
        "%s: its weights are of another network than the section model describes: give "
        "the configuration of its run with --config RUN/resolved.yaml",
        cfg->predict.weights);
  }
  return weir_train_weights(e->params, e->store, cfg->predict.weights);
}

weir_status wx_experiment_open_weights(const wx_cfg *cfg, wx_experiment *out)
{
  char *text[WX_NOTES] = {NULL};

  *out = (wx_experiment){.cfg = cfg};
  const weir_status status = open_weights(out, text);

  for (int k = 0; k < WX_NOTES; k++) {
    weir_free(&text[k]);
  }
  if (status != WEIR_OK) {
    wx_experiment_close(out);
  }
  return status;
}

void wx_experiment_close(wx_experiment *e)
{
  weir_params_destroy(&e->params);
  weir_store_destroy(&e->store);
  wx_split_fini(&e->split);
  for (int k = 0; k < WX_NOTES; k++) {
    weir_free(&e->text[k]);
  }
  weir_free(&e->truth);
  weir_free(&e->x);
  weir_free(&e->y);
  wx_samples_close(&e->samples);
}

weir_train_cfg wx_experiment_train(const wx_experiment *e)
{
  weir_train_cfg train = e->cfg->train;

  train.seed += e->cfg->seed;
  return train;
}

weir_plan_opts wx_experiment_exec(const wx_experiment *e, const weir_cli *cli)
{
  return (weir_plan_opts){.exec = &e->cfg->exec, .threads = cli->threads};
}
