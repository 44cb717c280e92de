/* optim_test.c - clip, rule and average in one step, from their options; what is chosen when
 * nothing is. */
#include "support/graph/store_check.h"
#include "optim/weir_optim.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/weir_check.h"
#include "exec/weir_plan.h"
#include "ops/slice/weir_slice.h"

enum { N = 3 };

typedef struct subject {
  weir_config *config;
  weir_optim_cfg cfg;
  weir_store *store, *plans; /* plans: where the plan's arrays are */
  weir_plan *plan;
} subject;

/* The banks of the store as two arrays each, of one and two elements, whose names end in ".0",
 * ".1".
 */
static weir_store *halves(const weir_store *whole)
{
  static const int64_t count[] = {1, 2};
  weir_store *s;
  char name[64];

  assert_ok(weir_store_create(&s));
  for (int64_t i = 0; i < weir_store_count(whole); i++) {
    double *data = check_stored(whole, weir_store_name(whole, i))->data;

    for (int k = 0; k < 2; k++) {
      const weir_tensor half = weir_tensor_wrap(data + k, WEIR_F64, 1, &count[k]);

      (void)snprintf(name, sizeof name, "%s.%d", weir_store_name(whole, i), k);
      assert_ok(weir_store_add_view(s, name, &half));
    }
  }
  return s;
}

/* Adds the banks that the rule keeps, and that of the average where one is kept. */
static weir_status add_state(const weir_optim_cfg *cfg, weir_store *store, weir_dtype dtype,
                             int64_t count)
{
  const weir_rule_desc *rule = NULL;

  WEIR_TRY(weir_optim_rule(cfg, &rule));
  WEIR_TRY(weir_rule_add_state(rule, store, dtype, count));
  if (cfg->average.decay > 0) {
    WEIR_TRY(weir_store_add(store, WEIR_OPTIM_AVERAGE, dtype, 1, &count));
  }
  return WEIR_OK;
}

/* n_slices: 1, or 2 with their gradients side by side in one input. */
static void open_subject(subject *s, int n_slices, const char *const *sets, int n_sets)
{
  const weir_array_desc bank = {.dtype = WEIR_F64, .rank = 1, .shape = {N}};
  const weir_array_desc real = {.dtype = WEIR_F64}, number = {.dtype = WEIR_I64};
  const int64_t count = N;
  weir_value length = WEIR_NO_VALUE;
  weir_graph *g = NULL;
  weir_exec_cfg exec;

  *s = (subject){.config = NULL};
  assert_ok(
      weir_config_load(weir_optim_opts, sizeof s->cfg, NULL, 0, sets, n_sets, &s->cfg, &s->config));
  assert_ok(weir_store_create(&s->store));
  assert_ok(weir_store_add(s->store, "param", WEIR_F64, 1, &count));
  assert_ok(add_state(&s->cfg, s->store, WEIR_F64, N));
  assert_ok(weir_graph_create(&g));
  s->plans = n_slices == 1 ? s->store : halves(s->store);
  weir_rule_args a[2] = {{.lr = weir_input(g, "lr", &real),
                          .step = weir_input(g, "step", &number),
                          .grad = weir_input(g, "grad", &bank),
                          .decay = WEIR_NO_VALUE}};
  const weir_value grad = a[0].grad;

  a[1] = a[0];
  for (int k = 0; k < n_slices; k++) {
    const weir_slice_spec piece = {.start = k, .stop = k == 0 ? 1 : N};

    a[k].suffix = n_slices == 1 ? NULL : k == 0 ? ".0" : ".1";
    a[k].param = weir_stored(g, s->plans, n_slices == 1 ? "param" : k == 0 ? "param.0" : "param.1");
    a[k].grad = n_slices == 1 ? grad : weir_slice_at(g, grad, &piece, WEIR_WHERE);
  }
  assert_ok(weir_optim_build(g, &s->cfg, s->plans, a, n_slices, &length));
  weir_output(g, "length", length);
  weir_opts_default(weir_exec_opts, sizeof exec, &exec);
  exec.tier = WEIR_TIER_VECTOR;
  assert_ok(
      weir_plan_create(g, s->plans, &(weir_plan_opts){.exec = &exec, .threads = 1}, &s->plan));
  weir_graph_destroy(&g);
}

