/* build_test.c - networks of PyTorch's files give what PyTorch gave; what is not supported is
 * refused by name. */
#include <math.h>
#include <stdio.h>
#include "exec/weir_plan.h"
#include "io/onnx/onnx_priv.h"
#include "nn/onnx/weir_onnx_graph.h"
#include "nn/weir_layer.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/reduce/weir_reduce.h"
#include "support/io/onnx_make.h"
#include "support/nn/onnx_expected.h"
#include "support/nn/onnx_weights.h"

enum { MOST = 128 };

/* The input of onnx_export.py. */
static double x_at(int c, int t)
{
  return (double)(float)(sin(0.7 * (double)t + 1.3 * (double)c) + 0.25 * cos(2.9 * (double)t));
}

/* The network of a model on x [1, length, channels] of onnx_export.py: y[n]. */
static void run(const weir_onnx *m, float *y, int64_t n)
{
  weir_onnx_inputs inputs;
  weir_value in, out = WEIR_NO_VALUE;
  weir_graph *g = NULL;
  weir_plan *plan = NULL;
  weir_exec_cfg cfg;
  weir_tensor x;

  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.tier = WEIR_TIER_VECTOR;
  assert_ok(weir_onnx_find_inputs(m, "test", NULL, &inputs));
  assert_int_equal(inputs.n, 1);
  const int64_t channels = inputs.at[0]->shape[1], length = inputs.at[0]->shape[2];
  const weir_array_desc d = {.dtype = WEIR_F32, .rank = 3, .shape = {1, length, channels}};

  assert_ok(weir_tensor_init(&x, WEIR_F32, 3, d.shape));
  for (int64_t t = 0; t < length; t++) {
    for (int64_t c = 0; c < channels; c++) {
      ((float *)x.data)[t * channels + c] = (float)x_at((int)c, (int)t);
    }
  }
  assert_ok(weir_graph_create(&g));
  in = weir_input(g, "x", &d);
  assert_ok(weir_onnx_build(g, m, "test", NULL, &in, &out));
  const weir_array_desc *const made = weir_value_desc(g, out);
  weir_tensor result;

  assert_int_equal(made->shape[0], 1);
  assert_ok(weir_tensor_init(&result, WEIR_F32, made->rank, made->shape));
  assert_int_equal(weir_tensor_numel(&result), n);
  weir_output(g, "y", out);
  assert_ok(weir_plan_create(g, NULL, &(weir_plan_opts){.exec = &cfg, .threads = 1}, &plan));
  assert_ok(weir_plan_run(plan, ((const weir_binding[]){{"x", &x}, {"y", &result}}), 2));
  memcpy(y, result.data, (size_t)n * sizeof *y);
  weir_plan_destroy(&plan);
  weir_graph_destroy(&g);
  weir_tensor_fini(&result);
  weir_tensor_fini(&x);
}

static void networks_equal_pytorch(void **state)
{
  static const struct {
    const char *file;
    const double *want;
    int64_t n;
  } nets[] = {{"rhythm17", onnx_rhythm, 1},
              {"rhythm20", onnx_rhythm, 1},
              {"blocks17", onnx_blocks, 3},
              {"blocks20", onnx_blocks, 3},
              {"samples17", onnx_samples, 80},
              {"lstm17", onnx_lstm, 2},
              {"lstm20", onnx_lstm, 2},
              {"state17", onnx_state, 2},
              {"state20", onnx_state, 2},
              {"gru17", onnx_gru, 2},
              {"gru20", onnx_gru, 2},
              {"gru_samples17", onnx_gru_samples, 24},
              {"gru_samples20", onnx_gru_samples, 24},
              {"rnn17", onnx_rnn, 2},
              {"reset20", onnx_reset, 3}};

  for (size_t k = 0; k < sizeof nets / sizeof nets[0]; k++) {
    char path[512];
    float y[MOST];
    weir_onnx m;

    (void)snprintf(path, sizeof path, "%s/tests/fuzz/seeds/onnx/%s.onnx", WEIR_SOURCE_DIR,
                   nets[k].file);
    assert_ok(weir_onnx_read(path, &m));
    run(&m, y, nets[k].n);
    for (int64_t i = 0; i < nets[k].n; i++) {
      assert_near((double)y[i], nets[k].want[i], 3e-7);
    }
    weir_onnx_fini(&m);
  }
}

