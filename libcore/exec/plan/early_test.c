/* early_test.c - stored arrays that are updated while a plan runs: when a piece is handed over it
 * has its new value, each element once, in the order of the layers' gradients; what cannot be
 * early is late, with the same elements. */
#include <string.h>
#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "exec/weir_plan.h"
#include "ops/concat/weir_concat.h"
#include "ops/contract/weir_contract.h"
#include "ops/elementwise/weir_elementwise.h"
#include "ops/reduce/weir_reduce.h"
#include "ops/slice/weir_slice.h"
#include "pass/autodiff/weir_gradients.h"
#include "support/graph/store_check.h"

enum { LAYERS = 5, N = 24, BATCH = 8, BANK = LAYERS * N * N };

typedef struct handed {
  weir_store *store;
  int64_t lo[BANK], hi[BANK];
  int n;
  float at[BANK]; /* elements as they were handed over */
  int64_t fails_at;
} handed;

static weir_status updated(void *context, const char *name, int64_t lo, int64_t hi)
{
  handed *h = context;
  weir_tensor *bank = NULL;

  assert_string_equal(name, "bank");
  WEIR_TRY(weir_store_pin(h->store, name, &bank));
  memcpy(h->at + lo, (const float *)bank->data + lo, (size_t)(hi - lo) * sizeof(float));
  h->lo[h->n] = lo;
  h->hi[h->n++] = hi;
  return h->n == h->fails_at ? weir_fail(WEIR_ERR_EXTERNAL, "as asked") : WEIR_OK;
}

/* y = tanh(.. tanh(x w0) .. w4); gradients of sum(y^2) by all w are added to the bank, row by row.
 */
static weir_graph *layers(weir_store *store, bool in_rows, bool shown)
{
  const weir_array_desc d = {.dtype = WEIR_F32, .rank = 2, .shape = {BATCH, N}};
  weir_value w[LAYERS], grad[LAYERS];
  weir_graph *g = NULL;

  assert_int_equal(weir_graph_create(&g), WEIR_OK);
  const weir_value bank = weir_stored(g, store, "bank");
  weir_value y = weir_input(g, "x", &d);

  for (int k = 0; k < LAYERS; k++) {
    char name[8] = {'w', (char)('0' + k), 0};

    w[k] = weir_stored(g, store, name);
    y = weir_tanh(g, weir_contract(g, "bi,ij->bj", y, w[k]));
  }
  assert_int_equal(weir_gradients(g, weir_sum(g, weir_square(g, y), -1), w, LAYERS, grad), WEIR_OK);
  for (int k = 0; k < LAYERS; k++) {
    const weir_value old = weir_slice(g, bank, 0, k * N, (k + 1) * N, 1);

    grad[k] = in_rows ? weir_add(g, old, weir_scale(g, grad[k], 0.5)) : grad[k];
  }
  const weir_value all = weir_concat(g, grad, LAYERS, 0);

  weir_update(g, bank, in_rows ? all : weir_add(g, bank, weir_scale(g, all, 0.5)));
  if (shown) {
    weir_output(g, "before", bank);
  }
  assert_int_equal(weir_graph_status(g), WEIR_OK);
  return g;
}

static weir_store *filled(void)
{
  const int64_t bank[2] = {LAYERS * N, N}, one[2] = {N, N};
  weir_store *s = NULL;
  weir_tensor *t = NULL;

  assert_int_equal(weir_store_create(&s), WEIR_OK);
  assert_int_equal(weir_store_add(s, "bank", WEIR_F32, 2, bank), WEIR_OK);
  assert_int_equal(weir_store_pin(s, "bank", &t), WEIR_OK);
  for (int64_t i = 0; i < BANK; i++) {
    ((float *)t->data)[i] = (float)(i % 7);
  }
  for (int k = 0; k < LAYERS; k++) {
    char name[8] = {'w', (char)('0' + k), 0};

    assert_int_equal(weir_store_add(s, name, WEIR_F32, 2, one), WEIR_OK);
    t = check_stored(s, name);
    for (int64_t i = 0; i < N * N; i++) {
      ((float *)t->data)[i] = (float)((i * 37 + k) % 11 - 5) / 20;
    }
  }
  return s;
}

