/* lu_test.c - systems of every size, dtype and instruction set have small residuals; what has no
 * answer. */
#include "ops/weir_lu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/weir_random.h"
#include "device/weir_parallel.h"
#include "ops/lu_priv.h"
#include "support/ops/ops_check.h"

enum { MAX = 70 };

static const weir_dtype dtypes[] = {WEIR_F32, WEIR_F64, WEIR_C64, WEIR_C128};

/* a, b and x, and their memory. */
typedef struct subject {
  weir_matrix m[3];
  weir_c128 a[MAX * MAX], b[MAX * MAX], x[MAX * MAX];
} subject;

static subject s;
static char memory[1 << 20];

static void put(weir_matrix *m, int64_t i, int64_t j, weir_c128 z)
{
  const int64_t at = i * m->down + j * m->across;

  if (weir_dtype_is_complex(m->dtype)) {
    weir_dtype_store_complex(m->dtype, m->data, at, z);
  } else {
    weir_dtype_store_real(m->dtype, m->data, at, z.re);
  }
}

static weir_c128 get(const weir_matrix *m, int64_t i, int64_t j)
{
  return weir_dtype_load_complex(m->dtype, m->data, i * m->down + j * m->across);
}

static void fill(weir_matrix *m, uint32_t which, double size)
{
  for (int64_t i = 0; i < m->rows * m->columns; i++) {
    put(m, i / m->columns, i % m->columns,
        (weir_c128){size * (weir_random_uniform(5, which, 0, (uint64_t)i) - 0.5),
                    size * (weir_random_uniform(5, which, 1, (uint64_t)i) - 0.5)});
  }
}

/* a is stored by columns where turned. */
static void begin(weir_dtype dtype, int64_t n, int64_t k, bool turned)
{
  s.m[0] = (weir_matrix){(char *)s.a, dtype, n, n, turned ? 1 : n, turned ? n : 1};
  s.m[1] = (weir_matrix){(char *)s.b, dtype, n, k, k, 1};
  s.m[2] = (weir_matrix){(char *)s.x, dtype, n, k, turned ? 1 : k, turned ? n : 1};
  assert_true(weir_lu_bytes(dtype, n, k) + 1024 <= (int64_t)sizeof memory);
  memset(memory, 0xff, sizeof memory);
  fill(&s.m[0], 0, 1);
  fill(&s.m[1], 1, 1);
}

/* Largest residual of a row over n eps (||a|| ||x|| + ||b||), by sums of |re| + |im|. */
static double residual(bool conj)
{
  const weir_matrix *a = &s.m[0], *b = &s.m[1], *x = &s.m[2];
  const int64_t n = x->rows;
  double worst = 0, size = 0;

  for (int64_t c = 0; c < x->columns; c++) {
    for (int64_t i = 0; i < n; i++) {
      weir_c128 left = b->data != NULL ? get(b, i, c) : (weir_c128){i == c, 0};
      double all = fabs(left.re) + fabs(left.im);

      for (int64_t j = 0; j < n; j++) {
        const weir_c128 y = get(x, j, c);
        weir_c128 z = get(a, i, j);

        z.im = conj ? -z.im : z.im;
        left.re -= z.re * y.re - z.im * y.im;
        left.im -= z.re * y.im + z.im * y.re;
        all += (fabs(z.re) + fabs(z.im)) * (fabs(y.re) + fabs(y.im));
      }
      const double here = fabs(left.re) + fabs(left.im);

      worst = isnan(here) ? INFINITY : fmax(worst, here);
      size = fmax(size, all);
    }
  }
  return worst / (size * (double)n * 2 * weir_batch_eps(a->dtype));
}

/* Each instruction set of this dtype; NULL after the last. */
static const lu_kernels *kernels_of(int number, int d)
{
#if defined(__x86_64__)
  const lu_kernels *const table[][4] = {
      {&weir_lu_f32_avx2, &weir_lu_f64_avx2, &weir_lu_c64_avx2, &weir_lu_c128_avx2},
      {&weir_lu_f32_avx512, &weir_lu_f64_avx512, &weir_lu_c64_avx512, &weir_lu_c128_avx512}};
  const weir_cpu *cpu = weir_cpu_get();

  if ((number == 0 && cpu->avx2 && cpu->fma) || (number == 1 && cpu->avx512)) {
    return table[number][d];
  }
#endif
  (void)number;
  (void)d;
  return NULL;
}

