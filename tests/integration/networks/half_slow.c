/* half_slow.c - networks trained with products in bf16: losses follow those of f32. Where no kernel
 * multiplies bf16 the pass changes nothing, and they are the same. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/weir_check.h"
#include "learner.h"
#include "model/nets.h"
#include "nn/weir_unet.h"
#include "pass/weir_pass.h"

enum { STEPS = 20, FEW = 3, BATCH = 2, OUTPUTS = 3, PARAMETERS = 4 };

/* A loss is the mean square of y - prediction, so that its root moves by no more than the root mean
 * square by which the prediction does. Two operands rounded by 2^-9 move a product by 2^-8; a path
 * through these networks has up to seven, and what they predict is of the size of y, 0.58: 7 x 2^-8
 * x 0.58 = 2^-6. What 20 steps of the descent add stays below that. */
#define BOUND 0x1p-6

static weir_value build_unet(weir_net *net, const void *opts, weir_value x)
{
  return weir_unet(net, opts, OUTPUTS, x);
}

static weir_value build_cosmoflow(weir_net *net, const void *opts, weir_value x)
{
  return cf_mlperf(net, opts, PARAMETERS, x);
}

static bool has_half(const weir_plan *plan)
{
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);

  weir_plan_print(plan, out);
  assert_int_equal(fclose(out), 0);
  const bool found = strstr(text, "bf16") != NULL;

  free(text); /* open_memstream's own */
  return found;
}

/* Losses of some steps; whether arrays of bf16 were made. */
static bool train(learner_job *job, weir_precision precision, int threads, int steps,
                  double *losses)
{
  weir_exec_cfg exec;
  learner l;

  weir_opts_default(weir_exec_opts, sizeof exec, &exec);
  exec.tier = WEIR_TIER_VECTOR; /* no compiler is waited for */
  exec.precision = (int)precision;
  job->exec = &exec;
  job->threads = threads;
  assert_ok(learner_open(job, &l));
  const bool half = has_half(l.plan);

  for (int i = 0; i < steps; i++) {
    assert_ok(learner_step(&l, &losses[i]));
  }
  learner_close(&l);
  return half;
}

static void follow(const char *name, learner_job *job)
{
  double whole[STEPS], half[STEPS], one[FEW], worst = 0;
  const bool none = train(job, WEIR_PRECISION_F32, 2, STEPS, whole);
  const bool made = train(job, WEIR_PRECISION_BF16, 2, STEPS, half);

  (void)train(job, WEIR_PRECISION_BF16, 1, FEW, one);
  assert_false(none);
  for (int i = 0; i < STEPS; i++) {
    const double off = fabs(sqrt(half[i]) - sqrt(whole[i]));

    worst = off > worst ? off : worst;
    assert_true(i >= FEW || half[i] == one[i]); /* the same bits on one thread */
  }
  print_message("%s: loss %.6g to %.6g, in bf16 %.6g; roots apart by %.2g at most%s\n", name,
                whole[0], whole[STEPS - 1], half[STEPS - 1], worst,
                made ? "" : " (nothing is in bf16 here)");
  assert_true(whole[STEPS - 1] < whole[0]);
  assert_true(made ? worst > 0 && worst <= BOUND : worst == 0);
}

static void a_unet_follows(void **state)
{
  weir_unet_opts opts;
  learner_job job = {.build = build_unet,
                     .opts = &opts,
                     .x = {WEIR_F32, 5, {BATCH, 2, 8, 10, 5}, 0},
                     .y = {WEIR_F32, 5, {BATCH, 2, 8, 10, OUTPUTS}, 0},
                     .rate = 0.02,
                     .seed = 3};

  weir_opts_default(weir_unet_options, sizeof opts, &opts);
  opts.preset = WEIR_UNET_TINY;
  opts.base = 16;
  follow("U-Net", &job);
}

static void cosmoflow_follows(void **state)
{
  cf_mlperf_opts cfg;
  learner_job job = {.build = build_cosmoflow,
                     .opts = &cfg,
                     .x = {WEIR_F32, 5, {BATCH, 8, 8, 8, 4}, 0},
                     .y = {WEIR_F32, 2, {BATCH, PARAMETERS}, 0},
                     .rate = 0.01,
                     .seed = 4};

  weir_opts_default(cf_mlperf_options, sizeof cfg, &cfg);
  cfg.base = 16;
  cfg.dropout = 0;
  cfg.hidden1 = 16;
  cfg.hidden2 = 8;
  follow("CosmoFlow", &job);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_unet_follows),
      cmocka_unit_test(cosmoflow_follows),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
