/* cmd_describe.c - the samples, the configuration and the networks with what they cost; with --all
 * also their parameters and the plan of a training step. No field is read. */
#include <stdio.h>
#include "report/weir_report.h"
#include "data/date.h"
#include "experiment.h"
#include "commands.h"

static void print_channels(const wx_info *f, wx_side side)
{
  printf("# %lld channels of %s:", (long long)f->n_channels[side], side == WX_X ? "x" : "y");
  for (int64_t c = 0; c < f->n_channels[side]; c++) {
    printf("%s %s (%s)", c > 0 ? "," : "", f->channel[side][c].name, f->channel[side][c].units);
  }
  printf("\n");
}

static void print_samples(const wx_experiment *e)
{
  const wx_info *f = e->facts;

  printf("# samples: %s, %lld of", f->name, (long long)f->n);
  for (int d = 0; d < f->rank; d++) {
    printf(" %s %lld", f->axis[d].name, (long long)f->axis[d].length);
  }
  printf("\n");
  print_channels(f, WX_Y);
  for (int p = 0; p < WX_SUBSETS; p++) {
    char first[32] = "", last[32] = "";

    if (e->split.n[p] > 0) {
      wx_date_text(e->split.first[p], first, sizeof first);
      wx_date_text(e->split.last[p], last, sizeof last);
    }
    printf("# %s: %lld samples%s%s%s%s\n", wx_subset_name[p], (long long)e->split.n[p],
           first[0] != 0 ? ", " : "", first, first[0] != 0 ? " to " : "", last);
  }
  printf("# left out by data.split: %lld; without truth: %lld\n\n", (long long)e->split.left_out,
         (long long)f->no_truth);
}

static double seconds(const wx_experiment *e, double flops)
{
  return flops / (e->cfg->describe.rate * 1e12);
}

/* rounds: how often every training sample is trained on in an epoch, networks of folds together.
 * Where patience ends a training sooner it is less. */
static void print_cost(const wx_experiment *e, const wx_stage *s, double forward,
                       const weir_train_cost *step, double rounds, double *all)
{
  const weir_train_cfg *t = s->is.train;
  const double epochs = (double)t->epochs;
  const double of_sample = step->flops / (double)(t->batch * t->accumulate);
  const double train = rounds * epochs * (double)e->split.n[WX_TRAIN];
  const double networks = rounds > 1 ? rounds + 1 : 1;
  const double valid = networks * epochs / (double)t->validate_every * (double)e->split.n[WX_VALID];
  const double flops = of_sample * train + forward * valid;

  char a[WEIR_AMOUNT_SIZE], b[WEIR_AMOUNT_SIZE];

  printf("\n# cost of %s: forward %s a sample, a step of %lld samples %s\n", s->is.name,
         weir_amount(forward, "flop", a), (long long)(t->batch * t->accumulate),
         weir_amount(step->flops, "flop", b));
  printf("# memory: %s for a step, %s for weights and updates\n",
         weir_amount_bytes((double)step->plan_bytes, a),
         weir_amount_bytes((double)step->stored_bytes, b));
  printf("# at most %g epochs of %g network%s: %s, %s at %g Tflop/s\n", epochs, networks,
         networks > 1 ? "s" : "", weir_amount(flops, "flop", a),
         weir_amount_time(seconds(e, flops), b), e->cfg->describe.rate);
  *all += flops;
}

static weir_status describe(const weir_cli *cli, const wx_experiment *e, const wx_stage_spec *spec,
                            double rounds, double *all)
{
  const weir_plan_opts exec = wx_experiment_exec(e, cli);
  weir_train_cost step = {.flops = 0};
  double forward = 0;
  wx_stage s;
  weir_status status = WEIR_OK;

  WEIR_TRY(wx_stage_open(spec, &s));
  printf("\n# network %s: %lld parameters\n", spec->name,
         (long long)weir_params_elements(s.params));
  print_channels(&s.facts, WX_X);
  if (cli->all) {
    weir_params_print(s.params, stdout);
    printf("\n# a training step of %lld samples\n", (long long)spec->train->batch);
  }
  (void)fflush(stdout); /* a plan of full size takes its time */
  WEIR_TRY_GOTO(wx_stage_flops(&s, &forward), done);
  WEIR_TRY_GOTO(weir_train_describe(&s.task, spec->train, &exec, cli->all ? stdout : NULL, &step),
                done);
  print_cost(e, &s, forward, &step, rounds, all);
done:
  wx_stage_close(&s);
  return status;
}

static weir_status describe_all(weir_job *j)
{
  const wx_cfg *const cfg = j->cfg;
  wx_experiment e;
  weir_status status = WEIR_OK;
  char amount[WEIR_AMOUNT_SIZE], duration[WEIR_AMOUNT_SIZE];
  double all = 0;

  WEIR_TRY(wx_experiment_open(cfg, WX_SOURCE_FACTS, NULL, &e));
  const wx_stage_spec bias = wx_experiment_bias(&e, &e.split), last = wx_experiment_forecast(&e);
  const double folds = (double)cfg->bias.folds;

  print_samples(&e);
  WEIR_TRY_GOTO(weir_cli_print_config(j->cli, j->config, stdout), done);
  if (cfg->bias.use) { /* folds of all but one range, and one of all */
    WEIR_TRY_GOTO(describe(j->cli, &e, &bias, folds, &all), done);
  }
  WEIR_TRY_GOTO(describe(j->cli, &e, &last, 1, &all), done);
  printf("# in all %s, %s at %g Tflop/s\n", weir_amount(all, "flop", amount),
         weir_amount_time(seconds(&e, all), duration), cfg->describe.rate);
done:
  wx_experiment_close(&e);
  return status;
}

weir_status wx_cmd_describe(const weir_cli *cli)
{
  wx_cfg cfg;

  return weir_job_run(cli, &wx_program, &cfg, describe_all);
}
