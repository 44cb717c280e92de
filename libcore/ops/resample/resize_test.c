/* resize_test.c - several dimensions against the formula of half-pixel centres, and refusals. */
#include "ops/resample/weir_resize_op.h"

#include <math.h>

#include "exec/weir_plan.h"
#include "support/ops/ops_check.h"

enum { A = 5, B = 4, C = 2 };

/* Element of x [A, B, C] at a position between centres. */
static double at(const double *x, double a, double b, int c, bool wrap)
{
  const double fa = floor(a), fb = floor(b);
  double sum = 0;

  for (int i = 0; i < 2; i++) {
    for (int j = 0; j < 2; j++) {
      const int ia = (int)fmin(fmax(fa + i, 0), A - 1);
      const int clamped = (int)fmin(fmax(fb + j, 0), B - 1), round = ((int)fb + j + B) % B;
      const double wa = i == 0 ? 1 - (a - fa) : a - fa, wb = j == 0 ? 1 - (b - fb) : b - fb;

      sum += wa * wb * x[(ia * B + (wrap ? round : clamped)) * C + c];
    }
  }
  return sum;
}

static void check(bool linear, int64_t rows, int64_t columns, bool wrap)
{
  const weir_resize_spec s = {
      .linear = linear,
      .size = {rows, columns},
      .border = {WEIR_BORDER_REPLICATE, wrap ? WEIR_BORDER_WRAP : WEIR_BORDER_NEVER}};
  weir_graph *g = new_graph();
  const weir_value y = weir_resize(g, &s, GIVEN(g, "x", WEIR_F64, 1, A, B, C));
  double x[A * B * C], made[20 * 20 * C];
  weir_tensor in = weir_tensor_wrap(x, WEIR_F64, 4, (int64_t[]){1, A, B, C});
  weir_tensor out = weir_tensor_wrap(made, WEIR_F64, 4, (int64_t[]){1, rows, columns, C});
  weir_exec_cfg cfg;
  weir_plan *p = NULL;

  for (int i = 0; i < A * B * C; i++) {
    x[i] = sin(i * 1.7) * 10;
  }
  weir_output(g, "y", y);
  assert_ok(weir_graph_status(g));
  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.tier = WEIR_TIER_VECTOR;
  assert_ok(weir_plan_create(g, NULL, &(weir_plan_opts){.exec = &cfg, .threads = 1}, &p));
  assert_ok(weir_plan_run(p, (weir_binding[]){{"x", &in}, {"y", &out}}, 2));
  for (int i = 0; i < rows * columns * C; i++) {
    const double o = (double)(i / (C * columns)), q = (double)(i / C % columns);
    const double a = (o + 0.5) * A / (double)rows, b = (q + 0.5) * B / (double)columns;
    const double wanted =
        linear ? at(x, a - 0.5, b - 0.5, i % C, wrap) : x[((int)a * B + (int)b) * C + i % C];

    assert_near(made[i], wanted, 1e-13);
  }
  weir_plan_destroy(&p);
  weir_graph_destroy(&g);
}

static void every_size_follows_the_centres(void **state)
{
  static const int64_t sizes[][2] = {{10, 8}, {15, 4}, {3, 7}, {1, 1}, {5, 13}, {20, 2}};

  for (int i = 0; i < 6; i++) {
    check(false, sizes[i][0], sizes[i][1], false);
    check(true, sizes[i][0], sizes[i][1], false);
    check(true, sizes[i][0], sizes[i][1], true);
  }
}

static void factors_and_extents(void **state)
{
  weir_graph *g = new_graph();
  const weir_value x = GIVEN(g, "x", WEIR_F32, 2, 4, 5, 6, 3);
  const weir_resize_spec s = {.linear = true, .factor = {2, 0, 3}, .size = {0, 7}};
  const weir_access *a = NULL;

  assert_shape(g, weir_resize(g, &s, x), WEIR_F32, 2, 8, 7, 18, 3);
  /* Twice as many: an element asks its four readers, whatever the extent. */
  const weir_resize_spec twice = {.linear = true, .factor = {2}}, near = {.factor = {2}};

  a = access_of(g, weir_resize(g, &twice, x));
  assert_int_equal(a->in[0].index[1].div, 4);
  a = access_of(g, weir_resize(g, &near, x));
  assert_int_equal(a->in[0].index[1].div, 2);
  assert_int_equal(a->in[0].index[1].coef[1], 1);
  weir_graph_destroy(&g);
}

static void impossible_sizes_are_refused(void **state)
{
  weir_graph *g = new_graph();
  const weir_resize_spec both = {.size = {2}, .factor = {2}};
  weir_value x = GIVEN(g, "x", WEIR_F32, 4, 3);

  assert_refused(g, weir_resize(g, &both, x), "rank 2: x must be");
  g = new_graph();
  x = GIVEN(g, "x", WEIR_F32, 1, 4, 3);
  assert_refused(g, weir_resize(g, &both, x), "size 2 and factor 2");
  g = new_graph();
  x = GIVEN(g, "x", WEIR_F32, 1, 4, 3);
  const weir_resize_spec s = {.linear = true, .size = {2}, .border = {WEIR_BORDER_ZERO}};
  assert_refused(g, weir_resize(g, &s, x), "replicates or wraps");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_size_follows_the_centres),
      cmocka_unit_test(factors_and_extents),
      cmocka_unit_test(impossible_sizes_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
