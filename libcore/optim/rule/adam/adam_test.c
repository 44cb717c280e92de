/* adam_test.c - the formula by hand, the first step, the scale of the gradient, refusals. */
#include "optim/rule/adam/adam_priv.h"

#include <math.h>

#include "exec/weir_plan.h"
#include "support/optim/rule_check.h"

enum { N = 5 };
static const double start[N] = {1, -2, 0.5, 3, -0.25};
static const double slope[3][N] = {
    {0.5, -1, 2, 0, 1}, {-3, 0.25, 1, 1, -1}, {1, 1, -0.5, 2, 0.125}};
static const double decay[N] = {1, 0, 1, 1, 0};

static void follow_by_hand(weir_dtype dtype, double tolerance)
{
  const struct adam_opts o = {.beta1 = 0.8, .beta2 = 0.95, .eps = 1e-3, .weight_decay = 0.125};
  double p[N], m[N] = {0}, v[N] = {0};
  rule_run r;

  rule_open(&r, &(rule_case){.rule = &weir_rule_adam,
                             .opts = &o,
                             .dtype = dtype,
                             .count = N,
                             .param = start,
                             .decay = decay});
  memcpy(p, start, sizeof p);
  for (int t = 1; t <= 3; t++) {
    const double lr = 0.1 * t;

    rule_step(&r, lr, slope[t - 1]);
    for (int i = 0; i < N; i++) {
      const double u = slope[t - 1][i] + o.weight_decay * decay[i] * p[i];

      m[i] = o.beta1 * m[i] + (1 - o.beta1) * u;
      v[i] = o.beta2 * v[i] + (1 - o.beta2) * u * u;
      const double mean = m[i] / (1 - pow(o.beta1, t)), square = v[i] / (1 - pow(o.beta2, t));

      p[i] -= lr * mean / (sqrt(square) + o.eps);
      assert_near(rule_get(&r, "optim.m", i), m[i], tolerance);
      assert_near(rule_get(&r, "optim.v", i), v[i], tolerance);
      assert_near(rule_param(&r, i), p[i], tolerance);
    }
  }
  rule_close(&r);
}

static void three_steps_match_hand_calculation(void **state)
{
  follow_by_hand(WEIR_F64, 1e-13);
  follow_by_hand(WEIR_F32, 1e-6);
}

/* Without bias the first moments are g and g^2: lr sign(g), whatever its size. */
static void the_first_step_is_the_sign(void **state)
{
  const double grad[N] = {1e-3, -1, 100, -1e4, 7};
  rule_run r;

  rule_open(&r,
            &(rule_case){.rule = &weir_rule_adam, .dtype = WEIR_F32, .count = N, .param = start});
  rule_step(&r, 0.25, grad);
  for (int i = 0; i < N; i++) {
    assert_near(rule_param(&r, i), start[i] - copysign(0.25, grad[i]), 1e-5);
  }
  rule_close(&r);
}

/* Gradients ten times as large make the same steps. */
static void steps_do_not_depend_on_the_scale_of_the_loss(void **state)
{
  const struct adam_opts o = {.beta1 = 0.9, .beta2 = 0.999, .eps = 0};
  rule_run small, large;

  rule_open(&small,
            &(rule_case){.rule = &weir_rule_adam, .opts = &o, .dtype = WEIR_F64, .count = N});
  rule_open(&large,
            &(rule_case){.rule = &weir_rule_adam, .opts = &o, .dtype = WEIR_F64, .count = N});
  for (int t = 0; t < 40; t++) {
    double one[N], ten[N];

    for (int i = 0; i < N; i++) {
      one[i] = 0.01 + sin(t + i);
      ten[i] = 10 * one[i];
    }
    rule_step(&small, 0.01, one);
    rule_step(&large, 0.01, ten);
  }
  for (int i = 0; i < N; i++) {
    assert_true(fabs(rule_param(&small, i)) > 0.01);
    assert_near(rule_param(&large, i), rule_param(&small, i), 1e-12);
  }
  rule_close(&small);
  rule_close(&large);
}

/* The bias is gone from the first step on in f32 too, where 1 - 0.999 has lost four digits. */
static void constant_gradient_moves_evenly(void **state)
{
  const double one[N] = {1, 1, 1, 1, 1};
  rule_run r;

  rule_open(&r, &(rule_case){.rule = &weir_rule_adam, .dtype = WEIR_F32, .count = N});
  for (int t = 1; t <= 50; t++) {
    rule_step(&r, 0.5, one);
    assert_near(rule_param(&r, 0), -0.5 * t, 2e-6);
  }
  rule_close(&r);
}

/* From then on the first moment goes on alone, with the second one's bias as of that step. */
static void the_second_moment_stays_after_its_last_step(void **state)
{
  const struct adam_opts o = {.beta1 = 0.8, .beta2 = 0.95, .eps = 1e-3, .freeze_step = 2};
  double p[N], m[N] = {0}, v[N] = {0};
  rule_run r;

  rule_open(
      &r, &(rule_case){
              .rule = &weir_rule_adam, .opts = &o, .dtype = WEIR_F64, .count = N, .param = start});
  memcpy(p, start, sizeof p);
  for (int t = 1; t <= 5; t++) {
    rule_step(&r, 0.1, slope[(t - 1) % 3]);
    for (int i = 0; i < N; i++) {
      const double u = slope[(t - 1) % 3][i];

      m[i] = o.beta1 * m[i] + (1 - o.beta1) * u;
      v[i] = t <= 2 ? o.beta2 * v[i] + (1 - o.beta2) * u * u : v[i];
      p[i] -= 0.1 * m[i] / (1 - pow(o.beta1, t)) /
              (sqrt(v[i] / (1 - pow(o.beta2, t < 2 ? t : 2))) + o.eps);
      assert_near(rule_get(&r, "optim.m", i), m[i], 1e-13);
      assert_near(rule_get(&r, "optim.v", i), v[i], 1e-13);
      assert_near(rule_param(&r, i), p[i], 1e-13);
    }
  }
  rule_close(&r);
}

static void options_out_of_range_are_refused_by_name(void **state)
{
  assert_option_refused(&weir_rule_adam, "beta1=1", "beta1: 1 is outside [0, 0.9999]");
  assert_option_refused(&weir_rule_adam, "beta2=-0.5", "beta2: -0.5 is outside [0, 0.999999]");
  assert_option_refused(&weir_rule_adam, "eps=-1e-8", "eps: -1e-8 is outside [0, 1]");
  assert_option_refused(&weir_rule_adam, "beta3=0.5", "beta3");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(three_steps_match_hand_calculation),
      cmocka_unit_test(the_first_step_is_the_sign),
      cmocka_unit_test(steps_do_not_depend_on_the_scale_of_the_loss),
      cmocka_unit_test(constant_gradient_moves_evenly),
      cmocka_unit_test(the_second_moment_stays_after_its_last_step),
      cmocka_unit_test(options_out_of_range_are_refused_by_name),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
