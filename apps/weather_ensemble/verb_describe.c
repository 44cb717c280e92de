/* verb_describe.c - the resolved configuration, the samples, the network and the plan of a training
 * step; no field is read. */
#include <stdio.h>
#include "data/date.h"
#include "experiment.h"
#include "verbs.h"

static void print_samples(const wx_experiment *e)
{
  const wx_facts *f = &e->facts;

  printf("# samples: %s, %lld of", f->name, (long long)f->n);
  for (int d = 0; d < f->rank; d++) {
    printf(" %s %lld", f->axis[d].name, (long long)f->axis[d].length);
  }
  for (int side = 0; side < WX_SIDES; side++) {
    printf("; %s:", side == WX_X ? "x" : "y");
    for (int64_t c = 0; c < f->n_channels[side]; c++) {
      printf(" %s (%s)", f->channel[side][c].name, f->channel[side][c].units);
    }
  }
  printf("\n");
  for (int p = 0; p < WX_PARTS; p++) {
    char first[32] = "", last[32] = "";

    if (e->split.n[p] > 0) {
      wx_date_text(e->split.first[p], first, sizeof first);
      wx_date_text(e->split.last[p], last, sizeof last);
    }
    printf("# %s: %lld samples%s%s%s%s\n", wx_part_name[p], (long long)e->split.n[p],
           first[0] != 0 ? ", " : "", first, first[0] != 0 ? " to " : "", last);
  }
  printf("# left out by data.split: %lld\n\n", (long long)e->split.left_out);
}

weir_status wx_verb_describe(const weir_cli *cli)
{
  weir_config *config = NULL;
  wx_experiment e = {.cfg = NULL};
  weir_status status = WEIR_OK;
  wx_cfg cfg;

  WEIR_TRY(wx_configure(cli, &cfg, &config));
  WEIR_TRY_GOTO(wx_experiment_open(&cfg, false, &e), done);
  const weir_plan_opts exec = wx_experiment_exec(&e, cli);

  print_samples(&e);
  WEIR_TRY_GOTO(weir_config_print(config, stdout), done);
  printf("\n# network: %lld parameters\n", (long long)weir_params_elements(e.params));
  weir_params_print(e.params, stdout);
  printf("\n# a training step of %lld samples\n", (long long)cfg.train.batch);
  const weir_train_cfg own = wx_experiment_train(&e);

  WEIR_TRY_GOTO(weir_train_describe(&e.task, &own, &exec, stdout), done);
done:
  wx_experiment_close(&e);
  weir_config_destroy(&config);
  return status;
}
