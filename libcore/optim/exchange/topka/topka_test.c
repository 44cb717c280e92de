/* topka_test.c - the sum of the largest elements of each rank, made in another way; what ranks
 * keep; and bytes. */
#include "optim/exchange_sparse.h"
#include "support/optim/sparse_check.h"

extern const weir_exchange_desc weir_exchange_topka;

static const struct exchange_sparse_opts tenth = {.density = 0.1}, full = {.density = 1},
                                         dense = {.density = 0.1, .dense_steps = 100},
                                         warm = {.density = 0.1, .dense_steps = 5};

static void no_gradient_is_lost_or_counted_twice(void **state)
{
  (void)state;
  assert_sparse_conserved(&weir_exchange_topka, &tenth);
  assert_sparse_conserved(&weir_exchange_topka, &warm);
}

static void all_elements_are_a_dense_sum(void **state)
{
  (void)state;
  assert_sparse_dense(&weir_exchange_topka, &full);
  assert_sparse_dense(&weir_exchange_topka, &dense);
}

static void a_resumed_run_is_the_same(void **state)
{
  (void)state;
  assert_sparse_resumed(&weir_exchange_topka, &tenth);
  assert_sparse_resumed(&weir_exchange_topka, &warm);
}

static void a_nan_is_not_hidden(void **state)
{
  (void)state;
  assert_sparse_nan(&weir_exchange_topka, &tenth);
}

static void the_sum_is_that_of_a_serial_one(void **state)
{
  static sparse_run r;
  double sum[SPARSE_SMALL];

  (void)state;
  for (int ranks = 1; ranks <= SPARSE_RANKS; ranks++) {
    r = sparse_small(&weir_exchange_topka, &tenth, WEIR_I64, ranks);
    sparse_do(&r);
    for (int step = 0; step < r.steps; step++) {
      sparse_sum_of_top(&r, step, (int)(0.1 * r.count + 0.5), sum);
      assert_memory_equal(sparse_at(&r, r.result, step, 0), sum, (size_t)r.count * sizeof *sum);
    }
    assert_true(sparse_keeps_what_is_not_applied(&r));
    sparse_free(&r);
  }
}

/* k values and k indices to each other rank. */
static void a_rank_moves_2_k_words_for_each_other_one(void **state)
{
  static sparse_run r;

  (void)state;
  for (int ranks = 1; ranks <= SPARSE_RANKS; ranks++) {
    r = sparse_small(&weir_exchange_topka, &tenth, WEIR_F64, ranks);
    r.stores = false;
    sparse_do(&r);
    const int64_t elements = (int64_t)(0.1 * r.count + 0.5) * (ranks - 1) * r.steps;

    for (int rank = 0; rank < ranks; rank++) {
      const weir_comm_count *const c = &r.counted[rank][WEIR_COMM_VARYING];

      assert_int_equal(c->sent_index_bytes, 4 * elements);
      assert_int_equal(c->received_index_bytes, 4 * elements);
      assert_int_equal(c->sent_bytes - c->sent_index_bytes, 8 * elements);
      assert_int_equal(c->received_bytes - c->received_index_bytes, 8 * elements);
      assert_int_equal(c->sent, (ranks - 1) * r.steps);
    }
    sparse_free(&r);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_gradient_is_lost_or_counted_twice),
      cmocka_unit_test(all_elements_are_a_dense_sum),
      cmocka_unit_test(a_resumed_run_is_the_same),
      cmocka_unit_test(a_nan_is_not_hidden),
      cmocka_unit_test(the_sum_is_that_of_a_serial_one),
      cmocka_unit_test(a_rank_moves_2_k_words_for_each_other_one),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
