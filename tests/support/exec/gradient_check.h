/* gradient_check.h - for tests: a network declared once and built again in f64 and run; its
 * gradients against central differences. */
#ifndef GRADIENT_CHECK_H
#define GRADIENT_CHECK_H
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/graph/store_check.h"
#include "base/weir_check.h"
#include "base/weir_random.h"
#include "exec/weir_plan.h"
#include "nn/weir_net.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/reduce/weir_reduce.h"
#include "pass/autodiff/weir_gradients.h"

enum { CHECK_PARAMS = 40, CHECK_PROBES = 8 };

/* Appends what is checked; x is its one input. */
typedef weir_value (*check_build)(weir_net *net, weir_value x, const void *spec);

typedef struct check_net {
  check_build build;
  const void *spec;
  uint64_t seed; /* of parameters, x and weights of the loss */
  bool train;
  weir_array_desc in;
  weir_params *params;
  weir_store *store;
  weir_graph *graph;
  weir_plan *plan;
  bool has_seed, has_step;
  int64_t key[2];            /* bound to seed and step */
  int n;                     /* rows that the graph uses */
  int64_t row[CHECK_PARAMS]; /* their numbers            */
  weir_tensor x, y, w, loss, dx, dp[CHECK_PARAMS];
} check_net;

/* That what is built over an input `d` is refused, with `text` and, unless NULL, the caller's
 * `location` in the message. Returns the status. */
static inline weir_status check_refused(check_build build, const void *spec,
                                        const weir_array_desc *d, const char *text,
                                        const char *location)
{
  weir_params *p;
  weir_graph *g;
  weir_net net;

  assert_ok(weir_params_create(WEIR_F32, &p));
  assert_ok(weir_graph_create(&g));
  weir_net_init(&net, g, p, true);
  assert_int_equal(build(&net, weir_input(g, "x", d), spec).node, -1);
  const weir_status status = weir_graph_status(g);

  if (strstr(weir_last_message(), text) == NULL ||
      (location != NULL && strstr(weir_last_message(), location) == NULL)) {
    fail_msg("\"%s\" does not say \"%s\" and where", weir_last_message(), text);
  }
  weir_net_fini(&net);
  weir_graph_destroy(&g);
  weir_params_destroy(&p);
  return status;
}

/* As an array of the element type. */
static inline double *check_data(const weir_tensor *t)
{
  return t->data;
}

static inline void check_fill(weir_tensor *t, uint64_t seed, uint32_t purpose, double lo, double hi)
{
  for (int64_t i = 0; i < weir_tensor_numel(t); i++) {
    check_data(t)[i] = lo + (hi - lo) * weir_random_uniform(seed, purpose, 0, (uint64_t)i);
  }
}

/* Elements of a parameter in the store, by its scoped name. */
static inline double *check_param(const check_net *c, const char *name)
{
  const int64_t i = weir_params_find(c->params, name);

  assert_true(i >= 0);
  return check_data(check_stored(c->store, WEIR_PARAMS_FLAT)) +
         weir_params_get(c->params, i)->first;
}

static inline void check_declare(check_net *c)
{
  weir_graph *g;
  weir_net net;

  assert_ok(weir_params_create(WEIR_F64, &c->params));
  assert_ok(weir_graph_create(&g));
  weir_net_init(&net, g, c->params, c->train);
  (void)c->build(&net, weir_input(g, "x", &c->in), c->spec);
  assert_ok(weir_graph_status(g));
  assert_string_equal(net.scope, "");
  weir_net_fini(&net);
  weir_graph_destroy(&g);
  assert_ok(weir_store_create(&c->store));
  assert_ok(weir_params_seal(c->params, c->store));
  assert_ok(weir_params_init(c->params, c->store, c->seed));
}

/* y, its weighted sum, and the derivatives of that by x and every parameter. */
static inline void check_append(check_net *c)
{
  weir_value wrt[CHECK_PARAMS + 1], grad[CHECK_PARAMS + 1];
  weir_graph *g = c->graph;
  weir_net net;
  char name[16];

  weir_net_init(&net, g, c->params, c->train);
  wrt[0] = weir_input(g, "x", &c->in);
  const weir_value y = c->build(&net, wrt[0], c->spec);

  assert_ok(weir_graph_status(g));
  const weir_array_desc d = *weir_value_desc(g, y);
  const weir_value w = weir_input(g, "w", &d);
  const weir_value loss = weir_sum(g, weir_mul(g, y, w), -1);

  c->n = 0;
  for (int64_t i = 0; i < weir_params_count(c->params); i++) {
    if (weir_net_param_value(&net, i).node >= 0) {
      assert_true(c->n < CHECK_PARAMS);
      c->row[c->n] = i;
      wrt[++c->n] = weir_net_param_value(&net, i);
    }
  }
  assert_ok(weir_gradients(g, loss, wrt, c->n + 1, grad));
  for (int k = 0; k <= c->n; k++) {
    snprintf(name, sizeof name, "g%d", k);
    weir_output(g, name, weir_scale(g, grad[k], 1)); /* a copy: some are one array */
  }
  weir_output(g, "y", weir_scale(g, y, 1));
  weir_output(g, "loss", loss);
  c->has_seed = net.seed.node >= 0;
  c->has_step = net.step.node >= 0;
  weir_net_fini(&net);
  assert_ok(weir_tensor_init(&c->y, d.dtype, d.rank, d.shape));
  assert_ok(weir_tensor_init(&c->w, d.dtype, d.rank, d.shape));
}

