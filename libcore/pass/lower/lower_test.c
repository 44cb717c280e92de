/* lower_test.c - loops that are joined compute what they did apart. */
#include "base/weir_check.h"
#include "exec/weir_plan.h"
#include "ops/weir_builder.h"

static const weir_op_desc op = {.name = "test"};

/* y[i, j] = x[i], replicated beyond the `n` elements of x; i < 2, j < 1. */
static weir_value repeat(weir_graph *g, weir_value x, int64_t n)
{
  weir_access a;

  weir_access_init(&a);
  (void)weir_map_dim(&a, WEIR_PARALLEL, 2);
  (void)weir_map_dim(&a, WEIR_PARALLEL, 1);
  assert_ok(weir_access_resize(&a, 1, 1, 0));
  a.in[0] = (weir_operand){.dtype = WEIR_F64, .rank = 1, .extent = {n}};
  a.in[0].index[0].coef[0] = 1;
  a.in[0].index[0].border = WEIR_BORDER_REPLICATE;
  weir_map_identity(&a.out[0], &(weir_array_desc){.dtype = WEIR_F64, .rank = 2, .shape = {2, 1}});
  a.n_values = 1;
  a.value[0] = weir_body_unary(&a.body, WEIR_CODE_NEG, weir_body_load(&a.body, 0, WEIR_F64));
  const weir_value y = weir_graph_add_access(g, &op, &a, &x, 1, WEIR_WHERE);

  weir_access_fini(&a);
  return y;
}

/* s[i] = sum over j < 3 of y[i, j], what lies outside y dropped. */
static weir_value sum(weir_graph *g, weir_value y)
{
  weir_access a;

  weir_access_init(&a);
  (void)weir_map_dim(&a, WEIR_PARALLEL, 2);
  (void)weir_map_dim(&a, WEIR_REDUCED, 3);
  assert_ok(weir_access_resize(&a, 1, 1, 0));
  weir_map_identity(&a.in[0], weir_value_desc(g, y));
  a.in[0].index[1].border = WEIR_BORDER_ABSENT;
  weir_map_identity(&a.out[0], &(weir_array_desc){.dtype = WEIR_F64, .rank = 1, .shape = {2}});
  a.n_values = 1;
  a.value[0] = weir_body_load(&a.body, 0, WEIR_F64);
  a.combine = WEIR_COMBINE_SUM;
  a.accumulator = WEIR_F64;
  const weir_value s = weir_graph_add_access(g, &op, &a, &y, 1, WEIR_WHERE);

  weir_access_fini(&a);
  return s;
}

/* A sum takes in the loop that feeds it, whose own border must stay. */
static void a_border_stays_where_loops_are_joined(void **state)
{
  for (int64_t n = 1; n <= 3; n++) {
    const weir_array_desc d = {.dtype = WEIR_F64, .rank = 1, .shape = {n}};
    double numbers[] = {2, 3, 4};
    weir_tensor x = weir_tensor_wrap(numbers, WEIR_F64, 1, d.shape);
    int64_t lo, hi;
    weir_exec_cfg cfg;
    weir_plan *plan;
    weir_graph *g;
    weir_view v;

    weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
    cfg.tier = WEIR_TIER_VECTOR;
    assert_ok(weir_graph_create(&g));
    weir_output(g, "s", sum(g, repeat(g, weir_input(g, "x", &d), n)));
    assert_ok(weir_plan_create(g, NULL, &(weir_plan_opts){.exec = &cfg, .threads = 1}, &plan));
    assert_ok(weir_plan_run(plan, &(weir_binding){"x", &x}, 1));
    assert_ok(weir_plan_result(plan, "s", &v, &lo, &hi));
    assert_near(((const double *)v.data)[0], -2, 0);
    assert_near(((const double *)v.data)[1], n == 1 ? -2 : -3, 0);
    weir_plan_destroy(&plan);
    weir_graph_destroy(&g);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_border_stays_where_loops_are_joined),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
