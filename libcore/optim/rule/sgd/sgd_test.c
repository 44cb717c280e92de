/* sgd_test.c - the formula by hand, the decay mask, a minimum in one step, refusals. */
#include "optim/rule/sgd/sgd_priv.h"

#include "exec/weir_plan.h"
#include "support/optim/rule_check.h"

enum { N = 5 };
static const double start[N] = {1, -2, 0.5, 3, -0.25};
static const double slope[3][N] = {
    {0.5, -1, 2, 0, 1}, {-3, 0.25, 1, 1, -1}, {1, 1, -0.5, 2, 0.125}};

static void three_steps_match_hand_calculation(void **state)
{
  const struct sgd_opts o = {.weight_decay = 0.125};
  const double decay[N] = {1, 0, 1, 0, 1};
  double p[N];
  rule_run r;

  rule_open(&r, &(rule_case){.rule = &weir_rule_sgd,
                             .opts = &o,
                             .dtype = WEIR_F64,
                             .count = N,
                             .param = start,
                             .decay = decay});
  memcpy(p, start, sizeof p);
  for (int s = 0; s < 3; s++) {
    const double lr = 0.1 / (s + 1);

    rule_step(&r, lr, slope[s]);
    for (int i = 0; i < N; i++) {
      p[i] -= lr * (slope[s][i] + o.weight_decay * decay[i] * p[i]);
      assert_near(rule_param(&r, i), p[i], 1e-14);
    }
  }
  rule_close(&r);
}

/* p^2 / 2 has the gradient p: a step of 1 ends at 0. */
static void a_parabola_ends_in_one_step(void **state)
{
  rule_run r;

  rule_open(&r,
            &(rule_case){.rule = &weir_rule_sgd, .dtype = WEIR_F32, .count = N, .param = start});
  rule_step(&r, 1, start);
  for (int i = 0; i < N; i++) {
    assert_near(rule_param(&r, i), 0, 0);
  }
  rule_close(&r);
}

static void without_gradient_only_decayed_parameters_move(void **state)
{
  const struct sgd_opts o = {.weight_decay = 0.5};
  const double decay[N] = {0, 1, 0, 1, 0}, none[N] = {0};
  rule_run r;

  rule_open(&r, &(rule_case){.rule = &weir_rule_sgd,
                             .opts = &o,
                             .dtype = WEIR_F32,
                             .count = N,
                             .param = start,
                             .decay = decay});
  rule_step(&r, 0.5, none);
  for (int i = 0; i < N; i++) {
    assert_near(rule_param(&r, i), decay[i] > 0 ? 0.75 * start[i] : start[i], 0);
  }
  rule_close(&r);
}

static void options_out_of_range_are_refused_by_name(void **state)
{
  assert_option_refused(&weir_rule_sgd, "weight_decay=1.5", "weight_decay: 1.5 is outside [0, 1]");
  assert_option_refused(&weir_rule_sgd, "mu=0.9", "mu");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(three_steps_match_hand_calculation),
      cmocka_unit_test(a_parabola_ends_in_one_step),
      cmocka_unit_test(without_gradient_only_decayed_parameters_move),
      cmocka_unit_test(options_out_of_range_are_refused_by_name),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
