/* train_test.c - what passes do to graphs that learn: results stay what they are. */
#include "support/exec/train_nets.h"
#include "support/graph/store_check.h"

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "exec/weir_engine.h"
#include "exec/weir_plan.h"
#include "pass/weir_pass.h"

enum { SIDE = 8, CHANNELS = 3, BATCH = 2, NETS = 2, COSMO = 0 };

/* Results and stored arrays after a run, one after the other. */
typedef struct outcome {
  float *values;
  int64_t n, capacity;
} outcome;

static void keep(outcome *o, const float *from, int64_t n)
{
  assert_ok(weir_reserve(&o->values, &o->capacity, o->n + n, sizeof(float)));
  memcpy(o->values + o->n, from, (size_t)n * sizeof(float));
  o->n += n;
}

static void make(int which, train_net *t)
{
  assert_ok(which == COSMO ? train_cosmo(t, BATCH, SIDE, CHANNELS)
                           : train_unet(t, BATCH, SIDE, CHANNELS));
}

static void run(const train_net *t, weir_plan *p, outcome *o)
{
  weir_binding bindings[2];
  weir_tensor tensors[2];
  int n = 0;

  for (int32_t a = 0; a < weir_graph_arrays(t->g); a++) {
    const weir_array *array = weir_graph_get_array(t->g, a);

    if (array->kind == WEIR_ARRAY_INPUT) {
      assert_true(n < 2);
      assert_ok(weir_tensor_init(&tensors[n], WEIR_F32, array->desc.rank, array->desc.shape));
      for (int64_t i = 0; i < weir_tensor_numel(&tensors[n]); i++) {
        ((float *)tensors[n].data)[i] =
            (float)(2 * weir_random_uniform(5, (uint32_t)n, 0, (uint64_t)i) - 1);
      }
      bindings[n] = (weir_binding){array->name, &tensors[n]};
      n++;
    }
  }
  assert_ok(weir_plan_run(p, bindings, n));
  for (int32_t a = 0; a < weir_graph_arrays(t->g); a++) {
    const weir_array *array = weir_graph_get_array(t->g, a);
    int64_t lo, hi, count = 1;
    weir_view v;

    for (int d = 0; d < array->desc.rank; d++) {
      count *= array->desc.shape[d];
    }
    if (array->output != NULL) {
      assert_ok(weir_plan_result(p, array->output, &v, &lo, &hi));
      keep(o, v.data, count);
    }
  }
  for (int64_t i = 0; i < weir_store_count(t->store); i++) {
    const weir_tensor *w = check_stored(t->store, weir_store_name(t->store, i));

    keep(o, w->data, weir_tensor_numel(w));
  }
  for (int k = 0; k < n; k++) {
    weir_tensor_fini(&tensors[k]);
  }
}

static outcome outcome_of(int which, const weir_exec_cfg *cfg, int threads)
{
  const weir_plan_opts opts = {.exec = cfg, .threads = threads};
  outcome o = {0};
  train_net t;
  weir_plan *p;

  make(which, &t);
  assert_ok(weir_plan_create(t.g, t.store, &opts, &p));
  run(&t, p, &o);
  weir_plan_destroy(&p);
  train_fini(&t);
  return o;
}

static weir_exec_cfg defaults(void)
{
  weir_exec_cfg cfg;

  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.tier = WEIR_TIER_VECTOR; /* every build has it, and no compiler is waited for */
  return cfg;
}

/* `tolerance` 0: to the bit. */
static void compare(const char *what, outcome *actual, const outcome *expected, double tolerance)
{
  const weir_tolerance limit = {tolerance, tolerance};

  assert_int_equal(actual->n, expected->n);
  assert_int_equal(weir_compare(what, WEIR_F32, actual->values, expected->values, actual->n, limit),
                   0);
  weir_free(&actual->values);
}

