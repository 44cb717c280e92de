/* lars_test.c - the formula by hand, the length of a layer's step, layers that are not adapted. */
#include "optim/rule/lars/lars_priv.h"

#include <math.h>

#include "exec/weir_plan.h"
#include "support/optim/rule_check.h"

enum { N = 7, LAYERS = 3 };
static const weir_segment layers[LAYERS] = {{0, 3}, {3, 2}, {6, 1}}; /* 5 is in none */
static const double start[N] = {1, -2, 0.5, 3, -0.25, 1.5, 0.75};
static const double slope[3][N] = {
    {0.5, -1, 2, 0, 1, 0.5, -1}, {-3, 0.25, 1, 1, -1, 2, 0.5}, {1, 1, -0.5, 2, 0.125, -1, 1}};
static const double decay[N] = {1, 1, 1, 0, 0, 1, 1};

/* Layer of parameter i, LAYERS: none. */
static int layer_of(int i)
{
  for (int k = 0; k < LAYERS; k++) {
    if (i >= layers[k].first && i < layers[k].first + layers[k].count) {
      return k;
    }
  }
  return LAYERS;
}

static double norm_of(const double *x, int layer)
{
  const weir_segment s = layers[layer];

  return sqrt(rule_dot(x + s.first, x + s.first, s.count));
}

static void follow_by_hand(weir_dtype dtype, int adapt, double tolerance)
{
  const struct lars_opts o = {
      .mu = 0.75, .trust = 0.5, .eps = 0.125, .weight_decay = 0.25, .adapt = adapt};
  double p[N], m[N] = {0};
  rule_run r;

  rule_open(&r, &(rule_case){.rule = &weir_rule_lars,
                             .opts = &o,
                             .dtype = dtype,
                             .count = N,
                             .param = start,
                             .decay = decay,
                             .segments = layers,
                             .n_segments = LAYERS});
  memcpy(p, start, sizeof p);
  for (int t = 0; t < 3; t++) {
    const double lr = 0.1 * (t + 1);
    double ratio[LAYERS + 1] = {1, 1, 1, 1};

    for (int k = 0; k < LAYERS; k++) {
      const double w = norm_of(p, k), g = norm_of(slope[t], k), share = decay[layers[k].first];

      if (adapt || share > 0) {
        ratio[k] = o.trust * w / (g + o.weight_decay * share * w + o.eps);
      }
    }
    rule_step(&r, lr, slope[t]);
    for (int i = 0; i < N; i++) {
      const double u = slope[t][i] + o.weight_decay * decay[i] * p[i];

      m[i] = o.mu * m[i] + lr * ratio[layer_of(i)] * u;
      p[i] -= m[i];
      assert_near(rule_get(&r, "optim.m", i), m[i], tolerance);
      assert_near(rule_param(&r, i), p[i], tolerance);
    }
  }
  rule_close(&r);
}

static void three_steps_match_hand_calculation(void **state)
{
  for (int adapt = 0; adapt < 2; adapt++) {
    follow_by_hand(WEIR_F64, adapt, 1e-13);
    follow_by_hand(WEIR_F32, adapt, 1e-6);
  }
}

/* Without decay the first step of a layer is lr trust |p| long, whatever its gradient. */
static void a_step_is_as_long_as_its_weights_tell(void **state)
{
  const struct lars_opts o = {.mu = 0.9, .trust = 0.01};

  for (int t = 0; t < 3; t++) {
    double step[N];
    rule_run r;

    rule_open(&r, &(rule_case){.rule = &weir_rule_lars,
                               .opts = &o,
                               .dtype = WEIR_F64,
                               .count = N,
                               .param = start,
                               .segments = layers,
                               .n_segments = LAYERS});
    rule_step(&r, 2, slope[t]);
    for (int i = 0; i < N; i++) {
      step[i] = rule_param(&r, i) - start[i];
    }
    for (int k = 0; k < LAYERS; k++) {
      assert_near(norm_of(step, k) / norm_of(start, k), 0.02, 1e-13);
    }
    rule_close(&r);
  }
}

/* A layer of zeros would never leave them: its ratio is 1. */
static void a_layer_of_zeros_moves(void **state)
{
  const struct lars_opts o = {.mu = 0.9, .trust = 0.01};
  rule_run r;

  rule_open(&r, &(rule_case){.rule = &weir_rule_lars,
                             .opts = &o,
                             .dtype = WEIR_F32,
                             .count = N,
                             .segments = layers,
                             .n_segments = LAYERS});
  rule_step(&r, 0.5, slope[0]);
  for (int i = 0; i < N; i++) {
    assert_near(rule_param(&r, i), -0.5 * slope[0][i], 0);
  }
  rule_close(&r);
}

static void options_out_of_range_are_refused_by_name(void **state)
{
  assert_option_refused(&weir_rule_lars, "trust=0", "trust: 0 is outside");
  assert_option_refused(&weir_rule_lars, "adapt=none", "decayed");
  assert_option_refused(&weir_rule_lars, "mu=1", "mu: 1 is outside [0, 0.9999]");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(three_steps_match_hand_calculation),
      cmocka_unit_test(a_step_is_as_long_as_its_weights_tell),
      cmocka_unit_test(a_layer_of_zeros_moves),
      cmocka_unit_test(options_out_of_range_are_refused_by_name),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
