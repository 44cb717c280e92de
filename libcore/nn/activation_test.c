/* activation_test.c - values and derivatives against libm, far out and at 0; choices by name. */
#include "nn/weir_activation.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/weir_check.h"
#include "exec/weir_plan.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/reduce/weir_reduce.h"
#include "pass/autodiff/weir_gradients.h"

static double sigmoid(double x)
{
  return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x));
}

/* The function by its formula, and its derivative. */
static void formula(const weir_activation *a, double x, double *y, double *dy)
{
  const double pi = 3.14159265358979323846, leak = a->slope == 0 ? 0.01 : a->slope;
  const double alpha = a->slope == 0 ? 1 : a->slope;

  switch (a->kind) {
  case WEIR_ACTIVATION_RELU:
    *y = x > 0 ? x : 0;
    *dy = x > 0;
    break;
  case WEIR_ACTIVATION_LEAKY_RELU:
    *y = x > 0 ? x : leak * x;
    *dy = x > 0 ? 1 : leak;
    break;
  case WEIR_ACTIVATION_ELU:
    *y = x > 0 ? x : alpha * expm1(x);
    *dy = x > 0 ? 1 : alpha * exp(x);
    break;
  case WEIR_ACTIVATION_GELU:
    *y = 0.5 * x * (1 + erf(x / sqrt(2)));
    *dy = 0.5 * (1 + erf(x / sqrt(2))) + x * exp(-x * x / 2) / sqrt(2 * pi);
    break;
  case WEIR_ACTIVATION_SILU:
    *y = x * sigmoid(x);
    *dy = sigmoid(x) + x * sigmoid(x) * sigmoid(-x);
    break;
  case WEIR_ACTIVATION_TANH:
    *y = tanh(x);
    *dy = 1 - tanh(x) * tanh(x);
    break;
  case WEIR_ACTIVATION_SIGMOID:
    *y = sigmoid(x);
    *dy = sigmoid(x) * sigmoid(-x);
    break;
  case WEIR_ACTIVATION_SOFTPLUS:
    *y = x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
    *dy = sigmoid(x);
    break;
  default:
    *y = x;
    *dy = 1;
  }
}

enum { N = 27 };

/* 0 on both sides, near it, and where exp would overflow. */
static const double points[N] = {-1e4, -800,  -90,   -40,  -20, -10,  -5,   -2,  -1,
                                 -0.5, -1e-3, -1e-9, -0.0, 0,   1e-9, 1e-3, 0.5, 1,
                                 2,    5,     10,    20,   40,  90,   800,  1e4, 0.25};

/* y and dy of all points, in `dtype`. */
static void compute(const weir_activation *a, weir_dtype dtype, double *y, double *dy)
{
  const weir_array_desc d = {.dtype = dtype, .rank = 1, .shape = {N}};
  weir_tensor t[3];
  weir_exec_cfg cfg;
  weir_plan *p = NULL;
  weir_graph *g = NULL;
  weir_value grad;

  assert_ok(weir_graph_create(&g));
  const weir_value x = weir_input(g, "x", &d), v = weir_activate(g, a, x);

  assert_ok(weir_gradients(g, weir_sum(g, v, -1), &x, 1, &grad));
  weir_output(g, "y", weir_scale(g, v, 1));
  weir_output(g, "dy", weir_scale(g, grad, 1));
  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.tier = WEIR_TIER_VECTOR;
  assert_ok(weir_plan_create(g, NULL, &(weir_plan_opts){.exec = &cfg}, &p));
  for (int k = 0; k < 3; k++) {
    assert_ok(weir_tensor_init(&t[k], dtype, 1, d.shape));
  }
  for (int i = 0; i < N; i++) {
    weir_dtype_store_real(dtype, t[0].data, i, points[i]);
  }
  assert_ok(weir_plan_run(p, (weir_binding[]){{"x", &t[0]}, {"y", &t[1]}, {"dy", &t[2]}}, 3));
  for (int i = 0; i < N; i++) {
    y[i] = weir_dtype_load_real(dtype, t[1].data, i);
    dy[i] = weir_dtype_load_real(dtype, t[2].data, i);
  }
  for (int k = 0; k < 3; k++) {
    weir_tensor_fini(&t[k]);
  }
  weir_plan_destroy(&p);
  weir_graph_destroy(&g);
}

