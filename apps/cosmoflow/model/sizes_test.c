/* sizes_test.c - networks on cubes of several sides: the same weights where they end in means over
 * space, others where they do not, and gradients at each side. */
#include <stdio.h>
#include <string.h>
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "model/network.h"
#include "ops/elementwise/weir_elementwise.h"
#include "train/weir_train.h"

enum { LABELS = 2 };

/* The section model of a text. */
static cf_model_opts model_of(const char *text, weir_config **config)
{
  char set[256];
  const char *const sets[] = {set};
  cf_model_opts model;

  (void)snprintf(set, sizeof set, "net=%s", text);
  assert_ok(weir_config_load(cf_model_options, sizeof model, NULL, 0, sets, 1, &model, config));
  return model;
}

static weir_status build(weir_net *net, const void *opts, const weir_value *in, weir_value *loss)
{
  const cf_model_opts *const model = opts;
  weir_graph *const g = net->graph;
  const weir_value x = weir_log(g, weir_add_scalar(g, in[0], 1));
  const cf_made made = cf_model_apply(net, model, LABELS, x);

  *loss = cf_model_loss(g, model, &made, in[1], WEIR_NO_VALUE);
  return weir_graph_status(g);
}

static weir_status fetch(void *context, const weir_train_batch *want, weir_tensor *const *tensor)
{
  (void)context;
  (void)want;
  for (int k = 0; k < 2; k++) {
    float *const x = tensor[k]->data;

    for (int64_t i = 0; i < weir_tensor_numel(tensor[k]); i++) {
      const double u = weir_random_uniform(1, (uint32_t)k, 0, (uint64_t)i);

      x[i] = (float)(k == 0 ? 20 * u * u : 2 * u - 1);
    }
  }
  return WEIR_OK;
}

typedef struct trained {
  weir_train_input input[2];
  weir_train_task task;
} trained;

static void open_task(trained *t, const cf_model_opts *model, int64_t side)
{
  t->input[0] =
      (weir_train_input){.name = "x", .dtype = WEIR_F32, .rank = 4, .shape = {side, side, side, 1}};
  t->input[1] = (weir_train_input){.name = "y", .dtype = WEIR_F32, .rank = 1, .shape = {LABELS}};
  t->task = (weir_train_task){.name = "sizes",
                              .dtype = WEIR_F32,
                              .input = t->input,
                              .n_inputs = 2,
                              .n_train = 4,
                              .opts = model,
                              .build = build,
                              .fetch = fetch};
}

/* Shape of the first dense layer's weights at a side: its rows. */
static int64_t rows_at(const cf_model_opts *model, int64_t side)
{
  weir_params *params = NULL;
  weir_store *store = NULL;
  trained t;

  open_task(&t, model, side);
  assert_ok(weir_params_create(WEIR_F32, &params));
  assert_ok(weir_store_create(&store));
  assert_ok(weir_train_prepare(&t.task, 1, params, store));
  const int64_t i = weir_params_find(params, "dense1/weight");

  assert_true(i >= 0);
  const int64_t rows = weir_params_get(params, i)->shape[0];

  weir_params_destroy(&params);
  weir_store_destroy(&store);
  return rows;
}

/* At each side the gradient is that of differences, and dense layers see as much. */
static void gradients_at_each_side(const char *text)
{
  static const int64_t sides[] = {4, 6};
  weir_train_check_cfg cfg;
  weir_exec_cfg tier;
  weir_config *config = NULL;
  const cf_model_opts model = model_of(text, &config);
  FILE *const report = tmpfile();

  assert_non_null(report);
  weir_opts_default(weir_train_check_opts, sizeof cfg, &cfg);
  weir_opts_default(weir_exec_opts, sizeof tier, &tier);
  tier.tier = WEIR_TIER_VECTOR; /* no compiler */
  cfg.probes = 1;
  for (int i = 0; i < 2; i++) {
    const weir_plan_opts exec = {.exec = &tier, .threads = 1};
    double worst = 0;
    trained t;

    open_task(&t, &model, sides[i]);
    assert_ok(weir_train_check(&t.task, &cfg, &exec, report, &worst));
    assert_true(worst < cfg.tolerance);
    assert_int_equal(rows_at(&model, sides[i]), rows_at(&model, 8));
  }
  fclose(report);
  weir_config_destroy(&config);
}

static void mlperf(void **state)
{
  gradients_at_each_side("{mlperf: {blocks: 2, base: 2, hidden1: 4, hidden2: 3, dropout: 0.1, "
                         "global_mean: true}}");
}

static void lbann_with_batch_norm(void **state)
{
  gradients_at_each_side("{lbann: {blocks: 2, base: 2, hidden1: 4, hidden2: 3, dropout: 0, norm: "
                         "batch, global_mean: true}}");
}

static void oyama(void **state)
{
  gradients_at_each_side("{oyama: {pools: 1, base: 1, hidden1: 4, hidden2: 3, dropout: 0, "
                         "global_mean: true}}");
}

static void rows_differ(const char *text, int64_t side, int64_t of, bool differ)
{
  weir_config *config = NULL;
  const cf_model_opts model = model_of(text, &config);

  assert_int_equal(rows_at(&model, side) != rows_at(&model, of), differ);
  weir_config_destroy(&config);
}

static void published_networks_see_each_voxel(void **state)
{
  rows_differ("{mlperf: {blocks: 2}}", 4, 8, true);
  rows_differ("{lbann: {blocks: 2}}", 4, 8, true);
  rows_differ("{oyama: {pools: 1}}", 4, 8, true);
  rows_differ("{sc18: {base: 1, hidden: [2]}}", 56, 64, true);
  rows_differ("{sc18: {base: 1, hidden: [2], global_mean: true}}", 56, 64, false);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(mlperf),
      cmocka_unit_test(lbann_with_batch_norm),
      cmocka_unit_test(oyama),
      cmocka_unit_test(published_networks_see_each_voxel),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
