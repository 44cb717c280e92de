/* verb_check.c - the gradient of the network against differences, on a few samples, in f64. */
#include <stdio.h>
#include "experiment.h"
#include "verbs.h"

weir_status wx_verb_check(const weir_cli *cli)
{
  weir_config *config = NULL;
  wx_experiment e = {.cfg = NULL};
  double worst = 0;
  weir_status status = WEIR_OK;
  wx_cfg cfg;

  WEIR_TRY(wx_configure(cli, &cfg, &config));
  WEIR_TRY_GOTO(wx_experiment_open(&cfg, true, &e), done);
  const weir_plan_opts exec = wx_experiment_exec(&e, cli);

  weir_train_check_cfg own = cfg.check;

  own.seed += cfg.seed;
  WEIR_TRY_GOTO(weir_train_check(&e.task, &own, &exec, stdout, &worst), done);
  printf("largest relative difference %.2e, tolerance %.2e\n", worst, cfg.check.tolerance);
done:
  wx_experiment_close(&e);
  weir_config_destroy(&config);
  return status;
}
