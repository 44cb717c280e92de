/* models.c - every operator of the registry with the dimension `model` (pass/models): random cases,
 * in which some inputs are each model's own and others are shared. Every model's results are, to
 * the bit, those of the operator alone on its inputs; operators that index maps do not describe are
 * refused by name; an access from which the dimension is taken out again is what it was. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_clock.h"
#include "base/weir_random.h"
#include "conf/weir_opt.h"
#include "exec/weir_plan.h"
#include "ops/ops_cases.h"
#include "ops/weir_builder.h"
#include "pass/models/weir_models.h"

enum { MODELS = 3, NAME = 16 };
#if defined(__SANITIZE_ADDRESS__)
enum { CASES = 20 };
#else
enum { CASES = 60 };
#endif

/* A case as a graph; models 0: of one model, of number k. */
typedef struct trial {
  const weir_op_desc *op;
  weir_op_case c;
  uint64_t seed;
  bool own[WEIR_MAX_OPERANDS]; /* inputs */
  char in[WEIR_MAX_OPERANDS][NAME], out[WEIR_MAX_OUTPUTS][NAME];
} trial;

static void build(trial *t, weir_graph **g, int *n_out)
{
  weir_value in[WEIR_MAX_OPERANDS];

  assert_ok(weir_graph_create(g));
  for (int k = 0; k < t->c.n_in; k++) {
    (void)snprintf(t->in[k], NAME, "x%d", k);
    in[k] = weir_input(*g, t->in[k], &t->c.in[k]);
  }
  const weir_value y = weir_graph_add(*g, t->op, t->c.spec.bytes, in, t->c.n_in, WEIR_WHERE);

  assert_ok(weir_graph_status(*g));
  *n_out = weir_graph_node(*g, y.node)->n_out;
  for (int k = 0; k < *n_out; k++) {
    (void)snprintf(t->out[k], NAME, "y%d", k);
    weir_output(*g, t->out[k], (weir_value){y.node, k});
  }
  assert_ok(weir_graph_status(*g));
}

static weir_status fuse(const trial *t, weir_graph *g)
{
  const char *own[WEIR_MAX_OPERANDS];
  int n = 0;

  for (int k = 0; k < t->c.n_in; k++) {
    if (t->own[k]) {
      own[n++] = t->in[k];
    }
  }
  return weir_models_fuse(g, MODELS, own, n);
}

/* Element i of input k, of model m; shared: 0. */
static void fill(const trial *t, int k, int64_t m, int64_t i, int64_t at, weir_tensor *x)
{
  const double lo = t->c.lo[k], hi = t->c.hi[k];
  const double u = weir_random_uniform(t->seed + (uint64_t)m, 20 + (uint32_t)k, 0, (uint64_t)i);
  const double v = lo + (hi - lo) * u;

  if (weir_dtype_is_complex(x->dtype)) {
    weir_dtype_store_complex(x->dtype, x->data, at, (weir_c128){v, hi - v});
  } else if (weir_dtype_is_real(x->dtype)) {
    weir_dtype_store_real(x->dtype, x->data, at, v);
  } else {
    const int64_t whole = (int64_t)(v < 0 ? v - 0.5 : v + 0.5);

    weir_dtype_store_int(x->dtype, x->data, at, whole);
  }
}

/* Inputs of all models, or of model m where that is 0 or more. */
static void bind(const trial *t, int64_t m, weir_tensor *x, weir_binding *b)
{
  for (int k = 0; k < t->c.n_in; k++) {
    const weir_array_desc *d = &t->c.in[k];
    const bool several = m < 0 && t->own[k];
    int64_t shape[WEIR_MAX_RANK] = {MODELS};

    memcpy(shape + several, d->shape, (size_t)d->rank * sizeof *shape);
    assert_ok(weir_tensor_init(&x[k], d->dtype, d->rank + several, shape));
    const int64_t slices = several ? MODELS : 1, n = weir_tensor_numel(&x[k]) / slices;

    for (int64_t i = 0; i < slices * n; i++) {
      fill(t, k, !t->own[k] ? 0 : several ? i / n : m, i % n, i, &x[k]);
    }
    b[k] = (weir_binding){t->in[k], &x[k]};
  }
}

/* Runs the graph; results are read from the plan. */
static weir_plan *run(const trial *t, const weir_graph *g, int64_t m, weir_tier tier)
{
  weir_tensor x[WEIR_MAX_OPERANDS] = {{.data = NULL}};
  weir_binding b[WEIR_MAX_OPERANDS];
  weir_exec_cfg cfg;
  weir_plan *p;

  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.tier = (int)tier;
  assert_ok(weir_plan_create(g, NULL, &(weir_plan_opts){.exec = &cfg, .threads = 2}, &p));
  bind(t, m, x, b);
  assert_ok(weir_plan_run(p, b, t->c.n_in));
  for (int k = 0; k < t->c.n_in; k++) {
    weir_tensor_fini(&x[k]);
  }
  return p;
}

/* Elements of a view that is whole and row-major. */
static int64_t count_of(const weir_view *v)
{
  int64_t n = 1;

  for (int d = 0; d < v->rank; d++) {
    n *= v->extent[d];
  }
  return n;
}

