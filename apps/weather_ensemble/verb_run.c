/* verb_run.c - trains the network of the configuration, or goes on with what an earlier run of the
 * folder left. */
#include <string.h>
#include "base/weir_file.h"
#include "predictor.h"
#include "run_page.h"
#include "verbs.h"

/* A run that was stopped or killed goes on in its own folder, with or without a checkpoint. */
static weir_status begin(const weir_cli *cli, const wx_cfg *cfg, const weir_config *config,
                         weir_run_dir *dir)
{
  const bool goes_on = cli->out != NULL && !cli->overwrite && cfg->train.checkpoint.resume &&
                       weir_dir_has_entries(cli->out);

  return goes_on ? weir_run_dir_continue(cli, config, "run", dir)
                 : weir_run_dir_begin(cli, config, "run", dir);
}

/* The newest checkpoint, whatever its format. */
static weir_status newest(const char *dir, char *path, bool *found)
{
  int64_t step = -1;

  *found = false;
  WEIR_TRY(weir_checkpoint_newest(dir, &step));
  if (step < 0) {
    return WEIR_OK;
  }
  *found = true;
  WEIR_TRY(weir_checkpoint_path(dir, step, WEIR_CHECKPOINT_NETCDF, path, WX_PATH));
  return weir_file_exists(path)
             ? WEIR_OK
             : weir_checkpoint_path(dir, step, WEIR_CHECKPOINT_RAW, path, WX_PATH);
}

/* A checkpoint is of the samples whose statistics it has; a damaged one is the trainer's to judge.
 */
static weir_status check_same_samples(wx_experiment *e, const char *dir)
{
  const wx_standard *s = &e->standard;
  const struct {
    const double *at;
    int64_t n;
  } part[] = {{s->x_mean, s->n_x}, {s->x_sd, s->n_x}, {s->y_mean, s->n_y}, {s->y_sd, s->n_y}};
  enum { PARTS = sizeof part / sizeof part[0] };
  double fitted[PARTS][WX_CHANNELS];
  char path[WX_PATH];
  bool found = false, same = true;

  WEIR_TRY(newest(dir, path, &found));
  for (int k = 0; k < PARTS; k++) {
    memcpy(fitted[k], part[k].at, (size_t)part[k].n * sizeof(double));
  }
  const weir_status status = found ? weir_train_weights(e->params, e->store, path) : WEIR_OK;

  if (status == WEIR_ERR_SHAPE || status == WEIR_ERR_MEMORY) {
    return status;
  }
  for (int k = 0; k < PARTS; k++) {
    same = same && memcmp(fitted[k], part[k].at, (size_t)part[k].n * sizeof(double)) == 0;
  }
  return same ? WEIR_OK
              : weir_fail(WEIR_ERR_CONFIG,
                          "%s: its statistics are not those of these training samples: take the "
                          "samples, data.split and model.target of that run, or another --out",
                          path);
}

/* Errors of the best weights on the validation samples. */
static weir_status validate(wx_experiment *e, const weir_plan_opts *exec, wx_errors *errors)
{
  const wx_standard *s = &e->standard;
  const int64_t *sample = e->split.sample[WX_VALID], n = e->split.n[WX_VALID];
  wx_predictor p;
  weir_status status = WEIR_OK;

  WEIR_TRY(wx_predictor_create(e, exec, &p));
  for (int64_t at = 0; at < n; at += p.batch) {
    const int64_t m = n - at < p.batch ? n - at : p.batch;

    WEIR_TRY_GOTO(wx_predictor_run(&p, sample + at, m), done);
    for (int64_t i = 0; i < m; i++) {
      WEIR_TRY_GOTO(wx_samples_read(e->samples, WX_Y, sample[at + i], e->y), done);
      wx_errors_take(errors, s, p.raw + i * s->n_x * s->cells, e->y,
                     p.field[0] + i * s->n_y * s->cells);
    }
  }
done:
  wx_predictor_fini(&p);
  return status;
}

static weir_status accept(const weir_cli *cli, const wx_cfg *cfg, weir_run_dir *dir)
{
  const char *const inputs[] = {cfg->data.file};

  WEIR_TRY(weir_run_dir_accept(dir));
  return wx_write_provenance(cli, cfg, inputs, cfg->data.file[0] != 0);
}

/* A run that goes on is the trainer's to refuse: until then its folder stays as it is. */
static weir_status train(const weir_cli *cli, const wx_cfg *cfg, wx_experiment *e,
                         weir_run_dir *dir)
{
  const weir_train_cfg own = wx_experiment_train(e);
  const weir_plan_opts exec = wx_experiment_exec(e, cli);
  weir_train_result result;
  wx_errors errors = {.samples = 0};

  wx_split_report(&e->split);
  WEIR_TRY(check_same_samples(e, cli->out));
  if (!dir->continues) {
    WEIR_TRY(accept(cli, cfg, dir));
  }
  WEIR_TRY(weir_train_run(&e->task, &own, &exec, e->params, e->store, cli->out, &result));
  if (dir->continues) {
    WEIR_TRY(accept(cli, cfg, dir));
  }
  WEIR_TRY(validate(e, &exec, &errors));
  return wx_run_page(cli->out, e, &result, &errors);
}

weir_status wx_verb_run(const weir_cli *cli)
{
  weir_config *config = NULL;
  weir_run_dir dir = {.cli = cli};
  wx_experiment e = {.cfg = NULL};
  weir_status status = WEIR_OK;
  wx_cfg cfg;

  WEIR_TRY(wx_configure(cli, &cfg, &config));
  WEIR_TRY_GOTO(begin(cli, &cfg, config, &dir), done);
  wx_tell_start(cli, &cfg);
  WEIR_TRY_GOTO(wx_experiment_open(&cfg, true, &e), done);
  WEIR_TRY_GOTO(train(cli, &cfg, &e, &dir), done);
done:
  if (status != WEIR_OK) {
    wx_abandon(&dir);
  }
  wx_experiment_close(&e);
  weir_config_destroy(&config);
  return status;
}
