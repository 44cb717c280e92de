/* check.c - see check.h. */
#include "check.h"
#include "data/volume/volume_format.h"
#include "estimator.h"

/* ---- A training ---- */

weir_status cf_check_channels(const cf_model_opts *model, int64_t channels)
{
  return channels > 0
             ? WEIR_OK
             : weir_fail(
                   WEIR_ERR_CONFIG,
                   "model.net: %s sees other channels than the one that it classifies: name a "
                   "second redshift in simulate.redshifts, or describe.channels",
                   cf_model_net(model)->name);
}

/* Checks the log, which reports an error of estimates; one of the closed division follows its
 * rules. */
static weir_status check_log(const cf_cfg *cfg)
{
  const cf_net *const net = cf_model_net(&cfg->model);
  const cf_mllog_rules rules = {.model = &cfg->model, .data = &cfg->data, .train = &cfg->train};

  if (cfg->mllog.write && cfg->mllog.division == CF_MLLOG_CLOSED && cfg->adapt.samples.count > 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "adapt.samples: the closed division of MLPerf HPC has the loss of the "
                     "reference alone; otherwise set mllog.division=open");
  }
  return cfg->mllog.write && net->target == CF_SEGMENT
             ? weir_fail(WEIR_ERR_CONFIG,
                         "mllog.write: the log of MLPerf HPC has the error of estimates, and %s "
                         "makes classes of voxels: leave it out; run.jsonl has the scores",
                         net->name)
             : cf_mllog_check_rules(&cfg->mllog, &rules);
}

/* Checks what adaptation does not go with; it compares the samples of a batch. */
static weir_status check_adaptation(const cf_cfg *cfg)
{
  const cf_net *const net = cf_model_net(&cfg->model);

  if (cfg->adapt.samples.count == 0) {
    return WEIR_OK;
  }
  if (net->target != CF_ESTIMATE) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "adapt.samples: %s makes a class of every voxel, and adaptation is of "
                     "networks that estimate parameters",
                     net->name);
  }
  if (cf_sizes_mixed(&cfg->data.sizes)) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "adapt.samples: the samples of another simulation are whole, and data.sizes "
                     "mixes cubes of several sides: leave one of both out");
  }
  return cfg->train.batch > 1
             ? WEIR_OK
             : weir_fail(WEIR_ERR_CONFIG,
                         "train.batch: 1: adapt.samples compares the samples of a batch, at least "
                         "2 of each simulation: set train.batch=8 or more");
}

int64_t cf_check_ranks(const cf_cfg *cfg)
{
  const int64_t asked[] = {cfg->grid.samples, cfg->grid.depth, cfg->grid.height, cfg->grid.width};
  int64_t ranks = 1;

  for (int d = 0; d < WEIR_ALONG_DIMS && cfg->grid.by == WEIR_GRID_BY_NUMBERS; d++) {
    ranks *= asked[d] > 0 && ranks <= INT32_MAX / asked[d] ? asked[d] : 1;
  }
  return cfg->describe.ranks > 0 ? cfg->describe.ranks : ranks;
}

weir_status cf_check_grid(const cf_cfg *cfg, int ranks, weir_grid *out)
{
  const weir_grid_cfg samples = {.depth = 1, .height = 1, .width = 1};
  const bool by_numbers = cfg->grid.by == WEIR_GRID_BY_NUMBERS;

  WEIR_TRY(weir_grid_from_cfg(by_numbers ? &cfg->grid : &samples, ranks, out));
  return weir_load_suits(&cfg->load, out->extent[WEIR_ALONG_SAMPLES] > 1, 0);
}

/* Bytes of a sample that a rank reads; 0: each reads a slice that depends on the grid. */
static int64_t bytes_of(const cf_cfg *cfg, const cf_universe_facts *f)
{
  const weir_grid_cfg *const g = &cfg->grid;
  const bool whole =
      g->by == WEIR_GRID_BY_NUMBERS && g->depth == 1 && g->height == 1 && g->width == 1;

  return whole ? f->bytes / f->samples : 0;
}

/* Checks what the model alone determines, for samples that are read. */
static weir_status check_unseen(const cf_cfg *cfg)
{
  const weir_train_task task = cf_estimator_task(&cfg->model);

  WEIR_TRY(weir_load_suits(&cfg->load, true, 0));
  return weir_train_suits(&task, &cfg->train);
}

/* Checks simulated universes, whose number and shape are known. Those that are written are read
 * again with the section files. */