static void check(int64_t n, int64_t k)
{
  for (int d = 0; d < 4; d++) {
    const lu_kernels *kernels;

    for (int i = 0; (kernels = kernels_of(i, d)) != NULL; i++) {
      for (int form = 0; form < 4; form++) {
        begin(dtypes[d], n, k, form & 1);
        lu_solve(kernels, s.m, form >> 1, NULL, memory);
        assert_true(residual(form >> 1) < 1);
      }
    }
  }
}

static void systems_of_every_size(void **state)
{
  for (int64_t n = 1; n < 36; n++) {
    check(n, n % 5 + 1);
  }
  check(64, 17);
  check(67, 1);
  check(3, 40);
}

static void no_rows_or_sides_touch_nothing(void **state)
{
  if (!weir_lu_can(WEIR_C128)) {
    skip();
  }
  begin(WEIR_C128, 4, 0, false);
  weir_lu_solve(s.m, false, s.m, memory);
  begin(WEIR_C128, 0, 4, false);
  weir_lu_solve(s.m, false, s.m, memory);
}

static void inverses(void **state)
{
  for (int64_t n = 1; n < 20 && weir_lu_can(WEIR_C128); n += 3) {
    begin(WEIR_C128, n, n, false);
    s.m[1].data = NULL;
    weir_lu_solve(s.m, false, NULL, memory);
    assert_true(residual(false) < 1);
  }
}

/* As LAPACK: the first of the largest by |re| + |im|, so that no factor is larger than 1 by it. */
static void large_pivots_are_found_in_any_row(void **state)
{
  for (int d = 0; d < 4; d++) {
    for (int64_t at = 0; at < 33 && weir_lu_can(dtypes[d]); at++) {
      begin(dtypes[d], 33, 2, false);
      for (int64_t i = 0; i < 33; i++) {
        put(&s.m[0], i, 0, (weir_c128){i == at ? 1e6 : 1e-6, 0});
        put(&s.m[0], i, 1, (weir_c128){i == (at + 7) % 33 ? 1 : 1e-6, 0});
      }
      weir_lu_solve(s.m, false, NULL, memory);
      assert_true(residual(false) < 1);
    }
  }
}

/* Pivots whose reciprocal would overflow or lose bits. */
static void tiny_and_huge_numbers_are_divided(void **state)
{
  for (int d = 0; d < 4; d++) {
    const double sizes[] = {dtypes[d] == WEIR_F32 || dtypes[d] == WEIR_C64 ? 1e-36 : 1e-306,
                            dtypes[d] == WEIR_F32 || dtypes[d] == WEIR_C64 ? 1e37 : 1e307};

    for (int i = 0; i < 2 && weir_lu_can(dtypes[d]); i++) {
      begin(dtypes[d], 1, 3, false);
      fill(&s.m[0], 0, sizes[i]);
      fill(&s.m[1], 1, sizes[i]);
      weir_lu_solve(s.m, false, NULL, memory);
      for (int64_t c = 0; c < 3; c++) {
        assert_true(weir_matrix_is_finite(&s.m[2]));
        assert_true(hypot(get(&s.m[2], 0, c).re, get(&s.m[2], 0, c).im) > 1e-4);
      }
    }
  }
}

static void spoil(int which, int64_t i, int64_t j, double value)
{
  put(&s.m[which], i, j, (weir_c128){value, 0});
}

static void what_has_no_answer_is_nan(void **state)
{
  for (int d = 0; d < 4 && weir_lu_can(dtypes[d]); d++) {
    begin(dtypes[d], 21, 5, false); /* two columns are 0 */
    for (int64_t i = 0; i < 21; i++) {
      spoil(0, i, 9, 0);
    }
    weir_lu_solve(s.m, false, NULL, memory);
    for (int64_t i = 0; i < 21 * 5; i++) {
      assert_true(isnan(get(&s.m[2], i / 5, i % 5).re));
    }
    for (int k = 0; k < 2; k++) {
      begin(dtypes[d], 21, 5, false);
      spoil(0, 20, 20, k == 0 ? NAN : -INFINITY);
      weir_lu_solve(s.m, false, NULL, memory);
      for (int64_t i = 0; i < 21 * 5; i++) {
        assert_true(isnan(get(&s.m[2], i / 5, i % 5).re));
      }
      begin(dtypes[d], 21, 5, false);
      spoil(1, 13, 3, k == 0 ? NAN : INFINITY);
      weir_lu_solve(s.m, false, NULL, memory);
      for (int64_t i = 0; i < 21 * 5; i++) {
        assert_int_equal(isnan(get(&s.m[2], i / 5, i % 5).re), i % 5 == 3);
      }
    }
  }
}

