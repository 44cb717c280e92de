/* cmd_run.c - trains the network of the configuration, or resumes an earlier run of the same
 * command in the folder. */
#include <string.h>
#include "base/weir_clock.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "data/simulation/universe_write.h"
#include "ranks.h"
#include "run_page.h"
#include "commands.h"

/* The built-in universes in the folder, where no samples are named. */
static weir_status prepare(const cf_cfg *cfg, const char *folder)
{
  cf_universe_facts facts;
  cf_written done;

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

/* Commits the folder and writes provenance. A resumed run may be refused by the trainer: its folder
 * is unchanged until then. */
static weir_status accept(const weir_cli *cli, const cf_experiment *e, weir_run_dir *dir)
{
  char text[CF_NOTE_LINE];

  WEIR_TRY(weir_run_dir_commit(dir));
  cf_source_describe(e->source, text, sizeof text);
  return cf_write_provenance(cli, e->cfg, "samples", text);
}

/* State of a run. All borrowed. */
typedef struct job {
  const weir_cli *cli;
  const weir_config *config;
  cf_ranks *ranks;
  weir_run_dir *dir; /* of the rank that leads */
  cf_experiment *e;
} job;

/* ---- What the rank that leads does alone ---- */

/* Simulates universes as part of the results: those of an earlier run are removed before. */
static weir_status make_samples(const job *j, const cf_cfg *cfg, const char *folder)
{
  if (!j->dir->continues && cfg->source.input.count == 0) {
    WEIR_TRY(weir_run_dir_commit(j->dir));
  }
  return prepare(cfg, folder);
}

static weir_status announce(const job *j)
{
  WEIR_TRY(cf_grid_print(j->e->cfg, &j->ranks->dist.grid, &j->e->estimator.task, stderr));
  return j->dir->continues ? WEIR_OK : accept(j->cli, j->e, j->dir);
}

static weir_status finish(const job *j, const weir_train_result *result)
{
  if (j->dir->continues) {
    WEIR_TRY(accept(j->cli, j->e, j->dir));
  }
  return cf_run_page(j->cli->out, j->e, result);
}

/* ---- What all do ---- */

static weir_status train(const job *j, weir_train_result *result, int64_t began)
{
  cf_experiment *e = j->e;
  const weir_plan_opts exec = {
      .exec = &e->cfg->exec, .threads = j->cli->threads, .dist = &j->ranks->dist};
  cf_mllog *log = NULL;
  weir_status status = WEIR_OK;

  if (j->ranks->leads) {
    status = cf_mllog_open(&e->cfg->mllog, j->cli->out, began, j->dir->continues, &log);
  }
  WEIR_TRY_GOTO(cf_agree(j->ranks, status), done);
  cf_mllog_describe(log, &(cf_mllog_run){.train = &e->train,
                                         .model = &e->cfg->model,
                                         .train_samples = e->split.n[CF_TRAIN],
                                         .eval_samples = e->split.n[CF_VALID]});
  status = cf_experiment_train(e, j->cli->out, &exec, result);
done:
  cf_mllog_close(&log);
  return status;
}

/* Samples that the log may be of. */
static weir_status check_log(const cf_cfg *cfg, const cf_experiment *e)
{
  return cf_mllog_check_samples(&cfg->mllog, cf_source_info(e->source),
                                cf_source_simulates(e->source), e->split.n[CF_TRAIN],
                                e->split.n[CF_VALID]);
}

static weir_status run(const job *j, cf_cfg *cfg)
{
  cf_ranks *r = j->ranks;
  const int64_t began = weir_clock_wall_ms();
  weir_train_result result;
  char folder[CF_PATH];

  WEIR_TRY(weir_path_join(j->cli->out, "universes", folder, sizeof folder));
  WEIR_TRY(cf_agree(r, r->leads ? make_samples(j, cfg, folder) : WEIR_OK));
  WEIR_TRY(cf_agree(r, cf_experiment_open(cfg, folder, r->dist.comm, j->e)));
  WEIR_TRY(cf_agree(r, check_log(cfg, j->e)));
  cf_experiment_tell(j->e);
  WEIR_TRY(cf_agree(r, cf_experiment_network(j->e, j->config)));
  WEIR_TRY(cf_ranks_select_grid(r, cfg, j->cli->threads, &j->e->train, &j->e->estimator.task));
  WEIR_TRY(cf_agree(r, r->leads ? announce(j) : WEIR_OK));
  WEIR_TRY(train(j, &result, began));
  return cf_agree(r, r->leads ? finish(j, &result) : WEIR_OK);
}

weir_status cf_cmd_run(const weir_cli *cli)
{
  weir_config *config = NULL;
  weir_run_dir dir = {.cli = cli};
  cf_experiment e = {.cfg = NULL};
  cf_ranks ranks = {.leads = false};
  weir_status status = WEIR_OK;
  cf_cfg cfg;

  WEIR_TRY(cf_configure(cli, &cfg, &config));
  const job j = {.cli = cli, .config = config, .ranks = &ranks, .dir = &dir, .e = &e};

  WEIR_TRY_GOTO(cf_ranks_open(cli, &cfg, &ranks), done);
  WEIR_TRY_GOTO(cf_agree(&ranks, ranks.leads ? weir_run_dir_start(cli, config, "run",
                                                                  cfg.train.checkpoint.resume, &dir)
                                             : WEIR_OK),
                done);
  cf_tell_start(cli, &cfg);
  WEIR_TRY_GOTO(run(&j, &cfg), done);
done:
  if (status != WEIR_OK && ranks.leads) {
    cf_abandon(&dir);
  }
  cf_experiment_close(&e);
  cf_ranks_close(&ranks);
  weir_config_destroy(&config);
  return status;
}
