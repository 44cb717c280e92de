/* cmd_predict.c - corrected forecasts of an archive: mean, standard deviation, members. */
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_clock.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "base/weir_provenance.h"
#include "data/samples/trained.h"
#include "device/weir_parallel.h"
#include "predict_model.h"
#include "predict_samples.h"
#include "watch/predict_watch.h"
#include "commands.h"

/* What a prediction needs. */
typedef struct work {
  weir_comm *comm; /* ranks that share the samples */
  bool leads;      /* this rank writes */
  wx_experiment *e;
  wx_stage bias, forecast; /* bias: where bias.use */
  wx_predictor first, last;
  wx_predict_model model; /* in place of the networks, where predict.model is set */
  wx_predict_files files;
  char weights[2][WX_PATH];
  int n_weights;
  int64_t *sample, n; /* that predict.part asks for */
  char *trained;      /* dates that the weights say they were trained on and chosen by */
  char *subsets;      /* of the initialisation times of the samples, as text */
  wx_split split;     /* the samples by these subsets */
} work;

/* The weights of the forecast, and of the bias network in the folder next to them. */
static weir_status load(work *w, const weir_plan_opts *exec)
{
  wx_experiment *e = w->e;
  const wx_cfg *cfg = e->cfg;
  char folder[WX_PATH], path[WX_PATH];
  int64_t bytes;

  (void)snprintf(w->weights[w->n_weights++], WX_PATH, "%s", cfg->predict.weights);
  if (cfg->bias.use) {
    const wx_stage_spec spec = wx_experiment_bias(e, &e->split);

    (void)snprintf(folder, sizeof folder, "%s", cfg->predict.weights);
    WEIR_TRY(weir_path_join(dirname(folder), "bias", path, sizeof path));
    WEIR_TRY(weir_checkpoint_weights(path, (weir_checkpoint_format)e->bias_train.checkpoint.format,
                                     w->weights[w->n_weights], WX_PATH));
    WEIR_TRY(wx_stage_open(&spec, &w->bias));
    WEIR_TRY(wx_stage_load(&w->bias, w->weights[w->n_weights]));
    if (!weir_file_sha256(w->weights[w->n_weights], e->bias_digest, &bytes)) {
      return weir_fail(WEIR_ERR_DATA, "%s: cannot be read", w->weights[w->n_weights]);
    }
    w->n_weights++;
    WEIR_TRY(wx_predictor_create(&w->bias, 1, exec, &w->first));
  }
  const wx_stage_spec spec = wx_experiment_forecast(e);

  WEIR_TRY(wx_stage_open(&spec, &w->forecast));
  WEIR_TRY(wx_stage_load(&w->forecast, cfg->predict.weights));
  return wx_predictor_create(&w->forecast, 1, exec, &w->last);
}

/* The samples that predict.part asks for. */
static weir_status choose(work *w)
{
  const wx_experiment *e = w->e;
  const int subset = e->cfg->predict.part;

  w->n = subset == WX_PREDICT_ALL ? e->facts->n : e->split.n[subset];
  if (w->n == 0) {
    return weir_fail(WEIR_ERR_CONFIG, "predict.part: no sample of %s is in the subset %s",
                     e->facts->name, wx_subset_name[subset]);
  }
  WEIR_TRY(weir_alloc(w->n, sizeof *w->sample, (void **)&w->sample));
  for (int64_t i = 0; i < w->n; i++) {
    w->sample[i] = subset == WX_PREDICT_ALL ? i : e->split.sample[subset][i];
  }
  return WEIR_OK;
}

/* Subsets of the chosen samples alone; all: [samples]. */
static weir_status keep_chosen(work *w, int *all)
{
  const int asked = w->e->cfg->predict.part;
  bool *chosen = NULL;
  int64_t other = 0;

  WEIR_TRY(wx_trained_text(&w->e->times, all, w->sample, w->n, &w->subsets));
  WEIR_TRY(weir_alloc(w->e->facts->n, sizeof *chosen, (void **)&chosen));
  for (int64_t i = 0; i < w->n; i++) {
    chosen[w->sample[i]] = true;
    other += asked != WX_PREDICT_ALL && all[w->sample[i]] != asked;
  }
  for (int64_t i = 0; i < w->e->facts->n; i++) {
    all[i] = chosen[i] ? all[i] : WX_SUBSETS;
  }
  weir_free(&chosen);
  if (other > 0) {
    weir_warn("predict",
              "data.split calls %lld samples %s, and the weights were trained on (%s) and count "
              "them otherwise: is it the split of their run?",
              (long long)other, wx_subset_name[asked], w->trained);
  }
  WEIR_TRY(wx_split_of_subsets(&w->e->times, all, &w->split));
  w->split.left_out -= w->e->facts->n - w->n;
  return WEIR_OK;
}

static bool is_model(const work *w)
{
  return w->e->cfg->predict.model.use.name != NULL;
}