/* ---- A network of Weir's layers, which PyTorch exported ---- */

/* apps/physio_stream/rhythm/classifier.c on one window. */
static weir_value build_layers(weir_net *net, weir_value x)
{
  static const char *const name[] = {"conv1", "conv2", "conv3"};
  static const int64_t filters[] = {3, 6, 6}, kernel[] = {7, 5, 5};
  const weir_reduce_spec over = {.combine = WEIR_COMBINE_SUM, .n_dims = 1, .dim = {1}};
  const weir_activation relu = {.kind = WEIR_ACTIVATION_RELU};

  for (int k = 0; k < 3; k++) {
    const weir_nn_conv_spec conv = {.filters = filters[k],
                                    .kernel_size = {kernel[k]},
                                    .conv = {.stride = {2}},
                                    .activation = relu};

    x = weir_nn_conv(net, name[k], &conv, x);
  }
  x = weir_scale(net->graph, weir_reduce(net->graph, &over, x), 1.0 / 6);
  x = weir_nn_dense(net, "hidden", (&(weir_nn_dense_spec){.units = 4, .activation = relu}), x);
  return weir_nn_dense(net, "logit", (&(weir_nn_dense_spec){.units = 1}), x);
}

static void layers_equal_their_export(void **state)
{
  const weir_array_desc d = {.dtype = WEIR_F32, .rank = 3, .shape = {1, 48, 1}};
  weir_tensor x, y, *flat = NULL;
  weir_params *params = NULL;
  weir_store *store = NULL;
  weir_graph *g = NULL;
  weir_plan *plan = NULL;
  weir_exec_cfg cfg;
  weir_net net;
  weir_onnx m;

  assert_ok(weir_onnx_read(WEIR_SOURCE_DIR "/tests/fuzz/seeds/onnx/rhythm20.onnx", &m));
  assert_ok(weir_params_create(WEIR_F32, &params));
  assert_ok(weir_store_create(&store));
  for (int sealed = 0; sealed < 2; sealed++) {
    weir_graph_destroy(&g);
    assert_ok(weir_graph_create(&g));
    weir_net_init(&net, g, params, false);
    weir_output(g, "y", build_layers(&net, weir_input(g, "x", &d)));
    weir_net_fini(&net);
    assert_ok(weir_graph_status(g));
    if (sealed == 0) {
      assert_ok(weir_params_seal(params, store));
    }
  }
  assert_ok(weir_store_write(store, WEIR_PARAMS_FLAT, &flat));
  onnx_weights_take_all(&m, params, flat->data);
  assert_ok(weir_tensor_init(&x, WEIR_F32, 3, d.shape));
  assert_ok(weir_tensor_init(&y, WEIR_F32, 2, (const int64_t[]){1, 1}));
  for (int t = 0; t < 48; t++) {
    ((float *)x.data)[t] = (float)x_at(0, t);
  }
  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.tier = WEIR_TIER_VECTOR;
  assert_ok(weir_plan_create(g, store, &(weir_plan_opts){.exec = &cfg, .threads = 1}, &plan));
  assert_ok(weir_plan_run(plan, ((const weir_binding[]){{"x", &x}, {"y", &y}}), 2));
  assert_near((double)*(float *)y.data, onnx_rhythm[0], 3e-7);
  float imported = 0;

  run(&m, &imported, 1);
  assert_near((double)imported, (double)*(float *)y.data, 1e-7);
  weir_plan_destroy(&plan);
  weir_graph_destroy(&g);
  weir_store_destroy(&store);
  weir_params_destroy(&params);
  weir_tensor_fini(&x);
  weir_tensor_fini(&y);
  weir_onnx_fini(&m);
}

/* ---- One node, of x [1, 2, 6], constants a [2, 1] and i of integers ---- */

