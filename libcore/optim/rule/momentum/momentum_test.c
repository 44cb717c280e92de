/* momentum_test.c - the formula by hand, the terminal velocity, refusals. */
#include "optim/rule/momentum/momentum_priv.h"

#include <math.h>

#include "exec/weir_plan.h"
#include "support/optim/rule_check.h"

enum { N = 4 };
static const double start[N] = {1, -2, 0.5, 3};
static const double slope[3][N] = {{0.5, -1, 2, 0}, {-3, 0.25, 1, 1}, {1, 1, -0.5, 2}};

static void follow_by_hand(bool nesterov, int keeps)
{
  const struct momentum_opts o = {
      .mu = 0.75, .weight_decay = 0.25, .nesterov = nesterov, .form = keeps};
  const double decay[N] = {1, 0, 1, 0};
  double p[N], m[N] = {0};
  rule_run r;

  rule_open(&r, &(rule_case){.rule = &weir_rule_momentum,
                             .opts = &o,
                             .dtype = WEIR_F64,
                             .count = N,
                             .param = start,
                             .decay = decay});
  memcpy(p, start, sizeof p);
  for (int s = 0; s < 3; s++) {
    const double lr = 0.1 * (s + 1);

    rule_step(&r, lr, slope[s]);
    for (int i = 0; i < N; i++) {
      const double u = slope[s][i] + o.weight_decay * decay[i] * p[i];

      if (keeps == MOMENTUM_PYTORCH) {
        m[i] = o.mu * m[i] + u;
        p[i] -= lr * (nesterov ? u + o.mu * m[i] : m[i]);
      } else { /* Keras: v = mu v - lr u; w += v, or mu v - lr u */
        m[i] = -(o.mu * -m[i] - lr * u);
        p[i] += nesterov ? -o.mu * m[i] - lr * u : -m[i];
      }
      assert_near(rule_param(&r, i), p[i], 1e-14);
      assert_near(rule_get(&r, "optim.m", i), m[i], 1e-14);
    }
  }
  rule_close(&r);
}

static void three_steps_match_hand_calculation(void **state)
{
  follow_by_hand(false, MOMENTUM_PYTORCH);
  follow_by_hand(false, MOMENTUM_KERAS);
}

static void nesterov_looks_one_share_ahead(void **state)
{
  follow_by_hand(true, MOMENTUM_PYTORCH);
  follow_by_hand(true, MOMENTUM_KERAS);
}

/* m -> g / (1 - mu) */
static void constant_gradient_reaches_terminal_velocity(void **state)
{
  const double one[N] = {1, 1, 1, 1};
  rule_run r;

  rule_open(&r, &(rule_case){.rule = &weir_rule_momentum, .dtype = WEIR_F32, .count = N});
  for (int s = 0; s < 400; s++) {
    rule_step(&r, 1e-3, one);
  }
  const double before = rule_param(&r, 0);
  rule_step(&r, 1e-3, one);
  assert_near(rule_get(&r, "optim.m", N - 1), 10, 1e-5);
  assert_near((before - rule_param(&r, 0)) / 1e-3, 10, 1e-2);
  rule_close(&r);
}

/* A learning rate of 0 stops gradients that have added up, and not the steps. */
static void the_rate_of_now_takes_gradients_and_not_steps(void **state)
{
  for (int keeps = MOMENTUM_PYTORCH; keeps <= MOMENTUM_KERAS; keeps++) {
    const struct momentum_opts o = {.mu = 0.5, .form = keeps};
    const double one[N] = {1, 1, 1, 1};
    rule_run r;

    rule_open(&r,
              &(rule_case){.rule = &weir_rule_momentum, .opts = &o, .dtype = WEIR_F64, .count = N});
    rule_step(&r, 0.25, one);
    rule_step(&r, 0, one);
    assert_near(rule_param(&r, 0), keeps == MOMENTUM_PYTORCH ? -0.25 : -0.375, 0);
    rule_close(&r);
  }
}

/* Without a gradient the velocity decays: the way left is lr m mu / (1 - mu). */
static void velocity_runs_out_without_gradient(void **state)
{
  const double kick[N] = {1, -1, 2, 0}, none[N] = {0};
  rule_run r;

  rule_open(&r, &(rule_case){.rule = &weir_rule_momentum, .dtype = WEIR_F64, .count = N});
  rule_step(&r, 0.1, kick);
  for (int s = 0; s < 500; s++) {
    rule_step(&r, 0.1, none);
  }
  for (int i = 0; i < N; i++) {
    assert_near(rule_param(&r, i), -0.1 * kick[i] / (1 - 0.9), 1e-12);
  }
  rule_close(&r);
}

static void options_out_of_range_are_refused_by_name(void **state)
{
  assert_option_refused(&weir_rule_momentum, "mu=1.5", "mu: 1.5 is outside [0, 0.9999]");
  assert_option_refused(&weir_rule_momentum, "weight_decay=-1",
                        "weight_decay: -1 is outside [0, 1]");
  assert_option_refused(&weir_rule_momentum, "nesterof=true", "nesterov");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(three_steps_match_hand_calculation),
      cmocka_unit_test(nesterov_looks_one_share_ahead),
      cmocka_unit_test(constant_gradient_reaches_terminal_velocity),
      cmocka_unit_test(the_rate_of_now_takes_gradients_and_not_steps),
      cmocka_unit_test(velocity_runs_out_without_gradient),
      cmocka_unit_test(options_out_of_range_are_refused_by_name),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