/* A statistical correction is fitted to what is split. */
static weir_status take_split(const work *w, int *subset, char **trained)
{
  const wx_split *const s = &w->e->split;

  for (int64_t i = 0; i < w->e->facts->n; i++) {
    subset[i] = WX_SUBSETS;
  }
  for (int p = 0; p < WX_SUBSETS; p++) {
    for (int64_t i = 0; i < s->n[p]; i++) {
      subset[s->sample[p][i]] = p;
    }
  }
  return wx_trained_dates(s, &w->e->times, trained);
}

/* What the weights have seen of the samples. */
static weir_status take_subsets(work *w)
{
  int *subset = NULL;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_alloc(w->e->facts->n, sizeof *subset, (void **)&subset));
  if (is_model(w)) {
    WEIR_TRY_GOTO(take_split(w, subset, &w->trained), done);
  } else {
    WEIR_TRY_GOTO(wx_stage_trained(w->e->cfg->predict.weights, &w->trained), done);
    WEIR_TRY_GOTO(wx_trained_subsets(&w->e->split, &w->e->times, w->trained, subset), done);
  }
  WEIR_TRY_GOTO(keep_chosen(w, subset), done);
done:
  weir_free(&subset);
  return status;
}

/* What made the files: also the digests of weights and configuration. */
static weir_status take_origin(const weir_cli *cli, const work *w, weir_origin *o)
{
  static const char *const of[] = {"weights", "bias_weights"};
  char now[80], config[WX_PATH];

  weir_clock_utc(now, sizeof now);
  WEIR_TRY(weir_path_join(cli->out, "resolved.yaml", config, sizeof config));
  WEIR_TRY(weir_origin_text(o, "source", "weather_ensemble predict"));
  WEIR_TRY(weir_origin_text(o, "weir_version", weir_version()));
  WEIR_TRY(weir_origin_text(o, "forecast", w->e->facts->name));
  WEIR_TRY(weir_origin_text(o, "created", now));
  WEIR_TRY(weir_origin_text(o, "weights_dates", w->trained));
  WEIR_TRY(weir_origin_text(o, WX_TRAINED_NOTE, w->subsets));
  if (is_model(w)) {
    WEIR_TRY(weir_origin_text(o, "model", w->model.model.name));
  }
  for (int k = 0; k < w->n_weights; k++) {
    WEIR_TRY(weir_origin_file(o, of[k], w->weights[k]));
  }
  return weir_origin_file(o, "config", config);
}

/* The files, each with what made it. */
static weir_status create_files(const weir_cli *cli, work *w)
{
  const wx_model *const m = &w->model.model;
  const wx_predict_request r = {.dir = cli->out,
                                .sample = w->sample,
                                .n = w->n,
                                .spread = is_model(w) || w->last.makes_sigma,
                                .output = is_model(w) ? w->model.output : w->forecast.output,
                                .first = is_model(w) ? m->first : w->e->facts->first,
                                .members = is_model(w) ? m->gives : w->e->facts->members};
  weir_origin origin = {.n = 0};
  weir_status status = take_origin(cli, w, &origin);

  if (status == WEIR_OK) {
    status = wx_predict_files_create(w->e, &r, &origin, &w->files);
  }
  weir_origin_fini(&origin);
  return status;
}

static void tell(const weir_cli *cli, const work *w, const wx_predict_times *t, bool overlap)
{
  weir_event("predict_end", WEIR_INT("samples", w->n), WEIR_INT("overlap", overlap),
             WEIR_REAL("read_s", t->read), WEIR_REAL("network_s", t->network),
             WEIR_REAL("write_s", t->write), WEIR_REAL("read_waited_s", t->read_waited),
             WEIR_REAL("write_waited_s", t->write_waited), WEIR_REAL("total_s", t->total),
             WEIR_INT("peak_bytes", weir_alloc_peak()));
  weir_info("predict",
            "%lld samples into %s in %.2f s: reading %.2f s, network %.2f s, writing %.2f s; "
            "waited for: reading %.2f s, writing %.2f s; at most %.0f MiB of memory",
            (long long)w->n, cli->out, t->total, t->read, t->network, t->write, t->read_waited,
            t->write_waited, (double)weir_alloc_peak() / 1048576);
}

/* A statistical correction is fitted field by field, for all samples: by rank 0. */
static weir_status run_model(const weir_cli *cli, work *w)
{
  if (!w->leads) {
    return WEIR_OK;
  }
  if (weir_comm_size(w->comm) > 1) {
    weir_warn("predict", "predict.model: rank 0 does all of the work: start one process");
  }
  WEIR_TRY(wx_predict_model_run(&w->model, &w->files, w->sample, w->n));
  weir_event("predict_end", WEIR_INT("samples", w->n), WEIR_TEXT("model", w->model.model.name));
  weir_info("predict", "%lld samples by %s into %s", (long long)w->n, w->model.model.name,
            cli->out);
  return WEIR_OK;
}