static void compare(const trial *t, const weir_plan *all, const weir_plan *one, int n_out,
                    int64_t m)
{
  for (int k = 0; k < n_out; k++) {
    weir_view a, b;
    int64_t lo, hi;

    assert_ok(weir_plan_result(all, t->out[k], &a, &lo, &hi));
    assert_ok(weir_plan_result(one, t->out[k], &b, &lo, &hi));
    const size_t bytes = (size_t)count_of(&b) * weir_dtype_size(b.dtype);

    assert_int_equal(a.rank, b.rank + 1);
    assert_int_equal(count_of(&a), MODELS * count_of(&b));
    if (bytes > 0 && memcmp((const char *)a.data + (size_t)m * bytes, b.data, bytes) != 0) {
      fail_msg("%s, case %llu: result %d of model %d is not its own", t->op->name,
               (unsigned long long)t->seed, k, (int)m);
    }
  }
}

/* Of the widened node, which is the last of the graph. */
static void takes_the_dimension_out_again(const weir_graph *g, const weir_graph *before)
{
  const int32_t last = weir_graph_nodes(g) - 1;
  const weir_access *was = &weir_graph_node(before, last)->access;
  int8_t from[WEIR_MAX_OPERANDS + WEIR_MAX_OUTPUTS];
  weir_access a;

  assert_ok(weir_access_copy(&weir_graph_node(g, last)->access, &a));
  if (weir_access_take_outer(&a, from)) { /* not where it draws, or has states */
    assert_int_equal(a.n_dims, was->n_dims);
    assert_memory_equal(a.dim, was->dim, sizeof a.dim);
    for (int k = 0; k < a.n_in + a.n_out; k++) {
      const weir_operand *x = k < a.n_in ? &a.in[k] : &a.out[k - a.n_in];
      const weir_operand *y = k < a.n_in ? &was->in[k] : &was->out[k - a.n_in];

      assert_int_equal(x->rank, y->rank);
      assert_memory_equal(x->index, y->index, (size_t)x->rank * sizeof x->index[0]);
      assert_memory_equal(x->extent, y->extent, (size_t)x->rank * sizeof x->extent[0]);
    }
    assert_memory_equal(a.body.exprs, was->body.exprs, (size_t)a.body.n * sizeof *a.body.exprs);
  }
  weir_access_fini(&a);
}

static bool has_time(const weir_op_case *c)
{
  bool has = false;

  for (int k = 0; k < c->n_in; k++) {
    has = has || c->in[k].time != 0;
  }
  return has;
}

/* Whether the case was compared. */
static bool try_case(const weir_op_desc *op, uint64_t seed)
{
  trial t = {.op = op, .seed = seed};
  weir_graph *one, *all;
  int n_out;

  weir_op_draw(op, seed, &t.c);
  for (int k = 0; k < t.c.n_in; k++) {
    t.own[k] = (weir_random_bits(seed, 9, 0, (uint64_t)k) & 3) != 0;
  }
  if (has_time(&t.c)) {
    return false;
  }
  build(&t, &one, &n_out);
  assert_ok(weir_graph_copy(one, &all));
  const bool body =
      weir_graph_node(one, weir_graph_nodes(one) - 1)->access.maker == WEIR_MADE_BY_BODY;
  const weir_status status = fuse(&t, all);

  assert_true(status == WEIR_OK || status == WEIR_ERR_UNSUPPORTED);
  assert_true(body || status == WEIR_ERR_UNSUPPORTED);
  if (status != WEIR_OK) {
    assert_non_null(strstr(weir_last_message(), "models: "));
    weir_clear_failure();
  } else {
    takes_the_dimension_out_again(all, one);
    for (int tier = WEIR_TIER_REFERENCE; tier <= WEIR_TIER_VECTOR; tier++) {
      weir_plan *fused = run(&t, all, -1, (weir_tier)tier);

      for (int64_t m = 0; m < MODELS; m++) {
        weir_plan *own = run(&t, one, m, (weir_tier)tier);

        compare(&t, fused, own, n_out, m);
        weir_plan_destroy(&own);
      }
      weir_plan_destroy(&fused);
    }
  }
  weir_graph_destroy(&one);
  weir_graph_destroy(&all);
  return status == WEIR_OK;
}

static void each_model_is_bitwise_its_own(void **state)
{
  const char *text = weir_env("WEIR_SEED");
  const uint64_t first = text != NULL ? strtoull(text, NULL, 10) : (uint64_t)(weir_clock() * 1e6);
  int64_t compared = 0, ops = 0;

  (void)state;
  print_message("WEIR_SEED=%llu\n", (unsigned long long)first);
  for (int i = 0; weir_op_table[i] != NULL; i++) {
    int64_t here = 0;

    for (uint64_t k = 0; k < CASES; k++) {
      here += try_case(weir_op_table[i], first + k);
    }
    compared += here;
    ops += here > 0;
  }
  print_message("%lld cases of %lld operators\n", (long long)compared, (long long)ops);
  assert_true(ops >= 15 && compared >= 10 * ops);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(each_model_is_bitwise_its_own)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
