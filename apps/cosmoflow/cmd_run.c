/* cmd_run.c - trains the network of the configuration, or resumes an earlier run of the same
 * command in the folder. */
#include <string.h>
#include "base/weir_clock.h"
#include "base/weir_file.h"
#include "base/weir_log.h"
#include "ranks.h"
#include "page/run_page.h"
#include "commands.h"

/* Commits the folder and writes provenance. A resumed run may be refused by the trainer: its folder
 * is unchanged until then. */
static weir_status accept(weir_job *j, const cf_experiment *e)
{
  char text[CF_NOTE_LINE];

  WEIR_TRY(weir_run_dir_commit(&j->dir));
  cf_source_describe(e->source, text, sizeof text);
  return cf_write_provenance(j, true, "samples", text);
}

/* State of a run. All borrowed. */
typedef struct training {
  weir_job *job; /* its folder: of the rank that leads */
  cf_ranks *ranks;
  cf_experiment *e;
} training;

/* ---- What the rank that leads does alone ---- */

/* Simulates universes as part of the results: those of an earlier run are removed before. */
static weir_status make_samples(weir_run_dir *dir, const cf_cfg *cfg, const char *folder)
{
  if (!dir->continues && cfg->source.input.count == 0) {
    WEIR_TRY(weir_run_dir_commit(dir));
  }
  return cf_experiment_prepare(cfg, folder);
}

static weir_status announce(const training *t)
{
  weir_job *const j = t->job;

  WEIR_TRY(cf_grid_print(t->e->cfg, &t->ranks->dist.grid, &t->e->estimator.task, stderr));
  return j->dir.continues ? WEIR_OK : accept(j, t->e);
}

static weir_status finish(const training *t, const weir_train_result *result)
{
  weir_job *const j = t->job;

  if (j->dir.continues) {
    WEIR_TRY(accept(j, t->e));
  }
  return cf_run_page(j->cli->out, t->e, result);
}

/* ---- What all do ---- */

static weir_status train(const training *t, weir_train_result *result, int64_t began)
{
  const weir_cli *const cli = t->job->cli;
  cf_experiment *e = t->e;
  const weir_plan_opts exec = {
      .exec = &e->cfg->exec, .threads = cli->threads, .dist = &t->ranks->dist};
  cf_mllog *log = NULL;
  weir_status status = WEIR_OK;

  if (t->ranks->leads) {
    status = cf_mllog_open(&e->cfg->mllog, cli->out, began, t->job->dir.continues, &log);
  }
  WEIR_TRY_GOTO(cf_agree(t->ranks, status), done);
  cf_mllog_describe(log, &(cf_mllog_run){.train = &e->train,
                                         .model = &e->cfg->model,
                                         .train_samples = e->split.n[CF_TRAIN],
                                         .eval_samples = e->split.n[CF_VALID]});
  status = cf_experiment_train(e, cli->out, &exec, result);
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

static weir_status run(const training *t)
{
  const weir_cli *const cli = t->job->cli;
  cf_cfg *const cfg = t->job->cfg;
  cf_ranks *const r = t->ranks;
  const int64_t began = weir_clock_wall_ms();
  weir_train_result result;
  char folder[CF_PATH];

  WEIR_TRY(weir_path_join(cli->out, "universes", folder, sizeof folder));
  WEIR_TRY(cf_agree(r, r->leads ? make_samples(&t->job->dir, cfg, folder) : WEIR_OK));
  WEIR_TRY(cf_agree(r, cf_experiment_open(cfg, folder, r->dist.comm, t->e)));
  WEIR_TRY(cf_agree(r, check_log(cfg, t->e)));
  cf_experiment_tell(t->e);
  WEIR_TRY(cf_agree(r, cf_experiment_network(t->e, t->job->config)));
  WEIR_TRY(cf_ranks_select_grid(r, cfg, cli->threads, &t->e->train, &t->e->estimator.task));
  WEIR_TRY(cf_agree(r, r->leads ? announce(t) : WEIR_OK));
  WEIR_TRY(train(t, &result, began));
  return cf_agree(r, r->leads ? finish(t, &result) : WEIR_OK);
}

static weir_status perform(weir_job *j)
{
  const cf_cfg *const cfg = j->cfg;
  const bool resume = cfg->train.checkpoint.resume;
  cf_experiment e = {.cfg = NULL};
  cf_ranks r = {.leads = false};
  weir_status status = WEIR_OK;

  WEIR_TRY(cf_ranks_open(j->comm, cfg, &r));
  WEIR_TRY_GOTO(cf_agree(&r, r.leads ? weir_job_begin(j, "run", resume) : WEIR_OK), done);
  WEIR_TRY_GOTO(run(&(training){.job = j, .ranks = &r, .e = &e}), done);
done:
  cf_experiment_close(&e);
  return status;
}

weir_status cf_cmd_run(const weir_cli *cli)
{
  return weir_job_run_on_ranks(cli, &cf_program, perform);
}
