/* loss_test.c - values and gradients of losses: the formulas by hand, and no
 * NaN.
 */
#include "nn/weir_loss.h"

#include <math.h>
#include <string.h>

#include "exec/weir_plan.h"
#include "ops/elementwise/weir_elementwise.h"
#include "support/ops/ops_check.h"
#include "ops/reduce/weir_reduce.h"
#include "pass/autodiff/weir_gradients.h"

enum { MAX = 4 };

/* A loss of up to four inputs, and its gradient by those that are floats. */
typedef struct trial {
  weir_graph *g;
  int n;
  weir_value in[MAX], loss, grad[MAX];
  weir_tensor from[MAX], made[MAX], value;
  weir_plan *plan;
} trial;

static const char *const names[] = {"x0", "x1", "x2", "x3"};
static const char *const grads[] = {"g0", "g1", "g2", "g3"};

static void add_input(trial *t, weir_dtype dtype, int rank, const int64_t *shape, const double *x)
{
  weir_array_desc d = {.dtype = dtype, .rank = rank};
  const int k = t->n++;

  for (int i = 0; i < rank; i++) {
    d.shape[i] = shape[i];
  }
  t->in[k] = weir_input(t->g, names[k], &d);
  assert_ok(weir_tensor_init(&t->from[k], dtype, rank, shape));
  assert_ok(weir_tensor_init(&t->made[k], dtype, rank, shape));
  for (int64_t i = 0; i < weir_tensor_numel(&t->from[k]); i++) {
    weir_dtype_store_real(dtype, t->from[k].data, i, x[i]);
  }
}

/* [n] numbers. */
static void add(trial *t, weir_dtype dtype, int64_t n, const double *x)
{
  add_input(t, dtype, 1, &n, x);
}

static void start(trial *t)
{
  memset(t, 0, sizeof *t);
  t->g = new_graph();
}

/* Derives, runs, and gives the loss. */
static double run(trial *t)
{
  weir_value wrt[MAX], by[MAX];
  weir_binding b[2 * MAX + 1];
  weir_exec_cfg cfg;
  int n = 0, bound = 0;

  for (int k = 0; k < t->n; k++) {
    if (weir_dtype_is_real(t->from[k].dtype)) {
      wrt[n++] = t->in[k];
    }
  }
  assert_ok(weir_gradients(t->g, t->loss, wrt, n, by));
  weir_output(t->g, "loss", t->loss);
  n = 0;
  for (int k = 0; k < t->n; k++) {
    b[bound++] = (weir_binding){names[k], &t->from[k]};
    if (weir_dtype_is_real(t->from[k].dtype)) {
      weir_output(t->g, grads[k], weir_scale(t->g, by[n++], 1));
      b[bound++] = (weir_binding){grads[k], &t->made[k]};
    }
  }
  assert_ok(weir_tensor_init(&t->value, weir_value_desc(t->g, t->loss)->dtype, 0, NULL));
  b[bound++] = (weir_binding){"loss", &t->value};
  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.tier = WEIR_TIER_VECTOR;
  assert_ok(weir_plan_create(t->g, NULL, &(weir_plan_opts){.exec = &cfg, .threads = 1}, &t->plan));
  assert_ok(weir_plan_run(t->plan, b, bound));
  return weir_dtype_load_real(t->value.dtype, t->value.data, 0);
}

static double grad(const trial *t, int k, int64_t i)
{
  return weir_dtype_load_real(t->made[k].dtype, t->made[k].data, i);
}

static void end(trial *t)
{
  for (int k = 0; k < MAX; k++) {
    weir_tensor_fini(&t->from[k]);
    weir_tensor_fini(&t->made[k]);
  }
  weir_tensor_fini(&t->value);
  weir_plan_destroy(&t->plan);
  weir_graph_destroy(&t->g);
}

static void means_of_differences(void **state)
{
  const double p[] = {1, 2, -1, 4}, y[] = {0, 2.5, 1, 7};
  trial t;

  for (int absolute = 0; absolute < 2; absolute++) {
    start(&t);
    add(&t, WEIR_F64, 4, p);
    add(&t, WEIR_F64, 4, y);
    t.loss = absolute ? weir_loss_mae(t.g, t.in[0], t.in[1], WEIR_NO_VALUE)
                      : weir_loss_mse(t.g, t.in[0], t.in[1], WEIR_NO_VALUE);
    assert_near(run(&t), absolute ? 6.5 / 4 : (1 + 0.25 + 4 + 9) / 4, 1e-15);
    for (int i = 0; i < 4; i++) {
      const double d = p[i] - y[i], by = absolute ? (d < 0 ? -0.25 : 0.25) : d / 2;

      assert_near(grad(&t, 0, i), by, 1e-15);
      assert_near(grad(&t, 1, i), -by, 1e-15);
    }
    end(&t);
  }
}

