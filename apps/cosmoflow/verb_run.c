/* verb_run.c - trains the network of the configuration, or goes on with what an earlier run of the
 * folder left. */
#include <string.h>
#include "base/weir_clock.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "data/universe_write.h"
#include "run_page.h"
#include "verbs.h"

/* A run that was stopped or killed goes on in its own folder, with or without a checkpoint. */
static weir_status begin(const weir_cli *cli, const cf_cfg *cfg, const weir_config *config,
                         weir_run_dir *dir)
{
  const bool goes_on = cli->out != NULL && !cli->overwrite && cfg->train.checkpoint.resume &&
                       weir_dir_has_entries(cli->out);

  return goes_on ? weir_run_dir_continue(cli, config, "run", dir)
                 : weir_run_dir_begin(cli, config, "run", dir);
}

/* The built-in universes in DIR/universes, where no samples are named. */
static weir_status prepare(const weir_cli *cli, const cf_cfg *cfg, char *folder)
{
  cf_universe_facts facts;
  cf_written done;

  WEIR_TRY(weir_path_join(cli->out, "universes", folder, CF_PATH));
  if (cfg->source.input.count > 0) {
    return WEIR_OK;
  }
  WEIR_TRY(cf_universe_check(&cfg->simulate, &facts));
  WEIR_TRY(weir_dir_create(folder));
  WEIR_TRY(cf_universe_check_folder(&cfg->simulate, &facts, (uint64_t)cfg->seed, folder));
  WEIR_TRY(cf_universe_write(&cfg->simulate, (uint64_t)cfg->seed, folder, &done));
  if (done.files > 0) {
    weir_info("run", "source.input names no samples: %lld universes of the section simulate: %s",
              (long long)done.universes, folder);
  }
  return WEIR_OK;
}

/* Provenance; a run that goes on is the trainer's to refuse: until then its folder stays as it is.
 */
static weir_status accept(const weir_cli *cli, const cf_experiment *e, weir_run_dir *dir)
{
  char text[CF_NOTE_LINE];

  WEIR_TRY(weir_run_dir_accept(dir));
  cf_source_describe(e->source, text, sizeof text);
  return cf_write_provenance(cli, e->cfg, "samples", text);
}

static weir_status train(const weir_cli *cli, cf_experiment *e, weir_run_dir *dir,
                         weir_train_result *result, int64_t began)
{
  const weir_plan_opts exec = {.exec = &e->cfg->exec, .threads = cli->threads};
  cf_mllog *log = NULL;

  WEIR_TRY(cf_mllog_open(&e->cfg->mllog, cli->out, began, dir->continues, &log));
  cf_mllog_describe(log, &(cf_mllog_run){.train = &e->train,
                                         .model = &e->cfg->model,
                                         .train_samples = e->split.n[CF_TRAIN],
                                         .eval_samples = e->split.n[CF_VALID]});
  const weir_status status = cf_experiment_train(e, cli->out, &exec, result);

  cf_mllog_close(&log);
  return status;
}

/* Universes of its own are results: what an earlier run left goes before they are written. */
static weir_status run(const weir_cli *cli, cf_experiment *e, cf_cfg *cfg, weir_run_dir *dir)
{
  const int64_t began = weir_clock_wall_ms();
  weir_train_result result;
  char folder[CF_PATH];

  if (!dir->continues && cfg->source.input.count == 0) {
    WEIR_TRY(weir_run_dir_accept(dir));
  }
  WEIR_TRY(prepare(cli, cfg, folder));
  WEIR_TRY(cf_experiment_open(cfg, folder, e));
  cf_experiment_tell(e);
  WEIR_TRY(cf_experiment_network(e, dir->config));
  if (!dir->continues) {
    WEIR_TRY(accept(cli, e, dir));
  }
  WEIR_TRY(train(cli, e, dir, &result, began));
  if (dir->continues) {
    WEIR_TRY(accept(cli, e, dir));
  }
  return cf_run_page(cli->out, e, &result);
}

weir_status cf_verb_run(const weir_cli *cli)
{
  weir_config *config = NULL;
  weir_run_dir dir = {.cli = cli};
  cf_experiment e = {.cfg = NULL};
  weir_status status = WEIR_OK;
  cf_cfg cfg;

  WEIR_TRY(cf_configure(cli, &cfg, &config));
  WEIR_TRY_GOTO(begin(cli, &cfg, config, &dir), done);
  cf_tell_start(cli, &cfg);
  WEIR_TRY_GOTO(run(cli, &e, &cfg, &dir), done);
done:
  if (status != WEIR_OK) {
    cf_abandon(&dir);
  }
  cf_experiment_close(&e);
  weir_config_destroy(&config);
  return status;
}
