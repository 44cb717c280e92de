/* rules.c [RULE] - every update rule of the registry, or the one named: convergence, edges, numbers
 * that are none, the same bits in all engines and for any number of threads. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_random.h"
#include "exec/weir_plan.h"
#include "ops/elementwise/weir_elementwise.h"
#include "support/optim/rule_check.h"

static const char *only; /* name of the rule that is tested; NULL: all */

#define EVERY_RULE(rule)                                             \
  for (int rule##_ = 0; weir_rule_table[rule##_] != NULL; rule##_++) \
    for (const weir_rule_desc *rule = weir_rule_table[rule##_]; rule; rule = NULL)

/* The rules to test. */
#define TESTED_RULE(rule) \
  EVERY_RULE(rule)        \
  if (only == NULL || strcmp(rule->name, only) == 0)

static const weir_dtype dtypes[] = {WEIR_F32, WEIR_F64};

static double draw(uint32_t purpose, int64_t i)
{
  return 2 * weir_random_uniform(11, purpose, 0, (uint64_t)i) - 1;
}

/* ---- A convex quadratic: f(p) = (p - q)' (D + u u') (p - q) / 2, eigenvalues in [0.5, 4] ---- */

enum { N = 24, STEPS = 600 };
static const weir_segment layers[] = {{0, 7}, {7, 1}, {8, 16}};

static double slope_of(const double *p, double *grad)
{
  double along = 0, value = 0;

  for (int i = 0; i < N; i++) {
    along += draw(2, i) * (p[i] - 2 * draw(1, i)) / sqrt(N);
  }
  for (int i = 0; i < N; i++) {
    const double away = p[i] - 2 * draw(1, i), d = 0.5 + 2.5 * i / (N - 1);

    grad[i] = d * away + along * draw(2, i) / sqrt(N);
    value += away * grad[i] / 2;
  }
  return value;
}

/* What is left of f after STEPS steps whose rate goes from lr to 0. */
static double left_after(const weir_rule_desc *rule, weir_dtype dtype, double lr)
{
  double p[N], grad[N];
  rule_run r;

  for (int i = 0; i < N; i++) {
    p[i] = draw(3, i);
  }
  rule_open(&r, &(rule_case){.rule = rule,
                             .dtype = dtype,
                             .count = N,
                             .param = p,
                             .segments = layers,
                             .n_segments = 3});
  const double first = slope_of(p, grad);

  for (int s = 0; s < STEPS; s++) {
    rule_step(&r, lr * (STEPS - s) / STEPS, grad);
    for (int i = 0; i < N; i++) {
      p[i] = rule_param(&r, i);
    }
    slope_of(p, grad);
  }
  rule_close(&r);
  return slope_of(p, grad) / first;
}

static void every_rule_finds_the_minimum(void **state)
{
  TESTED_RULE(rule)
  {
    for (int d = 0; d < 2; d++) {
      double best = INFINITY, rate = 0;

      for (double lr = 1e-3; lr < 1e3; lr *= 10) {
        const double left = left_after(rule, dtypes[d], lr);

        if (left < best) {
          best = left;
          rate = lr;
        }
      }
      print_message("%-10s %s: %.1e of the loss is left, learning rate %g\n", rule->name,
                    weir_dtype_name(dtypes[d]), best, rate);
      assert_true(best < 1e-3);
    }
  }
}

/* ---- Edges ---- */

static void counts_of_one_and_none_run(void **state)
{
  TESTED_RULE(rule)
  {
    for (int d = 0; d < 2; d++) {
      for (int64_t count = 0; count < 2; count++) {
        const double p = 0.5, grad = 0.25;
        rule_run r;

        rule_open(&r, &(rule_case){.rule = rule, .dtype = dtypes[d], .count = count, .param = &p});
        rule_step(&r, 0.125, &grad);
        if (count > 0) {
          assert_true(rule_param(&r, 0) < p);
        }
        rule_close(&r);
      }
    }
  }
}

/* No gradient, no decay: not a bit moves, and no 0 / 0 appears. */
static void nothing_moves_without_gradient(void **state)
{
  const double none[N] = {0};
  double p[N];

  TESTED_RULE(rule)
  {
    rule_run r;

    for (int i = 0; i < N; i++) {
      p[i] = i < 7 ? 0 : (double)(i - 12); /* a segment of zeros too */
    }
    rule_open(&r, &(rule_case){.rule = rule,
                               .dtype = WEIR_F32,
                               .count = N,
                               .param = p,
                               .decay = none,
                               .segments = layers,
                               .n_segments = 3});
    rule_step(&r, 0.125, none);
    rule_step(&r, 0.125, none);
    for (int i = 0; i < N; i++) {
      assert_near(rule_param(&r, i), p[i], 0);
    }
    rule_close(&r);
  }
}

/* NaN is never masked: a caller that looks at the parameters sees it at any later step. */
static void a_gradient_that_is_no_number_is_not_hidden(void **state)
{
  const double bad[] = {NAN, INFINITY};

  TESTED_RULE(rule)
  {
    for (int k = 0; k < 2; k++) {
      double p[N], grad[N];
      rule_run r;

      for (int i = 0; i < N; i++) {
        p[i] = draw(3, i);
        grad[i] = draw(4, i);
      }
      rule_open(&r, &(rule_case){.rule = rule,
                                 .dtype = WEIR_F32,
                                 .count = N,
                                 .param = p,
                                 .segments = layers,
                                 .n_segments = 3});
      rule_step(&r, 0.01, grad);
      const double kept = grad[9];

      grad[9] = bad[k];
      rule_step(&r, 0.01, grad);
      assert_true(!isfinite(rule_param(&r, 9)));
      assert_true(isfinite(rule_param(&r, 0))); /* of another segment */
      grad[9] = kept;
      rule_step(&r, 0.01, grad);
      assert_true(!isfinite(rule_param(&r, 9)));
      rule_close(&r);
    }
  }
}

/* ---- The same bits ---- */

enum { MANY = 20011 };
/* An empty layer, a gap, one at the very end. */
static const weir_segment wide[] = {{0, 9000}, {9000, 1},     {9001, 0},
                                    {9001, 7}, {9100, 10911}, {MANY, 0}};

/* The banks after three steps: parameters, then states; freed by the caller. */
static double *banks_after(const weir_rule_desc *rule, weir_dtype dtype, weir_tier tier,
                           int threads)
{
  double *grad = malloc(MANY * sizeof *grad), *p = malloc(MANY * sizeof *p);
  double *decay = malloc(MANY * sizeof *decay);
  double *out = malloc((size_t)(1 + rule->n_state) * MANY * sizeof *out);
  rule_run r;

  assert_true(grad && p && decay && out);
  for (int64_t i = 0; i < MANY; i++) {
    p[i] = draw(5, i);
    decay[i] = i % 3 != 0;
  }
  rule_open(&r, &(rule_case){.rule = rule,
                             .dtype = dtype,
                             .count = MANY,
                             .param = p,
                             .decay = decay,
                             .segments = wide,
                             .n_segments = 6,
                             .tier = tier,
                             .threads = threads});
  for (uint32_t s = 0; s < 3; s++) {
    for (int64_t i = 0; i < MANY; i++) {
      grad[i] = draw(6 + s, i);
    }
    rule_step(&r, 0.01, grad);
  }
  for (int64_t i = 0; i < MANY; i++) {
    out[i] = rule_param(&r, i);
    for (int k = 0; k < rule->n_state; k++) {
      char name[64];

      snprintf(name, sizeof name, "optim.%s", rule->state[k]);
      out[(k + 1) * MANY + i] = rule_get(&r, name, i);
    }
  }
  rule_close(&r);
  free(decay);
  free(grad);
  free(p);
  return out;
}

static bool has_compiler(void)
{
  weir_graph *g = NULL;
  weir_plan *plan = NULL;
  weir_exec_cfg cfg;

  assert_ok(weir_graph_create(&g));
  weir_output(g, "y", weir_neg(g, weir_input(g, "x", &(weir_array_desc){.dtype = WEIR_F32})));
  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.tier = WEIR_TIER_NATIVE;
  const weir_status status = weir_plan_create(g, NULL, &(weir_plan_opts){.exec = &cfg}, &plan);

  weir_plan_destroy(&plan);
  weir_graph_destroy(&g);
  return status == WEIR_OK;
}

static void engines_and_threads_give_the_same_bits(void **state)
{
  const bool native = has_compiler();

  if (!native) {
    print_message("native engine skipped: no compiler\n");
  }
  TESTED_RULE(rule)
  {
    const size_t bytes = (size_t)(1 + rule->n_state) * MANY * sizeof(double);

    for (int d = 0; d < 2; d++) {
      double *one = banks_after(rule, dtypes[d], WEIR_TIER_VECTOR, 1);
      double *two = banks_after(rule, dtypes[d], WEIR_TIER_VECTOR, 2);
      double *oracle = banks_after(rule, dtypes[d], WEIR_TIER_REFERENCE, 1);

      assert_memory_equal(one, two, bytes);
      assert_int_equal(weir_compare(rule->name, WEIR_F64, one, oracle, (1 + rule->n_state) * MANY,
                                    weir_tolerance_of(dtypes[d])),
                       0);
      for (int threads = 1; native && threads < 3; threads++) {
        double *compiled = banks_after(rule, dtypes[d], WEIR_TIER_NATIVE, threads);

        assert_memory_equal(one, compiled, bytes);
        free(compiled);
      }
      free(one);
      free(two);
      free(oracle);
    }
  }
}

/* ---- Failures ---- */

static weir_status build_and_destroy(const weir_rule_desc *rule)
{
  const rule_case c = {.rule = rule,
                       .dtype = WEIR_F32,
                       .count = N,
                       .segments = layers,
                       .n_segments = 2}; /* the last is in none */
  const int64_t count = N;
  weir_store *store = NULL;
  weir_graph *g = NULL;
  weir_status status;

  WEIR_TRY_GOTO(weir_store_create(&store), done);
  WEIR_TRY_GOTO(weir_store_add(store, "param", WEIR_F32, 1, &count), done);
  WEIR_TRY_GOTO(weir_rule_add_state(c.rule, store, WEIR_F32, N), done);
  WEIR_TRY_GOTO(weir_graph_create(&g), done);
  WEIR_TRY_GOTO(rule_graph(&c, store, g), done);
done:
  weir_graph_destroy(&g);
  weir_store_destroy(&store);
  return status;
}

/* The k-th allocation fails, for all k, until none does. */
static void failed_allocations_are_told_and_leave_nothing(void **state)
{
  TESTED_RULE(rule)
  {
    const int64_t before = weir_alloc_bytes();
    weir_status status = WEIR_ERR_MEMORY;
    int64_t k = 0;

    while (status != WEIR_OK) {
      weir_alloc_fail_after(++k);
      status = build_and_destroy(rule);
      weir_alloc_fail_after(0);
      assert_int_equal(weir_alloc_bytes(), before);
      assert_true(k < 5000);
    }
    assert_true(k > 20);
  }
}

/* ---- Descriptors and refusals ---- */

static void descriptors_are_complete(void **state)
{
  weir_opt_choice entry;
  int64_t n = 0;

  EVERY_RULE(rule)
  {
    const weir_rule_desc *found = NULL;

    assert_ok(weir_rule_find(rule->name, &found));
    assert_ptr_equal(found, rule);
    assert_true(strlen(rule->cite) > 4);
    assert_int_equal(weir_opts_incomplete(rule->opts), 0);
    assert_true(rule->opts_size <= RULE_OPTS_MAX);
    assert_true(rule->n_state <= WEIR_RULE_STATES);
    for (int k = 0; k < rule->n_state; k++) {
      assert_non_null(rule->state[k]);
    }
    assert_true(weir_rule_choice(n++, &entry));
    assert_string_equal(entry.name, rule->name);
    assert_true(strlen(entry.help) > 4);
  }
  assert_true(n >= 2);
  assert_false(weir_rule_choice(n, &entry));
}

static void an_unknown_rule_is_refused_with_those_that_exist(void **state)
{
  const weir_rule_desc *found = weir_rule_table[0];

  assert_int_equal(weir_rule_find("newton", &found), WEIR_ERR_CONFIG);
  assert_null(found);
  TESTED_RULE(rule)
  {
    assert_non_null(strstr(weir_last_message(), rule->name));
  }
}

/* What rule_graph builds, one argument changed. */
static void expect_refusal(const weir_rule_desc *rule, int change, const char *message)
{
  const weir_array_desc bank = {.dtype = WEIR_F32, .rank = 1, .shape = {N}};
  const weir_array_desc other = {.dtype = WEIR_F32, .rank = 1, .shape = {N + 1}};
  const weir_array_desc number = {.dtype = WEIR_F32};
  const weir_segment crossed[] = {{0, 8}, {7, 2}}, beyond[] = {{N - 1, 2}};
  union {
    long double align;
    char bytes[RULE_OPTS_MAX];
  } opts;
  weir_value banks[WEIR_RULE_STATES];
  weir_store *store = NULL;
  weir_graph *g = NULL;
  const int64_t count = N;

  weir_opts_default(rule->opts, rule->opts_size, &opts);
  assert_ok(weir_store_create(&store));
  assert_ok(weir_store_add(store, "param", WEIR_F32, 1, &count));
  assert_ok(weir_rule_add_state(rule, store, change == 5 ? WEIR_F64 : WEIR_F32, N));
  assert_ok(weir_graph_create(&g));
  weir_rule_get_state(rule, g, store, NULL, banks);
  const weir_rule_args a = {
      .opts = &opts,
      .lr = weir_input(g, "lr", change == 1 ? &bank : &number),
      .step = change == 2 ? WEIR_NO_VALUE : weir_input(g, "step", &number),
      .grad = weir_input(g, "grad", change == 0 ? &other : &bank),
      .param = weir_stored(g, store, "param"),
      .state = banks,
      .decay = change == 6 ? weir_input(g, "decay", &other) : WEIR_NO_VALUE,
      .segments = change == 3   ? crossed
                  : change == 4 ? beyond
                                : NULL,
      .n_segments = change == 3 ? 2 : 1,
  };

  assert_int_equal(weir_rule_build(g, rule, &a), WEIR_ERR_SHAPE);
  assert_non_null(strstr(weir_last_message(), rule->name));
  assert_non_null(strstr(weir_last_message(), message));
  weir_graph_destroy(&g);
  weir_store_destroy(&store);
}

static void wrong_arguments_are_refused(void **state)
{
  TESTED_RULE(rule)
  {
    expect_refusal(rule, 0, "the gradient is f32 of rank 1, extent 25");
    expect_refusal(rule, 1, "the learning rate has rank 1: it must be a scalar");
    expect_refusal(rule, 2, "the step is not a value of the graph");
    expect_refusal(rule, 3, "segment 1 has 2 parameters from 7 on");
    expect_refusal(rule, 4, "segment 0 has 2 parameters from 23 on");
    if (rule->n_state > 0) {
      expect_refusal(rule, 5, "is f64 of rank 1");
    }
    expect_refusal(rule, 6, "decay has rank 1, extent 25");
  }
}

/* Of all rules, whatever is tested: for who counts them. */
static void names_are_told(void **state)
{
  printf("rules:");
  for (int i = 0; weir_rule_table[i] != NULL; i++) {
    assert_true(strlen(weir_rule_table[i]->name) > 0);
    printf(" %s", weir_rule_table[i]->name);
  }
  printf("\n");
}

int main(int argc, char **argv)
{
  only = argc > 1 ? argv[1] : NULL;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_are_told),
      cmocka_unit_test(every_rule_finds_the_minimum),
      cmocka_unit_test(counts_of_one_and_none_run),
      cmocka_unit_test(nothing_moves_without_gradient),
      cmocka_unit_test(a_gradient_that_is_no_number_is_not_hidden),
      cmocka_unit_test(engines_and_threads_give_the_same_bits),
      cmocka_unit_test(failed_allocations_are_told_and_leave_nothing),
      cmocka_unit_test(descriptors_are_complete),
      cmocka_unit_test(an_unknown_rule_is_refused_with_those_that_exist),
      cmocka_unit_test(wrong_arguments_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
