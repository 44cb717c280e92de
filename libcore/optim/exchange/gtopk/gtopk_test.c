/* gtopk_test.c - the tree of merges against a serial one; what ranks keep; and bytes. */
#include "optim/exchange_sparse.h"
#include "support/optim/sparse_check.h"

extern const weir_exchange_desc weir_exchange_gtopk;

static const struct exchange_sparse_opts tenth = {.density = 0.1}, full = {.density = 1},
                                         dense = {.density = 0.1, .dense_steps = 100},
                                         warm = {.density = 0.1, .dense_steps = 5};

static void no_gradient_is_lost_or_counted_twice(void **state)
{
  (void)state;
  assert_sparse_conserved(&weir_exchange_gtopk, &tenth);
  assert_sparse_conserved(&weir_exchange_gtopk, &warm);
}

static void all_elements_are_a_dense_sum(void **state)
{
  (void)state;
  assert_sparse_dense(&weir_exchange_gtopk, &full);
  assert_sparse_dense(&weir_exchange_gtopk, &dense);
}

static void a_resumed_run_is_the_same(void **state)
{
  (void)state;
  assert_sparse_resumed(&weir_exchange_gtopk, &tenth);
  assert_sparse_resumed(&weir_exchange_gtopk, &warm);
}

static void a_nan_is_not_hidden(void **state)
{
  (void)state;
  assert_sparse_nan(&weir_exchange_gtopk, &tenth);
}

/* What rank `first` has of a tree of ranks [first, first + n) in the end. */
static void merge_tree(const sparse_run *r, int step, int first, int n, int k, double *sum)
{
  double other[SPARSE_SMALL];
  int half = 1;

  if (n == 1) {
    for (int i = 0; i < r->count; i++) {
      sum[i] = sparse_before(r, step, first, i);
    }
    sparse_top(sum, r->count, k);
    return;
  }
  while (2 * half < n) {
    half *= 2;
  }
  merge_tree(r, step, first, half, k, sum);
  merge_tree(r, step, first + half, n - half, k, other);
  for (int i = 0; i < r->count; i++) {
    sum[i] += other[i];
  }
  sparse_top(sum, r->count, k);
}

static double distinct(const sparse_run *r, int rank, int step, int i)
{
  return (double)(weir_random_bits(r->seed, 3, (uint32_t)(rank + 100 * step), (uint64_t)i) >> 40) -
         (1 << 23);
}

static void the_result_is_that_of_a_serial_tree(void **state)
{
  static sparse_run r;
  double sum[SPARSE_SMALL];

  (void)state;
  for (int ranks = 1; ranks <= SPARSE_RANKS; ranks++) {
    r = sparse_small(&weir_exchange_gtopk, &tenth, WEIR_I64, ranks);
    r.gradient = distinct;
    sparse_do(&r);
    for (int step = 0; step < r.steps; step++) {
      merge_tree(&r, step, 0, ranks, (int)(0.1 * r.count + 0.5), sum);
      assert_memory_equal(sparse_at(&r, r.result, step, 0), sum, (size_t)r.count * sizeof *sum);
    }
    sparse_free(&r);
  }
}

/* No rank moves more than 4 k log2 P words, rank 0 as many where P is a power of 2; each message
 * has k elements. */
static void bytes_grow_with_the_depth_of_the_tree(void **state)
{
  static sparse_run r;

  (void)state;
  for (int ranks = 1, levels = 0; ranks <= SPARSE_RANKS; ranks++) {
    levels += 1 << levels < ranks;
    r = sparse_small(&weir_exchange_gtopk, &tenth, WEIR_F32, ranks);
    r.stores = false;
    sparse_do(&r);
    const int64_t bytes = 8 * (int64_t)(0.1 * r.count + 0.5) * r.steps;

    for (int rank = 0; rank < ranks; rank++) {
      const weir_comm_count *const c = &r.counted[rank][WEIR_COMM_VARYING];

      assert_true(c->sent_bytes + c->received_bytes <= 2 * levels * bytes);
      assert_int_equal(c->sent_bytes, 2 * c->sent_index_bytes);
      assert_int_equal(c->sent_bytes, 8 * (int64_t)(0.1 * r.count + 0.5) * c->sent);
      assert_true(rank > 0 ||
                  (c->sent_bytes == levels * bytes && c->received_bytes == c->sent_bytes));
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
      cmocka_unit_test(the_result_is_that_of_a_serial_tree),
      cmocka_unit_test(bytes_grow_with_the_depth_of_the_tree),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
