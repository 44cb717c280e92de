/* network_test.c - layers and parameter counts of the published networks, refusals, and how a
 * network is chosen. */
#include "model/network.h"
#include "model/summary.h"
#include <stdio.h>
#include <string.h>
#include "base/weir_check.h"
#include "model/nets.h"

enum { BATCH = 2, NAME = 32 };

typedef weir_value (*builder)(weir_net *, const void *, int64_t, weir_value);

/* Declares a network on samples of depth x side^2 x channels; the status of its graph. */
static weir_status declare_on(builder build, const void *opts, int64_t depth, int64_t side,
                              int64_t channels, int64_t outputs, weir_params *params)
{
  const weir_array_desc in = {WEIR_F32, 5, {BATCH, depth, side, side, channels}, 0};
  weir_graph *g;
  weir_net net;

  assert_ok(weir_graph_create(&g));
  weir_net_init(&net, g, params, true);
  const weir_value y = build(&net, opts, outputs, weir_input(g, "x", &in));
  const weir_status status = weir_graph_status(g);

  if (status == WEIR_OK) {
    const weir_array_desc *out = weir_value_desc(g, y);

    assert_int_equal(out->rank, 2);
    assert_int_equal(out->shape[0], BATCH);
    assert_int_equal(out->shape[1], outputs);
  }
  weir_net_fini(&net);
  weir_graph_destroy(&g);
  return status;
}

static weir_status declare(builder build, const void *opts, int64_t side, int64_t channels,
                           int64_t outputs, weir_params *params)
{
  return declare_on(build, opts, side, side, channels, outputs, params);
}

/* A parameter as it has to be. */
typedef struct wanted {
  const char *name;
  int rank;
  int64_t shape[5];
  bool decay;
} wanted;

static void same_rows(const weir_params *params, const wanted *rows, size_t n)
{
  assert_int_equal(weir_params_count(params), n);
  for (size_t i = 0; i < n; i++) {
    const weir_param_row *row = weir_params_get(params, (int64_t)i);

    assert_string_equal(row->name, rows[i].name);
    assert_int_equal(row->rank, rows[i].rank);
    assert_memory_equal(row->shape, rows[i].shape, (size_t)row->rank * sizeof(int64_t));
    assert_int_equal(row->decay, rows[i].decay);
  }
}

