/* network_test.c - layers and parameter counts of the published networks; refusals; what comes out.
 */
#include "model/network.h"
#include <math.h>
#include <string.h>
#include "base/weir_check.h"
#include "exec/weir_plan.h"

static cf_network_cfg usual(int64_t size)
{
  cf_network_cfg cfg;

  weir_opts_default(cf_network_options, sizeof cfg, &cfg);
  cfg.size = size;
  return cfg;
}

/* Declares the network on samples of `channels`; the status of its graph. */
static weir_status declare(const cf_network_cfg *cfg, int64_t channels, weir_params *params)
{
  const weir_array_desc in = {WEIR_F32, 5, {2, cfg->size, cfg->size, cfg->size, channels}, 0};
  weir_graph *g;
  weir_net net;

  assert_ok(weir_graph_create(&g));
  weir_net_init(&net, g, params, true);
  const weir_value y = cf_network(&net, cfg, weir_input(g, "x", &in));
  const weir_status status = weir_graph_status(g);

  if (status == WEIR_OK) {
    const weir_array_desc *out = weir_value_desc(g, y);

    assert_int_equal(out->rank, 2);
    assert_int_equal(out->shape[0], 2);
    assert_int_equal(out->shape[1], cfg->outputs);
  }
  weir_net_fini(&net);
  weir_graph_destroy(&g);
  return status;
}

static int64_t elements_of(const cf_network_cfg *cfg)
{
  weir_params *params;

  assert_ok(weir_params_create(WEIR_F32, &params));
  assert_ok(declare(cfg, cfg->channels, params));
  const int64_t n = weir_params_elements(params);

  weir_params_destroy(&params);
  return n;
}

/* 128^3 with kernel 3: mlcommons/hpc, and NVIDIA's port. */
static void layers_are_those_of_mlperf(void **state)
{
  static const struct {
    const char *name;
    int rank;
    int64_t shape[5];
    bool decay;
  } rows[] = {
      {"conv1/weight", 5, {3, 3, 3, 4, 32}, false},
      {"conv1/bias", 1, {32}, false},
      {"conv2/weight", 5, {3, 3, 3, 32, 64}, false},
      {"conv2/bias", 1, {64}, false},
      {"conv3/weight", 5, {3, 3, 3, 64, 128}, false},
      {"conv3/bias", 1, {128}, false},
      {"conv4/weight", 5, {3, 3, 3, 128, 256}, false},
      {"conv4/bias", 1, {256}, false},
      {"conv5/weight", 5, {3, 3, 3, 256, 512}, false},
      {"conv5/bias", 1, {512}, false},
      {"dense1/weight", 2, {32768, 128}, true},
      {"dense1/bias", 1, {128}, false},
      {"dense2/weight", 2, {128, 64}, true},
      {"dense2/bias", 1, {64}, false},
      {"dense3/weight", 2, {64, 4}, false},
      {"dense3/bias", 1, {4}, false},
  };
  const cf_network_cfg cfg = usual(128);
  weir_params *params;

  assert_ok(weir_params_create(WEIR_F32, &params));
  assert_ok(declare(&cfg, 4, params));
  assert_int_equal(weir_params_count(params), sizeof rows / sizeof *rows);
  for (int64_t i = 0; i < weir_params_count(params); i++) {
    const weir_param_row *row = weir_params_get(params, i);

    assert_string_equal(row->name, rows[i].name);
    assert_int_equal(row->rank, rows[i].rank);
    assert_memory_equal(row->shape, rows[i].shape, (size_t)row->rank * sizeof(int64_t));
    assert_int_equal(row->decay, rows[i].decay);
  }
  weir_params_destroy(&params);
}

static void counts_are_the_published_ones(void **state)
{
  static const struct {
    int64_t size, kernel, elements;
  } networks[] = {{128, 3, 8907556},  {128, 2, 5597604}, {256, 3, 15985956},
                  {512, 3, 23064356}, {32, 3, 1337380},  {64, 3, 3270948}};

  for (size_t i = 0; i < sizeof networks / sizeof *networks; i++) {
    cf_network_cfg cfg = usual(networks[i].size);

    cfg.kernel = networks[i].kernel;
    assert_int_equal(cf_network_elements(&cfg), networks[i].elements);
    assert_int_equal(elements_of(&cfg), networks[i].elements);
  }
}

static void other_sizes_follow_the_closed_form(void **state)
{
  for (int64_t size = 9; size < 40; size += 7) {
    for (int64_t blocks = 0; blocks < 4; blocks++) {
      cf_network_cfg cfg = usual(size);

      cfg.blocks = blocks;
      cfg.channels = 1 + blocks;
      cfg.base = 5;
      cfg.most = 17;
      cfg.kernel = 1 + blocks;
      cfg.hidden1 = 11;
      cfg.hidden2 = 3;
      cfg.outputs = 2;
      assert_int_equal(elements_of(&cfg), cf_network_elements(&cfg));
    }
  }
}

static void other_samples_are_refused(void **state)
{
  cf_network_cfg cfg = usual(16);
  weir_params *params;

  assert_ok(weir_params_create(WEIR_F32, &params));
  assert_int_equal(declare(&cfg, 3, params), WEIR_ERR_SHAPE);
  assert_non_null(strstr(weir_last_message(), "16"));
  cfg.blocks = 5;
  assert_int_equal(declare(&cfg, 4, params), WEIR_ERR_SHAPE);
  weir_params_destroy(&params);
}

static void options_are_complete(void **state)
{
  assert_int_equal(weir_opts_incomplete(cf_network_options), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(layers_are_those_of_mlperf),
      cmocka_unit_test(counts_are_the_published_ones),
      cmocka_unit_test(other_sizes_follow_the_closed_form),
      cmocka_unit_test(other_samples_are_refused),
      cmocka_unit_test(options_are_complete),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
