/* network_export_test.c - the network of beats, and the same network of a file that PyTorch
 * exported, give what PyTorch gave. */
#include "beats/network.h"
#include <math.h>
#include "nn/onnx/weir_onnx_graph.h"
#include "support/graph/store_check.h"
#include "support/nn/onnx_expected.h"
#include "support/nn/onnx_weights.h"

enum { SAMPLES = 33, LEADS = 2, FEATURES = 3 };

/* BeatNetwork of onnx_export.py. */
static const ps_beat_network is = {.window = {.rate = 128, .before = 16, .after = 17},
                                   .leads = LEADS,
                                   .features = FEATURES,
                                   .filters = 3,
                                   .hidden = 4,
                                   .learnt = {true, true, true, false}};

/* The inputs of onnx_export.py: x [1, samples, leads] and f [1, features]. */
static void draw(weir_tensor *x, weir_tensor *f)
{
  assert_ok(weir_tensor_init(x, WEIR_F32, 3, (const int64_t[]){1, SAMPLES, LEADS}));
  assert_ok(weir_tensor_init(f, WEIR_F32, 2, (const int64_t[]){1, FEATURES}));
  for (int t = 0; t < SAMPLES; t++) {
    for (int c = 0; c < LEADS; c++) {
      ((float *)x->data)[t * LEADS + c] = (float)(sin(0.7 * t + 1.3 * c) + 0.25 * cos(2.9 * t));
    }
  }
  for (int k = 0; k < FEATURES; k++) {
    ((float *)f->data)[k] = (float)(sin(0.7 * k) + 0.25 * cos(2.9 * k));
  }
}

/* Runs the graph of "y" and destroys it; store NULL: its weights are constants. */
static void run(weir_graph *g, weir_store *store, float *y)
{
  weir_tensor x, f, logits = weir_tensor_wrap(y, WEIR_F32, 2, (const int64_t[]){1, PS_CLASSES});
  weir_plan *plan = NULL;
  weir_exec_cfg cfg;

  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.tier = WEIR_TIER_VECTOR;
  draw(&x, &f);
  assert_ok(weir_graph_status(g));
  assert_ok(weir_plan_create(g, store, &(weir_plan_opts){.exec = &cfg, .threads = 1}, &plan));
  assert_ok(weir_plan_run(plan, ((const weir_binding[]){{"x", &x}, {"f", &f}, {"y", &logits}}), 3));
  weir_plan_destroy(&plan);
  weir_graph_destroy(&g);
  weir_tensor_fini(&x);
  weir_tensor_fini(&f);
}

static void add_inputs(weir_graph *g, weir_value in[2])
{
  in[0] = weir_input(
      g, "x", &(weir_array_desc){.dtype = WEIR_F32, .rank = 3, .shape = {1, SAMPLES, LEADS}});
  in[1] =
      weir_input(g, "f", &(weir_array_desc){.dtype = WEIR_F32, .rank = 2, .shape = {1, FEATURES}});
}

/* The network of this application with the weights of the file. */
static void run_layers(const weir_onnx *m, float *y)
{
  static const char *const buffers[] = {"features/mean", "features/sd"};
  weir_params *params = NULL;
  weir_store *store = NULL;
  weir_tensor *t = NULL;
  weir_graph *g = NULL;
  weir_value in[2];
  weir_net net;

  assert_ok(weir_params_create(WEIR_F32, &params));
  assert_ok(weir_store_create(&store));
  for (int sealed = 0; sealed < 2; sealed++) {
    weir_graph_destroy(&g);
    assert_ok(weir_graph_create(&g));
    weir_net_init(&net, g, params, false);
    add_inputs(g, in);
    weir_output(g, "y", ps_beat_network_build(&net, &is, in[0], in[1]));
    weir_net_fini(&net);
    assert_ok(weir_graph_status(g));
    if (sealed == 0) {
      assert_ok(weir_params_seal(params, store));
    }
  }
  assert_ok(weir_store_write(store, WEIR_PARAMS_FLAT, &t));
  onnx_weights_take_all(m, params, t->data);
  for (int k = 0; k < 2; k++) {
    assert_ok(weir_store_write(store, buffers[k], &t));
    onnx_weights_take(m, buffers[k], FEATURES, t->data);
  }
  run(g, store, y);
  weir_store_destroy(&store);
  weir_params_destroy(&params);
}

static void imported(const weir_onnx *m, float *y)
{
  weir_value in[2], out = WEIR_NO_VALUE;
  weir_onnx_inputs inputs;
  weir_graph *g = NULL;

  assert_ok(weir_onnx_find_inputs(m, "test", NULL, &inputs));
  assert_int_equal(inputs.n, 2);
  assert_true(weir_onnx_is(inputs.at[0]->name, "x") && weir_onnx_is(inputs.at[1]->name, "f"));
  assert_ok(weir_graph_create(&g));
  add_inputs(g, in);
  assert_ok(weir_onnx_build(g, m, "test", NULL, in, &out));
  weir_output(g, "y", out);
  run(g, NULL, y);
}

static void logits_equal_pytorch(void **state)
{
  static const char *const files[] = {WEIR_SOURCE_DIR "/tests/fuzz/seeds/onnx/beat_network17.onnx",
                                      WEIR_SOURCE_DIR "/tests/fuzz/seeds/onnx/beat_network20.onnx"};

  for (int k = 0; k < 2; k++) {
    float layers[PS_CLASSES], file[PS_CLASSES];
    weir_onnx m;

    assert_ok(weir_onnx_read(files[k], &m));
    run_layers(&m, layers);
    imported(&m, file);
    for (int c = 0; c < PS_CLASSES; c++) {
      assert_near((double)file[c], onnx_beat_network[c], 1e-6);
      assert_near((double)layers[c], onnx_beat_network[c], 1e-6);
    }
    weir_onnx_fini(&m);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(logits_equal_pytorch)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
