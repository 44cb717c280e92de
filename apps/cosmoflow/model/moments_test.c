/* moments_test.c - loss and gradient of moments against PyTorch and finite differences, and moments
 * that minimise it. */
#include "model/moments.h"
#include <math.h>
#include <string.h>
#include "exec/weir_plan.h"
#include "nn/weir_loss.h"
#include "pass/autodiff/weir_gradients.h"
#include "support/cosmoflow/congruential.h"
#include "support/ops/ops_check.h"

enum { N = 4, MAX_OUTPUTS = 9, MAX_LABELS = 3 };

/* The loss of n samples and its gradient. */
typedef struct trial {
  int64_t n, labels, outputs;
  weir_dtype dtype;
  weir_graph *g;
  weir_plan *plan;
  weir_tensor raw, truth, loss, gradient;
} trial;

static void begin(trial *t, int64_t n, int64_t labels, weir_dtype dtype)
{
  weir_exec_cfg cfg;
  weir_value by;

  *t = (trial){.n = n, .labels = labels, .dtype = dtype, .g = new_graph()};
  t->outputs = cf_moments_outputs(labels);
  assert_ok(weir_tensor_init(&t->raw, dtype, 2, (int64_t[]){n, t->outputs}));
  assert_ok(weir_tensor_init(&t->gradient, dtype, 2, (int64_t[]){n, t->outputs}));
  assert_ok(weir_tensor_init(&t->truth, dtype, 2, (int64_t[]){n, labels}));
  assert_ok(weir_tensor_init(&t->loss, dtype, 0, NULL));
  const weir_value raw = GIVEN(t->g, "raw", dtype, n, t->outputs);
  const weir_value of = cf_moments_loss(t->g, raw, GIVEN(t->g, "truth", dtype, n, labels));
  const weir_value loss = weir_loss_mean(t->g, of, WEIR_NO_VALUE);

  assert_ok(weir_gradients(t->g, loss, &raw, 1, &by));
  weir_output(t->g, "loss", loss);
  weir_output(t->g, "gradient", by);
  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.tier = WEIR_TIER_VECTOR;
  assert_ok(weir_plan_create(t->g, NULL, &(weir_plan_opts){.exec = &cfg, .threads = 1}, &t->plan));
}

static double run(trial *t)
{
  const weir_binding b[] = {
      {"raw", &t->raw}, {"truth", &t->truth}, {"loss", &t->loss}, {"gradient", &t->gradient}};

  assert_ok(weir_plan_run(t->plan, b, sizeof b / sizeof b[0]));
  return weir_dtype_load_real(t->dtype, t->loss.data, 0);
}

static void end(trial *t)
{
  weir_tensor_fini(&t->raw);
  weir_tensor_fini(&t->truth);
  weir_tensor_fini(&t->loss);
  weir_tensor_fini(&t->gradient);
  weir_plan_destroy(&t->plan);
  weir_graph_destroy(&t->g);
}

static double at(const weir_tensor *t, int64_t i)
{
  return weir_dtype_load_real(t->dtype, t->data, i);
}

static void fill(trial *t)
{
  double raw[N * MAX_OUTPUTS], truth[N * MAX_LABELS];
  uint32_t state = 1;

  congruential(&state, N * t->outputs, 1.5, raw);
  congruential(&state, N * t->labels, 1, truth);
  for (int64_t i = 0; i < N * t->outputs; i++) {
    weir_dtype_store_real(t->dtype, t->raw.data, i, raw[i]);
  }
  for (int64_t i = 0; i < N * t->labels; i++) {
    weir_dtype_store_real(t->dtype, t->truth.data, i, truth[i]);
  }
}

/* PyTorch 2.15.0: tests/bench/cosmo_posterior.py. gradient: sum, sum of squares, last element;
 * covariance: of the last sample. The means that the covariances are fitted to are rounded to
 * 2^-24. */
static const struct {
  int64_t labels;
  double loss, gradient[3], covariance[MAX_LABELS * MAX_LABELS];
} reference[] = {
    {1,
     53.653762101470569,
     {2.6327152096611486, 28.969389793434953, -0.55340080742059061},
     {0.13309831269701705}},
    {3,
     25.691056248883054,
     {30.595947105378094, 179.8181246623252, 1.5065951592155358},
     {2.3618857473189934, 0.80463100771142393, 1.1913586838540893, 0.80463100771142393,
      2.219497273519047, 0.74853130643705479, 1.1913586838540893, 0.74853130643705479,
      2.5853822806382407}},
};
enum { CASES = sizeof reference / sizeof reference[0] };

static void losses_are_those_of_pytorch(void **state)
{
  for (int c = 0; c < 2 * CASES; c++) {
    const weir_dtype dtype = c % 2 == 0 ? WEIR_F64 : WEIR_F32;
    const double tolerance = dtype == WEIR_F64 ? 1e-5 : 2e-4;
    double sum = 0, square = 0;
    trial t;

    begin(&t, N, reference[c / 2].labels, dtype);
    fill(&t);
    assert_near(run(&t), reference[c / 2].loss, tolerance);
    for (int64_t i = 0; i < N * t.outputs; i++) {
      sum += at(&t.gradient, i);
      square += at(&t.gradient, i) * at(&t.gradient, i);
    }
    assert_near(sum, reference[c / 2].gradient[0], tolerance);
    assert_near(square, reference[c / 2].gradient[1], tolerance);
    assert_near(at(&t.gradient, N * t.outputs - 1), reference[c / 2].gradient[2], tolerance);
    end(&t);
  }
}

