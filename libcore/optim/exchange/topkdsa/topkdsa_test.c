/* topkdsa_test.c - the sum of the largest elements of each rank, made in another way; what ranks
 * keep; and bytes, which become those of a dense sum where regions fill up. */
#include "optim/exchange_sparse.h"
#include "support/optim/sparse_check.h"

extern const weir_exchange_desc weir_exchange_topkdsa;

static const struct exchange_sparse_opts tenth = {.density = 0.1}, full = {.density = 1},
                                         dense = {.density = 0.1, .dense_steps = 100},
                                         warm = {.density = 0.1, .dense_steps = 5};

static void no_gradient_is_lost_or_counted_twice(void **state)
{
  (void)state;
  assert_sparse_conserved(&weir_exchange_topkdsa, &tenth);
  assert_sparse_conserved(&weir_exchange_topkdsa, &warm);
}

static void all_elements_are_a_dense_sum(void **state)
{
  (void)state;
  assert_sparse_dense(&weir_exchange_topkdsa, &full);
  assert_sparse_dense(&weir_exchange_topkdsa, &dense);
}

static void a_resumed_run_is_the_same(void **state)
{
  (void)state;
  assert_sparse_resumed(&weir_exchange_topkdsa, &tenth);
  assert_sparse_resumed(&weir_exchange_topkdsa, &warm);
}

static void a_nan_is_not_hidden(void **state)
{
  (void)state;
  assert_sparse_nan(&weir_exchange_topkdsa, &tenth);
}

static void the_sum_is_that_of_a_serial_one(void **state)
{
  static sparse_run r;
  double sum[SPARSE_SMALL];

  (void)state;
  for (int ranks = 1; ranks <= SPARSE_RANKS; ranks++) {
    r = sparse_small(&weir_exchange_topkdsa, &tenth, WEIR_I64, ranks);
    sparse_do(&r);
    for (int step = 0; step < r.steps; step++) {
      sparse_sum_of_top(&r, step, (int)(0.1 * r.count + 0.5), sum);
      assert_memory_equal(sparse_at(&r, r.result, step, 0), sum, (size_t)r.count * sizeof *sum);
    }
    assert_true(sparse_keeps_what_is_not_applied(&r));
    sparse_free(&r);
  }
}

/* Largest everywhere at multiples of 10: all ranks select the same elements. */
static double same_places(const sparse_run *r, int rank, int step, int i)
{
  (void)r;
  (void)step;
  return i % 10 == 0 ? 1000 + rank + i : 0;
}

/* Each rank selects elements of its own. */
static double other_places(const sparse_run *r, int rank, int step, int i)
{
  (void)step;
  return i % r->ranks == rank ? 1000 + i : 0;
}

static int64_t words(const weir_comm_count *c, bool received)
{
  const int64_t bytes = received ? c->received_bytes : c->sent_bytes;
  const int64_t index = received ? c->received_index_bytes : c->sent_index_bytes;

  return (bytes - index) / 8 + index / 4;
}

/* Bytes are those of k elements from the ranks to the regions and back, 4 k (P - 1) / P words,
 * where ranks agree; and at most those of a dense result where they fill it. */
static void regions_that_fill_up_are_dense(void **state)
{
  static sparse_run r;
  (void)state;
  for (int ranks = 2; ranks <= SPARSE_RANKS; ranks += 2) {
    r = sparse_small(&weir_exchange_topkdsa, &tenth, WEIR_I64, ranks);
    r.stores = false;
    r.gradient = same_places;
    r.count = 10 * ranks * ranks;
    r.steps = 1;
    const int64_t k = ranks * ranks, n = r.count;
    const struct exchange_sparse_opts share = {.density = 1.0 / ranks};

    sparse_do(&r);
    for (int rank = 0; rank < ranks; rank++) {
      const weir_comm_count *const c = &r.counted[rank][WEIR_COMM_VARYING];

      assert_int_equal(words(c, false), 4 * k * (ranks - 1) / ranks);
      assert_int_equal(words(c, true), 4 * k * (ranks - 1) / ranks);
    }
    sparse_free(&r);
    r.opts = &share;
    r.gradient = other_places;
    sparse_do(&r);
    for (int rank = 0; rank < ranks; rank++) {
      const weir_comm_count *const c = &r.counted[rank][WEIR_COMM_VARYING];

      assert_true(words(c, true) <= (2 * n / ranks + n) * (ranks - 1) / ranks);
      assert_int_equal(c->sent_bytes - c->sent_index_bytes - 2 * c->sent_index_bytes,
                       8 * n / ranks * (ranks - 1)); /* the block of the rank has no indices */
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
      cmocka_unit_test(regions_that_fill_up_are_dense),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