static onnx_made model_of(const onnx_made *node, const int64_t *ints, int n_ints, int64_t opset)
{
  const int64_t shape[] = {1, 2, 6}, column[] = {2, 1};
  const float a[] = {2, -3};
  onnx_made graph = {.size = 0}, part = onnx_make_value("x", 3, shape);

  onnx_put_message(&graph, 11, &part);
  part = onnx_make_value("y", 3, shape);
  onnx_put_message(&graph, 12, &part);
  part = onnx_make_floats("a", 2, column, a, 2);
  onnx_put_message(&graph, 5, &part);
  part = onnx_make_ints("i", ints, n_ints);
  onnx_put_message(&graph, 5, &part);
  onnx_put_message(&graph, 1, node);
  return onnx_make_model(&graph, opset);
}

static void run_node(const onnx_made *node, const int64_t *ints, int n_ints, float *y, int64_t n)
{
  const onnx_made made = model_of(node, ints, n_ints, 17);
  weir_onnx m;

  assert_ok(weir_onnx_parse(made.bytes, (int64_t)made.size, "made", &m));
  run(&m, y, n);
  weir_onnx_fini(&m);
}

/* What the networks do not have: orders of dimensions, borders, comparisons. */
static void single_nodes_follow_their_definition(void **state)
{
  const int64_t order[] = {0, 2, 1}, pads[] = {0, 0, 2, 0, 0, 1}, shape[] = {-1, 3, 4};
  float y[MOST];
  onnx_made node = onnx_make_node("Mul", "xa", "y");

  run_node(&node, NULL, 0, y, 12); /* [2, 1] broadcasts to channels */
  for (int k = 0; k < 12; k++) {
    assert_near((double)y[k], (k < 6 ? 2 : -3) * x_at(k / 6, k % 6), 1e-6);
  }
  node = onnx_make_node("Transpose", "x", "y");
  onnx_put_attribute(&node, "perm", order, 3, true);
  run_node(&node, NULL, 0, y, 12);
  for (int k = 0; k < 12; k++) {
    assert_near((double)y[k], x_at(k % 2, k / 2), 1e-6);
  }
  node = onnx_make_node("Pad", "xi", "y");
  run_node(&node, pads, 6, y, 18);
  for (int k = 0; k < 18; k++) {
    const int t = k % 9 - 2;

    assert_near((double)y[k], t < 0 || t > 5 ? 0 : x_at(k / 9, t), 1e-6);
  }
  node = onnx_make_node("Reshape", "xi", "y");
  run_node(&node, shape, 3, y, 12);
  for (int k = 0; k < 12; k++) {
    assert_near((double)y[k], x_at(k / 6, k % 6), 1e-6);
  }
  node = onnx_make_node("GlobalMaxPool", "x", "y");
  run_node(&node, NULL, 0, y, 2);
  for (int c = 0; c < 2; c++) {
    double most = -1e9;

    for (int t = 0; t < 6; t++) {
      most = fmax(most, x_at(c, t));
    }
    assert_near((double)y[c], most, 1e-6);
  }
}

static void assert_refused(const onnx_made *node, const int64_t *ints, int n_ints, int64_t opset,
                           const char *text)
{
  const weir_array_desc d = {.dtype = WEIR_F32, .rank = 3, .shape = {1, 6, 2}};
  const onnx_made made = model_of(node, ints, n_ints, opset);
  weir_value x, y = WEIR_NO_VALUE;
  weir_graph *g = NULL;
  weir_onnx m;

  assert_ok(weir_onnx_parse(made.bytes, (int64_t)made.size, "made", &m));
  assert_ok(weir_graph_create(&g));
  x = weir_input(g, "x", &d);
  assert_true(weir_onnx_build(g, &m, "made", NULL, &x, &y) != WEIR_OK);
  if (strstr(weir_last_message(), text) == NULL) {
    fail_msg("\"%s\" does not say \"%s\"", weir_last_message(), text);
  }
  weir_graph_destroy(&g);
  weir_onnx_fini(&m);
}

