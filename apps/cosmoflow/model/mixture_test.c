/* mixture_test.c - densities, means and gradients of mixtures against PyTorch and finite
 * differences. */
#include "model/mixture.h"
#include <math.h>
#include <string.h>
#include "exec/weir_plan.h"
#include "nn/weir_loss.h"
#include "ops/elementwise/weir_elementwise.h"
#include "pass/autodiff/weir_gradients.h"
#include "support/cosmoflow/congruential.h"
#include "support/ops/ops_check.h"

enum { N = 2, MAX_OUTPUTS = 64, MAX_LABELS = 4 };

/* The loss of N samples, with its gradient, the densities and the means. */
typedef struct trial {
  int64_t components, labels, outputs;
  weir_dtype dtype;
  weir_graph *g;
  weir_plan *plan;
  weir_tensor raw, truth, loss, gradient, density, mean;
} trial;

static void make_tensors(trial *t)
{
  assert_ok(weir_tensor_init(&t->raw, t->dtype, 2, (int64_t[]){N, t->outputs}));
  assert_ok(weir_tensor_init(&t->gradient, t->dtype, 2, (int64_t[]){N, t->outputs}));
  assert_ok(weir_tensor_init(&t->truth, t->dtype, 2, (int64_t[]){N, t->labels}));
  assert_ok(weir_tensor_init(&t->mean, t->dtype, 2, (int64_t[]){N, t->labels}));
  assert_ok(weir_tensor_init(&t->density, t->dtype, 3, (int64_t[]){N, 1, 1}));
  assert_ok(weir_tensor_init(&t->loss, t->dtype, 0, NULL));
}

static void begin(trial *t, int64_t components, int64_t labels, weir_dtype dtype)
{
  weir_exec_cfg cfg;
  weir_value by;

  *t = (trial){.components = components, .labels = labels, .dtype = dtype, .g = new_graph()};
  t->outputs = cf_mixture_outputs(components, labels);
  make_tensors(t);
  const weir_value raw = GIVEN(t->g, "raw", dtype, N, t->outputs);
  const weir_value truth = GIVEN(t->g, "truth", dtype, N, labels);
  const weir_value density = cf_mixture_log_density(t->g, components, raw, truth);
  const weir_value loss = weir_loss_mean(t->g, weir_neg(t->g, density), WEIR_NO_VALUE);

  assert_ok(weir_gradients(t->g, loss, &raw, 1, &by));
  weir_output(t->g, "density", density);
  weir_output(t->g, "mean", cf_mixture_mean(t->g, components, labels, raw));
  weir_output(t->g, "loss", loss);
  weir_output(t->g, "gradient", by);
  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.tier = WEIR_TIER_VECTOR;
  assert_ok(weir_plan_create(t->g, NULL, &(weir_plan_opts){.exec = &cfg, .threads = 1}, &t->plan));
}

static double run(trial *t)
{
  const weir_binding b[] = {{"raw", &t->raw},         {"truth", &t->truth},
                            {"loss", &t->loss},       {"gradient", &t->gradient},
                            {"density", &t->density}, {"mean", &t->mean}};

  assert_ok(weir_plan_run(t->plan, b, sizeof b / sizeof b[0]));
  return weir_dtype_load_real(t->dtype, t->loss.data, 0);
}

static void end(trial *t)
{
  weir_tensor *const all[] = {&t->raw, &t->truth, &t->loss, &t->gradient, &t->density, &t->mean};

  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    weir_tensor_fini(all[i]);
  }
  weir_plan_destroy(&t->plan);
  weir_graph_destroy(&t->g);
}

static double at(const weir_tensor *t, int64_t i)
{
  return weir_dtype_load_real(t->dtype, t->data, i);
}

/* The numbers of the reference; means without the constant that the outputs are added to. */
static void fill(trial *t)
{
  double raw[N * MAX_OUTPUTS], truth[N * MAX_LABELS];
  const int64_t first = t->components, n = t->components * t->labels;
  uint32_t state = 1;

  congruential(&state, N * t->outputs, 1.5, raw);
  congruential(&state, N * t->labels, 1, truth);
  for (int64_t i = 0; i < N * n; i++) {
    const int64_t k = i % n;

    raw[i / n * t->outputs + first + k] -=
        cf_mixture_centre(t->components, k / t->labels, k % t->labels);
  }
  for (int64_t i = 0; i < N * t->outputs; i++) {
    weir_dtype_store_real(t->dtype, t->raw.data, i, raw[i]);
  }
  for (int64_t i = 0; i < N * t->labels; i++) {
    weir_dtype_store_real(t->dtype, t->truth.data, i, truth[i]);
  }
}

