/* pool_test.c - extents, outputs, what a box needs, and refusals. */
#include "ops/pool/weir_pool.h"

#include "exec/weir_plan.h"
#include "support/ops/ops_check.h"

static void extents_and_outputs(void **state)
{
  weir_graph *g = new_graph();
  const weir_value x = GIVEN(g, "x", WEIR_F32, 2, 9, 8, 7, 3);
  const weir_pool_spec s = {.kernel_size = {2, 3, 2},
                            .stride = {0, 2, 1},
                            .pad_before = {0, 1, 0},
                            .pad_after = {1, 1, 0}};
  const weir_value y = weir_pool_max(g, &s, x);

  assert_shape(g, y, WEIR_F32, 2, 5, 4, 6, 3);
  assert_shape(g, ((weir_value){y.node, 1}), WEIR_I64, 2, 5, 4, 6, 3);
  assert_shape(g, weir_pool_mean(g, &s, x), WEIR_F32, 2, 5, 4, 6, 3);
  weir_graph_destroy(&g);
}

static void a_box_needs_its_windows(void **state)
{
  weir_graph *g = new_graph();
  const weir_value x = GIVEN(g, "x", WEIR_F32, 1, 100, 3);
  const weir_pool_spec s = {.kernel_size = {3}, .stride = {2}, .pad_before = {1}};
  const weir_access *a = access_of(g, weir_pool_max(g, &s, x));
  weir_box box = weir_iterations(a);

  box.lo[1] = 0;
  box.hi[1] = 10;
  const weir_region r = weir_needed(a, 0, &box);

  assert_true(r.interval[1][0].lo == 0 && r.interval[1][0].hi == 20);
  weir_graph_destroy(&g);
}

/* The mean of 1, 2, .., n by windows. */
static void check_mean(const weir_pool_spec *s, int64_t n, int64_t windows, const double *wanted)
{
  double x[16], made[16];
  weir_tensor in = weir_tensor_wrap(x, WEIR_F64, 3, (int64_t[]){1, n, 1});
  weir_tensor out = weir_tensor_wrap(made, WEIR_F64, 3, (int64_t[]){1, windows, 1});
  weir_graph *g = new_graph();
  const weir_value y = weir_pool_mean(g, s, GIVEN(g, "x", WEIR_F64, 1, n, 1));
  weir_exec_cfg cfg;
  weir_plan *p = NULL;

  for (int64_t i = 0; i < n; i++) {
    x[i] = (double)(i + 1);
  }
  assert_shape(g, y, WEIR_F64, 1, windows, 1);
  weir_output(g, "y", y);
  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.tier = WEIR_TIER_VECTOR;
  assert_ok(weir_plan_create(g, NULL, &(weir_plan_opts){.exec = &cfg, .threads = 1}, &p));
  assert_ok(weir_plan_run(p, (weir_binding[]){{"x", &in}, {"y", &out}}, 2));
  for (int64_t i = 0; i < windows; i++) {
    assert_near(made[i], wanted[i], 1e-15);
  }
  weir_plan_destroy(&p);
  weir_graph_destroy(&g);
}

/* As PyTorch's avg_pool1d with ceil_mode and count_include_pad has it. */
static void means_count_what_is_asked_for(void **state)
{
  weir_pool_spec s = {.kernel_size = {3}, .stride = {2}, .pad_before = {1}, .pad_after = {1}};

  check_mean(&s, 6, 3, (double[]){1, 3, 5});
  s.ceil = true;
  check_mean(&s, 6, 4, (double[]){1, 3, 5, 3});
  s.exclude_pad = true;
  check_mean(&s, 6, 4, (double[]){1.5, 3, 5, 6});
  s.ceil = false;
  check_mean(&s, 6, 3, (double[]){1.5, 3, 5});
  /* The window that rounding up would add begins after the end. */
  check_mean(&(weir_pool_spec){.kernel_size = {2}, .stride = {3}, .pad_after = {1}, .ceil = true},
             6, 2, (double[]){1.5, 4.5});
}

static void refuse(const weir_pool_spec *s, const char *text)
{
  weir_graph *g = new_graph();
  const weir_value x = GIVEN(g, "x", WEIR_F32, 1, 5, 4);

  assert_refused(g, weir_pool(g, s, x), text);
}

static void impossible_windows_are_refused(void **state)
{
  refuse(&(weir_pool_spec){.combine = WEIR_COMBINE_MAX}, "pool: dimension 0: window 0");
  refuse(&(weir_pool_spec){.combine = WEIR_COMBINE_MAX, .kernel_size = {2}, .pad_before = {2}},
         "padding 2 and 0");
  refuse(&(weir_pool_spec){.combine = WEIR_COMBINE_MAX, .kernel_size = {6}}, "window 6");
  refuse(&(weir_pool_spec){.combine = WEIR_COMBINE_FIRST, .kernel_size = {2}}, "use window");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(extents_and_outputs),
      cmocka_unit_test(a_box_needs_its_windows),
      cmocka_unit_test(means_count_what_is_asked_for),
      cmocka_unit_test(impossible_windows_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
