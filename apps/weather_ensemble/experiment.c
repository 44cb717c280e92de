/* experiment.c - see experiment.h. */
#include "experiment.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "data/date.h"
#include "place/weir_grid_choose.h"
#include "check.h"
#include "predictor.h"

enum { PATH_SIZE = 4096 };

static weir_status open_archives(wx_experiment *e, wx_source source)
{
  const wx_cfg *cfg = e->cfg;
  const bool dummy = source == WX_SOURCE_NUMBERS || source == WX_SOURCE_FACTS;

  if (cfg->data.forecast.count == 0 && dummy) {
    WEIR_TRY(
        wx_dummy_create(&cfg->dummy, source == WX_SOURCE_NUMBERS, (uint64_t)cfg->seed, &e->dummy));
    e->forecast = wx_dummy_forecast(e->dummy);
    e->truth = wx_dummy_truth(e->dummy);
    return WEIR_OK;
  }
  WEIR_TRY(wx_archive_open_as(cfg->data.forecast.items, (int)cfg->data.forecast.count,
                              &cfg->data.grib, &e->forecast));
  const bool analysis = cfg->data.analysis || (cfg->bias.use && cfg->bias.data.analysis);
  const bool needs = source != WX_SOURCE_APPLY || analysis;

  return needs && cfg->data.truth.count > 0
             ? wx_archive_open_truth(cfg->data.truth.items, (int)cfg->data.truth.count,
                                     &cfg->data.grib, &e->truth)
             : WEIR_OK;
}

static weir_status refuse_split(const wx_info *f)
{
  char first[32], last[32];

  wx_date_text(f->start[0], first, sizeof first);
  wx_date_text(f->start[f->n - 1], last, sizeof last);
  return weir_fail(WEIR_ERR_CONFIG,
                   "data.split: no sample is left to train on; the first of %s starts on %s, the "
                   "last on %s",
                   f->name, first, last);
}

/* The same initialisation times and leads as e->samples: targets and members are. */
static weir_status open_bias_samples(wx_experiment *e, wx_source source)
{
  e->bias_data = wx_data_with(&e->cfg->data, &e->cfg->bias.data);
  if (!e->cfg->bias.use || wx_data_same_inputs(&e->bias_data, &e->cfg->data)) {
    return WEIR_OK;
  }
  const weir_status status = wx_samples_open(&e->bias_data, e->forecast, e->truth,
                                             source != WX_SOURCE_APPLY, &e->bias_samples);

  WEIR_TRY(wx_bias_data_failed(status));
  WEIR_ASSERT(wx_samples_get(e->bias_samples)->n == e->facts->n);
  return WEIR_OK;
}

static weir_status open_all(wx_experiment *e, wx_source source)
{
  const wx_cfg *cfg = e->cfg;

  WEIR_TRY(open_archives(e, source));
  WEIR_TRY(
      wx_samples_open(&cfg->data, e->forecast, e->truth, source != WX_SOURCE_APPLY, &e->samples));
  e->facts = wx_samples_get(e->samples);
  WEIR_TRY(open_bias_samples(e, source));
  e->times = (wx_times){e->facts->name, e->facts->n, e->facts->start, e->facts->time};
  WEIR_TRY(wx_split_create(&cfg->data.split, &e->times, &e->split));
  return e->split.n[WX_TRAIN] == 0 && source != WX_SOURCE_APPLY ? refuse_split(e->facts) : WEIR_OK;
}

bool wx_leads(const wx_experiment *e)
{
  return e->dist.comm == NULL || weir_comm_rank(e->dist.comm) == 0;
}

weir_status wx_agree(const wx_experiment *e, weir_status status)
{
  return e->dist.comm != NULL ? weir_comm_agree(e->dist.comm, status) : status;
}

weir_status wx_experiment_open(const wx_cfg *cfg, wx_source source, weir_comm *comm,
                               wx_experiment *out)
{
  const int ranks = comm != NULL ? weir_comm_size(comm) : 1;

  *out = (wx_experiment){
      .cfg = cfg,
      .dist = {.comm = comm, .grid = {WEIR_ALONG_DIMS, {[WEIR_ALONG_SAMPLES] = ranks, 1, 1, 1}}},
      .grid = cfg->grid,
      .bias_model = wx_bias_model(&cfg->bias),
      .train = cfg->train,
      .bias_train = cfg->bias.train};
  out->train.seed += cfg->seed;
  out->bias_train.seed += cfg->seed;
  const weir_status status = open_all(out, source);

  if (status != WEIR_OK) {
    wx_experiment_close(out);
  }
  return status;
}

void wx_experiment_close(wx_experiment *e)
{
  wx_split_fini(&e->split);
  weir_free(&e->corrected);
  wx_extremes_fini(&e->extremes);
  wx_samples_close(&e->samples);
  wx_samples_close(&e->bias_samples);
  if (e->dummy == NULL) {
    wx_archive_close(&e->forecast);
    wx_archive_close(&e->truth);
  }
  e->forecast = e->truth = NULL; /* those of the dummy archive end with it */
  wx_dummy_destroy(&e->dummy);
}

static wx_stage_spec spec_of(const wx_experiment *e, const char *name, const wx_split *split)
{
  return (wx_stage_spec){.name = name,
                         .data = &e->cfg->data,
                         .samples = e->samples,
                         .split = split,
                         .leads = wx_leads(e),
                         .wraps = wx_archive_get(e->forecast)->grid.wraps,
                         .before = ""};
}

wx_stage_spec wx_experiment_bias(const wx_experiment *e, const wx_split *split)
{
  wx_stage_spec s = spec_of(e, "bias", split);

  if (e->bias_samples != NULL) {
    s.data = &e->bias_data;
    s.samples = e->bias_samples;
  }
  s.model = &e->bias_model;
  s.standard = &e->cfg->bias.normalization;
  s.train = &e->bias_train;
  return s;
}