/* Everything that `build` needs; the plan checks each of its passes. Parameters are redrawn from
 * [-1, 1], x from [-2, 2]. */
static inline void check_open(check_net *c)
{
  weir_exec_cfg cfg;

  c->in.dtype = WEIR_F64;
  check_declare(c);
  assert_ok(weir_graph_create(&c->graph));
  check_append(c);
  assert_ok(weir_graph_status(c->graph));
  assert_ok(weir_graph_validate(c->graph));
  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.tier = WEIR_TIER_VECTOR;
  cfg.verify = 1;
  assert_ok(weir_plan_create(c->graph, c->store, &(weir_plan_opts){.exec = &cfg, .threads = 1},
                             &c->plan));
  assert_ok(weir_tensor_init(&c->x, WEIR_F64, c->in.rank, c->in.shape));
  assert_ok(weir_tensor_init(&c->dx, WEIR_F64, c->in.rank, c->in.shape));
  assert_ok(weir_tensor_init(&c->loss, WEIR_F64, 0, NULL));
  for (int k = 0; k < c->n; k++) {
    const weir_param_row *row = weir_params_get(c->params, c->row[k]);

    assert_ok(weir_tensor_init(&c->dp[k], WEIR_F64, row->rank, row->shape));
  }
  check_fill(&c->x, c->seed, 1, -2, 2);
  check_fill(&c->w, c->seed, 2, -1, 1);
  check_fill(check_stored(c->store, WEIR_PARAMS_FLAT), c->seed, 3, -1, 1);
}

static inline void check_run(check_net *c)
{
  char names[CHECK_PARAMS][16];
  weir_tensor seed = weir_tensor_wrap(&c->key[0], WEIR_I64, 0, NULL);
  weir_tensor step = weir_tensor_wrap(&c->key[1], WEIR_I64, 0, NULL);
  weir_binding b[CHECK_PARAMS + 8] = {
      {"x", &c->x}, {"w", &c->w}, {"y", &c->y}, {"loss", &c->loss}, {"g0", &c->dx}};
  int n = 5;

  for (int k = 0; k < c->n; k++) {
    snprintf(names[k], sizeof names[k], "g%d", k + 1);
    b[n++] = (weir_binding){names[k], &c->dp[k]};
  }
  if (c->has_seed) {
    b[n++] = (weir_binding){"seed", &seed};
  }
  if (c->has_step) {
    b[n++] = (weir_binding){"step", &step};
  }
  assert_ok(weir_plan_run(c->plan, b, n));
}

static inline double check_loss_at(check_net *c, double *at, double value)
{
  const double kept = *at;

  *at = value;
  check_run(c);
  *at = kept;
  return check_data(&c->loss)[0];
}

/* Elements drawn of `t`, whose derivatives are `d`: central differences of two steps, extrapolated.
 */
static inline void check_probe(check_net *c, const char *name, double *t, const weir_tensor *d)
{
  const uint64_t n = (uint64_t)weir_tensor_numel(d);

  for (uint64_t i = 0; i < CHECK_PROBES && i < n; i++) {
    const uint64_t at =
        n <= CHECK_PROBES ? i : weir_random_bits(c->seed, 70 + (uint32_t)i, 0, n) % n;
    const double h = 1e-4, x = t[at];
    const double wide =
        (check_loss_at(c, t + at, x + 2 * h) - check_loss_at(c, t + at, x - 2 * h)) / (4 * h);
    const double close =
        (check_loss_at(c, t + at, x + h) - check_loss_at(c, t + at, x - h)) / (2 * h);
    const double wanted = close + (close - wide) / 3;

    check_run(c);
    const double got = check_data(d)[at];

    if (!(fabs(got - wanted) <= 2e-7 * (1 + fabs(wanted)))) {
      print_error("seed %llu: d/d%s[%llu] is %.12g, differences give %.12g\n",
                  (unsigned long long)c->seed, name, (unsigned long long)at, got, wanted);
      assert_true(0);
    }
  }
}

/* By x and by every parameter. */
static inline void check_gradients(check_net *c)
{
  check_run(c);
  check_probe(c, "x", check_data(&c->x), &c->dx);
  for (int k = 0; k < c->n; k++) {
    const weir_param_row *row = weir_params_get(c->params, c->row[k]);

    check_probe(c, row->name, check_param(c, row->name), &c->dp[k]);
  }
}

static inline void check_close(check_net *c)
{
  weir_tensor *const all[] = {&c->x, &c->y, &c->w, &c->loss, &c->dx};

  for (int k = 0; k < 5; k++) {
    weir_tensor_fini(all[k]);
  }
  for (int k = 0; k < c->n; k++) {
    weir_tensor_fini(&c->dp[k]);
  }
  weir_plan_destroy(&c->plan);
  weir_graph_destroy(&c->graph);
  weir_store_destroy(&c->store);
  weir_params_destroy(&c->params);
}
#endif
