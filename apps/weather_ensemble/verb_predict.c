/* verb_predict.c - the corrected fields of a file of samples. */
#include <stdio.h>
#include "base/weir_alloc.h"
#include "base/weir_clock.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "base/weir_provenance.h"
#include "base/weir_signal.h"
#include "data/output.h"
#include "predictor.h"
#include "verbs.h"

enum { DIGEST = 65 };

/* What made the file, in the file. */
static weir_status put_origin(const wx_experiment *e, weir_netcdf *nc)
{
  const struct {
    const char *name, *path;
  } inputs[] = {{"weights_sha256", e->cfg->predict.weights}, {"input_sha256", e->cfg->data.file}};
  char text[DIGEST];
  int64_t bytes = 0;

  WEIR_TRY(weir_netcdf_put_text(nc, WEIR_NETCDF_FILE, "source", "weather_ensemble predict"));
  WEIR_TRY(weir_netcdf_put_text(nc, WEIR_NETCDF_FILE, "weir_version", weir_version()));
  WEIR_TRY(weir_netcdf_put_text(nc, WEIR_NETCDF_FILE, "weights", e->cfg->predict.weights));
  WEIR_TRY(weir_netcdf_put_text(nc, WEIR_NETCDF_FILE, "input", e->facts.name));
  for (int k = 0; k < 2; k++) {
    if (weir_file_sha256(inputs[k].path, text, &bytes)) {
      WEIR_TRY(weir_netcdf_put_text(nc, WEIR_NETCDF_FILE, inputs[k].name, text));
    }
  }
  weir_clock_utc(text, sizeof text);
  return weir_netcdf_put_text(nc, WEIR_NETCDF_FILE, "created", text);
}

static weir_status write_fields(wx_predictor *p, wx_output *o, const int64_t *sample, int64_t n)
{
  const int64_t of_y = p->e->standard.n_y * p->e->standard.cells;

  for (int64_t at = 0; at < n; at += p->batch) {
    const int64_t m = n - at < p->batch ? n - at : p->batch;

    if (weir_stop_requested()) {
      return weir_fail(WEIR_ERR_STOPPED, "predict: stopped at sample %lld of %lld", (long long)at,
                       (long long)n);
    }
    WEIR_TRY(wx_predictor_run(p, sample + at, m));
    for (int64_t i = 0; i < m; i++) {
      for (int k = 0; k < 1 + p->spread; k++) {
        WEIR_TRY(wx_output_write(o, k, at + i, p->field[k] + i * of_y));
      }
    }
    weir_progress("predict", at + m, n, "samples");
  }
  return WEIR_OK;
}

static weir_status write_file(const weir_cli *cli, wx_predictor *p, const int64_t *sample,
                              int64_t n)
{
  const wx_facts *f = &p->e->facts;
  wx_output_field field[WX_OUTPUT_FIELDS] = {
      {"mean", "corrected forecast", "channel", f->n_channels[WX_Y], f->channel[WX_Y]},
      {"spread", "standard deviation of the truth around it", "channel", f->n_channels[WX_Y],
       f->channel[WX_Y]},
  };
  char path[WX_PATH];
  wx_output o;
  weir_status status = WEIR_OK;

  WEIR_TRY(weir_path_join(cli->out, "predictions.nc", path, sizeof path));
  WEIR_TRY(wx_output_open(path, f, field, 1 + p->spread, sample, n, &o));
  WEIR_TRY_GOTO(put_origin(p->e, o.nc), done);
  WEIR_TRY_GOTO(write_fields(p, &o, sample, n), done);
  WEIR_TRY_GOTO(wx_output_commit(&o), done);
  weir_event("predict_end", WEIR_INT("samples", n), WEIR_TEXT("output", path));
  weir_info("predict", "wrote %s: %lld samples", path, (long long)n);
done:
  wx_output_close(&o);
  return status;
}

/* The samples that predict.part asks for. */
static weir_status choose(wx_experiment *e, int64_t **sample, int64_t *n)
{
  const int part = e->cfg->predict.part;

  *n = part == WX_PREDICT_ALL ? e->facts.n : e->split.n[part];
  if (*n == 0) {
    return weir_fail(WEIR_ERR_CONFIG, "predict.part: no sample of %s is of the part %s",
                     e->facts.name, wx_part_name[part]);
  }
  WEIR_TRY(weir_alloc(*n, sizeof **sample, (void **)sample));
  for (int64_t i = 0; i < *n; i++) {
    (*sample)[i] = part == WX_PREDICT_ALL ? i : e->split.sample[part][i];
  }
  return WEIR_OK;
}

static weir_status predict(const weir_cli *cli, wx_experiment *e)
{
  const weir_plan_opts exec = wx_experiment_exec(e, cli);
  const char *const inputs[] = {e->cfg->predict.weights, e->cfg->data.file};
  wx_predictor p = {.e = NULL};
  int64_t *sample = NULL;
  int64_t n = 0;
  weir_status status = WEIR_OK;

  WEIR_TRY_GOTO(choose(e, &sample, &n), done);
  WEIR_TRY_GOTO(wx_predictor_create(e, &exec, &p), done);
  WEIR_TRY_GOTO(write_file(cli, &p, sample, n), done);
  WEIR_TRY_GOTO(wx_write_provenance(cli, e->cfg, inputs, 1 + (e->cfg->data.file[0] != 0)), done);
done:
  wx_predictor_fini(&p);
  weir_free(&sample);
  return status;
}

/* Input and weights are read before anything of an earlier prediction goes. */
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
  WEIR_TRY_GOTO(wx_experiment_open_weights(&cfg, &e), done);
  WEIR_TRY_GOTO(weir_run_dir_accept(&dir), done);
  WEIR_TRY_GOTO(predict(cli, &e), done);
done:
  if (status != WEIR_OK) {
    wx_abandon(&dir);
  }
  wx_experiment_close(&e);
  weir_config_destroy(&config);
  return status;
}
