/* conv_left_dnnl_test.c - sums in the form of a convolution that the kernels of oneDNN leave to the
 * loops. */
#include <string.h>

#include "base/weir_random.h"
#include "conf/weir_opt.h"
#include "exec/weir_plan.h"
#include "graph/weir_kernel.h"
#include "ops/conv/weir_conv.h"
#include "support/ops/ops_check.h"

static void init_random(weir_tensor *t, int rank, const int64_t *shape, uint32_t purpose)
{
  assert_ok(weir_tensor_init(t, WEIR_F32, rank, shape));
  for (int64_t i = 0; i < weir_tensor_numel(t); i++) {
    ((float *)t->data)[i] = (float)weir_random_uniform(3, purpose, 0, (uint64_t)i) - 0.5f;
  }
}

/* y[o, c] = sum of x[o + t, i] v[t + i, c]: weights that lie one on another are no memory of the
 * library, and are left to the loops. */
static void weights_that_overlap_are_left(void **state)
{
  enum { IN = 16, OUT = 32, TAPS = 3, LONG = 50 };
  const weir_array_desc x = {.dtype = WEIR_F32, .rank = 3, .shape = {1, LONG, IN}};
  const weir_array_desc w = {.dtype = WEIR_F32, .rank = 3, .shape = {TAPS, IN, OUT}};
  const weir_array_desc v = {.dtype = WEIR_F32, .rank = 2, .shape = {TAPS + IN - 1, OUT}};
  static const weir_op_desc given = {.name = "given", .n_out = 1};
  weir_graph *g = new_graph();
  const weir_value from = weir_input(g, "x", &x), to = weir_input(g, "v", &v);
  const weir_value y = weir_conv(g, &(weir_conv_spec){.groups = 1}, from, weir_input(g, "w", &w));
  weir_tensor a, b, c, unused;
  weir_exec_cfg cfg;
  weir_plan *plan;
  weir_access access;

  assert_ok(weir_access_copy(&weir_graph_node(g, y.node)->access, &access));
  weir_operand *o = &access.in[1];

  for (int k = 0; k < access.n_dims; k++) {
    o->index[0].coef[k] += o->index[1].coef[k];
  }
  o->index[1] = o->index[2];
  o->rank = 2;
  o->extent[0] = v.shape[0];
  o->extent[1] = OUT;
  weir_output(g, "y",
              weir_graph_add_access(g, &given, &access, (weir_value[]){from, to}, 2, "here"));
  weir_access_fini(&access);
  assert_ok(weir_graph_status(g));
  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.kernel = "conv_forward.dnnl";
  cfg.tier = WEIR_TIER_VECTOR;
  assert_ok(weir_plan_create(g, NULL, &(weir_plan_opts){.exec = &cfg, .threads = 1}, &plan));
  init_random(&a, 3, x.shape, 0);
  init_random(&b, 2, v.shape, 1);
  init_random(&unused, 3, w.shape, 2);
  init_random(&c, 3, (int64_t[]){1, LONG - TAPS + 1, OUT}, 3);
  const float *px = a.data, *pv = b.data, *py = c.data;

  assert_ok(
      weir_plan_run(plan, (weir_binding[]){{"x", &a}, {"v", &b}, {"y", &c}, {"w", &unused}}, 4));
  for (int64_t i = 0; i < weir_tensor_numel(&c); i++) {
    double sum = 0;

    for (int t = 0; t < TAPS; t++) {
      for (int k = 0; k < IN; k++) {
        sum += (double)px[(i / OUT + t) * IN + k] * (double)pv[(t + k) * OUT + i % OUT];
      }
    }
    assert_near(py[i], sum, 1e-5);
  }
  weir_tensor_fini(&a);
  weir_tensor_fini(&b);
  weir_tensor_fini(&c);
  weir_tensor_fini(&unused);
  weir_plan_destroy(&plan);
  weir_graph_destroy(&g);
}

/* Sums of products a channel have the form of a convolution whose weights are used once: a loop. */
static void weights_that_are_used_once_are_left(void **state)
{
  enum { CHANNELS = 32, LONG = 2048 };
  weir_graph *g = new_graph();

  for (int more = 0; more < 2; more++) {
    const weir_array_desc x = {.dtype = WEIR_F32, .rank = 3, .shape = {1, LONG + more, CHANNELS}};
    const weir_array_desc w = {.dtype = WEIR_F32, .rank = 3, .shape = {LONG, 1, CHANNELS}};
    const weir_value y =
        weir_conv(g, &(weir_conv_spec){.groups = CHANNELS}, weir_input(g, more ? "x" : "x1", &x),
                  weir_input(g, more ? "w" : "w1", &w));
    const weir_group alone = {.nodes = &(int32_t){y.node}, .n_nodes = 1};

    assert_true(y.node >= 0);
    for (int i = 0; weir_kernel_table[i] != NULL; i++) {
      if (strcmp(weir_kernel_table[i]->name, "conv_forward.dnnl") == 0) {
        assert_int_equal(weir_kernel_table[i]->match(g, &alone) < 0, more == 0);
      }
    }
  }
  weir_graph_destroy(&g);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(weights_that_overlap_are_left),
      cmocka_unit_test(weights_that_are_used_once_are_left),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
