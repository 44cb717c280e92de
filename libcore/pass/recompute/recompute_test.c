/* recompute_test.c - what far readers get: numbers again, comparisons, or what was kept. */
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "support/exec/train_nets.h"
#include "exec/weir_plan.h"
#include "pass/recompute/recompute_priv.h"

enum { SIDE = 8, CHANNELS = 8 };

static weir_status alone(weir_graph *g)
{
  const weir_pass_opts opts = {.skip = "simplify,tile", .no_fusion = true};

  return weir_passes_run(g, &opts, NULL, NULL);
}

/* The loss is the sum of squares of v; its derivative by x. */
static weir_value derived(weir_graph *g, weir_value v, weir_value x)
{
  weir_value grad;

  assert_ok(weir_gradients(g, weir_sum(g, weir_square(g, v), -1), &x, 1, &grad));
  weir_output(g, "grad", grad);
  return grad;
}

static weir_value convolved(weir_graph *g, weir_value x, const char *name)
{
  const weir_array_desc d = {.dtype = WEIR_F32, .rank = 5, .shape = {3, 3, 3, CHANNELS, CHANNELS}};
  const weir_conv_spec s = {.pad_before = {1, 1, 1}, .pad_after = {1, 1, 1}};

  return weir_conv(g, &s, x, weir_input(g, name, &d));
}

static weir_value made_from(weir_graph *g, const char *name)
{
  const weir_array_desc d = {
      .dtype = WEIR_F32, .rank = 5, .shape = {1, SIDE, SIDE, SIDE, CHANNELS}};

  return weir_input(g, name, &d);
}

static int32_t readers(const weir_graph *g, weir_value v)
{
  return weir_graph_readers(g, weir_value_array(g, v), NULL, 0);
}

static int64_t bools(const weir_graph *g)
{
  int64_t n = 0;

  for (int32_t i = 0; i < weir_graph_nodes(g); i++) {
    const weir_node *node = weir_graph_node(g, i);

    n += node->op != NULL && !node->dead && node->access.out[0].dtype == WEIR_BOOL;
  }
  return n;
}

/* conv, bias, relu, conv: the derivative of relu asks for a comparison, which is kept. */
static void a_comparison_is_kept_for_a_number(void **state)
{
  const weir_array_desc b = {.dtype = WEIR_F32, .rank = 1, .shape = {CHANNELS}};
  weir_graph *g;

  assert_ok(weir_graph_create(&g));
  const weir_value x = made_from(g, "x");
  const weir_value z = weir_add(g, convolved(g, x, "w"), weir_input(g, "b", &b));

  (void)derived(g, convolved(g, weir_max_scalar(g, z, 0), "v"), x);
  assert_int_equal(bools(g), 0);
  assert_ok(alone(g));
  assert_int_equal(bools(g), 1);
  assert_int_equal(readers(g, z), 2); /* relu and the comparison */
  weir_graph_destroy(&g);
}

/* (x + 1)^2 with x an input, through a convolution: x + 1 is made again, since x is there. */
static void what_is_there_anyway_is_used_again(void **state)
{
  weir_graph *g;

  assert_ok(weir_graph_create(&g));
  const weir_value x = made_from(g, "x"), y = weir_add_scalar(g, x, 1);

  (void)derived(g, convolved(g, weir_square(g, y), "w"), x);
  const int32_t before = readers(g, y);

  assert_ok(alone(g));
  assert_true(readers(g, y) < before);
  weir_graph_destroy(&g);
}

/* tanh costs more than its derivative's load: it stays. */
static void costly_functions_are_kept(void **state)
{
  weir_graph *g;

  assert_ok(weir_graph_create(&g));
  const weir_value x = made_from(g, "x"), y = weir_tanh(g, x);

  (void)derived(g, convolved(g, y, "w"), x);
  const int32_t nodes = weir_graph_nodes(g);

  assert_ok(alone(g));
  assert_int_equal(weir_graph_nodes(g), nodes);
  weir_graph_destroy(&g);
}

static int64_t copies(const weir_graph *g)
{
  int64_t n = 0;

  for (int32_t i = 0; i < weir_graph_nodes(g); i++) {
    n += !weir_graph_node(g, i)->dead && weir_graph_node(g, i)->late > 0;
  }
  return n;
}