wx_stage_spec wx_experiment_forecast(const wx_experiment *e)
{
  wx_stage_spec s = spec_of(e, "forecast", &e->split);

  s.model = &e->cfg->model;
  s.standard = &e->cfg->normalization;
  s.train = &e->train;
  s.mean = e->corrected;
  s.before = e->bias_digest;
  s.extremes = e->extremes.factor != NULL ? &e->extremes : NULL;
  return s;
}

/* ---- The grid ---- */

weir_status wx_experiment_place(wx_experiment *e)
{
  const int ranks = e->dist.comm != NULL ? weir_comm_size(e->dist.comm) : 1;

  return e->grid.by == WEIR_GRID_BY_AUTO ? WEIR_OK
                                         : weir_grid_from_cfg(&e->grid, ranks, &e->dist.grid);
}

weir_status wx_experiment_train(wx_experiment *e, wx_stage *stage, const char *dir,
                                const weir_plan_opts *exec, weir_train_result *result,
                                char digest[65])
{
  weir_train_task *const task = &stage->task;
  weir_plan_opts alone = *exec;

  alone.dist = NULL;
  weir_grid_replicate_below(&e->cfg->grid, task->replicate_below);
  if (e->dist.comm != NULL) {
    WEIR_TRY(weir_grid_choose(&e->grid, e->dist.comm, &e->cfg->comm, &alone, stage->is.train, task,
                              &e->dist.grid, stderr));
  }
  return wx_stage_train(stage, dir, exec, result, digest);
}

/* ---- The first of two stages ---- */

/* Trains on `split` in `dir` and corrects the means of the samples of its subsets `first` to
 * `last`. */
static weir_status train_subsets(wx_experiment *e, const wx_split *split, wx_subset first,
                                 wx_subset last, const char *dir, const weir_plan_opts *exec,
                                 char digest[65])
{
  const wx_stage_spec spec = wx_experiment_bias(e, split);
  weir_train_result result;
  wx_stage stage;
  weir_status status = WEIR_OK;

  WEIR_TRY(wx_agree(e, wx_stage_open(&spec, &stage)));
  WEIR_TRY_GOTO(wx_agree(e, wx_stage_fit(&stage)), done);
  WEIR_TRY_GOTO(wx_experiment_train(e, &stage, dir, exec, &result, digest), done);
  for (int p = (int)first; p <= (int)last; p++) {
    status = wx_predict_means(&stage, exec, split->sample[p], split->n[p], e->corrected);
    WEIR_TRY_GOTO(wx_agree(e, status), done);
  }
done:
  wx_stage_close(&stage);
  return status;
}

static weir_status train_fold(wx_experiment *e, int64_t k, const char *dir,
                              const weir_plan_opts *exec)
{
  char name[32], path[PATH_SIZE], digest[65];
  wx_split fold;

  (void)snprintf(name, sizeof name, "fold%lld", (long long)k + 1);
  weir_event("stage", WEIR_TEXT("name", name));
  weir_info("run", "bias network, fold %lld of %lld", (long long)k + 1,
            (long long)e->cfg->bias.folds);
  WEIR_TRY(weir_path_join(dir, name, path, sizeof path));
  WEIR_TRY(wx_split_fold(&e->cfg->data.split, &e->times, &e->split, k, e->cfg->bias.folds, &fold));
  const weir_status status = train_subsets(e, &fold, WX_TEST, WX_TEST, path, exec, digest);

  wx_split_fini(&fold);
  return status;
}

weir_status wx_experiment_train_bias(wx_experiment *e, const char *dir, const weir_plan_opts *exec)
{
  const int64_t of_y = e->facts->n_channels[WX_Y] * e->facts->cells, folds = e->cfg->bias.folds;
  char path[PATH_SIZE];
  int64_t count;

  if (!weir_mul_ok(e->facts->n, of_y, &count)) {
    return weir_fail(WEIR_ERR_MEMORY, "corrected means of %lld samples are too many",
                     (long long)e->facts->n);
  }
  WEIR_TRY(weir_alloc(count, sizeof *e->corrected, (void **)&e->corrected));
  for (int64_t i = 0; i < count; i++) {
    e->corrected[i] = NAN; /* of tests: nobody may read it */
  }
  WEIR_TRY(weir_path_join(dir, "bias", path, sizeof path));
  for (int64_t k = 0; k < folds && folds > 1; k++) {
    WEIR_TRY(train_fold(e, k, path, exec));
  }
  weir_event("stage", WEIR_TEXT("name", "bias"));
  weir_info("run", "bias network, all training samples");
  return train_subsets(e, &e->split, folds > 1 ? WX_VALID : WX_TRAIN, WX_VALID, path, exec,
                       e->bias_digest);
}

weir_status wx_experiment_weigh(wx_experiment *e)
{
  const wx_extremes *x = &e->extremes;

  WEIR_TRY(wx_extremes_fit(&e->cfg->eecrps, e->forecast, e->facts, e->facts->first, &e->split,
                           &e->extremes));
  if (x->factor != NULL) {
    weir_event("climate", WEIR_INT("starts", x->n), WEIR_REAL("first", x->first),
               WEIR_REAL("last", x->last));
  }
  return WEIR_OK;
}

weir_plan_opts wx_experiment_exec(const wx_experiment *e, const weir_cli *cli)
{
  return (weir_plan_opts){.exec = &e->cfg->exec,
                          .threads = cli->threads,
                          .dist = e->dist.comm != NULL ? &e->dist : NULL};
}