static void what_is_not_supported_is_named(void **state)
{
  const int64_t two[] = {0, 1}, three[] = {1, 1, 1}, one = 1, back[] = {2, 6};
  const int64_t free_twice[] = {-1, -1}, huge[] = {64, INT64_MAX};
  onnx_made node = onnx_make_node("Einsum", "x", "y");

  assert_refused(&node, NULL, 0, 17, "node \"n\", Einsum: this operator is not supported");
  assert_refused(&node, NULL, 0, 12, "version 12 of the operators");
  onnx_put_text(&node, 7, "com.microsoft");
  assert_refused(&node, NULL, 0, 17, "Einsum: this operator of domain com.microsoft");
  node = onnx_make_node("Relu", "x", "y");
  onnx_put_attribute(&node, "slope", &one, 1, false);
  assert_refused(&node, NULL, 0, 17, "Relu: attribute slope is not supported");
  node = onnx_make_node("LeakyRelu", "x", "y");
  onnx_put_attribute(&node, "alpha", &one, 1, false); /* an integer */
  assert_refused(&node, NULL, 0, 17, "LeakyRelu: attribute alpha has type 2");
  node = onnx_make_node("Relu", "q", "y");
  assert_refused(&node, NULL, 0, 17, "input 0, \"q\", is not defined");
  node = onnx_make_node("Relu", "x", "x");
  assert_refused(&node, NULL, 0, 17, "\"x\" is defined twice");
  node = onnx_make_node("Relu", "x", "z");
  assert_refused(&node, NULL, 0, 17, "output \"y\" is not computed");
  node = onnx_make_node("Add", "aa", "y");
  assert_refused(&node, NULL, 0, 17, "Add: all inputs are constant");
  node = onnx_make_node("Conv", "xa", "y");
  assert_refused(&node, NULL, 0, 17, "Conv: weights of 2 dimensions");
  node = onnx_make_node("MaxPool", "x", "y");
  onnx_put_attribute(&node, "kernel_shape", three, 3, true);
  assert_refused(&node, NULL, 0, 17, "kernel_shape has 3 numbers");
  node = onnx_make_node("Softmax", "x", "y");
  onnx_put_attribute(&node, "axis", two, 1, false);
  assert_refused(&node, NULL, 0, 17, "axis 0 is the batch");
  node = onnx_make_node("Reshape", "xi", "y");
  assert_refused(&node, back, 2, 17, "must keep dimension 0, the batch");
  node = onnx_make_node("Reshape", "ii", "y");
  assert_refused(&node, free_twice, 2, 17, "Reshape: input 0 is constant");
  assert_refused(&node, huge, 2, 17, "Reshape: input 0 is constant");
  node = onnx_make_node("Squeeze", "xi", "y");
  assert_refused(&node, &one, 1, 17, "Squeeze: axis 1");
  node = onnx_make_node("Shape", "x", "y");
  assert_refused(&node, NULL, 0, 17, "output \"y\" is not computed");
  node = onnx_make_node("BatchNormalization", "xaaaa", "y");
  assert_refused(&node, NULL, 0, 17, "input 1 does not have a number for each of 2 channels");
}