/* Step t of a run of `steps`; returns the norm of the gradient. */
static double step(subject *s, int64_t t, int64_t steps, double *grad)
{
  const int64_t count = N;
  double lr = weir_schedule_lr(&s->cfg.schedule, &(weir_schedule_run){steps, 1, 1}, t), length = 0;
  weir_tensor in = weir_tensor_wrap(grad, WEIR_F64, 1, &count);
  weir_tensor rate = weir_tensor_wrap(&lr, WEIR_F64, 0, NULL);
  weir_tensor number = weir_tensor_wrap(&t, WEIR_I64, 0, NULL);
  weir_tensor norm = weir_tensor_wrap(&length, WEIR_F64, 0, NULL);

  assert_ok(weir_plan_run(
      s->plan, (weir_binding[]){{"grad", &in}, {"lr", &rate}, {"step", &number}, {"length", &norm}},
      4));
  return length;
}

static const double *bank(const subject *s, const char *name)
{
  const weir_tensor *t = check_stored(s->store, name);

  return t->data;
}

static void close_subject(subject *s)
{
  weir_plan_destroy(&s->plan);
  if (s->plans != s->store) {
    weir_store_destroy(&s->plans);
  }
  weir_store_destroy(&s->store);
  weir_config_destroy(&s->config);
}

static void three_steps(int n_slices)
{
  const char *const sets[] = {
      "rule={momentum: {mu: 0.5}}", "clip.max_norm=6.5", "average.decay=0.75",
      "schedule.shape=polynomial",  "schedule.lr=0.5",   "rule.momentum.weight_decay=0.125"};
  double grad[3][N] = {{3, 4, 12}, {0.5, -1, 2}, {0, 0, -26}};
  double p[N] = {0}, m[N] = {0}, sum[N] = {0}, weights = 0;
  subject s;

  open_subject(&s, n_slices, sets, 6);
  for (int t = 1; t <= 3; t++) {
    const double *g = grad[t - 1];
    const double norm = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);

    assert_near(step(&s, t, 4, grad[t - 1]), norm, 1e-14);
    weights = 0.75 * weights + 1;
    for (int i = 0; i < N; i++) {
      m[i] = 0.5 * m[i] + g[i] * 6.5 / fmax(norm, 6.5) + 0.125 * p[i];
      p[i] -= 0.5 * (1 - t / 4.0) * m[i];
      sum[i] = 0.75 * sum[i] + p[i];
      assert_near(bank(&s, "optim.m")[i], m[i], 1e-14);
      assert_near(bank(&s, "param")[i], p[i], 1e-14);
      assert_near(bank(&s, WEIR_OPTIM_AVERAGE)[i], sum[i] / weights, 1e-14);
    }
  }
  close_subject(&s);
}

static void a_step_is_clipped_applied_and_averaged(void **state)
{
  three_steps(1);
}

/* One norm for all of them. */
static void parameters_may_lie_in_several_arrays(void **state)
{
  three_steps(2);
}

static void nothing_said_is_adam(void **state)
{
  double grad[N] = {5, -0.25, 1e3};
  const weir_rule_desc *rule = NULL;
  subject s;

  assert_int_equal(weir_opts_incomplete(weir_optim_opts), 0);
  open_subject(&s, 1, NULL, 0);
  assert_ok(weir_optim_rule(&s.cfg, &rule));
  assert_string_equal(rule->name, "adam");
  assert_null(weir_store_find(s.store, WEIR_OPTIM_AVERAGE));
  step(&s, 1, 10, grad);
  for (int i = 0; i < N; i++) { /* lr sign(g) */
    assert_near(bank(&s, "param")[i], -copysign(1e-3, grad[i]), 1e-9);
  }
  close_subject(&s);
}

static void an_unknown_rule_is_refused(void **state)
{
  const char *const sets[] = {"rule=newton"};
  const weir_optim_cfg wrong = {.rule = {.name = "newton"}};
  weir_config *config = NULL;
  weir_store *store = NULL;
  weir_optim_cfg cfg;

  assert_int_equal(weir_config_load(weir_optim_opts, sizeof cfg, NULL, 0, sets, 1, &cfg, &config),
                   WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "newton"));
  assert_ok(weir_store_create(&store));
  assert_int_equal(add_state(&wrong, store, WEIR_F32, N), WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "momentum"));
  assert_int_equal(weir_store_count(store), 0);
  weir_store_destroy(&store);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_step_is_clipped_applied_and_averaged),
      cmocka_unit_test(parameters_may_lie_in_several_arrays),
      cmocka_unit_test(nothing_said_is_adam),
      cmocka_unit_test(an_unknown_rule_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
