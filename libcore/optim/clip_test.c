/* clip_test.c - long, short, empty gradients and gradients that are NaN. */
#include "optim/weir_clip.h"

#include <math.h>
#include <string.h>

#include "base/weir_check.h"
#include "exec/weir_plan.h"

enum { N = 5 };

/* Clips `grad` to `norm`; returns |grad|. */
static double clip(weir_dtype dtype, double norm, const double *grad, int64_t count, double *out)
{
  const weir_array_desc bank = {.dtype = dtype, .rank = 1, .shape = {count}};
  const weir_clip_cfg cfg = {.max_norm = norm};
  weir_value length = WEIR_NO_VALUE;
  weir_tensor in, made, size;
  weir_exec_cfg exec;
  weir_graph *g = NULL;
  weir_plan *p = NULL;

  assert_ok(weir_graph_create(&g));
  const weir_value x = weir_input(g, "grad", &bank);
  weir_value y = x;

  weir_clip(g, &cfg, &y, 1, &length);

  weir_output(g, "clipped", y);
  weir_output(g, "length", length);
  assert_ok(weir_graph_status(g));
  weir_opts_default(weir_exec_opts, sizeof exec, &exec);
  exec.tier = WEIR_TIER_VECTOR;
  assert_ok(weir_plan_create(g, NULL, &(weir_plan_opts){.exec = &exec, .threads = 1}, &p));
  assert_ok(weir_tensor_init(&in, dtype, 1, &count));
  assert_ok(weir_tensor_init(&made, dtype, 1, &count));
  assert_ok(weir_tensor_init(&size, WEIR_F64, 0, NULL));
  for (int64_t i = 0; i < count; i++) {
    weir_dtype_store_real(dtype, in.data, i, grad[i]);
  }
  assert_ok(
      weir_plan_run(p, (weir_binding[]){{"grad", &in}, {"clipped", &made}, {"length", &size}}, 3));
  for (int64_t i = 0; i < count; i++) {
    out[i] = weir_dtype_load_real(dtype, made.data, i);
  }
  const double length_of = *(double *)size.data;

  weir_tensor_fini(&in);
  weir_tensor_fini(&made);
  weir_tensor_fini(&size);
  weir_plan_destroy(&p);
  weir_graph_destroy(&g);
  return length_of;
}

static void a_long_gradient_gets_the_norm(void **state)
{
  const double grad[N] = {3, -4, 0, 12, 0};
  double out[N];

  assert_near(clip(WEIR_F64, 6.5, grad, N, out), 13, 1e-14);
  for (int i = 0; i < N; i++) {
    assert_near(out[i], grad[i] / 2, 1e-15);
  }
  /* Squares that f32 does not hold. */
  const double huge[N] = {3e25, -4e25, 0, 12e25, 0};

  assert_near(clip(WEIR_F32, 6.5, huge, N, out) / 13e25, 1, 1e-6);
  for (int i = 0; i < N; i++) {
    assert_near(out[i], grad[i] / 2, 1e-6);
  }
}

static void a_short_gradient_keeps_its_bits(void **state)
{
  const double grad[N] = {0.1f, -0.2f, 0, 1.5f, 1e-20f}, none[N] = {0};
  double out[N];

  clip(WEIR_F32, 2, grad, N, out);
  assert_memory_equal(out, grad, sizeof grad);
  assert_near(clip(WEIR_F32, 2, none, N, out), 0, 0);
  assert_memory_equal(out, none, sizeof none);
  assert_near(clip(WEIR_F32, 2, none, 0, out), 0, 0);
}

static void a_gradient_that_is_no_number_is_not_hidden(void **state)
{
  const double bad[N] = {1, 2, NAN, 4, 5}, endless[N] = {1, 2, INFINITY, 4, 5};
  double out[N];

  assert_true(isnan(clip(WEIR_F32, 2, bad, N, out)));
  for (int i = 0; i < N; i++) {
    assert_true(isnan(out[i]));
  }
  clip(WEIR_F32, 2, endless, N, out);
  assert_true(isnan(out[2]));
}

static void without_a_norm_nothing_is_built(void **state)
{
  const weir_array_desc bank = {.dtype = WEIR_F32, .rank = 1, .shape = {N}};
  weir_clip_cfg cfg;
  weir_graph *g = NULL;

  assert_int_equal(weir_opts_incomplete(weir_clip_opts), 0);
  weir_opts_default(weir_clip_opts, sizeof cfg, &cfg);
  assert_ok(weir_graph_create(&g));
  const weir_value x = weir_input(g, "grad", &bank);
  weir_value y = x;

  weir_clip(g, &cfg, &y, 1, NULL);

  assert_int_equal(y.node, x.node);
  assert_int_equal(weir_graph_nodes(g), 1);
  weir_graph_destroy(&g);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_long_gradient_gets_the_norm),
      cmocka_unit_test(a_short_gradient_keeps_its_bits),
      cmocka_unit_test(a_gradient_that_is_no_number_is_not_hidden),
      cmocka_unit_test(without_a_norm_nothing_is_built),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