static void recurrent_layers_that_are_not_supported_are_named(void **state)
{
  const int64_t one = 1, three = 3, order[] = {2, 0, 1}, ends[] = {2, 0};
  onnx_made node = onnx_make_node("LSTM", "xaa", "y");

  assert_refused(&node, NULL, 0, 17, "of which the batch is number 1");
  onnx_put_attribute(&node, "layout", &one, 1, false);
  assert_refused(&node, NULL, 0, 17, "LSTM: hidden_size 0");
  onnx_put_attribute(&node, "hidden_size", &three, 1, false);
  assert_refused(&node, NULL, 0, 17, "LSTM: input 1 does not have the shape");
  onnx_put_attribute(&node, "input_forget", &one, 1, false);
  assert_refused(&node, NULL, 0, 17, "LSTM: input_forget is not supported");
  node = onnx_make_node("GRU", "xaaai", "y");
  assert_refused(&node, &one, 1, 17, "GRU: sequence_lens");
  node = onnx_make_node("LSTM", "xaaaxaaa", "y");
  assert_refused(&node, NULL, 0, 17, "LSTM: sequence_lens");
  node = onnx_make_node("RNN", "xaa", "y");
  onnx_put_attribute(&node, "clip", &one, 1, false);
  assert_refused(&node, NULL, 0, 17, "RNN: attribute clip is not supported");
  node = onnx_make_node("Transpose", "x", "y");
  onnx_put_attribute(&node, "perm", order, 3, true);
  assert_refused(&node, NULL, 0, 17, "the batch is dimension 1 of output \"y\"");
  node = onnx_make_node("Gather", "xi", "y");
  assert_refused(&node, &three, 1, 17, "Gather: axis 0 is the batch");
  onnx_put_attribute(&node, "axis", &one, 1, false);
  assert_refused(&node, &three, 1, 17, "one element of a dimension of 2");
  node = onnx_make_node("Slice", "xii", "y");
  assert_refused(&node, ends, 2, 17, "Slice: axis 0 is the batch");
  node = onnx_make_node("Expand", "ai", "y");
  assert_refused(&node, ends, 2, 17, "only a constant that has the shape already");
}

/* RNN of 128 steps, one after the other: x -> c -> e -> .., with weights w [1, 1, 1]. */
static void layers_may_not_have_too_many_steps(void **state)
{
  const int64_t shape[] = {1, 128, 1}, cell[] = {1, 1, 1}, one = 1;
  const weir_array_desc d = {.dtype = WEIR_F32, .rank = 3, .shape = {1, 1, 128}};
  const float w = 0.5F;
  onnx_made graph = {.size = 0}, part = onnx_make_value("x", 3, shape);
  char name[] = "xww", made[] = "b";

  onnx_put_message(&graph, 11, &part);
  part = onnx_make_floats("w", 3, cell, &w, 1);
  onnx_put_message(&graph, 5, &part);
  part = onnx_make_ints("s", shape, 3);
  onnx_put_message(&graph, 5, &part);
  for (int k = 0; k < 5; k++) {
    part = onnx_make_node("RNN", name, made);
    onnx_put_attribute(&part, "layout", &one, 1, false);
    onnx_put_attribute(&part, "hidden_size", &one, 1, false);
    onnx_put_message(&graph, 1, &part);
    const char back[] = {made[0], 's', 0};

    name[0] = ++made[0];
    part = onnx_make_node("Reshape", back, made);
    onnx_put_message(&graph, 1, &part);
    made[0]++;
  }
  part = onnx_make_value("k", 3, shape);
  onnx_put_message(&graph, 12, &part);
  const onnx_made model = onnx_make_model(&graph, 17);
  weir_value x, y = WEIR_NO_VALUE;
  weir_graph *g = NULL;
  weir_onnx m;

  assert_ok(weir_onnx_parse(model.bytes, (int64_t)model.size, "made", &m));
  assert_ok(weir_graph_create(&g));
  x = weir_input(g, "x", &d);
  assert_int_equal(weir_onnx_build(g, &m, "made", NULL, &x, &y), WEIR_ERR_UNSUPPORTED);
  assert_non_null(strstr(weir_last_message(), "RNN: 640 steps of all recurrent layers"));
  weir_graph_destroy(&g);
  weir_onnx_fini(&m);
}

/* ---- States ---- */

