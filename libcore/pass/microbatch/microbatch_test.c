/* microbatch_test.c - steps in micro-batches: what is repeated, merged, joined and left whole;
 * budgets. */
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "support/exec/draw_run.h"
#include "support/exec/train_nets.h"
#include "ops/random/weir_random_op.h"
#include "support/pass/microbatch_check.h"
#include "support/graph/store_check.h"
#include "pass/microbatch/weir_microbatch.h"

enum { BATCH = 5, WIDTH = 6, GRAPHS = 24, SIDE = 16, CHANNELS = 2 };

static const weir_op_desc op_counted = {.name = "counted"};

/* x[n, i] + 2 n: a body that asks which sample it is at. */
static weir_value counted(weir_graph *g, weir_value x)
{
  const weir_array_desc *d = weir_value_desc(g, x);
  weir_access a;

  weir_access_init(&a);
  assert_ok(weir_access_resize(&a, 1, 1, 0));
  a.n_dims = 2;
  a.n_values = 1;
  a.in[0] = (weir_operand){.dtype = WEIR_F32, .rank = 2};
  for (int k = 0; k < 2; k++) {
    a.dim[k] = (weir_dim){.kind = WEIR_PARALLEL, .hi = d->shape[k]};
    a.in[0].extent[k] = d->shape[k];
    a.in[0].index[k].coef[k] = 1;
  }
  a.out[0] = a.in[0];
  const int32_t sample = weir_body_cast(&a.body, WEIR_F32, weir_body_index(&a.body, 0));
  const int32_t far =
      weir_body_binary(&a.body, WEIR_CODE_MUL, sample, weir_body_real(&a.body, WEIR_F32, 2));

  a.value[0] = weir_body_binary(&a.body, WEIR_CODE_ADD, weir_body_load(&a.body, 0, WEIR_F32), far);
  const weir_value v = weir_graph_add_access(g, &op_counted, &a, &x, 1, WEIR_WHERE);

  weir_access_fini(&a);
  return v;
}

static draw_outcome outcome_of(const weir_graph *g)
{
  draw_outcome o = {NULL, 0, 0};
  weir_exec_cfg cfg;
  weir_plan *p;

  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.tier = WEIR_TIER_VECTOR;
  assert_ok(weir_plan_create(g, NULL, &(weir_plan_opts){.exec = &cfg}, &p));
  assert_ok(draw_run_whole(g, p, &o));
  weir_plan_destroy(&p);
  return o;
}

/* Results of the graph and of it in micro-batches. */
static void compare(const weir_graph *g, const weir_graph *other, double tolerance)
{
  draw_outcome expected = outcome_of(g), actual = outcome_of(other);
  const int64_t at = draw_difference(&actual, &expected, tolerance);

  if (at >= 0) {
    weir_graph_print(other, 64, stderr);
    print_error("element %lld of %lld: %.9g, expected %.9g\n", (long long)at, (long long)actual.n,
                (double)actual.values[at], (double)expected.values[at]);
  }
  assert_true(at < 0);
  weir_free(&expected.values);
  weir_free(&actual.values);
}

/* A result per sample, sums, extremes and products over them, a constant and a concatenation. */
static void every_kind_of_user_is_served(void **state)
{
  const weir_array_desc d = {.dtype = WEIR_F32, .rank = 2, .shape = {BATCH, WIDTH}};
  weir_graph *g;

  assert_ok(weir_graph_create(&g));
  const weir_value x = weir_input(g, "x", &d), far = counted(g, x);
  const weir_value y = weir_square(g, far);
  const weir_value both[] = {y, weir_tanh(g, x)}, wide = weir_concat(g, both, 2, 1);
  const weir_value whole = weir_argmax(g, x, 0); /* positions: runs once */

  weir_output(g, "wide", wide);
  weir_output(g, "sum", weir_sum(g, wide, 0));
  weir_output(g, "most", weir_max_over(g, weir_sqrt(g, x), 0)); /* NaN of negative numbers */
  weir_output(g, "least", weir_min_over(g, weir_square(g, x), -1));
  weir_output(g, "product", weir_prod(g, x, 0));
  weir_output(g, "best", whole);
  assert_ok(weir_graph_status(g));
  for (int64_t microbatches = 2; microbatches <= BATCH; microbatches++) {
    weir_graph *other = microbatch_copy(g, microbatches);

    assert_int_equal(microbatch_count(other, "counted"), microbatches);
    assert_int_equal(microbatch_count(other, "merge"), 4 * (microbatches - 1));
    assert_true(microbatch_count(other, "join") >= microbatches);
    compare(g, other, 1e-4); /* sums of a few hundred */
    weir_graph_destroy(&other);
  }
  weir_graph_destroy(&g);
}

