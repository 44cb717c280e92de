/* cmd_check.c - the gradients of the networks against differences, on a few samples, in f64. */
#include <stdio.h>
#include "experiment.h"
#include "commands.h"

static weir_status check(const weir_cli *cli, const wx_experiment *e, const wx_stage_spec *spec)
{
  const weir_plan_opts exec = wx_experiment_exec(e, cli);
  weir_train_check_cfg own = e->cfg->check;
  double worst = 0;
  wx_stage stage;
  weir_status status = WEIR_OK;

  own.seed += e->cfg->seed;
  WEIR_TRY(wx_stage_open(spec, &stage));
  WEIR_TRY_GOTO(wx_stage_fit(&stage), done);
  printf("network %s\n", spec->name);
  WEIR_TRY_GOTO(weir_train_check(&stage.task, &own, &exec, stdout, &worst), done);
  printf("largest relative difference %.2e, tolerance %.2e\n", worst, own.tolerance);
done:
  wx_stage_close(&stage);
  return status;
}

static weir_status check_all(weir_job *j)
{
  const wx_cfg *const cfg = j->cfg;
  wx_experiment e;
  weir_status status = WEIR_OK;

  WEIR_TRY(wx_experiment_open(cfg, WX_SOURCE_NUMBERS, NULL, &e));
  WEIR_TRY_GOTO(wx_experiment_weigh(&e), done);
  const wx_stage_spec bias = wx_experiment_bias(&e, &e.split), last = wx_experiment_forecast(&e);

  if (cfg->bias.use) {
    WEIR_TRY_GOTO(check(j->cli, &e, &bias), done);
  }
  WEIR_TRY_GOTO(check(j->cli, &e, &last), done);
done:
  wx_experiment_close(&e);
  return status;
}

weir_status wx_cmd_check(const weir_cli *cli)
{
  wx_cfg cfg;

  return weir_job_run(cli, &wx_program, &cfg, check_all);
}