/* RNN of x [1, 4, 1] from state h of that shape, whose final one is e; direction NULL: forward. */
static onnx_made model_with_state(const int64_t h[3], const char *direction)
{
  const int64_t shape[] = {1, 1, 4}, cell[] = {1, 1, 1}, order[] = {0, 2, 1}, one = 1;
  const float w = 0.5F;
  onnx_made graph = {.size = 0}, part = onnx_make_value("x", 3, shape), text = {.size = 0};

  onnx_put_message(&graph, 11, &part);
  part = onnx_make_value("h", 3, h);
  onnx_put_message(&graph, 11, &part);
  part = onnx_make_value("y", 3, shape);
  onnx_put_message(&graph, 12, &part);
  part = onnx_make_value("e", 3, h);
  onnx_put_message(&graph, 12, &part);
  part = onnx_make_floats("w", 3, cell, &w, 1);
  onnx_put_message(&graph, 5, &part);
  part = onnx_make_node("Transpose", "x", "t");
  onnx_put_attribute(&part, "perm", order, 3, true);
  onnx_put_message(&graph, 1, &part);
  part = (onnx_made){.size = 0};
  for (const char *name = "tww"; *name != 0; name++) {
    onnx_put_bytes(&part, 1, name, 1);
  }
  onnx_put_text(&part, 1, ""); /* neither bias nor lengths */
  onnx_put_text(&part, 1, "");
  onnx_put_text(&part, 1, "h");
  onnx_put_text(&part, 2, "y");
  onnx_put_text(&part, 2, "e");
  onnx_put_text(&part, 4, "RNN");
  onnx_put_attribute(&part, "layout", &one, 1, false);
  onnx_put_attribute(&part, "hidden_size", &one, 1, false);
  if (direction != NULL) {
    onnx_put_text(&text, 1, "direction");
    onnx_put_text(&text, 4, direction);
    onnx_put_int(&text, 20, 3);
    onnx_put_message(&part, 5, &text);
  }
  onnx_put_message(&graph, 1, &part);
  return onnx_make_model(&graph, 17);
}

static weir_status build_with_state(const int64_t h[3], const char *direction, bool carry, int *n)
{
  static const char *const first[] = {"h"}, *const last[] = {"e"};
  const weir_array_desc d = {.dtype = WEIR_F32, .rank = 3, .shape = {1, 4, 1}};
  const onnx_made model = model_with_state(h, direction);
  weir_onnx_states states = {.carry = carry, .in = first, .out = last, .n_named = 1};
  weir_value x, y = WEIR_NO_VALUE;
  weir_graph *g = NULL;
  weir_onnx m;

  assert_ok(weir_onnx_parse(model.bytes, (int64_t)model.size, "made", &m));
  assert_ok(weir_graph_create(&g));
  x = weir_input(g, "x", &d);
  const weir_status status = weir_onnx_build(g, &m, "made", &states, &x, &y);

  *n = states.n;
  weir_onnx_states_fini(&states);
  weir_graph_destroy(&g);
  weir_onnx_fini(&m);
  return status;
}

/* The final state of a layer that reads backward is that of the first sample of a window. */
static void states_of_the_file_are_carried_forward_only(void **state)
{
  const int64_t h[] = {-1, 1, 1};
  int n = 0;

  assert_ok(build_with_state(h, NULL, true, &n));
  assert_int_equal(n, 1);
  assert_ok(build_with_state(h, "reverse", false, &n));
  assert_int_equal(n, 0);
  assert_int_equal(build_with_state(h, "reverse", true, &n), WEIR_ERR_UNSUPPORTED);
  assert_non_null(strstr(weir_last_message(), "reads a window backward"));
}

static void states_without_or_with_too_many_elements_are_refused(void **state)
{
  const int64_t h[][3] = {{-1, 1, 0}, {-1, 1, 1 << 25}, {-1, INT64_MAX, 2}, {1, -1, -1}};
  int n = 0;

  for (int k = 0; k < 8; k++) {
    assert_int_equal(build_with_state(h[k % 4], NULL, k < 4, &n), WEIR_ERR_UNSUPPORTED);
    assert_non_null(strstr(weir_last_message(), "\"h\" must be of floats, 1 to 16777216 of them"));
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(networks_equal_pytorch),
      cmocka_unit_test(layers_equal_their_export),
      cmocka_unit_test(single_nodes_follow_their_definition),
      cmocka_unit_test(what_is_not_supported_is_named),
      cmocka_unit_test(recurrent_layers_that_are_not_supported_are_named),
      cmocka_unit_test(layers_may_not_have_too_many_steps),
      cmocka_unit_test(states_of_the_file_are_carried_forward_only),
      cmocka_unit_test(states_without_or_with_too_many_elements_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
