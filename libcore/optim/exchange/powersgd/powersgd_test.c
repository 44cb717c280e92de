/* powersgd_test.c - low-rank sums of gradients: what is exact, what is kept, bytes, convergence. */
#include "optim/exchange/powersgd/powersgd_priv.h"
#include "support/optim/compressed_check.h"

extern const weir_exchange_desc weir_exchange_powersgd;

/* Three matrices with vectors between them. The last one has factors as large as itself. */
enum { ROWS = 12, COLUMNS = 15, FIRST = 7, WIDE = 9, LONG = 20, NEXT = 200, COUNT = 390 };
static const weir_exchange_matrix shapes[] = {
    {FIRST, ROWS, COLUMNS}, {NEXT, WIDE, LONG}, {NEXT + WIDE * LONG, 2, 2}};

static double noise(const compressed *r, int rank, int step, int64_t i)
{
  return weir_random_normal(r->seed, (uint32_t)rank, (uint32_t)step, (uint64_t)i);
}

/* Matrices of rank 2 as sums over ranks, though not on each rank alone. */
static void rank_two(const compressed *r, int rank, int step, const double *w, double *out)
{
  compressed_random(r, rank, step, w, out);
  for (int m = 0; m < 2; m++) {
    for (int64_t i = 0; i < shapes[m].rows; i++) {
      for (int64_t j = 0; j < shapes[m].columns; j++) {
        double *const at = &out[shapes[m].first + i * shapes[m].columns + j];
        double own = *at;

        if (rank == r->ranks - 1) { /* takes what the others have too much */
          own = noise(r, 100 + m, step, i) * noise(r, 200 + m, step, j) +
                noise(r, 300 + m, step, i) * noise(r, 400 + m, step, j);
          for (int q = 0; q < rank; q++) {
            own -= noise(r, q, step, shapes[m].first + i * shapes[m].columns + j);
          }
        }
        *at = own;
      }
    }
  }
}

static compressed prepare(const struct powersgd_opts *opts, weir_dtype dtype, int ranks, int steps)
{
  return (compressed){.policy = &weir_exchange_powersgd,
                      .opts = opts,
                      .dtype = dtype,
                      .ranks = ranks,
                      .steps = steps,
                      .count = COUNT,
                      .matrix = shapes,
                      .n_matrices = 3,
                      .seed = 5,
                      .gradient = compressed_random};
}

static compressed r, other;

static void what_is_given_is_returned_or_kept(void **state)
{
  (void)state;
  for (int ranks = 1; ranks <= 5; ranks++) {
    for (int way = 0; way < 4; way++) {
      const struct powersgd_opts opts = {
          .rank = 1 + way, .warm_start = way % 2 == 0, .orthogonalisation = way / 2};

      r = prepare(&opts, WEIR_F64, ranks, 20);
      compressed_run(&r);
      assert_conserved(&r, 1e-12);
      r = prepare(&opts, WEIR_F32, ranks, 20);
      compressed_run(&r);
      assert_conserved(&r, 1e-5);
    }
  }
}

/* In every step: the residual is a sum of zero. */
static void sums_of_low_rank_are_exact(void **state)
{
  const struct powersgd_opts opts = {
      .rank = 2, .warm_start = true, .orthogonalisation = POWERSGD_GRAM_SCHMIDT_TWICE};

  (void)state;
  for (int steps = 1; steps <= 4; steps++) {
    r = prepare(&opts, WEIR_F64, 4, steps);
    r.gradient = rank_two;
    compressed_run(&r);
    for (int64_t i = 0; i < r.count; i++) {
      double given = 0;

      for (int q = 0; q < r.ranks; q++) {
        given += r.given[q][i];
      }
      assert_true(fabs(given - r.returned[0][i]) < 1e-11);
    }
  }
  const struct powersgd_opts one = {.rank = 1};
  double most = 0;

  r = prepare(&one, WEIR_F64, 4, 1);
  r.gradient = rank_two;
  compressed_run(&r);
  for (int64_t i = FIRST; i < FIRST + ROWS * COLUMNS; i++) {
    most = fmax(most, fabs(r.given[0][i] + r.given[1][i] + r.given[2][i] + r.given[3][i] -
                           r.returned[0][i]));
  }
  assert_true(most > 0.1); /* of a lower rank than the sum */
}

/* Vectors and the small matrix are sums without any residual. */
static void vectors_are_not_compressed(void **state)
{
  const struct powersgd_opts opts = {.rank = 1, .warm_start = true};

  (void)state;
  r = prepare(&opts, WEIR_F64, 3, 1);
  compressed_run(&r);
  for (int64_t i = 0; i < COUNT; i++) {
    const bool factored =
        (i >= FIRST && i < FIRST + ROWS * COLUMNS) || (i >= NEXT && i < NEXT + WIDE * LONG);
    const double given = r.given[0][i] + r.given[1][i] + r.given[2][i];

    if (!factored) {
      assert_true(fabs(given - r.returned[0][i]) < 1e-14);
      for (int q = 0; q < r.ranks; q++) {
        assert_true(r.kept[q][i] == 0);
      }
    }
  }
}