static void leaving_a_pass_out_changes_rounding_only(void **state)
{
  for (int which = 0; which < NETS; which++) {
    weir_exec_cfg cfg = defaults();
    outcome expected = outcome_of(which, &cfg, 1), actual;
    int64_t moved = 0;

    for (int64_t i = 0; i < expected.n; i++) {
      moved += expected.values[i] != 0;
    }
    assert_true(moved > expected.n / 2);
    for (int i = 0; weir_pass_table[i] != NULL; i++) {
      cfg.skip = weir_pass_table[i]->name;
      actual = outcome_of(which, &cfg, 1);
      compare(cfg.skip, &actual, &expected, 1e-6);
    }
    cfg = defaults();
    cfg.tier = WEIR_TIER_REFERENCE;
    actual = outcome_of(which, &cfg, 1);
    compare("the oracle", &actual, &expected, 2e-5);
    weir_free(&expected.values);
  }
}

static bool has_native(void)
{
  for (int i = 0; weir_engine_table[i] != NULL; i++) {
    if (weir_engine_table[i]->tier == WEIR_TIER_NATIVE) {
      return true;
    }
  }
  return false;
}

/* Compiled rows, several to a call, among them those of positions of maxima. */
static void compiled_code_keeps_every_bit(void **state)
{
  for (int which = 0; which < NETS && has_native(); which++) {
    weir_exec_cfg cfg = defaults();
    outcome expected = outcome_of(which, &cfg, 1);

    cfg.tier = WEIR_TIER_NATIVE;
    outcome actual = outcome_of(which, &cfg, 1);

    compare("compiled", &actual, &expected, 0);
    weir_free(&expected.values);
  }
}

static void positions_of_maxima_hold_in_every_row(void **state)
{
  enum { LINES = 37, WIDE = 8 };
  const weir_array_desc d = {.dtype = WEIR_F32, .rank = 3, .shape = {3, LINES, WIDE}};
  const weir_reduce_spec s = {.combine = WEIR_COMBINE_ARGMAX, .n_dims = 2, .dim = {0, 1}};

  const weir_tier last = has_native() ? WEIR_TIER_NATIVE : WEIR_TIER_VECTOR;

  for (weir_tier tier = WEIR_TIER_REFERENCE; tier <= last; tier++) {
    weir_exec_cfg cfg = defaults();
    weir_tensor x;
    weir_graph *g;
    weir_plan *p;
    weir_view v;
    int64_t lo, hi;

    cfg.tier = (int)tier;
    assert_ok(weir_graph_create(&g));
    const weir_value best = weir_reduce(g, &s, weir_input(g, "x", &d));

    weir_output(g, "at", (weir_value){best.node, 1});
    assert_ok(weir_plan_create(g, NULL, &(weir_plan_opts){.exec = &cfg}, &p));
    assert_ok(weir_tensor_init(&x, WEIR_F32, d.rank, d.shape));
    for (int64_t c = 0; c < WIDE; c++) {
      ((float *)x.data)[(13 * c + 5) * WIDE + c] = 1;
    }
    assert_ok(weir_plan_run(p, &(weir_binding){"x", &x}, 1));
    assert_ok(weir_plan_result(p, "at", &v, &lo, &hi));
    for (int64_t c = 0; c < WIDE; c++) {
      assert_int_equal(((const int64_t *)v.data)[c], 13 * c + 5);
    }
    weir_tensor_fini(&x);
    weir_plan_destroy(&p);
    weir_graph_destroy(&g);
  }
}

static void threads_and_tiles_keep_every_bit(void **state)
{
  for (int which = 0; which < NETS; which++) {
    weir_exec_cfg cfg = defaults();
    outcome expected = outcome_of(which, &cfg, 1);
    outcome actual = outcome_of(which, &cfg, 2);

    compare("two threads", &actual, &expected, 0);
    cfg.cache_bytes = 4096;
    actual = outcome_of(which, &cfg, 2);
    compare("small tiles", &actual, &expected, 0);
    weir_free(&expected.values);
  }
}

static void the_oracle_holds_after_every_pass(void **state)
{
  for (int which = 0; which < NETS; which++) {
    weir_exec_cfg cfg = defaults();

    cfg.verify = 1;
    outcome o = outcome_of(which, &cfg, 1);

    assert_true(o.n > 0);
    weir_free(&o.values);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(leaving_a_pass_out_changes_rounding_only),
      cmocka_unit_test(threads_and_tiles_keep_every_bit),
      cmocka_unit_test(compiled_code_keeps_every_bit),
      cmocka_unit_test(positions_of_maxima_hold_in_every_row),
      cmocka_unit_test(the_oracle_holds_after_every_pass),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