/* Row 1 has weight 0, and its truth is missing; weights are repeated over columns. */
static void weights_leave_out_what_is_missing(void **state)
{
  const double p[] = {1, 2, 5, 6, -1, 4}, y[] = {0, 2.5, NAN, NAN, 1, 7}, w[] = {3, 0, 1};
  trial t;

  start(&t);
  add_input(&t, WEIR_F64, 2, (int64_t[]){3, 2}, p);
  add_input(&t, WEIR_F64, 2, (int64_t[]){3, 2}, y);
  add_input(&t, WEIR_F64, 2, (int64_t[]){3, 1}, w);
  t.loss = weir_loss_mse(t.g, t.in[0], t.in[1], t.in[2]);
  assert_near(run(&t), (3 * (1 + 0.25) + 4 + 9) / 8, 1e-15);
  assert_near(grad(&t, 0, 0), 2 * 3 * 1.0 / 8, 1e-15);
  assert_near(grad(&t, 0, 5), 2 * 1 * -3.0 / 8, 1e-15);
  assert_true(grad(&t, 0, 2) == 0 && grad(&t, 0, 3) == 0 && grad(&t, 1, 3) == 0);
  end(&t);
  start(&t);
  add(&t, WEIR_F32, 2, (double[]){1, 2});
  add(&t, WEIR_F32, 2, (double[]){NAN, NAN});
  add(&t, WEIR_F32, 1, (double[]){0});
  t.loss = weir_loss_mae(t.g, t.in[0], t.in[1], t.in[2]);
  assert_true(run(&t) == 0 && grad(&t, 0, 0) == 0 && grad(&t, 0, 1) == 0);
  end(&t);
}

/* docs/science and the literature: mu = 0, sigma = 1. */
static void crps_of_a_gaussian(void **state)
{
  static const double y[] = {0, 0.5, 1, 2, 5, 10},
                      value[] = {0.233694977255, 0.331403531255, 0.602441357628,
                                 1.452791821686, 4.435810523376, 9.435810416452};
  for (int i = 0; i < 6; i++) {
    for (int scaled = 0; scaled < 2; scaled++) {
      const double sigma = scaled ? 2.5 : 1, mean = scaled ? -3 : 0, z = y[i];
      const double bell = exp(-z * z / 2) / sqrt(2 * acos(-1));
      trial t;

      start(&t);
      add(&t, WEIR_F64, 1, &mean);
      add(&t, WEIR_F64, 1, &sigma);
      add(&t, WEIR_F64, 1, (double[]){mean + sigma * z});
      t.loss = weir_loss_crps(t.g, &(weir_sigma_spec){.form = WEIR_SPREAD_GIVEN}, t.in[0], t.in[1],
                              t.in[2], WEIR_NO_VALUE);
      assert_near(run(&t), sigma * value[i], 1e-11);
      assert_near(grad(&t, 0, 0), -erf(z / sqrt(2)), 1e-14);
      assert_near(grad(&t, 1, 0), 2 * bell - 1 / sqrt(acos(-1)), 1e-14);
      assert_near(grad(&t, 2, 0), erf(z / sqrt(2)), 1e-14);
      end(&t);
    }
  }
}

/* d2/dmu2 = 2 phi / sigma, d2/dsigma2 = 2 phi z^2 / sigma. */
static void crps_is_derived_twice(void **state)
{
  const double mean = 0.3, sigma = 0.7, y = 1.1, z = (y - mean) / sigma;
  const double bell = exp(-z * z / 2) / sqrt(2 * acos(-1));

  for (int by = 0; by < 2; by++) {
    weir_value first[2];
    trial t;

    start(&t);
    add(&t, WEIR_F64, 1, &mean);
    add(&t, WEIR_F64, 1, &sigma);
    add(&t, WEIR_F64, 1, &y);
    t.loss = weir_sum(t.g, weir_crps(t.g, t.in[0], t.in[1], t.in[2]), -1);
    assert_ok(weir_gradients(t.g, t.loss, t.in, 2, first));
    t.loss = weir_sum(t.g, first[by], -1);
    (void)run(&t);
    assert_near(grad(&t, by, 0), 2 * bell / sigma * (by == 0 ? 1 : z * z), 1e-12);
    assert_near(grad(&t, 1 - by, 0), 2 * bell * z / sigma, 1e-12);
    end(&t);
  }
}

