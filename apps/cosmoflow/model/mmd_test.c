/* mmd_test.c - the maximum mean discrepancy against NumPy in double precision, its gradient against
 * finite differences, and what it is of equal and of far sets. */
#include "model/mmd.h"
#include <math.h>
#include "exec/weir_plan.h"
#include "pass/autodiff/weir_gradients.h"
#include "support/cosmoflow/congruential.h"
#include "support/ops/ops_check.h"

enum { N = 5, F = 3, COUNT = N * F };
static const double bandwidth[] = {0.2, 0.5, 1.5};

typedef struct trial {
  weir_graph *g;
  weir_plan *plan;
  weir_tensor source, target, value, by_source, by_target, back;
} trial;

static void begin(trial *t, weir_dtype dtype, int64_t n, int64_t bandwidths)
{
  weir_exec_cfg cfg;
  weir_value by[2];

  *t = (trial){.g = new_graph()};
  weir_tensor *const of[] = {&t->source, &t->target, &t->by_source, &t->by_target, &t->back};

  for (int i = 0; i < 5; i++) {
    assert_ok(weir_tensor_init(of[i], dtype, 2, (int64_t[]){n, F}));
  }
  assert_ok(weir_tensor_init(&t->value, dtype, 0, NULL));
  const weir_value points[] = {GIVEN(t->g, "source", dtype, n, F),
                               GIVEN(t->g, "target", dtype, n, F)};
  const weir_value joined = cf_mmd_join(t->g, points[0], points[1]);
  const weir_value value = cf_mmd_square(t->g, bandwidth, bandwidths, joined);

  assert_ok(weir_gradients(t->g, value, points, 2, by));
  weir_output(t->g, "value", value);
  weir_output(t->g, "by_source", by[0]);
  weir_output(t->g, "by_target", by[1]);
  weir_output(t->g, "back", cf_mmd_source(t->g, joined));
  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.tier = WEIR_TIER_VECTOR;
  assert_ok(weir_plan_create(t->g, NULL, &(weir_plan_opts){.exec = &cfg, .threads = 1}, &t->plan));
}

static double run(trial *t)
{
  const weir_binding b[] = {{"source", &t->source},       {"target", &t->target},
                            {"value", &t->value},         {"by_source", &t->by_source},
                            {"by_target", &t->by_target}, {"back", &t->back}};

  assert_ok(weir_plan_run(t->plan, b, sizeof b / sizeof b[0]));
  return weir_dtype_load_real(t->value.dtype, t->value.data, 0);
}

static void end(trial *t)
{
  weir_tensor *const all[] = {&t->source,    &t->target,    &t->value,
                              &t->by_source, &t->by_target, &t->back};

  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    weir_tensor_fini(all[i]);
  }
  weir_plan_destroy(&t->plan);
  weir_graph_destroy(&t->g);
}

/* Numbers of the generator, source then target; the target is shifted by 0.4. */
static void fill(trial *t, int64_t n, double shift)
{
  double x[2 * COUNT];
  uint32_t state = 1;

  congruential(&state, 2 * n * F, 1, x);
  for (int64_t i = 0; i < n * F; i++) {
    weir_dtype_store_real(t->source.dtype, t->source.data, i, x[i]);
    weir_dtype_store_real(t->target.dtype, t->target.data, i, x[n * F + i] + shift);
  }
}

/* NumPy 2.4.6: tests/bench/cosmo_mmd.py. */
static void values_are_those_of_numpy(void **state)
{
  static const struct {
    int64_t n, bandwidths;
    double expected, gradient[2]; /* sums of squares by source and target */
  } cases[] = {
      {5, 3, 0.3014155006095055, {0.036123100985209093, 0.078048882013046508}},
      {5, 1, 0.13995539942650381, {0.034983916032226732, 0.12149439624790095}},
      {2, 2, -0.10117394837299543, {0.18912024528885002, 0.20360473611702654}},
      {1, 3, 0, {0, 0}},
  };

  for (size_t c = 0; c < 2 * sizeof cases / sizeof cases[0]; c++) {
    const weir_dtype dtype = c % 2 == 0 ? WEIR_F64 : WEIR_F32;
    const double tolerance = dtype == WEIR_F64 ? 1e-13 : 1e-5;
    double square[2] = {0};
    trial t;

    begin(&t, dtype, cases[c / 2].n, cases[c / 2].bandwidths);
    fill(&t, cases[c / 2].n, 0.4);
    assert_near(run(&t), cases[c / 2].expected, tolerance);
    for (int64_t i = 0; i < cases[c / 2].n * F; i++) {
      square[0] += pow(weir_dtype_load_real(dtype, t.by_source.data, i), 2);
      square[1] += pow(weir_dtype_load_real(dtype, t.by_target.data, i), 2);
      assert_near(weir_dtype_load_real(dtype, t.back.data, i),
                  weir_dtype_load_real(dtype, t.source.data, i), 0);
    }
    assert_near(square[0], cases[c / 2].gradient[0], tolerance);
    assert_near(square[1], cases[c / 2].gradient[1], tolerance);
    end(&t);
  }
}

/* Central differences, error of order step^2. */
static void gradients_are_those_of_finite_differences(void **state)
{
  const double step = 1e-5;
  trial t;

  begin(&t, WEIR_F64, N, 3);
  fill(&t, N, 0.4);
  for (int side = 0; side < 2; side++) {
    double *const x = (side == 0 ? &t.source : &t.target)->data;

    for (int64_t i = 0; i < COUNT; i++) {
      const double before = x[i];

      (void)run(&t);
      const double gradient = ((double *)(side == 0 ? &t.by_source : &t.by_target)->data)[i];

      x[i] = before + step;
      const double above = run(&t);

      x[i] = before - step;
      assert_near(gradient, (above - run(&t)) / (2 * step), 1e-9);
      x[i] = before;
    }
  }
  end(&t);
}

/* Sets far apart have no kernel across: the sum of their own. Points of one set have no discrepancy
 * on average: the estimate is unbiased. */
static void far_and_equal_sets(void **state)
{
  double sum = 0, square = 0;
  trial t;

  begin(&t, WEIR_F64, N, 3);
  fill(&t, N, 0);
  const double near = run(&t);

  fill(&t, N, 100);
  assert_true(run(&t) > near + 0.3);
  for (int k = 0; k < 2000; k++) {
    double x[2 * COUNT];
    uint32_t seed = (uint32_t)(77 * k + 1);

    congruential(&seed, 2 * COUNT, 1, x);
    for (int64_t i = 0; i < COUNT; i++) {
      ((double *)t.source.data)[i] = x[i];
      ((double *)t.target.data)[i] = x[COUNT + i];
    }
    const double value = run(&t);

    sum += value / 2000;
    square += value * value / 2000;
  }
  assert_near(sum, 0, 5 * sqrt(square / 2000));
  end(&t);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_are_those_of_numpy),
      cmocka_unit_test(gradients_are_those_of_finite_differences),
      cmocka_unit_test(far_and_equal_sets),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
