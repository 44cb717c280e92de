/* verb_describe.c - the resolved configuration, the samples, the networks with what they cost, and
 * the plan of a training step; no field is read. */
#include <stdio.h>
#include "data/date.h"
#include "experiment.h"
#include "verbs.h"

static void print_samples(const wx_experiment *e)
{
  const wx_facts *f = e->facts;

  printf("# samples: %s, %lld of", f->name, (long long)f->n);
  for (int d = 0; d < f->rank; d++) {
    printf(" %s %lld", f->axis[d].name, (long long)f->axis[d].length);
  }
  for (int side = 0; side < WX_SIDES; side++) {
    printf("\n# %lld channels of %s:", (long long)f->n_channels[side], side == WX_X ? "x" : "y");
    for (int64_t c = 0; c < f->n_channels[side]; c++) {
      printf("%s %s (%s)", c > 0 ? "," : "", f->channel[side][c].name, f->channel[side][c].units);
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
  printf("# left out by data.split: %lld; without truth: %lld\n\n", (long long)e->split.left_out,
         (long long)f->no_truth);
}

/* Samples that are trained on and samples that are applied, epochs included: forward and backward
 * are taken as three times forward. */
static void print_cost(const wx_experiment *e, const wx_stage *s, double forward, double rounds)
{
  const double epochs = (double)s->is.train->epochs;
  const double train = rounds * epochs * (double)e->split.n[WX_TRAIN];
  const double networks = rounds > 1 ? rounds + 1 : 1;
  const double valid =
      networks * epochs / (double)s->is.train->validate_every * (double)e->split.n[WX_VALID];

  printf("# forward %.4g GFLOP a sample; %g epochs of %g networks: %.4g PFLOP\n", forward / 1e9,
         epochs, networks, forward * (3 * train + valid) / 1e15);
}

static weir_status describe(const weir_cli *cli, const wx_experiment *e, const wx_stage_spec *spec,
                            double rounds)
{
  const weir_plan_opts exec = wx_experiment_exec(e, cli);
  double forward = 0;
  wx_stage s;
  weir_status status = WEIR_OK;

  WEIR_TRY(wx_stage_open(spec, &s));
  printf("\n# network %s: %lld parameters\n", spec->name,
         (long long)weir_params_elements(s.params));
  weir_params_print(s.params, stdout);
  WEIR_TRY_GOTO(wx_stage_flops(&s, &forward), done);
  print_cost(e, &s, forward, rounds);
  printf("\n# a training step of %lld samples\n", (long long)spec->train->batch);
  (void)fflush(stdout); /* a plan of full size takes its time */
  WEIR_TRY_GOTO(weir_train_describe(&s.task, spec->train, &exec, stdout), done);
done:
  wx_stage_close(&s);
  return status;
}

weir_status wx_verb_describe(const weir_cli *cli)
{
  weir_config *config = NULL;
  wx_experiment e = {.cfg = NULL};
  weir_status status = WEIR_OK;
  wx_cfg cfg;

  WEIR_TRY(wx_configure(cli, &cfg, &config));
  WEIR_TRY_GOTO(wx_experiment_open(&cfg, WX_SOURCE_FACTS, &e), done);
  const wx_stage_spec bias = wx_experiment_bias(&e, &e.split), last = wx_experiment_forecast(&e);
  const double folds = (double)cfg.bias.folds;

  print_samples(&e);
  WEIR_TRY_GOTO(weir_config_print(config, stdout), done);
  if (cfg.bias.use) { /* folds of all but one part, and one of all */
    WEIR_TRY_GOTO(describe(cli, &e, &bias, folds > 0 ? folds : 1), done);
  }
  WEIR_TRY_GOTO(describe(cli, &e, &last, 1), done);
done:
  wx_experiment_close(&e);
  weir_config_destroy(&config);
  return status;
}
