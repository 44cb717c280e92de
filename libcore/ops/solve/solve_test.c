/* solve_test.c - systems by hand, stacks on threads, what has no answer, refusals. */
#include "ops/solve/weir_solve.h"
#include "base/weir_random.h"
#include "support/exec/library_check.h"

static library_run *new_run(void)
{
  static library_run r;

  memset(&r, 0, sizeof r);
  r.g = new_graph();
  return &r;
}

static void systems_by_hand(void **state)
{
  const weir_solve_spec rows[] = {{0, 0}, {1, 0}};
  const double expected[][2] = {{-1, 2}, {-1.75, 2.25}}; /* [1 3; 2 4] x = (5, 6), and transposed */

  for (int k = 0; k < 2; k++) {
    library_run *r = new_run();
    const weir_value a = LIBRARY_INPUT(r, WEIR_F64, 2, 2), b = LIBRARY_INPUT(r, WEIR_F64, 2, 1);

    library_output(r, weir_solve(r->g, a, b, &rows[k]));
    memcpy(r->memory[0], (const double[]){1, 3, 2, 4}, 4 * sizeof(double));
    memcpy(r->memory[1], k == 0 ? (const double[]){5, 6} : (const double[]){2.75, 3.75},
           2 * sizeof(double));
    (void)library_execute(r, "auto", 1);
    if (k == 0) {
      assert_near(r->memory[2][0], expected[0][0], 1e-14);
      assert_near(r->memory[2][1], expected[0][1], 1e-14);
    } else {
      assert_near(r->memory[2][0] + 2 * r->memory[2][1], 2.75, 1e-14);
      assert_near(3 * r->memory[2][0] + 4 * r->memory[2][1], 3.75, 1e-14);
    }
    weir_graph_destroy(&r->g);
  }
}

/* i x = 1 gives -i; its adjoint -i x = 1 gives i. */
static void the_conjugate_is_meant_where_asked(void **state)
{
  const weir_solve_spec rows[] = {{0, 0}, {1, 1}, {0, 1}, {1, 0}};
  const double expected[] = {-1, 1, 1, -1};

  for (int k = 0; k < 4; k++) {
    library_run *r = new_run();
    const weir_value a = LIBRARY_INPUT(r, WEIR_C128, 1, 1), b = LIBRARY_INPUT(r, WEIR_C128, 1, 1);

    library_output(r, weir_solve(r->g, a, b, &rows[k]));
    memcpy(r->memory[0], (const double[]){0, 1}, 2 * sizeof(double));
    memcpy(r->memory[1], (const double[]){1, 0}, 2 * sizeof(double));
    (void)library_execute(r, "auto", 1);
    assert_near(r->memory[2][0], 0, 0);
    assert_near(r->memory[2][1], expected[k], 0);
    weir_graph_destroy(&r->g);
  }
}

/* Seven matrices and one right side, on one thread and on three, by the reference and by a kernel.
 */
static void stacks_are_the_same_bits_on_threads(void **state)
{
  enum { N = 5, STACK = 7 };
  static double one[STACK * N * 2];

  for (int k = 0; k < 4; k++) {
    const char *kernel = k < 2 ? "none" : "auto";
    library_run *r = new_run();
    const weir_value a = LIBRARY_INPUT(r, WEIR_F64, STACK, N, N);
    const weir_value b = LIBRARY_INPUT(r, WEIR_F64, N, 2);

    library_output(r, weir_solve(r->g, a, b, NULL));
    for (uint64_t i = 0; i < STACK * N * N; i++) {
      r->memory[0][i] = weir_random_uniform(3, 0, 0, i) - 0.5;
      r->memory[1][i % (2 * N)] = weir_random_uniform(3, 1, 0, i % (2 * N)) - 0.5;
    }
    const int claimed = library_execute(r, kernel, k % 2 == 0 ? 1 : 3);

    assert_true(k >= 2 || claimed == 0);
    if (k % 2 == 1) {
      assert_memory_equal(one, r->memory[2], sizeof one);
    }
    memcpy(one, r->memory[2], sizeof one);
    for (int64_t i = 0; i < STACK * N; i++) {
      const double *row = &r->memory[0][i * N], *x = &r->memory[2][i / N * N * 2];
      double left = -r->memory[1][i % N * 2];

      for (int j = 0; j < N; j++) {
        left += row[j] * x[j * 2];
      }
      assert_near(left, 0, 1e-12);
    }
    weir_graph_destroy(&r->g);
  }
}