/* PyTorch 2.15.0: tests/bench/cosmo_posterior.py. gradient: sum, sum of squares, last element. */
static const struct {
  int64_t components, labels;
  double density[N], mean[N * MAX_LABELS], gradient[3];
} reference[] = {
    {1,
     1,
     {-1.9125759738312142, -2.2445073494363657},
     {-0.97277609026059508, 1.3428837759420276},
     {-0.56404676969327783, 0.16462734298127002, -0.27243964140775473}},
    {1,
     4,
     {-10.839567105303924, -7.3771128432269588},
     {-0.97277609026059508, -0.5740454513579607, 0.10360166011378169, 1.3428837759420276,
      0.79704570863395929, 0.43941945070400834, 0.8014164324849844, 0.84071076242253184},
     {-6.478825207323788, 24.873200122076607, 0.71304525789594664}},
    {3,
     3,
     {-6.2502877107539252, -4.7371330397634557},
     {-0.14959804580228853, 0.19487666726256037, -0.61450230418963814, 0.39726829568251448,
      0.078213497625889708, -0.22302321137381564},
     {-1.9655773073430345, 4.9038338622980433, -0.0031438963087606457}},
};
enum { CASES = sizeof reference / sizeof reference[0] };

static void densities_are_those_of_pytorch(void **state)
{
  for (int c = 0; c < 2 * CASES; c++) {
    const weir_dtype dtype = c % 2 == 0 ? WEIR_F64 : WEIR_F32;
    const double tolerance = dtype == WEIR_F64 ? 1e-12 : 1e-5;
    double sum = 0, square = 0;
    trial t;

    begin(&t, reference[c / 2].components, reference[c / 2].labels, dtype);
    fill(&t);
    const double loss = run(&t);

    assert_near(loss, -0.5 * (reference[c / 2].density[0] + reference[c / 2].density[1]),
                tolerance);
    for (int i = 0; i < N; i++) {
      assert_near(at(&t.density, i), reference[c / 2].density[i], tolerance);
    }
    for (int64_t i = 0; i < N * t.labels; i++) {
      assert_near(at(&t.mean, i), reference[c / 2].mean[i], tolerance);
    }
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

/* Central differences, error of order step^2. */
static void the_gradient_is_that_of_finite_differences(void **state)
{
  const double step = 1e-5;
  trial t;

  begin(&t, 3, 3, WEIR_F64);
  fill(&t);
  double *const raw = t.raw.data;

  for (int64_t i = 0; i < N * t.outputs; i++) {
    const double x = raw[i];

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

/* The numbers of predictions.nc have the density of the graph. */
static void decoded_mixtures_are_the_same(void **state)
{
  enum { K = 3, D = 3 };
  double weight[K], mean[K * D], factor[K * D * D], sum = 0;
  float raw[MAX_OUTPUTS];
  trial t;

  begin(&t, K, D, WEIR_F64);
  fill(&t);
  (void)run(&t);
  for (int64_t i = 0; i < t.outputs; i++) {
    raw[i] = (float)at(&t.raw, i);
  }
  cf_mixture_decode(K, D, raw, weight, mean, factor);
  for (int64_t d = 0; d < D; d++) {
    double all = 0;

    for (int64_t k = 0; k < K; k++) {
      all += weight[k] * mean[k * D + d];
      for (int64_t j = d + 1; j < D; j++) {
        assert_true(factor[(k * D + d) * D + j] == 0);
      }
    }
    assert_near(all, reference[2].mean[d], 1e-6);
  }
  for (int64_t k = 0; k < K; k++) { /* ln N by the factor: forward substitution */
    double z[D], log_n = -0.5 * D * log(2 * acos(-1));

    for (int64_t i = 0; i < D; i++) {
      double left = at(&t.truth, i) - mean[k * D + i];

      for (int64_t j = 0; j < i; j++) {
        left -= factor[(k * D + i) * D + j] * z[j];
      }
      z[i] = left / factor[(k * D + i) * D + i];
      log_n -= 0.5 * z[i] * z[i] + log(factor[(k * D + i) * D + i]);
    }
    sum += weight[k] * exp(log_n);
  }
  assert_near(log(sum), reference[2].density[0], 1e-6);
  end(&t);
}

/* Outputs far from those of any training: finite loss and gradient. */
static void extreme_outputs_have_finite_losses(void **state)
{
  trial t;

  begin(&t, 3, 2, WEIR_F32);
  for (int64_t i = 0; i < N * t.outputs; i++) {
    ((float *)t.raw.data)[i] = i % 3 == 0 ? 80.0F : i % 3 == 1 ? -80.0F : 0.0F;
  }
  assert_true(isfinite(run(&t)));
  for (int64_t i = 0; i < N * t.outputs; i++) {
    assert_true(isfinite(at(&t.gradient, i)));
  }
  end(&t);
}

static void other_numbers_of_outputs_are_refused(void **state)
{
  weir_graph *const g = new_graph();

  assert_refused(g,
                 cf_mixture_log_density(g, 2, GIVEN(g, "raw", WEIR_F32, 4, 11),
                                        GIVEN(g, "truth", WEIR_F32, 4, 2)),
                 "2 components of 2 labels have 12 outputs");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(densities_are_those_of_pytorch),
      cmocka_unit_test(the_gradient_is_that_of_finite_differences),
      cmocka_unit_test(decoded_mixtures_are_the_same),
      cmocka_unit_test(extreme_outputs_have_finite_losses),
      cmocka_unit_test(other_numbers_of_outputs_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
