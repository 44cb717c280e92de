/* upsampled_test.c - elements repeated over short and long stretches, on every engine. */
#include <math.h>
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "exec/exec_priv.h"
#include "exec/plan/plan_priv.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/resample/weir_resample.h"

enum { SLOW = 3, N = 9000 };

static float x[N], y[N], low_rate[SLOW][N];

/* y = (x - slow 0) (slow 1) - slow 2, element k repeated over factor[k] iterations. */
static weir_graph *make(const int64_t *factor)
{
  static const char *const name[SLOW] = {"a", "b", "c"};
  const weir_array_desc d = {.dtype = WEIR_F32, .rank = 1, .shape = {N}};
  weir_value v[SLOW];
  weir_graph *g = NULL;

  assert_ok(weir_graph_create(&g));
  const weir_value in = weir_input(g, "x", &d);

  for (int k = 0; k < SLOW; k++) {
    const weir_array_desc slow = {.dtype = WEIR_F32, .rank = 1, .shape = {N / factor[k]}};
    const weir_resample_spec hold = {.up = factor[k]};

    v[k] = weir_resample(g, &hold, weir_input(g, name[k], &slow));
  }
  weir_output(g, "y", weir_sub(g, weir_mul(g, weir_sub(g, in, v[0]), v[1]), v[2]));
  assert_ok(weir_graph_status(g));
  return g;
}

static void check(weir_tier tier, const int64_t *factor)
{
  weir_graph *g = make(factor);
  weir_plan *p = NULL;
  weir_tensor t[SLOW + 2];
  weir_exec_cfg cfg;

  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.tier = (int)tier;
  assert_ok(weir_plan_create(g, NULL, &(weir_plan_opts){.exec = &cfg}, &p));
  assert_int_equal(p->n_groups, 1);
  assert_int_equal(p->groups[0].n_loops, 1); /* upsampled inputs are read where they are used */
  for (int k = 0; k < SLOW; k++) {
    t[k] = weir_tensor_wrap(low_rate[k], WEIR_F32, 1, (const int64_t[]){N / factor[k]});
  }
  t[SLOW] = weir_tensor_wrap(x, WEIR_F32, 1, (const int64_t[]){N});
  t[SLOW + 1] = weir_tensor_wrap(y, WEIR_F32, 1, (const int64_t[]){N});
  const weir_binding bindings[] = {
      {"a", &t[0]}, {"b", &t[1]}, {"c", &t[2]}, {"x", &t[SLOW]}, {"y", &t[SLOW + 1]}};

  assert_ok(weir_plan_run(p, bindings, SLOW + 2));
  for (int64_t i = 0; i < N; i++) {
    const float difference = x[i] - low_rate[0][i / factor[0]];
    const float product = difference * low_rate[1][i / factor[1]];
    const float wanted = product - low_rate[2][i / factor[2]];

    /* The reference computes in f64. */
    assert_true(tier == WEIR_TIER_REFERENCE ? fabsf(y[i] - wanted) <= 1e-5F * (1 + fabsf(product))
                                            : y[i] == wanted);
  }
  weir_plan_destroy(&p);
  weir_graph_destroy(&g);
}

static void every_engine_has_the_values_of_the_formula(void **state)
{
  static const int64_t factor[][SLOW] = {{2, 3, 4},         {1, 8, 25},      {300, 1000, 4},
                                         {1000, 1500, 900}, {250, 360, 375}, {9000, 4500, 2250},
                                         {600, 1, 9000}};

  for (int64_t i = 0; i < N; i++) {
    x[i] = (float)weir_random_normal(3, 1, 0, (uint64_t)i);
    for (int k = 0; k < SLOW; k++) {
      low_rate[k][i] = (float)weir_random_normal(3, 2 + (uint32_t)k, 0, (uint64_t)i);
    }
  }
  for (int e = 0; weir_engine_table[e] != NULL; e++) {
    for (size_t i = 0; i < sizeof factor / sizeof *factor; i++) {
      check(weir_engine_table[e]->tier, factor[i]);
    }
  }
}

static void a_position_tells_how_long_it_stays(void **state)
{
  const weir_operand o = {.dtype = WEIR_F32,
                          .rank = 1,
                          .extent = {N},
                          .index = {{.coef = {3}, .offset = -7, .div = 700}}};
  const weir_view v = {.data = x, .dtype = WEIR_F32, .rank = 1, .origin = {-1}, .stride = {1}};

  for (int64_t i = 0; i < 2000; i += 1 + i % 13) {
    const exec_upsampled h = exec_upsampled_at(&o, &v, 0, &i, 1);
    const int64_t left = exec_upsampled_left(&h), at = weir_floor_div(3 * i - 7, 700);

    assert_ptr_equal(h.from, &x[at + 1]);
    assert_true(left > 0 && weir_floor_div(3 * (i + left - 1) - 7, 700) == at);
    assert_true(weir_floor_div(3 * (i + left) - 7, 700) == at + 1);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_engine_has_the_values_of_the_formula),
      cmocka_unit_test(a_position_tells_how_long_it_stays),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