static weir_status write_all(const weir_cli *cli, work *w)
{
  const bool shared = w->comm != NULL && weir_comm_size(w->comm) > 1; /* ranks do not overlap */
  const bool overlap = w->e->cfg->predict.overlap && weir_threads_get() > 1 && !shared;
  const wx_predict_what what = {
      .sample = w->sample, .n = w->n, .overlap = overlap, .comm = w->comm};
  wx_predict_times times;

  WEIR_TRY(w->leads ? create_files(cli, w) : WEIR_OK);
  if (is_model(w)) {
    return run_model(cli, w);
  }
  WEIR_TRY(wx_predict_samples(w->e, w->e->cfg->bias.use ? &w->first : NULL, &w->last, &w->files,
                              &what, &times));
  if (w->leads) {
    tell(cli, w, &times, what.overlap);
  }
  return WEIR_OK;
}

static void finish(work *w)
{
  wx_predict_files_abandon(&w->files);
  wx_predict_model_close(&w->model);
  wx_predictor_fini(&w->first);
  wx_predictor_fini(&w->last);
  wx_stage_close(&w->bias);
  wx_stage_close(&w->forecast);
  wx_split_fini(&w->split);
  weir_free(&w->sample);
  weir_free(&w->trained);
  weir_free(&w->subsets);
}

/* What predict.expect asks for: of a file that was cut, what is left may be whole. */
static weir_status check_expected(const wx_experiment *e)
{
  const wx_expect_cfg *const o = &e->cfg->predict.expect;
  const wx_archive_info *const f = wx_archive_get(e->forecast);

  if (o->init_times > 0 && f->n_init_times != o->init_times) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: %lld initialisation times, and predict.expect.init_times is %lld: is it "
                     "incomplete?",
                     f->name, (long long)f->n_init_times, (long long)o->init_times);
  }
  if (o->members > 0 && f->n_members != o->members) {
    return weir_fail(WEIR_ERR_DATA,
                     "%s: %lld members, and predict.expect.members is %lld: is it incomplete?",
                     f->name, (long long)f->n_members, (long long)o->members);
  }
  for (int64_t i = 0; i < o->leads.count; i++) {
    if (wx_archive_find_lead(f, o->leads.items[i]) < 0) {
      return weir_fail(WEIR_ERR_DATA,
                       "%s: no lead time of %g h, which predict.expect.leads lists: is it "
                       "incomplete?",
                       f->name, o->leads.items[i]);
    }
  }
  return WEIR_OK;
}

/* Input and weights are read before anything of an earlier prediction goes. */
static weir_status predict(weir_job *j, wx_experiment *e)
{
  const weir_cli *const cli = j->cli;
  const weir_plan_opts exec = wx_experiment_exec(e, cli);
  work w = {.comm = j->comm, .leads = weir_job_leads(j), .e = e};
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(check_expected(e), done);
  WEIR_TRY_GOTO(is_model(&w) ? wx_predict_model_open(e, &w.model) : load(&w, &exec), done);
  WEIR_TRY_GOTO(choose(&w), done);
  WEIR_TRY_GOTO(take_subsets(&w), done);
  WEIR_TRY_GOTO(weir_run_dir_commit(&j->dir), done);
  WEIR_TRY_GOTO(write_all(cli, &w), done);
  const char *const weights[] = {w.weights[0], w.weights[1]};
  const wx_lineage of = {.split = &w.split,
                         .others = is_model(&w) ? (const char *const *)w.model.model.file : weights,
                         .n_others = is_model(&w) ? w.model.model.n_files : w.n_weights,
                         .trained = w.trained};

  WEIR_TRY_GOTO(w.leads ? wx_write_origin(cli, e, &of) : WEIR_OK, done);
done:
  finish(&w);
  return status;
}

static weir_status perform(weir_job *j)
{
  wx_cfg *const cfg = j->cfg;
  wx_experiment e;

  cfg->data.cache = 0;           /* each sample is read once */
  cfg->data.each_member = false; /* wx_predict_samples reads them */
  if (cfg->model.head == WX_HEAD_MEMBERS && cfg->predict.model.use.name == NULL) {
    cfg->predict.members = true; /* it is what the network makes */
  }
  if (cfg->predict.watch.directory[0] != 0) {
    return wx_predict_watch(j);
  }
  cfg->data.cache = 0; /* each sample is read once */
  WEIR_TRY(weir_job_begin(j, "predict", false));
  WEIR_TRY(wx_experiment_open(cfg, WX_SOURCE_APPLY, NULL, &e));
  const weir_status status = predict(j, &e);

  wx_experiment_close(&e);
  return status;
}

weir_status wx_cmd_predict(const weir_cli *cli)
{
  return weir_job_run_shared(cli, &wx_program, perform);
}