enum { SIDE = 24, EACH = 2 * SIDE * SIDE };

/* As many systems as there are lanes, and what both ways make of them. */
typedef struct side_by_side {
  lu_systems all;
  weir_c128 a[LU_LANES][SIDE * SIDE], b[LU_LANES][EACH], x[2][LU_LANES][EACH];
  char memory[2 << 20];
} side_by_side;

/* System l; some have no answer, or pivots whose reciprocal would overflow or lose bits. */
static void draw(side_by_side *t, int64_t l, weir_dtype dtype, int64_t n, int form)
{
  const bool turned = form & 1, inverse = form == 3;
  const int64_t k = inverse ? n : 1 + n * 7 % 5;
  weir_matrix *a = &t->all.m[l][0], *b = &t->all.m[l][1], *x = &t->all.m[l][2];

  *a = (weir_matrix){(char *)t->a[l], dtype, n, n, turned ? 1 : n, turned ? n : 1};
  *b = (weir_matrix){(char *)t->b[l], dtype, n, k, k, 1};
  *x = (weir_matrix){(char *)t->x[0][l], dtype, n, k, turned ? 1 : k, turned ? n : 1};
  fill(a, (uint32_t)(2 * l), 1);
  fill(b, (uint32_t)(2 * l + 1), 1);
  if (l == 1 || l == 2) {
    put(l == 1 ? a : b, n - 1, l == 1 ? n / 2 : k - 1, (weir_c128){NAN, 0});
  }
  for (int64_t i = 0; i < n && l >= 3 && l < 7; i++) {
    put(a, i, n / 2,
        l == 3 ? (weir_c128){0, 0} : (weir_c128){l == 5 ? 4e-38 : 1e-306, l == 4 ? 0 : 1e-309});
  }
  b->data = inverse ? NULL : b->data;
}

/* Makes all NaNs the same one: which sign and payload they have is the compiler's choice. */
static void unify_nans(weir_dtype dtype, void *numbers, size_t bytes)
{
  const bool is_single = dtype == WEIR_F32 || dtype == WEIR_C64;

  for (size_t i = 0; i < bytes / sizeof(float) && is_single; i++) {
    float *x = (float *)numbers + i;

    *x = isnan(*x) ? NAN : *x;
  }
  for (size_t i = 0; i < bytes / sizeof(double) && !is_single; i++) {
    double *x = (double *)numbers + i;

    *x = isnan(*x) ? NAN : *x;
  }
}

/* The bits of systems in lanes are those of one after another. */
static void systems_in_lanes_give_the_bits_of_one(void **state)
{
  static side_by_side t;

  for (int d = 0; d < 4; d++) {
    const lu_kernels *kernels;

    for (int i = 0; (kernels = kernels_of(i, d)) != NULL; i++) {
      for (int64_t test_case = 0; test_case < 4 * SIDE; test_case++) {
        const int64_t n = test_case / 4 + 1;
        const int form = (int)(test_case % 4);

        memset(t.x, 0, sizeof t.x);
        memset(t.memory, 0xff, sizeof t.memory);
        t.all.n = kernels->lanes - n % 2;
        for (int64_t l = 0; l < t.all.n; l++) {
          draw(&t, l, dtypes[d], n, form);
          lu_solve(kernels, t.all.m[l], form & 1, NULL, t.memory);
          t.all.m[l][2].data = (char *)t.x[1][l];
        }
        lu_solve_lanes(kernels, &t.all, form & 1, t.memory);
        unify_nans(dtypes[d], t.x, sizeof t.x);
        assert_memory_equal(t.x[0], t.x[1], sizeof t.x[0]);
      }
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(systems_of_every_size),
      cmocka_unit_test(no_rows_or_sides_touch_nothing),
      cmocka_unit_test(inverses),
      cmocka_unit_test(large_pivots_are_found_in_any_row),
      cmocka_unit_test(tiny_and_huge_numbers_are_divided),
      cmocka_unit_test(what_has_no_answer_is_nan),
      cmocka_unit_test(systems_in_lanes_give_the_bits_of_one),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