/* 128^3 with kernel 3: mlcommons/hpc, and NVIDIA's port. */
static void layers_are_those_of_mlperf(void **state)
{
  static const wanted rows[] = {
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
  cf_mlperf_opts o;
  weir_params *params;

  weir_opts_default(cf_mlperf_options, sizeof o, &o);
  assert_ok(weir_params_create(WEIR_F32, &params));
  assert_ok(declare(cf_mlperf, &o, 128, 4, 4, params));
  same_rows(params, rows, sizeof rows / sizeof *rows);
  weir_params_destroy(&params);
}

/* The parameters of oyama with norm = batch and three outputs, a bias in front of it or none. */
static void same_with_norm(int bias, bool there)
{
  static const int64_t filters[] = {4, 16, 32, 64, 128, 256, 256, 256};
  static const char *const arrays[][2] = {
      {"conv", "weight"}, {"conv", "bias"}, {"norm", "scale"}, {"norm", "offset"}};
  static const wanted dense[] = {
      {"dense1/weight", 2, {2048, 2048}, true}, {"dense1/bias", 1, {2048}, false},
      {"dense2/weight", 2, {2048, 256}, true},  {"dense2/bias", 1, {256}, false},
      {"dense3/weight", 2, {256, 3}, true},     {"dense3/bias", 1, {3}, false},
  };
  enum { CONVS = 7, EACH = 4, DENSE = 6 };
  char names[CONVS * EACH][NAME];
  wanted rows[CONVS * EACH + DENSE];
  cf_oyama_opts o;
  weir_params *params;
  int n = 0;

  for (int i = 0; i < CONVS; i++) {
    for (int k = 0; k < EACH; k++) {
      if (k == 1 && !there) {
        continue;
      }
      (void)snprintf(names[n], NAME, "%s%d/%s", arrays[k][0], i + 1, arrays[k][1]);
      rows[n] = k == 0 ? (wanted){names[n], 5, {3, 3, 3, filters[i], filters[i + 1]}, true}
                       : (wanted){names[n], 1, {filters[i + 1]}, false};
      n++;
    }
  }
  memcpy(rows + n, dense, sizeof dense);
  weir_opts_default(cf_oyama_options, sizeof o, &o);
  o.norm = 1;
  o.bias = bias;
  assert_ok(weir_params_create(WEIR_F32, &params));
  assert_ok(declare(cf_oyama, &o, 128, 4, 3, params));
  same_rows(params, rows, (size_t)n + DENSE);
  assert_int_equal(weir_params_get(params, 0)->init.kind, WEIR_INIT_GLOROT_UNIFORM);
  if (there) {
    assert_int_equal(weir_params_get(params, 1)->init.kind, WEIR_INIT_ZEROS);
  }
  for (int i = n + 1; i < n + DENSE; i += 2) {
    assert_int_equal(weir_params_get(params, i)->init.kind, WEIR_INIT_CONSTANT);
    assert_true(weir_params_get(params, i)->init.value == 0.1);
  }
  weir_params_destroy(&params);
}

/* A batch norm removes the bias in front of it: none is there, unless a file of weights says so. */
static void layers_are_those_of_oyama(void **state)
{
  same_with_norm(CF_BIAS_AUTO, false);
  same_with_norm(CF_BIAS_FALSE, false);
  same_with_norm(CF_BIAS_TRUE, true);
}

/* Files of weights of before state `bias: true`. */
static void stated_biases_of_oyama_are_read(void **state)
{
  static const struct {
    const char *set;
    int bias;
  } cases[] = {
      {"bias=auto", CF_BIAS_AUTO}, {"bias=true", CF_BIAS_TRUE}, {"bias=false", CF_BIAS_FALSE}};
  cf_oyama_opts o;

  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    weir_config *config = NULL;

    assert_ok(weir_config_load(cf_oyama_options, sizeof o, NULL, 0, &cases[k].set, 1, &o, &config));
    assert_int_equal(o.bias, cases[k].bias);
    weir_config_destroy(&config);
  }
}

/* Without a bias where it normalises; the last layer begins as 0. */
static void layers_are_those_of_lbann(void **state)
{
  static const wanted rows[] = {
      {"conv1/weight", 5, {3, 3, 3, 4, 16}, true},
      {"norm1/scale", 1, {16}, false},
      {"norm1/offset", 1, {16}, false},
      {"conv2/weight", 5, {3, 3, 3, 16, 32}, true},
      {"norm2/scale", 1, {32}, false},
      {"norm2/offset", 1, {32}, false},
      {"dense1/weight", 2, {2048, 2048}, true},
      {"dense1/bias", 1, {2048}, false},
      {"dense2/weight", 2, {2048, 256}, true},
      {"dense2/bias", 1, {256}, false},
      {"dense3/weight", 2, {256, 4}, true},
      {"dense3/bias", 1, {4}, false},
  };
  enum { ROWS = sizeof rows / sizeof *rows };
  cf_lbann_opts o;
  weir_params *params;

  weir_opts_default(cf_lbann_options, sizeof o, &o);
  o.norm = 1;
  assert_ok(weir_params_create(WEIR_F32, &params));
  assert_ok(declare(cf_lbann, &o, 16, 4, 4, params));
  same_rows(params, rows, ROWS);
  assert_int_equal(weir_params_get(params, 0)->init.kind, WEIR_INIT_HE_NORMAL);
  assert_int_equal(weir_params_get(params, ROWS - 2)->init.kind, WEIR_INIT_ZEROS);
  weir_params_destroy(&params);
}

