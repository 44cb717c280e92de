/* rule_check.h - a rule run step by step on given gradients. Tests only, which include
 * exec/weir_plan.h before it: a file of this floor may not. */
#ifndef WEIR_RULE_CHECK_H
#define WEIR_RULE_CHECK_H
#include <stdlib.h>
#include <string.h>
#include "support/graph/store_check.h"
#include "base/weir_check.h"
#include "optim/weir_rule.h"

enum { RULE_OPTS_MAX = 256 };

/* A test run; 0: the default. */
typedef struct rule_case {
  const weir_rule_desc *rule;
  const void *opts; /* NULL: the table's defaults */
  weir_dtype dtype;
  int64_t count;
  const double *param; /* [count] at the start, NULL: 0       */
  const double *decay; /* [count], NULL: every parameter      */
  const weir_segment *segments;
  int64_t n_segments;
  weir_tier tier; /* AUTO: the vector engine */
  int threads;    /* 1                       */
} rule_case;

typedef struct rule_run {
  rule_case c;
  weir_store *store;
  weir_plan *plan;
  weir_tensor grad, lr, step;
  int64_t steps; /* taken so far */
} rule_run;

/* A bank of the store as it stands: "param", "optim.m", ... */
static inline double rule_get(const rule_run *r, const char *name, int64_t i)
{
  const weir_tensor *t = check_stored(r->store, name);

  return weir_dtype_load_real(t->dtype, t->data, i);
}

static inline double rule_param(const rule_run *r, int64_t i)
{
  return rule_get(r, "param", i);
}

static inline weir_value rule_decay(weir_graph *g, const rule_case *c)
{
  if (c->decay == NULL) {
    return WEIR_NO_VALUE;
  }
  double *copy = malloc((size_t)c->count * sizeof *copy);

  assert_non_null(copy);
  memcpy(copy, c->decay, (size_t)c->count * sizeof *copy);
  const weir_tensor t = weir_tensor_wrap(copy, WEIR_F64, 1, &c->count);
  const weir_value v = weir_constant(g, &t);

  free(copy);
  return v;
}

/* The graph of one step on the store's banks, with inputs "grad", "lr" and "step" (i64). */
static inline weir_status rule_graph(const rule_case *c, const weir_store *store, weir_graph *g)
{
  const weir_array_desc bank = {.dtype = c->dtype, .rank = 1, .shape = {c->count}};
  const weir_array_desc rate = {.dtype = WEIR_F64}, number = {.dtype = WEIR_I64};
  weir_value state[WEIR_RULE_STATES];
  union {
    long double align;
    char bytes[RULE_OPTS_MAX];
  } opts;

  assert_true(c->rule->opts_size <= sizeof opts);
  weir_opts_default(c->rule->opts, c->rule->opts_size, &opts);
  weir_rule_get_state(c->rule, g, store, NULL, state);
  const weir_rule_args a = {
      .opts = c->opts ? c->opts : &opts,
      .lr = weir_input(g, "lr", &rate),
      .step = weir_input(g, "step", &number),
      .grad = weir_input(g, "grad", &bank),
      .param = weir_stored(g, store, "param"),
      .state = state,
      .decay = rule_decay(g, c),
      .segments = c->segments,
      .n_segments = c->n_segments,
  };

  return weir_rule_build(g, c->rule, &a);
}

/* The parameters in f64 are exact copies of c->param; in f32 they are rounded. */
static inline void rule_open(rule_run *r, const rule_case *c)
{
  weir_graph *g = NULL;
  weir_exec_cfg cfg;

  *r = (rule_run){.c = *c};
  assert_ok(weir_store_create(&r->store));
  assert_ok(weir_store_add(r->store, "param", c->dtype, 1, &c->count));
  assert_ok(weir_rule_add_state(c->rule, r->store, c->dtype, c->count));
  for (int64_t i = 0; i < c->count; i++) {
    weir_dtype_store_real(c->dtype, check_stored(r->store, "param")->data, i,
                          c->param ? c->param[i] : 0);
  }
  assert_ok(weir_graph_create(&g));
  assert_ok(rule_graph(c, r->store, g));
  assert_ok(weir_graph_validate(g));
  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.tier = c->tier != WEIR_TIER_AUTO ? (int)c->tier : WEIR_TIER_VECTOR;
  const weir_plan_opts opts = {.exec = &cfg, .threads = c->threads ? c->threads : 1};
  assert_ok(weir_plan_create(g, r->store, &opts, &r->plan));
  weir_graph_destroy(&g);
  assert_ok(weir_tensor_init(&r->grad, c->dtype, 1, &c->count));
  assert_ok(weir_tensor_init(&r->lr, WEIR_F64, 0, NULL));
  assert_ok(weir_tensor_init(&r->step, WEIR_I64, 0, NULL));
}

/* One step; grad: [count]. */
static inline void rule_step(rule_run *r, double lr, const double *grad)
{
  const weir_binding b[] = {{"grad", &r->grad}, {"lr", &r->lr}, {"step", &r->step}};

  for (int64_t i = 0; i < r->c.count; i++) {
    weir_dtype_store_real(r->c.dtype, r->grad.data, i, grad[i]);
  }
  *(double *)r->lr.data = lr;
  *(int64_t *)r->step.data = ++r->steps;
  assert_ok(weir_plan_run(r->plan, b, 3));
}

static inline void rule_close(rule_run *r)
{
  weir_tensor_fini(&r->grad);
  weir_tensor_fini(&r->lr);
  weir_tensor_fini(&r->step);
  weir_plan_destroy(&r->plan);
  weir_store_destroy(&r->store);
}

/* The option text is refused, and the message names the key and the value. */
static inline void assert_option_refused(const weir_rule_desc *rule, const char *set,
                                         const char *message)
{
  weir_config *config = NULL;
  char opts[RULE_OPTS_MAX];

  assert_int_equal(weir_config_load(rule->opts, rule->opts_size, NULL, 0, &set, 1, opts, &config),
                   WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), message));
}

static inline double rule_dot(const double *a, const double *b, int64_t n)
{
  double sum = 0;

  for (int64_t i = 0; i < n; i++) {
    sum += a[i] * b[i];
  }
  return sum;
}
#endif
