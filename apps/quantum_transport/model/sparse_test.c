/* sparse_test.c - sparse matrices against dense ones; what is refused. */
#include "model/sparse.h"

#include <math.h>
#include <string.h>

#include "base/weir_alloc.h"
#include "base/weir_check.h"
#include "base/weir_random.h"

enum { ROWS = 7, COLUMNS = 9 };

static double draw(uint32_t which, int64_t i)
{
  return weir_random_uniform(11, which, 0, (uint64_t)i) - 0.5;
}

/* Random elements, some of one position, and their sums. */
static void fill(qt_entries *e, weir_c128 dense[ROWS * COLUMNS], int64_t count)
{
  memset(dense, 0, ROWS * COLUMNS * sizeof *dense);
  for (int64_t i = 0; i < count; i++) {
    const int64_t row = (int64_t)(weir_random_uniform(11, 0, 0, (uint64_t)i) * ROWS);
    const int64_t column = (int64_t)(weir_random_uniform(11, 1, 0, (uint64_t)i) * COLUMNS);
    const weir_c128 value = {draw(2, i), draw(3, i)};

    qt_entries_add(e, row, column, value);
    dense[row * COLUMNS + column].re += value.re;
    dense[row * COLUMNS + column].im += value.im;
  }
}

static void elements_and_blocks_are_those_of_the_dense_matrix(void **state)
{
  weir_c128 dense[ROWS * COLUMNS];

  for (int64_t count = 0; count < 60; count += 7) {
    qt_entries e = {.count = 0};
    qt_sparse m, block;

    fill(&e, dense, count);
    assert_int_equal(qt_sparse_create(ROWS, COLUMNS, &e, &m), WEIR_OK);
    for (int64_t i = 0; i < ROWS * COLUMNS; i++) {
      const weir_c128 x = qt_sparse_get(&m, i / COLUMNS, i % COLUMNS);

      assert_true(x.re == dense[i].re && x.im == dense[i].im);
    }
    for (int64_t row = 0; row < ROWS; row += 2) {
      const int64_t rows = ROWS - row < 3 ? ROWS - row : 3, column = row, columns = 2;
      weir_c128 out[6] = {{0, 0}}, again[6] = {{0, 0}};

      qt_sparse_add_block(&m, row, column, (weir_c128){0, 2}, rows, columns, out);
      assert_int_equal(qt_sparse_block(&m, row, column, rows, columns, &block), WEIR_OK);
      qt_sparse_add_block(&block, 0, 0, (weir_c128){0, 2}, rows, columns, again);
      qt_sparse_fini(&block);
      for (int64_t i = 0; i < rows * columns; i++) {
        const weir_c128 x = dense[(row + i / columns) * COLUMNS + column + i % columns];

        assert_true(out[i].re == -2 * x.im && out[i].im == 2 * x.re);
        assert_true(out[i].re == again[i].re && out[i].im == again[i].im);
      }
    }
    qt_sparse_fini(&m);
    qt_entries_fini(&e);
  }
}

static void adjoints_are_told_from_others(void **state)
{
  qt_entries e = {.count = 0}, f = {.count = 0};
  int64_t row, column;
  qt_sparse a, b;

  qt_entries_add(&e, 0, 2, (weir_c128){1, 2});
  qt_entries_add(&f, 2, 0, (weir_c128){1, -2});
  qt_entries_add(&f, 1, 1, (weir_c128){0, 0.5});
  assert_int_equal(qt_sparse_create(3, 3, &e, &a), WEIR_OK);
  assert_int_equal(qt_sparse_create(3, 3, &f, &b), WEIR_OK);
  assert_true(qt_sparse_adjoint_error(&a, &b, &row, &column) == 0.5);
  assert_int_equal(row, 1);
  assert_int_equal(column, 1);
  assert_true(qt_sparse_adjoint_error(&a, &a, &row, &column) == hypot(1, 2));
  assert_true(qt_sparse_max(&a) == hypot(1, 2));
  qt_sparse_fini(&a);
  qt_sparse_fini(&b);
  qt_entries_fini(&e);
  qt_entries_fini(&f);
}

static void elements_outside_and_without_value_are_refused(void **state)
{
  const struct {
    qt_entry entry;
    weir_status status;
    const char *text;
  } cases[] = {
      {{-1, 0, {1, 0}}, WEIR_ERR_SHAPE, "(-1, 0)"},
      {{0, 4, {1, 0}}, WEIR_ERR_SHAPE, "(0, 4)"},
      {{3, 0, {1, 0}}, WEIR_ERR_SHAPE, "3 x 4"},
      {{2, 1, {NAN, 0}}, WEIR_ERR_NUMERIC, "(2, 1)"},
      {{2, 1, {0, INFINITY}}, WEIR_ERR_NUMERIC, "(2, 1)"},
  };

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    qt_entries e = {.count = 0};
    qt_sparse m;

    qt_entries_add(&e, cases[i].entry.row, cases[i].entry.column, cases[i].entry.value);
    assert_int_equal(qt_sparse_create(3, 4, &e, &m), cases[i].status);
    assert_non_null(strstr(weir_last_message(), cases[i].text));
    assert_null(m.start);
    qt_entries_fini(&e);
  }
}

static void missing_memory_is_reported(void **state)
{
  for (int64_t k = 1;; k++) {
    qt_entries e = {.count = 0};
    qt_sparse m;

    weir_alloc_fail_after(k);
    qt_entries_add(&e, 0, 0, (weir_c128){1, 0});
    const weir_status status = qt_sparse_create(1, 1, &e, &m);

    weir_alloc_fail_after(0);
    qt_entries_fini(&e);
    if (status == WEIR_OK) {
      assert_true(k > 4);
      qt_sparse_fini(&m);
      break;
    }
    assert_int_equal(status, WEIR_ERR_MEMORY);
    assert_null(m.start);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(elements_and_blocks_are_those_of_the_dense_matrix),
      cmocka_unit_test(adjoints_are_told_from_others),
      cmocka_unit_test(elements_outside_and_without_value_are_refused),
      cmocka_unit_test(missing_memory_is_reported),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