/* Four blocks of 32 voxels a side, of whose 4 + 8 + 16 + 20 means the dense layers are. */
static void layers_are_those_of_gap(void **state)
{
  static const wanted rows[] = {
      {"conv1/weight", 5, {3, 3, 3, 1, 4}, true},   {"conv1/bias", 1, {4}, false},
      {"conv2/weight", 5, {3, 3, 3, 4, 8}, true},   {"conv2/bias", 1, {8}, false},
      {"conv3/weight", 5, {3, 3, 3, 8, 16}, true},  {"conv3/bias", 1, {16}, false},
      {"conv4/weight", 5, {3, 3, 3, 16, 20}, true}, {"conv4/bias", 1, {20}, false},
      {"dense1/weight", 2, {48, 64}, true},         {"dense1/bias", 1, {64}, false},
      {"dense2/weight", 2, {64, 32}, true},         {"dense2/bias", 1, {32}, false},
      {"dense3/weight", 2, {32, 2}, true},          {"dense3/bias", 1, {2}, false},
  };
  cf_gap_opts o;

  weir_opts_default(cf_gap_options, sizeof o, &o);
  o.base = 4;
  o.max_filters = 20;
  for (o.border = 0; o.border < 2; o.border++) {
    weir_params *params;

    assert_ok(weir_params_create(WEIR_F32, &params));
    assert_ok(declare(cf_gap, &o, 32, 1, 2, params));
    same_rows(params, rows, sizeof rows / sizeof *rows);
    assert_int_equal(weir_params_get(params, 0)->init.kind, WEIR_INIT_HE_NORMAL);
    weir_params_destroy(&params);
  }
}

/* Parameters of the benchmark's rule, counted by hand. */
static int64_t by_hand(const cf_mlperf_opts *o, int64_t side, int64_t channels, int64_t outputs)
{
  const int64_t kernel_volume = o->kernel * o->kernel * o->kernel;
  int64_t filters = o->base, sum = 0;

  for (int64_t i = 0; i < cf_mlperf_blocks(o, side); i++) {
    const int64_t now = filters < o->max_filters ? filters : o->max_filters;

    sum += (kernel_volume * channels + 1) * now;
    channels = now;
    filters = 2 * now;
  }
  side >>= cf_mlperf_blocks(o, side);
  sum += (side * side * side * channels + 1) * o->hidden1;
  return sum + (o->hidden1 + 1) * o->hidden2 + (o->hidden2 + 1) * outputs;
}

static void other_sizes_have_as_many_parameters_as_counted_by_hand(void **state)
{
  for (int64_t side = 9; side < 40; side += 7) {
    for (int64_t blocks = 0; blocks < 4; blocks++) {
      const cf_mlperf_opts o = {.kernel = 1 + blocks,
                                .blocks = blocks,
                                .base = 5,
                                .max_filters = 17,
                                .hidden1 = 11,
                                .hidden2 = 3,
                                .slope = 0.3,
                                .scale = 1.2};
      weir_params *params;

      assert_ok(weir_params_create(WEIR_F32, &params));
      assert_ok(declare(cf_mlperf, &o, side, 1 + blocks, 2, params));
      assert_int_equal(weir_params_elements(params), by_hand(&o, side, 1 + blocks, 2));
      weir_params_destroy(&params);
    }
  }
}

/* Kernels of 1 along the depth of maps, and windows: 64, 32, .. pixels a side are left, down to 4.
 */
