/* gaussiank_test.c - how many elements the threshold selects, of normal numbers and of others; what
 * ranks keep; and bytes. */
#include "optim/exchange/gaussiank/gaussiank_priv.h"
#include "support/optim/sparse_check.h"

extern const weir_exchange_desc weir_exchange_gaussiank;

#define OPTS .reselect_factor = 2, .scale = 1.012, .max_scalings = 20

static const struct gaussiank_opts tenth = {.density = 0.1, OPTS}, full = {.density = 1, OPTS},
                                   dense = {.density = 0.1, .dense_steps = 100, OPTS},
                                   warm = {.density = 0.1, .dense_steps = 5, OPTS};

static void no_gradient_is_lost_or_counted_twice(void **state)
{
  (void)state;
  assert_sparse_conserved(&weir_exchange_gaussiank, &tenth);
  assert_sparse_conserved(&weir_exchange_gaussiank, &warm);
}

static void all_elements_are_a_dense_sum(void **state)
{
  (void)state;
  assert_sparse_dense(&weir_exchange_gaussiank, &full);
  assert_sparse_dense(&weir_exchange_gaussiank, &dense);
}

static void a_resumed_run_is_the_same(void **state)
{
  (void)state;
  assert_sparse_resumed(&weir_exchange_gaussiank, &tenth);
  assert_sparse_resumed(&weir_exchange_gaussiank, &warm);
}

static void a_nan_is_not_hidden(void **state)
{
  (void)state;
  assert_sparse_nan(&weir_exchange_gaussiank, &tenth);
}

static void ranks_keep_what_is_not_applied(void **state)
{
  static sparse_run r;

  (void)state;
  for (int ranks = 1; ranks <= SPARSE_RANKS; ranks++) {
    r = sparse_small(&weir_exchange_gaussiank, &tenth, WEIR_I64, ranks);
    sparse_do(&r);
    assert_true(sparse_keeps_what_is_not_applied(&r));
    sparse_free(&r);
  }
}

static double normal(const sparse_run *r, int rank, int step, int i)
{
  const double u = weir_random_uniform(r->seed, 4, (uint32_t)(rank + 100 * step), (uint64_t)i);
  const double v = weir_random_uniform(r->seed, 5, (uint32_t)(rank + 100 * step), (uint64_t)i);

  return sqrt(-2 * log(1 - u)) * cos(2 * acos(-1) * v);
}

/* Nearly all at one of a few values, and a few far away. */
static double heavy(const sparse_run *r, int rank, int step, int i)
{
  const double x = normal(r, rank, step, i);

  return x * x * x * x * x;
}

/* Of normal numbers it selects k on average, within what a binomial distribution allows; of those
 * with heavy tails at least k / 2 and at most 2 k, if need be by an exact selection. Each selected
 * element is one in a message of the first step. */
static void about_k_elements_are_selected(void **state)
{
  static sparse_run r;
  struct gaussiank_opts opts = {.density = 0.01, OPTS};

  (void)state;
  for (int k = 0; k < 2; k++) {
    r = (sparse_run){.policy = &weir_exchange_gaussiank,
                     .opts = &opts,
                     .dtype = WEIR_F32,
                     .ranks = 2,
                     .steps = 1,
                     .count = 100000,
                     .gradient = k == 0 ? normal : heavy};
    sparse_do(&r);
    for (int rank = 0; rank < 2; rank++) {
      const double n = (double)r.counted[rank][WEIR_COMM_VARYING].sent_index_bytes / 4;

      print_message("%s numbers, rank %d: %g of 1000\n", k == 0 ? "normal" : "other", rank, n);
      assert_true(k == 0 ? fabs(n - 1000) < 4 * sqrt(1000) : n >= 500 && n <= 2000);
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
      cmocka_unit_test(ranks_keep_what_is_not_applied),
      cmocka_unit_test(about_k_elements_are_selected),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
