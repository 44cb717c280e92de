/* problem.c - graphs of one number, their plans, central differences. */
#include "problem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/weir_check.h"
#include "base/weir_random.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/reduce/weir_reduce.h"
#include "pass/autodiff/weir_gradients.h"

/* Names outlive the graph's builders only: the graph copies them. */
static const char *name_of(char prefix, int k, char *text, size_t size)
{
  snprintf(text, size, "%c%d", prefix, k);
  return text;
}

void problem_init(problem *p, uint64_t seed)
{
  *p = (problem){.seed = seed, .loss = WEIR_NO_VALUE};
  assert_ok(weir_graph_create(&p->g));
}

void problem_fini(problem *p)
{
  for (int k = 0; k < PROBLEM_INPUTS; k++) {
    weir_tensor_fini(&p->from[k]);
    weir_tensor_fini(&p->made[k]);
  }
  weir_tensor_fini(&p->value);
  weir_plan_destroy(&p->plan);
  weir_graph_destroy(&p->g);
}

static void fill(const problem *p, weir_tensor *t, double lo, double hi, int number)
{
  for (int64_t i = 0; i < weir_tensor_numel(t); i++) {
    const double u = weir_random_uniform(p->seed, 10 + (uint32_t)number, 0, (uint64_t)i);
    const double x = lo + (hi - lo) * u;

    if (weir_dtype_is_complex(t->dtype)) {
      const double v = weir_random_uniform(p->seed, 10 + (uint32_t)number, 1, (uint64_t)i);

      weir_dtype_store_complex(t->dtype, t->data, i, (weir_c128){x, lo + (hi - lo) * v});
    } else if (weir_dtype_is_real(t->dtype)) {
      weir_dtype_store_real(t->dtype, t->data, i, (double)(float)x);
    } else {
      weir_dtype_store_int(t->dtype, t->data, i, (int64_t)floor(x + 0.5));
    }
  }
}

int problem_input(problem *p, const weir_array_desc *d, double lo, double hi, bool constant)
{
  const int k = p->n++;
  char text[16];

  assert_true(p->n <= PROBLEM_INPUTS);
  assert_ok(weir_tensor_init(&p->from[k], d->dtype, d->rank, d->shape));
  fill(p, &p->from[k], lo, hi, k);
  p->constant[k] = constant;
  p->in[k] = constant ? weir_constant(p->g, &p->from[k])
                      : weir_input(p->g, name_of('x', k, text, sizeof text), d);
  return k;
}

int problem_weigh(problem *p, weir_value v)
{
  const weir_array_desc *d = weir_value_desc(p->g, v);

  if (d == NULL) {
    p->loss = WEIR_NO_VALUE;
    return -1;
  }
  const int k = problem_input(p, d, -1, 1, false);
  const weir_value sum = weir_sum(p->g, weir_mul(p->g, v, p->in[k]), -1);

  p->loss = p->loss.node < 0 ? sum : weir_add(p->g, p->loss, sum);
  return k;
}

weir_status problem_derive(problem *p)
{
  weir_value wrt[PROBLEM_INPUTS], grad[PROBLEM_INPUTS];
  int n = 0;

  for (int k = 0; k < p->n; k++) {
    if (p->moves[k]) {
      wrt[n++] = p->in[k];
    }
  }
  const weir_status status = weir_gradients(p->g, p->loss, wrt, n, grad);

  n = 0;
  for (int k = 0; k < p->n; k++) {
    p->grad[k] = p->moves[k] ? grad[n++] : WEIR_NO_VALUE;
  }
  return status;
}

void problem_turn(problem *p)
{
  const int n = p->n;

  p->loss = WEIR_NO_VALUE;
  for (int k = 0; k < n; k++) {
    if (p->moves[k]) {
      (void)problem_weigh(p, p->grad[k]);
    }
  }
}