/* Spread and distance of every size, zero included, in both precisions and all forms. */
static void nothing_is_no_number(void **state)
{
  static const double size[] = {0, 1e-37, 1e-20, 1e-6, 0.01, 1, 50, 1e4, 1e20, 1e30};
  enum { N = sizeof size / sizeof size[0] };
  double mean[2 * N * N], raw[2 * N * N], zero[2 * N * N] = {0};
  trial t;

  for (int i = 0; i < 2 * N * N; i++) {
    mean[i] = (i % 2 ? -1 : 1) * size[i / 2 % N];
    raw[i] = size[i / 2 / N];
  }
  for (int form = -2; form <= WEIR_SPREAD_GIVEN; form++) {
    for (int dtype = WEIR_F32; dtype <= WEIR_F64; dtype++) {
      start(&t);
      add(&t, (weir_dtype)dtype, 2 * N * N, mean);
      add(&t, (weir_dtype)dtype, 2 * N * N, raw);
      add(&t, (weir_dtype)dtype, 2 * N * N, zero);
      const weir_value r = form == -2 ? weir_neg(t.g, t.in[1]) : t.in[1];
      const weir_value s =
          form == -1 ? r : weir_sigma(t.g, &(weir_sigma_spec){.form = form < 0 ? 0 : form}, r);

      t.loss = weir_loss_mean(t.g, weir_crps(t.g, t.in[0], s, t.in[2]), WEIR_NO_VALUE);
      const double loss = run(&t);

      assert_true(isfinite(loss) && loss > 0);
      for (int i = 0; i < 2 * N * N; i++) {
        const double by_mean = grad(&t, 0, i) * 2 * N * N, by_raw = grad(&t, 1, i) * 2 * N * N;

        assert_true(isfinite(by_raw));
        assert_true(fabs(by_mean) <= 1.2 && fabs(grad(&t, 2, i) + grad(&t, 0, i)) < 1e-6);
        assert_true(mean[i] == 0 || by_mean * mean[i] >= 0);
      }
      end(&t);
    }
  }
}

static void binary_cross_entropy(void **state)
{
  static const double x[] = {-700, -2, 0, 0.5, 3, 700}, y[] = {0, 1, 0, 0.25, 1, 1};
  double wanted = 0;
  trial t;

  for (int dtype = WEIR_F32; dtype <= WEIR_F64; dtype++) {
    const double tolerance = dtype == WEIR_F64 ? 1e-15 : 1e-7;

    start(&t);
    add(&t, (weir_dtype)dtype, 6, x);
    add(&t, (weir_dtype)dtype, 6, y);
    t.loss = weir_loss_bce_logits(t.g, t.in[0], t.in[1], WEIR_NO_VALUE);
    const double got = run(&t);

    wanted = 0;
    for (int i = 0; i < 6; i++) {
      wanted += (fmax(x[i], 0) - x[i] * y[i] + log1p(exp(-fabs(x[i])))) / 6;
      assert_near(6 * grad(&t, 0, i), 1 / (1 + exp(-x[i])) - y[i], tolerance);
    }
    assert_near(got, wanted, tolerance);
    end(&t);
  }
}

/* -(1 - s) log p[class] - s / n sum log p, weighted; the second sample belongs to no class. */
static void categorical_cross_entropy(void **state)
{
  enum { N = 3, C = 4 };
  static const double x[N * C] = {1, 2, -1, 0, 5, 5, 5, 5, -1000, 0.5, 1000, 3};
  static const double y[N] = {1, -1, 2}, w[N] = {2, 0, 3};

  for (int smooth = 0; smooth < 2; smooth++) {
    const double s = smooth ? 0.1 : 0;
    double wanted = 0;
    trial t;

    start(&t);
    add_input(&t, WEIR_F64, 2, (int64_t[]){N, C}, x);
    add(&t, WEIR_I32, N, y);
    add(&t, WEIR_F64, N, w);
    t.loss = weir_loss_categorical(t.g, &(weir_categorical_spec){.smoothing = s}, t.in[0], t.in[1],
                                   t.in[2]);
    const double got = run(&t);

    for (int i = 0; i < N; i++) {
      double max = -INFINITY, all = 0;

      for (int c = 0; c < C; c++) {
        max = fmax(max, x[i * C + c]);
      }
      for (int c = 0; c < C; c++) {
        all += exp(x[i * C + c] - max);
      }
      for (int c = 0; c < C; c++) {
        const double truth = (1 - s) * (c == (int)y[i]) + s / C;
        const double p = exp(x[i * C + c] - max) / all;

        wanted -= w[i] / 5 * truth * (x[i * C + c] - max - log(all));
        assert_near(grad(&t, 0, i * C + c), w[i] / 5 * (p - truth), 1e-12);
      }
    }
    assert_near(got, wanted, 1e-12);
    end(&t);
  }
}