static void kernels_on_maps_have_two_dimensions(void **state)
{
  static const wanted rows[] = {
      {"conv1/weight", 5, {1, 3, 3, 2, 32}, false},
      {"conv1/bias", 1, {32}, false},
      {"conv2/weight", 5, {1, 3, 3, 32, 64}, false},
      {"conv2/bias", 1, {64}, false},
      {"conv3/weight", 5, {1, 3, 3, 64, 128}, false},
      {"conv3/bias", 1, {128}, false},
      {"conv4/weight", 5, {1, 3, 3, 128, 256}, false},
      {"conv4/bias", 1, {256}, false},
      {"dense1/weight", 2, {16 * 256, 128}, true},
      {"dense1/bias", 1, {128}, false},
      {"dense2/weight", 2, {128, 64}, true},
      {"dense2/bias", 1, {64}, false},
      {"dense3/weight", 2, {64, 6}, false},
      {"dense3/bias", 1, {6}, false},
  };
  cf_mlperf_opts o;
  weir_params *params;

  weir_opts_default(cf_mlperf_options, sizeof o, &o);
  assert_ok(weir_params_create(WEIR_F32, &params));
  assert_ok(declare_on(cf_mlperf, &o, 1, 64, 2, 6, params));
  same_rows(params, rows, sizeof rows / sizeof *rows);
  weir_params_destroy(&params);
}

static void samples_that_do_not_fit_are_refused(void **state)
{
  const weir_array_desc flat = {WEIR_F32, 5, {1, 16, 16, 8, 4}, 0};
  cf_mlperf_opts o;
  weir_params *params;
  weir_graph *g;
  weir_net net;

  weir_opts_default(cf_mlperf_options, sizeof o, &o);
  assert_ok(weir_params_create(WEIR_F32, &params));
  o.blocks = 5;
  assert_int_equal(declare(cf_mlperf, &o, 16, 4, 4, params), WEIR_ERR_SHAPE);
  assert_non_null(strstr(weir_last_message(), "conv5"));
  assert_non_null(strstr(weir_last_message(), "1 voxels a side that are left of 16"));
  assert_ok(weir_graph_create(&g));
  weir_net_init(&net, g, params, true);
  (void)cf_mlperf(&net, &o, 4, weir_input(g, "x", &flat));
  assert_int_equal(weir_graph_status(g), WEIR_ERR_SHAPE);
  assert_non_null(strstr(weir_last_message(), "16 x 16 x 8"));
  weir_net_fini(&net);
  weir_graph_destroy(&g);
  weir_params_destroy(&params);
}

/* ---- By name ---- */

typedef struct section {
  cf_model_opts model;
} section;
static const weir_opt section_options[] = {
    WEIR_OPT_TABLE(section, model, cf_model_options, "what is trained"),
    WEIR_OPT_END,
};

static void choose(const char *set, section *s, weir_config **config)
{
  assert_ok(weir_config_load(section_options, sizeof *s, NULL, 0, &set, set != NULL, s, config));
}

/* Of 64^2 pixels: convolutions of 3 x 3 on 64^2 and 32^2 pixels, 2 and 4 filters, then dense
 * layers on 16^2 * 4 numbers; each product a multiply-add. Every network of parameters takes maps.
 */
static void the_cost_of_maps_is_of_two_dimensions(void **state)
{
  static const char *const nets[] = {"model.net=gap", "model.net=oyama", "model.net=lbann",
                                     "model.net=sc18"};
  const cf_shape shape = {.side = 64, .channels = 1, .map = true, .outputs = 2};
  weir_config *config;
  cf_summary is;
  section s;

  choose("model.net={mlperf: {blocks: 2, base: 2, hidden1: 8, hidden2: 4}}", &s, &config);
  assert_ok(cf_summary_make(&s.model, &shape, &is));
  assert_int_equal(is.params, 9 * 2 + 2 + 9 * 2 * 4 + 4 + 256 * 4 * 8 + 8 + 8 * 4 + 4 + 4 * 2 + 2);
  assert_true(is.forward ==
              2.0 * (64 * 64 * 9 * 2 + 32 * 32 * 9 * 2 * 4 + 256 * 4 * 8 + 8 * 4 + 4 * 2));
  weir_config_destroy(&config);
  for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
    choose(nets[i], &s, &config);
    assert_ok(cf_summary_make(&s.model, &shape, &is));
    weir_config_destroy(&config);
  }
}

