/* adamw_test.c - the formula by hand, decay without gradient, adam where nothing decays, refusals.
 */
#include "optim/rule/adamw/adamw_priv.h"

#include <math.h>

#include "optim/rule/adam/adam_priv.h"
#include "exec/weir_plan.h"
#include "support/optim/rule_check.h"

enum { N = 5 };
static const double start[N] = {1, -2, 0.5, 3, -0.25};
static const double slope[3][N] = {
    {0.5, -1, 2, 0, 1}, {-3, 0.25, 1, 1, -1}, {1, 1, -0.5, 2, 0.125}};
static const double decay[N] = {1, 0, 1, 1, 0}, none[N] = {0};

static void follow_by_hand(weir_dtype dtype, double tolerance)
{
  const struct adamw_opts o = {.beta1 = 0.8, .beta2 = 0.95, .eps = 1e-3, .weight_decay = 0.125};
  double p[N], m[N] = {0}, v[N] = {0};
  rule_run r;

  rule_open(&r, &(rule_case){.rule = &weir_rule_adamw,
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
      const double g = slope[t - 1][i];

      m[i] = o.beta1 * m[i] + (1 - o.beta1) * g;
      v[i] = o.beta2 * v[i] + (1 - o.beta2) * g * g;
      const double mean = m[i] / (1 - pow(o.beta1, t)), square = v[i] / (1 - pow(o.beta2, t));

      p[i] -= lr * (mean / (sqrt(square) + o.eps) + o.weight_decay * decay[i] * p[i]);
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

/* p (1 - lr wd)^n, for those that decay. */
static void without_gradient_weights_decay_geometrically(void **state)
{
  rule_run r;

  rule_open(
      &r,
      &(rule_case){
          .rule = &weir_rule_adamw, .dtype = WEIR_F64, .count = N, .param = start, .decay = decay});
  for (int t = 0; t < 10; t++) {
    rule_step(&r, 0.5, none);
  }
  for (int i = 0; i < N; i++) {
    assert_near(rule_param(&r, i), start[i] * pow(1 - 0.5 * 0.01 * decay[i], 10), 1e-14);
  }
  rule_close(&r);
}

static void without_decay_it_is_adam(void **state)
{
  rule_run r, adam;
  const rule_case c = {.dtype = WEIR_F32, .count = N, .param = start, .decay = none};
  rule_case mine = c, other = c;

  mine.rule = &weir_rule_adamw;
  other.rule = &weir_rule_adam;
  rule_open(&r, &mine);
  rule_open(&adam, &other);
  for (int t = 0; t < 3; t++) {
    rule_step(&r, 0.1, slope[t]);
    rule_step(&adam, 0.1, slope[t]);
    for (int i = 0; i < N; i++) {
      assert_near(rule_param(&r, i), rule_param(&adam, i), 0);
    }
  }
  rule_close(&r);
  rule_close(&adam);
}

static void options_out_of_range_are_refused_by_name(void **state)
{
  assert_option_refused(&weir_rule_adamw, "beta1=1", "beta1: 1 is outside [0, 0.9999]");
  assert_option_refused(&weir_rule_adamw, "weight_decay=2", "weight_decay: 2 is outside [0, 1]");
  assert_option_refused(&weir_rule_adamw, "weight_decai=0.1", "weight_decay");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(three_steps_match_hand_calculation),
      cmocka_unit_test(without_gradient_weights_decay_geometrically),
      cmocka_unit_test(without_decay_it_is_adam),
      cmocka_unit_test(options_out_of_range_are_refused_by_name),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