/* Truth in numbers and truth in probabilities say the same. */
static void classes_are_numbers_or_probabilities(void **state)
{
  static const double x[] = {0.5, -1, 2, 1, 1, 1}, number[] = {2, 0};
  static const double p[] = {0, 0, 1, 1, 0, 0};
  double loss[2];
  trial t;

  for (int k = 0; k < 2; k++) {
    start(&t);
    add_input(&t, WEIR_F32, 2, (int64_t[]){2, 3}, x);
    if (k == 0) {
      add(&t, WEIR_U8, 2, number);
    } else {
      add_input(&t, WEIR_F32, 2, (int64_t[]){2, 3}, p);
    }
    t.loss =
        weir_loss_categorical(t.g, &(weir_categorical_spec){0}, t.in[0], t.in[1], WEIR_NO_VALUE);
    loss[k] = run(&t);
    end(&t);
  }
  assert_near(loss[0], loss[1], 1e-7);
}

static void what_does_not_fit_is_refused(void **state)
{
  weir_graph *g = new_graph();
  weir_value x = GIVEN(g, "x", WEIR_F32, 4, 3), y = GIVEN(g, "y", WEIR_F32, 3);

  assert_refused(g, weir_loss_mse(g, x, y, WEIR_NO_VALUE), "floats of one dtype and shape");
  g = new_graph();
  x = GIVEN(g, "x", WEIR_F32, 4);
  y = GIVEN(g, "y", WEIR_F32, 2, 4);
  assert_refused(g, weir_loss_mae(g, x, x, y), "broadcast to it");
  g = new_graph();
  x = GIVEN(g, "x", WEIR_F32, 4, 0);
  assert_refused(g, weir_loss_mae(g, x, x, WEIR_NO_VALUE), "at least one element");
  g = new_graph();
  x = GIVEN(g, "x", WEIR_F32, 4, 3);
  y = GIVEN(g, "y", WEIR_I32, 3);
  assert_refused(g, weir_loss_categorical(g, &(weir_categorical_spec){0}, x, y, WEIR_NO_VALUE),
                 "loss_test.c:");
  g = new_graph();
  x = GIVEN(g, "x", WEIR_F32, 4, 3);
  y = GIVEN(g, "y", WEIR_C64, 4);
  assert_refused(g, weir_loss_categorical(g, &(weir_categorical_spec){0}, x, y, WEIR_NO_VALUE),
                 "targets as integers [..] or as probabilities");
  for (int k = 0; k < 4; k++) {
    static const weir_dtype dtypes[] = {WEIR_U8, WEIR_I8, WEIR_I16, WEIR_U8};
    static const int64_t classes[] = {257, 129, 32769, 256};

    g = new_graph();
    x = GIVEN(g, "x", WEIR_F32, 4, classes[k]);
    y = GIVEN(g, "y", dtypes[k], 4);
    const weir_value l = weir_loss_categorical(g, &(weir_categorical_spec){0}, x, y, WEIR_NO_VALUE);

    if (k < 3) {
      assert_refused(g, l, "dtype of the target cannot represent all classes");
    } else {
      assert_ok(weir_graph_status(g));
      weir_graph_destroy(&g);
    }
  }
  g = new_graph();
  x = GIVEN(g, "x", WEIR_F32, 4);
  assert_refused(g, weir_sigma(g, &(weir_sigma_spec){.form = 9}, x), "softplus, exp or given");
}

static void options_are_complete(void **state)
{
  assert_int_equal(weir_opts_incomplete(weir_sigma_opts), 0);
  assert_int_equal(weir_opts_incomplete(weir_categorical_opts), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(means_of_differences),
      cmocka_unit_test(weights_leave_out_what_is_missing),
      cmocka_unit_test(crps_of_a_gaussian),
      cmocka_unit_test(crps_is_derived_twice),
      cmocka_unit_test(nothing_is_no_number),
      cmocka_unit_test(binary_cross_entropy),
      cmocka_unit_test(categorical_cross_entropy),
      cmocka_unit_test(classes_are_numbers_or_probabilities),
      cmocka_unit_test(what_does_not_fit_is_refused),
      cmocka_unit_test(options_are_complete),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