/* Random bits are numbered over all samples: they are drawn once, and micro-batches take their own.
 */
static void random_numbers_stay_what_they_are(void **state)
{
  const weir_array_desc d = {.dtype = WEIR_F32, .rank = 2, .shape = {BATCH, WIDTH}};
  const weir_random_spec s = {.dtype = WEIR_F32, .rank = 2, .shape = {BATCH, WIDTH}};
  weir_graph *g;

  assert_ok(weir_graph_create(&g));
  const weir_value seed = weir_scalar(g, WEIR_I64, 3), x = weir_input(g, "x", &d);

  weir_output(g, "y", weir_mul(g, weir_square(g, x), weir_random(g, &s, seed, seed)));
  assert_ok(weir_graph_status(g));
  weir_graph *other = microbatch_copy(g, 2);

  assert_int_equal(microbatch_count(other, "random"), 1);
  assert_true(microbatch_count(other, "join") == 2);
  compare(g, other, 0);
  weir_graph_destroy(&other);
  weir_graph_destroy(&g);
}

/* A deviation from the mean over samples needs all of them first. */
static void what_needs_all_samples_is_refused_by_name(void **state)
{
  const weir_array_desc d = {.dtype = WEIR_F32, .rank = 2, .shape = {BATCH, WIDTH}};
  char text[WEIR_MICROBATCH_TEXT];
  weir_dim_split s;
  weir_graph *g;
  int32_t input;

  assert_ok(weir_graph_create(&g));
  const weir_value x = weir_input(g, "x", &d), y = weir_square(g, x);
  const weir_value mean = weir_label(g, weir_sum(g, weir_sum(g, y, 1), 0), "mean of all");

  weir_output(g, "z", weir_sub(g, y, mean));
  assert_ok(weir_graph_status(g));
  assert_ok(weir_microbatch_find(g, &input, &s, text, sizeof text));
  assert_int_equal(input, -1);
  assert_non_null(strstr(text, "'mean of all'"));
  weir_graph *other = microbatch_copy(g, 2);

  assert_int_equal(weir_graph_nodes(other), weir_graph_nodes(g));
  weir_graph_destroy(&other);
  weir_graph_destroy(&g);
}

/* The sum of weights that a loss is divided by: made first, so that the samples do not wait. */
static void totals_of_inputs_are_made_first(void **state)
{
  const weir_array_desc d = {.dtype = WEIR_F32, .rank = 2, .shape = {BATCH, WIDTH}};
  weir_value grad;
  weir_graph *g;

  assert_ok(weir_graph_create(&g));
  const weir_value x = weir_input(g, "x", &d), raw = weir_input(g, "w", &d);
  const weir_value w = weir_square(g, raw);
  const weir_value total = weir_label(g, weir_sum(g, w, -1), "total");
  const weir_value y = weir_tanh(g, x), z = weir_tanh(g, weir_square(g, y));
  const weir_value loss = weir_div(g, weir_sum(g, weir_mul(g, w, z), -1), total);

  assert_ok(weir_gradients(g, loss, &x, 1, &grad));
  weir_output(g, "loss", loss);
  weir_output(g, "grad", grad);
  assert_ok(weir_graph_status(g));
  for (int64_t microbatches = 2; microbatches <= BATCH; microbatches++) {
    weir_graph *other = microbatch_copy(g, microbatches);

    assert_true(weir_graph_nodes(other) > weir_graph_nodes(g));
    assert_int_equal(microbatch_count(other, "merge"), microbatches - 1); /* of the loss alone */
    compare(g, other, 1e-6);
    weir_graph_destroy(&other);
  }
  weir_graph_destroy(&g);
}

static void random_graphs_keep_their_results(void **state)
{
  int64_t split = 0;

  for (uint64_t seed = 0; seed < GRAPHS; seed++) {
    draw_graph d = draw_make(seed, false, true);
    weir_graph *other = microbatch_copy(d.g, 2 + (int64_t)(seed % 3));

    split += weir_graph_nodes(other) > weir_graph_nodes(d.g);
    compare(d.g, other, 2e-5);
    weir_graph_destroy(&other);
    weir_graph_destroy(&d.g);
  }
  assert_true(split > GRAPHS / 4);
}