/* Three systems in turn, in stacks of three and of forty: enough to be solved side by side. */
static void systems_have_the_same_bits_wherever_they_stand(void **state)
{
  enum { N = 5, FEW = 3, MANY = 40 };
  const weir_dtype dtypes[] = {WEIR_F32, WEIR_F64, WEIR_C64, WEIR_C128};
  static char few[FEW * N * sizeof(weir_c128)];

  for (int d = 0; d < 4; d++) {
    for (int k = 0; k < 3; k++) {
      const int64_t stack = k == 0 ? FEW : MANY, parts = weir_dtype_parts(dtypes[d]);
      const int64_t each = N * (int64_t)weir_dtype_size(dtypes[d]);
      const weir_dtype part = weir_dtype_part(dtypes[d]);
      library_run *r = new_run();
      const weir_value a = LIBRARY_INPUT(r, dtypes[d], stack, N, N);
      const weir_value b = LIBRARY_INPUT(r, dtypes[d], stack, N, 1);

      library_output(r, weir_solve(r->g, a, b, NULL));
      for (int64_t i = 0; i < stack * N * N * parts; i++) {
        const uint64_t at = (uint64_t)(i % (FEW * N * N * parts));

        weir_dtype_store_real(part, r->memory[0], i, weir_random_uniform(4, 0, 0, at) - 0.5);
      }
      for (int64_t i = 0; i < stack * N * parts; i++) {
        const uint64_t at = (uint64_t)(i % (FEW * N * parts));

        weir_dtype_store_real(part, r->memory[1], i, weir_random_uniform(4, 1, 0, at) - 0.5);
      }
      (void)library_execute(r, "auto", k == 1 ? 1 : 3);
      if (k == 0) {
        memcpy(few, r->memory[2], (size_t)(FEW * each));
      }
      for (int64_t i = 0; i < stack; i++) {
        assert_memory_equal((char *)r->memory[2] + i * each, few + i % FEW * each, (size_t)each);
      }
      weir_graph_destroy(&r->g);
    }
  }
}

/* Of the four systems the second is singular, the third has NaN in its matrix, the fourth in the
 * first of its two right sides. */
static void what_has_no_answer_is_nan_and_harms_no_other(void **state)
{
  for (int kernel = 0; kernel < 2; kernel++) {
    library_run *r = new_run();
    const weir_value a = LIBRARY_INPUT(r, WEIR_F32, 4, 2, 2),
                     b = LIBRARY_INPUT(r, WEIR_F32, 4, 2, 2);
    float *m = (float *)r->memory[0], *s = (float *)r->memory[1], *x = (float *)r->memory[2];

    library_output(r, weir_solve(r->g, a, b, NULL));
    for (int i = 0; i < 4; i++) {
      memcpy(m + 4 * i, (const float[]){2, 0, 0, 4}, 4 * sizeof *m);
      memcpy(s + 4 * i, (const float[]){2, 4, 8, 16}, 4 * sizeof *s);
    }
    memcpy(m + 4, (const float[]){1, 2, 2, 4}, 4 * sizeof *m);
    m[8] = NAN;
    s[12] = NAN;
    (void)library_execute(r, kernel ? "auto" : "none", 2);
    for (int i = 0; i < 4; i++) {
      const float expected[] = {1, 2, 2, 4};
      const bool none = i == 1 || i == 2;

      for (int k = 0; k < 4; k++) {
        if (none || (i == 3 && k % 2 == 0)) {
          assert_true(isnan(x[4 * i + k]));
        } else {
          assert_near((double)x[4 * i + k], (double)expected[k], 0);
        }
      }
    }
    weir_graph_destroy(&r->g);
  }
}

static void wrong_shapes_are_refused(void **state)
{
  weir_graph *g = new_graph();

  assert_refused(g,
                 weir_solve(g, GIVEN(g, "a", WEIR_F64, 3, 2), GIVEN(g, "b", WEIR_F64, 3, 1), NULL),
                 "a matrix of 3 x 2 f64 does not fit a right-hand side of 3 rows of f64");
  g = new_graph();
  assert_refused(g,
                 weir_solve(g, GIVEN(g, "a", WEIR_F64, 3, 3), GIVEN(g, "b", WEIR_F32, 3, 1), NULL),
                 "right-hand side of 3 rows of f32");
  g = new_graph();
  assert_refused(g,
                 weir_solve(g, GIVEN(g, "a", WEIR_I32, 3, 3), GIVEN(g, "b", WEIR_I32, 3, 1), NULL),
                 "f32, f64, c64 and c128 are supported");
  g = new_graph();
  assert_refused(g, weir_solve(g, GIVEN(g, "a", WEIR_F64, 3), GIVEN(g, "b", WEIR_F64, 3, 1), NULL),
                 "input 0 has rank 1, at least 2 is needed");
  g = new_graph();
  assert_refused(g,
                 weir_solve(g, GIVEN(g, "a", WEIR_F64, 3, 3), GIVEN(g, "b", WEIR_F64, 3, 1),
                            &(weir_solve_spec){.conjugated = 1}),
                 "the conjugate of f64");
}

/* A stack that is a stream: one system a slot. */
static void streams_of_systems_have_time(void **state)
{
  weir_graph *g = new_graph();
  const weir_value x =
      weir_solve(g, GIVEN(g, "a", WEIR_F64, -1, 3, 3), GIVEN(g, "b", WEIR_F64, 3, 1), NULL);

  assert_shape(g, x, WEIR_F64, -1, 3, 1);
  assert_int_equal(access_of(g, x)->dim[0].kind, WEIR_PARALLEL);
  assert_true(access_of(g, x)->dim[0].time);
  weir_graph_destroy(&g);
  g = new_graph();
  assert_refused(g,
                 weir_solve(g, GIVEN(g, "a", WEIR_F64, 3, 3), GIVEN(g, "b", WEIR_F64, 3, -1), NULL),
                 "place it before these");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(systems_by_hand),
      cmocka_unit_test(the_conjugate_is_meant_where_asked),
      cmocka_unit_test(stacks_are_the_same_bits_on_threads),
      cmocka_unit_test(systems_have_the_same_bits_wherever_they_stand),
      cmocka_unit_test(what_has_no_answer_is_nan_and_harms_no_other),
      cmocka_unit_test(wrong_shapes_are_refused),
      cmocka_unit_test(streams_of_systems_have_time),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
