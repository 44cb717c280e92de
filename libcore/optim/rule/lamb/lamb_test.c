/* lamb_test.c - the formula by hand, the trust ratio, the range of norms, refusals. */
#include "optim/rule/lamb/lamb_priv.h"

#include <math.h>

#include "exec/weir_plan.h"
#include "support/optim/rule_check.h"

enum { N = 7, LAYERS = 3 };
static const weir_segment layers[LAYERS] = {{0, 3}, {3, 2}, {6, 1}}; /* 5 is in none */
static const double start[N] = {1, -2, 0.5, 3, -0.25, 1.5, 0.75};
static const double slope[3][N] = {
    {0.5, -1, 2, 0, 1, 0.5, -1}, {-3, 0.25, 1, 1, -1, 2, 0.5}, {1, 1, -0.5, 2, 0.125, -1, 1}};
static const double decay[N] = {1, 1, 1, 0, 0, 1, 1};

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

/* Moments of step t (from 1), and what the layers would move by. */
static void direction(const struct lamb_opts *o, int t, const double *p, double *m, double *v,
                      double *u)
{
  for (int i = 0; i < N; i++) {
    const double g = slope[t - 1][i];

    m[i] = o->beta1 * m[i] + (1 - o->beta1) * g;
    v[i] = o->beta2 * v[i] + (1 - o->beta2) * g * g;
    u[i] = m[i] / (1 - pow(o->beta1, t)) / (sqrt(v[i] / (1 - pow(o->beta2, t))) + o->eps) +
           o->weight_decay * decay[i] * p[i];
  }
}

static void follow_by_hand(weir_dtype dtype, const struct lamb_opts *o, double tolerance)
{
  double p[N], m[N] = {0}, v[N] = {0}, u[N];
  rule_run r;

  rule_open(&r, &(rule_case){.rule = &weir_rule_lamb,
                             .opts = o,
                             .dtype = dtype,
                             .count = N,
                             .param = start,
                             .decay = decay,
                             .segments = layers,
                             .n_segments = LAYERS});
  memcpy(p, start, sizeof p);
  for (int t = 1; t <= 3; t++) {
    const double lr = 0.1 * t;
    double ratio[LAYERS + 1] = {1, 1, 1, 1};

    direction(o, t, p, m, v, u);
    for (int k = 0; k < LAYERS; k++) {
      const double w = fmax(norm_of(p, k), o->min_norm);

      if (o->adapt || decay[layers[k].first] > 0) {
        ratio[k] = (o->max_norm > 0 ? fmin(w, o->max_norm) : w) / norm_of(u, k);
      }
    }
    rule_step(&r, lr, slope[t - 1]);
    for (int i = 0; i < N; i++) {
      p[i] -= lr * ratio[layer_of(i)] * u[i];
      assert_near(rule_get(&r, "optim.m", i), m[i], tolerance);
      assert_near(rule_get(&r, "optim.v", i), v[i], tolerance);
      assert_near(rule_param(&r, i), p[i], tolerance);
    }
  }
  rule_close(&r);
}

static void three_steps_match_hand_calculation(void **state)
{
  struct lamb_opts o = {.beta1 = 0.8, .beta2 = 0.95, .eps = 1e-3, .weight_decay = 0.125};

  for (o.adapt = 0; o.adapt < 2; o.adapt++) {
    follow_by_hand(WEIR_F64, &o, 1e-13);
    follow_by_hand(WEIR_F32, &o, 2e-6);
  }
}

/* The layers' norms are about 2.3, 3 and 0.75: some below the range, some above. */
static void norms_are_cut_to_their_range(void **state)
{
  const struct lamb_opts o = {.beta1 = 0.8,
                              .beta2 = 0.95,
                              .eps = 1e-3,
                              .weight_decay = 0.125,
                              .min_norm = 1.5,
                              .max_norm = 2.5,
                              .adapt = 1};

  follow_by_hand(WEIR_F64, &o, 1e-13);
}

/* |step| = lr |p| for each layer, whatever the gradient, at every step. */
static void a_step_is_as_long_as_its_weights(void **state)
{
  double before[N], step[N];
  rule_run r;

  rule_open(&r, &(rule_case){.rule = &weir_rule_lamb,
                             .dtype = WEIR_F64,
                             .count = N,
                             .param = start,
                             .segments = layers,
                             .n_segments = LAYERS});
  memcpy(before, start, sizeof before);
  for (int t = 0; t < 3; t++) {
    rule_step(&r, 0.03, slope[t]);
    for (int i = 0; i < N; i++) {
      step[i] = rule_param(&r, i) - before[i];
    }
    for (int k = 0; k < LAYERS; k++) {
      assert_near(norm_of(step, k) / norm_of(before, k), 0.03, 1e-13);
    }
    for (int i = 0; i < N; i++) {
      before[i] = rule_param(&r, i);
    }
  }
  rule_close(&r);
}

/* Without segments the bank is one layer. */
static void one_layer_is_the_whole_bank(void **state)
{
  double step[N];
  rule_run r;

  rule_open(&r,
            &(rule_case){.rule = &weir_rule_lamb, .dtype = WEIR_F64, .count = N, .param = start});
  rule_step(&r, 0.03, slope[0]);
  for (int i = 0; i < N; i++) {
    step[i] = rule_param(&r, i) - start[i];
  }
  assert_near(sqrt(rule_dot(step, step, N) / rule_dot(start, start, N)), 0.03, 1e-13);
  rule_close(&r);
}

static void options_out_of_range_are_refused_by_name(void **state)
{
  assert_option_refused(&weir_rule_lamb, "max_norm=-1", "max_norm: -1 is outside");
  assert_option_refused(&weir_rule_lamb, "adapt=none", "decayed");
  assert_option_refused(&weir_rule_lamb, "beta2=1", "beta2: 1 is outside [0, 0.999999]");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(three_steps_match_hand_calculation),
      cmocka_unit_test(norms_are_cut_to_their_range),
      cmocka_unit_test(a_step_is_as_long_as_its_weights),
      cmocka_unit_test(one_layer_is_the_whole_bank),
      cmocka_unit_test(options_out_of_range_are_refused_by_name),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