/* Two sums of r (rows + columns) and of all vectors: on two ranks each sends either once. */
static void bytes_are_those_of_the_factors(void **state)
{
  const struct powersgd_opts opts = {.rank = 3, .warm_start = true};
  const int64_t vectors = COUNT - ROWS * COLUMNS - WIDE * LONG;
  const int64_t elements = 3 * (ROWS + COLUMNS) + 3 * (WIDE + LONG) + vectors;

  (void)state;
  r = prepare(&opts, WEIR_F32, 2, 10);
  compressed_run(&r);
  for (int q = 0; q < 2; q++) {
    assert_int_equal(r.sent[q][WEIR_COMM_REDUCE].sent_bytes, 10 * 4 * elements);
    assert_int_equal(r.sent[q][WEIR_COMM_REDUCE].sent, 10 * 2);
    assert_int_equal(r.sent[q][WEIR_COMM_EXCHANGE].sent, 0);
    assert_int_equal(r.sent[q][WEIR_COMM_ALLGATHER].sent, 0);
  }
}

/* Without shapes: 19 x 20 elements, and 10 more. */
static void a_buffer_without_shapes_is_a_square(void **state)
{
  const struct powersgd_opts opts = {.rank = 2, .warm_start = true};

  (void)state;
  r = prepare(&opts, WEIR_F64, 2, 10);
  r.n_matrices = 0;
  compressed_run(&r);
  assert_conserved(&r, 1e-12);
  assert_int_equal(r.sent[0][WEIR_COMM_REDUCE].sent_bytes, 10 * 8 * (2 * (19 + 20) + 10));
  for (int64_t count = 0; count <= 3; count++) { /* nothing to factor */
    r = prepare(&opts, WEIR_F64, 2, 3);
    r.n_matrices = 0;
    r.count = count;
    compressed_run(&r);
    assert_conserved(&r, 1e-14);
  }
}

/* Bit for bit, with the factors of a warm start and without. */
static void a_resumed_policy_goes_on(void **state)
{
  (void)state;
  for (int warm = 0; warm < 2; warm++) {
    const struct powersgd_opts opts = {.rank = 2, .warm_start = warm != 0};

    r = prepare(&opts, WEIR_F32, 3, 9);
    compressed_run(&r);
    other = prepare(&opts, WEIR_F32, 3, 9);
    other.resumed = 4;
    compressed_run(&other);
    assert_memory_equal(r.returned[0], other.returned[0], sizeof r.returned[0]);
    assert_memory_equal(r.kept, other.kept, sizeof r.kept);
  }
}

/* ---- Convergence ---- */

/* Each rank alone has another minimum: without what is kept there would be none in common. */
static void a_quadratic_converges_to_the_minimum_of_all(void **state)
{
  const struct powersgd_opts opts = {
      .rank = 2, .warm_start = true, .orthogonalisation = POWERSGD_GRAM_SCHMIDT_TWICE};

  (void)state;
  r = prepare(&opts, WEIR_F64, 4, COMPRESSED_STEPS);
  r.gradient = compressed_quadratic;
  r.rate = 0.02;
  const double before = compressed_distance(&r);

  compressed_run(&r);
  print_message("distance %.3g of %.3g\n", compressed_distance(&r), before);
  assert_true(compressed_distance(&r) < 1e-3 * before);
}

static void whole_numbers_are_refused(void **state)
{
  const struct powersgd_opts opts = {.rank = 2};

  (void)state;
  r = prepare(&opts, WEIR_I64, 2, 1);
  assert_int_equal(compressed_try(&r), WEIR_ERR_UNSUPPORTED);
  assert_non_null(strstr(weir_last_message(), "powersgd: approximates f32 or f64"));
  weir_clear_failure();
}

static void overlapping_matrices_are_refused(void **state)
{
  const struct powersgd_opts opts = {.rank = 2};
  static const weir_exchange_matrix bad[][2] = {{{0, 4, 4}, {15, 4, 4}},
                                                {{0, 4, 4}, {COUNT, 1, 1}}};

  (void)state;
  for (int k = 0; k < 2; k++) {
    r = prepare(&opts, WEIR_F64, 2, 1);
    r.matrix = bad[k];
    r.n_matrices = 2;
    assert_int_equal(compressed_try(&r), WEIR_ERR_SHAPE);
    assert_non_null(strstr(weir_last_message(), "overlaps another one or the end"));
    weir_clear_failure();
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_given_is_returned_or_kept),
      cmocka_unit_test(sums_of_low_rank_are_exact),
      cmocka_unit_test(vectors_are_not_compressed),
      cmocka_unit_test(bytes_are_those_of_the_factors),
      cmocka_unit_test(a_buffer_without_shapes_is_a_square),
      cmocka_unit_test(a_resumed_policy_goes_on),
      cmocka_unit_test(a_quadratic_converges_to_the_minimum_of_all),
      cmocka_unit_test(whole_numbers_are_refused),
      cmocka_unit_test(overlapping_matrices_are_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
