/* reduce_test.c - shapes and dtypes of each monoid, and refusals. */
#include "ops/reduce/weir_reduce.h"

#include <math.h>

#include "exec/weir_plan.h"
#include "support/ops/ops_check.h"

static void outputs_follow_monoid_and_accumulator(void **state)
{
  weir_graph *g = new_graph();
  const weir_value x = GIVEN(g, "x", WEIR_F32, 4, 5, 6);
  const weir_value n = GIVEN(g, "n", WEIR_U8, 4, -1);

  assert_shape(g, weir_sum(g, x, 1), WEIR_F32, 4, 6);
  assert_shape(g, weir_sum(g, n, 0), WEIR_I64, -1);
  assert_shape(g, weir_max_over(g, n, 0), WEIR_U8, -1);
  const weir_value a = weir_argmax(g, x, 2);

  assert_shape(g, a, WEIR_F32, 4, 5);
  assert_shape(g, ((weir_value){a.node, 1}), WEIR_I64, 4, 5);
  const weir_reduce_spec s = {.combine = WEIR_COMBINE_MOMENTS,
                              .n_dims = 2,
                              .dim = {0, 2},
                              .keep = true,
                              .accumulator = 1 + WEIR_F64};
  const weir_value m = weir_reduce(g, &s, x);

  assert_shape(g, ((weir_value){m.node, 2}), WEIR_F64, 1, 5, 1);
  assert_int_equal(weir_value_desc(g, weir_sum(g, x, -1))->rank, 0);
  weir_graph_destroy(&g);
}

static void what_cannot_be_reduced_is_refused(void **state)
{
  weir_graph *g = new_graph();
  weir_value x = GIVEN(g, "x", WEIR_F32, 4, -1);
  assert_refused(g, weir_sum(g, x, 1), "reduce: dimension 1 is time");

  g = new_graph();
  x = GIVEN(g, "x", WEIR_F32, 4);
  assert_refused(g, weir_sum(g, x, 1), "reduce: dimension 1 of an array of rank 1");

  g = new_graph();
  x = GIVEN(g, "x", WEIR_F32, 4, 4);
  assert_refused(g,
                 weir_reduce(g, &((weir_reduce_spec){.combine = WEIR_COMBINE_SUM, .n_dims = 2}), x),
                 "reduce: dimension 0 is named twice");

  g = new_graph();
  x = GIVEN(g, "x", WEIR_I32, 4);
  assert_refused(g, weir_moments(g, x, 0), "moments of i32 in i32 is not defined");

  g = new_graph();
  x = GIVEN(g, "x", WEIR_F32, 4);
  assert_refused(g, weir_reduce_dim_at(g, WEIR_COMBINE_NONE, x, 0, WEIR_WHERE),
                 "is not a reduction");

  g = new_graph();
  x = GIVEN(g, "x", WEIR_F32, 4);
  const weir_reduce_spec first = {.combine = WEIR_COMBINE_FIRST};
  assert_refused(g, weir_reduce_present(g, &first, x, x), "the presence is f32: it must be bool");

  g = new_graph();
  x = GIVEN(g, "x", WEIR_F32, 4);
  const weir_value p = GIVEN(g, "p", WEIR_BOOL, 2, 4);
  assert_refused(g, weir_reduce_present(g, &first, x, p), "the presence does not broadcast");
}

static void complex_numbers_are_summed_alone(void **state)
{
  weir_graph *g = new_graph();
  weir_value z = GIVEN(g, "z", WEIR_C64, 4, 3);
  const weir_reduce_spec real = {
      .combine = WEIR_COMBINE_SUM, .n_dims = 1, .accumulator = 1 + (int)WEIR_F64};

  assert_shape(g, weir_reduce_dim_at(g, WEIR_COMBINE_SUM, z, 0, WEIR_WHERE), WEIR_C64, 3);
  assert_refused(g, weir_reduce_dim_at(g, WEIR_COMBINE_MAX, z, 0, WEIR_WHERE),
                 "max of c64 in c64 is not defined");
  g = new_graph();
  z = GIVEN(g, "z", WEIR_C64, 4);
  assert_refused(g, weir_reduce(g, &real, z), "sum of c64 in f64 is not defined");
}

/* -inf everywhere: each counts as one of the maximum, exp(x - max) being that of 0. In every
 * engine. (A softmax of such a row is NaN, by its own exp(x - max) alone.) */
static void softmax_counts_infinite_elements(void **state)
{
  enum { ROWS = 4, LONG = 300 };
  weir_graph *g = new_graph();
  const weir_value x = GIVEN(g, "x", WEIR_F32, ROWS, LONG);
  const weir_value v = weir_reduce_dim_at(g, WEIR_COMBINE_SOFTMAX, x, 1, WEIR_WHERE);
  const float expected[ROWS][2] = {{-INFINITY, LONG}, {2, 3}, {INFINITY, 2}, {-INFINITY, LONG}};
  weir_tensor in, max, sum;

  weir_output(g, "max", v);
  weir_output(g, "sum", (weir_value){v.node, 1});
  assert_ok(weir_tensor_init(&in, WEIR_F32, 2, (int64_t[]){ROWS, LONG}));
  assert_ok(weir_tensor_init(&max, WEIR_F32, 1, (int64_t[]){ROWS}));
  assert_ok(weir_tensor_init(&sum, WEIR_F32, 1, (int64_t[]){ROWS}));
  for (int i = 0; i < ROWS * LONG; i++) {
    ((float *)in.data)[i] = i / LONG == 2 ? 0 : -INFINITY;
  }
  for (int k = 0; k < 3; k++) {
    ((float *)in.data)[LONG + 100 * k] = 2;
    ((float *)in.data)[2 * LONG + 17 + k % 2] = INFINITY;
  }
  for (weir_tier tier = WEIR_TIER_REFERENCE; tier <= WEIR_TIER_NATIVE; tier++) {
    weir_exec_cfg cfg;
    weir_plan *p = NULL;

    weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
    cfg.tier = (int)tier;
    const weir_status status = weir_plan_create(g, NULL, &(weir_plan_opts){.exec = &cfg}, &p);

    if (status == WEIR_ERR_UNSUPPORTED) {
      continue;
    }
    assert_ok(status);
    assert_ok(weir_plan_run(p, (weir_binding[]){{"x", &in}, {"max", &max}, {"sum", &sum}}, 3));
    for (int r = 0; r < ROWS; r++) {
      assert_true(((float *)max.data)[r] == expected[r][0]);
      assert_true(((float *)sum.data)[r] == expected[r][1]);
    }
    weir_plan_destroy(&p);
  }
  weir_tensor_fini(&in);
  weir_tensor_fini(&max);
  weir_tensor_fini(&sum);
  weir_graph_destroy(&g);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(complex_numbers_are_summed_alone),
      cmocka_unit_test(softmax_counts_infinite_elements),
      cmocka_unit_test(outputs_follow_monoid_and_accumulator),
      cmocka_unit_test(what_cannot_be_reduced_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