static weir_status check_made(const cf_cfg *cfg, const cf_universe_facts *f)
{
  cf_volume_info info = cf_source_synth_info(&cfg->simulate, f);
  const cf_estimator_spec spec = {.model = &cfg->model,
                                  .scale = cfg->data.scale,
                                  .info = &info,
                                  .dtype = cf_sizes_dtype(&cfg->data, f->dtype),
                                  .sizes = &cfg->data.sizes,
                                  .scaled = cf_sizes_scaled(&cfg->data)};
  const bool segments = cf_model_net(&cfg->model)->target == CF_SEGMENT;
  cf_estimator e = {.params = NULL};
  int64_t n[CF_SUBSETS];
  weir_status status = WEIR_OK;

  if (cfg->source.input.count == 0) {
    WEIR_TRY(cf_volume_state(&cfg->files, "what simulate makes", &info));
  }
  WEIR_TRY(cf_mllog_check_samples(&cfg->mllog, &info, true, 0, 0));
  WEIR_TRY(cf_split_count(&cfg->data.split, cfg->simulate.universes, n));
  WEIR_TRY(cf_data_check(&cfg->data, &info, cfg->simulate.universes * f->samples,
                         cfg->simulate.universes));
  WEIR_TRY(weir_load_suits(&cfg->load, true, bytes_of(cfg, f)));
  WEIR_TRY(cf_check_channels(&cfg->model, f->channels - segments));
  WEIR_TRY(cf_sizes_check(&cfg->data, &info, segments));
  WEIR_TRY(cf_estimator_open(&spec, 0, &e));
  e.task.n_train = n[CF_TRAIN] * f->samples;
  e.task.n_valid = n[CF_VALID] * f->samples;
  status = weir_train_suits(&e.task, &cfg->train);
  cf_estimator_close(&e);
  return status;
}

/* Whether the command is about a training that it does not run. */
static bool describes(const weir_cli *cli)
{
  return weir_cli_is(cli, "describe") || weir_cli_is(cli, "scaling");
}

/* Whether describe.side, channels or outputs describe other samples than those of run. */
static bool describes_others(const weir_cli *cli, const cf_cfg *cfg)
{
  return describes(cli) &&
         (cfg->describe.side > 0 || cfg->describe.channels > 0 || cfg->describe.outputs > 0);
}

static weir_status check_training(const weir_cli *cli, const cf_cfg *cfg,
                                  const cf_universe_facts *made)
{
  const cf_net *const net = cf_model_net(&cfg->model);
  weir_grid grid;
  cf_loss loss;

  WEIR_TRY(check_log(cfg));
  WEIR_TRY(check_adaptation(cfg));
  WEIR_TRY(cf_model_loss_kind(&cfg->model, &loss));
  WEIR_TRY(net->target == CF_SEGMENT ? cf_segment_check(&cfg->model.segment) : WEIR_OK);
  if (weir_cli_is(cli, "describe")) {
    WEIR_TRY(cf_check_grid(cfg, (int)cf_check_ranks(cfg), &grid));
  }
  return made == NULL || describes_others(cli, cfg) ? check_unseen(cfg) : check_made(cfg, made);
}

/* ---- Every command ---- */

static weir_status check_input(const weir_cli *cli, const cf_cfg *cfg)
{
  const bool logs = weir_cli_is(cli, "inspect") && cli->n_args > 0 && cf_mllog_is(cli->args[0]);

  if (weir_cli_is(cli, "predict") && cfg->predict.weights[0] == 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "predict.weights names no file: give the weights.nc of a run with --set "
                     "predict.weights=RUN/weights.nc; it says which network it is of");
  }
  if (cfg->source.input.count == 0 && !logs) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "%s: name files, folders or lists of samples, or synth://: cosmoflow %s PATH "
                     "..., or source.input",
                     cli->command, cli->command);
  }
  if (weir_cli_is(cli, "paint")) {
    return cf_paint_check(&cfg->paint);
  }
  return weir_cli_is(cli, "convert") ? cf_volume_format_check(cfg->convert.format) : WEIR_OK;
}

weir_status cf_check(const weir_cli *cli, const cf_cfg *cfg)
{
  const bool plans = weir_cli_is(cli, "run") || weir_cli_is(cli, "compare") || describes(cli),
             prepares = weir_cli_is(cli, "prepare");
  cf_universe_facts facts;
  bool synth = false;

  if (!prepares) {
    WEIR_TRY(cf_source_is_synth(&cfg->source.input, &synth));
  }
  const bool made = synth || prepares || (plans && cfg->source.input.count == 0);

  if (made || describes(cli)) { /* what prepare would make, whatever run reads */
    WEIR_TRY(cf_universe_check(&cfg->simulate, &facts));
  }
  if (plans) {
    return check_training(cli, cfg, made ? &facts : NULL);
  }
  if (weir_cli_is(cli, "eval")) {
    return cf_eval_check(&cfg->eval);
  }
  if (weir_cli_is(cli, "robustness")) {
    return cf_robustness_check(&cfg->robustness);
  }
  return prepares || weir_cli_is(cli, "loading") ? WEIR_OK : check_input(cli, cfg);
}
