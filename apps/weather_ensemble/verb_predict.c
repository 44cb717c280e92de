/* verb_predict.c - corrected forecasts of an archive: mean, standard deviation, members. */
#include <libgen.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_clock.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "base/weir_provenance.h"
#include "base/weir_signal.h"
#include "data/predictions.h"
#include "predictor.h"
#include "verbs.h"

/* What a prediction needs, and where its time went. */
typedef struct work {
  wx_experiment *e;
  wx_stage bias, forecast; /* bias: where bias.use */
  wx_predictor first, last;
  wx_predictions *fields, *members;
  float *room; /* [members, plane] */
  char weights[2][WX_PATH];
  int n_weights;
  double read_s, network_s, write_s;
} work;

/* The weights of the forecast, and of the bias network in the folder beside them. */
static weir_status load(work *w, const weir_plan_opts *exec)
{
  wx_experiment *e = w->e;
  const wx_cfg *cfg = e->cfg;
  char folder[WX_PATH], path[WX_PATH];
  int64_t bytes;

  if (cfg->predict.weights[0] == 0) {
    return weir_fail(WEIR_ERR_CONFIG,
                     "predict.weights names no file: give the weights.nc of a run with --set "
                     "predict.weights=RUN/weights.nc, and the network with --config "
                     "RUN/resolved.yaml");
  }
  (void)snprintf(w->weights[w->n_weights++], WX_PATH, "%s", cfg->predict.weights);
  if (cfg->bias.use) {
    const wx_stage_spec spec = wx_experiment_bias(e, &e->split);

    (void)snprintf(folder, sizeof folder, "%s", cfg->predict.weights);
    WEIR_TRY(weir_path_join(dirname(folder), "bias", path, sizeof path));
    WEIR_TRY(wx_stage_weights(&e->bias_train, path, w->weights[w->n_weights], WX_PATH));
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

/* Members keep their places among one another: each is moved by the mean and its distance from the
 * raw mean stretched by the ratio of standard deviations. */
static weir_status write_members(work *w, int64_t sample, const wx_sample *v)
{
  const wx_facts *f = w->e->facts;
  const int64_t plane = f->cells / f->depth, n = f->members;
  const float *mean = w->last.mean, *sigma = w->last.sigma;

  for (int64_t k = 0; k < f->n_channels[WX_Y]; k++) {
    for (int64_t d = 0; d < f->depth; d++) {
      const bool leads = strcmp(f->axis[0].name, "lead") == 0;
      const int64_t lead = leads ? f->lead[d] : f->of_lead[sample];

      WEIR_TRY(wx_archive_read(w->e->forecast, f->of_start[sample], lead,
                               f->target[k * f->depth + d], w->e->cfg->data.skip, n, w->room));
      for (int64_t i = 0; i < plane; i++) {
        const int64_t at = k * f->cells + d * plane + i;
        const bool stretch = sigma != NULL && v->s[at] > 0;
        const float ratio = stretch ? sigma[at] / v->s[at] : 1;

        for (int64_t m = 0; m < n; m++) {
          w->room[m * plane + i] = mean[at] + ratio * (w->room[m * plane + i] - v->m[at]);
        }
      }
      WEIR_TRY(wx_predictions_write_members(w->members, sample, k, d, w->room));
    }
  }
  return WEIR_OK;
}

static weir_status predict_one(work *w, int64_t sample)
{
  wx_sample v;
  double t = weir_clock();

  WEIR_TRY(wx_samples_read(w->e->samples, sample, &v));
  w->read_s += weir_clock() - t;
  t = weir_clock();
  wx_predictor_put(&w->last, 0, &v);
  if (w->e->cfg->bias.use) {
    wx_sample own = v;

    if (w->e->bias_samples != NULL) {
      WEIR_TRY(wx_samples_read(w->e->bias_samples, sample, &own));
    }
    wx_predictor_put(&w->first, 0, &own);
    WEIR_TRY(wx_predictor_run(&w->first));
    memcpy(w->last.m, w->first.mean, (size_t)w->last.of_y * sizeof *w->last.m);
  }
  WEIR_TRY(wx_predictor_run(&w->last));
  if (w->e->cfg->data.label == WX_LABEL_SPREAD) { /* the network says nothing of the mean */
    memcpy(w->last.mean, v.m, (size_t)w->last.of_y * sizeof *v.m);
  }
  w->network_s += weir_clock() - t;
  t = weir_clock();
  WEIR_TRY(wx_predictions_write(w->fields, sample, w->last.mean, w->last.sigma));
  if (w->members != NULL) {
    WEIR_TRY(write_members(w, sample, &v));
  }
  w->write_s += weir_clock() - t;
  return WEIR_OK;
}

/* What made the file, in the file. */
static weir_status put_origin(const work *w, wx_predictions *p)
{
  static const char *const name[] = {"weights_sha256", "bias_weights_sha256"};
  char text[80];
  int64_t bytes = 0;

  WEIR_TRY(wx_predictions_put_text(p, "source", "weather_ensemble predict"));
  WEIR_TRY(wx_predictions_put_text(p, "weir_version", weir_version()));
  WEIR_TRY(wx_predictions_put_text(p, "forecast", w->e->facts->name));
  for (int k = 0; k < w->n_weights; k++) {
    if (weir_file_sha256(w->weights[k], text, &bytes)) {
      WEIR_TRY(wx_predictions_put_text(p, name[k], text));
    }
  }
  weir_clock_utc(text, sizeof text);
  return wx_predictions_put_text(p, "created", text);
}

static weir_status create_files(const weir_cli *cli, work *w, const int64_t *sample, int64_t n)
{
  const wx_facts *f = w->e->facts;
  const wx_archive_facts *a = wx_archive_get(w->e->forecast);
  const wx_data_opts *d = &w->e->cfg->data;
  char path[WX_PATH];

  WEIR_TRY(weir_path_join(cli->out, "predictions.nc", path, sizeof path));
  WEIR_TRY(
      wx_predictions_create(path, f, a, sample, n, w->last.makes_sigma, d->skip, 0, &w->fields));
  WEIR_TRY(put_origin(w, w->fields));
  if (!w->e->cfg->predict.members) {
    return WEIR_OK;
  }
  WEIR_TRY(weir_alloc(f->members * (f->cells / f->depth), sizeof *w->room, (void **)&w->room));
  WEIR_TRY(weir_path_join(cli->out, "members.nc", path, sizeof path));
  WEIR_TRY(wx_predictions_create(path, f, a, sample, n, false, d->skip, f->members, &w->members));
  return put_origin(w, w->members);
}

static weir_status write_all(const weir_cli *cli, work *w, const int64_t *sample, int64_t n)
{
  WEIR_TRY(create_files(cli, w, sample, n));
  for (int64_t i = 0; i < n; i++) {
    if (weir_stop_requested()) {
      return weir_fail(WEIR_ERR_STOPPED, "predict: stopped at sample %lld of %lld", (long long)i,
                       (long long)n);
    }
    WEIR_TRY(predict_one(w, sample[i]));
    weir_progress("predict", i + 1, n, "samples");
  }
  const double t = weir_clock();

  WEIR_TRY(wx_predictions_commit(&w->fields));
  if (w->members != NULL) {
    WEIR_TRY(wx_predictions_commit(&w->members));
  }
  w->write_s += weir_clock() - t;
  weir_event("predict_end", WEIR_INT("samples", n), WEIR_REAL("read_s", w->read_s),
             WEIR_REAL("network_s", w->network_s), WEIR_REAL("write_s", w->write_s),
             WEIR_INT("peak_bytes", weir_alloc_peak()));
  weir_info("predict", "%lld samples into %s: reading %.2f s, network %.2f s, writing %.2f s",
            (long long)n, cli->out, w->read_s, w->network_s, w->write_s);
  return WEIR_OK;
}

/* The samples that predict.part asks for. */
static weir_status choose(const wx_experiment *e, int64_t **sample, int64_t *n)
{
  const int part = e->cfg->predict.part;

  *n = part == WX_PREDICT_ALL ? e->facts->n : e->split.n[part];
  if (*n == 0) {
    return weir_fail(WEIR_ERR_CONFIG, "predict.part: no sample of %s is of the part %s",
                     e->facts->name, wx_part_name[part]);
  }
  WEIR_TRY(weir_alloc(*n, sizeof **sample, (void **)sample));
  for (int64_t i = 0; i < *n; i++) {
    (*sample)[i] = part == WX_PREDICT_ALL ? i : e->split.sample[part][i];
  }
  return WEIR_OK;
}

static void finish(work *w)
{
  wx_predictions_abandon(&w->fields);
  wx_predictions_abandon(&w->members);
  wx_predictor_fini(&w->first);
  wx_predictor_fini(&w->last);
  wx_stage_close(&w->bias);
  wx_stage_close(&w->forecast);
  weir_free(&w->room);
}

/* Input and weights are read before anything of an earlier prediction goes. */
static weir_status predict(const weir_cli *cli, wx_experiment *e, weir_run_dir *dir)
{
  const weir_plan_opts exec = wx_experiment_exec(e, cli);
  int64_t *sample = NULL, n = 0;
  work w = {.e = e};
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(load(&w, &exec), done);
  WEIR_TRY_GOTO(choose(e, &sample, &n), done);
  WEIR_TRY_GOTO(weir_run_dir_accept(dir), done);
  WEIR_TRY_GOTO(write_all(cli, &w, sample, n), done);
  const char *const weights[] = {w.weights[0], w.weights[1]};

  WEIR_TRY_GOTO(wx_write_origin(cli, e, weights, w.n_weights), done);
done:
  finish(&w);
  weir_free(&sample);
  return status;
}

weir_status wx_verb_predict(const weir_cli *cli)
{
  weir_config *config = NULL;
  weir_run_dir dir = {.cli = cli};
  wx_experiment e = {.cfg = NULL};
  weir_status status = WEIR_OK;
  wx_cfg cfg;

  WEIR_TRY(wx_configure(cli, &cfg, &config));
  WEIR_TRY_GOTO(weir_run_dir_begin(cli, config, "predict", &dir), done);
  wx_tell_start(cli, &cfg);
  WEIR_TRY_GOTO(wx_experiment_open(&cfg, WX_SOURCE_APPLY, &e), done);
  WEIR_TRY_GOTO(predict(cli, &e, &dir), done);
done:
  if (status != WEIR_OK) {
    wx_abandon(&dir);
  }
  wx_experiment_close(&e);
  weir_config_destroy(&config);
  return status;
}
