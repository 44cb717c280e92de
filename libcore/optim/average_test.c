/* average_test.c - the weighted mean by hand, its first step, its lag, refusals. */
#include "support/graph/store_check.h"
#include "optim/weir_average.h"

#include <math.h>
#include <string.h>

#include "base/weir_check.h"
#include "exec/weir_plan.h"
#include "ops/elementwise/weir_elementwise.h"

enum { N = 4, STEPS = 12 };

/* Runs STEPS updates p <- p + x_t (x_t an input) and averages; after[t][i]: parameters, mean[t][i]:
 * the average. */
static void follow(weir_dtype dtype, double decay, double x[STEPS][N], double after[STEPS][N],
                   double mean[STEPS][N])
{
  const weir_array_desc bank = {.dtype = dtype, .rank = 1, .shape = {N}};
  const weir_array_desc number = {.dtype = WEIR_I64};
  const weir_average_cfg cfg = {.decay = decay};
  const int64_t count = N;
  weir_tensor in, step;
  weir_exec_cfg exec;
  weir_store *store = NULL;
  weir_graph *g = NULL;
  weir_plan *p = NULL;

  assert_ok(weir_store_create(&store));
  assert_ok(weir_store_add(store, "param", dtype, 1, &count));
  assert_ok(weir_store_add(store, "mean", dtype, 1, &count));
  assert_ok(weir_graph_create(&g));
  const weir_value param = weir_stored(g, store, "param");

  weir_update(g, param, weir_add(g, param, weir_input(g, "x", &bank)));
  assert_ok(
      weir_average(g, &cfg, param, weir_stored(g, store, "mean"), weir_input(g, "step", &number)));
  weir_opts_default(weir_exec_opts, sizeof exec, &exec);
  exec.tier = WEIR_TIER_VECTOR;
  assert_ok(weir_plan_create(g, store, &(weir_plan_opts){.exec = &exec, .threads = 1}, &p));
  assert_ok(weir_tensor_init(&in, dtype, 1, &count));
  assert_ok(weir_tensor_init(&step, WEIR_I64, 0, NULL));
  for (int t = 0; t < STEPS; t++) {
    for (int i = 0; i < N; i++) {
      weir_dtype_store_real(dtype, in.data, i, x[t][i]);
    }
    *(int64_t *)step.data = t + 1;
    assert_ok(weir_plan_run(p, (weir_binding[]){{"x", &in}, {"step", &step}}, 2));
    for (int i = 0; i < N; i++) {
      after[t][i] = weir_dtype_load_real(dtype, check_stored(store, "param")->data, i);
      mean[t][i] = weir_dtype_load_real(dtype, check_stored(store, "mean")->data, i);
    }
  }
  weir_tensor_fini(&in);
  weir_tensor_fini(&step);
  weir_plan_destroy(&p);
  weir_graph_destroy(&g);
  weir_store_destroy(&store);
}

static void the_mean_is_that_of_its_weights(void **state)
{
  const weir_dtype dtypes[] = {WEIR_F64, WEIR_F32};
  const double decays[] = {0.5, 0.9, 0.999};
  double x[STEPS][N], after[STEPS][N], mean[STEPS][N];

  for (int t = 0; t < STEPS; t++) {
    for (int i = 0; i < N; i++) {
      x[t][i] = sin(3 * t + i);
    }
  }
  for (int k = 0; k < 6; k++) {
    const double decay = decays[k / 2];

    follow(dtypes[k % 2], decay, x, after, mean);
    for (int t = 0; t < STEPS; t++) {
      for (int i = 0; i < N; i++) {
        double sum = 0, weights = 0;

        for (int s = 0; s <= t; s++) {
          sum += pow(decay, t - s) * after[s][i];
          weights += pow(decay, t - s);
        }
        assert_near(mean[t][i], sum / weights, k % 2 ? 1e-6 : 1e-12);
      }
    }
  }
}

static void the_first_mean_is_the_parameters(void **state)
{
  double x[STEPS][N] = {{1, -2, 3e-5, 1e6}}, after[STEPS][N], mean[STEPS][N];

  follow(WEIR_F32, 0.999, x, after, mean);
  assert_memory_equal(mean[0], after[0], sizeof mean[0]);
  for (int i = 0; i < N; i++) { /* they rest, and so does the mean */
    assert_near(mean[STEPS - 1][i], after[0][i], 0);
  }
}

static void what_cannot_be_is_refused(void **state)
{
  const weir_array_desc bank = {.dtype = WEIR_F32, .rank = 1, .shape = {N}};
  const weir_array_desc number = {.dtype = WEIR_I64};
  const weir_average_cfg cfg = {.decay = 0.5}, off = {.decay = 0};
  const int64_t count = N;
  weir_store *store = NULL;
  weir_graph *g = NULL;

  assert_int_equal(weir_opts_incomplete(weir_average_opts), 0);
  assert_ok(weir_store_create(&store));
  assert_ok(weir_store_add(store, "param", WEIR_F32, 1, &count));
  assert_ok(weir_store_add(store, "mean", WEIR_F32, 1, &count));
  assert_ok(weir_graph_create(&g));
  const weir_value param = weir_stored(g, store, "param"), mean = weir_stored(g, store, "mean");
  const weir_value step = weir_input(g, "step", &number), x = weir_input(g, "x", &bank);

  assert_ok(weir_average(g, &off, param, mean, step));
  assert_int_equal(weir_average(g, &cfg, param, mean, step), WEIR_ERR_SHAPE);
  assert_non_null(strstr(weir_last_message(), "no rule updates the parameters"));
  weir_update(g, param, weir_add(g, param, x));
  assert_int_equal(weir_average(g, &cfg, param, mean, x), WEIR_ERR_SHAPE);
  assert_non_null(strstr(weir_last_message(), "the step must be a scalar"));
  assert_int_equal(weir_average(g, &cfg, param, x, step), WEIR_ERR_SHAPE);
  assert_non_null(strstr(weir_last_message(), "not a stored array"));
  weir_graph_destroy(&g);
  weir_store_destroy(&store);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_mean_is_that_of_its_weights),
      cmocka_unit_test(the_first_mean_is_the_parameters),
      cmocka_unit_test(what_cannot_be_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