static int64_t elements_of(const section *s, int64_t side)
{
  const weir_array_desc in = {WEIR_F32, 5, {1, side, side, side, 4}, 0};
  weir_params *params;
  weir_graph *g;
  weir_net net;

  assert_ok(weir_params_create(WEIR_F32, &params));
  assert_ok(weir_graph_create(&g));
  weir_net_init(&net, g, params, true);
  (void)cf_model_apply(&net, &s->model, 4, weir_input(g, "x", &in));
  assert_ok(weir_graph_status(g));
  const int64_t n = weir_params_elements(params);

  weir_net_fini(&net);
  weir_graph_destroy(&g);
  weir_params_destroy(&params);
  return n;
}

static void a_network_is_chosen_by_name(void **state)
{
  static const struct {
    const char *set, *name;
    int64_t elements; /* on 32^3 x 4 */
  } rows[] = {
      {NULL, "mlperf", 1337380},
      {"model.net=mlperf", "mlperf", 1337380},
      {"model.net={mlperf: {kernel: 2}}", "mlperf", 1337380 - 19 * (4 * 32 + 32 * 64 + 64 * 128)},
      {"model.net=oyama", "oyama", 9438644}};

  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    weir_config *config;
    section s;

    choose(rows[i].set, &s, &config);
    assert_string_equal(cf_model_net(&s.model)->name, rows[i].name);
    assert_int_equal(elements_of(&s, 32), rows[i].elements);
    weir_config_destroy(&config);
  }
}

static void a_loss_that_does_not_suit_is_refused(void **state)
{
  weir_config *config;
  cf_loss loss = CF_LOSS_DEFAULT;
  section s;

  choose("model.loss=mae", &s, &config);
  assert_ok(cf_model_loss_kind(&s.model, &loss));
  assert_int_equal(loss, CF_LOSS_MAE);
  weir_config_destroy(&config);
  choose(NULL, &s, &config);
  assert_ok(cf_model_loss_kind(&s.model, &loss));
  assert_int_equal(loss, CF_LOSS_MSE);
  weir_config_destroy(&config);
  choose("model.loss=cross_entropy", &s, &config);
  assert_int_equal(cf_model_loss_kind(&s.model, &loss), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "mlperf makes numbers"));
  weir_config_destroy(&config);
}

/* The last layer has the outputs of the posterior, without tanh, and a flow weights of its own;
 * other losses are refused, and posteriors of voxels. */
static void a_posterior_is_a_head(void **state)
{
  static const char *const mixture = "model.head={mixture: {components: 2}}";
  static const char *const refused[][2] = {
      {"model={head: mixture, loss: mse}", "model.loss: the head mixture"},
      {"model={head: flow, loss: mse}", "model.loss: the head flow"},
      {"model={head: moments, loss: mae}", "model.loss: the head moments"},
      {"model={head: moments, net: unet}", "model.head: unet makes a class of every voxel"},
      {"model={head: mixture, net: unet}", "model.head: unet makes a class of every voxel"}};
  weir_config *config;
  cf_loss loss = CF_LOSS_DEFAULT;
  section s;

  choose(mixture, &s, &config);
  assert_ok(cf_model_loss_kind(&s.model, &loss));
  assert_int_equal(loss, CF_LOSS_DENSITY);
  assert_int_equal(cf_model_components(&s.model), 2);
  assert_int_equal(cf_model_outputs(&s.model, 4), 2 * (1 + 4 + 4 + 6));
  assert_int_equal(elements_of(&s, 32), 1337380 + 65 * (30 - 4));
  weir_config_destroy(&config);
  choose("model.head={flow: {transforms: 3, hidden: 8, features: 6}}", &s, &config);
  assert_ok(cf_model_loss_kind(&s.model, &loss));
  assert_int_equal(loss, CF_LOSS_DENSITY);
  assert_int_equal(cf_model_outputs(&s.model, 4), 6);
  assert_int_equal(elements_of(&s, 32),
                   1337380 + 65 * 2 + 3 * (4 * 8 + 6 * 8 + 8 + 8 * 2 * 4 + 2 * 4));
  weir_config_destroy(&config);
  choose("model.head=moments", &s, &config);
  assert_ok(cf_model_loss_kind(&s.model, &loss));
  assert_int_equal(loss, CF_LOSS_MOMENTS);
  assert_int_equal(elements_of(&s, 32), 1337380 + 65 * 10);
  weir_config_destroy(&config);
  choose("model.head=estimate", &s, &config);
  assert_int_equal(cf_model_components(&s.model), 0);
  assert_int_equal(elements_of(&s, 32), 1337380);
  weir_config_destroy(&config);
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    choose(refused[i][0], &s, &config);
    assert_int_equal(cf_model_loss_kind(&s.model, &loss), WEIR_ERR_CONFIG);
    assert_non_null(strstr(weir_last_message(), refused[i][1]));
    weir_config_destroy(&config);
  }
}