static void check(const weir_activation *a, weir_dtype dtype, double eps)
{
  double y[N], dy[N];

  compute(a, dtype, y, dy);
  for (int i = 0; i < N; i++) {
    double wanted, slope;

    formula(a, points[i], &wanted, &slope);
    if (!(fabs(y[i] - wanted) <= 8 * eps * fmax(1, fabs(wanted)) &&
          fabs(dy[i] - slope) <= 16 * eps)) {
      print_error("activation %d of %g: %.17g and %.17g, not %.17g and %.17g\n", (int)a->kind,
                  points[i], y[i], dy[i], wanted, slope);
      assert_true(0);
    }
  }
}

static void values_and_derivatives_follow_the_formulas(void **state)
{
  for (int k = 0; k < WEIR_ACTIVATION_KINDS; k++) {
    for (int slope = 0; slope < 2; slope++) {
      const weir_activation a = {(weir_activation_kind)k, slope * 0.3};

      check(&a, WEIR_F64, DBL_EPSILON);
      check(&a, WEIR_F32, FLT_EPSILON);
    }
  }
}

/* Below 0 elu is exact to its own size, sigmoid far out as well. */
static void small_results_keep_their_digits(void **state)
{
  double y[N], dy[N];

  compute(&(weir_activation){WEIR_ACTIVATION_ELU, 0}, WEIR_F32, y, dy);
  assert_true(fabs(y[10] / expm1(-1e-3) - 1) < 4 * FLT_EPSILON);
  assert_true(fabs(y[11] / expm1(-1e-9) - 1) < 4 * FLT_EPSILON);
  compute(&(weir_activation){WEIR_ACTIVATION_SIGMOID, 0}, WEIR_F32, y, dy);
  assert_true(fabs(y[3] / exp(-40) - 1) < 8 * FLT_EPSILON);
  assert_true(fabs(dy[3] / exp(-40) - 1) < 8 * FLT_EPSILON);
}

struct cfg {
  weir_one_of act;
};
static const weir_opt rows[] = {
    WEIR_OPT_ONE_OF(struct cfg, act, weir_activation_list, "activation after a layer"),
    WEIR_OPT_END,
};

static weir_activation chosen(const char *set)
{
  weir_config *config = NULL;
  struct cfg c;

  assert_ok(weir_config_load(rows, sizeof c, NULL, 0, &set, 1, &c, &config));
  const weir_activation a = weir_activation_of(&c.act);

  weir_config_destroy(&config);
  return a;
}

static void names_choose(void **state)
{
  const char *const names[] = {"identity", "relu", "leaky_relu", "elu",     "gelu",
                               "silu",     "tanh", "sigmoid",    "softplus"};
  char set[40], all[200] = "";
  weir_opt_choice entry;

  for (int k = 0; k < WEIR_ACTIVATION_KINDS; k++) {
    snprintf(set, sizeof set, "act=%s", names[k]);
    assert_int_equal(chosen(set).kind, k);
    snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", k > 0 ? "|" : "", names[k]);
  }
  assert_string_equal(all, WEIR_ACTIVATION_CHOICES);
  assert_false(weir_activation_list(WEIR_ACTIVATION_KINDS, &entry));
  assert_near(chosen("act={leaky_relu: {slope: 0.25}}").slope, 0.25, 0);
  assert_near(chosen("act={elu: {slope: 2}}").slope, 2, 0);
  assert_int_equal(weir_activation_of(&(weir_one_of){NULL, NULL}).kind, WEIR_ACTIVATION_IDENTITY);
  assert_int_equal(weir_opts_incomplete(rows), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_and_derivatives_follow_the_formulas),
      cmocka_unit_test(small_results_keep_their_digits),
      cmocka_unit_test(names_choose),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