void problem_plan(problem *p, weir_tier tier)
{
  weir_exec_cfg cfg;
  char text[16];

  if (p->value.data == NULL) {
    weir_output(p->g, "loss", weir_scale(p->g, p->loss, 1));
    for (int k = 0; k < p->n; k++) {
      if (p->moves[k]) {
        /* A gradient may be an array that has a name already: a copy has none. */
        weir_output(p->g, name_of('g', k, text, sizeof text), weir_scale(p->g, p->grad[k], 1));
        assert_ok(
            weir_tensor_init(&p->made[k], p->from[k].dtype, p->from[k].rank, p->from[k].shape));
      }
    }
    assert_ok(weir_tensor_init(&p->value, weir_value_desc(p->g, p->loss)->dtype, 0, NULL));
  }
  assert_ok(weir_graph_status(p->g));
  assert_ok(weir_graph_validate(p->g));
  weir_plan_destroy(&p->plan);
  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.tier = (int)tier;
  assert_ok(weir_plan_create(p->g, NULL, &(weir_plan_opts){.exec = &cfg, .threads = 1}, &p->plan));
}

void problem_run(problem *p)
{
  weir_binding b[2 * PROBLEM_INPUTS + 1];
  char text[2 * PROBLEM_INPUTS][16];
  int n = 0;

  for (int k = 0; k < p->n; k++) {
    if (!p->constant[k]) {
      b[n] = (weir_binding){name_of('x', k, text[n], sizeof text[n]), &p->from[k]};
      n++;
    }
    if (p->moves[k]) {
      b[n] = (weir_binding){name_of('g', k, text[n], sizeof text[n]), &p->made[k]};
      n++;
    }
  }
  b[n++] = (weir_binding){"loss", &p->value};
  assert_ok(weir_plan_run(p->plan, b, n));
}

static double loss_at(problem *p, double *x, double value)
{
  const double kept = *x;

  *x = value;
  problem_run(p);
  *x = kept;
  return *(const double *)p->value.data;
}

/* One element against central differences of two steps, extrapolated. */
static bool is_wrong(problem *p, int k, int64_t at, const char *what, problem_count *count)
{
  double *x = (double *)p->from[k].data + at;
  const double h = 1e-4, got = ((const double *)p->made[k].data)[at];
  const double wide = (loss_at(p, x, *x + 2 * h) - loss_at(p, x, *x - 2 * h)) / (4 * h);
  const double close = (loss_at(p, x, *x + h) - loss_at(p, x, *x - h)) / (2 * h);
  const double wanted = close + (close - wide) / 3, off = fabs(close - wide);
  const double noise = 2e-15 * fabs(*(const double *)p->value.data) / h;

  count->probes++;
  problem_run(p);
  if (off > 1e-3 * (1 + fabs(wanted))) {
    count->kinks++;
    return false;
  }
  if (fabs(got - wanted) <= 1e-6 * (1 + fabs(wanted)) + 1e-2 * off + noise) {
    return false;
  }
  fprintf(stderr, "FAIL %s, seed %llu: d/dx%d[%lld] is %.12g, differences give %.12g\n", what,
          (unsigned long long)p->seed, k, (long long)at, got, wanted);
  return true;
}

int64_t problem_check(problem *p, int probes, const char *what, problem_count *count)
{
  int64_t wrong = 0;

  problem_run(p);
  if (!isfinite(*(const double *)p->value.data)) {
    return 0; /* the maximum of nothing: no difference tells anything */
  }
  for (int k = 0; k < p->n && wrong == 0; k++) {
    const int64_t n = p->moves[k] ? weir_tensor_numel(&p->from[k]) : 0;

    for (int i = 0; i < probes && n > 0 && wrong == 0; i++) {
      const uint64_t bits = weir_random_bits(p->seed, 90 + (uint32_t)k, 0, (uint64_t)i);

      wrong += is_wrong(p, k, (int64_t)(bits % (uint64_t)n), what, count);
    }
  }
  return wrong;
}