typedef struct trained {
  float *values;
  int64_t n, arena, microbatches;
  weir_status status;
} trained;

/* Parameters after a step, and what the plan says of itself. */
static trained train(bool cosmo, int64_t side, int64_t memory, int threads)
{
  trained t = {.n = 0};
  int64_t capacity = 0;
  weir_exec_cfg cfg;
  train_net net;
  weir_plan *p;

  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.tier = WEIR_TIER_VECTOR;
  cfg.memory = memory;
  cfg.verify = memory > 0 && side < SIDE;
  cfg.skip = cfg.verify ? "simplify,recompute,format" : ""; /* each pass is an oracle's run more */
  assert_ok(cosmo ? train_cosmo(&net, 4, side, CHANNELS) : train_unet(&net, 4, side, CHANNELS));
  t.status =
      weir_plan_create(net.g, net.store, &(weir_plan_opts){.exec = &cfg, .threads = threads}, &p);
  if (t.status == WEIR_OK) {
    draw_outcome o = {NULL, 0, 0};

    t.arena = weir_plan_arena_bytes(p);
    t.microbatches = weir_plan_microbatches(p);
    assert_ok(draw_run_whole(net.g, p, &o));
    weir_free(&o.values);
    for (int64_t i = 0; i < weir_store_count(net.store); i++) {
      const weir_tensor *w = check_stored(net.store, weir_store_name(net.store, i));

      assert_ok(weir_reserve(&t.values, &capacity, t.n + weir_tensor_numel(w), sizeof(float)));
      memcpy(t.values + t.n, w->data, (size_t)weir_tensor_numel(w) * sizeof(float));
      t.n += weir_tensor_numel(w);
    }
  }
  weir_plan_destroy(&p);
  train_fini(&net);
  return t;
}

static void a_budget_is_kept_and_changes_rounding_only(void **state)
{
  trained whole = train(true, SIDE, 0, 1);

  assert_int_equal(whole.microbatches, 1);
  for (int64_t share = 9; share >= 6; share -= 3) {
    const int64_t budget = whole.arena * share / 10;
    trained one = train(true, SIDE, budget, 1), two = train(true, SIDE, budget, 2);

    assert_ok(one.status);
    assert_true(one.arena <= budget);
    assert_int_equal(weir_compare("one thread, two", WEIR_F32, one.values, two.values, one.n,
                                  (weir_tolerance){0, 0}),
                     0);
    assert_int_equal(weir_compare("parts, none", WEIR_F32, one.values, whole.values, one.n,
                                  (weir_tolerance){1e-6, 1e-6}),
                     0);
    weir_free(&one.values);
    weir_free(&two.values);
  }
  weir_free(&whole.values);
}

static void the_oracle_agrees_after_every_pass(void **state)
{
  trained whole = train(true, SIDE / 2, 0, 1);
  trained some = train(true, SIDE / 2, whole.arena * 9 / 10, 1);

  assert_ok(some.status);
  assert_true(some.microbatches > 1);
  weir_free(&whole.values);
  weir_free(&some.values);
}

static void a_budget_that_cannot_be_kept_is_refused_with_the_least(void **state)
{
  trained t = train(true, SIDE, 4096, 1);

  assert_int_equal(t.status, WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "exec.memory: the budget of 4096 bytes"));
  assert_non_null(strstr(weir_last_message(), "with 4 of at most 4 micro-batches"));
  t = train(false, SIDE, 4096, 1); /* batch normalisation */
  assert_int_equal(t.status, WEIR_ERR_CONFIG);
  assert_non_null(strstr(weir_last_message(), "needs all of it before"));
  weir_clear_failure();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_kind_of_user_is_served),
      cmocka_unit_test(random_numbers_stay_what_they_are),
      cmocka_unit_test(what_needs_all_samples_is_refused_by_name),
      cmocka_unit_test(totals_of_inputs_are_made_first),
      cmocka_unit_test(random_graphs_keep_their_results),
      cmocka_unit_test(a_budget_is_kept_and_changes_rounding_only),
      cmocka_unit_test(the_oracle_agrees_after_every_pass),
      cmocka_unit_test(a_budget_that_cannot_be_kept_is_refused_with_the_least),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