/* Runs twice, the second time with the hook; returns the bank. */
static weir_status run(weir_store *store, const weir_graph *g, const char *early, handed *h,
                       float *bank)
{
  const int64_t shape[2] = {BATCH, N};
  weir_plan *p = NULL;
  weir_tensor x;
  weir_exec_cfg cfg;

  weir_opts_default(weir_exec_opts, sizeof cfg, &cfg);
  cfg.tier = WEIR_TIER_VECTOR;
  assert_int_equal(weir_tensor_init(&x, WEIR_F32, 2, shape), WEIR_OK);
  for (int64_t i = 0; i < BATCH * N; i++) {
    ((float *)x.data)[i] = (float)(i % 13) / 13;
  }
  assert_int_equal(
      weir_plan_create(g, store, &(weir_plan_opts){.exec = &cfg, .threads = 1, .early = early}, &p),
      WEIR_OK);
  h->store = store;
  assert_int_equal(weir_plan_run(p, &(weir_binding){"x", &x}, 1), WEIR_OK);
  weir_plan_on_update(p, updated, h);
  const weir_status status = weir_plan_run(p, &(weir_binding){"x", &x}, 1);

  memcpy(bank, check_stored(store, "bank")->data, BANK * sizeof(float));
  weir_plan_destroy(&p);
  weir_tensor_fini(&x);
  return status;
}

static weir_status ran(bool in_rows, bool shown, const char *early, handed *h, float *bank)
{
  weir_store *store = filled();
  weir_graph *g = layers(store, in_rows, shown);
  const weir_status status = run(store, g, early, h, bank);

  weir_graph_destroy(&g);
  weir_store_destroy(&store);
  return status;
}

static void pieces_come_with_their_values_from_the_last_layer_on(void **state)
{
  static float late[BANK], early[BANK];
  static handed h, none;

  (void)state;
  h = none = (handed){.n = 0};
  assert_int_equal(ran(true, false, NULL, &none, late), WEIR_OK);
  assert_int_equal(none.n, 0);
  assert_int_equal(ran(true, false, "bank", &h, early), WEIR_OK);
  assert_memory_equal(early, late, sizeof late);
  assert_memory_equal(h.at, early, sizeof early);
  assert_int_equal(h.n, LAYERS);
  for (int k = 0; k < LAYERS; k++) {
    assert_int_equal(h.hi[k], h.lo[k] + N * N);
    if (k < LAYERS - 2) {
      assert_int_equal(h.lo[k], (LAYERS - 1 - k) * N * N);
    }
  }
  /* Where the last step of the backward pass is part of the first layer's piece, two are ready. */
  assert_true(h.lo[LAYERS - 2] + h.lo[LAYERS - 1] == N * N);
}

/* An update of the whole array has one writer: it is one piece, at the end. */
static void a_whole_update_is_one_piece(void **state)
{
  static float late[BANK], early[BANK];
  static handed h, none;

  (void)state;
  h = none = (handed){.n = 0};
  assert_int_equal(ran(true, false, NULL, &none, late), WEIR_OK);
  assert_int_equal(ran(false, false, "bank", &h, early), WEIR_OK);
  assert_memory_equal(early, late, sizeof late);
  assert_memory_equal(h.at, early, sizeof early);
  assert_int_equal(h.n, 1);
  assert_int_equal(h.hi[0] - h.lo[0], BANK);
}

static void old_values_that_are_a_result_stay_to_the_end(void **state)
{
  static float late[BANK], early[BANK];
  static handed h;

  (void)state;
  h = (handed){.n = 0};
  assert_int_equal(ran(true, true, NULL, &h, late), WEIR_OK);
  assert_int_equal(ran(true, true, "bank", &h, early), WEIR_OK);
  assert_memory_equal(early, late, sizeof late);
  assert_int_equal(h.n, 0);
}

static void a_failure_of_the_hook_ends_the_run(void **state)
{
  static float bank[BANK];
  static handed h;

  (void)state;
  h = (handed){.fails_at = 2};
  assert_int_equal(ran(true, false, "bank", &h, bank), WEIR_ERR_EXTERNAL);
  assert_int_equal(h.n, 2);
  weir_clear_failure();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pieces_come_with_their_values_from_the_last_layer_on),
      cmocka_unit_test(a_whole_update_is_one_piece),
      cmocka_unit_test(old_values_that_are_a_result_stay_to_the_end),
      cmocka_unit_test(a_failure_of_the_hook_ends_the_run),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