/* Central differences by what the covariance is made of; means do not feel the second term. */
static void the_gradient_is_that_of_finite_differences(void **state)
{
  const double step = 1e-5;
  trial t;

  begin(&t, N, 3, WEIR_F64);
  fill(&t);
  double *const raw = t.raw.data, *const truth = t.truth.data;

  for (int64_t i = 0; i < N * t.outputs; i++) {
    const double x = raw[i];

    if (i % t.outputs < t.labels) { /* of 3 e^2 / labels */
      const double e = truth[i / t.outputs * t.labels + i % t.outputs] - x;

      (void)run(&t);
      assert_near(at(&t.gradient, i), -2 * 3 * e / (double)(N * t.labels), 1e-10);
      continue;
    }
    (void)run(&t);
    const double gradient = at(&t.gradient, i);

    raw[i] = x + step;
    const double above = run(&t);

    raw[i] = x - step;
    assert_near(gradient, (above - run(&t)) / (2 * step), 1e-8);
    raw[i] = x;
  }
  end(&t);
}

static void decoded_factors_have_the_covariance(void **state)
{
  double mean[MAX_LABELS], factor[MAX_LABELS * MAX_LABELS];
  float raw[MAX_OUTPUTS];
  trial t;

  begin(&t, N, 3, WEIR_F64);
  fill(&t);
  for (int64_t i = 0; i < t.outputs; i++) {
    raw[i] = (float)at(&t.raw, (N - 1) * t.outputs + i);
  }
  cf_moments_decode(3, raw, mean, factor);
  for (int a = 0; a < 3; a++) {
    assert_near(mean[a], (double)raw[a], 0);
    assert_true(factor[a * 3 + a] > 0);
    for (int b = 0; b < 3; b++) {
      double sum = 0;

      for (int k = 0; k < 3; k++) {
        sum += factor[a * 3 + k] * factor[b * 3 + k];
      }
      assert_near(sum, reference[1].covariance[a * 3 + b], 1e-6);
    }
  }
  end(&t);
}

/* Labels of a skew distribution and one output for all samples: the gradient is 0 at their mean and
 * variance. With the derivative of the second term, it would not be. */
static void moments_of_a_skew_distribution_have_no_gradient(void **state)
{
  enum { DRAWS = 64 };
  double mean = 0, variance = 0, sum[2] = {0};
  trial t;

  begin(&t, DRAWS, 1, WEIR_F64);
  double *const raw = t.raw.data, *const truth = t.truth.data;

  for (int i = 0; i < DRAWS; i++) {
    truth[i] = -0.2 * log((i + 0.5) / DRAWS);
    mean += truth[i] / DRAWS;
  }
  for (int i = 0; i < DRAWS; i++) {
    variance += (truth[i] - mean) * (truth[i] - mean) / DRAWS;
  }
  for (int i = 0; i < DRAWS; i++) {
    raw[2 * i] = mean;
    raw[2 * i + 1] = log(expm1(sqrt(variance) - 1e-4));
  }
  (void)run(&t);
  for (int i = 0; i < 2 * DRAWS; i++) {
    sum[i % 2] += at(&t.gradient, i);
  }
  assert_near(sum[0], 0, 1e-12);
  assert_near(sum[1], 0, 1e-5);
  end(&t);
}

/* Outputs of 0 and far from those of any training: finite loss and gradient. */
static void extreme_outputs_have_finite_losses(void **state)
{
  trial t;

  begin(&t, N, 2, WEIR_F32);
  for (int round = 0; round < 2; round++) {
    for (int64_t i = 0; i < N * t.outputs; i++) {
      ((float *)t.raw.data)[i] = round == 0 ? 0 : i % 3 == 0 ? 80.0F : i % 3 == 1 ? -80.0F : 0.0F;
    }
    assert_true(isfinite(run(&t)));
    for (int64_t i = 0; i < N * t.outputs; i++) {
      assert_true(isfinite(at(&t.gradient, i)));
    }
  }
  end(&t);
}

static void other_numbers_of_outputs_are_refused(void **state)
{
  weir_graph *const g = new_graph();

  assert_refused(
      g, cf_moments_loss(g, GIVEN(g, "raw", WEIR_F32, 4, 4), GIVEN(g, "truth", WEIR_F32, 4, 2)),
      "2 labels have 5 outputs");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(losses_are_those_of_pytorch),
      cmocka_unit_test(the_gradient_is_that_of_finite_differences),
      cmocka_unit_test(decoded_factors_have_the_covariance),
      cmocka_unit_test(moments_of_a_skew_distribution_have_no_gradient),
      cmocka_unit_test(extreme_outputs_have_finite_losses),
      cmocka_unit_test(other_numbers_of_outputs_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