/* y = erf(z) z is kept for the gradient by the weights of the convolution that reads it, unless it
 * is to be made again from z, which its own derivative reads. */
static void costly_functions_are_made_again_to_save_memory(void **state)
{
  const weir_array_desc d = {.dtype = WEIR_F32, .rank = 5, .shape = {3, 3, 3, CHANNELS, CHANNELS}};
  const weir_conv_spec s = {.pad_before = {1, 1, 1}, .pad_after = {1, 1, 1}};
  const weir_array_desc large = {
      .dtype = WEIR_F32, .rank = 5, .shape = {1, 2 * SIDE, 2 * SIDE, 2 * SIDE, CHANNELS}};

  for (int again = 0; again < 2; again++) {
    const weir_pass_opts opts = {
        .skip = "simplify,tile", .no_fusion = true, .recompute_elementwise = again};
    weir_graph *g;
    weir_value grads[2];

    assert_ok(weir_graph_create(&g));
    const weir_value wrt[] = {weir_input(g, "w", &d), weir_input(g, "v", &d)};
    const weir_value z = weir_conv(g, &s, weir_input(g, "x", &large), wrt[0]);
    const weir_value y = weir_mul(g, weir_erf(g, z), z);
    const weir_value out = weir_conv(g, &s, y, wrt[1]);
    const weir_value loss = weir_sum(g, weir_square(g, out), -1);

    assert_ok(weir_gradients(g, loss, wrt, 2, grads));
    weir_output(g, "w'", grads[0]);
    weir_output(g, "v'", grads[1]);
    assert_int_equal(readers(g, y), 2);
    assert_ok(weir_passes_run(g, &opts, NULL, NULL));
    assert_int_equal(readers(g, y), again ? 1 : 2);
    assert_true(again ? copies(g) > 0 : copies(g) == 0);
    weir_graph_destroy(&g);
  }
}

/* Each result is made of the one before, read twice, so that paths double with every node; many
 * ask what the last one costs. Each result is looked at once: path by path, 2^40 of them, the test
 * would not end. */
static void results_that_many_read_are_priced_once(void **state)
{
  enum { LONG = 40, ASKING = 64 };
  weir_graph *g;
  char name[16];

  assert_ok(weir_graph_create(&g));
  const weir_value x = made_from(g, "x");
  weir_value z = convolved(g, x, "w"), sum = convolved(g, z, "v");

  for (int k = 0; k < LONG; k++) {
    z = weir_add(g, z, z);
  }
  for (int k = 0; k < ASKING; k++) {
    (void)snprintf(name, sizeof name, "w%d", k);
    sum = weir_add(g, sum, convolved(g, weir_square(g, weir_scale(g, z, k + 2)), name));
  }
  (void)derived(g, sum, x);
  assert_ok(alone(g));
  weir_graph_destroy(&g);
}

static int64_t arena_of(bool cosmo, const char *skip)
{
  weir_exec_cfg cfg;
  train_net t;
  weir_plan *p;

  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.tier = WEIR_TIER_REFERENCE;
  cfg.skip = skip;
  assert_ok(cosmo ? train_cosmo(&t, 1, 16, 8) : train_unet(&t, 1, 16, 8));
  assert_ok(weir_plan_create(t.g, t.store, &(weir_plan_opts){.exec = &cfg}, &p));
  const int64_t bytes = weir_plan_arena_bytes(p);

  assert_true((double)bytes <= 1.1 * (double)weir_plan_arena_bound(p));
  weir_plan_destroy(&p);
  train_fini(&t);
  return bytes;
}

static void training_takes_less_memory(void **state)
{
  for (int cosmo = 0; cosmo < 2; cosmo++) {
    const int64_t without = arena_of(cosmo, "recompute"), with = arena_of(cosmo, "");

    assert_true(with <= without);
    assert_true(cosmo || (double)with < 0.95 * (double)without);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_comparison_is_kept_for_a_number),
      cmocka_unit_test(what_is_there_anyway_is_used_again),
      cmocka_unit_test(costly_functions_are_kept),
      cmocka_unit_test(costly_functions_are_made_again_to_save_memory),
      cmocka_unit_test(results_that_many_read_are_priced_once),
      cmocka_unit_test(training_takes_less_memory),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