/* It could only be a Gaussian. */
static void a_flow_of_one_label_is_refused(void **state)
{
  const cf_shape shape = {.side = 32, .channels = 4, .outputs = 1};
  weir_config *config;
  cf_summary summary;
  section s;

  choose("model.head=flow", &s, &config);
  assert_int_equal(cf_summary_make(&s.model, &shape, &summary), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "model.head: a flow of one parameter"));
  weir_config_destroy(&config);
}

static void the_original_is_trained_for_absolute_errors(void **state)
{
  weir_config *config;
  cf_loss loss = CF_LOSS_DEFAULT;
  section s;

  choose("model.net={sc18: {hidden: [6, 5], base: 1}}", &s, &config);
  assert_ok(cf_model_loss_kind(&s.model, &loss));
  assert_int_equal(loss, CF_LOSS_MAE);
  assert_int_equal(elements_of(&s, 64), 4 * 27 + 64 * 2 + 2 * 64 * 4 + 4 * 27 * 4 + 4 * 8 * 8 +
                                            8 * 8 * 8 + 3 * (1 + 2 + 4 + 4 + 8 + 8) + 65 * 6 +
                                            7 * 5 + 6 * 4);
  weir_config_destroy(&config);
  choose("model.net={sc18: {hidden: [5, 5, 5, 5, 5]}}", &s, &config);
  weir_params *params;

  assert_ok(weir_params_create(WEIR_F32, &params));
  assert_int_equal(declare(cf_sc18, s.model.net.opts, 64, 4, 4, params), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "hidden has 5 layers"));
  weir_params_destroy(&params);
  weir_config_destroy(&config);
}

static void options_are_complete(void **state)
{
  assert_int_equal(weir_opts_incomplete(section_options), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(layers_are_those_of_mlperf),
      cmocka_unit_test(layers_are_those_of_oyama),
      cmocka_unit_test(stated_biases_of_oyama_are_read),
      cmocka_unit_test(layers_are_those_of_lbann),
      cmocka_unit_test(layers_are_those_of_gap),
      cmocka_unit_test(other_sizes_have_as_many_parameters_as_counted_by_hand),
      cmocka_unit_test(kernels_on_maps_have_two_dimensions),
      cmocka_unit_test(the_cost_of_maps_is_of_two_dimensions),
      cmocka_unit_test(samples_that_do_not_fit_are_refused),
      cmocka_unit_test(a_network_is_chosen_by_name),
      cmocka_unit_test(a_loss_that_does_not_suit_is_refused),
      cmocka_unit_test(a_posterior_is_a_head),
      cmocka_unit_test(a_flow_of_one_label_is_refused),
      cmocka_unit_test(the_original_is_trained_for_absolute_errors),
      cmocka_unit_test(options_are_complete),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
