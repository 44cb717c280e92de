/* cmd_run.c - trains the networks of the configuration, or resumes an earlier run of the same
 * command in the folder: the bias network of each fold, the one of all training samples, then the
 * network of the forecast. */
#include <string.h>
#include "base/weir_log.h"
#include "page/run_page.h"
#include "commands.h"

static weir_status accept(const weir_cli *cli, const wx_experiment *e, weir_run_dir *dir)
{
  const char *const *const weights = &e->cfg->train.initial_weights;

  WEIR_TRY(weir_run_dir_commit(dir));
  return wx_write_origin(
      cli, e, &(wx_lineage){.split = &e->split, .others = weights, .n_others = weights[0][0] != 0});
}

/* Of the rank that leads. A resumed run is the trainer's to refuse: until then its folder stays as
 * it is. */
static weir_status finish(const weir_cli *cli, wx_experiment *e, wx_stage *stage, weir_run_dir *dir,
                          const weir_train_result *result)
{
  const weir_plan_opts exec = wx_experiment_exec(e, cli);
  wx_validation v = {.samples = 0};
  weir_status status = WEIR_OK;

  if (dir->continues) {
    WEIR_TRY(accept(cli, e, dir));
  }
  WEIR_TRY_GOTO(wx_validate(e, stage, &exec, &v), done);
  WEIR_TRY_GOTO(wx_run_page(cli->out, e, stage, result, &v), done);
done:
  wx_validation_fini(&v);
  return status;
}

static weir_status train(const weir_cli *cli, wx_experiment *e, wx_stage *stage, weir_run_dir *dir)
{
  const weir_plan_opts exec = wx_experiment_exec(e, cli);
  weir_train_result result;
  char digest[65];

  weir_event("stage", WEIR_TEXT("name", "forecast"));
  WEIR_TRY(wx_agree(e, wx_stage_fit(stage)));
  WEIR_TRY(wx_experiment_train(e, stage, cli->out, &exec, &result, digest));
  return wx_agree(e, wx_leads(e) ? finish(cli, e, stage, dir, &result) : WEIR_OK);
}

static weir_status run(const weir_cli *cli, wx_experiment *e, weir_run_dir *dir)
{
  const weir_plan_opts exec = wx_experiment_exec(e, cli);
  wx_stage stage;

  wx_split_report(&e->split);
  WEIR_TRY(wx_agree(e, wx_validation_look(e)));
  WEIR_TRY(wx_agree(e, wx_leads(e) && !dir->continues ? accept(cli, e, dir) : WEIR_OK));
  if (e->cfg->bias.use) {
    WEIR_TRY(wx_experiment_train_bias(e, cli->out, &exec));
  }
  WEIR_TRY(wx_agree(e, wx_experiment_weigh(e)));
  const wx_stage_spec spec = wx_experiment_forecast(e);

  WEIR_TRY(wx_agree(e, wx_stage_open(&spec, &stage)));
  const weir_status status = train(cli, e, &stage, dir);

  wx_stage_close(&stage);
  return status;
}

static weir_status perform(weir_job *j)
{
  const wx_cfg *const cfg = j->cfg;
  const bool leads = weir_comm_rank(j->comm) == 0, resume = cfg->train.checkpoint.resume;
  wx_experiment e;
  weir_status status = WEIR_OK;

  weir_comm_configure(j->comm, &cfg->comm);
  WEIR_TRY(weir_comm_agree(j->comm, leads ? weir_job_begin(j, "run", resume) : WEIR_OK));
  status = wx_experiment_open(cfg, WX_SOURCE_FILES, j->comm, &e);
  WEIR_TRY_GOTO(weir_comm_agree(j->comm, status), done);
  WEIR_TRY_GOTO(wx_experiment_place(&e), done);
  WEIR_TRY_GOTO(run(j->cli, &e, &j->dir), done);
done:
  wx_experiment_close(&e);
  return status;
}

weir_status wx_cmd_run(const weir_cli *cli)
{
  return weir_job_run_on_ranks(cli, &wx_program, perform);
}
